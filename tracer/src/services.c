/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "services.h"

#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* the same on all machines */
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif
#define N_WITHOUT_PROC 65536u /* descriptors that are tried one by one where there is no /proc */

static const struct flextrace_i_services *published;
static uint64_t n_left_out; /* before there were any */

void flextrace_i_services_set(const struct flextrace_i_services *new_services)
{
	if (!new_services || new_services->size < sizeof(*new_services))
		return;
	__atomic_store_n(&published, new_services, __ATOMIC_RELEASE);
	new_services->leave_out(__atomic_exchange_n(&n_left_out, 0, __ATOMIC_RELAXED));
}

/* NULL = there are none. Any thread, also in signal handlers. */
static const struct flextrace_i_services *borrow(void)
{
	return __atomic_load_n(&published, __ATOMIC_ACQUIRE);
}

void flextrace_i_services_leave_out(void)
{
	const struct flextrace_i_services *s = borrow();

	if (s)
		s->leave_out(1);
	else
		__atomic_fetch_add(&n_left_out, 1, __ATOMIC_RELAXED);
}

void flextrace_thread_init(void)
{
	const struct flextrace_i_services *s = borrow();

	if (s)
		s->init_thread();
}

uint64_t flextrace_n_unrecorded(void)
{
	const struct flextrace_i_services *s = borrow();

	return s ? s->n_unrecorded() : 0;
}

int flextrace_i_enter_handler(enum flextrace_i_event event)
{
	const struct flextrace_i_services *s = borrow();

	if (!s)
		flextrace_i_services_leave_out();
	return s && s->enter_handler(event);
}

/* -- closing descriptors -- */

/* glibc's own name of close(), a cancellation point; elsewhere the system call. */
extern int __close(int fd) __attribute__((__weak__));

static int close_plainly(int fd)
{
	return __close ? __close(fd) : (int)syscall(SYS_close, fd);
}

static void closefrom_plainly(int first)
{
	syscall(SYS_close_range, first < 0 ? 0 : first, ~0u, 0);
}

static int close_range_plainly(unsigned int first, unsigned int last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

/* What ours stand before. */
static struct {
	int (*close)(int fd);
	void (*closefrom)(int first);
	int (*close_range)(unsigned int first, unsigned int last, int flags);
} next = {close_plainly, closefrom_plainly, close_range_plainly};

/* Puts the next function of that name into the pointer at `function`, if there is one. */
static void find_next(const char *name, void *function)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	if (symbol)
		memcpy(function, &symbol, sizeof(symbol));
}

void flextrace_i_services_init(void)
{
	find_next("close", &next.close);
	find_next("closefrom", &next.closefrom);
	find_next("close_range", &next.close_range);
}

static void close_one_by_one(const struct flextrace_i_services *services, unsigned int first,
                             unsigned int last)
{
	unsigned int fd;

	for (fd = first; fd <= last && fd < N_WITHOUT_PROC; fd++)
		services->close((int)fd, next.close);
	if (last >= N_WITHOUT_PROC)
		next.close_range(first > N_WITHOUT_PROC ? first : N_WITHOUT_PROC, last, 0);
}

static void close_all(const struct flextrace_i_services *services, unsigned int first,
                      unsigned int last)
{
	if (services->close_range(first, last, next.close))
		close_one_by_one(services, first, last);
}

#pragma GCC visibility push(default)
/* NOLINTBEGIN(readability-redundant-declaration): libc's headers do not say that they are weak */
int close(int fd) __attribute__((__weak__));
void closefrom(int first) __attribute__((__weak__));
int close_range(unsigned int first, unsigned int last, int flags) __attribute__((__weak__));
/* NOLINTEND(readability-redundant-declaration) */

int close(int fd)
{
	const struct flextrace_i_services *services = borrow();

	return services ? services->close(fd, next.close) : next.close(fd);
}

void closefrom(int first)
{
	const struct flextrace_i_services *services = borrow();

	if (services)
		close_all(services, first < 0 ? 0 : (unsigned int)first, ~0u);
	else
		next.closefrom(first);
}

int close_range(unsigned int first, unsigned int last, int flags)
{
	const struct flextrace_i_services *services = borrow();

	if (!services || first > last || (flags & ~CLOSE_RANGE_UNSHARE))
		return next.close_range(first, last, flags);
	if (flags && unshare(CLONE_FILES))
		return -1;
	close_all(services, first, last);
	return 0;
}
#pragma GCC visibility pop
