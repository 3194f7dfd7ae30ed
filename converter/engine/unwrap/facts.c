/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything with a device stamp and a host time becomes a fact of its counter. Once the counter's
 * axis is placed, the results are written back to where the facts came from.
 */
#include "base/array.h"
#include "base/blocks.h"
#include "unwrap_impl.h"

#include <math.h>
#include <stdlib.h>

#define FACTS_PER_DROP 4096u
#define SLOW_TICK_NS   8000.0 /* longer than the least latency is */

/* -- in -------------------------------------------------------------------------------------- */

/* An estimate is about two stamps, a bracket about all there are. */
static void choose_stamps(const struct tick_op *op, struct fact *fact)
{
	uint8_t part = fact->bounds == BOUNDS_ESTIMATE ? (uint8_t)(op->estimate - 1)
	                                               : FLEXTRACE_ESTIMATE_WHOLE;

	fact->from = 0;
	fact->to = FLEXTRACE_N_STAMPS - 1;
	if (part != FLEXTRACE_ESTIMATE_WHOLE && op->ticks[part - 1] && op->ticks[part]) {
		fact->from = part - 1;
		fact->to = part;
		return;
	}
	while (fact->from < fact->to && !op->ticks[fact->from])
		fact->from++;
	while (fact->to > fact->from && !op->ticks[fact->to])
		fact->to--;
}

/* Puts the stamps of an operation in a row: how far the last is behind the first, a wrap where
 * they decrease. Returns the longest way from one to the next. */
static uint64_t put_in_row(const struct tick_op *op, unsigned n_bits, struct fact *fact)
{
	uint64_t longest = 0, last;

	choose_stamps(op, fact);
	last = fact->first = op->ticks[fact->from];
	fact->span = 0;
	for (int i = fact->from + 1; i <= fact->to; i++) {
		uint64_t ticks = op->ticks[i], way = low_bits(ticks - last, n_bits);

		if (!ticks)
			continue;
		longest = way > longest ? way : longest;
		fact->span += way;
		last = ticks;
	}
	return longest;
}

/* Makes the fact of an operation; false: it has no stamps. */
static bool fact_of_op(struct tick_op *op, unsigned n_bits, struct fact *ret_fact,
                       unsigned *ret_n_left_out)
{
	struct fact fact = {
		.before_ns = op->submit_host_ns ? op->submit_host_ns : UNWRAP_NO_BEFORE,
		.after_ns = op->complete_host_ns ? op->complete_host_ns : UNWRAP_NO_AFTER,
		.source.op = op,
		.kind = FACT_OP,
		.is_counted = op->unused & OP_IS_COUNTED,
		.bounds = op->unused & OP_IS_CHOICE        ? BOUNDS_CHOICE
	                  : op->unused & OP_AFTER_IS_CLOCK ? BOUNDS_CLOCK
	                  : op->unused & OP_IS_ESTIMATED   ? BOUNDS_ESTIMATE
	                                                   : BOUNDS_HARD,
		.status = TIME_UNMATCHED,
	};
	uint64_t longest;

	if (fact.before_ns != UNWRAP_NO_BEFORE && fact.after_ns < fact.before_ns) {
		fact.before_ns = UNWRAP_NO_BEFORE;
		fact.after_ns = UNWRAP_NO_AFTER;
	}
	longest = put_in_row(op, n_bits, &fact);
	*ret_n_left_out = order_mend(&fact, n_bits, longest);
	if (*ret_n_left_out > 0)
		put_in_row(op, n_bits, &fact);
	*ret_fact = fact;
	return fact.first != 0;
}

static struct fact fact_of_sync(const struct record_clock_sync *sync)
{
	struct fact fact = {
		.before_ns = unwrap_host_stamp(sync->host_before_ns),
		.after_ns = unwrap_host_stamp(sync->host_after_ns),
		.first = sync->ticks,
		.kind = FACT_SYNC,
		.bounds = BOUNDS_HARD,
		.status = TIME_UNMATCHED,
	};

	if (!fact.before_ns || fact.after_ns < fact.before_ns)
		fact.before_ns = UNWRAP_NO_BEFORE;
	if (!fact.after_ns || fact.before_ns == UNWRAP_NO_BEFORE)
		fact.after_ns = UNWRAP_NO_AFTER;
	return fact;
}

/* FW start of a run comes after the submit of its job and before the job's completion is
 * visible. */
static struct fact fact_of_run(struct run *run)
{
	const struct tick_op *op = run->op;

	return (struct fact){
		.before_ns = op->submit_host_ns ? op->submit_host_ns : UNWRAP_NO_BEFORE,
		.after_ns = op->complete_host_ns ? op->complete_host_ns : UNWRAP_NO_AFTER,
		.first = run->anchor,
		.source.run = run,
		.is_counted = op->unused & OP_IS_COUNTED,
		.kind = FACT_RUN,
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

/* Stores how many facts there can be; those of each counter are in unwrap->n_facts then. */
static int count_facts(struct unwrap *unwrap, uint32_t n_counters, uint64_t *ret_n)
{
	*ret_n = 0;
	FLEXTRACE_TRY(ARRAY_RESERVE(unwrap->n_facts, unwrap->n_facts_allocated, n_counters));
	for (uint64_t i = 0; i < unwrap->marks.n_runs; i++)
		unwrap->n_facts[unwrap->marks.runs[i].counter] +=
			is_evidence(&unwrap->marks.runs[i]);
	for (uint32_t i = 0; i < n_counters; i++)
		*ret_n += unwrap->n_facts[i];
	return FLEXTRACE_OK;
}

static void add_fact(struct unwrap *unwrap, uint32_t counter, const struct fact *fact)
{
	struct axis *axis = &unwrap->axes[counter];

	/* A counter that shows more bits than its definition has more bits. */
	if (fact->kind != FACT_OP && axis->wide_bits < 64 && fact->first >> axis->wide_bits)
		axis->wide_bits = 64;
	axis->facts[axis->n_facts++] = *fact;
}

static int add_op(struct unwrap *unwrap, struct tick_op *op)
{
	struct loss_place place = unwrap_place(unwrap, op->device, FLEXTRACE_NONE, op->stream);
	struct fact fact;
	unsigned n_left_out;

	if (fact_of_op(op, unwrap->axes[op->counter].narrow_bits, &fact, &n_left_out))
		add_fact(unwrap, op->counter, &fact);
	if (n_left_out == 0)
		return FLEXTRACE_OK;
	return ledger_lose(unwrap->ledger, LOSS_STAMP_ORDER, &place, n_left_out,
	                   op->complete_host_ns ? op->complete_host_ns : INT64_MIN);
}

static int fill_facts(struct unwrap *unwrap)
{
	struct table_cursor cursor;
	struct tick_op *op;
	const struct record_clock_sync *sync;
	struct fact fact;

	for (uint64_t i = 0; i < unwrap->marks.n_runs; i++) {
		if (!is_evidence(&unwrap->marks.runs[i]))
			continue;
		fact = fact_of_run(&unwrap->marks.runs[i]);
		add_fact(unwrap, unwrap->marks.runs[i].counter, &fact);
	}
	table_read(&cursor, &unwrap->syncs, false);
	while ((sync = table_next(&cursor, sizeof(*sync)))) {
		fact = fact_of_sync(sync);
		add_fact(unwrap, sync->domain, &fact);
	}
	table_read(&cursor, &unwrap->ops, false);
	while ((op = table_next(&cursor, sizeof(*op)))) {
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
void facts_trust_estimates(struct axis *axis)
{
	for (uint32_t i = 0; i < axis->n_facts; i++) {
		if (axis->facts[i].bounds == BOUNDS_HARD && axis->facts[i].kind != FACT_SYNC)
			return;
		axis->is_soft |= axis->facts[i].bounds == BOUNDS_ESTIMATE;
	}
	for (uint32_t i = 0; i < axis->n_facts; i++) {
		struct fact *fact = &axis->facts[i];

		if (fact->bounds != BOUNDS_ESTIMATE)
			continue;
		fact->bounds = BOUNDS_HARD;
		if (fact->before_ns != UNWRAP_NO_BEFORE)
			fact->before_ns -= UNWRAP_ESTIMATE_SLACK_NS;
		if (fact->after_ns != UNWRAP_NO_AFTER)
			fact->after_ns += UNWRAP_ESTIMATE_SLACK_NS;
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

int facts_make(struct unwrap *unwrap)
{
	uint32_t n_axes = unwrap->identity->n_counters;
	uint64_t sum, first = 0;

	unwrap->axes = calloc(n_axes + 1ull, sizeof(*unwrap->axes));
	if (!unwrap->axes)
		return FLEXTRACE_E_MEMORY;
	unwrap->n_axes = n_axes;
	FLEXTRACE_TRY(count_facts(unwrap, n_axes, &sum));
	unwrap->facts = blocks_allocate(sum + 1, sizeof(*unwrap->facts));
	if (!unwrap->facts)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < n_axes; i++) {
		uint32_t bits = unwrap->identity->counters[i].counter_bits;
		uint32_t area_bits = map_find(&unwrap->marks.area_bits, i, 0);

		unwrap->axes[i].wide_bits = bits == 0 || bits > 64 ? 64 : bits;
		if (area_bits != MAP_NONE && area_bits < unwrap->axes[i].wide_bits)
			unwrap->axes[i].wide_bits = area_bits;
		unwrap->axes[i].narrow_bits = unwrap->axes[i].wide_bits < 32
		                                      ? unwrap->axes[i].wide_bits
		                                      : 32;
		unwrap->axes[i].facts = unwrap->facts + first;
		take_options(unwrap, i);
		first += unwrap->n_facts[i];
	}
	FLEXTRACE_TRY(fill_facts(unwrap));
	FLEXTRACE_TRY(choices_prepare(unwrap));
	for (uint32_t i = 0; i < n_axes; i++) {
		choices_trust(unwrap, &unwrap->axes[i]);
		facts_trust_estimates(&unwrap->axes[i]);
	}
	return FLEXTRACE_OK;
}

/* -- lists ------------------------------------------------------------------------------------ */

int fact_list_init(struct fact_list *list, const struct axis *axis,
                   bool (*is_wanted)(const struct fact *fact))
{
	uint32_t n = 0;

	*list = (struct fact_list){.all = axis->facts};
	for (uint32_t i = 0; i < axis->n_facts; i++)
		list->n += is_wanted(&axis->facts[i]);
	if (list->n == axis->n_facts)
		return FLEXTRACE_OK;
	list->facts = blocks_allocate(list->n, sizeof(struct fact *));
	if (!list->facts)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; n < list->n; i++) {
		if (is_wanted(&axis->facts[i]))
			list->facts[n++] = &axis->facts[i];
	}
	return FLEXTRACE_OK;
}

void fact_list_release(struct fact_list *list)
{
	blocks_free(list->facts);
}

/* -- out ------------------------------------------------------------------------------------- */

uint64_t fact_lead(const struct axis *axis, const struct fact *fact)
{
	const struct tick_op *op = fact->source.op;
	uint64_t lead = 0, last = 0;

	if (fact->bounds == BOUNDS_HARD && !axis->is_soft)
		return 0;
	for (int i = 0; fact->kind == FACT_OP && i <= fact->from; i++) {
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
 * TS4, else before the last stamp. No fact says so, however certain the first and the last stamp
 * are. */
static void write_op(const struct axis *axis, const struct fact *fact)
{
	struct tick_op *op = fact->source.op;
	uint64_t hidden = fact->span, last = 0;
	uint64_t ticks = axis_ticks(axis, fact->segment, fact->first) - fact_lead(axis, fact);
	int last_stamp = fact->to;

	for (int i = fact->from; i <= fact->to; i++) {
		if (!op->ticks[i])
			continue;
		if (last)
			hidden -= low_bits(op->ticks[i] - last, axis->narrow_bits);
		last = op->ticks[i];
	}
	op->has_open_middle = hidden > 0;
	if (op->ticks[2] && op->ticks[3] && fact->from <= 2 && fact->to >= 3)
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
		if (last && i == 2 && fact->from >= 2)
			ticks += spans_wait(axis, op);
		op->ticks[i] = ticks;
		last = raw;
	}
	op->unused = 0;
	op->segment = fact->segment;
	op->status = fact->status;
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
	struct bracket *bracket = table_append(out, sizeof(*bracket));

	if (!bracket)
		return FLEXTRACE_E_MEMORY;
	*bracket = *like;
	bracket->source = BRACKET_ESTIMATE;
	bracket->first_ticks = bracket->last_ticks = ticks;
	bracket->before_host_ns = before_ns;
	bracket->after_host_ns = after_ns;
	return FLEXTRACE_OK;
}

#define MANY_ESTIMATES 8192 /* of so many, one end of each says as much as both */

/* Each of the two stamps was estimated on its own. */
static int write_estimates(const struct axis *axis, const struct fact *fact, uint32_t counter,
                           struct table *out)
{
	bool is_one_of_many = axis->n_facts >= MANY_ESTIMATES;
	bool is_odd = (fact - axis->facts) % 2;

	const struct bracket like = {
		.counter = counter,
		.segment = fact->segment,
		.is_after_gap = axis->segments[fact->segment].is_after_gap,
	};
	uint64_t ticks = axis_ticks(axis, fact->segment, fact->first);
	int64_t begin_ns = fact->before_ns + UNWRAP_ESTIMATE_SLACK_NS;
	int64_t end_ns = fact->after_ns - UNWRAP_ESTIMATE_SLACK_NS;

	if (!fact_is_bounded(fact) || fact->status > TIME_ASSUMED)
		return FLEXTRACE_OK;
	if (fact->from == fact->to)
		return write_estimate(out, &like, ticks, begin_ns, end_ns);
	if (!is_one_of_many || !is_odd)
		FLEXTRACE_TRY(write_estimate(out, &like, ticks, begin_ns, begin_ns));
	if (fact->is_origin || (is_one_of_many && !is_odd))
		return FLEXTRACE_OK;
	return write_estimate(out, &like, ticks + fact->span, end_ns, end_ns);
}

/* A stamp is the beginning of its tick, and what it marks comes up to a tick later. Where a tick is
 * longer than latencies may be, it may so be in front of its submission. */
static int64_t not_before_ns(const struct axis *axis, const struct fact *fact)
{
	if (fact->before_ns == UNWRAP_NO_BEFORE || !axis->rate.is_known ||
	    axis->rate.lo * SLOW_TICK_NS >= 1)
		return fact->before_ns;
	return fact->before_ns - (int64_t)ceil(1 / axis->rate.lo);
}

static int write_bracket(const struct axis *axis, const struct fact *fact, uint32_t counter,
                         struct table *out)
{
	bool is_estimate = fact->bounds == BOUNDS_ESTIMATE && fact->status <= TIME_ASSUMED;
	bool is_hard = fact->bounds == BOUNDS_HARD &&
	               (fact->status == TIME_CERTIFIED || fact->is_origin);
	struct bracket *bracket;

	if (!is_hard && !is_estimate)
		return FLEXTRACE_OK;
	if (fact->before_ns == UNWRAP_NO_BEFORE && fact->after_ns == UNWRAP_NO_AFTER)
		return FLEXTRACE_OK;
	bracket = table_append(out, sizeof(*bracket));
	if (!bracket)
		return FLEXTRACE_E_MEMORY;
	*bracket = (struct bracket){
		.first_ticks = axis_ticks(axis, fact->segment, fact->first),
		.last_ticks = axis_ticks(axis, fact->segment,
	                                 fact->first + (fact->is_origin ? 0 : fact->span)),
		.before_host_ns = not_before_ns(axis, fact),
		.after_host_ns = fact->after_ns,
		.counter = counter,
		.segment = fact->segment,
		.is_after_gap = axis->segments[fact->segment].is_after_gap,
		.source = is_estimate               ? BRACKET_ESTIMATE
	                  : fact->kind == FACT_SYNC ? BRACKET_SYNC
	                  : fact->kind == FACT_RUN  ? BRACKET_RUN
	                                            : BRACKET_OP,
	};
	return FLEXTRACE_OK;
}

static int lose_outlier(struct unwrap *unwrap, const struct fact *fact)
{
	const struct tick_op *op = fact->source.op;
	struct loss_place place = unwrap_place(unwrap, op->device, FLEXTRACE_NONE, op->stream);

	return ledger_lose(unwrap->ledger, LOSS_OUTLIER, &place, 1,
	                   fact->after_ns != UNWRAP_NO_AFTER ? fact->after_ns : INT64_MIN);
}

/* Their memory is that of the brackets then. Marks, if there are any, still ask for facts. */
static void drop_written(struct unwrap *unwrap, const struct fact *next)
{
	if (unwrap->marks.n_areas == 0)
		blocks_drop(unwrap->facts, (size_t)(next - unwrap->facts) * sizeof(*unwrap->facts));
}

int facts_write(struct unwrap *unwrap, uint32_t counter, struct table *brackets)
{
	const struct axis *axis = &unwrap->axes[counter];

	for (uint32_t i = 0; i < axis->n_facts; i++) {
		const struct fact *fact = &axis->facts[i];

		if (i % FACTS_PER_DROP == 0)
			drop_written(unwrap, fact);
		FLEXTRACE_TRY((axis->is_soft && fact->kind == FACT_OP
		                       ? write_estimates
		                       : write_bracket)(axis, fact, counter, brackets));
		if (fact->kind == FACT_RUN) {
			fact->source.run->ticks = axis_ticks(axis, fact->segment, fact->first);
		} else if (fact->kind == FACT_OP) {
			write_op(axis, fact);
			if (fact->source.op->status == TIME_OUTLIER)
				FLEXTRACE_TRY(lose_outlier(unwrap, fact));
		}
	}
	return FLEXTRACE_OK;
}
