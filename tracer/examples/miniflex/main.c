/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks as processes: each is forked, runs, and gives its exit status; or one, for a launcher. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miniflex.h"

static int run_rank(const struct options *options, struct collective *collective, uint32_t rank)
{
	flextrace_set_rank((int)rank, (int)options->n_ranks);
	int status = runtime_run(options, collective, rank);
	if (status)
		collective_leave(collective);
	return status;
}

/* Ends the ranks that still run (reaped ones have pid 0). */
static void end_all(const pid_t *pids, uint32_t n)
{
	for (uint32_t rank = 0; rank < n; rank++)
		if (pids[rank] > 0)
			kill(pids[rank], SIGTERM);
}

/* Waits for all ranks; one that dies of a signal takes the others with it, as a launcher would. */
static int wait_for(pid_t *pids, uint32_t n)
{
	int worst = 0;
	int status;
	pid_t pid;
	while ((pid = wait(&status)) > 0) {
		for (uint32_t rank = 0; rank < n; rank++)
			if (pids[rank] == pid)
				pids[rank] = 0;
		if (WIFSIGNALED(status) && worst < 128)
			end_all(pids, n);
		if (!worst)
			worst = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	return worst;
}

static int run_all(const struct options *options)
{
	struct collective *collective = collective_new(options->n_ranks);
	if (!collective) {
		fputs("miniflex: no shared memory for the collectives\n", stderr);
		return 1;
	}
	pid_t pids[MINIFLEX_MAX_RANKS];
	uint32_t n = 0;
	for (; n < options->n_ranks; n++) {
		pids[n] = fork();
		if (pids[n] == 0)
			_exit(run_rank(options, collective, n));
		if (pids[n] < 0) {
			perror("miniflex: cannot start a rank");
			collective_leave(collective);
			break;
		}
	}
	int status = wait_for(pids, n);
	collective_free(collective);
	return n < options->n_ranks ? 1 : status;
}

static int run_one(const struct options *options)
{
	struct collective *collective = NULL;
	if (options->join_path) {
		collective = collective_join(options->join_path, options->n_ranks);
		if (!collective) {
			fprintf(stderr, "miniflex: cannot meet in %s: %s\n", options->join_path,
			        strerror(errno));
			return 1;
		}
	}
	int status = run_rank(options, collective, (uint32_t)options->rank);
	collective_free(collective);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	int parsed = options_parse(&options, argc, argv);
	if (parsed)
		return parsed > 0 ? 0 : 2;
	flextrace_process("miniflex", "1.0");
	flextrace_set_dialect("aiu");
	int status = options.rank < 0 ? run_all(&options) : run_one(&options);
	if (!status && !options.is_quiet)
		printf("miniflex: %u ranks x %u iterations x %u kernels on %u cores, all results "
		       "right\n",
		       options.rank < 0 ? options.n_ranks : 1, options.n_iterations,
		       options.n_kernels, options.n_cores);
	return status;
}
