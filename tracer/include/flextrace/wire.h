/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h: the marker area in device memory, wire format v1, and the words a drain makes of it.
 *
 * One area per core and processor. Little-endian, 8-byte aligned, every field a 32-bit word, so
 * that a 32-bit core without atomics writes each with one store. docs/formats-marker-area.md draws
 * it byte by byte.
 *
 *   0x000  header       written by firmware, read by the host
 *   0x040  host words   written by the host, read by firmware (a line of its own)
 *   0x080  private      firmware's own words, nobody else reads them
 *   0x0c0  slot[0]      runs with an even number
 *   0x110  slot[1]      runs with an odd number
 *   0x160  ring         `capacity` records of 8 bytes, capacity a power of two
 *
 * - A slot belongs to one run of the firmware. FW start stores header `run`, then `done` = run - 1,
 *   clears and fills the slot, and stores the slot's `run` last; FW end stores `done` = run. A slot
 *   is closed when its `done` == `run`, open when `done` == `run` - 1, and a copy is good when both
 *   read the same before and after it.
 *   While at most one run waits to be read, no slot stamp is ever lost. A run whose slot was
 *   overwritten unread is seen from the gap in `run` and counted. Runs count from 1, modulo 2^32.
 * - A stamp of 0 is "not taken". A counter that really reads 0 at a stamp loses that one stamp.
 * - Ring: record i lives at ring[i % capacity]. `head` counts records written since reset, `limit`
 *   is the count the firmware may reach (the host sets it to its read count + capacity). Both wrap
 *   at 2^32. Firmware writes the record, fences, then stores `head`. Policy stop drops at the limit
 *   and counts in `dropped`; a zone's begin reserves room for its end, so an end is never dropped
 *   when its begin was not, and is dropped (and counted) when its begin was.
 * - Zones nest: an end closes the innermost open zone. Its id is that of the end's own place in the
 *   source, so begin and end have different ids with the same name.
 *
 * C99, C++11 and freestanding. No floating point, no 64-bit arithmetic.
 */
#ifndef FLEXTRACE_WIRE_H
#define FLEXTRACE_WIRE_H

#include <stdint.h>

#define FLEXTRACE_WIRE_MAGIC   0x31545846u /* "FXT1" */
#define FLEXTRACE_WIRE_VERSION 1u

enum flextrace_wire_policy {
	FLEXTRACE_WIRE_STOP = 0,      /* drop new records at the limit */
	FLEXTRACE_WIRE_OVERWRITE = 1, /* never look at the limit; the host counts what it missed */
	FLEXTRACE_WIRE_BLOCK = 2      /* wait for the host to move the limit, but not for ever */
};

/* Stamps of a slot, in order. TS1..TS5 are those of the run's control block. */
enum flextrace_wire_stamp {
	FLEXTRACE_WIRE_FW_START = 0,
	FLEXTRACE_WIRE_KERNEL_START = 1,
	FLEXTRACE_WIRE_KERNEL_END = 2,
	FLEXTRACE_WIRE_FW_END = 3,
	FLEXTRACE_WIRE_TS1 = 4,
	FLEXTRACE_WIRE_TS2 = 5,
	FLEXTRACE_WIRE_TS3 = 6,
	FLEXTRACE_WIRE_TS4 = 7,
	FLEXTRACE_WIRE_TS5 = 8,
	FLEXTRACE_WIRE_N_STAMPS = 9
};

struct flextrace_wire_slot { /* 0x50 bytes */
	uint32_t run;        /* number of the run, from 1 */
	uint32_t done;       /* = run once FW end was stamped */
	uint32_t job;        /* control block the run worked on (low 32 bits of device_op.job) */
	uint32_t queue;
	uint32_t anchor_lo; /* whole counter at FW start, read high-low-high */
	uint32_t anchor_hi;
	uint32_t ticks[FLEXTRACE_WIRE_N_STAMPS];
	uint32_t reserved[5];
};

struct flextrace_wire_record { /* 8 bytes */
	uint32_t kind_id;      /* kind << 28 | id */
	uint32_t ticks;        /* low 32 bits of the counter, or the value of a VALUE_DATA record */
};

/*
 * Firmware's private words. While it records, `stop` = `seen` - open zones is what `head` may reach
 * without looking at the limit again, and `seen` the limit it last saw. While a dropped zone is
 * open or a RUN record waits for room, `stop` = `seen` = `head`, so that every marker takes the
 * slow path, and the number of recorded open zones is kept in `open_zones`.
 */
struct flextrace_wire_private { /* 0x40 bytes */
	union {
		struct flextrace_wire_slot *slot;
		uint32_t words[2];
	} current;           /* 0x80, slot of the newest run */
	uint32_t mask;       /* 0x88, capacity - 1 */
	uint32_t stop;       /* 0x8c */
	uint32_t seen;       /* 0x90 */
	uint32_t open_zones; /* 0x94 */
	uint32_t zone_depth; /* 0x98, zones opened since the oldest dropped one, it included */
	uint32_t zone_bits;  /* 0x9c, 1 = dropped, for the outer 32 of them; innermost = bit 0 */
	uint32_t ring_run;   /* 0xa0, newest run whose RUN record is in the ring or was dropped */
	uint32_t is_alone;   /* 0xa4, policy block: the host did not move `alone_at` in time */
	uint32_t alone_at;   /* 0xa8, the limit then */
	uint32_t late_ends;  /* 0xac, zones that were open at a FW start */
	uint32_t unused[4];
};

struct flextrace_wire_area {
	uint32_t magic;        /* 0x00, written last when the area is set up */
	uint32_t version;      /* 0x04 */
	uint32_t core;         /* 0x08 */
	uint32_t processor;    /* 0x0c */
	uint32_t domain;       /* 0x10, clock domain of all ticks in this area */
	uint32_t counter_bits; /* 0x14 */
	uint32_t capacity;     /* 0x18, ring records, a power of two */
	uint32_t resets;       /* 0x1c, times the area was set up; all counts restart with it */
	uint32_t run;          /* 0x20, number of the newest run */
	uint32_t head;         /* 0x24, ring records written since reset */
	uint32_t dropped;      /* 0x28, ring records dropped since reset */
	/* Checksums of the configuration (clock, bits, place of the area): of marker.c, 0x2c, and
	 * of the file that calls FLEXTRACE_FW_INIT(), 0x30. If they differ, the configurations
	 * differ, and nothing in the area is read. 0: firmware of before 0.2. */
	uint32_t config, init_config;
	uint32_t unused0[3];
	uint32_t limit;    /* 0x40, host: value that head may reach */
	uint32_t policy;   /* 0x44, host: enum flextrace_wire_policy */
	uint32_t read_run; /* 0x48, host: newest run it has read */
	/* 0x4c, host: records below this count may be overwritten whatever the policy is now */
	uint32_t strict_from;
	uint32_t attached; /* 0x50, host: who looked last since it was set up; 0 = nobody */
	uint32_t unused1[11];
	struct flextrace_wire_private own;    /* 0x80 */
	struct flextrace_wire_slot slot[2];   /* 0xc0 */
	struct flextrace_wire_record ring[2]; /* 0x160, `capacity` of them */
};

#define FLEXTRACE_WIRE_RING_OFFSET          0x160u
#define FLEXTRACE_WIRE_MAX_CAPACITY         0x01000000u
#define FLEXTRACE_WIRE_AREA_BYTES(capacity) (FLEXTRACE_WIRE_RING_OFFSET + 8u * (capacity))

/* Kinds of words. 1..7 are ring records; 8..15 exist only in batches, made by the drain. */
enum flextrace_wire_kind {
	FLEXTRACE_WIRE_MARK = 1,       /* id, ticks: an instant */
	FLEXTRACE_WIRE_ZONE_BEGIN = 2, /* id, ticks */
	FLEXTRACE_WIRE_ZONE_END = 3,   /* id, ticks */
	FLEXTRACE_WIRE_VALUE = 4,      /* id, ticks; the next record is its VALUE_DATA */
	FLEXTRACE_WIRE_VALUE_DATA = 5, /* id, value */
	/* low 28 bits of the run, ticks of FW start (later if it waited for room): opens a run */
	FLEXTRACE_WIRE_RUN = 6,
	/* bits 32..59 and 0..31 of the whole counter: nothing between this word and the one before
	 * tells how often the low word wrapped */
	FLEXTRACE_WIRE_TIME = 7,
	FLEXTRACE_WIRE_SLOT_RUN = 8,   /* low 28 bits of the run, job: opens a slot in a batch */
	FLEXTRACE_WIRE_SLOT_QUEUE = 9, /* 1 if the slot was closed by FW end, else 0; queue */
	FLEXTRACE_WIRE_SLOT_ANCHOR_LO = 10, /* 0, low word of the anchor */
	FLEXTRACE_WIRE_SLOT_ANCHOR_HI = 11, /* 0, high word of the anchor */
	FLEXTRACE_WIRE_SLOT_STAMP =
		12, /* enum flextrace_wire_stamp, ticks; stamps not taken are left out */
	/* enum flextrace_wire_stamp, bits 32..63 of a stamp that may be a wrap late */
	FLEXTRACE_WIRE_SLOT_HIGH = 13,
	/* bits of enum flextrace_wire_boot, counter_bits: of what the words behind it are */
	FLEXTRACE_WIRE_BOOT = 14
};

enum flextrace_wire_boot {
	FLEXTRACE_WIRE_BOOT_FOUND = 1, /* some were there before the process looked first */
	FLEXTRACE_WIRE_BOOT_ANEW = 2,  /* the firmware has set the area up since the words before */
	FLEXTRACE_WIRE_BOOT_REFUSED = 4,    /* `config` and `init_config` differ: nothing is read */
	FLEXTRACE_WIRE_BOOT_UNRECORDED = 8, /* what is in front of `first_index`, and `dropped` so
	                                       far, came while the program recorded nothing */
	FLEXTRACE_WIRE_BOOT_SHARED = 16,    /* another drain takes records of this area, too */
	FLEXTRACE_WIRE_BOOT_CONTESTED = 32  /* `head` went back: two write into this area */
};

#define FLEXTRACE_WIRE_ID_BITS 28
#define FLEXTRACE_WIRE_ID_MASK 0x0fffffffu
#define FLEXTRACE_WIRE_KIND_ID(kind, id) \
	(((uint32_t)(kind) << FLEXTRACE_WIRE_ID_BITS) | ((uint32_t)(id)&FLEXTRACE_WIRE_ID_MASK))

/*
 * The id of a marker whose number is known at run time only (FLEXTRACE_MARK_ID and the like), below
 * 2^27; flextrace_marker_name() gives it a name. Others are offsets in the section of names.
 */
#define FLEXTRACE_WIRE_NUMBERED 0x08000000u
#ifdef __cplusplus
#define FLEXTRACE_WIRE_U32(value) static_cast<uint32_t>(value)
#else
#define FLEXTRACE_WIRE_U32(value) ((uint32_t)(value))
#endif
#define FLEXTRACE_MARKER_ID(number) \
	(FLEXTRACE_WIRE_NUMBERED | (FLEXTRACE_WIRE_U32(number) & (FLEXTRACE_WIRE_NUMBERED - 1)))

/*
 * A word of flextrace_marker_batch.words: kind_id in the high half, ticks in the low half. A batch
 * holds either ring records or whole slots; the kind of words[0] tells which.
 *
 * - Ring: first_index = index of words[0] among the records written since reset; dropped = records
 *   dropped since reset, which have no index. A batch without words is a ring batch that only
 *   brings a newer `dropped`. A gap in the indices = records overwritten or not recorded.
 * - A batch whose only word is a BOOT; with UNRECORDED, of the ring.
 * - Slots: first_index = run of the first slot; dropped = runs lost since reset because their slot
 *   was overwritten unread, which do have a number: they are part of the gaps between runs.
 */
#define FLEXTRACE_WIRE_WORD(kind_id, ticks) (((uint64_t)(kind_id) << 32) | (uint64_t)(ticks))

#endif
