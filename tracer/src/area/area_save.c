/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <flextrace/drain.h>

#define WORDS_AT_ONCE 1024u

static int write_all(int fd, const void *bytes, size_t n_bytes)
{
	const char *at = bytes;

	while (n_bytes) {
		ssize_t n = write(fd, at, n_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

/* Device memory is read in words, as the drain does. A file's areas begin at multiples of 8. */
static int save(int fd, const struct flextrace_drain_area *area)
{
	const uint32_t *from = area->memory;
	size_t n_words = area->bytes / 8 * 2, i = 0;
	uint32_t words[WORDS_AT_ONCE];

	while (i < n_words) {
		size_t n = 0;
		int code;

		for (; n < WORDS_AT_ONCE && i < n_words; i++)
			words[n++] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
		code = write_all(fd, words, n * sizeof(*words));
		if (code < 0)
			return code;
	}
	return 0;
}

/* A file that nobody else has, in place of the one that stands there, which others might read. What
 * is no file is written to, if it takes it at once: of a pipe, do not wait for a reader. */
static int create(const char *path)
{
	const int flags = O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags | O_CREAT | O_EXCL, 0600);
	struct stat status;

	if (fd >= 0 || errno != EEXIST || lstat(path, &status) < 0)
		return fd;
	if (!S_ISREG(status.st_mode))
		return open(path, flags | O_NONBLOCK);
	unlink(path);
	return open(path, flags | O_CREAT | O_EXCL, 0600);
}

int flextrace_drain_save(const struct flextrace_drain_area *areas, size_t n_areas, const char *path)
{
	int fd = create(path), code = 0;
	size_t i;

	if (fd < 0)
		return -errno;
	for (i = 0; i < n_areas && code == 0; i++) {
		if (areas[i].memory)
			code = save(fd, &areas[i]);
	}
	if (close(fd) < 0 && code == 0)
		code = -errno;
	return code;
}
