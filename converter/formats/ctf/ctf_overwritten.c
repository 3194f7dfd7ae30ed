/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf_overwritten.h"

#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text/text_file.h"

#define MAGIC               UINT32_C(0xC1FC1FC1)
#define UUID_OFFSET         4
#define SEQUENCE_OFFSET     64
#define DISCARDED_OFFSET    72
#define HEAD_BYTES          80
#define MAX_METADATA_BYTES  ((size_t)16 << 20)
#define METADATA_MAGIC      UINT32_C(0x75D11D57)
#define METADATA_HEAD_BYTES 37 /* of each packet that metadata is cut into */
#define METADATA_CONTENT    24 /* u32, bits, in it */

/* -- metadata: only LTTng-UST's streams are numbered like that --------------------------------- */

/* Takes the heads of packets out of `bytes`, in place; returns how many are left. */
static size_t unpack(char *bytes, size_t n)
{
	bool swapped = n >= 4 && ctf_load32(bytes, false) == __builtin_bswap32(METADATA_MAGIC);
	size_t n_left = 0, at = 0;

	if (n < 4 || ctf_load32(bytes, swapped) != METADATA_MAGIC)
		return n;
	while (n - at > METADATA_HEAD_BYTES && ctf_load32(bytes + at, swapped) == METADATA_MAGIC) {
		size_t content = ctf_load32(bytes + at + METADATA_CONTENT, swapped) / 8;
		size_t packet = ctf_load32(bytes + at + METADATA_CONTENT + 4, swapped) / 8;

		if (content < METADATA_HEAD_BYTES || packet < content || packet > n - at)
			break;
		memmove(bytes + n_left, bytes + at + METADATA_HEAD_BYTES,
		        content - METADATA_HEAD_BYTES);
		n_left += content - METADATA_HEAD_BYTES;
		at += packet;
	}
	return n_left;
}

char *ctf_metadata_read(const char *dir)
{
	size_t n;
	char *bytes = text_file_read_bytes(path_of(dir, "metadata").text, MAX_METADATA_BYTES, &n);

	if (bytes)
		bytes[unpack(bytes, n)] = '\0';
	return bytes;
}

enum tracer { TRACER_OTHER, TRACER_UST32, TRACER_UST64 };

static enum tracer find_tracer(const char *dir)
{
	enum tracer tracer = TRACER_OTHER;
	char *text = ctf_metadata_read(dir);

	if (text && strstr(text, "tracer_name = \"lttng-ust\"") && strstr(text, "packet_seq_num;"))
		tracer = strstr(text, "architecture_bit_width = 32;") ? TRACER_UST32 : TRACER_UST64;
	free(text);
	return tracer;
}

/* -- streams ----------------------------------------------------------------------------------- */

/* What the head of a stream file's first packet says. */
struct first_packet {
	uint8_t uuid[16];
	uint64_t sequence, n_discarded;
};

static bool read_head(const char *path, unsigned char head[HEAD_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has nothing to tell */
	ssize_t n = fd >= 0 ? read(fd, head, HEAD_BYTES) : -1;

	if (fd >= 0)
		close(fd);
	return n == HEAD_BYTES;
}

/* Reads it; zeros where it cannot be told. */
static struct first_packet read_first(const char *path, enum tracer tracer)
{
	struct first_packet first = {.sequence = 0};
	unsigned char head[HEAD_BYTES];
	bool swapped;

	if (tracer == TRACER_OTHER || !read_head(path, head))
		return first;
	swapped = ctf_load32(head, false) == __builtin_bswap32(MAGIC);
	if (ctf_load32(head, swapped) != MAGIC)
		return first;
	memcpy(first.uuid, head + UUID_OFFSET, sizeof(first.uuid));
	first.sequence = ctf_load64(head + SEQUENCE_OFFSET, swapped);
	first.n_discarded = tracer == TRACER_UST64 ? ctf_load64(head + DISCARDED_OFFSET, swapped)
	                                           : ctf_load32(head + DISCARDED_OFFSET, swapped);
	return first;
}

static int keep_first(const struct ctf_file *file, const struct first_packet *packet,
                      struct ctf_fronts *total)
{
	struct ctf_first *first;

	FLEXTRACE_TRY(ARRAY_ROOM(total->firsts, total->n_firsts));
	first = &total->firsts[total->n_firsts++];
	*first = (struct ctf_first){.class_id = file->class_id,
	                            .instance_id = file->instance_id,
	                            .n_discarded = packet->n_discarded};
	memcpy(first->uuid, packet->uuid, sizeof(first->uuid));
	return FLEXTRACE_OK;
}

static bool is_snapshot(const struct ctf_dir *dir, const struct ctf_file *file)
{
	return access(ctf_index_of(dir->path, file->name).text, F_OK) != 0;
}

static bool is_same_stream(const struct ctf_file *a, const struct ctf_file *b)
{
	return b->has_stream && a->class_id == b->class_id && a->instance_id == b->instance_id;
}

/* Adds the least number that a stream begins with in any of its files, where `stream` is the first
 * of these. */
static int add_front(const struct ctf_dir *dirs, uint32_t n_dirs, enum tracer tracer,
                     const struct ctf_file *stream, struct ctf_fronts *total)
{
	const struct ctf_file *first = NULL;
	const struct ctf_dir *in = NULL;
	struct first_packet least = {.sequence = 0};

	for (uint32_t i = 0; i < n_dirs; i++)
		for (uint32_t j = 0; j < dirs[i].n_files; j++) {
			const struct ctf_file *file = &dirs[i].files[j];
			struct first_packet packet;

			if (!is_same_stream(stream, file))
				continue;
			if (!first && file != stream)
				return FLEXTRACE_OK;
			packet = read_first(path_of(dirs[i].path, file->name).text, tracer);
			if (first && packet.sequence >= least.sequence)
				continue;
			least = packet;
			first = file;
			in = &dirs[i];
		}
	if (first && is_snapshot(in, first))
		total->overwritten += least.sequence;
	else if (first && !strstr(in->path, "/archives/"))
		total->elsewhere += least.sequence;
	if (first && !least.sequence && least.n_discarded)
		return keep_first(first, &least, total);
	return FLEXTRACE_OK;
}

uint64_t ctf_first_discarded(const struct ctf_fronts *fronts, const uint8_t uuid[16],
                             uint64_t class_id, uint64_t instance_id)
{
	for (uint32_t i = 0; i < fronts->n_firsts; i++) {
		const struct ctf_first *first = &fronts->firsts[i];

		if (first->class_id == class_id && first->instance_id == instance_id &&
		    memcmp(first->uuid, uuid, sizeof(first->uuid)) == 0)
			return first->n_discarded;
	}
	return 0;
}

uint64_t ctf_discarded_in_front(const char *stream_path, const uint8_t uuid[16])
{
	const char *slash = stream_path ? strrchr(stream_path, '/') : NULL;
	struct first_packet first;
	char dir[PATH_MAX];

	if (!slash || slash - stream_path >= PATH_MAX)
		return 0;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - stream_path), stream_path);
	first = read_first(stream_path, find_tracer(dir));
	return first.sequence == 0 && memcmp(first.uuid, uuid, sizeof(first.uuid)) == 0
	               ? first.n_discarded
	               : 0;
}

int ctf_count_fronts(const struct ctf_dir *dirs, uint32_t n_dirs, struct ctf_fronts *total)
{
	enum tracer tracer = TRACER_OTHER;

	/* All are of one trace, and so of one program's width. */
	for (uint32_t i = 0; i < n_dirs; i++) {
		tracer = find_tracer(dirs[i].path);
		if (tracer == TRACER_OTHER)
			return FLEXTRACE_OK;
	}
	for (uint32_t i = 0; i < n_dirs; i++)
		for (uint32_t j = 0; j < dirs[i].n_files; j++)
			if (dirs[i].files[j].has_stream)
				FLEXTRACE_TRY(
					add_front(dirs, n_dirs, tracer, &dirs[i].files[j], total));
	return FLEXTRACE_OK;
}
