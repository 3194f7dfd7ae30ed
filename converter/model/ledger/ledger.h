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

#include "model/model.h"

/* clang-format off */
/* X(enumerator, id in files, what happened and what to do about it) */
#define FLEXTRACE_WARNINGS(X)                                                                   \
	X(NO_DEVICE_CLOCK, "no_device_clock",                                                   \
	  "all device work of a process found no clock: nothing says when its stamps "          \
	  "were taken. Record submit and complete times, or FLEXTRACE_CLOCK_SYNC")              \
	X(NO_DEFINITIONS, "no_definitions",                                                     \
	  "processes did not tell their names and ranks and are shown as \"pid N\": "           \
	  "record the definitions channel, and run `lttng regenerate statedump` after"          \
	  " a rotation, before a snapshot, and once a live reader that comes late is "          \
	  "there")                                                                              \
	X(NO_CONTEXTS, "no_contexts",                                                           \
	  "events do not say which process and thread they are of, so that rows of "            \
	  "different threads share a line: add the contexts with `lttng add-context "           \
	  "-u -t vpid -t vtid` before you record")                                              \
	X(NO_EVENTS, "no_events",                                                               \
	  "the trace has definitions and no event: enable events with `lttng "                  \
	  "enable-event -u 'flextrace:*'`, and look whether FLEXTRACE=0 is set")                \
	X(LOST_EVENTS, "lost_events",                                                           \
	  "LTTng's buffers were full, losses.csv says when: use larger or more "                \
	  "sub-buffers (--subbuf-size, --num-subbuf), or record less")                          \
	X(BEGINS_LATE, "begins_late",                                                           \
	  "packets before the first ones are not here: overwritten before they were "           \
	  "read, cleared by `lttng clear`, or in another part of the recording. "               \
	  "Convert all parts together; use larger or more sub-buffers")                         \
	X(BEGAN_LATE, "began_late",                                                             \
	  "programs recorded nothing before LTTng's session daemon answered them: the"          \
	  " machine was busy, or the daemon stood still. emitted.csv names them; "              \
	  "start fewer at once")                                                                \
	X(UNRECORDED, "unrecorded",                                                             \
	  "records were not made, in children of programs with threads or in signal "           \
	  "handlers: set FLEXTRACE_FORK=register for the former, call "                         \
	  "flextrace_thread_init() in each thread for the latter")                              \
	X(LOST_MARKERS, "lost_markers",                                                         \
	  "marker rings in device memory were full, losses.csv says which: enlarge "            \
	  "them, drain them more often, or mark less")                                          \
	X(UNCALIBRATED, "uncalibrated_device",                                                  \
	  "nothing ties device counters to the host's clock: record submit and "                \
	  "complete times, or FLEXTRACE_CLOCK_SYNC")                                            \
	X(OUTLIERS, "outliers",                                                                 \
	  "stamps of device work contradict the others, and it is drawn at its host "           \
	  "times: look at the rows of events.csv with status outlier")                          \
	X(CROSSING, "crossing_scopes",                                                          \
	  "scopes overlap others of their thread without being inside them, and are "           \
	  "drawn on lines called lane N: use FLEXTRACE_ASYNC_BEGIN/END for such "               \
	  "scopes")                                                                             \
	X(OVERLAPS, "overlapping_rows",                                                         \
	  "rows overlap on lines of trace.json, as --overlap=warn asks, and viewers "           \
	  "may draw them wrongly: leave that option out")                                       \
	X(LARGE_JSON, "trace_json_too_large",                                                   \
	  "trace.json, or that of a rank, will have about so many MB, and a browser opens "     \
	  "no more than 512 (gzip does not help): convert with --formats=pftrace, with "        \
	  "--per-rank, or a part of it (--time-range, --ranks, --keep)")                        \
	X(LARGE_PFTRACE, "trace_pftrace_too_large",                                             \
	  "trace.pftrace will have about so many MB, of which Perfetto in a browser may "       \
	  "open no more than 800: serve it with Perfetto's trace_processor, which the page "    \
	  "asks, or convert with --per-rank, or a part of it (--time-range, --ranks, --keep)")  \
	X(UNALIGNED, "unaligned_hosts",                                                         \
	  "hosts have different clocks, and nothing that their ranks did together "             \
	  "ties them: their times are as far apart as their system clocks, and "                \
	  "assumed. Record collectives")                                                        \
	X(OTHER_CLOCK, "not_the_recorders_clock",                                               \
	  "programs ran in another time namespace than LTTng's daemon, or the system "          \
	  "clock was set: they were placed by the clock that they told. There is "              \
	  "nothing to do")                                                                      \
	X(HOST_WANDERS, "host_clock_wanders",                                                   \
	  "no steady host clock explains all collectives, and rows are assumed where "          \
	  "it jumped: keep NTP from stepping or slewing it; more collectives around a"          \
	  " jump make that shorter")                                                            \
	X(CLOCK_NOT_1GHZ, "clock_not_1ghz",                                                     \
	  "the trace's clock does not count ns, so that scopes have no begin and are "          \
	  "left out: record with LTTng's default clock")                                        \
	X(DUPLICATE_RANK, "duplicate_rank",                                                     \
	  "several processes say that they have the same rank: convert one run at a "           \
	  "time, or look at RANK and flextrace_set_rank(). Tables tell them apart by "          \
	  "pid")                                                                                \
	X(UNKNOWN_DIALECT, "unknown_dialect",                                                   \
	  "processes chose a dialect that there is not, and their kinds have neutral "          \
	  "names: look at flextrace_set_dialect(), or give --dialect")                          \
	X(UNKNOWN_KIND, "unknown_kind",                                                         \
	  "kinds and events that only a newer version of flextrace knows: rows of them are "    \
	  "called Unknown, and what has no row is counted as lost. Convert with the version "   \
	  "that recorded them")                                                                 \
	X(UNSORTED_ROWS, "rows_out_of_order",                                                   \
	  "rows of a device log stood behind later ones of their core, and were "               \
	  "sorted. There is nothing to do")                                                     \
	X(UNNAMED_MARKER, "unnamed_marker",                                                     \
	  "markers are shown by their numbers, as the firmware image was not seen: "            \
	  "give it with --names FILE, or call flextrace_device_names(), "                       \
	  "flextrace_marker_name()")                                                            \
	X(INFEASIBLE, "rate_wanders",                                                           \
	  "no device clock whose rate stays within rho explains all brackets, and "             \
	  "nothing of it is certified: raise --rho-ppm, or look for resets and "                \
	  "changes of its frequency")                                                           \
	X(OFF_NOMINAL, "rate_off_nominal",                                                      \
	  "device counters run more than 500 ppm off their definition or "                      \
	  "--nominal-mhz, clocks.csv says how far: times are right, correct the "               \
	  "definition")                                                                         \
	X(RATE_STEP, "rate_step",                                                               \
	  "the rate of a device counter changed within the run: times are right on "            \
	  "both sides, fix its frequency for runs that are to be compared")                     \
	X(RATE_UNPROVEN, "rate_unproven",                                                       \
	  "stamps fit a rate off the nominal one that whole wraps, or a few jumps of a "        \
	  "clock, explain as well, and nothing of them is certified: give the right "           \
	  "--nominal-mhz, or record several operations a second")                               \
	X(COUNTER_RESTARTS, "counter_restarts",                                                 \
	  "device counters begin anew with each job, and nothing of them is "                   \
	  "certified: let them run through, or record FLEXTRACE_CLOCK_SYNC several "            \
	  "times a second")                                                                     \
	X(COUNTER_GATED, "counter_gated",                                                       \
	  "device counters run only during jobs, and nothing of them is certified: "            \
	  "let them run through, or record FLEXTRACE_CLOCK_SYNC several times a "               \
	  "second")                                                                             \
	X(RATE_UNKNOWN, "rate_unknown",                                                         \
	  "there is too little evidence for a rate, and the nominal one is drawn: "             \
	  "give --nominal-mhz, or record FLEXTRACE_CLOCK_SYNC once a second")                   \
	X(RESETS, "counter_resets",                                                             \
	  "device counters began anew during the run, and a new segment begins there: "         \
	  "a device was reset or lost power, or the host's clock was set. Times are "           \
	  "right; find out what did it")                                                        \
	X(RESTARTED, "device_restarted",                                                        \
	  "firmware set a marker area up anew, and what was not drained of it is "              \
	  "lost: call flextrace_drain() with FLEXTRACE_DRAIN_LAST before a reset")              \
	X(UNKNOWN_BOOT, "markers_of_unknown_boot",                                              \
	  "runs of the firmware may be of an earlier boot, and are assumed: call "              \
	  "flextrace_drain_forget() before the device starts, and read its counter "            \
	  "behind each reset")                                                                  \
	X(MARKER_CONFIG, "marker_config_differs",                                               \
	  "marker.c was compiled for another clock or area than the markers: compile "          \
	  "both with the same FLEXTRACE_CONFIG_HEADER")                                         \
	X(SHARED_AREA, "markers_drained_twice",                                                 \
	  "another drain took markers out of the same areas, and they are not in this"          \
	  " recording: drain each area in one place")                                           \
	X(CONTESTED_AREA, "two_marker_writers",                                                 \
	  "two writers in one marker area lose records uncounted: give each, also an "          \
	  "interrupt handler, an area of its own")                                              \
	X(ARGS_CUT, "args_cut",                                                                 \
	  "arguments had no room in the 244 bytes of a record, or are damaged: their values "   \
	  "end in \xe2\x80\xa6, and left_out counts those left out. Give fewer or shorter "    \
	  "arguments")                                                                          \
	X(OUTSIDE_LIFE, "outside_life",                                                         \
	  "device times lie behind the drain or record that has them, or before their"          \
	  " process, and are not certified: look at the definition of their clock, "            \
	  "and at the clock that host times are of")                                            \
	X(ONE_SIDED, "one_sided_bounds",                                                        \
	  "nothing bounds device clocks on one side, and nothing of them is "                   \
	  "certified: record both submit and complete times")                                   \
	X(LARGE_FLOOR, "latency_floor_too_large",                                               \
	  "brackets are shorter than --latency-floor-ns, which cannot be: lower it")            \
	X(OUTSIDE_TRIP, "outside_roundtrip",                                                    \
	  "the file's times of device work are near no AIU Roundtrip of its rank, or "          \
	  "fit several: likely a wrong number of wraps. Look at the rows of "                   \
	  "events.csv with status outlier")                                                     \
	X(WRONG_EPOCHS, "wrong_epochs",                                                         \
	  "the file's times of device work were whole wraps off their AIU Roundtrip, "          \
	  "and were moved there: moved_ns of events.csv says how far. There is "                \
	  "nothing to do")                                                                      \
	X(ESTIMATES_OFF, "host_estimates_off",                                                  \
	  "the file's times of device work contradict its AIU Roundtrips, and were "            \
	  "moved into them. Do not compare with times of the file")                             \
	X(PAIR_UNMATCHED, "flex_torch_unmatched",                                               \
	  "files of Flex and torch of a rank have no event in common, and stand "               \
	  "apart: give files of one run")                                                       \
	X(PAIR_UNCERTAIN, "flex_torch_uncertain",                                               \
	  "Flex's clock may be off torch's by a turn of a loop: look at pairings in "           \
	  "run.json, and record from the first iteration on with both tools")                   \
	X(COMPILER_EMPTY, "compiler_info_empty",                                                \
	  "paths of --compiler-info have no table of ideal cycles: give the log of "            \
	  "the whole compilation, with its performance summary")                                \
	X(COMPILER_DAMAGED, "compiler_info_damaged",                                            \
	  "tables of --compiler-info are cut, or have lines that cannot be read: give"          \
	  " whole logs")                                                                        \
	X(COMPILER_RANKS, "compiler_info_ranks",                                                \
	  "--compiler-info has neither one path nor one for each rank: give one for "           \
	  "all ranks, or one for each in their order")                                          \
	X(COMPILER_UNNAMED, "kernel_not_in_compiler_info",                                      \
	  "no table of --compiler-info has these kernels, and they count as category "          \
	  "other: give the log of the graph that ran")                                          \
	X(COMPILER_UNCERTAIN, "compiler_match_uncertain",                                       \
	  "no table of --compiler-info fits these runs well, or several do: look at "           \
	  "compiler.csv, and leave out logs of graphs that did not run")                        \
	X(COMPILER_OVER, "pt_util_over_100",                                                    \
	  "kernels took less than their ideal time: likely the core frequency is "              \
	  "wrong, give --freq SOC:CORE")                                                        \
	X(KERNEL_TIMES_MISSING, "kernel_times_missing",                                         \
	  "--kernels-from has no time of some kernels of the autopilot, which keep "            \
	  "the measured one: compare the names in both kernels.csv")                            \
	X(KERNEL_TIMES_UNUSED, "kernel_times_unused",                                           \
	  "no run has a table of the autopilot, so that --kernels-from changes "                \
	  "nothing: leave it out, or give the log of this run")                                 \
	X(SAME_PROCESS, "same_process",                                                         \
	  "processes are in several inputs: each is shown as one, and what two inputs"          \
	  " have is shown once. There is nothing to do")                                        \
	X(OTHER_RECORDING, "other_recording",                                                   \
	  "processes of another recording, or of none, were recorded as well and are "          \
	  "left out: --session=all keeps them")                                                 \
	X(NO_SUCH_SOURCE, "no_such_source",                                                     \
	  "no row is of the source that --keep or --drop asks for: look for its name "          \
	  "and number in inputs of run.json")                                                   \
	X(TABLES_NOT_READ, "tables_not_read",                                                   \
	  "reports of nsys have tables of events that are not read: they are named where they " \
	  "were met")
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
	uint64_t evidence[RECORD_CLASS_COUNT]; /* or definition, or attribute of another's row */
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
