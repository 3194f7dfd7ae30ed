/* SPDX-License-Identifier: Apache-2.0 */
#include "output_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/run_json.h"

static int make_dir(const char *dir)
{
	struct stat info;

	if (mkdir(dir, 0700) == 0)
		return 0;
	if (errno == EEXIST && stat(dir, &info) == 0)
		return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
	return errno;
}

int output_dir_create(const char *dir, struct flextrace_error *error)
{
	char *path = strdup(dir);
	int cause = 0;

	if (!path)
		return error_set(error, FLEXTRACE_E_MEMORY, "Cannot create directory: path=%s",
		                 dir);
	for (char *at = path; *at && cause == 0; at++) { /* each parent; the root is there */
		if (*at != '/' || at == path)
			continue;
		*at = '\0';
		cause = make_dir(path);
		*at = '/';
	}
	if (cause == 0)
		cause = make_dir(path);
	free(path);
	if (cause)
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "Cannot create output directory: path=%s, reason=%s", dir,
		                 strerror(cause));
	return 0;
}

static int remove_old_run(const char *dir, struct flextrace_error *error)
{
	char *path = NULL;
	int cause = 0;

	if (asprintf(&path, "%s/" RUN_JSON_FILE, dir) < 0)
		return error_set(error, FLEXTRACE_E_MEMORY, "Cannot remove run.json: no memory");
	if (unlink(path) != 0 && errno != ENOENT)
		cause = errno;
	if (cause)
		error_set(error, FLEXTRACE_E_OUTPUT,
		          "Cannot replace output file: path=%s, reason=%s", path, strerror(cause));
	free(path);
	return cause ? FLEXTRACE_E_OUTPUT : 0;
}

/* Some file systems know no locks: whoever writes there is not kept apart from others. */
static int lock(const char *dir, int *ret_lock, struct flextrace_error *error)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		close(fd);
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "Another conversion writes into the output directory, wait for it "
		                 "or choose another: path=%s",
		                 dir);
	}
	*ret_lock = fd;
	return 0;
}

int output_dir_open(const char *dir, int *ret_lock, struct flextrace_error *error)
{
	int code;

	FLEXTRACE_TRY(output_dir_create(dir, error));
	FLEXTRACE_TRY(lock(dir, ret_lock, error));
	code = remove_old_run(dir, error);
	if (code < 0)
		output_dir_close(*ret_lock);
	return code;
}

void output_dir_close(int lock)
{
	if (lock >= 0)
		close(lock);
}
