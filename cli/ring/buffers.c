/* SPDX-License-Identifier: Apache-2.0 */
#include "buffers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text/sizes.h"
#include "base/paths.h"
#include "process/process.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

#define DEFINITIONS_SUBBUFS UINT64_C(64)
#define DEFINITIONS_BYTES   (16 * KIB)
#define DEFINITIONS_MIN     (4 * KIB)
#define EVENTS_SUBBUFS      UINT64_C(8)
#define EVENTS_SUBBUFS_MIN  UINT64_C(4)
#define EVENTS_BYTES        (8 * MIB)
#define EVENTS_MIN          (64 * KIB)
#define TOTAL_SUBBUFS       UINT64_C(16) /* of a given total: one of them is always being written */
#define SUBBUF_MIN          (4 * KIB)

/* LTTng's counters beside a stream's sub-buffers: 4 pages, and some 300 bytes for each of them. */
static uint64_t stream_bytes(const struct channel_plan *channel)
{
	return channel->n_subbufs * (channel->subbuf_bytes + 320) + 16 * KIB;
}

static uint64_t cpu_bytes(const struct buffer_plan *plan)
{
	return stream_bytes(&plan->definitions) + stream_bytes(&plan->events);
}

/* Definitions come before events: without them nothing can be named. */
static void shrink_definitions(struct buffer_plan *plan, uint64_t budget)
{
	while (stream_bytes(&plan->definitions) > budget / 8 &&
	       plan->definitions.subbuf_bytes > DEFINITIONS_MIN)
		plan->definitions.subbuf_bytes /= 2;
}

static void shrink_events(struct buffer_plan *plan, const struct buffer_wish *wish, uint64_t budget)
{
	while (!wish->subbuf_bytes && cpu_bytes(plan) > budget &&
	       plan->events.subbuf_bytes > EVENTS_MIN)
		plan->events.subbuf_bytes /= 2;
	while (!wish->n_subbufs && cpu_bytes(plan) > budget &&
	       plan->events.n_subbufs > EVENTS_SUBBUFS_MIN)
		plan->events.n_subbufs /= 2;
}

static int too_large(const struct buffer_plan *plan, bool is_wish, struct flextrace_error *error)
{
	/* A half of /dev/shm is used, and metadata needs a little. */
	uint64_t needed = (is_wish ? 1 : 2) * plan->total_bytes + MIB;
	char have[32], need[32];

	return error_set(
		error, FLEXTRACE_E_SYSTEM,
		"Not enough shared memory for the trace buffers: free=%s, needed=%s (%" PRIu32
		" CPUs). Enlarge /dev/shm (docker run --shm-size=%" PRIu64
		"m, or mount -o remount,size=%" PRIu64 "m /dev/shm)%s",
		buffers_format_size(plan->free_bytes, have), buffers_format_size(needed, need),
		plan->n_cpus, needed / MIB + 1, needed / MIB + 1,
		is_wish ? ", or choose a smaller --subbuf-size, --num-subbuf or "
			  "--flight-recorder=SIZE"
			: "");
}

/* Shares a total out among the CPUs. */
static int share_total(const struct buffer_wish *wish, uint32_t n_cpus,
                       struct buffer_wish *ret_shared, struct flextrace_error *error)
{
	uint64_t bytes = wish->total_bytes / n_cpus / TOTAL_SUBBUFS;
	char least[32];

	*ret_shared = *wish;
	if (!wish->total_bytes)
		return FLEXTRACE_OK;
	if (bytes < SUBBUF_MIN)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Too little for the buffers of %" PRIu32 " CPUs: at least %s",
		                 n_cpus,
		                 buffers_format_size(SUBBUF_MIN * TOTAL_SUBBUFS * n_cpus, least));
	ret_shared->n_subbufs = TOTAL_SUBBUFS;
	ret_shared->subbuf_bytes = UINT64_C(1) << (63 - __builtin_clzll(bytes));
	return FLEXTRACE_OK;
}

/* Plans with sizes of sub-buffers that are given or the default. */
static int plan_subbufs(const struct buffer_wish *wish, uint32_t n_cpus, uint64_t free_bytes,
                        struct buffer_plan *ret_plan, struct flextrace_error *error)
{
	bool is_wish = wish->subbuf_bytes || wish->n_subbufs;
	uint64_t limit = is_wish ? free_bytes : free_bytes / 2;
	struct buffer_plan plan = {
		.definitions = {DEFINITIONS_BYTES, DEFINITIONS_SUBBUFS},
		.events = {wish->subbuf_bytes ? wish->subbuf_bytes : EVENTS_BYTES,
	                   wish->n_subbufs ? wish->n_subbufs : EVENTS_SUBBUFS},
		.n_cpus = n_cpus,
		.free_bytes = free_bytes,
	};

	if (plan.events.subbuf_bytes > UINT32_MAX || plan.events.n_subbufs > UINT32_MAX / 1024)
		return error_set(error, FLEXTRACE_E_USAGE, "Sub-buffers are too large or too many");
	plan.is_scaled = cpu_bytes(&plan) > limit / n_cpus;
	shrink_definitions(&plan, limit / n_cpus);
	shrink_events(&plan, wish, limit / n_cpus);
	plan.total_bytes = cpu_bytes(&plan) * n_cpus;
	if (plan.total_bytes > limit)
		return too_large(&plan, is_wish, error);
	*ret_plan = plan;
	return FLEXTRACE_OK;
}

int buffers_plan(const struct buffer_wish *wish, uint32_t n_cpus, uint64_t free_bytes,
                 struct buffer_plan *ret_plan, struct flextrace_error *error)
{
	struct buffer_wish shared;

	FLEXTRACE_TRY(share_total(wish, n_cpus, &shared, error));
	return plan_subbufs(&shared, n_cpus, free_bytes, ret_plan, error);
}

int buffers_parse_size(const char *text, uint64_t *ret_bytes, struct flextrace_error *error)
{
	uint64_t bytes;

	if (!size_parse(text, &bytes) || bytes < 4 * KIB || (bytes & (bytes - 1)))
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Not a size (a power of two from 4K up, such as 512K or 8M): `%s`",
		                 text);
	*ret_bytes = bytes;
	return FLEXTRACE_OK;
}

const char *buffers_format_size(uint64_t bytes, char text[32])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes / 1024.0;
	unsigned int unit = 0;

	if (bytes < KIB) {
		snprintf(text, 32, "%" PRIu64 " bytes", bytes);
		return text;
	}
	while (value >= 1024.0 && unit < 3) {
		value /= 1024.0;
		unit++;
	}
	snprintf(text, 32, value < 10.0 && value != (int)value ? "%.1f %s" : "%.0f %s", value,
	         units[unit]);
	return text;
}

uint32_t buffers_parse_cpus(const char *text)
{
	unsigned long highest = 0;

	while (*text >= '0' && *text <= '9') {
		char *end;

		highest = strtoul(text, &end, 10);
		if (*end == '-' || *end == ',')
			end++;
		text = end;
	}
	return (*text && *text != '\n') || highest >= 65536 ? 0 : (uint32_t)highest + 1;
}

uint32_t buffers_possible_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	char text[4096];

	if (path_read("/sys/devices/system/cpu/possible", text, sizeof(text)) &&
	    buffers_parse_cpus(text))
		return buffers_parse_cpus(text);
	return n > 0 ? (uint32_t)n : 1;
}

/* Pages of shared memory also count against the memory of the machine and of the container. */
static uint64_t available_memory(void)
{
	uint64_t available = process_memory_bytes("MemAvailable:"), limit, used;
	char text[64];

	available = available ? available : UINT64_MAX;
	path_read("/sys/fs/cgroup/memory.max", text, sizeof(text));
	if (text[0] < '0' || text[0] > '9')
		return available;
	limit = strtoull(text, NULL, 10);
	path_read("/sys/fs/cgroup/memory.current", text, sizeof(text));
	used = strtoull(text, NULL, 10);
	limit = limit > used ? limit - used : 0;
	return limit < available ? limit : available;
}

int buffers_free_bytes(const char *directory, uint64_t *ret_bytes, struct flextrace_error *error)
{
	uint64_t memory = available_memory();
	struct statvfs status;

	if (statvfs(directory, &status) != 0)
		return error_set(error, FLEXTRACE_E_SYSTEM,
		                 "Cannot see how large the shared memory is: path=%s, reason=%s",
		                 directory, strerror(errno));
	*ret_bytes = (uint64_t)status.f_bavail * status.f_frsize;
	if (*ret_bytes > memory)
		*ret_bytes = memory;
	return FLEXTRACE_OK;
}
