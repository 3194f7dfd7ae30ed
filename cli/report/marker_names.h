/* SPDX-License-Identifier: Apache-2.0 */
/* marker_names.h: what markers are called, from firmware images. */
#ifndef FLEXTRACE_MARKER_NAMES_H
#define FLEXTRACE_MARKER_NAMES_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

struct marker_name {
	char *name, *file; /* owned, one block */
	uint32_t line;
};

struct marker_names {              /* zeroed: none */
	struct marker_name *names; /* owned */
	uint32_t n, n_allocated;
	struct map by_id;
	int code; /* of adding, while an image is read */
};

/* Adds the names of an image; of one id the last holds. FLEXTRACE_E_INPUT: it has none. */
int marker_names_add(struct marker_names *names, const char *path, struct flextrace_error *error);

/* NULL: nobody named it. */
const struct marker_name *marker_names_find(const struct marker_names *names, uint32_t id);
void marker_names_release(struct marker_names *names);

#endif
