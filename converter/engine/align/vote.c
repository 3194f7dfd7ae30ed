/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where bounds cross, the constraints on the way to either of them cannot all be true. A false
 * constraint contradicts many true ones; a true one contradicts only false ones. So the constraint
 * that is part of most contradictions is dropped, and on a tie all of them are, because dropping
 * one too many only costs width.
 *
 * There is no vote where nothing contradicts: evidence that can all be true is kept.
 *
 * Constraints that contradict only because a clock may not wander further are not false; the clock
 * wanders. So votes are taken with more slack than clocks are believed to need. Clocks that still
 * contradict with their own slack keep the wide one. A clock that would lose many votes gets the
 * slack that a kernel may take at most; if that does not help either, nothing bounds it.
 */
#include <math.h>
#include <stdlib.h>

#include "align_impl.h"
#include "base/map.h"

#define MAX_ROUNDS    256
#define MAX_CONFLICTS 4096u
#define MAX_HOPS      16u
#define LEAST_LOSS    4u  /* parts that a clock may lose in any case */
#define LOSS_SHARE    50u /* or one of so many */
#define PATIENCE      32u /* rounds without an end until somebody needs slack */
#define WIDE_RATE     50e-6
#define NEARLY_LIKELY 100e-6

enum level { LEVEL_STEADY, LEVEL_WIDE, LEVEL_FREE, LEVEL_LOST };

struct conflict {
	uint32_t first, end; /* in `parts` of the election */
	bool is_settled;
};

struct election {
	struct mesh *mesh;
	const struct curve *curves;
	double rho;
	struct proven *proven;      /* owned, of each clock */
	struct conflict *conflicts; /* owned, all */
	uint32_t n_conflicts;
	uint32_t *parts; /* of the conflicts, one after the other */
	uint32_t n_parts;
	uint32_t *votes; /* of each part of the graph; 0 between rounds */
	uint8_t *level;  /* of each clock: enum level */
};

/* -- conflicts --------------------------------------------------------------------------------- */

static bool is_listed(const struct election *election, uint32_t from, uint32_t part)
{
	for (uint32_t i = from; i < election->n_parts; i++) {
		if (election->parts[i] == part)
			return true;
	}
	return false;
}

static void list_part(struct election *election, uint32_t from, uint32_t part)
{
	if (!is_listed(election, from, part))
		election->parts[election->n_parts++] = part;
}

/* Lists the parts on the way from a root to a knot's bound. */
static void list_path(struct election *election, uint32_t from, const struct knot *knot, bool is_hi)
{
	const struct mesh *mesh = election->mesh;
	const struct graph *graph = mesh->graph;

	for (uint32_t hop = 0; hop < MAX_HOPS; hop++) {
		uint32_t own = is_hi ? knot->hi_from : knot->lo_from, other;
		const struct part *part;

		if (own == FLEXTRACE_NONE)
			return;
		list_part(election, from, own);
		part = &graph->parts[own];
		other = is_hi ? mesh->moments[part->event].hi_from
		              : mesh->moments[part->event].lo_from;
		if (other == FLEXTRACE_NONE)
			return;
		list_part(election, from, other);
		part = &graph->parts[other];
		if (clock_is_root(graph, part->clock))
			return;
		knot = &mesh->knots[is_hi ? part->exit_knot : part->enter_knot];
	}
}

static int add_conflict(struct election *election, struct map *pairs, const struct knot *knot)
{
	struct conflict *conflict = &election->conflicts[election->n_conflicts];

	if (knot->hi_from == FLEXTRACE_NONE || knot->lo_from == FLEXTRACE_NONE ||
	    map_find(pairs, knot->hi_from, knot->lo_from) != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(map_put(pairs, knot->hi_from, knot->lo_from, election->n_conflicts));
	*conflict = (struct conflict){.first = election->n_parts};
	list_path(election, conflict->first, knot, true);
	list_path(election, conflict->first, knot, false);
	conflict->end = election->n_parts;
	election->n_conflicts++;
	return FLEXTRACE_OK;
}

static int find_conflicts(struct election *election)
{
	const struct mesh *mesh = election->mesh;
	struct map pairs = {0};
	int code = FLEXTRACE_OK;

	election->n_conflicts = 0;
	election->n_parts = 0;
	for (uint32_t i = 0; i < mesh->n_knots && !code && election->n_conflicts < MAX_CONFLICTS;
	     i++) {
		if (knot_contradicts(&mesh->knots[i]))
			code = add_conflict(election, &pairs, &mesh->knots[i]);
	}
	map_release(&pairs);
	return code;
}

/* -- votes ------------------------------------------------------------------------------------- */

/* Counts each part's open conflicts; returns the most, 0 when all are settled. */
static uint32_t count_votes(struct election *election)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < election->n_parts; i++)
		election->votes[election->parts[i]] = 0;
	for (uint32_t i = 0; i < election->n_conflicts; i++) {
		const struct conflict *conflict = &election->conflicts[i];

		for (uint32_t j = conflict->first; j < conflict->end && !conflict->is_settled;
		     j++) {
			uint32_t n = ++election->votes[election->parts[j]];

			most = n > most ? n : most;
		}
	}
	return most;
}

/* A false stamp of a root would contradict more clocks than the one it shares the event with. So
 * with equal votes the false one is that clock's. */
static bool is_spared(const struct election *election, const struct conflict *conflict,
                      uint32_t part)
{
	const struct graph *graph = election->mesh->graph;

	for (uint32_t i = conflict->first; i < conflict->end; i++) {
		uint32_t other = election->parts[i];

		if (graph->parts[other].event == graph->parts[part].event &&
		    !clock_is_root(graph, graph->parts[other].clock) &&
		    election->votes[other] == election->votes[part])
			return clock_is_root(graph, graph->parts[part].clock);
	}
	return false;
}

static void drop_voted(struct election *election, uint32_t most)
{
	struct part *parts = election->mesh->graph->parts;

	for (uint32_t i = 0; i < election->n_conflicts; i++) {
		struct conflict *conflict = &election->conflicts[i];
		bool was_settled = conflict->is_settled;

		for (uint32_t j = conflict->first; j < conflict->end && !was_settled; j++) {
			uint32_t part = election->parts[j];

			if (election->votes[part] != most || is_spared(election, conflict, part))
				continue;
			parts[part].fate = PART_VOTED;
			conflict->is_settled = true;
		}
	}
}

static int vote(struct election *election)
{
	uint32_t most;

	FLEXTRACE_TRY(find_conflicts(election));
	while ((most = count_votes(election)) > 0)
		drop_voted(election, most);
	return FLEXTRACE_OK;
}

/* -- slack ------------------------------------------------------------------------------------- */

static uint32_t count_loss(const struct graph *graph, uint32_t clock)
{
	uint32_t n = 0;

	for (uint32_t i = graph->first_of[clock]; i < graph->first_of[clock + 1]; i++)
		n += graph->parts[graph->by_clock[i]].fate == PART_VOTED;
	return n;
}

static uint32_t loss_limit(const struct graph *graph, uint32_t clock)
{
	uint32_t share = (graph->first_of[clock + 1] - graph->first_of[clock]) / LOSS_SHARE;

	return share > LEAST_LOSS ? share : LEAST_LOSS;
}

static int give_slack(struct election *election, uint32_t clock)
{
	struct paces paces;

	if (election->level[clock] == LEVEL_FREE) {
		election->level[clock] = LEVEL_LOST;
		return FLEXTRACE_OK;
	}
	election->level[clock] = LEVEL_FREE;
	FLEXTRACE_TRY(paces_init_straight(&paces, election->curves[clock].origin_ns, 0, FREE_RATE));
	mesh_set_paces(election->mesh, clock, &paces);
	return FLEXTRACE_OK;
}

/* Evidence that was voted out is used again, except on clocks that are lost. */
static void recall(struct election *election)
{
	struct graph *graph = election->mesh->graph;

	for (uint32_t i = 0; i < graph->n_parts; i++) {
		struct part *part = &graph->parts[i];

		if (election->level[part->clock] == LEVEL_LOST && part->fate == PART_KEPT)
			part->fate = PART_VOTED;
		else if (election->level[part->clock] != LEVEL_LOST && part->fate == PART_VOTED)
			part->fate = PART_KEPT;
	}
}

/* Clocks that lose too many votes get slack; with `anyone`, the clock that loses most gets it in
 * any case. Stores whether there was one. */
static int relieve(struct election *election, bool anyone, bool *ret_has_relieved)
{
	const struct graph *graph = election->mesh->graph;
	uint32_t most = FLEXTRACE_NONE, most_lost = 0;

	*ret_has_relieved = false;
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		uint32_t n_lost;

		if (clock_is_root(graph, clock) || election->level[clock] == LEVEL_LOST)
			continue;
		n_lost = count_loss(graph, clock);
		if (n_lost > most_lost) {
			most = clock;
			most_lost = n_lost;
		}
		if (n_lost <= loss_limit(graph, clock))
			continue;
		FLEXTRACE_TRY(give_slack(election, clock));
		*ret_has_relieved = true;
	}
	if (anyone && !*ret_has_relieved && most != FLEXTRACE_NONE) {
		FLEXTRACE_TRY(give_slack(election, most));
		*ret_has_relieved = true;
	}
	if (*ret_has_relieved)
		recall(election);
	return FLEXTRACE_OK;
}

static bool has_contradiction(const struct mesh *mesh, uint32_t clock)
{
	for (uint32_t i = mesh->first_knot[clock]; i < mesh->first_knot[clock + 1]; i++) {
		if (knot_contradicts(&mesh->knots[i]))
			return true;
	}
	return false;
}

/* What a clock may need on top of what is believed of it. */
static double wide_rate(const struct mesh *mesh, uint32_t clock)
{
	const struct paces *paces = &mesh->paces[clock];

	return paces->n_paces == 1 && ldexp((double)paces->paces->slack, -PACE_BITS) > NEARLY_LIKELY
	               ? FREE_RATE - LIKELY_RATE
	               : WIDE_RATE;
}

/* Widens the clocks that contradict; all, if none of those is left. Returns whether it did. */
static bool widen(struct election *election)
{
	struct mesh *mesh = election->mesh;
	bool has_widened = false;

	for (int pass = 0; pass < 2 && !has_widened; pass++) {
		for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
			if (clock_is_root(mesh->graph, clock) ||
			    election->level[clock] != LEVEL_STEADY ||
			    (pass == 0 && !has_contradiction(mesh, clock)))
				continue;
			election->level[clock] = LEVEL_WIDE;
			mesh_add_slack(mesh, clock, wide_rate(mesh, clock));
			has_widened = true;
		}
	}
	return has_widened;
}

/* Gives all clocks that are steady their wide slack (1), or takes it (-1). */
static void change_slack(struct election *election, int sign)
{
	struct mesh *mesh = election->mesh;

	for (uint32_t clock = 0; clock < mesh->graph->n_clocks; clock++) {
		if (!clock_is_root(mesh->graph, clock) && election->level[clock] == LEVEL_STEADY)
			mesh_add_slack(mesh, clock, sign * wide_rate(mesh, clock));
	}
}

/* -- rounds ------------------------------------------------------------------------------------ */

static int hold(struct election *election)
{
	uint32_t n_rounds = 0;

	for (uint32_t i = 0; i < MAX_ROUNDS; i++) {
		bool has_relieved;

		mesh_clear(election->mesh);
		if (mesh_close(election->mesh))
			return FLEXTRACE_OK;
		FLEXTRACE_TRY(vote(election));
		n_rounds++;
		FLEXTRACE_TRY(relieve(election, n_rounds > PATIENCE, &has_relieved));
		n_rounds = has_relieved ? 0 : n_rounds;
	}
	for (uint32_t clock = 0; clock < election->mesh->graph->n_clocks; clock++) {
		if (!clock_is_root(election->mesh->graph, clock))
			election->level[clock] = LEVEL_LOST;
	}
	recall(election);
	mesh_clear(election->mesh);
	mesh_spread(election->mesh);
	return FLEXTRACE_OK;
}

/* Whether any clock has evidence that contradicts the rest of it; breaks are no contradiction. */
static bool has_lies(const struct election *election)
{
	for (uint32_t clock = 0; clock < election->mesh->graph->n_clocks; clock++) {
		if (election->proven[clock].has_lies || election->proven[clock].is_lost)
			return true;
	}
	return false;
}

/* Proves the paces and closes the band; with `until_lies`, not if a clock has any. */
static int settle(struct election *election, bool until_lies, bool *ret_is_closed)
{
	struct mesh *mesh = election->mesh;

	FLEXTRACE_TRY(
		prove_run(mesh, election->curves, election->rho, until_lies, election->proven));
	*ret_is_closed = !(until_lies && has_lies(election)) && mesh_close(mesh);
	if (*ret_is_closed) {
		FLEXTRACE_TRY(narrow_run(mesh, election->rho, election->proven));
		*ret_is_closed = mesh_close(mesh);
	}
	return FLEXTRACE_OK;
}

/* What contradicts within a clock was not kept, and is counted. */
static void drop_unkept(struct election *election)
{
	const struct mesh *mesh = election->mesh;

	for (uint32_t i = 0; i < mesh->n_knots; i++) {
		struct part *part = &mesh->graph->parts[mesh->knots[i].part];

		if (!mesh->knots[i].is_kept && part->fate == PART_KEPT)
			part->fate = PART_VOTED;
	}
}

static int close_all(struct election *election)
{
	struct mesh *mesh = election->mesh;
	bool is_closed;

	FLEXTRACE_TRY(settle(election, true, &is_closed));
	if (!is_closed) {
		FLEXTRACE_TRY(filter_run(mesh->graph, election->curves));
		mesh_compact(mesh);
		FLEXTRACE_TRY(settle(election, false, &is_closed));
	}
	if (!is_closed) {
		change_slack(election, 1);
		FLEXTRACE_TRY(hold(election));
		FLEXTRACE_TRY(settle(election, false, &is_closed));
	}
	drop_unkept(election);
	while (!is_closed && widen(election)) {
		mesh_clear(mesh);
		is_closed = mesh_close(mesh);
	}
	return FLEXTRACE_OK;
}

int vote_close(struct mesh *mesh, const struct curve *curves, double rho, bool *is_lost,
               uint32_t *ret_n_slack)
{
	const struct graph *graph = mesh->graph;
	struct election election = {.mesh = mesh, .curves = curves, .rho = rho};
	uint32_t n_words = MAX_CONFLICTS * 4 * (MAX_HOPS + 1);
	int code = FLEXTRACE_E_MEMORY;

	election.conflicts = malloc(MAX_CONFLICTS * sizeof(*election.conflicts));
	election.parts = malloc(n_words * sizeof(*election.parts));
	election.votes = calloc(graph->n_parts + 1ull, sizeof(*election.votes));
	election.level = calloc(graph->n_clocks + 1ull, sizeof(*election.level));
	election.proven = calloc(graph->n_clocks + 1ull, sizeof(*election.proven));
	if (election.conflicts && election.parts && election.votes && election.level &&
	    election.proven)
		code = close_all(&election);
	for (uint32_t clock = 0; code == FLEXTRACE_OK && clock < graph->n_clocks; clock++) {
		const struct proven *proven = &election.proven[clock];

		is_lost[clock] = election.level[clock] == LEVEL_LOST;
		*ret_n_slack += election.level[clock] != LEVEL_STEADY || proven->has_break ||
		                proven->is_fast || proven->is_lost;
	}
	free(election.conflicts);
	free(election.parts);
	free(election.votes);
	free(election.level);
	free(election.proven);
	return code;
}
