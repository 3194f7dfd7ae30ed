/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order on the device tells which epoch work is of. What begins a few us behind the end of
 * other work, as the low bits of their stamps say, most likely followed it, even if estimates put
 * whole wraps between the two: one of them is in a wrong epoch. It is the one that is outside all
 * round trips, or where other work was at that time, if it fits together with the other into one
 * round trip, and nothing else is there.
 */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "trips.h"

#define NEAR_NS   200e3 /* between work that follows each other */
#define OFF_NS    1e6   /* that they may be off whole wraps */
#define OFF       1e-4  /* and of the distance */
#define LITTLE_NS 1e3   /* by which other work may be nearer by chance */
#define MUCH      2     /* times as far: not followed */
#define OVER_NS   5e3   /* that work may be over other work */
#define NO_LINK   UINT32_MAX
#define ANY_PART  (-1)

#define MAX_WRAPS 3.5    /* that an epoch is wrong by */
#define LOOK_BACK 256u   /* links in front of an interval that may reach into it */
#define MAX_LOOK  65536u /* links in all that are looked at for an interval */
#define ROUNDS    2      /* what was moved may make room for more */

/* A control block that has an estimate. */
struct link {
	struct fact *fact;     /* weak */
	double told_ns;        /* when it began, before it was moved */
	double begin, end;     /* phases: ticks within a wrap */
	double most;           /* ticks that what follows may begin behind it */
	uint32_t next, before; /* on the device, or NO_LINK */
	uint32_t piece;
	bool is_in_trip;
};

/* One at a time of a wrap. */
struct place {
	double phase;
	uint32_t link;
};

/* Links in a row that estimates put behind each other, too. */
struct piece {
	uint32_t first, last;
	double begin_ns, end_ns;
};

struct interval_ns {
	double begin, end;
	int part; /* of the work that counts, ANY_PART */
};

struct chains {
	struct axis *axis; /* weak */
	double rate, wrap_ns;
	struct trips trips; /* owned */
	struct link *links; /* owned, by time */
	uint32_t n;
	struct place *begins, *ends; /* owned, by phase */
	uint32_t n_begins, n_ends;
	struct piece *pieces; /* owned, by first link; others are not used */
	uint64_t n_mended;
};

static double begin_of(const struct link *link)
{
	return (double)link->fact->before_ns + UNWRAP_ESTIMATE_SLACK_NS;
}

/* An estimated end may be wrong by itself; the stamps are not. */
static double end_of(const struct chains *chains, const struct link *link)
{
	return begin_of(link) + (double)link->fact->span / chains->rate;
}

/* -- links ----------------------------------------------------------------------------------- */

static int compare_links(const void *left, const void *right)
{
	const struct link *a = left, *b = right;

	if (a->fact->before_ns != b->fact->before_ns)
		return (a->fact->before_ns > b->fact->before_ns) -
		       (a->fact->before_ns < b->fact->before_ns);
	return (a->fact > b->fact) - (a->fact < b->fact);
}

/* Lists them by time. */
static int list_links(struct chains *chains)
{
	const struct axis *axis = chains->axis;

	chains->links = malloc(((size_t)axis->n_facts + 1) * sizeof(*chains->links));
	if (!chains->links)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < axis->n_facts; i++) {
		struct fact *fact = &axis->facts[i];

		if (fact->kind != FACT_OP || !fact_is_bounded(fact) || !fact->span)
			continue;
		chains->links[chains->n++] = (struct link){
			.fact = fact,
			.told_ns = (double)fact->before_ns + UNWRAP_ESTIMATE_SLACK_NS,
			.begin = (double)low_bits(fact->first, axis->narrow_bits),
			.end = (double)low_bits(fact->first + fact->span, axis->narrow_bits),
			.next = NO_LINK,
			.before = NO_LINK,
		};
	}
	qsort(chains->links, chains->n, sizeof(*chains->links), compare_links);
	return FLEXTRACE_OK;
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->phase != b->phase)
		return (a->phase > b->phase) - (a->phase < b->phase);
	return (a->link > b->link) - (a->link < b->link);
}

/* Lists when those that nothing follows yet ended, and when those that follow nothing began: by
 * the low bits, or by what estimates say. */
static void list_places(struct chains *chains, bool is_by_phase)
{
	chains->n_begins = chains->n_ends = 0;
	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];
		double begin = is_by_phase ? link->begin : link->told_ns * chains->rate;
		double end = is_by_phase ? link->end : end_of(chains, link) * chains->rate;

		if (link->before == NO_LINK)
			chains->begins[chains->n_begins++] = (struct place){begin, i};
		if (link->next == NO_LINK)
			chains->ends[chains->n_ends++] = (struct place){end, i};
	}
	qsort(chains->begins, chains->n_begins, sizeof(*chains->begins), compare_places);
	qsort(chains->ends, chains->n_ends, sizeof(*chains->ends), compare_places);
}

static bool is_place_before(const void *row, const void *key)
{
	return ((const struct place *)row)->phase < *(const double *)key;
}

/* How many places are before a phase, or at it. */
static uint32_t count_before(const struct place *places, uint32_t n, double phase, bool is_at)
{
	double key = is_at ? nextafter(phase, INFINITY) : phase;

	return array_count_before(places, n, sizeof(*places), is_place_before, &key);
}

/* What begins next behind an end, and how many ticks behind; INFINITY: nothing does. */
static double find_next(const struct chains *chains, const struct place *end, double wrap,
                        const struct place **ret_next)
{
	uint32_t at = count_before(chains->begins, chains->n_begins, end->phase, false);

	*ret_next = &chains->begins[at % chains->n_begins];
	if (at == chains->n_begins && wrap == 0)
		return INFINITY;
	return (*ret_next)->phase - end->phase + (at == chains->n_begins ? wrap : 0);
}

/* Links each with what begins next behind it, if nothing else ended nearer to that. */
static void tie(struct chains *chains, bool is_by_phase)
{
	double wrap = is_by_phase ? ldexp(1, (int)chains->axis->narrow_bits) : 0;

	list_places(chains, is_by_phase);
	for (uint32_t i = 0; i < chains->n_ends && chains->n_begins; i++) {
		const struct place *end = &chains->ends[i], *next, *last;
		double gap = find_next(chains, end, wrap, &next);
		uint32_t at;

		if (next->link == end->link || gap > chains->links[end->link].most)
			continue;
		at = count_before(chains->ends, chains->n_ends, next->phase, true);
		last = &chains->ends[(at + chains->n_ends - 1) % chains->n_ends];
		if (last->link != end->link)
			continue;
		chains->links[end->link].next = next->link;
		chains->links[next->link].before = end->link;
	}
}

/* What estimates put behind a link follows it, though other work happens to be a little nearer by
 * the low bits. Not if it is much nearer. */
static void tie_all(struct chains *chains)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits);

	list_places(chains, true);
	for (uint32_t i = 0; i < chains->n_ends && chains->n_begins; i++) {
		const struct place *next;
		double gap = find_next(chains, &chains->ends[i], wrap, &next);

		chains->links[chains->ends[i].link].most =
			fmin(MUCH * gap + LITTLE_NS * chains->rate, NEAR_NS * chains->rate);
	}
	tie(chains, false);
	for (uint32_t i = 0; i < chains->n; i++)
		chains->links[i].most = NEAR_NS * chains->rate;
	for (int round = 0; round < ROUNDS; round++)
		tie(chains, true);
}

/* How much too late estimates put the next one behind a link, if that is whole wraps, or none;
 * NAN: it is not. */
static double late_ns(const struct chains *chains, const struct link *link)
{
	const struct link *next = &chains->links[link->next];
	double wrap = ldexp(1, (int)chains->axis->narrow_bits);
	double gap_ns = fmod(next->begin - link->end + wrap, wrap) / chains->rate;
	double ns = begin_of(next) - end_of(chains, link) - gap_ns;
	double wraps = round(ns / chains->wrap_ns);

	return fabs(ns - wraps * chains->wrap_ns) <= OFF_NS + OFF * fabs(ns) ? ns : NAN;
}

/* Whether estimates put a link and the next one behind each other, into one round trip or out of
 * all. */
static bool is_one_piece(const struct chains *chains, const struct link *link)
{
	const struct link *next = &chains->links[link->next];

	if (link->is_in_trip != next->is_in_trip ||
	    !(fabs(late_ns(chains, link)) < chains->wrap_ns / 2))
		return false;
	return !link->is_in_trip ||
	       trips_hold(&chains->trips, begin_of(link), end_of(chains, next));
}

/* -- pieces ---------------------------------------------------------------------------------- */

static int list_pieces(struct chains *chains)
{
	struct link *links = chains->links;

	chains->pieces = malloc(((size_t)chains->n + 1) * sizeof(*chains->pieces));
	if (!chains->pieces)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < chains->n; i++) {
		uint32_t last = i;

		if (links[i].before != NO_LINK && is_one_piece(chains, &links[links[i].before]))
			continue;
		links[i].piece = i;
		while (links[last].next != NO_LINK && is_one_piece(chains, &links[last])) {
			last = links[last].next;
			links[last].piece = i;
		}
		chains->pieces[i] = (struct piece){i, last, begin_of(&links[i]),
		                                   end_of(chains, &links[last])};
	}
	return FLEXTRACE_OK;
}

static bool is_link_before(const void *row, const void *key)
{
	return ((const struct link *)row)->told_ns < *(const double *)key;
}

/* The first link that began at a time or later, where estimates put it at first. */
static uint32_t first_from(const struct chains *chains, double ns)
{
	return array_count_before(chains->links, chains->n, sizeof(*chains->links), is_link_before,
	                          &ns);
}

/* Whether other work than that of two pieces is in an interval, or too much is there to tell. Parts
 * of different kinds are done at a time, as DMA is beside kernels. */
static bool is_taken(const struct chains *chains, const struct piece *a, const struct piece *b,
                     struct interval_ns in)
{
	uint32_t from = first_from(chains, in.begin), n = 0;

	from -= from < LOOK_BACK ? from : LOOK_BACK;
	for (uint32_t i = from; i < chains->n; i++, n++) {
		const struct link *link = &chains->links[i];

		if (link->told_ns > in.end)
			return false;
		if (n == MAX_LOOK)
			return true;
		if (in.part != ANY_PART && in.part != link->fact->from)
			continue;
		if (&chains->pieces[link->piece] != a && &chains->pieces[link->piece] != b &&
		    begin_of(link) < in.end && end_of(chains, link) > in.begin)
			return true;
	}
	return false;
}

/* Whether other work was where the work of a piece would be, so much later. Other work may be in
 * between, as two that a short one stands between can have become one piece. */
static bool is_full(const struct chains *chains, const struct piece *piece, double later_ns,
                    const struct piece *beside)
{
	for (uint32_t i = piece->first;; i = chains->links[i].next) {
		const struct link *link = &chains->links[i];
		struct interval_ns in = {begin_of(link) + later_ns + OVER_NS,
		                         end_of(chains, link) + later_ns - OVER_NS,
		                         link->fact->from};

		if (is_taken(chains, piece, beside, in))
			return true;
		if (i == piece->last)
			return false;
	}
}

/* Whether a piece cannot have been where it is: out of all round trips, or other work was where it
 * was. */
static bool is_misplaced(const struct chains *chains, const struct piece *piece,
                         const struct piece *beside)
{
	return !trips_hold(&chains->trips, piece->begin_ns, piece->end_ns) ||
	       is_full(chains, piece, 0, beside);
}

/* Whether a piece is misplaced, and can have been so much later, together with the one beside it
 * there. */
static bool can_move(const struct chains *chains, const struct piece *piece, double later_ns,
                     const struct piece *beside)
{
	double begin_ns = piece->begin_ns + later_ns, end_ns = piece->end_ns + later_ns;

	return is_misplaced(chains, piece, beside) &&
	       trips_hold(&chains->trips, fmin(begin_ns, beside->begin_ns),
	                  fmax(end_ns, beside->end_ns)) &&
	       !is_full(chains, piece, later_ns, beside);
}

/* Moves a piece, which becomes part of the one beside it. */
static void move(struct chains *chains, struct piece *piece, double later_ns, struct piece *beside)
{
	int64_t ns = llround(later_ns);

	for (uint32_t i = piece->first;; i = chains->links[i].next) {
		struct fact *fact = chains->links[i].fact;

		fact->before_ns += ns;
		fact->after_ns += ns;
		fact->source.op->is_doubted = false;
		chains->links[i].is_in_trip = true;
		chains->links[i].piece = (uint32_t)(beside - chains->pieces);
		chains->n_mended++;
		if (i == piece->last)
			break;
	}
	beside->begin_ns = fmin(beside->begin_ns, piece->begin_ns + later_ns);
	beside->end_ns = fmax(beside->end_ns, piece->end_ns + later_ns);
	if (chains->links[beside->last].next == piece->first)
		beside->last = piece->last;
	else
		beside->first = piece->first;
}

static void join(struct chains *chains, const struct link *link)
{
	struct piece *a = &chains->pieces[link->piece];
	struct piece *b = &chains->pieces[chains->links[link->next].piece];
	double later_ns = late_ns(chains, link);
	bool can_a, can_b;

	if (a == b || !(fabs(later_ns) > chains->wrap_ns / 2) ||
	    fabs(later_ns) > MAX_WRAPS * chains->wrap_ns)
		return;
	can_a = can_move(chains, a, later_ns, b);
	can_b = can_move(chains, b, -later_ns, a);
	if (can_a && !can_b)
		move(chains, a, later_ns, b);
	else if (can_b && !can_a)
		move(chains, b, -later_ns, a);
}

/* -- what is alone --------------------------------------------------------------------------- */

/* How much later a link was if it was about so many wraps later: the stamps of the work that is
 * there tell it, as the rate of the counter may be another one there. NAN: no work is near. */
static double place_of(const struct chains *chains, const struct link *link, int wraps)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits);
	double about_ns = begin_of(link) + wraps * chains->wrap_ns;
	uint32_t at = first_from(chains, about_ns);
	const struct link *near = &chains->links[at < chains->n ? at : at - 1];
	double ticks = remainder(link->begin - near->begin, wrap);
	double begin_ns = begin_of(near) + ticks / chains->rate;

	return fabs(begin_ns - about_ns) <= OFF_NS ? begin_ns - begin_of(link) : NAN;
}

/* Whether it can have been so much later: in a round trip, near other work, not where that was. */
static bool has_place(const struct chains *chains, const struct link *link, double later_ns)
{
	double begin_ns = begin_of(link) + later_ns, end_ns = end_of(chains, link) + later_ns;
	double over_ns = fmin(OVER_NS, (end_ns - begin_ns) / 4);
	struct interval_ns in = {begin_ns + over_ns, end_ns - over_ns, link->fact->from};
	struct interval_ns near = {begin_ns - NEAR_NS, end_ns + NEAR_NS, ANY_PART};

	return trips_hold(&chains->trips, begin_ns, end_ns) && is_taken(chains, NULL, NULL, near) &&
	       !is_taken(chains, NULL, NULL, in);
}

/* How many places a link can have been in, whole wraps from where it is; how much later one is. */
static uint32_t count_places(const struct chains *chains, const struct link *link,
                             double *ret_later_ns)
{
	uint32_t n = 0;

	for (int wraps = -(int)MAX_WRAPS; wraps <= (int)MAX_WRAPS; wraps++) {
		double later_ns = place_of(chains, link, wraps);

		if (wraps == 0 || isnan(later_ns) || !has_place(chains, link, later_ns))
			continue;
		*ret_later_ns = later_ns;
		n++;
	}
	return n;
}

/* Short work follows nothing if what is in front of it and behind it seem to follow each other. */
static void place_alone(struct chains *chains, struct link *link)
{
	double later_ns = 0;
	bool is_placed = count_places(chains, link, &later_ns) == 1;

	link->fact->is_astray |= !is_placed && link->next == NO_LINK && link->before == NO_LINK;
	if (!is_placed)
		return;
	link->fact->before_ns += llround(later_ns);
	link->fact->after_ns += llround(later_ns);
	link->fact->source.op->is_doubted = false;
	link->is_in_trip = true;
	chains->n_mended++;
}

static void tell_astray(struct chains *chains, const struct piece *piece)
{
	for (uint32_t i = piece->first;; i = chains->links[i].next) {
		chains->links[i].fact->is_astray = !chains->links[i].is_in_trip;
		if (i == piece->last)
			break;
	}
}

/* Tells which work is still outside of all round trips, whole wraps off what it follows or what
 * follows it. */
static void find_astray(struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[i], *next;

		if (link->next == NO_LINK || !(fabs(late_ns(chains, link)) > chains->wrap_ns / 2))
			continue;
		next = &chains->links[link->next];
		tell_astray(chains, &chains->pieces[link->piece]);
		tell_astray(chains, &chains->pieces[next->piece]);
	}
}

/* Doubts a link if it can have been elsewhere. */
static void doubt(const struct chains *chains, const struct link *link)
{
	double later_ns;

	if (!count_places(chains, link, &later_ns))
		return;
	link->fact->is_astray = true;
	link->fact->source.op->is_doubted = true;
}

/* Doubts work where other work of its part was: one of the two most likely was elsewhere. */
static void doubt_twice_used(const struct chains *chains)
{
	const struct link *last[FLEXTRACE_N_STAMPS] = {NULL};

	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];
		const struct link **reach = &last[link->fact->from];

		if (*reach && begin_of(link) < end_of(chains, *reach) - OVER_NS) {
			doubt(chains, link);
			doubt(chains, *reach);
		}
		if (!*reach || end_of(chains, link) > end_of(chains, *reach))
			*reach = link;
	}
}

/* Sorts links by where they are now. Neighbours and pieces are forgotten. */
static void sort_again(struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n; i++)
		chains->links[i].told_ns = begin_of(&chains->links[i]);
	qsort(chains->links, chains->n, sizeof(*chains->links), compare_links);
}

/* Puts single work that is still outside of all round trips to the one place that it can have. */
static void place_rest(struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n; i++) {
		if (!chains->links[i].is_in_trip)
			place_alone(chains, &chains->links[i]);
	}
}

/* -- all ------------------------------------------------------------------------------------- */

/* Looks which work is in a round trip. Returns whether any is outside of all, or where other work
 * was. */
static bool find_misplaced(struct chains *chains)
{
	double reach_ns = -INFINITY;
	bool is_any = false;

	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[i];
		double begin_ns = begin_of(link), end_ns = end_of(chains, link);

		link->is_in_trip = trips_hold(&chains->trips, begin_ns, end_ns);
		is_any |= begin_ns < reach_ns - OVER_NS || !link->is_in_trip;
		reach_ns = fmax(reach_ns, end_ns);
	}
	return is_any;
}

/* Whether estimates are mostly as exact as work that is over other work takes. */
static bool are_exact(const struct chains *chains)
{
	uint32_t n = 0, n_exact = 0;

	for (uint32_t i = 0; i < chains->n; i++) {
		double late = chains->links[i].next == NO_LINK
		                      ? NAN
		                      : fabs(late_ns(chains, &chains->links[i]));

		n += late < chains->wrap_ns / 2;
		n_exact += late < OVER_NS;
	}
	return n_exact > n / 2;
}

static int mend(struct chains *chains, const struct unwrap *unwrap, uint32_t counter)
{
	FLEXTRACE_TRY(trips_list(&chains->trips, unwrap, counter));
	if (!chains->trips.n)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(list_links(chains));
	if (!find_misplaced(chains))
		return FLEXTRACE_OK;
	chains->begins = malloc(((size_t)chains->n + 1) * sizeof(*chains->begins));
	chains->ends = malloc(((size_t)chains->n + 1) * sizeof(*chains->ends));
	if (!chains->begins || !chains->ends)
		return FLEXTRACE_E_MEMORY;
	tie_all(chains);
	if (!are_exact(chains))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(list_pieces(chains));
	for (int round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < chains->n; i++) {
			if (chains->links[i].next != NO_LINK)
				join(chains, &chains->links[i]);
		}
	}
	if (!chains->n_mended)
		return FLEXTRACE_OK;
	find_astray(chains);
	sort_again(chains);
	place_rest(chains);
	sort_again(chains);
	doubt_twice_used(chains);
	return FLEXTRACE_OK;
}

int chains_mend(struct unwrap *unwrap, uint32_t counter, double rate, uint64_t *ret_n_mended)
{
	struct axis *axis = &unwrap->axes[counter];
	struct chains chains = {
		.axis = axis, .rate = rate, .wrap_ns = ldexp(1, (int)axis->narrow_bits) / rate};
	int code = mend(&chains, unwrap, counter);

	trips_release(&chains.trips);
	free(chains.links);
	free(chains.begins);
	free(chains.ends);
	free(chains.pieces);
	*ret_n_mended = chains.n_mended;
	FLEXTRACE_TRY(code);
	return chains.n_mended ? axis_prepare(axis) : FLEXTRACE_OK;
}
