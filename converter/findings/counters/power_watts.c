/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/blocks.h"
#include "counters_impl.h"

/* A stretch that is not known shows once, behind one that is. */
static int add_device(struct counter_maker *maker, uint32_t index)
{
	const struct power_device *device = &maker->input->power->devices[index];
	struct power_sample *samples = maker->input->samples[index].list;
	bool was_known = false;

	for (uint32_t i = 0; i < device->n; i++) {
		const struct power_sample *from = &samples[i];
		const struct counter_sample sample = {from->time_ns, index, from->source,
		                                      from->err_ns, from->status};
		double watts = device->levels[i].watts;
		bool is_known = !isnan(watts);

		if (is_known || was_known)
			FLEXTRACE_TRY(counter_add_row(maker, &sample, is_known ? watts : 0));
		was_known = is_known;
		if (i % BLOCKS_FILL_STEP == 0)
			blocks_drop(samples, i * sizeof(*samples));
	}
	blocks_free(samples);
	maker->input->samples[index].list = NULL;
	return FLEXTRACE_OK;
}

int power_watts_add(struct counter_maker *maker)
{
	const struct power *power = maker->input->power;

	for (uint32_t i = 0; power && i < power->n_devices; i++)
		FLEXTRACE_TRY(add_device(maker, i));
	return FLEXTRACE_OK;
}
