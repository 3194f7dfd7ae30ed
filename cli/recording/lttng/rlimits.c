/* SPDX-License-Identifier: Apache-2.0 */
#include "rlimits.h"
#include "process/process.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define KIB           UINT64_C(1024)
#define MIB           (1024 * KIB)
#define LOW_FILES     256 /* fewer than LTTng's daemons may need */
#define APP_FILES     6   /* of LTTng-UST in a program, */
#define STREAM_FILES  2   /* and for each stream, */
#define N_CHANNELS    2   /* of which each CPU has so many */
#define PROBE_FILES   1   /* of provider_try(), beside that of counting */
#define N_APP_THREADS 2
#define ARENA_BYTES   (64 * MIB) /* of address space that the C library takes for a thread */

static uint64_t soft_limit(int which)
{
	struct rlimit limit;

	return getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
	                                                                        : UINT64_MAX;
}

static int check_files(const struct buffer_plan *plan, struct flextrace_error *error)
{
	uint64_t limit = soft_limit(RLIMIT_NOFILE);
	uint64_t n_needed = APP_FILES + STREAM_FILES * N_CHANNELS * (uint64_t)plan->n_cpus;

	if (process_count(getpid(), "fd") + PROBE_FILES + n_needed <= limit)
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_SYSTEM,
	                 "Too few descriptors: LTTng needs %" PRIu64 " in each program beside its "
	                 "own, and `ulimit -n` is %" PRIu64,
	                 n_needed, limit);
}

static uint64_t mapped_bytes(void)
{
	char n_pages[256];

	process_read(getpid(), "statm", n_pages, sizeof(n_pages));
	return strtoull(n_pages, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What LTTng's threads take before there are buffers. */
static uint64_t thread_bytes(void)
{
	uint64_t n_bytes = getenv("MALLOC_ARENA_MAX") || getenv("GLIBC_TUNABLES") ? 0 : ARENA_BYTES;
	pthread_attr_t attributes;
	size_t n_stack = 0;

	if (pthread_getattr_default_np(&attributes) == 0) {
		pthread_attr_getstacksize(&attributes, &n_stack);
		pthread_attr_destroy(&attributes);
	}
	return N_APP_THREADS * (n_bytes + n_stack);
}

static int check_memory(const struct buffer_plan *plan, struct flextrace_error *error)
{
	uint64_t limit = soft_limit(RLIMIT_AS);
	uint64_t n_needed = plan->total_bytes + thread_bytes();

	if (limit == UINT64_MAX || mapped_bytes() + n_needed <= limit)
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_SYSTEM,
	                 "Too little address space: LTTng needs %" PRIu64 " KiB in each program "
	                 "beside its own, and `ulimit -v` is %" PRIu64 "; raise that, or choose a "
	                 "smaller --subbuf-size",
	                 n_needed / KIB, limit / KIB);
}

int rlimits_check(const struct buffer_plan *plan, struct flextrace_error *error)
{
	FLEXTRACE_TRY(check_files(plan, error));
	return check_memory(plan, error);
}

const char *rlimits_describe(char text[RLIMITS_TEXT])
{
	uint64_t n_files = soft_limit(RLIMIT_NOFILE), n_bytes = soft_limit(RLIMIT_AS);
	char files[48] = "", memory[48] = "";

	if (n_files < LOW_FILES)
		snprintf(files, sizeof(files), ", `ulimit -n` is %" PRIu64, n_files);
	if (n_bytes != UINT64_MAX)
		snprintf(memory, sizeof(memory), ", `ulimit -v` is %" PRIu64, n_bytes / KIB);
	snprintf(text, RLIMITS_TEXT, "%s%s%s", files[0] || memory[0] ? "; are limits too low?" : "",
	         files, memory);
	return text;
}

void rlimits_raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit); /* else they are as many as they may be */
}
