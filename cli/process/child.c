/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"

static const int ending_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
#define N_ENDING (sizeof(ending_signals) / sizeof(ending_signals[0]))

void signals_hold(struct held_signals *ret_signals)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	sigaction(SIGCHLD, &action, &ret_signals->child_action);
	sigemptyset(&ret_signals->held);
	sigaddset(&ret_signals->held, SIGCHLD);
	for (size_t i = 0; i < N_ENDING; i++) {
		sigaction(ending_signals[i], NULL, &action);
		if (action.sa_handler != SIG_IGN)
			sigaddset(&ret_signals->held, ending_signals[i]);
	}
	sigprocmask(SIG_BLOCK, &ret_signals->held, &ret_signals->before);
}

void signals_hear_usr2(struct held_signals *signals)
{
	sigaddset(&signals->held, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals->held, NULL);
}

/* What we ignore, and what programs that we start do with it. */
static struct {
	struct sigaction before;
	bool is_ignored;
} ignored[NSIG];

void signals_ignore(int number)
{
	struct sigaction action = {.sa_handler = SIG_IGN};

	if (!ignored[number].is_ignored)
		ignored[number].is_ignored = sigaction(number, &action, &ignored[number].before) ==
		                             0;
}

void signals_restore(const struct held_signals *signals)
{
	sigaction(SIGCHLD, &signals->child_action, NULL);
	sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

void signals_forget(const struct held_signals *signals)
{
	const struct timespec now = {0};

	while (sigtimedwait(&signals->held, NULL, &now) > 0)
		;
}

void signals_release(const struct held_signals *signals)
{
	signals_forget(signals); /* what came while we wound up has been obeyed */
	signals_restore(signals);
}

int signals_pending(const struct held_signals *signals)
{
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < N_ENDING; i++)
		if (ending_signals[i] != SIGUSR2 &&
		    sigismember(&signals->held, ending_signals[i]) &&
		    sigismember(&pending, ending_signals[i]))
			return ending_signals[i];
	return 0;
}

static void tick(const struct meanwhile *meanwhile)
{
	if (meanwhile->tick)
		meanwhile->tick(meanwhile->context);
}

/* True if the signal is none that ends the recording: what it asks for is done. */
static bool is_done_meanwhile(const struct meanwhile *meanwhile, int number)
{
	if (number == SIGCHLD)
		tick(meanwhile);
	if (number == SIGUSR2 && meanwhile->on_usr2)
		meanwhile->on_usr2(meanwhile->context);
	if (number == SIGTERM && meanwhile->on_end)
		meanwhile->on_end(meanwhile->context);
	return number == SIGCHLD || (number == SIGUSR2 && meanwhile->on_usr2);
}

/* Waits until one of the descriptors can be read, or the watched one breaks. Returns the signal,
 * with what is known of it, 0 = `pidfd`, -1 = what came was dealt with. */
static int wait_once(int signal_fd, int pidfd, const struct meanwhile *meanwhile,
                     struct signalfd_siginfo *ret_info)
{
	struct pollfd polled[3] = {{.fd = signal_fd, .events = POLLIN},
	                           {.fd = pidfd, .events = POLLIN},
	                           {.fd = meanwhile->watched_fd ? meanwhile->watched_fd : -1}};
	int timeout_ms = meanwhile->tick_ns ? (int)(meanwhile->tick_ns / 1000000) : -1;
	int n = poll(polled, 3, timeout_ms);

	*ret_info = (struct signalfd_siginfo){.ssi_signo = SIGTERM};
	if (n == 0)
		tick(meanwhile);
	if (n > 0 && polled[2].revents)
		meanwhile->on_broken(meanwhile->context);
	if (n <= 0 || !(polled[0].revents | polled[1].revents))
		return -1;
	if (!(polled[0].revents & POLLIN))
		return 0;
	if (read(signal_fd, ret_info, sizeof(*ret_info)) < 0)
		return SIGTERM;
	return is_done_meanwhile(meanwhile, (int)ret_info->ssi_signo) ? -1
	                                                              : (int)ret_info->ssi_signo;
}

int signals_wait(const struct held_signals *signals, pid_t pid, const struct meanwhile *meanwhile)
{
	int pidfd = pid ? process_open(pid) : -1;
	struct signalfd_siginfo info;
	int number, signal_fd;

	if (pid && pidfd < 0)
		return 0;
	signal_fd = signalfd(-1, &signals->held, SFD_CLOEXEC);
	do
		number = wait_once(signal_fd, pidfd, meanwhile, &info);
	while (number < 0);
	close(signal_fd);
	descriptor_close(pidfd);
	return number;
}

/* 0 if `path` can be executed, else the shell's exit code. */
static int judge(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return 127;
	return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : 126;
}

int child_find(const char *program, char ret_path[PATH_MAX])
{
	const char *directory = getenv("PATH");
	int worst = 127;

	if (strchr(program, '/')) {
		snprintf(ret_path, PATH_MAX, "%s", program);
		return strlen(program) < PATH_MAX ? judge(program) : 127;
	}
	if (!directory)
		directory = "/usr/local/bin:/usr/bin:/bin";
	while (*program) {
		size_t n = strcspn(directory, ":");
		int length = snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)n, n ? directory : ".",
		                      program);
		int code = length > 0 && length < PATH_MAX ? judge(ret_path) : 127;

		if (code == 0)
			return 0;
		if (code == 126)
			worst = 126;
		if (!directory[n])
			break;
		directory += n + 1;
	}
	return worst;
}

/* A pipe that closes when the program runs tells whether it does. */
_Noreturn static void exec_program(const char *path, char *const argv[],
                                   const struct held_signals *signals, int report)
{
	int reason;
	ssize_t n;

	signals_restore(signals);
	for (int number = 1; number < NSIG; number++)
		if (ignored[number].is_ignored)
			sigaction(number, &ignored[number].before, NULL);
	execv(path, argv);
	reason = errno;
	n = write(report, &reason, sizeof(reason));
	_exit(n == sizeof(reason) ? 126 : 125);
}

pid_t child_start(const char *path, char *const argv[], const struct held_signals *signals,
                  struct flextrace_error *error)
{
	int report[2], reason = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) != 0)
		return error_set(error, FLEXTRACE_E_SYSTEM, "Cannot make a pipe: reason=%s",
		                 strerror(errno));
	pid = fork();
	if (pid == 0)
		exec_program(path, argv, signals, report[1]);
	reason = pid < 0 ? errno : 0;
	close(report[1]);
	if (pid > 0)
		TEMP_FAILURE_RETRY(read(report[0], &reason, sizeof(reason)));
	close(report[0]);
	if (reason == 0)
		return pid;
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return error_set(error, FLEXTRACE_E_SYSTEM, "Cannot run the program: path=%s, reason=%s",
	                 path, strerror(reason));
}

int child_wait(pid_t pid, const struct held_signals *signals, const struct meanwhile *meanwhile)
{
	int signal_fd = signalfd(-1, &signals->held, SFD_CLOEXEC);
	struct signalfd_siginfo info;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		int number = wait_once(signal_fd, -1, meanwhile, &info);

		/* The terminal has told the program itself; a process has told only us. */
		if (number > 0 && info.ssi_code <= 0)
			kill(pid, number);
	}
	close(signal_fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
