/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h: the ids, enums and payloads of the trace model, for all who write or read it.
 *
 * A payload is what one LTTng event of provider `flextrace` carries; the event's own name is the
 * part of the struct's name behind `flextrace_`. Field order here is field order in the trace.
 *
 * - All `*_ns` host stamps are raw CLOCK_MONOTONIC nanoseconds, which is also what LTTng's clock
 *   counts; 0 = not known.
 * - `*_ticks`/`ts` are raw device counter values; a stamp of exactly 0 = not taken.
 * - Strings are UTF-8, weak (read during the call only), NULL is recorded as "".
 * - `correlation` names the host call that caused something: unique in its process, one to many,
 *   0 = none.
 *
 * - `size` is the size of the struct as the program that filled it knows it, 0 = as it was in
 *   format 2.0. A member is only ever added at the end: a provider takes what it knows of a newer
 *   program's payload, and reads 0 where an older program's has ended. FLEXTRACE_*_INIT sets it.
 *
 * C99 and C++11. Includes no LTTng header. Values of enums are part of the trace format: each is
 * written out, none ever moves, new ones get numbers of their own, below FLEXTRACE_KIND_LIMIT.
 */
#ifndef FLEXTRACE_EVENTS_H
#define FLEXTRACE_EVENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A reader takes what is not below it for damage, and what it does not know below it for new. */
#define FLEXTRACE_KIND_LIMIT 128

/*
 * Host work: the runtime events of the AIU torch profiler guide, in its order, then what is not a
 * runtime call. X(enumerator, value, name in the profiler guide, name in Flex JSON or "", the call
 * below that it is for others)
 */
/* clang-format off */
#define FLEXTRACE_RUNTIME_KINDS(X) \
	X(LAUNCH_CONTROL_BLOCKS, 1, "aiuLaunchControlBlocks", "", LAUNCH) \
	X(INIT_GRAPH, 2, "aiuInitGraph", "", INIT) \
	X(MALLOC, 3, "aiuMalloc", "FixupAllocations", ALLOC) \
	X(RESIZE_TENSOR_ALLOCATION, 4, "aiuResizeTensorAllocation", "AllocateFrame of graph", \
	  ALLOC) \
	X(LAUNCH_SUPER_NODE, 5, "aiuLaunchSuperNode", "Flex RoundTrip", LAUNCH) \
	X(SUPER_NODE_EXECUTION, 6, "aiuSuperNodeExecution", "AIU Roundtrip", EXECUTE) \
	X(GRAPH_EXECUTION, 7, "aiuGraphExecution", "Execute Graph", EXECUTE) \
	X(NODE_COMPUTE, 8, "aiuNodeCompute", "Compute of <node>", EXECUTE) \
	X(DATA_CONVERT, 9, "aiuDataConvert", "Compute of <node>-HostPrep", PREPARE) \
	X(INIT_SCHEDULER, 10, "aiuInitScheduler", "SchedulerConstruct", INIT) \
	X(CREATE_VIRTUAL_ADDRESSES, 11, "aiuCreateVirtualAddresses", "CreatePipoIovas", ALLOC) \
	X(LAUNCH_SCHEDULE_COMPUTE, 12, "aiuLaunchScheduleCompute", "ScheduleCompute", LAUNCH) \
	X(SCHEDULE_WAIT, 13, "aiuScheduleWait", "WaitForCompletionAndReturnStatus", WAIT) \
	X(PREPARE_DMAS, 14, "aiuPrepareDMAs", "PrepareDmas", PREPARE) \
	X(PREPARE_AND_SYNC_RDMA, 15, "aiuPrepareAndSyncRDMA", "PrepareAndSyncRdma", PREPARE) \
	X(CLEAR_CACHE, 16, "aiuClearCache", "LaunchClearScratchpad", PREPARE) \
	X(PRELOAD_CACHE, 17, "aiuPreloadCache", "LaunchPreloadScratchpad", PREPARE) \
	X(LAUNCH_COMPUTE_STREAM, 18, "aiuLaunchComputeStream", "LaunchComputeStream", LAUNCH) \
	X(RDMA_BARRIER1, 19, "aiuRDMABarrier1", "Barrier1", COLLECTIVE) \
	X(POST_RDMA_KEYS, 20, "aiuPostRDMAKeys", "PostKeys", COLLECTIVE) \
	X(RDMA_BARRIER2, 21, "aiuRDMABarrier2", "Barrier2", COLLECTIVE) \
	X(FETCH_RDMA_KEYS, 22, "aiuFetchRDMAKeys", "FetchKeys", COLLECTIVE) \
	X(UPDATE_RDMA_CBS, 23, "aiuUpdateRDMACBs", "Update CBs", PREPARE) \
	X(RDMA_BARRIER3, 24, "aiuRDMABarrier3", "Barrier3", COLLECTIVE) \
	X(CHECK_RDMA_DEADLOCK, 25, "aiuCheckRDMADeadlock", "Deadlock Check", CALL) \
	X(FILE_TRANSFER_DTOF, 26, "aiuFileTransferDtoF", "", COPY_OUT) \
	X(FILE_TRANSFER_MTOF, 27, "aiuFileTransferMtoF", "", CALL) \
	X(FILE_TRANSFER_FTOD, 28, "aiuFileTransferFtoD", "", COPY_IN) \
	X(FILE_TRANSFER_FTOM, 29, "aiuFileTransferFtoM", "", CALL) \
	X(DATA_TRANSFER_DTOH, 30, "aiuDataTransferDtoH", "", COPY_OUT) \
	X(DATA_TRANSFER_HTOD, 31, "aiuDataTransferHtoD", "", COPY_IN) \
	X(CLOCK_CALIBRATION, 32, "aiuClockCalibration", "", CALL) \
	X(COMPILE_GRAPH, 33, "aiuCompileGraph", "", COMPILE)

/* The same in words of no vendor: calls of any runtime. X(enumerator, value, name) */
#define FLEXTRACE_CALL_KINDS(X) \
	X(INIT, 37, "init") /* a device, a context, a library */ \
	X(COMPILE, 38, "compile") \
	X(ALLOC, 39, "alloc") \
	X(FREE, 40, "free") \
	X(COPY_IN, 41, "copy_in")   /* from the host to a device */ \
	X(COPY_OUT, 42, "copy_out") /* from a device to the host */ \
	X(COPY, 43, "copy")         /* between devices, or within one; nobody knows from where */ \
	X(PREPARE, 44, "prepare")   /* what a launch needs: conversion, arguments, descriptors */ \
	X(LAUNCH, 45, "launch")     /* hands work over, and returns */ \
	X(EXECUTE, 46, "execute")   /* a graph or a part of it as a whole, to its end */ \
	X(WAIT, 47, "wait")         /* until the device is done */ \
	X(CALLBACK, 48, "callback") \
	X(COLLECTIVE, 49, "collective")

/* Device work of one control block, as the profiler guide's hardware events name it. */
#define FLEXTRACE_DEVICE_KINDS(X) \
	X(KERNEL, 1, "Kernel") \
	X(MEMCPY_HTOD, 2, "Memcpy (HtoD)") \
	X(MEMCPY_DTOH, 3, "Memcpy (DtoH)") \
	X(MEMCPY_DTOD, 4, "Memcpy (DtoD)") \
	X(MEMCPY_PTOP, 5, "Memcpy (PtoP)") \
	X(MEMSET, 6, "Memset (Device)") \
	X(RELEASE,     7, "Memory (Release)")
/* clang-format on */

/* Kind of a host interval. 0 is a scope the user named himself. */
enum flextrace_runtime_kind {
	FLEXTRACE_RUNTIME_USER = 0,
#define FLEXTRACE_I_ENUMERATOR(id, value, guide, flex, means) FLEXTRACE_RUNTIME_##id = value,
	FLEXTRACE_RUNTIME_KINDS(FLEXTRACE_I_ENUMERATOR)
#undef FLEXTRACE_I_ENUMERATOR
		FLEXTRACE_RUNTIME_OP = 34, /* a framework operation (FLEXTRACE_OP_SCOPE) */
	FLEXTRACE_RUNTIME_CALL = 35,       /* a call of a runtime that has no kind of its own */
	FLEXTRACE_RUNTIME_STEP = 36,       /* a step as a whole; its name is ProfilerStep#N */
#define FLEXTRACE_I_ENUMERATOR(id, value, name) FLEXTRACE_RUNTIME_##id = value,
	FLEXTRACE_CALL_KINDS(FLEXTRACE_I_ENUMERATOR)
#undef FLEXTRACE_I_ENUMERATOR
		FLEXTRACE_RUNTIME_KIND_COUNT = 50
};

enum flextrace_device_kind {
	FLEXTRACE_DEVICE_UNKNOWN = 0,
#define FLEXTRACE_I_ENUMERATOR(id, value, guide) FLEXTRACE_DEVICE_##id = value,
	FLEXTRACE_DEVICE_KINDS(FLEXTRACE_I_ENUMERATOR)
#undef FLEXTRACE_I_ENUMERATOR
		FLEXTRACE_DEVICE_KIND_COUNT = 8
};

/* Parts of a control block, as bits. FLEXTRACE_DEVICE_PARTS() of some is the kind of a kernel of
 * which only these are of interest: one row each, however short. */
enum flextrace_part {
	FLEXTRACE_PART_DMA_IN = 1,
	FLEXTRACE_PART_PREP = 2,
	FLEXTRACE_PART_EXEC = 4,
	FLEXTRACE_PART_DMA_OUT = 8,
	FLEXTRACE_PART_ALL = 15
};

#define FLEXTRACE_DEVICE_PARTS(parts)    (7 + (parts)) /* 8 to 22 */
/* What a unit of the device was in, from TS1 to TS5: stalled, moving data, in a vector instruction.
 * No work of its own. */
#define FLEXTRACE_DEVICE_STATE           23
#define FLEXTRACE_DEVICE_KIND_COUNT_FULL 24

enum flextrace_phase { FLEXTRACE_PHASE_ENTER = 0, FLEXTRACE_PHASE_EXIT = 1 };
enum flextrace_edge { FLEXTRACE_EDGE_BEGIN = 0, FLEXTRACE_EDGE_END = 1 };
enum flextrace_memory_op {
	FLEXTRACE_MEMORY_ALLOC = 0,
	FLEXTRACE_MEMORY_FREE = 1,
	FLEXTRACE_MEMORY_RESIZE = 2
};

/* What a point of a flow is: on its thread, or what a queue does when it comes to it. */
enum flextrace_flow_phase {
	FLEXTRACE_FLOW_PHASE_BEGIN = 0,
	FLEXTRACE_FLOW_PHASE_STEP = 1,
	FLEXTRACE_FLOW_PHASE_END = 2,
	FLEXTRACE_FLOW_PHASE_RECORD = 3, /* the queue records an event */
	FLEXTRACE_FLOW_PHASE_WAIT = 4,   /* the queue waits for it */
	FLEXTRACE_FLOW_PHASE_COUNT = 5
};

/* Which part of a control block a host_estimate is about; n > 0: from TSn to TSn+1. */
enum flextrace_estimate {
	FLEXTRACE_ESTIMATE_WHOLE = 0, /* its first stamp to its last */
	FLEXTRACE_ESTIMATE_DMA_IN = 1,
	FLEXTRACE_ESTIMATE_PREP = 2,
	FLEXTRACE_ESTIMATE_EXEC = 3,
	FLEXTRACE_ESTIMATE_DMA_OUT = 4,
	/* Added to one of these: other times of the same tool contradict it. */
	FLEXTRACE_ESTIMATE_DOUBTED = 5,
	/* No part: the device was at work then, and no control block of that time is known. */
	FLEXTRACE_ESTIMATE_IDLE = 10,
	/* From TS2 to TS3 of the control block whose estimate is in front of this one. */
	FLEXTRACE_ESTIMATE_WAIT = 11,
	FLEXTRACE_ESTIMATE_COUNT = 12
};

#define FLEXTRACE_RANK_UNKNOWN (-1)
#define FLEXTRACE_CORE_STRIDE  1000 /* cores of a grid: number = y * this + x */
#define FLEXTRACE_N_STAMPS     5    /* TS1..TS5 of one control block */

/* -- definitions: who and what the records are about (their own channel) --------------------- */

struct flextrace_process {
	uint32_t size;
	int32_t rank;        /* FLEXTRACE_RANK_UNKNOWN until known */
	int32_t world_size;  /* 0 = unknown */
	uint32_t pid;        /* in its own pid namespace */
	uint64_t start_ns;   /* CLOCK_MONOTONIC when the process (or fork) began: its generation */
	uint64_t time_ns;    /* CLOCK_MONOTONIC of this record */
	const char *boot_id; /* kernel's random boot id */
	uint64_t time_namespace; /* its inode; (boot_id, this) names the host clock */
	const char *host;        /* a label only */
	const char *program;     /* command name of the process */
	const char *runtime;     /* name of the instrumented runtime */
	const char *version;     /* its version */
	const char *session;     /* $FLEXTRACE_SESSION: which recording it belongs to, "" = none */
	uint64_t real_ns;        /* CLOCK_REALTIME of this record; read where it is written */
	/* whose names its kinds have: "neutral", "aiu", "cuda", "tt-metal"; "" (0.1) is "aiu" */
	const char *dialect;
};

struct flextrace_device {
	uint32_t size;
	uint32_t device;
	const char *uuid; /* PCI address or serial; equal uuids on a host share their clock */
	uint32_t n_cores;
	uint64_t core_hz; /* 0 = unknown; only ever a hint */
	const char *name;
	const char *power_unit; /* unit of device_op.power, "" = none */
	/* names of the processors that each core has, in their order, apart by commas; "" = they
	 * have numbers only */
	const char *processors;
};

struct flextrace_clock_domain {
	uint32_t size;
	uint32_t device;
	uint32_t domain;
	uint32_t counter_bits; /* 16 to 64; after so many it wraps */
	uint64_t nominal_hz;   /* 0 = unknown; only ever a hint */
	uint32_t rate_group;   /* domains of one rate group share a slope, not an origin */
};

struct flextrace_name { /* thread_name, queue_name, marker_name */
	uint32_t size;
	uint32_t device; /* queue_name, marker_name; else 0 */
	uint32_t id;     /* tid, queue, marker id (offset in the names section) */
	const char *name;
	const char *file; /* marker_name only, else "" */
	uint32_t line;
};

/* -- host records ------------------------------------------------------------------------------ */

struct flextrace_scope { /* a finished interval; its end is the record's own time */
	uint32_t size;
	uint32_t kind; /* enum flextrace_runtime_kind */
	uint64_t begin_ns;
	const char *name;
	uint64_t correlation;
	const char *args; /* as args.h writes them, "" = none */
	const char *file;
	uint32_t line; /* last: seldom 0, by which a record is known to be whole */
};

/* span: a finished interval whose end is not the record's own time; async_span: one that may cross
 * others, as it began on another thread. */
struct flextrace_span {
	uint32_t size;
	uint32_t kind; /* enum flextrace_runtime_kind */
	uint64_t begin_ns;
	uint64_t end_ns;
	const char *name;
	uint64_t correlation;
	const char *args; /* as in struct flextrace_scope */
	const char *file;
	uint32_t line;
};

struct flextrace_scope_args { /* belongs to the scope record that follows it on this thread */
	uint32_t size;
	uint64_t correlation;
	const char *args;
};

struct flextrace_span_edge { /* begin, end, async_begin, async_end */
	uint32_t size;
	uint32_t kind;
	const char *name;
	uint64_t correlation; /* begin/end: correlation; async_*: the id that pairs them */
};

struct flextrace_instant {
	uint32_t size;
	const char *name;
	uint64_t correlation;
};

struct flextrace_flow {
	uint32_t size;
	uint32_t phase;  /* enum flextrace_flow_phase */
	uint32_t device; /* RECORD and WAIT only, else 0 */
	uint32_t queue;
	const char *name;
	uint64_t id; /* joins the points of one flow; flows and events of queues have their own */
};

struct flextrace_counter {
	uint32_t size;
	const char *name;
	double value;
	const char *unit; /* such as "W", "bytes"; "" = not told */
	int32_t device;   /* that it is a value of; -1 = of the process */
};

struct flextrace_annotation {
	uint32_t size;
	const char *key;
	const char *value;
};

struct flextrace_step { /* becomes ProfilerStep#number */
	uint32_t size;
	uint64_t number;
};

struct flextrace_window { /* a measured window that the program opened itself */
	uint32_t size;
	uint32_t edge; /* enum flextrace_edge */
	const char *name;
};

struct flextrace_collective {
	uint32_t size;
	const char *group;
	uint64_t seq;   /* n-th operation of this group */
	const char *op; /* all_reduce, barrier, send, ... */
	uint64_t bytes;
	const char *peers; /* ranks, comma separated, "" = whole group */
	uint32_t phase;    /* enum flextrace_phase */
};

struct flextrace_memory {
	uint32_t size;
	uint32_t device;
	uint64_t address;
	uint64_t bytes;
	uint32_t op; /* enum flextrace_memory_op */
};

struct flextrace_op { /* a framework operation, joined to device work by correlation */
	uint32_t size;
	uint64_t correlation;
	const char *type;
	const char *attributes;
	uint32_t n_cores;
	uint32_t depth;
};

struct flextrace_tensor {
	uint32_t size;
	uint64_t correlation;
	uint32_t is_output;
	const char *dims; /* "2x3x4"; with padding "32[19]x64[64]", the logical size in brackets */
	const char *layout;
	const char *dtype;
	const char *memory;
};

struct flextrace_op_info {
	uint32_t size;
	uint64_t correlation;
	const char *module;
	const char *opcode;
	const char *op_name;
	const char *frames; /* source frames, one a line */
};

/* -- device records ---------------------------------------------------------------------------- */

/*
 * The stamps of an operation, of any device:
 *   TS1 accepted, its input begins      TS2 input done, its preparation begins
 *   TS3 preparation done, work begins   TS4 work done, its output begins      TS5 output done
 * A phase that it does not have has equal stamps around it. A stamp that was not taken is 0: the
 * phases beside it are not shown, and counted. What has no phases (all kinds but KERNEL) lasts from
 * its first stamp to its last; any two will do.
 */
struct flextrace_device_op { /* one control block: host bracket and all five stamps */
	uint32_t size;
	uint32_t device;
	uint32_t domain;
	uint32_t queue;
	uint64_t job;
	uint64_t correlation;
	uint32_t kind; /* enum flextrace_device_kind */
	const char *name;
	uint64_t submit_ns;              /* taken before the doorbell, 0 = not known */
	uint64_t complete_ns;            /* taken after the completion was visible, 0 = not known */
	uint32_t ts[FLEXTRACE_N_STAMPS]; /* low 32 bits of TS1..TS5, 0 = not taken */
	uint32_t power;                  /* accumulated power counter at TS4, 0 = none */
	uint64_t bytes;
	int32_t peer;      /* peer rank of a PtoP transfer, -1 = none */
	const char *group; /* collective group, "" = none */
	const char *type;  /* transfer type such as SingleCast, "" = none */
	/* TS1..TS5 of a device with wider counters: all their bits, of which the upper two are not
	 * looked at. Where one is not 0 these hold, and `ts` is not read. */
	uint64_t ts64[FLEXTRACE_N_STAMPS];
	const char *args; /* as in struct flextrace_scope */
};

struct flextrace_bracket { /* submit, complete: the same bracket as two records */
	uint32_t size;
	uint32_t device;
	uint32_t queue;
	uint64_t job;
	uint64_t correlation;
	const char *name;
	/* submit: before the doorbell; complete: after the completion was visible */
	uint64_t host_ns;
};

struct flextrace_host_estimate { /* a host time that some other tool estimated: soft evidence */
	uint32_t size;
	uint32_t device;
	uint32_t queue;
	uint64_t job;
	uint32_t kind;     /* enum flextrace_estimate: what took from begin to end */
	uint64_t begin_ns; /* when its first stamp was taken; 0: not known */
	uint64_t end_ns;   /* when its last was; 0: not known */
	const char *source;
};

struct flextrace_marker_batch { /* raw marker words of one area; see wire.h for the words */
	uint32_t size;
	uint32_t device;
	uint32_t core;
	uint32_t processor;
	uint32_t domain;
	/* index of words[0] in its area since reset (ring) or its run (slots) */
	uint64_t first_index;
	uint64_t dropped; /* records (ring) or runs (slots) dropped since reset */
	uint32_t n_words;
	const uint64_t *words; /* host order */
};

struct flextrace_clock_sync { /* an explicit bracketed read of a counter */
	uint32_t size;
	uint32_t device;
	uint32_t domain;
	uint64_t host_before_ns;
	uint64_t ticks; /* all the bits the counter has */
	uint64_t host_after_ns;
};

/* -- empty payloads ---------------------------------------------------------------------------
 *
 * What an initialised payload says where nothing is filled in: nothing. Unlike zeros, which say
 * that `peer` is rank 0: struct flextrace_device_op op = FLEXTRACE_DEVICE_OP_INIT;
 */
/* clang-format off */
#define FLEXTRACE_DEVICE_INIT {sizeof(struct flextrace_device), 0, "", 0, 0, "", "", ""}
#define FLEXTRACE_CLOCK_DOMAIN_INIT {sizeof(struct flextrace_clock_domain), 0, 0, 32, 0, 0}
#define FLEXTRACE_NAME_INIT {sizeof(struct flextrace_name), 0, 0, "", "", 0}
#define FLEXTRACE_DEVICE_OP_INIT {sizeof(struct flextrace_device_op), 0, 0, 0, 0, 0, \
	FLEXTRACE_DEVICE_UNKNOWN, "", 0, 0, {0, 0, 0, 0, 0}, 0, 0, -1, "", "", {0, 0, 0, 0, 0}, ""}
#define FLEXTRACE_HOST_ESTIMATE_INIT {sizeof(struct flextrace_host_estimate), 0, 0, 0, \
	FLEXTRACE_ESTIMATE_WHOLE, 0, 0, ""}
#define FLEXTRACE_MARKER_BATCH_INIT {sizeof(struct flextrace_marker_batch), 0, 0, 0, 0, 0, 0, 0, 0}
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
