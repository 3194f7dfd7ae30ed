/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_many THREADS RECORDS: emits scopes from several threads at full speed and prints how many
 * records it emitted while recording was on, for tests that compare this with what arrived.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <flextrace/flextrace.h>

#define MAX_THREADS 64

static uint64_t n_per_thread;

static void *emit(void *ret_emitted)
{
	uint64_t emitted = 0;
	for (uint64_t i = 0; i < n_per_thread; i++) {
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
	const int n_threads = argc == 3 ? atoi(argv[1]) : 0;
	if (n_threads < 1 || n_threads > MAX_THREADS) {
		fputs("usage: emit_many THREADS RECORDS\n", stderr);
		return 2;
	}
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
	return 0;
}
