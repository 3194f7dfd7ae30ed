/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a clock runs against the root's, and how far that may be off: one rate after the other,
 * and breaks between them, over which nothing is known.
 */
#include <math.h>
#include <stdlib.h>

#include "align_impl.h"

#define BREAK_BITS 55 /* fine: what a clock may be off behind a break, a day and a half */
#define MAX_SLACK  (INT64_C(1) << 61)

static int64_t to_pace(double rate)
{
	return llrint(ldexp(rate, PACE_BITS));
}

static struct pace_sum pace_at(const struct pace *pace, int64_t host_ns)
{
	wide_int dt = (wide_int)host_ns - pace->host_ns;

	return (struct pace_sum){
		pace->base + ((dt * ((INT64_C(1) << PACE_BITS) + pace->rate)) >>
	                      (PACE_BITS - FINE_BITS)),
		pace->wide + ((dt * pace->slack) >> (PACE_BITS - FINE_BITS)),
	};
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

void paces_add_break(struct paces *paces, int64_t host_ns, int64_t end_ns)
{
	struct pace *pace = begin_pace(paces, host_ns);
	double slack = ldexp(1, BREAK_BITS + PACE_BITS - FINE_BITS) / (double)(end_ns - host_ns);

	pace->slack = slack < (double)MAX_SLACK ? (int64_t)slack : MAX_SLACK;
	pace->rate = pace->slack - (INT64_C(1) << PACE_BITS); /* time does not go back */
	pace->is_doubtful = true;
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

static const struct pace *find_pace(const struct paces *paces, int64_t host_ns)
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
	return pace_at(find_pace(paces, host_ns), host_ns);
}

bool paces_are_doubtful(const struct paces *paces, int64_t host_ns)
{
	return find_pace(paces, host_ns)->is_doubtful;
}
