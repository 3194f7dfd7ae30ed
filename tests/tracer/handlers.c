/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose signal handlers record, at the worst moment: handlers WAY [TENTHS]
 *
 *	ready    each malloc() of two threads raises a signal in its middle; the threads are ready
 *	unready  the same; the second thread is not ready, its records are counted
 *	traced   each malloc() of two threads records, also for the memory of a first record
 *	timers   timers of 20 us in four threads that allocate all the time, two of them not ready,
 *	         for so many tenths of a second
 *
 * A malloc() that is called while another one of the same thread runs would wait for ever for the
 * lock that the first one holds: the program ends with 9. Prints what its handlers did.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

#define N_SIGNALS 200
#define N_THREADS 4
#define PERIOD_NS 20000

extern void *__libc_malloc(size_t size);

static uint64_t n_handled;
static int is_over;
static __thread volatile int wants_signals __attribute__((tls_model("initial-exec")));
static __thread volatile int is_in_malloc __attribute__((tls_model("initial-exec")));
static __thread volatile int wants_records __attribute__((tls_model("initial-exec")));

/* The program's malloc(), for the loader and LTTng as well: signals arrive in its middle, or it is
 * recorded. */
__attribute__((__visibility__("default"))) void *malloc(size_t size)
{
	void *memory;

	if (wants_records) {
		__atomic_add_fetch(&n_handled, 1, __ATOMIC_RELAXED);
		FLEXTRACE_INSTANT("in malloc");
	}
	if (!wants_signals)
		return __libc_malloc(size);
	if (is_in_malloc)
		_exit(9);
	is_in_malloc = 1;
	raise(SIGUSR1);
	memory = __libc_malloc(size);
	is_in_malloc = 0;
	return memory;
}

/* As many records as there are forms; a close() and errno are the handler's own affair. */
static void handle(int number)
{
	static const struct flextrace_device_op op = {.name = "in handler", .peer = -1};
	int saved_errno = errno;

	(void)number;
	{
		FLEXTRACE_HANDLER_SCOPE("in handler");
		FLEXTRACE_HANDLER_INSTANT("in handler");
		FLEXTRACE_HANDLER_COUNTER("in handler", 1);
		FLEXTRACE_HANDLER_BEGIN(FLEXTRACE_RUNTIME_USER, "in handler", 0);
		FLEXTRACE_HANDLER_END(FLEXTRACE_RUNTIME_USER, "in handler", 0);
		FLEXTRACE_HANDLER_ASYNC_BEGIN("in handler", 1);
		FLEXTRACE_HANDLER_ASYNC_END("in handler", 1);
		FLEXTRACE_HANDLER_COMPLETE(0, 0, 1, 0, "in handler");
		FLEXTRACE_HANDLER_DEVICE_OP(&op);
		close(-1);
	}
	errno = saved_errno;
	__atomic_add_fetch(&n_handled, 1, __ATOMIC_RELAXED);
}

static void allocate(void)
{
	void *volatile memory = malloc(100);

	free(memory);
}

static void *be_interrupted(void *is_ready)
{
	if (is_ready)
		flextrace_thread_init();
	wants_signals = 1;
	for (int i = 0; i < N_SIGNALS; i++)
		allocate();
	wants_signals = 0;
	return NULL;
}

static void run_raised(void *is_ready)
{
	pthread_t thread;

	be_interrupted(NULL); /* the thread that started the program is ready */
	if (pthread_create(&thread, NULL, be_interrupted, is_ready) || pthread_join(thread, NULL))
		abort();
}

static void *allocate_traced(void *unused)
{
	wants_records = 1;
	for (int i = 0; i < N_SIGNALS; i++)
		allocate();
	wants_records = 0;
	return unused;
}

static void run_traced(void)
{
	pthread_t thread;

	allocate_traced(NULL);
	if (pthread_create(&thread, NULL, allocate_traced, NULL) || pthread_join(thread, NULL))
		abort();
}

static timer_t start_timer(void)
{
	const struct itimerspec period = {{0, PERIOD_NS}, {0, 100000}};
	struct sigevent event;
	timer_t timer;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGUSR1;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &period, NULL))
		abort();
	return timer;
}

static void *allocate_for_ever(void *is_ready)
{
	timer_t timer;

	if (is_ready)
		flextrace_thread_init();
	timer = start_timer();
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		for (int i = 0; i < 100; i++)
			allocate();
	timer_delete(timer);
	return NULL;
}

static void run_timers(long tenths)
{
	static char yes;
	pthread_t threads[N_THREADS];
	struct timespec end, now;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += tenths / 10;
	end.tv_nsec += tenths % 10 * 100000000;
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, allocate_for_ever, i % 2 ? &yes : NULL))
			abort();
	do {
		allocate();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec ||
	         (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handle;
	sigaction(SIGUSR1, &action, NULL);
	if (!strcmp(way, "ready"))
		run_raised(&action);
	else if (!strcmp(way, "unready"))
		run_raised(NULL);
	else if (!strcmp(way, "traced"))
		run_traced();
	else if (!strcmp(way, "timers") && argc > 2)
		run_timers(strtol(argv[2], NULL, 10));
	else
		return 2;
	printf("%llu handled, %llu left out\n", (unsigned long long)n_handled,
	       (unsigned long long)flextrace_n_unrecorded());
	return 0;
}
