/* SPDX-License-Identifier: Apache-2.0 */
/* The device logs of tt-metal's profiler: which files they are, and what becomes of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/kit/faults.h"
#include "tt_report.h"

#define LOG_NAME      "profile_log_device.csv"
#define REPORT_PREFIX "ops_perf_results"

/* -- which files ----------------------------------------------------------------------------- */

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

/* What the tools call what they leave in a folder. */
static bool is_name(const char *name)
{
	return strcmp(name, LOG_NAME) == 0 ||
	       strncmp(name, REPORT_PREFIX, strlen(REPORT_PREFIX)) == 0;
}

static const struct path_filter names = {.fits = is_name};

static int probe_csv(const struct probe *probe)
{
	char bytes[PROBE_BYTES + 1];

	if ((probe_has(probe, "RISC processor type") && probe_has(probe, "timer_id")) ||
	    tt_is_report(probe))
		return 1;
	memcpy(bytes, probe->bytes, sizeof(bytes));
	return begins_with_row(bytes);
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
		import_warn_of_faults(&tt->import, path, "Rows", "byte");
	if (code >= 0 && reader.lines.is_cut)
		code = import_cut(&tt->import, path);
	tt_lines_close(&reader.lines);
	return code;
}

enum step { READ_LOGS, SURVEY_REPORTS, READ_REPORTS };

struct reading {
	struct tt *tt;
	enum step step;
	struct flextrace_error *error;
};

static int take_file(void *context, const char *path)
{
	const struct reading *reading = context;
	struct probe probe;
	bool is_report;

	FLEXTRACE_TRY(probe_file(path, &probe));
	is_report = tt_is_report(&probe);
	if (reading->step == READ_LOGS)
		return is_report ? FLEXTRACE_OK : read_file(reading->tt, path, reading->error);
	if (!is_report)
		return FLEXTRACE_OK;
	return reading->step == SURVEY_REPORTS ? tt_report_survey(reading->tt, path, reading->error)
	                                       : tt_report_read(reading->tt, path, reading->error);
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
		json_text_release(&tt->calls[i].cells);
	free(tt->calls);
}

static int take_all(struct tt *tt, enum step step, struct flextrace_error *error)
{
	const struct import_options *options = tt->import.options;
	struct reading reading = {tt, step, error};

	for (uint32_t i = 0; i < options->n_paths; i++)
		FLEXTRACE_TRY(path_each(options->paths[i], &names, take_file, &reading));
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
	FLEXTRACE_TRY(tt_write_runs(tt));
	FLEXTRACE_TRY(take_all(tt, READ_REPORTS, error));
	if (!tt->n_areas && !tt->n_events && !tt->has_columns)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no row: files=%" PRIu32,
		                 import->options->n_paths);
	return tt_define(tt);
}

const struct import_format import_tt_csv = {
	.dialect = IMPORT_TT_CSV,
	.filter = &names,
	.probe = probe_csv,
	.n_bytes = sizeof(struct tt),
	.read = read_all,
	.release = release,
};
