/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "flex_impl.h"

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
static int keep_texts(struct flex *flex, struct flex_open *open)
{
	struct flex_call *call = &open->call;
	struct trace_text *texts[] = {&call->full_name, &call->args, &call->group, &call->type};
	uint32_t n_before = open->n_allocated;
	uint64_t n_bytes = 0;
	char *at;

	for (int i = 0; i < 4; i++)
		n_bytes += texts[i]->length + 1;
	FLEXTRACE_TRY(ARRAY_RESERVE(open->bytes, open->n_allocated, n_bytes));
	flex->n_open_bytes += open->n_allocated - n_before;
	at = open->bytes;
	for (int i = 0; i < 4; i++)
		copy_text(texts[i], &at);
	call->name.bytes = call->full_name.bytes;
	return FLEXTRACE_OK;
}

void flex_opens_release(struct flex *flex)
{
	for (uint32_t i = 0; i < flex->n_opens; i++)
		free(flex->opens[i].bytes);
	free(flex->opens);
	flex->opens = NULL;
	flex->n_opens = flex->n_opens_allocated = flex->free_open = 0;
	flex->n_open_bytes = 0;
}

static int take_place(struct flex *flex, uint32_t *ret_place)
{
	*ret_place = flex->free_open;
	if (*ret_place) {
		flex->free_open = flex->opens[*ret_place - 1].below;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(ARRAY_RESERVE(flex->opens, flex->n_opens_allocated, flex->n_opens + 1));
	*ret_place = ++flex->n_opens;
	flex->n_open_bytes += sizeof(*flex->opens);
	return FLEXTRACE_OK;
}

int flex_open(struct flex *flex, uint32_t thread, const struct flex_call *call)
{
	struct flex_open *open;
	uint32_t place;

	if (flex->n_open_bytes > MAX_OPEN_BYTES) {
		FLEXTRACE_TRY(flex_leave_open(flex));
		flex_opens_release(flex);
	}
	FLEXTRACE_TRY(take_place(flex, &place));
	open = &flex->opens[place - 1];
	open->call = *call;
	open->below = flex->threads[thread].open;
	flex->threads[thread].open = place;
	return keep_texts(flex, open);
}

bool flex_close(struct flex *flex, uint32_t thread, const struct trace_text *name,
                struct flex_call *ret_call)
{
	uint32_t *link = &flex->threads[thread].open;

	for (int i = 0; i < MAX_LOOK && *link; i++) {
		struct flex_open *open = &flex->opens[*link - 1];
		const struct trace_text *of = &open->call.full_name;
		uint32_t place = *link;

		if (name && name->length &&
		    (of->length != name->length || memcmp(of->bytes, name->bytes, of->length))) {
			link = &open->below;
			continue;
		}
		*ret_call = open->call;
		*link = open->below;
		open->below = flex->free_open;
		flex->free_open = place;
		return true;
	}
	return false;
}
