/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_many THREADS RECORDS [RATE]: emits scopes from several threads, at full speed or so many a
 * second in all, and prints how many records it emitted while recording was on, for tests that
 * compare this with what arrived; and in how many ms.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <flextrace/flextrace.h>

#define MAX_THREADS 64
#define PORTION     500 /* records between two looks at the clock */

static uint64_t n_per_thread;
static double ns_per_record; /* of a thread; 0 = full speed */

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void wait_until(uint64_t due_ns)
{
	const struct timespec due = {(time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

static void *emit(void *ret_emitted)
{
	const uint64_t begin_ns = now_ns();
	uint64_t emitted = 0;
	for (uint64_t i = 0; i < n_per_thread; i++) {
		if (ns_per_record > 0 && i % PORTION == 0)
			wait_until(begin_ns + (uint64_t)((double)i * ns_per_record));
		if (!FLEXTRACE_ENABLED(scope))
			continue;
		FLEXTRACE_RUNTIME_SCOPE_ID(FLEXTRACE_RUNTIME_NODE_COMPUTE, "matmul_kernel_16",
		                           i + 1);
		emitted++;
	}
	*(uint64_t *)ret_emitted = emitted;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	uint64_t emitted[MAX_THREADS], total = 0;
	const uint64_t begin_ns = now_ns();
	const int n_threads = argc == 3 || argc == 4 ? atoi(argv[1]) : 0;
	if (n_threads < 1 || n_threads > MAX_THREADS) {
		fputs("usage: emit_many THREADS RECORDS [RATE]\n", stderr);
		return 2;
	}
	if (argc == 4)
		ns_per_record = 1e9 * n_threads / atof(argv[3]);
	n_per_thread = strtoull(argv[2], NULL, 10) / (uint64_t)n_threads;
	flextrace_process("emit_many", "1");
	for (int i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, emit, &emitted[i]))
			return 1;
	for (int i = 0; i < n_threads; i++) {
		pthread_join(threads[i], NULL);
		total += emitted[i];
	}
	printf("emitted %llu\n", (unsigned long long)total);
	printf("took %llu ms\n", (unsigned long long)((now_ns() - begin_ns) / 1000000));
	return 0;
}
