/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds work that is whole wraps off together. If the low bits of the stamps say that work begins a
 * few us after the end of other work, it followed that work, even if estimates put whole wraps
 * between the two: the two have one place and form a body. The same holds for neighbours that
 * estimates put right after each other, if no other work is nearer by the low bits, or no other
 * work overlaps them.
 *
 * Work can follow other work by chance, too. If n ends have no successor and b begins have nothing
 * in front of them, n * b * t / W false links of at most t are to be expected in a wrap W. Links
 * over whole wraps may be as long as gives one false link in twenty files, and not much longer than
 * other links of the file. Links that cross, so that the four could have followed each other either
 * way, are removed if estimates do not decide. Links of bodies that estimates tear apart and that
 * find no place are removed where something else begins nearly as soon, and, if they are over whole
 * wraps, where nothing else says that any of the body is elsewhere.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "base/select_kth.h"
#include "chains.h"

#define LITTLE_NS    1e3 /* by which other work may be nearer by chance */
#define MUCH         2   /* times as far: not followed */
#define LONG         8   /* times the median is a long pause */
#define NEARLY_ALL   0.9
#define CHANCE       0.05 /* false links over whole wraps */
#define ROUNDS       2
#define MAX_RIVALS   4u /* that are looked at */
#define MOST_NEAR_NS 5e6
#define COHORT_NS    2e6 /* between work far from all trips that is moved together */

/* -- links ----------------------------------------------------------------------------------- */

ORDER_BY(compare_links, struct link, told_ns, sample);

int bodies_list_links(struct chains *chains)
{
	const struct axis *axis = chains->axis;

	FLEXTRACE_TRY(ARRAY_NEW(chains->links, (size_t)axis->n_samples + 1));
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		struct link *link = &chains->links[chains->n];

		if (!link_make(&axis->samples[i], link))
			continue;
		link->estimate_ns = (double)(link->sample->before_ns - chains->base_ns) +
		                    UNWRAP_ESTIMATE_SLACK_NS;
		link->told_ns = link->estimate_ns;
		link->begin = (double)low_bits(link->sample->first, axis->narrow_bits);
		link->end = (double)low_bits(link->sample->first + link->sample->span,
		                             axis->narrow_bits);
		chains->n++;
	}
	ORDER_ARRAY(chains->links, chains->n, compare_links);
	FLEXTRACE_TRY(line_make(chains));
	ORDER_ARRAY(chains->links, chains->n, compare_links);
	return FLEXTRACE_OK;
}

int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return ORDER(a->phase, b->phase) ?: ORDER(a->link, b->link);
}

/* Lists the ends of work without a successor yet, and the begins of work that follows none: by
 * the low bits, or by the estimates. */
static void list_places(struct chains *chains, bool is_by_phase)
{
	chains->ends.n_begins = chains->ends.n_ends = 0;
	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];
		double begin = is_by_phase ? link->begin : link->told_ns * chains->rate;
		double end = is_by_phase ? link->end : link_end(chains, link) * chains->rate;

		if (link->before == NO_LINK)
			chains->ends.begins[chains->ends.n_begins++] = (struct place){begin, i};
		if (link->next == NO_LINK)
			chains->ends.ends[chains->ends.n_ends++] = (struct place){end, i};
	}
	ORDER_ARRAY(chains->ends.begins, chains->ends.n_begins, compare_places);
	ORDER_ARRAY(chains->ends.ends, chains->ends.n_ends, compare_places);
}

/* Lists when all began, by the low bits. */
static void list_begins(struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n; i++)
		chains->ends.begins[i] = (struct place){chains->links[i].begin, i};
	ORDER_ARRAY(chains->ends.begins, chains->n, compare_places);
}

bool is_place_before(const void *row, const void *key)
{
	return ((const struct place *)row)->phase < *(const double *)key;
}

/* How many places are before a phase, or at it. */
static uint32_t count_before(const struct place *places, uint32_t n, double phase, bool is_at)
{
	double key = is_at ? nextafter(phase, INFINITY) : phase;

	return array_count_before(places, n, sizeof(*places), is_place_before, &key);
}

/* The work that begins next after an end, and how many ticks after it; INFINITY: none does. */
static double find_next(const struct chains *chains, const struct place *end, double wrap,
                        const struct place **ret_next)
{
	uint32_t at = count_before(chains->ends.begins, chains->ends.n_begins, end->phase, false);
	bool is_round;

	/* It has no length. */
	if (at < chains->ends.n_begins && chains->ends.begins[at].link == end->link)
		at++;
	is_round = at == chains->ends.n_begins;
	*ret_next = &chains->ends.begins[at % chains->ends.n_begins];
	if (is_round && wrap == 0)
		return INFINITY;
	return (*ret_next)->phase - end->phase + (is_round ? wrap : 0);
}

/* How much too late estimates put the next one behind a link, if that is whole wraps, or none;
 * NAN: it is not. */
static double late_ns(const struct chains *chains, const struct link *link)
{
	const struct link *next = &chains->links[link->next];
	double wrap = ldexp(1, (int)chains->axis->narrow_bits);
	double gap_ns = fmod(next->begin - link->end + wrap, wrap) / chains->rate;
	double ns = link_begin(next) - link_end(chains, link) - gap_ns;
	double wraps = round(ns / chains->wrap_ns);

	return fabs(ns - wraps * chains->wrap_ns) <= OFF_NS + OFF * fabs(ns) ? ns : NAN;
}

/* Whether estimates put two into one trip, or one of them into none. */
static bool share_trip(const struct chains *chains, const struct link *link)
{
	const struct link *next = &chains->links[link->next];

	return !link->is_in_trip || !next->is_in_trip ||
	       trips_hold(&chains->trips, link_begin(link), link_end(chains, next), TRIP_SLACK_NS);
}

/* By what work is linked with what begins next: by estimates, or by the low bits of stamps. */
enum order {
	BY_ESTIMATE,
	BY_ESTIMATE_ALONE, /* where no other work is over either */
	BY_PHASE
};

/* Whether nothing contradicts a link. */
static bool is_tied(const struct chains *chains, const struct link *link, enum order order)
{
	const struct link *next = &chains->links[link->next];
	double late = late_ns(chains, link);

	if (isnan(late) || fabs(late) > (MAX_WRAPS + 0.5) * chains->wrap_ns)
		return false;
	if (order == BY_ESTIMATE_ALONE && (link->is_over || next->is_over))
		return false;
	return order == BY_PHASE || (fabs(late) < chains->wrap_ns / 2 && share_trip(chains, link));
}

/* Links each with what begins next behind it, if nothing else ended nearer to that. */
static void tie(struct chains *chains, enum order order)
{
	double wrap = order == BY_PHASE ? ldexp(1, (int)chains->axis->narrow_bits) : 0;

	list_places(chains, order == BY_PHASE);
	for (uint32_t i = 0; i < chains->ends.n_ends && chains->ends.n_begins; i++) {
		const struct place *end = &chains->ends.ends[i], *next, *last;
		struct link *link = &chains->links[end->link];
		double gap = find_next(chains, end, wrap, &next);
		uint32_t at;

		if (next->link == end->link || gap > link->most)
			continue;
		at = count_before(chains->ends.ends, chains->ends.n_ends, next->phase, true);
		last = &chains->ends.ends[(at + chains->ends.n_ends - 1) % chains->ends.n_ends];
		if (last->link == next->link)
			last = &chains->ends.ends[(at + 2 * chains->ends.n_ends - 2) %
			                          chains->ends.n_ends];
		if (last->link != end->link)
			continue;
		link->next = next->link;
		if (is_tied(chains, link, order))
			chains->links[next->link].before = end->link;
		else
			link->next = NO_LINK;
	}
}

/* -- how far apart --------------------------------------------------------------------------- */

/* The distance that a share of some distances do not exceed; 0: there are none. */
static double quantile(double *gaps, uint32_t n, double share)
{
	return n ? select_kth(gaps, n, (uint32_t)(share * (n - 1))) : 0;
}

/* How far nearly all links are apart; ticks. */
static double usual_gap(const struct chains *chains, double *gaps)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits);
	uint32_t n = 0;

	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];

		if (link->next != NO_LINK)
			gaps[n++] = fmod(chains->links[link->next].begin - link->end + wrap, wrap);
	}
	return quantile(gaps, n, NEARLY_ALL);
}

/* How long the device pauses within a trip, in the median: work that is elsewhere leaves longer
 * pauses. */
static double usual_pause_ns(const struct chains *chains, double *gaps)
{
	const struct link *last = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];
		double ns = last ? link_begin(link) - link_end(chains, last) : 0;

		if (last && ns > 0 &&
		    trips_hold(&chains->trips, link_end(chains, last), link_begin(link), 0))
			gaps[n++] = ns;
		if (!last || link_end(chains, link) > link_end(chains, last))
			last = link;
	}
	return quantile(gaps, n, 0.5);
}

/* The longest links over whole wraps, up to a limit, of which hardly any is there by chance. */
static double surest(struct chains *chains, double most)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits);
	uint32_t n_last = 0; /* that nothing follows */

	list_places(chains, true);
	for (uint32_t i = 0; i < chains->ends.n_ends && chains->ends.n_begins; i++) {
		const struct place *next;

		n_last += find_next(chains, &chains->ends.ends[i], wrap, &next) > most;
	}
	return fmin(most, CHANCE * wrap / ((n_last + 1.0) * (chains->ends.n_begins + 1.0)));
}

/* Finds what estimates put over other work of its part. */
static void find_over(struct chains *chains)
{
	struct link *reach[FLEXTRACE_N_STAMPS] = {NULL};

	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[i], **last = &reach[link->sample->from];

		if (*last && link_begin(link) <
		                     link_end(chains, *last) -
		                             allowance(link_begin(*last), link_end(chains, *last)))
			link->is_over = (*last)->is_over = true;
		if (!*last || link_end(chains, link) > link_end(chains, *last))
			*last = link;
	}
}

/* Work that estimates put right after a link follows it, even if other work happens to be a
 * little nearer by the low bits; not if other work is much nearer. */
static int tie_all(struct chains *chains)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits), gap, most;
	double *gaps;

	FLEXTRACE_TRY(ARRAY_NEW(gaps, (size_t)chains->n + 1));
	chains->near_ns = fmin(fmax(LONG * usual_pause_ns(chains, gaps), NEAR_NS), MOST_NEAR_NS);
	list_places(chains, true);
	for (uint32_t i = 0; i < chains->ends.n_ends && chains->ends.n_begins; i++) {
		const struct place *next;

		gap = find_next(chains, &chains->ends.ends[i], wrap, &next);
		chains->links[chains->ends.ends[i].link].most =
			fmin(MUCH * gap + LITTLE_NS * chains->rate, NEAR_NS * chains->rate);
	}
	tie(chains, BY_ESTIMATE);
	gap = MUCH * usual_gap(chains, gaps) + LITTLE_NS * chains->rate;
	free(gaps);
	chains->most = gap;
	find_over(chains);
	for (uint32_t i = 0; i < chains->n; i++)
		chains->links[i].most = fmin(gap, NEAR_NS * chains->rate);
	tie(chains, BY_ESTIMATE_ALONE);
	most = fmin(surest(chains, gap), NEAR_NS * chains->rate);
	for (uint32_t i = 0; i < chains->n; i++)
		chains->links[i].most = most;
	for (int round = 0; round < ROUNDS; round++)
		tie(chains, BY_PHASE);
	return FLEXTRACE_OK;
}

/* -- bodies ---------------------------------------------------------------------------------- */

/* Finds the root of a link's body, and how much more than that it is to be moved. */
static uint32_t find_root(struct chains *chains, uint32_t of, double *ret_ns)
{
	struct link *links = chains->links;
	double ns = 0, left;
	uint32_t root = of;

	for (; links[root].up != root; root = links[root].up)
		ns += links[root].up_ns;
	*ret_ns = left = ns;
	while (links[of].up != root && of != root) {
		uint32_t up = links[of].up;
		double up_ns = links[of].up_ns;

		links[of].up = root;
		links[of].up_ns = left;
		left -= up_ns;
		of = up;
	}
	return root;
}

/* Puts two links into one body: the second is to be moved so much more. */
static void unite(struct chains *chains, uint32_t a, uint32_t b, double more_ns)
{
	double a_ns, b_ns;
	uint32_t root_a = find_root(chains, a, &a_ns), root_b = find_root(chains, b, &b_ns);

	if (root_a == root_b)
		return;
	chains->links[root_b].up = root_a;
	chains->links[root_b].up_ns = a_ns + more_ns - b_ns;
}

/* Far from all trips, work that estimates put close together was moved together. */
static void unite_cohorts(struct chains *chains)
{
	uint32_t last = NO_LINK;

	for (uint32_t i = 0; i < chains->n; i++) {
		if (!chains->links[i].sample->source.op->is_doubted)
			continue;
		if (last != NO_LINK &&
		    link_begin(&chains->links[i]) - link_end(chains, &chains->links[last]) <
		            COHORT_NS)
			unite(chains, last, i, 0);
		if (last == NO_LINK ||
		    link_end(chains, &chains->links[i]) > link_end(chains, &chains->links[last]))
			last = i;
	}
}

/* Numbers the bodies and lists their members. Places serve as memory. */
static void list_bodies(struct chains *chains)
{
	struct place *order = chains->ends.begins;
	double ns;

	for (uint32_t i = 0; i < chains->n; i++)
		order[i] = (struct place){find_root(chains, i, &ns), i};
	ORDER_ARRAY(order, chains->n, compare_places);
	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[order[i].link];
		struct body *body;

		if (i == 0 || order[i].phase != order[i - 1].phase)
			chains->bodies[chains->n_bodies++] = (struct body){.first = i};
		body = &chains->bodies[chains->n_bodies - 1];
		chains->members[i] = order[i].link;
		link->body = chains->n_bodies - 1;
		find_root(chains, order[i].link, &ns);
		body->n++;
		body->least = fmin(body->least, ns);
		body->most = fmax(body->most, ns);
		body->n_doubted += link->sample->source.op->is_doubted;
	}
}

/* Ticks from an end to a begin, forwards. */
static double ticks_to(const struct chains *chains, const struct link *from, const struct link *to)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits);

	return fmod(to->begin - from->end + wrap, wrap);
}

/* Whether another two could follow each other crosswise, and estimates do not tell. */
static bool is_crossed(const struct chains *chains, const struct link *link)
{
	const struct link *links = chains->links, *next = &links[link->next];
	uint32_t at = count_before(chains->ends.begins, chains->n, link->end, false);

	if (!link->is_over && !next->is_over && fabs(late_ns(chains, link)) < chains->wrap_ns / 2)
		return false;
	for (uint32_t i = 0; i < MAX_RIVALS && i < chains->n; i++) {
		const struct link *other = &links[chains->ends.begins[(at + i) % chains->n].link];

		if (ticks_to(chains, link, other) > chains->most)
			return false;
		if (other != next && other->before != NO_LINK &&
		    ticks_to(chains, &links[other->before], next) <= chains->most)
			return true;
	}
	return false;
}

/* Whether other work that is over the next can have followed instead, where estimates put some over
 * each other. */
static bool has_rival(const struct chains *chains, const struct link *link)
{
	const struct link *links = chains->links, *next = &links[link->next];
	double gap = ticks_to(chains, link, next);
	double most = fmax(fmax(MUCH * gap, LITTLE_NS * chains->rate), chains->most);
	uint32_t at = count_before(chains->ends.begins, chains->n, link->end, false);

	for (uint32_t i = 0; i < 4 * MAX_RIVALS && i < chains->n && next->is_over; i++) {
		const struct link *other = &links[chains->ends.begins[(at + i) % chains->n].link];
		double ticks = ticks_to(chains, link, other);

		if (ticks > most)
			break;
		if (other != next && other != link && other->sample->from == next->sample->from &&
		    ticks < gap + (double)next->sample->span &&
		    gap < ticks + (double)other->sample->span)
			return true;
	}
	return false;
}

/* Unties what may have followed each other crosswise. */
static void untie_crossed(struct chains *chains)
{
	list_begins(chains);
	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[i];

		link->is_crossed = link->next != NO_LINK &&
		                   (is_crossed(chains, link) || has_rival(chains, link));
	}
	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[i];

		if (!link->is_crossed)
			continue;
		chains->links[link->next].before = NO_LINK;
		link->next = NO_LINK;
	}
}

static int allocate(struct chains *chains)
{
	size_t n = (size_t)chains->n + 1;

	chains->ends.begins = malloc(n * sizeof(*chains->ends.begins));
	chains->ends.ends = malloc(n * sizeof(*chains->ends.ends));
	chains->members = malloc(n * sizeof(*chains->members));
	chains->bodies = malloc(n * sizeof(*chains->bodies));
	return chains->ends.begins && chains->ends.ends && chains->members && chains->bodies
	               ? FLEXTRACE_OK
	               : FLEXTRACE_E_MEMORY;
}

static void make(struct chains *chains)
{
	chains->n_bodies = 0;
	for (uint32_t i = 0; i < chains->n; i++) {
		chains->links[i].up = i;
		chains->links[i].up_ns = 0;
	}
	for (uint32_t i = 0; i < chains->n; i++) {
		double late;

		if (chains->links[i].next == NO_LINK)
			continue;
		late = late_ns(chains, &chains->links[i]);
		unite(chains, i, chains->links[i].next,
		      fabs(late) < chains->wrap_ns / 2 ? 0 : -late);
	}
	unite_cohorts(chains);
	list_bodies(chains);
}

int bodies_make(struct chains *chains)
{
	FLEXTRACE_TRY(allocate(chains));
	FLEXTRACE_TRY(tie_all(chains));
	untie_crossed(chains);
	make(chains);
	return FLEXTRACE_OK;
}

/* Whether something else begins not much later behind a link than what follows it, or before. */
static bool has_rivals(const struct chains *chains, const struct link *link)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits);
	double gap = fmod(chains->links[link->next].begin - link->end + wrap, wrap);
	uint32_t at = count_before(chains->ends.begins, chains->n, link->end, false);

	for (uint32_t i = 0; i < MAX_RIVALS && i < chains->n; i++) {
		const struct place *next = &chains->ends.begins[(at + i) % chains->n];
		double ticks = next->phase - link->end + (at + i >= chains->n ? wrap : 0);

		if (ticks > fmax(gap + LITTLE_NS * chains->rate, link->most))
			return false;
		if (next->link != link->next && &chains->links[next->link] != link)
			return true;
	}
	return true;
}

/* Whether a link over whole wraps is refuted: nothing else says that the work is elsewhere, and if
 * the work did follow, there would be a place for both. */
static bool is_refuted(const struct chains *chains, const struct link *link)
{
	const struct body *body = &chains->bodies[link->body];

	return body->n_places == 0 && body->n_doubted == 0 && body_is_torn(chains, body) &&
	       fabs(late_ns(chains, link)) > chains->wrap_ns / 2;
}

bool bodies_split(struct chains *chains)
{
	bool is_any = false;

	list_begins(chains);
	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[i];
		const struct body *body = &chains->bodies[link->body];

		if (link->next == NO_LINK || body->is_settled ||
		    (body->n_places > 0 && !body_is_torn(chains, body)) ||
		    !(has_rivals(chains, link) || is_refuted(chains, link)))
			continue;
		chains->links[link->next].before = NO_LINK;
		link->next = NO_LINK;
		is_any = true;
	}
	if (is_any)
		make(chains);
	return is_any;
}
