/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h: a timeline as the events of a trace file, in order of time: what trace.json and
 * trace.pftrace have in common. Each format only writes an event down.
 *
 *   events.c       the order of all events: one merge over the timeline's tables
 *   event_later.c  what is on its way: arrows that arrive, async intervals that end
 *   event_rows.c   host rows, instants, counters, memory and arrows as events
 *   event_device.c device rows as events
 *   event_found.c  collectives and steps that no program recorded
 *   event_ranks.c  what the file of a single rank has in its own way
 *   event_told.c   what the file of another tool said comes out again
 *   event_hta.c    names that Holistic Trace Analysis knows work by
 *   event_losses.c what was lost, and what was left out
 *   event_shown.c  which rows there are
 *   lines.c        the order of processes, devices and tracks, and what they are called
 *
 * Rules that viewers hold us to: events are in order of time, rows of a line nest (derive's lanes),
 * arrows have both ends, and each end finds its interval open.
 */
#ifndef FLEXTRACE_TRACE_EVENTS_H
#define FLEXTRACE_TRACE_EVENTS_H

#include "base/map.h"
#include "model/collective_rates.h"
#include "model/found_rows.h"
#include "model/words/kinds.h"
#include "model/words/told.h"
#include "output/events/lines.h"
#include "output/view.h"

/* Keys of arguments, with their units. */
#define EVENT_KEYS(KEY)                           \
	KEY(KIND, "kind")                         \
	KEY(DEVICE, "device")                     \
	KEY(STREAM, "stream")                     \
	KEY(RANK, "rank")                         \
	KEY(RUN, "run")                           \
	KEY(JOB, "job")                           \
	KEY(CORRELATION, "correlation")           \
	KEY(EXTERNAL_ID, "External id")           \
	KEY(ARGS, "args")                         \
	KEY(CYCLES, "cycles")                     \
	KEY(RAW, "raw_cycles")                    \
	KEY(DOMAIN, "domain")                     \
	KEY(SEGMENT, "segment")                   \
	KEY(BYTES, "bytes")                       \
	KEY(BANDWIDTH, "memory bandwidth (GB/s)") \
	KEY(PEER, "peer")                         \
	KEY(GROUP, "group")                       \
	KEY(TYPE, "type")                         \
	KEY(KIND_NUMBER, "kind_number")           \
	KEY(POWER, "power")                       \
	KEY(SAMPLE, "power_before_end_ns")        \
	KEY(PHASE, "phase")                       \
	KEY(CATEGORY, "category")                 \
	KEY(IDEAL_CYCLES, "ideal_cycles")         \
	KEY(PT_UTIL, "pt_util")                   \
	KEY(LAUNCH_DELAY, "launch_delay_ns")      \
	KEY(QUEUE_TIME, "queue_ns")               \
	KEY(VALUE, "value")                       \
	KEY(COUNT, "count")                       \
	KEY(PLACE, "place")                       \
	KEY(TIME, "time")                         \
	KEY(INPUT_DIMS, "Input Dims")             \
	KEY(INPUT_TYPE, "Input type")             \
	KEY(FOUND, "found")                       \
	KEY(NAME, "name")                         \
	KEY(UNNAMED, "unnamed")                   \
	KEY(ADDRESS, "address")                   \
	KEY(OP, "op")                             \
	KEY(TID, "tid")                           \
	KEY(STATUS, "status")                     \
	KEY(ERR, "err_ns")                        \
	KEY(FILE, "file")                         \
	KEY(LINE, "line")

enum event_key {
#define KEY(name, text) EVENT_KEY_##name,
	EVENT_KEYS(KEY)
#undef KEY
		N_EVENT_KEYS
};

extern const char *const event_key_names[N_EVENT_KEYS];

enum event_arg_type {
	ARG_U64,
	ARG_I64,
	ARG_DOUBLE,
	ARG_WORD,   /* a text of ours, which needs no escape */
	ARG_STRING, /* of the string pool */
	ARG_JSON,   /* an array or object as it was recorded */
	ARG_CYCLES, /* stamps with their names; 0: not taken */
	ARG_RAW     /* the low 32 bits of the same */
};

struct event_arg {
	uint8_t key;      /* enum event_key */
	uint8_t type;     /* enum event_arg_type */
	uint8_t n_cycles; /* CYCLES, RAW; enum event_stamp: what the first one is */
	uint8_t first_stamp;
	uint32_t n_bytes; /* WORD, JSON */
	union {
		uint64_t u64;
		int64_t i64;
		double number;
		uint32_t string;
		const char *text;      /* WORD, JSON; weak */
		const uint64_t *ticks; /* CYCLES, RAW; weak */
	} u;
};

/* What stamps are called: those of a control block, then both ends of a zone. */
enum { STAMP_TS1, STAMP_BEGIN = FLEXTRACE_N_STAMPS, STAMP_END, N_EVENT_STAMPS };
extern const char *const event_stamp_names[N_EVENT_STAMPS]; /* "TS1", "begin" */

enum event_type {
	EVENT_INTERVAL,
	EVENT_ASYNC_BEGIN, /* an interval that crosses others of its line; its end follows */
	EVENT_ASYNC_END,
	EVENT_ARROW_OUT,
	EVENT_ARROW_IN,
	EVENT_INSTANT,
	EVENT_COUNTER
};

/* What an event stands on. */
enum event_place {
	ON_TRACK,
	ON_PROCESS, /* counters */
	ON_DEVICE,
	ON_LOSSES,      /* `place` is a line of losses */
	ON_FOUND_STEPS, /* of a process, in the file of a single rank */
	ON_FOUND_WORK,  /* `place` is a line of found collectives */
	ON_WAITS        /* of a thread for devices, and its launches, by a track of it */
};

#define MAX_EVENT_ARGS 24

/* How the bytes of a name are written. */
enum event_letters { LETTERS_ALL, LETTERS_CAPITAL, LETTERS_OF_WORD /* no blank, no bracket */ };

struct file_event {
	int64_t start_time_ns;
	int64_t end_time_ns; /* the start where there is no duration; of the arrow's other end */
	uint64_t id;         /* of an arrow or async interval */
	uint32_t place;      /* index of what it is on */
	uint32_t name;       /* string; 0: `label` */
	struct trace_text label, category; /* weak; the category with the escapes of JSON */
	const char *around;                /* "Memcpy HtoD": stands as "Memcpy HtoD (NAME)"; NULL */
	const char *before;                /* "ncclDevKernel_": stands before the name; NULL */
	const char *part;                  /* "DMA in", of what is called by the name; NULL: all */
	uint32_t file, line;               /* string 0: not known where in the source code */
	uint32_t err_ns;                   /* UINT32_MAX: no bound */
	double value;                      /* of a counter */
	const char *unit;                  /* and what it is in, a text of ours; NULL: not known */
	uint32_t core;                     /* of a counter's value; FLEXTRACE_NONE: none */
	uint8_t type, on;                  /* enum event_type, enum event_place */
	uint8_t status;                    /* enum time_status */
	bool has_status;                   /* else nothing is said of it */
	uint8_t letters;                   /* enum event_letters */
	uint8_t n_args;
	struct trace_text told; /* arguments as a file has them, "a":1,"b":2; they come first */
	struct trace_text told_rest; /* and those behind one that is left out, ,"c":3 */
	struct event_arg args[MAX_EVENT_ARGS];
};

#define EVENT_TEXT(literal) ((struct trace_text){"" literal, sizeof(literal) - 1})

/* -- reading ----------------------------------------------------------------------------------- */

struct event_loss {
	int64_t first_time_ns, last_time_ns;
	uint64_t count;
	uint32_t line;
	bool is_timed;
};

/* event_losses.c: lines of what was lost, and what stands on them. */
struct event_losses {
	struct losses lines;          /* owned: as they are shown, with spans in time_ns */
	struct event_loss *intervals; /* owned: in order of time */
	uint32_t n;
	struct writer text; /* owned: the place of the one that was read */
};

/* An event whose time comes later than that of what it ends. */
struct event_later {
	int64_t time_ns;
	uint64_t id;
	union {
		const struct flow *flow; /* weak: of an arrow */
		struct {
			uint32_t track;
			uint32_t name; /* string */
		};
		struct { /* of a band */
			uint32_t device;
			uint32_t err_ns;
		};
	};
	uint8_t kind;
	uint8_t what; /* enum event_later_kind */
};
enum event_later_kind { LATER_ARROW, LATER_BAND, LATER_HOST_END, LATER_DEVICE_END };

struct event_heap {
	struct event_later *later; /* owned: the earliest on top, then the lowest id */
	uint64_t n, n_allocated;
};

int event_heap_push(struct event_heap *heap, const struct event_later *later);
struct event_later event_heap_pop(struct event_heap *heap);

/* event_shown.c: the last value of each line of a counter. */
struct event_counters {
	struct map lines; /* (name, core; owner) -> index */
	struct event_counter {
		double value;
		const char *unit; /* weak; NULL: not known */
	} * last;                 /* owned */
	uint32_t n;
};

/* event_hta.c: what is known of launches and waits. */
struct event_hta {
	/* (host row, 0) -> enum flextrace_device_kind of its first work; (host row, 1) -> number of
	 * its last repetition */
	struct map launched;
	uint8_t *is_begun;               /* owned: a bit for each control block that was read */
	const struct host_row *repeated; /* weak: that stands once more, next; NULL */
	uint64_t correlation;            /* of that */
	uint64_t n_waits, n_phases;
	uint32_t device; /* the first of the rank; FLEXTRACE_NONE: it has none */
};

/* Where the next event may come from; the first wins among equal times. */
enum event_source {
	FROM_LOSSES,
	FROM_FOUND, /* collectives, and steps of a rank */
	FROM_HOST,
	FROM_DEVICE,
	FROM_FLOWS, /* arrows that leave */
	FROM_LATER, /* what waited */
	FROM_INSTANTS,
	FROM_COUNTERS,
	FROM_RATES, /* of collectives */
	FROM_MEMORY,
	N_SOURCES
};

/* event_found.c: lines of collectives that were found, one for each lane of a process. */
struct event_found {
	const struct found_rows *rows; /* weak; NULL = none */
	struct found_line {
		uint32_t process, lane;
	} * lines; /* owned: in order of their processes */
	uint32_t n_lines;
	bool has_steps;
	uint32_t *first_line; /* owned: by process */
};

/* Of what a reader tells apart by who comes first: in the file of a rank of the torch profiler, the
 * annotations of devices stand behind those of the host that are called alike. */
enum event_states { STATES_AMONG, STATES_LATER, STATES_ALONE };

/* Each event once, in order of time. */
struct events {
	struct view view;
	struct lines lines;
	uint64_t *band_ns;       /* owned, by device: 1 + its newest error bar; NULL: no bands */
	uint32_t *device_number; /* owned: what a device is called in arguments */
	uint32_t process;        /* whose rows are shown; FLEXTRACE_NONE = all */
	struct event_found found;
	uint64_t n_collectives;  /* read, of a single rank's file */
	char dims[32], step[32]; /* texts of the event that was read */
	bool is_without_ops;     /* no operation has an External id */
	uint8_t states;          /* enum event_states: where rows of states stand */
	/* weak, both, at most one: what stands before all else, names too */
	const struct host_row *first_host;
	const struct device_row *first_device;
	struct emit_views views;
	struct event_hta hta;
	struct event_losses losses;
	struct event_counters counters;
	struct file_count *count; /* weak */

	int64_t next_time_ns[N_SOURCES]; /* INT64_MAX = at its end */
	struct table_cursor cursors[N_SOURCES];
	struct table_index host_rows; /* of what launched work */
	enum event_source source;     /* that is read until another one comes */
	int64_t until_ns;
	struct event_heap later;
	uint64_t n_flows; /* read */
	uint64_t n_async; /* begun */
	uint32_t n_rates; /* read, of collectives */
	uint32_t n_lost;  /* losses that are read */
	uint32_t n_found; /* rows that were found and are read */
};

/* Of all processes (FLEXTRACE_NONE), or of one (an index). `count` gets what is read and what is
 * left out. FLEXTRACE_E_MEMORY or 0; released either way. */
int events_init(struct events *events, const struct findings *findings,
                const struct emit_views *views, uint32_t process, struct file_count *count);
void events_release(struct events *events);

/* What stands before the names of the file of a rank, if anything does: 1; 0: nothing does;
 * FLEXTRACE_E_MEMORY. */
int events_first(struct events *events, struct file_event *ret_event);

/* 1; 0: there is no more; FLEXTRACE_E_MEMORY. What it points to holds up to the next call. */
int events_next(struct events *events, struct file_event *ret_event);

/* When the first event is, of all processes; false: there is none. */
bool events_first_time(const struct events *events, int64_t *ret_time_ns);

/* -- how rows become events -------------------------------------------------------------------- */

void event_of_host(const struct events *events, const struct host_row *row,
                   struct file_event *event);
void event_of_device(const struct events *events, const struct device_row *row,
                     struct file_event *event);
void event_of_instant(const struct events *events, const struct instant_row *row,
                      struct file_event *event);
/* Adds arguments as the program recorded them: an object or array stays one. */
void event_add_recorded(const struct events *events, uint8_t key, uint32_t string,
                        struct file_event *event);

void event_of_counter(const struct counter_row *row, const char *unit, struct file_event *event);
void event_of_rate(const struct collective_rate *rate, struct file_event *event);
void event_of_band(const struct event_later *band, struct file_event *event);
void event_of_memory(const struct events *events, const struct memory_row *row,
                     struct file_event *event);
void event_of_arrow(const struct events *events, const struct flow *flow, bool is_out, uint64_t id,
                    struct file_event *event);
/* 1, or FLEXTRACE_E_MEMORY. */
int event_of_loss(struct events *events, const struct event_loss *loss, struct file_event *event);

/* FLEXTRACE_E_MEMORY or 0. */
int event_found_init(struct events *events);
void event_found_release(struct event_found *found);

/* Whether a row is shown: steps for readers of torch's files only. */
bool event_found_is_shown(const struct events *events, const struct found_row *row);

/* A step or collective that the program did not record; one that it did, as TensorBoard's
 * distributed view looks for it. */
void event_of_found_row(struct events *events, const struct found_row *row,
                        struct file_event *event);
void event_of_rank_row(struct events *events, const struct found_row *row,
                       struct file_event *event);
#define EVENT_FOUND_IN_WORK "in the work of its devices"
void event_of_collective(struct events *events, const struct host_row *row,
                         struct file_event *event);

/* Numbers devices as the file of a rank needs it: below 64. FLEXTRACE_E_MEMORY or 0. */
int event_number_devices(struct events *events);

/* Of copies in the file of a rank, whose readers know them by their names. */
void event_name_copy(const struct events *events, const struct device_row *row,
                     struct file_event *event);

void event_add_correlation(const struct events *events, uint64_t correlation,
                           struct file_event *event);

/* Appends what an event is called. */
void event_append_name(const struct events *events, const struct file_event *event,
                       struct writer *text);

/* Whether a process or device is named: an empty one is in the file of a single rank only. */
bool events_name_process(const struct events *events, uint32_t process);
bool events_name_device(const struct events *events, uint32_t device);
bool events_name_track(const struct events *events, uint32_t track); /* and what is on it */

static inline bool events_are_of_rank(const struct events *events)
{
	return events->process != FLEXTRACE_NONE;
}

/* In the words of the process that a row is of. */
static inline const struct row_kind *event_host_kind(const struct events *events,
                                                     const struct host_row *row)
{
	return kind_of_host(events->view.timeline->tracks[row->track].dialect, row->kind);
}

static inline const struct row_kind *event_device_kind(const struct events *events,
                                                       const struct device_row *row)
{
	return kind_of_device(events->view.timeline->tracks[row->track].dialect, row->kind);
}

/* Whether rows are shown as readers of torch's files need them. */
static inline bool events_are_kineto(const struct events *events)
{
	return events->views.is_kineto;
}

/* Whether rows of a process are shown. */
static inline bool events_show(const struct events *events, uint32_t process)
{
	return events->process == FLEXTRACE_NONE || events->process == process;
}

/* Whether a row of this track crosses another one of its line. */
static inline bool events_is_lane(const struct events *events, uint32_t track)
{
	return events->lines.track_line[track] != track;
}

/* Everything but arguments is nothing, and bounded by nothing. */
static inline void event_begin(struct file_event *event, uint8_t type, uint8_t on, uint32_t place)
{
	memset(event, 0, offsetof(struct file_event, args));
	event->type = type;
	event->on = on;
	event->place = place;
	event->err_ns = UINT32_MAX;
	event->core = FLEXTRACE_NONE;
}

static inline struct event_arg *event_add(struct file_event *event, uint8_t key, uint8_t type)
{
	struct event_arg *arg = &event->args[event->n_args++];

	arg->key = key;
	arg->type = type;
	return arg;
}

static inline void event_add_u64(struct file_event *event, uint8_t key, uint64_t value)
{
	event_add(event, key, ARG_U64)->u.u64 = value;
}

static inline void event_add_i64(struct file_event *event, uint8_t key, int64_t value)
{
	event_add(event, key, ARG_I64)->u.i64 = value;
}

static inline void event_add_double(struct file_event *event, uint8_t key, double value)
{
	event_add(event, key, ARG_DOUBLE)->u.number = value;
}

static inline void event_add_text(struct file_event *event, uint8_t key, uint8_t type,
                                  const char *text, size_t n_bytes)
{
	struct event_arg *arg = event_add(event, key, type);

	arg->u.text = text;
	arg->n_bytes = (uint32_t)n_bytes;
}

static inline void event_add_word(struct file_event *event, uint8_t key, const char *word)
{
	event_add_text(event, key, ARG_WORD, word, strlen(word));
}

static inline void event_add_string(struct file_event *event, uint8_t key, uint32_t string)
{
	if (string)
		event_add(event, key, ARG_STRING)->u.string = string;
}

/* -- told, see event_told.c -------------------------------------------------------------------- */

/* What a row's string says of it; false: nothing. Weak. */
bool event_told(const struct events *events, uint32_t string, struct told *ret_told);
bool event_told_of_host(const struct events *events, const struct host_row *row,
                        struct told *ret_told);
bool event_told_has(const struct told *told, const char *key);

/* Category and arguments as the file has them, and the kind that it has not. */
void event_tell(struct file_event *event, const struct told *told, struct trace_text kind);

/* What readers must find of work, where the file does not say it. */
void event_add_told_ids(const struct events *events, const struct told *told,
                        const struct device_row *row, struct file_event *event);

/* -- for Holistic Trace Analysis, see event_hta.c ---------------------------------------------- */

/* FLEXTRACE_E_MEMORY or 0. */
int event_hta_init(struct events *events);
void event_hta_release(struct event_hta *hta);

/* Give the event of a row the names, categories and numbers that the reader needs. */
void event_hta_host(struct events *events, const struct host_row *row, struct file_event *event);
void event_hta_device(struct events *events, const struct device_row *row,
                      struct file_event *event);

/* The launch or the wait that stands once more, as an event of the device. 1 or
 * FLEXTRACE_E_MEMORY. */
int event_hta_repeat(struct events *events, struct file_event *event);

/* -- losses, see event_losses.c ---------------------------------------------------------------- */

/* Finds lines and intervals of what was lost. FLEXTRACE_E_MEMORY or 0. */
int event_losses_init(struct events *events);
void event_losses_release(struct events *events);

/* What a line is called: "lttng_discarded_events: 17, stream 0/1.2". */
void event_append_loss_line(const struct events *events, struct writer *text, uint32_t line);

#endif
