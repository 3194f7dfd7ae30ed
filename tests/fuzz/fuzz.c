/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_fail(const char *what)
{
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

const char *fuzz_file(const uint8_t *data, size_t n)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
		fuzz_fail("no memory for a file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static char dir[256];

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static void remove_dir(void)
{
	nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_dir(void)
{
	const char *parent = getenv("TMPDIR");

	if (dir[0])
		return dir;
	snprintf(dir, sizeof(dir), "%s/flextrace-fuzz-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(dir))
		fuzz_fail("no directory");
	atexit(remove_dir);
	return dir;
}

const char *fuzz_file_in_dir(const char *name, const uint8_t *data, size_t n)
{
	static char path[sizeof(dir) + 64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fuzz_dir(), name);
	file = fopen(path, "we");
	if (!file || (n && fwrite(data, n, 1, file) != 1) || fclose(file) != 0)
		fuzz_fail("no file");
	return path;
}

const uint8_t *fuzz_part(const uint8_t *data, size_t n, uint32_t part, size_t *ret_n)
{
	static const size_t length = sizeof(FUZZ_SEPARATOR) - 1;
	const uint8_t *end = data + n;

	for (;; part--) {
		const uint8_t *next = memmem(data, (size_t)(end - data), FUZZ_SEPARATOR, length);

		*ret_n = (size_t)((next ? next : end) - data);
		if (part == 0)
			return data;
		if (!next)
			return NULL;
		data = next + length;
	}
}

uint8_t fuzz_u8(struct fuzz_bytes *bytes)
{
	return bytes->at < bytes->end ? *bytes->at++ : 0;
}

uint32_t fuzz_u32(struct fuzz_bytes *bytes)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value |= (uint32_t)fuzz_u8(bytes) << 8 * i;
	return value;
}

uint64_t fuzz_u64(struct fuzz_bytes *bytes)
{
	uint64_t low = fuzz_u32(bytes);

	return low | (uint64_t)fuzz_u32(bytes) << 32;
}
