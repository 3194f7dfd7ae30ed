/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "descriptors.h"

#include <fcntl.h>
#include <lttng/urcu/urcu-ust.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "admit.h"
#include "proc_list.h"

/* Of liblttng-ust-common, which no header of LTTng declares; LTTng's liblttng-ust-fd calls it. */
int lttng_ust_safe_close_fd(int fd, int (*close)(int fd));

/* Of the calling thread: the main one may have ended, or another have unshared them. */
#define DESCRIPTORS  "/proc/thread-self/fd"
#define STATIC_BYTES 4096 /* thread-local memory that is static is nearer to ours than that */

/*
 * Whether asking takes no malloc() in any thread: the thread-local memory of liblttng-ust-common
 * (24 bytes) is beside ours, since the provider is built so that the loader puts it there if it
 * can. Where it could not, threads that are not warm close without asking: better that than a
 * close() in a signal handler that waits for ever.
 */
static int is_static;

void descriptors_init(void)
{
	intptr_t distance = (intptr_t)&URCU_TLS(lttng_ust_urcu_reader) - (intptr_t)&admit_warmth;

	is_static = distance < STATIC_BYTES && distance > -STATIC_BYTES;
}

/* Called under LTTng's lock, of a number that is not LTTng's: if it is open it is the program's,
 * and does not become LTTng's before the program has closed it. */
static int is_closed(int fd)
{
	return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

/* Not under LTTng's lock: it may wait, for a peer or for a file system, and whoever forks or closes
 * something else would wait with it. */
static int close_programs(int fd, int (*real)(int fd))
{
	return lttng_ust_safe_close_fd(fd, is_closed) < 0 ? -1 : real(fd);
}

int descriptors_close(int fd, int (*real)(int fd))
{
	return is_static || admit_warmth == ADMIT_WARM ? close_programs(fd, real) : real(fd);
}

struct range {
	unsigned int first;
	unsigned int last;
	int (*real)(int fd);
};

static int close_one(int fd, void *data)
{
	const struct range *range = data;

	if ((unsigned int)fd >= range->first && (unsigned int)fd <= range->last)
		close_programs(fd, range->real);
	return 0;
}

int descriptors_close_range(unsigned int first, unsigned int last, int (*real)(int fd))
{
	struct range range = {first, last, real};

	return proc_list(DESCRIPTORS, close_one, &range);
}

static int keep_open(int fd)
{
	(void)fd;
	return 0;
}

static int lead_nowhere(int fd, void *null)
{
	if (lttng_ust_safe_close_fd(fd, keep_open) < 0)
		syscall(SYS_dup3, *(const int *)null, fd, O_CLOEXEC);
	return 0;
}

void descriptors_leave(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	proc_list(DESCRIPTORS, lead_nowhere, &null);
	syscall(SYS_close, null);
}
