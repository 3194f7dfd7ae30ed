/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What enters and exits prove about the rate of a clock. Nothing that is only likely may be used:
 * that ranks leave together, or take as long each time, is not a fact.
 *
 * Each clock is proven in turn, from the root's and those before it; then once more in the opposite
 * order, so that each is seen by all others. What both proofs leave holds. For the place of a
 * break, the proof is used whose evidence leaves less room.
 *
 * Two stretches whose rates differ for certain are joined by a step of the rate: in between, both
 * rates are allowed. Any other break joins nothing: what is within it is no evidence, and is
 * bounded by what holds on either side of it (see map.c). A clock that is only suspected has one
 * mean rate all the same, if that explains its stretches; the break is then as wide as the clock
 * may have jumped.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proof.h"

/* -- steps ------------------------------------------------------------------------------------- */

static double width_of(const struct spot *spot)
{
	return spot->tight_hi - spot->tight_lo;
}

/* Whether two stretches have different rates for certain, and those explain both and what is
 * between, with enough room. */
static bool is_step(struct proof *proof, const struct stretch *left, const struct stretch *right)
{
	double least = fmin(stretch_least(proof, left), stretch_least(proof, right));
	double most = fmax(stretch_most(proof, left), stretch_most(proof, right));
	struct spot *spots = proof->spots.all, *end = &spots[right->from];
	double lo, hi, room;

	if (left->least <= right->most && right->least <= left->most)
		return false;
	spots_tighten(&proof->spots, left->from, left->to, stretch_least(proof, left),
	              stretch_most(proof, left));
	spots_tighten(&proof->spots, right->from, right->to, stretch_least(proof, right),
	              stretch_most(proof, right));
	room = proof->share * fmin(width_of(&spots[left->to]), width_of(end));
	lo = spots[left->to].tight_lo;
	hi = spots[left->to].tight_hi;
	for (uint32_t i = left->to + 1; i <= right->from; i++) {
		double dx = spots[i].x - spots[i - 1].x;

		lo = fmax(lo + least * dx, spots[i].lo);
		hi = fmin(hi + most * dx, spots[i].hi);
		if (lo > hi + ROUNDING_NS)
			return false;
	}
	return fmin(hi, end->tight_hi) - fmax(lo, end->tight_lo) >= room;
}

static void join(struct proof *proof)
{
	for (uint32_t i = 1; i < proof->n_stretches; i++) {
		struct stretch *stretch = &proof->stretches[i];

		stretch->is_joined = is_step(proof, stretch - 1, stretch);
	}
}

/* -- one rate ---------------------------------------------------------------------------------- */

/* The mean rate of a run whose clock may have jumped but was not slewed. Its stretches bound how
 * far they went, and for a break between them only the size of the jump is bounded. False: there is
 * none. */
static bool find_mean(const struct proof *proof, struct stretch *ret)
{
	const struct spot *spots = proof->spots.all;
	const struct stretch *last = &proof->stretches[proof->n_stretches - 1];
	double least_ns = 0, most_ns = 0, length;

	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		const struct stretch *stretch = &proof->stretches[i];
		double dx = i > 0 ? spots[stretch->from].x - spots[stretch[-1].to].x : 0;
		struct spot_range ends[2];

		least_ns += stretch_least(proof, stretch) * dx;
		most_ns += stretch_most(proof, stretch) * dx;
		if (!spots_bound_ends(&proof->spots, stretch->from, stretch->to,
		                      stretch_least(proof, stretch), stretch_most(proof, stretch),
		                      ends))
			return false;
		least_ns += ends[1].lo - ends[0].hi;
		most_ns += ends[1].hi - ends[0].lo;
	}
	length = spots[last->to].x - spots[proof->stretches[0].from].x;
	*ret = (struct stretch){.least = least_ns / length, .most = most_ns / length};
	return true;
}

/* Limits the rates of all stretches by those of the run, if these explain each of them. Where a
 * break is proven it may be a slew, and what is between two breaks another rate. */
static void share_mean(struct proof *proof)
{
	struct stretch mean;

	if (proof->is_proven || proof->has_step)
		return;
	for (uint32_t i = 1; i < proof->n_stretches; i++) {
		if (proof->stretches[i].is_joined)
			return;
	}
	if (!find_mean(proof, &mean))
		return;
	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		const struct stretch *stretch = &proof->stretches[i];

		if (!spots_meet(&proof->spots, stretch->from, stretch->to,
		                stretch_least(proof, &mean), stretch_most(proof, &mean)))
			return;
	}
	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		struct stretch *stretch = &proof->stretches[i];

		stretch->least = fmax(stretch->least, mean.least);
		stretch->most = fmin(stretch->most, mean.most);
		if (stretch->least > stretch->most)
			stretch->least = stretch->most = (stretch->least + stretch->most) / 2;
	}
}

/* -- paces ------------------------------------------------------------------------------------- */

static int64_t spot_ns(const struct proof *proof, uint32_t spot)
{
	return proof->mesh->knots[proof->spots.all[spot].knot].host_ns;
}

static void add_rates(const struct proof *proof, int64_t host_ns, const struct stretch *a,
                      const struct stretch *b, struct paces *paces)
{
	double least = fmin(stretch_least(proof, a), stretch_least(proof, b));
	double most = fmax(stretch_most(proof, a), stretch_most(proof, b));

	paces_add(paces, host_ns, (least + most) / 2, (most - least) / 2);
}

/* Lets what is near its ends be off by more. */
static void add_stretch(const struct proof *proof, const struct stretch *stretch,
                        struct paces *paces)
{
	add_rates(proof, spot_ns(proof, stretch->from), stretch, stretch, paces);
	paces_add_more(paces, stretch->from_more_ns);
	if (stretch->sure_from > stretch->from && stretch->sure_from <= stretch->sure_to)
		add_rates(proof, spot_ns(proof, stretch->sure_from), stretch, stretch, paces);
	if (stretch->sure_to >= stretch->to)
		return;
	if (stretch->sure_from <= stretch->sure_to)
		add_rates(proof, spot_ns(proof, stretch->sure_to) + 1, stretch, stretch, paces);
	paces_add_more(paces, stretch->to_more_ns);
}

static void add_step(const struct proof *proof, int64_t host_ns, const struct stretch *right,
                     struct paces *paces)
{
	const struct stretch *left = right - 1;

	add_rates(proof, host_ns, left, right, paces);
	paces_add_step(paces, fmax(right->least - left->most, left->least - right->most));
}

static void add_break(const struct proof *proof, int64_t from_ns, int64_t to_ns,
                      const struct stretch *right, struct paces *paces)
{
	struct spot_range shift = {0, 0};

	paces_add_break(paces, from_ns, to_ns, right->jump_ns);
	if (right > proof->stretches)
		shift = stretch_find_shift(proof, right - 1, right);
	paces_add_least(paces, fmax(0, fmax(shift.lo, -shift.hi)));
}

/* All that is in no stretch is a break, also at either end. Behind the last knot and before the
 * first one there is no evidence, and a clock goes on at its rate next to them. */
static int make_paces(const struct proof *proof, struct paces *paces)
{
	const struct mesh *mesh = proof->mesh;
	const struct stretch *last = &proof->stretches[proof->n_stretches - 1];
	int64_t first_ns = mesh->knots[mesh->first_knot[proof->clock]].host_ns, end_ns = first_ns;
	int64_t last_ns = mesh->knots[mesh->first_knot[proof->clock + 1] - 1].host_ns;

	FLEXTRACE_TRY(paces_reserve(paces, 4 * proof->n_stretches + 3));
	paces->has_left = proof->is_proven;
	if (proof->stretches[0].from > 0)
		add_rates(proof, first_ns - 1, proof->stretches, proof->stretches, paces);
	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		const struct stretch *stretch = &proof->stretches[i];
		int64_t from_ns = spot_ns(proof, stretch->from);

		if (i > 0 && stretch->is_joined)
			add_step(proof, end_ns - 1, stretch, paces);
		else if (stretch->from > 0)
			add_break(proof, end_ns, from_ns, stretch, paces);
		add_stretch(proof, stretch, paces);
		end_ns = spot_ns(proof, stretch->to) + 1;
	}
	if (last->to + 1 < proof->spots.n) {
		paces_add_break(paces, end_ns, last_ns + 1, INFINITY);
		add_rates(proof, last_ns + 1, last, last, paces);
	}
	return FLEXTRACE_OK;
}

/* Nothing within a break is evidence. */
static void drop_breaks(struct proof *proof, const struct paces *paces)
{
	struct mesh *mesh = proof->mesh;
	uint32_t end = mesh->first_knot[proof->clock + 1];

	for (uint32_t at = mesh->first_knot[proof->clock]; paces->n_paces > 1 && at < end; at++) {
		if (paces_are_doubtful(paces, mesh->knots[at].host_ns))
			mesh->knots[at].is_kept = false;
	}
}

/* Finds the stretches with rates up to a limit; false: there are none. */
static bool find_stretches(struct proof *proof, double fastest)
{
	proof->fastest = fastest;
	if (!proof_cut(proof))
		return false;
	join(proof);
	share_mean(proof);
	return true;
}

/* Whether there may be a break anywhere. */
static bool is_cut(const struct proof *proof)
{
	return proof->n_stretches > 1 || proof->stretches[0].from > 0 ||
	       proof->stretches[0].to + 1 < proof->spots.n;
}

/* Whether there is a break for certain. */
static bool has_break(const struct proof *proof)
{
	for (uint32_t i = 1; i < proof->n_stretches && proof->is_proven; i++) {
		if (!proof->stretches[i].is_joined)
			return true;
	}
	return proof->is_proven &&
	       (proof->stretches[0].from > 0 ||
	        proof->stretches[proof->n_stretches - 1].to + 1 < proof->spots.n);
}

/* Whether a clock was faster than is likely of any, for certain. */
static bool is_fast(const struct proof *proof)
{
	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		if (proof->stretches[i].least > LIKELY_RATE ||
		    proof->stretches[i].most < -LIKELY_RATE)
			return true;
	}
	return false;
}

static int make_all_paces(struct proof *proof, struct proven *proven, struct paces *paces)
{
	if (proven->is_lost || (proven->is_fast && proof->n_stretches == 1)) {
		FLEXTRACE_TRY(paces_init_straight(paces, 0, 0, FREE_RATE));
		paces->paces->is_doubtful = proven->is_lost;
		return FLEXTRACE_OK;
	}
	return make_paces(proof, paces);
}

/* Where evidence leaves less, it says more: asked where two proofs know a break each. */
static double usual_room(struct proof *proof)
{
	double rooms[MAX_SPOTS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < proof->n_stretches; i++) {
		const struct stretch *stretch = &proof->stretches[i];

		spots_tighten(&proof->spots, stretch->from, stretch->to,
		              stretch_least(proof, stretch), stretch_most(proof, stretch));
		for (uint32_t at = stretch->from; at <= stretch->to; at++)
			rooms[n++] = width_of(&proof->spots.all[at]);
	}
	return n > 0 ? select_quantile(rooms, n, 0.5) : INFINITY;
}

static int prove_clock(struct proof *proof, double likely_rate, struct proven *ret,
                       struct paces *ret_paces)
{
	proof->has_lies = false;
	spots_fill(&proof->spots, proof->mesh, proof->clock, likely_rate, false);
	*ret = (struct proven){.room_ns = INFINITY};
	if (!find_stretches(proof, LIKELY_RATE) || proof->is_proven) {
		ret->is_lost = !find_stretches(proof, FREE_RATE);
		ret->is_fast = !ret->is_lost && is_fast(proof);
		ret->has_break = !ret->is_lost && has_break(proof);
	}
	ret->has_lies = proof->has_lies;
	if (!ret->is_lost && is_cut(proof))
		ret->room_ns = usual_room(proof);
	return make_all_paces(proof, ret, ret_paces);
}

/* What a clock's evidence proves on top of what it did before. */
static int prove_more(struct proof *proof, double likely_rate, struct proven *proven,
                      struct paces *ret_paces)
{
	struct mesh *mesh = proof->mesh;
	struct paces *before = &mesh->paces[proof->clock];
	const struct knot *knots = &mesh->knots[mesh->first_knot[proof->clock]];
	uint32_t n_knots = mesh->first_knot[proof->clock + 1] - mesh->first_knot[proof->clock];
	struct proven more;

	FLEXTRACE_TRY(prove_clock(proof, likely_rate, &more, ret_paces));
	proven->has_break = proven->has_break || more.has_break;
	proven->has_lies = proven->has_lies || more.has_lies;
	proven->is_fast = proven->is_fast || more.is_fast;
	proven->is_lost = proven->is_lost || more.is_lost;
	if (proven->is_lost)
		return FLEXTRACE_OK;
	if (more.room_ns < proven->room_ns)
		return paces_combine(ret_paces, before, knots, n_knots);
	FLEXTRACE_TRY(paces_combine(before, ret_paces, knots, n_knots));
	paces_release(ret_paces);
	*ret_paces = *before;
	*before = (struct paces){0};
	return FLEXTRACE_OK;
}

/* Each clock from what the root and those before it tell. */
static int prove_all(struct proof *proof, const struct curve *curves, bool is_back,
                     struct proven *proven)
{
	struct mesh *mesh = proof->mesh;
	const struct graph *graph = mesh->graph;

	for (uint32_t i = 0; i < graph->n_clocks && !proof->has_stopped; i++) {
		uint32_t clock = graph->order[is_back ? graph->n_clocks - 1 - i : i];
		double rate = curves[clock].rate;
		struct paces paces = {0};
		int code;

		if (mesh->first_knot[clock] == mesh->first_knot[clock + 1] ||
		    (is_back && (proven[clock].is_lost ||
		                 (proven[clock].is_fast && mesh->paces[clock].n_paces == 1))))
			continue;
		proof->clock = clock;
		code = is_back ? prove_more(proof, rate, &proven[clock], &paces)
		               : prove_clock(proof, rate, &proven[clock], &paces);
		if (code < 0) {
			paces_release(&paces);
			return code;
		}
		drop_breaks(proof, &paces);
		mesh_set_paces(mesh, clock, &paces);
		mesh_sweep(mesh, clock);
		proof->has_stopped = proof->until_lies &&
		                     (proven[clock].has_lies || proven[clock].is_lost);
	}
	return FLEXTRACE_OK;
}

/* Each clock from those before it, and then from all others. */
static int prove_both_ways(struct proof *proof, const struct curve *curves, struct proven *proven)
{
	FLEXTRACE_TRY(prove_all(proof, curves, false, proven));
	if (proof->mesh->graph->n_clocks <= 2 || proof->has_stopped)
		return FLEXTRACE_OK;
	mesh_clear_bounds(proof->mesh);
	return prove_all(proof, curves, true, proven);
}

/* What was found of clocks before holds, too. */
static void remember(struct proven *proven, const struct proven *before, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		proven[i].has_break = proven[i].has_break || before[i].has_break;
		proven[i].has_lies = proven[i].has_lies || before[i].has_lies;
	}
}

/* Once more, without the evidence of other clocks that a break at an end of the run casts doubt on.
 * The broken clock's own says where its other breaks are, so it is dropped only then. */
static int prove_again(struct proof *proof, const struct curve *curves, struct proven *proven)
{
	struct mesh *mesh = proof->mesh;
	uint32_t n = mesh->graph->n_clocks;
	struct proven *before = malloc((n + 1ull) * sizeof(*before));
	struct doubted *doubted = malloc((n + 1ull) * sizeof(*doubted));
	int code = before && doubted ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	for (uint32_t i = 0; code >= 0 && i < n; i++)
		doubted[i] = (struct doubted){INT64_MIN, INT64_MAX, false};
	if (code >= 0)
		code = cuts_find(mesh, proof->rho, &proof->cuts);
	if (code >= 0)
		code = ends_find(mesh, doubted);
	if (code >= 0 && (ends_drop(mesh, doubted, false) || proof->cuts.n > 0)) {
		memcpy(before, proven, n * sizeof(*before));
		mesh_clear(mesh);
		ends_drop(mesh, doubted, false);
		code = prove_both_ways(proof, curves, proven);
		remember(proven, before, n);
		ends_drop(mesh, doubted, true);
		mesh_clear_bounds(mesh);
	}
	free(before);
	free(doubted);
	return code;
}

int prove_run(struct mesh *mesh, const struct curve *curves, double rho, bool until_lies,
              struct proven *proven)
{
	struct proof *proof = malloc(sizeof(*proof));
	int code;

	if (!proof)
		return FLEXTRACE_E_MEMORY;
	*proof = (struct proof){.mesh = mesh, .rho = rho, .until_lies = until_lies};
	mesh_clear(mesh);
	code = prove_both_ways(proof, curves, proven);
	if (code >= 0 && !proof->has_stopped)
		code = prove_again(proof, curves, proven);
	if (code >= 0 && !proof->has_stopped)
		code = ends_mistrust(mesh);
	free(proof->cuts.all);
	free(proof);
	return code;
}
