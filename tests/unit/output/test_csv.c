// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "model/emitted/emitted.h"
#include "csv_checker.h"
#include "emit_fixture.h"
#include "output/column_text.h"
#include "scratch.h"

#define N_FILES 9

static const struct result_file *const files[N_FILES] = {
	&emit_csv_host,  &emit_csv_device, &csv_rows[0],    &csv_rows[1],    &csv_rows[2],
	&csv_reports[0], &csv_reports[1],  &csv_reports[2], &csv_reports[3],
};

/* Writes all files and has each checked against the documentation. */
static void emit(struct emit_test *test)
{
	char *formats = scratch_read(FORMATS_DIR, "formats.md", NULL);

	assert_non_null(formats);
	for (int i = 0; i < N_FILES; i++) {
		struct file_count *count = &test->counts[i];
		char *text;
		size_t n;

		assert_int_equal(
			column_save(files[i], &test->fixture.findings,
		                    &(struct save_place){.dir = test->dir, .has_csv = true}, count,
		                    NULL),
			0);
		text = scratch_read(test->dir, count->file, &n);
		assert_int_equal(text != NULL, count->rows > 0);
		if (text)
			assert_int_equal(csv_check(count->file, text, n, formats, stderr), 0);
		assert_int_equal(count->rows, count->expected);
		assert_int_equal(count->left_out, 0);
		free(text);
	}
	free(formats);
}

/* Compares a file but for its header, which the documentation fixes. */
static void assert_file(struct emit_test *test, const char *name, const char *expected)
{
	char *text = scratch_read(test->dir, name, NULL);

	assert_non_null(text);
	assert_string_equal(strchr(text, '\n') + 1, expected);
	free(text);
}

#define EPOCH "1787000001000" /* the sample's rows are at this + 6 digits + 123 */

static void test_csv__writes_device_rows(void **state)
{
	struct emit_test *test = *state;

	emit(test);
	assert_file(
		test, "events.csv",
		"0,\"node,1\",100,0,,0,DmaI,mm_0,1,41," EPOCH "020123," EPOCH "021123,1000,12,"
		"certified,4294967306,4294967316,4294967326,4294967336,4294967346,,900,,"
		"DATA_IN,,,,,,,,0/1.0:17\n"
		"0,\"node,1\",100,0,,0,Prep,mm_0,1,41," EPOCH "021123," EPOCH "022123,1000,12,"
		"certified,4294967306,4294967316,4294967326,4294967336,4294967346,,900,,"
		"COMPUTE_PREP,,,,,,,,0/1.0:17\n"
		"0,\"node,1\",100,0,,0,Exec,mm_0,1,41," EPOCH "022123," EPOCH "030123,8000,12,"
		"certified,4294967306,4294967316,4294967326,4294967336,4294967346,,900,,"
		"COMPUTE_EXEC,,,,,,,,0/1.0:17\n"
		"0,\"node,1\",100,0,2,,FW,load tile,1,," EPOCH "022123," EPOCH "029123,7000,15,"
		"certified,100,,,,9007199254740993,,,,,,,,,,,,0/1.0:0\n"
		"0,\"node,1\",100,0,2,,Kernel,load tile,1,," EPOCH "023123," EPOCH "028123,5000,15,"
		"certified,100,,,,9007199254740993,,,,,,,,,,,,0/1.0:0\n"
		"0,\"node,1\",100,0,2,,Zone,load tile,1,," EPOCH "023123," EPOCH "024123,1000,15,"
		"certified,100,,,,9007199254740993,,,,,,,,,,,,0/1.0:0\n"
		"0,\"node,1\",100,0,,0,Exec,mm_0,2,42," EPOCH "025123," EPOCH "041123,16000,,"
		"outlier,4294967306,4294967316,4294967326,4294967336,4294967346,,,,COMPUTE_EXEC,,,,"
		",,,,"
		"0/1.0:17\n"
		"0,\"node,1\",100,0,,0,DmaO,mm_0,1,41," EPOCH "030123," EPOCH "031123,1000,12,"
		"certified,4294967306,4294967316,4294967326,4294967336,4294967346,,900,,"
		"DATA_OUT,,,,,,,,0/1.0:17\n"
		"1,\"node,1\",200,3,,7,Memcpy PtoP,mm_0,3,43," EPOCH "050123," EPOCH
		"052123,2000,7,"
		"certified,,,4294967326,4294967336,,4096,,,OTHER,world,0,,,,,,0/1.0:17\n");
}

static void test_csv__tells_what_the_compiler_says(void **state)
{
	struct emit_test *test = *state;
	struct kernel_cost row = {.ideal_cycles = 12, .phase = PHASE_DECODING};
	uint32_t of_op[4 * FIXTURE_MAX] = {0}; /* all of that row */
	double core_hz[FIXTURE_MAX] = {1e6};
	const struct kernel_costs costs = {.costs = &row, .of_op = of_op, .core_hz = core_hz};
	char *text;

	row.category = fixture_string(&test->fixture, "Conv,16");
	test->fixture.findings.costs = &costs;
	emit(test);
	text = scratch_read(test->dir, "events.csv", NULL);
	assert_non_null(strstr(text,
	                       "8000,12,certified,4294967306,4294967316,4294967326,"
	                       "4294967336,4294967346,,900,\"Conv,16\",COMPUTE_EXEC,,,12,1.5000,,"
	                       "decoding,,0/1.0:17\n"));
	assert_non_null(strstr(text,
	                       ",16000,,outlier,4294967306,4294967316,4294967326,"
	                       "4294967336,4294967346,,,\"Conv,16\",COMPUTE_EXEC,,,12,0.7500,,"
	                       "decoding,,0/1.0:17\n"));
	assert_ptr_equal(strstr(strstr(strstr(text, "Conv") + 1, "Conv") + 1, "Conv"), NULL);
	free(text);
}

static void test_csv__writes_host_rows(void **state)
{
	struct emit_test *test = *state;

	emit(test);
	assert_file(test, "host.csv",
	            "0,\"node,1\",100,100,main,Step,ProfilerStep#3,,0," EPOCH "000123," EPOCH
	            "100123,100000,0,certified,,0/1.0:0\n"
	            "0,\"node,1\",100,100,main,User,\"outer, \"\"quoted\"\"\",,0," EPOCH
	            "000123," EPOCH "090123,90000,0,certified,,0/1.0:0\n"
	            "0,\"node,1\",100,100,main,aiuLaunchControlBlocks,launch,41,1," EPOCH
	            "000123," EPOCH "010123,10000,0,certified,\"{\"\"shape\"\":\"\"2x3\"\"}\","
	            "0/1.0:0\n"
	            "0,\"node,1\",100,100,main,User,crossing,,0," EPOCH "005123," EPOCH
	            "095123,90000,,assumed,,0/1.0:0\n"
	            "0,\"node,1\",100,100,main,aiuLaunchControlBlocks,launch,42,1," EPOCH
	            "010123," EPOCH "012123,2000,0,certified,,0/1.0:0\n"
	            /* rank 1 is 199.5 ns from the reference, at most */
	            "1,\"node,1\",200,200,,Op,matmul,1152921504606846977,0," EPOCH "020123," EPOCH
	            "020123,0,200,certified,,0/1.0:0\n"
	            ",\"node,1\",,,,aiuCompileGraph,,,0," EPOCH "020124," EPOCH
	            "020125,1,,certified,,0/1.0:0\n"
	            "1,\"node,1\",200,200,,Collective,all_reduce,,0," EPOCH "030123," EPOCH
	            "040123,10000,200,certified,,0/1.0:0\n");
}

static void test_csv__writes_points(void **state)
{
	struct emit_test *test = *state;

	emit(test);
	assert_file(test, "instants.csv",
	            "0,\"node,1\",100,100,main,,,annotation,model,bert,," EPOCH
	            "001123,0,certified,0/1.0:0\n"
	            "0,\"node,1\",100,100,main,,,instant,kicked,,41," EPOCH
	            "002123,0,certified,0/1.0:0\n"
	            "0,\"node,1\",100,,,0,2,mark,tile done,,," EPOCH
	            "023623,15,certified,0/1.0:0\n");
	assert_file(test, "counters.csv",
	            "0,\"node,1\",100,,,\"free,cores\",2.5," EPOCH "003123,0,certified,0/1.0:0\n"
	            "0,\"node,1\",100,0,2,\"free,cores\",7," EPOCH "023723,15,certified,0/1.0:0\n");
	assert_file(test, "memory.csv",
	            "0,\"node,1\",100,100,0,alloc,18446744073441116160,4096,4096," EPOCH
	            "004123,0/1.0:0\n"
	            "0,\"node,1\",100,100,0,free,18446744073441116160,4096,0," EPOCH
	            "060123,0/1.0:0\n");
}

static void test_csv__writes_reports(void **state)
{
	struct emit_test *test = *state;

	emit(test);
	assert_file(test, "clocks.csv",
	            "0,\"node,1\",100,0,0,0,2,1,0,1,0,560.001234,2.204400,,-123456.789,10.250,"
	            "12.000,12.000,0.000,0.000,0.000,0,0,0,0,10.000000,default\n");
	assert_file(test, "alignment.csv",
	            "0,\"node,1\",100,0.000,,0.000,0.000,0.000,0,0,,,,,0,0\n"
	            "1,\"node,1\",200,-1234.500,0.500000,100.000,190.000,199.500,10,1,0.000,0.000,"
	            "0.000,80.000,0,1\n");
	assert_file(test, "losses.csv",
	            ",,,lttng_discarded_events,,,0/1.0,13," EPOCH "007123," EPOCH "008123\n"
	            "0,\"node,1\",100,device_ring_dropped,0,2,0/1.0,3,,\n");
}

static void assert_in_order(const char *text, const char *const wanted[], int n)
{
	for (int i = 0; i < n; i++) {
		text = strstr(text, wanted[i]);
		if (!text)
			fail_msg("`%s` is missing, or too early", wanted[i]);
	}
}

static void test_csv__lists_clocks_by_rank(void **state)
{
	static const int32_t ranks[] = {FLEXTRACE_RANK_UNKNOWN, 12, 3, 12};
	struct emit_test *test = *state;
	struct timeline_fixture *fixture = &test->fixture;
	char *text;

	for (uint32_t i = 0; i < 4; i++) {
		uint32_t process = fixture_process(fixture, ranks[i], 100 + i, "app");

		fixture->counters[i].device = fixture_device(fixture, process, 0, "emulator");
		fixture->clocks.reports[i] =
			(struct clock_report){.counter = i, .ci_ppm = NAN, .rho_source = "default"};
	}
	fixture->identity.n_counters = fixture->clocks.n = 4;
	emit(test);
	text = scratch_read(test->dir, "clocks.csv", NULL);
	assert_non_null(text);
	assert_in_order(text,
	                (const char *const[]){"\n3,\"node,1\",102,", "\n12,\"node,1\",101,",
	                                      "\n12,\"node,1\",103,", "\n,\"node,1\",100,"},
	                4);
	free(text);
}

static void test_csv__counts_each_row_by_its_class(void **state)
{
	struct emit_test *test = *state;
	const struct file_count *host = &test->counts[0], *events = &test->counts[1];

	emit(test);
	assert_string_equal(host->file, "host.csv");
	assert_int_equal(host->rows, 8);
	assert_int_equal(host->by_class[RECORD_SCOPE], 6);
	assert_int_equal(host->by_class[RECORD_STEP], 1);
	assert_int_equal(host->by_class[RECORD_COLLECTIVE], 1);
	assert_string_equal(events->file, "events.csv");
	assert_int_equal(events->rows, 9);
	assert_int_equal(events->by_class[RECORD_DEVICE_OP], 6);
	assert_int_equal(events->by_class[RECORD_MARKER_BATCH], 3);
}

static void test_csv__writes_no_file_for_an_empty_timeline(void **state)
{
	struct emit_test *test = *state;

	emit(test);
	for (int i = 0; i < N_FILES; i++) {
		assert_true(test->counts[i].is_absent);
		assert_false(scratch_has(test->dir, files[i]->name));
	}
}

static void test_csv__keeps_hostile_names(void **state)
{
	static char long_name[1 << 20];
	struct emit_test *test = *state;
	struct timeline_fixture *fixture = &test->fixture;
	uint32_t process = fixture_process(fixture, 0, 1, "a\nb");
	uint32_t thread = fixture_thread(fixture, process, 1, "t,\"1\"");
	uint32_t track = fixture_track(fixture,
	                               (struct track){.kind = TRACK_THREAD, .owner = thread});
	const char *const names[] = {"=1+1", "a\r\nb", "\"", ",,,", "\1", "bad \xff", long_name};
	char *text;

	memset(long_name, '"', sizeof(long_name) - 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fixture_host(fixture, fixture_scope(fixture, track, names[i], (int64_t)i, 10));
	emit(test);
	assert_int_equal(test->counts[0].replaced_bytes, 1);
	text = scratch_read(test->dir, "host.csv", NULL);
	assert_non_null(strstr(text, "\n0,\"node,1\",1,1,\"t,\"\"1\"\"\",User,'=1+1,,0,0,10,10,"));
	assert_non_null(strstr(text, ",User,\"a\r\nb\",,0,"));
	assert_non_null(strstr(text, ",User,\"\"\"\",,0,"));
	assert_non_null(strstr(text, ",User,\",,,\",,0,"));
	assert_non_null(strstr(text, ",User,\1,,0,"));
	assert_non_null(strstr(text, ",User,bad \xef\xbf\xbd,,0,"));
	free(text);
}

static void test_csv__tells_the_host_of_a_loss_without_process(void **state)
{
	const struct loss_place stream = {FLEXTRACE_NONE, FLEXTRACE_NONE, FLEXTRACE_NONE, 0};
	const struct loss_place nowhere = LOSS_NOWHERE;
	struct emit_test *test = *state;

	test->fixture.streams[0].host = fixture_string(&test->fixture, "far");
	ledger_lose(&test->fixture.ledger, LOSS_DISCARDED_EVENTS, &stream, UINT64_MAX, INT64_MIN);
	ledger_lose(&test->fixture.ledger, LOSS_MALFORMED, &nowhere, 1, 5);
	emit(test);
	assert_file(test, "losses.csv",
	            ",far,,lttng_discarded_events,,,0/1.0,18446744073709551615,,\n"
	            ",,,malformed,,,,1,,\n");
}

static void test_csv__tells_what_programs_emitted(void **state)
{
	struct emitted_process processes[] = {
		{.pid = 7, .program = "a,b", .process = FLEXTRACE_NONE},
		{.pid = 8, .program = "other", .process = FLEXTRACE_NONE, .is_excluded = true},
		{.pid = 100, .program = "\xff", .process = 0},
	};
	const struct emitted emitted = {.processes = processes, .n = 3, .is_known = true};
	struct emit_test *test = *state;

	for (int i = 0; i < 3; i++) {
		processes[i].least[RECORD_SCOPE] = 10;
		processes[i].most[RECORD_SCOPE] = 12;
	}
	processes[0].late[RECORD_SCOPE] = 4;
	processes[2].read[RECORD_SCOPE] = 11;
	processes[2].read[RECORD_STEP] = 3;
	test->fixture.findings.emitted = &emitted;
	emit(test);
	assert_file(test, "emitted.csv",
	            ",,7,\"a,b\",scope,10,12,0,4,10\n"
	            "1,\"node,1\",200,\xef\xbf\xbd,scope,10,12,11,0,0\n"
	            "1,\"node,1\",200,\xef\xbf\xbd,step,0,0,3,0,0\n");
}

static void test_csv__leaves_nothing_where_it_cannot_write(void **state)
{
	struct emit_test *test = *state;

	for (int i = 0; i < N_FILES - 1; i++) { /* emitted.csv has no row */
		struct flextrace_error error = {0};
		char *path = NULL, tmp[64];

		assert_true(asprintf(&path, "%s/%s", test->dir, files[i]->name) > 0);
		assert_int_equal(mkdir(path, 0777), 0);
		assert_int_equal(
			column_save(files[i], &test->fixture.findings,
		                    &(struct save_place){.dir = test->dir, .has_csv = true},
		                    &test->counts[i], &error),
			FLEXTRACE_E_OUTPUT);
		assert_non_null(strstr(error.message, path));
		snprintf(tmp, sizeof(tmp), "%s.tmp", files[i]->name);
		assert_false(scratch_has(test->dir, tmp));
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE(test_csv__writes_device_rows),
		SAMPLE(test_csv__tells_what_the_compiler_says),
		SAMPLE(test_csv__writes_host_rows),
		SAMPLE(test_csv__writes_points),
		SAMPLE(test_csv__writes_reports),
		EMPTY(test_csv__lists_clocks_by_rank),
		SAMPLE(test_csv__counts_each_row_by_its_class),
		EMPTY(test_csv__writes_no_file_for_an_empty_timeline),
		EMPTY(test_csv__keeps_hostile_names),
		EMPTY(test_csv__tells_the_host_of_a_loss_without_process),
		SAMPLE(test_csv__tells_what_programs_emitted),
		SAMPLE(test_csv__leaves_nothing_where_it_cannot_write),
	};

	return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
