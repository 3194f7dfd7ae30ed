/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads N: N short-lived threads, one after the other, then N that all live at once. Each names
 * itself and emits one scope: "short" or "long".
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <flextrace/flextrace.h>

static pthread_barrier_t all_live;

static void name_thread(const char *kind, size_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "%s %zu", kind, number);
	FLEXTRACE_THREAD_NAME(name);
}

static void *live_shortly(void *number)
{
	name_thread("short", (size_t)(uintptr_t)number);
	FLEXTRACE_SCOPE("short");
	return NULL;
}

static void *live_long(void *number)
{
	name_thread("long", (size_t)(uintptr_t)number);
	pthread_barrier_wait(&all_live);
	{
		FLEXTRACE_SCOPE("long");
	}
	/* No number of a thread is given to another one meanwhile. */
	pthread_barrier_wait(&all_live);
	return NULL;
}

static void start(pthread_t *thread, void *(*live)(void *), uintptr_t number)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + (256 << 10));
	if (pthread_create(thread, &attributes, live, (void *)number) != 0) {
		fprintf(stderr, "threads: no more than %zu threads\n", (size_t)number);
		exit(77);
	}
	pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
	const unsigned n = argc == 2 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t *threads = calloc(n + 1, sizeof(*threads));

	if (!n || !threads)
		return 2;
	flextrace_process("threads", "1");
	pthread_barrier_init(&all_live, NULL, n);
	for (unsigned i = 0; i < n; i++) {
		start(&threads[0], live_shortly, i);
		pthread_join(threads[0], NULL);
	}
	for (unsigned i = 0; i < n; i++)
		start(&threads[i], live_long, i);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
