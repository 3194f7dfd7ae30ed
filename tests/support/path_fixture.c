/* SPDX-License-Identifier: Apache-2.0 */
#include "path_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "findings/statistics/owners.h"
#include "findings/work/call_tree.h"

struct analysis_test path_test;
static struct owners owners;
static struct table points;
static uint32_t launches[PATH_MAX_CALLS], tracks[2][3], devices[2];

int path_start(void **state)
{
	(void)state;
	analysis_test_init(&path_test);
	points = (struct table)TABLE_INIT;
	for (int rank = 0; rank < 2; rank++) {
		uint32_t process = fixture_process(&path_test.fixture, rank, 100 + (uint32_t)rank,
		                                   "app");

		for (int thread = 0; thread < 3; thread++) {
			uint32_t of = fixture_thread(&path_test.fixture, process,
			                             10 * rank + thread, "t");

			tracks[rank][thread] = fixture_track(
				&path_test.fixture,
				(struct track){.kind = thread == 2 ? TRACK_ASYNC : TRACK_THREAD,
			                       .owner = of});
		}
		devices[rank] = fixture_device(&path_test.fixture, process, 0, "");
	}
	return owners_init(&owners, &path_test.fixture.identity);
}

int path_stop(void **state)
{
	(void)state;
	owners_release(&owners);
	table_release(&points);
	analysis_test_release(&path_test);
	return 0;
}

static const struct call_made *of_calls;

static int compare_calls(const void *left, const void *right)
{
	const struct call_made *a = &of_calls[*(const int *)left];
	const struct call_made *b = &of_calls[*(const int *)right];

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end != b->end ? (a->end < b->end) - (a->end > b->end) : (a > b) - (a < b);
}

static int compare_works(const void *left, const void *right)
{
	const struct work_made *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

static uint16_t depth_of(const struct call_made *calls, int n, int i)
{
	uint16_t depth = 0;

	for (int k = 0; k < n; k++) {
		bool is_around = calls[k].start <= calls[i].start && calls[k].end >= calls[i].end;

		if (k != i && is_around && calls[k].rank == calls[i].rank &&
		    calls[k].thread == calls[i].thread &&
		    (calls[k].start != calls[i].start || calls[k].end != calls[i].end || k < i))
			depth++;
	}
	return depth;
}

static void add_calls(const struct call_made *calls, int n, uint32_t *place_of)
{
	int order[PATH_MAX_CALLS];

	for (int i = 0; i < n; i++)
		order[i] = i;
	of_calls = calls;
	if (n)
		qsort(order, (size_t)n, sizeof(*order), compare_calls);
	for (int i = 0; i < n; i++) {
		const struct call_made *call = &calls[order[i]];
		struct host_row row = fixture_scope(&path_test.fixture,
		                                    tracks[call->rank][call->thread], call->name,
		                                    call->start, call->end);

		row.kind = (uint8_t)call->kind;
		row.depth = depth_of(calls, n, order[i]);
		fixture_host(&path_test.fixture, row);
		place_of[order[i]] = (uint32_t)i;
	}
}

static void add_works(struct work_made *works, int n, const uint32_t *place_of)
{
	if (n)
		qsort(works, (size_t)n, sizeof(*works), compare_works);
	for (int i = 0; i < n; i++) {
		const struct work_made *work = &works[i];
		bool is_copy = work->name[0] == 'c';

		analysis_test_row(&path_test, devices[work->rank],
		                  is_copy ? ROW_MEMCPY_DTOH : ROW_EXEC, work->name, work->start,
		                  work->end)
			->queue = (uint32_t)work->queue;
		launches[i] = work->launch < 0 ? FLEXTRACE_NONE : place_of[work->launch];
	}
	path_test.fixture.timeline.launch_of_op = launches;
}

void path_add(const struct call_made *calls, int n_calls, struct work_made *works, int n_works)
{
	uint32_t place_of[PATH_MAX_CALLS] = {0};

	add_calls(calls, n_calls, place_of);
	add_works(works, n_works, place_of);
}

void path_add_point(uint32_t rank, const char *op, int64_t enter, int64_t exit)
{
	const struct sync_point point = {
		.enter_host_ns = enter,
		.exit_host_ns = exit,
		.seq = 1,
		.process = rank,
		.group = fixture_string(&path_test.fixture, "world"),
		.op = fixture_string(&path_test.fixture, op),
	};

	*(struct sync_point *)table_append(&points, sizeof(point)) = point;
	path_test.fixture.timeline.sync_points = &points;
}

/* -- paths as text: "step: host a 10, launch_delay k 2" ---------------------------------------- */

static char text[1 << 16];
static size_t n_text;

static void print(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	n_text += (size_t)vsnprintf(text + n_text, sizeof(text) - n_text, format, arguments);
	va_end(arguments);
}

static void print_path(void *context, const struct path *path)
{
	const struct timeline *timeline = context;
	int64_t at = path->start_time_ns;

	print("%s%s:", path->process == FLEXTRACE_NONE ? "all " : "",
	      path->name ? string_get(timeline->strings, path->name) : "run");
	for (uint32_t i = 0; i < path->n_pieces; i++) {
		const struct path_piece *piece = &path->pieces[i];

		assert_int_equal(piece->start_time_ns, at);
		assert_true(piece->end_time_ns > at);
		at = piece->end_time_ns;
		print("%s %s %s %d", i ? "," : "", path_kind_name(piece->kind),
		      piece->name ? string_get(timeline->strings, piece->name) : "-",
		      (int)(at - piece->start_time_ns));
		if (path->process == FLEXTRACE_NONE || piece->process != path->process)
			print("@%u", piece->process);
	}
	assert_int_equal(at, path->end_time_ns);
	print("\n");
}

/* A part of a path: its piece ends where that of the part before it began, and the last part
 * begins with the path. */
static void check_part(void *context, const struct path *path)
{
	int64_t *before_ns = context;

	assert_int_equal(path->n_pieces, 1);
	if (*before_ns != INT64_MAX)
		assert_int_equal(path->pieces->end_time_ns, *before_ns);
	assert_int_equal(path->pieces->start_time_ns > path->start_time_ns, path->goes_on);
	*before_ns = path->goes_on ? path->pieces->start_time_ns : INT64_MAX;
}

const char *path_text(void)
{
	int64_t before_ns = INT64_MAX;
	struct findings *findings = &path_test.fixture.findings;
	struct call_tree tree = {0};

	findings->owners = &owners;
	findings->call_tree = &tree;
	n_text = 0;
	text[0] = '\0';
	assert_int_equal(paths_find(findings, UINT32_MAX, print_path, &path_test.fixture.timeline),
	                 0);
	assert_int_equal(paths_find(findings, 1, check_part, &before_ns), 0);
	call_tree_release(&tree);
	return text;
}

void path_slacks(path_slack_taker *take, void *context)
{
	struct findings *findings = &path_test.fixture.findings;
	struct call_tree tree = {0};

	findings->owners = &owners;
	findings->call_tree = &tree;
	assert_int_equal(path_slacks_find(findings, take, context), 0);
	call_tree_release(&tree);
}

static const char *line_of(uint32_t track)
{
	return path_test.fixture.timeline.tracks[track].kind == TRACK_THREAD ? "thread" : "device";
}

const char *path_arrows(void)
{
	struct findings *findings = &path_test.fixture.findings;
	struct table flows = TABLE_INIT;
	struct call_tree tree = {0};

	findings->owners = &owners;
	findings->call_tree = &tree;
	findings->flows = &path_test.fixture.timeline.flows_from;
	n_text = 0;
	text[0] = '\0';
	assert_int_equal(paths_draw(findings, &flows), 0);
	call_tree_release(&tree);
	TABLE_EACH(struct flow, flow, &flows)
		print("%s%d %s%u -> %d %s%u\n", flow->is_critical ? "" : "other ",
		      (int)flow->from_time_ns, line_of(flow->from_track), flow->from_track,
		      (int)flow->to_time_ns, line_of(flow->to_track), flow->to_track);
	table_release(&flows);
	return text;
}
