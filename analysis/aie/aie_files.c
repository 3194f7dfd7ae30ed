/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run on AI engines leaves: a JSON file of each core, named by its tile, index.json,
 * aggregate_perf.json and details.md. What is not known is null, and a dash in details.md.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "aie_describe.h"
#include "base/text/json_item.h"
#include "base/text/writer.h"

#define DETAILS_NAME "details.md"

/* null where nobody said it. */
static void add_text(cJSON *object, const char *key, const char *text)
{
	if (text && text[0])
		json_item_add_text(object, key, text);
	else
		json_item_add(object, key, cJSON_CreateNull());
}

/* -- files ------------------------------------------------------------------------------------ */

/* Writes a document, which is released; NULL: there was no memory for it. */
static int write_json(struct writer *writer, cJSON *json)
{
	char *text = json ? cJSON_Print(json) : NULL;

	cJSON_Delete(json);
	if (!text)
		return FLEXTRACE_E_MEMORY;
	writer_raw(writer, text);
	writer_char(writer, '\n');
	cJSON_free(text);
	return FLEXTRACE_OK;
}

static int save_core(const struct aie_run *run, const struct aie_core *core,
                     const struct text_sink *sink)
{
	struct writer writer;
	int code;

	FLEXTRACE_TRY(writer_open(&writer, sink->dir, core->file, false, sink->error));
	code = write_json(&writer, aie_describe_core(run, core));
	if (code < 0)
		writer_abandon(&writer);
	FLEXTRACE_TRY(code < 0 ? code : writer_close(&writer, sink->error));
	return text_list_add(&sink->count->beside, TABLES_DIR "/%s", core->file);
}

static void list_cores(const struct aie_run *run, cJSON *json)
{
	cJSON *notes = json_item_add_list(json, "notes");
	cJSON *list = json_item_add_list(json, "cores");

	for (uint32_t i = 0; i < run->n_cores; i++) {
		char note[AIE_NOTE_BYTES];

		if (aie_note(run, &run->cores[i], note))
			json_item_append(notes, cJSON_CreateString(note));
		json_item_append(list, cJSON_CreateString(run->cores[i].file));
	}
}

static cJSON *describe_index(const struct aie_run *run, const char *dir)
{
	const struct aie_options *options = &run->options;
	cJSON *json = cJSON_CreateObject();
	char path[4096];

	snprintf(path, sizeof(path), "%s/" DETAILS_NAME, dir);
	add_text(json, "hwid", options->hwid);
	aie_add_option(json, "M", options->M, 0);
	aie_add_option(json, "K", options->K, 0);
	aie_add_option(json, "N", options->N, 0);
	aie_add_option(json, "m", options->m, 0);
	aie_add_option(json, "k", options->k, 0);
	aie_add_option(json, "n", options->n, 0);
	aie_add_option(json, "rows", options->row, 0);
	aie_add_option(json, "cols", options->col, 0);
	add_text(json, "input_path", run->path);
	add_text(json, "output_dir", dir);
	aie_add_option(json, "warmup", options->warmup, -1);
	aie_add_option(json, "iterations", options->iterations, -1);
	aie_add_number(json, "clock_GHz", run->cores[0].ghz > 0 ? run->cores[0].ghz : (double)NAN);
	add_text(json, "details_md", path);
	aie_add_number(json, "peak_macs_per_cycle_per_core", options->peak_macs);
	aie_add_number(json, "lock_stall_factor", options->stall_factor);
	aie_add_number(json, "outlier_window", options->outlier_window);
	list_cores(run, json);
	return json;
}

/* -- details.md ------------------------------------------------------------------------------- */

static void write_count(struct writer *writer, const char *before, int64_t value)
{
	writer_raw(writer, before);
	if (value)
		writer_i64(writer, value);
	else
		writer_char(writer, '-');
}

/* What would end a cell or the line, or be markup, is left out. */
static void write_cell(struct writer *writer, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x7f && (isalnum(c) || strchr(" ,.:;()-_/+=", c)))
			writer_char(writer, *text);
	}
}

static void write_row(const struct aie_run *run, const struct aie_core *core, uint32_t i,
                      struct writer *writer)
{
	const struct aie_iteration *of = &core->iterations[i];
	double macs = aie_macs_of_core(run), cycles = (double)(of->end - of->begin);
	const uint64_t counts[] = {of->min, of->max, of->end - of->begin};

	writer_literal(writer, "| ");
	write_cell(writer, aie_tile_name(run, core));
	writer_literal(writer, " | ");
	writer_u64(writer, i);
	writer_literal(writer, " | ");
	writer_raw(writer, aie_phase_names[of->phase]);
	writer_literal(writer, " | ");
	writer_u64(writer, of->n);
	writer_literal(writer, " | ");
	writer_fixed(writer, (double)of->sum / of->n, 3);
	for (size_t j = 0; j < sizeof(counts) / sizeof(counts[0]); j++) {
		writer_literal(writer, " | ");
		writer_u64(writer, counts[j]);
	}
	writer_literal(writer, " | ");
	if (isfinite(macs) && core->ghz > 0)
		writer_fixed(writer, aie_gmacs(macs, core->ghz, cycles), 3);
	else
		writer_char(writer, '-');
	writer_literal(writer, " |\n");
}

static void write_iterations(const struct aie_run *run, struct writer *writer)
{
	writer_literal(writer, "<details><summary><strong>[");
	write_cell(writer, run->options.hwid ? run->options.hwid : "-");
	write_count(writer, "] M=", run->options.M);
	write_count(writer, " K=", run->options.K);
	write_count(writer, " N=", run->options.N);
	writer_literal(writer,
	               "</strong></summary>\n\n"
	               "| Tile | Iter | Phase | Kernels | Avg cycles | Min | Max | Total span | "
	               "GMAC/s |\n"
	               "|------|------|-------|---------|------------|-----|-----|------------|"
	               "--------|\n");
	for (uint32_t i = 0; i < run->n_cores; i++) {
		for (uint32_t j = 0; j < run->cores[i].n_iterations; j++)
			write_row(run, &run->cores[i], j, writer);
	}
	writer_literal(writer, "\n</details>\n");
}

/* -- tables ----------------------------------------------------------------------------------- */

static uint64_t count_iterations(const struct aie_run *run)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < run->n_cores; i++)
		n += run->cores[i].n_iterations;
	return n;
}

static int save_index(const struct aie_run *run, struct text_sink *sink)
{
	for (uint32_t i = 0; i < run->n_cores; i++)
		FLEXTRACE_TRY(save_core(run, &run->cores[i], sink));
	sink->count->rows = run->n_cores;
	return write_json(&sink->writer, describe_index(run, sink->dir));
}

static int save_aggregate(const struct aie_run *run, struct text_sink *sink)
{
	const struct aie_common common = aie_common(run);

	/* of no iteration that is common it says so, in a row */
	sink->count->rows = common.begin < common.end ? common.end - common.begin
	                                              : run->n_cores > 0;
	return write_json(&sink->writer, aie_describe_aggregate(run));
}

static int save_details(const struct aie_run *run, struct text_sink *sink)
{
	sink->count->rows = count_iterations(run);
	write_iterations(run, &sink->writer);
	return FLEXTRACE_OK;
}

static int write_with(const struct findings *findings, struct text_sink *sink,
                      int (*save)(const struct aie_run *run, struct text_sink *sink))
{
	struct aie_run run;
	int code = aie_find(&run, findings);

	if (code >= 0)
		code = save(&run, sink);
	aie_release(&run);
	return code;
}

#define AIE_ANALYSIS(NAME, FILE)                                                         \
	static int write_##NAME(const struct findings *findings, struct text_sink *sink) \
	{                                                                                \
		return write_with(findings, sink, save_##NAME);                          \
	}                                                                                \
	const struct analysis analysis_aie_##NAME = {                                    \
		.name = "aie",                                                           \
		.file = ANALYSIS_TEXT(FILE, write_##NAME),                               \
		.shape_of = IDENTITY_AIE_FILE,                                           \
	}

AIE_ANALYSIS(index, "index.json");
AIE_ANALYSIS(aggregate, "aggregate_perf.json");
AIE_ANALYSIS(details, DETAILS_NAME);
