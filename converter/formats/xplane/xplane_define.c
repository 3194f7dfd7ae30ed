/* SPDX-License-Identifier: Apache-2.0 */
/* Who and what: the process, devices, queues and threads of a file, by the numbers they get. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/digits.h"
#include "xplane_impl.h"

#define OTHER_DEVICES  (1u << 20) /* of planes whose number another one has */
#define MAPPED_NUMBERS (1u << 30) /* of lines whose id is larger */
#define HZ_PER_KHZ     1000

static int define(struct xplane *xplane, enum record_class class, const void *payload)
{
	return import_define(&xplane->import, xplane->file.stream, XPLANE_VPID, class, payload);
}

int xplane_define_process(struct xplane *xplane)
{
	const struct xplane_file *file = &xplane->file;
	const char *host = string_get(xplane->import.strings, file->host);
	bool is_alone = xplane->import.n_files == 1;
	char boot_id[64];
	const struct flextrace_process process = {
		.rank = is_alone ? FLEXTRACE_RANK_UNKNOWN : (int32_t)file->stream,
		.world_size = is_alone ? 0 : (int32_t)xplane->import.n_files,
		.pid = XPLANE_VPID,
		.boot_id = boot_id,
		.host = *host ? host : IMPORT_HOST,
		.program = "jax",
		.runtime = "XLA",
		.dialect = "cuda",
	};

	snprintf(boot_id, sizeof(boot_id), "imported xplane %" PRIu32 " %016" PRIx64, file->stream,
	         file->hash);
	return define(xplane, RECORD_PROCESS, &process);
}

/* -- devices ---------------------------------------------------------------------------------- */

/* The number at the end of the name, or another one that no device has. */
static uint32_t number_of(const struct xplane *xplane, const char *name)
{
	const char *colon = strrchr(name, ':');
	uint64_t number;

	if (!colon || !digits_read_all(colon + 1, OTHER_DEVICES - 1, &number) ||
	    map_find(&xplane->file.device_index, number, 0) != MAP_NONE)
		number = OTHER_DEVICES;
	while (map_find(&xplane->file.device_index, number, 0) != MAP_NONE)
		number++;
	return (uint32_t)number;
}

/* What is said of a device beside what has a place elsewhere. */
static int write_note(struct xplane *xplane, const char *name)
{
	const struct xplane_file *file = &xplane->file;
	struct event event = {
		.class = RECORD_ANNOTATION,
		.clock_ns = 1,
		.vpid = XPLANE_VPID,
		.vtid = -1,
		.n_origins = 1,
		.origins[0] = {xplane->import.streams[file->stream].files.n - 1, ORIGIN_NO_RECORD,
	                       false},
		.payload.annotation.key = name,
	};
	size_t n;

	if (xplane->args.is_first)
		return FLEXTRACE_OK;
	json_text_close(&xplane->args, '}');
	FLEXTRACE_TRY(json_text_get(&xplane->args, &event.payload.annotation.value, &n));
	return import_write(&xplane->import, file->stream, &event);
}

int xplane_define_device(struct xplane *xplane, const struct xplane_plane *plane,
                         uint32_t *ret_device)
{
	const char *name = string_get(xplane->import.strings, plane->name);
	struct xplane_value said[SAID_COUNT] = {{0}};
	struct flextrace_device device = {.device = number_of(xplane, name), .name = name};

	json_text_clear(&xplane->args);
	json_text_open(&xplane->args, '{');
	FLEXTRACE_TRY(xplane_read_stats(xplane, plane, plane->message, PLANE_STAT, said));
	FLEXTRACE_TRY(write_note(xplane, name));
	if (said[SAID_DEVICE].text || said[SAID_VENDOR].text)
		device.name = string_get(xplane->import.strings, said[SAID_DEVICE].text
		                                                         ? said[SAID_DEVICE].text
		                                                         : said[SAID_VENDOR].text);
	device.n_cores = (uint32_t)said[SAID_CORES].number;
	if (said[SAID_CLOCK].number <= UINT32_MAX)
		device.core_hz = said[SAID_CLOCK].number * HZ_PER_KHZ;
	*ret_device = device.device;
	FLEXTRACE_TRY(map_put(&xplane->file.device_index, device.device, 0, 0));
	return define(xplane, RECORD_DEVICE, &device);
}

/* -- queues and threads ----------------------------------------------------------------------- */

int xplane_define_row(struct xplane *xplane, uint32_t device, uint64_t line, uint32_t name,
                      uint32_t *ret_id)
{
	struct xplane_file *file = &xplane->file;
	struct event event = {.class = RECORD_THREAD_NAME, .vpid = XPLANE_VPID, .vtid = -1};

	*ret_id = map_find(&file->row_index, line, device);
	if (*ret_id != MAP_NONE)
		return FLEXTRACE_OK;
	*ret_id = line < MAPPED_NUMBERS ? (uint32_t)line : MAPPED_NUMBERS + file->n_mapped++;
	FLEXTRACE_TRY(map_put(&file->row_index, line, device, *ret_id));
	event.payload.name = (struct flextrace_name){
		.id = *ret_id, .name = string_get(xplane->import.strings, name)};
	if (device == FLEXTRACE_NONE) {
		event.vtid = (int32_t)*ret_id;
	} else {
		event.class = RECORD_QUEUE_NAME;
		event.payload.name.device = device;
	}
	return name ? import_write(&xplane->import, file->stream, &event) : FLEXTRACE_OK;
}
