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

#define INDEX_NAME     "index.json"
#define AGGREGATE_NAME "aggregate_perf.json"
#define DETAILS_NAME   "details.md"

/* null where nobody said it. */
static void add_text(cJSON *object, const char *key, const char *text)
{
	if (text && text[0])
		json_item_add_text(object, key, text);
	else
		json_item_add(object, key, cJSON_CreateNull());
}

/* -- files ------------------------------------------------------------------------------------ */

struct output {
	const struct aie_run *run;
	const char *dir;
	char *text; /* owned: a JSON text */
};

static void write_text(void *context, struct writer *writer)
{
	const struct output *output = context;

	writer_raw(writer, output->text);
	writer_char(writer, '\n');
}

/* Writes a document, which is released; NULL: there was no memory for it. */
static int save_json(struct output *output, const char *file, cJSON *json,
                     struct flextrace_error *error)
{
	int code;

	output->text = json ? cJSON_Print(json) : NULL;
	cJSON_Delete(json);
	if (!output->text)
		return analysis_no_memory(file, error);
	code = analysis_save(output->dir, file, write_text, output, error);
	cJSON_free(output->text);
	return code;
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

static cJSON *describe_index(const struct output *output)
{
	const struct aie_run *run = output->run;
	const struct aie_options *options = &run->options;
	cJSON *json = cJSON_CreateObject();
	char path[4096];

	snprintf(path, sizeof(path), "%s/" DETAILS_NAME, output->dir);
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
	add_text(json, "output_dir", output->dir);
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

static void write_details(void *context, struct writer *writer)
{
	const struct output *output = context;
	const struct aie_run *run = output->run;

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

static int save_index(struct output *output, uint64_t *ret_rows, struct flextrace_error *error)
{
	const struct aie_run *run = output->run;

	for (uint32_t i = 0; i < run->n_cores; i++) {
		const char *name = run->cores[i].file;

		FLEXTRACE_TRY(
			save_json(output, name, aie_describe_core(run, &run->cores[i]), error));
	}
	*ret_rows = run->n_cores;
	return save_json(output, INDEX_NAME, describe_index(output), error);
}

static int save_aggregate(struct output *output, uint64_t *ret_rows, struct flextrace_error *error)
{
	const struct aie_common common = aie_common(output->run);

	*ret_rows = common.begin < common.end ? common.end - common.begin : 0;
	return save_json(output, AGGREGATE_NAME, aie_describe_aggregate(output->run), error);
}

static int save_details(struct output *output, uint64_t *ret_rows, struct flextrace_error *error)
{
	*ret_rows = count_iterations(output->run);
	return analysis_save(output->dir, DETAILS_NAME, write_details, output, error);
}

static int write_with(const struct findings *findings, const char *dir, const char *file,
                      int (*save)(struct output *output, uint64_t *ret_rows,
                                  struct flextrace_error *error),
                      uint64_t *ret_rows, struct flextrace_error *error)
{
	struct aie_run run;
	struct output output = {.run = &run, .dir = dir};
	int code = aie_find(&run, findings);

	*ret_rows = 0;
	code = code < 0 ? analysis_no_memory(file, error) : save(&output, ret_rows, error);
	aie_release(&run);
	return code;
}

static int write_index(const struct findings *findings, const char *output_dir, uint64_t *ret_rows,
                       struct flextrace_error *error)
{
	return write_with(findings, output_dir, INDEX_NAME, save_index, ret_rows, error);
}

static int write_aggregate(const struct findings *findings, const char *output_dir,
                           uint64_t *ret_rows, struct flextrace_error *error)
{
	return write_with(findings, output_dir, AGGREGATE_NAME, save_aggregate, ret_rows, error);
}

static int write_details_md(const struct findings *findings, const char *output_dir,
                            uint64_t *ret_rows, struct flextrace_error *error)
{
	return write_with(findings, output_dir, DETAILS_NAME, save_details, ret_rows, error);
}

const struct analysis analysis_aie = {
	.name = "aie", .file = INDEX_NAME, .is_for = aie_is_in, .write = write_index};
const struct analysis analysis_aie_aggregate = {
	.name = "aie", .file = AGGREGATE_NAME, .is_for = aie_is_in, .write = write_aggregate};
const struct analysis analysis_aie_details = {
	.name = "aie", .file = DETAILS_NAME, .is_for = aie_is_in, .write = write_details_md};
