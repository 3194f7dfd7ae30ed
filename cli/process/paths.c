/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int path_join(char ret_path[PATH_MAX], const char *dir, const char *name,
              struct flextrace_error *error)
{
	int n = snprintf(ret_path, PATH_MAX, "%s/%s", dir, name);

	if (n >= 0 && n < PATH_MAX)
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_OUTPUT, "Path is too long: path=%.64s...", dir);
}

struct path path_of(const char *dir, const char *name)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), "%s/%s", dir, name);
	return path;
}

bool path_is_there(const char *dir, const char *name)
{
	return access(path_of(dir, name).text, F_OK) == 0;
}

bool path_has_type(const char *path, mode_t type)
{
	struct stat status;

	return stat(path, &status) == 0 && (status.st_mode & S_IFMT) == type;
}

void path_remove(const char *dir, const char *name)
{
	unlink(path_of(dir, name).text);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int path_not_made(const char *what, const char *path, struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_OUTPUT, "Cannot make the %s: path=%s, reason=%s", what,
	                 path, strerror(errno));
}

FILE *path_create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

bool path_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	struct stat status;
	bool is_whole = false;

	if (in < 0)
		return false;
	unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out >= 0 && fstat(in, &status) == 0) {
		ssize_t n = 0;
		off_t left = status.st_size;

		while (left > 0 && (n = sendfile(out, in, NULL, (size_t)left)) > 0)
			left -= n;
		is_whole = left == 0;
	}
	if (out >= 0 && close(out) != 0)
		is_whole = false;
	close(in);
	return is_whole;
}

size_t path_read(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(text, 1, size - 1, file) : 0;

	if (file)
		fclose(file);
	text[n] = '\0';
	return n;
}

size_t glob_in(const char *dir, const char *pattern, glob_t *ret_found)
{
	char path[2 * PATH_MAX + 64];
	size_t n = 0;

	*ret_found = (glob_t){.gl_pathc = 0};
	if (strlen(dir) >= PATH_MAX)
		return 0;
	for (; *dir; dir++) {
		if (strchr("*?[\\", *dir))
			path[n++] = '\\';
		path[n++] = *dir;
	}
	snprintf(path + n, sizeof(path) - n, "/%s", pattern);
	if (glob(path, 0, NULL, ret_found) == 0)
		return ret_found->gl_pathc;
	globfree(ret_found);
	*ret_found = (glob_t){.gl_pathc = 0};
	return 0;
}

size_t glob_count(const char *dir, const char *pattern)
{
	glob_t found;
	size_t n = glob_in(dir, pattern, &found);

	globfree(&found);
	return n;
}

uint64_t glob_sum_bytes(const char *dir, const char *pattern)
{
	uint64_t n_bytes = 0;
	struct stat status;
	glob_t found;

	glob_in(dir, pattern, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (stat(found.gl_pathv[i], &status) == 0)
			n_bytes += (uint64_t)status.st_size;
	globfree(&found);
	return n_bytes;
}
