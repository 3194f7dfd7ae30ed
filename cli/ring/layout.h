/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h: how long records are, from what LTTng says of its events (metadata).
 *
 * Only what LTTng-UST 2.13 writes is understood, on machines where it aligns nothing. An event with
 * anything else in it is not known.
 */
#ifndef FLEXTRACE_LAYOUT_H
#define FLEXTRACE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct layout_event;
struct layout_part;

struct layout {
	struct layout_event *events; /* owned */
	struct layout_part *parts;   /* owned */
	uint32_t n_events, n_parts;
};

/* Reads the text; false: there is no memory. */
bool layout_read(const char *text, struct layout *ret_layout);

/* The same of a file. */
bool layout_load(const char *path, struct layout *ret_layout);
void layout_release(struct layout *layout);

/* Of a payload. */
struct layout_size {
	uint64_t n;
	uint32_t n_last; /* at its end, which are written when all else is; 0: none */
	bool is_text;    /* these are the end of a string */
	uint64_t n_told; /* up to here bytes say how long it is; 0: none does */
	uint64_t n_tail; /* behind the last part whose length they say */
};

/* Measures the payload at `at`, of `n_bytes` at most. False: it does not end there, or the event is
 * not known. */
bool layout_measure(const struct layout *layout, uint32_t stream_id, uint32_t event_id,
                    const unsigned char *at, uint64_t n_bytes, struct layout_size *ret_size);

#endif
