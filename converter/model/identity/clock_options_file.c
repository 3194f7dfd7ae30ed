/* SPDX-License-Identifier: Apache-2.0 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock_options.h"
#include "base/array.h"
#include "base/text/digits.h"
#include "base/text/text_file.h"

#define MAX_NS UINT64_C(100000000000000000)

/* -- floors ---------------------------------------------------------------------------------- */

int clock_options_floors(const char *text, struct clock_settings *settings,
                         struct flextrace_error *error)
{
	const char *at = text;
	uint64_t first = 0, second = 0;
	bool is_good = digits_take(&at, MAX_NS, &first), has_two = is_good && *at == ',';

	if (has_two) {
		at++;
		is_good = digits_take(&at, MAX_NS, &second);
	}
	if (!is_good || *at)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `latency-floor-ns` takes SUBMIT,COMPLETE or ROUNDTRIP: "
		                 "value=%s",
		                 text);
	settings->has_floors = has_two;
	settings->submit_floor_ns = has_two ? first : 0;
	settings->complete_floor_ns = has_two ? second : 0;
	settings->round_trip_floor_ns = has_two ? 0 : first;
	return FLEXTRACE_OK;
}

/* -- the file -------------------------------------------------------------------------------- */

/* A file on its way in. */
struct reading {
	const char *path;
	struct calibrate_options *options;
	struct flextrace_error *error;
};

static int refuse(const struct reading *reading, const char *reason, const char *what)
{
	return error_set(reading->error, FLEXTRACE_E_USAGE,
	                 "Cannot use the file of clocks: path=%s, reason=%s%s%s", reading->path,
	                 reason, what ? ": " : "", what ? what : "");
}

static bool number_of(const cJSON *item, double min, double max, double *ret_number)
{
	if (!cJSON_IsNumber(item) || !(item->valuedouble >= min && item->valuedouble <= max))
		return false;
	*ret_number = item->valuedouble;
	return true;
}

static bool ns_of(const cJSON *item, int64_t min, int64_t *ret_ns)
{
	double number;

	if (!number_of(item, (double)min, MAX_NS, &number) || number != floor(number))
		return false;
	*ret_ns = (int64_t)number;
	return true;
}

static bool floors_of(const cJSON *item, struct clock_settings *settings)
{
	if (!cJSON_IsArray(item))
		return ns_of(item, 1, &settings->round_trip_floor_ns);
	settings->has_floors = true;
	return cJSON_GetArraySize(item) == 2 &&
	       ns_of(cJSON_GetArrayItem(item, 0), 0, &settings->submit_floor_ns) &&
	       ns_of(cJSON_GetArrayItem(item, 1), 0, &settings->complete_floor_ns);
}

static bool index_of(const cJSON *item, uint32_t *ret_index)
{
	double index;

	if (!number_of(item, 0, FLEXTRACE_NONE - 1., &index) || index != floor(index))
		return false;
	*ret_index = (uint32_t)index;
	return true;
}

/* Takes one setting of a device; false: it is not understood. */
static bool take_setting(struct clock_override *override, const cJSON *item)
{
	struct clock_settings *settings = &override->settings;

	if (strcmp(item->string, "device") == 0)
		return index_of(item, &override->device);
	if (strcmp(item->string, "rho_ppm") == 0)
		return number_of(item, 1e-6, 1e5, &settings->rho_ppm);
	if (strcmp(item->string, "nominal_mhz") == 0)
		return number_of(item, 1e-3, 1e6, &settings->nominal_mhz);
	if (strcmp(item->string, "nominal_ppm") == 0)
		return number_of(item, 1e-3, 1e5, &settings->nominal_ppm);
	if (strcmp(item->string, "latency_floor_ns") == 0)
		return floors_of(item, settings);
	if (strcmp(item->string, "max_dispatch_ns") == 0)
		return ns_of(item, 1, &settings->max_dispatch_ns);
	return false;
}

static int take_member(const struct reading *reading, struct clock_override *override,
                       const cJSON *item)
{
	bool is_uuid = strcmp(item->string, "uuid") == 0;

	if (is_uuid ? !cJSON_IsString(item) || override->uuid || !item->valuestring[0]
	            : !take_setting(override, item))
		return refuse(reading, "a device has an unknown or bad member", item->string);
	if (!is_uuid)
		return FLEXTRACE_OK;
	override->uuid = strdup(item->valuestring);
	return override->uuid ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

static int take_device(const struct reading *reading, const cJSON *device)
{
	struct calibrate_options *options = reading->options;
	struct clock_override *override;
	const cJSON *item;

	if (!cJSON_IsObject(device))
		return refuse(reading, "a device is no object", NULL);
	FLEXTRACE_TRY(ARRAY_PUSH(options->overrides, options->n_overrides,
	                         (struct clock_override){.device = FLEXTRACE_NONE}));
	override = &options->overrides[options->n_overrides - 1];
	for (item = device->child; item; item = item->next)
		FLEXTRACE_TRY(take_member(reading, override, item));
	if (!override->uuid == (override->device == FLEXTRACE_NONE))
		return refuse(reading, "a device needs either uuid or device", NULL);
	return FLEXTRACE_OK;
}

static int take_file(const struct reading *reading, const cJSON *root)
{
	const cJSON *devices = cJSON_GetObjectItemCaseSensitive(root, "devices"), *device;

	if (!root)
		return refuse(reading, "it is no JSON", NULL);
	if (!cJSON_IsArray(devices) || root->child->next)
		return refuse(reading, "it must have a list `devices` and nothing else", NULL);
	for (device = devices->child; device; device = device->next)
		FLEXTRACE_TRY(take_device(reading, device));
	return FLEXTRACE_OK;
}

int clock_options_read(struct calibrate_options *options, const char *path,
                       struct flextrace_error *error)
{
	struct reading reading = {path, options, error};
	char *text = text_file_read(path);
	cJSON *root;
	int code;

	if (!text)
		return refuse(&reading, strerror(errno), NULL);
	root = cJSON_ParseWithOpts(text, NULL, true);
	code = take_file(&reading, root);
	cJSON_Delete(root);
	free(text);
	if (code == FLEXTRACE_E_MEMORY)
		return error_set(error, code, "Out of memory");
	return code;
}
