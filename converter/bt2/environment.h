/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h: what the environment of a trace tells of the files it was made from, so that a
 * copy of the trace (sink.ctf.fs of babeltrace2 2.0 gives each a uuid of its own) converts to the
 * same as the files themselves.
 *
 *   flextrace_uuid          who the trace is, wherever it is kept
 *   flextrace_lost_<cause>  events that were in the files and in no trace: the causes of losses.csv
 *   flextrace_lost_<cause>_of_device_<number>   those of a device
 */
#ifndef FLEXTRACE_BT2_ENVIRONMENT_H
#define FLEXTRACE_BT2_ENVIRONMENT_H

#include <babeltrace2/babeltrace.h>

#include "ledger.h"

/* FLEXTRACE_E_MEMORY or 0. */
int environment_set_uuid(bt_trace *trace, const uint8_t uuid[16]);
int environment_set_losses(bt_trace *trace, const struct losses *losses);

/* Stores what the trace says of itself, or else its uuid; zeros: it has none. */
void environment_get_uuid(const bt_trace *trace, uint8_t ret_uuid[16]);

/* Adds what the trace says. FLEXTRACE_E_MEMORY or 0. */
int environment_get_losses(const bt_trace *trace, struct losses *losses);

#endif
