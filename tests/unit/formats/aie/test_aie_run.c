/* SPDX-License-Identifier: Apache-2.0 */
/* What a run on AI engines leaves: iterations, windows, utilisation, in JSON and details.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <cjson/cJSON.h>

#include "aie_fixture.h"
#include "base/paths.h"
#include "scratch.h"

/* Kernels of 50 cycles; a long stall is one of 1000. */
#define LEADING    "7B1 7E1000 "
#define FIRST      "0B1010 0E1011 1B1059 1E1060 0B1100 0E1101 1B1149 1E1150 "
#define LONG_STALL "7B1160 7E2200 "
#define SECOND     "0B2210 0E2211 1B2269 1E2270 7B2280 7E2290 0B2300 0E2301 1B2349 1E2350 "
#define LAST_STALL "7B2400 "

static struct flex_run *convert(void **state, const char *edges, const char *others)
{
	struct flex_run *run = *state;
	char *text = aie_json_of_two(edges, others);

	flex_add_file(run, "trace.json", text);
	flex_convert(run);
	free(text);
	return run;
}

static cJSON *read_json(const struct flex_run *run, const char *name)
{
	char *text = scratch_read(path_of(run->out, "tables").text, name, NULL);
	cJSON *json;

	assert_non_null(text);
	json = cJSON_Parse(text);
	assert_non_null(json);
	free(text);
	return json;
}

/* "iterations.0.total_span_cycles" */
static const cJSON *at(const cJSON *json, const char *path)
{
	while (json && *path) {
		char key[64];
		size_t n = strcspn(path, ".");

		assert_true(n < sizeof(key));
		memcpy(key, path, n);
		key[n] = '\0';
		json = cJSON_IsArray(json) ? cJSON_GetArrayItem(json, atoi(key))
		                           : cJSON_GetObjectItemCaseSensitive(json, key);
		path += n + (path[n] == '.');
	}
	return json;
}

static void check_number(const cJSON *json, const char *path, double expected)
{
	const cJSON *item = at(json, path);

	if (!cJSON_IsNumber(item))
		fail_msg("%s is no number", path);
	if (fabs(item->valuedouble - expected) > 1e-9 * fabs(expected))
		fail_msg("%s: %g != %g", path, item->valuedouble, expected);
}

static void check_text(const cJSON *json, const char *path, const char *expected)
{
	const char *text = cJSON_GetStringValue(at(json, path));

	if (!text)
		fail_msg("%s is no text", path);
	assert_string_equal(text, expected);
}

static void check_null(const cJSON *json, const char *path)
{
	if (!cJSON_IsNull(at(json, path)))
		fail_msg("%s is not null", path);
}

static void check_n(const cJSON *json, const char *path, int expected)
{
	assert_int_equal(cJSON_GetArraySize(at(json, path)), expected);
}

/* -- iterations ------------------------------------------------------------------------------- */

static void test_aie_run__splits_iterations_at_long_stalls(void **state)
{
	struct flex_run *run = convert(state, LEADING FIRST LONG_STALL SECOND LAST_STALL, NULL);
	cJSON *core = read_json(run, "tile2,1.json");

	check_number(core, "pid", 0);
	check_text(core, "tile_name", "tile2,1");
	check_number(core, "median_kernel_duration_cycles", 50);
	check_number(core, "lock_stall_boundary_count", 1);
	check_number(core, "detected_total_iterations", 2);
	check_null(core, "expected_total_iterations");
	check_null(core, "mismatch_note");
	check_n(core, "iterations", 2);
	check_number(core, "iterations.0.num_kernels", 2);
	check_number(core, "iterations.0.avg_duration_cycles", 50);
	check_number(core, "iterations.0.total_span_cycles", 140);
	check_number(core, "iterations.0.stall_cycles", 0);
	check_number(core, "iterations.1.iteration_index", 1);
	check_number(core, "iterations.1.num_kernels", 2);
	check_number(core, "iterations.1.avg_duration_cycles", 55);
	check_number(core, "iterations.1.min_duration_cycles", 50);
	check_number(core, "iterations.1.max_duration_cycles", 60);
	check_number(core, "iterations.1.first_start", 2210);
	check_number(core, "iterations.1.last_end", 2350);
	check_number(core, "iterations.1.stall_cycles", 10);
	check_number(core, "iterations.1.stall_share", 10 / 140.0);
	check_text(core, "iterations.0.phase", "perf");
	check_null(core, "iterations.0.gmacs_per_second");
	check_null(core, "iterations.0.mac_utilization");
	check_number(core, "coverage.captured_cycles", 2399);
	check_number(core, "coverage.stall_cycles", 999 + 1040 + 10);
	check_number(core, "coverage.kernel_cycles", 210);
	check_null(core, "coverage.iterations_share");
	check_null(core, "coverage.kernels_share");
	cJSON_Delete(core);
}

/* With a factor that makes the leading wait a long stall it is one, but begins no iteration. */
static void test_aie_run__makes_no_iteration_of_a_leading_wait(void **state)
{
	struct flex_run *run = *state;
	cJSON *core;

	run->options.findings.aie.stall_factor = 15;
	convert(state, LEADING FIRST LONG_STALL SECOND LAST_STALL, NULL);
	core = read_json(run, "tile2,1.json");
	check_number(core, "lock_stall_boundary_count", 2);
	check_number(core, "coverage.leading_wait_cycles", 999);
	check_number(core, "detected_total_iterations", 2);
	check_number(core, "iterations.0.num_kernels", 2);
	cJSON_Delete(core);
}

/* It is the end of a stall that parts. */
static void test_aie_run__parts_behind_a_stall_that_a_kernel_starts_in(void **state)
{
	struct flex_run *run = convert(
		state,
		FIRST "0B2210 0E2211 1B2269 1E2270 0B2300 0E2301 1B2349 1E2350 7B1160 7E2260",
		NULL);
	cJSON *core = read_json(run, "tile2,1.json");

	check_number(core, "detected_total_iterations", 2);
	check_number(core, "iterations.0.num_kernels", 3);
	check_number(core, "iterations.1.first_start", 2300);
	cJSON_Delete(core);
}

static void test_aie_run__takes_the_factor_that_it_is_told(void **state)
{
	struct flex_run *run = *state;
	cJSON *core;

	run->options.findings.aie.stall_factor = 0.1;
	convert(state, LEADING FIRST LONG_STALL SECOND LAST_STALL, NULL);
	core = read_json(run, "tile2,1.json");
	check_number(core, "detected_total_iterations", 3);
	check_number(core, "iterations.2.first_start", 2300);
	cJSON_Delete(core);
}

struct window_case {
	int64_t warmup, iterations;
	const char *phases[2], *note;
	int n_perf;
};

static const struct window_case windows[] = {
	{0, -1, {"perf", "perf"}, NULL, 2},
	{1, -1, {"warmup", "perf"}, NULL, 1},
	{0, 2, {"perf", "perf"}, NULL, 2},
	{1, 1, {"warmup", "perf"}, NULL, 1},
	{0,
         1,
         {"perf", "extra"},
         "Detected 2 iterations but expected 1. Truncating to first 1 iterations for phase "
         "labeling.",
         1},
	{3,
         4,
         {"warmup", "warmup"},
         "Detected 2 iterations but expected 7. Proceeding with available iterations.",
         0},
	{0,
         0,
         {"extra", "extra"},
         "Detected 2 iterations but expected 0. Truncating to first 0 iterations for phase "
         "labeling.",
         0},
};

static void check_window(const struct flex_run *run, const struct window_case *of)
{
	cJSON *core = read_json(run, "tile2,1.json"), *index = read_json(run, "index.json");
	cJSON *all = read_json(run, "aggregate_perf.json");

	check_text(core, "iterations.0.phase", of->phases[0]);
	check_text(core, "iterations.1.phase", of->phases[1]);
	check_n(core, "performance_window", of->n_perf);
	check_n(index, "notes", of->note != NULL);
	if (of->note) {
		check_text(core, "mismatch_note", of->note);
		check_text(index, "notes.0", of->note);
	}
	if (of->n_perf)
		check_number(all, "count", of->n_perf);
	else
		check_text(all, "note", "No common perf iterations across all cores.");
	cJSON_Delete(core);
	cJSON_Delete(index);
	cJSON_Delete(all);
}

static void test_aie_run__names_the_phases_of_iterations(void **state)
{
	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		struct flex_run *run;

		flex_stop(state);
		assert_int_equal(flex_start(state), 0);
		run = *state;
		run->options.findings.aie.warmup = windows[i].warmup;
		run->options.findings.aie.iterations = windows[i].iterations;
		convert(state, LEADING FIRST LONG_STALL SECOND LAST_STALL, NULL);
		check_window(run, &windows[i]);
	}
}

/* -- kernels ---------------------------------------------------------------------------------- */

static void test_aie_run__flags_outliers_and_keeps_them(void **state)
{
	/* four of 50 cycles, one of 200, one of 10 */
	struct flex_run *run = convert(state,
	                               FIRST
	                               "0B1200 0E1201 1B1399 1E1400 0B1500 0E1501 1B1549 1E1550 "
	                               "0B1600 0E1601 1B1609 1E1610 0B1700 0E1701 1B1749 1E1750",
	                               NULL);
	cJSON *core = read_json(run, "tile2,1.json");

	check_number(core, "median_kernel_duration_cycles", 50);
	check_number(core, "iterations.0.num_kernels", 6);
	check_number(core, "iterations.0.max_duration_cycles", 200);
	check_number(core, "iterations.0.outlier_kernels", 2);
	check_n(core, "outliers", 2);
	check_number(core, "outliers.0.start", 1200);
	check_number(core, "outliers.0.duration_cycles", 200);
	check_number(core, "outliers.1.end", 1610);
	cJSON_Delete(core);
}

static void test_aie_run__takes_the_window_of_outliers_that_it_is_told(void **state)
{
	struct flex_run *run = *state;
	cJSON *core;

	run->options.findings.aie.outlier_window = 1.1;
	convert(state, LEADING FIRST LONG_STALL SECOND, NULL);
	core = read_json(run, "tile2,1.json");
	check_n(core, "outliers", 1);
	check_number(core, "outliers.0.duration_cycles", 60);
	cJSON_Delete(core);
}

static void test_aie_run__does_not_count_what_is_open(void **state)
{
	struct flex_run *run = convert(state, FIRST "7B1160 0B2000 0E2001", NULL);
	cJSON *core = read_json(run, "tile2,1.json");

	check_number(core, "iterations.0.num_kernels", 2);
	check_number(core, "open_kernel_since", 2000);
	check_number(core, "coverage.stall_cycles", 2001 - 1160);
	cJSON_Delete(core);
}

static void test_aie_run__says_so_where_no_kernel_is(void **state)
{
	struct flex_run *run = convert(state, "7B10 7E50", NULL);
	cJSON *core = read_json(run, "tile2,1.json"), *index = read_json(run, "index.json");

	check_number(core, "detected_total_iterations", 0);
	check_text(core, "mismatch_note", "No kernel has both of its ends.");
	check_n(core, "iterations", 0);
	assert_null(at(core, "median_kernel_duration_cycles"));
	check_text(index, "notes.0", "No kernel has both of its ends.");
	cJSON_Delete(core);
	cJSON_Delete(index);
}

/* -- all cores -------------------------------------------------------------------------------- */

static struct flex_run *convert_two(void **state)
{
	struct flex_run *run = *state;
	struct aie_options *aie = &run->options.findings.aie;

	aie->M = aie->K = aie->N = 64;
	aie->m = aie->n = 16;
	aie->k = 32;
	aie->row = 2;
	aie->col = 1;
	aie->hwid = "npu|2";
	aie->iterations = 2;
	aie->clock_ghz = 2;
	aie->peak_macs = 1024;
	return convert(state, LEADING FIRST LONG_STALL SECOND LAST_STALL,
	               "0B5 0E6 1B54 1E55 0B100 0E101 1B199 1E200 7B210 7E3000 0B3005 0E3006 "
	               "1B3069 1E3075");
}

static void test_aie_run__sums_what_all_cores_did(void **state)
{
	struct flex_run *run = convert_two(state);
	cJSON *all = read_json(run, "aggregate_perf.json"), *core = read_json(run, "tile3,1.json");
	double gmacs0 = 64.0 * 64 * 64 * 2 / 195, gmacs1 = 64.0 * 64 * 64 * 2 / 140;

	check_number(core, "iterations.0.total_span_cycles", 195);
	check_number(core, "iterations.0.gmacs_per_second", gmacs0 / 2);
	check_number(core, "iterations.0.mac_utilization", 64.0 * 64 * 64 / 2 / 195 / 1024);
	check_number(core, "iterations.1.kernel_mac_utilization", 16.0 * 32 * 16 / 70 / 1024);
	check_number(core, "coverage.kernels_per_iteration_expected", 16);
	check_number(core, "coverage.kernels_share", 3 / 32.0);
	check_number(core, "coverage.iterations_share", 1);
	check_n(all, "iterations_considered", 2);
	check_number(all, "count", 2);
	check_number(all, "average.runtime_cycles", (195 + 140) / 2.0);
	check_number(all, "average.gmacs_per_second", (gmacs0 + gmacs1) / 2);
	check_number(all, "best.iteration_index", 1);
	check_number(all, "best.runtime_cycles", 140);
	check_number(all, "worst.iteration_index", 0);
	check_number(all, "worst.gmacs_per_second", gmacs0);
	check_number(all, "per_iteration.1.runtime_cycles", 140);
	check_number(all, "per_iteration.0.mac_utilization", 64.0 * 64 * 64 / 195 / 2048);
	check_text(all, "note", "Only iterations present on all cores are considered.");
	cJSON_Delete(all);
	cJSON_Delete(core);
}

static void test_aie_run__lists_what_it_was_told(void **state)
{
	struct flex_run *run = convert_two(state);
	cJSON *index = read_json(run, "index.json");

	check_text(index, "hwid", "npu|2");
	check_number(index, "M", 64);
	check_number(index, "k", 32);
	check_number(index, "rows", 2);
	check_number(index, "cols", 1);
	check_number(index, "warmup", 0);
	check_number(index, "iterations", 2);
	check_number(index, "clock_GHz", 2);
	check_text(index, "input_path", path_of(run->in, "trace.json").text);
	check_text(index, "output_dir", path_of(run->out, "tables").text);
	check_text(index, "details_md", path_of(run->out, "tables/details.md").text);
	check_n(index, "notes", 0);
	check_text(index, "cores.1", "tile3,1.json");
	cJSON_Delete(index);
}

static void test_aie_run__writes_a_line_per_core_and_iteration(void **state)
{
	struct flex_run *run = convert_two(state);
	char *text = scratch_read(run->out, "tables/details.md", NULL);

	assert_non_null(text);
	assert_string_equal(
		text,
		"<details><summary><strong>[npu2] M=64 K=64 N=64</strong></summary>\n\n"
		"| Tile | Iter | Phase | Kernels | Avg cycles | Min | Max | Total span | GMAC/s |\n"
		"|------|------|-------|---------|------------|-----|-----|------------|--------|"
		"\n"
		"| tile2,1 | 0 | perf | 2 | 50.000 | 50 | 50 | 140 | 1872.457 |\n"
		"| tile2,1 | 1 | perf | 2 | 55.000 | 50 | 60 | 140 | 1872.457 |\n"
		"| tile3,1 | 0 | perf | 2 | 75.000 | 50 | 100 | 195 | 1344.328 |\n"
		"| tile3,1 | 1 | perf | 1 | 70.000 | 70 | 70 | 70 | 3744.914 |\n"
		"\n</details>\n");
	free(text);
}

/* -- paths ------------------------------------------------------------------------------------ */

static const struct {
	const char *folder, *file;
	int64_t M, K, N, row; /* 0: not known */
	const char *hwid;
} paths[] = {
	{"npu2-gemm_512_256_128-4_row_8_col", "trace_mm_512_256_128.json", 512, 256, 128, 4,
         "npu2"},
	{"npu2-gemm_512_256_128-4_row_8_col", "t.json", 512, 256, 128, 4, "npu2"},
	{"run", "trace_mm_512_256_128.json", 512, 256, 128, 0, NULL},
	{"npu2-gemm_512_256", "trace_mm_512_256.json", 0, 0, 0, 0, NULL},
	{"npu2-gemm_0_256_128-4_row_8_col", "trace_mm_x_256_128.json", 0, 0, 0, 0, NULL},
	{"-gemm_5_6_7-1_row_1_col", "t.json", 5, 6, 7, 1, NULL},
	{"npu2-gemm_99999999999999999999_6_7-1_row_1_col", "t.json", 0, 0, 0, 0, NULL},
};

static void check_known(const cJSON *json, const char *key, int64_t expected)
{
	if (expected)
		check_number(json, key, (double)expected);
	else
		check_null(json, key);
}

static void test_aie_run__takes_what_the_path_tells(void **state)
{
	char *text = aie_json(LEADING FIRST);

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct flex_run *run;
		char path[1024];
		const char *folder = path;
		cJSON *index;

		flex_stop(state);
		assert_int_equal(flex_start(state), 0);
		run = *state;
		snprintf(path, sizeof(path), "mkdir -p -- %s/%s/traces", run->in, paths[i].folder);
		assert_int_equal(system(path), 0);
		snprintf(path, sizeof(path), "%s/traces/%s", paths[i].folder, paths[i].file);
		flex_add_file(run, path, text);
		snprintf(path, sizeof(path), "%s/%s", run->in, paths[i].folder);
		flex_convert_files(run, &folder, 1);
		index = read_json(run, "index.json");
		check_known(index, "M", paths[i].M);
		check_known(index, "K", paths[i].K);
		check_known(index, "N", paths[i].N);
		check_known(index, "rows", paths[i].row);
		if (paths[i].hwid)
			check_text(index, "hwid", paths[i].hwid);
		else
			check_null(index, "hwid");
		cJSON_Delete(index);
	}
	free(text);
}

static void test_aie_run__goes_by_options_before_paths(void **state)
{
	struct flex_run *run = *state;
	char *text = aie_json(LEADING FIRST);
	cJSON *index;

	run->options.findings.aie.M = 7;
	run->options.findings.aie.hwid = "mine";
	flex_add_file(run, "trace_mm_512_256_128.json", text);
	free(text);
	flex_convert(run);
	index = read_json(run, "index.json");
	check_number(index, "M", 7);
	check_null(index, "K");
	check_text(index, "hwid", "mine");
	cJSON_Delete(index);
}

/* -- hostile and other traces ----------------------------------------------------------------- */

static void test_aie_run__writes_files_of_hostile_tiles_where_it_should(void **state)
{
	struct flex_run *run = *state;
	cJSON *index;

	flex_add_file(run, "a.json",
	              "[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":"
	              "\"core_trace for tile../../x|\\n\\u00ff\"}},"
	              "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":"
	              "\"core_trace for tile../../x|\\n\\u00ff\"}},"
	              "{\"name\":\"A\",\"ph\":\"B\",\"ts\":1,\"pid\":0,\"tid\":0},"
	              "{\"name\":\"A\",\"ph\":\"E\",\"ts\":2,\"pid\":0,\"tid\":0}]");
	flex_convert(run);
	index = read_json(run, "index.json");
	check_text(index, "cores.0", "tile.._.._x____.json");
	check_text(index, "cores.1", "tile.._.._x____.2.json");
	assert_true(scratch_has(run->out, "tables/tile.._.._x____.json"));
	assert_true(scratch_has(run->out, "tables/tile.._.._x____.2.json"));
	cJSON_Delete(index);
}

static void test_aie_run__writes_no_markup_of_tiles(void **state)
{
	char *text;

	flex_add_file(*state, "a.json",
	              "[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":"
	              "\"core_trace for tile2,1 <a href=x>|[t](u)`\\u001b\\u00e9\\n# h\"}},"
	              "{\"name\":\"INSTR_EVENT_0\",\"ph\":\"B\",\"ts\":1,\"pid\":0,\"tid\":0},"
	              "{\"name\":\"INSTR_EVENT_0\",\"ph\":\"E\",\"ts\":2,\"pid\":0,\"tid\":0},"
	              "{\"name\":\"INSTR_EVENT_1\",\"ph\":\"B\",\"ts\":3,\"pid\":0,\"tid\":1},"
	              "{\"name\":\"INSTR_EVENT_1\",\"ph\":\"E\",\"ts\":4,\"pid\":0,\"tid\":1}]");
	flex_convert(*state);
	text = scratch_read(((struct flex_run *)*state)->out, "tables/details.md", NULL);
	assert_non_null(strstr(text, "| tile2,1 a href=xt(u) h | 0 | perf |"));
	free(text);
}

/* No tile may have a name that another file has. */
static void test_aie_run__keeps_files_of_tiles_from_others(void **state)
{
	struct flex_run *run = *state;
	cJSON *index;

	flex_add_file(run, "a.json",
	              "[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":"
	              "\"core_trace for run\"}},"
	              "{\"name\":\"LOCK_STALL\",\"ph\":\"B\",\"ts\":1,\"pid\":0,\"tid\":0},"
	              "{\"name\":\"LOCK_STALL\",\"ph\":\"E\",\"ts\":2,\"pid\":0,\"tid\":0}]");
	flex_convert(run);
	index = read_json(run, "index.json");
	check_text(index, "cores.0", "tilerun.json");
	assert_true(scratch_has(run->out, "tables/tilerun.json"));
	cJSON_Delete(index);
}

static void test_aie_run__leaves_no_files_where_no_core_is(void **state)
{
	struct flex_run *run = *state;

	flex_add_file(run, "a.json",
	              "[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":"
	              "\"mem_trace for tile2,1\"}},"
	              "{\"name\":\"LOCK_3_REL\",\"ph\":\"B\",\"ts\":1,\"pid\":0,\"tid\":0},"
	              "{\"name\":\"LOCK_3_REL\",\"ph\":\"E\",\"ts\":2,\"pid\":0,\"tid\":0}]");
	flex_convert(run);
	assert_int_equal(run->events.n_rows, 1);
	assert_false(scratch_has(run->out, "tables/index.json"));
	assert_false(scratch_has(run->out, "tables/aggregate_perf.json"));
	assert_false(scratch_has(run->out, "tables/details.md"));
}

/* -- a real trace ----------------------------------------------------------------------------- */

static void test_aie_run__has_the_iterations_of_a_real_trace(void **state)
{
	static const char path[] = FLEXTRACE_SHARED_DATA "/aie/test1/trace_test1.txt";
	const char *const files[] = {path};
	struct flex_run *run = *state;
	cJSON *core;

	if (access(path, R_OK) < 0)
		skip();
	flex_convert_files(run, files, 1);
	core = read_json(run, "tile2,1.json");
	check_number(core, "median_kernel_duration_cycles", 73);
	check_number(core, "detected_total_iterations", 2);
	check_number(core, "iterations.0.first_start", 2203);
	check_number(core, "iterations.0.last_end", 2787);
	check_number(core, "iterations.1.first_start", 5192);
	check_number(core, "iterations.1.num_kernels", 2);
	check_number(core, "coverage.leading_wait_cycles", 2064);
	cJSON_Delete(core);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_aie_run__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(splits_iterations_at_long_stalls),
		TEST(makes_no_iteration_of_a_leading_wait),
		TEST(parts_behind_a_stall_that_a_kernel_starts_in),
		TEST(takes_the_factor_that_it_is_told),
		TEST(names_the_phases_of_iterations),
		TEST(flags_outliers_and_keeps_them),
		TEST(takes_the_window_of_outliers_that_it_is_told),
		TEST(does_not_count_what_is_open),
		TEST(says_so_where_no_kernel_is),
		TEST(sums_what_all_cores_did),
		TEST(lists_what_it_was_told),
		TEST(writes_a_line_per_core_and_iteration),
		TEST(takes_what_the_path_tells),
		TEST(goes_by_options_before_paths),
		TEST(writes_files_of_hostile_tiles_where_it_should),
		TEST(writes_no_markup_of_tiles),
		TEST(keeps_files_of_tiles_from_others),
		TEST(leaves_no_files_where_no_core_is),
		TEST(has_the_iterations_of_a_real_trace),
	};

	return cmocka_run_group_tests_name("aie_run", tests, NULL, NULL);
}
