/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything with a device stamp and a host time becomes a sample of its counter. Once the
 * counter's axis is placed, the results are written back to where the samples came from.
 */
#include "base/array.h"
#include "base/blocks.h"
#include "unwrap_impl.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLES_PER_DROP 4096u
#define SLOW_TICK_NS     8000.0 /* longer than the least latency is */

/* -- in -------------------------------------------------------------------------------------- */

/* An estimate is about two stamps, a bracket about all there are. */
static void choose_stamps(const struct tick_op *op, struct sample *sample)
{
	uint8_t part = sample->bounds == BOUNDS_ESTIMATE ? (uint8_t)(op->estimate - 1)
	                                                 : FLEXTRACE_ESTIMATE_WHOLE;

	sample->from = 0;
	sample->to = FLEXTRACE_N_STAMPS - 1;
	if (part != FLEXTRACE_ESTIMATE_WHOLE && op->ticks[part - 1] && op->ticks[part]) {
		sample->from = part - 1;
		sample->to = part;
		return;
	}
	while (sample->from < sample->to && !op->ticks[sample->from])
		sample->from++;
	while (sample->to > sample->from && !op->ticks[sample->to])
		sample->to--;
}

/* Puts the stamps of an operation in a row: how far the last is behind the first, a wrap where
 * they decrease. Returns the longest way from one to the next. */
static uint64_t put_in_row(const struct tick_op *op, unsigned n_bits, struct sample *sample)
{
	uint64_t longest = 0, last;

	choose_stamps(op, sample);
	last = sample->first = op->ticks[sample->from];
	sample->span = 0;
	for (int i = sample->from + 1; i <= sample->to; i++) {
		uint64_t ticks = op->ticks[i], way = low_bits(ticks - last, n_bits);

		if (!ticks)
			continue;
		longest = way > longest ? way : longest;
		sample->span += way;
		last = ticks;
	}
	return longest;
}

/* Makes the sample of an operation; false: it has no stamps. */
static bool sample_of_op(struct tick_op *op, unsigned n_bits, struct sample *ret_sample,
                         unsigned *ret_n_left_out)
{
	struct sample sample = {
		.before_ns = op->submit_host_ns ? op->submit_host_ns : UNWRAP_NO_BEFORE,
		.after_ns = op->complete_host_ns ? op->complete_host_ns : UNWRAP_NO_AFTER,
		.source.op = op,
		.kind = SAMPLE_OP,
		.is_counted = op->unused & OP_IS_COUNTED,
		.bounds = op->unused & OP_IS_CHOICE        ? BOUNDS_CHOICE
	                  : op->unused & OP_AFTER_IS_CLOCK ? BOUNDS_CLOCK
	                  : op->unused & OP_IS_ESTIMATED   ? BOUNDS_ESTIMATE
	                                                   : BOUNDS_HARD,
		.status = TIME_UNMATCHED,
	};
	uint64_t longest;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op->ticks[i] = low_bits(op->ticks[i], n_bits < 32 ? 32 : n_bits);
	if (sample.before_ns != UNWRAP_NO_BEFORE && sample.after_ns < sample.before_ns) {
		sample.before_ns = UNWRAP_NO_BEFORE;
		sample.after_ns = UNWRAP_NO_AFTER;
	}
	longest = put_in_row(op, n_bits, &sample);
	*ret_n_left_out = order_mend(&sample, n_bits, longest);
	if (*ret_n_left_out > 0)
		put_in_row(op, n_bits, &sample);
	*ret_sample = sample;
	return sample.first != 0;
}

static struct sample sample_of_sync(const struct record_clock_sync *sync)
{
	struct sample sample = {
		.before_ns = unwrap_host_stamp(sync->host_before_ns),
		.after_ns = unwrap_host_stamp(sync->host_after_ns),
		.first = sync->ticks,
		.kind = SAMPLE_SYNC,
		.bounds = BOUNDS_HARD,
		.status = TIME_UNMATCHED,
	};

	if (!sample.before_ns || sample.after_ns < sample.before_ns)
		sample.before_ns = UNWRAP_NO_BEFORE;
	if (!sample.after_ns || sample.before_ns == UNWRAP_NO_BEFORE)
		sample.after_ns = UNWRAP_NO_AFTER;
	return sample;
}

/* FW start of a run comes after the submit of its job and before the job's completion is
 * visible. */
static struct sample sample_of_run(struct run *run)
{
	const struct tick_op *op = run->op;

	return (struct sample){
		.before_ns = op->submit_host_ns ? op->submit_host_ns : UNWRAP_NO_BEFORE,
		.after_ns = op->complete_host_ns ? op->complete_host_ns : UNWRAP_NO_AFTER,
		.first = run->anchor,
		.source.run = run,
		.is_counted = op->unused & OP_IS_COUNTED,
		.kind = SAMPLE_RUN,
		.bounds = BOUNDS_HARD,
		.status = TIME_UNMATCHED,
	};
}

static bool is_evidence(const struct run *run)
{
	return run->op && !(run->op->unused & ~OP_IS_COUNTED) &&
	       (run->op->submit_host_ns || run->op->complete_host_ns) &&
	       (!run->op->submit_host_ns || !run->op->complete_host_ns ||
	        run->op->submit_host_ns <= run->op->complete_host_ns);
}

/* Stores how many samples there can be; those of each counter are in unwrap->n_samples then. */
static int count_samples(struct unwrap *unwrap, uint32_t n_counters, uint64_t *ret_n)
{
	*ret_n = 0;
	FLEXTRACE_TRY(ARRAY_RESERVE(unwrap->n_samples, unwrap->n_samples_allocated, n_counters));
	for (uint64_t i = 0; i < unwrap->marks.n_runs; i++)
		unwrap->n_samples[unwrap->marks.runs[i].counter] +=
			is_evidence(&unwrap->marks.runs[i]);
	for (uint32_t i = 0; i < n_counters; i++)
		*ret_n += unwrap->n_samples[i];
	return FLEXTRACE_OK;
}

static void add_sample(struct unwrap *unwrap, uint32_t counter, const struct sample *sample)
{
	struct axis *axis = &unwrap->axes[counter];

	/* A counter that shows more bits than its definition has more bits. */
	if (sample->kind != SAMPLE_OP && axis->wide_bits < 64 && sample->first >> axis->wide_bits)
		axis->wide_bits = 64;
	axis->samples[axis->n_samples++] = *sample;
}

static int add_op(struct unwrap *unwrap, struct tick_op *op)
{
	struct loss_place place = identity_place(unwrap->identity, op->device, FLEXTRACE_NONE,
	                                         op->stream);
	struct sample sample;
	unsigned n_left_out;

	if (sample_of_op(op, unwrap->axes[op->counter].narrow_bits, &sample, &n_left_out))
		add_sample(unwrap, op->counter, &sample);
	if (n_left_out == 0)
		return FLEXTRACE_OK;
	return ledger_lose(unwrap->ledger, LOSS_STAMP_ORDER, &place, n_left_out,
	                   op->complete_host_ns ? op->complete_host_ns : INT64_MIN);
}

static int fill_samples(struct unwrap *unwrap)
{
	struct sample sample;

	for (uint64_t i = 0; i < unwrap->marks.n_runs; i++) {
		if (!is_evidence(&unwrap->marks.runs[i]))
			continue;
		sample = sample_of_run(&unwrap->marks.runs[i]);
		add_sample(unwrap, unwrap->marks.runs[i].counter, &sample);
	}
	TABLE_EACH(struct record_clock_sync, sync, &unwrap->syncs) {
		sample = sample_of_sync(sync);
		add_sample(unwrap, sync->domain, &sample);
	}
	TABLE_CHANGE(struct tick_op, op, &unwrap->ops)
	{
		if (op->class == RECORD_DEVICE_OP)
			FLEXTRACE_TRY(add_op(unwrap, op));
		/* What is known only to unwrap does not leave it. */
		if (op->unused & OP_AFTER_IS_CLOCK)
			op->complete_host_ns = 0;
		op->unused = 0;
	}
	return FLEXTRACE_OK;
}

/* If an operation has no bracket, its estimates serve as one, widened by how far they may be
 * off. */
void samples_trust_estimates(struct axis *axis)
{
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		if (axis->samples[i].bounds == BOUNDS_HARD && axis->samples[i].kind != SAMPLE_SYNC)
			return;
		axis->is_soft |= axis->samples[i].bounds == BOUNDS_ESTIMATE;
	}
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		struct sample *sample = &axis->samples[i];

		if (sample->bounds != BOUNDS_ESTIMATE)
			continue;
		sample->bounds = BOUNDS_HARD;
		if (sample->before_ns != UNWRAP_NO_BEFORE)
			sample->before_ns -= UNWRAP_ESTIMATE_SLACK_NS;
		if (sample->after_ns != UNWRAP_NO_AFTER)
			sample->after_ns += UNWRAP_ESTIMATE_SLACK_NS;
	}
}

static void take_options(struct unwrap *unwrap, uint32_t counter)
{
	const struct calibrate_options none = {.n_overrides = 0};
	struct clock_settings settings = clock_options_of(unwrap->options ? unwrap->options : &none,
	                                                  unwrap->identity, counter);
	struct axis *axis = &unwrap->axes[counter];

	axis->nominal = settings.nominal_mhz > 0
	                        ? settings.nominal_mhz / 1e3
	                        : (double)unwrap->identity->counters[counter].nominal_hz / 1e9;
	/* An operation waits for that in front of it, whose record may be one of those. */
	axis->max_dispatch_ns = unwrap->lacks_records ? 0 : settings.max_dispatch_ns;
	axis->rho = settings.rho_ppm * 1e-6;
}

/* Stamps have 32 bits where any of a counter has no more, words of markers among them. */
static void set_bits(struct unwrap *unwrap, uint32_t counter)
{
	uint32_t area_bits = map_find(&unwrap->marks.area_bits, counter, 0);
	uint32_t widths = map_find(&unwrap->widths, counter, 0);
	uint32_t bits = unwrap->identity->counters[counter].counter_bits;
	struct axis *axis = &unwrap->axes[counter];
	unsigned stamp_bits = 32;

	widths = widths == MAP_NONE ? STAMPS_NONE : widths;
	if (widths && !(widths & STAMPS_NARROW))
		stamp_bits = UNWRAP_WIDE_BITS;
	if (bits == 32 && stamp_bits > 32 && widths & STAMPS_BEYOND)
		bits = 64;
	axis->wide_bits = bits == 0 || bits > 64 ? 64 : bits;
	if (area_bits != MAP_NONE && area_bits < axis->wide_bits)
		axis->wide_bits = area_bits;
	axis->narrow_bits = axis->wide_bits < stamp_bits ? axis->wide_bits : stamp_bits;
}

int samples_make(struct unwrap *unwrap)
{
	uint32_t n_axes = unwrap->identity->n_counters;
	uint64_t sum, first = 0;

	FLEXTRACE_TRY(ARRAY_NEW(unwrap->axes, n_axes + 1ull));
	unwrap->n_axes = n_axes;
	FLEXTRACE_TRY(count_samples(unwrap, n_axes, &sum));
	FLEXTRACE_TRY(BLOCKS_NEW(unwrap->samples, sum + 1));
	for (uint32_t i = 0; i < n_axes; i++) {
		set_bits(unwrap, i);
		unwrap->axes[i].samples = unwrap->samples + first;
		take_options(unwrap, i);
		first += unwrap->n_samples[i];
	}
	FLEXTRACE_TRY(fill_samples(unwrap));
	FLEXTRACE_TRY(choices_prepare(unwrap));
	for (uint32_t i = 0; i < n_axes; i++) {
		choices_trust(unwrap, &unwrap->axes[i]);
		samples_trust_estimates(&unwrap->axes[i]);
	}
	return FLEXTRACE_OK;
}

/* -- lists ------------------------------------------------------------------------------------ */

int sample_list_init(struct sample_list *list, const struct axis *axis,
                     bool (*is_wanted)(const struct sample *sample))
{
	uint32_t n = 0;

	*list = (struct sample_list){.all = axis->samples};
	for (uint32_t i = 0; i < axis->n_samples; i++)
		list->n += is_wanted(&axis->samples[i]);
	if (list->n == axis->n_samples)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(BLOCKS_NEW(list->samples, list->n));
	for (uint32_t i = 0; n < list->n; i++) {
		if (is_wanted(&axis->samples[i]))
			list->samples[n++] = &axis->samples[i];
	}
	return FLEXTRACE_OK;
}

void sample_list_release(struct sample_list *list)
{
	blocks_free(list->samples);
}

/* -- out ------------------------------------------------------------------------------------- */

uint64_t sample_lead(const struct axis *axis, const struct sample *sample)
{
	const struct tick_op *op = sample->source.op;
	uint64_t lead = 0, last = 0;

	if (sample->bounds == BOUNDS_HARD && !axis->is_soft)
		return 0;
	for (int i = 0; sample->kind == SAMPLE_OP && i <= sample->from; i++) {
		if (!op->ticks[i])
			continue;
		if (last)
			lead += low_bits(op->ticks[i] - last, axis->narrow_bits);
		if (last && i == 2)
			lead += spans_wait(axis, op);
		last = op->ticks[i];
	}
	return lead;
}

/* Wraps that no stamp shows most likely passed while the operation executed: between TS3 and
 * TS4, else before the last stamp. No sample says so, however certain the first and the last stamp
 * are. */
static void write_op(const struct axis *axis, const struct sample *sample)
{
	struct tick_op *op = sample->source.op;
	uint64_t hidden = sample->span, last = 0;
	uint64_t ticks = axis_ticks(axis, sample->segment, sample->first) -
	                 sample_lead(axis, sample);
	int last_stamp = sample->to;

	for (int i = sample->from; i <= sample->to; i++) {
		if (!op->ticks[i])
			continue;
		if (last)
			hidden -= low_bits(op->ticks[i] - last, axis->narrow_bits);
		last = op->ticks[i];
	}
	op->has_open_middle = hidden > 0;
	if (op->ticks[2] && op->ticks[3] && sample->from <= 2 && sample->to >= 3)
		last_stamp = 3;
	last = 0;
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		uint64_t raw = op->ticks[i];

		if (!raw)
			continue;
		if (last)
			ticks += low_bits(raw - last, axis->narrow_bits);
		if (i == last_stamp)
			ticks += hidden;
		if (last && i == 2 && sample->from >= 2)
			ticks += spans_wait(axis, op);
		op->ticks[i] = ticks;
		last = raw;
	}
	op->unused = 0;
	op->segment = sample->segment;
	op->status = sample->status;
	if (axis->is_soft && op->status == TIME_CERTIFIED)
		op->status = TIME_ASSUMED;
	/* Its stamps fit as well a wrap later. */
	op->is_doubted &= op->status <= TIME_ASSUMED;
	if (op->is_doubted)
		op->status = TIME_OUTLIER;
}

static int write_estimate(struct table *out, const struct bracket *like, uint64_t ticks,
                          int64_t before_ns, int64_t after_ns)
{
	struct bracket bracket = *like;

	bracket.source = BRACKET_ESTIMATE;
	bracket.first_ticks = bracket.last_ticks = ticks;
	bracket.before_host_ns = before_ns;
	bracket.after_host_ns = after_ns;
	return table_put(out, &bracket, sizeof(bracket));
}

#define MANY_ESTIMATES 8192 /* of so many, one end of each says as much as both */

/* Each of the two stamps was estimated on its own. */
static int write_estimates(const struct axis *axis, const struct sample *sample, uint32_t counter,
                           struct table *out)
{
	bool is_one_of_many = axis->n_samples >= MANY_ESTIMATES;
	bool is_odd = (sample - axis->samples) % 2;

	const struct bracket like = {
		.counter = counter,
		.segment = sample->segment,
		.is_after_gap = axis->segments[sample->segment].is_after_gap,
	};
	uint64_t ticks = axis_ticks(axis, sample->segment, sample->first);
	int64_t begin_ns = sample->before_ns + UNWRAP_ESTIMATE_SLACK_NS;
	int64_t end_ns = sample->after_ns - UNWRAP_ESTIMATE_SLACK_NS;

	if (!sample_is_bounded(sample) || sample->status > TIME_ASSUMED)
		return FLEXTRACE_OK;
	if (sample->from == sample->to)
		return write_estimate(out, &like, ticks, begin_ns, end_ns);
	if (!is_one_of_many || !is_odd)
		FLEXTRACE_TRY(write_estimate(out, &like, ticks, begin_ns, begin_ns));
	if (sample->is_origin || (is_one_of_many && !is_odd))
		return FLEXTRACE_OK;
	return write_estimate(out, &like, ticks + sample->span, end_ns, end_ns);
}

/* A stamp is the beginning of its tick, and what it marks comes up to a tick later. Where a tick is
 * longer than latencies may be, it may so be in front of its submission. */
static int64_t not_before_ns(const struct axis *axis, const struct sample *sample)
{
	if (sample->before_ns == UNWRAP_NO_BEFORE || !axis->rate.is_known ||
	    axis->rate.lo * SLOW_TICK_NS >= 1)
		return sample->before_ns;
	return sample->before_ns - (int64_t)ceil(1 / axis->rate.lo);
}

static int write_bracket(const struct axis *axis, const struct sample *sample, uint32_t counter,
                         struct table *out)
{
	bool is_estimate = sample->bounds == BOUNDS_ESTIMATE && sample->status <= TIME_ASSUMED;
	bool is_hard = sample->bounds == BOUNDS_HARD &&
	               (sample->status == TIME_CERTIFIED || sample->is_origin);
	struct bracket *bracket;

	if (!is_hard && !is_estimate)
		return FLEXTRACE_OK;
	if (sample->before_ns == UNWRAP_NO_BEFORE && sample->after_ns == UNWRAP_NO_AFTER)
		return FLEXTRACE_OK;
	bracket = table_append(out, sizeof(*bracket));
	if (!bracket)
		return FLEXTRACE_E_MEMORY;
	*bracket = (struct bracket){
		.first_ticks = axis_ticks(axis, sample->segment, sample->first),
		.last_ticks = axis_ticks(axis, sample->segment,
	                                 sample->first + (sample->is_origin ? 0 : sample->span)),
		.before_host_ns = not_before_ns(axis, sample),
		.after_host_ns = sample->after_ns,
		.counter = counter,
		.segment = sample->segment,
		.is_after_gap = axis->segments[sample->segment].is_after_gap,
		.source = is_estimate                   ? BRACKET_ESTIMATE
	                  : sample->kind == SAMPLE_SYNC ? BRACKET_SYNC
	                  : sample->kind == SAMPLE_RUN  ? BRACKET_RUN
	                                                : BRACKET_OP,
	};
	return FLEXTRACE_OK;
}

static int lose_outlier(struct unwrap *unwrap, const struct sample *sample)
{
	const struct tick_op *op = sample->source.op;
	struct loss_place place = identity_place(unwrap->identity, op->device, FLEXTRACE_NONE,
	                                         op->stream);

	return ledger_lose(unwrap->ledger, LOSS_OUTLIER, &place, 1,
	                   sample->after_ns != UNWRAP_NO_AFTER ? sample->after_ns : INT64_MIN);
}

/* Their memory is that of the brackets then. Marks, if there are any, still ask for samples. */
static void drop_written(struct unwrap *unwrap, const struct sample *next)
{
	if (unwrap->marks.n_areas == 0)
		blocks_drop(unwrap->samples,
		            (size_t)(next - unwrap->samples) * sizeof(*unwrap->samples));
}

int samples_write(struct unwrap *unwrap, uint32_t counter, struct table *brackets)
{
	const struct axis *axis = &unwrap->axes[counter];

	for (uint32_t i = 0; i < axis->n_samples; i++) {
		const struct sample *sample = &axis->samples[i];

		if (i % SAMPLES_PER_DROP == 0)
			drop_written(unwrap, sample);
		FLEXTRACE_TRY((axis->is_soft && sample->kind == SAMPLE_OP
		                       ? write_estimates
		                       : write_bracket)(axis, sample, counter, brackets));
		if (sample->kind == SAMPLE_RUN) {
			sample->source.run->ticks = axis_ticks(axis, sample->segment,
			                                       sample->first);
		} else if (sample->kind == SAMPLE_OP) {
			write_op(axis, sample);
			if (sample->source.op->status == TIME_OUTLIER)
				FLEXTRACE_TRY(lose_outlier(unwrap, sample));
		}
	}
	return FLEXTRACE_OK;
}
