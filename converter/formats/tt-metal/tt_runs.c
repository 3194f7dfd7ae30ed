/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items in order of time -> marker batches, as the drain would have made them: the ring's words of
 * a run as they come, its slot behind its last one. Each device begins with a read of its counter.
 */
#include <string.h>

#include "base/array.h"
#include "tt_impl.h"

#define BATCH_WORDS 128u
#define FULL_WORDS  (BATCH_WORDS - 8) /* one item has no more than that is short of */

struct batch {
	struct flextrace_marker_batch batch;
	struct origin origin, kernel_origin; /* of it, and of the kernel that it may have */
	uint64_t words[BATCH_WORDS + 8];
};

static uint64_t word_of(uint32_t kind, uint64_t id, uint64_t low)
{
	return FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(kind, (uint32_t)id), (uint32_t)low);
}

/* -- out ------------------------------------------------------------------------------------- */

static void begin_batch(const struct tt *tt, const struct tt_area *area, uint64_t first_index,
                        struct batch *out)
{
	out->origin = out->kernel_origin = area->origin;
	out->batch = (struct flextrace_marker_batch){
		.device = tt->devices[area->device].slot,
		.core = area->core,
		.processor = area->processor,
		.first_index = first_index,
		.words = out->words,
	};
}

static int write_batch(struct tt *tt, const struct batch *out)
{
	struct event event = {
		.class = RECORD_MARKER_BATCH,
		.clock_ns = tt->last_ns,
		.vtid = -1,
		.n_origins = 1 + ORIGIN_N_PARTS,
		.payload.marker_batch = out->batch,
	};

	for (uint32_t i = 0; i < event.n_origins; i++)
		event.origins[i] = out->origin;
	event.origins[1 + ORIGIN_KERNEL] = out->kernel_origin;
	return import_write(&tt->import, 0, &event);
}

static void put(struct batch *out, uint64_t word)
{
	out->words[out->batch.n_words++] = word;
}

static int flush_words(struct tt *tt, struct tt_area *area)
{
	struct batch out;

	if (!area->n_words)
		return FLEXTRACE_OK;
	begin_batch(tt, area, area->next_index, &out);
	out.origin = out.kernel_origin = area->words_origin;
	out.batch.words = area->words;
	out.batch.n_words = area->n_words;
	area->next_index += area->n_words;
	area->n_words = 0;
	return write_batch(tt, &out);
}

static int make_room(struct tt *tt, struct tt_area *area)
{
	if (area->n_words >= FULL_WORDS)
		FLEXTRACE_TRY(flush_words(tt, area));
	return ARRAY_RESERVE(area->words, area->n_words_allocated, area->n_words + 8ull);
}

static void add_word(struct tt_area *area, uint64_t word)
{
	area->words[area->n_words++] = word;
}

/* What the ring needs before a word of an item. */
static int begin_word(struct tt *tt, struct tt_area *area, const struct tt_item *item,
                      uint64_t ticks)
{
	const struct tt_device *device = &tt->devices[area->device];
	uint64_t raw = tt_raw(device, ticks);

	FLEXTRACE_TRY(make_room(tt, area));
	if (!area->n_words)
		area->words_origin = item->origin;
	if (!area->has_ring_run) /* the ring names its run once */
		add_word(area,
		         word_of(FLEXTRACE_WIRE_RUN, area->run, tt_raw(device, area->anchor)));
	area->has_ring_run = true;
	if (ticks - area->last_ticks > UINT32_MAX)
		add_word(area, word_of(FLEXTRACE_WIRE_TIME, raw >> 32, raw));
	area->last_ticks = ticks;
	return FLEXTRACE_OK;
}

/* Between the two ends of a kernel. */
static bool is_in_kernel(const struct tt_area *area)
{
	uint8_t has_stamp = area->n_kernels ? area->kernels[area->n_kernels - 1].has_stamp
	                                    : area->has_stamp >> FLEXTRACE_WIRE_KERNEL_START;

	return (has_stamp & 3) == 1;
}

/* A mark without a name waits for the next one, as the ring is in order: who has no zones gives
 * their two ends numbers that follow each other. */
static int add_held_mark(struct tt *tt, struct tt_area *area, const struct tt_item *next)
{
	uint64_t raw = tt_raw(&tt->devices[area->device], area->held.ticks);

	area->held.zone = 0;
	if (!area->held.item.marker)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(begin_word(tt, area, &area->held.item, area->held.ticks));
	add_word(area, word_of(FLEXTRACE_WIRE_MARK, area->held.item.marker, raw));
	if (next && next->data == area->held.item.data + 1 && !area->held.ends &&
	    is_in_kernel(area)) {
		FLEXTRACE_TRY(
			tt_find_pair(tt, area->held.item.marker, next->marker, &area->held.zone));
		add_word(area, word_of(FLEXTRACE_WIRE_ZONE_BEGIN, area->held.zone, raw));
	}
	area->held.item.marker = 0;
	return FLEXTRACE_OK;
}

static void put_slot(struct batch *out, uint64_t run, uint64_t job, uint64_t anchor)
{
	put(out, word_of(FLEXTRACE_WIRE_SLOT_RUN, run, job));
	put(out, word_of(FLEXTRACE_WIRE_SLOT_QUEUE, 1, 0));
	put(out, word_of(FLEXTRACE_WIRE_SLOT_ANCHOR_LO, 0, anchor));
	put(out, word_of(FLEXTRACE_WIRE_SLOT_ANCHOR_HI, 0, anchor >> 32));
}

/* `anchor` is the cycle that the slot begins with. */
static void put_stamp(const struct tt_device *device, struct batch *out, uint32_t stamp,
                      uint64_t ticks, uint64_t anchor)
{
	uint64_t raw = tt_raw(device, ticks);

	put(out, word_of(FLEXTRACE_WIRE_SLOT_STAMP, stamp, raw));
	if (ticks - anchor > UINT32_MAX || !(uint32_t)raw)
		put(out, word_of(FLEXTRACE_WIRE_SLOT_HIGH, stamp, raw >> 32));
}

/* An anchor of 0 would be none. */
static uint64_t anchor_of(const struct tt_device *device, uint64_t ticks)
{
	return tt_raw(device, ticks) ? ticks : ticks - 1;
}

/* A kernel behind the first of a run is one of its own. */
static int write_kernel(struct tt *tt, const struct tt_area *area, uint32_t i)
{
	const struct tt_device *device = &tt->devices[area->device];
	const struct tt_kernel *kernel = &area->kernels[i];
	uint64_t anchor = anchor_of(device, kernel->stamps[kernel->has_stamp & 1 ? 0 : 1]);
	struct batch out;

	begin_batch(tt, area, area->run + 1 + i, &out);
	out.origin = out.kernel_origin = kernel->origin;
	put_slot(&out, area->run + 1 + i, area->job, tt_raw(device, anchor));
	for (uint32_t k = 0; k < 2; k++) {
		if (kernel->has_stamp >> k & 1)
			put_stamp(device, &out, FLEXTRACE_WIRE_KERNEL_START + k, kernel->stamps[k],
			          anchor);
	}
	return write_batch(tt, &out);
}

static int close_run(struct tt *tt, struct tt_area *area)
{
	const struct tt_device *device = &tt->devices[area->device];
	struct batch out;

	FLEXTRACE_TRY(add_held_mark(tt, area, NULL));
	FLEXTRACE_TRY(flush_words(tt, area));
	begin_batch(tt, area, area->run, &out);
	put_slot(&out, area->run, area->job, tt_raw(device, area->anchor));
	out.kernel_origin = area->kernel_origin;
	for (uint32_t i = 0; i < FLEXTRACE_WIRE_TS1; i++) {
		if (area->has_stamp >> i & 1)
			put_stamp(device, &out, i, area->stamps[i], area->anchor);
	}
	FLEXTRACE_TRY(write_batch(tt, &out));
	for (uint32_t i = 0; i < area->n_kernels; i++)
		FLEXTRACE_TRY(write_kernel(tt, area, i));
	area->run += area->n_kernels;
	area->n_kernels = 0;
	area->is_open = false;
	return FLEXTRACE_OK;
}

/* -- in -------------------------------------------------------------------------------------- */

static bool has_stamp(const struct tt_area *area, uint32_t stamp)
{
	return area->has_stamp >> stamp & 1;
}

static bool is_of_kernel(const struct tt_item *item)
{
	return item->kind == FLEXTRACE_WIRE_KERNEL_START || item->kind == FLEXTRACE_WIRE_KERNEL_END;
}

/* Between the two ends of the firmware, kernels may begin as often as they like. */
static bool is_in_firmware(const struct tt_area *area)
{
	return has_stamp(area, FLEXTRACE_WIRE_FW_START) && !has_stamp(area, FLEXTRACE_WIRE_FW_END);
}

/* A stamp that the run has already, or a later one, is of the next run; so is what names another
 * program. */
static bool begins_run(const struct tt_area *area, const struct tt_item *item)
{
	if (!area->is_open || item->kind == FLEXTRACE_WIRE_FW_START)
		return true;
	if (item->job && item->job != area->job)
		return true;
	if (is_of_kernel(item) && is_in_firmware(area))
		return false;
	return item->kind < TT_MARK && area->has_stamp >> item->kind;
}

/* Whether a stamp is not of the run's first kernel, as that has it, or a later one, already. */
static bool is_of_later_kernel(const struct tt_area *area, const struct tt_item *item)
{
	return is_of_kernel(item) && (area->n_kernels || area->has_stamp >> item->kind);
}

static int add_to_kernel(struct tt_area *area, const struct tt_item *item, uint64_t ticks)
{
	uint32_t stamp = item->kind - FLEXTRACE_WIRE_KERNEL_START;

	if (!area->n_kernels || area->kernels[area->n_kernels - 1].has_stamp >> stamp)
		FLEXTRACE_TRY(ARRAY_PUSH(area->kernels, area->n_kernels,
		                         (struct tt_kernel){.origin = item->origin}));
	area->kernels[area->n_kernels - 1].stamps[stamp] = ticks;
	area->kernels[area->n_kernels - 1].has_stamp |= (uint8_t)(1u << stamp);
	return FLEXTRACE_OK;
}

static void open_run(struct tt *tt, struct tt_area *area, const struct tt_item *item,
                     uint64_t ticks)
{
	area->run++;
	area->origin = area->kernel_origin = item->origin;
	area->job = item->job;
	area->anchor = area->last_ticks = anchor_of(&tt->devices[area->device], ticks);
	area->has_stamp = 0;
	area->is_open = true;
}

static void add_value(struct tt_area *area, uint64_t raw, uint32_t id, uint64_t value)
{
	add_word(area, word_of(FLEXTRACE_WIRE_VALUE, id, raw));
	add_word(area, word_of(FLEXTRACE_WIRE_VALUE_DATA, id, value));
}

static int hold_mark(struct tt *tt, struct tt_area *area, const struct tt_item *item,
                     uint64_t ticks)
{
	FLEXTRACE_TRY(add_held_mark(tt, area, item));
	area->held.ends = area->held.zone != 0;
	if (area->held.ends) {
		FLEXTRACE_TRY(begin_word(tt, area, item, ticks));
		add_word(area, word_of(FLEXTRACE_WIRE_ZONE_END, area->held.zone,
		                       tt_raw(&tt->devices[area->device], ticks)));
	}
	area->held.item = *item;
	area->held.ticks = ticks;
	return FLEXTRACE_OK;
}

static int add_mark(struct tt *tt, struct tt_area *area, const struct tt_item *item, uint64_t ticks)
{
	uint64_t raw = tt_raw(&tt->devices[area->device], ticks);

	FLEXTRACE_TRY(begin_word(tt, area, item, ticks));
	if (item->kind == TT_MARK)
		add_word(area, word_of(FLEXTRACE_WIRE_MARK, item->marker, raw));
	else if (item->kind == TT_BEGIN)
		add_word(area, word_of(FLEXTRACE_WIRE_ZONE_BEGIN, item->marker, raw));
	else if (item->kind == TT_END)
		add_word(area, word_of(FLEXTRACE_WIRE_ZONE_END, item->marker, raw));
	else
		add_value(area, raw, item->marker, item->data);
	if (item->high_marker)
		add_value(area, raw, item->high_marker, item->data >> 32);
	return FLEXTRACE_OK;
}

static int take_item(struct tt *tt, const struct tt_item *item, uint64_t ticks)
{
	struct tt_area *area = &tt->areas[item->area];

	if (begins_run(area, item)) {
		if (area->is_open)
			FLEXTRACE_TRY(close_run(tt, area));
		open_run(tt, area, item, ticks);
		area->has_ring_run = false;
	}
	if (item->kind == TT_MARK && !item->is_named)
		return hold_mark(tt, area, item, ticks);
	if (item->kind >= TT_MARK)
		return add_mark(tt, area, item, ticks);
	if (is_of_later_kernel(area, item))
		return add_to_kernel(area, item, ticks);
	if (is_of_kernel(item) && !has_stamp(area, FLEXTRACE_WIRE_KERNEL_START))
		area->kernel_origin = item->origin;
	area->stamps[item->kind] = ticks;
	area->has_stamp |= (uint8_t)(1u << item->kind);
	return FLEXTRACE_OK;
}

/* -- all devices in order of time ------------------------------------------------------------ */

static int fill_head(struct tt_device *device)
{
	struct spool_item item;
	int code;

	if (device->next.is_there || device->next.is_at_end)
		return FLEXTRACE_OK;
	code = spool_next(device->spool, &item);
	FLEXTRACE_TRY(code);
	device->next.is_at_end = code == 0;
	if (device->next.is_at_end)
		return FLEXTRACE_OK;
	device->next.is_there = true;
	device->next.ticks = tt_ticks(device, item.key);
	device->next.ns = tt_ns(device, device->next.ticks);
	memcpy(&device->next.item, item.bytes, sizeof(device->next.item));
	return FLEXTRACE_OK;
}

/* Stores the device whose next item is the first; NULL: there is no more. */
static int find_first(struct tt *tt, struct tt_device **ret_device)
{
	*ret_device = NULL;
	for (uint32_t i = 0; i < tt->n_devices; i++) {
		struct tt_device *device = &tt->devices[i];

		FLEXTRACE_TRY(fill_head(device));
		if (device->next.is_there &&
		    (!*ret_device || device->next.ns < (*ret_device)->next.ns))
			*ret_device = device;
	}
	return FLEXTRACE_OK;
}

/* What ties the counter to the time of all: its first cycle. */
static int read_counter(struct tt *tt, struct tt_device *device)
{
	struct batch out;

	begin_batch(tt, &tt->areas[device->next.item.area], 0, &out);
	put_slot(&out, 0, 0, tt_raw(device, device->next.ticks));
	device->is_read = true;
	return write_batch(tt, &out);
}

int tt_write_runs(struct tt *tt)
{
	struct tt_device *device;

	for (;;) {
		FLEXTRACE_TRY(find_first(tt, &device));
		if (!device)
			break;
		tt->last_ns = device->next.ns;
		if (!device->is_read)
			FLEXTRACE_TRY(read_counter(tt, device));
		device->next.is_there = false;
		FLEXTRACE_TRY(take_item(tt, &device->next.item, device->next.ticks));
	}
	for (uint32_t i = 0; i < tt->n_areas; i++) {
		if (tt->areas[i].is_open)
			FLEXTRACE_TRY(close_run(tt, &tt->areas[i]));
	}
	return FLEXTRACE_OK;
}
