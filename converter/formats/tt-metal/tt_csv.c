/* SPDX-License-Identifier: Apache-2.0 */
/* The device logs of tt-metal's profiler: which files they are, and what becomes of them. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/chrome-json/trace_file.h"
#include "formats/kit/faults.h"
#include "tt_report.h"

#define LOG_NAME      "profile_log_device.csv"
#define REPORT_PREFIX "ops_perf_results"
#define LOOK_BYTES    4096

/* -- which files ----------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Whether a file begins with a row of a log that names no columns: of a RISC that every chip
 * has. */
static bool begins_with_row(char *bytes)
{
	static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC", "ERISC"};
	struct tt_header header = {.hz = 0};
	struct tt_row row;

	bytes[strcspn(bytes, "\r\n")] = '\0';
	if (!tt_header_guess(&header, bytes) || tt_row_read(&header, bytes, &row))
		return false;
	for (size_t i = 0; i < sizeof(riscs) / sizeof(*riscs); i++) {
		if (strncmp(row.risc, riscs[i], strlen(riscs[i])) == 0)
			return true;
	}
	return false;
}

/* Whether a file's first bytes are those of a log: 1, 0, FLEXTRACE_E_MEMORY. */
static int is_log(const char *path)
{
	char bytes[LOOK_BYTES + 1];

	FLEXTRACE_TRY(tt_look(path, bytes, LOOK_BYTES));
	if (strstr(bytes, "RISC processor type") && strstr(bytes, "timer_id"))
		return 1;
	return begins_with_row(bytes);
}

/* What the tools call what they leave in a folder. */
static int is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, LOG_NAME) == 0 ||
	       strncmp(entry->d_name, REPORT_PREFIX, strlen(REPORT_PREFIX)) == 0;
}

/* Stores the files of a path, owned: itself, or what is in it. */
static int list_files(const char *path, char ***ret_paths, uint32_t *ret_n)
{
	struct dirent **entries = NULL;
	int n = is_directory(path) ? scandir(path, &entries, is_name, alphasort) : -1, code = 0;

	*ret_n = 0;
	*ret_paths = calloc((size_t)(n > 0 ? n : 1), sizeof(char *));
	if (!*ret_paths)
		code = FLEXTRACE_E_MEMORY;
	if (code >= 0 && !is_directory(path)) {
		(*ret_paths)[0] = strdup(path);
		*ret_n = (*ret_paths)[0] != NULL;
		code = *ret_n ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	}
	for (int i = 0; i < n; i++) {
		if (code >= 0 &&
		    asprintf(&(*ret_paths)[*ret_n], "%s/%s", path, entries[i]->d_name) < 0)
			code = FLEXTRACE_E_MEMORY;
		else if (code >= 0 && trace_file_is_special((*ret_paths)[*ret_n]))
			free((*ret_paths)[*ret_n]);
		else if (code >= 0)
			++*ret_n;
		free(entries[i]);
	}
	free(entries);
	return code;
}

static void free_files(char **paths, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
}

static int is_ours(const char *path)
{
	char **paths;
	uint32_t n;
	int code = list_files(path, &paths, &n);

	for (uint32_t i = 0; i < n && code == 0; i++) {
		code = is_log(paths[i]);
		if (code == 0)
			code = tt_is_report(paths[i]);
	}
	free_files(paths, n);
	return code;
}

/* -- one file -------------------------------------------------------------------------------- */

struct file_reader {
	struct tt *tt; /* weak */
	struct tt_lines lines;
	struct tt_header header;
};

static int reject(struct file_reader *reader, const char *fault)
{
	return import_reject(&reader->tt->import, LOSS_MALFORMED, fault,
	                     reader->lines.offset_bytes);
}

/* A header may come again: runs append to a log. */
static int take_line(struct file_reader *reader, char *line)
{
	struct tt_header *header = &reader->header;
	const char *fault;
	struct tt_row row;

	if (!*line || ((line[0] < '0' || line[0] > '9') && tt_header_take(header, line)))
		return FLEXTRACE_OK;
	if (!header->has_columns && !tt_header_guess(header, line))
		return reject(reader, "no line before it names the columns");
	fault = tt_row_read(header, line, &row);
	row.number = reader->lines.number;
	if (!fault)
		FLEXTRACE_TRY(tt_push(reader->tt, header, &row, &fault));
	return fault ? reject(reader, fault) : FLEXTRACE_OK;
}

static int read_lines(struct file_reader *reader, struct flextrace_error *error)
{
	char *line;
	int code;

	while ((code = tt_lines_next(&reader->lines, &line, error)) > 0)
		FLEXTRACE_TRY(take_line(reader, line));
	return code;
}

/* The rate is that of the file's own header, wherever that stands. */
static void settle_rates(struct file_reader *reader, const char *path)
{
	bool is_unknown = false;

	for (uint32_t i = 0; i < reader->tt->n_devices; i++) {
		struct tt_device *device = &reader->tt->devices[i];

		if (!device->hz)
			device->hz = reader->header.hz;
		device->hz_is_told |= device->hz != 0;
		is_unknown |= !device->hz;
		device->hz = device->hz ? device->hz : TT_ASSUMED_HZ;
	}
	if (is_unknown)
		import_warn(&reader->tt->import,
		            "The file does not tell the chip's frequency, 1 GHz is taken: file=%s",
		            path);
}

static int read_file(struct tt *tt, const char *path, struct flextrace_error *error)
{
	struct file_reader reader = {.tt = tt};
	int code;

	FLEXTRACE_TRY(import_add_file(&tt->import, 0, "tt-csv", path));
	FLEXTRACE_TRY(tt_lines_open(&reader.lines, path, error));
	code = read_lines(&reader, error);
	tt->has_columns |= reader.header.has_columns;
	settle_rates(&reader, path);
	if (code >= 0)
		import_tell_faults(&tt->import, path, "Rows", "byte");
	if (code >= 0 && reader.lines.is_cut)
		code = import_cut(&tt->import, path);
	tt_lines_close(&reader.lines);
	return code;
}

enum step { READ_LOGS, SURVEY_REPORTS, READ_REPORTS };

static int take_file(struct tt *tt, const char *path, enum step step, struct flextrace_error *error)
{
	int is_report = tt_is_report(path);

	FLEXTRACE_TRY(is_report);
	if (step == READ_LOGS)
		return is_report ? FLEXTRACE_OK : read_file(tt, path, error);
	if (!is_report)
		return FLEXTRACE_OK;
	return step == SURVEY_REPORTS ? tt_report_survey(tt, path, error)
	                              : tt_report_read(tt, path, error);
}

static int take_path(struct tt *tt, const char *path, enum step step, struct flextrace_error *error)
{
	char **paths;
	uint32_t n;
	int code = list_files(path, &paths, &n);

	for (uint32_t i = 0; i < n && code >= 0; i++)
		code = take_file(tt, paths[i], step, error);
	free_files(paths, n);
	return code;
}

/* -- the format ------------------------------------------------------------------------------ */

static void release(struct import *import)
{
	struct tt *tt = (struct tt *)import;

	map_release(&tt->device_index);
	map_release(&tt->area_index);
	map_release(&tt->marker_index);
	map_release(&tt->program_index);
	map_release(&tt->processor_index);
	for (uint32_t i = 0; i < tt->n_devices; i++)
		spool_free(tt->devices[i].spool);
	for (uint32_t i = 0; i < tt->n_areas; i++) {
		free(tt->areas[i].kernels);
		free(tt->areas[i].words);
	}
	free(tt->devices);
	free(tt->areas);
	free(tt->markers);
	free(tt->programs);
	free(tt->processors);
	free(tt->processor_names);
	free(tt->meetings);
	map_release(&tt->call_index);
	for (uint32_t i = 0; i < tt->n_calls; i++)
		free(tt->calls[i].cells.bytes);
	free(tt->calls);
}

static int take_all(struct tt *tt, enum step step, struct flextrace_error *error)
{
	const struct import_options *options = tt->import.options;

	for (uint32_t i = 0; i < options->n_paths; i++)
		FLEXTRACE_TRY(take_path(tt, options->paths[i], step, error));
	return FLEXTRACE_OK;
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	const struct import_stream stream = {.uuid = "tt-metal"};
	struct tt *tt = (struct tt *)import;

	FLEXTRACE_TRY(import_add_stream(import, &stream));
	FLEXTRACE_TRY(tt_know_processors(tt));
	FLEXTRACE_TRY(take_all(tt, READ_LOGS, error));
	FLEXTRACE_TRY(take_all(tt, SURVEY_REPORTS, error));
	FLEXTRACE_TRY(tt_tie_devices(tt));
	FLEXTRACE_TRY(tt_settle(tt));
	FLEXTRACE_TRY(take_all(tt, READ_REPORTS, error));
	if (!tt->n_areas && !tt->n_events && !tt->has_columns)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no row: files=%" PRIu32,
		                 import->options->n_paths);
	return tt_define(tt);
}

static int fill_batch(struct tt *tt)
{
	int code = tt->has_batch ? 1 : tt_next_batch(tt, &tt->next_batch);

	tt->has_batch = code > 0;
	return code;
}

/* What stands in the spool: definitions, and events of reports. */
static int fill_event(struct tt *tt)
{
	uint32_t stream;
	int code = tt->has_event ? 1 : import_next_written(&tt->import, &stream, &tt->next_event);

	tt->has_event = code > 0;
	return code;
}

/* Of logs and reports whichever is first; what names its markers goes before a batch. */
static int next_event(struct import *import, uint32_t *ret_stream, struct event *ret_event)
{
	struct tt *tt = (struct tt *)import;

	*ret_stream = 0;
	FLEXTRACE_TRY(fill_batch(tt));
	FLEXTRACE_TRY(fill_event(tt));
	if (tt->has_event &&
	    (!tt->has_batch || tt->next_event.clock_ns < tt->next_batch.clock_ns)) {
		*ret_event = tt->next_event;
		tt->has_event = false;
		return 1;
	}
	if (!tt->has_batch || tt_define_late(tt, ret_event))
		return tt->has_batch;
	*ret_event = tt->next_batch;
	tt->has_batch = false;
	return 1;
}

const struct import_format import_tt_csv = {
	.dialect = IMPORT_TT_CSV,
	.is_of = is_ours,
	.n_bytes = sizeof(struct tt),
	.read = read_all,
	.next = next_event,
	.release = release,
};
