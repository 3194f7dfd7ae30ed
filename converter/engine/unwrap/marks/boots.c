/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the segment of its counter that a boot of an area belongs to, and places its runs. A boot
 * that is the only one of its area, and was watched from its beginning, is on the counter that this
 * process saw. Any other boot needs a sample: an operation with the stamps of a run, or a read of
 * the counter between the first and the last drain of the boot. What was seen before the first
 * drain may be of the boot before, or of one that was never drained.
 */
#include "engine/unwrap/unwrap_impl.h"

#define N_TOLD 16u /* samples, or runs, at either end of a boot that are asked */

/* Whether a boot may be of another time than what the process saw of the counter. */
static bool is_doubted(const struct boot *boot)
{
	return (boot->is_found || boot->is_anew || boot->is_over) && !boot->is_known;
}

bool boot_is_unbounded(const struct axis *axis, const struct boot *boot)
{
	return is_doubted(boot) || (axis->n_segments > 1 && !boot->is_known) ||
	       (boot->is_known && !seams_leave_enough(&axis->segments[boot->first_segment]));
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

static bool is_between(const struct boot *boot, const struct sample *sample)
{
	return sample_is_bounded(sample) && sample->before_ns >= boot->from_ns &&
	       sample->after_ns <= boot->to_ns;
}

static bool is_inside(const struct boot *boot, const struct sample *sample)
{
	return sample->status == TIME_CERTIFIED && is_between(boot, sample);
}

/* A read of the counter between two drains of a boot is of that boot's counter. Segments are in
 * order of time, so the first and the last such sample give the range of segments. */
static void note_samples(const struct axis *axis, struct boot *boot)
{
	uint32_t first, end;

	if (boot->from_ns >= boot->to_ns)
		return;
	first = axis_find(axis, boot->from_ns);
	end = axis_find(axis, boot->to_ns);
	while (first < end && !is_inside(boot, &axis->samples[first]))
		first++;
	while (first < end && !is_inside(boot, &axis->samples[end - 1]))
		end--;
	if (first == end)
		return;
	note_segment(boot, axis->samples[first].segment);
	note_segment(boot, axis->samples[end - 1].segment);
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

/* Whether a boot is of one segment. Where the counter began anew and its rate is open, samples of
 * several boots may share one. */
static bool is_of_one(const struct axis *axis, const struct boot *boot)
{
	if ((boot->is_anew || boot->is_over) && !axis->rate.is_known)
		return false;
	if (boot->is_known)
		return boot->first_segment == boot->last_segment &&
		       seams_leave_enough(&axis->segments[boot->first_segment]);
	return axis->n_segments == 1 && !is_doubted(boot);
}

/* Puts a run on its axis by all bits of its anchor. A run cannot be later than its reading. */
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

	if (run->is_placed) {
		/* Its bracket bounds the stamps of its operation, no others. */
		run->is_unbounded = run->segment < axis->n_segments &&
		                    !seams_leave_enough(&axis->segments[run->segment]);
	} else {
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

/* -- what a boot rests on -------------------------------------------------------------------- */

struct telling {
	const struct axis *axis;   /* weak */
	uint32_t counter;          /* of it */
	struct area_boot *told;    /* weak */
	struct unwrap_output *out; /* weak */
};

static int tell_bracket(struct telling *telling, const struct bracket *bracket)
{
	telling->told->n_brackets++;
	return table_put(&telling->out->boot_brackets, bracket, sizeof(*bracket));
}

static int tell_sample(struct telling *telling, const struct sample *sample)
{
	const struct axis *axis = telling->axis;

	telling->told->n_denying += sample->status == TIME_OUTLIER;
	if (sample->status != TIME_CERTIFIED)
		return FLEXTRACE_OK;
	return tell_bracket(telling,
	                    &(struct bracket){
				    .first_ticks = axis_ticks(axis, sample->segment, sample->first),
				    .last_ticks = axis_ticks(axis, sample->segment,
	                                                     sample->first + sample->span),
				    .before_host_ns = sample->before_ns,
				    .after_host_ns = sample->after_ns,
				    .counter = telling->counter,
				    .segment = sample->segment,
			    });
}

static int tell_run(struct telling *telling, const struct run *run)
{
	if (!run->is_placed || !run->has_op_ticks)
		return FLEXTRACE_OK;
	telling->told->n_denying += run->status == TIME_OUTLIER;
	if (run->status != TIME_CERTIFIED || !run->op->submit_host_ns || !run->op->complete_host_ns)
		return FLEXTRACE_OK;
	return tell_bracket(telling, &(struct bracket){
					     .first_ticks = run->ticks,
					     .last_ticks = run->ticks,
					     .before_host_ns = run->op->submit_host_ns,
					     .after_host_ns = run->op->complete_host_ns,
					     .counter = run->counter,
					     .segment = run->segment,
				     });
}

/* The next of [first, end) behind `at`: of many, those at both ends. */
static uint64_t next_told(uint64_t first, uint64_t end, uint64_t at)
{
	return at + 1 == first + N_TOLD && end - first > 2 * N_TOLD ? end - N_TOLD : at + 1;
}

/* Tells the first and the last samples of a boot: whether the clock that is made of all samples is
 * that of these, too, shows once it is made. */
static int tell_boot(const struct unwrap *unwrap, struct boot *boot, struct unwrap_output *out)
{
	struct telling telling = {
		.axis = &unwrap->axes[boot->counter], .counter = boot->counter, .out = out};
	uint32_t first = axis_find(telling.axis, boot->from_ns);
	uint32_t end = axis_find(telling.axis, boot->to_ns);

	telling.told = table_append(&out->boots, sizeof(*telling.told));
	if (!telling.told)
		return FLEXTRACE_E_MEMORY;
	*telling.told = (struct area_boot){.begin_ns = boot->begin_ns};
	boot->told = (uint32_t)(out->boots.n_rows - 1);
	for (uint64_t i = first; i < end; i = next_told(first, end, i)) {
		if (is_between(boot, &telling.axis->samples[i]))
			FLEXTRACE_TRY(tell_sample(&telling, &telling.axis->samples[i]));
	}
	for (uint64_t i = boot->first_run; i < boot->end_run;
	     i = next_told(boot->first_run, boot->end_run, i))
		FLEXTRACE_TRY(tell_run(&telling, &unwrap->marks.runs[i]));
	return FLEXTRACE_OK;
}

int boots_place_runs(struct unwrap *unwrap, const struct batch_area *area,
                     struct unwrap_output *out)
{
	for (uint64_t i = area->first_run; i < area->end_run; i++)
		note_run(&unwrap->marks.boots[unwrap->marks.runs[i].batch->boot],
		         &unwrap->marks.runs[i]);
	for (uint32_t i = area->first_boot; i < area->end_boot; i++) {
		struct boot *boot = &unwrap->marks.boots[i];

		if (!boot->is_found && !boot->is_anew && !boot->is_over)
			continue;
		note_samples(&unwrap->axes[boot->counter], boot);
		FLEXTRACE_TRY(tell_boot(unwrap, boot, out));
	}
	for (uint64_t i = area->first_run; i < area->end_run; i++) {
		struct run *run = &unwrap->marks.runs[i];

		place_run(&unwrap->axes[run->counter], &unwrap->marks.boots[run->batch->boot], run);
		unwrap->ledger->warnings[WARNING_UNKNOWN_BOOT] += run->is_unbounded;
	}
	return FLEXTRACE_OK;
}
