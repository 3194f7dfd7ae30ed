/* SPDX-License-Identifier: Apache-2.0 */
#include "isolate.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "process.h"

#define MIN_BYTES ((rlim_t)2 << 30)

#ifdef __SANITIZE_ADDRESS__
static void limit_memory(void)
{
}
#else
static void limit_memory(void)
{
	rlim_t spare = process_memory_bytes("MemAvailable:") + process_memory_bytes("SwapFree:");
	struct rlimit limit;

	if (!spare || getrlimit(RLIMIT_DATA, &limit) < 0)
		return;
	spare = spare < MIN_BYTES ? MIN_BYTES : spare;
	if (limit.rlim_cur <= spare)
		return;
	limit.rlim_cur = spare;
	setrlimit(RLIMIT_DATA, &limit);
}
#endif

static _Noreturn void run_child(int (*work)(void *context), void *context, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	limit_memory();
	exit(work(context));
}

static int wait_for(pid_t child, const struct held_signals *signals)
{
	const struct meanwhile nothing = {0};
	int number, status;

	while ((number = signals_wait(signals, child, &nothing)))
		kill(child, number);
	if (TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) < 0)
		return -SIGKILL;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int isolate(int (*work)(void *context), void *context)
{
	struct held_signals signals;
	pid_t parent = getpid(), child;
	int code;

	fflush(NULL);
	signals_hold(&signals);
	child = fork();
	if (child == 0) {
		signals_restore(&signals);
		run_child(work, context, parent);
	}
	code = child > 0 ? wait_for(child, &signals) : 0;
	signals_release(&signals);
	return child > 0 ? code : work(context);
}

bool isolate_is_crash(int number)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (crashes[i] == number)
			return true;
	return false;
}
