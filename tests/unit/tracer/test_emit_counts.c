/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of what a process emits, read from their file as a recorder would: of many threads, over
 * forks, kills and signal handlers, and where no file can be made.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "provider/emit_counts.h"

#define START_NS UINT64_C(1234567890123)

static char root[] = "/tmp/flextrace-emit-XXXXXX";

/* Sums up the counts of an event in the file of a process; -1: there is none. */
static int64_t read_count(pid_t pid, uint64_t start_ns, unsigned int event)
{
	const struct emit_slot *slots;
	const struct emit_file_head *head;
	char path[256];
	int64_t sum = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/" EMIT_FILE_DIR "/" EMIT_FILE_NAME, root,
	         (unsigned int)geteuid(), (unsigned int)pid, (unsigned long long)start_ns);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	head = mmap(NULL, EMIT_FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	assert_ptr_not_equal(head, MAP_FAILED);
	assert_memory_equal(head->magic, EMIT_FILE_MAGIC, sizeof(head->magic));
	assert_int_equal(head->pid, pid);
	assert_int_equal(head->start_ns, start_ns);
	slots = (const void *)((const char *)head + EMIT_FILE_PAGE);
	for (unsigned int i = 0; i < EMIT_FILE_SLOTS; i++)
		sum += (int64_t)slots[i].n[event];
	munmap((void *)(uintptr_t)head, EMIT_FILE_BYTES);
	return sum;
}

static void empty_root(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s/*", root);
	assert_int_equal(system(command), 0);
}

/* Runs a function in a process of its own; returns its pid and how it ended. */
static pid_t run(void (*body)(void), int *ret_status)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, ret_status, 0), pid);
	return pid;
}

static void add(unsigned int event, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		emit_counts_add(event);
}

/* -- threads -- */

#define N_THREADS 1300 /* more than there are slots */
#define N_EACH    1000

static void *emit_some(void *arg)
{
	add((unsigned int)(uintptr_t)arg % EMIT_FILE_CLASSES, N_EACH);
	return NULL;
}

static void emit_in_threads(void)
{
	pthread_t threads[100];

	emit_counts_open(root, START_NS);
	for (int round = 0; round < N_THREADS / 100; round++) {
		for (uintptr_t i = 0; i < 100; i++)
			if (pthread_create(&threads[i], NULL, emit_some, (void *)i))
				_exit(1);
		for (int i = 0; i < 100; i++)
			pthread_join(threads[i], NULL);
	}
}

static void test_emit_counts__adds_up_more_threads_than_slots(void **state)
{
	int status;
	pid_t pid = run(emit_in_threads, &status);

	(void)state;
	assert_int_equal(status, 0);
	for (unsigned int event = 0; event < EMIT_FILE_CLASSES; event++)
		assert_int_equal(read_count(pid, START_NS, event),
		                 (100 / EMIT_FILE_CLASSES + (event < 100 % EMIT_FILE_CLASSES)) *
		                         N_EACH * (N_THREADS / 100));
	empty_root();
}

/* -- how processes end -- */

static void emit_and_die(void)
{
	emit_counts_open(root, START_NS);
	add(6, 123456);
	raise(SIGKILL);
}

static void emit_nothing(void)
{
	emit_counts_open(root, START_NS);
	emit_counts_close();
}

static void emit_and_close(void)
{
	emit_counts_open(root, START_NS);
	add(6, 1);
	emit_counts_close();
}

static void test_emit_counts__outlive_a_killed_process(void **state)
{
	int status;
	pid_t pid = run(emit_and_die, &status);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(read_count(pid, START_NS, 6), 123456);
	empty_root();
}

static void emit_with_umask(void)
{
	umask(0777);
	emit_counts_open(root, START_NS);
	add(4, 1);
}

static unsigned int mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

/* Else no later process of this user could make a file, and nobody but root read this one. */
static void test_emit_counts__can_be_read_whatever_the_umask_is(void **state)
{
	char dir[128], path[256];
	pid_t pid;
	int status;

	(void)state;
	empty_root();
	pid = run(emit_with_umask, &status);
	assert_int_equal(status, 0);
	snprintf(dir, sizeof(dir), "%s/" EMIT_FILE_DIR, root, (unsigned int)geteuid());
	snprintf(path, sizeof(path), "%s/" EMIT_FILE_NAME, dir, (unsigned int)pid,
	         (unsigned long long)START_NS);
	assert_int_equal(mode_of(dir), 0700);
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(read_count(pid, START_NS, 4), 1);
}

static void test_emit_counts__leave_no_file_of_nothing(void **state)
{
	int status;
	pid_t pid = run(emit_nothing, &status);

	(void)state;
	assert_int_equal(status, 0);
	assert_int_equal(read_count(pid, START_NS, 6), -1);
	pid = run(emit_and_close, &status);
	assert_int_equal(read_count(pid, START_NS, 6), 1);
	empty_root();
}

/* -- forks -- */

static void fork_while_emitting(void)
{
	pid_t child;
	int status;

	emit_counts_open(root, START_NS);
	add(7, 10);
	child = fork();
	if (child == 0) {
		emit_counts_open(root, START_NS + 1);
		add(7, 3);
		_exit(read_count(getpid(), START_NS + 1, 7) != 3);
	}
	waitpid(child, &status, 0);
	add(7, 5);
	_exit(status != 0 || read_count(getpid(), START_NS, 7) != 15);
}

static void test_emit_counts__of_a_child_are_its_own(void **state)
{
	int status;

	(void)state;
	run(fork_while_emitting, &status);
	assert_int_equal(status, 0);
	empty_root();
}

static const struct emit_file_head *map_own_head(void)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/" EMIT_FILE_DIR "/" EMIT_FILE_NAME, root,
	         (unsigned int)geteuid(), (unsigned int)getpid(), (unsigned long long)START_NS);
	fd = open(path, O_RDONLY);
	return mmap(NULL, EMIT_FILE_PAGE, PROT_READ, MAP_SHARED, fd, 0);
}

/* The child can open no file, and neither can it when it tries again. */
static void fork_without_files(void)
{
	const struct emit_file_head *head;
	pid_t child;
	int status;

	emit_counts_open(root, START_NS);
	add(7, 10);
	head = map_own_head();
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 2; i++) {
			emit_counts_open("/dev/null", START_NS + 1);
			add(7, 3); /* of what is recorded, its own */
			emit_counts_add_late(7);
			emit_counts_add_unrecorded();
			emit_counts_add_unrecorded();
		}
		_exit(0);
	}
	waitpid(child, &status, 0);
	_exit(status != 0 || head->late[7] != 2 || head->n_unrecorded != 4 ||
	      read_count(getpid(), START_NS, 7) != 10);
}

static void test_emit_counts__of_a_child_without_a_file_are_told_by_its_parent(void **state)
{
	int status;

	(void)state;
	run(fork_without_files, &status);
	assert_int_equal(status, 0);
	empty_root();
}

/* -- signal handlers -- */

#define N_SIGNALS 200

static volatile sig_atomic_t n_handled;

static void emit_in_handler(int number)
{
	(void)number;
	emit_counts_add(8);
	n_handled++;
}

/* As long as handlers have not come often enough, records are emitted for them to interrupt. */
static void be_interrupted(void)
{
	const struct itimerval period = {{0, 50}, {0, 50}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	uint64_t n = 0;

	emit_counts_open(root, START_NS);
	signal(SIGALRM, emit_in_handler);
	setitimer(ITIMER_REAL, &period, NULL);
	while (n_handled < N_SIGNALS) {
		add(8, 100);
		n += 100;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	_exit(read_count(getpid(), START_NS, 8) != (int64_t)n + n_handled);
}

static void test_emit_counts__lose_nothing_to_handlers(void **state)
{
	int status;

	(void)state;
	run(be_interrupted, &status);
	assert_int_equal(status, 0);
	empty_root();
}

/* -- no file -- */

static void emit_without_room_for_files(void)
{
	const struct rlimit none = {4096, 4096};

	setrlimit(RLIMIT_FSIZE, &none);
	emit_counts_open(root, START_NS);
	add(9, 10);
	emit_counts_close();
}

static void test_emit_counts__do_without_a_file(void **state)
{
	char dir[300];
	int status;
	pid_t pid = run(emit_without_room_for_files, &status);

	(void)state;
	assert_int_equal(status, 0);
	assert_int_equal(read_count(pid, START_NS, 9), -1);
	snprintf(dir, sizeof(dir), "%s/" EMIT_FILE_DIR, root, (unsigned int)geteuid());
	rmdir(dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(chmod(dir, 0777), 0); /* anybody's */
	pid = run(emit_and_close, &status);
	assert_int_equal(status, 0);
	assert_int_equal(read_count(pid, START_NS, 6), -1);
	rmdir(dir);
	assert_int_equal(symlink("/tmp", dir), 0);
	pid = run(emit_and_close, &status);
	assert_int_equal(status, 0);
	assert_int_equal(read_count(pid, START_NS, 6), -1);
	empty_root();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emit_counts__adds_up_more_threads_than_slots),
		cmocka_unit_test(test_emit_counts__outlive_a_killed_process),
		cmocka_unit_test(test_emit_counts__can_be_read_whatever_the_umask_is),
		cmocka_unit_test(test_emit_counts__leave_no_file_of_nothing),
		cmocka_unit_test(test_emit_counts__of_a_child_are_its_own),
		cmocka_unit_test(
			test_emit_counts__of_a_child_without_a_file_are_told_by_its_parent),
		cmocka_unit_test(test_emit_counts__lose_nothing_to_handlers),
		cmocka_unit_test(test_emit_counts__do_without_a_file),
	};
	int code;

	if (!mkdtemp(root))
		return 1;
	code = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(root);
	return code;
}
