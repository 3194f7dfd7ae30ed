/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h: what the environment of a trace tells of the files it was made from, so that a
 * copy of the trace (sink.ctf.fs of babeltrace2 2.0 gives each a uuid of its own) converts to the
 * same as the files themselves.
 *
 *   flextrace_uuid          who the trace is, wherever it is kept
 *   flextrace_lost_<cause>  events that were in the files and in no trace: the causes of losses.csv
 *   flextrace_lost_<cause>_of_device_<number>   those of a device
 *   flextrace_input_<number>   the files, as struct stream has them, in the order of their numbers;
 *                              bytes that a text of metadata cannot have as %XX
 *
 * Where in them an event stood, its common context tells: see ORIGINS_NAME; and how sure it is.
 */
#ifndef FLEXTRACE_BT2_ENVIRONMENT_H
#define FLEXTRACE_BT2_ENVIRONMENT_H

#include <babeltrace2/babeltrace.h>

#include "model/ledger/ledger.h"
#include "model/model.h"
#include "base/text/strings.h"
#include "base/text/text_list.h"

/* FLEXTRACE_E_MEMORY or 0. */
int environment_set_uuid(bt_trace *trace, const uint8_t uuid[16]);
int environment_set_losses(bt_trace *trace, const struct losses *losses);

int environment_set_inputs(bt_trace *trace, const struct text_list *files);

/* The name of a sequence: of each origin the number of its file above 32 bits of the record's. */
#define ORIGINS_NAME "flextrace_origins"

/* The name of a number: how sure the time of an event is, as struct event has it. */
#define STATUS_NAME "flextrace_status"

/* Stores what the trace says of itself, or else its uuid; zeros: it has none. */
void environment_get_uuid(const bt_trace *trace, uint8_t ret_uuid[16]);

/* Adds what the trace says. FLEXTRACE_E_MEMORY or 0. */
int environment_get_losses(const bt_trace *trace, struct losses *losses);

/* Adds the files that the trace was made of to a stream, where it has none. FLEXTRACE_E_MEMORY or
 * 0. */
int environment_get_inputs(const bt_trace *trace, struct string_cache *strings,
                           struct stream *stream);

#endif
