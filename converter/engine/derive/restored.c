/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What files of ours told of: rows of control blocks, and zones, marks and values of the firmware
 * of cores, as the files have them, with what they say of their errors. Nobody placed them but
 * flextrace itself, when it wrote the file.
 */
#include "derive_impl.h"

static struct place place_of(const struct derive *derive, const struct restored_row *row,
                             uint64_t host_ns)
{
	uint32_t process = derive->identity->devices[row->device].process;
	struct place place = place_host(derive, process, (int64_t)host_ns);

	place.err_ns = row->of.err_ns;
	place.status = row->of.head.status;
	return place;
}

static struct device_row *add_row(struct derive *derive, const struct restored_row *row,
                                  uint64_t source)
{
	const struct place start = place_of(derive, row, row->of.begin_ns);
	const struct place end = place_of(derive, row, row->of.end_ns);

	return device_add_row(derive, row->of.head.kind, (uint32_t)source, &start, &end,
	                      row->of.head.status);
}

/* -- control blocks ------------------------------------------------------------------------- */

static struct tick_op op_of(const struct restored_row *row)
{
	const struct record_restored *of = &row->of;
	struct tick_op op = {
		.job = of->job,
		.correlation = of->correlation,
		.bytes = of->bytes,
		.submit_host_ns = (int64_t)of->begin_ns,
		.complete_host_ns = (int64_t)of->end_ns,
		.device = row->device,
		.counter = row->counter,
		.segment = (uint16_t)of->segment,
		.queue = of->queue,
		.name = of->head.name,
		.group = of->group,
		.type = of->type,
		.power = of->power,
		.sample_before_ns = of->sample_before_ns,
		.peer = of->peer,
		.stream = row->stream,
		.index = of->head.index,
		.kind = (uint8_t)of->op_kind,
		.status = of->head.status,
		.class = RECORD_RESTORED,
	};

	memcpy(op.ticks, of->ticks, sizeof(op.ticks));
	return op;
}

/* One that is no part of the last one. */
static int add_op(struct derive *derive, const struct restored_row *row)
{
	struct timeline *out = &derive->out;

	FLEXTRACE_TRY(blocks_fill_next(out->ops, out->n_ops, sizeof(*out->ops)));
	out->ops[out->n_ops++] = op_of(row);
	out->has.groups |= row->of.group != 0;
	out->has.power |= row->of.power != 0;
	out->has.bytes |= row->of.bytes != 0;
	derive->ledger->rows[RECORD_RESTORED]++;
	return FLEXTRACE_OK;
}

static int take_work(struct derive *derive, const struct restored_row *row)
{
	struct tick_op *last = derive->out.n_ops ? &derive->out.ops[derive->out.n_ops - 1] : NULL;

	if (!row->of.is_part || !last || last->class != RECORD_RESTORED ||
	    last->device != row->device || last->queue != row->of.queue) {
		FLEXTRACE_TRY(add_op(derive, row));
	} else {
		if (last->submit_host_ns > (int64_t)row->of.begin_ns)
			last->submit_host_ns = (int64_t)row->of.begin_ns;
		if (last->complete_host_ns < (int64_t)row->of.end_ns)
			last->complete_host_ns = (int64_t)row->of.end_ns;
		last->status = worse_status(last->status, row->of.head.status);
		derive->ledger->evidence[RECORD_RESTORED]++;
	}
	return add_row(derive, row, derive->out.n_ops - 1) ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

/* -- what the firmware of cores marked ------------------------------------------------------ */

static struct mark_run run_of(const struct restored_row *row)
{
	return (struct mark_run){
		.run = row->of.run,
		.job = row->of.job,
		.device = row->device,
		.counter = row->counter,
		.core = row->of.core,
		.processor = row->of.processor,
		.stream = row->stream,
		.index = row->of.head.index,
		.boot = FLEXTRACE_NONE,
		.status = row->of.head.status,
	};
}

static int take_zone(struct derive *derive, const struct restored_row *row, uint32_t family)
{
	struct timeline_marks *marks = &derive->out.marks;
	struct device_row *out = add_row(derive, row, marks->n_zones);
	struct zone zone = {row->of.ticks[0], row->of.ticks[FLEXTRACE_N_STAMPS - 1],
	                    (uint32_t)marks->n_runs, 0};

	if (!out)
		return FLEXTRACE_E_MEMORY;
	out->track = family;
	FLEXTRACE_TRY(marker_of_row(derive, &row->of, &zone.marker));
	marks->zones[marks->n_zones++] = zone;
	marks->runs[marks->n_runs++] = run_of(row);
	return FLEXTRACE_OK;
}

static int take_mark(struct derive *derive, const struct restored_row *row, uint32_t family)
{
	const struct place place = place_of(derive, row, row->of.begin_ns);
	struct instant_row *out = row_sorter_append(&derive->instants);

	if (!out)
		return FLEXTRACE_E_MEMORY;
	*out = (struct instant_row){
		.time_ns = place.time_ns,
		.err_ns = place.err_ns,
		.name = row->of.head.name,
		.stream = row->stream,
		.index = row->of.head.index,
		.class = RECORD_MARKER_BATCH,
		.status = place.status,
	};
	derive_cover(derive, place.time_ns, place.time_ns);
	return family_track(derive, family, 0, &out->track);
}

static int take_value(struct derive *derive, const struct restored_row *row)
{
	const struct place place = place_of(derive, row, row->of.begin_ns);
	const struct counter_row out = {
		.time_ns = place.time_ns,
		.value = row->of.value,
		.err_ns = place.err_ns,
		.core = row->of.core,
		.name = row->of.head.name,
		.stream = row->stream,
		.index = row->of.head.index,
		.owner = row->device,
		.is_device = 1,
		.status = place.status,
		.class = RECORD_MARKER_BATCH,
	};

	return derive_add_counter(derive, &out);
}

static int take_of_core(struct derive *derive, const struct restored_row *row)
{
	uint32_t family;

	derive->ledger->rows[RECORD_RESTORED]++;
	if (row->of.head.kind == RESTORED_VALUE)
		return take_value(derive, row);
	FLEXTRACE_TRY(
		family_of_core(derive, row->device, row->of.core, row->of.processor, &family));
	return row->of.head.kind == RESTORED_MARK ? take_mark(derive, row, family)
	                                          : take_zone(derive, row, family);
}

/* -- all of them ---------------------------------------------------------------------------- */

/* An array with room for `n` more. */
static int extend(void *array, uint64_t n_before, uint64_t n, size_t element_bytes)
{
	array_pointer *pointer = array;
	char *grown = blocks_allocate(n_before + n, element_bytes);

	if (!grown)
		return FLEXTRACE_E_MEMORY;
	if (n_before)
		memcpy(grown, *pointer, n_before * element_bytes);
	blocks_free(*pointer);
	*pointer = grown;
	return FLEXTRACE_OK;
}

/* Each zone is of a run of its own. */
static int make_room(struct timeline_marks *marks, uint64_t n)
{
	if (!n)
		return FLEXTRACE_OK;
	if (marks->n_zones + n >= FLEXTRACE_NONE || marks->n_runs + n >= FLEXTRACE_NONE)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(extend(&marks->zones, marks->n_zones, n, sizeof(*marks->zones)));
	return extend(&marks->runs, marks->n_runs, n, sizeof(*marks->runs));
}

/* Why a row cannot be placed; LOSS_CAUSE_COUNT: it can. */
static enum loss_cause fault_of(const struct record_restored *row)
{
	if (row->op_kind >= FLEXTRACE_KIND_LIMIT)
		return LOSS_MALFORMED;
	return row->begin_ns > row->end_ns ? LOSS_BACKWARDS : LOSS_CAUSE_COUNT;
}

static int discard(struct derive *derive, const struct restored_row *row, enum loss_cause cause)
{
	struct loss_place place = identity_place(derive->identity, row->device, FLEXTRACE_NONE,
	                                         row->stream);

	return derive_discard(derive, cause, &place, RECORD_RESTORED, (int64_t)row->of.end_ns);
}

/* What stood on a clock when its file was written. */
void restored_take_counts(struct derive *derive, const struct table *told)
{
	uint32_t index;

	TABLE_EACH(struct clock_row, row, told) {
		if (clocks_find_report(derive->out.clocks, row->of.counter, row->of.segment,
		                       &index))
			derive->out.counts.clocks[index] = row->count;
	}
}

/* What cores marked stands behind control blocks, as where it was recorded. */
int restored_take(struct derive *derive, struct table *rows)
{
	uint64_t n_of_cores = 0;

	TABLE_EACH(struct restored_row, row, rows) {
		enum loss_cause fault = fault_of(&row->of);

		if (fault != LOSS_CAUSE_COUNT)
			FLEXTRACE_TRY(discard(derive, row, fault));
		else if (row->of.head.kind >= ROW_FIRMWARE)
			n_of_cores++;
		else
			FLEXTRACE_TRY(take_work(derive, row));
	}
	FLEXTRACE_TRY(make_room(&derive->out.marks, n_of_cores));
	TABLE_EACH(struct restored_row, row, rows) {
		if (row->of.head.kind >= ROW_FIRMWARE && fault_of(&row->of) == LOSS_CAUSE_COUNT)
			FLEXTRACE_TRY(take_of_core(derive, row));
	}
	return FLEXTRACE_OK;
}
