/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_malloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Atomic uint64_t n_asked;
static _Atomic uint64_t first_failing, last_failing; /* of the n_asked-th; 0 = none */
static atomic_bool has_failed;
static void (*watch)(void *context, uint64_t n);
static void *watch_context;

/* The linker's names for what is wrapped, and for what wraps it. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t item_bytes);
void *__real_realloc(void *bytes, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
int __real_vasprintf(char **ret_text, const char *format, va_list arguments);
FILE *__real_open_memstream(char **ret_text, size_t *ret_n);
void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t item_bytes);
void *__wrap_realloc(void *bytes, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
int __wrap_vasprintf(char **ret_text, const char *format, va_list arguments);
int __wrap_asprintf(char **ret_text, const char *format, ...) __attribute__((format(printf, 2, 3)));
FILE *__wrap_open_memstream(char **ret_text, size_t *ret_n);
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);

static void set(uint64_t first, uint64_t last)
{
	n_asked = 0;
	first_failing = first;
	last_failing = last;
	has_failed = false;
}

void failing_malloc_set(uint64_t n)
{
	set(n, n ? UINT64_MAX : 0);
}

void failing_malloc_set_once(uint64_t n)
{
	set(n, n);
}

bool failing_malloc_has_failed(void)
{
	return has_failed;
}

void failing_malloc_watch(void (*new_watch)(void *context, uint64_t n), void *context)
{
	n_asked = 0;
	watch = new_watch;
	watch_context = context;
}

static bool must_fail(void)
{
	uint64_t n = ++n_asked;

	if (watch)
		watch(watch_context, n);
	if (!first_failing || n < first_failing || n > last_failing)
		return false;
	has_failed = true;
	return true;
}

void *failing_malloc(size_t n)
{
	return __wrap_malloc(n);
}

void *__wrap_malloc(size_t n)
{
	return must_fail() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t item_bytes)
{
	return must_fail() ? NULL : __real_calloc(n, item_bytes);
}

void *__wrap_realloc(void *bytes, size_t n)
{
	return must_fail() ? NULL : __real_realloc(bytes, n);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
	return must_fail() ? NULL : __real_aligned_alloc(alignment, n);
}

char *__wrap_strdup(const char *text)
{
	return must_fail() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
	return must_fail() ? NULL : __real_strndup(text, n);
}

/* What glibc leaves in *ret_text then is not to be relied on. */
int __wrap_vasprintf(char **ret_text, const char *format, va_list arguments)
{
	if (!must_fail())
		return __real_vasprintf(ret_text, format, arguments);
	*ret_text = (char *)-1;
	return -1;
}

int __wrap_asprintf(char **ret_text, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = __wrap_vasprintf(ret_text, format, arguments);
	va_end(arguments);
	return n;
}

FILE *__wrap_open_memstream(char **ret_text, size_t *ret_n)
{
	return must_fail() ? NULL : __real_open_memstream(ret_text, ret_n);
}

void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return must_fail() ? MAP_FAILED : __real_mmap(at, n, protection, flags, fd, offset);
}
