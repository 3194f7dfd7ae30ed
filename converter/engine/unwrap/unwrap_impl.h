/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwrap_impl.h: what the files of unwrap share.
 *
 *   unwrap.c  collects records and says in which order the rest runs
 *   edges.c, numbering.c, instances.c
 *             submit, complete and host_estimate records make uses of job numbers
 *   match.c   these meet their operation
 *   miscounts.c
 *             what is not believed of that
 *   settle.c  operations get the brackets of what they met
 *   stays.c   between when the instances of choices ran
 *   choices.c operations of which the counter says what they meet
 *   runs.c    slots of the marker areas become runs, runs meet their operation
 *   rate.c    how fast a counter ticks, from its own samples
 *   samples.c records become samples, placed samples become ticks and brackets
 *   order.c   stamps that are not behind the one before them are left out
 *   window.c  which epochs known places leave
 *   spans.c   wraps within work, by estimates
 *   bodies.c  which work of estimates follows each other
 *   slots.c   where it can have been
 *   empties.c or can have been elsewhere, as round trips lack work
 *   hidden.c  estimates that may lack some
 *   chains.c  estimates that are whole wraps off are put right
 *   turns.c   which of these work was in, if its estimates are all off by the same
 *   trips.c   the intervals that the host knows work to have been in
 *   epochs.c  says which estimates are put right, and which are doubted
 *   axis.c    samples of one counter get their places
 *   first.c   their epochs, as far as others bound them
 *   strays.c  stretches of false evidence
 *   shift.c   resets that the epochs do not show
 *   wide.c    resets that only whole reads show
 *   borders.c what may be of the segment in front of a border or behind it
 *   gated.c   counters that do not run from one operation to the next
 *   late.c    samples that the first pass left open
 *   bare.c    counters that nothing ties to the host
 *   boots.c   of which segment of its counter a boot of an area is; runs get their places
 *   seams.c   what says that a counter went on where an area was set up anew
 *   marks.c   marker words get theirs
 *
 * A sample is a stamp (or the stamps of an operation) together with what the host knows of its
 * time. On its axis a sample has a signed place: 0 is somewhere near the segment's first sample.
 * Only when the whole segment is placed, the axis gets its origin, and places become ticks.
 */
#ifndef FLEXTRACE_UNWRAP_IMPL_H
#define FLEXTRACE_UNWRAP_IMPL_H

#include "base/map.h"
#include "model/clocks.h"
#include "unwrap.h"

#define UNWRAP_NO_BEFORE INT64_MIN
#define UNWRAP_NO_AFTER  INT64_MAX
#define UNWRAP_MAX_NS    (INT64_C(1) << 62) /* later stamps are garbage, as for decode */

/* Of stamps that have all of a counter's bits: those that no counter gets to in 14 years. */
#define UNWRAP_WIDE_BITS 62

/* No counter has another rate: ticks per ns, 100 Hz to 10.5 GHz. */
#define UNWRAP_MIN_RATE 1e-7
#define UNWRAP_MAX_RATE 10.5

/* By how much estimates are widened where they stand for brackets. */
#define UNWRAP_ESTIMATE_SLACK_NS 1000000

/* tick_op.unused until samples are made; then wraps between TS2 and TS3 that no stamp shows */
enum op_flag {
	OP_AFTER_IS_CLOCK = 1, /* complete_host_ns is only when the record was written */
	OP_IS_ESTIMATED = 2,   /* submit_host_ns, complete_host_ns are another tool's estimate */
	OP_IS_CHOICE = 4,      /* which instance of its job it is has to be chosen */
	OP_IS_COUNTED = 8      /* its bracket is its own by counting only */
};

/* A submit, complete or host_estimate record until its operation is known. */
struct loose_edge {
	uint64_t job, correlation;
	int64_t host_ns, end_host_ns; /* end: host_estimate only */
	int64_t clock_ns;             /* of its record */
	uint32_t device, queue, name;
	uint32_t stream, index;
	uint8_t class; /* enum record_class */
	uint8_t kind;  /* enum flextrace_estimate: host_estimate only */
};

/* When a device was at work, and no control block of that time is known. */
struct idle {
	int64_t begin_ns, end_ns;
	uint32_t counter;
};

/* How long an operation was prepared, or waited for that, as some other tool estimated. */
struct wait {
	struct tick_op *op; /* weak */
	int64_t ns;
};

/* A copied marker_batch. */
struct batch {
	uint64_t first_index, dropped, clock_ns;
	uint32_t device, counter, core, processor;
	uint32_t stream, index;
	uint32_t n_words;
	uint32_t boot; /* index of struct boot, once runs are read */
	uint64_t words[];
};

/* The parts of a marker word. */
static inline uint32_t word_kind(uint64_t word)
{
	return (uint32_t)(word >> (32 + FLEXTRACE_WIRE_ID_BITS));
}

static inline uint32_t word_id(uint64_t word)
{
	return (uint32_t)(word >> 32) & FLEXTRACE_WIRE_ID_MASK;
}

static inline bool batch_has_slots(const struct batch *batch)
{
	return batch->n_words && word_kind(batch->words[0]) >= FLEXTRACE_WIRE_SLOT_RUN;
}

static inline bool batch_is_boot(const struct batch *batch)
{
	return batch->n_words && word_kind(batch->words[0]) == FLEXTRACE_WIRE_BOOT;
}

/* From one setting up of an area by its firmware to the next: its counter does not begin anew
 * meanwhile. */
struct boot {
	uint64_t first_run, end_run;
	int64_t from_ns, to_ns; /* when it was drained first and last; from > to: never */
	int64_t begin_ns;       /* it had not begun by then; INT64_MIN: not known */
	int64_t last_ns[3];     /* of its last batches, newest first; likewise */
	uint32_t counter;       /* of its batches */
	uint32_t told;          /* index of struct area_boot; FLEXTRACE_NONE: none */
	bool is_found;          /* some of it was there before the process looked */
	bool is_anew;           /* it followed another one */
	bool is_over;           /* another one follows */
	bool is_known;          /* samples tell of which segments it is ... */
	uint16_t first_segment, last_segment; /* ... from the first to the last */
};

/* One core and processor. */
struct batch_area {
	uint32_t device, core, processor;
	struct table batches; /* struct batch with its words, in gather order, then of time */
	uint64_t last_ns;     /* of the last batch that came */
	bool is_mixed;        /* some came behind later ones */
	uint64_t first_run, end_run;   /* its runs, once they are read */
	uint32_t first_boot, end_boot; /* likewise */
};

static inline struct batch *batch_next(struct table_cursor *cursor)
{
	struct batch *batch = table_peek(cursor);

	if (batch)
		table_next(cursor, sizeof(*batch) + batch->n_words * sizeof(*batch->words));
	return batch;
}

/* One run of the firmware, from its slot. */
struct run {
	uint64_t number, anchor, clock_ns;
	struct tick_op *op; /* weak; NULL: not tied */
	const struct batch *batch;
	uint64_t ticks; /* of FW start, on the axis' origin; as `status` says */
	uint32_t first_word, n_words;
	uint32_t device, counter, core, processor;
	uint32_t job, queue;
	uint16_t segment;
	uint8_t status;    /* enum time_status */
	bool is_unbounded; /* nobody knows of which boot it is */
	bool is_open;      /* never reached FW end */
	bool is_placed;    /* as a sample */
	bool is_short;     /* ends within one wrap after its anchor, by samples */
	bool has_op_ticks; /* its TS stamps are those of `op`: same counter */
	bool has_high;     /* among its words are the high ones of stamps */
	uint32_t ticks32[FLEXTRACE_WIRE_N_STAMPS];
};

enum sample_kind { SAMPLE_RUN, SAMPLE_SYNC, SAMPLE_OP }; /* of equal time, in this order */
enum sample_bounds {
	BOUNDS_HARD,
	BOUNDS_ESTIMATE,
	BOUNDS_CLOCK,
	BOUNDS_SLIPPED, /* hard, if it has no room for a wrap: until the rate is known */
	BOUNDS_CHOICE   /* of a choice, until it is made: after_ns is when it was written */
};

struct sample {
	int64_t before_ns, after_ns;
	uint64_t first; /* raw bits, then the place on the axis (signed) */
	uint64_t span;  /* last - first, wraps that were seen included */
	union {
		struct tick_op *op;
		struct run *run;
	} source; /* weak */
	uint16_t segment;
	uint8_t kind, bounds;
	uint8_t status;      /* enum time_status; UNMATCHED until it is placed */
	bool is_origin : 1;  /* only `first` is evidence: how often it wraps behind is not known */
	bool is_stray : 1;   /* certified, but the tolerance was needed */
	bool is_counted : 1; /* its bracket is its own by counting only */
	bool is_longer : 1;  /* an estimate: may lack whole wraps */
	uint8_t from, to;    /* operations: the stamps of `first` and of `first` + `span` */
};

struct rate { /* ticks per ns */
	double lo, hi;
	bool is_known;  /* lo and hi are close */
	bool is_steady; /* hardly any pair of samples contradicts it */
	bool is_hinted; /* the nominal rate chose it; no pair contradicts one far from that */
};

/* What submit, complete and host_estimate records make; see matches.h. */
struct matches {
	struct instance *instances; /* owned: blocks; in order of their first edges */
	struct job *jobs;           /* owned */
	struct choice *choices;     /* owned */
	struct stay *stays;         /* owned: instances by job */
	uint32_t n, n_jobs, n_choices;
	struct map of_op;      /* (tick_op *, 0) -> choice */
	int64_t most_late_ns;  /* from a completion to the record of its operation, but for few */
	int64_t most_taken_ns; /* from a submission to its completion, but for few */
	int64_t longest_ns;    /* from a submission to that record, as far as counting tells */
	bool is_lossy;         /* records of some use of a number were lost */
};

/* Where a segment's axis has its origin: ticks = place + origin. */
struct axis_segment {
	uint64_t origin;
	uint64_t shift; /* of its ticks against what the counter showed; see set_origins() */
	int64_t least;  /* place of any of its samples */
	int64_t most;   /* likewise */
	uint32_t n_samples, n_seams; /* brackets; of the gaps between, those with seams */
	bool is_steady;              /* few samples, which one mean rate explains */
	bool has_wide;               /* by a sample of all the counter's bits */
	bool is_after_gap; /* nothing ties it to the one before; else the counter began anew */
};

/* One counter. */
struct axis {
	struct sample *samples; /* weak, by time */
	uint32_t n_samples;
	unsigned narrow_bits, wide_bits; /* of stamps, of whole reads */
	bool is_soft;                    /* it has estimates only, and they stand for brackets */
	struct rate rate;
	double nominal;          /* ticks per ns, 0 = not known, or refused */
	bool refuses_nominal;    /* where it was a hint, samples contradicted it */
	double rho;              /* promised: how far the rate goes from its mean, relative */
	int64_t max_dispatch_ns; /* 0 = not known */
	double tolerance;        /* ticks that a bracket may be wrong by without being an outlier */
	struct axis_segment *segments; /* owned */
	uint32_t n_segments;
	struct matches *matches; /* weak */
};

/* What stamps have of their counter; wide ones may show that it has more than 32 bits. */
enum stamp_width { STAMPS_NONE = 0, STAMPS_NARROW = 1, STAMPS_WIDE = 2, STAMPS_BEYOND = 4 };

/* Whose an operation is, and what identity makes of it. */
struct op_owner {
	uint32_t process, number, domain; /* as recorded */
	uint32_t device, counter;         /* indexes */
	bool is_known;
	enum stamp_width width;
};

/* What the firmware marked: batches, which boots, and which runs are among them. Of runs.c. */
struct unwrap_marks {
	struct batch_area *areas; /* owned; once runs are read, by device, core and processor */
	uint32_t n_areas;
	struct map area_numbers; /* (device and core, processor) -> index of areas as they come */
	struct map area_bits;    /* (counter, 0) -> bits of it, where below 32 */
	uint64_t n_slot_words;
	struct boot *boots; /* owned */
	uint32_t n_boots;
	struct run *runs; /* owned: blocks; by area, then gather order */
	uint32_t n_runs;
	struct map op_runs; /* (tick_op *, 0) -> run with its stamps */
};

/* What host programs did together. */
struct unwrap_collectives {
	struct table points; /* struct sync_point */
	struct map sets;     /* (group and op, peers) -> number */
	uint32_t n_sets;
	struct map open_keys;     /* (process and set, seq) -> place in `open` */
	struct sync_point **open; /* owned array; weak rows of points */
	uint32_t n_open;
};

/* What other tools say of a device's work besides when each operation was. */
struct unwrap_estimates {
	struct idle *idles; /* owned */
	struct wait *waits; /* owned */
	uint32_t n_idles, n_waits;
	uint64_t n_doubted; /* estimates */
};

struct unwrap {
	struct identity *identity;               /* weak */
	struct ledger *ledger;                   /* weak */
	const struct calibrate_options *options; /* weak; NULL: none */
	struct table ops;                        /* struct tick_op with raw stamps */
	struct table restored;                   /* struct restored_row */
	struct table told_clocks;                /* struct clock_row */
	struct table told_alignment;             /* struct alignment_report */
	uint32_t n_segments;                     /* told of the counter that was told of last */
	struct tick_op *last_op;                 /* weak, of `ops` */
	struct table edges;                      /* struct loose_edge */
	struct table syncs; /* struct record_clock_sync, its `domain` the counter's index */
	struct unwrap_marks marks;
	struct unwrap_collectives collectives;
	struct unwrap_estimates estimates;
	bool lacks_records;    /* some of a stream with operations were lost */
	struct map widths;     /* (counter, 0) -> bits of enum stamp_width: those of its stamps */
	struct op_owner owner; /* of the last operation, most often the next one's */
	uint64_t *n_samples;   /* owned; the most that each counter can have, runs not counted */
	uint32_t n_samples_allocated;

	/* made by unwrap_finish() */
	struct matches matches; /* as long as there are choices */
	struct sample *samples; /* owned, by counter */
	struct axis *axes;      /* owned, one of each counter */
	uint32_t n_axes;
};

/* Takes an estimate as the bracket of an operation that has no other. */
void unwrap_estimate(struct tick_op *op, const struct loose_edge *estimate);

/* A host stamp of a payload; 0 and what cannot be a time are not known (0). */
int64_t unwrap_host_stamp(uint64_t ns);

/* Gives operations what edges say of them, and books the edges. Pairs without operation are put
 * behind ops. Jobs that leave a choice are left out. */
int match_edges(struct unwrap *unwrap);

/* The same for those jobs, once the choices are made. */
int match_choices(struct unwrap *unwrap);
void matches_release(struct unwrap *unwrap);

/* Makes the instances of choices ready to be looked at. */
int choices_prepare(struct unwrap *unwrap);

/* Where a counter has no bracket at all, takes the likeliest instances for estimates. */
void choices_trust(struct unwrap *unwrap, struct axis *axis);

/* Where most operations of a prepared axis are choices, and its rate is open, takes brackets that
 * rest on counting for estimates, and returns whether it did: the axis is to be prepared anew. */
bool choices_doubt_counted(struct unwrap *unwrap, struct axis *axis);

/* Makes the choices of a counter whose other samples are placed. */
int axis_choose(struct axis *axis);

/* Appends a batch of `words`, whose head is given. FLEXTRACE_E_MEMORY or 0. */
int runs_add_batch(struct unwrap_marks *marks, const struct batch *head, const uint64_t *words);

/* Sorts the areas, reads their slots and ties runs to operations. */
int runs_read(struct unwrap *unwrap);
void runs_release(struct unwrap_marks *marks);

/* Bounds the rate by pairs of samples; needs no nominal one. */
int rate_bound(const struct axis *axis, struct rate *ret_rate);

/* Groups everything that is a sample by counter, in unwrap->axes. */
int samples_make(struct unwrap *unwrap);

/* Where a counter has no bracket of an operation, makes estimates stand for them. */
void samples_trust_estimates(struct axis *axis);

/* Leaves out stamps of an operation that are not behind those before them, and returns how many.
 * `longest` is the most ticks from one to the next. */
unsigned order_mend(struct sample *sample, unsigned n_bits, uint64_t longest);

/* Says whether a sample whose stamps slipped is evidence, once the rate is known. */
void order_judge_slip(const struct axis *axis, struct sample *sample);

/* How far the first stamp of a sample's operation is before the sample's own. Raw stamps only. */
uint64_t sample_lead(const struct axis *axis, const struct sample *sample);

/* Some samples of an axis, in order. */
struct sample_list {
	struct sample **samples; /* owned; weak samples. NULL: all there are */
	struct sample *all;      /* weak */
	uint32_t n;
};

/* Lists the samples that are wanted. FLEXTRACE_E_MEMORY or 0. */
int sample_list_init(struct sample_list *list, const struct axis *axis,
                     bool (*is_wanted)(const struct sample *sample));
void sample_list_release(struct sample_list *list);

static inline struct sample *sample_list_at(const struct sample_list *list, uint32_t i)
{
	return list->samples ? list->samples[i] : &list->all[i];
}

/* Writes the placed samples of a counter back to operations and runs, and what is evidence to
 * `brackets`. */
int samples_write(struct unwrap *unwrap, uint32_t counter, struct table *brackets);

/* Gives work of estimates the wraps that their length tells, on prepared axes. */
void spans_settle(struct unwrap *unwrap);

/* How fast a counter ticks on average, by its estimates. */
struct mean_rate {
	double ticks_per_ns;
	double off; /* relative, at most */
};

/* What became of estimates that are whole wraps off. */
struct chains_outcome {
	uint64_t n_mended;
	uint64_t n_believed; /* doubted, but nothing says that they are elsewhere */
};

/* Moves estimates of work that are whole wraps off, on a prepared axis whose mean rate is known,
 * and leaves those doubted that can be elsewhere. FLEXTRACE_E_MEMORY or 0. */
int chains_mend(struct unwrap *unwrap, uint32_t counter, const struct mean_rate *mean,
                struct chains_outcome *ret_outcome);

/* Tells reads of the counter anew where estimates that are all off by the same put work into the
 * round trips beside its own, on such an axis. FLEXTRACE_E_MEMORY or 0. */
int turns_mend(struct unwrap *unwrap, uint32_t counter, double rate);

/* Finds estimates that may lack wraps, on such an axis. FLEXTRACE_E_MEMORY or 0. */
int hidden_find(struct unwrap *unwrap, uint32_t counter, const struct mean_rate *mean);

/* Does so on all prepared axes, and says what was moved and what stays doubted. */
int epochs_mend(struct unwrap *unwrap);

/* Sorts the samples of an axis and bounds its rate. */
int axis_prepare(struct axis *axis);

/* Adds a segment behind the last. FLEXTRACE_E_MEMORY or 0. */
int axis_add_segment(struct axis *axis);

/* Begins a segment behind `segment` at a sample: certified samples from it on move up by one.
 * FLEXTRACE_E_MEMORY or 0. */
int axis_split(struct axis *axis, uint32_t segment, struct sample *first);

/* Places the samples of a prepared axis. `op_runs`: see struct unwrap. */
int axis_place(struct axis *axis, const struct map *op_runs, const struct run *runs);
void axis_release(struct axis *axis);

/* The first pass of axis_place(). */
int axis_place_first(struct axis *axis);

/* Drops evidence that is among many strays, and segments without any evidence.
 * FLEXTRACE_E_MEMORY or 0. */
int axis_leave_out_strays(struct axis *axis);

/* Begins a segment wherever what is certified shifts by less than its epochs can show. */
int axis_split_shifts(struct axis *axis);

/* Begins a segment wherever work that is seen complete goes back in ticks, all of it. */
int axis_split_setbacks(struct axis *axis);

/* Begins a segment wherever reads of all bits show that the counter began anew, though the
 * operations fit the old axis. */
int axis_split_reads(struct axis *axis);

/* Marks samples as assumed that were under way where a segment begins and fit the one in front of
 * it as well. */
void axis_doubt_borders(struct axis *axis, bool is_late);

/* The last certified sample with both bounds that was over by a host time, else the first there is;
 * NULL: there is none. */
const struct sample *axis_sample_at(const struct axis *axis, int64_t host_ns);

/* How many samples were over by a host time. */
uint32_t axis_find(const struct axis *axis, int64_t host_ns);

/* What a counter does from one operation to the next, while its stamps are not placed. */
enum counter_habit axis_habit(const struct axis *axis);

/* Puts the samples in order of time. */
void axis_sort(struct axis *axis);

/* The second pass of axis_place(). */
int axis_place_rest(struct axis *axis, const struct map *op_runs, const struct run *runs);

/* The ticks of a place in a segment. */
uint64_t axis_ticks(const struct axis *axis, uint16_t segment, uint64_t place);

/* The segment at a host time, and the farthest ticks that it can have reached then; false:
 * nothing bounds them. */
bool axis_latest(const struct axis *axis, int64_t host_ns, uint16_t *ret_segment,
                 uint64_t *ret_ticks);

/* Places the runs of a counter that has no sample at all by its nominal rate: assumed. */
int bare_place(struct unwrap *unwrap, uint32_t counter, struct table *brackets);

/* Counts the samples of segments of placed axes, and where their areas were set up anew.
 * FLEXTRACE_E_MEMORY or 0. */
int seams_count(struct unwrap *unwrap);

/* Whether the samples of a segment say that its counter did not jump where areas were. */
bool seams_leave_enough(const struct axis_segment *segment);

/* Puts the runs of an area on the axes of their counters, once these have all samples, and tells
 * what its boots rest on. FLEXTRACE_E_MEMORY or 0. */
int boots_place_runs(struct unwrap *unwrap, const struct batch_area *area,
                     struct unwrap_output *out);

/* Whether it is not known on which segment of its counter a boot is. */
bool boot_is_unbounded(const struct axis *axis, const struct boot *boot);

/* Writes the marks of all batches, counts what was dropped, and books batches without a mark. */
int marks_write(struct unwrap *unwrap, struct unwrap_output *out);

/* Whether both of its host times are known, and neither is an estimate. */
static inline bool sample_is_bounded(const struct sample *sample)
{
	return sample->bounds == BOUNDS_HARD && sample->before_ns != UNWRAP_NO_BEFORE &&
	       sample->after_ns != UNWRAP_NO_AFTER;
}

static inline bool sample_is_certified(const struct sample *sample)
{
	return sample->status == TIME_CERTIFIED && sample_is_bounded(sample);
}

static inline uint64_t low_bits(uint64_t value, unsigned n_bits)
{
	return n_bits >= 64 ? value : value & ((UINT64_C(1) << n_bits) - 1);
}

/* How many values so many bits have: 1 to 64. */
static inline double n_values(unsigned n_bits)
{
	return 2 * (double)(UINT64_C(1) << (n_bits - 1));
}

/* Ticks between TS2 and TS3 that the stamps do not show, once samples are made. */
static inline uint64_t spans_wait(const struct axis *axis, const struct tick_op *op)
{
	return (uint64_t)op->unused << axis->narrow_bits;
}

#endif
