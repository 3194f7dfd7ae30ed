/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marker.c: the part of the markers that is not worth having at every place: setting up, the start
 * of a run, and what to do when a marker finds no room. The policies differ only here.
 */
#include <flextrace/marker.h>

#ifdef FLEXTRACE_DISABLE

extern int flextrace_fw_disabled; /* a translation unit must not be empty */

#else

/*
 * What the image says of itself to `flextrace doctor`, in a section that is not loaded, like names:
 * version of the areas, bits of the counter.
 */
/* clang-format off */
__asm__(".pushsection .flextrace.markers,\"\"\n"
	".asciz \"" FLEXTRACE_I_TEXT(FLEXTRACE_WIRE_VERSION) "\"\n"
	".asciz \"" FLEXTRACE_I_TEXT(FLEXTRACE_COUNTER_BITS) "\"\n"
	".popsection");
/* clang-format on */

#define MAX_TRACKED_DEPTH 32u /* zones inside a dropped zone whose fate zone_bits can tell */

/* Firmware memory is small: no copy at each call (1700 bytes less on rv32im). */
#define ONCE              static __attribute__((noinline))

/* The private words while the slow path works on them. */
struct ring {
	struct flextrace_wire_area *area;
	uint32_t head;
	uint32_t seen;
	uint32_t open;  /* recorded zones that are open: records kept for their ends */
	uint32_t depth; /* zone_depth */
	uint32_t bits;  /* zone_bits */
};

static int run_is_pending(const struct flextrace_wire_area *area)
{
	return FLEXTRACE_PORT_LOAD(area->own.ring_run) != FLEXTRACE_PORT_LOAD(area->run);
}

ONCE void ring_enter(struct ring *ring, struct flextrace_wire_area *area)
{
	ring->area = area;
	ring->head = FLEXTRACE_PORT_LOAD(area->head);
	ring->depth = FLEXTRACE_PORT_LOAD(area->own.zone_depth);
	ring->bits = FLEXTRACE_PORT_LOAD(area->own.zone_bits);
	if (ring->depth || run_is_pending(area))
		ring->open = FLEXTRACE_PORT_LOAD(area->own.open_zones);
	else
		ring->open = FLEXTRACE_PORT_LOAD(area->own.seen) -
		             FLEXTRACE_PORT_LOAD(area->own.stop);
	ring->seen = FLEXTRACE_PORT_LIMIT(area->limit);
}

ONCE void ring_leave(const struct ring *ring)
{
	struct flextrace_wire_area *area = ring->area;
	uint32_t least = ring->head + ring->open;
	uint32_t seen = ring->seen;

	/* A host that takes room back must not make us run past the ends we promised. */
	if ((int32_t)(seen - least) < 0)
		seen = least;
	FLEXTRACE_PORT_STORE(area->own.zone_depth, ring->depth);
	FLEXTRACE_PORT_STORE(area->own.zone_bits, ring->bits);
	if (ring->depth || run_is_pending(area)) {
		FLEXTRACE_PORT_STORE(area->own.open_zones, ring->open);
		FLEXTRACE_PORT_STORE(area->own.seen, ring->head);
		FLEXTRACE_PORT_STORE(area->own.stop, ring->head);
	} else {
		FLEXTRACE_PORT_STORE(area->own.seen, seen);
		FLEXTRACE_PORT_STORE(area->own.stop, seen - ring->open);
	}
}

/*
 * Waits until the host moves the limit or wants another policy. 0 = it did neither in time; from
 * then on nothing waits for a host that is away, until it moves the limit.
 */
static int ring_wait(struct ring *ring)
{
	struct flextrace_wire_area *area = ring->area;
	uint32_t last = FLEXTRACE_CLOCK_LO();
	uint32_t waited = 0;

	if (FLEXTRACE_PORT_LOAD(area->own.is_alone) &&
	    FLEXTRACE_PORT_LOAD(area->own.alone_at) == ring->seen)
		return 0;
	while (waited < FLEXTRACE_BLOCK_TICKS) {
		uint32_t more, limit;

		FLEXTRACE_PORT_WAIT();
		limit = FLEXTRACE_PORT_LIMIT(area->limit);
		if (limit != ring->seen ||
		    FLEXTRACE_PORT_LOAD(area->policy) != FLEXTRACE_WIRE_BLOCK) {
			FLEXTRACE_PORT_STORE(area->own.is_alone, 0);
			ring->seen = limit;
			return 1;
		}
		more = FLEXTRACE_CLOCK_LO() - last;
		last += more;
		waited += more;
	}
	FLEXTRACE_PORT_STORE(area->own.is_alone, 1);
	FLEXTRACE_PORT_STORE(area->own.alone_at, ring->seen);
	return 0;
}

/* 1 if `n` records may be written on top of what is kept for ends. */
ONCE int ring_has_room(struct ring *ring, uint32_t n)
{
	struct flextrace_wire_area *area = ring->area;
	uint32_t capacity = FLEXTRACE_PORT_LOAD(area->own.mask) + 1;

	if (ring->open + n > capacity)
		return 0; /* no policy can make room */
	while ((int32_t)(ring->seen - ring->head - ring->open - n) < 0) {
		switch (FLEXTRACE_PORT_LOAD(area->policy)) {
		case FLEXTRACE_WIRE_OVERWRITE:
			ring->seen = ring->head + capacity;
			break;
		case FLEXTRACE_WIRE_BLOCK:
			if (!ring_wait(ring))
				return 0;
			break;
		default:
			return 0;
		}
	}
	return 1;
}

static void ring_put(struct ring *ring, uint32_t kind_id, uint32_t ticks)
{
	flextrace_i_put(ring->area, ring->head, kind_id, ticks);
	ring->head++;
	FLEXTRACE_PORT_PUBLISH(ring->area->head, ring->head);
}

static void ring_stamp(struct ring *ring, uint32_t kind_id)
{
	uint32_t ticks = FLEXTRACE_CLOCK_LO();

	FLEXTRACE_PORT_NOTE(kind_id >> FLEXTRACE_WIRE_ID_BITS, kind_id);
	ring_put(ring, kind_id, ticks);
}

static void ring_drop(const struct ring *ring, uint32_t n)
{
	struct flextrace_wire_area *area = ring->area;

	FLEXTRACE_PORT_PUBLISH(area->dropped, FLEXTRACE_PORT_LOAD(area->dropped) + n);
}

/* Writes the RUN record of the newest run if it is still missing and now has room. */
static void ring_put_run(struct ring *ring, uint32_t ticks)
{
	struct flextrace_wire_area *area = ring->area;
	uint32_t run = FLEXTRACE_PORT_LOAD(area->run);

	if (!ring_has_room(ring, 1))
		return;
	ring_put(ring, FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_RUN, run), ticks);
	FLEXTRACE_PORT_STORE(area->own.ring_run, run);
}

/* Ends of zones may have been written meanwhile, so a late RUN record bears the time of now. */
ONCE void ring_catch_up(struct ring *ring)
{
	if (run_is_pending(ring->area))
		ring_put_run(ring, FLEXTRACE_CLOCK_LO());
}

void flextrace_fw_mark_slow_in(uint32_t kind_id, struct flextrace_wire_area *area)
{
	struct ring ring;

	ring_enter(&ring, area);
	ring_catch_up(&ring);
	if (ring_has_room(&ring, 1))
		ring_stamp(&ring, kind_id);
	else
		ring_drop(&ring, 1);
	ring_leave(&ring);
}

void flextrace_fw_value_slow_in(uint32_t kind_id, uint32_t value, struct flextrace_wire_area *area)
{
	struct ring ring;

	ring_enter(&ring, area);
	ring_catch_up(&ring);
	if (ring_has_room(&ring, 2)) {
		ring_stamp(&ring, kind_id);
		ring_put(&ring, kind_id + (1u << FLEXTRACE_WIRE_ID_BITS), value);
	} else {
		ring_drop(&ring, 2);
	}
	ring_leave(&ring);
}

/* A zone counts towards zone_depth from the first dropped one on. */
void flextrace_fw_zone_begin_slow_in(uint32_t kind_id, struct flextrace_wire_area *area)
{
	struct ring ring;
	int keep;

	ring_enter(&ring, area);
	ring_catch_up(&ring);
	keep = ring.depth < MAX_TRACKED_DEPTH && ring_has_room(&ring, 2);
	if (keep) {
		ring.open++;
		ring_stamp(&ring, kind_id);
	} else {
		ring_drop(&ring, 1);
	}
	if (ring.depth || !keep) {
		if (ring.depth < MAX_TRACKED_DEPTH)
			ring.bits = ring.bits << 1 | !keep;
		ring.depth++;
	}
	ring_leave(&ring);
}

/* 1 if the innermost open zone was dropped, or there is none; takes it off the stack. */
static int ring_pop_dropped(struct ring *ring)
{
	uint32_t dropped;

	if (!ring->depth)
		return !ring->open;
	if (ring->depth-- > MAX_TRACKED_DEPTH)
		return 1;
	dropped = ring->bits & 1;
	ring->bits >>= 1;
	return dropped != 0;
}

/* 1 if an end may be written: it takes what was kept for it, or, behind the FW start that gave that
 * back, a place that happens to be free. */
static int ring_may_end(struct ring *ring)
{
	struct flextrace_wire_area *area = ring->area;
	uint32_t late = FLEXTRACE_PORT_LOAD(area->own.late_ends);

	if (ring->depth || ring->open || !late) {
		if (ring_pop_dropped(ring))
			return 0;
		ring->open--;
		return 1;
	}
	FLEXTRACE_PORT_STORE(area->own.late_ends, late - 1);
	return ring_has_room(ring, 1);
}

void flextrace_fw_zone_end_slow_in(uint32_t kind_id, struct flextrace_wire_area *area)
{
	struct ring ring;

	ring_enter(&ring, area);
	ring_catch_up(&ring);
	if (ring_may_end(&ring))
		ring_stamp(&ring, kind_id);
	else
		ring_drop(&ring, 1);
	ring_leave(&ring);
}

/* Zones of the run before that are open keep nothing any more: most of them never end. */
static void ring_give_back(struct ring *ring)
{
	struct flextrace_wire_area *area = ring->area;

	FLEXTRACE_PORT_STORE(area->own.late_ends,
	                     FLEXTRACE_PORT_LOAD(area->own.late_ends) + ring->open);
	ring->open = 0;
	ring->depth = 0;
	ring->bits = 0;
}

void flextrace_fw_start_in(uint32_t job, uint32_t queue, struct flextrace_wire_area *area)
{
	uint32_t run = FLEXTRACE_PORT_LOAD(area->run) + 1;
	struct flextrace_wire_slot *slot = &area->slot[run & 1];
	uint32_t high, low, again;
	struct ring ring;
	uint32_t i;

	ring_enter(&ring, area);
	if (run_is_pending(area))
		ring_drop(&ring, 1); /* the last run's record never found room */
	ring_give_back(&ring);
	FLEXTRACE_PORT_STORE(area->own.ring_run, run - 1);
	FLEXTRACE_PORT_STORE(area->run, run);
	FLEXTRACE_PORT_FENCE();
	FLEXTRACE_PORT_STORE(slot->done, run - 1);
	FLEXTRACE_PORT_FENCE();

	do {
		high = FLEXTRACE_CLOCK_HI();
		low = FLEXTRACE_CLOCK_LO();
		FLEXTRACE_PORT_NOTE(FLEXTRACE_WIRE_SLOT_STAMP, FLEXTRACE_WIRE_FW_START);
		again = FLEXTRACE_CLOCK_HI();
	} while (high != again);
	FLEXTRACE_PORT_STORE(slot->job, job);
	FLEXTRACE_PORT_STORE(slot->queue, queue);
	FLEXTRACE_PORT_STORE(slot->anchor_lo, low);
	FLEXTRACE_PORT_STORE(slot->anchor_hi, high);
	FLEXTRACE_PORT_STORE(slot->ticks[FLEXTRACE_WIRE_FW_START], low);
	for (i = FLEXTRACE_WIRE_KERNEL_START; i < FLEXTRACE_WIRE_N_STAMPS; i++)
		FLEXTRACE_PORT_STORE(slot->ticks[i], 0);
	FLEXTRACE_PORT_STORE(area->own.current.slot, slot);
	FLEXTRACE_PORT_PUBLISH(slot->run, run);

	ring_put_run(&ring, low);
	ring_leave(&ring);
}

/* All but magic, version, place, `resets` and slots is 0 at first. */
static void clear(struct flextrace_wire_area *area)
{
	uint32_t *word = &area->run;

	for (; word < &area->slot[0].run; word++)
		FLEXTRACE_PORT_STORE(*word, 0);
}

/* The memory is there for so many: the largest ring that fits. 0: none does, all is dropped. */
static uint32_t ring_capacity(uint32_t wanted)
{
	while (wanted & (wanted - 1))
		wanted &= wanted - 1;
	return wanted < 4 ? 0 : wanted;
}

static void init_ring(struct flextrace_wire_area *area, uint32_t capacity, uint32_t policy)
{
	FLEXTRACE_PORT_STORE(area->capacity, capacity);
	FLEXTRACE_PORT_STORE(area->limit, capacity);
	FLEXTRACE_PORT_STORE(area->policy, policy);
	FLEXTRACE_PORT_STORE(area->own.current.slot, &area->slot[0]);
	FLEXTRACE_PORT_STORE(area->own.mask, capacity - 1);
	FLEXTRACE_PORT_STORE(area->own.stop, capacity);
	FLEXTRACE_PORT_STORE(area->own.seen, capacity);
}

__attribute__((noinline)) void flextrace_fw_set_up_in(struct flextrace_wire_area *area,
                                                      const struct flextrace_fw_setup *setup)
{
	uint32_t i;

	FLEXTRACE_PORT_STORE(area->magic, 0);
	FLEXTRACE_PORT_FENCE();
	clear(area);
	FLEXTRACE_PORT_STORE(area->version, FLEXTRACE_WIRE_VERSION);
	FLEXTRACE_PORT_STORE(area->core, setup->core);
	FLEXTRACE_PORT_STORE(area->processor, setup->processor);
	FLEXTRACE_PORT_STORE(area->domain, setup->domain);
	FLEXTRACE_PORT_STORE(area->counter_bits, FLEXTRACE_COUNTER_BITS);
	FLEXTRACE_PORT_STORE(area->resets, FLEXTRACE_PORT_LOAD(area->resets) + 1);
	FLEXTRACE_PORT_STORE(area->config, FLEXTRACE_I_CONFIG);
	FLEXTRACE_PORT_STORE(area->init_config, setup->config);
	init_ring(area, ring_capacity(setup->capacity), setup->policy);
	for (i = 0; i < 2; i++) {
		FLEXTRACE_PORT_STORE(area->slot[i].run, 0);
		FLEXTRACE_PORT_STORE(area->slot[i].done, 0xffffffffu);
	}
	FLEXTRACE_PORT_PUBLISH(area->magic, FLEXTRACE_WIRE_MAGIC);
}

/* -- of the calling core's own area ------------------------------------------------------------ */

void flextrace_fw_set_up(uint32_t core, uint32_t processor, uint32_t domain, uint32_t capacity,
                         uint32_t policy, uint32_t config)
{
	const struct flextrace_fw_setup setup = {core, processor, domain, capacity, policy, config};

	flextrace_fw_set_up_in(FLEXTRACE_AREA(), &setup);
}

void flextrace_fw_start(uint32_t job, uint32_t queue)
{
	flextrace_fw_start_in(job, queue, FLEXTRACE_AREA());
}

void flextrace_fw_mark_slow(uint32_t kind_id)
{
	flextrace_fw_mark_slow_in(kind_id, FLEXTRACE_AREA());
}

void flextrace_fw_value_slow(uint32_t kind_id, uint32_t value)
{
	flextrace_fw_value_slow_in(kind_id, value, FLEXTRACE_AREA());
}

void flextrace_fw_zone_begin_slow(uint32_t kind_id)
{
	flextrace_fw_zone_begin_slow_in(kind_id, FLEXTRACE_AREA());
}

void flextrace_fw_zone_end_slow(uint32_t kind_id)
{
	flextrace_fw_zone_end_slow_in(kind_id, FLEXTRACE_AREA());
}

#endif
