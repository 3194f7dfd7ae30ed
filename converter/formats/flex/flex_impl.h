/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex_impl.h: what the files of the Flex importer share.
 *
 *   flex.c         which event is what
 *   flex_edges.c   begins and ends of a file in order of time
 *   flex_opens.c   begins that wait for their ends
 *   flex_call.c    names and attributes of an event
 *   flex_ranks.c   pids and tids become streams, processes and threads
 *   flex_line.c    events in order of time, some of them at once
 *   flex_blocks.c  events with stamps become control blocks
 *   flex_trips.c   control blocks lie in round trips of the host
 */
#ifndef FLEXTRACE_IMPORT_FLEX_IMPL_H
#define FLEXTRACE_IMPORT_FLEX_IMPL_H

#include "flex.h"
#include "formats/kit/faults.h"
#include "base/text/json_text.h"
#include "base/map.h"
#include "base/text/strings.h"

#define FLEX_END_NS (INT64_C(1) << 62) /* times from here on are garbage to all that follows */

/* What an event, or a pair of B and E, says. Texts are weak. */
struct flex_call {
	int64_t begin_ns, end_ns;
	uint64_t bytes, correlation;
	uint64_t offset_bytes;       /* in the file */
	uint32_t record;             /* of a pair of B and E that of the B */
	struct trace_text full_name; /* as in the file */
	struct trace_text name;      /* of the control block: the beginning of `full_name` */
	struct trace_text args;      /* JSON; only of what is no control block */
	struct trace_text group, type;
	uint32_t ts[FLEXTRACE_N_STAMPS];
	uint32_t power;
	int32_t peer;
	uint8_t part; /* enum flextrace_estimate */
	uint8_t kind; /* enum flextrace_runtime_kind; of device work: enum flextrace_device_kind */
	bool has_stamps;
	bool is_device; /* torch: device work, with stamps or without */
	bool is_window; /* torch: what was recorded */
	uint32_t device, queue;
};

struct flex_trip { /* "AIU Roundtrip" */
	int64_t begin_ns, end_ns;
	bool has_work;
};

/* What a round trip says of the counter: when these two stamps can have been taken. */
struct flex_reads {
	struct flex_trip trip;
	uint32_t rank;
	uint32_t ticks[2]; /* the first of its control blocks', the last; 0: told */
};

/* The round trips of a rank that work near now may belong to. */
struct flex_trips {
	struct flex_trip *trips; /* owned, by begin */
	uint32_t n, n_allocated;
	uint32_t n_past;         /* of them, the first: nothing will be near them any more */
	uint32_t n_told;         /* of those: told, where they have no work */
	bool has_any;            /* in all files */
	struct flex_reads reads; /* of the one that the last control block belongs to */
};

struct flex_rank {        /* its number is that of its stream */
	uint32_t pid;     /* string */
	uint32_t program; /* string */
	int32_t rank, vpid, world_size;
	uint32_t os_pid;
	int64_t last_ns; /* the latest clock of its events */
	uint64_t n_jobs;
	uint32_t n_mapped_tids;
	const struct event_reader *reader; /* static: of its files */
	void *own;                         /* weak: that reader's */
	uint32_t file;                     /* of a rank of one file: number in the order of these */
	bool has_device;
	uint32_t device;    /* Flex's one device */
	uint32_t last_file; /* number + 1 of the last of its files */
	struct flex_trips trips;
	/* Of the filter, where files of another tool are of the same rank. */
	const struct pair_rank *pair; /* weak; NULL: stands alone */
	int32_t paired_rank;          /* the number that both have then */
	const char *boot;             /* static: what the id of its host begins with */
	bool is_other_defined;        /* the other tool's file defines it */
};

struct flex_thread {
	uint32_t rank;
	uint32_t tid;  /* string */
	uint32_t name; /* string, 0 = none */
	int32_t vtid;
	uint32_t open; /* place + 1 of its innermost open begin */
	/* Of the file that is read: begins and ends, as they come. */
	int64_t last_edge_ns;
	uint32_t n_in_order; /* the first ones, up to a limit */
	uint64_t n_ends;     /* that wait; of them: right behind a begin of their name */
	uint64_t n_beside;
	uint64_t last_begin; /* its place in the file + 1, where nothing came behind it; 0: none */
	uint64_t last_hash;  /* of its name and thread */
	int64_t last_begin_ns;
	bool is_last_held; /* it is the innermost open one, to wait once something comes behind */
	bool is_shuffled;  /* one came before another of a later time */
};

struct flex_open {
	struct flex_call call; /* its texts are in `bytes` */
	char *bytes;           /* owned */
	uint32_t n_allocated;
	uint32_t below; /* place + 1 of the one around it, or of the next free one */
};

/* The part of a control block that an event told, or several told: an item of the spool. Its name,
 * group and type follow. */
#define FLEX_PART RECORD_CLASS_COUNT
#define FLEX_TRIP (RECORD_CLASS_COUNT + 1) /* see flex_trips.c; it never stands on the line */

struct flex_part {
	struct item_head head;    /* clock_ns: when it was over */
	int64_t begin_ns, end_ns; /* of `part`; 0: not estimated */
	uint64_t hash;            /* of what all events of a control block share */
	uint32_t ts[FLEXTRACE_N_STAMPS];
	uint32_t power;
	int32_t peer;
	uint8_t part;  /* enum flextrace_estimate */
	uint8_t parts; /* bits of all that were seen */
	bool is_short; /* nothing follows but the name: all else is 0 or "" */
	uint8_t unused;
	uint64_t bytes, correlation;
	int64_t wait_ns; /* its preparation took, if that is long, and another part is estimated */
	/* By enum flextrace_estimate, of those of `parts`. */
	struct origin origins[1 + ORIGIN_N_PARTS];
};

enum { FLEX_NAME, FLEX_GROUP, FLEX_TYPE, FLEX_N_TEXTS };

/* A part as read: the texts are weak. */
struct flex_part_view {
	struct flex_part part;
	struct item_text texts[FLEX_N_TEXTS];
};

/* What a control block becomes, one behind the other; its operation is the first. */
enum flex_rest { FLEX_NO_REST, FLEX_ESTIMATE, FLEX_WAIT };

/* Items on their way out, the earliest first. */
struct flex_line_item {
	uint32_t n_bytes; /* of the item behind it, or of nothing, if that is dead */
	uint32_t next;    /* the next younger twin: parts of equal hash */
	uint32_t last;    /* of the oldest one: the youngest */
	uint32_t is_dead;
};

struct flex_line {
	char *bytes; /* owned: a ring */
	uint32_t head, tail, n_used;
	struct map twins;        /* hash -> place of the oldest part of that */
	bool is_given;           /* the first one */
	uint8_t rest;            /* enum flex_rest: what of the first one is still to be given */
	bool is_over;            /* nothing comes from the spool any more */
	int64_t clock_ns;        /* of the last one that was given */
	struct flex_reads reads; /* still to be given */
	uint32_t past;           /* rank + 1 whose past trips are to be told; 0: none */
};

struct flex_edges {           /* of the file that is read */
	struct spool *spool;  /* owned; NULL: there were none yet */
	struct map backwards; /* places of begins whose ends came before them in time */
};

struct flex {
	struct import import; /* first; its texts are those of ranks and threads */
	/* The file that is read; `path` is owned. */
	const struct event_reader *reader;
	char *path;
	uint32_t n_files; /* up to it */
	bool is_file_used;
	struct text_list unused; /* that told of nobody */
	struct flex_edges edges;
	struct map rank_index, thread_index;
	struct flex_rank *ranks;
	uint32_t n_ranks, n_ranks_allocated;
	struct flex_thread *threads;
	uint32_t n_threads, n_threads_allocated;
	struct flex_open *opens;
	uint32_t n_opens, n_opens_allocated, free_open;
	uint64_t n_open_bytes;
	struct json_text args;
	char *scratch;
	uint32_t n_scratch;
	/* The thread of the last event, by its ids as they stand in the file. */
	struct trace_value last_pid, last_tid;
	char last_ids[2][24];
	uint32_t last_thread;
	struct flex_line line;
	void *own;                   /* weak: of the reader of the file */
	struct event_filter *filter; /* weak; NULL: all files are of one tool */
	bool is_quiet;               /* nothing is written */
};

/* What stands between the readers of files of two tools and what they write. */
struct event_filter {
	/* Sees a rank and its stream before they are added. */
	void (*add_rank)(const struct event_filter *filter, struct flex_rank *rank,
	                 struct import_stream *stream);
	/* Puts the time of an event on the clock of both tools. */
	int (*move)(const struct event_filter *filter, struct flex *flex,
	            struct trace_event *event);
	/* Sees an interval before its reader does. Taken: it is not to be written. */
	int (*take_call)(struct event_filter *filter, struct flex *flex,
	                 const struct flex_thread *thread, struct flex_call *call,
	                 bool *ret_is_taken);
};

/* What files of one tool have that those of others have not. */
struct event_reader {
	const char *tool;    /* in lists of files */
	const char *runtime; /* of its processes */
	const char *boot;    /* what the ids of their hosts begin with */
	/* Whether only its files have such a top-level member, or such an event. */
	bool (*knows_member)(const struct trace_text *key); /* NULL: none */
	bool (*knows_event)(const struct trace_event *event);
	/* A file begins, has a top-level member, ends; NULL: that says nothing. */
	int (*begin)(struct flex *flex);
	int (*member)(struct flex *flex, const struct trace_text *key,
	              const struct trace_value *value);
	int (*end)(struct flex *flex);
	/* As flex_push(), flex_call_read() and flex_find_rank(). */
	int (*event)(struct flex *flex, const struct trace_event *event, const char **ret_fault);
	int (*read_call)(struct flex *flex, const struct trace_event *event,
	                 struct flex_call *ret_call, const char **ret_fault);
	int (*find_rank)(struct flex *flex, const struct trace_event *event, uint32_t *ret_rank);
	/* As flex_intern_id(), of an event's tid. */
	int (*intern_thread)(struct flex *flex, const struct trace_event *event, uint32_t *ret_text,
	                     uint64_t *ret_number);
	/* Sees an interval before it is written. Taken: it is not to be. */
	int (*take_call)(struct flex *flex, const struct flex_thread *thread,
	                 const struct flex_call *call, bool *ret_is_taken);
	/* Writes the devices of a rank. */
	int (*define)(struct flex *flex, uint32_t rank);
};

extern const struct event_reader flex_events;

/* -- flex.c */

/* Counts an event as lost and says why. */
int flex_reject(struct flex *flex, enum loss_cause cause, const char *fault,
                const char **ret_fault);

/* Whether an event is an end of an arrow from one row to another. */
static inline bool flex_is_arrow(const struct trace_event *event)
{
	return event->ph == 's' || event->ph == 't' || event->ph == 'f';
}

/* Takes an event that has a time. */
int flex_push_timed(struct flex *flex, const struct trace_event *event, const char **ret_fault);

/* Takes an interval. Stores a fault, or NULL. */
int flex_take_call(struct flex *flex, uint32_t thread, struct flex_call *call,
                   const char **ret_fault);

/* Gives up what waits for its end. */
int flex_leave_open(struct flex *flex);

/* Writes a record that has one time, of the thread of an event. */
int flex_write_point(struct flex *flex, const struct trace_event *event, struct event *out);

/* -- flex_call.c */

/* Reads names and attributes of an event. Stores a fault, or NULL. Texts are weak: of the event, or
 * until the next call. */
static inline int flex_call_read(struct flex *flex, const struct trace_event *event,
                                 struct flex_call *ret_call, const char **ret_fault)
{
	return flex->reader->read_call(flex, event, ret_call, ret_fault);
}

/* What all readers read: times and names, then attributes; returns a fault of these, or NULL. */
void flex_call_begin(const struct trace_event *event, struct flex_call *ret_call);
const char *flex_call_attributes(const struct trace_event *event, struct flex_call *call);

int flex_call_read_own(struct flex *flex, const struct trace_event *event,
                       struct flex_call *ret_call, const char **ret_fault);

/* All attributes as one JSON text, and the category, unless that is NULL (see told.h); weak, until
 * the next call. */
int flex_read_args(struct flex *flex, const struct trace_event *event, const char *category,
                   struct trace_text *ret_args);

/* Finds the phase of a control block, and its name without it. */
void flex_cut_name(struct flex_call *call);

/* Whether a control block of this name moves messages between ranks. */
bool flex_is_protocol(const char *name);

/* -- flex_edges.c */

/* Takes a begin, or an end. Stores a fault, or NULL. */
int flex_edge_take(struct flex *flex, const struct trace_event *event, const char **ret_fault);

/* Makes intervals of those that wait, at the end of a file. */
int flex_edges_join(struct flex *flex);
void flex_edges_release(struct flex_edges *edges);

/* -- flex_opens.c */

/* Keeps a begin until its end; what waits too long for too many is left open. */
int flex_open(struct flex *flex, uint32_t thread, const struct flex_call *call);

/* Takes out the innermost begin of that name (NULL or "": of any name); false: there is none. The
 * call's texts are weak, until the next flex_open(). */
bool flex_close(struct flex *flex, uint32_t thread, const struct trace_text *name,
                struct flex_call *ret_call);

void flex_opens_release(struct flex *flex);

/* -- flex_ranks.c */

/* Interns an id, so that 1, "1" and "0x1" are one. Returns via `ret_number` what it is, or
 * UINT64_MAX. */
int flex_intern_id(struct flex *flex, const struct trace_value *id, uint32_t *ret_text,
                   uint64_t *ret_number);

/* Numbers from here on stand for ids that are larger, or no numbers. */
#define FLEX_MAPPED_ID (1 << 30)

/* The uuid of a rank's trace, by its number, or its text if that is none. */
void flex_make_uuid(uint8_t uuid[16], const char *text, uint64_t number);

/* Adds a rank with a stream of its own. */
int flex_add_rank(struct flex *flex, const struct flex_rank *rank, struct import_stream stream,
                  uint32_t *ret_rank);

/* Notes that the file that is read is one of a rank's. */
int flex_note_file(struct flex *flex, uint32_t rank);

/* Where a record of that file stands, for events of that rank. */
struct origin flex_origin(const struct flex *flex, uint32_t rank, uint32_t record);

/* Finds the rank of an event, adding it where needed; the file is one of its. */
static inline int flex_find_rank(struct flex *flex, const struct trace_event *event,
                                 uint32_t *ret_rank)
{
	return flex->reader->find_rank(flex, event, ret_rank);
}

int flex_find_own_rank(struct flex *flex, const struct trace_event *event, uint32_t *ret_rank);
int flex_intern_own_thread(struct flex *flex, const struct trace_event *event, uint32_t *ret_text,
                           uint64_t *ret_number);
int flex_define_own(struct flex *flex, uint32_t rank);
int flex_find_thread(struct flex *flex, const struct trace_event *event, uint32_t *ret_thread);

/* Writes the definitions of all ranks and threads, before all else in order of time. */
int flex_define(struct flex *flex);

/* -- what goes out */

/* An event of a rank's stream, to be filled in. */
struct event flex_event(const struct flex *flex, uint32_t rank, enum record_class class,
                        int64_t clock_ns);
int flex_write(struct flex *flex, uint32_t rank, const struct event *event);

/* The same of what an event of the file told. */
struct event flex_event_of(const struct flex *flex, uint32_t rank, enum record_class class,
                           const struct flex_call *call);

/* -- flex_blocks.c */

uint64_t flex_hash_text(const struct trace_text *text, uint64_t hash);

/* Takes a call with stamps that was over by `clock_ns`. Its times serve as an estimate. */
int flex_add_part(struct flex *flex, uint32_t rank, const struct flex_call *call, int64_t clock_ns,
                  bool has_end);

void flex_part_read(const void *item, struct flex_part_view *ret_view);

/* Joins a later event to an earlier one of the same control block. False: they are of two. */
bool flex_part_join(struct flex_part_view *later, const struct flex_part_view *earlier);

/* Stores a record of a part, as enum flex_rest; FLEX_NO_REST: its operation. */
int flex_block_event(struct flex *flex, const void *item, uint8_t rest, uint32_t *ret_rank,
                     struct event *ret_event);

/* What follows such a record. */
uint8_t flex_block_rest(const struct flex_part *part, uint8_t rest);

/* -- flex_trips.c */

/* Keeps a round trip until work near it is given. */
int flex_add_trip(struct flex *flex, uint32_t rank, const struct flex_call *call);
int flex_note_trip(struct flex *flex, const void *item);

/* Takes a control block that is given. False: round trips contradict its times. */
bool flex_trip_take(struct flex *flex, const struct flex_part *part);

/* Stores the next thing that round trips tell, if there is one by now: a read of a counter, or that
 * work is missing. `is_end`: nothing else comes. */
bool flex_trip_tell(struct flex *flex, bool is_end, uint32_t *ret_rank, struct event *ret_event);

/* -- flex_line.c */

/* Stores the next event in order of time. 1: there is one, 0: the end. Texts are weak, until the
 * next call. */
int flex_line_next(struct flex *flex, uint32_t *ret_rank, struct event *ret_event);

void flex_line_release(struct flex_line *line);

#endif
