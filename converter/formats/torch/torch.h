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

#include "formats/flex/flex_impl.h"

int torch_begin_file(struct flex *flex);
int torch_take_member(struct flex *flex, const struct trace_text *key,
                      const struct trace_value *value);
/* Whether an event is an end of an arrow from an operation to the one of its gradient. */
bool torch_is_gradient(const struct trace_event *event);

int torch_push(struct flex *flex, const struct trace_event *event, const char **ret_fault);
int torch_end_file(struct flex *flex);

/* Writes the definitions of a rank that is not in the records: its devices. */
int torch_define(struct flex *flex, uint32_t rank);
void torch_free(struct torch *torch);

/* -- for the files of the importer ------------------------------------------------------------- */

int torch_find_rank(struct flex *flex, uint32_t *ret_rank);

/* As flex_intern_id() of an event's tid; rows of others than the process have no numbers. */
int torch_intern_thread(struct flex *flex, const struct trace_event *event, uint32_t *ret_text,
                        uint64_t *ret_number);

/* Fills in what kind of work a call is, and of which device. */
void torch_classify(const struct trace_event *event, struct flex_call *call);

/* Writes device work, or a window; false in `ret_is_taken`: it is neither. */
int torch_take_call(struct flex *flex, const struct flex_thread *thread,
                    const struct flex_call *call, bool *ret_is_taken);

#endif
