/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h: the nouns of the converter, one type per border.
 *
 *   event  --decode-->  record  --gather-->  (the same, in one order)
 *   record --identity-> process, thread, device, counter     who and what
 *   record --unwrap-->  tick_op, mark_run, tick_mark (64-bit cycles), bracket (evidence)
 *   bracket --calibrate--> clocks (const)      cycles -> host ns, +-
 *   clocks  --align-->  alignment (const)      host ns -> time ns, +-
 *   records, tick_* --derive--> timeline (const): rows, tracks, flows
 *   timeline --emit, analysis--> files
 *
 * Units and clocks, in the field's name, so that feeding a stage too early does not compile:
 *   ticks32   raw counter bits as they were stamped
 *   ticks     unwrapped 64-bit cycles of one counter (0 = not taken)
 *   clock_ns, host_ns   raw value of a host's CLOCK_MONOTONIC = LTTng's clock, per host clock
 *   time_ns   the reference host's clock, after alignment; emit adds its Unix-epoch offset, once
 *
 * Ids are 32-bit indexes into the tables of `struct identity` and `struct timeline`; strings are
 * ids of the conversion's string pool (strings.h). Nothing here depends on babeltrace2.
 */
#ifndef FLEXTRACE_MODEL_H
#define FLEXTRACE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "flextrace/wire.h"
#include "model/records.h"

#define FLEXTRACE_NONE       UINT32_MAX /* no index */
#define FLEXTRACE_OWNER_BITS 23         /* of an index of a process, or of a device */

/* -- identity: who and what -------------------------------------------------------------------- */

struct host_clock {       /* one CLOCK_MONOTONIC: (boot id, time namespace) */
	uint32_t boot_id; /* string */
	uint64_t time_namespace;
	uint32_t host; /* string, a label */
	/* clock value + this = ns since the Unix epoch, as LTTng sampled it, or its processes */
	int64_t epoch_offset_ns;
	bool is_not_recorders; /* LTTng sampled another clock */
};

struct process { /* (trace, vpid, generation) */
	uint32_t trace;
	int32_t vpid;
	uint32_t generation;  /* 0, 1, ... in order of start_ns */
	bool is_defined;      /* a `process` record named it */
	bool is_shared;       /* it is in several traces; `trace` is the first one */
	bool is_given;        /* another tool placed its times */
	bool is_excluded;     /* belongs to another recording (--session) or was filtered out */
	bool has_odd_dialect; /* it named one that there is not */
	uint8_t dialect;      /* enum dialect (words/kinds.h): whose names its kinds have */
	int32_t rank;         /* FLEXTRACE_RANK_UNKNOWN */
	int32_t world_size;
	uint32_t pid;
	uint64_t start_ns;
	uint32_t host_clock;                               /* index of struct host_clock */
	uint32_t host, program, runtime, version, session; /* strings */
};

struct thread {
	uint32_t process;
	int32_t vtid;
	uint32_t name; /* string, 0 = unnamed */
};

struct device {
	uint32_t process;
	uint32_t device; /* the runtime's index */
	bool is_defined;
	uint32_t uuid, name, power_unit, processors; /* strings */
	uint32_t n_cores;
	uint64_t core_hz;
};

/* A physical counter. Devices of equal uuid on one host clock share theirs. */
struct counter {
	uint32_t device; /* the first device that has it */
	uint32_t domain;
	uint32_t counter_bits; /* 32 unless defined */
	uint64_t nominal_hz;   /* 0 = unknown */
	uint32_t rate_group;   /* counters of one device (uuid) and rate group share a slope */
};

/* -- unwrap -> calibrate, derive --------------------------------------------------------------- */

/* How far a time can be trusted; a row has the worse of its two ends'. Ordered from good to bad. */
enum time_status {
	TIME_CERTIFIED, /* follows from facts alone, within err_ns */
	TIME_ASSUMED,   /* needed an assumption; no bound */
	TIME_OUTLIER,   /* contradicts the other evidence */
	TIME_UNMATCHED, /* has no evidence to be placed by */
	TIME_GIVEN      /* placed by the tool that wrote the file */
};

/* One control block in 64-bit cycles; 136 bytes. */
struct tick_op {
	uint64_t ticks[FLEXTRACE_N_STAMPS]; /* 0 = not taken or not placeable */
	uint64_t job, correlation, bytes;
	int64_t submit_host_ns, complete_host_ns; /* 0 = not known */
	uint32_t device;                          /* index of struct device */
	uint32_t counter;                         /* index of struct counter */
	uint32_t queue;
	uint32_t name, group, type, args; /* strings */
	uint32_t power;
	int32_t peer;
	uint32_t stream, index; /* source: stream and record index in it */
	uint16_t segment;       /* of its counter: a reset starts a new one */
	uint8_t kind;           /* enum flextrace_device_kind */
	uint8_t status;         /* enum time_status: of the epoch */
	uint8_t class; /* enum record_class of its source: DEVICE_OP, SUBMIT, COMPLETE, RESTORED */
	/* 0, or both host times are another tool's: 1 + enum flextrace_estimate, of what part */
	uint8_t estimate;
	bool is_doubted : 1; /* other times of that tool contradict them */
	/* wraps that no stamp shows lie somewhere between its first stamp and its last: `status` is
	 * that of these two, the others are assumed at best */
	bool has_open_middle : 1;
	uint8_t unused;
	/* Of what has power and no row of kernels: how long before the end of its row its TS4 is;
	 * UINT32_MAX: that is not known. */
	uint32_t sample_before_ns;
};
_Static_assert(sizeof(struct tick_op) == 136, "there are many");

/* The marks of one marker_batch that belong to one run, or to no known one; they follow each other
 * in a table of their own. 72 bytes. */
struct mark_run {
	int64_t drained_ns;       /* host time by which all had happened */
	uint64_t run;             /* of the firmware, 0 = not known */
	uint64_t job;             /* of the run, 0 = not known */
	uint32_t device, counter; /* indexes */
	uint32_t core, processor;
	uint32_t stream, index; /* source */
	uint32_t queue;         /* slots only */
	uint32_t n_marks;
	uint32_t n_ends; /* of zones and runs, among them */
	uint32_t boot;   /* index of struct area_boot; FLEXTRACE_NONE: nothing is said of it */
	uint16_t segment;
	uint8_t status;        /* enum time_status: of all its marks */
	bool is_open : 1;      /* the run never ended: what it left open is shown */
	bool is_unbounded : 1; /* of which boot it is nobody knows: no error bounds its times */
};

/* One marker word, or one stamp of a slot but TS1..TS5, in 64-bit cycles. 16 bytes. */
struct tick_mark {
	uint64_t ticks;
	uint32_t value; /* VALUE only */
	/* marker id; slot stamps: enum flextrace_wire_stamp */
	uint32_t id : FLEXTRACE_WIRE_ID_BITS;
	/* enum flextrace_wire_kind: MARK, ZONE_BEGIN, ZONE_END, VALUE or SLOT_STAMP */
	uint32_t kind : 32 - FLEXTRACE_WIRE_ID_BITS;
};

/* calibrate's evidence: the counter read `first_ticks` not before `before_host_ns` and `last_ticks`
 * not after `after_host_ns`. One side may be missing (INT64_MIN, INT64_MAX). */
enum bracket_source { BRACKET_OP, BRACKET_SYNC, BRACKET_ESTIMATE, BRACKET_RUN };
struct bracket {
	uint64_t first_ticks, last_ticks;
	int64_t before_host_ns, after_host_ns;
	uint32_t counter;
	uint16_t segment;
	uint8_t source; /* enum bracket_source; ESTIMATE is soft */
	/* its segment begins behind a gap that no rate can bridge, not with a reset */
	uint8_t is_after_gap;
};

/* A record_restored, and whose it is: indexes. */
struct restored_row {
	struct record_restored of;
	uint32_t device, counter, stream;
};

/* align's evidence: one process' part in one collective. */
struct sync_point {
	int64_t enter_host_ns, exit_host_ns; /* INT64_MIN / INT64_MAX = missing */
	uint64_t seq, bytes;
	uint32_t process;
	uint32_t group, op, peers; /* strings */
	uint32_t thread;           /* index of struct thread: who entered, else who left */
	uint32_t stream, index;    /* source: the enter record, else the exit record */
	bool is_assumed;           /* its times needed an assumption */
	uint8_t unused[3];
};

/* -- derive -> emit, analysis
 * ---------------------------------------------------------------------- */

/* Kinds of host rows: enum flextrace_runtime_kind but for STEP, then these. */
enum host_kind {
	HOST_STEP = FLEXTRACE_KIND_LIMIT, /* ProfilerStep#n */
	HOST_WINDOW,
	HOST_COLLECTIVE,
	HOST_ASYNC,
	HOST_FLOW, /* a point of a flow */
	HOST_ARROW /* of spans only: it becomes an arrow, no row */
};

/* Kinds of device rows. A control block of kind KERNEL has rows DMA_IN, PREP, EXEC, DMA_OUT for its
 * stamp pairs; other control blocks have one row of their own kind. */
enum device_row_kind {
	ROW_DMA_IN,
	ROW_PREP,
	ROW_EXEC,
	ROW_DMA_OUT,
	ROW_MEMCPY_HTOD,
	ROW_MEMCPY_DTOH,
	ROW_MEMCPY_DTOD,
	ROW_MEMCPY_PTOP,
	ROW_MEMSET,
	ROW_RELEASE,
	ROW_STATE,    /* of a unit of the device; no work of its own */
	ROW_UNKNOWN,  /* of a newer tracer; nobody knows whether it is work */
	ROW_FIRMWARE, /* marker zones: the run, its kernel, zones of the user */
	ROW_KERNEL,
	ROW_ZONE,
	DEVICE_ROW_KIND_COUNT
};

/* The kind of a control block of a ROW_UNKNOWN that nobody told. */
#define UNNUMBERED_KIND (FLEXTRACE_KIND_LIMIT - 1)

/* Of a record_restored that is no device row: what the firmware of a core marked, lines of
 * clocks.csv and alignment.csv, and what was lost of a process. */
enum restored_kind {
	RESTORED_MARK = DEVICE_ROW_KIND_COUNT,
	RESTORED_VALUE,
	RESTORED_CLOCK,
	RESTORED_ALIGNMENT,
	RESTORED_LOSS,
	RESTORED_KIND_COUNT
};

/* A line of the viewer: rows on one track nest perfectly. */
enum track_kind { TRACK_THREAD, TRACK_ASYNC, TRACK_QUEUE, TRACK_CORE };
struct track {
	uint8_t kind; /* enum track_kind */
	/* TRACK_QUEUE: ROW_EXEC (all main work), ROW_PREP, ROW_DMA_IN or ROW_DMA_OUT */
	uint8_t row_kind;
	uint8_t dialect; /* of its process */
	uint8_t unused;
	/* TRACK_THREAD, TRACK_ASYNC: index of struct thread; else of struct device */
	uint32_t owner;
	uint32_t id;        /* TRACK_QUEUE: queue; TRACK_CORE: core */
	uint32_t processor; /* TRACK_CORE */
	uint32_t lane;      /* 0 = the line itself, 1.. = overflow lanes for what crosses */
};

struct host_row { /* host.csv; 56 bytes */
	int64_t start_time_ns, end_time_ns;
	uint64_t correlation;
	uint32_t track;
	uint32_t name, args; /* strings; args is JSON text or plain text as recorded */
	uint32_t file, line;
	uint32_t stream, index;
	uint16_t depth;     /* open rows around it on its thread */
	uint8_t kind;       /* enum flextrace_runtime_kind or enum host_kind */
	uint8_t status : 3; /* enum time_status */
	uint8_t class : 5;  /* enum record_class it came from */
};
_Static_assert(RECORD_CLASS_COUNT <= 32, "class has five bits, in a counter_row, too");

/* What a program told of an operation besides its host row, which names the same record. */
struct op_call {
	uint32_t stream, index;    /* of the row */
	uint32_t type, attributes; /* strings, all */
	uint32_t op_name, module, opcode, frames;
	uint32_t args; /* as its scope_args told them */
	uint32_t n_cores, depth;
	uint32_t first_tensor; /* of the timeline's; inputs and outputs as they were recorded */
	uint32_t n_tensors;
};

struct op_tensor {
	uint32_t dims, layout, dtype, memory; /* strings */
	uint32_t is_output;
};

struct device_row { /* events.csv; 32 bytes; details stand in the op or zone */
	int64_t start_time_ns, end_time_ns;
	uint32_t err_ns; /* larger half-width of the two ends; UINT32_MAX = no bound */
	uint32_t source; /* index of struct tick_op, or of struct zone for rows of markers */
	uint32_t track;
	uint8_t kind;   /* enum device_row_kind */
	uint8_t status; /* enum time_status */
	uint16_t unused;
};

struct zone { /* what a marker row is about; 24 bytes */
	uint64_t first_ticks, last_ticks;
	uint32_t run;    /* index of struct mark_run */
	uint32_t marker; /* index of struct marker */
};

struct loose_stamp { /* of a run's slot, whose partner is missing */
	uint64_t ticks;
	uint32_t run;   /* index of struct mark_run */
	uint32_t stamp; /* enum flextrace_wire_stamp, up to FW_END */
};

struct marker { /* what zones of one kind and name are, and where the firmware's source has them */
	uint32_t name; /* string */
	uint32_t file, line;
	uint32_t n_endless; /* zones that began here and never ended */
	uint8_t kind;       /* enum device_row_kind: FIRMWARE, KERNEL or ZONE */
	bool is_named;      /* else its name is made of its id */
	uint16_t unused;
};

struct instant_row { /* instants.csv: host instants, annotations, device marks */
	int64_t time_ns;
	union {
		uint64_t correlation; /* host: see instant_correlation() */
		uint64_t ticks;       /* device marks: 64-bit cycles of their counter */
	};
	uint32_t err_ns; /* UINT32_MAX = no bound */
	uint32_t track;
	uint32_t name, value; /* strings */
	uint32_t stream, index;
	uint8_t class;  /* enum record_class it came from */
	uint8_t status; /* enum time_status */
	uint16_t unused;
	uint32_t unused2;
};

static inline uint64_t instant_correlation(const struct instant_row *row)
{
	return row->class == RECORD_MARKER_BATCH ? 0 : row->correlation;
}

struct counter_row { /* counters.csv: host counters, device values, what devices are at; 48 bytes */
	int64_t time_ns;
	double value;
	uint32_t err_ns;
	uint32_t core; /* FLEXTRACE_NONE for host counters */
	uint32_t name, unit;
	uint32_t stream, index;
	/* index of struct process, or of struct device when `is_device` */
	uint32_t owner : FLEXTRACE_OWNER_BITS;
	uint32_t is_device : 1;
	uint32_t status : 3;
	uint32_t class : 5; /* enum record_class it came from */
};

struct memory_row { /* memory.csv */
	int64_t time_ns;
	uint64_t address, bytes;
	uint64_t total_bytes; /* allocated on the device after this */
	uint32_t device;      /* index of struct device */
	uint32_t thread;      /* index of struct thread */
	uint32_t stream, index;
	uint8_t op; /* enum flextrace_memory_op */
	uint8_t unused[7];
};

/* An arrow: a launch, from a host row to a device row; a message between two device rows; one from
 * an operation to that of its gradient, of correlation 0; or one along a critical path. */
struct flow {
	int64_t from_time_ns, to_time_ns;
	uint64_t from_track : 31, to_track : 31, is_critical : 1;
	uint64_t is_told : 1; /* by the program: message.sync is its name */
	union {
		uint64_t correlation; /* of a launch */
		struct {
			uint32_t sync, group; /* strings */
		} message;
	};
};

static inline bool flow_is_gradient(const struct flow *flow, const struct track *tracks)
{
	return tracks[flow->to_track].kind < TRACK_QUEUE && !flow->is_critical && !flow->is_told;
}

static inline bool flow_is_message(const struct flow *flow, const struct track *tracks)
{
	return tracks[flow->from_track].kind >= TRACK_QUEUE && !flow->is_critical && !flow->is_told;
}

#endif
