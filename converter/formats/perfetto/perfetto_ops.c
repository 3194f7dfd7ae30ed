/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device work of a file of ours. The rows of one control block have its queue and job; what is of
 * all of it stands on its main one, whose stamps say which other rows there are. So they are
 * gathered until all are there.
 */
#include <string.h>

#include "base/array.h"
#include "base/text/digits.h"
#include "formats/kit/row_blocks.h"
#include "model/words/kinds.h"
#include "perfetto_impl.h"

#define MAX_OPS      4096u /* that wait */
#define PART_DIVIDER " \xc2\xb7 "

/* -- writing ---------------------------------------------------------------------------------- */

static bool has_stamps(const struct perfetto_op *op)
{
	uint64_t stamps = 0;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		stamps |= op->ticks[i];
	return stamps;
}

/* Nothing is said of it that a record of a program does not say. */
static bool is_given(const struct perfetto_op *op)
{
	return !has_stamps(op) && op->n_rows == 1 && op->rows[0].status == TIME_GIVEN &&
	       op->rows[0].kind < ROW_FIRMWARE;
}

/* Of a control block of one row. */
static uint32_t kind_of(const struct perfetto_op *op)
{
	return op->rows[0].kind == ROW_UNKNOWN ? op->of.op_kind
	                                       : block_of_row((uint8_t)op->rows[0].kind)->kind;
}

/* Jobs of the file may come again: each has another number here, by which both records meet. */
static int write_given(struct perfetto *perfetto, const struct perfetto_op *op, struct event *event)
{
	const struct import_placed placed = {op->rows[0].begin_ns, op->rows[0].end_ns,
	                                     block_of_row((uint8_t)op->rows[0].kind)->part,
	                                     PERFETTO_TOOL};

	event->class = RECORD_DEVICE_OP;
	event->payload.device_op = (struct flextrace_device_op){
		.device = op->of.device,
		.queue = op->of.queue,
		.job = op->of.job ? op->of.job : ++perfetto->file.n_jobs,
		.correlation = op->of.correlation,
		.kind = kind_of(op),
		.name = op->of.name,
		.power = op->of.power,
		.bytes = op->of.bytes,
		.peer = op->of.peer,
		.group = op->of.group,
		.type = op->of.type,
	};
	return import_write_placed(&perfetto->import, op->stream, event, &placed);
}

static int64_t end_of(const struct perfetto_op *op)
{
	int64_t end_ns = op->rows[0].end_ns;

	for (uint32_t i = 1; i < op->n_rows; i++)
		end_ns = op->rows[i].end_ns > end_ns ? op->rows[i].end_ns : end_ns;
	return end_ns;
}

static int write_op(struct perfetto *perfetto, const struct perfetto_op *op)
{
	struct event event = {
		.class = RECORD_RESTORED,
		.clock_ns = (uint64_t)end_of(op),
		.vpid = op->vpid,
		.vtid = -1,
		.n_origins = 1,
		.origins[0] = op->origin,
	};
	struct flextrace_restored *row = &event.payload.restored;

	if (is_given(op))
		return write_given(perfetto, op, &event);
	*row = op->of;
	memcpy(&row->ticks1, op->ticks, sizeof(op->ticks));
	row->op_kind = op->n_rows == 1 && op->rows[0].kind < ROW_FIRMWARE ? kind_of(op)
	                                                                  : FLEXTRACE_DEVICE_KERNEL;
	for (uint32_t i = 0; i < op->n_rows; i++) {
		row->is_part = i > 0;
		row->kind = op->rows[i].kind;
		row->begin_ns = (uint64_t)op->rows[i].begin_ns;
		row->end_ns = (uint64_t)op->rows[i].end_ns;
		row->err_ns = op->rows[i].err_ns;
		event.status = op->rows[i].status;
		FLEXTRACE_TRY(import_write(&perfetto->import, op->stream, &event));
	}
	return FLEXTRACE_OK;
}

/* -- gathering -------------------------------------------------------------------------------- */

static int flush(struct perfetto *perfetto, uint32_t place)
{
	struct perfetto_op *op = &perfetto->file.ops[place];
	int code = op->n_rows ? write_op(perfetto, op) : FLEXTRACE_OK;

	op->n_rows = 0;
	return code;
}

int perfetto_end_ops(struct perfetto *perfetto)
{
	for (uint32_t i = 0; i < perfetto->file.n_ops; i++)
		FLEXTRACE_TRY(flush(perfetto, i));
	perfetto->file.n_ops = 0;
	map_release(&perfetto->file.op_index);
	return FLEXTRACE_OK;
}

static bool has_row(const struct perfetto_op *op, uint32_t kind)
{
	for (uint32_t i = 0; i < op->n_rows; i++) {
		if (op->rows[i].kind == kind)
			return true;
	}
	return false;
}

/* Whether all rows are there that the stamps make. */
static bool is_whole(const struct perfetto_op *op)
{
	const uint64_t *ticks = op->ticks;

	if (!op->is_main)
		return false;
	for (uint32_t kind = ROW_DMA_IN; kind <= ROW_DMA_OUT; kind++) {
		bool is_there = ticks[kind] && ticks[kind + 1] &&
		                (kind == ROW_EXEC || ticks[kind] != ticks[kind + 1]);

		if (is_there && !has_row(op, kind))
			return false;
	}
	return true;
}

/* The one that waits for this row, or a new one. */
static int find_op(struct perfetto *perfetto, const struct perfetto_op *of, uint32_t *ret_place)
{
	struct perfetto_file *file = &perfetto->file;
	uint64_t owner = (uint64_t)of->stream << 40 ^ (uint64_t)of->of.device << 20 ^ of->of.queue;

	if (file->n_ops == MAX_OPS)
		FLEXTRACE_TRY(perfetto_end_ops(perfetto));
	FLEXTRACE_TRY(
		MAP_PLACE(&file->op_index, of->of.job, owner, file->ops, file->n_ops, ret_place));
	if (has_row(&file->ops[*ret_place], of->rows[0].kind))
		FLEXTRACE_TRY(flush(perfetto, *ret_place));
	return FLEXTRACE_OK;
}

static int gather(struct perfetto *perfetto, const struct perfetto_op *of)
{
	struct perfetto_op *op;
	uint32_t place;

	FLEXTRACE_TRY(find_op(perfetto, of, &place));
	op = &perfetto->file.ops[place];
	if (!op->n_rows) {
		*op = *of;
	} else {
		const struct perfetto_op before = *op;

		if (of->is_main)
			*op = *of;
		memcpy(op->rows, before.rows, sizeof(op->rows));
		op->rows[before.n_rows] = of->rows[0];
		op->n_rows = before.n_rows + 1;
	}
	return is_whole(op) ? flush(perfetto, place) : FLEXTRACE_OK;
}

/* -- rows ------------------------------------------------------------------------------------- */

/* What stands in front of the last divider in a text; false: there is none. */
static int before_last(struct perfetto *perfetto, const char *text, const char *divider,
                       const char **ret_behind, const char **ret_text)
{
	struct protobuf bytes = {(const uint8_t *)text, NULL};
	uint32_t string;

	*ret_behind = NULL;
	for (const char *at = text; (at = strstr(at, divider)); at++)
		*ret_behind = at;
	if (!*ret_behind)
		return FLEXTRACE_OK;
	bytes.end = (const uint8_t *)*ret_behind;
	*ret_behind += strlen(divider);
	FLEXTRACE_TRY(perfetto_intern(perfetto, &bytes, &string));
	*ret_text = perfetto_string(perfetto, string);
	return FLEXTRACE_OK;
}

/* "softmax · prep" is a part of softmax; what has no name is called by its kind. */
static int read_name(struct perfetto *perfetto, const struct our_row *row, const char *text,
                     const char **ret_name)
{
	const char *part;

	*ret_name = perfetto_number(&row->all, "unnamed", 0) ? "" : text;
	if (!**ret_name || row->kind > ROW_DMA_OUT || row->kind == ROW_EXEC)
		return FLEXTRACE_OK;
	return before_last(perfetto, text, PART_DIVIDER, &part, ret_name);
}

static void read_cycles(const struct our_row *row, struct perfetto_op *op)
{
	static const char *const keys[FLEXTRACE_N_STAMPS] = {"TS1", "TS2", "TS3", "TS4", "TS5"};
	struct trace_value value;
	struct told told;

	if (!told_find(&row->ours, "cycles", &value) || value.kind != TRACE_JSON)
		return;
	told.members = value.text;
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		told_find_u64(&told, keys[i], &op->ticks[i]);
	told_find_u64(&told, "begin", &op->ticks[0]);
	told_find_u64(&told, "end", &op->ticks[FLEXTRACE_N_STAMPS - 1]);
}

/* What a file of torch told of it, whose names its importer knows. */
static int read_told(struct perfetto *perfetto, const struct our_row *row,
                     struct flextrace_restored *of)
{
	uint64_t peer = perfetto_number(&row->all, "Peer", UINT64_MAX);

	of->correlation = perfetto_number(&row->all, "correlation", of->correlation);
	of->bytes = perfetto_number(&row->all, "bytes", of->bytes);
	of->bytes = perfetto_number(&row->all, "Bytes", of->bytes);
	of->power = (uint32_t)perfetto_number(&row->all, "Power", of->power);
	of->peer = peer <= INT32_MAX ? (int32_t)peer : of->peer;
	if (!*of->group)
		FLEXTRACE_TRY(perfetto_member(perfetto, &row->all, "CollGroup", &of->group));
	return our_row_told(perfetto, row, &of->type);
}

static int read_op(struct perfetto *perfetto, const struct our_row *row,
                   const struct perfetto_open *open, struct perfetto_op *op)
{
	struct flextrace_restored *of = &op->of;

	of->job = perfetto_number(&row->ours, "job", 0);
	of->correlation = perfetto_number(&row->ours, "correlation", 0);
	of->bytes = perfetto_number(&row->ours, "bytes", 0);
	of->power = (uint32_t)perfetto_number(&row->ours, "power", 0);
	of->peer = (int32_t)perfetto_number(&row->ours, "peer", (uint64_t)-1);
	of->op_kind = (uint32_t)perfetto_number(&row->ours, "kind_number", UNNUMBERED_KIND);
	of->sample_before_ns = (uint32_t)perfetto_number(&row->ours, "power_before_end_ns", 0);
	of->domain = (uint32_t)perfetto_number(&row->ours, "domain", 0);
	of->segment = (uint32_t)perfetto_number(&row->ours, "segment", 0);
	read_cycles(row, op);
	op->is_main = has_stamps(op) || row->kind > ROW_DMA_OUT || row->kind == ROW_EXEC;
	FLEXTRACE_TRY(read_name(perfetto, row, perfetto_string(perfetto, open->name), &of->name));
	FLEXTRACE_TRY(perfetto_member(perfetto, &row->ours, "group", &of->group));
	if (row->has_told)
		return read_told(perfetto, row, of);
	return perfetto_member(perfetto, &row->ours, "type", &of->type);
}

/* Of a queue or core. */
static struct perfetto_op op_of(const struct perfetto *perfetto, const struct perfetto_track *track,
                                const struct perfetto_thing *thing, uint64_t packet)
{
	const struct perfetto_thing *device = perfetto_thing(&perfetto->file, thing->of);
	struct perfetto_op op = {
		.of = {.device = device->number, .peer = -1, .name = "", .group = "", .type = ""},
		.stream = track->stream,
		.vpid = track->vpid,
		.origin = origin_make(0, packet),
	};

	if (thing->kind == THING_QUEUE)
		op.of.queue = thing->number;
	if (thing->kind == THING_CORE) {
		op.of.core = thing->number;
		op.of.processor = thing->processor;
	}
	return op;
}

static void add_row(struct perfetto_op *op, int64_t begin_ns, int64_t end_ns, uint32_t kind,
                    const struct our_row *row)
{
	uint64_t err_ns = row ? perfetto_number(&row->ours, "err_ns", UINT32_MAX) : UINT32_MAX;

	op->n_rows = 1;
	op->rows[0] = (struct perfetto_row){
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.kind = kind,
		.err_ns = err_ns < UINT32_MAX ? (uint32_t)err_ns : UINT32_MAX,
		.status = row ? our_row_status(row) : TIME_GIVEN,
	};
}

int perfetto_write_our_op(struct perfetto *perfetto, const struct perfetto_track *track,
                          const struct perfetto_open *open)
{
	const struct perfetto_thing *thing = &perfetto->file.things[track->thing];
	struct perfetto_op op = op_of(perfetto, track, thing, open->packet);
	struct our_row row;

	FLEXTRACE_TRY(
		our_row_read(perfetto, thing->dialect, open->category, open->members, true, &row));
	if (!row.is_known)
		row.kind = thing->kind == THING_CORE ? ROW_ZONE : ROW_EXEC;
	FLEXTRACE_TRY(read_op(perfetto, &row, open, &op));
	add_row(&op, open->begin_ns, open->end_ns, row.kind, &row);
	if (row.kind <= ROW_DMA_OUT && !is_given(&op))
		return gather(perfetto, &op);
	if (row.kind >= ROW_FIRMWARE) {
		op.of.run = perfetto_number(&row.ours, "run",
		                            op.of.job); /* said where it is another */
		op.of.file = perfetto_string(perfetto, open->location.file);
		op.of.line = open->location.line;
	}
	return write_op(perfetto, &op);
}

int perfetto_write_our_mark(struct perfetto *perfetto, const struct track_event *of,
                            const struct our_row *row)
{
	const struct perfetto_track *track = &perfetto->file.tracks[of->track];
	struct perfetto_op op = op_of(perfetto, track, &perfetto->file.things[track->thing],
	                              perfetto->file.n_packets);

	op.of.name = perfetto_string(perfetto, of->name);
	add_row(&op, of->time_ns, of->time_ns, RESTORED_MARK, row);
	return write_op(perfetto, &op);
}

/* "NAME core N"; older files say nothing of how sure its time is. */
int perfetto_write_our_value(struct perfetto *perfetto, const struct track_event *of)
{
	const struct perfetto_track *track = &perfetto->file.tracks[of->track];
	struct perfetto_thing thing = perfetto->file.things[track->thing];
	struct perfetto_op op;
	struct our_row row;
	const char *core, *name;
	uint64_t number;

	FLEXTRACE_TRY(before_last(perfetto, perfetto_string(perfetto, track->name), " core ", &core,
	                          &name));
	if (!core || !digits_read_all(core, UINT32_MAX, &number))
		return FLEXTRACE_OK;
	thing.of = track->parent;
	op = op_of(perfetto, track, &thing, perfetto->file.n_packets);
	op.of.core = (uint32_t)number;
	op.of.value = of->value;
	op.of.name = name;
	FLEXTRACE_TRY(our_row_read(perfetto, 0, 0, of->members, true, &row));
	add_row(&op, of->time_ns, of->time_ns, RESTORED_VALUE, *of->members ? &row : NULL);
	return write_op(perfetto, &op);
}
