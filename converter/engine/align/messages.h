/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h: messages between the devices of ranks -> evidence for the alignment of their hosts.
 */
#ifndef FLEXTRACE_ALIGN_MESSAGES_H
#define FLEXTRACE_ALIGN_MESSAGES_H

#include "engine/calibrate/calibrate.h"
#include "model/identity/identity.h"
#include "base/text/strings.h"

struct messages_input { /* weak, all */
	const struct identity *identity;
	const struct clocks *clocks;
	struct table *ops; /* struct tick_op; read only */
	struct string_cache *strings;
	bool with_assumed; /* also from stamps that are placed by an assumption */
};

/* Appends to `points` (struct sync_point) what the messages say; nothing where there is one clock
 * only. Work: one look at each control block, one reading of each name. FLEXTRACE_E_MEMORY or 0. */
int messages_find(const struct messages_input *input, struct table *points);

#endif
