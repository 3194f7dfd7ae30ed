/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tt_report.h: the ops reports of tt-metal (ops_perf_results*.csv, cpp_device_perf_report.csv).
 *
 * A line is an operation: its host call becomes a scope with what the report tells of it, its
 * device work a control block that lasts as long as its kernel. Devices of which a log was read
 * have that work already. Nobody tells how host and device time belong together: a device is put
 * as early as none of its operations begins before its host call.
 */
#ifndef FLEXTRACE_IMPORT_TT_REPORT_H
#define FLEXTRACE_IMPORT_TT_REPORT_H

#include "tt_impl.h"

/* Whether a file begins with the headings of a report. */
bool tt_is_report(const struct probe *probe);

/* The first time, behind the logs and before tt_settle(): learns devices, rates and shifts. */
int tt_report_survey(struct tt *tt, const char *path, struct flextrace_error *error);

/* The second time: events go to the spool of `tt`. */
int tt_report_read(struct tt *tt, const char *path, struct flextrace_error *error);

/* -- tt_ties.c ------------------------------------------------------------------------------- */

/* Whether an operation of this name is one of all devices. */
bool tt_is_collective(const char *name);

/* Notes when a device was in its next one, by its own cycles. */
int tt_note_meeting(struct tt *tt, uint32_t device, int64_t begin_ns, int64_t end_ns);

/* Puts devices that met on one time, and says how well; before tt_settle(). */
int tt_tie_devices(struct tt *tt);

#endif
