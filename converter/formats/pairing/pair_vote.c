/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "base/array.h"
#include "pair_impl.h"

#define MAX_VOTES  ((uint32_t)1 << 20)
#define MAX_OF_KEY 16  /* events of `from` that vote, of one key */
#define MAX_VOTERS 256 /* of all keys */
#define MAX_SAME   64  /* events of `to` with the same id */
#define WIDTH_NS   10000

struct votes {
	int64_t *offsets; /* owned */
	uint32_t n;
};

/* Offsets that are alike. */
struct ballot {
	uint32_t first, n;
};

/* An event by one of its ids. */
struct token {
	uint64_t key, id;
	int64_t begin_ns;
};

static void vote(struct votes *votes, int64_t from_ns, int64_t to_ns)
{
	if (votes->n < MAX_VOTES)
		votes->offsets[votes->n++] = to_ns - from_ns;
}

/* -- by names -------------------------------------------------------------------------------- */

static int compare_runs(const void *left, const void *right)
{
	const struct pair_run *a = left, *b = right;
	uint64_t n = (uint64_t)a->n_from * a->n_to, m = (uint64_t)b->n_from * b->n_to;

	return ORDER(n, m);
}

/* What is rare tells most. Voters of a key stand at equal distances. */
static void vote_by_names(const struct pairing_state *state, struct votes *votes)
{
	uint32_t n_voters = 0;

	qsort(state->runs, state->n_runs, sizeof(*state->runs), compare_runs);
	for (uint32_t i = 0; i < state->n_runs && n_voters < MAX_VOTERS; i++) {
		const struct pair_run *run = &state->runs[i];
		uint32_t n = run->n_from < MAX_OF_KEY ? run->n_from : MAX_OF_KEY;

		for (uint32_t j = 0; j < n; j++, n_voters++) {
			uint32_t from = run->from + (uint32_t)((uint64_t)j * run->n_from / n);

			for (uint32_t k = 0; k < run->n_to; k++)
				vote(votes, state->from->events[from].begin_ns,
				     state->to->events[run->to + k].begin_ns);
		}
	}
}

static int compare_ballots(const void *left, const void *right)
{
	const struct ballot *a = left, *b = right;

	return ORDER(b->n, a->n) ?: ORDER(a->first, b->first);
}

/* Votes within two neighbouring widths belong together; every width begins such a pair. */
static uint32_t count_ballots(const struct votes *votes, struct ballot *ballots)
{
	uint32_t n = 0, last = 0;

	for (uint32_t i = 0; i < votes->n; i++) {
		int64_t first_ns = votes->offsets[i];

		if (n && first_ns - votes->offsets[ballots[n - 1].first] < WIDTH_NS)
			continue;
		while (last < votes->n && votes->offsets[last] - first_ns < 2 * WIDTH_NS)
			last++;
		ballots[n++] = (struct ballot){i, last - i};
	}
	qsort(ballots, n, sizeof(*ballots), compare_ballots);
	return n;
}

static int choose(const struct votes *votes, int n_wanted, int64_t *ret_offsets)
{
	struct ballot *ballots;
	uint32_t n;

	FLEXTRACE_TRY(ARRAY_NEW(ballots, votes->n + 1ull));
	n = count_ballots(votes, ballots);
	n = n < (uint32_t)n_wanted ? n : (uint32_t)n_wanted;
	for (uint32_t i = 0; i < n; i++)
		ret_offsets[i] = votes->offsets[ballots[i].first + ballots[i].n / 2];
	free(ballots);
	return (int)n;
}

/* -- by ids ---------------------------------------------------------------------------------- */

ORDER_BY(compare_tokens, struct token, key, id, begin_ns);

static uint32_t list_tokens(const struct pair_list *list, bool by_stamps, struct token *tokens)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		const struct pair_event *event = &list->events[i];
		uint64_t id = by_stamps ? event->stamps : event->correlation;

		if (id)
			tokens[n++] = (struct token){event->key, id, event->begin_ns};
	}
	qsort(tokens, n, sizeof(*tokens), compare_tokens);
	return n;
}

static bool is_same_work(const struct token *a, const struct token *b)
{
	return a->key == b->key && a->id == b->id;
}

static void join_tokens(const struct token *from, uint32_t n_from, const struct token *to,
                        uint32_t n_to, struct votes *votes)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < n_from; i++) {
		while (next < n_to && !is_same_work(&from[i], &to[next]) &&
		       compare_tokens(&to[next], &from[i]) < 0)
			next++;
		while (next > 0 && is_same_work(&from[i], &to[next - 1]))
			next--;
		for (uint32_t j = next; j < n_to && j < next + MAX_SAME; j++) {
			if (!is_same_work(&from[i], &to[j]))
				break;
			vote(votes, from[i].begin_ns, to[j].begin_ns);
		}
	}
}

/* Whether most votes are within reach of each other; stores their middle. */
static bool agree(struct votes *votes, int64_t *ret_offset)
{
	uint32_t best = 0, last = 0;

	order_numbers(votes->offsets, votes->n);
	for (uint32_t i = 0; i < votes->n; i++) {
		while (last < votes->n &&
		       votes->offsets[last] - votes->offsets[i] <= 2 * PAIR_REACH_NS)
			last++;
		if (last - i <= best)
			continue;
		best = last - i;
		*ret_offset = votes->offsets[i + best / 2];
	}
	return best > 1 && 2 * best >= votes->n;
}

/* 1: equal ids say which offset; 0: they do not. */
static int vote_by_ids(const struct pairing_state *state, bool by_stamps, struct votes *votes,
                       int64_t *ret_offset)
{
	struct token *from = malloc((state->from->n + 1ull) * sizeof(*from));
	struct token *to = malloc((state->to->n + 1ull) * sizeof(*to));
	int code = FLEXTRACE_E_MEMORY;

	if (from && to) {
		uint32_t n_from = list_tokens(state->from, by_stamps, from);

		votes->n = 0;
		join_tokens(from, n_from, to, list_tokens(state->to, by_stamps, to), votes);
		code = agree(votes, ret_offset);
	}
	free(from);
	free(to);
	return code;
}

/* -- all ------------------------------------------------------------------------------------- */

static int vote_by_all(const struct pairing_state *state, struct votes *votes, int64_t *ret_offsets)
{
	int n = 0, code;

	for (int by_stamps = 0; by_stamps < 2; by_stamps++) {
		code = vote_by_ids(state, by_stamps, votes, &ret_offsets[n]);
		FLEXTRACE_TRY(code);
		n += code;
	}
	votes->n = 0;
	vote_by_names(state, votes);
	order_numbers(votes->offsets, votes->n);
	code = choose(votes, PAIR_CANDIDATES - n, &ret_offsets[n]);
	return code < 0 ? code : n + code;
}

int pair_vote(const struct pairing_state *state, int64_t *ret_offsets)
{
	struct votes votes = {.offsets = malloc(MAX_VOTES * sizeof(*votes.offsets))};
	int code = votes.offsets ? vote_by_all(state, &votes, ret_offsets) : FLEXTRACE_E_MEMORY;

	free(votes.offsets);
	return code;
}
