/* SPDX-License-Identifier: Apache-2.0 */
/* area_words.c: what stands in an area: its header, its slots, how much of its ring. */
#include "area_read.h"

#include <stdatomic.h>

#include "drain_words.h"

static uint64_t bytes_of(uint32_t version, uint32_t capacity)
{
	if (version != FLEXTRACE_WIRE_VERSION || capacity < 4 ||
	    capacity > FLEXTRACE_WIRE_MAX_CAPACITY || (capacity & (capacity - 1)) != 0)
		return 0;
	return FLEXTRACE_WIRE_AREA_BYTES((uint64_t)capacity);
}

int flextrace_area_header_read(const void *memory, struct flextrace_area_header *ret_header)
{
	const struct flextrace_wire_area *wire = memory;
	struct flextrace_area_header header;

	if (drain_load_first(&wire->magic) != FLEXTRACE_WIRE_MAGIC)
		return 0;
	header.core = drain_load(&wire->core);
	header.processor = drain_load(&wire->processor);
	header.domain = drain_load(&wire->domain);
	header.counter_bits = drain_load(&wire->counter_bits);
	header.capacity = drain_load(&wire->capacity);
	header.resets = drain_load(&wire->resets);
	header.run = drain_load(&wire->run);
	header.head = drain_load(&wire->head);
	header.dropped = drain_load(&wire->dropped);
	header.policy = drain_load(&wire->policy);
	header.read_run = drain_load(&wire->read_run);
	header.strict_from = drain_load(&wire->strict_from);
	header.is_mixed = drain_load(&wire->config) != drain_load(&wire->init_config);
	header.n_read = drain_load(&wire->limit) - header.capacity;
	header.n_bytes = bytes_of(drain_load(&wire->version), header.capacity);
	*ret_header = header;
	return 1;
}

/* Copies the slot of `run`; 0 if it holds another run or changes meanwhile. `done` of the next run
 * of the slot comes before anything else of it. */
int flextrace_slot_copy(const struct flextrace_wire_slot *slot, uint32_t run,
                        struct flextrace_wire_slot *ret_slot)
{
	uint32_t i;

	ret_slot->done = drain_load_first(&slot->done);
	ret_slot->run = drain_load_first(&slot->run);
	ret_slot->job = drain_load(&slot->job);
	ret_slot->queue = drain_load(&slot->queue);
	ret_slot->anchor_lo = drain_load(&slot->anchor_lo);
	ret_slot->anchor_hi = drain_load(&slot->anchor_hi);
	for (i = 0; i < FLEXTRACE_WIRE_N_STAMPS; i++)
		ret_slot->ticks[i] = drain_load(&slot->ticks[i]);
	atomic_thread_fence(memory_order_acquire);
	return ret_slot->run == run && drain_load(&slot->run) == run &&
	       (ret_slot->done == run || ret_slot->done == run - 1) &&
	       drain_load(&slot->done) == ret_slot->done;
}

uint32_t flextrace_slot_words(const struct flextrace_wire_slot *slot, uint64_t *words)
{
	uint32_t closed = slot->done == slot->run;
	uint32_t n = 0;
	uint32_t i;

	words[n++] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_RUN, slot->run),
	                                 slot->job);
	words[n++] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_QUEUE, closed),
	                                 slot->queue);
	words[n++] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_ANCHOR_LO, 0),
	                                 slot->anchor_lo);
	words[n++] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_ANCHOR_HI, 0),
	                                 slot->anchor_hi);
	for (i = 0; i < FLEXTRACE_WIRE_N_STAMPS; i++) {
		if (slot->ticks[i])
			words[n++] = FLEXTRACE_WIRE_WORD(
				FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_STAMP, i),
				slot->ticks[i]);
	}
	return n;
}

uint32_t flextrace_area_n_there(const struct flextrace_area_header *header)
{
	return header->head < header->capacity && header->n_read <= header->head ? header->head
	                                                                         : header->capacity;
}

void flextrace_area_rewind(void *memory, int has_ring)
{
	struct flextrace_wire_area *wire = memory;
	uint32_t head = drain_load(&wire->head), capacity = drain_load(&wire->capacity);
	uint32_t run = drain_load(&wire->run), n_there;
	struct flextrace_area_header header = {
		.head = head, .capacity = capacity, .n_read = drain_load(&wire->limit) - capacity};

	n_there = flextrace_area_n_there(&header);

	if (!has_ring) {
		capacity = 4;
		n_there = 0;
		drain_store_last(&wire->capacity, capacity);
	}
	drain_store_last(&wire->limit, head - n_there + capacity);
	drain_store_last(&wire->read_run, run > 2 ? run - 2 : 0);
}
