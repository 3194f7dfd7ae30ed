/* SPDX-License-Identifier: Apache-2.0 */
/* Files of XSpaces: which they are, and what stands on top of them. Each is of one process. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "xplane_impl.h"

#define TOOL       "xplane"
#define STEP_BYTES (1u << 20)
#define MAX_BYTES  ((1u << 31) - STEP_BYTES) /* no message has more, by protobuf's own rule */

enum space_field { SPACE_PLANE = 1, SPACE_ERROR = 2, SPACE_WARNING = 3, SPACE_HOST = 4 };

/* -- planes ----------------------------------------------------------------------------------- */

static bool is_environment(const struct xplane *xplane, const struct xplane_plane *plane)
{
	return xplane_is(xplane, plane, "Task Environment");
}

static bool is_programs(const struct xplane *xplane, const struct xplane_plane *plane)
{
	return xplane_is(xplane, plane, "/host:metadata");
}

/* What must be known before the first event is read. */
static int know_plane(struct xplane *xplane, struct xplane_plane *plane)
{
	struct xplane_value said[SAID_COUNT] = {{0}};

	FLEXTRACE_TRY(xplane_read_tables(xplane, plane));
	if (is_programs(xplane, plane))
		return xplane_read_programs(xplane, plane);
	if (!is_environment(xplane, plane))
		return FLEXTRACE_OK;
	json_text_clear(&xplane->args);
	FLEXTRACE_TRY(xplane_read_stats(xplane, plane, plane->message, PLANE_STAT, said));
	if (said[SAID_START].number < INT64_MAX)
		xplane->file.start_ns = (int64_t)said[SAID_START].number;
	return FLEXTRACE_OK;
}

/* Times are since the Unix epoch, or since the start. */
static void choose_epoch(struct xplane *xplane)
{
	struct xplane_file *file = &xplane->file;
	struct import_stream *stream = &xplane->import.streams[file->stream];

	file->epoch_ns = file->epoch_ns == INT64_MAX ? 0 : import_epoch_of(file->epoch_ns);
	stream->clock_offset_ns = file->epoch_ns ? file->epoch_ns : file->start_ns;
}

static int read_planes(struct xplane *xplane)
{
	struct xplane_file *file = &xplane->file;

	for (uint32_t i = 0; i < file->n_planes; i++)
		FLEXTRACE_TRY(know_plane(xplane, &file->planes[i]));
	choose_epoch(xplane);
	FLEXTRACE_TRY(xplane_define_process(xplane));
	for (uint32_t i = 0; i < file->n_planes; i++) {
		if (!is_programs(xplane, &file->planes[i]) &&
		    !is_environment(xplane, &file->planes[i]))
			FLEXTRACE_TRY(xplane_read_lines(xplane, &file->planes[i]));
	}
	return FLEXTRACE_OK;
}

/* -- a file ----------------------------------------------------------------------------------- */

static int take_field(struct xplane *xplane, const struct protobuf_field *field, const char *path)
{
	const struct xplane_plane plane = {.message = field->bytes};
	struct xplane_file *file = &xplane->file;
	uint32_t text;

	if (field->wire != PROTOBUF_BYTES)
		return FLEXTRACE_OK;
	if (field->number == SPACE_PLANE)
		return ARRAY_PUSH(file->planes, file->n_planes, plane);
	FLEXTRACE_TRY(xplane_intern(xplane, &field->bytes, &text));
	if (field->number == SPACE_HOST && !file->host)
		file->host = text;
	if (field->number == SPACE_ERROR || field->number == SPACE_WARNING)
		import_warn(&xplane->import, "The profiler says: file=%s: %s", path,
		            string_get(xplane->import.strings, text));
	return FLEXTRACE_OK;
}

/* Streams are in order of their files; those that another component of a graph reads are others. */
static int add_stream(struct xplane *xplane, const char *path)
{
	struct import_stream stream = {.uuid = TOOL};

	import_number_stream(&stream, xplane->file.stream, (uint32_t)xplane->file.hash);
	FLEXTRACE_TRY(import_add_stream(&xplane->import, &stream));
	return import_add_file(&xplane->import, xplane->file.stream, TOOL, path);
}

static int read_space(struct xplane *xplane, const char *path, struct flextrace_error *error)
{
	struct xplane_file *file = &xplane->file;
	struct protobuf space = file->space;
	struct protobuf_field field = {.is_cut = false};
	int code;

	while ((code = protobuf_next(&space, &field)) > 0)
		FLEXTRACE_TRY(take_field(xplane, &field, path));
	file->is_cut |= code < 0 || field.is_cut;
	if (!file->n_planes)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "There is no plane of a profile: file=%s", path);
	FLEXTRACE_TRY(add_stream(xplane, path));
	FLEXTRACE_TRY(read_planes(xplane));
	import_warn_of_faults(&xplane->import, path, "Events", "byte");
	return file->is_cut ? import_cut(&xplane->import, path) : FLEXTRACE_OK;
}

/* Takes what can be read; a packed file that is damaged is cut there. */
static int load(struct xplane_file *file, struct trace_file *from, const char *path,
                struct flextrace_error *error)
{
	uint32_t n_allocated = 0;
	size_t n_bytes = 0;
	int64_t n;

	do {
		FLEXTRACE_TRY(ARRAY_RESERVE(file->bytes, n_allocated, n_bytes + STEP_BYTES));
		n = trace_file_read(from, (char *)file->bytes + n_bytes, STEP_BYTES, NULL);
		n_bytes += n > 0 ? (size_t)n : 0;
	} while (n > 0 && n_bytes <= MAX_BYTES);
	if (n > 0)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "The profile is larger than any can be: file=%s", path);
	file->is_cut = n < 0;
	file->space = (struct protobuf){file->bytes, file->bytes + n_bytes};
	file->hash = hash_bytes(HASH_NO_BYTES, file->bytes, n_bytes);
	return FLEXTRACE_OK;
}

static void end_file(struct xplane_file *file)
{
	for (uint32_t i = 0; i < file->n_planes; i++)
		xplane_release_tables(&file->planes[i]);
	free(file->bytes);
	free(file->planes);
	free(file->hlos);
	map_release(&file->device_index);
	map_release(&file->row_index);
	map_release(&file->hlo_index);
}

static int read_file(struct import *import, const char *path, struct flextrace_error *error)
{
	struct xplane *xplane = (struct xplane *)import;
	struct trace_file *from = trace_file_open(path, error);
	int code;

	if (!from)
		return error->code;
	xplane->file = (struct xplane_file){.stream = import->n_streams, .epoch_ns = INT64_MAX};
	code = load(&xplane->file, from, path, error);
	trace_file_close(from);
	if (code == FLEXTRACE_OK)
		code = read_space(xplane, path, error);
	end_file(&xplane->file);
	return code;
}

/* -- all files -------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
	return path_ends_with(name, ".xplane.pb") || path_ends_with(name, ".xplane.pb.gz");
}

/* Where JAX writes below its log directory: a folder for each run, a file for each host. */
static const struct path_filter files = {.fits = is_name, .runs = "plugins/profile"};

static bool begins(const struct protobuf *bytes, const char *start)
{
	size_t n = strlen(start);

	return protobuf_length(bytes) >= n && memcmp(bytes->at, start, n) == 0;
}

/* By its name, or by that of its first plane. */
static int probe_xplane(const struct probe *probe)
{
	const uint8_t *bytes = (const uint8_t *)probe->bytes;
	struct protobuf space = {bytes, bytes + probe->n_bytes};
	struct protobuf_field plane, fields[PLANE_NAME + 1];

	if (is_name(probe->path))
		return 1;
	if (protobuf_next(&space, &plane) <= 0 || plane.number != SPACE_PLANE)
		return 0;
	protobuf_read(&plane.bytes, fields, PLANE_NAME + 1);
	return begins(&fields[PLANE_NAME].bytes, "/host:") ||
	       begins(&fields[PLANE_NAME].bytes, "/device:");
}

static void tell_run(const struct import *import, const char *path)
{
	uint32_t n;
	char *run = path_newest(path, files.runs, &n);

	if (n > 1)
		import_warn(import,
		            "There are several runs, and the last one is read; give another one by "
		            "its folder: runs=%" PRIu32 ", folder=%s",
		            n, run);
	free(run);
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	struct xplane *xplane = (struct xplane *)import;

	xplane->args = xplane->told = (struct json_text)JSON_TEXT_INIT;
	for (uint32_t i = 0; i < import->options->n_paths; i++)
		tell_run(import, import->options->paths[i]);
	FLEXTRACE_TRY(import_each_file(import, read_file, error));
	return import->n_streams
	               ? FLEXTRACE_OK
	               : error_set(error, FLEXTRACE_E_INPUT, "There is no profile: file=%s",
	                           import->options->paths[0]);
}

static void release(struct import *import)
{
	struct xplane *xplane = (struct xplane *)import;

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
