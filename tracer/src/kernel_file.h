/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_file.h: small files of the kernel. No malloc, no lock, and no close() of the program's:
 * may be read in a signal handler and in a fork.
 */
#ifndef FLEXTRACE_TRACER_KERNEL_FILE_H
#define FLEXTRACE_TRACER_KERNEL_FILE_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Reads the beginning of a file into `text`, which ends with NUL then. 0: there is nothing. */
static inline int kernel_file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		syscall(SYS_close, fd);
	return n > 0;
}

/* What tells namespaces apart; 0 = not known. */
static inline uint64_t kernel_file_inode(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : (uint64_t)status.st_ino;
}

#endif
