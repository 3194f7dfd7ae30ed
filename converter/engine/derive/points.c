/* SPDX-License-Identifier: Apache-2.0 */
#include "derive_impl.h"

/* -- instants, annotations ------------------------------------------------------------------ */

int points_push_instant(struct derive *derive, const struct host_input *input)
{
	const struct record *record = input->record;
	struct place at = place_host(derive, input->process, (int64_t)record->clock_ns);
	struct instant_row *row = row_sorter_append(&derive->instants);
	uint32_t family;

	if (!row)
		return FLEXTRACE_E_MEMORY;
	*row = (struct instant_row){
		.time_ns = at.time_ns,
		.err_ns = at.err_ns,
		.name = record->name,
		.stream = input->stream_id,
		.index = record->index,
		.class = record->class,
		.status = at.status,
	};
	if (record->class == RECORD_ANNOTATION) {
		const struct record_text *text = (const struct record_text *)record;

		row->value = text->text;
		row->correlation = text->correlation;
	} else {
		row->correlation = ((const struct record_value *)record)->u.correlation;
	}
	FLEXTRACE_TRY(family_of_thread(derive, input->thread, TRACK_THREAD, &family));
	FLEXTRACE_TRY(family_track(derive, family, 0, &row->track));
	derive_cover(derive, at.time_ns, at.time_ns);
	derive->ledger->rows[record->class]++;
	return FLEXTRACE_OK;
}

/* -- counters ------------------------------------------------------------------------------- */

int points_push_counter(struct derive *derive, const struct host_input *input)
{
	const struct record_counter *value = (const struct record_counter *)input->record;
	struct place at = place_host(derive, input->process, (int64_t)value->head.clock_ns);
	bool is_device = value->device >= 0;
	uint32_t owner = input->process;
	struct counter_row row;

	if (is_device)
		FLEXTRACE_TRY(identity_device(derive->identity, input->process,
		                              (uint32_t)value->device, &owner));
	row = (struct counter_row){
		.time_ns = at.time_ns,
		.value = value->value,
		.err_ns = at.err_ns,
		.owner = owner & ((1u << FLEXTRACE_OWNER_BITS) - 1),
		.is_device = is_device,
		.core = FLEXTRACE_NONE,
		.name = value->head.name,
		.unit = value->unit,
		.stream = input->stream_id,
		.index = value->head.index,
		.status = at.status,
		.class = RECORD_COUNTER,
	};
	derive->ledger->rows[RECORD_COUNTER]++;
	return derive_add_counter(derive, &row);
}

/* -- memory --------------------------------------------------------------------------------- */

static int add_allocation(struct derive *derive, uint64_t address, uint32_t device, uint64_t bytes)
{
	uint32_t place = derive->allocations.free;

	if (place) {
		place--;
		derive->allocations.free = (uint32_t)derive->allocations.bytes[place];
	} else {
		FLEXTRACE_TRY(ARRAY_ROOM(derive->allocations.bytes, derive->allocations.n));
		place = derive->allocations.n++;
	}
	derive->allocations.bytes[place] = bytes;
	return map_put(&derive->allocations.keys, address, device, place);
}

/* Forgets what stands at an address. 1: stored its size, 0: nothing did. */
static int remove_allocation(struct derive *derive, uint64_t address, uint32_t device,
                             uint64_t *ret_bytes)
{
	uint32_t place = map_find(&derive->allocations.keys, address, device);

	*ret_bytes = 0;
	if (place == MAP_NONE)
		return 0;
	*ret_bytes = derive->allocations.bytes[place];
	derive->allocations.bytes[place] = derive->allocations.free;
	derive->allocations.free = place + 1;
	map_remove(&derive->allocations.keys, address, device);
	return 1;
}

/* Keeps the running total of a device; what contradicts it (a free of nothing, an allocation on
 * top of another) is counted. */
static int count_memory(struct derive *derive, const struct host_input *input,
                        struct memory_row *row)
{
	struct loss_place place = identity_place(derive->identity, row->device, FLEXTRACE_NONE,
	                                         input->stream_id);
	bool expects = row->op != FLEXTRACE_MEMORY_ALLOC;
	enum loss_cause cause = expects ? LOSS_UNMATCHED_END : LOSS_UNMATCHED_BEGIN;
	uint64_t *total = &derive->allocations.device_bytes[row->device], bytes;
	bool is_there = remove_allocation(derive, row->address, row->device, &bytes);

	if (is_there != expects)
		FLEXTRACE_TRY(ledger_lose(derive->ledger, cause, &place, 1,
		                          (int64_t)input->record->clock_ns));
	*total -= bytes;
	if (row->op == FLEXTRACE_MEMORY_FREE) {
		if (!row->bytes)
			row->bytes = bytes;
	} else {
		*total += row->bytes;
		FLEXTRACE_TRY(add_allocation(derive, row->address, row->device, row->bytes));
	}
	row->total_bytes = *total;
	return FLEXTRACE_OK;
}

int points_push_memory(struct derive *derive, const struct host_input *input)
{
	const struct record_memory *memory = (const struct record_memory *)input->record;
	struct place at = place_host(derive, input->process, (int64_t)memory->head.clock_ns);
	struct memory_row *row = row_sorter_append(&derive->memory);

	if (!row)
		return FLEXTRACE_E_MEMORY;
	*row = (struct memory_row){
		.time_ns = at.time_ns,
		.address = memory->address,
		.bytes = memory->bytes,
		.thread = input->thread,
		.stream = input->stream_id,
		.index = memory->head.index,
		.op = memory->head.kind,
	};
	FLEXTRACE_TRY(
		identity_device(derive->identity, input->process, memory->device, &row->device));
	FLEXTRACE_TRY(ARRAY_RESERVE(derive->allocations.device_bytes, derive->allocations.n_devices,
	                            row->device + 1ull));
	derive_cover(derive, at.time_ns, at.time_ns);
	derive->ledger->rows[RECORD_MEMORY]++;
	return count_memory(derive, input, row);
}

/* -- the end -------------------------------------------------------------------------------- */

struct copying {
	struct table *table;
	size_t row_bytes;
};

static int copy_row(void *context, void *row)
{
	const struct copying *copying = context;

	return table_put(copying->table, row, copying->row_bytes);
}

static int merge_into(struct row_sorter *sorter, struct table *table)
{
	struct copying copying = {table, sorter->row_bytes};

	return row_sorter_merge(sorter, copy_row, &copying);
}

int points_merge(struct derive *derive)
{
	FLEXTRACE_TRY(merge_into(&derive->instants, &derive->out.instants));
	FLEXTRACE_TRY(merge_into(&derive->counters, &derive->out.counters));
	return merge_into(&derive->memory, &derive->out.memory);
}

void points_release(struct allocations *allocations)
{
	map_release(&allocations->keys);
	free(allocations->bytes);
	free(allocations->device_bytes);
}
