/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome.h: the parts of the Chrome emitter: trace.json, a JSON object of the Trace Event format.
 *
 *   chrome.c       the order of all events (one merge over the timeline's tables), the emitter
 *   chrome_later.c what is on its way: arrows that arrive, async intervals that end
 *   chrome_ids.c   which pid and tid stands for what
 *   chrome_ranks.c what the file of a single rank has in its own way
 *   chrome_meta.c  everything around the rows: keys of the object, names of processes and threads
 *   chrome_rows.c  one event each; chrome_arrows.c one end of an arrow
 *   chrome_losses.c what was lost, and what was left out
 *   chrome_told.c  what the file of another tool said comes out again
 *   chrome_fragments.c what many of them have in common
 *   chrome_shown.c which rows there are
 *
 * Rules that viewers hold us to: sorted by ts, names before use, rows that nest (derive's lanes),
 * flows in pairs, no tid 0, every event with args. tests/support/check_trace.c checks them
 * independently.
 */
#ifndef FLEXTRACE_CHROME_H
#define FLEXTRACE_CHROME_H

#include "model/rank_rows.h"
#include "model/words/kinds.h"
#include "output/run_fragments.h"
#include "output/view.h"
#include "model/words/told.h"
#include "base/map.h"

/* pids of the processes that show what was lost and what was left out; tids are lines + 1. */
#define CHROME_LOSSES_PID   1
#define CHROME_LEFT_OUT_PID 2

/* tids from here on are ours; real ones stay below (Linux allows 2^22). */
#define CHROME_FIRST_OWN_TID 10000001u

/* The line of steps that were found, in the file of a single rank; those of collectives stand
 * below, one for each lane. */
#define CHROME_STEPS_TID 10000000u

static inline uint32_t chrome_rank_tid(const struct rank_row *row)
{
	return row->op ? CHROME_STEPS_TID - 1 - row->lane : CHROME_STEPS_TID;
}

/* One numbering. Processes stand in order of rank, those without a rank behind, at multiples of
 * 1000: rank r at (r + 1) * 1000 unless two processes have one rank. Device k (in order of their
 * numbers) of a process has the process' pid + 1 + k. A thread keeps its tid and the main track
 * of queue q is tid q + 1; every other track has a tid of our own. */
struct chrome_ids {
	uint32_t *process_pid; /* owned, all; by index of the process, device or track */
	uint32_t *device_pid;
	uint32_t *track_tid;
	uint32_t *process_order; /* processes as shown */
	uint32_t *device_order;  /* devices by process, then number */
	uint32_t *track_order;   /* tracks as shown within their process or device */
	uint32_t *track_line;    /* the first lane of its line: itself if nothing crosses */
};

/* The file of a single process (an index; FLEXTRACE_NONE: all) has Kineto's numbers instead, which
 * its readers rely on: a device is its number, below 64, the host its real pid, from 64 on. */
int chrome_ids_init(struct chrome_ids *ids, const struct view *view, uint32_t process);
void chrome_ids_release(struct chrome_ids *ids);

struct chrome_loss {
	int64_t first_time_ns, last_time_ns;
	uint64_t count;
	uint32_t line;
	bool is_timed;
};

/* An event whose time comes later than that of what it ends. */
struct chrome_later {
	int64_t time_ns;
	uint64_t id;
	union {
		const struct flow *flow; /* weak: of an arrow */
		struct {
			uint32_t track;
			uint32_t name; /* string */
		};
	};
	uint8_t kind;
	uint8_t what; /* enum chrome_later_kind */
};
enum chrome_later_kind { LATER_ARROW, LATER_HOST_END, LATER_DEVICE_END };

struct chrome_heap {
	struct chrome_later *later; /* owned: the earliest on top, then the lowest id */
	uint64_t n, n_allocated;
};

int chrome_heap_push(struct chrome_heap *heap, const struct chrome_later *later);
struct chrome_later chrome_heap_pop(struct chrome_heap *heap);

/* chrome_fragments.c: what rows of a marker or track have in common, written once. */
struct chrome_fragments {
	struct fragments marker_heads; /* per marker: {"ph":"X","cat":"firmware","name":"load" */
	struct fragments marker_args;  /* per marker: ,"kind":"FW","file":"fw.c","line":3 */
	struct fragments track_ids;    /* per track: ,"pid":1000,"tid":12,"ts": */
	struct fragments device_args;  /* per track of a device: ,"args":{"rank":0,"device":0 */
	struct run_fragment *runs;     /* owned: per track: its arguments, run, job, up to cycles */
	size_t zone_bytes;             /* that arguments of a zone may take */
};

/* chrome_losses.c: lines of what was lost, and what stands on them. */
struct chrome_losses {
	struct losses lines;           /* owned: as they are shown, with spans in time_ns */
	struct chrome_loss *intervals; /* owned: in order of time */
	uint32_t n;
};

/* chrome_shown.c: the last value of each line of a counter. */
struct chrome_counters {
	struct map lines; /* (name, core; owner) -> index */
	double *values;   /* owned */
	uint32_t n;
};

/* chrome_rows.c: numbers written before, which those that follow are near. */
struct chrome_digits {
	struct writer_high_digits times, cycles;
	struct writer_digits err, job;
};

struct chrome {
	struct view view;
	uint32_t process;                  /* whose rows are shown; FLEXTRACE_NONE = all */
	const struct rank_rows *rank_rows; /* weak; NULL = none */
	uint64_t n_collectives;            /* written, of a single rank's file */
	/* External ids name operations; in the file of a rank that has none they are 0 */
	bool is_without_ops;
	struct emit_views views;
	struct chrome_ids ids;
	struct writer writer;
	struct chrome_fragments fragments;
	struct chrome_digits digits;
	struct chrome_losses losses;
	struct chrome_counters counters;
	uint64_t n_events;
	int64_t base_time_ns;     /* ts 0 */
	struct file_count *count; /* weak */
};

/* "Rank 0", or "pid 17" of a process without one. */
void chrome_append_process(struct writer *text, const struct process *process);

/* Everything before the first row, up to the opened array of events with all names in it. */
void chrome_write_head(struct chrome *chrome);
void chrome_write_tail(struct chrome *chrome);

int chrome_fragments_init(struct chrome *chrome);
void chrome_fragments_release(struct chrome *chrome);

/* Of these two, with `end` only the begin of an async interval; chrome_write_end() writes it. */
void chrome_write_host(struct chrome *chrome, const struct host_row *row,
                       const struct chrome_later *end);
void chrome_write_device(struct chrome *chrome, const struct device_row *row,
                         const struct chrome_later *end);
void chrome_write_instant(struct chrome *chrome, const struct instant_row *row);
void chrome_write_counter(struct chrome *chrome, const struct counter_row *row);
void chrome_write_memory(struct chrome *chrome, const struct memory_row *row);

/* Finds lines and intervals of what was lost. FLEXTRACE_E_MEMORY or 0. */
int chrome_losses_init(struct chrome *chrome);
void chrome_losses_release(struct chrome *chrome);
uint32_t chrome_loss_pid(enum loss_cause cause);

/* "Rank 0, device 0, core 2, stream 0/1.0": as much as is known, behind a separator. */
void chrome_append_loss_place(const struct chrome *chrome, struct writer *text,
                              const struct loss_place *place, const char *separator);
void chrome_write_loss(struct chrome *chrome, const struct chrome_loss *loss);

void chrome_write_end(struct chrome *chrome, const struct chrome_later *end);

/* Whether a row of this track crosses another one of its line. */
static inline bool chrome_is_lane(const struct chrome *chrome, uint32_t track)
{
	return chrome->ids.track_line[track] != track;
}

/* One end of an arrow. `phase`: 's' where it leaves, 'f' where it arrives. */
void chrome_write_flow(struct chrome *chrome, char phase, uint64_t id, const struct flow *flow);

/* Whether rows of a process are shown. */
static inline bool chrome_shows(const struct chrome *chrome, uint32_t process)
{
	return chrome->process == FLEXTRACE_NONE || chrome->process == process;
}

/* chrome_ranks.c: a step or collective that the program did not record; one that it did, as
 * TensorBoard's distributed view looks for it. */
void chrome_write_rank_row(struct chrome *chrome, const struct rank_row *row);
void chrome_write_collective(struct chrome *chrome, const struct host_row *row);

/* Whether a row is of one that readers of a rank's file know by its name; what such a row begins
 * with, up to that name, and its argument for how fast it was. */
bool chrome_is_copy(const struct chrome *chrome, const struct device_row *row);
void chrome_write_copy_head(struct chrome *chrome, const struct device_row *row);
void chrome_write_bandwidth(struct chrome *chrome, const struct device_row *row);

/* chrome_told.c: what a row's string says of it; false: nothing. Weak. */
bool chrome_told(const struct chrome *chrome, uint32_t string, struct told *ret_told);
bool chrome_told_of_host(const struct chrome *chrome, const struct host_row *row,
                         struct told *ret_told);
bool chrome_told_has(const struct told *told, const char *key);

/* From the phase to the name (without one: the label); the arguments, opened. */
void chrome_write_told_head(struct chrome *chrome, const struct told *told, uint32_t name,
                            const char *label);
void chrome_write_told_args(struct chrome *chrome, const struct told *told, const char *kind);

/* Writes a top-level member, a list or one that has a rank, as the file of a rank had it; false: it
 * had none. */
bool chrome_write_told_member(struct chrome *chrome, const char *name);

void chrome_write_told_ids(struct chrome *chrome, const struct told *told,
                           const struct device_row *row);

/* How long before the first row, at least, ts 0 of the files of single ranks stands: 2^k us, more
 * than what there is with 2 s, so that all ts have one exponent and the difference of any two is a
 * double. */
int64_t chrome_rank_lead_ns(int64_t first_time_ns, int64_t last_time_ns);

/* A duration in us that, added to the start as doubles are, gives the end to the last bit: so do
 * their readers find out what lies in what. */
void chrome_write_dur(struct chrome *chrome, int64_t start_time_ns, int64_t end_time_ns);

/* The numbers of a single process, over those of all. */
void chrome_number_process(struct chrome_ids *ids, const struct view *view, uint32_t process);

/* {"ph":"X","cat":"kernel","name": and "kind":"Exec" */
static inline void chrome_write_kind_head(struct writer *writer, const struct row_kind *kind)
{
	char *at = writer_room(writer, sizeof(kind->category) + 32);

	if (!at)
		return;
	at = put_literal(at, "{\"ph\":\"X\",\"cat\":\"");
	memcpy(at, kind->category, sizeof(kind->category));
	writer->at = put_literal(at + kind->n_category, "\",\"name\":");
}

static inline void chrome_write_kind(struct writer *writer, const struct row_kind *kind)
{
	char *at = writer_room(writer, sizeof(kind->label) + 16);

	if (!at)
		return;
	at = put_literal(at, "\"kind\":\"");
	memcpy(at, kind->label, sizeof(kind->label));
	writer->at = put_literal(at + kind->n_label, "\"");
}

/* From the pid up to the time; a file's name, behind its key, and the line in it. */
void chrome_write_ids(struct writer *writer, uint32_t pid, uint32_t tid);
void chrome_write_source(const struct chrome *chrome, struct writer *writer, uint32_t file,
                         uint32_t line);

/* The key of an argument that is not the first one. */
#define CHROME_ARG(writer, key) writer_literal(writer, ",\"" key "\":")

/* chrome_rows.c: times, and a number that a double may not hold. */
void chrome_write_ts(struct chrome *chrome, int64_t time_ns);
void chrome_write_times(struct chrome *chrome, int64_t start_time_ns, int64_t end_time_ns);
void chrome_write_exact(struct writer *writer, uint64_t value);

/* Separates events. */
static inline void chrome_next(struct chrome *chrome)
{
	if (chrome->n_events++)
		writer_literal(&chrome->writer, ",\n");
	else
		writer_literal(&chrome->writer, "\n");
}

#endif
