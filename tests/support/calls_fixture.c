/* SPDX-License-Identifier: Apache-2.0 */
#include "calls_fixture.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/order.h"
#include "model/timeline/timeline_read.h"

void calls_test_init(struct calls_test *test)
{
	struct timeline_fixture *fixture = &test->test.fixture;

	*test = (struct calls_test){.n_launches = 0};
	analysis_test_init(&test->test);
	for (int32_t rank = 0; rank < 2; rank++) {
		uint32_t process = fixture_process(fixture, rank, 70 + (uint32_t)rank, "app");

		fixture_device(fixture, process, 0, "");
		for (int32_t i = 0; i < 2; i++)
			fixture_track(fixture,
			              (struct track){.kind = TRACK_THREAD,
			                             .owner = fixture_thread(fixture, process,
			                                                     1 + i, "")});
	}
}

void calls_test_release(struct calls_test *test)
{
	free(test->launches);
	analysis_test_release(&test->test);
}

uint32_t calls_test_call(struct calls_test *test, uint32_t track, struct host_row row,
                         const char *name)
{
	struct timeline_fixture *fixture = &test->test.fixture;

	row.track = track;
	row.name = fixture_string(fixture, name);
	row.class = RECORD_SCOPE;
	fixture_host(fixture, row);
	return (uint32_t)fixture->timeline.host_rows.n_rows - 1;
}

void calls_test_kernel(struct calls_test *test, uint32_t device, const char *name,
                       const int64_t times_ns[2], uint32_t launch)
{
	analysis_test_row(&test->test, device, ROW_EXEC, name, times_ns[0], times_ns[1]);
	assert_int_equal(ARRAY_PUSH(test->launches, test->n_launches, launch), 0);
	test->test.fixture.timeline.launch_of_op = test->launches;
}

/* -- at random --------------------------------------------------------------------------------- */

struct random_row {
	struct host_row row;
	uint32_t track;
};

struct random_timeline {
	struct random_row *rows; /* owned */
	uint32_t n;
	uint64_t random;
	struct call_oracle *oracle;
};

static uint32_t draw(struct random_timeline *timeline, uint32_t below)
{
	timeline->random = timeline->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(timeline->random >> 33) % below;
}

static const uint8_t kinds[] = {FLEXTRACE_RUNTIME_OP, FLEXTRACE_RUNTIME_USER,
                                FLEXTRACE_RUNTIME_CALL, HOST_STEP, HOST_WINDOW};

/* Adds calls within [start, end), and calls within these. `is_in_call`: what is around is one. */
static void nest(struct random_timeline *timeline, uint32_t track, struct host_row around,
                 bool is_in_call)
{
	int64_t at = around.start_time_ns;

	while (around.depth < 6 && draw(timeline, 5)) {
		struct host_row row = {.depth = around.depth, .kind = kinds[draw(timeline, 5)]};
		bool is_call = row.kind != HOST_STEP && row.kind != HOST_WINDOW;

		row.start_time_ns = at + draw(timeline, 20);
		row.end_time_ns = row.start_time_ns + draw(timeline, 300);
		if (row.end_time_ns > around.end_time_ns)
			break;
		at = row.end_time_ns;
		if (is_call && !is_in_call)
			timeline->oracle->root_ns[track / 2] += interval_ns(row.start_time_ns,
			                                                    row.end_time_ns);
		assert_int_equal(
			ARRAY_PUSH(timeline->rows, timeline->n, (struct random_row){row, track}),
			0);
		row.depth++;
		nest(timeline, track, row, is_in_call || is_call);
	}
}

/* Of equal times the outer one comes first. */
static int compare_rows(const void *left, const void *right)
{
	const struct random_row *a = left, *b = right;

	return ORDER(a->row.start_time_ns, b->row.start_time_ns) ?:
	       ORDER(b->row.end_time_ns, a->row.end_time_ns) ?: ORDER(a->track, b->track) ?:
	       ORDER(a->row.depth, b->row.depth);
}

static void launch_some(struct calls_test *test, struct random_timeline *timeline)
{
	int64_t times_ns[2] = {0, 0};

	for (uint32_t i = 0; i < 200; i++) {
		uint32_t launch = draw(timeline, timeline->n + 1), device = draw(timeline, 2);

		times_ns[0] += draw(timeline, 20);
		times_ns[1] = times_ns[0] + draw(timeline, 100);
		if (launch == timeline->n)
			launch = FLEXTRACE_NONE;
		else
			device = timeline->rows[launch].track / 2;
		timeline->oracle->device_ns[device] += interval_ns(times_ns[0], times_ns[1]);
		calls_test_kernel(test, device, i % 3 ? "k" : "l", times_ns, launch);
	}
}

void calls_test_random(struct calls_test *test, uint64_t seed, struct call_oracle *ret)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct random_timeline timeline = {.random = seed, .oracle = ret};

	*ret = (struct call_oracle){0};
	for (uint32_t track = 0; track < CALLS_FIXTURE_TRACKS; track++)
		nest(&timeline, track, (struct host_row){.end_time_ns = 4000}, false);
	ORDER_ARRAY(timeline.rows, timeline.n, compare_rows);
	for (uint32_t i = 0; i < timeline.n; i++)
		calls_test_call(test, timeline.rows[i].track, timeline.rows[i].row,
		                names[draw(&timeline, 4)]);
	launch_some(test, &timeline);
	free(timeline.rows);
}

/* -- tables ------------------------------------------------------------------------------------ */

static int column_of(const char *csv, const char *name)
{
	int column = 0;

	for (const char *at = csv; *at != '\n'; column++) {
		size_t n = strcspn(at, ",\n");

		if (n == strlen(name) && strncmp(at, name, n) == 0)
			return column;
		at += n + (at[n] == ',');
	}
	fail_msg("No column %s", name);
	return 0;
}

/* A cell of a line whose cells have no commas. */
static const char *cell_at(const char *line, int column, size_t *ret_n)
{
	for (; column > 0; column--)
		line = strchr(line, ',') + 1;
	*ret_n = strcspn(line, ",\n");
	return line;
}

static bool has_cells(const char *csv, const char *line, const char *const *cells)
{
	for (; *cells; cells += 2) {
		size_t n;
		const char *cell = cell_at(line, column_of(csv, cells[0]), &n);

		if (n != strlen(cells[1]) || strncmp(cell, cells[1], n) != 0)
			return false;
	}
	return true;
}

int64_t csv_sum(const char *csv, const char *column, const char *const *cells)
{
	int64_t total = 0;

	for (const char *line = strchr(csv, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		size_t n;

		if (has_cells(csv, line, cells))
			total += strtoll(cell_at(line, column_of(csv, column), &n), NULL, 10);
	}
	return total;
}
