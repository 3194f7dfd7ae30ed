/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose forks meet the worst state: forks WAY [PLUGIN N]
 *
 *	loading   while another thread is inside dlopen(PLUGIN), which needs the FIFO N
 *	busy      N forks beside a thread that loads and unloads PLUGIN all the time
 *	exits     beside a thread that waits: children have threads, fork again, and call exit()
 *	alone     no other thread, but one that has ended
 *	raw       children of _Fork(), of clone() and of the system call
 *	no-files  no other thread, and no descriptor is free
 *	no-memory no other thread, and too little address space for LTTng's buffers
 *	unreachable  no other thread; the session daemon's socket, PLUGIN, is gone meanwhile
 *	namespace children in a pid namespace of their own, whose /proc is that of the parent
 *
 * Parent and children record "in parent" and "in child". Ends with 0 if all children ended with 0,
 * and prints how many of the children's records were left out, as they know it themselves.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

#define N_LOADING       20
#define N_LAST          5
#define BUFFERS_LACKING ((size_t)64 << 20)

static int go[2];
static int is_left; /* children are none of LTTng's processes */
static const char *plugin;
static uint64_t *n_unrecorded; /* of the children, in memory that they share */
static int is_over;

static void record_child(void)
{
	uint64_t before = flextrace_n_unrecorded();

	FLEXTRACE_INSTANT("in child");
	__atomic_add_fetch(n_unrecorded, flextrace_n_unrecorded() - before, __ATOMIC_RELAXED);
}

static int await(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	if (status)
		fprintf(stderr, "child: status %#x\n", (unsigned)status);
	return status != 0;
}

static void *load(void *unused)
{
	void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);

	(void)unused;
	if (handle)
		dlclose(handle);
	return handle;
}

/* Forks children one after the other, each of which records. */
static int fork_children(int n)
{
	int failed = 0;

	for (int i = 0; i < n; i++) {
		pid_t child = fork();
		if (child == 0) {
			record_child();
			_exit(0);
		}
		failed |= await(child);
	}
	return failed;
}

/*
 * The loader has begun to load the plug-in, and reads what the plug-in needs out of a FIFO that
 * says nothing, whenever this forks: its lists are half changed.
 */
static int run_loading(const char *fifo)
{
	int failed = 0;
	pthread_t thread;

	for (int i = 0; i < N_LOADING && !failed; i++) {
		if (pthread_create(&thread, NULL, load, NULL))
			return 1;
		int fd = open(fifo, O_WRONLY | O_CLOEXEC); /* as soon as the loader reads */
		FLEXTRACE_INSTANT("in parent");
		failed = fork_children(1);
		if (close(fd) || pthread_join(thread, NULL))
			return 1;
	}
	return failed;
}

static void make_pipe(int *pipes)
{
	if (pipe(pipes))
		abort();
}

static void *load_for_ever(void *unused)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		if (!load(unused))
			abort();
	return NULL;
}

static int run_busy(int n)
{
	pthread_t thread;
	int failed;

	if (pthread_create(&thread, NULL, load_for_ever, NULL))
		return 1;
	failed = fork_children(n);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	return pthread_join(thread, NULL) || failed;
}

static void *wait_for_go(void *unused)
{
	char byte;

	if (read(go[0], &byte, 1) != 1)
		abort();
	pthread_testcancel();
	return unused;
}

/* LTTng's daemon would take the parent to be alive. */
static int holds_sockets(void)
{
	struct stat st;

	for (int fd = 3; fd < 256; fd++)
		if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
			return 1;
	return 0;
}

/* More than the parent had: theirs were the identifiers of LTTng's threads. */
static pthread_t last_threads[N_LAST];

/* The C library flushes streams when all destructors have run: nobody has cancelled a thread. */
static ssize_t join_last_threads(void *cookie, const char *data, size_t n)
{
	void *result = cookie;

	(void)data;
	for (int i = 0; i < N_LAST; i++)
		if (write(go[1], "g", 1) != 1)
			_exit(6);
	for (int i = 0; i < N_LAST; i++)
		if (pthread_join(last_threads[i], &result) || result == PTHREAD_CANCELED)
			_exit(7);
	return (ssize_t)n;
}

/* A child that forks, has threads of its own and ends by exit(): destructors run. */
static void live_in_child(void)
{
	pthread_t thread;
	char byte = 'g';
	pid_t grandchild;

	record_child();
	if (is_left && holds_sockets())
		exit(4);
	if (pthread_create(&thread, NULL, wait_for_go, NULL))
		exit(1);
	grandchild = fork();
	if (grandchild == 0) {
		record_child();
		exit(0);
	}
	if (await(grandchild) || write(go[1], &byte, 1) != 1 || pthread_join(thread, NULL))
		exit(2);
	grandchild = fork(); /* alone now, but what it has of LTTng is its parent's */
	if (grandchild == 0) {
		record_child();
		exit(0);
	}
	for (int i = 0; i < N_LAST; i++)
		if (pthread_create(&last_threads[i], NULL, wait_for_go, NULL))
			exit(3);
	if (await(grandchild))
		exit(5);
	if (fputc('x',
	          fopencookie(NULL, "w", (cookie_io_functions_t){.write = join_last_threads})) < 0)
		exit(4);
	exit(0);
}

static int run_exits(void)
{
	pthread_t thread;
	sigset_t before, after;
	char byte = 'g';
	int failed = 0;

	make_pipe(go);
	if (pthread_create(&thread, NULL, wait_for_go, NULL))
		return 1;
	for (int i = 0; i < N_LOADING; i++) {
		pthread_sigmask(SIG_SETMASK, NULL, &before);
		pid_t child = fork();
		pthread_sigmask(SIG_SETMASK, NULL, &after);
		for (int number = 1; number < 32; number++)
			if (sigismember(&before, number) != sigismember(&after, number))
				_exit(9);
		if (child == 0) {
			close(go[1]);
			close(go[0]);
			make_pipe(go);
			live_in_child();
		}
		failed |= await(child);
	}
	FLEXTRACE_INSTANT("in parent");
	return write(go[1], &byte, 1) != 1 || pthread_join(thread, NULL) || failed;
}

static void *end_at_once(void *unused)
{
	return unused;
}

static int run_alone(void)
{
	int failed = 0;
	pthread_t thread;

	for (int i = 0; i < N_LOADING; i++) {
		if (pthread_create(&thread, NULL, end_at_once, NULL) || pthread_join(thread, NULL))
			return 1;
		failed |= fork_children(1); /* the kernel may still be busy with the thread */
	}
	FLEXTRACE_INSTANT("in parent");
	return failed;
}

static int be_clone(void *unused)
{
	(void)unused;
	record_child();
	return 0;
}

static int run_without_files(void)
{
	const struct rlimit none = {3, 3};

	FLEXTRACE_INSTANT("in parent");
	return setrlimit(RLIMIT_NOFILE, &none) || fork_children(N_LOADING);
}

/* The child lets go of its parent's buffers, and finds no room for its own. */
static int run_without_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	struct rlimit limit;
	size_t n_pages;

	if (!file || fscanf(file, "%zu", &n_pages) != 1 || getrlimit(RLIMIT_AS, &limit))
		return 1;
	fclose(file);
	FLEXTRACE_INSTANT("in parent");
	limit.rlim_cur = n_pages * (size_t)sysconf(_SC_PAGESIZE) - BUFFERS_LACKING;
	return setrlimit(RLIMIT_AS, &limit) || fork_children(N_LOADING);
}

static int run_unreachable(const char *socket)
{
	char hidden[512];
	int failed;

	FLEXTRACE_INSTANT("in parent");
	snprintf(hidden, sizeof(hidden), "%s.hidden", socket);
	if (rename(socket, hidden))
		return 1;
	failed = fork_children(N_LOADING);
	return rename(hidden, socket) || failed;
}

/* The first child is the namespace's init: without it there are no others. */
static int run_namespace(void)
{
	pid_t child;

	FLEXTRACE_INSTANT("in parent");
	if (unshare(CLONE_NEWPID))
		return 1;
	child = fork();
	if (child == 0) {
		record_child();
		_exit(fork_children(N_LAST));
	}
	return await(child);
}

static pid_t fork_raw(int way)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	if (way == 0)
		return _Fork();
	if (way == 1)
		return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	return clone(be_clone, stack + sizeof(stack), SIGCHLD, NULL);
}

static int run_raw(void)
{
	int failed = 0;

	FLEXTRACE_INSTANT("in parent");
	for (int i = 0; i < 30; i++) {
		pid_t child = fork_raw(i % 3);
		if (child == 0) {
			record_child();
			_exit(0);
		}
		failed |= await(child);
	}
	FLEXTRACE_INSTANT("in parent");
	return failed;
}

static int run(const char *way, const char *argument)
{
	if (!strcmp(way, "loading"))
		return run_loading(argument);
	if (!strcmp(way, "busy"))
		return run_busy(atoi(argument));
	if (!strcmp(way, "exits"))
		return run_exits();
	if (!strcmp(way, "alone"))
		return run_alone();
	if (!strcmp(way, "raw"))
		return run_raw();
	if (!strcmp(way, "no-files"))
		return run_without_files();
	if (!strcmp(way, "no-memory"))
		return run_without_memory();
	if (!strcmp(way, "unreachable"))
		return run_unreachable(plugin);
	if (!strcmp(way, "namespace"))
		return run_namespace();
	return 2;
}

int main(int argc, char **argv)
{
	int status;

	n_unrecorded = mmap(NULL, sizeof(*n_unrecorded), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || n_unrecorded == MAP_FAILED)
		return 2;
	is_left = !getenv("FLEXTRACE_FORK");
	plugin = argc > 2 ? argv[2] : "";
	status = run(argv[1], argc > 3 ? argv[3] : "0");
	printf("%llu left out\n", (unsigned long long)*n_unrecorded);
	return status;
}
