/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_reader.h: the one reader of Chrome Trace Events: the events of files -> events of streams,
 * as if our tracer had written them. What only one tool's files have is in its struct event_reader.
 *
 *   event_reader.c  which event is what
 *   event_edges.c   begins and ends of a file in order of time
 *   event_opens.c   begins that wait for their ends
 *   event_call.c    attributes of an event
 *   event_ranks.c   pids and tids become streams, processes and threads
 *   event_line.c    events in order of time, some of them at once
 *   blocks.c        events with stamps become control blocks
 *   round_trips.c   control blocks lie in round trips of the host
 *
 * - Events of one rank with the same name before " Cmpt Prep", " Cmpt Exec", " DmaI" or " DmaO" and
 *   the same five stamps are one control block: one device_op, at the end of the last of them. The
 *   second event of the same phase begins the next one. Jobs are numbered per rank, in order of
 *   time. Only the phases that are events become rows.
 * - The host time of a control block is a host_estimate of the phase that it computes in, or else
 *   of the one there is.
 * - Events without stamps are scopes of their thread; B and E of one name are paired per thread,
 *   the innermost first.
 * - Events may come in any order: a spool sorts them. The events of a control block find each other
 *   unless 2 MiB of others lie between them in order of time.
 * - Memory: 24 MiB at most, whatever the files' size, besides the names and ids of ranks and
 *   threads and a few times the largest event.
 *
 * Codes: FLEXTRACE_E_MEMORY, or FLEXTRACE_E_OUTPUT if the spool's file cannot be written.
 */
#ifndef FLEXTRACE_IMPORT_EVENT_READER_H
#define FLEXTRACE_IMPORT_EVENT_READER_H

#include "formats/chrome-json/trace_events.h"
#include "formats/kit/format.h"
#include "formats/kit/faults.h"
#include "base/text/json_text.h"
#include "base/map.h"
#include "base/text/strings.h"

#define EVENT_END_NS (INT64_C(1) << 62) /* times from here on are garbage to all that follows */

/* What an event, or a pair of B and E, says. Texts are weak. */
struct event_call {
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

struct round_trip { /* "AIU Roundtrip" */
	int64_t begin_ns, end_ns;
	bool has_work;
};

/* What a round trip says of the counter: when these two stamps can have been taken. */
struct trip_reads {
	struct round_trip trip;
	uint32_t rank;
	uint32_t ticks[2]; /* the first of its control blocks', the last; 0: told */
};

/* The round trips of a rank that work near now may belong to. */
struct round_trips {
	struct round_trip *trips; /* owned, by begin */
	uint32_t n;
	uint32_t n_past;         /* of them, the first: nothing will be near them any more */
	uint32_t n_told;         /* of those: told, where they have no work */
	bool has_any;            /* in all files */
	struct trip_reads reads; /* of the one that the last control block belongs to */
};

struct event_rank {       /* its number is that of its stream */
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
	struct round_trips trips;
	/* Of the filter, where files of another tool are of the same rank. */
	const struct pair_rank *pair; /* weak; NULL: stands alone */
	const char *boot;             /* static: what the id of its host begins with */
	const char *dialect;          /* static */
	bool is_other_defined;        /* the other tool's file defines it */
};

struct event_thread {
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

struct event_open {
	struct event_call call; /* its texts are in `bytes` */
	char *bytes;            /* owned */
	uint32_t n_allocated;
	uint32_t below; /* place + 1 of the one around it, or of the next free one */
};

struct event_opens {            /* begins that wait, of all threads */
	struct event_open *all; /* owned */
	uint32_t n, free;       /* place + 1 of one that nobody uses */
	uint64_t n_bytes;
};

struct event_last { /* the thread of the last event, by its ids as they stand in the file */
	struct trace_value pid, tid;
	char ids[2][24];
	uint32_t thread;
};

/* The part of a control block that an event told, or several told: an item of the spool. Its name,
 * group and type follow. */
#define ITEM_PART RECORD_CLASS_COUNT
#define ITEM_TRIP (RECORD_CLASS_COUNT + 1) /* see round_trips.c; it never stands on the line */

struct block_part {
	struct item_head head;    /* clock_ns: when it was over */
	int64_t begin_ns, end_ns; /* of `part`; 0: not estimated */
	uint64_t hash;            /* of what all events of a control block share */
	uint32_t ts[FLEXTRACE_N_STAMPS];
	uint32_t power;
	int32_t peer;
	uint8_t part;  /* enum flextrace_estimate */
	uint8_t parts; /* bits of all that were seen */
	bool is_short; /* nothing follows but the name: all else is 0 or "" */
	uint64_t bytes, correlation;
	int64_t wait_ns; /* its preparation took, if that is long, and another part is estimated */
	/* By enum flextrace_estimate, of those of `parts`. */
	struct origin origins[1 + ORIGIN_N_PARTS];
};

enum { PART_NAME, PART_GROUP, PART_TYPE, PART_N_TEXTS };

/* A part as read: the texts are weak. */
struct block_part_view {
	struct block_part part;
	struct item_text texts[PART_N_TEXTS];
};

/* What a control block becomes, one behind the other; its operation is the first. */
enum block_rest { REST_NONE, REST_ESTIMATE, REST_WAIT };

/* Items on their way out, the earliest first. */
struct line_item {
	uint32_t n_bytes; /* of the item behind it, or of nothing, if that is dead */
	uint32_t next;    /* the next younger twin: parts of equal hash */
	uint32_t last;    /* of the oldest one: the youngest */
	uint32_t is_dead;
};

struct event_line {
	char *bytes; /* owned: a ring */
	uint32_t head, tail, n_used;
	struct map twins;        /* hash -> place of the oldest part of that */
	bool is_given;           /* the first one */
	uint8_t rest;            /* enum block_rest: what of the first one is still to be given */
	bool is_over;            /* nothing comes from the spool any more */
	int64_t clock_ns;        /* of the last one that was given */
	struct trip_reads reads; /* still to be given */
	uint32_t past;           /* rank + 1 whose past trips are to be told; 0: none */
};

struct event_edges {          /* of the file that is read */
	struct spool *spool;  /* owned; NULL: there were none yet */
	struct map backwards; /* places of begins whose ends came before them in time */
};

struct event_import {
	struct import import; /* first; its texts are those of ranks and threads */
	/* The file that is read; `path` is owned. */
	const struct event_reader *reader;
	char *path;
	uint32_t n_files; /* up to it */
	bool is_file_used;
	struct text_list unused; /* that told of nobody */
	struct event_edges edges;
	struct map rank_index, thread_index;
	struct event_rank *ranks;
	uint32_t n_ranks;
	struct event_thread *threads;
	uint32_t n_threads;
	struct event_opens opens;
	struct json_text args;
	char *scratch;
	uint32_t n_scratch;
	struct event_last last;
	struct event_line line;
	void *own;                   /* weak: of the reader of the file */
	struct event_filter *filter; /* weak; NULL: all files are of one tool */
	bool is_quiet;               /* nothing is written */
};

/* What stands between the readers of files of two tools and what they write; NULL: does nothing. */
struct event_filter {
	/* Sees a rank and its stream before they are added. */
	void (*add_rank)(const struct event_filter *filter, struct event_rank *rank,
	                 struct import_stream *stream);
	/* Puts the time of an event on the clock of both tools. */
	int (*move)(const struct event_filter *filter, struct event_import *events,
	            struct trace_event *event);
	/* Sees an interval before its reader does. Taken: it is not to be written. */
	int (*take_call)(struct event_filter *filter, struct event_import *events,
	                 const struct event_thread *thread, struct event_call *call,
	                 bool *ret_is_taken);
};

/* What files of one tool have that those of others have not. */
struct event_reader {
	const char *tool;    /* in lists of files */
	const char *runtime; /* of its processes */
	const char *dialect; /* likewise, unless a file says another one */
	const char *boot;    /* what the ids of their hosts begin with */
	/* Whether only its files have such a top-level member, or such an event. */
	bool (*knows_member)(const struct trace_text *key); /* NULL: none */
	bool (*knows_event)(const struct trace_event *event);
	/* A file begins, has a top-level member, ends; NULL: that says nothing. */
	int (*begin)(struct event_import *events);
	int (*member)(struct event_import *events, const struct trace_text *key,
	              const struct trace_value *value);
	int (*end)(struct event_import *events);
	/* As event_push(). */
	int (*event)(struct event_import *events, const struct trace_event *event,
	             const char **ret_fault);
	/* Reads names and attributes of an event. Stores a fault, or NULL. Texts are weak: of the
	 * event, or until the next call. */
	int (*read_call)(struct event_import *events, const struct trace_event *event,
	                 struct event_call *ret_call, const char **ret_fault);
	/* Finds the rank of an event, adding it where needed; the file is one of its. */
	int (*find_rank)(struct event_import *events, const struct trace_event *event,
	                 uint32_t *ret_rank);
	/* As event_intern_id(), which it is where it is NULL, of an event's tid. */
	int (*intern_thread)(struct event_import *events, const struct trace_event *event,
	                     uint32_t *ret_text, uint64_t *ret_number);
	/* Sees an interval before it is written. Taken: it is not to be. */
	int (*take_call)(struct event_import *events, const struct event_thread *thread,
	                 const struct event_call *call, bool *ret_is_taken);
	/* Writes the devices of a rank. */
	int (*define)(struct event_import *events, uint32_t rank);
};

/* -- event_reader.c */

/* Begins a file of a reader, which has a state of its own. */
int event_begin_file(struct event_import *events, const struct event_reader *reader, void *own,
                     const char *path);

/* Takes one event. Stores in `ret_fault` what is wrong with it (a static text; the event is counted
 * as lost), or NULL. */
int event_push(struct event_import *events, const struct trace_event *event,
               const char **ret_fault);

/* Ends a file: what is begun in it has no end. Notes what ends without a begin. */
int event_end_file(struct event_import *events);

/* Behind the last file: writes definitions; files that told of nobody are of the first stream. */
int event_end_files(struct event_import *events);

void event_import_release(struct event_import *events);

/* Counts an event as lost and says why. */
int event_reject(struct event_import *events, enum loss_cause cause, const char *fault,
                 const char **ret_fault);

/* Whether an event is an end of an arrow from one row to another. */
static inline bool event_is_arrow(const struct trace_event *event)
{
	return event->ph == 's' || event->ph == 't' || event->ph == 'f';
}

/* Takes an event that has a time, which the filter may move. */
int event_push_timed(struct event_import *events, const struct trace_event *event,
                     const char **ret_fault);

/* Takes an interval. Stores a fault, or NULL. */
int event_take_call(struct event_import *events, uint32_t thread, struct event_call *call,
                    const char **ret_fault);

/* Gives up what waits for its end. */
int event_leave_open(struct event_import *events);

/* Writes a record that has one time, of the thread of an event. */
int event_write_point(struct event_import *events, const struct trace_event *event,
                      struct event *out);

/* -- event_call.c */

/* What all readers read: times and names, then attributes; returns a fault of these, or NULL. */
void event_call_begin(const struct trace_event *event, struct event_call *ret_call);
const char *event_call_attributes(const struct trace_event *event, struct event_call *call);

/* All attributes as one JSON text, and the category, unless that is NULL (see told.h); weak, until
 * the next call. */
int event_read_args(struct event_import *events, const struct trace_event *event,
                    const char *category, struct trace_text *ret_args);

/* -- event_edges.c */

/* Takes a begin, or an end. Stores a fault, or NULL. */
int event_edge_take(struct event_import *events, const struct trace_event *event,
                    const char **ret_fault);

/* Makes intervals of those that wait, at the end of a file. */
int event_edges_join(struct event_import *events);
void event_edges_release(struct event_edges *edges);

/* -- event_opens.c */

/* Keeps a begin until its end; what waits too long for too many is left open. */
int event_open(struct event_import *events, uint32_t thread, const struct event_call *call);

/* Takes out the innermost begin of that name (NULL or "": of any name); false: there is none. The
 * call's texts are weak, until the next event_open(). */
bool event_close(struct event_import *events, uint32_t thread, const struct trace_text *name,
                 struct event_call *ret_call);

void event_opens_release(struct event_import *events);

/* -- event_ranks.c */

/* Interns an id, so that 1, "1" and "0x1" are one. Returns via `ret_number` what it is, or
 * UINT64_MAX. */
int event_intern_id(struct event_import *events, const struct trace_value *id, uint32_t *ret_text,
                    uint64_t *ret_number);

/* Numbers from here on stand for ids that are larger, or no numbers. */
#define EVENT_MAPPED_ID (1 << 30)

/* The uuid of a rank's trace, by its number, or its text if that is none. */
void event_make_uuid(uint8_t uuid[16], const char *text, uint64_t number);

/* Adds a rank with a stream of its own. */
int event_add_rank(struct event_import *events, const struct event_rank *rank,
                   struct import_stream stream, uint32_t *ret_rank);

/* Notes that the file that is read is one of a rank's. */
int event_note_file(struct event_import *events, uint32_t rank);

/* Where a record of that file stands, for events of that rank. */
struct origin event_origin(const struct event_import *events, uint32_t rank, uint32_t record);

int event_find_thread(struct event_import *events, const struct trace_event *event,
                      uint32_t *ret_thread);

/* Writes the definitions of all ranks and threads, before all else in order of time. */
int event_define_all(struct event_import *events);

/* -- what goes out */

/* An event of a rank's stream, to be filled in. */
struct event event_of_rank(const struct event_import *events, uint32_t rank,
                           enum record_class class, int64_t clock_ns);
int event_write(struct event_import *events, uint32_t rank, const struct event *event);

/* Adds a definition of a rank: the payload of a class. */
int event_define(struct event_import *events, uint32_t rank, enum record_class class,
                 const void *payload);

/* The same of what an event of the file told, and of its thread. */
struct event event_of_call(const struct event_import *events, uint32_t rank,
                           enum record_class class, const struct event_call *call);
struct event event_of_thread(const struct event_import *events, const struct event_thread *thread,
                             enum record_class class, const struct event_call *call);

/* -- blocks.c */

/* Finds the phase of a control block, and its name without it. */
void block_cut_name(struct event_call *call);

uint64_t block_hash_text(const struct trace_text *text, uint64_t hash);

/* Takes a call with stamps that was over by `clock_ns`. Its times serve as an estimate. */
int block_add_part(struct event_import *events, uint32_t rank, const struct event_call *call,
                   int64_t clock_ns, bool has_end);

void block_part_read(const void *item, struct block_part_view *ret_view);

/* Joins a later event to an earlier one of the same control block. False: they are of two. */
bool block_part_join(struct block_part_view *later, const struct block_part_view *earlier);

/* Stores a record of a part, as enum block_rest; REST_NONE: its operation. */
int block_event(struct event_import *events, const void *item, uint8_t rest, uint32_t *ret_rank,
                struct event *ret_event);

/* What follows such a record. */
uint8_t block_rest_of(const struct block_part *part, uint8_t rest);

/* -- round_trips.c */

/* Keeps a round trip until work near it is given. */
int round_trip_add(struct event_import *events, uint32_t rank, const struct event_call *call);
int round_trip_note(struct event_import *events, const void *item);

/* Takes a control block that is given. False: round trips contradict its times. */
bool round_trip_take(struct event_import *events, const struct block_part *part);

/* Stores the next thing that round trips tell, if there is one by now: a read of a counter, or that
 * work is missing. `is_end`: nothing else comes. */
bool round_trip_next(struct event_import *events, bool is_end, uint32_t *ret_rank,
                     struct event *ret_event);

/* -- event_line.c */

/* As import_next(): joins what belongs together. */
int event_next(struct import *import, uint32_t *ret_stream, struct event *ret_event);

void event_line_release(struct event_line *line);

#endif
