/* SPDX-License-Identifier: Apache-2.0 */
/* libflextrace in many threads while a provider comes and recording goes on and off. Also run with
 * ThreadSanitizer (checks.cmake). */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <flextrace/flextrace.h>

#include "definitions.h"
#include "environment.h"
#include "tracer.h"

#define N_THREADS 4u
#define N_NAMES   32u
#define N_COUNTED 1000u
#define N_TURNS   200u

/* start.c is left out: it would load the real provider. */
static const int off = 0;
const int *flextrace_i_state[flextrace_i_n_events];
const struct flextrace_i_api *flextrace_i_api;

/* -- the provider: it counts, and reads what it is given --------------------------------------- */

static int word;
static struct flextrace_i_client *client;
static uint64_t n_instants, n_scopes, n_names, n_processes, n_wrong;

static void count(uint64_t *counter, const char *text, const char *expected)
{
	(void)__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
	if (strcmp(text, expected) != 0)
		(void)__atomic_add_fetch(&n_wrong, 1, __ATOMIC_RELAXED);
}

static void on_instant(const struct flextrace_instant *p)
{
	count(&n_instants, p->name, "instant");
}

static void on_scope(const struct flextrace_scope *p)
{
	count(&n_scopes, p->name, "scope");
}

static void on_queue(const struct flextrace_name *p)
{
	count(&n_names, p->name, "queue");
}

static void on_process(const struct flextrace_process *p)
{
	count(&n_processes, p->runtime ? p->runtime : "runtime", "runtime");
}

static void attach(struct flextrace_i_client *c)
{
	size_t i;

	client = c;
	for (i = 0; i < c->n_states; i++)
		__atomic_store_n(&c->state[i], &off, __ATOMIC_RELEASE);
	__atomic_store_n(&c->state[flextrace_i_event_process], &word, __ATOMIC_RELEASE);
	__atomic_store_n(&c->state[flextrace_i_event_queue_name], &word, __ATOMIC_RELEASE);
	__atomic_store_n(&c->state[flextrace_i_event_scope], &word, __ATOMIC_RELEASE);
	__atomic_store_n(&c->state[flextrace_i_event_instant], &word, __ATOMIC_RELEASE);
}

/* -- the program ------------------------------------------------------------------------------- */

enum phase { PHASE_FREE, PHASE_COUNTED };

static int phase;
static uint32_t n_running;
static pthread_barrier_t gate;

static void record(uint32_t thread, uint32_t i)
{
	FLEXTRACE_SCOPE("scope");

	FLEXTRACE_INSTANT("instant");
	FLEXTRACE_QUEUE_NAME(thread, i % N_NAMES, "queue");
	flextrace_set_rank((int)thread, (int)N_THREADS);
	flextrace_process("runtime", "1");
}

static void *run_program(void *context)
{
	uint32_t thread = *(const uint32_t *)context;
	uint32_t i;

	(void)__atomic_add_fetch(&n_running, 1, __ATOMIC_RELAXED);
	for (i = 0; __atomic_load_n(&phase, __ATOMIC_RELAXED) == PHASE_FREE; i++)
		record(thread, i);
	(void)pthread_barrier_wait(&gate); /* all have left off */
	(void)pthread_barrier_wait(&gate); /* the counters are at 0 */
	for (i = 0; i < N_COUNTED; i++)
		record(thread, i);
	return NULL;
}

static void let_recording_go_on_and_off(void)
{
	uint32_t i;

	for (i = 0; i < N_TURNS; i++) {
		__atomic_store_n(&word, (int)(i & 1), __ATOMIC_RELAXED);
		client->dump();
	}
	__atomic_store_n(&word, 1, __ATOMIC_RELAXED);
}

static void test_attach__may_come_while_threads_record(void **state)
{
	static const struct environment plain = {
		1, 0, FLEXTRACE_DEVICE_MODE_DRAIN, FLEXTRACE_RANK_UNKNOWN, 0, NULL, "s"};
	static struct flextrace_i_identity identity = {.rank = FLEXTRACE_RANK_UNKNOWN};
	static struct flextrace_i_api api = {
		.size = sizeof(api),
		.identity = &identity,
		.attach = attach,
		.process = on_process,
		.queue_name = on_queue,
		.scope = on_scope,
		.instant = on_instant,
	};
	uint32_t numbers[N_THREADS];
	pthread_t threads[N_THREADS];
	uint32_t i;

	(void)state;
	for (i = 0; i < flextrace_i_n_events; i++)
		flextrace_i_state[i] = &off;
	flextrace_i_tracer_init(&plain);
	assert_int_equal(pthread_barrier_init(&gate, NULL, N_THREADS + 1), 0);
	for (i = 0; i < N_THREADS; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, run_program, &numbers[i]), 0);
	}
	while (__atomic_load_n(&n_running, __ATOMIC_RELAXED) < N_THREADS)
		(void)sched_yield();
	flextrace_i_tracer_attach(&api);
	let_recording_go_on_and_off();

	__atomic_store_n(&phase, PHASE_COUNTED, __ATOMIC_RELAXED);
	(void)pthread_barrier_wait(&gate);
	n_instants = n_scopes = n_names = n_processes = 0;
	(void)pthread_barrier_wait(&gate);
	for (i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(n_wrong, 0);
	assert_int_equal(n_instants, N_THREADS * N_COUNTED);
	assert_int_equal(n_scopes, N_THREADS * N_COUNTED);
	assert_int_equal(n_names, N_THREADS * N_COUNTED);
	assert_int_equal(n_processes, 2 * N_THREADS * N_COUNTED);
	assert_in_range(identity.rank, 0, N_THREADS - 1);
	n_names = 0;
	client->dump();
	assert_int_equal(n_names, N_THREADS * N_NAMES);
	(void)pthread_barrier_destroy(&gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attach__may_come_while_threads_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
