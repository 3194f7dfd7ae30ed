/* SPDX-License-Identifier: Apache-2.0 */
/* Critical paths of programs whose truth is known, and of any world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "path_fixture.h"
#include "table_cells.h"
#include "work_world.h"

/* -- worlds whose truth is known ------------------------------------------------------------- */

enum { N_OPS = 40, N_QUEUES = 3 };

/* What each event had to wait for: one before it, or -1. Its own piece comes before that. */
struct bound_event {
	int before;
	const char *kind, *name;
	int64_t start, end;
};

struct program {
	struct call_made calls[PATH_MAX_CALLS];
	struct work_made works[PATH_MAX_CALLS];
	int n_calls, n_works;
	struct bound_event events[4 * PATH_MAX_CALLS];
	int n_events;
};

static int add_event(struct program *program, int before, const char *kind, const char *name,
                     int64_t start, int64_t end)
{
	program->events[program->n_events] = (struct bound_event){before, kind, name, start, end};
	return program->n_events++;
}

/* A thread that launches into queues, and waits now and then, is run. */
static void run_program(struct program *program)
{
	static const char *const names[] = {"k0", "k1", "c2"};
	int64_t now = 0, free_at[N_QUEUES] = {0};
	int last_of[N_QUEUES] = {-1, -1, -1}, host = -1;

	memset(program, 0, sizeof(*program));
	for (int i = 0; i < N_OPS; i++) {
		int action = rand() % 8;
		int64_t begin = now + 1 + rand() % 5;

		if (action <
		    5) { /* a launch: its call takes some time, its work begins behind it */
			int q = rand() % N_QUEUES;
			int64_t launched = begin + 2 + rand() % 4;
			int64_t soonest = launched + 1 + rand() % 3;
			bool is_bound_by_queue = free_at[q] > launched;
			int64_t starts = is_bound_by_queue ? free_at[q] + rand() % 3 : soonest;
			int64_t ends = starts + 5 + rand() % 30;
			int gap = add_event(program, host, "host", "-", now, begin);
			int before;

			host = add_event(program, gap, "host", "launch", begin, launched);
			before = is_bound_by_queue ? add_event(program, last_of[q], "queue_delay",
			                                       names[q], free_at[q], starts)
			                           : add_event(program, host, "launch_delay",
			                                       names[q], launched, starts);
			last_of[q] = add_event(program, before, q == 2 ? "memory" : "compute",
			                       names[q], starts, ends);
			free_at[q] = ends;
			program->calls[program->n_calls] =
				(struct call_made){0, 0, "launch", begin, launched, 0};
			program->works[program->n_works++] = (struct work_made){
				0, q, program->n_calls++, names[q], starts, ends};
			now = launched;
		} else if (action < 7) { /* a call that waits for nothing */
			int64_t returns = begin + 1 + rand() % 20;
			int gap = add_event(program, host, "host", "-", now, begin);

			host = add_event(program, gap, "host", "call", begin, returns);
			program->calls[program->n_calls++] =
				(struct call_made){0, 0, "call", begin, returns, 0};
			now = returns;
		} else { /* a wait for all queues */
			int q = 0, gap = add_event(program, host, "host", "-", now, begin);
			int64_t returns;

			for (int k = 1; k < N_QUEUES; k++)
				q = free_at[k] > free_at[q] ? k : q;
			for (int k = 0; k < N_QUEUES; k++) /* one alone is the last */
				if (k != q && free_at[k] == free_at[q] && free_at[q] > begin)
					return;
			returns = (free_at[q] > begin ? free_at[q] : begin) + 1 + rand() % 3;
			host = free_at[q] > begin ? add_event(program, last_of[q], "wait",
			                                      "Synchronize", free_at[q], returns)
			                          : add_event(program, gap, "host", "Synchronize",
			                                      begin, returns);
			program->calls[program->n_calls++] =
				(struct call_made){0, 0, "Synchronize", begin, returns, 0};
			now = returns;
		}
	}
}

static int compare_ends(const struct program *program, int a, int b)
{
	return program->events[a].end > program->events[b].end ? a : b;
}

static bool is_same(const struct bound_event *a, const struct bound_event *b)
{
	return strcmp(a->kind, b->kind) == 0 && strcmp(a->name, b->name) == 0;
}

/* Prints the path that bound the last end, from the first call on. */
static void print_truth(const struct program *program, char *to, size_t size)
{
	int chain[4 * PATH_MAX_CALLS], n = 0, at = 0;
	size_t length = (size_t)snprintf(to, size, "run:");
	int64_t begin = program->calls[0].start;

	for (int i = 1; i < program->n_events; i++)
		at = compare_ends(program, at, i);
	for (; at >= 0; at = program->events[at].before)
		if (program->events[at].end > begin &&
		    program->events[at].start < program->events[at].end)
			chain[n++] = at;
	for (int i = n - 1, first = 1; i >= 0; i--) {
		const struct bound_event *event = &program->events[chain[i]];
		int64_t start = event->start;

		for (; i > 0 && is_same(event, &program->events[chain[i - 1]]); i--)
			event = &program->events[chain[i - 1]];
		length += (size_t)snprintf(to + length, size - length, "%s %s %s %d",
		                           first ? "" : ",", event->kind, event->name,
		                           (int)(event->end - start));
		first = 0;
	}
	snprintf(to + length, size - length, "\n");
}

/* Ends that are equal leave open what bound the run. */
static bool has_one_end(const struct program *program)
{
	int64_t last = 0;
	int n = 0;

	for (int i = 0; i < program->n_events; i++)
		last = program->events[i].end > last ? program->events[i].end : last;
	for (int i = 0; i < program->n_events; i++)
		n += program->events[i].end == last;
	return n == 1;
}

static void test_path__is_that_of_programs_whose_truth_is_known(void **state)
{
	static struct program program;
	static char truth[1 << 16];
	int n = 0;

	srand(7);
	for (int i = 0; i < 400; i++) {

		run_program(&program);
		if (program.n_calls == 0 || !has_one_end(&program))
			continue;
		path_stop(state);
		path_start(state);
		path_add(program.calls, program.n_calls, program.works, program.n_works);
		print_truth(&program, truth, sizeof(truth));
		assert_string_equal(path_text(), truth);
		n++;
	}
	assert_true(n > 200);
}

/* -- any world ------------------------------------------------------------------------------- */

static const char *const kinds[] = {"host_ns",    "launch_delay_ns",  "queue_delay_ns",
                                    "compute_ns", "communication_ns", "memory_ns",
                                    "prepare_ns", "wait_ns"};

/* Of any world: overlapping, negative delays, work that nobody launched. */
static void test_path__adds_up_to_the_wall_time(void **state)
{
	static struct work_world world;

	(void)state;
	for (unsigned seed = 0; seed < 300; seed++) {
		char *sums, *pieces, *slacks;
		int64_t total = 0, walls = 0;

		work_world_init(&world, seed, 1000003);
		sums = analysis_test_write(&world.test, "critical_path_summary");
		pieces = analysis_test_write(&world.test, "critical_path");
		for (uint32_t i = 0; i < table_n_rows(sums); i++) {
			int64_t sum = 0, wall = table_number(sums, i, "wall_ns");

			for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
				sum += table_number(sums, i, kinds[k]);
			assert_int_equal(sum, wall);
			walls += wall;
		}
		for (uint32_t i = 0; i < table_n_rows(pieces); i++)
			total += table_number(pieces, i, "dur_ns");
		assert_int_equal(total, walls);
		slacks = analysis_test_write(&world.test, "slack");
		for (uint32_t i = 0; i < table_n_rows(slacks); i++)
			assert_in_range(table_number(slacks, i, "max_slack_ns"),
			                table_number(slacks, i, "min_slack_ns"), walls);
		free(sums);
		free(pieces);
		free(slacks);
		work_world_release(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, path_start, path_stop)
		TEST(test_path__is_that_of_programs_whose_truth_is_known),
		TEST(test_path__adds_up_to_the_wall_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
