/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf_overwritten.h"

#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC               UINT32_C(0xC1FC1FC1)
#define SEQUENCE_OFFSET     64
#define MAX_METADATA_BYTES  (16u << 20)
#define METADATA_MAGIC      UINT32_C(0x75D11D57)
#define METADATA_HEAD_BYTES 37 /* of each packet that metadata is cut into */
#define METADATA_CONTENT    24 /* u32, bits, in it */

/* -- metadata: only LTTng-UST's streams are numbered like that --------------------------------- */

static char *read_file(const char *path, size_t *ret_n)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	char *bytes = NULL;

	*ret_n = 0;
	if (!file)
		return NULL;
	if (fstat(fileno(file), &status) == 0 && status.st_size < MAX_METADATA_BYTES)
		bytes = malloc((size_t)status.st_size + 1);
	if (bytes)
		*ret_n = fread(bytes, 1, (size_t)status.st_size, file);
	fclose(file);
	return bytes;
}

static uint32_t load32(const char *from, bool swapped)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

/* Takes the heads of packets out of `bytes`, in place; returns how many are left. */
static size_t unpack(char *bytes, size_t n)
{
	bool swapped = n >= 4 && load32(bytes, false) == __builtin_bswap32(METADATA_MAGIC);
	size_t n_left = 0, at = 0;

	if (n < 4 || load32(bytes, swapped) != METADATA_MAGIC)
		return n;
	while (n - at > METADATA_HEAD_BYTES && load32(bytes + at, swapped) == METADATA_MAGIC) {
		size_t content = load32(bytes + at + METADATA_CONTENT, swapped) / 8;
		size_t packet = load32(bytes + at + METADATA_CONTENT + 4, swapped) / 8;

		if (content < METADATA_HEAD_BYTES || packet < content || packet > n - at)
			break;
		memmove(bytes + n_left, bytes + at + METADATA_HEAD_BYTES,
		        content - METADATA_HEAD_BYTES);
		n_left += content - METADATA_HEAD_BYTES;
		at += packet;
	}
	return n_left;
}

static bool is_lttng_ust(const char *dir)
{
	char path[PATH_MAX];
	bool is_it = false;
	char *bytes;
	size_t n;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	bytes = read_file(path, &n);
	if (bytes) {
		bytes[unpack(bytes, n)] = '\0';
		is_it = strstr(bytes, "tracer_name = \"lttng-ust\"") &&
		        strstr(bytes, "packet_seq_num;");
	}
	free(bytes);
	return is_it;
}

/* -- streams ----------------------------------------------------------------------------------- */

/* The number of a stream file's first packet; 0 where it cannot be told. */
static uint64_t first_sequence(const struct ctf_dir *dir, const struct ctf_file *file)
{
	unsigned char head[SEQUENCE_OFFSET + sizeof(uint64_t)];
	char path[PATH_MAX];
	uint64_t sequence;
	uint32_t magic;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir->path, file->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, head, sizeof(head)) : -1;
	if (fd >= 0)
		close(fd);
	if (n != sizeof(head))
		return 0;
	memcpy(&magic, head, sizeof(magic));
	memcpy(&sequence, head + SEQUENCE_OFFSET, sizeof(sequence));
	return magic == MAGIC ? sequence : __builtin_bswap64(sequence);
}

static bool is_snapshot(const struct ctf_dir *dir, const struct ctf_file *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/index/%s.idx", dir->path, file->name);
	return access(path, F_OK) != 0;
}

static bool is_same_stream(const struct ctf_file *a, const struct ctf_file *b)
{
	return b->has_stream && a->class_id == b->class_id && a->instance_id == b->instance_id;
}

/* Adds the least number that a stream begins with in any of its files, where `stream` is the first
 * of these. */
static void add_front(const struct ctf_dir *dirs, uint32_t n_dirs, const struct ctf_file *stream,
                      struct ctf_fronts *total)
{
	const struct ctf_file *first = NULL;
	const struct ctf_dir *in = NULL;
	uint64_t least = 0;

	for (uint32_t i = 0; i < n_dirs; i++)
		for (uint32_t j = 0; j < dirs[i].n_files; j++) {
			const struct ctf_file *file = &dirs[i].files[j];
			uint64_t sequence;

			if (!is_same_stream(stream, file))
				continue;
			if (!first && file != stream)
				return;
			sequence = first_sequence(&dirs[i], file);
			if (first && sequence >= least)
				continue;
			least = sequence;
			first = file;
			in = &dirs[i];
		}
	if (first && is_snapshot(in, first))
		total->overwritten += least;
	else if (first && !strstr(in->path, "/archives/"))
		total->elsewhere += least;
}

void ctf_count_fronts(const struct ctf_dir *dirs, uint32_t n_dirs, struct ctf_fronts *total)
{
	for (uint32_t i = 0; i < n_dirs; i++)
		if (!is_lttng_ust(dirs[i].path))
			return;
	for (uint32_t i = 0; i < n_dirs; i++)
		for (uint32_t j = 0; j < dirs[i].n_files; j++)
			if (dirs[i].files[j].has_stream)
				add_front(dirs, n_dirs, &dirs[i].files[j], total);
}
