/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that has little: confined WAY
 *
 *	filter   a seccomp filter that allows write() and the end of the program, and no more
 *	stacks   threads whose stacks are as small as may be
 *	left     scopes that pthread_exit() and a cancellation leave, and one that longjmp() leaves
 *
 * Built with -fexceptions.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

#define N_RECORDS 20000
#define N_THREADS 20

#define ALLOW(number)                                      \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void confine(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write), ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

static int run_filter(void)
{
	FLEXTRACE_INSTANT("free");
	confine();
	for (int i = 0; i < N_RECORDS; i++)
		FLEXTRACE_INSTANT("confined");
	_exit(0);
}

static void *record(void *unused)
{
	for (int i = 0; i < 100; i++) {
		FLEXTRACE_SCOPE_ARGS("small", "%d %s", i, "of 100");
	}
	return unused;
}

static void run_thread(void *(*body)(void *), const pthread_attr_t *attributes, int is_cancelled)
{
	pthread_t thread;

	if (pthread_create(&thread, attributes, body, NULL) ||
	    (is_cancelled && pthread_cancel(thread)) || pthread_join(thread, NULL))
		abort();
}

static int run_stacks(void)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN))
		return 1;
	for (int i = 0; i < N_THREADS; i++)
		run_thread(record, &attributes, 0);
	return 0;
}

static void *end_inside(void *unused)
{
	FLEXTRACE_SCOPE("ended");
	pthread_exit(unused);
}

static void *wait_inside(void *unused)
{
	FLEXTRACE_SCOPE("cancelled");
	for (;;)
		pthread_testcancel();
	return unused;
}

static jmp_buf outside;

static void jump(void)
{
	FLEXTRACE_SCOPE("jumped");
	longjmp(outside, 1);
}

static int run_left(void)
{
	for (int i = 0; i < N_THREADS; i++) {
		run_thread(end_inside, NULL, 0);
		run_thread(wait_inside, NULL, 1);
	}
	if (!setjmp(outside))
		jump();
	return 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "filter"))
		return run_filter();
	if (!strcmp(way, "stacks"))
		return run_stacks();
	return strcmp(way, "left") ? 2 : run_left();
}
