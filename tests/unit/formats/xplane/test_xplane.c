/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of JAX and XLA: what becomes of planes, lines and events, damaged ones among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "imports.h"
#include "protobuf_builder.h"

#define START_NS UINT64_C(1700000000000000000)
#define BIG_TID  UINT64_C(16215341358170614245)

/* -- a space ---------------------------------------------------------------------------------- */

enum { NAME_KERNEL = 1, NAME_COPY, NAME_CALL, NAME_PYTHON, NAME_MODULE };
enum {
	STAT_CORRELATION = 1,
	STAT_HLO_OP,
	STAT_PROGRAM,
	STAT_MEMCPY,
	STAT_OCCUPANCY,
	STAT_KERNEL_DETAILS,
	STAT_FUSION,
	STAT_CORES,
	STAT_CLOCK,
	STAT_START,
	STAT_PROTO
};

static void put_entry(struct protobuf_builder *space, uint32_t table, uint64_t id, const char *name)
{
	protobuf_open(space, table);
	protobuf_put_number(space, 1, id);
	protobuf_open(space, 2);
	protobuf_put_number(space, 1, id);
	protobuf_put_text(space, 2, name);
	protobuf_close(space);
	protobuf_close(space);
}

static void put_tables(struct protobuf_builder *space)
{
	static const char *const stats[] = {
		[STAT_CORRELATION] = "correlation_id",
		[STAT_HLO_OP] = "hlo_op",
		[STAT_PROGRAM] = "program_id",
		[STAT_MEMCPY] = "memcpy_details",
		[STAT_OCCUPANCY] = "occupancy",
		[STAT_KERNEL_DETAILS] = "kernel_details",
		[STAT_FUSION] = "fusion.1",
		[STAT_CORES] = "core_count",
		[STAT_CLOCK] = "clock_rate",
		[STAT_START] = "profile_start_time",
		[STAT_PROTO] = "Hlo Proto",
	};
	static const char *const events[] = {
		[NAME_KERNEL] = "kernel_1",     [NAME_COPY] = "MemcpyH2D",
		[NAME_CALL] = "cuLaunchKernel", [NAME_PYTHON] = "$train.py:12 step",
		[NAME_MODULE] = "jit_step(3)",
	};

	for (uint64_t i = 1; i < sizeof(events) / sizeof(*events); i++)
		put_entry(space, 4, i, events[i]);
	for (uint64_t i = 1; i < sizeof(stats) / sizeof(*stats); i++)
		put_entry(space, 5, i, stats[i]);
}

static void put_stat(struct protobuf_builder *space, uint32_t field, uint64_t name, uint32_t kind,
                     uint64_t value)
{
	protobuf_open(space, field);
	protobuf_put_number(space, 1, name);
	protobuf_put_number(space, kind, value);
	protobuf_close(space);
}

static void begin_event(struct protobuf_builder *space, uint64_t name, uint64_t offset_ps,
                        uint64_t duration_ps)
{
	protobuf_open(space, 4);
	protobuf_put_number(space, 1, name);
	protobuf_put_number(space, 2, offset_ps);
	protobuf_put_number(space, 3, duration_ps);
}

static void begin_line(struct protobuf_builder *space, uint64_t id, const char *name,
                       uint64_t start_ns)
{
	protobuf_open(space, 3);
	protobuf_put_number(space, 1, id);
	protobuf_put_text(space, 2, name);
	protobuf_put_number(space, 3, start_ns);
}

static void put_kernel(struct protobuf_builder *space)
{
	begin_event(space, NAME_KERNEL, 5000999, 7000001);
	put_stat(space, 4, STAT_CORRELATION, 3, 77);
	put_stat(space, 4, STAT_HLO_OP, 7, STAT_FUSION);
	put_stat(space, 4, STAT_PROGRAM, 4, 3);
	protobuf_open(space, 4);
	protobuf_put_number(space, 1, STAT_OCCUPANCY);
	protobuf_put_double(space, 2, 12.5);
	protobuf_close(space);
	protobuf_close(space);
}

static void put_copy(struct protobuf_builder *space)
{
	begin_event(space, NAME_COPY, 1000, 3000);
	protobuf_open(space, 4);
	protobuf_put_number(space, 1, STAT_MEMCPY);
	protobuf_put_text(space, 5, "kind:HtoD size:4096 dest:2 async:1");
	protobuf_close(space);
	protobuf_close(space);
}

static void put_device(struct protobuf_builder *space, const char *name)
{
	protobuf_open(space, 1);
	protobuf_put_number(space, 1, 1);
	protobuf_put_text(space, 2, name);
	begin_line(space, 7, "Stream #7(Kernel)", 100);
	put_kernel(space);
	put_copy(space);
	protobuf_close(space);
	begin_line(space, 8, "XLA Modules", 100);
	begin_event(space, NAME_MODULE, 1000, 20000000);
	protobuf_close(space);
	protobuf_close(space);
	put_tables(space);
	put_stat(space, 6, STAT_CORES, 4, 108);
	put_stat(space, 6, STAT_CLOCK, 4, 1410000);
	protobuf_close(space);
}

static void put_host(struct protobuf_builder *space)
{
	protobuf_open(space, 1);
	protobuf_put_text(space, 2, "/host:CPU");
	begin_line(space, BIG_TID, "python", 50);
	begin_event(space, NAME_PYTHON, 0, 90000000);
	protobuf_close(space);
	begin_event(space, NAME_CALL, 4000, 2000000);
	put_stat(space, 4, STAT_CORRELATION, 3, 77);
	protobuf_close(space);
	protobuf_close(space);
	put_tables(space);
	protobuf_close(space);
}

/* What fusion.1 was made of: a name each, and in some the metadata with the name of two things. */
static void put_fused(struct protobuf_builder *space)
{
	protobuf_open(space, 3);
	protobuf_put_text(space, 2, "\12\1a\72\5\22\3f/a");
	protobuf_put_text(space, 2, "\12\1b\72\5\22\3f/b");
	protobuf_put_text(space, 2, "\12\1c");
	protobuf_put_text(space, 2, "\12\1d\72\5\22\3f/a");
	protobuf_put_number(space, 5, 2);
	protobuf_close(space);
}

static void put_programs(struct protobuf_builder *space)
{
	protobuf_open(space, 1);
	protobuf_put_text(space, 2, "/host:metadata");
	protobuf_open(space, 4);
	protobuf_put_number(space, 1, 3);
	protobuf_open(space, 2);
	protobuf_put_number(space, 1, 3);
	protobuf_put_text(space, 2, "jit_step(3)");
	protobuf_open(space, 5);
	protobuf_put_number(space, 1, STAT_PROTO);
	protobuf_open(space, 6); /* the bytes of the stat: HloProto */
	protobuf_open(space, 1); /* its module */
	put_fused(space);
	protobuf_open(space, 3); /* a computation */
	protobuf_open(space, 2); /* an instruction */
	protobuf_put_text(space, 1, "fusion.1");
	protobuf_put_text(space, 2, "fusion");
	protobuf_put_text(space, 38, "\x02"); /* the computation that it calls */
	protobuf_open(space, 7);
	protobuf_put_text(space, 2, "jit(step)/jit(main)/dot_general");
	protobuf_put_text(space, 3, "/src/train.py");
	protobuf_put_number(space, 4, 12);
	for (int i = 0; i < 8; i++)
		protobuf_close(space);
	put_tables(space);
	protobuf_close(space);
}

static void put_environment(struct protobuf_builder *space)
{
	protobuf_open(space, 1);
	protobuf_put_text(space, 2, "Task Environment");
	put_tables(space);
	put_stat(space, 6, STAT_START, 3, START_NS);
	protobuf_close(space);
}

static void make_space(struct protobuf_builder *space)
{
	put_programs(space);
	put_device(space, "/device:GPU:3");
	put_host(space);
	put_environment(space);
	protobuf_put_text(space, 4, "host-a");
}

/* -- runs ------------------------------------------------------------------------------------- */

static void write_file(const struct flex_run *run, const char *name, const void *bytes, size_t n,
                       char path[4096])
{
	FILE *file;

	snprintf(path, 4096, "%s/%s", run->in, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static struct flex_run *convert(void **state, const struct protobuf_builder *space)
{
	struct flex_run *run = *state;
	const char *paths[1];
	char path[4096];

	write_file(run, "a.xplane.pb", space->bytes, space->n, path);
	paths[0] = path;
	flex_convert_files(run, paths, 1);
	return run;
}

static struct flex_run *convert_whole(void **state)
{
	static struct protobuf_builder space;

	space.n = 0;
	make_space(&space);
	return convert(state, &space);
}

static uint64_t absolute_ns(uint64_t ns)
{
	return START_NS + ns;
}

/* -- tests ------------------------------------------------------------------------------------ */

static void test_xplane__places_device_work_where_the_profiler_did(void **state)
{
	const struct flex_run *run = convert_whole(state);
	uint64_t kernel = flex_row(&run->events, "name", "kernel_1", "queue", "7");
	uint64_t copy = flex_row(&run->events, "name", "MemcpyH2D", "queue", "7");

	assert_int_equal(run->events.n_rows, 3);
	assert_string_equal(flex_cell(&run->events, kernel, "kind"), "kernel");
	assert_string_equal(flex_cell(&run->events, kernel, "device"), "3");
	assert_string_equal(flex_cell(&run->events, kernel, "host"), "host-a");
	assert_string_equal(flex_cell(&run->events, kernel, "correlation"), "77");
	assert_string_equal(flex_cell(&run->events, kernel, "status"), "given");
	/* 100 ns + 5000.999 and 12001.0 ns */
	assert_int_equal(flex_number(&run->events, kernel, "start_ns"), absolute_ns(5100));
	assert_int_equal(flex_number(&run->events, kernel, "end_ns"), absolute_ns(12101));
	assert_string_equal(flex_cell(&run->events, copy, "kind"), "Memcpy HtoD");
	assert_string_equal(flex_cell(&run->events, copy, "bytes"), "4096");
	assert_int_equal(flex_number(&run->events, copy, "dur_ns"), 3);
}

static void test_xplane__sums_of_the_device_are_no_work(void **state)
{
	const struct flex_run *run = convert_whole(state);
	uint64_t module = flex_row(&run->events, "name", "jit_step(3)", "queue", "8");

	assert_string_equal(flex_cell(&run->events, module, "kind"), "state");
	assert_int_equal(flex_number(&run->events, module, "dur_ns"), 20000);
}

static void test_xplane__tells_what_stats_and_programs_say(void **state)
{
	const struct flex_run *run = convert_whole(state);
	char *text = flex_read_rows(run, "trace.json");

	assert_non_null(strstr(text, "\"hlo_op\":\"fusion.1\",\"program_id\":3,"
	                             "\"occupancy\":12.5,\"opcode\":\"fusion\","
	                             "\"op_name\":\"jit(step)/jit(main)/dot_general\","
	                             "\"op_names\":[\"f/b\",\"f/a\"],"
	                             "\"source_file\":\"/src/train.py\",\"source_line\":12"));
	assert_non_null(strstr(text, "core_count"));
	free(text);
}

static void test_xplane__shows_threads_with_their_names(void **state)
{
	const struct flex_run *run = convert_whole(state);
	uint64_t step = flex_row(&run->host, "name", "$train.py:12 step", "thread", "python");
	uint64_t call = flex_row(&run->host, "name", "cuLaunchKernel", "kind", "call");

	assert_int_equal(run->host.n_rows, 2);
	assert_string_equal(flex_cell(&run->host, step, "depth"), "0");
	assert_string_equal(flex_cell(&run->host, call, "depth"), "1");
	assert_string_equal(flex_cell(&run->host, call, "correlation"), "77");
	assert_string_equal(flex_cell(&run->host, step, "tid"), flex_cell(&run->host, call, "tid"));
	assert_int_equal(flex_number(&run->host, step, "end_ns"), absolute_ns(90050));
}

static void test_xplane__files_are_ranks_in_their_order(void **state)
{
	static struct protobuf_builder space;
	struct flex_run *run = *state;
	char first[4096], second[4096];
	const char *paths[] = {first, second};

	space.n = 0;
	make_space(&space);
	write_file(run, "b.xplane.pb", space.bytes, space.n, first);
	write_file(run, "a.xplane.pb", space.bytes, space.n, second);
	flex_convert_files(run, paths, 2);
	assert_int_equal(flex_count(&run->events, "rank", "0"), 3);
	assert_int_equal(flex_count(&run->events, "rank", "1"), 3);
}

/* -- a log directory -------------------------------------------------------------------------- */

static void make_folder(const struct flex_run *run, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", run->in, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void write_packed(const struct flex_run *run, const char *name, const void *bytes, size_t n)
{
	char path[4096];
	gzFile file;

	snprintf(path, sizeof(path), "%s/%s", run->in, name);
	file = gzopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(gzwrite(file, bytes, (unsigned int)n), n);
	assert_int_equal(gzclose(file), Z_OK);
}

static void test_xplane__a_log_directory_is_its_newest_run(void **state)
{
	static struct protobuf_builder space;
	struct flex_run *run = *state;
	char path[4096];

	space.n = 0;
	make_space(&space);
	make_folder(run, "plugins");
	make_folder(run, "plugins/profile");
	make_folder(run, "plugins/profile/2024_12_31_23_59_59");
	make_folder(run, "plugins/profile/2025_01_01_00_00_00");
	write_file(run, "plugins/profile/2024_12_31_23_59_59/old.xplane.pb", space.bytes, space.n,
	           path);
	write_file(run, "plugins/profile/2025_01_01_00_00_00/b.xplane.pb", space.bytes, space.n,
	           path);
	write_packed(run, "plugins/profile/2025_01_01_00_00_00/a.xplane.pb.gz", space.bytes,
	             space.n);
	write_file(run, "plugins/profile/2025_01_01_00_00_00/damaged.xplane.pb", "x", 1, path);
	flex_convert_files(run, (const char *[]){run->in}, 1);
	assert_int_equal(run->events.n_rows, 6);
	assert_int_equal(flex_count(&run->events, "rank", "0"), 3);
	assert_int_equal(flex_count(&run->events, "rank", "1"), 3);
	assert_non_null(strstr(run->warnings, "runs=2, folder="));
	assert_non_null(strstr(run->warnings, "2025_01_01_00_00_00\n"));
	assert_non_null(strstr(run->warnings, "There is no plane of a profile"));
	assert_int_equal(ledger_total(&run->ledger, LOSS_TRUNCATED_STREAM), 1);
}

/* -- operations of a TPU ---------------------------------------------------------------------- */

static void put_tpu_event(struct protobuf_builder *space, uint64_t name, uint64_t offset_us,
                          uint64_t duration_us)
{
	begin_event(space, name, offset_us * 1000000, duration_us * 1000000);
	protobuf_close(space);
}

/* Steps and modules are lines of their own; a loop stands before the operations in it. */
static void put_tpu(struct protobuf_builder *space)
{
	static const char *const names[] = {"17", "jit_step(3)", "while.1", "fusion.1", "dot.2"};

	protobuf_open(space, 1);
	protobuf_put_text(space, 2, "/device:TPU:0");
	begin_line(space, 1, "Steps", 100);
	put_tpu_event(space, 0, 0, 200);
	protobuf_close(space);
	begin_line(space, 2, "XLA Modules", 100);
	put_tpu_event(space, 1, 5, 150);
	protobuf_close(space);
	begin_line(space, 3, "XLA Ops", 100);
	put_tpu_event(space, 2, 10, 100);
	put_tpu_event(space, 3, 10, 40);
	put_tpu_event(space, 4, 50, 60);
	put_tpu_event(space, 4, 110, 30);
	protobuf_close(space);
	for (uint64_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		put_entry(space, 4, i, names[i]);
	protobuf_open(space, 4);
	protobuf_put_number(space, 1, 3);
	protobuf_open(space, 2);
	protobuf_put_text(space, 2, "fusion.1");
	put_stat(space, 5, 1, 3, 4096);
	protobuf_close(space);
	protobuf_close(space);
	put_entry(space, 5, 1, "flops");
	protobuf_close(space);
}

static void test_xplane__what_holds_operations_is_no_work_beside_them(void **state)
{
	static const char *const kinds[][2] = {{"17", "state"},
	                                       {"jit_step(3)", "state"},
	                                       {"while.1", "state"},
	                                       {"fusion.1", "kernel"},
	                                       {"dot.2", "kernel"}};
	static struct protobuf_builder space;
	const struct flex_run *run;
	struct csv_table active;
	char *trace;

	space.n = 0;
	put_tpu(&space);
	run = convert(state, &space);
	assert_int_equal(run->events.n_rows, 6);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		flex_row(&run->events, "name", kinds[i][0], "kind", kinds[i][1]);
	assert_int_equal(flex_count(&run->events, "kind", "kernel"), 3);
	active = flex_read_table(run, "tables/active.csv");
	assert_int_equal(flex_number(&active, 0, "sum_ns"), 130000);
	assert_int_equal(flex_number(&active, 0, "active_ns"), 130000);
	csv_table_release(&active);
	trace = flex_read_rows(run, "trace.json");
	assert_non_null(strstr(trace, "\"flops\":4096"));
	free(trace);
}

/* -- damage ----------------------------------------------------------------------------------- */

/* What is wrong with one event costs that event. */
struct fault_case {
	uint64_t name, offset_ps, duration_ps;
	const char *fault; /* NULL: nothing */
};

static const struct fault_case fault_cases[] = {
	{NAME_KERNEL, 0, 0, NULL},
	{99, 1000, 1000, "no table has its name"},
	{NAME_KERNEL, (uint64_t)-2000000, 1000, "its time is out of range"},
	{NAME_KERNEL, 1000, (uint64_t)-1, "its time is out of range"},
	{NAME_KERNEL, INT64_MAX, INT64_MAX, NULL},
};

static void test_xplane__an_event_that_says_no_time_costs_itself(void **state)
{
	static struct protobuf_builder space;

	for (size_t i = 0; i < sizeof(fault_cases) / sizeof(*fault_cases); i++) {
		const struct fault_case *one = &fault_cases[i];
		const struct flex_run *run;

		space.n = 0;
		make_space(&space);
		protobuf_open(&space, 1);
		protobuf_put_text(&space, 2, "/device:GPU:4");
		begin_line(&space, 1, "Stream #1", 100);
		begin_event(&space, one->name, one->offset_ps, one->duration_ps);
		protobuf_close(&space);
		protobuf_close(&space);
		put_tables(&space);
		protobuf_close(&space);
		run = convert(state, &space);
		assert_int_equal(run->events.n_rows, 3 + !one->fault);
		if (one->fault)
			assert_non_null(strstr(run->warnings, one->fault));
		flex_stop(state);
		flex_start(state);
	}
}

/* `ret_uuid`: of its trace, if there is one; NULL: not wanted. */
static int import_bytes(const struct flex_run *run, const uint8_t *bytes, size_t n,
                        uint8_t ret_uuid[16])
{
	struct string_pool *strings = string_pool_new();
	struct stream_set set = {NULL, 0, 0};
	struct flextrace_error error = {0};
	struct import_options options = {.n_paths = 1};
	struct ledger ledger;
	char path[4096];
	const char *paths[] = {path};
	int code;

	write_file(run, "x.xplane.pb", bytes, n, path);
	options.paths = paths;
	ledger_init(&ledger);
	code = import_run(&options, strings, &set, &ledger, &error);
	assert_true(code != FLEXTRACE_E_MEMORY);
	if (ret_uuid)
		memcpy(ret_uuid, set.streams[0]->trace_uuid, 16);
	stream_set_release(&set);
	ledger_release(&ledger);
	string_pool_free(strings);
	return code;
}

/* Components of a graph do not know of each other's files. */
static void test_xplane__files_that_are_read_apart_are_two_traces(void **state)
{
	static struct protobuf_builder space;
	uint8_t first[16], second[16];

	space.n = 0;
	make_space(&space);
	assert_int_equal(import_bytes(*state, space.bytes, space.n, first), FLEXTRACE_OK);
	protobuf_put_text(&space, 4, "host-b");
	assert_int_equal(import_bytes(*state, space.bytes, space.n, second), FLEXTRACE_OK);
	assert_memory_not_equal(first, second, sizeof(first));
}

static void test_xplane__survives_a_file_that_is_cut_anywhere(void **state)
{
	static struct protobuf_builder space;

	space.n = 0;
	make_space(&space);
	assert_int_equal(import_bytes(*state, space.bytes, 0, NULL), FLEXTRACE_E_INPUT);
	for (size_t n = 3; n < space.n; n++)
		assert_int_equal(import_bytes(*state, space.bytes, n, NULL), FLEXTRACE_OK);
}

static void test_xplane__survives_any_byte_that_is_wrong(void **state)
{
	static const uint8_t wrong[] = {0x00, 0xff, 0x80, 0x0b};
	static struct protobuf_builder space;

	space.n = 0;
	make_space(&space);
	for (size_t i = 0; i < space.n; i++) {
		uint8_t was = space.bytes[i];

		space.bytes[i] = wrong[i % sizeof(wrong)];
		import_bytes(*state, space.bytes, space.n, NULL);
		space.bytes[i] = was;
	}
}

static void test_xplane__says_that_a_file_stops_in_the_middle(void **state)
{
	static struct protobuf_builder space;
	const struct flex_run *run;

	space.n = 0;
	make_space(&space);
	space.n -= 2; /* of the name of the host */
	run = convert(state, &space);
	assert_non_null(strstr(run->warnings, "The file stops in the middle"));
	assert_int_equal(ledger_total(&run->ledger, LOSS_TRUNCATED_STREAM), 1);
	assert_int_equal(run->events.n_rows, 3);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_xplane__places_device_work_where_the_profiler_did),
		TEST(test_xplane__sums_of_the_device_are_no_work),
		TEST(test_xplane__tells_what_stats_and_programs_say),
		TEST(test_xplane__shows_threads_with_their_names),
		TEST(test_xplane__files_are_ranks_in_their_order),
		TEST(test_xplane__a_log_directory_is_its_newest_run),
		TEST(test_xplane__what_holds_operations_is_no_work_beside_them),
		TEST(test_xplane__an_event_that_says_no_time_costs_itself),
		TEST(test_xplane__files_that_are_read_apart_are_two_traces),
		TEST(test_xplane__survives_a_file_that_is_cut_anywhere),
		TEST(test_xplane__survives_any_byte_that_is_wrong),
		TEST(test_xplane__says_that_a_file_stops_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
