/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h: what is missing, by cause and place, and when it was lost.
 *
 * - One entry of each (cause, place), found through a hash table: a hostile trace may have as many
 *   places as records.
 * - Of each entry at most LOSS_MAX_SPANS spans of time are kept. Where there are more, those that
 *   start in one and the same 2^shift ns become one, with the smallest shift that will do. So the
 *   spans do not depend on the order in which losses come, nor on who merged them.
 * - Counts are modulo 2^64, as LTTng's are. Spans add up to the count, less what was lost at
 *   times that nobody knows.
 * - Zeros are an empty set; it has allocated nothing.
 *
 * Causes are literals from the list below; documented in docs/formats.md.
 */
#ifndef FLEXTRACE_LOSSES_H
#define FLEXTRACE_LOSSES_H

#include <stdint.h>

#include "base/hash.h"

/* clang-format off */
/* X(enumerator, LOST or LEFT_OUT, id in files): why something is missing. What is LEFT_OUT is no
 * loss: it was asked for, or says nothing that is not shown. */
#define FLEXTRACE_CAUSES(X)                                                                     \
	/* LTTng had no free sub-buffer */                                                      \
	X(DISCARDED_EVENTS, LOST, "lttng_discarded_events")                                     \
	/* overwritten before they were read */                                                 \
	X(DISCARDED_PACKETS, LOST, "lttng_discarded_packets")                                   \
	/* before the first ones: overwritten, cleared, or in a part that is not given */    \
	X(MISSING_PACKETS, LOST, "lttng_missing_packets")                                       \
	/* of another tracer, and what relied on what they said */                              \
	X(LOST_PACKETS, LOST, "lost_packets")                                                   \
	/* a program died while it wrote: what stands behind that in its packet */              \
	X(TORN_PACKETS, LOST, "torn_packets")                                                   \
	/* in front of a flight recorder's snapshot, as it should be */                         \
	X(OVERWRITTEN, LEFT_OUT, "overwritten")                                                 \
	/* LTTng could not allocate a channel */                                                \
	X(CHANNEL_NOT_CREATED, LOST, "channel_not_created")                                     \
	/* emitted before LTTng knew the program */                                             \
	X(BEGAN_LATE, LOST, "began_late")                                                       \
	/* emitted, as the processes counted, and nothing above or below accounts for it */     \
	X(UNACCOUNTED, LOST, "unaccounted")                                                     \
	/* bytes behind the last whole packet */                                                \
	X(TRUNCATED_STREAM, LOST, "truncated_stream")                                           \
	/* the marker ring was full */                                                          \
	X(RING_DROPPED, LOST, "device_ring_dropped")                                            \
	/* a slot was reused before it was read */                                              \
	X(RUN_OVERWRITTEN, LOST, "device_run_overwritten")                                      \
	/* a control block without one of TS1..TS5 that its kind has */                         \
	X(MISSING_STAMP, LOST, "missing_stamp")                                                 \
	/* stamps that are before the one in front of them */                                   \
	X(STAMP_ORDER, LOST, "stamp_order")                                                     \
	/* stamps contradict the other evidence */                                              \
	X(OUTLIER, LOST, "outlier")                                                             \
	/* a counter without any bracket: cannot be placed */                                   \
	X(NO_CLOCK, LOST, "no_clock")                                                           \
	/* an interval without end */                                                           \
	X(UNMATCHED_BEGIN, LOST, "unmatched_begin")                                             \
	/* an end without begin */                                                              \
	X(UNMATCHED_END, LOST, "unmatched_end")                                                 \
	/* a submit whose work never completed */                                               \
	X(UNMATCHED_SUBMIT, LOST, "unmatched_submit")                                           \
	/* a complete without submit or device_op */                                            \
	X(UNMATCHED_COMPLETE, LOST, "unmatched_complete")                                       \
	/* submit and complete records differ from their device_op */                           \
	X(BRACKET_DISAGREES, LOST, "bracket_disagrees")                                         \
	/* scope_args, op, tensor without their scope */                                        \
	X(UNMATCHED_ARGS, LOST, "unmatched_args")                                               \
	/* an event of provider flextrace that we do not know */                                \
	X(UNKNOWN_EVENT, LOST, "unknown_event")                                                 \
	/* an event of another provider */                                                      \
	X(FOREIGN_EVENT, LEFT_OUT, "foreign_event")                                             \
	/* fields missing, of wrong type or out of range */                                     \
	X(MALFORMED, LOST, "malformed")                                                         \
	/* end before begin */                                                                  \
	X(BACKWARDS, LOST, "negative_duration")                                                 \
	/* of a process of another recording */                                                 \
	X(FOREIGN_PROCESS, LEFT_OUT, "foreign_process")                                         \
	/* taken from a device while the program recorded nothing */                            \
	X(UNRECORDED, LEFT_OUT, "unrecorded")                                                   \
	/* left out because the user asked to */                                                \
	X(FILTERED, LEFT_OUT, "filtered")                                                       \
	/* told twice, shown once */                                                            \
	X(DUPLICATE, LEFT_OUT, "duplicate")                                                     \
	/* understood, but carries nothing for any output */                                    \
	X(UNUSED, LEFT_OUT, "unused")
/* clang-format on */

enum loss_cause {
#define LOSSES_ENUMERATOR(id, kind, name) LOSS_##id,
	FLEXTRACE_CAUSES(LOSSES_ENUMERATOR)
#undef LOSSES_ENUMERATOR
		LOSS_CAUSE_COUNT
};

/* Where a loss happened. Unknown members: FLEXTRACE_NONE. */
struct loss_place {
	uint32_t process; /* index of struct process */
	uint32_t device;  /* the runtime's device number */
	uint32_t core;
	uint32_t stream; /* index of struct stream */
};
#define LOSS_NOWHERE ((struct loss_place){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX})

/* Where something of a process was lost, no device's. */
static inline struct loss_place loss_place_of(uint32_t process, uint32_t stream)
{
	return (struct loss_place){process, UINT32_MAX, UINT32_MAX, stream};
}

#define LOSS_MAX_SPANS 32u

struct loss_span {
	int64_t first_ns, last_ns; /* first_ns INT64_MIN = not known */
	uint64_t count;
};

struct loss { /* losses.csv */
	enum loss_cause cause;
	struct loss_place place;
	struct loss_span all;    /* of the times that are known, INT64_MIN = none */
	struct loss_span *spans; /* owned; in order of first_ns */
	uint32_t n_spans;
	uint8_t shift;
};

struct losses {
	struct loss *all; /* owned, in order after losses_sort() */
	uint32_t n, n_allocated;
	uint32_t *slots; /* owned: hash table of indexes into `all` */
	uint32_t n_slots;
	struct hash_secret secret; /* of `slots` */
};

void losses_release(struct losses *losses);

/* FLEXTRACE_E_MEMORY or 0. */
int losses_add(struct losses *losses, enum loss_cause cause, const struct loss_place *place,
               const struct loss_span *span);

/* Adds all of `from`; with `stream` not FLEXTRACE_NONE, as of this stream. */
int losses_merge(struct losses *to, const struct losses *from, uint32_t stream);

/* By (cause, place): process, device, core, stream; unknown ones behind. */
void losses_sort(struct losses *losses);

uint64_t losses_total(const struct losses *losses, enum loss_cause cause);

#endif
