/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_window.h: the part of a text that is looked at: a buffer that moves over it and grows to the
 * longest thing that must be seen whole.
 */
#ifndef FLEXTRACE_IMPORT_TEXT_WINDOW_H
#define FLEXTRACE_IMPORT_TEXT_WINDOW_H

#include "formats/kit/trace_file.h"

#define TEXT_WINDOW_LIMIT_BYTES ((size_t)16 << 20)

struct text_window {
	struct trace_source source;
	char *bytes;       /* owned; one byte more than `n_allocated` */
	size_t begin, end; /* what was read and is not used up yet */
	size_t n_allocated;
	uint64_t first_bytes;       /* offset of bytes[0] in the text */
	bool is_at_end, is_damaged; /* the source has no more; because it is damaged */
};

enum window_state { WINDOW_ENDED, WINDOW_GREW, WINDOW_FULL };

int text_window_init(struct text_window *window, const struct trace_source *source, size_t n_bytes);
void text_window_release(struct text_window *window);

/* Reads on behind `end`; what is before `begin` goes, and pointers move. An enum window_state, or
 * negative. FULL: there would be more than TEXT_WINDOW_LIMIT_BYTES. */
int text_window_fill(struct text_window *window, struct flextrace_error *error);

static inline uint64_t text_window_offset(const struct text_window *window)
{
	return window->first_bytes + window->begin;
}

#endif
