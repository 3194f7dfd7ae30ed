/* SPDX-License-Identifier: Apache-2.0 */
#include "member.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "flight.h"
#include "base/paths.h"
#include "process/patience.h"
#include "process/process.h"

#define JOIN_GRACE_S  3 /* ranks of a job start within this time of each other */
#define POLL_NS       20000000
#define DEAD_GRACE_NS INT64_C(10000000000)

enum { BYTE_MUTEX, BYTE_MEMBERS, BYTE_LEADER };

static int set_lock(int fd, int command, short type, off_t byte)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

	return TEMP_FAILURE_RETRY(fcntl(fd, command, &lock));
}

/* Waits for the mutex of the state file. */
static bool lock_mutex(int fd)
{
	struct patience patience = {
		.what = "another flextrace, which begins or ends this recording",
		.limit_s = PATIENCE_LOCK_S};

	return patience_lock_byte(&patience, fd, F_WRLCK, BYTE_MUTEX);
}

static int file_error(struct flextrace_error *error, const char *path)
{
	return error_set(error, errno == ETIMEDOUT ? FLEXTRACE_E_SYSTEM : FLEXTRACE_E_OUTPUT,
	                 "Cannot lock: path=%s, reason=%s", path, strerror(errno));
}

/* Opens the file with its mutex held, and makes sure that it is still the one with that name. */
static int open_locked(const char *path, struct flextrace_error *error)
{
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		struct stat status;
		int code;

		if (fd < 0)
			return file_error(error, path);
		if (!lock_mutex(fd)) {
			code = file_error(error, path);
			close(fd);
			return code;
		}
		if (fstat(fd, &status) == 0 && status.st_nlink > 0)
			return fd;
		close(fd);
	}
}

static bool is_empty(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size == 0;
}

/* One dot behind the state for each member that ever joined. */
static void count_in(int fd)
{
	if (lseek(fd, 0, SEEK_END) < 0 || write(fd, ".", 1) != 1)
		return; /* nobody will wait for us then */
}

static uint32_t count_joined(int fd)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	uint32_t n_joined = 0;
	const char *dots;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	dots = strrchr(text, '\n');
	for (; dots && dots[1]; dots++)
		n_joined++;
	return n_joined;
}

/* True if any member lives. To a caller that is to act on it `fd` holds the mutex. */
static bool has_members(int fd)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = BYTE_MEMBERS, .l_len = 1};

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Ends what a dead job left. Its trace stays if it has records. */
static int bury(int fd, struct recording *recording, struct flextrace_error *error)
{
	struct recording_outcome outcome = {.verdict = SESSION_NO_STREAMS};

	recording_end(recording, &outcome, NULL);
	if (access(recording->trace_dir, F_OK) == 0)
		cli_warn("A job died while it recorded; what it recorded is kept, `flextrace "
		         "convert` reads it: path=%s",
		         recording->trace_dir);
	else
		cli_warn("A job died while it recorded, without a record: path=%s", recording->dir);
	if (ftruncate(fd, 0) != 0)
		return error_set(error, FLEXTRACE_E_OUTPUT, "Cannot write: path=%s/%s, reason=%s",
		                 recording->dir, RECORDING_STATE_FILE, strerror(errno));
	return FLEXTRACE_OK;
}

/* Loads the recording that the state file tells of. Returns 0 if it is one to join, 1 if it was
 * one to bury. */
static int load(int fd, const struct member_request *request, struct recording *ret_recording,
                struct flextrace_error *error)
{
	bool is_met = has_members(fd);
	int records;

	FLEXTRACE_TRY(recording_load(request->dir, ret_recording, error));
	records = recording_runs(ret_recording, error);
	if (records < 0)
		return records;
	if (records && !ret_recording->job[0])
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "A recording runs there, stop it with `flextrace stop` or choose "
		                 "another directory with -o: path=%s",
		                 ret_recording->dir);
	if (records && (is_met || strcmp(ret_recording->job, request->job) == 0))
		return 0;
	if (is_met)
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "Somebody ended the LTTng session of what records there, choose "
		                 "another directory with -o: path=%s",
		                 ret_recording->dir);
	FLEXTRACE_TRY(bury(fd, ret_recording, error));
	return 1;
}

static int make_or_load(int fd, const struct member_request *request, bool has_made_dir,
                        struct recording *ret_recording, struct flextrace_error *error)
{
	int code = is_empty(fd) ? 1 : load(fd, request, ret_recording, error);

	if (code <= 0)
		return code;
	FLEXTRACE_TRY(recording_begin(request->dir, request->session, request->options, 0,
	                              ret_recording, error));
	ret_recording->has_made_dir = has_made_dir;
	snprintf(ret_recording->job, sizeof(ret_recording->job), "%s", request->job);
	FLEXTRACE_TRY(recording_save(ret_recording, error));
	return 1;
}

int member_join(struct member *ret_member, const struct member_request *request,
                struct recording *ret_recording, struct flextrace_error *error)
{
	const struct path path = path_of(request->dir, RECORDING_STATE_FILE);
	bool has_made_dir;
	int fd, code;

	FLEXTRACE_TRY(recording_make_dir(request->dir, &has_made_dir, error));
	fd = open_locked(path.text, error);
	if (fd < 0)
		return fd;
	code = make_or_load(fd, request, has_made_dir, ret_recording, error);
	/* Whoever has it for writing, to see whether it is the last, holds the mutex. */
	if (code >= 0 && set_lock(fd, F_OFD_SETLK, F_RDLCK, BYTE_MEMBERS) != 0)
		code = file_error(error, path.text);
	if (code < 0) {
		if (is_empty(fd))
			unlink(path.text);
		if (has_made_dir)
			rmdir(request->dir);
		close(fd);
		return code;
	}
	count_in(fd);
	set_lock(fd, F_OFD_SETLK, F_UNLCK, BYTE_MUTEX);
	*ret_member = (struct member){fd, request->n_expected, -1};
	return code;
}

/* Opens a file of a recording that was saved; -1: it is not there. */
static int open_file(const struct recording *recording, const char *name)
{
	return open(path_of(recording->dir, name).text, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

static int open_state(const struct recording *recording)
{
	return open_file(recording, RECORDING_STATE_FILE);
}

/* Held by who ends a recording, from before the state file goes. Who waited for it and finds the
 * session still there has to go on: the one before died. -1: there is nothing to hold. */
static int hold_end(const struct recording *recording)
{
	struct patience patience = {.what = "another flextrace, which ends this recording",
	                            .limit_s = PATIENCE_LOCK_S};
	int fd = open_file(recording, RECORDING_ID_FILE);

	if (fd >= 0)
		patience_lock_byte(&patience, fd, F_WRLCK, 0);
	return fd;
}

void member_be_alone(struct member *ret_member, const struct recording *recording)
{
	int fd = open_state(recording);

	if (fd >= 0 && set_lock(fd, F_OFD_SETLK, F_RDLCK, BYTE_MEMBERS) != 0) {
		close(fd);
		fd = -1;
	}
	*ret_member = (struct member){.fd = fd, .end_fd = -1};
}

/* A flight recorder is asked for what it holds first. */
static void end_dead(struct recording *recording)
{
	struct recording_outcome outcome = {.verdict = SESSION_NO_STREAMS};
	struct recording snapshot;

	if (recording->kind == SESSION_FLIGHT)
		flight_take(recording, FLIGHT_END, &snapshot, NULL);
	recording_forget(recording);
	recording_end(recording, &outcome, NULL);
}

/* With the mutex held. Whether somebody may still join what nobody leads any more. */
static bool is_awaited(int fd, const struct recording *recording, uint32_t n_expected)
{
	return recording->job[0] && (!n_expected || count_joined(fd) < n_expected);
}

/* Returns whether the recording is ours to end, with the mutex held then. */
static bool take_over(int fd, struct recording *recording, uint32_t n_expected)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	struct recording state;

	for (int64_t waited_ns = 0;; waited_ns += POLL_NS) {
		if (!lock_mutex(fd) || has_members(fd) || is_empty(fd))
			return false;
		if (recording_load(recording->dir, &state, NULL) == FLEXTRACE_OK)
			*recording = state;
		if (waited_ns >= DEAD_GRACE_NS || !is_awaited(fd, recording, n_expected))
			return true;
		set_lock(fd, F_OFD_SETLK, F_UNLCK, BYTE_MUTEX);
		nanosleep(&pause, NULL);
	}
}

bool member_end_dead(struct recording *recording, uint32_t n_expected)
{
	int fd = open_state(recording), end_fd = -1;
	bool is_ours = fd < 0 || take_over(fd, recording, n_expected);

	if (is_ours)
		end_fd = hold_end(recording);
	/* Without a state file it died before it had one, or while it ended the recording, or
	 * somebody was faster than we. */
	if (fd < 0)
		is_ours = recording_has_session(recording, NULL, NULL) > 0;
	if (is_ours)
		end_dead(recording);
	descriptor_close(end_fd);
	descriptor_close(fd);
	return is_ours;
}

bool member_lives(const struct recording *recording)
{
	int fd = open_state(recording);
	bool lives = fd >= 0 && has_members(fd);

	descriptor_close(fd);
	return lives;
}

bool member_claim(const struct recording *recording, int *ret_fd)
{
	struct stat status;

	*ret_fd = open_state(recording);
	if (*ret_fd < 0) /* the directory is gone */
		return true;
	if (set_lock(*ret_fd, F_OFD_SETLK, F_WRLCK, BYTE_MUTEX) == 0 &&
	    fstat(*ret_fd, &status) == 0 && status.st_nlink > 0)
		return true;
	close(*ret_fd);
	return false;
}

/* True if more members are expected, and the state file, which each of them writes, is young. */
static bool may_others_come(const struct member *member)
{
	struct timespec now;
	struct stat status;

	if (count_joined(member->fd) >= member->n_expected || fstat(member->fd, &status) != 0)
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - status.st_mtim.tv_sec < JOIN_GRACE_S;
}

bool member_leads(const struct member *member)
{
	return member->fd < 0 || set_lock(member->fd, F_OFD_SETLK, F_WRLCK, BYTE_LEADER) == 0;
}

int member_leave(struct member *member, const struct recording *recording)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	bool is_last = true;

	while (member->fd >= 0) {
		/* Who holds the mutex as long as that is the last one, or ends it. */
		is_last = lock_mutex(member->fd) &&
		          set_lock(member->fd, F_OFD_SETLK, F_WRLCK, BYTE_MEMBERS) == 0;
		if (!is_last || !may_others_come(member))
			break;
		set_lock(member->fd, F_OFD_SETLK, F_RDLCK, BYTE_MEMBERS);
		set_lock(member->fd, F_OFD_SETLK, F_UNLCK, BYTE_MUTEX);
		nanosleep(&pause, NULL);
	}
	if (is_last) {
		member->end_fd = hold_end(recording);
		recording_forget(recording);
	}
	descriptor_close(member->fd);
	member->fd = -1;
	return is_last;
}

void member_has_ended(struct member *member)
{
	descriptor_close(member->end_fd);
	member->end_fd = -1;
}
