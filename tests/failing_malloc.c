/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_malloc.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t left; /* 0 = none fails, 1 = the next one does and stays */
static atomic_bool has_failed;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t item_bytes);
void *__real_realloc(void *bytes, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t item_bytes);
void *__wrap_realloc(void *bytes, size_t n);

void failing_malloc_set(uint64_t n)
{
	left = n;
	has_failed = false;
}

bool failing_malloc_has_failed(void)
{
	return has_failed;
}

static bool must_fail(void)
{
	uint64_t now = left;

	while (now > 1 && !atomic_compare_exchange_weak(&left, &now, now - 1))
		;
	if (now == 1)
		has_failed = true;
	return now == 1;
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
