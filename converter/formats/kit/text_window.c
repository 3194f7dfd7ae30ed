// SPDX-License-Identifier: Apache-2.0
#include "text_window.h"

#include <stdlib.h>
#include <string.h>

int text_window_init(struct text_window *window, const struct trace_source *source, size_t n_bytes)
{
	*window = (struct text_window){.source = *source, .n_allocated = n_bytes};
	window->bytes = malloc(n_bytes + 1);
	return window->bytes ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

void text_window_release(struct text_window *window)
{
	free(window->bytes);
}

static int make_room(struct text_window *window, struct flextrace_error *error)
{
	size_t larger = window->n_allocated * 2;
	char *grown;

	memmove(window->bytes, window->bytes + window->begin, window->end - window->begin);
	window->first_bytes += window->begin;
	window->end -= window->begin;
	window->begin = 0;
	if (window->end < window->n_allocated)
		return WINDOW_GREW;
	if (window->n_allocated >= TEXT_WINDOW_LIMIT_BYTES)
		return WINDOW_FULL;
	larger = larger < TEXT_WINDOW_LIMIT_BYTES ? larger : TEXT_WINDOW_LIMIT_BYTES;
	grown = realloc(window->bytes, larger + 1);
	if (!grown)
		return error_set(error, FLEXTRACE_E_MEMORY, "No memory for a text: bytes=%zu",
		                 larger);
	window->bytes = grown;
	window->n_allocated = larger;
	return WINDOW_GREW;
}

int text_window_fill(struct text_window *window, struct flextrace_error *error)
{
	int state = window->is_at_end ? WINDOW_ENDED : make_room(window, error);
	size_t before = window->end;

	if (state != WINDOW_GREW)
		return state;
	while (window->end < window->n_allocated && !window->is_at_end) {
		int64_t n = window->source.read(window->source.context, window->bytes + window->end,
		                                window->n_allocated - window->end, error);

		window->is_damaged = n == FLEXTRACE_E_INPUT;
		if (n < 0 && !window->is_damaged)
			return (int)n;
		window->is_at_end = n <= 0;
		window->end += n > 0 ? (size_t)n : 0;
	}
	return window->end > before ? WINDOW_GREW : WINDOW_ENDED;
}
