/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose main thread ends before the others: ends [child]
 *
 * The main thread starts another one and ends by pthread_exit(). That one joins the main thread,
 * closes all descriptors from 3 on, and starts a third, which ends last. All three record "in
 * thread". At its exit the program prints "over". With `child` a child of fork does that.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

static pthread_t main_thread;
static int file;

static void say_over(void)
{
	puts("over");
}

static void *be_last(void *unused)
{
	FLEXTRACE_INSTANT("in thread");
	return unused;
}

static void *outlive(void *unused)
{
	pthread_t thread;

	if (pthread_join(main_thread, NULL) != 0)
		_exit(90);
	closefrom(3);
	if (fcntl(file, F_GETFD) >= 0)
		_exit(91);
	FLEXTRACE_INSTANT("in thread");
	if (pthread_create(&thread, NULL, be_last, NULL) != 0)
		_exit(92);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	pid_t child = argc > 1 && strcmp(argv[1], "child") == 0 ? fork() : 0;
	int status = 0;

	if (child)
		return waitpid(child, &status, 0) == child ? status != 0 : 93;
	main_thread = pthread_self();
	file = open("/dev/null", O_RDONLY);
	atexit(say_over);
	if (file < 3 || pthread_create(&thread, NULL, outlive, NULL) != 0)
		return 94;
	FLEXTRACE_INSTANT("in thread");
	pthread_exit(NULL);
}
