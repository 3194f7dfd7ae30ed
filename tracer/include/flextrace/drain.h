/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h: takes marker words out of device memory and records them as marker_batch.
 *
 *	for (core = 0; core < N_CORES; core++)
 *		flextrace_drain_area_init(&areas[core], device,
 *		                          bar + core * AREA_BYTES, AREA_BYTES);
 *	...
 *	flextrace_drain(areas, N_CORES, 0);                    // from time to time
 *	...
 *	flextrace_drain(areas, N_CORES, FLEXTRACE_DRAIN_LAST); // when the device has stopped
 *
 * Drain often enough that the ring does not fill and that each run is read before the second next
 * one starts: after each completion (FLEXTRACE_DEVICE=sync), every few of them, or from a thread.
 * The device runs on meanwhile:
 *
 * - A call takes the records that are there when it looks: at most one ring and two slots of each
 *   area, however fast the firmware writes. flextrace_drain_some() takes less at a time.
 * - What the firmware may be writing while it is copied is left for the next call or counted as
 *   overwritten, never recorded torn.
 *
 * - Everything in the area is untrusted: nothing outside `bytes` is read, whatever it says.
 *   An area that contradicts itself is left alone until the firmware sets it up anew.
 * - Counts are 64 bits and exact. Of the ring, what firmware sent since the area was set up
 *   = recorded + dropped by firmware + overwritten + unrecorded + what still waits in the ring.
 * - A core that starts anew is seen when it has set its area up, whether its memory was kept or
 *   cleared. Its records are never read as those of the boot before; the recording says where one
 *   boot ends and the next begins. Unread records of the old boot are lost: drain before a reset.
 * - An area whose markers read another clock than the library beside them is refused.
 * - While the marker_batch event is off, records are taken out all the same, so that a session that
 *   starts later begins with fresh ones; they count as `unrecorded` and leave a gap in the indices.
 *   Records since the previous call count as recorded (or lost, if they found no room) if the event
 *   is on at this call, else as `unrecorded`. For exact steps or windows, drain where they change.
 * - FLEXTRACE_DEVICE=off: the area is not touched.
 * - One thread at a time drains one area; different areas may be drained in parallel. A call that
 *   finds another one in its area returns at once. Of two drains of one area (two processes, two
 *   structures), each takes what the other has not taken, as far as two that read at the same time
 *   can know; both recordings say that there is another drain.
 * - Two writers in one area (two cores, an interrupt handler) lose records that cannot be counted.
 *   If the drain sees that `head` went back, the recording says so.
 * - Never fails, never blocks, allocates nothing.
 *
 * The area must be mapped so that 32-bit loads and stores reach the device unchanged.
 * C99 and C++11.
 */
#ifndef FLEXTRACE_DRAIN_H
#define FLEXTRACE_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include <flextrace/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happens to a marker that finds the ring full. Numbers as in the area (wire.h). */
enum flextrace_policy {
	FLEXTRACE_POLICY_STOP = 0,      /* it is dropped and counted */
	FLEXTRACE_POLICY_OVERWRITE = 1, /* it replaces the oldest record, which is counted */
	FLEXTRACE_POLICY_BLOCK = 2      /* it waits for the drain, FLEXTRACE_BLOCK_TICKS at most */
};

/* What became of an area's records and runs since this host began to drain it. */
struct flextrace_drain_stats {
	uint64_t recorded;    /* ring records in batches */
	uint64_t dropped;     /* ring records that the firmware had no room for */
	uint64_t overwritten; /* ring records that were gone before they were read */
	uint64_t unrecorded;  /* ring records taken while the event was off */

	uint64_t recorded_runs;
	uint64_t overwritten_runs; /* runs whose slot was gone before it was read */
	uint64_t unrecorded_runs;

	uint64_t resets;  /* times the firmware set the area up again meanwhile */
	uint64_t refused; /* calls that found the area not set up, or contradicting itself */

	uint64_t elsewhere; /* ring records that another drain took */
	uint64_t shared;    /* times that another drain was seen in the area */
	uint64_t contested; /* times that a second writer was seen in the area */
};

/* One mapped area. Fill it with flextrace_drain_area_init(); read `stats` between calls. */
struct flextrace_drain_area {
	struct flextrace_drain_stats stats;

	/* The rest is drain's own. */
	uint32_t device;
	void *memory; /* weak */
	size_t bytes;
	uint32_t core, processor, domain;
	uint32_t capacity;      /* 0 = not attached */
	uint32_t resets;        /* of the firmware, as last seen */
	uint32_t broken;        /* contradicted itself since that reset */
	uint64_t next;          /* index of the next ring record */
	uint64_t next_run;      /* number of the next run */
	uint64_t dropped;       /* by firmware since reset */
	uint64_t told;          /* `dropped` in the last batch */
	uint64_t told_next;     /* index behind the last batch, or behind what nobody wanted */
	uint32_t has_told;      /* there was a batch since */
	uint64_t lost_runs;     /* since reset */
	uint64_t strict_from;   /* below this index records may be overwritten by any policy */
	uint32_t policy_plus_1; /* that the host chose; 0 = the firmware's */
	uint32_t is_reset;      /* set up anew, not attached since */
	uint32_t counter_bits;
	uint32_t untold;        /* enum flextrace_wire_boot: not in a batch yet */
	uint32_t has_told_bits; /* that the counter is narrow */
	uint32_t found_resets;  /* of the firmware, at the first look */
	uint32_t token;         /* stands in the area while this is the last drain that looked */
	uint32_t told_flags;    /* of those that are told once a boot */
	uint32_t is_busy;       /* a thread is in a call */
	uint32_t n_turned_away; /* calls that found it so */
};

/* Areas that take turns. */
struct flextrace_drain_set {
	struct flextrace_drain_area *areas; /* weak */
	size_t n_areas;
	size_t next; /* whose turn it is; 0 at first */
};

#define FLEXTRACE_DRAIN_LAST 1u /* the device has stopped: take the run that never ended, too */

#ifndef FLEXTRACE_DISABLE

/*
 * Describes an area of `device` at `memory` (weak, 8-byte aligned). The firmware may set it up
 * later, and again. Records that are in it now may be of an earlier boot of the device: the
 * recording says so, and those that no operation of this process confirms are `assumed`. So call
 * this before the work.
 */
void flextrace_drain_area_init(struct flextrace_drain_area *area, uint32_t device, void *memory,
                               size_t bytes);

/*
 * Call this before the device is reset, and before a device is started whose memory may hold areas
 * of an earlier boot. The records that are in the areas now belong to no later boot. They are not
 * recorded (they count as `unrecorded`), and the areas are left alone until the firmware sets them
 * up. To record them, drain with FLEXTRACE_DRAIN_LAST first.
 */
void flextrace_drain_forget(struct flextrace_drain_area *areas, size_t n_areas);

/* Takes all that is there out of `n_areas` areas; returns the number of words recorded. */
uint64_t flextrace_drain(struct flextrace_drain_area *areas, size_t n_areas, unsigned int flags);

/*
 * The same in small portions: up to 1024 records of an area (and its runs), then the next area, one
 * after the other, until `max_words` words are recorded (up to two runs' more) or nothing is left.
 * The next call goes on with the area whose turn it is, so that none waits for a busy one.
 */
uint64_t flextrace_drain_some(struct flextrace_drain_set *set, uint64_t max_words);

/*
 * Makes the firmware of an area use `policy` instead of the one it was built with, also after it
 * sets the area up (again). It counts as a drain in the rule of one thread at a time. A core that
 * waits under BLOCK goes on at once.
 */
void flextrace_drain_set_policy(struct flextrace_drain_area *area, enum flextrace_policy policy);

/*
 * Writes the memory of areas into a file as it is, for `flextrace decode`, when a device hangs or
 * nobody records: nothing is taken out, nothing is recorded, and other threads may drain meanwhile.
 * Async-signal-safe. Returns 0 or a negative errno.
 */
int flextrace_drain_save(const struct flextrace_drain_area *areas, size_t n_areas,
                         const char *path);

/*
 * Names the device's marker ids after the section of names in the firmware's ELF file. Returns the
 * number of names, or a negative errno if the file or section is missing or malformed.
 */
int flextrace_device_names(uint32_t device, const char *elf_path);

#else

static inline void flextrace_drain_area_init(struct flextrace_drain_area *area, uint32_t device,
                                             void *memory, size_t bytes)
{
	(void)area, (void)device, (void)memory, (void)bytes;
}
static inline uint64_t flextrace_drain(struct flextrace_drain_area *areas, size_t n_areas,
                                       unsigned int flags)
{
	(void)areas, (void)n_areas, (void)flags;
	return 0;
}
static inline uint64_t flextrace_drain_some(struct flextrace_drain_set *set, uint64_t max_words)
{
	(void)set, (void)max_words;
	return 0;
}
static inline void flextrace_drain_forget(struct flextrace_drain_area *areas, size_t n_areas)
{
	(void)areas, (void)n_areas;
}
static inline void flextrace_drain_set_policy(struct flextrace_drain_area *area,
                                              enum flextrace_policy policy)
{
	(void)area, (void)policy;
}
static inline int flextrace_drain_save(const struct flextrace_drain_area *areas, size_t n_areas,
                                       const char *path)
{
	(void)areas, (void)n_areas, (void)path;
	return 0;
}
static inline int flextrace_device_names(uint32_t device, const char *elf_path)
{
	(void)device, (void)elf_path;
	return 0;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
