/* SPDX-License-Identifier: Apache-2.0 */
#include "provider.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/paths.h"
#include "patience.h"

#define MARGIN_S    10 /* beside the time that LTTng waits */
#define PLUGIN_FILE "babeltrace-plugin-flextrace.so"

/* Finds a file in the build tree, or where it was installed, each as seen from the folder of this
 * command. */
static bool find_beside(const char *built, const char *installed, const char *file,
                        char ret_path[PATH_MAX])
{
	const char *const folders[] = {built, installed};
	char self[PATH_MAX], path[PATH_MAX + 256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/../%s%s", self, folders[i], file);
		if (realpath(path, ret_path))
			return true;
	}
	return false;
}

bool library_find(const char *folder, const char *file, char ret_path[PATH_MAX])
{
	char built[64];

	snprintf(built, sizeof(built), "tracer/%s", folder);
	return find_beside(built, FLEXTRACE_LIBDIR "/", file, ret_path);
}

const char *provider_choose(char ret_path[PATH_MAX])
{
	const char *wanted = secure_getenv("FLEXTRACE_PROVIDER");

	if (wanted && wanted[0])
		snprintf(ret_path, PATH_MAX, "%s", wanted);
	else if (!library_find("", PROVIDER_FILE, ret_path))
		memcpy(ret_path, PROVIDER_FILE, sizeof(PROVIDER_FILE));
	return ret_path;
}

bool plugin_find(char ret_dir[PATH_MAX])
{
	if (!find_beside("converter/bt2/", FLEXTRACE_LIBDIR "/babeltrace2/plugins/", PLUGIN_FILE,
	                 ret_dir))
		return false;
	*strrchr(ret_dir, '/') = '\0';
	return true;
}

/* In the child: the command itself must not register. Leaves without the library's farewell to the
 * daemon. */
_Noreturn static void load_and_tell(const char *path, int timeout_ms, int report)
{
	const char *reason;
	char timeout[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(timeout, sizeof(timeout), "%d", timeout_ms);
	setenv("LTTNG_UST_REGISTER_TIMEOUT", timeout, 1);
	reason = dlopen(path, RTLD_NOW | RTLD_LOCAL) ? NULL : dlerror();
	if (reason && write(report, reason, strlen(reason)) < 0)
		_exit(2);
	_exit(reason ? 1 : 0);
}

int provider_try(const char *path, int timeout_ms, struct flextrace_error *error)
{
	struct patience patience = {.what = "the LTTng provider to load",
	                            .limit_s = timeout_ms / 1000 + MARGIN_S};
	char reason[400] = "";
	int report[2], status = 0;
	bool has_ended;
	ssize_t n;
	pid_t pid;

	if (pipe2(report, O_NONBLOCK | O_CLOEXEC) != 0)
		return error_set(error, FLEXTRACE_E_SYSTEM, "Cannot make a pipe: reason=%s",
		                 strerror(errno));
	pid = fork();
	if (pid == 0)
		load_and_tell(path, timeout_ms, report[1]);
	has_ended = pid > 0 && patience_reap(&patience, pid, &status);
	n = read(report[0], reason, sizeof(reason) - 1);
	close(report[0]);
	close(report[1]);
	reason[n > 0 ? n : 0] = '\0';
	if (pid < 0)
		return error_set(error, FLEXTRACE_E_SYSTEM, "Cannot fork");
	if (!has_ended)
		return 1;
	if (status != 0)
		return error_set(error, FLEXTRACE_E_SYSTEM, "%s",
		                 reason[0] ? reason : "it ends the process that loads it");
	return FLEXTRACE_OK;
}
