/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "admit.h"

#include <lttng/ust-thread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emit_counts.h"
#include "threads.h"
#include "late.h"

static uint32_t word;          /* where the kernel (before 4.14) empties no page */
static uint32_t *page = &word; /* written by admit_init() and in the child of a fork */
static uint64_t n_refused[flextrace_i_n_events];

const uint32_t *admit_is_own = &word;
__thread uint32_t admit_warmth;

void admit_init(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED && madvise(memory, size, MADV_WIPEONFORK) == 0)
		page = memory;
	else if (memory != MAP_FAILED)
		munmap(memory, size);
	admit_set(ADMIT_ALL);
	admit_is_own = page;
	admit_warm_thread();
}

void admit_set(enum admit_state state)
{
	__atomic_store_n(page, (uint32_t)state, __ATOMIC_RELAXED);
}

void admit_warm_thread(void)
{
	if (admit_warmth == ADMIT_WARMING)
		return;
	if (admit_warmth == ADMIT_COLD)
		admit_warmth = ADMIT_WARMING;
	lttng_ust_init_thread();
	threads_watch_main();
	admit_warmth = ADMIT_WARM;
}

static int refuse(enum flextrace_i_event event, uint32_t state)
{
	if (state == ADMIT_LATE)
		late_count(event);
	else
		emit_counts_add_unrecorded();
	__atomic_add_fetch(&n_refused[event], 1, __ATOMIC_RELAXED);
	return 0;
}

int admit_slowly(enum flextrace_i_event event)
{
	uint32_t state = __atomic_load_n(admit_is_own, __ATOMIC_RELAXED);

	if (state != ADMIT_ALL)
		refuse(event, state);
	if (state == ADMIT_LATE)
		late_check();
	if (state != ADMIT_ALL)
		return 0;
	if (admit_warmth == ADMIT_WARMING)
		return refuse(event, ADMIT_NONE);
	admit_warm_thread();
	return 1;
}

int admit_in_handler(enum flextrace_i_event event)
{
	uint32_t state = __atomic_load_n(admit_is_own, __ATOMIC_RELAXED);

	return admit_warmth == ADMIT_WARM && state == ADMIT_ALL ? 1 : refuse(event, state);
}

void admit_leave_out(uint64_t n)
{
	while (n--)
		refuse(flextrace_i_event_scope, ADMIT_NONE);
}

uint64_t admit_n_refused(void)
{
	uint64_t n = 0;
	int event;

	for (event = 0; event < flextrace_i_n_events; event++)
		n += __atomic_load_n(&n_refused[event], __ATOMIC_RELAXED);
	return n;
}
