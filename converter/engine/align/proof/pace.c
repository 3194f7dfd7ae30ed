/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a clock runs against the root's, and how far that may be off. A clock has several rates
 * if there are breaks between them, and nothing is known about its rate within a break.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/align/align_impl.h"

#define MAX_SLACK (INT64_C(1) << 61)
#define LEAST_N   16u /* knots that bound a clock between two breaks */
#define SMALL     8u  /* of so few knots, one in so many does */

static int64_t to_pace(double rate)
{
	return llrint(ldexp(rate, PACE_BITS));
}

/* Appends a pace that goes on where the one before stops. */
static struct pace *begin_pace(struct paces *paces, int64_t host_ns)
{
	struct pace *pace = &paces->paces[paces->n_paces];

	*pace = (struct pace){.host_ns = host_ns};
	if (paces->n_paces++ > 0) {
		struct pace_sum sum;

		if (host_ns < pace[-1].host_ns)
			pace->host_ns = pace[-1].host_ns;
		sum = pace_at(&pace[-1], pace->host_ns);
		pace->base = sum.base;
		pace->wide = sum.wide;
	}
	return pace;
}

/* Rates are limited so that a clock always goes forward. */
void paces_add(struct paces *paces, int64_t host_ns, double rate, double slack)
{
	struct pace *pace = begin_pace(paces, host_ns);

	pace->rate = to_pace(fmax(-0.2, fmin(0.2, rate)));
	pace->slack = to_pace(fmin(0.2, slack)) + 1;
}

void paces_add_break(struct paces *paces, int64_t host_ns, int64_t end_ns, double jump_ns)
{
	struct pace *pace = begin_pace(paces, host_ns);
	double slack;

	jump_ns = fmin(jump_ns, ANY_JUMP_NS);
	slack = ldexp(FREE_RATE + jump_ns / (double)(end_ns - host_ns), PACE_BITS);
	pace->slack = slack < (double)MAX_SLACK ? (int64_t)slack : MAX_SLACK;
	pace->rate = 0;
	if (pace->slack > INT64_C(1) << PACE_BITS) /* time does not go back */
		pace->rate = pace->slack - (INT64_C(1) << PACE_BITS);
	pace->is_doubtful = true;
	pace->jump_ns = jump_ns;
}

int paces_reserve(struct paces *paces, uint32_t n)
{
	*paces = (struct paces){.paces = malloc(n * sizeof(*paces->paces))};
	return paces->paces ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

int paces_init_straight(struct paces *paces, int64_t host_ns, double rate, double slack)
{
	FLEXTRACE_TRY(paces_reserve(paces, 1));
	paces_add(paces, host_ns, rate, slack);
	return FLEXTRACE_OK;
}

void paces_add_least(struct paces *paces, double least_ns)
{
	paces->paces[paces->n_paces - 1].least = least_ns;
}

void paces_add_step(struct paces *paces, double least_rate)
{
	paces->paces[paces->n_paces - 1].is_step = true;
	paces_add_least(paces, least_rate);
}

void paces_add_more(struct paces *paces, double more_ns)
{
	struct pace *pace = &paces->paces[paces->n_paces - 1];

	more_ns = ceil(fmin(more_ns, UINT32_MAX / 2));
	if (more_ns > pace->more_ns)
		pace->more_ns = (uint32_t)more_ns;
}

static void add_between(struct paces *paces, int64_t host_ns, int64_t least, int64_t most,
                        uint32_t more_ns)
{
	struct pace *pace = begin_pace(paces, host_ns);

	pace->more_ns = more_ns;
	pace->rate = least + (most - least) / 2;
	pace->slack = (most - least) / 2 + 1;
}

/* Of two paces, what both allow; where that is nothing, what either does. */
static void add_both(struct paces *paces, int64_t host_ns, const struct pace *a,
                     const struct pace *b)
{
	int64_t least[] = {a->rate - a->slack, b->rate - b->slack};
	int64_t most[] = {a->rate + a->slack, b->rate + b->slack};
	int64_t lo = least[0] > least[1] ? least[0] : least[1];
	int64_t hi = most[0] < most[1] ? most[0] : most[1];

	if (lo > hi) {
		lo = least[0] < least[1] ? least[0] : least[1];
		hi = most[0] > most[1] ? most[0] : most[1];
	}
	if (a->is_doubtful || b->is_doubtful) {
		lo = least[a->is_doubtful];
		hi = most[a->is_doubtful];
	}
	add_between(paces, host_ns, lo, hi, a->more_ns > b->more_ns ? a->more_ns : b->more_ns);
	if (a->is_step || b->is_step)
		paces_add_step(paces, a->is_step && (!b->is_step || a->least < b->least)
		                              ? a->least
		                              : b->least);
}

/* Whether a break is, in part, one of the better proof, too. */
static bool is_shared(const struct pace *pace, const struct pace *last, const struct paces *other)
{
	int64_t end_ns = pace < last ? pace[1].host_ns : INT64_MAX;

	for (uint32_t i = 0; i < other->n_paces; i++) {
		bool is_before = i + 1 < other->n_paces &&
		                 other->paces[i + 1].host_ns <= pace->host_ns;

		if (other->paces[i].is_doubtful && !is_before && other->paces[i].host_ns < end_ns)
			return true;
	}
	return false;
}

struct combining {
	struct paces both;
	const struct knot *knots;
	uint32_t n_knots;
	bool is_break; /* from break_ns on; else the last one, if any, is before end_ns */
	int64_t break_ns, end_ns;
	uint32_t n_before; /* paces in front of it; 0: there is none */
	double jump_ns, least_ns;
};

/* Whether what is left between two breaks has evidence that bounds a clock. */
static bool is_bounded(const struct combining *combining, int64_t from_ns, int64_t to_ns)
{
	const struct knot *knots = combining->knots;
	uint32_t n = combining->n_knots, n_kept = 0;

	for (uint32_t i = 0; i < n && knots[i].host_ns < to_ns; i++)
		n_kept += knots[i].host_ns >= from_ns && knots[i].is_kept;
	return n_kept >= (n / SMALL < LEAST_N ? n / SMALL : LEAST_N);
}

/* Goes on with the break before if next to nothing is left in between. Breaks may be of any jump,
 * so times in between would have no bound but those of their own evidence. */
static void begin_break(struct combining *combining, int64_t host_ns)
{
	combining->is_break = true;
	if (combining->n_before > 0 && !is_bounded(combining, combining->end_ns, host_ns)) {
		combining->both.n_paces = combining->n_before;
		return;
	}
	combining->break_ns = host_ns;
	combining->jump_ns = 0;
	combining->least_ns = INFINITY;
}

static void see_break(struct combining *combining, const struct pace *a, const struct pace *b)
{
	if (a->is_doubtful) {
		combining->jump_ns += a->jump_ns;
		combining->least_ns = fmin(combining->least_ns, a->least);
	}
	if (b->is_doubtful) {
		combining->jump_ns += b->jump_ns;
		combining->least_ns = fmin(combining->least_ns, b->least);
	}
}

static void end_break(struct combining *combining, int64_t host_ns)
{
	combining->is_break = false;
	combining->n_before = combining->both.n_paces;
	combining->end_ns = host_ns;
	paces_add_break(&combining->both, combining->break_ns, host_ns, combining->jump_ns);
	paces_add_least(&combining->both, combining->least_ns);
}

int paces_combine(struct paces *paces, const struct paces *other, const struct knot *knots,
                  uint32_t n_knots)
{
	const struct pace *a = paces->paces, *b = other->paces;
	const struct pace *last_a = a + paces->n_paces - 1, *last_b = b + other->n_paces - 1;
	int64_t host_ns = a->host_ns < b->host_ns ? a->host_ns : b->host_ns;
	int64_t last_ns = knots[n_knots - 1].host_ns;
	struct combining both = {.knots = knots, .n_knots = n_knots};
	bool is_last = false;

	FLEXTRACE_TRY(paces_reserve(&both.both, paces->n_paces + other->n_paces));
	while (!is_last) {
		bool is_doubtful = a->is_doubtful ||
		                   (b->is_doubtful && !is_shared(b, last_b, paces));
		int64_t next_a = a < last_a ? a[1].host_ns : INT64_MAX;
		int64_t next_b = b < last_b ? b[1].host_ns : INT64_MAX;

		if (is_doubtful && !both.is_break)
			begin_break(&both, host_ns);
		if (is_doubtful)
			see_break(&both, a, b);
		if (both.is_break && !is_doubtful)
			end_break(&both, host_ns);
		if (!is_doubtful)
			add_both(&both.both, host_ns, a, b);
		is_last = a == last_a && b == last_b;
		host_ns = next_a < next_b ? next_a : next_b;
		a += next_a == host_ns && a < last_a;
		b += next_b == host_ns && b < last_b;
	}
	if (both.is_break)
		end_break(&both, last_ns + 1 > both.break_ns ? last_ns + 1 : both.break_ns + 1);
	both.both.has_left = paces->has_left || other->has_left;
	paces_release(paces);
	*paces = both.both;
	return FLEXTRACE_OK;
}

int paces_loosen(struct paces *paces, int64_t first_ns, int64_t last_ns)
{
	const struct pace *first = paces->paces, *end = first + paces->n_paces;
	int64_t least = INT64_MAX, most = INT64_MIN;
	struct paces loose;

	for (const struct pace *pace = first; pace < end; pace++) {
		least = pace->rate - pace->slack < least ? pace->rate - pace->slack : least;
		most = pace->rate + pace->slack > most ? pace->rate + pace->slack : most;
	}
	FLEXTRACE_TRY(paces_reserve(&loose, paces->n_paces + 2));
	if (first_ns > first->host_ns)
		add_between(&loose, first->host_ns, least, most, first->more_ns);
	for (const struct pace *pace = first; pace < end; pace++) {
		int64_t host_ns = pace->host_ns > first_ns ? pace->host_ns : first_ns;

		if ((pace + 1 == end || pace[1].host_ns > host_ns) && host_ns < last_ns)
			add_between(&loose, host_ns, pace->rate - pace->slack,
			            pace->rate + pace->slack, pace->more_ns);
	}
	if (last_ns < INT64_MAX)
		add_between(&loose, last_ns, least, most, end[-1].more_ns);
	loose.has_left = paces->has_left;
	paces_release(paces);
	*paces = loose;
	return FLEXTRACE_OK;
}

void paces_add_slack(struct paces *paces, double slack)
{
	for (uint32_t i = 0; i < paces->n_paces; i++) {
		struct pace *pace = &paces->paces[i];

		if (!pace->is_doubtful)
			pace->slack += to_pace(slack);
		if (i > 0)
			pace->wide = pace_at(&pace[-1], pace->host_ns).wide;
	}
}

void paces_release(struct paces *paces)
{
	free(paces->paces);
	*paces = (struct paces){0};
}

const struct pace *paces_find(const struct paces *paces, int64_t host_ns)
{
	uint32_t lo = 0, n = paces->n_paces;

	while (n > 1) {
		uint32_t half = n / 2;

		lo += paces->paces[lo + half].host_ns <= host_ns ? half : 0;
		n -= half;
	}
	return &paces->paces[lo];
}

struct pace_sum paces_at(const struct paces *paces, int64_t host_ns)
{
	return pace_at(paces_find(paces, host_ns), host_ns);
}

bool paces_are_doubtful(const struct paces *paces, int64_t host_ns)
{
	return paces_find(paces, host_ns)->is_doubtful;
}
