/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that comes to grief while it is recorded: victim WAY
 *
 *	kill, crash  5 scopes, then in an open phase and an open scope SIGKILL or a bad address
 *	fork         2 scopes, 3 children with 2 scopes each
 *	exec         2 scopes, then another program in the same process: `victim fork`
 *	exit         a thread calls exit(7) while the main thread is in its 4th scope
 *	threads      5000 threads, 50 at a time, with one scope each
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

#define N_THREADS 5000
#define N_ALIVE   50

static void work(int n)
{
	for (int i = 0; i < n; i++) {
		FLEXTRACE_SCOPE("work");
	}
}

static void die(int number)
{
	work(5);
	FLEXTRACE_BEGIN(FLEXTRACE_RUNTIME_USER, "phase", 0);
	FLEXTRACE_SCOPE("last");
	signal(SIGSEGV, SIG_DFL); /* a sanitizer would exit */
	if (number == SIGSEGV)
		*(volatile int *)8 = 1; /* NOLINT */
	raise(number);
}

static void breed(void)
{
	work(2);
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			work(2);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void *leave(void *unused)
{
	(void)unused;
	work(1);
	exit(7);
}

static void end_from_a_thread(void)
{
	pthread_t thread;

	work(3);
	FLEXTRACE_SCOPE("waits");
	if (pthread_create(&thread, NULL, leave, NULL) == 0)
		pthread_join(thread, NULL);
}

static void *be_short(void *unused)
{
	(void)unused;
	work(1);
	return NULL;
}

static void make_threads(void)
{
	pthread_t threads[N_ALIVE];

	for (int i = 0; i < N_THREADS; i += N_ALIVE) {
		for (int j = 0; j < N_ALIVE; j++)
			if (pthread_create(&threads[j], NULL, be_short, NULL) != 0)
				exit(99);
		for (int j = 0; j < N_ALIVE; j++)
			pthread_join(threads[j], NULL);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (strcmp(way, "kill") == 0)
		die(SIGKILL);
	else if (strcmp(way, "crash") == 0)
		die(SIGSEGV);
	else if (strcmp(way, "fork") == 0)
		breed();
	else if (strcmp(way, "exec") == 0) {
		work(2);
		execl(argv[0], argv[0], "fork", (char *)NULL);
	} else if (strcmp(way, "exit") == 0)
		end_from_a_thread();
	else if (strcmp(way, "threads") == 0)
		make_threads();
	else
		return 98;
	return 0;
}
