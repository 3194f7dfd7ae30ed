/* SPDX-License-Identifier: Apache-2.0 */
/*
 * full_rate COUNTS RECORDS HOW [FILE]: two threads record counters "a" and "b", each 0, 1, 2..., as
 * fast as they can, and count them in the file COUNTS, which outlives them. When they have recorded
 * RECORDS in all, and each of them a hundredth of these, the program ends as HOW says:
 *
 *	kill, segv, abort, exec, _exit   while they go on recording
 *	pinned-HOW                       the same, each thread on a processor of its own
 *	return                           when they have ended
 *	no-files                         the same, and can open no file any more
 *	hole-HOW, hole-stop, hole-exit   when they have ended, in the middle of one more, a batch of
 *	                                 markers: LTTng has reserved its place, and it is never
 *	                                 committed
 *	stop                             stops itself (SIGSTOP), and returns when it goes on
 *	wait                             appends a byte to FILE (a pipe: tells who reads it that we
 *	                                 are here), and goes on recording until it is killed
 *
 * `full_rate COUNTS` prints how many were begun and done, and how many records a second of its
 * processor time the slower thread had made (0: nobody looked); then how many each thread has done.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

#define N_THREADS 2
#define SHARE     100

struct counts {
	struct {
		_Alignas(64) atomic_uint_fast64_t begun, done;
		atomic_uint_fast64_t rate;
	} of[N_THREADS];
};

static struct counts *counts;
static atomic_bool is_over;
static uint64_t n_each = UINT64_MAX;
static const char *how;
static uint64_t hole_words[200];
static atomic_bool makes_hole;

static struct counts *open_counts(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *map;

	if (fd < 0 || ftruncate(fd, sizeof(struct counts)) != 0)
		exit(99);
	map = mmap(NULL, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		exit(99);
	close(fd);
	return map;
}

/* As a program without sanitizers dies. */
static void raise_fault(void)
{
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void end_as(const char *way)
{
	if (strcmp(way, "kill") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(way, "segv") == 0)
		raise_fault();
	else if (strcmp(way, "abort") == 0)
		abort();
	else if (strcmp(way, "exec") == 0)
		execl("/bin/true", "true", (char *)NULL);
	else if (strcmp(way, "_exit") == 0)
		_exit(0);
	else if (strcmp(way, "exit") == 0)
		exit(0);
	else if (strcmp(way, "stop") == 0)
		kill(getpid(), SIGSTOP);
	else if (strcmp(way, "no-files") == 0)
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
}

/* LTTng copies the words of a batch by this function, behind the reservation, before the commit. */
__attribute__((visibility("default"))) void *memcpy(void *restrict to, const void *restrict from,
                                                    size_t n)
{
	volatile unsigned char *out = to;
	const volatile unsigned char *in = from;

	if (from == hole_words && atomic_load(&makes_hole))
		end_as(how + strlen("hole-"));
	for (size_t i = 0; i < n; i++)
		out[i] = in[i];
	return to;
}

static void emit_hole(void)
{
	struct flextrace_marker_batch batch = {.n_words = 200, .words = hole_words};

	atomic_store(&makes_hole, true);
	flextrace_emit_marker_batch(&batch);
}

static void *emit(void *data)
{
	size_t own = (size_t)(uintptr_t)data;
	const char *name = own ? "b" : "a";
	uint64_t n = 0;

	while (n < n_each && !atomic_load_explicit(&is_over, memory_order_relaxed)) {
		atomic_store_explicit(&counts->of[own].begun, n + 1, memory_order_relaxed);
		FLEXTRACE_COUNTER(name, (double)n);
		atomic_store_explicit(&counts->of[own].done, ++n, memory_order_relaxed);
	}
	return NULL;
}

static uint64_t sum(bool is_done)
{
	uint64_t n = 0;

	for (size_t i = 0; i < N_THREADS; i++)
		n += is_done ? counts->of[i].done : counts->of[i].begun;
	return n;
}

/* Of the thread that has done least. */
static uint64_t least(void)
{
	uint64_t n = UINT64_MAX;

	for (size_t i = 0; i < N_THREADS; i++)
		n = counts->of[i].done < n ? counts->of[i].done : n;
	return n;
}

static int report(void)
{
	uint64_t rate = UINT64_MAX;

	for (size_t i = 0; i < N_THREADS; i++)
		rate = counts->of[i].rate < rate ? counts->of[i].rate : rate;
	printf("%llu %llu %llu %llu %llu\n", (unsigned long long)sum(false),
	       (unsigned long long)sum(true), (unsigned long long)rate,
	       (unsigned long long)counts->of[0].done, (unsigned long long)counts->of[1].done);
	return 0;
}

/* By the time that it ran: others may have the processors, too. */
static void measure(const pthread_t *threads)
{
	for (size_t i = 0; i < N_THREADS; i++) {
		struct timespec ran;
		clockid_t clock;

		if (pthread_getcpuclockid(threads[i], &clock) != 0 ||
		    clock_gettime(clock, &ran) != 0)
			exit(99);
		counts->of[i].rate = (uint64_t)((double)counts->of[i].done /
		                                ((double)ran.tv_sec + (double)ran.tv_nsec / 1e9));
	}
}

static void tell(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	if (fd < 0 || write(fd, ".", 1) != 1)
		exit(99);
	for (;;)
		pause();
}

/* One thread after the other: only the one that makes the hole is in the middle of a record. */
static void run_hole(uint64_t n_records)
{
	pthread_t thread;

	n_each = n_records / N_THREADS;
	for (size_t i = 0; i < N_THREADS; i++) {
		pthread_create(&thread, NULL, emit, (void *)(uintptr_t)i);
		pthread_join(thread, NULL);
	}
	emit_hole();
}

/* Before it runs: what it records elsewhere is overwritten there by the other one. */
static void pin(pthread_attr_t *attributes, size_t own)
{
	cpu_set_t allowed, one;
	size_t n = 0;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		exit(99);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && n++ == own)
			CPU_SET(cpu, &one);
	if (pthread_attr_setaffinity_np(attributes, sizeof(one), &one) != 0)
		exit(99);
}

static pthread_t start(size_t own, bool is_pinned)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (is_pinned)
		pin(&attributes, own);
	if (pthread_create(&thread, &attributes, emit, (void *)(uintptr_t)own) != 0)
		exit(99);
	pthread_attr_destroy(&attributes);
	return thread;
}

static void run(uint64_t n_records, const char *path)
{
	bool is_pinned = strncmp(how, "pinned-", 7) == 0;
	pthread_t threads[N_THREADS];

	for (size_t i = 0; i < N_THREADS; i++)
		threads[i] = start(i, is_pinned);
	how += is_pinned ? 7 : 0;
	while (sum(true) < n_records || least() < n_records / SHARE)
		usleep(100); /* the processors are the threads' */
	measure(threads);
	if (strcmp(how, "wait") == 0)
		tell(path);
	end_as(how);
	atomic_store(&is_over, true);
	for (size_t i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 98;
	counts = open_counts(argv[1]);
	if (argc < 4)
		return report();
	how = argv[3];
	if (strncmp(how, "hole-", 5) == 0)
		run_hole(strtoull(argv[2], NULL, 10));
	else
		run(strtoull(argv[2], NULL, 10), argv[4]);
	return 0;
}
