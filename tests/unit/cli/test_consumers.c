/* SPDX-License-Identifier: Apache-2.0 */
/* Started as `lttng-consumerd`, this program stands for one: it says that it runs and waits to be
 * killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/recording/lttng/consumers.h"
#include "cli/process/process.h"
#include "scratch.h"

#define SOCKET "ustconsumerd64/command"

/* Starts this program under `name` with the socket in `run_dir`, and waits until it runs. */
static pid_t start(const char *scratch, const char *name, const char *run_dir)
{
	char path[PATH_MAX], socket[PATH_MAX], said;
	int to_us[2];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	snprintf(socket, sizeof(socket), "%s/" SOCKET, run_dir);
	if (access(path, F_OK) != 0) {
		char self[PATH_MAX] = "";

		assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
		assert_int_equal(symlink(self, path), 0);
	}
	assert_int_equal(pipe(to_us), 0);
	pid = fork();
	if (pid == 0) {
		dup2(to_us[1], STDOUT_FILENO);
		execl(path, name, "-u", "--consumerd-cmd-sock", socket, "--group", "tracing",
		      (char *)NULL);
		_exit(127);
	}
	close(to_us[1]);
	assert_int_equal(read(to_us[0], &said, 1), 1);
	close(to_us[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int setup(void **state)
{
	char path[PATH_MAX];

	*state = scratch_dir();
	snprintf(path, sizeof(path), "%s/run", (char *)*state);
	return mkdir(path, 0700);
}

static int teardown(void **state)
{
	scratch_remove(*state);
	return 0;
}

static int find(const char *scratch, const char *run_dir, pid_t *ret_pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", scratch, run_dir);
	return consumers_find(path, ret_pid);
}

static void test_consumers__are_found_by_their_directory_and_awaited(void **state)
{
	char alias[PATH_MAX];
	pid_t pid, found = 0;
	int pidfd;

	snprintf(alias, sizeof(alias), "%s/./run/../run", (char *)*state);
	assert_int_equal(find(*state, "run", &found), -1);
	pid = start(*state, "lttng-consumerd", alias);
	pidfd = find(*state, "run", &found);
	assert_true(pidfd >= 0);
	assert_int_equal(found, pid);
	assert_false(process_await_end(pidfd, 0));
	kill(pid, SIGKILL);
	assert_true(process_await_end(pidfd, 30000));
	close(pidfd);
	/* Dead and not yet waited for: it does nothing any more. */
	assert_int_equal(find(*state, "run", &found), -1);
	waitpid(pid, NULL, 0);
}

static void test_consumers__of_other_directories_and_other_programs_are_not(void **state)
{
	pid_t elsewhere = start(*state, "lttng-consumerd", *state);
	char run_dir[PATH_MAX];
	pid_t other, found = 0;

	snprintf(run_dir, sizeof(run_dir), "%s/run", (char *)*state);
	other = start(*state, "lttng-relayd", run_dir);
	assert_int_equal(find(*state, "run", &found), -1);
	assert_int_equal(find(*state, "missing", &found), -1);
	end(elsewhere);
	end(other);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_consumers__are_found_by_their_directory_and_awaited, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_consumers__of_other_directories_and_other_programs_are_not, setup,
			teardown),
	};

	if (argc > 1 && strcmp(argv[1], "-u") == 0) {
		puts("");
		fflush(stdout);
		pause();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
