/* SPDX-License-Identifier: Apache-2.0 */
#include "patience.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "process.h"

#define STEP_MS 20

static const int ending_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
#define N_ENDING (sizeof(ending_signals) / sizeof(ending_signals[0]))

int patience_ending_signal(void)
{
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < N_ENDING; i++)
		if (sigismember(&pending, ending_signals[i]))
			return ending_signals[i];
	return 0;
}

static bool is_over(struct patience *patience)
{
	int64_t waited_ns = patience_now_ns() - patience->began_ns;
	int number;

	if (waited_ns >= patience->limit_s * INT64_C(1000000000)) {
		cli_warn("Waiting no longer for %s: seconds=%d", patience->what, patience->limit_s);
		return true;
	}
	if (waited_ns < PATIENCE_S * INT64_C(1000000000))
		return false;
	if (!patience->is_announced)
		cli_note("waiting for %s", patience->what);
	patience->is_announced = true;
	number = patience_ending_signal();
	if (number)
		cli_warn("Waiting no longer for %s: %s", patience->what, strsignal(number));
	return number != 0;
}

bool patience_lasts(struct patience *patience, int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};

	if (!patience->began_ns)
		patience->began_ns = patience_now_ns();
	if (poll(&polled, 1, STEP_MS) > 0)
		return true;
	return !is_over(patience);
}

bool patience_reap(struct patience *patience, pid_t pid, int *ret_status)
{
	int pidfd = process_open(pid);
	bool lasts = true;
	pid_t reaped;

	while ((reaped = waitpid(pid, ret_status, WNOHANG)) == 0 && lasts)
		lasts = patience_lasts(patience, pidfd);
	if (reaped == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, ret_status, 0);
	}
	descriptor_close(pidfd);
	return reaped == pid;
}

bool patience_await_end(struct patience *patience, int pidfd)
{
	while (!process_await_end(pidfd, 0))
		if (!patience_lasts(patience, pidfd))
			return false;
	return true;
}

static bool give_up(void)
{
	errno = ETIMEDOUT;
	return false;
}

bool patience_flock(struct patience *patience, int fd)
{
	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EINTR && errno != EWOULDBLOCK)
			return false;
		if (!patience_lasts(patience, -1))
			return give_up();
	}
	return true;
}

bool patience_lock_byte(struct patience *patience, int fd, short type, off_t byte)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

	while (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
		if (errno != EINTR && errno != EAGAIN && errno != EACCES)
			return false;
		if (!patience_lasts(patience, -1))
			return give_up();
	}
	return true;
}
