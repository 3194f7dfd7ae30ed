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

static bool is_all_given(const struct perfetto_op *op)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		if (op->restored.ticks[i])
			return false;
	}
	return op->restored.n_rows == 1 && op->restored.rows[0].status == TIME_GIVEN &&
	       op->restored.rows[0].kind < ROW_FIRMWARE;
}

/* What stands for the type: what no record has, in front of it. Owned. */
static int type_of(struct perfetto *perfetto, const struct perfetto_op *op, struct writer *text)
{
	struct restored restored = op->restored;

	writer_open_memory(text);
	for (uint64_t i = 0; i < restored.n_rows; i++)
		restored.rows[i].start_ns -= (uint64_t)op->begin_ns;
	restored.job = op->job;
	if (!is_all_given(op))
		restored_write(&restored, text);
	writer_raw(text, perfetto_string(perfetto, op->type));
	writer_char(text, '\0');
	return writer_failed(text) ? FLEXTRACE_E_MEMORY : FLEXTRACE_OK;
}

static uint32_t kind_of_op(const struct perfetto_op *op)
{
	if (op->restored.n_rows > 1)
		return FLEXTRACE_DEVICE_KERNEL;
	return op->restored.rows[0].kind < ROW_FIRMWARE
	               ? block_of_row((uint8_t)op->restored.rows[0].kind)->kind
	               : FLEXTRACE_DEVICE_STATE;
}

static uint32_t part_of_op(const struct perfetto_op *op)
{
	return op->restored.rows[0].kind < ROW_FIRMWARE
	               ? block_of_row((uint8_t)op->restored.rows[0].kind)->part
	               : FLEXTRACE_ESTIMATE_WHOLE;
}

/* Jobs of the file may come again: each has another number here, by which both records meet. */
static int write_op(struct perfetto *perfetto, const struct perfetto_op *op)
{
	const struct import_placed placed = {op->begin_ns, op->end_ns, part_of_op(op),
	                                     PERFETTO_TOOL};
	struct event event = {
		.class = RECORD_DEVICE_OP,
		.clock_ns = (uint64_t)op->end_ns,
		.vpid = op->vpid,
		.vtid = -1,
		.n_origins = 1,
		.origins[0] = op->origin,
	};
	struct writer type;
	int code = type_of(perfetto, op, &type);

	event.payload.device_op = (struct flextrace_device_op){
		.device = op->device,
		.queue = op->queue,
		.job = is_all_given(op) && op->job ? op->job : ++perfetto->file.n_jobs,
		.correlation = op->correlation,
		.kind = kind_of_op(op),
		.name = perfetto_string(perfetto, op->name),
		.power = op->power,
		.bytes = op->bytes,
		.peer = op->peer,
		.group = perfetto_string(perfetto, op->group),
		.type = type.buffer,
	};
	if (code == FLEXTRACE_OK)
		code = import_write_placed(&perfetto->import, op->stream, &event, &placed);
	writer_abandon(&type);
	return code;
}

/* -- gathering -------------------------------------------------------------------------------- */

static int flush(struct perfetto *perfetto, uint32_t place)
{
	struct perfetto_op *op = &perfetto->file.ops[place];
	int code = op->restored.n_rows ? write_op(perfetto, op) : FLEXTRACE_OK;

	op->restored.n_rows = 0;
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

static bool has_row(const struct perfetto_op *op, uint64_t kind)
{
	for (uint64_t i = 0; i < op->restored.n_rows; i++) {
		if (op->restored.rows[i].kind == kind)
			return true;
	}
	return false;
}

/* Whether all rows are there that the stamps make. */
static bool is_whole(const struct perfetto_op *op)
{
	const uint64_t *ticks = op->restored.ticks;

	if (!op->is_main)
		return false;
	for (uint64_t kind = ROW_DMA_IN; kind <= ROW_DMA_OUT; kind++) {
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
	uint64_t owner = (uint64_t)of->stream << 40 ^ (uint64_t)of->device << 20 ^ of->queue;

	if (file->n_ops == MAX_OPS)
		FLEXTRACE_TRY(perfetto_end_ops(perfetto));
	FLEXTRACE_TRY(
		MAP_PLACE(&file->op_index, of->job, owner, file->ops, file->n_ops, ret_place));
	if (has_row(&file->ops[*ret_place], of->restored.rows[0].kind))
		FLEXTRACE_TRY(flush(perfetto, *ret_place));
	return FLEXTRACE_OK;
}

static int gather(struct perfetto *perfetto, const struct perfetto_op *of)
{
	struct perfetto_op *op;
	uint32_t place;

	FLEXTRACE_TRY(find_op(perfetto, of, &place));
	op = &perfetto->file.ops[place];
	if (!op->restored.n_rows) {
		*op = *of;
	} else {
		struct perfetto_op before = *op;

		if (of->is_main)
			*op = *of;
		memcpy(op->restored.rows, before.restored.rows, sizeof(op->restored.rows));
		op->restored.n_rows = before.restored.n_rows;
		op->restored.rows[op->restored.n_rows++] = of->restored.rows[0];
		op->begin_ns = before.begin_ns < of->begin_ns ? before.begin_ns : of->begin_ns;
		op->end_ns = before.end_ns > of->end_ns ? before.end_ns : of->end_ns;
	}
	return is_whole(op) ? flush(perfetto, place) : FLEXTRACE_OK;
}

/* -- rows ------------------------------------------------------------------------------------- */

/* "softmax · prep" is a part of softmax; what has no name is called by its kind. */
static int name_of(struct perfetto *perfetto, const struct our_row *row, uint32_t name,
                   uint32_t *ret_name)
{
	const char *text = perfetto_string(perfetto, name), *divider = NULL;
	struct protobuf bytes = {(const uint8_t *)text, NULL};

	*ret_name = name;
	if (strcmp(text, kind_of_device(row->kind)->label) == 0)
		*ret_name = 0;
	if (row->kind > ROW_DMA_OUT || row->kind == ROW_EXEC)
		return FLEXTRACE_OK;
	for (const char *at = text; (at = strstr(at, PART_DIVIDER)); at++)
		divider = at;
	if (!divider)
		return FLEXTRACE_OK;
	bytes.end = bytes.at + (divider - text);
	return perfetto_intern(perfetto, &bytes, ret_name);
}

static void read_cycles(const struct our_row *row, uint64_t ticks[FLEXTRACE_N_STAMPS])
{
	static const char *const keys[FLEXTRACE_N_STAMPS] = {"TS1", "TS2", "TS3", "TS4", "TS5"};
	struct trace_value value;
	struct told told = {.members = row->ours};

	if (!told_find(&told, "cycles", &value) || value.kind != TRACE_JSON)
		return;
	told.members = value.text;
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		told_find_u64(&told, keys[i], &ticks[i]);
	told_find_u64(&told, "begin", &ticks[0]);
	told_find_u64(&told, "end", &ticks[FLEXTRACE_N_STAMPS - 1]);
}

static int read_op(struct perfetto *perfetto, const struct our_row *row,
                   const struct perfetto_open *open, struct perfetto_op *op)
{
	uint64_t number;

	op->job = our_row_number(row, "job", 0);
	op->correlation = our_row_number(row, "correlation", 0);
	op->bytes = our_row_number(row, "bytes", 0);
	op->power = (uint32_t)our_row_number(row, "power", 0);
	op->peer = (int32_t)our_row_number(row, "peer", (uint64_t)-1);
	read_cycles(row, op->restored.ticks);
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op->is_main |= op->restored.ticks[i] != 0;
	op->is_main |= row->kind > ROW_DMA_OUT || row->kind == ROW_EXEC;
	FLEXTRACE_TRY(name_of(perfetto, row, open->name, &op->name));
	FLEXTRACE_TRY(our_row_text(perfetto, row, "group", &op->group));
	if (!row->has_told)
		return our_row_text(perfetto, row, "type", &op->type);
	told_find_u64(&row->all, "correlation", &op->correlation);
	told_find_u64(&row->all, "bytes", &op->bytes);
	told_find_u64(&row->all, "Bytes", &op->bytes);
	if (told_find_u64(&row->all, "Power", &number))
		op->power = (uint32_t)number;
	if (told_find_u64(&row->all, "Peer", &number) && number <= INT32_MAX)
		op->peer = (int32_t)number;
	if (!op->group)
		FLEXTRACE_TRY(our_row_text_of(perfetto, &row->all, "CollGroup", &op->group));
	return our_row_told(perfetto, row, &op->type);
}

/* Of a queue or core. */
static struct perfetto_op op_of(const struct perfetto *perfetto, const struct perfetto_track *track,
                                const struct perfetto_thing *thing, uint64_t packet)
{
	const struct perfetto_thing *device = perfetto_thing(&perfetto->file, thing->of);
	struct perfetto_op op = {
		.device = device->number,
		.queue = thing->kind == THING_QUEUE ? thing->number : 0,
		.peer = -1,
		.stream = track->stream,
		.vpid = track->vpid,
		.origin = origin_make(0, packet),
	};

	if (thing->kind == THING_CORE) {
		op.restored.core = thing->number;
		op.restored.processor = thing->processor;
	}
	return op;
}

static void add_row(struct perfetto_op *op, uint64_t kind, const struct our_row *row)
{
	op->restored.n_rows = 1;
	op->restored.rows[0] = (struct restored_row){
		.start_ns = (uint64_t)op->begin_ns,
		.dur_ns = (uint64_t)(op->end_ns - op->begin_ns),
		.kind = kind,
		.status = row ? our_row_status(row) : TIME_GIVEN,
		.err_ns = row ? our_row_number(row, "err_ns", UINT32_MAX) : UINT32_MAX,
	};
}

int perfetto_write_our_op(struct perfetto *perfetto, const struct perfetto_track *track,
                          const struct perfetto_open *open)
{
	const struct perfetto_thing *thing = &perfetto->file.things[track->thing];
	struct perfetto_op op = op_of(perfetto, track, thing, open->packet);
	struct our_row row;

	FLEXTRACE_TRY(our_row_read(perfetto, open->category, open->members ? open->members : "",
	                           true, &row));
	if (!row.is_known)
		row.kind = thing->kind == THING_CORE ? ROW_ZONE : ROW_EXEC;
	op.begin_ns = open->begin_ns;
	op.end_ns = open->end_ns;
	FLEXTRACE_TRY(read_op(perfetto, &row, open, &op));
	add_row(&op, row.kind, &row);
	if (row.kind <= ROW_DMA_OUT && !is_all_given(&op))
		return gather(perfetto, &op);
	if (row.kind < ROW_FIRMWARE)
		return write_op(perfetto, &op);
	op.restored.run = our_row_number(&row, "run", op.job); /* said where it is another one */
	op.group = open->location.file;                        /* of which zones have none */
	op.peer = (int32_t)open->location.line;
	return write_op(perfetto, &op);
}

int perfetto_write_our_mark(struct perfetto *perfetto, const struct track_event *of,
                            const struct our_row *row)
{
	const struct perfetto_track *track = &perfetto->file.tracks[of->track];
	struct perfetto_op op = op_of(perfetto, track, &perfetto->file.things[track->thing],
	                              perfetto->file.n_packets);

	op.begin_ns = op.end_ns = of->time_ns;
	op.name = of->name;
	add_row(&op, RESTORED_MARK, row);
	return write_op(perfetto, &op);
}

/* "NAME core N"; nothing is said of how sure its time is. */
int perfetto_write_our_value(struct perfetto *perfetto, const struct track_event *of)
{
	const struct perfetto_track *track = &perfetto->file.tracks[of->track];
	const char *name = perfetto_string(perfetto, track->name), *core = NULL;
	struct protobuf bytes = {(const uint8_t *)name, NULL};
	struct perfetto_thing thing = perfetto->file.things[track->thing];
	struct perfetto_op op;
	uint64_t number;

	for (const char *at = name; (at = strstr(at, " core ")); at++)
		core = at;
	if (!core || !digits_read_all(core + strlen(" core "), UINT32_MAX, &number))
		return FLEXTRACE_OK;
	thing.of = track->parent;
	op = op_of(perfetto, track, &thing, perfetto->file.n_packets);
	op.begin_ns = op.end_ns = of->time_ns;
	op.restored.core = number;
	memcpy(&op.restored.value_bits, &of->value, sizeof(of->value));
	bytes.end = bytes.at + (core - name);
	FLEXTRACE_TRY(perfetto_intern(perfetto, &bytes, &op.name));
	add_row(&op, RESTORED_VALUE, NULL);
	return write_op(perfetto, &op);
}
