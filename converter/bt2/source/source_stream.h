/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_stream.h: a stream of the importer as objects of babeltrace2: a trace with one stream,
 * and the event classes of model/schema.h.
 */
#ifndef FLEXTRACE_BT2_SOURCE_STREAM_H
#define FLEXTRACE_BT2_SOURCE_STREAM_H

#include <babeltrace2/babeltrace.h>

#include "formats/kit/import.h"
#include "model/model.h"

struct source_stream {
	bt_stream *stream; /* owned reference */
	bt_event_class
		*classes[RECORD_CLASS_COUNT]; /* weak, of the stream's class; NULL: not yet */
};

struct source_origin { /* all weak */
	const struct import_stream *stream;
	const struct ledger *losses; /* that this trace tells of; NULL: another one does */
};

/* FLEXTRACE_E_MEMORY or 0. */
int source_stream_init(struct source_stream *stream, bt_self_component *self,
                       const struct source_origin *origin);
void source_stream_release(struct source_stream *stream);

/* Makes the message of an event; NULL: no memory. */
bt_message *source_stream_message(struct source_stream *stream, bt_self_message_iterator *self,
                                  const struct event *event);

#endif
