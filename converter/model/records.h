/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h: what decode takes and makes: the event of a reader, the record of it, and the stream
 * that keeps records. See model.h for the words.
 */
#ifndef FLEXTRACE_RECORDS_H
#define FLEXTRACE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "flextrace/events.h"
#include "model/losses.h"
#include "base/map.h"
#include "model/origins.h"
#include "model/restored.h"
#include "base/table.h"

/* clang-format off */
/* X(enumerator, event name behind "flextrace:", payload struct, member of struct event's union,
 * table) */
#define FLEXTRACE_RECORD_CLASSES(X) \
	X(PROCESS,       process,       flextrace_process,       process,       DEFINITIONS) \
	X(DEVICE,        device,        flextrace_device,        device,        DEFINITIONS) \
	X(CLOCK_DOMAIN,  clock_domain,  flextrace_clock_domain,  clock_domain,  DEFINITIONS) \
	X(THREAD_NAME,   thread_name,   flextrace_name,          name,          DEFINITIONS) \
	X(QUEUE_NAME,    queue_name,    flextrace_name,          name,          DEFINITIONS) \
	X(MARKER_NAME,   marker_name,   flextrace_name,          name,          DEFINITIONS) \
	X(SCOPE,         scope,         flextrace_scope,         scope,         HOST) \
	X(SPAN,          span,          flextrace_span,          span,          HOST) \
	X(ASYNC_SPAN,    async_span,    flextrace_span,          span,          HOST) \
	X(SCOPE_ARGS,    scope_args,    flextrace_scope_args,    scope_args,    HOST) \
	X(BEGIN,         begin,         flextrace_span_edge,     edge,          HOST) \
	X(END,           end,           flextrace_span_edge,     edge,          HOST) \
	X(ASYNC_BEGIN,   async_begin,   flextrace_span_edge,     edge,          HOST) \
	X(ASYNC_END,     async_end,     flextrace_span_edge,     edge,          HOST) \
	X(INSTANT,       instant,       flextrace_instant,       instant,       HOST) \
	X(COUNTER,       counter,       flextrace_counter,       counter,       HOST) \
	X(FLOW,          flow,          flextrace_flow,          flow,          HOST) \
	X(ANNOTATION,    annotation,    flextrace_annotation,    annotation,    HOST) \
	X(STEP,          step,          flextrace_step,          step,          HOST) \
	X(WINDOW,        window,        flextrace_window,        window,        HOST) \
	X(MEMORY,        memory,        flextrace_memory,        memory,        HOST) \
	X(OP,            op,            flextrace_op,            op,            HOST) \
	X(TENSOR,        tensor,        flextrace_tensor,        tensor,        HOST) \
	X(OP_INFO,       op_info,       flextrace_op_info,       op_info,       HOST) \
	X(DEVICE_OP,     device_op,     flextrace_device_op,     device_op,     EVIDENCE) \
	X(SUBMIT,        submit,        flextrace_bracket,       bracket,       EVIDENCE) \
	X(COMPLETE,      complete,      flextrace_bracket,       bracket,       EVIDENCE) \
	X(HOST_ESTIMATE, host_estimate, flextrace_host_estimate, host_estimate, EVIDENCE) \
	X(MARKER_BATCH,  marker_batch,  flextrace_marker_batch,  marker_batch,  EVIDENCE) \
	X(CLOCK_SYNC,    clock_sync,    flextrace_clock_sync,    clock_sync,    EVIDENCE) \
	X(COLLECTIVE,    collective,    flextrace_collective,    collective,    EVIDENCE) \
	X(RESTORED,      restored,      flextrace_restored,      restored,      EVIDENCE)
/* clang-format on */

enum record_class {
#define RECORD_ENUMERATOR(id, event, payload, member, table) RECORD_##id,
	FLEXTRACE_RECORD_CLASSES(RECORD_ENUMERATOR)
#undef RECORD_ENUMERATOR
		RECORD_CLASS_COUNT
};

/* The three tables of a stream: what is needed before the clocks are known, and what only after. */
enum record_table { TABLE_DEFINITIONS, TABLE_EVIDENCE, TABLE_HOST, RECORD_TABLE_COUNT };

/* decode's input: one event as its reader found it. All strings and arrays weak, for the call only.
 */
struct event {
	enum record_class class;
	uint64_t clock_ns;
	int32_t vpid;   /* -1 = the trace has no such context */
	int32_t vtid;   /* -1 = the trace has no such context */
	int32_t status; /* enum time_status: its row is no more sure; 0 = nothing is said of it */
	/* Where it stood in a file, if the reader knows: 1, or of a control block with parts
	 * 1 + ORIGIN_N_PARTS, the first being the part whose host time is told. */
	uint32_t n_origins;
	struct origin origins[1 + ORIGIN_N_PARTS];
	union {
		struct flextrace_process process;
		struct flextrace_device device;
		struct flextrace_clock_domain clock_domain;
		struct flextrace_name name;
		struct flextrace_scope scope;
		struct flextrace_span span;
		struct flextrace_scope_args scope_args;
		struct flextrace_span_edge edge;
		struct flextrace_instant instant;
		struct flextrace_counter counter;
		struct flextrace_flow flow;
		struct flextrace_annotation annotation;
		struct flextrace_step step;
		struct flextrace_window window;
		struct flextrace_memory memory;
		struct flextrace_op op;
		struct flextrace_tensor tensor;
		struct flextrace_op_info op_info;
		struct flextrace_device_op device_op;
		struct flextrace_bracket bracket;
		struct flextrace_host_estimate host_estimate;
		struct flextrace_marker_batch marker_batch;
		struct flextrace_clock_sync clock_sync;
		struct flextrace_collective collective;
		struct flextrace_restored restored;
	} payload;
};

/* Whether the stamps of an operation are those of 64 bits. */
static inline bool has_wide_stamps(const struct flextrace_device_op *op)
{
	uint64_t any = 0;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		any |= op->ts64[i];
	return any != 0;
}

/* Head of every record; the class decides which struct it opens. Strings are pool ids from here on.
 */
struct record {
	uint64_t clock_ns;
	/* In its stream, over all its events: the last part of the gather key. Where the stream has
	 * origins its place in them, which is no other record's either. */
	uint32_t index;
	uint32_t size_bytes; /* of the whole record, a multiple of 8 */
	int32_t vpid;
	int32_t vtid;
	uint8_t class;  /* enum record_class */
	uint8_t kind;   /* runtime or device kind, edge, phase or op, where the payload has one */
	uint8_t status; /* as of the event */
	uint8_t unused;
	uint32_t name; /* the payload's first name-like string */
};

struct record_process {
	struct record head; /* name = program */
	int32_t rank;
	int32_t world_size;
	uint32_t pid;
	uint32_t boot_id, host, runtime, version, session, dialect;
	uint64_t start_ns, time_ns, time_namespace, real_ns;
};

struct record_device {
	struct record head;
	uint32_t device, uuid, n_cores, power_unit, processors;
	uint32_t unused;
	uint64_t core_hz;
};

struct record_clock_domain {
	struct record head;
	uint32_t device, domain, counter_bits, rate_group;
	uint64_t nominal_hz;
};

struct record_name {
	struct record head;
	uint32_t device, id, file, line;
};

struct record_scope {
	struct record head; /* clock_ns = its end */
	uint64_t begin_ns;
	uint64_t correlation;
	uint32_t file, line;
	uint32_t args; /* JSON */
	uint32_t unused;
};

struct record_span {        /* span, async_span */
	struct record head; /* clock_ns = when it was recorded */
	uint64_t begin_ns;
	uint64_t correlation;
	uint32_t file, line;
	uint32_t args;
	uint32_t unused; /* up to here as in record_scope */
	uint64_t end_ns;
};

struct record_edge { /* begin, end, async_begin, async_end */
	struct record head;
	uint64_t correlation;
};

struct record_text { /* scope_args: text = args; annotation: name = key, text = value */
	struct record head;
	uint64_t correlation;
	uint32_t text;
	uint32_t unused;
};

/* instant (correlation), step (number in `number`), window */
struct record_value {
	struct record head;
	union {
		uint64_t correlation;
		uint64_t number;
	} u;
};

struct record_counter {
	struct record head;
	double value;
	uint32_t unit;
	int32_t device; /* -1 = of the process */
};

struct record_flow { /* kind = its phase */
	struct record head;
	uint64_t id;
	uint32_t device, queue;
};

struct record_memory {
	struct record head;
	uint64_t address, bytes;
	uint32_t device;
	uint32_t unused;
};

struct record_op { /* op: name = type; op_info: name = op_name; tensor: name = dims */
	struct record head;
	uint64_t correlation;
	uint32_t text[3]; /* attributes; module, opcode, frames; layout, dtype, memory */
	uint32_t n_cores; /* tensor: is_output */
	uint32_t depth;
	uint32_t unused;
};

struct record_device_op {
	struct record head;
	uint64_t job, correlation, submit_ns, complete_ns, bytes;
	uint32_t device, domain, queue;
	uint32_t ticks32[FLEXTRACE_N_STAMPS];
	uint32_t power;
	int32_t peer;
	uint32_t group, type, args;
	uint64_t ticks64[]; /* FLEXTRACE_N_STAMPS where they have more than 32 bits, else none */
};

struct record_bracket { /* submit, complete */
	struct record head;
	uint64_t job, correlation, host_ns;
	uint32_t device, queue;
};

struct record_host_estimate {
	struct record head; /* name = source */
	uint64_t job, begin_ns, end_ns;
	uint32_t device, queue;
};

struct record_marker_batch {
	struct record head;
	uint64_t first_index, dropped;
	uint32_t device, core, processor, domain;
	uint32_t n_words;
	uint32_t unused;
	uint64_t words[];
};

struct record_clock_sync {
	struct record head;
	uint64_t host_before_ns, ticks, host_after_ns;
	uint32_t device, domain;
};

struct record_collective {
	struct record head; /* name = op, kind = phase */
	uint64_t seq, bytes;
	uint32_t group, peers;
};

struct record_restored { /* see restored.h */
	struct record head;
	uint64_t begin_ns, end_ns, job, correlation, bytes, run;
	uint64_t ticks[FLEXTRACE_N_STAMPS];
	double value;
	uint32_t device, queue, is_part, op_kind, err_ns, power;
	int32_t peer;
	uint32_t group, type, core, processor, file, line, domain, segment, sample_before_ns;
};

/* What a stream has of one process. */
struct stream_process {
	int32_t vpid;
	bool has_rows; /* evidence or host records */
	uint64_t n_read[RECORD_CLASS_COUNT];
};

/* One stream of a trace, filled by one reader thread. */
struct stream {
	uint8_t trace_uuid[16]; /* zeros = none */
	uint64_t class_id, instance_id;
	uint32_t trace;          /* index among the traces of this conversion, in order of uuid */
	uint32_t host;           /* string: the trace's hostname */
	uint32_t recording;      /* string: the recording_id.h of the trace; 0 = none of ours */
	int64_t clock_offset_ns; /* clock value + this = ns since the Unix epoch */
	bool clock_is_1ghz;      /* payload stamps may be compared with the clock */
	bool is_given;           /* another tool placed its host times */
	bool has_dialects;       /* its tracer is one whose processes tell their dialect */
	/* index of the next record: every event counts, also one not understood */
	uint32_t n_events;
	uint32_t *files; /* owned: strings "<tool> <path>": what it was made of; none: a trace */
	uint32_t n_files;
	struct origins *origins; /* owned: of its records; NULL: a trace, or no record yet */
	struct losses losses;    /* owned: of this stream; their places are empty */
	struct stream_process *processes; /* owned: each once */
	uint32_t n_processes;
	uint32_t last_process;                   /* index: of the newest record */
	struct map process_index;                /* owned: by vpid */
	struct table tables[RECORD_TABLE_COUNT]; /* owned, of struct record */
};

#endif
