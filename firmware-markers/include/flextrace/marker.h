/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marker.h: the macros that device firmware calls to be traced.
 *
 *	#include <flextrace/marker.h>
 *
 *	FLEXTRACE_FW_INIT(core, processor, domain, 1024, FLEXTRACE_WIRE_STOP); // once, at boot
 *
 *	FLEXTRACE_FW_START(block->job, block->queue); // one run of the firmware: a control block
 *	FLEXTRACE_TS(1);
 *	FLEXTRACE_ZONE_BEGIN("dma in");
 *	...
 *	FLEXTRACE_ZONE_END("dma in");
 *	FLEXTRACE_KERNEL_START();
 *	kernel();
 *	FLEXTRACE_KERNEL_END();
 *	FLEXTRACE_FW_END();
 *
 * The markers write into a marker area in the device's memory (wire.h), from which the host's
 * flextrace_drain() takes them.
 *
 * - FW, KERNEL and TS stamps have places of their own and are never dropped while the host reads
 *   each run before the second next one starts. Between FW_START and FW_END each is stamped once.
 * - MARK, ZONE and VALUE share a ring of records. A record that finds no room is dropped and
 *   counted (policy stop), or replaces the oldest one (overwrite), or waits for the host (block).
 * - Zones nest. A begin reserves room for its end; the end of a dropped begin is dropped with it.
 *   FW_START releases what is still reserved, so that a zone without an end takes no room from the
 *   next run. An end that comes after FW_START is recorded if there is room.
 * - Names are string literals. They and their place in the source stay on the host (port.h). Where
 *   the name is known at run time only, the _ID forms take a number below 2^27, for which the host
 *   calls flextrace_marker_name() with the id FLEXTRACE_MARKER_ID(number).
 * - One area belongs to one thread of execution. An interrupt handler has an area of its own, set
 *   up as another `processor`, and passes it: FLEXTRACE_MARK_IN(&handler_area, "tick"). Each macro
 *   has such a form. Two writers in one area lose records that are not all counted; the host warns
 *   if it sees two (docs/formats-marker-area.md, "Two writers").
 * - Nothing here returns an error, allocates, or needs a C library, libgcc or atomics.
 * - With -DFLEXTRACE_DISABLE all of it vanishes, arguments are not evaluated.
 *
 * Compile marker.c into the firmware with the same configuration (config.h). C99 with the
 * statement expressions of gcc and clang; C++11.
 */
#ifndef FLEXTRACE_MARKER_H
#define FLEXTRACE_MARKER_H

#include <flextrace/config.h>
#include <flextrace/wire.h>

#ifdef FLEXTRACE_DISABLE

#define FLEXTRACE_I_NOTHING(argument) ((void)sizeof(argument))
#define FLEXTRACE_FW_INIT(core, processor, domain, capacity, policy)                   \
	((void)(sizeof(core) + sizeof(processor) + sizeof(domain) + sizeof(capacity) + \
	        sizeof(policy)))
#define FLEXTRACE_FW_START(job, queue)  ((void)(sizeof(job) + sizeof(queue)))
#define FLEXTRACE_FW_END()              ((void)0)
#define FLEXTRACE_KERNEL_START()        ((void)0)
#define FLEXTRACE_KERNEL_END()          ((void)0)
#define FLEXTRACE_TS(number)            FLEXTRACE_I_NOTHING(number)
#define FLEXTRACE_MARK(name)            FLEXTRACE_I_NOTHING(name)
#define FLEXTRACE_ZONE_BEGIN(name)      FLEXTRACE_I_NOTHING(name)
#define FLEXTRACE_ZONE_END(name)        FLEXTRACE_I_NOTHING(name)
#define FLEXTRACE_VALUE(name, value)    ((void)(sizeof(name) + sizeof(value)))
#define FLEXTRACE_MARK_ID(number)       FLEXTRACE_I_NOTHING(number)
#define FLEXTRACE_ZONE_BEGIN_ID(number) FLEXTRACE_I_NOTHING(number)
#define FLEXTRACE_ZONE_END_ID(number)   FLEXTRACE_I_NOTHING(number)

#define FLEXTRACE_VALUE_ID(number, value) ((void)(sizeof(number) + sizeof(value)))

#define FLEXTRACE_FW_INIT_IN(area, core, processor, domain, capacity, policy) \
	((void)sizeof(area), FLEXTRACE_FW_INIT(core, processor, domain, capacity, policy))
#define FLEXTRACE_FW_START_IN(area, job, queue) ((void)(sizeof(area) + sizeof(job) + sizeof(queue)))
#define FLEXTRACE_FW_END_IN(area)               FLEXTRACE_I_NOTHING(area)
#define FLEXTRACE_KERNEL_START_IN(area)         FLEXTRACE_I_NOTHING(area)
#define FLEXTRACE_KERNEL_END_IN(area)           FLEXTRACE_I_NOTHING(area)
#define FLEXTRACE_TS_IN(area, number)           ((void)(sizeof(area) + sizeof(number)))
#define FLEXTRACE_MARK_IN(area, name)           ((void)(sizeof(area) + sizeof(name)))
#define FLEXTRACE_ZONE_BEGIN_IN(area, name)     ((void)(sizeof(area) + sizeof(name)))
#define FLEXTRACE_ZONE_END_IN(area, name)       ((void)(sizeof(area) + sizeof(name)))

#define FLEXTRACE_MARK_ID_IN(area, number)       ((void)(sizeof(area) + sizeof(number)))
#define FLEXTRACE_ZONE_BEGIN_ID_IN(area, number) ((void)(sizeof(area) + sizeof(number)))
#define FLEXTRACE_ZONE_END_ID_IN(area, number)   ((void)(sizeof(area) + sizeof(number)))

#define FLEXTRACE_VALUE_IN(area, name, value) ((void)(sizeof(area) + sizeof(name) + sizeof(value)))
#define FLEXTRACE_VALUE_ID_IN(area, number, value) \
	((void)(sizeof(area) + sizeof(number) + sizeof(value)))

#else

#include <flextrace/port.h>

#define FLEXTRACE_I_KIND_ID(kind, name) \
	(FLEXTRACE_PORT_KIND_ID(kind, name) + FLEXTRACE_I_CHECK_NAME(name))
#define FLEXTRACE_I_NUMBERED(kind, number) \
	FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_##kind, FLEXTRACE_MARKER_ID(number))

/*
 * A compile error if `capacity` is a constant that no ring can have. A capacity that is known only
 * at run time is rounded down to a power of two. A ring with fewer than 4 records then drops all
 * records, and the host refuses the area.
 */
#ifdef __cplusplus
#define FLEXTRACE_I_ASSERT(...)               static_assert(__VA_ARGS__)
#define FLEXTRACE_I_CONSTANT_OR(value, other) (__builtin_constant_p(value) ? (value) : (other))
#else
#define FLEXTRACE_I_ASSERT(...) _Static_assert(__VA_ARGS__)
#define FLEXTRACE_I_CONSTANT_OR(value, other) \
	__builtin_choose_expr(__builtin_constant_p(value), (value), (other))
#endif
#define FLEXTRACE_I_IS_CAPACITY(n) \
	((n) >= 4 && (n) <= FLEXTRACE_WIRE_MAX_CAPACITY && ((n) & ((n)-1)) == 0)
#define FLEXTRACE_I_CHECK_CAPACITY(capacity)                                              \
	FLEXTRACE_I_ASSERT(FLEXTRACE_I_IS_CAPACITY(FLEXTRACE_I_CONSTANT_OR(capacity, 4)), \
	                   "the capacity of a marker area is a power of two from 4 to 0x1000000")

/*
 * Sets up the area of the calling core with a ring of `capacity` records (a power of two, at least
 * 4; the area has FLEXTRACE_WIRE_AREA_BYTES(capacity)). All counts start anew; call it once at
 * boot, before the first marker. The host sees that it was called again.
 */
#define FLEXTRACE_FW_INIT(core, processor, domain, capacity, policy)           \
	__extension__({                                                        \
		FLEXTRACE_I_CHECK_CAPACITY(capacity);                          \
		flextrace_fw_set_up(core, processor, domain, capacity, policy, \
		                    FLEXTRACE_I_CONFIG);                       \
	})

/* Starts a run: stamps FW start, with the control block's job number and its queue. */
#define FLEXTRACE_FW_START(job, queue) flextrace_fw_start(job, queue)

/* Ends the run: stamps FW end and hands the run's stamps to the host. */
#define FLEXTRACE_FW_END()             flextrace_i_fw_end(FLEXTRACE_AREA())

/* The two ends of the kernel proper within the run. */
#define FLEXTRACE_KERNEL_START()       FLEXTRACE_KERNEL_START_IN(FLEXTRACE_AREA())
#define FLEXTRACE_KERNEL_END()         FLEXTRACE_KERNEL_END_IN(FLEXTRACE_AREA())

/* TS1..TS5 of the run's control block; `number` is a constant 1..5. */
#define FLEXTRACE_TS(number)           FLEXTRACE_TS_IN(FLEXTRACE_AREA(), number)

/* An instant: FLEXTRACE_MARK("semaphore taken"); */
#define FLEXTRACE_MARK(name) \
	flextrace_i_mark(FLEXTRACE_AREA(), 1, FLEXTRACE_I_KIND_ID(FLEXTRACE_WIRE_MARK, name))

/* An interval; END names the same zone as the BEGIN it closes. */
#define FLEXTRACE_ZONE_BEGIN(name)                  \
	flextrace_i_zone_begin(FLEXTRACE_AREA(), 1, \
	                       FLEXTRACE_I_KIND_ID(FLEXTRACE_WIRE_ZONE_BEGIN, name))
#define FLEXTRACE_ZONE_END(name)                  \
	flextrace_i_zone_end(FLEXTRACE_AREA(), 1, \
	                     FLEXTRACE_I_KIND_ID(FLEXTRACE_WIRE_ZONE_END, name))

/* A number at a time, 32 bits: FLEXTRACE_VALUE("queue depth", n); takes two records. */
#define FLEXTRACE_VALUE(name, value)                                                            \
	flextrace_i_value(FLEXTRACE_AREA(), 1, FLEXTRACE_I_KIND_ID(FLEXTRACE_WIRE_VALUE, name), \
	                  value)

/* The same with numbers for names: FLEXTRACE_ZONE_BEGIN_ID(layer); ... _ZONE_END_ID(layer); */
#define FLEXTRACE_MARK_ID(number) \
	flextrace_i_mark(FLEXTRACE_AREA(), 1, FLEXTRACE_I_NUMBERED(MARK, number))
#define FLEXTRACE_ZONE_BEGIN_ID(number) \
	flextrace_i_zone_begin(FLEXTRACE_AREA(), 1, FLEXTRACE_I_NUMBERED(ZONE_BEGIN, number))
#define FLEXTRACE_ZONE_END_ID(number) \
	flextrace_i_zone_end(FLEXTRACE_AREA(), 1, FLEXTRACE_I_NUMBERED(ZONE_END, number))
#define FLEXTRACE_VALUE_ID(number, value) \
	flextrace_i_value(FLEXTRACE_AREA(), 1, FLEXTRACE_I_NUMBERED(VALUE, number), value)

/*
 * The same in an area that is named, `struct flextrace_wire_area *`: of an interrupt handler, or of
 * each of several threads of execution of a core. It is set up first, with another `processor`.
 */
#define FLEXTRACE_FW_INIT_IN(area, core, processor, domain, capacity, policy)      \
	__extension__({                                                            \
		FLEXTRACE_I_CHECK_CAPACITY(capacity);                              \
		flextrace_i_init(area, core, processor, domain, capacity, policy); \
	})
#define FLEXTRACE_FW_START_IN(area, job, queue) flextrace_fw_start_in(job, queue, area)
#define FLEXTRACE_FW_END_IN(area)               flextrace_i_fw_end(area)
#define FLEXTRACE_KERNEL_START_IN(area)         flextrace_i_stamp(area, FLEXTRACE_WIRE_KERNEL_START)
#define FLEXTRACE_KERNEL_END_IN(area)           flextrace_i_stamp(area, FLEXTRACE_WIRE_KERNEL_END)
#define FLEXTRACE_TS_IN(area, number)                                           \
	flextrace_i_stamp(area, (uint32_t)(FLEXTRACE_WIRE_TS1 - 1 + (number)) + \
	                                0 * sizeof(char[(number) >= 1 && (number) <= 5 ? 1 : -1]))
#define FLEXTRACE_MARK_IN(area, name) \
	flextrace_i_mark(area, 0, FLEXTRACE_I_KIND_ID(FLEXTRACE_WIRE_MARK, name))
#define FLEXTRACE_ZONE_BEGIN_IN(area, name) \
	flextrace_i_zone_begin(area, 0, FLEXTRACE_I_KIND_ID(FLEXTRACE_WIRE_ZONE_BEGIN, name))
#define FLEXTRACE_ZONE_END_IN(area, name) \
	flextrace_i_zone_end(area, 0, FLEXTRACE_I_KIND_ID(FLEXTRACE_WIRE_ZONE_END, name))
#define FLEXTRACE_VALUE_IN(area, name, value) \
	flextrace_i_value(area, 0, FLEXTRACE_I_KIND_ID(FLEXTRACE_WIRE_VALUE, name), value)
#define FLEXTRACE_MARK_ID_IN(area, number) \
	flextrace_i_mark(area, 0, FLEXTRACE_I_NUMBERED(MARK, number))
#define FLEXTRACE_ZONE_BEGIN_ID_IN(area, number) \
	flextrace_i_zone_begin(area, 0, FLEXTRACE_I_NUMBERED(ZONE_BEGIN, number))
#define FLEXTRACE_ZONE_END_ID_IN(area, number) \
	flextrace_i_zone_end(area, 0, FLEXTRACE_I_NUMBERED(ZONE_END, number))
#define FLEXTRACE_VALUE_ID_IN(area, number, value) \
	flextrace_i_value(area, 0, FLEXTRACE_I_NUMBERED(VALUE, number), value)

#ifdef __cplusplus
extern "C" {
#endif

struct flextrace_fw_setup {
	uint32_t core, processor, domain, capacity, policy, config;
};

void flextrace_fw_set_up(uint32_t core, uint32_t processor, uint32_t domain, uint32_t capacity,
                         uint32_t policy, uint32_t config);
void flextrace_fw_set_up_in(struct flextrace_wire_area *area,
                            const struct flextrace_fw_setup *setup);
void flextrace_fw_start(uint32_t job, uint32_t queue);
void flextrace_fw_start_in(uint32_t job, uint32_t queue, struct flextrace_wire_area *area);

/* Out of line: called when the fast path finds no room. */
void flextrace_fw_mark_slow(uint32_t kind_id);
void flextrace_fw_zone_begin_slow(uint32_t kind_id);
void flextrace_fw_zone_end_slow(uint32_t kind_id);
void flextrace_fw_value_slow(uint32_t kind_id, uint32_t value);
void flextrace_fw_mark_slow_in(uint32_t kind_id, struct flextrace_wire_area *area);
void flextrace_fw_zone_begin_slow_in(uint32_t kind_id, struct flextrace_wire_area *area);
void flextrace_fw_zone_end_slow_in(uint32_t kind_id, struct flextrace_wire_area *area);
void flextrace_fw_value_slow_in(uint32_t kind_id, uint32_t value, struct flextrace_wire_area *area);

#ifdef __cplusplus
}
#endif

FLEXTRACE_I_INLINE void flextrace_i_init(struct flextrace_wire_area *area, uint32_t core,
                                         uint32_t processor, uint32_t domain, uint32_t capacity,
                                         uint32_t policy)
{
	const struct flextrace_fw_setup setup = {core,     processor, domain,
	                                         capacity, policy,    FLEXTRACE_I_CONFIG};

	flextrace_fw_set_up_in(area, &setup);
}

FLEXTRACE_I_INLINE void flextrace_i_stamp(struct flextrace_wire_area *area, uint32_t stamp)
{
	struct flextrace_wire_slot *slot = FLEXTRACE_PORT_LOAD(area->own.current.slot);

	FLEXTRACE_PORT_STORE(slot->ticks[stamp], FLEXTRACE_CLOCK_LO());
	FLEXTRACE_PORT_NOTE(FLEXTRACE_WIRE_SLOT_STAMP, stamp);
}

FLEXTRACE_I_INLINE void flextrace_i_fw_end(struct flextrace_wire_area *area)
{
	struct flextrace_wire_slot *slot = FLEXTRACE_PORT_LOAD(area->own.current.slot);

	FLEXTRACE_PORT_STORE(slot->ticks[FLEXTRACE_WIRE_FW_END], FLEXTRACE_CLOCK_LO());
	FLEXTRACE_PORT_NOTE(FLEXTRACE_WIRE_SLOT_STAMP, FLEXTRACE_WIRE_FW_END);
	FLEXTRACE_PORT_PUBLISH(slot->done, FLEXTRACE_PORT_LOAD(slot->run));
}

/*
 * Without this, compilers split a constant area address anew for each word and compute the address
 * of both halves of a record. The empty asm makes a base that they must keep, so that every access
 * is one load or store with an offset (3 instructions fewer for each record on RISC-V).
 */
#define FLEXTRACE_I_KEEP(base) __asm__("" : "+r"(base))

/* Record number `index`; it counts once `head` is published. */
FLEXTRACE_I_INLINE void flextrace_i_put(struct flextrace_wire_area *area, uint32_t index,
                                        uint32_t kind_id, uint32_t ticks)
{
	uintptr_t base = (index & FLEXTRACE_PORT_LOAD(area->own.mask)) * 8u + (uintptr_t)area;
	struct flextrace_wire_area *shifted;

	FLEXTRACE_I_KEEP(base);
	shifted = (struct flextrace_wire_area *)base;
	FLEXTRACE_PORT_STORE(shifted->ring[0].kind_id, kind_id);
	FLEXTRACE_PORT_STORE(shifted->ring[0].ticks, ticks);
}

FLEXTRACE_I_INLINE void flextrace_i_mark(struct flextrace_wire_area *area, int is_own,
                                         uint32_t kind_id)
{
	uint32_t head;

	FLEXTRACE_I_KEEP(area);
	head = FLEXTRACE_PORT_LOAD(area->head);
	if (__builtin_expect(head == FLEXTRACE_PORT_LOAD(area->own.stop), 0)) {
		if (is_own)
			flextrace_fw_mark_slow(kind_id);
		else
			flextrace_fw_mark_slow_in(kind_id, area);
		return;
	}
	flextrace_i_put(area, head, kind_id, FLEXTRACE_CLOCK_LO());
	FLEXTRACE_PORT_NOTE(FLEXTRACE_WIRE_MARK, kind_id);
	FLEXTRACE_PORT_PUBLISH(area->head, head + 1);
}

FLEXTRACE_I_INLINE void flextrace_i_zone_begin(struct flextrace_wire_area *area, int is_own,
                                               uint32_t kind_id)
{
	uint32_t head, stop;

	FLEXTRACE_I_KEEP(area);
	head = FLEXTRACE_PORT_LOAD(area->head);
	stop = FLEXTRACE_PORT_LOAD(area->own.stop) - 1; /* one kept for the end */
	if (__builtin_expect((int32_t)(stop - head) <= 0, 0)) {
		if (is_own)
			flextrace_fw_zone_begin_slow(kind_id);
		else
			flextrace_fw_zone_begin_slow_in(kind_id, area);
		return;
	}
	flextrace_i_put(area, head, kind_id, FLEXTRACE_CLOCK_LO());
	FLEXTRACE_PORT_NOTE(FLEXTRACE_WIRE_ZONE_BEGIN, kind_id);
	FLEXTRACE_PORT_STORE(area->own.stop, stop);
	FLEXTRACE_PORT_PUBLISH(area->head, head + 1);
}

FLEXTRACE_I_INLINE void flextrace_i_zone_end(struct flextrace_wire_area *area, int is_own,
                                             uint32_t kind_id)
{
	uint32_t head, stop;

	FLEXTRACE_I_KEEP(area);
	stop = FLEXTRACE_PORT_LOAD(area->own.stop);
	if (__builtin_expect(stop == FLEXTRACE_PORT_LOAD(area->own.seen), 0)) {
		if (is_own)
			flextrace_fw_zone_end_slow(kind_id);
		else
			flextrace_fw_zone_end_slow_in(kind_id, area);
		return;
	}
	head = FLEXTRACE_PORT_LOAD(area->head);
	flextrace_i_put(area, head, kind_id, FLEXTRACE_CLOCK_LO());
	FLEXTRACE_PORT_NOTE(FLEXTRACE_WIRE_ZONE_END, kind_id);
	FLEXTRACE_PORT_STORE(area->own.stop, stop + 1);
	FLEXTRACE_PORT_PUBLISH(area->head, head + 1);
}

FLEXTRACE_I_INLINE void flextrace_i_value(struct flextrace_wire_area *area, int is_own,
                                          uint32_t kind_id, uint32_t value)
{
	uint32_t head;

	FLEXTRACE_I_KEEP(area);
	head = FLEXTRACE_PORT_LOAD(area->head);
	if (__builtin_expect((int32_t)(FLEXTRACE_PORT_LOAD(area->own.stop) - head) < 2, 0)) {
		if (is_own)
			flextrace_fw_value_slow(kind_id, value);
		else
			flextrace_fw_value_slow_in(kind_id, value, area);
		return;
	}
	flextrace_i_put(area, head, kind_id, FLEXTRACE_CLOCK_LO());
	FLEXTRACE_PORT_NOTE(FLEXTRACE_WIRE_VALUE, kind_id);
	flextrace_i_put(area, head + 1, kind_id + (1u << FLEXTRACE_WIRE_ID_BITS), value);
	FLEXTRACE_PORT_PUBLISH(area->head, head + 2);
}

#endif /* FLEXTRACE_DISABLE */

#endif
