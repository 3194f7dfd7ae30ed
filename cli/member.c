/* SPDX-License-Identifier: Apache-2.0 */
#include "member.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOIN_GRACE_S 3 /* ranks of a job start within this time of each other */
#define POLL_NS      20000000

enum { BYTE_MUTEX, BYTE_MEMBERS };

static int set_lock(int fd, int command, short type, off_t byte)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	int code;

	do
		code = fcntl(fd, command, &lock);
	while (code != 0 && errno == EINTR);
	return code;
}

static int file_error(struct flextrace_error *error, const char *path)
{
	return error_set(error, FLEXTRACE_E_OUTPUT, "Cannot lock: path=%s, reason=%s", path,
	                 strerror(errno));
}

/* Opens the file with its mutex held, and makes sure that it is still the one with that name. */
static int open_locked(const char *path, struct flextrace_error *error)
{
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		struct stat status;

		if (fd < 0)
			return file_error(error, path);
		if (set_lock(fd, F_OFD_SETLKW, F_WRLCK, BYTE_MUTEX) != 0) {
			close(fd);
			return file_error(error, path);
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

static int make_or_load(int fd, const struct member_request *request, bool has_made_dir,
                        struct recording *ret_recording, struct flextrace_error *error)
{
	int code;

	if (!is_empty(fd)) {
		FLEXTRACE_TRY(recording_load(request->dir, ret_recording, error));
		return 0;
	}
	FLEXTRACE_TRY(recording_begin(request->dir, request->session, request->options, 0,
	                              ret_recording, error));
	ret_recording->has_made_dir = has_made_dir;
	code = recording_save(ret_recording, error);
	if (code < 0) {
		struct recording_outcome outcome;

		recording_end(ret_recording, &outcome, NULL);
		return code;
	}
	return 1;
}

int member_join(struct member *ret_member, const struct member_request *request,
                struct recording *ret_recording, struct flextrace_error *error)
{
	char path[PATH_MAX + 64];
	bool has_made_dir;
	int fd, code;

	FLEXTRACE_TRY(recording_make_dir(request->dir, &has_made_dir, error));
	snprintf(path, sizeof(path), "%s/%s", request->dir, RECORDING_STATE_FILE);
	fd = open_locked(path, error);
	if (fd < 0)
		return fd;
	code = make_or_load(fd, request, has_made_dir, ret_recording, error);
	if (code >= 0 && set_lock(fd, F_OFD_SETLKW, F_RDLCK, BYTE_MEMBERS) != 0)
		code = file_error(error, path);
	if (code < 0) {
		if (is_empty(fd))
			unlink(path);
		if (has_made_dir)
			rmdir(request->dir);
		close(fd);
		return code;
	}
	count_in(fd);
	set_lock(fd, F_OFD_SETLK, F_UNLCK, BYTE_MUTEX);
	*ret_member = (struct member){fd, request->n_expected};
	return code;
}

/* Seconds since the recording began, by the time its state file was written last. */
static bool may_others_come(const struct member *member)
{
	struct timespec now;
	struct stat status;

	if (count_joined(member->fd) >= member->n_expected || fstat(member->fd, &status) != 0)
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - status.st_mtim.tv_sec < JOIN_GRACE_S;
}

int member_leave(struct member *member, const struct recording *recording)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	bool is_last;

	for (;;) {
		set_lock(member->fd, F_OFD_SETLKW, F_WRLCK, BYTE_MUTEX);
		is_last = set_lock(member->fd, F_OFD_SETLK, F_WRLCK, BYTE_MEMBERS) == 0;
		if (!is_last || !may_others_come(member))
			break;
		set_lock(member->fd, F_OFD_SETLK, F_RDLCK, BYTE_MEMBERS);
		set_lock(member->fd, F_OFD_SETLK, F_UNLCK, BYTE_MUTEX);
		nanosleep(&pause, NULL);
	}
	if (is_last)
		recording_forget(recording);
	close(member->fd);
	member->fd = -1;
	return is_last;
}
