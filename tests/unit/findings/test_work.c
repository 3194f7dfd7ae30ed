/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of device work, and which host row is within which. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis_fixture.h"
#include "findings/work/call_tree.h"
#include "findings/work/work.h"
#include "select/select.h"
#include "texts.h"

struct class_case {
	uint8_t row_kind;
	const char *name, *group;
	const char *class; /* NULL: it is no work */
};

static const struct class_case class_cases[] = {
	{ROW_DMA_IN, "k", NULL, "memory"},
	{ROW_PREP, "k", NULL, "prepare"},
	{ROW_EXEC, "k", NULL, "compute"},
	{ROW_DMA_OUT, "k", NULL, "memory"},
	{ROW_MEMCPY_HTOD, "k", NULL, "memory"},
	{ROW_MEMCPY_PTOP, "k", NULL, "communication"},
	{ROW_MEMSET, "k", NULL, "memory"},
	{ROW_MEMCPY_DTOH, "k", "g", "communication"},
	{ROW_EXEC, "k", "g", "communication"},
	{ROW_STATE, "k", NULL, NULL},
	{ROW_EXEC, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", NULL, "communication"},
	{ROW_EXEC, "all-reduce.1", NULL, "communication"},
	{ROW_EXEC, "loop_reduce_fusion", NULL, "compute"},
	{ROW_EXEC, "my_nccl", NULL, "compute"},
	{ROW_EXEC, "", NULL, "compute"},
};

static void test_work__is_what_its_kind_group_and_name_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(class_cases) / sizeof(class_cases[0]); i++) {
		const struct class_case *at = &class_cases[i];
		struct analysis_test test;
		struct work_reader reader;
		struct tick_op *op;
		struct work work;

		analysis_test_init(&test);
		fixture_device(&test.fixture, fixture_process(&test.fixture, 5, 77, "app"), 2, "");
		op = analysis_test_row(&test, 0, at->row_kind, at->name, 100, 150);
		op->group = at->group ? fixture_string(&test.fixture, at->group) : 0;
		op->queue = 3;
		assert_int_equal(work_read(&reader, &test.fixture.timeline), 0);
		assert_int_equal(work_next(&reader, &work), at->class != NULL);
		if (at->class) {
			assert_string_equal(work_class_name(work.class), at->class);
			assert_int_equal(work.queue, 3);
			assert_int_equal(work.launch, FLEXTRACE_NONE);
			assert_int_equal(work_next(&reader, &work), 0);
		}
		work_release(&reader);
		analysis_test_release(&test);
	}
}

static void put_marked(struct timeline_fixture *fixture, uint32_t device, uint8_t kind)
{
	const struct track track = {.kind = TRACK_CORE, .owner = device, .id = 4};
	const uint32_t zone = fixture_zone(
		fixture, (struct zone){0}, (struct mark_run){.device = device},
		(struct marker){.kind = kind, .name = fixture_string(fixture, "marked")});

	fixture_device_row(fixture, (struct device_row){.start_time_ns = 10,
	                                                .end_time_ns = 20,
	                                                .source = zone,
	                                                .track = fixture_track(fixture, track),
	                                                .kind = kind});
}

/* Where a device has both, its marked kernels are the inside of its control blocks. */
static void test_work__is_marked_kernels_where_there_are_no_control_blocks(void **state)
{
	struct analysis_test test;
	struct work_reader reader;
	struct work work;
	uint32_t process;

	(void)state;
	analysis_test_init(&test);
	process = fixture_process(&test.fixture, 5, 77, "app");
	fixture_device(&test.fixture, process, 0, "");
	fixture_device(&test.fixture, process, 1, "");
	analysis_test_row(&test, 0, ROW_EXEC, "k", 0, 50);
	put_marked(&test.fixture, 0, ROW_KERNEL);
	put_marked(&test.fixture, 1, ROW_FIRMWARE);
	put_marked(&test.fixture, 1, ROW_KERNEL);
	put_marked(&test.fixture, 1, ROW_ZONE);
	assert_int_equal(work_read(&reader, &test.fixture.timeline), 0);
	assert_int_equal(work_next(&reader, &work), 1);
	assert_non_null(work.op);
	assert_int_equal(work_next(&reader, &work), 1);
	assert_null(work.op);
	assert_int_equal(work.device, 1);
	assert_int_equal(work.queue, 4);
	assert_string_equal(string_get(test.fixture.strings, work.name), "marked");
	assert_int_equal(work_next(&reader, &work), 0);
	work_release(&reader);
	analysis_test_release(&test);
}

struct call_case {
	int64_t start_ns, end_ns;
	uint16_t depth;
	uint8_t track; /* 0: a thread; 1: its overflow lane; 2: another thread; 3: async */
	int parent;
};

static const struct call_case calls[] = {
	{0, 100, 0, 0, -1},   {0, 50, 1, 0, 0},     {10, 20, 2, 0, 1},    {10, 30, 0, 2, -1},
	{15, 60, 0, 1, -1},   {20, 20, 2, 0, 1},    {20, 30, 2, 0, 1},    {22, 28, 0, 3, -1},
	{25, 25, 3, 0, 6},    {25, 25, 4, 0, 8},    {50, 60, 1, 0, 0},    {60, 60, 1, 0, 0},
	{100, 120, 0, 0, -1}, {105, 110, 3, 0, 12}, {125, 130, 2, 0, -1},
};

/* All rows are of no name, and of one kind or another. */
static void expect_names(const struct call_tree *tree)
{
	assert_int_equal(tree->names.n, 2);
	assert_int_equal(call_name_at(tree, 0)->first, 0);
	assert_int_equal(call_name_at(tree, 0)->last, tree->n - 1);
	assert_int_equal(call_name_at(tree, 1)->first, 1);
	for (uint32_t i = 0; i < tree->n; i++)
		assert_int_equal(call_name_at(tree, tree->calls[i].name)->key.kind,
		                 tree->calls[i].row->kind);
}

/* The last two are what filters leave of a deeper stack. */
static void test_call_tree__knows_the_innermost_row_around_each(void **state)
{
	static const struct track tracks[] = {{.kind = TRACK_THREAD},
	                                      {.kind = TRACK_THREAD, .lane = 1},
	                                      {.kind = TRACK_THREAD, .owner = 1},
	                                      {.kind = TRACK_ASYNC}};
	struct timeline_fixture fixture;
	struct call_tree tree;
	uint32_t process;

	(void)state;
	timeline_fixture_init(&fixture);
	process = fixture_process(&fixture, 5, 77, "app");
	fixture_thread(&fixture, process, 1, "main");
	fixture_thread(&fixture, process, 2, "other");
	for (int i = 0; i < 4; i++)
		fixture_track(&fixture, tracks[i]);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		fixture_host(&fixture, (struct host_row){.start_time_ns = calls[i].start_ns,
		                                         .end_time_ns = calls[i].end_ns,
		                                         .depth = calls[i].depth,
		                                         .track = calls[i].track,
		                                         .kind = i == 1,
		                                         .class = RECORD_SCOPE});
	assert_int_equal(call_tree_init(&tree, &fixture.timeline), 0);
	assert_int_equal(tree.n, sizeof(calls) / sizeof(calls[0]));
	for (uint32_t i = 0; i < tree.n; i++) {
		if (tree.calls[i].parent != (uint32_t)calls[i].parent)
			fail_msg("row %u is within %d", i, (int)tree.calls[i].parent);
		assert_int_equal(tree.calls[i].row->start_time_ns, calls[i].start_ns);
		assert_int_equal(tree.calls[i].process, process);
	}
	expect_names(&tree);
	call_tree_release(&tree);
	timeline_fixture_release(&fixture);
}

/* -- filters ----------------------------------------------------------------------------------- */

static const struct filter_case {
	const char *drop;
	const char *launches; /* of each control block: the name of what launched it, or '-' */
} filter_cases[] = {
	{"name:nothing", "bac-"}, {"name:^a$", "b-c-"}, {"name:^[bx]$", "-ac-"},
	{"name:^x$", "bac-"},     {"name:^k$", "bac-"}, {"rank:5", "----"},
};

static void add_launches(struct analysis_test *test)
{
	struct timeline_fixture *fixture = &test->fixture;
	uint32_t process = fixture_process(fixture, 5, 77, "app");
	uint32_t track;

	fixture_device(fixture, process, 0, "");
	fixture_thread(fixture, process, 1, "main");
	track = fixture_track(fixture, (struct track){.kind = TRACK_THREAD});
	for (int i = 0; i < 5; i++) {
		const char name[] = {"xabyc"[i], '\0'};

		fixture_host(fixture, fixture_scope(fixture, track, name, 10 * i, 10 * i + 5));
	}
	for (int i = 0; i < 4; i++)
		analysis_test_row(test, 0, ROW_EXEC, "k", 100 + i, 101 + i);
}

static void expect_launches(const struct timeline *shown, const char *launches)
{
	for (uint32_t op = 0; op < 4; op++) {
		uint32_t place = launch_of(shown, op), n = 0;
		char name = '-';

		TABLE_EACH(struct host_row, row, &shown->host_rows) {
			if (n++ == place)
				name = string_get(shown->strings, row->name)[0];
		}
		assert_int_equal(name, launches[op]);
		if (name == '-')
			assert_int_equal(place, FLEXTRACE_NONE);
	}
}

/* Places are those of the rows that are left. */
static void test_launch_of__is_a_row_that_filters_left(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(filter_cases) / sizeof(filter_cases[0]); i++) {
		uint32_t launch_of_op[] = {2, 1, 4, FLEXTRACE_NONE};
		const char *drop = filter_cases[i].drop;
		const struct select_options options = {.drop = TEXTS(&drop, 1)};
		struct flextrace_error error;
		struct analysis_test test;
		struct selection selection;
		struct select_input input;

		analysis_test_init(&test);
		add_launches(&test);
		test.fixture.timeline.launch_of_op = launch_of_op;
		input = (struct select_input){.options = &options,
		                              .timeline = &test.fixture.timeline,
		                              .counters = &test.fixture.timeline.counters,
		                              .classes = &test.fixture.classes,
		                              .ledger = &test.fixture.ledger};
		assert_int_equal(select_run(&input, &selection, &error), 0);
		expect_launches(&selection.timeline, filter_cases[i].launches);
		selection_release(&selection);
		analysis_test_release(&test);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work__is_what_its_kind_group_and_name_say),
		cmocka_unit_test(test_work__is_marked_kernels_where_there_are_no_control_blocks),
		cmocka_unit_test(test_call_tree__knows_the_innermost_row_around_each),
		cmocka_unit_test(test_launch_of__is_a_row_that_filters_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
