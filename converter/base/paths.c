/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
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

/* Copies what stands between two offsets. */
static int copy_range(int from, int to, off_t at, off_t end)
{
	if (lseek(to, at, SEEK_SET) < 0)
		return -1;
	while (at < end) {
		size_t step = end - at < (1 << 30) ? (size_t)(end - at) : 1u << 30;
		ssize_t copied = sendfile(to, from, &at, step);

		if (copied < 0)
			return -1;
		if (copied == 0) {
			errno = EIO; /* the file shrank under us */
			return -1;
		}
	}
	return 0;
}

/* Holes stay holes: a small archive may hold a file that is larger than any disk. */
static int copy_bytes(int from, int to, uint64_t n_bytes)
{
	off_t end = (off_t)n_bytes;

	if (lseek(from, 0, SEEK_END) < end) {
		errno = EIO; /* the file shrank under us */
		return -1;
	}
	for (off_t at = 0, hole; at < end; at = hole) {
		off_t data = lseek(from, at, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			break;
		if (data < 0) /* there are file systems that do not know */
			data = at;
		hole = lseek(from, data, SEEK_HOLE);
		if (hole <= data || hole > end)
			hole = end;
		if (copy_range(from, to, data, hole) < 0)
			return -1;
	}
	return ftruncate(to, end);
}

bool path_copy_front(const char *from, const char *to, uint64_t n_bytes)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	bool is_whole = false;

	if (in < 0)
		return false;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out >= 0) {
		is_whole = copy_bytes(in, out, n_bytes) == 0;
		is_whole &= close(out) == 0;
	}
	close(in);
	return is_whole;
}

bool path_copy(const char *from, const char *to)
{
	struct stat status;

	if (stat(from, &status) < 0)
		return false;
	unlink(to);
	return path_copy_front(from, to, (uint64_t)status.st_size);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	remove(path);
	return 0;
}

void path_remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
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

const char *temporary_directory(void)
{
	const char *directory = secure_getenv("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}

int temporary_file_open(void)
{
	int fd = open(temporary_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[PATH_MAX];

	/* Not every file system knows files that never had a name. */
	if (fd >= 0 || path_join(path, temporary_directory(), "flextrace-XXXXXX", NULL) < 0)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
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
