/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_impl.h: traces of Perfetto: packets -> track events -> intervals -> events.
 *
 *   perfetto.c           which files they are; the two passes over a file
 *   perfetto_packets.c   bytes -> packets, one at a time, packed ones, too
 *   perfetto_clocks.c    snapshots of clocks: a time on one of them is which on another
 *   perfetto_sequences.c what a sequence of packets has said once: names, defaults, clocks
 *   perfetto_tracks.c    descriptors of tracks: whose they are
 *   perfetto_events.c    a packet's track event, and what it does to its track
 *   perfetto_args.c      annotations as members of a JSON object
 *   perfetto_slices.c    begins and ends -> intervals
 *   perfetto_write.c     what is on tracks of any program -> events
 *   perfetto_things.c    a file of ours: what its tracks stand for
 *   perfetto_row.c       what it says of a row
 *   perfetto_ours.c      and what is on them -> the events that it was made of
 *   perfetto_ops.c       device work of such a file
 *
 * The first pass takes what holds for a file: snapshots, descriptors, what the file says of itself.
 * The second one takes events, in the order of the file. Of both only packets are held, and what
 * is open. All times become ns on the clock REALTIME, where snapshots lead there, else on that of
 * the trace.
 */
#ifndef FLEXTRACE_IMPORT_PERFETTO_IMPL_H
#define FLEXTRACE_IMPORT_PERFETTO_IMPL_H

#include "base/map.h"
#include "base/protobuf/perfetto_fields.h"
#include "base/protobuf/protobuf_reader.h"
#include "base/text/json_text.h"
#include "formats/kit/faults.h"
#include "formats/kit/format.h"
#include "formats/kit/text_window.h"
#include "model/words/told.h"

#define PERFETTO_TOOL "perfetto"
#define NO_OPEN       UINT32_MAX
#define MAX_FLOWS     16 /* of an event */

/* -- packets ---------------------------------------------------------------------------------- */

/* What stands in front of, and beside, the payload. */
struct trace_packet {
	uint64_t place; /* of its first byte in the file, or in what is unpacked */
	uint64_t time, clock_id, sequence, flags, dropped, machine;
	bool has_time;
	struct protobuf interned, defaults; /* empty: none */
	uint32_t kind;                      /* number of the payload's field; 0: none */
	struct protobuf payload;
};

/* -- clocks ----------------------------------------------------------------------------------- */

struct clock_point { /* a clock in a snapshot */
	uint64_t clock;
	int64_t time_ns;
	uint32_t snapshot;
};

struct clock_step { /* from a time on, what leads from one clock to another */
	int64_t time_ns, offset_ns;
	uint32_t place;
};

struct clock_pair {
	uint64_t from, to;
	struct clock_step *steps; /* owned */
	uint32_t n_steps;
};

struct perfetto_clocks {
	struct clock_point *points; /* owned, both: of clocks that are not a sequence's */
	struct clock_pair *pairs;   /* those that were asked for */
	uint32_t n_points, n_snapshots, n_pairs;
	uint64_t trace_clock, target; /* of times without a clock; what all become */
};

/* -- sequences -------------------------------------------------------------------------------- */

struct sequence_clock {
	uint64_t id, unit_ns;
	bool is_incremental;
	int64_t last_ns;             /* of the incremental one */
	struct clock_point from, to; /* at which time of it a clock of the trace said what */
};

struct perfetto_location {
	uint32_t file, line; /* a string */
};

struct perfetto_sequence {
	uint64_t id;
	bool is_whole;                 /* nothing that it relies on was lost */
	struct map interned;           /* (iid, field) -> string, or place of a location */
	uint64_t clock_id, track;      /* defaults; 0: none */
	struct sequence_clock *clocks; /* owned */
	uint32_t n_clocks;
};

/* -- tracks ----------------------------------------------------------------------------------- */

enum perfetto_track_kind { IS_NAMED, IS_PROCESS, IS_THREAD, IS_COUNTER };

struct perfetto_track {
	uint64_t uuid, parent;
	uint8_t kind;                  /* enum perfetto_track_kind */
	bool is_incremental, is_found; /* of a counter; whose it is was found */
	int64_t pid, tid;
	uint32_t name, unit;      /* strings */
	double multiplier, value; /* of a counter: what one is, how much there is */
	uint32_t thing;           /* FLEXTRACE_NONE: not of ours */
	uint32_t top;             /* the innermost open interval; NO_OPEN */
	uint32_t stream;
	int32_t vpid, vtid;
};

/* An interval. One that begins with the one around it is held by that until it is over: of two that
 * are equal the outer one is to be written first. */
struct perfetto_open {
	uint32_t below;           /* what is around it, or is held behind it; NO_OPEN */
	uint32_t held, last_held; /* those that it holds; NO_OPEN */
	uint32_t name, category;  /* strings */
	struct perfetto_location location;
	int64_t begin_ns, end_ns;
	uint64_t packet;     /* its number */
	char *own_members;   /* owned; NULL: none */
	const char *members; /* weak: its arguments, "a":1,"b":2 */
};

struct perfetto_flow { /* where it was last */
	uint32_t track;
	int64_t time_ns;
	bool is_open; /* else it has ended */
};

/* -- a file of ours --------------------------------------------------------------------------- */

enum thing_kind {
	THING_PROCESS,
	THING_DEVICE,
	THING_CLOCK,
	THING_THREAD,
	THING_QUEUE,
	THING_CORE,
	THING_LOSS
};

struct perfetto_thing {
	uint64_t of;
	uint8_t kind;               /* enum thing_kind */
	uint8_t dialect;            /* of its process */
	bool is_torch, is_async;    /* of a file of torch; of intervals that may cross */
	uint32_t number, processor; /* FLEXTRACE_NONE: none */
	uint32_t stream;            /* of what is of a process */
	int32_t vpid;
};

#define MAX_OP_ROWS 4 /* of a control block */

struct perfetto_row {
	int64_t begin_ns, end_ns;
	uint32_t kind, err_ns;
	uint8_t status;
};

struct perfetto_op { /* a control block whose parts are not all there */
	struct flextrace_restored of;
	uint64_t ticks[FLEXTRACE_N_STAMPS];
	struct perfetto_row rows[MAX_OP_ROWS];
	uint32_t n_rows;
	uint32_t stream;
	int32_t vpid;
	bool is_main; /* what belongs to all of it was there */
	struct origin origin;
};

/* -- the file that is read -------------------------------------------------------------------- */

struct perfetto_file {
	const char *path; /* weak */
	uint64_t hash;
	int64_t epoch_ns;   /* what times count from */
	uint64_t n_packets; /* read in the pass */
	uint64_t place;     /* of the packet that is read */
	bool is_cut, is_ours, is_first_pass;
	uint32_t ours;        /* string: what a file of ours says of itself */
	uint64_t n_told_lost; /* as the recorder counts */
	bool is_realtime;     /* times are since the Unix epoch */
	struct perfetto_clocks clocks;
	struct perfetto_sequence *sequences; /* owned, all */
	uint32_t n_sequences;
	struct map sequence_index;
	struct perfetto_track *tracks;
	uint32_t n_tracks, n_named;
	struct map track_index;
	struct perfetto_open *open;
	uint32_t n_open, free_open, n_are_open;
	struct perfetto_location *locations;
	uint32_t n_locations;
	struct perfetto_flow *flows;
	uint32_t n_flows;
	struct map flow_index;
	uint64_t n_arrows;
	struct perfetto_thing *things;
	uint32_t n_things;
	struct map thing_index, process_index, thread_index;
	struct perfetto_op *ops;
	uint32_t n_ops;
	struct map op_index;
	uint64_t n_jobs;
	struct map unread; /* packets of kinds that are not read: how many */
};

struct perfetto {
	struct import import; /* first */
	struct perfetto_file file;
	struct json_text members, told; /* memory of one event */
	struct map shared_losses;       /* that files of several ranks tell of */
	char *scratch;                  /* owned */
	size_t n_scratch;
};

/* -- perfetto_packets.c ----------------------------------------------------------------------- */

typedef int perfetto_take(struct perfetto *perfetto, const struct trace_packet *packet);

/* Takes each packet of a file. FLEXTRACE_E_INPUT: it cannot be read at all. */
int perfetto_each_packet(struct perfetto *perfetto, perfetto_take *take,
                         struct flextrace_error *error);

/* Counts something that is wrong with a packet, which costs itself. FLEXTRACE_E_MEMORY or 0, as all
 * below. */
int perfetto_reject(struct perfetto *perfetto, const struct trace_packet *packet,
                    enum loss_cause cause, const char *fault);

/* -- perfetto_clocks.c ------------------------------------------------------------------------ */

/* `sequence` NULL: in the first pass. */
int perfetto_take_snapshot(struct perfetto *perfetto, struct protobuf message,
                           struct perfetto_sequence *sequence);

/* Chooses what all times become, when all snapshots are there. */
void perfetto_choose_clock(struct perfetto_file *file);
void perfetto_release_clocks(struct perfetto_clocks *clocks);

/* When a packet is, in ns from the epoch. NULL, or what is wrong with it. */
const char *perfetto_place(struct perfetto_file *file, struct perfetto_sequence *sequence,
                           const struct trace_packet *packet, int64_t *ret_ns);

/* -- perfetto_sequences.c --------------------------------------------------------------------- */

/* Bytes as a string. */
int perfetto_intern(struct perfetto *perfetto, const struct protobuf *bytes, uint32_t *ret_string);

/* Finds the sequence of a packet, and takes what the packet says for those behind it. */
int perfetto_enter(struct perfetto *perfetto, const struct trace_packet *packet,
                   struct perfetto_sequence **ret_sequence);

/* A text of a sequence: the bytes of a field, or what its iid stands for among those that were
 * `interned`. 0, with a fault: nothing. */
int perfetto_text(struct perfetto *perfetto, const struct perfetto_sequence *sequence,
                  const struct protobuf_field *text, uint32_t interned, uint32_t *ret_string);

/* -- perfetto_tracks.c ------------------------------------------------------------------------ */

int perfetto_take_descriptor(struct perfetto *perfetto, struct protobuf message);
int perfetto_find_track(struct perfetto *perfetto, uint64_t uuid, uint32_t *ret_track);

/* Finds whose a track is, and defines them; of a file that is not ours. */
int perfetto_own_track(struct perfetto *perfetto, uint32_t track);

/* -- perfetto_args.c -------------------------------------------------------------------------- */

/* Appends an annotation to `members`. */
int perfetto_add_arg(struct perfetto *perfetto, const struct perfetto_sequence *sequence,
                     struct protobuf annotation);

/* -- perfetto_events.c ------------------------------------------------------------------------ */

struct track_event {
	const struct trace_packet *packet; /* weak, both */
	struct perfetto_sequence *sequence;
	uint64_t type, uuid;
	int64_t time_ns;
	uint32_t track; /* its place */
	uint32_t name, category;
	struct perfetto_location location;
	double value;
	bool has_value;
	uint64_t flows[MAX_FLOWS];
	bool flow_ends[MAX_FLOWS]; /* here */
	uint32_t n_flows;
	struct protobuf legacy; /* empty: it is none of Chrome's older form */
	bool has_uuid;
	const char *fault;   /* NULL, or what is wrong with it */
	const char *members; /* weak: "" = none */
};

/* Of a packet that is at a time, or has a fault. */
int perfetto_take_event(struct perfetto *perfetto, const struct trace_packet *packet,
                        struct perfetto_sequence *sequence, int64_t time_ns, const char *fault);

/* -- perfetto_slices.c ------------------------------------------------------------------------ */

int perfetto_begin(struct perfetto *perfetto, const struct track_event *event);
int perfetto_end(struct perfetto *perfetto, const struct track_event *event);

/* An interval whose end is told with its begin. */
int perfetto_complete(struct perfetto *perfetto, const struct track_event *event, int64_t end_ns);

/* Counts what is open, and shows it as such. */
int perfetto_end_open(struct perfetto *perfetto);

/* Draws the flows of an event on an interval that began then. */
int perfetto_take_flows(struct perfetto *perfetto, const struct track_event *event,
                        int64_t begin_ns);

/* -- perfetto_write.c ------------------------------------------------------------------------- */

/* Adds a stream of the file; `is_given`: nobody promises where its times are. */
int perfetto_add_stream(struct perfetto *perfetto, bool is_given, uint32_t *ret_stream);

/* Defines the process of a stream, whose boot id begins so: "" or "torch rank ". */
int perfetto_define_process(struct perfetto *perfetto, uint32_t stream, int32_t vpid,
                            const struct flextrace_process *process, const char *clock);

/* An event of a track that is at a time. */
struct event perfetto_event_of(const struct perfetto *perfetto, const struct perfetto_track *track,
                               enum record_class class, int64_t time_ns);

/* What an event says beside its name, as an object that told.h knows; "": nothing. Weak. */
int perfetto_tell(struct perfetto *perfetto, uint32_t category, const char *members,
                  const char **ret_told);

int perfetto_write_interval(struct perfetto *perfetto, const struct perfetto_track *track,
                            const struct perfetto_open *open);
int perfetto_write_begin(struct perfetto *perfetto, const struct perfetto_track *track,
                         const struct perfetto_open *open);
int perfetto_write_instant(struct perfetto *perfetto, const struct track_event *event);
int perfetto_write_counter(struct perfetto *perfetto, const struct track_event *event);

/* -- perfetto_things.c, perfetto_row.c, perfetto_ours.c, perfetto_ops.c ----------------------- */

/* Takes the attribute of a file of ours. */
int perfetto_take_things(struct perfetto *perfetto, struct protobuf attributes);

/* Defines them, and says which track is what. */
int perfetto_define_things(struct perfetto *perfetto);

/* What is said of a row. */
struct our_row {
	struct told all, ours;   /* weak, until the next one is read: those of flextrace */
	struct trace_text label; /* of the kind, if it is said */
	uint8_t kind;            /* of a host or device row */
	uint8_t dialect;
	bool has_label, is_known /* the kind */, has_told /* members of an importer */;
};

int our_row_read(struct perfetto *perfetto, uint8_t dialect, uint32_t category, const char *members,
                 bool is_device, struct our_row *ret_row);

uint8_t our_row_status(const struct our_row *row); /* TIME_CERTIFIED, if it is not said */

/* What an importer had told, as it stood in the record. */
int our_row_told(struct perfetto *perfetto, const struct our_row *row, const char **ret_text);

/* A member of an object; a text may be JSON, and is kept. */
uint64_t perfetto_number(const struct told *told, const char *key, uint64_t other);
int perfetto_copy(struct perfetto *perfetto, const struct trace_value *value,
                  const char **ret_text);
int perfetto_member(struct perfetto *perfetto, const struct told *told, const char *key,
                    const char **ret_text);

/* Makes a payload of the members that are called as its fields, as if all others were missing. */
int perfetto_fill(struct perfetto *perfetto, const struct told *told, enum record_class class,
                  void *payload);

/* Whether a flow of such a file is none that flextrace finds itself. */
bool perfetto_draws_flow(const struct perfetto_file *file, const struct perfetto_track *from,
                         const struct perfetto_track *to);

int perfetto_write_our_interval(struct perfetto *perfetto, const struct perfetto_track *track,
                                const struct perfetto_open *open);
int perfetto_write_our_instant(struct perfetto *perfetto, const struct track_event *event);
int perfetto_write_our_counter(struct perfetto *perfetto, const struct track_event *event);

int perfetto_write_our_op(struct perfetto *perfetto, const struct perfetto_track *track,
                          const struct perfetto_open *open);

int perfetto_write_our_mark(struct perfetto *perfetto, const struct track_event *of,
                            const struct our_row *row);
int perfetto_write_our_value(struct perfetto *perfetto, const struct track_event *of);

/* Writes control blocks whose parts were not all there. */
int perfetto_end_ops(struct perfetto *perfetto);

static inline const char *perfetto_string(const struct perfetto *perfetto, uint32_t string)
{
	return string ? string_get(perfetto->import.strings, string) : "";
}

static inline struct perfetto_thing *perfetto_thing(const struct perfetto_file *file, uint64_t uuid)
{
	uint32_t place = map_find(&file->thing_index, uuid, 0);

	return place == MAP_NONE ? NULL : &file->things[place];
}

#endif
