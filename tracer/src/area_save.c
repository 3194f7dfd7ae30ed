/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
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

int flextrace_drain_save(const struct flextrace_drain_area *areas, size_t n_areas, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600), code = 0;
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
