/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex_impl.h: what the files of the Flex importer share.
 *
 *   flex.c         which event is what; begins meet their ends
 *   flex_call.c    names and attributes of an event
 *   flex_ranks.c   pids and tids become streams, processes and threads
 *   flex_blocks.c  events with stamps become control blocks
 *   torch.c        the same for files of the torch profiler, by the names of torch_names.c
 */
#ifndef FLEXTRACE_IMPORT_FLEX_IMPL_H
#define FLEXTRACE_IMPORT_FLEX_IMPL_H

#include "decode/decode.h"
#include "import/flex.h"
#include "map.h"

/* What an event, or a pair of B and E, says. Strings are pool ids. */
struct flex_call {
	int64_t begin_ns, end_ns;
	uint64_t bytes, correlation;
	uint32_t full_name; /* as in the file */
	uint32_t name;      /* of the control block */
	uint32_t args;      /* JSON text; only of what is no control block */
	uint32_t group, type;
	uint32_t ts[FLEXTRACE_N_STAMPS];
	uint32_t power;
	int32_t peer;
	uint8_t part; /* enum flextrace_estimate */
	uint8_t kind; /* enum flextrace_runtime_kind; of device work: enum flextrace_device_kind */
	bool has_stamps;
	bool is_device; /* torch: device work, with stamps or without */
	uint32_t device, queue;
};

struct flex_rank {
	struct stream *stream; /* weak, of the set */
	uint32_t pid;          /* string */
	uint32_t program;      /* string */
	int32_t rank, vpid, world_size;
	uint32_t os_pid;
	uint64_t n_jobs;
	uint32_t n_mapped_tids;
	bool is_torch;
};

struct flex_thread {
	uint32_t rank;
	uint32_t tid;  /* string */
	uint32_t name; /* string, 0 = none */
	int32_t vtid;
	uint32_t open; /* place + 1 of its innermost open begin */
};

struct flex_open {
	struct flex_call call;
	uint32_t below; /* place + 1 of the one around it, or of the next free one */
};

struct flex_block {
	int64_t begin_ns, end_ns; /* 0, 0: not estimated */
	uint64_t bytes, correlation;
	uint32_t rank, name, group, type;
	uint32_t ts[FLEXTRACE_N_STAMPS];
	uint32_t power;
	int32_t peer;
	uint8_t part;  /* the estimate's */
	uint8_t parts; /* bits of all that were seen */
};

/* Blocks of the same name and stamps. */
struct flex_twins {
	uint32_t first; /* a block; the others stand in block_index by (twins, n) */
	uint32_t n_seen[FLEXTRACE_ESTIMATE_COUNT]; /* events of each part */
	uint32_t n_blocks;
};

struct flex {
	struct decoder decoder; /* owned, all from here */
	struct stream_set set;
	struct string_pool *strings; /* weak */
	struct map rank_index, thread_index, twin_index, block_index;
	struct flex_rank *ranks;
	uint32_t n_ranks, n_ranks_allocated;
	struct flex_thread *threads;
	uint32_t n_threads, n_threads_allocated;
	struct flex_open *opens;
	uint32_t n_opens, n_opens_allocated, free_open;
	struct flex_block *blocks;
	uint32_t n_blocks, n_blocks_allocated;
	struct flex_twins *twins;
	uint32_t n_twins, n_twins_allocated;
	char *scratch;
	uint32_t n_scratch;
	struct torch *torch; /* owned; NULL: there was no such file */
	bool is_torch;       /* the file that is read is of torch */
};

/* Reads names and attributes of an event. Stores a fault, or NULL. */
int flex_call_read(struct flex *flex, const struct trace_event *event, struct flex_call *ret_call,
                   const char **ret_fault);

/* Counts an event as lost and says why. */
int flex_reject(struct flex *flex, enum loss_cause cause, const char *fault,
                const char **ret_fault);

/* Takes an event that has a time. */
int flex_push_timed(struct flex *flex, const struct trace_event *event, const char **ret_fault);

/* Writes a record that has one time, of the thread of an event. */
int flex_write_point(struct flex *flex, const struct trace_event *event, struct event *out);

/* All attributes as one JSON text (string); 0: there is none. */
int flex_read_args(struct flex *flex, const struct trace_event *event, uint32_t *ret_args);

/* The kind of host work that a name tells. */
uint32_t flex_runtime_kind(const char *name);

/* Whether a control block of this name moves messages between ranks. */
bool flex_is_protocol(const char *name);

/* Interns an id, so that 1, "1" and "0x1" are one. Returns via `ret_number` what it is, or
 * UINT64_MAX. */
int flex_intern_id(struct flex *flex, const struct trace_value *id, uint32_t *ret_text,
                   uint64_t *ret_number);

/* Numbers from here on stand for ids that are larger, or no numbers. */
#define FLEX_MAPPED_ID (1 << 30)

/* Adds a rank with a stream of its own. */
int flex_add_rank(struct flex *flex, const struct flex_rank *rank, uint32_t *ret_rank);

/* Finds the rank of an event, adding it where needed. */
int flex_find_rank(struct flex *flex, const struct trace_event *event, uint32_t *ret_rank);
int flex_find_thread(struct flex *flex, const struct trace_event *event, uint32_t *ret_thread);

/* Writes the definitions of all ranks and threads. */
int flex_define(struct flex *flex);

/* An event of a rank's stream, to be filled in. */
struct event flex_event(const struct flex *flex, uint32_t rank, enum record_class class,
                        int64_t clock_ns);
int flex_write(struct flex *flex, uint32_t rank, const struct event *event);

/* Takes a call with stamps; `is_timed`: its times may serve as an estimate. */
int flex_add_block(struct flex *flex, uint32_t rank, const struct flex_call *call, bool is_timed);

/* Writes all control blocks. */
int flex_write_blocks(struct flex *flex);

#endif
