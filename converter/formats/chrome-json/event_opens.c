/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event_reader.h"

#define MAX_LOOK       64                  /* open begins that an end is looked for among */
#define MAX_OPEN_BYTES ((uint64_t)4 << 20) /* of all that wait */

static void copy_text(struct trace_text *text, char **at)
{
	if (text->length)
		memcpy(*at, text->bytes, text->length);
	text->bytes = *at;
	*at += text->length;
	*(*at)++ = '\0';
}

/* Lets an open begin own its texts. */
static int keep_texts(struct event_import *events, struct event_open *open)
{
	struct event_call *call = &open->call;
	struct trace_text *texts[] = {&call->full_name, &call->args, &call->group, &call->type};
	uint32_t n_before = open->n_allocated;
	uint64_t n_bytes = 0;
	char *at;

	for (int i = 0; i < 4; i++)
		n_bytes += texts[i]->length + 1;
	FLEXTRACE_TRY(ARRAY_RESERVE(open->bytes, open->n_allocated, n_bytes));
	events->opens.n_bytes += open->n_allocated - n_before;
	at = open->bytes;
	for (int i = 0; i < 4; i++)
		copy_text(texts[i], &at);
	call->name.bytes = call->full_name.bytes;
	return FLEXTRACE_OK;
}

void event_opens_release(struct event_import *events)
{
	for (uint32_t i = 0; i < events->opens.n; i++)
		free(events->opens.all[i].bytes);
	free(events->opens.all);
	events->opens = (struct event_opens){.all = NULL};
}

static int take_place(struct event_import *events, uint32_t *ret_place)
{
	*ret_place = events->opens.free;
	if (*ret_place) {
		events->opens.free = events->opens.all[*ret_place - 1].below;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(
		ARRAY_PUSH(events->opens.all, events->opens.n, (struct event_open){.below = 0}));
	*ret_place = events->opens.n;
	events->opens.n_bytes += sizeof(*events->opens.all);
	return FLEXTRACE_OK;
}

int event_open(struct event_import *events, uint32_t thread, const struct event_call *call)
{
	struct event_open *open;
	uint32_t place;

	if (events->opens.n_bytes > MAX_OPEN_BYTES) {
		FLEXTRACE_TRY(event_leave_open(events));
		event_opens_release(events);
	}
	FLEXTRACE_TRY(take_place(events, &place));
	open = &events->opens.all[place - 1];
	open->call = *call;
	open->below = events->threads[thread].open;
	events->threads[thread].open = place;
	return keep_texts(events, open);
}

bool event_close(struct event_import *events, uint32_t thread, const struct trace_text *name,
                 struct event_call *ret_call)
{
	uint32_t *link = &events->threads[thread].open;

	for (int i = 0; i < MAX_LOOK && *link; i++) {
		struct event_open *open = &events->opens.all[*link - 1];
		const struct trace_text *of = &open->call.full_name;
		uint32_t place = *link;

		if (name && name->length &&
		    (of->length != name->length || memcmp(of->bytes, name->bytes, of->length))) {
			link = &open->below;
			continue;
		}
		*ret_call = open->call;
		*link = open->below;
		open->below = events->opens.free;
		events->opens.free = place;
		return true;
	}
	return false;
}
