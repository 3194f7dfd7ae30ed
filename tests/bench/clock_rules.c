/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_rules.h"

#include <math.h>
#include <stdlib.h>

#define WRAP      (UINT64_C(1) << 32)
#define N         FLEXTRACE_N_STAMPS
#define MAX_LIVES 8u

static double host_ns(const struct clock_truth *truth, int64_t ns)
{
	return (double)(ns - truth->scene.origin_ns);
}

static double middle_ns(const struct clock_truth *truth, const struct truth_op *op)
{
	return (host_ns(truth, op->submit_ns) + host_ns(truth, op->complete_ns)) / 2;
}

double true_hz(const struct clock_truth *truth)
{
	const struct truth_op *first = NULL, *last = NULL;

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];

		if (op->life > 0)
			continue;
		first = first && first->time_ns[0] <= op->time_ns[0] ? first : op;
		last = last && last->time_ns[4] >= op->time_ns[4] ? last : op;
	}
	return (double)(last->ticks[4] - first->ticks[0]) / (last->time_ns[4] - first->time_ns[0]) *
	       1e9;
}

/* -- lines through true cycles ---------------------------------------------------------------- */

struct line_fit {
	double x0, t0, slope; /* ticks, ns, ns per tick */
};

static void place_by_lines(const struct clock_truth *truth, const struct line_fit *lines,
                           struct placing *placing)
{
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];
		const struct line_fit *line = &lines[op->life];

		placing->is_placed[i] = op->lie != TRUTH_GARBAGE;
		for (int k = 0; k < N; k++) {
			placing->ticks[N * i + k] = op->ticks[k];
			placing->time_ns[N * i + k] = line->t0 + ((double)op->ticks[k] - line->x0) *
			                                                 line->slope;
		}
	}
}

static double middle_ticks(const struct truth_op *op)
{
	return (double)op->ticks[0] + (double)(op->ticks[4] - op->ticks[0]) / 2;
}

static void place_two_points(const struct clock_truth *truth, double hz, struct placing *placing)
{
	const struct truth_op *first[MAX_LIVES] = {0}, *last[MAX_LIVES] = {0};
	struct line_fit lines[MAX_LIVES] = {{0}};

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];

		if (op->lie != TRUTH_HONEST)
			continue;
		first[op->life] = first[op->life] ? first[op->life] : op;
		last[op->life] = op;
	}
	for (uint32_t life = 0; life < truth->n_lives; life++) {
		if (!first[life])
			continue;
		lines[life] = (struct line_fit){middle_ticks(first[life]),
		                                middle_ns(truth, first[life]), 1e9 / hz};
		if (last[life] != first[life])
			lines[life].slope = (middle_ns(truth, last[life]) - lines[life].t0) /
			                    (middle_ticks(last[life]) - lines[life].x0);
	}
	place_by_lines(truth, lines, placing);
}

static void place_least_squares(const struct clock_truth *truth, double hz, struct placing *placing)
{
	struct line_fit lines[MAX_LIVES] = {{0}};

	for (uint32_t life = 0; life < truth->n_lives; life++) {
		struct line_fit *line = &lines[life];
		double n = 0, xx = 0, xt = 0;

		for (uint32_t i = 0; i < truth->n_ops; i++) {
			const struct truth_op *op = &truth->ops[i];

			if (op->life != life || op->lie == TRUTH_GARBAGE)
				continue;
			n++;
			line->x0 += (middle_ticks(op) - line->x0) / n;
			line->t0 += (middle_ns(truth, op) - line->t0) / n;
		}
		for (uint32_t i = 0; i < truth->n_ops; i++) {
			const struct truth_op *op = &truth->ops[i];
			double x = middle_ticks(op) - line->x0;

			if (op->life != life || op->lie == TRUTH_GARBAGE)
				continue;
			xx += x * x;
			xt += x * (middle_ns(truth, op) - line->t0);
		}
		line->slope = xx > 0 ? xt / xx : 1e9 / hz;
	}
	place_by_lines(truth, lines, placing);
}

static void place_last_snapshot(const struct clock_truth *truth, double hz, struct placing *placing)
{
	const struct truth_op *snapshot = NULL;

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];

		placing->is_placed[i] = op->lie != TRUTH_GARBAGE;
		if (!snapshot || snapshot->life != op->life)
			snapshot = op;
		for (int k = 0; k < N; k++) {
			placing->ticks[N * i + k] = op->ticks[k];
			placing->time_ns[N * i + k] =
				middle_ns(truth, snapshot) +
				((double)op->ticks[k] - middle_ticks(snapshot)) / hz * 1e9;
		}
		if (op->lie != TRUTH_GARBAGE)
			snapshot = op;
	}
}

/* -- wraps ------------------------------------------------------------------------------------ */

/* Cycles of an operation whose first stamp has this epoch; a decrease inside is one wrap. */
static void widen(const struct truth_op *op, int64_t epoch, uint64_t *ticks)
{
	uint64_t base = (uint64_t)epoch * WRAP;

	for (int k = 0; k < N; k++) {
		if (k > 0 && op->ticks32[k] < op->ticks32[k - 1])
			base += WRAP;
		ticks[k] = base + op->ticks32[k];
	}
}

/* One wrap more whenever a stamp decreases by more than `least`; then a line through the ends. */
static void place_by_falls(const struct clock_truth *truth, double hz, uint32_t least,
                           struct placing *placing)
{
	struct line_fit line = {0, 0, 1e9 / hz};
	uint32_t last = 0;
	int64_t epoch = 0;
	uint32_t n = truth->n_ops;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t *ticks = &placing->ticks[N * i];

		epoch += truth->ops[i].ticks32[0] < last && last - truth->ops[i].ticks32[0] > least;
		widen(&truth->ops[i], epoch, ticks);
		epoch = (int64_t)(ticks[4] / WRAP);
		last = truth->ops[i].ticks32[4];
		placing->is_placed[i] = true;
	}
	if (n == 0)
		return;
	line.x0 = (double)placing->ticks[0];
	line.t0 = middle_ns(truth, &truth->ops[0]);
	if (placing->ticks[N * (n - 1)] != placing->ticks[0])
		line.slope = (middle_ns(truth, &truth->ops[n - 1]) - line.t0) /
		             ((double)placing->ticks[N * (n - 1)] - line.x0);
	for (uint32_t i = 0; i < N * n; i++)
		placing->time_ns[i] = line.t0 + ((double)placing->ticks[i] - line.x0) * line.slope;
}

static void place_by_decrease(const struct clock_truth *truth, double hz, struct placing *placing)
{
	place_by_falls(truth, hz, 0, placing);
}

static void place_by_far_decrease(const struct clock_truth *truth, double hz,
                                  struct placing *placing)
{
	place_by_falls(truth, hz, UINT32_C(1) << 31, placing);
}

/* Epoch = host time since the counter was 0, divided by the time of a wrap; each operation hangs
 * on its own host end. */
static void place_by_division(const struct clock_truth *truth, double hz, struct placing *placing)
{
	double wrap_ns = 0x1p32 / hz * 1e9, start_ns = INFINITY;

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];
		uint64_t *ticks = &placing->ticks[N * i];
		double *time_ns = &placing->time_ns[N * i];

		widen(op, 0, ticks);
		for (int k = 0; k < N; k++)
			time_ns[k] = host_ns(truth, op->complete_ns) -
			             (double)(ticks[4] - ticks[k]) / hz * 1e9;
		start_ns = fmin(start_ns, time_ns[0] - (double)op->ticks32[0] / hz * 1e9);
		placing->is_placed[i] = true;
	}
	for (uint32_t i = 0; i < truth->n_ops; i++)
		widen(&truth->ops[i],
		      (int64_t)floor((placing->time_ns[N * i] - start_ns) / wrap_ns),
		      &placing->ticks[N * i]);
}

static void place_by_wrong_division(const struct clock_truth *truth, double hz,
                                    struct placing *placing)
{
	place_by_division(truth, hz * 560 / 557.1, placing);
}

/* The smallest epoch that the first pair maps behind the submit. */
static void place_by_least_epoch(const struct clock_truth *truth, double hz,
                                 struct placing *placing)
{
	const struct truth_op *first = truth->ops;
	double wrap_ns = 0x1p32 / hz * 1e9;

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];
		double mapped_ns = first->time_ns[0] +
		                   ((double)op->ticks32[0] - (double)first->ticks32[0]) / hz * 1e9;
		double epoch = ceil((host_ns(truth, op->submit_ns) - mapped_ns) / wrap_ns);

		widen(op, (int64_t)epoch, &placing->ticks[N * i]);
		for (int k = 0; k < N; k++)
			placing->time_ns[N * i + k] =
				mapped_ns + epoch * wrap_ns +
				(double)(placing->ticks[N * i + k] - placing->ticks[N * i]) / hz *
					1e9;
		placing->is_placed[i] = true;
	}
}

const struct clock_rule clock_rules[] = {
	{"two points", place_two_points},
	{"least squares, middles", place_least_squares},
	{"last snapshot", place_last_snapshot},
	{"wrap where it decreases", place_by_decrease},
	{"  the same, by 2^31", place_by_far_decrease},
	{"wrap by division, own end", place_by_division},
	{"  the same, rate 0.5 % off", place_by_wrong_division},
	{"least epoch behind submit", place_by_least_epoch},
};
const uint32_t n_clock_rules = sizeof(clock_rules) / sizeof(clock_rules[0]);

/* -- judging ---------------------------------------------------------------------------------- */

void placing_init(struct placing *placing, const struct clock_truth *truth)
{
	*placing = (struct placing){
		.time_ns = calloc(truth->n_ops + 1ull, N * sizeof(*placing->time_ns)),
		.ticks = calloc(truth->n_ops + 1ull, N * sizeof(*placing->ticks)),
		.is_placed = calloc(truth->n_ops + 1ull, sizeof(*placing->is_placed)),
	};
	if (!placing->time_ns || !placing->ticks || !placing->is_placed)
		abort();
}

void placing_release(struct placing *placing)
{
	free(placing->time_ns);
	free(placing->ticks);
	free(placing->is_placed);
}

/* Operations on another epoch than most of their life. */
static uint32_t count_wrong(const struct placing *placing, const struct clock_truth *truth)
{
	uint64_t base[MAX_LIVES] = {0};
	int64_t votes[MAX_LIVES] = {0};
	uint32_t n_wrong = 0;

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];
		uint64_t offset = placing->ticks[N * i] - op->ticks[0];

		if (!placing->is_placed[i] || op->lie == TRUTH_GARBAGE)
			continue;
		if (votes[op->life] == 0)
			base[op->life] = offset;
		votes[op->life] += offset == base[op->life] ? 1 : -1;
	}
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];

		if (!placing->is_placed[i] || op->lie == TRUTH_GARBAGE)
			continue;
		n_wrong += placing->ticks[N * i] - op->ticks[0] != base[op->life] ||
		           placing->ticks[N * i + 4] - op->ticks[4] != base[op->life];
	}
	return n_wrong;
}

struct judged {
	uint64_t ticks;
	double time_ns, error_ns;
	uint32_t life;
};

static int by_ticks(const void *left, const void *right)
{
	const struct judged *a = left, *b = right;

	if (a->life != b->life)
		return a->life < b->life ? -1 : 1;
	return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

static int by_error(const void *left, const void *right)
{
	double a = ((const struct judged *)left)->error_ns;
	double b = ((const struct judged *)right)->error_ns;

	return (a > b) - (a < b);
}

static void judge(struct judged *judged, uint32_t n, struct score *score)
{
	uint32_t n_inverted = 0;

	if (n == 0)
		return;
	qsort(judged, n, sizeof(*judged), by_ticks);
	for (uint32_t i = 1; i < n; i++)
		n_inverted += judged[i].life == judged[i - 1].life &&
		              judged[i].time_ns < judged[i - 1].time_ns;
	qsort(judged, n, sizeof(*judged), by_error);
	score->inverted = (double)n_inverted / n;
	score->p50_us = judged[(n - 1) / 2].error_ns / 1e3;
	score->p99_us = judged[(uint32_t)((n - 1) * 0.99)].error_ns / 1e3;
	score->max_us = judged[n - 1].error_ns / 1e3;
}

void placing_score(const struct placing *placing, const struct clock_truth *truth,
                   struct score *ret_score)
{
	struct judged *judged = calloc(truth->n_ops + 1ull, N * sizeof(*judged));
	uint32_t n = 0, n_placed = 0, n_outside = 0;
	double n_ops = truth->n_ops;

	for (uint32_t i = 0; judged && i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];
		const double *time_ns = &placing->time_ns[N * i];

		n_placed += placing->is_placed[i];
		if (!placing->is_placed[i] || op->lie == TRUTH_GARBAGE)
			continue;
		n_outside += op->lie == TRUTH_HONEST &&
		             (time_ns[0] < host_ns(truth, op->submit_ns) ||
		              time_ns[4] > host_ns(truth, op->complete_ns));
		for (int k = 0; k < N; k++)
			judged[n++] = (struct judged){op->ticks[k], time_ns[k],
			                              fabs(time_ns[k] - op->time_ns[k]), op->life};
	}
	*ret_score = (struct score){.placed = n_placed / n_ops,
	                            .wrong = count_wrong(placing, truth) / n_ops,
	                            .outside = n_outside / n_ops};
	judge(judged, n, ret_score);
	free(judged);
}
