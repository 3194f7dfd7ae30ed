/* SPDX-License-Identifier: Apache-2.0 */
/* What threads did: calls of runtimes and of the system, and the ranges of NVTX. */
#include "nsys_impl.h"

/* Behind all numbers that tie calls to what they launch, which have 32 bits. */
#define FIRST_ASYNC (UINT64_C(1) << 40)

/* An interval of a thread; only its begin where the recording ended before it. */
static int write_scope(struct nsys *nsys, const struct nsys_row *row)
{
	struct event event = nsys_event(nsys, row, RECORD_BEGIN);

	if (!row->has_end) {
		event.payload.edge.kind = nsys->table->kind;
		event.payload.edge.name = row->name;
		return nsys_write(nsys, &event);
	}
	event.class = RECORD_SCOPE_ARGS;
	event.payload.scope_args.correlation = row->correlation;
	FLEXTRACE_TRY(nsys_args(nsys, row, &event.payload.scope_args.args));
	FLEXTRACE_TRY(import_write(&nsys->import, nsys->stream, &event));
	event.class = RECORD_SCOPE;
	event.payload.scope = (struct flextrace_scope){
		.begin_ns = row->begin_ns,
		.kind = nsys->table->kind,
		.name = row->name,
		.correlation = row->correlation,
	};
	return nsys_write(nsys, &event);
}

/* Writes a part in a collective, or an end of a message. */
static int write_meeting(struct nsys *nsys, const struct nsys_row *row)
{
	struct event event = nsys_event(nsys, row, RECORD_COLLECTIVE);
	struct flextrace_collective *part = &event.payload.collective;
	int64_t seq = 0, bytes = 0;

	nsys_integer(row->cells, NSYS_SEQ, &seq);
	nsys_integer(row->cells, NSYS_BYTES, &bytes);
	part->group = row->group;
	part->seq = (uint64_t)seq;
	part->op = row->name;
	part->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	part->peers = nsys_text(row->cells, NSYS_PEERS);
	part->phase = FLEXTRACE_PHASE_ENTER;
	event.clock_ns = row->begin_ns;
	FLEXTRACE_TRY(nsys_write(nsys, &event));
	part->phase = FLEXTRACE_PHASE_EXIT;
	event.clock_ns = row->end_ns;
	return nsys_write(nsys, &event);
}

int nsys_take_call(struct nsys *nsys, const struct nsys_row *row)
{
	return row->group ? write_meeting(nsys, row) : write_scope(nsys, row);
}

/* A range that another thread may end, and that need not nest. */
static int take_free_range(struct nsys *nsys, const struct nsys_row *row)
{
	struct event event = nsys_event(nsys, row, RECORD_ASYNC_BEGIN);

	event.clock_ns = row->begin_ns;
	event.payload.edge.name = row->name;
	event.payload.edge.correlation = FIRST_ASYNC + nsys->n_asyncs++;
	FLEXTRACE_TRY(nsys_write(nsys, &event));
	if (!row->has_end)
		return FLEXTRACE_OK;
	event.class = RECORD_ASYNC_END;
	event.clock_ns = row->end_ns;
	return nsys_write(nsys, &event);
}

static int take_mark(struct nsys *nsys, const struct nsys_row *row)
{
	struct event event = nsys_event(nsys, row, RECORD_INSTANT);

	event.clock_ns = row->begin_ns;
	event.payload.instant.name = row->name;
	return nsys_write(nsys, &event);
}

/* By what nsys numbers its events. */
int nsys_take_nvtx(struct nsys *nsys, const struct nsys_row *row)
{
	int64_t type = -1;

	nsys_integer(row->cells, NSYS_TYPE, &type);
	switch (type) {
	case 34:
		return take_mark(nsys, row);
	case 35: /* begin of a range, whole, whole and imported */
	case 59:
	case 70:
		return nsys_take_call(nsys, row);
	case 37: /* the same of a range that need not nest */
	case 60:
	case 71:
		return take_free_range(nsys, row);
	default:
		return nsys_reject(nsys, row->cells, LOSS_UNKNOWN_EVENT, "its type is not known");
	}
}
