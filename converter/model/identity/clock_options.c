/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_options.h"

#include <stdlib.h>
#include <string.h>

static bool is_of(const struct clock_override *override, const struct identity *identity,
                  const struct device *device)
{
	if (!override->uuid)
		return override->device == device->device;
	return device->uuid &&
	       strcmp(override->uuid, string_get(identity->strings, device->uuid)) == 0;
}

static void put_over(struct clock_settings *settings, const struct clock_settings *over)
{
	if (over->rho_ppm > 0)
		settings->rho_ppm = over->rho_ppm;
	if (over->nominal_mhz > 0)
		settings->nominal_mhz = over->nominal_mhz;
	if (over->nominal_ppm > 0)
		settings->nominal_ppm = over->nominal_ppm;
	if (over->has_floors || over->round_trip_floor_ns) {
		settings->has_floors = over->has_floors;
		settings->submit_floor_ns = over->submit_floor_ns;
		settings->complete_floor_ns = over->complete_floor_ns;
		settings->round_trip_floor_ns = over->round_trip_floor_ns;
	}
	if (over->max_dispatch_ns)
		settings->max_dispatch_ns = over->max_dispatch_ns;
}

struct clock_settings clock_options_of(const struct calibrate_options *options,
                                       const struct identity *identity, uint32_t counter)
{
	const struct device *device = &identity->devices[identity->counters[counter].device];
	struct clock_settings settings = options->all;

	for (uint32_t i = 0; i < options->n_overrides; i++) {
		if (is_of(&options->overrides[i], identity, device))
			put_over(&settings, &options->overrides[i].settings);
	}
	return settings;
}

void clock_options_release(struct calibrate_options *options)
{
	for (uint32_t i = 0; i < options->n_overrides; i++)
		free(options->overrides[i].uuid);
	free(options->overrides);
	options->overrides = NULL;
	options->n_overrides = 0;
}
