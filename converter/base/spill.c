/* SPDX-License-Identifier: Apache-2.0 */
#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "paths.h"

#define MAX_FILE_BYTES  ((size_t)4 << 40)
#define MIN_FILE_BYTES  ((size_t)256 << 20)
#define MIN_SWEEP_BYTES ((size_t)1 << 20)
#define SWEEPS          8 /* to a limit */

static struct {
	char *base; /* owned; NULL = off */
	size_t n_bytes;
	int fd;
	size_t sweep_bytes;
	pthread_mutex_t lock;
	size_t used_bytes;             /* locked */
	_Atomic(size_t) touched_bytes; /* since the last sweep */
	_Atomic(int) failure;          /* errno of the file; 0 = none */
} spill = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static int fail(const char *what, int cause, struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_OUTPUT,
	                 "%s temporary file: directory=%s, reason=%s; name another directory in "
	                 "TMPDIR",
	                 what, temporary_directory(), strerror(cause));
}

/* Maps the file as large as it can be, in steps of 4. */
static char *map_file(size_t *ret_n_bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return NULL;
	for (size_t n_bytes = MAX_FILE_BYTES; n_bytes >= MIN_FILE_BYTES; n_bytes /= 4) {
		void *base;

		/* Beyond the limit is a signal. */
		errno = EFBIG;
		if (n_bytes > limit.rlim_cur || ftruncate(spill.fd, (off_t)n_bytes) < 0)
			continue;
		base = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		            spill.fd, 0);
		if (base != MAP_FAILED) {
			*ret_n_bytes = n_bytes;
			return base;
		}
	}
	return NULL;
}

static int make_file(struct flextrace_error *error)
{
	int cause;

	spill.fd = temporary_file_open();
	if (spill.fd >= 0)
		spill.base = map_file(&spill.n_bytes);
	if (spill.base)
		return FLEXTRACE_OK;
	cause = errno;
	if (spill.fd >= 0)
		close(spill.fd);
	return fail("Cannot make a", cause, error);
}

int spill_begin(uint64_t limit_bytes, struct flextrace_error *error)
{
	size_t sweep_bytes = limit_bytes / SWEEPS;

	if (sweep_bytes < MIN_SWEEP_BYTES)
		sweep_bytes = MIN_SWEEP_BYTES;
	if (!spill.base || sweep_bytes < spill.sweep_bytes)
		spill.sweep_bytes = sweep_bytes;
	return spill.base ? FLEXTRACE_OK : make_file(error);
}

bool spill_is_on(void)
{
	return spill.base != NULL;
}

bool spill_owns(const void *bytes)
{
	return spill.base && (uintptr_t)bytes - (uintptr_t)spill.base < spill.n_bytes;
}

void *spill_reserve(size_t n_bytes, size_t alignment)
{
	void *range = NULL;
	size_t from;

	pthread_mutex_lock(&spill.lock);
	from = (spill.used_bytes + alignment - 1) & -alignment;
	if (n_bytes <= spill.n_bytes && from <= spill.n_bytes - n_bytes) {
		range = spill.base + from;
		spill.used_bytes = from + n_bytes;
	} else {
		spill.failure = ENOSPC;
	}
	pthread_mutex_unlock(&spill.lock);
	return range;
}

int spill_fill(void *bytes, size_t n_bytes)
{
	int cause = posix_fallocate(spill.fd, (char *)bytes - spill.base, (off_t)n_bytes);

	if (cause) {
		spill.failure = cause;
		return FLEXTRACE_E_MEMORY;
	}
	spill_touch(n_bytes);
	return FLEXTRACE_OK;
}

void spill_drop(void *bytes, size_t n_bytes)
{
	madvise(bytes, n_bytes, MADV_REMOVE); /* a wish */
}

void spill_touch(size_t n_bytes)
{
	size_t used_bytes;

	if (atomic_fetch_add_explicit(&spill.touched_bytes, n_bytes, memory_order_relaxed) <
	    spill.sweep_bytes)
		return;
	atomic_store_explicit(&spill.touched_bytes, 0, memory_order_relaxed);
	pthread_mutex_lock(&spill.lock);
	used_bytes = spill.used_bytes;
	pthread_mutex_unlock(&spill.lock);
	madvise(spill.base, used_bytes, MADV_DONTNEED); /* the file keeps what stands there */
}

int spill_explain(int code, struct flextrace_error *error)
{
	if (code != FLEXTRACE_E_MEMORY || !spill.failure)
		return code;
	return fail("There is no room in the", spill.failure, error);
}
