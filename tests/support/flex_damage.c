/* SPDX-License-Identifier: Apache-2.0 */
/* What Flex makes of the truth, and what else can go wrong with it. */
#include <math.h>
#include <string.h>

#include "flex_truth.h"

void flex_truth_tell(struct flex_truth *truth)
{
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct flex_op *op = &truth->ops[i];

		for (int k = 0; k < FLEX_STAMPS; k++) {
			double since = (double)(op->host_ns[k] - truth->ranks[op->rank].origin_ns);

			op->flex_ns[k] = op->host_ns[k] +
			                 (int64_t)llround(truth->scene.estimate_ns +
			                                  since * truth->scene.estimate_ppm * 1e-6);
			op->words[k] = (uint32_t)op->ticks[k];
		}
	}
	for (uint32_t i = 0; i < truth->n_trips; i++) {
		truth->trips[i].told_begin_ns = truth->trips[i].begin_ns;
		truth->trips[i].told_end_ns = truth->trips[i].end_ns;
	}
}

/* -- events ---------------------------------------------------------------------------------- */

struct spoiler {
	const struct flex_damage *damage;
	uint64_t state;
	uint32_t n_events;
};

static bool draw(struct spoiler *spoiler, double share)
{
	return share > 0 && model_uniform(&spoiler->state) < share;
}

static uint8_t fate_of(struct spoiler *spoiler)
{
	const struct flex_damage *damage = spoiler->damage;
	uint32_t in_turn = damage->burst_every ? spoiler->n_events % damage->burst_every : 0;

	spoiler->n_events++;
	if (draw(spoiler, damage->lost) ||
	    (damage->burst_every && in_turn >= damage->burst_every - damage->burst))
		return FLEX_LOST;
	if (draw(spoiler, damage->lost_begins))
		return FLEX_NO_BEGIN;
	if (draw(spoiler, damage->lost_ends))
		return FLEX_NO_END;
	return draw(spoiler, damage->duplicated) ? FLEX_TWICE : 0;
}

static void spoil_stamps(struct spoiler *spoiler, struct flex_op *op)
{
	op->is_garbage = true;
	for (int i = 0; i < FLEX_STAMPS; i++)
		op->words[i] = (uint32_t)model_random(&spoiler->state) | 1;
}

static void spoil_ops(struct spoiler *spoiler, struct flex_truth *truth)
{
	struct flex_phase phases[2];

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct flex_op *op = &truth->ops[i];
		uint32_t n = flex_phases(op, phases);

		for (uint32_t k = 0; k < n; k++)
			op->fates[k] = fate_of(spoiler);
		if (draw(spoiler, spoiler->damage->garbage))
			spoil_stamps(spoiler, op);
	}
}

static void spoil_trips(struct spoiler *spoiler, struct flex_truth *truth)
{
	uint32_t n_ranks = truth->scene.n_ranks;

	for (uint32_t i = n_ranks; i < truth->n_trips; i++) {
		struct flex_trip *trip = &truth->trips[i];

		if (draw(spoiler, spoiler->damage->lost_trips))
			trip->fate = FLEX_LOST;
		if (!draw(spoiler, spoiler->damage->wrong_trips))
			continue;
		trip->told_begin_ns = truth->trips[i - n_ranks].begin_ns;
		trip->told_end_ns = truth->trips[i - n_ranks].end_ns;
	}
}

/* -- times ----------------------------------------------------------------------------------- */

/* How far the times of an iteration of a rank are off, for a share of them. */
static int64_t gap_of(struct spoiler *spoiler, const struct flex_truth *truth, uint32_t rank,
                      double share)
{
	double wrap_ns = 0x1p32 / truth->ranks[rank].hz * 1e9;

	return draw(spoiler, share) ? (int64_t)(spoiler->damage->gap_wraps * wrap_ns) : 0;
}

static int64_t some_of(struct spoiler *spoiler, double most_ns)
{
	return most_ns > 0 ? (int64_t)((2 * model_uniform(&spoiler->state) - 1) * most_ns) : 0;
}

static bool is_late(const struct flex_trip *trip, const struct flex_op *op)
{
	return op->host_ns[2] - trip->begin_ns > (trip->end_ns - trip->begin_ns) / 2;
}

static void move_op(struct spoiler *spoiler, const struct flex_trip *trip, int64_t gap_ns,
                    struct flex_op *op)
{
	const struct flex_damage *damage = spoiler->damage;
	struct flex_phase phases[2];
	uint32_t n = flex_phases(op, phases);

	gap_ns += some_of(spoiler, damage->noise_ns);
	for (int i = 0; i < FLEX_STAMPS; i++) {
		double since = (double)(op->flex_ns[i] - trip->begin_ns);

		op->flex_ns[i] += gap_ns + damage->shift_ns +
		                  (int64_t)llround(since * damage->stretch_ppm * 1e-6);
	}
	if (draw(spoiler, damage->overlaps))
		op->flex_ns[phases[n - 1].to] += damage->overlap_ns;
}

static void move_times(struct spoiler *spoiler, struct flex_truth *truth)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < truth->n_trips; i += truth->scene.n_ranks) {
		int64_t gaps_ns[FLEX_MAX_RANKS], halves_ns[FLEX_MAX_RANKS];
		int64_t odds_ns[FLEX_MAX_RANKS];

		for (uint32_t rank = 0; rank < truth->scene.n_ranks; rank++) {
			gaps_ns[rank] = gap_of(spoiler, truth, rank, spoiler->damage->gaps) +
			                some_of(spoiler, spoiler->damage->scatter_ns);
			halves_ns[rank] = gap_of(spoiler, truth, rank, spoiler->damage->half_gaps);
			odds_ns[rank] = gap_of(spoiler, truth, rank, spoiler->damage->odd_gaps);
		}
		for (;
		     next < truth->n_ops && truth->ops[next].iteration == truth->trips[i].iteration;
		     next++) {
			struct flex_op *op = &truth->ops[next];
			const struct flex_trip *trip = &truth->trips[i + op->rank];

			move_op(spoiler, trip,
			        gaps_ns[op->rank] + (is_late(trip, op) ? halves_ns[op->rank] : 0) +
			                (next % 2 ? odds_ns[op->rank] : 0),
			        op);
		}
	}
}

static void lose_wraps(struct flex_truth *truth, bool keeps_early)
{
	int64_t lost_ns[FLEX_MAX_RANKS] = {0};

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct flex_op *op = &truth->ops[i];
		double wrap_ns = 0x1p32 / truth->ranks[op->rank].hz * 1e9;

		if (i > 0 && truth->ops[i - 1].iteration != op->iteration && !keeps_early)
			memset(lost_ns, 0, sizeof(lost_ns));
		for (int k = 0; k < FLEX_STAMPS; k++) {
			if (k == 3)
				lost_ns[op->rank] +=
					(int64_t)((double)((op->ticks[3] - op->ticks[2]) >> 32) *
				                  wrap_ns);
			op->flex_ns[k] -= lost_ns[op->rank];
		}
	}
}

static void count_low_bits(struct flex_truth *truth)
{
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct flex_op *op = &truth->ops[i];
		double tick_ns = 1e9 / truth->ranks[op->rank].hz;

		for (int k = 1; k < FLEX_STAMPS; k++)
			op->flex_ns[k] =
				op->flex_ns[k - 1] +
				(int64_t)((double)(uint32_t)(op->ticks[k] - op->ticks[k - 1]) *
			                  tick_ns);
	}
}

void flex_damage(struct flex_truth *truth, const struct flex_damage *damage)
{
	struct spoiler spoiler = {.damage = damage, .state = damage->seed};

	spoil_ops(&spoiler, truth);
	spoil_trips(&spoiler, truth);
	move_times(&spoiler, truth);
	if (damage->loses_wraps)
		lose_wraps(truth, damage->keeps_early);
	if (damage->is_counted_low)
		count_low_bits(truth);
}
