/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_impl.h: what the files of derive share.
 *
 *   host.c        host intervals: scopes, steps, collectives
 *   pairs.c       host intervals of two records: begin and end, async, windows
 *   points.c      host instants, annotations, counters, memory
 *   attributes.c  op, tensor, op_info: what an operation's row says besides its name
 *   device.c      control blocks -> device rows
 *   restored.c    what files of ours told of -> rows
 *   zones.c       marker words -> device rows, instants, counters
 *   life.c        when marks can have been made
 *   limits.c      no stamp is shown behind one that came later
 *   markers.c     what a marker is called
 *   flows.c       which host row launched which device row
 *   tracks.c      the line of every row
 *   rows.c, lanes.c   output order; lines on which nothing crosses
 *
 * Until a row is merged its `track` holds the thread (host rows), the family (marker rows) or
 * nothing (rows of control blocks).
 */
#ifndef FLEXTRACE_DERIVE_IMPL_H
#define FLEXTRACE_DERIVE_IMPL_H

#include "derive.h"
#include "model/lanes.h"
#include "base/map.h"
#include "base/row_sorter.h"

/* A host interval before its end is known. */
struct host_span {
	int64_t begin_host_ns;
	uint64_t correlation; /* async: the id that pairs it */
	uint32_t thread;
	uint32_t name, args, file, line;
	uint32_t stream, index;
	uint32_t next; /* open ones: place + 1 of the one of the same key below it; 0 = none */
	uint8_t kind, class;
	uint8_t status; /* enum time_status: the best that it can have */
	bool is_open;
};

struct derive_thread {
	uint32_t families[2]; /* TRACK_THREAD, TRACK_ASYNC: index + 1; 0 = none yet */
	uint32_t *open;       /* owned: begins without end, innermost last: places in open_spans */
	uint32_t n_open, n_open_allocated;
	uint32_t args; /* scope_args waiting for their scope, if has_args */
	uint32_t args_stream;
	uint64_t args_correlation;
	uint64_t args_clock_ns;
	bool has_args;
};

struct derive_process {
	int64_t last_host_ns; /* INT64_MIN = none */
	struct host_span step;
	uint64_t n_without_clock; /* stamped device work that no clock places: records, marks */
	bool has_step;
	bool has_clock; /* one placed other device work of it */
	bool is_exact;  /* known at first, and on the timeline's own clock */
};

/* Lines that share a name and an owner: one track per lane. */
struct track_family {
	struct lanes lanes;
	struct track track; /* of lane 0, as a pattern */
	uint32_t *tracks;   /* owned: index of the track of each lane */
	uint32_t n_tracks;
	int64_t start_time_ns, reach_time_ns; /* of its kernels, where there are some: of the last;
	                                       * of all */
	bool has_kernels;
};

/* What has begun and not ended; of pairs.c. */
struct open_spans {
	struct map keys;         /* what an end looks for -> place in `spans` */
	struct host_span *spans; /* owned */
	uint32_t n;
	uint32_t free; /* place + 1 of the first free one, chained by `next` */
};

/* Memory of devices; of points.c. */
struct allocations {
	struct map keys; /* (address, device) -> place in `bytes` */
	uint64_t *bytes; /* owned */
	uint32_t n;
	uint32_t free;          /* place + 1, chained through `bytes` */
	uint64_t *device_bytes; /* owned: allocated, per struct device */
	uint32_t n_devices;
};

/* What operations say of themselves; of attributes.c. */
struct attributes {
	struct map keys;              /* (correlation, process) -> place in `lists` */
	struct attribute_list *lists; /* owned */
	uint32_t n_lists;
	struct table rows; /* struct attribute */
};

/* Of tracks.c. */
struct track_families {
	struct track_family *families; /* owned */
	uint32_t n;
	struct map of_queues, of_cores;
};

/* Arrows between host rows; of arrows.c. */
struct arrows {
	struct arrow *arrows; /* owned, both */
	uint32_t n;
	struct arrow_end *ends;
	uint32_t n_ends;
	struct map keys; /* (time, thread) -> place in `ends` */
};

/* Of told_flows.c: where a queue records an event or waits for it. */
struct queue_point {
	uint32_t device, queue; /* device: index of struct device */
	int64_t host_ns;
};

struct queue_wait {
	struct queue_point from, to;
	uint32_t name;
	uint32_t from_op, to_op; /* places in out.ops; FLEXTRACE_NONE: there is none */
};

struct told_flows {
	struct map open;          /* (process, id) -> place in `points` of the last one of a flow */
	struct map events;        /* (process, id) -> place in `points` of its newest RECORD */
	struct flow_mark *points; /* owned, both */
	uint32_t n_points;
	uint32_t free; /* place + 1 of one that is none any more; 0: none */
	struct queue_wait *waits;
	uint32_t n_waits;
};

/* Of life.c. */
struct boot_lives {
	struct boot_life *lives; /* owned */
	uint64_t n;
};

/* Of one side of stamps, in order; of limits.c. */
struct stamp_limits {
	struct stamp_limit *limits; /* owned */
	uint32_t n;
};

enum { LIMIT_START, LIMIT_DRAIN, N_LIMITS }; /* see limits.c */

struct derive {
	struct identity *identity; /* weak, both */
	struct ledger *ledger;
	struct string_cache strings; /* owned, all from here */
	struct timeline out;         /* in the making; no row yet: from INT64_MAX to INT64_MIN */
	struct row_sorter host_rows, device_rows, instants, counters, memory;
	struct identity_memo *memos; /* by stream */
	uint32_t n_memos_allocated;
	struct derive_thread *threads;
	uint32_t n_threads_allocated;
	struct derive_process *processes;
	uint32_t n_processes_allocated;
	struct clock_near *nears; /* per counter: where its map was last asked */
	struct open_spans open;
	struct allocations allocations;
	struct attributes attributes;
	struct track_families lines;
	struct boot_lives boots;
	struct stamp_limits limits[N_LIMITS];
	struct map marker_keys; /* (device and id, or name; kind) -> place in out.markers */
	struct flow_links *flows;
	struct arrows arrows;
	struct told_flows told_flows;
};

/* -- derive.c: books ------------------------------------------------------------------------ */

/* A time on the timeline, with what is known of it. */
struct place {
	int64_t time_ns;
	uint32_t err_ns; /* UINT32_MAX = no bound */
	uint8_t status;  /* enum time_status */
};

static inline uint8_t worse_status(uint8_t left, uint8_t right)
{
	return left > right ? left : right;
}

static inline uint32_t larger_err(uint32_t left, uint32_t right)
{
	return left > right ? left : right;
}

/* Places a host time of a process. */
static inline struct place place_host(const struct derive *derive, uint32_t process,
                                      int64_t host_ns)
{
	struct aligned aligned;

	if (process < derive->n_processes_allocated && derive->processes[process].is_exact)
		return (struct place){host_ns, 0, TIME_CERTIFIED};
	aligned = alignment_place(derive->out.alignment, process, host_ns);
	if (derive->identity->processes[process].is_given)
		return (struct place){aligned.time_ns, UINT32_MAX, TIME_GIVEN};
	return (struct place){aligned.time_ns, aligned.err_ns, (uint8_t)aligned.status};
}

/* Cycles can lead to times that no record has: beyond, times no longer add up in 64 bits. */
#define MAX_HOST_NS (INT64_MAX / 2)

/* When a stamp was taken, on the clock of its host; false: that is not known. */
static inline bool find_host_ns(const struct derive *derive, uint32_t counter, uint16_t segment,
                                uint64_t ticks, struct placed *ret_placed)
{
	if (!ticks)
		return false;
	*ret_placed = clocks_place_near(derive->out.clocks, counter, segment, ticks,
	                                &derive->nears[counter]);
	return ret_placed->status < TIME_UNMATCHED && ret_placed->host_ns <= MAX_HOST_NS &&
	       ret_placed->host_ns >= -MAX_HOST_NS;
}

/* Moves a stamp that was placed into the limits of its counter, by its error at most. */
void limits_keep(const struct derive *derive, uint32_t counter, uint16_t segment, uint64_t ticks,
                 struct placed *placed);

/* Places a stamp of a counter of a process; false: it cannot be placed. */
static inline bool place_ticks(const struct derive *derive, uint32_t process, uint32_t counter,
                               uint16_t segment, uint64_t ticks, struct place *ret_place)
{
	struct placed placed;
	struct place place;

	if (!find_host_ns(derive, counter, segment, ticks, &placed))
		return false;
	if (derive->limits[LIMIT_START].n || derive->limits[LIMIT_DRAIN].n)
		limits_keep(derive, counter, segment, ticks, &placed);
	place = place_host(derive, process, placed.host_ns);
	place.status = worse_status(place.status, (uint8_t)placed.status);
	if (placed.err_ns > UINT32_MAX - place.err_ns)
		place.err_ns = UINT32_MAX;
	else
		place.err_ns += placed.err_ns;
	*ret_place = place;
	return true;
}

/* Stretches the timeline over a row. */
void derive_cover(struct derive *derive, int64_t start_time_ns, int64_t end_time_ns);

/* Adds a copy of a row. FLEXTRACE_E_MEMORY or 0. */
int derive_add_counter(struct derive *derive, const struct counter_row *row);

/* Counts a control block or a zone that has rows. */
void derive_count_event(struct derive *derive, uint32_t counter, uint16_t segment, uint8_t status);

/* Books a record as discarded by its class and time alone. */
int derive_discard(struct derive *derive, enum loss_cause cause, const struct loss_place *place,
                   enum record_class class, int64_t host_ns);

struct derive_thread *derive_thread(struct derive *derive, uint32_t thread);
struct derive_process *derive_process(struct derive *derive, uint32_t process);

/* -- host.c --------------------------------------------------------------------------------- */

/* One record on its way through derive_push(). */
struct host_input {
	const struct record *record; /* weak, both */
	const struct stream *stream;
	uint32_t stream_id, thread, process;
};

int host_push_scope(struct derive *derive, const struct host_input *input);
int host_push_args(struct derive *derive, const struct host_input *input);
int host_push_step(struct derive *derive, const struct host_input *input);

/* Makes rows of the collectives that have both ends, keeps the others for the end. */
int host_take_collectives(struct derive *derive, struct table *sync_points);

/* Ends what is open at the last time of its process. */
int host_end_open(struct derive *derive);

/* Merges the host rows into the timeline. */
int host_merge(struct derive *derive);

/* Discards input->record; `cause` says why. */
int host_discard(struct derive *derive, const struct host_input *input, enum loss_cause cause);

/* Adds the row of a span that ends at `end_host_ns`; `status` is the best it can have. */
int host_add_row(struct derive *derive, const struct host_span *span, int64_t end_host_ns,
                 enum time_status status);

/* Adds the row of a span whose end is missing, to `end_host_ns`, and counts it. */
int host_add_open_row(struct derive *derive, const struct host_span *span, int64_t end_host_ns);

struct host_span host_span_of(const struct host_input *input);

/* -- pairs.c -------------------------------------------------------------------------------- */

int pairs_push_begin(struct derive *derive, const struct host_input *input);
int pairs_push_end(struct derive *derive, const struct host_input *input);
int pairs_push_async(struct derive *derive, const struct host_input *input);
int pairs_push_window(struct derive *derive, const struct host_input *input);

/* Keeps a span open that no record will end. */
int pairs_keep_open(struct derive *derive, const struct host_span *span);

/* Ends what is open. */
int pairs_finish(struct derive *derive);
void pairs_release(struct open_spans *open);

/* -- points.c ------------------------------------------------------------------------------- */

int points_push_instant(struct derive *derive, const struct host_input *input);
int points_push_counter(struct derive *derive, const struct host_input *input);
int points_push_memory(struct derive *derive, const struct host_input *input);
int points_merge(struct derive *derive);
void points_release(struct allocations *allocations);

/* -- attributes.c --------------------------------------------------------------------------- */

/* Keeps an op, tensor or op_info record until the host rows are merged. */
int attributes_push(struct derive *derive, const struct host_input *input);

/* Gives the row of an operation the JSON of what is known of it, joined with the text that is
 * there, and the timeline the same as numbers and strings. */
int attributes_find(struct derive *derive, uint32_t process, struct host_row *row);

/* Books all of them: as evidence where a row took them, else as discarded. */
int attributes_finish(struct derive *derive);
void attributes_release(struct attributes *attributes);

/* -- device.c, zones.c ---------------------------------------------------------------------- */

/* Adds one device row between two places and returns it, weak until the next; NULL: no memory. */
struct device_row *device_add_row(struct derive *derive, uint8_t kind, uint32_t source,
                                  const struct place *start, const struct place *end,
                                  uint8_t status);

/* True for the row that stands for its control block: what a launch leads to. */
static inline bool is_main_row(uint8_t kind)
{
	return kind == ROW_EXEC || (kind >= ROW_MEMCPY_HTOD && kind <= ROW_RELEASE);
}

/* Keeps room for `n_more` operations behind them. */
int device_take_ops(struct derive *derive, struct table *ops, uint64_t n_more);
int device_merge(struct derive *derive);

/* Keeps the runs and finds what limits stamps. Call before anything is placed. */
int zones_take_runs(struct derive *derive, struct unwrap_output *unwrapped);

/* Call after device_take_ops(): kernel rows are named after their control blocks. */
int zones_take_marks(struct derive *derive, struct unwrap_output *unwrapped);

/* -- life.c --------------------------------------------------------------------------------- */

/* A boot of an area, as its clock sees it. */
struct boot_life {
	int64_t begin_ns;          /* it had not begun by then; INT64_MIN: not known */
	uint32_t n_runs, n_beyond; /* that are certified; of these, not within its life */
	bool is_denied;            /* its clock is not the one that its brackets were of */
};

/* Asks the brackets and the runs of boots whether their clock is theirs. Call behind the runs are
 * taken and before the marks are. FLEXTRACE_E_MEMORY or 0. */
int life_judge_boots(struct derive *derive, struct unwrap_output *unwrapped);
void life_release(struct boot_lives *boots);

/* Whether nobody knows of which boot a run is. */
bool life_is_open(const struct derive *derive, const struct mark_run *run);

/* The time nearest to `host_ns` at which marks of a run can have been: not before the process or
 * its boot, nor behind the drain that read them. `host_ns` where nobody recorded that. */
int64_t life_limit_ns(const struct derive *derive, const struct mark_run *run, int64_t host_ns);

/* -- limits.c ------------------------------------------------------------------------------- */

/* No stamp up to `ticks` (of a drain), or from it on (of a start), was on the other side. */
struct stamp_limit {
	uint64_t ticks;
	int64_t host_ns;
	uint32_t counter;
	uint16_t segment;
};

/* Finds the limits of each counter. Call behind life_judge_boots(). FLEXTRACE_E_MEMORY or 0. */
int limits_find(struct derive *derive, struct table *marks);
void limits_release(struct stamp_limits limits[N_LIMITS]);

/* -- restored.c ----------------------------------------------------------------------------- */

/* Makes the rows that files of ours told of, behind all that was recorded. */
int restored_take(struct derive *derive, struct table *rows);
void restored_take_counts(struct derive *derive, const struct table *told);

/* -- markers.c ------------------------------------------------------------------------------ */

/* Each stores the index of a struct marker, adding it where needed. FLEXTRACE_E_MEMORY or 0. */
int marker_of_id(struct derive *derive, uint32_t device, uint32_t id, uint32_t *ret_marker);
int marker_of_name(struct derive *derive, uint8_t kind, uint32_t name, uint32_t *ret_marker);

/* By the kind, the name and the place in the source code that a file of ours says. */
int marker_of_row(struct derive *derive, const struct record_restored *row, uint32_t *ret_marker);

/* -- tracks.c ------------------------------------------------------------------------------- */

/* Each stores the index of a family, adding it where needed. FLEXTRACE_E_MEMORY or 0. */
int family_of_thread(struct derive *derive, uint32_t thread, enum track_kind kind,
                     uint32_t *ret_family);
int family_of_queue(struct derive *derive, uint32_t device, uint32_t queue, uint8_t row_kind,
                    uint32_t *ret_family);
int family_of_core(struct derive *derive, uint32_t device, uint32_t core, uint32_t processor,
                   uint32_t *ret_family);

/* Stores the track of a lane of a family. */
int family_track(struct derive *derive, uint32_t family, uint32_t lane, uint32_t *ret_track);

/* Stores the track of the next row of a family, in output order. */
int family_place(struct derive *derive, uint32_t family, int64_t start_time_ns, int64_t end_time_ns,
                 uint32_t *ret_track, uint32_t *ret_depth);
void families_release(struct track_families *lines);

/* -- arrows.c ------------------------------------------------------------------------------- */

/* Adds an arrow between the rows that begin where and when these spans do; `name` FLEXTRACE_NONE: a
 * gradient. */
int arrows_add(struct derive *derive, const struct host_span *from, const struct host_span *to,
               uint32_t name);
void arrows_see_row(struct derive *derive, uint32_t thread, const struct host_row *row);

/* Stores those whose rows were met, at most n_arrows, and returns how many. */
uint64_t arrows_link(const struct derive *derive, struct flow *links);
void arrows_release(struct arrows *arrows);

/* -- told_flows.c --------------------------------------------------------------------------- */

/* Makes a row of a point, and an arrow to it from the one before. */
int told_flows_push(struct derive *derive, const struct host_input *input);

/* Counts flows that were begun and never seen again. Call before rows are merged. */
int told_flows_end(struct derive *derive);

/* Finds the work of queues of which one waits for the other. FLEXTRACE_E_MEMORY or 0. */
int told_flows_find_ops(struct derive *derive);
void told_flows_release(struct told_flows *flows);

/* -- flows.c -------------------------------------------------------------------------------- */

/* Notes which correlations device work uses. Call after device_take_ops(). */
int flows_init(struct derive *derive);
void flows_free(struct flow_links *flows);

/* Notes a merged main device row, or host row. */
void flows_see_device_row(struct derive *derive, const struct device_row *row);
int flows_see_host_row(struct derive *derive, uint32_t process, const struct host_row *row);

/* Links them. */
int flows_finish(struct derive *derive);

#endif
