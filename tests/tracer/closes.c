/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that closes all that it did not open, opens files and sockets of its own, and finds no
 * byte of somebody else's in them: closes WAY
 *
 *	closefrom, close_range, unshare   at once
 *	close                             number by number
 *	thread                            closefrom, in a thread that never recorded
 *	child                             closefrom, in the child of a fork, which records
 *	waits                             none: while a close() waits, another and a fork do not
 *
 * Records 20000 instants, says "ready" when it has, and looks when it is told to by a byte of
 * standard input.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

#define N_RECORDS 20000
#define N_FILES   200
#define N_SOCKETS 200

static FILE *files[N_FILES];
static int sockets[N_SOCKETS][2];

static void *close_from(void *unused)
{
	closefrom(3);
	return unused;
}

static void close_all(const char *way)
{
	pthread_t thread;

	if (!strcmp(way, "closefrom") || !strcmp(way, "child"))
		closefrom(3);
	else if (!strcmp(way, "close_range"))
		close_range(3, ~0u, 0);
	else if (!strcmp(way, "unshare"))
		close_range(3, ~0u, CLOSE_RANGE_UNSHARE);
	else if (!strcmp(way, "close"))
		for (int fd = 3; fd < 4096; fd++)
			close(fd);
	else if (pthread_create(&thread, NULL, close_from, NULL) || pthread_join(thread, NULL))
		abort();
}

static void open_own(void)
{
	for (int i = 0; i < N_FILES; i++) {
		files[i] = tmpfile();
		if (!files[i])
			abort();
	}
	for (int i = 0; i < N_SOCKETS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]))
			abort();
}

static int n_foreign(void)
{
	char byte;
	struct stat st;
	int n = 0;

	for (int i = 0; i < N_FILES; i++)
		n += fstat(fileno(files[i]), &st) || st.st_size != 0;
	for (int i = 0; i < N_SOCKETS; i++)
		for (int end = 0; end < 2; end++)
			n += recv(sockets[i][end], &byte, 1, MSG_DONTWAIT) >= 0;
	return n;
}

static int work(const char *way)
{
	char byte;
	int n;

	FLEXTRACE_INSTANT("before");
	close_all(way);
	open_own();
	for (int i = 0; i < N_RECORDS; i++)
		FLEXTRACE_INSTANT("record");
	if (write(STDOUT_FILENO, "ready\n", 6) != 6 || read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	n = n_foreign();
	if (n)
		fprintf(stderr, "%d files and sockets with what others wrote\n", n);
	return n != 0;
}

/* -- a close() that waits -- */

static char bytes[1 << 20];
static int closer; /* its thread */

static void *close_slowly(void *fd)
{
	FLEXTRACE_INSTANT("ready");
	flextrace_thread_init();
	__atomic_store_n(&closer, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	close(*(const int *)fd);
	return NULL;
}

/* One that waits until its peer has read all that is in between; returns the peer. */
static int connect_lingering(int *ret_fd)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct linger linger = {1, 100000};
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0), peer;
	socklen_t n = sizeof(address);

	if (bind(listener, (void *)&address, n) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &n) || connect(fd, (void *)&address, n))
		abort();
	peer = accept(listener, NULL, NULL);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	fcntl(fd, F_SETFL, 0);
	*ret_fd = fd;
	return peer;
}

/* Whether the thread that closes is in the kernel for that; -1: the kernel does not tell. */
static int is_closing(void)
{
	char path[64], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", closer);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return -1;
	syscall(SYS_close, fd);
	return text[0] >= '0' && text[0] <= '9' && strtol(text, NULL, 10) == SYS_close;
}

static int run_waits(void)
{
	pthread_t thread;
	int fd, peer = connect_lingering(&fd), is_there, status = 1;
	pid_t child;

	if (pthread_create(&thread, NULL, close_slowly, &fd))
		abort();
	while (!__atomic_load_n(&closer, __ATOMIC_ACQUIRE))
		;
	do
		is_there = is_closing();
	while (is_there == 0);
	if (close(dup(STDIN_FILENO)))
		return 1;
	child = fork();
	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	while (read(peer, bytes, sizeof(bytes)) > 0)
		;
	pthread_join(thread, NULL);
	if (is_there < 0)
		puts("note: the kernel does not tell that a thread waits");
	return status;
}

int main(int argc, char **argv)
{
	int status = 1;

	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "waits"))
		return run_waits();
	if (strcmp(argv[1], "child") != 0)
		return work(argv[1]);
	pid_t child = fork();
	if (child == 0)
		_exit(work(argv[1]));
	return child < 0 || waitpid(child, &status, 0) != child || status;
}
