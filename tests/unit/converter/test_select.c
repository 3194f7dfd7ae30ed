/* SPDX-License-Identifier: Apache-2.0 */
/* Filters, through the whole pipeline: what is left, what books and readers say of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <cjson/cJSON.h>

#include "failing_malloc.h"
#include "pipeline.h"
#include "scratch.h"
#include "text_source.h"
#include "trace_checker.h"
#include "texts.h"

/* Time 0 is second 1000. Two ranks with a launch, its kernel (jobs 1 and 2), a copy without launch
 * (job 3), an instant, a counter, a memory record; rank 0 has marks of two batches, too. */
static const char sample[] =
	"stream uuid=1 class=0 instance=0 offset=1700000000000000000 host=node0\n"
	"1000000000000 1 1 process rank=0 world_size=2 pid=1 start_ns=999999999000 "
	"time_ns=1000000000000 boot_id=b time_namespace=4 host=node0 program=app\n"
	"1000000000000 2 2 process rank=1 world_size=2 pid=2 start_ns=999999999000 "
	"time_ns=1000000000000 boot_id=b time_namespace=4 host=node0 program=app\n"
	"1000000000100 1 1 device device=0 uuid=u n_cores=4 core_hz=1000000000\n"
	"1000000000110 1 1 clock_domain device=0 domain=0 counter_bits=32 nominal_hz=1000000000\n"
	"1000000000120 2 2 device device=0 uuid=v n_cores=4 core_hz=1000000000\n"
	"1000000000130 2 2 clock_domain device=0 domain=0 counter_bits=32 nominal_hz=1000000000\n"
	"1000000000216 1 1 marker_name device=0 id=16 name=spot file=fw.c line=16\n"
	"stream uuid=1 class=1 instance=0 offset=1700000000000000000 host=node0\n"
	"1000001000200 1 1 scope begin_ns=1000000999900 kind=5 name=launch correlation=1\n"
	"1000001120000 1 1 device_op device=0 domain=0 queue=1 job=1 correlation=1 kind=1 "
	"name=conv "
	"submit_ns=1000001000000 complete_ns=1000001110000 "
	"ts=101001000,101002000,101003000,101103000,101104000\n"
	"1000002120000 2 2 device_op device=0 domain=0 queue=1 job=2 correlation=2 kind=1 name=add "
	"submit_ns=1000002000000 complete_ns=1000002110000 "
	"ts=102001000,102002000,102003000,102103000,102104000\n"
	"1000002120001 2 2 scope begin_ns=1000001999900 kind=5 name=launch correlation=2\n"
	"1000003120000 1 1 device_op device=0 domain=0 queue=2 job=3 kind=2 name=copy group=g "
	"type=SingleCast peer=1 submit_ns=1000003000000 complete_ns=1000003110000 "
	"ts=103001000,103002000,103002000,103002000,103002000\n"
	"1000004000000 1 1 scope_args args=text\n"
	"1000004000000 1 1 scope begin_ns=1000003900000 name=\"AIU Roundtrip\"\n"
	"1000005000000 1 1 instant name=here correlation=1\n"
	"1000005000001 2 2 instant name=there\n"
	"1000005000002 1 1 counter name=load value=1\n"
	"1000005000003 2 2 counter name=load value=2\n"
	"1000005000004 1 1 memory device=0 address=0x1000 bytes=64 op=0\n"
	"1000006000000 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=0 "
	"dropped=0 words=mark:16:101011000\n"
	"1000006000001 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=1 "
	"dropped=0 words=mark:16:103011000,mark:16:103012000\n";

struct run {
	struct text_source source;
	struct pipeline_options options;
	struct pipeline_result result;
	struct flextrace_error error;
	char *dir;     /* owned */
	cJSON *totals; /* owned */
};

static int start(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	*state = run;
	run->dir = scratch_dir();
	run->options = (struct pipeline_options){
		.emit = {.output_dir = run->dir, .formats = "csv,chrome,text", .n_threads = 1},
		.calibrate = CALIBRATE_OPTIONS_INIT,
		.align = ALIGN_OPTIONS_INIT,
	};
	return text_source_init(&run->source);
}

static int stop(void **state)
{
	struct run *run = *state;

	text_source_release(&run->source);
	scratch_remove(run->dir);
	cJSON_Delete(run->totals);
	free(run);
	return 0;
}

static int convert(struct run *run, const char *text)
{
	if (text_source_read(&run->source, text, &run->error) < 0)
		fail_msg("%s", run->error.message);
	return pipeline_run(&run->source.set, run->source.strings, &run->source.decoder.ledger,
	                    &run->options, &run->result, &run->error);
}

/* Converts and holds trace.json against a checker that knows nothing of us. */
static void select_rows(struct run *run, const struct select_options *select)
{
	char *text;
	cJSON *root;

	run->options.select = *select;
	if (convert(run, sample) < 0)
		fail_msg("%s", run->error.message);
	text = scratch_read(run->dir, "trace.json", NULL);
	assert_int_equal(trace_check(text, strlen(text), stderr), 0);
	free(text);
	text = scratch_read(run->dir, "run.json", NULL);
	root = cJSON_Parse(text);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(root, "closes")));
	run->totals = cJSON_DetachItemFromObject(root, "totals");
	cJSON_Delete(root);
	free(text);
}

static int total(const struct run *run, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(run->totals, key);

	return item ? item->valueint : 0;
}

/* -- what is left --------------------------------------------------------------------------- */

#define NONE   NULL, NULL, NULL
#define N_ROWS (3 + 9 + 5 + 6 + 1)

/* Rows that are left, of 3 host rows (2 launches, AIU Roundtrip), 9 device rows (4 of each kernel,
 * 1 copy), 5 instants (3 of them marks), 6 counters (4 of them ConcurrentPreps), 1 memory record
 * and 2 arrows; and records without any row. */
static const struct selection_case {
	const char *what;
	const char *ranks, *jobs, *time_range, *keep, *drop;
	uint64_t skip, count;
	bool drop_globals;
	int host, device, instants, counters, memory, flows, records;
} cases[] = {
	{"nothing", NONE, NULL, NULL, 0, 0, false, 3, 9, 5, 6, 1, 2, 0},
	{"all ranks", "0-1", NULL, NULL, NULL, NULL, 0, 0, false, 3, 9, 5, 6, 1, 2, 0},
	{"rank 1", "1", NULL, NULL, NULL, NULL, 0, 0, false, 1, 4, 1, 3, 0, 1, 9},
	{"rank 0 as text", NONE, "rank:^0$", NULL, 0, 0, false, 2, 5, 4, 3, 1, 1, 4},
	{"no rank", "7", NULL, NULL, NULL, NULL, 0, 0, false, 0, 0, 0, 0, 0, 0, 13},
	{"a job and its launch", NULL, "1", NULL, NULL, NULL, 0, 0, false, 1, 4, 1, 0, 0, 1, 10},
	{"several jobs", NULL, "2-3,9", NULL, NULL, NULL, 0, 0, false, 1, 5, 0, 0, 0, 1, 10},
	{"a kind", NONE, "kind:^Exec$", NULL, 0, 0, false, 0, 2, 0, 0, 0, 0, 11},
	{"not a kind", NONE, NULL, "kind:^(Prep|Dma[IO])$", 0, 0, false, 3, 3, 5, 6, 1, 2, 0},
	{"not a name", NONE, NULL, "name:^conv$", 0, 0, false, 3, 5, 5, 6, 1, 1, 1},
	{"not a launch", NONE, NULL, "name:^launch$", 0, 0, false, 1, 9, 5, 6, 1, 0, 2},
	{"a group", NONE, "group:.", NULL, 0, 0, false, 0, 1, 0, 0, 0, 0, 12},
	{"a queue", NONE, "queue:^1$", NULL, 0, 0, false, 0, 8, 0, 0, 0, 0, 11},
	{"a type", NONE, "type:^Single", NULL, 0, 0, false, 0, 1, 0, 0, 0, 0, 12},
	{"args", NONE, "args:^text$", NULL, 0, 0, false, 1, 0, 0, 0, 0, 0, 12},
	{"a core", NONE, "core:0", NULL, 0, 0, false, 0, 0, 3, 0, 0, 0, 11},
	{"a source", NONE, "source:^0/1[.]0:9$", NULL, 0, 0, false, 0, 0, 0, 1, 0, 0, 12},
	{"a class", NONE, "class:^COMPUTE_EXEC$", NULL, 0, 0, false, 0, 2, 0, 0, 0, 0, 11},
	{"a class of the host", NONE, "class:^ROUNDTRIP_FLEX$", NULL, 0, 0, false, 2, 0, 0, 0, 0, 0,
         11},
	{"not a class", NONE, NULL, "class:^MAIU_P2P", 0, 0, false, 3, 8, 5, 6, 1, 2, 1},
	{"memory", NONE, "kind:^memory$", NULL, 0, 0, false, 0, 0, 0, 0, 1, 0, 12},
	{"globals", NONE, NULL, NULL, 0, 0, true, 2, 9, 5, 6, 1, 2, 1},
	{"first rows", NONE, NULL, NULL, 0, 2, false, 1, 1, 0, 0, 0, 0, 11},
	{"all but the first", NONE, NULL, NULL, 1, 0, false, 2, 9, 5, 6, 1, 1, 1},
	{"limits of what is left", NONE, "kind:^Exec$", NULL, 1, 5, false, 0, 1, 0, 0, 0, 0, 12},
	{"a time", NULL, NULL, "+2ms,+3ms", NULL, NULL, 0, 0, false, 1, 1, 2, 0, 0, 0, 10},
	{"the same time", NULL, NULL, "1700001000002999900,1700001000003999900", NULL, NULL, 0, 0,
         false, 1, 1, 2, 0, 0, 0, 10},
	{"from a time", NULL, NULL, "+0.0039999s,", NULL, NULL, 0, 0, false, 0, 0, 2, 2, 1, 0, 8},
	{"one of a batch", NULL, NULL, "+2.0146ms,+2.02ms", NULL, NULL, 0, 0, false, 0, 0, 1, 0, 0,
         0, 12},
	{"to a time", NULL, NULL, ",+100ns", NULL, NULL, 0, 0, false, 1, 0, 0, 0, 0, 0, 12},
};

static void test_select__leaves_what_was_asked_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct selection_case *c = &cases[i];
		const struct select_options select = {
			.ranks = c->ranks,
			.jobs = c->jobs,
			.time_range = c->time_range,
			.keep = TEXTS(&c->keep, c->keep != NULL),
			.drop = TEXTS(&c->drop, c->drop != NULL),
			.skip = c->skip,
			.count = c->count,
			.drop_globals = c->drop_globals,
		};
		void *inner;
		struct run *run;

		start(&inner);
		run = inner;
		print_message("%s\n", c->what);
		select_rows(run, &select);
		assert_int_equal(total(run, "host_rows"), c->host);
		assert_int_equal(total(run, "device_rows"), c->device);
		assert_int_equal(total(run, "instants"), c->instants);
		assert_int_equal(total(run, "counters"), c->counters);
		assert_int_equal(total(run, "memory"), c->memory);
		assert_int_equal(total(run, "flows"), c->flows);
		assert_int_equal(total(run, "filtered_rows"), N_ROWS - c->host - c->device -
		                                                      c->instants - c->counters -
		                                                      c->memory);
		assert_int_equal(ledger_total(&run->source.decoder.ledger, LOSS_FILTERED),
		                 c->records);
		assert_int_equal(total(run, "lost"), 0);
		stop(&inner);
	}
}

/* -- what is no longer shown ---------------------------------------------------------------- */

static bool shows(const struct run *run, const char *file, const char *text)
{
	char *content = scratch_read(run->dir, file, NULL);
	bool is_there = strstr(content, text) != NULL;

	free(content);
	return is_there;
}

static void test_select__hides_processes_and_tracks_without_rows(void **state)
{
	struct run *run = *state;
	const struct select_options select = {.ranks = "1"};

	select_rows(run, &select);
	assert_false(shows(run, "trace.json", "Rank 0 host"));
	assert_false(shows(run, "trace.json", "Rank 0 device"));
	assert_false(shows(run, "trace.json", "queue 2"));
	assert_true(shows(run, "trace.json", "Rank 1 host"));
	assert_true(shows(run, "trace.json", "\"rank\": 1"));
	assert_false(shows(run, "run.json", "\"rank\":\t0,\n\t\t\t\"world_size\""));
	assert_false(shows(run, "tables/kernels.csv", "conv"));
	assert_true(shows(run, "tables/kernels.csv", "add"));
}

/* Two scopes cross: once one of them is gone nothing does. */
/* A copy between two kernels is a message between ranks, also where neither is left. */
static void test_select__leaves_classes_as_they_were(void **state)
{
	static const char more[] =
		"1000008000000 1 1 device_op device=0 domain=0 queue=2 job=4 kind=2 name=in "
		"bytes=9 "
		"submit_ns=1000007000000 complete_ns=1000007110000 "
		"ts=107001000,107002000,107003000,107103000,107104000\n"
		"1000009000000 1 1 device_op device=0 domain=0 queue=1 job=5 kind=1 name=last "
		"submit_ns=1000008000000 complete_ns=1000008110000 "
		"ts=108001000,108002000,108003000,108103000,108104000\n";
	const char *const keep[] = {"class:^MAIU_PROTOCOL_RECV_DATA$"};
	struct run *run = *state;
	char *text = malloc(sizeof(sample) + sizeof(more));

	strcpy(text, sample);
	strcat(text, more);
	run->options.select = (struct select_options){.ranks = "0", .keep = TEXTS(keep, 1)};
	assert_int_equal(convert(run, text), 0);
	free(text);
	text = scratch_read(run->dir, "tables/events.csv", NULL);
	assert_non_null(strstr(text, ",in,4,"));
	assert_non_null(strstr(text, ",MAIU_PROTOCOL_RECV_DATA,"));
	free(text);
}

static void test_select__forgets_crossings_that_are_gone(void **state)
{
	static const char crossing[] = "9 1 1 scope begin_ns=5 name=a\n"
				       "11 1 1 scope begin_ns=7 name=b\n";
	struct run *run = *state;
	const char *drop = "name:b";

	run->options.select = (struct select_options){.drop = TEXTS(&drop, 1)};
	assert_int_equal(convert(run, crossing), 0);
	assert_int_equal(run->source.decoder.ledger.warnings[WARNING_CROSSING], 0);
	assert_int_equal(run->result.host_rows, 1);
}

static void test_select__takes_a_trace_without_rows(void **state)
{
	struct run *run = *state;

	run->options.select = (struct select_options){.count = 1, .time_range = "+1s,"};
	assert_int_equal(convert(run, "9 1 1 process start_ns=7 rank=0\n"), 0);
	assert_int_equal(run->result.host_rows, 0);
}

/* -- what cannot be asked for --------------------------------------------------------------- */

static void test_select__says_what_it_does_not_understand(void **state)
{
	static const char *const numbers[] = {
		"", "x", "1,", "1,,2", "2-1", "-1", "1-", "1 ", "99999999999999999999"};
	static const char *const times[] = {"",         "5",     "5,x",   "+5,+6m",
	                                    "+,+1",     "+-1s,", "1,2,3", "9223372036854775807,",
	                                    "+1e300s,", "+nan,"};
	static const char *const conditions[] = {"",       "name",   ":x",   "names:x",
	                                         "name:(", "name:[", "nam:e"};
	struct flextrace_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct select_options ranks = {.ranks = numbers[i]},
					    jobs = {.jobs = numbers[i]};

		assert_int_equal(select_check(&ranks, &error), FLEXTRACE_E_USAGE);
		assert_non_null(strstr(error.message, "`ranks`"));
		assert_int_equal(select_check(&jobs, &error), FLEXTRACE_E_USAGE);
		assert_non_null(strstr(error.message, "`jobs`"));
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		const struct select_options select = {.time_range = times[i]};

		assert_int_equal(select_check(&select, &error), FLEXTRACE_E_USAGE);
		assert_non_null(strstr(error.message, "`time-range`"));
	}
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		const struct select_options keep = {.keep = TEXTS(&conditions[i], 1)};
		const struct select_options drop = {.drop = TEXTS(&conditions[i], 1)};

		assert_int_equal(select_check(&keep, &error), FLEXTRACE_E_USAGE);
		assert_int_equal(select_check(&drop, &error), FLEXTRACE_E_USAGE);
	}
}

static void test_select__survives_every_failing_allocation(void **state)
{
	const char *keep[] = {"name:.", "rank:."};
	const struct select_options select = {.ranks = "0",
	                                      .jobs = "1",
	                                      .time_range = "+0,",
	                                      .keep = TEXTS(keep, 2),
	                                      .drop_globals = true};
	uint64_t n = 1;
	bool failed = true;

	(void)state;
	for (; failed; n++) {
		void *inner;
		struct run *run;
		int status;

		start(&inner);
		run = inner;
		run->options.emit.formats = "text";
		run->options.select = select;
		assert_int_equal(text_source_read(&run->source, sample, &run->error), 0);
		failing_malloc_set(n);
		status = pipeline_run(&run->source.set, run->source.strings,
		                      &run->source.decoder.ledger, &run->options, &run->result,
		                      &run->error);
		failed = failing_malloc_has_failed();
		failing_malloc_set(0);
		assert_int_equal(status < 0, failed);
		stop(&inner);
	}
	assert_true(n > 50);
}

#define RUN(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select__leaves_what_was_asked_for),
		RUN(test_select__hides_processes_and_tracks_without_rows),
		RUN(test_select__leaves_classes_as_they_were),
		RUN(test_select__forgets_crossings_that_are_gone),
		RUN(test_select__takes_a_trace_without_rows),
		cmocka_unit_test(test_select__says_what_it_does_not_understand),
		cmocka_unit_test(test_select__survives_every_failing_allocation),
	};

	return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
