/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "array.h"
#include "import/flex_impl.h"

/* -- which block an event belongs to --------------------------------------------------------- */

static bool are_twins(const struct flex_block *block, uint32_t rank, const struct flex_call *call)
{
	return block->rank == rank && block->name == call->name &&
	       memcmp(block->ts, call->ts, sizeof(block->ts)) == 0;
}

static int add_twins(struct flex *flex, uint64_t a, uint64_t b)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(flex->twins, flex->n_twins_allocated, flex->n_twins + 1));
	flex->twins[flex->n_twins] = (struct flex_twins){.n_blocks = 0};
	return map_put(&flex->twin_index, a, b, flex->n_twins++);
}

/* Finds the twins of a call, adding them where needed. What the key leaves out is compared. */
static int find_twins(struct flex *flex, uint32_t rank, const struct flex_call *call,
                      uint32_t *ret_twins)
{
	uint64_t a = (uint64_t)call->ts[3] << 32 | call->ts[2];
	uint64_t b = map_hash((uint64_t)call->ts[0] << 32 | call->ts[1],
	                      map_hash((uint64_t)call->ts[4] << 32 | call->name, rank));

	for (;; b++) {
		*ret_twins = map_find(&flex->twin_index, a, b);
		if (*ret_twins == MAP_NONE) {
			*ret_twins = flex->n_twins;
			return add_twins(flex, a, b);
		}
		if (are_twins(&flex->blocks[flex->twins[*ret_twins].first], rank, call))
			return FLEXTRACE_OK;
	}
}

static int add_block(struct flex *flex, uint32_t rank, uint32_t twins, const struct flex_call *call)
{
	struct flex_block *block;

	FLEXTRACE_TRY(ARRAY_RESERVE(flex->blocks, flex->n_blocks_allocated, flex->n_blocks + 1));
	block = &flex->blocks[flex->n_blocks];
	*block = (struct flex_block){.rank = rank, .name = call->name, .peer = -1};
	memcpy(block->ts, call->ts, sizeof(block->ts));
	if (flex->twins[twins].n_blocks == 0)
		flex->twins[twins].first = flex->n_blocks;
	else
		FLEXTRACE_TRY(map_put(&flex->block_index, twins, flex->twins[twins].n_blocks,
		                      flex->n_blocks));
	flex->twins[twins].n_blocks++;
	flex->ranks[rank].n_jobs++;
	flex->n_blocks++;
	return FLEXTRACE_OK;
}

/* The n-th event of a part belongs to the n-th of the twins. */
static int find_block(struct flex *flex, uint32_t rank, const struct flex_call *call,
                      struct flex_block **ret_block)
{
	uint32_t index, n;

	FLEXTRACE_TRY(find_twins(flex, rank, call, &index));
	n = flex->twins[index].n_seen[call->part]++;
	if (n == flex->twins[index].n_blocks)
		FLEXTRACE_TRY(add_block(flex, rank, index, call));
	*ret_block = &flex->blocks[n ? map_find(&flex->block_index, index, n)
	                             : flex->twins[index].first];
	return FLEXTRACE_OK;
}

/* Computing is what everything else waits for. */
static int worth(uint8_t part)
{
	static const int worths[FLEXTRACE_ESTIMATE_COUNT] = {
		[FLEXTRACE_ESTIMATE_WHOLE] = 1,   [FLEXTRACE_ESTIMATE_DMA_IN] = 2,
		[FLEXTRACE_ESTIMATE_DMA_OUT] = 2, [FLEXTRACE_ESTIMATE_PREP] = 3,
		[FLEXTRACE_ESTIMATE_EXEC] = 4,
	};

	return worths[part];
}

int flex_add_block(struct flex *flex, uint32_t rank, const struct flex_call *call, bool is_timed)
{
	struct flex_block *block;

	FLEXTRACE_TRY(find_block(flex, rank, call, &block));
	block->parts |= (uint8_t)(1 << call->part);
	if (is_timed && (!block->end_ns || worth(call->part) > worth(block->part))) {
		block->begin_ns = call->begin_ns;
		block->end_ns = call->end_ns;
		block->part = call->part;
	}
	block->bytes = block->bytes ? block->bytes : call->bytes;
	block->correlation = block->correlation ? block->correlation : call->correlation;
	block->group = block->group ? block->group : call->group;
	block->type = block->type ? block->type : call->type;
	block->power = block->power ? block->power : call->power;
	block->peer = block->peer >= 0 ? block->peer : call->peer;
	return FLEXTRACE_OK;
}

/* -- out ------------------------------------------------------------------------------------- */

static uint32_t kind_of(const struct flex *flex, const struct flex_block *block)
{
	switch (block->parts) {
	case 1 << FLEXTRACE_ESTIMATE_DMA_IN:
		return FLEXTRACE_DEVICE_MEMCPY_HTOD;
	case 1 << FLEXTRACE_ESTIMATE_DMA_OUT:
		return FLEXTRACE_DEVICE_MEMCPY_DTOH;
	case 1 << FLEXTRACE_ESTIMATE_WHOLE:
		return flex_is_protocol(string_get(flex->strings, block->name))
		               ? FLEXTRACE_DEVICE_MEMCPY_PTOP
		               : FLEXTRACE_DEVICE_KERNEL;
	default:
		return FLEXTRACE_DEVICE_KERNEL;
	}
}

static int write_op(struct flex *flex, const struct flex_block *block, uint64_t job)
{
	struct event event = flex_event(flex, block->rank, RECORD_DEVICE_OP, block->end_ns);

	event.payload.device_op = (struct flextrace_device_op){
		.job = job,
		.correlation = block->correlation,
		.kind = kind_of(flex, block),
		.name = string_get(flex->strings, block->name),
		.power = block->power,
		.bytes = block->bytes,
		.peer = block->peer,
		.group = string_get(flex->strings, block->group),
		.type = string_get(flex->strings, block->type),
	};
	memcpy(event.payload.device_op.ts, block->ts, sizeof(block->ts));
	return flex_write(flex, block->rank, &event);
}

static int write_estimate(struct flex *flex, const struct flex_block *block, uint64_t job)
{
	struct event event = flex_event(flex, block->rank, RECORD_HOST_ESTIMATE, block->end_ns);

	event.payload.host_estimate = (struct flextrace_host_estimate){
		.job = job,
		.kind = block->part,
		.begin_ns = (uint64_t)block->begin_ns,
		.end_ns = (uint64_t)block->end_ns,
		.source = "Flex",
	};
	return flex_write(flex, block->rank, &event);
}

int flex_write_blocks(struct flex *flex)
{
	for (uint32_t i = 0; i < flex->n_ranks; i++)
		flex->ranks[i].n_jobs = 0;
	for (uint32_t i = 0; i < flex->n_blocks; i++) {
		const struct flex_block *block = &flex->blocks[i];
		uint64_t job = ++flex->ranks[block->rank].n_jobs;

		FLEXTRACE_TRY(write_op(flex, block, job));
		if (block->end_ns)
			FLEXTRACE_TRY(write_estimate(flex, block, job));
	}
	return FLEXTRACE_OK;
}
