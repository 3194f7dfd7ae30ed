/* SPDX-License-Identifier: Apache-2.0 */
/* The slack of device work: in programs that are run again with one work that takes longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "findings/path/path.h"
#include "path_fixture.h"

/* -- programs ---------------------------------------------------------------------------------- */

enum { N_OPS = 28, N_QUEUES = 3, N_STEPS = 3, OTHER_QUEUE = N_QUEUES };

enum action { LAUNCH, JOIN, COPY, CALL, WAIT, COLLECTIVE, OTHER_THREAD, N_ACTIONS };

/* What a thread does: all but when, which is found by running it. */
struct op {
	enum action action;
	int queue, before, took, delay, work_took; /* ns */
};

struct program {
	struct op ops[N_OPS];
	bool has_steps;
	int64_t ready; /* when the other rank comes to the collective */
};

struct run {
	struct call_made calls[PATH_MAX_CALLS];
	struct work_made works[N_OPS];
	int step_of[N_OPS]; /* by work */
	char names[N_OPS][8];
	int n_calls, n_works, n_steps;
	int64_t free_at[N_QUEUES + 1], now, all_end;
	bool joins[N_QUEUES + 1];
	int64_t step_ends[N_STEPS + 1];
	int64_t enter, leave; /* the collective; 0: there is none */
	int longer;           /* this work takes so much longer */
	int64_t by;
};

static void make_program(struct program *program)
{
	bool collects = false;

	program->has_steps = rand() % 2;
	program->ready = rand() % 400;
	for (int i = 0; i < N_OPS; i++) {
		struct op *op = &program->ops[i];

		*op = (struct op){(enum action)(rand() % (N_ACTIONS + 3)),
		                  rand() % N_QUEUES,
		                  1 + rand() % 4,
		                  2 + rand() % 9,
		                  rand() % 3,
		                  1 + rand() % 40};
		if (op->action >= N_ACTIONS || (op->action == COLLECTIVE && collects))
			op->action = LAUNCH;
		collects |= op->action == COLLECTIVE;
	}
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int add_call(struct run *run, int thread, const char *name, int64_t start, int64_t end,
                    int kind)
{
	run->calls[run->n_calls] = (struct call_made){0, thread, name, start, end, kind};
	return run->n_calls++;
}

static int64_t add_work(struct run *run, const struct op *op, int queue, int launch, int64_t start)
{
	int i = run->n_works++;
	int64_t end = start + op->work_took + (i == run->longer ? run->by : 0);

	snprintf(run->names[i], sizeof(run->names[i]), "k%d", i);
	run->works[i] = (struct work_made){0, queue, launch, run->names[i], start, end};
	run->step_of[i] = run->n_steps;
	run->free_at[queue] = end;
	run->all_end = later(run->all_end, end);
	run->step_ends[run->n_steps] = later(run->step_ends[run->n_steps], end);
	return end;
}

static void wait_for_all(struct run *run, const struct op *op)
{
	int64_t begin = run->now + op->before;

	run->now = later(begin, run->all_end) + op->took;
	add_call(run, 0, "Synchronize", begin, run->now, 0);
}

/* When a queue is free for more. Nothing tells which one a wait is of: it is taken to be of all. */
static int64_t free_at(struct run *run, int queue, bool *ret_joins)
{
	*ret_joins = run->joins[queue];
	run->joins[queue] = false;
	return *ret_joins ? run->all_end : run->free_at[queue];
}

static void join(struct run *run)
{
	add_call(run, 0, "cudaStreamWaitEvent", run->now, run->now + 1, 0);
	memset(run->joins, true, sizeof(run->joins));
	run->now++;
}

/* What is launched behind work that waits for all would seem to be what it waited for. */
static void launch(struct run *run, const struct op *op)
{
	int64_t begin = run->now + op->before, end = begin + op->took;
	bool joins;

	add_work(run, op, op->queue, add_call(run, 0, "launch", begin, end, 0),
	         later(end, free_at(run, op->queue, &joins)) + op->delay);
	run->now = end;
	if (joins)
		wait_for_all(run, op);
}

static void copy(struct run *run, const struct op *op)
{
	int64_t begin = run->now + op->before;
	int call = add_call(run, 0, "copy", begin, 0, 0);
	bool joins;

	run->now = add_work(run, op, op->queue, call,
	                    later(begin, free_at(run, op->queue, &joins)) + op->delay) +
	           op->took;
	run->calls[call].end = run->now;
}

/* The thread begins, launches and is done while the one of the step is in a call. */
static void launch_elsewhere(struct run *run, const struct op *op)
{
	int64_t begin = run->now + op->before, end = begin + op->took;
	bool joins;

	add_work(run, op, OTHER_QUEUE, add_call(run, 1, "launch", begin, end, 0),
	         later(end, free_at(run, OTHER_QUEUE, &joins)) + op->delay);
	add_call(run, 0, "call", run->now, end + 1, 0);
	run->now = end + 1;
	if (joins)
		wait_for_all(run, op);
}

static void collect(struct run *run, const struct op *op, int64_t ready)
{
	run->enter = run->now + op->before;
	run->now = run->leave = later(run->enter, ready) + op->took;
	add_call(run, 0, "allreduce", run->enter, run->leave, HOST_COLLECTIVE);
}

static void end_step(struct run *run, int64_t begin)
{
	static const char *const names[] = {"step 0", "step 1", "step 2", "step 3"};

	run->now++;
	add_call(run, 0, names[run->n_steps], begin, run->now, HOST_STEP);
	run->step_ends[run->n_steps] = later(run->step_ends[run->n_steps], run->now);
}

static void run_program(const struct program *program, struct run *run, int longer, int64_t by)
{
	int64_t begin = 0;
	bool has_thread = false;

	memset(run, 0, sizeof(*run));
	run->longer = longer;
	run->by = by;
	add_call(run, 0, "begin", 0, 1, 0);
	run->now = 1;
	for (int i = 0; i < N_OPS; i++) {
		const struct op *op = &program->ops[i];

		if (op->action == LAUNCH)
			launch(run, op);
		else if (op->action == JOIN)
			join(run);
		else if (op->action == COPY)
			copy(run, op);
		else if (op->action == WAIT)
			wait_for_all(run, op);
		else if (op->action == COLLECTIVE)
			collect(run, op, program->ready);
		else if (op->action == OTHER_THREAD && !has_thread)
			launch_elsewhere(run, op);
		else
			run->now += op->took;
		has_thread |= op->action == OTHER_THREAD;
		if (program->has_steps && i % (N_OPS / N_STEPS) == N_OPS / N_STEPS - 1) {
			end_step(run, begin);
			begin = run->now;
			run->n_steps++;
		}
	}
	add_call(run, 0, "end", run->now, run->now + 1, 0);
	if (!program->has_steps)
		run->step_ends[0] = later(run->step_ends[0], run->now + 1);
}

/* -- slack of each of their works -------------------------------------------------------------- */

struct checked {
	const char *path; /* of programs that have one, in which nobody waits for another rank */
	const struct program *program;
	const struct run *run;
	int n, n_critical;
};

static void check_slack(void *context, const struct path_slack *slack)
{
	static struct run again;
	struct checked *checked = context;
	int work = atoi(string_get(path_test.fixture.timeline.strings, slack->name) + 1);
	int step = checked->run->step_of[work];
	int64_t end = checked->run->step_ends[step];
	char piece[32];

	snprintf(piece, sizeof(piece), "compute k%d ", work);
	if (strstr(checked->path, piece))
		assert_int_equal(slack->slack_ns, 0);
	run_program(checked->program, &again, work, (int64_t)slack->slack_ns);
	assert_int_equal(again.step_ends[step], end);
	run_program(checked->program, &again, work, (int64_t)slack->slack_ns + 1);
	assert_int_equal(again.step_ends[step], end + 1);
	checked->n++;
	checked->n_critical += slack->slack_ns == 0;
}

static int count_works_of_steps(const struct program *program, const struct run *run)
{
	int n = 0;

	for (int i = 0; i < run->n_works; i++)
		n += !program->has_steps || run->step_of[i] < N_STEPS;
	return n;
}

static void test_slack__is_how_much_longer_work_may_take(void **state)
{
	static struct program program;
	static struct run run;
	int n_critical = 0, n = 0;

	for (unsigned seed = 0; seed < 600; seed++) {
		struct checked checked = {.program = &program, .run = &run};
		struct work_made works[N_OPS];

		srand(seed);
		make_program(&program);
		run_program(&program, &run, -1, 0);
		path_stop(state);
		path_start(state);
		memcpy(works, run.works, sizeof(works));
		path_add(run.calls, run.n_calls, works, run.n_works);
		if (run.leave) {
			path_add_point(0, "all_reduce", run.enter, run.leave);
			path_add_point(1, "all_reduce", program.ready, run.leave);
		}
		checked.path = program.has_steps || run.leave ? "" : path_text();
		path_slacks(check_slack, &checked);
		assert_int_equal(checked.n, count_works_of_steps(&program, &run));
		n_critical += checked.n_critical;
		n += checked.n;
	}
	assert_in_range(n_critical, n / 10, n * 9 / 10);
}

/* -- the table --------------------------------------------------------------------------------- */

/* The wait is bound by the last "a", which its launch bound: before that its queue was empty. */
static void test_slack__is_written_as_a_table(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "launch", 0, 10, 0},        {0, 0, "launch", 10, 20, 0},
		{0, 0, "launch", 20, 30, 0},       {0, 0, "launch", 30, 40, 0},
		{0, 0, "Synchronize", 50, 110, 0},
	};
	struct work_made works[] = {{0, 1, 0, "a", 12, 30},
	                            {0, 2, 1, "b", 25, 45},
	                            {0, 2, 2, "b", 50, 93},
	                            {0, 1, 3, "a", 42, 100}};

	(void)state;
	path_add(calls, 5, works, 4);
	analysis_test_expect(&path_test, "slack",
	                     "rank,host,pid,device,kind,name,calls,critical_calls,critical_ns,"
	                     "min_slack_ns,mean_slack_ns,max_slack_ns\n"
	                     "0,\"node,1\",100,0,compute,a,2,1,58,0,5,10\n"
	                     "0,\"node,1\",100,0,compute,b,2,0,0,7,7,7\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, path_start, path_stop)
		TEST(test_slack__is_how_much_longer_work_may_take),
		TEST(test_slack__is_written_as_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
