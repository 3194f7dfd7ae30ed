/* SPDX-License-Identifier: Apache-2.0 */
#include "area_read.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "drain_words.h"

#define BATCH_WORDS 1024u

/*
 * Policy overwrite: how many of the oldest records may be in the making behind `head`: a value's
 * two, and two more whose `head` is not visible yet.
 */
#define RECORDS_IN_FLIGHT 4u

/* More than a core keeps in its store buffers. */
#define MAX_UNSEEN_RECORDS 256u

static struct flextrace_wire_area *wire_of(const struct flextrace_drain_area *area)
{
	return area->memory;
}

static void skip_overwritten(struct flextrace_drain_area *area, uint32_t n)
{
	area->stats.overwritten += n;
	area->next += n;
}

static void make_room(const struct flextrace_drain_area *area)
{
	drain_store_last(&wire_of(area)->limit, (uint32_t)area->next + area->capacity);
}

/* -- attaching --------------------------------------------------------------------------------- */

static int is_up(const struct flextrace_drain_area *area)
{
	const struct flextrace_wire_area *wire = wire_of(area);

	return drain_load_first(&wire->magic) == FLEXTRACE_WIRE_MAGIC;
}

/* 1 if all that was loaded so far is of the time since the same reset. */
static int is_unchanged(const struct flextrace_drain_area *area)
{
	atomic_thread_fence(memory_order_acquire);
	return is_up(area) && drain_load(&wire_of(area)->resets) == area->resets &&
	       drain_load(&wire_of(area)->attached) == area->token;
}

/* Has the recording tell something once a boot. */
static void tell_once(struct flextrace_drain_area *area, uint32_t flag)
{
	area->untold |= flag & ~area->told_flags;
	area->told_flags |= flag;
}

/* A number that no other drain has; never 0. */
static uint32_t make_token(const struct flextrace_drain_area *area)
{
	struct timespec clock = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &clock);
	return ((uint32_t)clock.tv_nsec ^ (uint32_t)clock.tv_sec << 20 ^
	        (uint32_t)getpid() * 0x9e3779b1u ^ (uint32_t)((uintptr_t)area >> 3) << 7) |
	       1;
}

/*
 * Behind a store that the firmware has to keep to. It looks at policy and limit again when it has
 * filled the ring once from where it looked last, and that is not behind `head` as read after the
 * store, but for records that it has written and nobody sees yet.
 */
static void distrust(struct flextrace_drain_area *area)
{
	struct flextrace_wire_area *wire = wire_of(area);
	uint32_t waiting;

	atomic_thread_fence(memory_order_seq_cst);
	waiting = drain_load(&wire->head) - (uint32_t)area->next;
	if (waiting > area->capacity) {
		if (!is_unchanged(area))
			return; /* the next call begins anew */
		skip_overwritten(area, waiting - area->capacity);
		make_room(area);
		waiting = area->capacity;
	}
	area->strict_from = area->next + waiting + area->capacity + MAX_UNSEEN_RECORDS;
	area->strict_from += (uint32_t)area->strict_from == 0; /* 0 in the area: none is in doubt */
	drain_store_last(&wire->strict_from, (uint32_t)area->strict_from);
}

/* Counts wrap: what is in doubt no more must not look as if it were some billion records later. */
static void trust_again(struct flextrace_drain_area *area)
{
	if (area->strict_from == 0 || area->next < area->strict_from)
		return;
	area->strict_from = 0;
	drain_store_last(&wire_of(area)->strict_from, 0);
}

static void apply_policy(struct flextrace_drain_area *area)
{
	struct flextrace_wire_area *wire = wire_of(area);
	uint32_t policy = area->policy_plus_1 - 1;
	uint32_t before = drain_load(&wire->policy);

	if (before == policy)
		return;
	drain_store_last(&wire->policy, policy);
	if (before == FLEXTRACE_WIRE_OVERWRITE)
		distrust(area);
}

/* All counts start anew, whatever a read has written that the reset overtook. */
static void restart(struct flextrace_drain_area *area)
{
	struct flextrace_wire_area *wire = wire_of(area);
	uint32_t limit = drain_load(&wire->limit);

	area->next = 0;
	area->next_run = 1;
	drain_store_last(&wire->read_run, 0);
	if (limit == area->capacity)
		return;
	make_room(area);
	distrust(area);
	if (limit <= INT32_MAX && limit > area->strict_from) /* it may have seen the wrong one */
		area->strict_from = limit;
}

/* Whoever drained before us left in the area how far they came. */
static void attach(struct flextrace_drain_area *area, const struct flextrace_area_header *header,
                   int is_claimed)
{
	uint32_t distrusted;

	area->core = header->core;
	area->processor = header->processor;
	area->domain = header->domain;
	area->capacity = header->capacity;
	area->resets = header->resets;
	area->broken = header->is_mixed;
	if (header->is_mixed)
		area->untold |= FLEXTRACE_WIRE_BOOT_REFUSED;
	if (area->is_reset)
		area->untold = (area->untold & ~FLEXTRACE_WIRE_BOOT_FOUND) |
		               FLEXTRACE_WIRE_BOOT_ANEW;
	area->counter_bits = header->counter_bits;
	area->next = header->n_read;
	area->next_run = (uint64_t)header->read_run + 1;
	area->dropped = 0;
	area->told = 0;
	area->lost_runs = 0;
	distrusted = header->strict_from - (uint32_t)area->next;
	if (distrusted > 2 * area->capacity + MAX_UNSEEN_RECORDS)
		distrusted = 0; /* behind us */
	area->strict_from = header->strict_from && distrusted ? area->next + distrusted : 0;
	if (area->is_reset && !is_claimed) /* else another drain has read some of it */
		restart(area);
	area->is_reset = 0;
	area->told_flags = 0;
	area->told_next = area->next;
	area->has_told = 0;
	if (area->policy_plus_1 && !area->broken)
		apply_policy(area);
}

static int is_mapped(const struct flextrace_drain_area *area)
{
	return area->memory && (uintptr_t)area->memory % 8 == 0 &&
	       area->bytes >= FLEXTRACE_WIRE_RING_OFFSET;
}

/* Says that this drain is the last one that looked. A core that starts anew takes that back when it
 * sets the area up, and so does one whose memory was cleared: its resets count from 1 again. */
static void claim(struct flextrace_drain_area *area)
{
	if (!area->token)
		area->token = make_token(area);
	drain_store_last(&wire_of(area)->attached, area->token);
	atomic_thread_fence(memory_order_seq_cst);
}

/* 0: there is no area that can be read. */
static int read_header(const struct flextrace_drain_area *area,
                       struct flextrace_area_header *ret_header)
{
	return flextrace_area_header_read(area->memory, ret_header) && ret_header->n_bytes != 0 &&
	       ret_header->n_bytes <= area->bytes;
}

/* Goes on behind what another drain of the area has taken. 0: it is at work right now. */
static int follow(struct flextrace_drain_area *area)
{
	const struct flextrace_wire_area *wire = wire_of(area);
	uint32_t records, runs;

	claim(area);
	records = drain_load(&wire->limit) - area->capacity - (uint32_t)area->next;
	runs = drain_load(&wire->read_run) + 1 - (uint32_t)area->next_run;
	if (!is_unchanged(area))
		return 0;
	area->stats.shared++;
	tell_once(area, FLEXTRACE_WIRE_BOOT_SHARED);
	if (records <= INT32_MAX) {
		area->stats.elsewhere += records;
		area->next += records;
	}
	if (!area->has_told) /* this recording has nothing that a gap could be behind */
		area->told_next = area->next;
	if (runs <= INT32_MAX)
		area->next_run += runs;
	return 1;
}

/* 1 if the area can be read. */
static int prepare(struct flextrace_drain_area *area)
{
	struct flextrace_area_header header;

	if (!is_mapped(area) || !is_up(area))
		return 0;
	if (area->capacity && drain_load(&wire_of(area)->resets) == area->resets) {
		uint32_t who = drain_load(&wire_of(area)->attached);

		if (who && who != area->token && !follow(area))
			return 0;
	}
	if (area->capacity && !is_unchanged(area)) {
		area->capacity = 0;
		area->is_reset = 1;
		area->stats.resets++;
	}
	if (!area->capacity) {
		uint32_t was_attached = drain_load(&wire_of(area)->attached);

		claim(area);
		if (!read_header(area, &header))
			return 0;
		if (!was_attached || header.resets != area->found_resets)
			area->untold &= ~FLEXTRACE_WIRE_BOOT_FOUND; /* it is of another boot */
		attach(area, &header,
		       area->is_reset && was_attached && was_attached != area->token);
	}
	return !area->broken;
}

void flextrace_area_look(struct flextrace_drain_area *area)
{
	struct flextrace_area_header header;

	if (!is_mapped(area) || !is_up(area))
		return;
	if (!drain_load(&wire_of(area)->attached))
		claim(area); /* not from a drain that is at work */
	if (!read_header(area, &header))
		return;
	area->found_resets = header.resets;
	if (header.head != header.n_read || header.run != header.read_run)
		area->untold |= FLEXTRACE_WIRE_BOOT_FOUND;
}

/* -- batches ----------------------------------------------------------------------------------- */

static void emit(const struct flextrace_drain_area *area,
                 const struct flextrace_area_reader *reader, struct flextrace_marker_batch batch)
{
	batch.size = sizeof(batch);
	batch.device = area->device;
	batch.core = area->core;
	batch.processor = area->processor;
	batch.domain = area->domain;
	reader->emit(reader->context, &batch);
}

/* Tells what the words that follow are of. Where nobody listens, what was found is gone. */
static void tell_boot(struct flextrace_drain_area *area, const struct flextrace_area_reader *reader)
{
	uint64_t word = FLEXTRACE_WIRE_WORD(
		FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_BOOT, area->untold), area->counter_bits);

	if (reader->emit && (area->untold || (area->counter_bits < 32 && !area->has_told_bits)))
		emit(area, reader,
		     (struct flextrace_marker_batch){.first_index = area->told_next,
		                                     .dropped = area->told,
		                                     .n_words = 1,
		                                     .words = &word});
	area->has_told_bits |= reader->emit != NULL;
	area->untold = reader->emit ? 0 : area->untold & ~FLEXTRACE_WIRE_BOOT_FOUND;
}

/* -- slots: the stamps of runs ----------------------------------------------------------------- */

static void lose_runs(struct flextrace_drain_area *area, const struct flextrace_area_reader *reader,
                      uint64_t n)
{
	area->next_run += n;
	if (!reader->emit) {
		area->stats.unrecorded_runs += n;
		return;
	}
	area->stats.overwritten_runs += n;
	area->lost_runs += n;
}

enum run_state { RUN_TAKEN, RUN_LOST, RUN_NOT_YET };

/* A run that another one followed is over, even if it never reached FW end. */
static enum run_state take_run(const struct flextrace_drain_area *area, uint64_t newest, int last,
                               struct flextrace_wire_slot *ret_slot)
{
	uint32_t run = (uint32_t)area->next_run;

	if (!flextrace_slot_copy(&wire_of(area)->slot[run & 1], run, ret_slot))
		return area->next_run < newest ? RUN_LOST : RUN_NOT_YET;
	if (ret_slot->done == run || area->next_run < newest || last)
		return RUN_TAKEN;
	return RUN_NOT_YET;
}

/* Emits the slots of so many runs, or counts them where nobody records. */
static uint64_t emit_slots(struct flextrace_drain_area *area,
                           const struct flextrace_area_reader *reader, uint32_t n_runs,
                           const struct flextrace_marker_batch *slots)
{
	if (!reader->emit) {
		area->stats.unrecorded_runs += n_runs;
		return 0;
	}
	if (n_runs == 0)
		return 0;
	area->stats.recorded_runs += n_runs;
	emit(area, reader, *slots);
	return slots->n_words;
}

static uint64_t read_slots(struct flextrace_drain_area *area,
                           const struct flextrace_area_reader *reader)
{
	struct flextrace_wire_area *wire = wire_of(area);
	uint32_t ahead = drain_load_first(&wire->run) - (uint32_t)area->next_run + 1;
	uint64_t newest = area->next_run + ahead - 1;
	uint64_t words[2 * FLEXTRACE_SLOT_WORDS];
	struct flextrace_wire_slot slot;
	uint64_t first = 0;
	uint32_t n_words = 0, n_runs = 0;
	const struct flextrace_drain_stats before = area->stats;

	if (ahead > INT32_MAX) { /* runs do not go back */
		if (!is_unchanged(area))
			return 0;
		area->broken = 1;
		area->stats.refused++;
		return 0;
	}
	if (ahead > 2)
		lose_runs(area, reader, ahead - 2);
	while (area->next_run <= newest) {
		enum run_state state = take_run(area, newest, reader->is_last, &slot);

		if (state == RUN_NOT_YET)
			break;
		if (state == RUN_LOST) {
			lose_runs(area, reader, 1);
			continue;
		}
		if (n_runs++ == 0)
			first = area->next_run;
		n_words += flextrace_slot_words(&slot, words + n_words);
		area->next_run++;
	}
	if (!is_unchanged(area)) { /* reset under our hands: the next call begins anew */
		area->stats = before;
		return 0;
	}
	drain_store_last(&wire->read_run, (uint32_t)(area->next_run - 1));
	return emit_slots(area, reader, n_runs,
	                  &(struct flextrace_marker_batch){.first_index = first,
	                                                   .dropped = area->lost_runs,
	                                                   .n_words = n_words,
	                                                   .words = words});
}

/* -- the ring ---------------------------------------------------------------------------------- */

static void read_dropped(struct flextrace_drain_area *area)
{
	uint32_t more = drain_load(&wire_of(area)->dropped) - (uint32_t)area->dropped;

	if (!is_unchanged(area))
		return;
	area->dropped += more;
	area->stats.dropped += more;
}

static int may_overwrite(const struct flextrace_drain_area *area)
{
	return area->next < area->strict_from ||
	       drain_load(&wire_of(area)->policy) == FLEXTRACE_WIRE_OVERWRITE;
}

/* Records that wait; all are in the ring. Marks an area broken that says impossible things. */
static uint32_t waiting(struct flextrace_drain_area *area)
{
	uint32_t n = drain_load_first(&wire_of(area)->head) - (uint32_t)area->next;

	if (n <= area->capacity)
		return n;
	if (!is_unchanged(area))
		return 0; /* `head` is another boot's */
	if (0u - n <= area->capacity && 0u - n <= area->next) {
		area->stats.contested++; /* one writer's head took back the other one's */
		tell_once(area, FLEXTRACE_WIRE_BOOT_CONTESTED);
		return 0;
	}
	if (!may_overwrite(area)) {
		area->broken = 1;
		area->stats.refused++;
		return 0;
	}
	skip_overwritten(area, n - area->capacity);
	return area->capacity;
}

/* Of `n` records just copied, how many of the first may have been overwritten under our hands. */
static uint32_t spoilt(const struct flextrace_drain_area *area, uint32_t n, int last)
{
	uint32_t written, unsafe;

	if (!may_overwrite(area) || last)
		return 0;
	atomic_thread_fence(memory_order_acquire);
	written = drain_load(&wire_of(area)->head) - (uint32_t)area->next;
	if (written + RECORDS_IN_FLIGHT <= area->capacity)
		return 0;
	unsafe = written + RECORDS_IN_FLIGHT - area->capacity;
	return unsafe < n ? unsafe : n;
}

static void emit_records(struct flextrace_drain_area *area,
                         const struct flextrace_area_reader *reader, const uint64_t *words,
                         uint32_t n)
{
	/* What was overwritten before the first batch makes a gap only behind a batch. */
	if (!area->has_told && area->told_next != area->next)
		emit(area, reader,
		     (struct flextrace_marker_batch){.first_index = area->told_next,
		                                     .dropped = area->told});
	emit(area, reader,
	     (struct flextrace_marker_batch){.first_index = area->next,
	                                     .dropped = area->dropped,
	                                     .n_words = n,
	                                     .words = words});
	area->has_told = 1;
	area->stats.recorded += n;
	area->next += n;
	area->told_next = area->next;
	area->told = area->dropped;
}

/* Takes up to a batch of the `n` records that wait; returns how many it took. */
static uint32_t read_batch(struct flextrace_drain_area *area,
                           const struct flextrace_area_reader *reader, uint32_t n)
{
	const struct flextrace_wire_record *ring = wire_of(area)->ring;
	uint32_t mask = area->capacity - 1;
	uint64_t words[BATCH_WORDS];
	uint32_t bad, i;

	if (n > BATCH_WORDS)
		n = BATCH_WORDS;
	for (i = 0; i < n; i++) {
		const struct flextrace_wire_record *record = ring +
		                                             (((uint32_t)area->next + i) & mask);

		words[i] = drain_join(__atomic_load_n(&record->kind_id, __ATOMIC_RELAXED),
		                      __atomic_load_n(&record->ticks, __ATOMIC_RELAXED),
		                      DRAIN_SWAPS);
	}
	bad = spoilt(area, n, reader->is_last);
	if (!is_unchanged(area))
		return 0;
	skip_overwritten(area, bad);
	read_dropped(area);
	if (n > bad)
		emit_records(area, reader, words + bad, n - bad);
	make_room(area);
	return n;
}

static uint64_t read_ring(struct flextrace_drain_area *area,
                          const struct flextrace_area_reader *reader)
{
	uint64_t before = area->stats.recorded;
	uint32_t n = waiting(area);

	if (!reader->emit) {
		if (!is_unchanged(area))
			return 0;
		area->stats.unrecorded += n;
		area->next += n;
		area->told_next = area->next;
		area->has_told = 0;
		make_room(area);
		read_dropped(area);
		area->told = area->dropped;
		area->untold |= FLEXTRACE_WIRE_BOOT_UNRECORDED;
		return 0;
	}
	if (reader->max_records && n > reader->max_records)
		n = reader->max_records;
	while (n) {
		uint32_t taken = read_batch(area, reader, n);

		if (taken == 0)
			return area->stats.recorded - before;
		n -= taken;
	}
	read_dropped(area);
	trust_again(area);
	if (area->told != area->dropped || area->told_next != area->next)
		emit_records(area, reader, NULL, 0);
	return area->stats.recorded - before;
}

/* -- policy ------------------------------------------------------------------------------------ */

void flextrace_area_set_policy(struct flextrace_drain_area *area, uint32_t policy)
{
	area->policy_plus_1 = policy + 1;
	if (prepare(area))
		apply_policy(area);
}

/* -- all of it --------------------------------------------------------------------------------- */

static uint64_t read_all(struct flextrace_drain_area *area,
                         const struct flextrace_area_reader *reader)
{
	int is_ready = prepare(area);
	uint64_t n_words;

	if (__atomic_load_n(&area->n_turned_away, __ATOMIC_RELAXED)) {
		area->stats.shared += __atomic_exchange_n(&area->n_turned_away, 0,
		                                          __ATOMIC_RELAXED);
		tell_once(area, FLEXTRACE_WIRE_BOOT_SHARED);
	}
	if (area->capacity)
		tell_boot(area, reader);
	if (!is_ready) {
		area->stats.refused++;
		return 0;
	}
	n_words = read_slots(area, reader);
	if (!area->broken)
		n_words += read_ring(area, reader);
	if (area->untold & FLEXTRACE_WIRE_BOOT_CONTESTED)
		tell_boot(area, reader);
	return n_words;
}

uint64_t flextrace_area_read(struct flextrace_drain_area *area,
                             const struct flextrace_area_reader *reader)
{
	uint64_t n_words;

	if (__atomic_exchange_n(&area->is_busy, 1, __ATOMIC_ACQUIRE)) {
		(void)__atomic_fetch_add(&area->n_turned_away, 1, __ATOMIC_RELAXED);
		return 0;
	}
	n_words = read_all(area, reader);
	__atomic_store_n(&area->is_busy, 0, __ATOMIC_RELEASE);
	return n_words;
}

void flextrace_area_forget(struct flextrace_drain_area *area)
{
	const struct flextrace_area_reader nobody = {.is_last = 1};
	int was_attached = area->capacity != 0;

	if (!is_mapped(area) || !is_up(area))
		return;
	if (prepare(area)) {
		(void)read_slots(area, &nobody);
		if (!area->broken)
			(void)read_ring(area, &nobody);
	}
	drain_store_last(&wire_of(area)->magic, 0);
	area->capacity = 0;
	area->untold &= ~(uint32_t)(FLEXTRACE_WIRE_BOOT_FOUND | FLEXTRACE_WIRE_BOOT_UNRECORDED);
	area->is_reset |= was_attached;
}
