/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align_impl.h: what the files of align share.
 *
 *   sync points --graph--> events and parts     who took part in what
 *   parts  --seed--> curves                     where each clock about is (no bound, may be wrong)
 *   parts  --prove--> paces                     how fast each clock can run, where it jumped
 *   parts, paces  --mesh--> knots               exact bounds of all maps that meet the constraints
 *   where there are none:
 *   parts, curves --filter--> fewer parts       what lies by far
 *   parts, knots  --vote--> fewer parts         what contradicts most of the rest
 *   knots  --estimate--> maps                   one solution that meets all of them at once
 *   maps, parts --report--> lines
 *
 * Every event is a moment v: whoever is "before" entered it no later, whoever is "after" left it
 * no earlier. A barrier's parts are both; of a message the sender is before, the receiver after.
 * So n parts need n constraints, not n^2.
 *
 * Units: host ns of each clock; time in "fine" units, 1/256 ns of the root clock's time since
 * `origin_ns`. Doubles only stand for times relative to a curve's origin.
 */
#ifndef FLEXTRACE_ALIGN_IMPL_H
#define FLEXTRACE_ALIGN_IMPL_H

#include "align.h"
#include "base/select_kth.h"
#include "model/words/sync_ops.h"

typedef __int128 wide_int; /* sums and products of times */

#define FINE_BITS     8
#define FINE_NS       (INT64_C(1) << FINE_BITS)
#define FINE_MAX      (INT64_C(1) << 59) /* 26 days: a part farther off is no evidence */
#define FINE_NONE     (INT64_C(1) << 62) /* no bound; anything beyond half of it is none, too */
#define PACE_BITS     40                 /* fraction bits of rates */
#define SOFT_ABOVE_NS 10000   /* half-widths beyond this leave the estimate to the curve */
#define ONE_SIDED_NS  60000   /* and beyond this one side is called loose */
#define FREE_RATE     1000e-6 /* two kernels slew their clocks apart by no more */
#define LIKELY_RATE   200e-6  /* two clocks run apart by no more unless evidence says so */
#define ROUGH_NS      20000.0 /* how far a few observations may be off together */

enum part_role { PART_BEFORE = 1, PART_AFTER = 2, PART_BOTH = 3 };
enum part_fate { PART_KEPT, PART_FILTERED, PART_VOTED };

/* One process' part in one event. */
struct part {
	int64_t enter_ns, exit_ns; /* host; only where its role needs it */
	uint32_t process, clock, event;
	uint32_t enter_knot, exit_knot; /* FLEXTRACE_NONE: has none */
	uint8_t role;                   /* enum part_role */
	uint8_t fate;                   /* enum part_fate */
	bool is_message;                /* its event has one sender and one receiver */
	uint8_t unused;
};

struct graph {
	struct part *parts; /* owned, by event */
	uint32_t n_parts;
	uint32_t n_most;      /* parts of an event, or of a clock */
	uint32_t *first_part; /* owned, of each event; one more than events */
	uint32_t n_events;
	uint32_t *by_clock;  /* owned: parts by clock and time */
	uint32_t *first_of;  /* owned: where a clock begins in by_clock; one more than clocks */
	uint32_t *unmatched; /* owned: points of each process that no event could be made of */
	uint32_t *component; /* owned: of each clock; 0 = the reference's */
	uint32_t *root;      /* owned: clock that each component is put on */
	uint32_t *order; /* owned: clocks, nearest to their root first; roots themselves first */
	uint32_t n_clocks, n_components;
	uint32_t n_peopled; /* components that have a process; they come first */
	bool has_assumed;   /* evidence that needed an assumption */
};

static inline int64_t part_ns(const struct part *part)
{
	return part->role & PART_AFTER ? part->exit_ns : part->enter_ns;
}

static inline bool clock_is_root(const struct graph *graph, uint32_t clock)
{
	return graph->root[graph->component[clock]] == clock;
}

/* -- graph.c: sync points -> events ------------------------------------------------------------ */

/* Matches the points of events that tie at least two clocks. `reference` is a clock. */
int graph_init(struct graph *graph, const struct identity *identity, struct table *sync_points,
               uint32_t reference);
void graph_release(struct graph *graph);

/* graph_order.c: finds components and their roots, and in which order clocks hang on them. */
int graph_find_components(struct graph *graph, const struct identity *identity, uint32_t reference);

/* -- grid.c: finds places in sorted lists ------------------------------------------------------ */

/* What place in a sorted list each of many equal cells begins at. Keys count from the first one's,
 * which is 0. */
struct grid {
	uint32_t *first; /* owned, of each cell; one more than cells */
	uint32_t n_cells;
	unsigned shift;
};

/* Begins a grid over n > 0 keys; each is to be counted, then they are summed up. */
int grid_init(struct grid *grid, uint64_t last_key, uint32_t n);
void grid_sum(struct grid *grid);
void grid_release(struct grid *grid);

static inline void grid_count(struct grid *grid, uint64_t key)
{
	grid->first[(key >> grid->shift) + 1]++;
}

/* Stores the places [from, to) among which is the last one whose key is not larger. */
static inline void grid_find(const struct grid *grid, uint64_t key, uint32_t *ret_from,
                             uint32_t *ret_to)
{
	uint64_t cell = key >> grid->shift;

	if (cell >= grid->n_cells)
		cell = grid->n_cells - 1;
	*ret_from = grid->first[cell] ? grid->first[cell] - 1 : 0;
	*ret_to = grid->first[cell + 1];
}

/* -- curve.c: about where a clock is ----------------------------------------------------------- */

#define CURVE_WINDOW 41u /* observations in a running median */

struct curve_point {
	double x, y; /* ns since the curve's origin; ns above its line */
};

/* theta(t) = offset + rate * (t - origin) + what its points say; t + theta is the root's time. */
struct curve {
	int64_t origin_ns, offset_ns;
	double rate;
	struct curve_point *points; /* owned */
	uint32_t n_points;
	struct grid grid; /* owned: over the points */
	double most_ns;   /* that its points say, either way */
	bool is_known;    /* there was any evidence */
	bool is_rough;    /* made of bounds, which may all be off to one side */
	double rough_ns;  /* how far it may be off; INFINITY: not known */
	double noise_ns;  /* nine of ten of its observations are this near */
};

/* One observation: at host time `t_ns` the root's clock was about `t_ns + theta_ns`. */
struct sighting {
	int64_t t_ns, theta_ns;
};

/* Fits a curve to n > 0 observations by time, in place of what it was. Its noise is not measured if
 * it will be fitted again. */
int curve_fit(struct curve *curve, const struct sighting *sightings, uint32_t n, bool is_last);
void curve_release(struct curve *curve);

/* How far its observations may be off together, times two. */
double curve_blur_ns(const struct curve *curve);

/* Whether a curve's length and noise bound the rate more than is likely for any clock. */
bool curve_tells_rate(const struct curve *curve);

/* Median slope of all pairs of n points; `spare`: room for n * (n - 1) / 2 words. 0: no two are
 * apart. */
double curve_slope(const struct curve_point *points, uint32_t n, double *spare);

/* The root's time, clamped to int64. */
int64_t curve_at(const struct curve *curve, int64_t host_ns);

/* The same, of times that are nearly in order: `near`, 0 at first, is where the last one was. */
int64_t curve_at_near(const struct curve *curve, int64_t host_ns, uint32_t *near);

/* A straight piece of a clock's pace, from `host_ns` to the next one. */
struct pace {
	int64_t host_ns;
	int64_t rate, slack; /* 2^-40: root ns per host ns, less 1; how far that may be off */
	wide_int base, wide; /* fine: integrals of both up to here */
	bool is_doubtful;    /* nothing within is certified */
	bool is_step;        /* its rate changes within, for certain */
	double least;        /* that it jumps within, ns, or changes its rate: either way */
	uint32_t more_ns;    /* that times within may be off by beyond their bounds */
	double jump_ns;      /* that a clock may make within, if it is doubtful */
};

#define ANY_JUMP_NS ((double)(INT64_C(1) << 47)) /* a day and a half: nothing limits it */

struct pace_sum { /* fine: integrals of the pace, and of what it may be off */
	wide_int base, wide;
};

struct paces {
	struct pace *paces; /* owned, at least one */
	uint32_t n_paces;
	bool has_left; /* the clock left its rate for certain: breaks are more than a suspicion */
};

/* One pace that may be off by `slack`. */
int paces_init_straight(struct paces *paces, int64_t host_ns, double rate, double slack);
/* None yet, but room for so many. */
int paces_reserve(struct paces *paces, uint32_t n);
void paces_add(struct paces *paces, int64_t host_ns, double rate, double slack);
/* The rate changes within the last pace, by this much at least; a clock jumps within it. */
void paces_add_step(struct paces *paces, double least_rate);
void paces_add_least(struct paces *paces, double least_ns);
/* Times in the last pace may be off by so much more. */
void paces_add_more(struct paces *paces, double more_ns);
/* A break: within it a clock jumps by at most this much. A pace follows at `end_ns`, which is
 * later. At most 32. */
void paces_add_break(struct paces *paces, int64_t host_ns, int64_t end_ns, double jump_ns);
void paces_release(struct paces *paces);

struct knot;

/* Combines two proofs: the rates that both allow, and the breaks of either. For a break that both
 * have, the better proof is used. Breaks with fewer than a few of the clock's `knots` between them
 * are one. */
int paces_combine(struct paces *better, const struct paces *other, const struct knot *knots,
                  uint32_t n_knots);

/* Lets a clock without breaks run at any of its rates up to `first_ns` and from `last_ns` on. */
int paces_loosen(struct paces *paces, int64_t first_ns, int64_t last_ns);

/* Lets all paces be off by so much more, or less where it was given before. */
void paces_add_slack(struct paces *paces, double slack);

/* Whether a host time is where nothing is certified, or only what holds on either side. */
bool paces_are_doubtful(const struct paces *paces, int64_t host_ns);

/* The pace that a host time is in. */
const struct pace *paces_find(const struct paces *paces, int64_t host_ns);

/* Integrals as if a pace went on forever, either way. */
static inline struct pace_sum pace_at(const struct pace *pace, int64_t host_ns)
{
	int64_t rate = (INT64_C(1) << PACE_BITS) + pace->rate, near;
	wide_int far = (wide_int)host_ns - pace->host_ns, base, wide;

	if (__builtin_sub_overflow(host_ns, pace->host_ns, &near)) {
		base = far * rate;
		wide = far * pace->slack;
	} else { /* of half as many bits, which is much less work */
		base = (wide_int)near * rate;
		wide = (wide_int)near * pace->slack;
	}
	return (struct pace_sum){
		pace->base + (base >> (PACE_BITS - FINE_BITS)),
		pace->wide + (wide >> (PACE_BITS - FINE_BITS)),
	};
}

/* Integrals at a host time. Both grow with `host_ns`. */
struct pace_sum paces_at(const struct paces *paces, int64_t host_ns);

/* -- seed.c, filter.c -------------------------------------------------------------------------- */

/* Makes a curve for every clock (owned by the caller, `graph->n_clocks` of them, zeroed before). */
int seed_run(const struct graph *graph, double rho, struct curve *curves);

/* Drops parts that are false by far: an exit long before what is usual, an enter behind others'
 * exits. */
int filter_run(struct graph *graph, const struct curve *curves);

/* -- mesh.c: bounds ---------------------------------------------------------------------------- */

/* A place on a clock where a constraint stands. */
struct knot {
	int64_t host_ns;
	int64_t slow, fast; /* integrals of its clock's least and greatest pace, fine */
	int64_t lo, hi;     /* bounds of the root's time, fine */
	uint32_t part, event;
	uint32_t lo_from, hi_from; /* parts whose constraint set the bounds; FLEXTRACE_NONE */
	bool is_exit;
	bool is_kept;   /* whether its part was when the mesh was cleared */
	bool is_turned; /* its estimate is on the wrong side of others of its event */
};

/* Bounds of an event's moment, fine, and the parts that set them. */
struct moment {
	int64_t lo, hi;
	uint32_t lo_from, hi_from;
};

struct mesh {
	struct graph *graph; /* weak */
	struct knot *knots;  /* owned, by clock and time */
	uint32_t n_knots;
	uint32_t *first_knot;   /* owned, of each clock; one more than clocks */
	struct moment *moments; /* owned, of each event */
	int64_t *origin_ns;     /* owned, of each component: root time of fine 0 */
	struct paces *paces;    /* owned, of each clock */
	uint64_t *swept_at;     /* owned, of each clock: which sweep of all was its last */
};

/* Whether there is any evidence of a clock. */
static inline bool mesh_has_knots(const struct mesh *mesh, uint32_t clock)
{
	return mesh->first_knot[clock] < mesh->first_knot[clock + 1];
}

/* Drops parts that are far from the rest by their curves. Clocks have no pace yet. */
int mesh_init(struct mesh *mesh, struct graph *graph, const struct curve *curves);
void mesh_release(struct mesh *mesh);

/* Gives a clock another pace. Takes `paces`. */
void mesh_set_paces(struct mesh *mesh, uint32_t clock, struct paces *paces);
void mesh_add_slack(struct mesh *mesh, uint32_t clock, double slack);
int mesh_loosen(struct mesh *mesh, uint32_t clock, int64_t first_ns, int64_t last_ns);

/* Limits the rate of a clock that has one pace; false: it was limited so before, or nearly. */
bool mesh_narrow(struct mesh *mesh, uint32_t clock, double least, double most);

/* Forgets the knots of parts that were filtered since it was made. */
void mesh_compact(struct mesh *mesh);

/* Forgets all bounds but those that the roots give, and hears all parts that are kept; does not
 * hear them anew; forgets only the bounds of moments. */
void mesh_clear(struct mesh *mesh);
void mesh_clear_bounds(struct mesh *mesh);
void mesh_clear_moments(struct mesh *mesh);

/* Tightens until nothing changes; returns false as soon as something contradicts. */
bool mesh_close(struct mesh *mesh);

/* Tightens the bounds of one clock, and what it tells others. */
void mesh_sweep(struct mesh *mesh, uint32_t clock);

/* All, until nothing changes, whatever contradicts. */
void mesh_spread(struct mesh *mesh);

/* Fine time of a host time on a root's clock, clamped to +-FINE_MAX. */
int64_t mesh_fine(const struct mesh *mesh, uint32_t component, int64_t root_ns);

static inline bool knot_contradicts(const struct knot *knot)
{
	return knot->lo > knot->hi + FINE_NS;
}

/* -- spots.c: the bounds of a clock that matter ------------------------------------------------ */

#define MAX_SPOTS   514
#define ROUNDING_NS 1.0 /* of sums of doubles */

static inline double larger(double a, double b)
{
	return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Bounds of the root's time less the host's at a knot. */
struct spot {
	double x, lo, hi; /* ns since the first knot; +-INFINITY: no bound */
	double tight_lo, tight_hi;
	double room; /* that bounds near it leave together if nothing is wrong; 0: nobody knows */
	uint32_t knot;
};

struct spots {
	struct spot all[MAX_SPOTS]; /* by time */
	uint32_t n;
};

/* Takes the tightest bounds of a clock with knots, as far as a likely rate can tell: those that
 * moments give, or those that were closed. */
void spots_fill(struct spots *spots, const struct mesh *mesh, uint32_t clock, double likely_rate,
                bool is_closed);

/* Finds the tight bounds of spots [from, to] if rates are within [least, most]; false: there is a
 * contradiction. */
bool spots_tighten(struct spots *spots, uint32_t from, uint32_t to, double least, double most);

struct spot_range {
	double lo, hi;
};

/* The same, of the first and the last one only. */
bool spots_bound_ends(const struct spots *spots, uint32_t from, uint32_t to, double least,
                      double most, struct spot_range ret_ends[2]);

/* Whether rates within [least, most] explain spots [from, to]. */
bool spots_meet(const struct spots *spots, uint32_t from, uint32_t to, double least, double most);

/* Whether bounds leave their room everywhere. Stores no bounds. */
bool spots_leave_room(const struct spots *spots, uint32_t from, uint32_t to, double least,
                      double most);

/* Whether a mean rate within [least, most], from which the rate differs by up to rho, can be. */
bool spots_take_rate(const struct spots *spots, uint32_t from, uint32_t to, double least,
                     double most, double rho);

/* -- prove.c: paces ---------------------------------------------------------------------------- */

struct proven {         /* of a clock */
	bool is_lost;   /* nothing explains its evidence */
	bool has_break; /* it jumped */
	bool has_lies;  /* it has parts that its others contradict; they are not kept */
	bool is_fast;   /* it runs apart faster than is likely */
	double room_ns; /* that its evidence usually leaves; INFINITY: not known, or no break */
};

/* Finds the paces of all clocks, one after the other, from evidence only; the rates of `curves`
 * only choose among it. Clears the mesh; its bounds may be closed from there. With `until_lies` it
 * stops at the first clock that has lies, or is lost. */
int prove_run(struct mesh *mesh, const struct curve *curves, double rho, bool until_lies,
              struct proven *proven);

/* -- ends.c: breaks at an end of a run --------------------------------------------------------- */

struct doubted { /* host times of a clock up to and from which it is not believed */
	int64_t first_ns, last_ns;
	bool is_broken; /* by its own evidence */
};

/* Finds where the clocks of a component are not believed, as one of them is broken at an end. */
int ends_find(const struct mesh *mesh, struct doubted *doubted);

/* Drops the evidence there, of clocks that are broken themselves or of the others; returns whether
 * there was any. */
bool ends_drop(struct mesh *mesh, const struct doubted *doubted, bool is_of_broken);

/* Whether another clock bounds a knot, nearly as well as anything does on that side, where bounds
 * are usually so wide; how wide they usually are. */
bool ends_are_tight(const struct mesh *mesh, uint32_t clock, const struct knot *knot, double width);
double ends_usual_width(const struct mesh *mesh, uint32_t clock);

/* Believes clocks that left their rate less near the ends of a run. Clears the bounds. */
int ends_mistrust(struct mesh *mesh);

/* -- narrow.c: one rate ------------------------------------------------------------------------ */

/* Narrows closed bounds and paces of clocks of one stretch, as they have one mean rate. The bounds
 * are to be closed again. */
int narrow_run(struct mesh *mesh, double rho, const struct proven *proven);

/* -- vote.c: false matches --------------------------------------------------------------------- */

/* Closes the band. Where that cannot be, filters, drops what contradicts most of the rest, then
 * gives clocks that still do more slack. A clock that no slack explains is marked in `is_lost` (of
 * each clock). Adds the number of clocks that needed more slack to `ret_n_slack`. */
int vote_close(struct mesh *mesh, const struct curve *curves, double rho, bool *is_lost,
               uint32_t *ret_n_slack);

/* -- doubt.c: what is not certified although it is bounded ------------------------------------- */

struct stop { /* host times for which nothing is certified, both included */
	int64_t from_ns, to_ns;
};

/* Stretches where nothing of a clock's evidence was kept: an array that the caller owns. The band
 * is closed. */
int stops_find(const struct mesh *mesh, uint32_t clock, bool is_seldom, struct stop **ret_stops,
               uint32_t *ret_n);

/* Whether evidence of no clock was dropped more than a few times. */
bool lies_are_seldom(const struct graph *graph);
bool stops_hold(const struct stop *stops, uint32_t n, int64_t host_ns);

/* Marks knots in breaks whose estimate is on the wrong side of others' of their event. */
void doubt_turned(struct mesh *mesh);

/* -- map.c: host ns -> time -------------------------------------------------------------------- */

struct map_knot {
	int64_t host_ns, time; /* fine since the map's origin */
	uint32_t err_ns;       /* certified; UINT32_MAX = none */
	bool is_turned;        /* see struct knot */
};

struct host_map {
	struct map_knot *knots; /* owned; none: nothing but the shift is known */
	uint32_t n_knots;
	struct grid grid; /* owned: over the knots */
	int64_t origin_ns;
	struct paces paces;
	double rho;         /* that the rate may differ by on top where there is no evidence */
	struct stop *stops; /* owned */
	uint32_t n_stops;
};

/* Prepares a map whose knots have their host times to be asked. */
int host_map_index(struct host_map *map);

/* Bounds the knots in breaks, which what is beside them does. */
void host_map_fill_breaks(struct host_map *map);
struct aligned host_map_place(const struct host_map *map, int64_t host_ns);
uint32_t host_map_bound(const struct host_map *map, int64_t time_ns);
void host_map_release(struct host_map *map);

/* estimate.c: makes the maps (of each clock, zeroed before) of a closed band. Consumes the band's
 * bounds. */
int estimate_run(struct mesh *mesh, const struct curve *curves, const bool *is_lost,
                 struct host_map *maps, bool *is_one_sided);

/* -- align.c, report.c ------------------------------------------------------------------------- */

struct alignment {
	const struct identity *identity;  /* weak */
	struct alignment_report *reports; /* owned, one of each process that is not left out */
	uint32_t n_reports;
	uint32_t reference;    /* host clock; 0 while there is no process */
	struct host_map *maps; /* owned, of each clock */
	uint32_t *component;   /* owned, of each clock */
	uint32_t *root;        /* owned, of each component */
	uint32_t n_clocks, n_components;
	bool is_assumed; /* evidence needed an assumption: nothing is certified */
	/* owned, by process, up to `n_told`: a file tells its times on the reference's clock, but
	 * not how sure each is; NULL: of none */
	bool *is_told;
	uint32_t n_told;
};

/* Known ranks first, then as they came. */
bool process_is_ranked_before(const struct process *left, const struct process *right);

/* Component of a clock; one that was met after align_run() has none. */
uint32_t alignment_component(const struct alignment *alignment, uint32_t clock);

/* Writes the lines. `graph` and `curves` are NULL where there was no evidence. */
int report_run(struct alignment *alignment, const struct graph *graph, const struct curve *curves,
               const bool *is_one_sided);

#endif
