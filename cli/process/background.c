/* SPDX-License-Identifier: Apache-2.0 */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "terminal/cli.h"
#include "patience.h"
#include "process.h"

#define NICENESS 10

/* In the child: converts as if nothing else was going on. */
_Noreturn static void convert(const struct background *background, const struct background_job *job)
{
	struct conversion_options conversion = *background->conversion;
	const char *trace = job->trace_dir;
	int code;

	/* Whoever waits for the end of a pipe or of a lock does not wait for us. */
	syscall(SYS_close_range, 3U, ~0U, 0U);
	/* The terminal's signals are the program's; held back signals are not ours. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	setpriority(PRIO_PROCESS, 0, NICENESS);
	cli_set_quiet(true); /* no progress in the program's output */
	conversion.output_dir = job->output_dir;
	if (job->is_part)
		conversion.plain.fail_on_loss.is_set = false;
	code = convert_traces(&trace, 1, &conversion, 1);
	fflush(NULL);
	_exit(code);
}

static void note_code(struct background *background, int code)
{
	if (background->code == CLI_OK)
		background->code = code;
}

static void remove_first(struct background *background)
{
	background->n_jobs--;
	memmove(background->jobs, background->jobs + 1,
	        background->n_jobs * sizeof(*background->jobs));
}

/* Forks, and returns once the child holds nothing of ours open. */
static pid_t fork_converter(const struct background *background)
{
	int held[2];
	char byte;
	pid_t pid;

	fflush(NULL);
	if (pipe2(held, O_CLOEXEC) != 0)
		return -1;
	pid = fork();
	if (pid == 0)
		convert(background, &background->jobs[0]);
	close(held[1]);
	while (pid > 0 && read(held[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(held[0]);
	return pid;
}

static void start_next(struct background *background)
{
	while (background->n_jobs && background->pid <= 0) {
		background->pid = fork_converter(background);
		if (background->pid > 0)
			return;
		cli_error("Cannot fork to convert: trace=%s, reason=%s",
		          background->jobs[0].trace_dir, strerror(errno));
		note_code(background, CLI_INPUT);
		remove_first(background);
	}
}

/* Tells of the conversion that has ended. */
static void report(struct background *background, int status)
{
	const struct background_job *job = &background->jobs[0];
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : CLI_INPUT;

	note_code(background, code);
	if (code == CLI_OK || code == CLI_LOSS)
		cli_note("%s: %s", job->what, job->output_dir);
	else
		cli_error("%s cannot be converted now, its trace is kept: path=%s", job->what,
		          job->trace_dir);
}

/* Sees to the conversion that runs; false: it still does. */
static bool reap(struct background *background, int options)
{
	int status;
	pid_t pid = TEMP_FAILURE_RETRY(waitpid(background->pid, &status, options));

	if (pid == 0)
		return false;
	report(background, pid < 0 ? -1 : status);
	background->pid = 0;
	remove_first(background);
	start_next(background);
	return true;
}

int background_add(struct background *background, const struct background_job *job,
                   struct flextrace_error *error)
{
	if (ARRAY_RESERVE(background->jobs, background->n_allocated, background->n_jobs + 1) < 0)
		return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	background->jobs[background->n_jobs++] = *job;
	start_next(background);
	return FLEXTRACE_OK;
}

void background_poll(struct background *background)
{
	while (background->pid > 0 && reap(background, WNOHANG))
		;
}

/* It is work, not a wait for others: it takes as long as it takes. */
static void await_first(struct background *background)
{
	int pidfd = process_open(background->pid);

	if (pidfd >= 0 && !process_await_end(pidfd, PATIENCE_S * 1000))
		cli_note("converting %s", background->jobs[0].what);
	reap(background, 0);
	descriptor_close(pidfd);
}

int background_finish(struct background *background)
{
	while (background->pid > 0)
		await_first(background);
	free(background->jobs);
	background->jobs = NULL;
	background->n_allocated = 0;
	return background->code;
}
