/* SPDX-License-Identifier: Apache-2.0 */
#include "former.h"

#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"

#define MAX_BYTES (UINT64_C(1) << 30) /* of a packet */

static bool is_like(const struct packet_header *header, const struct packet_header *like)
{
	return memcmp(header->uuid, like->uuid, sizeof(like->uuid)) == 0 &&
	       header->stream_id == like->stream_id &&
	       header->stream_instance_id == like->stream_instance_id &&
	       header->cpu_id == like->cpu_id;
}

static unsigned char *read_packet(int fd, uint64_t at, uint64_t n)
{
	unsigned char *bytes = malloc(n);
	uint64_t n_read = 0;

	while (bytes && n_read < n) {
		ssize_t n_more = pread(fd, bytes + n_read, n - n_read, (off_t)(at + n_read));

		if (n_more <= 0) {
			free(bytes);
			return NULL;
		}
		n_read += (uint64_t)n_more;
	}
	return bytes;
}

static unsigned char *find_packet(int fd, const struct packet_header *like, uint64_t number,
                                  uint64_t *ret_n_bytes)
{
	struct packet_header header;
	uint64_t n;

	for (uint64_t at = 0;
	     pread(fd, &header, sizeof(header), (off_t)at) == (ssize_t)sizeof(header); at += n) {
		n = header.packet_bits / 8;
		if (header.magic != CTF_MAGIC || n < sizeof(header) || n > MAX_BYTES)
			return NULL;
		if (header.number != number || !is_like(&header, like))
			continue;
		*ret_n_bytes = n;
		return read_packet(fd, at, n);
	}
	return NULL;
}

unsigned char *former_read(const char *dir, const char *name, const struct packet_header *like,
                           uint64_t number, uint64_t *ret_n_bytes)
{
	/* Below these, where the trace is not rotated, and where it is. */
	static const char *const above[] = {"", "*/", "*/*/"};
	unsigned char *found = NULL;
	char pattern[512];
	glob_t files;

	for (size_t i = 0; !found && i < sizeof(above) / sizeof(above[0]); i++) {
		snprintf(pattern, sizeof(pattern), "%sust/uid/*/*-bit/%s*", above[i], name);
		glob_in(dir, pattern, &files);
		for (size_t j = 0; !found && j < files.gl_pathc; j++) {
			int fd = open(files.gl_pathv[j], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

			if (fd < 0)
				continue;
			found = find_packet(fd, like, number, ret_n_bytes);
			close(fd);
		}
		globfree(&files);
	}
	return found;
}
