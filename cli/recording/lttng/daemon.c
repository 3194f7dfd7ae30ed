/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon.h"

#include <lttng/lttng.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring/buffers.h"
#include "terminal/cli.h"
#include "consumers.h"
#include "base/paths.h"
#include "process/patience.h"
#include "process/process.h"
#include "recording/lttng/rlimits.h"
#include "session.h"
#include "watch.h"

#define SHM_BYTES      65536 /* of room left: less is none */
#define START_LIMIT_S  30
#define LIST_LIMIT_S   10
#define STOP_LIMIT_S   10
#define ORPHAN_LIMIT_S 30
#define POLL_NS        100000000

/* How we start it; nobody else does it like this. */
#define OUR_OPTION_1 "--no-kernel"
#define OUR_OPTION_2 "--sig-parent"

bool daemon_is_alive(void)
{
	int is_alive;

	WATCH_FOR(LIST_LIMIT_S, is_alive, lttng_session_daemon_alive());
	return is_alive == 1;
}

bool daemon_lock(int *ret_lock)
{
	struct patience patience = {.what = "another flextrace, which begins or ends a recording",
	                            .limit_s = PATIENCE_LOCK_S};
	char run_dir[PATH_MAX];
	bool is_locked = true;

	consumers_name_run_dir(run_dir);
	mkdir(run_dir, geteuid() == 0 ? 0755 : 0700); /* as LTTng does */
	*ret_lock = open(path_of(run_dir, "flextrace.lock").text,
	                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*ret_lock >= 0)
		is_locked = patience_flock(&patience, *ret_lock) || errno != ETIMEDOUT;
	if (!is_locked) {
		close(*ret_lock);
		*ret_lock = -1;
	}
	return is_locked;
}

void daemon_unlock(int lock)
{
	if (lock < 0)
		return;
	flock(lock, LOCK_UN); /* a child may have a copy of the descriptor */
	close(lock);
}

_Noreturn static void exec_daemon(void)
{
	process_stand_alone(3);
	rlimits_raise_files();
	execlp("lttng-sessiond", "lttng-sessiond", OUR_OPTION_1, OUR_OPTION_2, (char *)NULL);
	_exit(errno == ENOENT ? 127 : 126);
}

bool daemon_has_place(char ret_run_dir[PATH_MAX])
{
	char parent[PATH_MAX];
	char *slash;

	consumers_name_run_dir(ret_run_dir);
	if (access(ret_run_dir, F_OK) == 0)
		return access(ret_run_dir, W_OK | X_OK) == 0;
	snprintf(parent, sizeof(parent), "%s", ret_run_dir);
	slash = strrchr(parent, '/');
	if (slash)
		*slash = '\0';
	return slash && access(slash == parent ? "/" : parent, W_OK | X_OK) == 0;
}

bool daemon_lacks_group(void)
{
	const struct group *tracing = geteuid() == 0 ? getgrnam("tracing") : NULL;
	unsigned long inside, outside, n;
	FILE *file = tracing ? fopen("/proc/self/gid_map", "re") : NULL;
	bool lacks = file != NULL;

	while (file && lacks && fscanf(file, "%lu %lu %lu", &inside, &outside, &n) == 3)
		lacks = tracing->gr_gid < inside || tracing->gr_gid - inside >= n;
	if (file)
		fclose(file);
	return lacks;
}

static int start_failed(int status, struct flextrace_error *error)
{
	char run_dir[PATH_MAX], limits[RLIMITS_TEXT];
	uint64_t n_free;

	/* Another recording was faster. */
	if (daemon_is_alive())
		return FLEXTRACE_OK;
	if (buffers_free_bytes("/dev/shm", &n_free, NULL) == FLEXTRACE_OK && n_free < SHM_BYTES)
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "lttng-sessiond cannot start: /dev/shm is full; make room or "
		                 "enlarge it (docker run --shm-size)");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "Cannot find lttng-sessiond; install the package lttng-tools");
	if (daemon_lacks_group())
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "lttng-sessiond cannot start: you are root of a user namespace "
		                 "that does not have the group `tracing`; record outside of it, or "
		                 "as another user than root (unshare -U without -r)");
	if (!daemon_has_place(run_dir) && !run_dir[0])
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "lttng-sessiond cannot start: you have no home directory; set "
		                 "LTTNG_HOME to a directory that can be written, for the programs "
		                 "as well");
	if (!daemon_has_place(run_dir))
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "lttng-sessiond cannot start: it cannot write its directory; set "
		                 "LTTNG_HOME to one that is there and can be written, for the "
		                 "programs as well: path=%s",
		                 run_dir);
	return error_set(error, FLEXTRACE_E_SYSTEM,
	                 "lttng-sessiond ended while it started (try `lttng-sessiond --verbose` to "
	                 "see why): status=%d%s",
	                 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
	                 rlimits_describe(limits));
}

/* Waits for SIGUSR1, which the daemon sends when it is ready, or for its end. */
static int wait_until_ready(pid_t pid, const sigset_t *awaited, struct session_daemon *ret_daemon,
                            struct flextrace_error *error)
{
	struct patience patience = {.what = "lttng-sessiond to get ready",
	                            .limit_s = START_LIMIT_S};
	const struct timespec pause = {.tv_nsec = POLL_NS};
	int status;

	for (;;) {
		int number = sigtimedwait(awaited, NULL, &pause);

		if (waitpid(pid, &status, WNOHANG) == pid)
			return start_failed(status, error);
		if (number == SIGUSR1 && daemon_is_alive())
			break;
		if (!patience_lasts(&patience, -1)) {
			kill(pid, SIGKILL); /* it may be stopped */
			waitpid(pid, &status, 0);
			return error_set(error, FLEXTRACE_E_SYSTEM,
			                 "lttng-sessiond does not get ready");
		}
	}
	*ret_daemon = (struct session_daemon){pid, process_start_ticks(pid)};
	return FLEXTRACE_OK;
}

int daemon_await_orphans(struct flextrace_error *error)
{
	struct patience patience = {.what = "that lttng-consumerd", .limit_s = ORPHAN_LIMIT_S};
	bool is_gone = true;
	pid_t pid;
	int pidfd;

	while (is_gone && (pidfd = consumers_find_own(&pid)) >= 0) {
		/* In this order: a consumer without a daemon now has lost its own. */
		if (daemon_is_alive()) {
			close(pidfd);
			break;
		}
		cli_note("waiting for the lttng-consumerd of a session daemon that died: pid=%ld",
		         (long)pid);
		is_gone = patience_await_end(&patience, pidfd);
		close(pidfd);
	}
	if (!is_gone)
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "The lttng-consumerd of a session daemon that died does not end, "
		                 "end it with `kill -KILL %ld`",
		                 (long)pid);
	return FLEXTRACE_OK;
}

int daemon_ensure(struct session_daemon *ret_daemon, struct flextrace_error *error)
{
	sigset_t awaited, before;
	pid_t pid;
	int code;

	*ret_daemon = (struct session_daemon){0};
	if (daemon_is_alive())
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(daemon_await_orphans(error));
	if (daemon_is_alive())
		return FLEXTRACE_OK;
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGUSR1);
	sigaddset(&awaited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &awaited, &before);
	pid = fork();
	if (pid == 0)
		exec_daemon();
	code = pid < 0 ? error_set(error, FLEXTRACE_E_SYSTEM, "Cannot fork: reason=%s",
	                           strerror(errno))
	               : wait_until_ready(pid, &awaited, ret_daemon, error);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}

void daemon_recognize(struct session_daemon *ret_daemon)
{
	static const char ours[] = "lttng-sessiond\0" OUR_OPTION_1 "\0" OUR_OPTION_2;
	char words[PATH_MAX];
	pid_t pid = consumers_daemon();
	uint64_t start_ticks = pid > 0 ? process_start_ticks(pid) : 0;

	*ret_daemon = (struct session_daemon){0};
	if (pid > 0 && process_read(pid, "cmdline", words, sizeof(words)) == sizeof(ours) &&
	    memcmp(words, ours, sizeof(ours)) == 0)
		*ret_daemon = (struct session_daemon){pid, start_ticks};
}

static void wait_for_end(int pidfd, pid_t pid)
{
	struct patience patience = {.what = "lttng-sessiond to end", .limit_s = STOP_LIMIT_S};

	if (patience_await_end(&patience, pidfd))
		waitpid(pid, NULL, WNOHANG); /* it may be the child of another process */
	else
		cli_warn("lttng-sessiond does not end yet, as it does while a program that it "
		         "knows is stopped: pid=%ld",
		         (long)pid);
}

int daemon_stop(const struct session_daemon *daemon)
{
	int code, n_left, pidfd;

	if (daemon->pid <= 0)
		return FLEXTRACE_OK;
	/* Open first, compare then: from here on the process cannot become another one. */
	pidfd = process_open(daemon->pid);
	if (pidfd < 0)
		return FLEXTRACE_OK;
	n_left = session_count(LIST_LIMIT_S);
	if (process_start_ticks(daemon->pid) != daemon->start_ticks) {
		code = FLEXTRACE_OK;
	} else if (n_left != 0 && daemon_is_alive()) {
		code = 1; /* or it does not answer, as while a program is stopped */
	} else {
		process_end(pidfd);
		wait_for_end(pidfd, daemon->pid);
		code = FLEXTRACE_OK;
	}
	close(pidfd);
	return code;
}
