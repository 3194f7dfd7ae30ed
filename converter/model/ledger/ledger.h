/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h: the books of a conversion: what was read, what became of it, what was lost, what to
 * warn of.
 *
 * - Balance: per record class, read = used as row + used as evidence or definition + discarded by
 *   cause. Each record is booked exactly once by exactly one stage. ledger_check() says whether it
 *   closes.
 * - Losses: what never reached us, or was thrown away, by cause and place (losses.h): the lines of
 *   losses.csv.
 * - Warnings: stable ids with counts and what to do.
 * - Warning ids are literals from the list below; documented in docs/formats.md.
 *
 * Not thread-safe: each reader thread has its own ledger, merged by ledger_add().
 */
#ifndef FLEXTRACE_LEDGER_H
#define FLEXTRACE_LEDGER_H

#include "error.h"
#include "model.h"

/* clang-format off */
/* X(enumerator, id in files, what to do) */
#define FLEXTRACE_WARNINGS(X)                                                                   \
	X(NO_DEVICE_CLOCK, "no_device_clock",                                                   \
	  "all device work of a process found no clock: nothing says when its stamps were "     \
	  "taken. Record submit and complete times, or FLEXTRACE_CLOCK_SYNC")                   \
	X(NO_DEFINITIONS, "no_definitions",                                                     \
	  "processes are shown as \"pid N\": record the definitions channel, and run "          \
	  "`lttng regenerate statedump` after a rotation, before a snapshot, and once a live "  \
	  "reader that comes late is there")                                                    \
	X(NO_CONTEXTS, "no_contexts",                                                           \
	  "add the contexts vpid and vtid: lttng add-context -u -t vpid -t vtid")               \
	X(NO_EVENTS, "no_events",                                                               \
	  "the trace has no flextrace event: enable them with "                                 \
	  "lttng enable-event -u 'flextrace:*'")                                                \
	X(LOST_EVENTS, "lost_events",                                                           \
	  "use larger or more sub-buffers: lttng enable-channel --subbuf-size --num-subbuf")    \
	X(BEGINS_LATE, "begins_late",                                                           \
	  "packets before the first ones are not here: overwritten before they were read, "     \
	  "cleared by `lttng clear`, or in another part of the recording, to be given as well") \
	X(BEGAN_LATE, "began_late",                                                             \
	  "programs recorded nothing before LTTng's session daemon answered them: emitted.csv "  \
	  "names them. The machine was busy, or the daemon stood still")                         \
	X(UNRECORDED, "unrecorded",                                                             \
	  "records that were not made, in children of programs with threads or in signal "      \
	  "handlers: FLEXTRACE_FORK=register, flextrace_thread_init()")                         \
	X(LOST_MARKERS, "lost_markers", "enlarge the marker ring or drain it more often")       \
	X(UNCALIBRATED, "uncalibrated_device",                                                  \
	  "record submit and complete times, or FLEXTRACE_CLOCK_SYNC")                          \
	X(OUTLIERS, "outliers",                                                                 \
	  "see the rows of events.csv with status outlier: their stamps contradict the others") \
	X(CROSSING, "crossing_scopes",                                                          \
	  "scopes that cross others on their thread stand on overflow lanes")                   \
	X(OVERLAPS, "overlapping_rows",                                                         \
	  "rows cross on lines of trace.json, as --overlap=warn asks: readers may misread them") \
	X(UNALIGNED, "unaligned_hosts",                                                         \
	  "hosts have different clocks: offsets between them are as good as their system clocks") \
	X(OTHER_CLOCK, "not_the_recorders_clock",                                               \
	  "programs in another time namespace than LTTng's: placed by their own system clock")  \
	X(HOST_WANDERS, "host_clock_wanders",                                                   \
	  "no steady host clock explains all collectives: rows where it jumped are assumed;"    \
	  " more collectives around there make that shorter")   \
	X(CLOCK_NOT_1GHZ, "clock_not_1ghz",                                                     \
	  "payload stamps cannot be compared with this trace's clock")                          \
	X(DUPLICATE_RANK, "duplicate_rank", "two processes say they are the same rank")         \
	X(UNSORTED_ROWS, "rows_out_of_order",                                                   \
	  "rows of a device log stood behind later ones of their core: they were sorted")       \
	X(UNNAMED_MARKER, "unnamed_marker",                                                     \
	  "give the firmware image: --names FILE, or call flextrace_device_names()")            \
	X(INFEASIBLE, "rate_wanders",                                                           \
	  "no steady clock explains all brackets: raise --rho-ppm or look for resets")          \
	X(OFF_NOMINAL, "rate_off_nominal",                                                      \
	  "device counters run at another rate than their definition or --nominal-mhz says")    \
	X(RATE_STEP, "rate_step",                                                               \
	  "the rate of a device counter stepped: fix its frequency for runs to be compared")    \
	X(RATE_UNPROVEN, "rate_unproven",                                                       \
	  "counters whose stamps fit a rate more than 2 % off the nominal one over whole wraps " \
	  "only: the nominal rate is wrong, or they do not run through: --nominal-mhz, or "      \
	  "several operations a second")                                                         \
	X(COUNTER_RESTARTS, "counter_restarts",                                                 \
	  "device counters that begin anew with each job: let them run through")                \
	X(COUNTER_GATED, "counter_gated",                                                       \
	  "device counters that run only while jobs do: let them run through")                  \
	X(RATE_UNKNOWN, "rate_unknown",                                                         \
	  "too little evidence for a rate, the nominal one is drawn: give --nominal-mhz, or "   \
	  "record FLEXTRACE_CLOCK_SYNC once a second")                                          \
	X(RESETS, "counter_resets",                                                             \
	  "device counters began anew: a device was reset or lost power during the run")        \
	X(RESTARTED, "device_restarted",                                                        \
	  "firmware set a marker area up anew: drain it before a reset, else what it had is lost") \
	X(UNKNOWN_BOOT, "markers_of_unknown_boot",                                              \
	  "runs of the firmware may be of an earlier boot: call flextrace_drain_forget() "      \
	  "before the device starts, and read its counter behind each reset")                   \
	X(MARKER_CONFIG, "marker_config_differs",                                               \
	  "marker.c was compiled for another clock or area than the markers: compile both with " \
	  "one configuration")                                                                  \
	X(SHARED_AREA, "markers_drained_twice",                                                 \
	  "another drain took markers out of the same areas: they are not in this recording")   \
	X(CONTESTED_AREA, "two_marker_writers",                                                 \
	  "two writers in one marker area lose records uncounted: give each, also an interrupt " \
	  "handler, an area of its own")                                                        \
	X(OUTSIDE_LIFE, "outside_life",                                                         \
	  "device times lie behind the drain or record that has them, or before their process: " \
	  "see the definition of their clock, and which one host times are of")                 \
	X(ONE_SIDED, "one_sided_bounds",                                                        \
	  "record both submit and complete times: nothing bounds these clocks on one side")     \
	X(LARGE_FLOOR, "latency_floor_too_large",                                               \
	  "brackets are shorter than --latency-floor-ns: lower it")                             \
	X(OUTSIDE_TRIP, "outside_roundtrip",                                                    \
	  "the file's times of device work are near no AIU Roundtrip: likely a wrong wrap")     \
	X(WRONG_EPOCHS, "wrong_epochs",                                                         \
	  "the file's times of device work were whole wraps off their AIU Roundtrip: moved there") \
	X(ESTIMATES_OFF, "host_estimates_off",                                                  \
	  "the file's times of device work contradict its AIU Roundtrips: they were moved")     \
	X(PAIR_UNMATCHED, "flex_torch_unmatched",                                               \
	  "files of Flex and torch of a rank have no event in common: they are not of one run") \
	X(PAIR_UNCERTAIN, "flex_torch_uncertain",                                               \
	  "Flex's clock may be off torch's by a turn of a loop: see pairings in run.json")      \
	X(COMPILER_EMPTY, "compiler_info_empty",                                                \
	  "paths of --compiler-info have no table of ideal cycles")                             \
	X(COMPILER_DAMAGED, "compiler_info_damaged",                                            \
	  "tables of --compiler-info are cut, or have lines that say nothing: take whole logs") \
	X(COMPILER_RANKS, "compiler_info_ranks",                                                \
	  "give --compiler-info one path for all ranks, or one for each in their order")        \
	X(COMPILER_UNNAMED, "kernel_not_in_compiler_info",                                      \
	  "no table of --compiler-info has these kernels: they count as category other")        \
	X(COMPILER_UNCERTAIN, "compiler_match_uncertain",                                       \
	  "no table of --compiler-info fits these runs well, or several do: see compiler.csv")  \
	X(COMPILER_OVER, "pt_util_over_100",                                                    \
	  "kernels took less than their ideal time: likely the core frequency is wrong, give "  \
	  "--freq SOC:CORE")                                                                    \
	X(KERNEL_TIMES_MISSING, "kernel_times_missing",                                         \
	  "kernels of the autopilot that --kernels-from has no time of: they keep their own")   \
	X(KERNEL_TIMES_UNUSED, "kernel_times_unused",                                           \
	  "no run has a table of the autopilot: --kernels-from changes nothing")                \
	X(SAME_PROCESS, "same_process",                                                         \
	  "processes are in several inputs: each is shown as one, what two of them have once")  \
	X(OTHER_RECORDING, "other_recording",                                                   \
	  "processes of another recording, or of none, were recorded as well and are left out: " \
	  "--session=all keeps them")                                                           \
	X(NO_SUCH_SOURCE, "no_such_source",                                                     \
	  "no row is of what --keep or --drop says of the source: inputs of run.json has their "  \
	  "names and numbers")
/* clang-format on */

enum warning {
#define LEDGER_ENUMERATOR(id, name, remedy) WARNING_##id,
	FLEXTRACE_WARNINGS(LEDGER_ENUMERATOR)
#undef LEDGER_ENUMERATOR
		WARNING_COUNT
};

struct ledger {
	uint64_t read[RECORD_CLASS_COUNT];
	uint64_t rows[RECORD_CLASS_COUNT];
	uint64_t evidence
		[RECORD_CLASS_COUNT]; /* or definition, or an attribute of another record's row */
	uint64_t discarded[RECORD_CLASS_COUNT][LOSS_CAUSE_COUNT];
	uint64_t foreign_events; /* events that are no flextrace record; outside the balance */
	uint64_t warnings[WARNING_COUNT];
	struct losses losses; /* owned */
};

void ledger_init(struct ledger *ledger);
void ledger_release(struct ledger *ledger);

/* Counts `count` of something lost or doubtful at a place; does not touch the balance.
 * `host_ns`: INT64_MIN = not known. FLEXTRACE_E_MEMORY or 0. */
int ledger_lose(struct ledger *ledger, enum loss_cause cause, const struct loss_place *place,
                uint64_t count, int64_t host_ns);

/* Books a read record as discarded, in the balance and as a loss of 1. */
int ledger_discard(struct ledger *ledger, enum loss_cause cause, const struct loss_place *place,
                   const struct record *record);

/* Adds all books of `from` to `to`. */
int ledger_add(struct ledger *to, const struct ledger *from);

/* Returns 0 if the balance closes for every class, else the first class + 1 that does not. */
int ledger_check(const struct ledger *ledger);

uint64_t ledger_total(const struct ledger *ledger, enum loss_cause cause);

/* Whether a cause means a loss: not what is LEFT_OUT in the list. */
bool ledger_is_loss(enum loss_cause cause);

/* Sum of all losses: what --fail-on-loss looks at. */
uint64_t ledger_lost(const struct ledger *ledger);

const char *ledger_cause_id(enum loss_cause cause);
const char *ledger_warning_id(enum warning warning);
const char *ledger_warning_remedy(enum warning warning);
const char *record_class_name(enum record_class class);

#endif
