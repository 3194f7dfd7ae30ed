/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.h: how large the ring buffers of a recording are.
 *
 * LTTng keeps every channel's sub-buffers of every possible CPU in /dev/shm and fills them at
 * once, when the first program registers. Where they do not fit it reports success and records
 * nothing, so they are planned beforehand: `definitions` gets 64 small sub-buffers, `events` 8
 * of 8 MiB, both halved until all CPUs together take at most half of what is free.
 *
 * - All sizes are bytes, sub-buffer sizes and counts are powers of two.
 * - What the user asked for is not changed: it fits into all that is free, or the plan fails. Only
 *   a total is rounded down, as sub-buffers are powers of two.
 */
#ifndef FLEXTRACE_BUFFERS_H
#define FLEXTRACE_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct channel_plan {
	uint64_t subbuf_bytes;
	uint64_t n_subbufs;
};

struct buffer_plan {
	struct channel_plan definitions, events;
	uint32_t n_cpus;
	uint64_t total_bytes; /* of all channels on all CPUs, bookkeeping included */
	uint64_t free_bytes;  /* what the plan was made for */
	bool is_scaled;       /* the default did not fit */
};

/* What the user wants; 0 = the default. */
struct buffer_wish {
	uint64_t subbuf_bytes;
	uint64_t n_subbufs;
	uint64_t total_bytes; /* of the events of all CPUs; the two above are 0 then */
};

/* FLEXTRACE_E_SYSTEM: too little room; the message says how much is needed and how to get it.
 * FLEXTRACE_E_USAGE: a total too small to be shared out. */
int buffers_plan(const struct buffer_wish *wish, uint32_t n_cpus, uint64_t free_bytes,
                 struct buffer_plan *ret_plan, struct flextrace_error *error);

/* "64K", "8M", "1G" or bytes. FLEXTRACE_E_USAGE: no size, or no power of two from 4096 up. */
int buffers_parse_size(const char *text, uint64_t *ret_bytes, struct flextrace_error *error);

/* Formats "8 MiB", "512 KiB", "100 bytes" into `text` and returns it. */
const char *buffers_format_size(uint64_t bytes, char text[32]);

/* Number of CPUs that the machine may ever have, as LTTng counts them. */
uint32_t buffers_possible_cpus(void);

/* Parses "0-3,8" of /sys/devices/system/cpu/possible: highest number plus one, 0 = malformed. */
uint32_t buffers_parse_cpus(const char *text);

/*
 * What may be used in the shared memory file system `directory` ("/dev/shm"): its free space,
 * and not more than the memory that is available to this machine. FLEXTRACE_E_SYSTEM: there is
 * no such file system.
 */
int buffers_free_bytes(const char *directory, uint64_t *ret_bytes, struct flextrace_error *error);

#endif
