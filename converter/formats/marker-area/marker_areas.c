/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marker areas in files of raw memory: what flextrace_drain() would have recorded of them.
 *
 * Nobody was there to read a host's clock. So this trace has a clock of its own, that of each
 * counter: it began at 0 and runs at the rate that the user tells (--nominal-mhz), else a cycle
 * is a ns.
 */
#include <stdlib.h>

#include "area_file.h"
#include "formats/kit/format.h"
#include "formats/kit/faults.h"

#define ONE 1 /* the time and the count of the one read of a counter: 0 is not known */

struct marker_areas {
	struct import import; /* first */
	struct area_list list;
	struct map domains;             /* (device, domain) that are defined */
	uint32_t n_devices;             /* likewise */
	const struct dumped_area *area; /* weak: that is read */
	int code;                       /* of its batches */
};

static int probe_area(const struct probe *probe)
{
	struct flextrace_area_header header;

	return !probe->is_packed && flextrace_area_header_read(probe->bytes, &header) &&
	       header.n_bytes != 0;
}

/* -- opening --------------------------------------------------------------------------------- */

static void release(struct import *import)
{
	struct marker_areas *areas = (struct marker_areas *)import;

	area_list_release(&areas->list);
	map_release(&areas->domains);
}

static int read_file(struct marker_areas *areas, const char *path, struct flextrace_error *error)
{
	uint32_t first = areas->list.n;

	FLEXTRACE_TRY(import_add_file(&areas->import, 0, "marker-area", path));
	FLEXTRACE_TRY(area_list_add(&areas->list, path, error));
	for (uint32_t i = first; i < areas->list.n; i++)
		areas->list.areas[i].origin = origin_make(areas->import.streams->files.n - 1,
		                                          i - first);
	return FLEXTRACE_OK;
}

/* -- definitions ----------------------------------------------------------------------------- */

static int define_process(struct import *import)
{
	const struct flextrace_process process = {
		.rank = FLEXTRACE_RANK_UNKNOWN,
		.pid = ONE,
		.boot_id = "imported marker areas",
		.host = IMPORT_HOST,
		.program = "marker areas",
		.runtime = "marker areas",
		.dialect = "neutral",
	};

	return import_define(import, 0, ONE, RECORD_PROCESS, &process);
}

static int define_domain(struct marker_areas *areas, const struct dumped_area *area)
{
	const struct flextrace_clock_domain domain = {
		.device = area->device,
		.domain = area->header.domain,
		.counter_bits = area->header.counter_bits,
	};
	const struct event sync = {
		.class = RECORD_CLOCK_SYNC,
		.clock_ns = ONE,
		.vpid = ONE,
		.vtid = -1,
		.payload.clock_sync = {.device = area->device,
	                               .domain = area->header.domain,
	                               .host_before_ns = ONE,
	                               .ticks = ONE,
	                               .host_after_ns = ONE},
	};

	if (map_find(&areas->domains, area->device, area->header.domain) != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(map_put(&areas->domains, area->device, area->header.domain, 0));
	FLEXTRACE_TRY(import_define(&areas->import, 0, ONE, RECORD_CLOCK_DOMAIN, &domain));
	return import_write(&areas->import, 0, &sync);
}

static int define_area(struct marker_areas *areas, const struct dumped_area *area)
{
	const struct flextrace_device device = {.device = area->device};

	if (area->device == areas->n_devices) {
		areas->n_devices++;
		FLEXTRACE_TRY(import_define(&areas->import, 0, ONE, RECORD_DEVICE, &device));
	}
	return define_domain(areas, area);
}

/* -- words ----------------------------------------------------------------------------------- */

static uint32_t unread_of(uint32_t n_gone, uint32_t n_read)
{
	return n_gone - n_read <= INT32_MAX ? n_gone - n_read : 0;
}

/* Records or runs that were overwritten and that no host had read before. */
static uint64_t overwritten(const struct dumped_area *area,
                            const struct flextrace_marker_batch *batch)
{
	const struct flextrace_area_header *header = &area->header;
	uint32_t kind = batch->n_words ? (uint32_t)(batch->words[0] >> 32) >> FLEXTRACE_WIRE_ID_BITS
	                               : 0;

	if (kind >= FLEXTRACE_WIRE_SLOT_RUN)
		return header->run > 2 ? unread_of(header->run - 2, header->read_run) : 0;
	return area->is_cut ? 0 : unread_of(header->head - header->capacity, header->n_read);
}

static void write_batch(void *context, const struct flextrace_marker_batch *batch)
{
	struct marker_areas *areas = context;
	const struct dumped_area *area = areas->area;
	struct event event = {
		.class = RECORD_MARKER_BATCH,
		.clock_ns = ONE,
		.vpid = ONE,
		.vtid = -1,
		.n_origins = 1,
		.origins[0] = area->origin,
	};

	event.payload.marker_batch = (struct flextrace_marker_batch){
		.device = area->device,
		.core = area->header.core,
		.processor = area->header.processor,
		.domain = area->header.domain,
		.first_index = batch->first_index,
		.dropped = batch->dropped + overwritten(area, batch),
		.n_words = batch->n_words,
		.words = batch->words,
	};
	if (areas->code >= 0)
		areas->code = import_write(&areas->import, 0, &event);
}

/* One that cannot be read any more costs itself. */
static int read_area(struct marker_areas *areas, const struct dumped_area *area)
{
	const struct flextrace_area_reader reader = {
		.emit = write_batch, .context = areas, .is_last = 1};
	struct flextrace_drain_area drained;
	int code = area_load(area, &drained, NULL);

	if (code == FLEXTRACE_E_MEMORY)
		return code;
	if (code < 0)
		return import_lose(&areas->import, LOSS_TRUNCATED_STREAM, 1);
	areas->area = area;
	flextrace_area_read(&drained, &reader);
	free(drained.memory);
	FLEXTRACE_TRY(areas->code);
	return import_lose(&areas->import, LOSS_MALFORMED, drained.stats.refused);
}

/* -- all areas ------------------------------------------------------------------------------- */

static int read_all(struct import *import, struct flextrace_error *error)
{
	struct marker_areas *areas = (struct marker_areas *)import;
	const struct import_options *options = import->options;
	const struct import_stream stream = {.uuid = "marker areas"};

	areas->list.warn = options->warn;
	areas->list.context = options->context;
	FLEXTRACE_TRY(import_add_stream(import, &stream));
	for (uint32_t i = 0; i < options->n_paths; i++)
		FLEXTRACE_TRY(read_file(areas, options->paths[i], error));
	if (areas->list.n == 0)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no marker area: file=%s",
		                 options->paths[0]);
	FLEXTRACE_TRY(import_lose(&areas->import, LOSS_MALFORMED, areas->list.n_refused));
	FLEXTRACE_TRY(import_lose(&areas->import, LOSS_TRUNCATED_STREAM, areas->list.n_cut));
	FLEXTRACE_TRY(define_process(import));
	for (uint32_t i = 0; i < areas->list.n; i++)
		FLEXTRACE_TRY(define_area(areas, &areas->list.areas[i]));
	for (uint32_t i = 0; i < areas->list.n; i++)
		FLEXTRACE_TRY(read_area(areas, &areas->list.areas[i]));
	return FLEXTRACE_OK;
}

const struct import_format import_marker_areas = {
	.dialect = IMPORT_MARKER_AREA,
	.probe = probe_area,
	.n_bytes = sizeof(struct marker_areas),
	.read = read_all,
	.release = release,
};
