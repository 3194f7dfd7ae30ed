/* SPDX-License-Identifier: Apache-2.0 */
/* Who and what: the definitions of a device log. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tt_impl.h"

#define MAX_PROCESSORS 64u
#define PROGRAM        "tt-metal"

int tt_find_processor(struct tt *tt, const char *name, uint32_t *ret_processor)
{
	uint32_t string;

	FLEXTRACE_TRY(string_intern(&tt->cache, name, &string));
	*ret_processor = map_find(&tt->processor_index, string, 0);
	if (*ret_processor != MAP_NONE || tt->n_processors == MAX_PROCESSORS)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(
		ARRAY_RESERVE(tt->processors, tt->n_processors_allocated, tt->n_processors + 1ull));
	*ret_processor = tt->n_processors;
	tt->processors[tt->n_processors++] = string;
	return map_put(&tt->processor_index, string, 0, *ret_processor);
}

int tt_know_processors(struct tt *tt)
{
	static const char *const known[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
	uint32_t processor;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		FLEXTRACE_TRY(tt_find_processor(tt, known[i], &processor));
	return FLEXTRACE_OK;
}

static int join_processors(struct tt *tt)
{
	size_t n_bytes = 1;
	char *at;

	for (uint32_t i = 0; i < tt->n_processors; i++)
		n_bytes += string_length(tt->strings, tt->processors[i]) + 1;
	at = tt->processor_names = malloc(n_bytes);
	if (!at)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < tt->n_processors; i++) {
		size_t n = string_length(tt->strings, tt->processors[i]);

		if (i)
			*at++ = ',';
		memcpy(at, string_get(tt->strings, tt->processors[i]), n);
		at += n;
	}
	*at = '\0';
	return FLEXTRACE_OK;
}

static struct event definition(enum record_class class)
{
	return (struct event){.class = class, .vtid = -1};
}

static struct event process(void)
{
	struct event event = definition(RECORD_PROCESS);

	event.payload.process = (struct flextrace_process){
		.rank = FLEXTRACE_RANK_UNKNOWN,
		.boot_id = "imported tt-metal",
		.host = "imported",
		.program = PROGRAM,
		.runtime = PROGRAM,
	};
	return event;
}

static struct event device_event(const struct tt *tt, const struct tt_device *device)
{
	struct event event = definition(RECORD_DEVICE);

	event.payload.device = (struct flextrace_device){
		.device = device->slot,
		.n_cores = device->n_cores,
		.core_hz = device->hz,
		.name = device->arch,
		.processors = tt->processor_names,
	};
	return event;
}

static struct event domain_event(const struct tt_device *device)
{
	struct event event = definition(RECORD_CLOCK_DOMAIN);

	event.payload.clock_domain = (struct flextrace_clock_domain){
		.device = device->slot,
		.counter_bits = device->is_wide ? 64 : TT_COUNTER_BITS,
		.nominal_hz = device->hz,
	};
	return event;
}

static struct event marker_event(const struct tt *tt, const struct tt_device *device, uint32_t i)
{
	const struct tt_marker *marker = &tt->markers[i];
	struct event event = definition(RECORD_MARKER_NAME);

	event.payload.name = (struct flextrace_name){
		.device = device->slot,
		.id = i + 1,
		.name = string_get(tt->strings, marker->name),
		.file = string_get(tt->strings, marker->file),
		.line = marker->line,
	};
	return event;
}

/* The markers that were found since. Stores one, of all devices in turn. */
static int next_late_marker(struct tt *tt, struct event *ret_event)
{
	if (tt->defined_markers == tt->n_markers || !tt->n_devices)
		return 0;
	*ret_event = marker_event(tt, &tt->devices[tt->defined_step++], tt->defined_markers);
	if (tt->defined_step == tt->n_devices) {
		tt->defined_step = 0;
		tt->defined_markers++;
	}
	return 1;
}

/* The process, then each device with its clock and its markers. */
int tt_next_definition(struct tt *tt, struct event *ret_event)
{
	const struct tt_device *device;
	uint32_t step;

	if (!tt->is_defined) {
		FLEXTRACE_TRY(join_processors(tt));
		tt->is_defined = true;
		*ret_event = process();
		return 1;
	}
	if (tt->defined_device == tt->n_devices)
		return next_late_marker(tt, ret_event);
	device = &tt->devices[tt->defined_device];
	step = tt->defined_step++;
	if (step == 0)
		*ret_event = device_event(tt, device);
	else if (step == 1)
		*ret_event = domain_event(device);
	else
		*ret_event = marker_event(tt, device, step - 2);
	if (tt->defined_step == tt->n_markers + 2) {
		tt->defined_step = 0;
		tt->defined_device++;
		tt->defined_markers = tt->n_markers;
	}
	return 1;
}
