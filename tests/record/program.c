/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to be recorded: does what its arguments say, in their order.
 *
 *	scopes=N      N scopes of 1 ns and more
 *	steps=N       N steps, each with one scope "in step"
 *	names=N       names N queues "queue 0" ...
 *	windows=N     N windows, each with one scope "in window"
 *	say=TEXT      writes TEXT and a newline to stdout
 *	terminal      says "terminal" if stdin, stdout and the foreground are ours
 *	write=FILE    appends a byte to FILE (a pipe: tells who reads it that we are here)
 *	read=FILE     reads FILE to its end (a pipe: waits for who writes it)
 *	await         waits for SIGINT, SIGTERM or SIGUSR1 and says its number
 *	known         waits until LTTng records its definitions
 *	raise=N       dies of signal N
 *	exit=N        ends with code N
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

static void emit_scopes(int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		FLEXTRACE_SCOPE(name);
	}
}

static void make_steps(int n)
{
	for (int i = 0; i < n; i++) {
		FLEXTRACE_STEP(i);
		emit_scopes(1, "in step");
	}
}

static void name_queues(int n)
{
	char name[32];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "queue %d", i);
		FLEXTRACE_QUEUE_NAME(0, i, name);
	}
}

static void make_windows(int n)
{
	for (int i = 0; i < n; i++) {
		emit_scopes(1, "outside");
		flextrace_window_begin("measured");
		emit_scopes(1, "in window");
		flextrace_window_end("measured");
	}
}

static void say_terminal(void)
{
	int is_ours = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	              tcgetpgrp(STDIN_FILENO) == getpgrp();

	puts(is_ours ? "terminal" : "no terminal");
	fflush(stdout);
}

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);

	if (fd < 0 || write(fd, ".", 1) != 1)
		exit(99);
	close(fd);
}

static void drain(const char *path)
{
	int fd = open(path, O_RDONLY);
	char bytes[64];

	if (fd < 0)
		exit(99);
	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
}

static void await_signal(const sigset_t *awaited)
{
	int number = 0;

	sigwait(awaited, &number);
	printf("signal %d\n", number);
	fflush(stdout);
}

static void await_registration(void)
{
	while (!FLEXTRACE_ENABLED(process))
		sched_yield();
}

static void obey(const char *word, const sigset_t *awaited)
{
	const char *value = strchr(word, '=');
	int n = value ? atoi(value + 1) : 0;

	value = value ? value + 1 : "";
	if (strncmp(word, "scopes=", 7) == 0)
		emit_scopes(n, "work");
	else if (strncmp(word, "steps=", 6) == 0)
		make_steps(n);
	else if (strncmp(word, "names=", 6) == 0)
		name_queues(n);
	else if (strncmp(word, "windows=", 8) == 0)
		make_windows(n);
	else if (strncmp(word, "say=", 4) == 0)
		puts(value);
	else if (strcmp(word, "terminal") == 0)
		say_terminal();
	else if (strncmp(word, "write=", 6) == 0)
		touch(value);
	else if (strncmp(word, "read=", 5) == 0)
		drain(value);
	else if (strcmp(word, "await") == 0)
		await_signal(awaited);
	else if (strcmp(word, "known") == 0)
		await_registration();
	else if (strncmp(word, "raise=", 6) == 0)
		raise(n);
	else if (strncmp(word, "exit=", 5) == 0)
		exit(n);
	else
		exit(98);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	sigset_t awaited;

	sigemptyset(&awaited);
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "await") == 0) {
			sigaddset(&awaited, SIGINT);
			sigaddset(&awaited, SIGTERM);
			sigaddset(&awaited, SIGUSR1);
		}
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	for (int i = 1; i < argc; i++)
		obey(argv[i], &awaited);
	return 0;
}
