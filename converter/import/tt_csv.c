/* SPDX-License-Identifier: Apache-2.0 */
/* The device logs of tt-metal's profiler: which files they are, and what becomes of them. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "import/trace_file.h"
#include "import/tt_impl.h"

#define LOG_NAME   "profile_log_device.csv"
#define ASSUMED_HZ UINT64_C(1000000000)
#define LOOK_BYTES 4096

/* -- which files ----------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Whether the columns of a log stand in a file's first bytes. */
static bool has_columns(const char *path)
{
	struct flextrace_error error = {0};
	struct trace_file *file = trace_file_open(path, &error);
	char bytes[LOOK_BYTES + 1];
	size_t n_read = 0;
	int64_t n = file ? 1 : 0;

	for (; n > 0 && n_read<LOOK_BYTES; n_read += n> 0 ? (size_t)n : 0)
		n = trace_file_read(file, bytes + n_read, LOOK_BYTES - n_read, &error);
	trace_file_close(file);
	bytes[n_read] = '\0';
	return strstr(bytes, "RISC processor type") && strstr(bytes, "timer_id");
}

/* Runs leave their log in a folder. */
static bool is_log(const char *path)
{
	char *inside;
	bool is;

	if (!is_directory(path))
		return has_columns(path);
	if (asprintf(&inside, "%s/" LOG_NAME, path) < 0)
		return false;
	is = has_columns(inside);
	free(inside);
	return is;
}

/* -- one file -------------------------------------------------------------------------------- */

struct file_reader {
	struct tt *tt;                        /* weak */
	const struct import_options *options; /* weak */
	struct tt_lines lines;
	struct tt_header header;
	uint64_t n_rows, n_bad, first_bad_bytes;
	const char *first_fault;
};

static void warn(const struct file_reader *reader, const char *text)
{
	if (reader->options->warn)
		reader->options->warn(reader->options->context, text);
}

static int reject(struct file_reader *reader, const char *fault)
{
	if (!reader->n_bad++) {
		reader->first_fault = fault;
		reader->first_bad_bytes = reader->lines.offset_bytes;
	}
	return ledger_lose(&reader->tt->ledger, LOSS_MALFORMED, &LOSS_NOWHERE, 1, INT64_MIN);
}

/* A header may come again: runs append to a log. */
static int take_line(struct file_reader *reader, char *line)
{
	struct tt_header *header = &reader->header;
	const char *fault;
	struct tt_row row;

	if (!*line || ((line[0] < '0' || line[0] > '9') && tt_header_take(header, line)))
		return FLEXTRACE_OK;
	if (!header->has_columns)
		return reject(reader, "no line before it names the columns");
	fault = tt_row_read(header, line, &row);
	if (!fault)
		FLEXTRACE_TRY(tt_push(reader->tt, header, &row, &fault));
	if (fault)
		return reject(reader, fault);
	reader->n_rows++;
	return FLEXTRACE_OK;
}

static int tell(struct file_reader *reader, const char *path)
{
	char text[1024];

	if (reader->n_bad) {
		snprintf(text, sizeof(text),
		         "Rows were rejected: file=%s, rows=%" PRIu64 ", first at byte %" PRIu64
		         ": %s",
		         path, reader->n_bad, reader->first_bad_bytes, reader->first_fault);
		warn(reader, text);
	}
	if (!reader->lines.is_cut)
		return FLEXTRACE_OK;
	snprintf(text, sizeof(text), "The file stops in the middle: file=%s", path);
	warn(reader, text);
	return ledger_lose(&reader->tt->ledger, LOSS_TRUNCATED_STREAM, &LOSS_NOWHERE, 1, INT64_MIN);
}

static int read_lines(struct file_reader *reader, struct flextrace_error *error)
{
	char *line;
	int code;

	while ((code = tt_lines_next(&reader->lines, &line, error)) > 0) {
		code = take_line(reader, line);
		if (code < 0)
			return import_explain(code, error);
	}
	return code;
}

/* The rate is that of the file's own header, wherever that stands. */
static void settle_rates(struct file_reader *reader, const char *path)
{
	bool is_unknown = false;
	char text[1024];

	for (uint32_t i = 0; i < reader->tt->n_devices; i++) {
		struct tt_device *device = &reader->tt->devices[i];

		if (!device->hz)
			device->hz = reader->header.hz;
		is_unknown |= !device->hz;
		device->hz = device->hz ? device->hz : ASSUMED_HZ;
	}
	snprintf(text, sizeof(text),
	         "The file does not tell the chip's frequency, 1 GHz is taken: file=%s", path);
	if (is_unknown)
		warn(reader, text);
}

static int read_file(struct tt *tt, const struct import_options *options, const char *path,
                     struct flextrace_error *error)
{
	struct file_reader reader = {.tt = tt, .options = options};
	int code;

	FLEXTRACE_TRY(tt_lines_open(&reader.lines, path, error));
	code = read_lines(&reader, error);
	settle_rates(&reader, path);
	if (code >= 0)
		code = tell(&reader, path);
	tt_lines_close(&reader.lines);
	return code;
}

static int read_path(struct tt *tt, const struct import_options *options, const char *path,
                     struct flextrace_error *error)
{
	char *inside;
	int code;

	if (!is_directory(path))
		return read_file(tt, options, path, error);
	if (asprintf(&inside, "%s/" LOG_NAME, path) < 0)
		return import_explain(FLEXTRACE_E_MEMORY, error);
	code = read_file(tt, options, inside, error);
	free(inside);
	return code;
}

/* -- the reader ------------------------------------------------------------------------------ */

static void tt_free(void *context)
{
	struct tt *tt = context;

	ledger_release(&tt->ledger);
	string_cache_release(&tt->cache);
	string_pool_free(tt->strings);
	map_release(&tt->device_index);
	map_release(&tt->area_index);
	map_release(&tt->marker_index);
	map_release(&tt->program_index);
	map_release(&tt->processor_index);
	for (uint32_t i = 0; i < tt->n_devices; i++)
		spool_free(tt->devices[i].spool);
	for (uint32_t i = 0; i < tt->n_areas; i++)
		free(tt->areas[i].words);
	free(tt->devices);
	free(tt->areas);
	free(tt->markers);
	free(tt->programs);
	free(tt->processors);
	free(tt->processor_names);
	free(tt);
}

static struct tt *tt_new(void)
{
	static const uint8_t uuid[16] = {'t', 't', '-', 'm', 'e', 't', 'a', 'l'};
	struct tt *tt = calloc(1, sizeof(*tt));

	if (!tt)
		return NULL;
	ledger_init(&tt->ledger);
	memcpy(tt->stream.uuid, uuid, sizeof(uuid));
	tt->stream.host = "imported";
	tt->strings = string_pool_new();
	if (!tt->strings) {
		free(tt);
		return NULL;
	}
	string_cache_init(&tt->cache, tt->strings);
	return tt;
}

static int read_all(struct tt *tt, const struct import_options *options,
                    struct flextrace_error *error)
{
	FLEXTRACE_TRY(tt_know_processors(tt));
	for (uint32_t i = 0; i < options->n_paths; i++)
		FLEXTRACE_TRY(read_path(tt, options, options->paths[i], error));
	if (!tt->n_areas)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no row: files=%" PRIu32,
		                 options->n_paths);
	return tt_settle(tt);
}

static int open_reader(const struct import_options *options, void **ret_reader,
                       struct flextrace_error *error)
{
	struct tt *tt = tt_new();
	int code = tt ? read_all(tt, options, error) : FLEXTRACE_E_MEMORY;

	if (code == FLEXTRACE_E_MEMORY)
		import_explain(code, error);
	if (code < 0 && tt)
		tt_free(tt);
	if (code >= 0)
		*ret_reader = tt;
	return code;
}

static uint32_t count_streams(const void *reader)
{
	(void)reader;
	return 1;
}

static const struct import_stream *stream_of(const void *reader, uint32_t stream)
{
	(void)stream;
	return &((const struct tt *)reader)->stream;
}

static int next_event(void *reader, uint32_t *ret_stream, struct event *ret_event)
{
	struct tt *tt = reader;
	int code;

	*ret_stream = 0;
	code = tt_next_definition(tt, ret_event);
	return code ? code : tt_next_batch(tt, ret_event);
}

static const struct ledger *ledger_of(const void *reader)
{
	return &((const struct tt *)reader)->ledger;
}

const struct import_format import_tt_csv = {
	.dialect = IMPORT_TT_CSV,
	.is_of = is_log,
	.open = open_reader,
	.free = tt_free,
	.n_streams = count_streams,
	.stream = stream_of,
	.next = next_event,
	.ledger = ledger_of,
};
