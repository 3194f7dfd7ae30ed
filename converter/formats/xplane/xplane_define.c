/* SPDX-License-Identifier: Apache-2.0 */
/* Who and what: the devices, queues and threads of a file, by the numbers that they get. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/digits.h"
#include "xplane_impl.h"

#define OTHER_DEVICES  (1u << 20) /* of planes whose number another one has */
#define MAPPED_NUMBERS (1u << 30) /* of lines whose id is larger, or is taken */
#define HZ_PER_KHZ     1000

/* -- devices ---------------------------------------------------------------------------------- */

/* The number at the end of the name. */
static uint32_t number_of(const char *name)
{
	const char *colon = strrchr(name, ':');
	uint64_t number;

	return colon && digits_read_all(colon + 1, OTHER_DEVICES - 1, &number) ? (uint32_t)number
	                                                                       : OTHER_DEVICES;
}

/* What is said of a device beside what has a place elsewhere. */
static int write_note(struct xplane *xplane, const struct xplane_plane *plane)
{
	struct event event = {
		.class = RECORD_ANNOTATION,
		.clock_ns = 1,
		.vpid = XPLANE_VPID,
		.vtid = -1,
		.n_origins = 1,
		.origins[0] = {xplane->import.streams[xplane->stream].files.n - 1, ORIGIN_NO_RECORD,
	                       false},
	};
	const char *text;
	size_t n;

	if (xplane->args.is_first)
		return FLEXTRACE_OK;
	json_text_close(&xplane->args, '}');
	FLEXTRACE_TRY(json_text_get(&xplane->args, &text, &n));
	event.payload.annotation.key = string_get(xplane->import.strings, plane->name);
	event.payload.annotation.value = text;
	return import_write(&xplane->import, xplane->stream, &event);
}

int xplane_find_device(struct xplane *xplane, const struct xplane_plane *plane,
                       uint32_t *ret_device)
{
	struct xplane_device device = {.name = plane->name};

	device.number = number_of(string_get(xplane->import.strings, plane->name));
	while (map_find(&xplane->device_index, device.number, 0) != MAP_NONE)
		device.number = device.number < OTHER_DEVICES ? OTHER_DEVICES : device.number + 1;
	*ret_device = device.number;
	json_text_clear(&xplane->args);
	json_text_open(&xplane->args, '{');
	FLEXTRACE_TRY(
		xplane_read_stats(xplane, plane, plane->message, XPLANE_PLANE_STATS, &device.said));
	FLEXTRACE_TRY(write_note(xplane, plane));
	FLEXTRACE_TRY(map_put(&xplane->device_index, device.number, 0, xplane->n_devices));
	return ARRAY_PUSH(xplane->devices, xplane->n_devices, device);
}

/* -- queues and threads ----------------------------------------------------------------------- */

int xplane_find_row(struct xplane *xplane, uint32_t device, uint64_t line, uint32_t name,
                    uint32_t *ret_id)
{
	struct xplane_row row = {.device = device, .name = name, .id = (uint32_t)line};
	uint32_t found = map_find(&xplane->row_index, line, device);

	if (found != MAP_NONE) {
		*ret_id = xplane->rows[found].id;
		return FLEXTRACE_OK;
	}
	if (line >= MAPPED_NUMBERS)
		row.id = MAPPED_NUMBERS + xplane->n_mapped++;
	*ret_id = row.id;
	FLEXTRACE_TRY(map_put(&xplane->row_index, line, device, xplane->n_rows));
	return ARRAY_PUSH(xplane->rows, xplane->n_rows, row);
}

/* -- definitions ------------------------------------------------------------------------------ */

static int define(struct xplane *xplane, enum record_class class, const void *payload)
{
	return import_define(&xplane->import, xplane->stream, XPLANE_VPID, class, payload);
}

static int define_process(struct xplane *xplane, const char *host)
{
	char boot_id[64];
	const struct flextrace_process process = {
		.rank = xplane->n_files > 1 ? (int32_t)xplane->stream : FLEXTRACE_RANK_UNKNOWN,
		.world_size = xplane->n_files > 1 ? (int32_t)xplane->n_files : 0,
		.pid = XPLANE_VPID,
		.boot_id = boot_id,
		.host = *host ? host : IMPORT_HOST,
		.program = "jax",
		.runtime = "XLA",
	};

	snprintf(boot_id, sizeof(boot_id), "imported xplane %" PRIu32 " %016" PRIx64,
	         xplane->stream, xplane->hash);
	return define(xplane, RECORD_PROCESS, &process);
}

static int define_device(struct xplane *xplane, const struct xplane_device *device)
{
	const struct xplane_said *said = &device->said;
	uint32_t name = said->device_type ? said->device_type
	                : said->vendor    ? said->vendor
	                                  : device->name;
	const struct flextrace_device payload = {
		.device = device->number,
		.name = string_get(xplane->import.strings, name),
		.n_cores = (uint32_t)(said->n_cores & UINT32_MAX),
		.core_hz = said->clock_khz <= UINT32_MAX ? said->clock_khz * HZ_PER_KHZ : 0,
	};

	return define(xplane, RECORD_DEVICE, &payload);
}

static int define_row(struct xplane *xplane, const struct xplane_row *row)
{
	bool is_thread = row->device == FLEXTRACE_NONE;
	struct event event = {
		.class = is_thread ? RECORD_THREAD_NAME : RECORD_QUEUE_NAME,
		.vpid = XPLANE_VPID,
		.vtid = is_thread ? (int32_t)row->id : -1,
		.payload.name = {.device = is_thread ? 0 : row->device,
	                         .id = row->id,
	                         .name = string_get(xplane->import.strings, row->name)},
	};

	return row->name ? import_write(&xplane->import, xplane->stream, &event) : FLEXTRACE_OK;
}

int xplane_define(struct xplane *xplane, const char *host)
{
	FLEXTRACE_TRY(define_process(xplane, host));
	for (uint32_t i = 0; i < xplane->n_devices; i++)
		FLEXTRACE_TRY(define_device(xplane, &xplane->devices[i]));
	for (uint32_t i = 0; i < xplane->n_rows; i++)
		FLEXTRACE_TRY(define_row(xplane, &xplane->rows[i]));
	return FLEXTRACE_OK;
}
