/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "proc_list.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the system call getdents64 fills a buffer with. */
struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short n_bytes;
	unsigned char type;
	char name[];
};

/* The number that `text` is, -1 if it is none. */
static int parse(const char *text)
{
	int number = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || number > (INT_MAX - 9) / 10)
			return -1;
		number = number * 10 + (*text - '0');
	}
	return number;
}

static int visit_entries(const char *buffer, long n_bytes, int own,
                         int (*visit)(int number, void *data), void *data)
{
	unsigned short length;
	int result = 0;
	long at;

	for (at = 0; at < n_bytes && !result; at += length) {
		int number = parse(buffer + at + offsetof(struct entry, name));

		memcpy(&length, buffer + at + offsetof(struct entry, n_bytes), sizeof(length));
		if (number >= 0 && number != own)
			result = visit(number, data);
	}
	return result;
}

int proc_list(const char *path, int (*visit)(int number, void *data), void *data)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buffer[2048];
	int result = 0;
	long n_bytes;

	if (fd < 0)
		return -1;
	do {
		n_bytes = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
		if (n_bytes > 0)
			result = visit_entries(buffer, n_bytes, fd, visit, data);
	} while (n_bytes > 0 && !result);
	syscall(SYS_close, fd); /* close() may be the program's, or one that asks us */
	return n_bytes < 0 ? -1 : result;
}
