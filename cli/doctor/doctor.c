/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace doctor: what keeps a recording from working on this machine, and how to mend it. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "ring/buffers.h"
#include "terminal/cli.h"
#include "recording/lttng/daemon.h"
#include "doctor.h"
#include "process/patience.h"
#include "process/provider.h"

#define COMMAND_LIMIT_S 20
#define ROOT_SOCKET     "/run/lttng/client-lttng-sessiond"

void verdict_print(struct verdicts *verdicts, enum verdict verdict, const char *mend,
                   const char *format, ...)
{
	static const enum cli_style styles[] = {CLI_GREEN, CLI_YELLOW, CLI_RED};
	static const char *const words[] = {"ok  ", "warn", "fail"};
	va_list arguments;

	verdicts->n_warnings += verdict == VERDICT_WARN;
	verdicts->n_failures += verdict == VERDICT_FAIL;
	printf("%s%s%s  ", cli_style(stdout, styles[verdict]), words[verdict],
	       cli_style(stdout, CLI_PLAIN));
	va_start(arguments, format);
	cli_vprint(stdout, format, arguments);
	va_end(arguments);
	printf("\n");
	if (mend) {
		cli_print(stdout, "      -> %s", mend);
		printf("\n");
	}
}

_Noreturn static void exec_command(const char *const words[], int output)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("HOME", "/", 0); /* lttng-sessiond does not start without */
	dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
	dup2(output, STDOUT_FILENO);
	execvp(words[0], (char *const *)(uintptr_t)words);
	_exit(127);
}

/* First line of what a command prints; "" if it cannot be run, fails or does not end. What it
 * prints fits into a pipe. */
static const char *first_line(const char *const words[], char line[512])
{
	struct patience patience = {.what = words[0], .limit_s = COMMAND_LIMIT_S};
	int output[2], status = -1;
	ssize_t n;
	pid_t pid;

	line[0] = '\0';
	if (pipe2(output, O_CLOEXEC) != 0)
		return line;
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (pid == 0)
		exec_command(words, output[1]);
	if (pid > 0 && patience_reap(&patience, pid, &status) && status == 0) {
		n = read(output[0], line, 511);
		line[n > 0 ? n : 0] = '\0';
	}
	close(output[0]);
	close(output[1]);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

struct tool {
	const char *name, *words[3], *package;
	int major, minor; /* oldest that will do */
};

static bool check_tool(struct verdicts *verdicts, const struct tool *tool)
{
	char line[512], mend[128];
	int major, minor;

	snprintf(mend, sizeof(mend), "apt-get install %s", tool->package);
	first_line(tool->words, line);
	if (sscanf(line + strcspn(line, "0123456789"), "%d.%d", &major, &minor) != 2) {
		verdict_fail(verdicts, mend, "%s: not found", tool->name);
		return false;
	}
	if (major < tool->major || (major == tool->major && minor < tool->minor)) {
		verdict_fail(verdicts, mend, "%s: %d.%d, needs %d.%d", tool->name, major, minor,
		             tool->major, tool->minor);
		return false;
	}
	verdict_ok(verdicts, "%s: %s", tool->name, line);
	return true;
}

static bool is_in_group(gid_t wanted)
{
	gid_t groups[1024];
	int n = getgroups(1024, groups);

	for (int i = 0; i < n; i++)
		if (groups[i] == wanted)
			return true;
	return getegid() == wanted;
}

static void check_daemon(struct verdicts *verdicts, bool has_daemon)
{
	bool has_root_daemon = access(ROOT_SOCKET, F_OK) == 0;
	const struct group *tracing = getgrnam("tracing");
	char run_dir[PATH_MAX];

	if (daemon_is_alive()) {
		verdict_ok(verdicts, "session daemon: answers, %s",
		           geteuid() == 0 || (has_root_daemon && tracing &&
		                              is_in_group(tracing->gr_gid))
		                   ? "root's"
		                   : "your own");
	} else if (has_daemon && daemon_lacks_group()) {
		verdict_fail(verdicts,
		             "record outside of it, or as another user than root (unshare -U "
		             "without -r)",
		             "session daemon: none answers, one of the root of a user namespace "
		             "without the group `tracing` cannot start");
	} else if (has_daemon && !daemon_has_place(run_dir) && !run_dir[0]) {
		verdict_fail(verdicts,
		             "set LTTNG_HOME to a directory that can be written, for the programs "
		             "as well",
		             "session daemon: none answers, and you have no home directory for "
		             "one of yours");
	} else if (has_daemon && !daemon_has_place(run_dir)) {
		verdict_fail(verdicts,
		             "set LTTNG_HOME to a directory that is there and can be written, for "
		             "the programs as well",
		             "session daemon: none answers, one of yours cannot write %s", run_dir);
	} else if (has_daemon) {
		verdict_ok(verdicts,
		           "session daemon: none answers, `flextrace record` starts its own "
		           "meanwhile");
	} else {
		verdict_fail(verdicts, "apt-get install lttng-tools",
		             "session daemon: none answers, none can be started");
	}
}

/* Who may use root's daemon. */
static void check_group(struct verdicts *verdicts)
{
	const struct group *tracing = getgrnam("tracing");

	if (geteuid() == 0)
		verdict_ok(verdicts, "tracing group: not needed, you are root");
	else if (tracing && is_in_group(tracing->gr_gid))
		verdict_ok(verdicts, "tracing group: you are in it");
	else if (access(ROOT_SOCKET, F_OK) == 0)
		verdict_warn(
			verdicts,
			"usermod --append --groups tracing USER, then log in again, to record with "
			"root's daemon",
			"tracing group: you are not in it, so that you record with a daemon of "
			"your "
			"own");
	else
		verdict_ok(verdicts, "tracing group: not needed, no daemon of root runs");
}

static void check_provider(struct verdicts *verdicts)
{
	struct flextrace_error error = {0};
	char path[PATH_MAX];
	int code = provider_try(provider_choose(path), 0, &error);

	if (code == FLEXTRACE_OK)
		verdict_ok(verdicts, "LTTng provider: %s", path);
	else
		verdict_fail(verdicts,
		             "install liblttng-ust1, or name the file with FLEXTRACE_PROVIDER=PATH",
		             "LTTng provider: %s",
		             code > 0 ? "does not finish loading" : error.message);
}

/* The babeltrace2 command looks for the plug-in by itself; `flextrace convert` needs none. */
static void check_plugin(struct verdicts *verdicts)
{
	static const char *const words[] = {"babeltrace2", "help", "sink.flextrace.timeline", NULL};
	char line[512], dir[PATH_MAX], mend[PATH_MAX + 64];

	snprintf(mend, sizeof(mend), "export BABELTRACE_PLUGIN_PATH=%s",
	         plugin_find(dir) ? dir : "DIR, the folder of the flextrace plug-in");
	if (*first_line(words, line))
		verdict_ok(verdicts, "babeltrace2 plug-in: found (sink.flextrace.timeline)");
	else
		verdict_warn(verdicts, mend,
		             "babeltrace2 plug-in: babeltrace2 does not find it; `flextrace "
		             "convert` does "
		             "without");
}

static void check_memory(struct verdicts *verdicts)
{
	const struct buffer_wish wish = {0};
	struct flextrace_error error = {0};
	char total[32], size[32], free_size[32];
	struct buffer_plan plan;
	uint64_t free_bytes;

	if (access("/dev/shm", W_OK | X_OK) != 0) {
		verdict_fail(verdicts,
		             errno == EROFS ? "mount -o remount,rw /dev/shm"
		                            : "chmod 1777 /dev/shm",
		             "/dev/shm: not writable (%s)", strerror(errno));
		return;
	}
	if (buffers_free_bytes("/dev/shm", &free_bytes, &error) < 0 ||
	    buffers_plan(&wish, buffers_possible_cpus(), free_bytes, &plan, &error) < 0) {
		verdict_fail(verdicts, NULL, "/dev/shm: %s", error.message);
		return;
	}
	verdict_print(verdicts, plan.is_scaled ? VERDICT_WARN : VERDICT_OK,
	              plan.is_scaled
	                      ? "enlarge /dev/shm (docker run --shm-size=2g) if events are lost"
	                      : NULL,
	              "/dev/shm: buffers of %" PRIu64 " x %s on %" PRIu32 " CPUs take %s of %s",
	              plan.events.n_subbufs, buffers_format_size(plan.events.subbuf_bytes, size),
	              plan.n_cpus, buffers_format_size(plan.total_bytes, total),
	              buffers_format_size(free_bytes, free_size));
}

static void check_machine(struct verdicts *verdicts)
{
	static const struct tool daemon = {
		"lttng-tools", {"lttng-sessiond", "--version", NULL}, "lttng-tools", 2, 13};
	static const struct tool babeltrace = {
		"babeltrace2", {"babeltrace2", "--version", NULL}, "babeltrace2", 2, 0};

	check_daemon(verdicts, check_tool(verdicts, &daemon));
	check_group(verdicts);
	check_provider(verdicts);
	check_memory(verdicts);
	if (check_tool(verdicts, &babeltrace))
		check_plugin(verdicts);
	if (verdicts->n_failures)
		printf("\nrecording will not work: failures=%d, warnings=%d\n",
		       verdicts->n_failures, verdicts->n_warnings);
	else
		printf("\nrecording works: warnings=%d\n", verdicts->n_warnings);
}

struct doctor_options {
	int64_t pid;
};

static const struct option_spec option_table[] = {
	OPTION("pid", 0, NUMBER, offsetof(struct doctor_options, pid), "PID",
               "Look at this running process: instrumented, loaded, registered, recorded", .min = 1,
               .max = INT32_MAX),
	{.name = NULL}};

static int run_doctor(void *values, int n_operands, char **operands)
{
	const struct doctor_options *options = values;
	struct verdicts verdicts = {0};

	if (!options->pid && !n_operands)
		check_machine(&verdicts);
	if (options->pid)
		doctor_process(&verdicts, (pid_t)options->pid);
	for (int i = 0; i < n_operands; i++)
		doctor_file(&verdicts, operands[i]);
	return verdicts.n_failures ? CLI_INPUT : CLI_OK;
}

const struct command doctor_command = {
	.name = "doctor",
	.operands = "[FILE...]",
	.summary = "Check whether this machine can record, and say how to mend it",
	.text = "With --pid, looks at a running process instead; with FILEs, into programs, "
		"libraries or firmware images: whether they are instrumented, and by which "
		"version. The exit code is 0 if a recording would work, else 2.",
	.tables = {{option_table, 0, NULL}},
	.options_bytes = sizeof(struct doctor_options),
	.run = run_doctor};
