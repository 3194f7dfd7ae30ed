/* SPDX-License-Identifier: Apache-2.0 */
/* Files of XSpaces: which they are, and what stands on top of them. Each is of one process. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/text/text_file.h"
#include "xplane_impl.h"

#define TOOL          "xplane"
#define MAX_BYTES     (INT64_C(1) << 31) /* what a message may have, by protobuf's own rule */
#define MAX_UPTIME_NS ((int64_t)1 << 53) /* larger times count from the Unix epoch */
#define SECOND_NS     INT64_C(1000000000)
#define DAY_S         86400
#define PLANE_NAME    2

enum space_field { SPACE_PLANE = 1, SPACE_ERROR = 2, SPACE_WARNING = 3, SPACE_HOST = 4 };

/* -- planes ----------------------------------------------------------------------------------- */

static int read_planes(struct xplane *xplane, struct protobuf space)
{
	struct protobuf_field field;

	while (protobuf_next(&space, &field) > 0) { /* damage is told by read_top() */
		struct xplane_plane plane = {.message = field.bytes};

		if (field.number != SPACE_PLANE || field.wire != PROTOBUF_BYTES)
			continue;
		FLEXTRACE_TRY(ARRAY_PUSH(xplane->planes, xplane->n_planes, plane));
		FLEXTRACE_TRY(xplane_read_tables(xplane, &xplane->planes[xplane->n_planes - 1]));
	}
	return FLEXTRACE_OK;
}

static bool is_environment(const struct xplane *xplane, const struct xplane_plane *plane)
{
	return xplane_is(xplane, plane, "Task Environment");
}

static bool is_programs(const struct xplane *xplane, const struct xplane_plane *plane)
{
	return xplane_is(xplane, plane, "/host:metadata");
}

/* What must be known before the first event is read. */
static int know_plane(struct xplane *xplane, const struct xplane_plane *plane)
{
	struct xplane_said said = {.correlation = 0};

	if (is_programs(xplane, plane))
		return xplane_read_programs(xplane, plane);
	if (!is_environment(xplane, plane)) {
		xplane_find_first(plane, &xplane->epoch_ns);
		return FLEXTRACE_OK;
	}
	json_text_clear(&xplane->args);
	FLEXTRACE_TRY(xplane_read_stats(xplane, plane, plane->message, XPLANE_PLANE_STATS, &said));
	if (said.start_ns < INT64_MAX)
		xplane->start_ns = (int64_t)said.start_ns;
	return FLEXTRACE_OK;
}

static int read_plane(struct xplane *xplane, const struct xplane_plane *plane)
{
	if (is_programs(xplane, plane) || is_environment(xplane, plane))
		return FLEXTRACE_OK;
	return xplane_read_lines(xplane, plane);
}

/* Times are since the Unix epoch, and count from a day before the first, or since the start. */
static void choose_epoch(struct xplane *xplane)
{
	struct import_stream *stream = &xplane->import.streams[xplane->stream];

	if (xplane->epoch_ns <= MAX_UPTIME_NS || xplane->epoch_ns == INT64_MAX) {
		xplane->epoch_ns = 0;
		stream->clock_offset_ns = xplane->start_ns;
		return;
	}
	xplane->epoch_ns = (xplane->epoch_ns / SECOND_NS - DAY_S) * SECOND_NS;
	stream->clock_offset_ns = xplane->epoch_ns;
}

/* -- a file ----------------------------------------------------------------------------------- */

/* Reads what is no plane. */
static int read_top(struct xplane *xplane, struct protobuf space, const char *path,
                    uint32_t *ret_host)
{
	struct protobuf_field field = {.is_cut = false};
	uint32_t text;
	int code;

	*ret_host = 0;
	while ((code = protobuf_next(&space, &field)) > 0) {
		if (field.wire != PROTOBUF_BYTES || field.number == SPACE_PLANE)
			continue;
		FLEXTRACE_TRY(xplane_intern(xplane, &field.bytes, &text));
		if (field.number == SPACE_HOST && !*ret_host)
			*ret_host = text;
		if (field.number == SPACE_ERROR || field.number == SPACE_WARNING)
			import_warn(&xplane->import, "The profiler says: file=%s: %s", path,
			            string_get(xplane->import.strings, text));
	}
	return code < 0 || field.is_cut ? import_cut(&xplane->import, path) : FLEXTRACE_OK;
}

static int read_space(struct xplane *xplane, struct protobuf space, const char *path)
{
	uint32_t host;

	FLEXTRACE_TRY(read_top(xplane, space, path, &host));
	for (uint32_t i = 0; i < xplane->n_planes; i++)
		FLEXTRACE_TRY(know_plane(xplane, &xplane->planes[i]));
	choose_epoch(xplane);
	for (uint32_t i = 0; i < xplane->n_planes; i++)
		FLEXTRACE_TRY(read_plane(xplane, &xplane->planes[i]));
	import_warn_of_faults(&xplane->import, path, "Events", "byte");
	return xplane_define(xplane, string_get(xplane->import.strings, host));
}

/* What is known of the file before it is read, and what is kept of the one before. */
static void begin_file(struct xplane *xplane)
{
	xplane->stream = xplane->import.n_streams;
	xplane->n_events = 0;
	xplane->epoch_ns = INT64_MAX;
	xplane->start_ns = 0;
	xplane->n_planes = xplane->n_devices = xplane->n_rows = xplane->n_hlos = xplane->n_mapped =
		0;
}

static void end_file(struct xplane *xplane)
{
	for (uint32_t i = 0; i < xplane->n_planes; i++)
		xplane_release_tables(&xplane->planes[i]);
	xplane->n_planes = 0;
	map_release(&xplane->device_index);
	map_release(&xplane->row_index);
	map_release(&xplane->hlo_index);
}

/* The whole file; NULL: see errno. */
static char *load(const char *path, size_t *ret_n)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return NULL;
	errno = EFBIG;
	return status.st_size > MAX_BYTES
	               ? NULL
	               : text_file_read_bytes(path, (size_t)status.st_size, ret_n);
}

/* Streams are in order of their files; those that another component of a graph reads are others. */
static int add_stream(struct xplane *xplane, const char *path)
{
	struct import_stream stream = {.uuid = "xplane"};

	for (int i = 0; i < 4; i++) {
		stream.uuid[8 + i] = (uint8_t)(xplane->stream >> (24 - 8 * i));
		stream.uuid[12 + i] = (uint8_t)(xplane->hash >> (24 - 8 * i));
	}
	FLEXTRACE_TRY(import_add_stream(&xplane->import, &stream));
	return import_add_file(&xplane->import, xplane->stream, TOOL, path);
}

static int take_file(struct xplane *xplane, struct protobuf space, const char *path,
                     struct flextrace_error *error)
{
	FLEXTRACE_TRY(read_planes(xplane, space));
	if (!xplane->n_planes)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "There is no plane of a profile: file=%s", path);
	FLEXTRACE_TRY(add_stream(xplane, path));
	return read_space(xplane, space, path);
}

static int read_file(struct xplane *xplane, const char *path, struct flextrace_error *error)
{
	size_t n;
	char *bytes = load(path, &n);
	int code;

	if (!bytes)
		return error_set(error, errno == ENOMEM ? FLEXTRACE_E_MEMORY : FLEXTRACE_E_INPUT,
		                 "Cannot read the profile: file=%s, cause=%s", path,
		                 strerror(errno));
	begin_file(xplane);
	xplane->bytes = (const uint8_t *)bytes;
	xplane->hash = hash_bytes(HASH_NO_BYTES, bytes, n);
	code = take_file(xplane, (struct protobuf){xplane->bytes, xplane->bytes + n}, path, error);
	end_file(xplane);
	free(bytes);
	return code;
}

/* -- all files -------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
	return path_ends_with(name, ".xplane.pb");
}

static const struct path_filter files = {.fits = is_name};

static bool begins(const struct protobuf *bytes, const char *start)
{
	size_t n = strlen(start);

	return protobuf_length(bytes) >= n && memcmp(bytes->at, start, n) == 0;
}

/* By its name, or by that of its first plane. */
static int probe_xplane(const struct probe *probe)
{
	const uint8_t *bytes = (const uint8_t *)probe->bytes;
	struct protobuf space = {bytes, bytes + probe->n_bytes}, plane;
	struct protobuf_field field = {.number = 0};

	if (is_name(probe->path))
		return 1;
	if (protobuf_next(&space, &field) <= 0 || field.number != SPACE_PLANE ||
	    field.wire != PROTOBUF_BYTES)
		return 0;
	plane = field.bytes;
	while (protobuf_next(&plane, &field) > 0) {
		if (field.number == PLANE_NAME && field.wire == PROTOBUF_BYTES)
			return begins(&field.bytes, "/host:") || begins(&field.bytes, "/device:");
	}
	return 0;
}

struct reading {
	struct xplane *xplane;
	struct flextrace_error *error;
	bool is_of_folder;
};

/* Of a folder, what cannot be read costs that file. */
static int read_entry(void *context, const char *path)
{
	const struct reading *reading = context;
	struct import *import = &reading->xplane->import;
	int code = read_file(reading->xplane, path, reading->error);

	if (code != FLEXTRACE_E_INPUT || !reading->is_of_folder)
		return code;
	import_warn(import, "%s", reading->error->message);
	return import_lose(import, LOSS_TRUNCATED_STREAM, 1);
}

static int count_entry(void *context, const char *path)
{
	(void)path;
	++*(uint32_t *)context;
	return FLEXTRACE_OK;
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	struct xplane *xplane = (struct xplane *)import;
	struct reading reading = {xplane, error, false};
	const struct import_options *options = import->options;

	xplane->args = xplane->told = (struct json_text)JSON_TEXT_INIT;
	for (uint32_t i = 0; i < options->n_paths; i++)
		FLEXTRACE_TRY(path_each(options->paths[i], &files, count_entry, &xplane->n_files));
	for (uint32_t i = 0; i < options->n_paths; i++) {
		reading.is_of_folder = path_is_folder(options->paths[i]);
		FLEXTRACE_TRY(path_each(options->paths[i], &files, read_entry, &reading));
	}
	if (!import->n_streams)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no profile: file=%s",
		                 options->paths[0]);
	return FLEXTRACE_OK;
}

static void release(struct import *import)
{
	struct xplane *xplane = (struct xplane *)import;

	free(xplane->planes);
	free(xplane->devices);
	free(xplane->rows);
	free(xplane->hlos);
	free(xplane->scratch);
	json_text_release(&xplane->args);
	json_text_release(&xplane->told);
}

const struct import_format import_xplane = {
	.dialect = IMPORT_XPLANE,
	.filter = &files,
	.probe = probe_xplane,
	.n_bytes = sizeof(struct xplane),
	.read = read_all,
	.release = release,
};
