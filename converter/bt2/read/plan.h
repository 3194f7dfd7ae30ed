/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h: which worker reads which stream.
 *
 * The streams of all traces are dealt out by the size of their files, largest first, each to the
 * worker with the least so far. Cut files are replaced by a view of their trace before anything is
 * opened.
 */
#ifndef FLEXTRACE_BT2_PLAN_H
#define FLEXTRACE_BT2_PLAN_H

#include "discover.h"
#include "reader.h"
#include "formats/ctf/ctf_overwritten.h"

struct plan_port {
	uint32_t group;
	uint64_t port; /* of the group's source */
	uint64_t n_bytes;
	uint32_t worker;
	/* Owned: why its end was not reached, else NULL; its worker writes it. Where it stands
	 * before, the stream is not read. */
	char *failure;
};

struct plan {
	const struct plugins *plugins; /* weak: those of who made it */
	struct trace_groups groups;
	struct plan_port *ports; /* owned, sorted by (group, port) */
	uint32_t n_ports;
	uint32_t n_lost;          /* stream files that are cut, or of a trace that does not open */
	uint32_t n_empty;         /* traces without a stream */
	uint64_t n_torn;          /* packets: torn.h */
	struct ctf_fronts fronts; /* owned */
};

/* Makes a plan for the traces of `options`; warns of cut files, and of traces that cannot be opened
 * beside others that can. FLEXTRACE_E_INPUT: nothing to read. */
int plan_init(struct plan *plan, const struct plugins *plugins,
              const struct reader_options *options, struct flextrace_error *error);
void plan_release(struct plan *plan);

/* Deals the ports out. */
int plan_share(struct plan *plan, uint32_t n_workers);

#endif
