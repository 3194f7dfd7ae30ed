/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of which segment of its counter a boot of an area is, and where its runs are. A boot that is the
 * only one of its area, and was watched from its beginning, is of the counter that this process
 * saw. For any other one a fact has to tell: an operation whose stamps a run has as well, or what
 * was seen of the counter between the first and the last drain of the boot. What was seen in front
 * of its first drain may be of the boot before, or of one that was never drained.
 */
#include "unwrap_impl.h"

/* Whether a boot may be of another time than what the process saw of the counter. */
static bool is_doubted(const struct boot *boot)
{
	return (boot->is_found || boot->is_anew || boot->is_over) && !boot->is_known;
}

bool boot_is_unbounded(const struct axis *axis, const struct boot *boot)
{
	return is_doubted(boot) || (axis->n_segments > 1 && !boot->is_known);
}

static void note_segment(struct boot *boot, uint16_t segment)
{
	if (!boot->is_known || segment < boot->first_segment)
		boot->first_segment = segment;
	if (!boot->is_known || segment > boot->last_segment)
		boot->last_segment = segment;
	boot->is_known = true;
}

/* Notes where operations put the runs of a boot. */
static void note_run(struct boot *boot, const struct run *run)
{
	if (run->is_placed && run->status == TIME_CERTIFIED)
		note_segment(boot, run->segment);
}

static bool is_inside(const struct boot *boot, const struct fact *fact)
{
	return fact->status == TIME_CERTIFIED && fact_is_bounded(fact) &&
	       fact->before_ns >= boot->from_ns && fact->after_ns <= boot->to_ns;
}

/* What was seen of the counter between two drains of a boot is of its counter. Segments follow each
 * other, so that the first and the last such fact tell all. */
static void note_facts(const struct axis *axis, struct boot *boot)
{
	uint32_t first, end;

	if (boot->from_ns >= boot->to_ns)
		return;
	first = axis_find(axis, boot->from_ns);
	end = axis_find(axis, boot->to_ns);
	while (first < end && !is_inside(boot, &axis->facts[first]))
		first++;
	while (first < end && !is_inside(boot, &axis->facts[end - 1]))
		end--;
	if (first == end)
		return;
	note_segment(boot, axis->facts[first].segment);
	note_segment(boot, axis->facts[end - 1].segment);
}

/* A boot is on the segments that its other runs are on. */
static uint16_t segment_of(const struct boot *boot, uint16_t segment)
{
	if (!boot->is_known)
		return segment;
	if (segment < boot->first_segment)
		return boot->first_segment;
	return segment > boot->last_segment ? boot->last_segment : segment;
}

/* Whether a boot is of one segment. Where the counter began anew and its rate is open, facts of
 * several boots may share one. */
static bool is_of_one(const struct axis *axis, const struct boot *boot)
{
	if ((boot->is_anew || boot->is_over) && !axis->rate.is_known)
		return false;
	if (boot->is_known)
		return boot->first_segment == boot->last_segment;
	return axis->n_segments == 1 && !is_doubted(boot);
}

/* Puts a run on its axis by all bits of its anchor. What was read cannot be later than its
 * reading. */
static void place_by_anchor(const struct axis *axis, const struct boot *boot, struct run *run,
                            const uint64_t *latest)
{
	run->ticks = run->anchor + (latest ? axis->segments[run->segment].shift : 0);
	run->status = is_of_one(axis, boot) ? TIME_CERTIFIED : TIME_ASSUMED;
	if (!latest || run->ticks > *latest)
		run->status = latest ? TIME_ASSUMED : run->status;
	else if (axis->wide_bits < 64 && *latest >> axis->wide_bits) {
		run->ticks = *latest - low_bits(*latest - run->anchor, axis->wide_bits);
		run->status = TIME_ASSUMED;
	}
}

/* Puts the anchor of a run on its counter's axis. */
static void place_run(const struct axis *axis, const struct boot *boot, struct run *run)
{
	uint64_t latest;
	uint16_t segment = 0;
	bool has_latest = axis_latest(axis, (int64_t)run->clock_ns, &segment, &latest);
	bool is_there = has_latest && segment_of(boot, segment) == segment;

	if (!run->is_placed) {
		run->segment = segment_of(boot, segment);
		run->is_unbounded = boot_is_unbounded(axis, boot);
		if (!is_there || axis->segments[segment].has_wide) {
			place_by_anchor(axis, boot, run, is_there ? &latest : NULL);
		} else {
			/* The axis has no whole read: taken as late as its batch allows. */
			run->ticks = latest - low_bits(latest - run->anchor, axis->narrow_bits);
			run->status = TIME_ASSUMED;
		}
	}
	if (is_there && segment == run->segment && latest >= run->ticks &&
	    latest - run->ticks < UINT64_C(1) << axis->narrow_bits)
		run->is_short = true;
}

void boots_place_runs(struct unwrap *unwrap, const struct batch_area *area)
{
	for (uint64_t i = area->first_run; i < area->end_run; i++)
		note_run(&unwrap->boots[unwrap->runs[i].batch->boot], &unwrap->runs[i]);
	for (uint32_t i = area->first_boot; i < area->end_boot; i++) {
		struct boot *boot = &unwrap->boots[i];

		if (boot->is_found || boot->is_anew || boot->is_over)
			note_facts(&unwrap->axes[boot->counter], boot);
	}
	for (uint64_t i = area->first_run; i < area->end_run; i++) {
		struct run *run = &unwrap->runs[i];

		place_run(&unwrap->axes[run->counter], &unwrap->boots[run->batch->boot], run);
		unwrap->ledger->warnings[WARNING_UNKNOWN_BOOT] += run->is_unbounded;
	}
}
