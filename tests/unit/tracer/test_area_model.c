/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_area_model [SCHEDULES]: markers and drain against a model of the area (area_model.h), in
 * random schedules. The writer is stopped behind each of its stores; before each load and store of
 * the drain it may go on for some of its own, or start anew with its memory kept, cleared or
 * garbled. Prints what differs and the schedule's number, which repeats it: SCHEDULES=FROM-TO.
 */
static void before_host_access(void);
#define __atomic_load_n(word, order) (before_host_access(), __atomic_load_n(word, order))
#define __atomic_store_n(word, value, order) \
	(before_host_access(), __atomic_store_n(word, value, order))
#include "tracer/src/area/area_words.c"

#include "tracer/src/area/area_read.c"
#undef __atomic_load_n
#undef __atomic_store_n

#include "area_writer.h"

/* -- the host ---------------------------------------------------------------------------------- */

struct totals {
	uint64_t recorded, overwritten, unrecorded, runs;
};

static struct flextrace_drain_area host;
static int is_interleaved;      /* the writer goes on meanwhile */
static uint32_t resets_allowed; /* within a call */
static uint32_t candidates;     /* boots that what is read may be of; 0 = any so far */
static uint32_t resets_known; /* when the host began, and one more with each that it was told of */
static struct totals done, base; /* of the newest boot: by former hosts; where `host` began it */
static uint64_t told_dropped;
static int was_raced;

static struct totals totals_of(const struct flextrace_drain_stats *stats)
{
	return (struct totals){stats->recorded, stats->overwritten, stats->unrecorded,
	                       stats->recorded_runs + stats->overwritten_runs +
	                               stats->unrecorded_runs};
}

static struct totals all_done(void)
{
	struct totals here = totals_of(&host.stats);

	here.recorded += done.recorded - base.recorded;
	here.overwritten += done.overwritten - base.overwritten;
	here.unrecorded += done.unrecorded - base.unrecorded;
	here.runs += done.runs - base.runs;
	return here;
}

static void reset_now(void)
{
	reset_writer();
	done = (struct totals){0};
	base = totals_of(&host.stats);
	told_dropped = 0;
	was_overwrite = was_raced = 0;
}

static void before_host_access(void)
{
	uint32_t n;

	if (!is_interleaved)
		return;
	if (resets_allowed && dice(200) == 0) {
		resets_allowed--;
		reset_now();
		was_raced = 1;
	}
	for (n = dice(3) ? 0 : dice(6); n; n--)
		resume_writer();
	was_overwrite |= GET(wire->policy) == FLEXTRACE_WIRE_OVERWRITE;
}

/* Keeps those of the boots that a word may be of. */
static void narrow(uint32_t fitting, const char *what, uint64_t index)
{
	uint32_t all = n_boots == MAX_BOOTS ? 0xffffffffu : (1u << n_boots) - 1;

	if (!candidates)
		candidates = all;
	candidates &= fitting;
	if (!candidates)
		MISMATCH("%s %" PRIu64 " is of no boot that it may be of", what, index);
}

static void check_record(uint64_t index, uint64_t word)
{
	uint32_t fitting = 0, i;

	for (i = 0; i < n_boots; i++) {
		uint32_t at = (uint32_t)index - boots[i].first;

		if (!boots[i].is_mixed && at < boots[i].n && boots[i].words[at] == word)
			fitting |= 1u << i;
	}
	n_words_read++;
	narrow(fitting, "record", index);
}

/* What was counted as overwritten was, or might have been while it was read. */
static void check_gap(uint32_t end)
{
	if (GET(wire->magic) && (int32_t)(GET(wire->head) - end) >= 0 &&
	    GET(wire->head) - end + 1 + 4 <= capacity)
		MISMATCH("record %u is counted as overwritten and is there", end - 1);
}

static int slot_fits(const struct boot_truth *boot, uint32_t run, const uint64_t *words, uint32_t n)
{
	const struct run_truth *expected = &boot->runs[run % MAX_RUNS];
	int is_closed = words[1] >> 32 & 1;
	uint32_t n_there = 0, n_right = 0, i;

	for (i = 0; i < FLEXTRACE_WIRE_N_STAMPS; i++)
		n_there += expected->ticks[i] != 0;
	for (i = 4; i < n; i++)
		n_right += expected->ticks[words[i] >> 32 & 15] == (uint32_t)words[i];
	return !boot->is_mixed && (uint32_t)words[0] == expected->job &&
	       (uint32_t)words[1] == expected->queue &&
	       (uint32_t)words[2] == expected->ticks[FLEXTRACE_WIRE_FW_START] && n_right == n - 4 &&
	       (!is_closed || expected->is_closed) && n - 4 <= n_there;
}

static void check_slots(const struct flextrace_marker_batch *batch)
{
	uint32_t i = 0, run = (uint32_t)batch->first_index;

	for (; i < batch->n_words; run++) {
		uint32_t n = 1, fitting = 0, boot;

		while (i + n < batch->n_words &&
		       batch->words[i + n] >> 60 != FLEXTRACE_WIRE_SLOT_RUN)
			n++;
		for (boot = 0; boot < n_boots; boot++)
			if (slot_fits(&boots[boot], run, batch->words + i, n))
				fitting |= 1u << boot;
		narrow(fitting, "run", run);
		i += n;
	}
}

static void check_boot(uint32_t flags)
{
	if (!(flags & FLEXTRACE_WIRE_BOOT_ANEW))
		return;
	if (resets_known++ == n_resets_done)
		MISMATCH("a reset is told of that nobody did");
	told_dropped = 0;
	/* Those behind the newest that it may have been so far. */
	candidates = candidates ? ~(candidates ^ (candidates - 1)) : 0;
	if (n_boots < MAX_BOOTS)
		candidates &= (1u << n_boots) - 1;
}

static void check_batch(void *context, const struct flextrace_marker_batch *batch)
{
	uint32_t kind = batch->n_words ? (uint32_t)(batch->words[0] >> 60) : 0, i;

	(void)context;
	if (kind == FLEXTRACE_WIRE_BOOT) {
		check_boot((uint32_t)(batch->words[0] >> 32) & FLEXTRACE_WIRE_ID_MASK);
		if (batch->words[0] >> 32 & FLEXTRACE_WIRE_BOOT_UNRECORDED)
			told_dropped = batch->dropped;
	} else if (kind >= FLEXTRACE_WIRE_SLOT_RUN) {
		check_slots(batch);
	} else {
		for (i = 0; i < batch->n_words; i++)
			check_record(batch->first_index + i, batch->words[i]);
		told_dropped = batch->dropped;
	}
}

/* One call of the drain: all that was there when it began is taken, no more than there is. */
static void read_area(int is_last, int is_on)
{
	const struct flextrace_area_reader reader = {
		.emit = is_on ? check_batch : NULL,
		.is_last = is_last,
		.max_records = dice(4) ? 0 : 1 + dice(capacity),
	};
	uint32_t n_before = truth->n, n_resets = n_resets_done;
	int was_up = GET(wire->magic) && !is_booting && !truth->is_mixed;
	int is_of_old = is_booting && GET(wire->magic);
	uint32_t n_of_old = GET(wire->resets);
	uint64_t n_counted = host.stats.recorded + host.stats.overwritten + host.stats.unrecorded;
	uint64_t overwritten = host.stats.overwritten, recorded = host.stats.recorded;
	struct totals all;

	(void)flextrace_area_read(&host, &reader);
	if (host.stats.recorded + host.stats.overwritten + host.stats.unrecorded - n_counted >
	    MAX_RECORDS)
		MISMATCH("more records counted in a call than were written");
	/* A core that starts anew leaves what the boot before had until it clears it. */
	is_of_old &= host.resets == n_of_old;
	if (n_resets != n_resets_done || is_of_old) {
		base = totals_of(&host.stats);
		return;
	}
	all = all_done();
	if (truth->is_mixed && all.recorded + all.overwritten + all.unrecorded + all.runs)
		MISMATCH("something was taken out of an area of two configurations");
	if (all.recorded + all.overwritten + all.unrecorded > truth->n)
		MISMATCH("%" PRIu64 " records taken of %u",
		         all.recorded + all.overwritten + all.unrecorded, truth->n);
	if (was_up && !reader.max_records &&
	    all.recorded + all.overwritten + all.unrecorded < n_before)
		MISMATCH("%" PRIu64 " records taken, %u were there",
		         all.recorded + all.overwritten + all.unrecorded, n_before);
	if (is_on && host.stats.overwritten != overwritten && host.stats.recorded == recorded)
		check_gap((uint32_t)host.next);
}

static void begin_host(void)
{
	struct totals all = all_done();

	done = all;
	base = (struct totals){0};
	host = (struct flextrace_drain_area){.memory = &memory, .bytes = sizeof(memory)};
	flextrace_area_look(&host);
	candidates = 0;
	resets_known = n_resets_done - (uint32_t)is_booting; /* the old one may be there still */
	told_dropped = 0;
}

/* -- schedules --------------------------------------------------------------------------------- */

static void host_turn(void)
{
	uint32_t what = dice(40);

	is_interleaved = dice(3) != 0;
	was_raced |= is_interleaved && is_booting;
	resets_allowed = dice(6) == 0;
	was_overwrite |= GET(wire->policy) == FLEXTRACE_WIRE_OVERWRITE;
	if (what == 0 && !was_raced) {
		is_interleaved = 0;
		begin_host();
	} else if (what <= 2) {
		is_interleaved = 0;
		flextrace_area_set_policy(&host, dice(3));
		if (is_booting) /* of the boot before, which is still there */
			base = totals_of(&host.stats);
	} else if (what == 3) {
		flextrace_area_forget(&host);
		is_interleaved = 0;
		reset_now();
	} else {
		read_area(0, dice(8) != 0);
	}
	is_interleaved = 0;
	was_overwrite |= GET(wire->policy) == FLEXTRACE_WIRE_OVERWRITE;
}

static void finish_schedule(void)
{
	struct totals all;
	uint32_t i;

	while (!is_at_border || is_booting)
		resume_writer();
	for (i = 0; i < 200 && (i < 3 || host.next != truth->first + (uint64_t)truth->n); i++)
		read_area(1, 1);
	all = all_done();
	if (truth->is_mixed)
		return;
	if (all.recorded + all.overwritten + all.unrecorded != truth->n)
		MISMATCH("%" PRIu64 " + %" PRIu64 " + %" PRIu64 " of %u records", all.recorded,
		         all.overwritten, all.unrecorded, truth->n);
	if (all.runs != GET(wire->run))
		MISMATCH("%" PRIu64 " of %u runs", all.runs, GET(wire->run));
	if (host.stats.shared || host.stats.contested)
		MISMATCH("a second drain or writer is told of that there was not");
	if (told_dropped != model.dropped)
		MISMATCH("%" PRIu64 " told as dropped of %u", told_dropped, model.dropped);
	if (!was_overwrite && !was_raced && all.overwritten)
		MISMATCH("%" PRIu64 " overwritten without the policy", all.overwritten);
}

static void run_schedule(void)
{
	uint32_t n_turns, resets;

	dice_state = schedule * 0x9e3779b97f4a7c15u + 1;
	dice(2);
	capacity = 4u << dice(4);
	n_turns = 20 + dice(120);
	resets = dice(3) ? 0 : 40 + dice(200);
	now = dice(1000);
	n_boots = n_resets_done = 0;
	host = (struct flextrace_drain_area){.memory = NULL};
	reset_now();
	begin_host();
	for (; n_turns; n_turns--) {
		uint32_t n = dice(4) ? dice(40) : dice(400);

		while (n--)
			resume_writer();
		if (resets && dice(resets) < 4)
			reset_now();
		host_turn();
	}
	finish_schedule();
}

int main(int argc, char **argv)
{
	uint64_t from = 1, to = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000;
	char *dash = argc > 1 ? strchr(argv[1], '-') : NULL;

	if (dash) {
		from = to;
		to = strtoull(dash + 1, NULL, 0);
	}
	flextrace_posix_core = (struct flextrace_posix_core){
		.area = wire, .clock = read_counter, .wait = wait_hook};
	for (schedule = from; schedule <= to; schedule++)
		run_schedule();
	printf("%" PRIu64 " schedules, %u records read, %" PRIu64 " mismatches\n", to - from + 1,
	       n_words_read, n_mismatches);
	return n_mismatches != 0;
}
