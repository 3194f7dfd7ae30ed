/* SPDX-License-Identifier: Apache-2.0 */
#include "guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "recording/lttng/consumers.h"
#include "recording/lttng/daemon.h"
#include "process/mappers.h"
#include "member.h"
#include "process/process.h"
#include "ring/rings.h"
#include "wanted_note.h"

#define TICK_MS    500
#define LOOK_TICKS 4 /* from look to look for the session */
#define MAX_MISSES 3
#define MAX_PAIRS  16 /* that of `start` is replaced so often */

struct ward {
	const struct recording *recording;
	const struct guardian_work *work; /* NULL: of `start` */
	struct rings_watch rings;
	const char *unwanted; /* NULL, or a session to take back, and no more */
	int fd, pidfd;        /* -1 = none */
	bool is_asked, has_ended, is_done;
	int n_misses; /* looks at buffers that LTTng has made, and has no more */
};

/* Moves a descriptor; returns where it is then. */
static int move(int fd, int to)
{
	if (fd < 0 || fd == to)
		return fd;
	return dup3(fd, to, O_CLOEXEC);
}

/* Nobody's terminal, group, directory, signals or files. */
static void stand_alone(struct ward *ward)
{
	struct sigaction action = {.sa_handler = SIG_IGN};

	for (int number = 1; number < NSIG; number++)
		if (number != SIGCHLD && number != SIGTERM)
			sigaction(number, &action, NULL);
	action.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* Out of each other's way first. */
	ward->fd = ward->fd < 0 ? -1 : fcntl(ward->fd, F_DUPFD_CLOEXEC, 5);
	ward->pidfd = move(ward->pidfd, 4);
	ward->fd = move(ward->fd, 3);
	process_stand_alone(5);
	cli_set_quiet(true);
	if (chdir("/") != 0)
		return; /* then somebody's directory stays in use */
}

/* Reads what whoever is at the other end tells; false: it is gone. */
static bool listen_to(struct ward *ward)
{
	char words[64];
	ssize_t n = read(ward->fd, words, sizeof(words));

	for (ssize_t i = 0; i < n; i++) {
		ward->is_asked |= words[i] == GUARDIAN_ASKED;
		ward->has_ended |= words[i] == GUARDIAN_ENDED;
		ward->is_done |= words[i] == GUARDIAN_DONE;
	}
	return n > 0 || (n < 0 && errno == EINTR);
}

/* LTTng's consumer has a session's buffers mapped as long as that is there: it goes with its
 * daemon, or by `lttng destroy`, and nobody calls `flextrace stop` then. */
static bool has_session(struct ward *ward, const char *memory_dir)
{
	pid_t consumer;
	int pidfd = consumers_find_own(&consumer);
	bool is_here = pidfd >= 0 && mappers_has(consumer, path_of(memory_dir, "").text);

	descriptor_close(pidfd);
	ward->n_misses = is_here || !path_is_there(memory_dir, "ust") ? 0 : ward->n_misses + 1;
	return ward->n_misses < MAX_MISSES;
}

/* That of `start`, which nobody tells anything: while there are buffers. */
static bool is_to_stay(struct ward *ward, int tick)
{
	const struct path memory = recording_memory(ward->recording);
	bool is_gone;

	if (!*memory.text)
		return false;
	is_gone = access(memory.text, F_OK) != 0 ||
	          (tick % LOOK_TICKS == 0 && !has_session(ward, memory.text));
	if (is_gone)
		wanted_remove(ward->recording->session);
	return !is_gone;
}

static void watch_over(struct ward *ward)
{
	struct pollfd polled = {.fd = ward->fd, .events = POLLIN};
	bool is_there = true;

	for (int tick = 1; is_there && !ward->is_done; tick++) {
		int n = poll(&polled, 1, TICK_MS);

		if (n > 0)
			is_there = listen_to(ward);
		if (!ward->has_ended)
			recording_tend(ward->recording, &ward->rings);
		if (!ward->work)
			ward->is_done = !is_to_stay(ward, tick);
	}
	rings_forget(&ward->rings);
}

static bool was_killed(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status);
}

/*
 * The guardian of `start` has no recorder that would replace it. So there are two: one watches, the
 * other waits for its end. If one is killed, the other makes a new one; if both are killed at once,
 * there is none any more. Returns when there is nothing left to watch.
 */
static void watch_in_pairs(struct ward *ward)
{
	int words[2];

	for (int i = 0; i < MAX_PAIRS && pipe2(words, O_CLOEXEC) == 0; i++) {
		pid_t pid = fork();

		close(words[pid == 0]);
		ward->fd = words[0];
		if (pid == 0)
			watch_over(ward);
		if (pid > 0 && !was_killed(pid))
			return;
		close(words[pid != 0]);
		if (pid < 0 || ward->is_done)
			break;
	}
	ward->fd = -1;
	if (!ward->is_done)
		watch_over(ward);
}

_Noreturn static void guard(struct ward *ward)
{
	struct recording recording = *ward->recording;

	stand_alone(ward);
	if (ward->work)
		watch_over(ward);
	else
		watch_in_pairs(ward);
	if (!ward->work || ward->is_done)
		_exit(0);
	/* Until then it may hold its locks. */
	if (ward->pidfd >= 0)
		process_await_end(ward->pidfd, -1);
	if (!ward->has_ended && !member_end_dead(&recording, ward->work->n_expected))
		_exit(0);
	if (ward->is_asked && access(recording.trace_dir, F_OK) == 0)
		ward->work->convert(ward->work->context, &recording);
	_exit(0);
}

/* The daemon does one thing after another: once it answers, it has made what it was asked for. */
_Noreturn static void undo(struct ward *ward)
{
	bool has_answered;
	int pidfd;

	stand_alone(ward);
	pidfd = process_open(consumers_daemon());
	do
		has_answered = session_destroy(ward->unwanted, NULL) == FLEXTRACE_OK ||
		               daemon_is_alive();
	while (!has_answered && pidfd >= 0 && !process_await_end(pidfd, 0));
	if (has_answered)
		session_destroy(ward->unwanted, NULL);
	_exit(0);
}

/* Forks twice, so that it is nobody's child. It has its name when this returns. */
static bool fork_orphan(struct ward *ward, int others_end)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0) {
		descriptor_close(others_end);
		prctl(PR_SET_NAME, ward->unwanted ? "flextrace-undo" : "flextrace-guard");
		pid = fork();
		if (pid == 0 && ward->unwanted)
			undo(ward);
		if (pid == 0)
			guard(ward);
		_exit(pid < 0);
	}
	if (pid > 0)
		TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
	return status == 0;
}

void guardian_begin(struct recording *recording, const struct guardian_work *work)
{
	struct ward ward = {.recording = recording, .work = work, .pidfd = -1};
	int words[2] = {-1, -1};

	recording->guardian = 0;
	if (!work || pipe2(words, O_CLOEXEC) == 0) {
		ward.fd = words[0];
		ward.pidfd = work ? process_open(getpid()) : -1;
		if (fork_orphan(&ward, words[1]) && work)
			recording->guardian = words[1];
		else
			descriptor_close(words[1]);
		descriptor_close(words[0]);
		descriptor_close(ward.pidfd);
	}
	if (work && !recording->guardian)
		cli_warn("No guardian could be started, are there too many processes? If this "
		         "one is killed, end the recording with `flextrace stop %s`",
		         recording->dir);
}

bool guardian_replace(struct recording *recording, const struct guardian_work *work)
{
	close(recording->guardian);
	guardian_begin(recording, work);
	return recording->guardian > 0;
}

bool guardian_undo(const char *session)
{
	struct ward ward = {.unwanted = session, .fd = -1, .pidfd = -1};

	return fork_orphan(&ward, -1);
}

void guardian_tell(const struct recording *recording, enum guardian_word word)
{
	char byte = (char)word;

	if (recording->guardian > 0 && write(recording->guardian, &byte, 1) != 1)
		return; /* it is gone */
}

void guardian_end(struct recording *recording)
{
	guardian_tell(recording, GUARDIAN_DONE);
	if (recording->guardian > 0)
		close(recording->guardian);
	recording->guardian = 0;
}
