/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.h: the events of the torch profiler's JSON (Kineto) -> records, as part of the importer.
 *
 * - A file is one process, whatever pids stand in it: the numbered pid of its host events is the
 *   process, everything else (devices, "Spans") are rows of it. Its rank is distributedInfo.rank;
 *   files of one rank and pid are one process.
 * - Device work is one device_op each, of the device and stream that the event names, with a
 *   host_estimate of its time. With stamps (cycles_ts) it is a control block like any other;
 *   without, its rows are `given`.
 * - Host work has the kind of its category and keeps its arguments as JSON, the category with them.
 * - What is not known before the end of a file (its rank, names) is settled by torch_end_file().
 */
#ifndef FLEXTRACE_IMPORT_TORCH_H
#define FLEXTRACE_IMPORT_TORCH_H

#include "formats/chrome-json/event_reader.h"

struct torch; /* opaque: what its reader has of its own */

/* `ranks`: of files that tell none, see import_options; weak. NULL: no memory. */
struct torch *torch_new(const char *ranks);
void torch_free(struct torch *torch); /* NULL is allowed */

/* What the files count from, in ns since the Unix epoch. */
int64_t torch_epoch_ns(const struct torch *torch);

/* Says that a rank has a device that has stamps. */
int torch_add_device(struct torch *torch, uint32_t rank, uint32_t device);

extern const struct event_reader torch_events;

#endif
