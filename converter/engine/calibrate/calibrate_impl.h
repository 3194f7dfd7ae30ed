/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_impl.h: what the files of calibrate share.
 *
 * A fit works on one segment of one counter, in numbers relative to its first evidence, so that
 * nothing absolute ever stands in a double:
 *   x       ticks - ticks0
 *   t       host ns - host0
 *   phi     t - ref(x), in 2^-20 ns: how far host time is off the reference, a few straight pieces
 * The band works on phi in integers only. The reference may come from doubles: whatever it is,
 * the band is exact around it.
 */
#ifndef FLEXTRACE_CALIBRATE_IMPL_H
#define FLEXTRACE_CALIBRATE_IMPL_H

#include "doubts.h"
#include "calibrate.h"

#define PHI_BITS      MAP_FRACTION_BITS /* fraction bits of phi */
#define SLOPE_BITS    40                /* of a piece's slope */
#define WANDER_BITS   MAP_SLOPE_BITS    /* of rates of change, and of a map's slopes */
#define MIN_SLOPE     0.095             /* ns per tick: 10.5 GHz */
#define USUAL_SLOPE   0.125             /* 8 GHz: the least one that is neither seen nor stated */
#define PROOF_NEAR    0.02              /* that a rate may be off the nominal one without proof */
#define SLOPE_OPEN    0.01              /* a slope that is known no better is not known */
#define MAX_SLOPE     1e7               /* 100 Hz */
#define MIN_BLOCK     16u               /* brackets */
#define MAX_BLOCKS    65536u
#define PHI_UNBOUNDED (INT64_C(1) << 60) /* as a bound: there is none */
#define MAX_NS        (INT64_C(3) << 61) /* beyond, either way, is no host time */

typedef __int128 wide_int; /* exact products of ticks and ns */

/* One straight piece of the reference, from `x` to the next piece. */
struct piece {
	uint64_t x;
	wide_int at;         /* ref(x), 2^-20 ns */
	uint64_t slope;      /* 2^-40 ns per tick */
	uint64_t rise, fall; /* how fast phi may wander in it, 2^-44 ns per tick */
	bool is_bridge;      /* no one slope fits it: between two that do */
	bool is_free;        /* the clock may have jumped in it */
	bool is_loose;       /* its rate is not used: near a break */
};

/* A piece's slope, and how fast phi may wander in it, in ns per tick. */
static inline double slope_ns(uint64_t slope)
{
	return (double)slope * (1.0 / (UINT64_C(1) << SLOPE_BITS));
}

static inline double wander_ns(uint64_t wander)
{
	return (double)wander * (1.0 / (UINT64_C(1) << WANDER_BITS));
}

/* What one clock without a jump explains. Slopes in 2^-44 ns per tick, of its ends. */
struct era {
	uint64_t reach_from, reach_to; /* x between which it may have held */
	uint64_t core_from, core_to;   /* x between which no other reaches, if there is any */
	uint64_t own_from, own_to;     /* the part that it is known from, which others may reach */
	uint64_t least[2], most[2]; /* how fast host time goes, in front of the core and behind */
	bool is_jump[2];            /* what it begins and ends with */
};

struct reference {
	struct piece *pieces; /* owned, at least one, by x */
	uint32_t n_pieces;
	struct era *eras;  /* owned, by x; one or none: there is no jump */
	struct era *uncut; /* owned; between steps of the rate, as long as jumps divide them more */
	struct piece *steady; /* owned; NULL, or the pieces as long as some of `pieces` are loose */
	uint32_t n_eras, n_uncut, n_steady;
};

/* A constraint's place; after the band is closed, the bounds that hold there. */
struct knot {
	uint64_t x;
	int64_t lo, hi; /* phi */
};

/* What a bracket says to its map: host time is not before `before` at `first`, and not after
 * `after` at `last`. */
struct claim {
	uint64_t first, last;  /* x */
	int64_t before, after; /* t; INT64_MIN, INT64_MAX: not known */
};

/* Evidence of one segment. */
struct evidence {
	struct claim *claims; /* weak, by `last` */
	uint8_t *is_false;    /* weak, one of each claim */
	uint32_t n;
	uint64_t ticks0;
	int64_t host0;
};

/* A straight line through the evidence. Slopes in ns per tick. */
struct line {
	double slope;              /* the steadiest */
	double slope_lo, slope_hi; /* the slopes that the evidence leaves, if it was one */
	double offset_ns;          /* t at x = 0 */
	double margin_ns;          /* negative: how far no straight line meets the evidence */
};

struct hull_point {
	int64_t x, t;
};

/* Hulls of a block of evidence; they end where the next block's begin. */
struct hull_block {
	int64_t x; /* where it begins */
	uint32_t lower, upper;
};

/* Hulls of so many neighbours together: where they stand. */
struct hull_span {
	uint32_t lower, upper; /* the first point */
	uint32_t n_lower, n_upper;
};

struct hulls {
	struct hull_point *lower, *upper; /* owned, of blocks.h; lower points have t negated */
	struct hull_block *blocks;        /* owned, one more than there are */
	struct hull_span *spans; /* owned: of all SPAN blocks, then of all SPAN of these, ... */
	uint32_t n_lower, n_upper, n_blocks, n_spans;
};

/* Least and greatest, in ns per tick. */
struct slopes {
	double lo, hi;
};

/* Whether a rate is believed. */
enum proof {
	PROOF_NOT_NEEDED, /* or there is one */
	PROOF_IS_MISSING, /* it is far from the nominal one, and nothing near proves it */
	PROOF_RESTARTS,   /* likewise, or none is stated; the counter begins anew with each job */
	PROOF_IS_GATED    /* likewise; it runs only while jobs do */
};

/* A finished map is straight from knot to knot. */
struct clock_map {
	struct map_knot *knots; /* owned, of blocks.h, at least one */
	uint32_t n_knots;
	uint64_t slope_before;      /* in front of the first knot */
	double grow_before;         /* ns per tick */
	bool is_doubtful_before;    /* nothing in front of the first knot is certified */
	struct map_quality quality; /* of all stamps; see map_knot.is_doubtful */
	bool is_wandering;          /* the assumption was about rho */
	bool is_contradicted;       /* the evidence was not of one steady clock */
	enum proof proof;           /* of the rate */
	bool is_after_gap;          /* begins behind a gap that no rate bridges, not with a reset */
	bool is_one_sided;          /* nothing bounds it from one of the two sides */
	double rho;                 /* relative; what the band was made with */
	double slope_lo, slope_hi;  /* ns per tick: all slopes that the evidence leaves anywhere */
	uint32_t n_steps;           /* of the rate */
	uint32_t n_false;           /* of the evidence: turned away */
};

/* What is known of a clock besides its evidence. */
struct prior {
	double hint;               /* ns per tick: where the evidence leaves the slope open */
	double nominal;            /* ns per tick; 0: nobody said */
	double rho;                /* relative */
	double slope_lo, slope_hi; /* what clocks of equal rate leave; 0: there are none */
	double told_lo, told_hi;   /* of the mean slope, by the user's word; 0: nothing */
	bool is_restless;          /* it begins anew all the time */
};

struct clocks {
	uint32_t *first_map; /* owned, of each counter; one more than counters */
	uint32_t n_counters;
	struct clock_map *maps; /* owned, by counter and segment */
	uint32_t n_maps;
	struct clock_report *reports; /* owned, one of each map */
	uint64_t *refused;            /* owned: numbers of operations, in order */
	uint32_t n_refused;
};

/*
 * A rate that stays within rho of some mean can be twice rho beside a rate that a straight line
 * through its evidence has: the line's may be as far off the mean on one side as the rate is on
 * the other. These are the least and the greatest slope then.
 */
static inline double slope_least(double slope, double rho)
{
	return slope * ((1 - rho) / (1 + rho));
}

static inline double slope_most(double slope, double rho)
{
	return slope * ((1 + rho) / (1 - rho));
}

/* -- floors.c -------------------------------------------------------------------------------- */

/* Takes stated floors off all brackets, and counts what is too short. FLEXTRACE_E_MEMORY or 0. */
int floors_take(const struct calibrate_input *input);

/* -- slope.c --------------------------------------------------------------------------------- */

/* Guesses the mean slope by the agreement of pairs at all distances, each of which may be rho off
 * it, and how far it may be off (relative). Stores nothing where no two are apart, or do not agree.
 * FLEXTRACE_E_MEMORY or 0. */
int slope_guess(const struct evidence *evidence, double rho, double *slope, double *ret_slack);

/* Bounds the mean slope by brackets at both ends, whatever the rate did between, if the means of
 * their own times are within rho of it. With a rho of 0: of the evidence's time, unless these
 * differ. */
void slope_bound(const struct evidence *evidence, double rho, double *ret_lo, double *ret_hi);

/*
 * Narrows the mean slopes from `*lo` to `*hi` to those around which a clock within rho meets all
 * knots, which are not closed and stand around a straight reference of `slope`. A path meets
 * difference constraints if it meets each pair of them, so that is what all pairs leave of
 *   (lo[j] - hi[i]) / dx <= mean * (1 + rho),   mean * (1 - rho) <= (hi[j] - lo[i]) / dx.
 * No mean is left where `*lo` > `*hi`.
 */
void slope_means(const struct knot *knots, uint32_t n, double slope, double rho, double *lo,
                 double *hi);

/* -- proof.c --------------------------------------------------------------------------------- */

/* Whether a rate needs a proof by brackets near each other, because the slopes that the evidence
 * leaves are not the stated one, or for what the stamps look like, and has none. `nominal` 0: none
 * is stated. */
enum proof proof_of(const struct evidence *evidence, double nominal, const struct slopes *slopes);

/* -- line.c ---------------------------------------------------------------------------------- */

/* Reduces the evidence to the hulls of its blocks. FLEXTRACE_E_MEMORY or 0; release in any case. */
int hulls_init(struct hulls *hulls, const struct evidence *evidence);
void hulls_release(struct hulls *hulls);

/* The largest span that begins with block `from` and does not end behind `to`; stores how many
 * blocks it has. All of [from, to) in a few of them. */
struct hull_span hulls_span(const struct hulls *hulls, uint32_t from, uint32_t to, uint32_t *ret_n);

/* Fits the line of largest margin to the blocks [from, to). `line` has the bounds of its slope,
 * and the slope to take where the evidence leaves it open; bounds are narrowed where one line
 * meets all. */
int line_fit(const struct hulls *hulls, uint32_t from, uint32_t to, struct line *line);

/* -- parts.c --------------------------------------------------------------------------------- */

/* A range of blocks that one rate explains, if it does. */
struct part {
	uint32_t from, to;
	uint32_t core_from, core_to; /* what its slopes are known from */
	struct line line;
	double least_margin_ns;        /* of what was joined to it */
	uint64_t reach_from, reach_to; /* x between which its rate may have held */
	bool has_rate;                 /* a line fits */
	bool has_core;                 /* something of it no other part reaches */
	bool is_before_step;           /* to the next part that has a rate */
};

struct parts {
	const struct hulls *hulls; /* weak */
	const struct line *whole;  /* weak */
	double rho;
	struct part *parts; /* owned, at least one, all blocks in order */
	uint32_t n;
};

/* Divides all blocks into parts. FLEXTRACE_E_MEMORY or 0; release in any case. */
int parts_init(struct parts *parts, const struct hulls *hulls, const struct line *whole,
               double rho);
void parts_release(struct parts *parts);

/* Fits the line of a range of blocks, which may be a part. */
int part_fit(const struct parts *parts, uint32_t from, uint32_t to, struct line *line);

/* The nearest other part in a direction that has a rate, or NULL. */
const struct part *part_near(const struct parts *parts, uint32_t at, int direction);

/* Where a block begins; UINT64_MAX behind the last. */
uint64_t block_x(const struct hulls *hulls, uint32_t block);

/* -- reach.c --------------------------------------------------------------------------------- */

/* Finds how far the rate of each part may have held, and narrows the parts to what no other rate
 * can have touched. FLEXTRACE_E_MEMORY or 0. */
int parts_reach(struct parts *parts);

/* -- reference.c ----------------------------------------------------------------------------- */

/* Follows the rate in as many pieces as it needs; `whole` is the line of all. FLEXTRACE_E_MEMORY
 * or 0. */
int reference_init(struct reference *reference, const struct hulls *hulls, const struct line *whole,
                   double rho);

/* One piece through the origin, whose slope may be off by `slack` (relative). */
int reference_init_straight(struct reference *reference, double slope, double slack);
void reference_release(struct reference *reference);

/* Divides the eras where the clock jumped, too. FLEXTRACE_E_MEMORY or 0. */
int reference_cut(struct reference *reference, const struct doubts *jumps);

/* The pieces alone by which the rate is told, weak: none of them is loose. */
static inline struct reference reference_told(const struct reference *reference)
{
	if (reference->steady)
		return (struct reference){.pieces = reference->steady,
		                          .n_pieces = reference->n_steady};
	return (struct reference){.pieces = reference->pieces, .n_pieces = reference->n_pieces};
}

/* Whether the rate steps, or slopes are farther apart than rho. */
bool reference_bends(const struct reference *reference, double rho);

/* How often the rate steps. */
uint32_t reference_steps(const struct reference *reference);

const struct piece *reference_piece(const struct reference *reference, uint64_t x);
wide_int reference_at(const struct reference *reference, uint64_t x);

/* ref(x) in that piece. */
static inline wide_int piece_value(const struct piece *piece, uint64_t x)
{
	return piece->at + (((wide_int)(x - piece->x) * piece->slope) >> (SLOPE_BITS - PHI_BITS));
}

/* Walks along the pieces. Begins with its reference alone. */
struct walk {
	const struct reference *reference;
	const struct piece *piece;
	uint64_t from, to; /* where that piece begins and ends */
};

/* Finds the piece that `x` lies in. */
void walk_find(struct walk *walk, uint64_t x);

/* Steps to the piece that `x` lies in. */
static inline const struct piece *walk_to(struct walk *walk, uint64_t x)
{
	if (x < walk->from || x >= walk->to)
		walk_find(walk, x);
	return walk->piece;
}

/* -- reject.c: false brackets that bend lines ------------------------------------------------ */

/* Marks as false what most of its neighbours contradict, if the rate wanders no more than the
 * reference says. Returns how many more there are. */
uint32_t reject_false(struct evidence *evidence, const struct reference *reference);

/* -- band.c: bounds -------------------------------------------------------------------------- */

/* Lists the constraints of all evidence, or of all that is not false. `ret_knots`, of blocks.h, is
 * owned by the caller. */
int band_constrain(const struct evidence *evidence, const struct reference *reference,
                   bool takes_false, struct knot **ret_knots, uint32_t *ret_n);

/* Turns constraints into the exact bounds of all maps that meet them. Returns how narrow these
 * leave it; negative: they contradict each other. */
int64_t band_close(struct knot *knots, uint32_t n, const struct reference *reference);

/* The same of knots [from, to) alone, whatever is free. */
int64_t band_close_range(struct knot *knots, uint32_t from, uint32_t to,
                         const struct reference *reference);

/* Moves each knot's middle to that of the other band's knot at its place, as far as its bounds let
 * it, and widens these as that needs. Each has one there. */
void band_centre(struct knot *knots, uint32_t n, const struct knot *middles);

/* -- claims.c -------------------------------------------------------------------------------- */

/* Evidence of a conversion, grouped: that of map m stands at [first[m], first[m + 1]). */
struct groups {
	bool is_second;       /* only estimates of maps that have reads of the counter, too */
	struct claim *claims; /* owned, of blocks.h */
	uint8_t *is_false;    /* owned, of blocks.h */
	uint64_t n;
	uint64_t *first;       /* owned, one more than maps */
	uint64_t *n_soft;      /* owned, one of each map: estimates */
	uint8_t *has_hard;     /* owned, one of each map */
	uint8_t *has_ops;      /* owned, one of each map: hard evidence of operations */
	uint8_t *is_after_gap; /* owned, one of each map */
};

/* Uses up the brackets. FLEXTRACE_E_MEMORY or 0; release both in any case. */
int groups_init(struct groups *groups, struct groups *second, const struct clocks *clocks,
                struct table *brackets);
void groups_release(struct groups *groups);

/* What of a map's evidence can be used, in absolute numbers yet. Once for each map. */
struct evidence groups_evidence(const struct groups *groups, uint32_t map);

/* -- soft.c ---------------------------------------------------------------------------------- */

/* Widens the estimates of maps whose operations have nothing else by as much as they scatter, and
 * makes those that stand apart unusable. `brackets` by counter, in order of time. */
void soft_widen(const struct clocks *clocks, const uint8_t *has_ops, struct table *brackets);

/* -- returns.c ------------------------------------------------------------------------------- */

/* Assumes segments between two that are on one axis: no reset made them. */
void returns_doubt(struct clocks *clocks, const struct identity *identity);

/* -- overlaps.c ------------------------------------------------------------------------------ */

/* Doubts stamps beside borders of segments that would be shown in the wrong order. */
void overlaps_doubt(struct clocks *clocks);

/* -- choose.c -------------------------------------------------------------------------------- */

/* Puts the map of the soft evidence in the place of `map`, which the hard evidence made, unless
 * that contradicts it; then counts the estimates that are off. */
int choose_soft(struct evidence *hard, struct evidence *soft, const struct prior *prior,
                struct clock_map *map, uint64_t *n_off);

/* -- guide.c --------------------------------------------------------------------------------- */

/* Puts a map of reads on a likelier path: along a shape that contradicts them (no knots: there is
 * none), if that needs only be moved, else along a rate as steady as they leave it. */
int guide_fit(struct evidence *hard, const struct prior *prior, const struct clock_map *shape,
              struct clock_map *map);

/* -- fit.c ----------------------------------------------------------------------------------- */

/* One try at a band: knots of constraints that meet, and how many were turned away for it. */
struct attempt {
	struct reference reference;
	struct knot *knots;   /* owned, of blocks.h */
	struct knot *middles; /* owned, of blocks.h; NULL, or those of a steady slope in the band */
	struct knot *strict;  /* owned, of blocks.h; NULL, or the band that all evidence leaves */
	uint32_t *spares;     /* owned: knots that follow from others, but are far from them */
	uint32_t n_knots, n_strict, n_false, n_spares, n_spares_allocated;
	int64_t width;        /* where it is narrowest, once it is closed */
	int64_t room;         /* that a true clock leaves everywhere; 0: nobody knows */
	int64_t bracket_room; /* that brackets leave by themselves */
	int64_t shares_room;  /* 0, or that shares of it leave: see band_shares_room() */
	struct doubts doubts; /* owned */
	struct doubts exact;  /* owned; where bounds are not those of the band: no knot is spared */
	double rho;
	bool is_closed;   /* the knots are bounds already */
	bool has_reads;   /* some evidence is of one stamp */
	enum proof proof; /* of the rate */
};

/* Closes the band around what of one segment's evidence is not false; no knots: there is none.
 * Sorts `evidence`, and has no use for its claims any more. FLEXTRACE_E_MEMORY or 0; release in any
 * case. */
int fit_band(struct evidence *evidence, const struct prior *prior, struct attempt *ret_band);
void fit_release(struct attempt *band);

/* Makes the map along a band, and uses up its knots; none where there are none. */
int fit_map(struct attempt *band, const struct evidence *evidence, const struct prior *prior,
            struct clock_map *ret_map);

/* -- mean.c ---------------------------------------------------------------------------------- */

/*
 * A rate that wanders within rho of one mean can look like one of several steps, or of several
 * slopes. Where all evidence meets around one mean, it is one. The mean of the evidence's time lies
 * where its two ends leave it, and the clock's own mean within rho of that.
 *
 * Closes the band around that mean. 1: all evidence meets in it, 0: not, and `attempt` is as it
 * was; FLEXTRACE_E_MEMORY.
 */
int mean_try(const struct evidence *evidence, struct attempt *attempt);

/* -- track.c: lies and jumps ----------------------------------------------------------------- */

/* Goes through the constraints of an attempt, drops those that are lies, counts in how many places
 * there are some, and lists where the clock jumped: from the first constraint that the era in front
 * leaves no room to the first of the next era. Doubts where neither is proven. FLEXTRACE_E_MEMORY
 * or 0. */
int track_run(struct attempt *attempt, struct doubts *jumps, uint32_t *ret_n_lies);

/* -- loose.c --------------------------------------------------------------------------------- */

/* Has the rate wander more near where eras of an attempt meet. FLEXTRACE_E_MEMORY or 0. */
int reference_loosen(struct attempt *attempt);

/* How much the rate may wander there if `x` is near a break, relative. */
double reference_looseness(const struct reference *reference, uint64_t x);

/* Takes that back. */
void reference_tighten(struct reference *reference);

/* -- cores.c --------------------------------------------------------------------------------- */

/* The first knot at `x` or behind it. */
uint32_t knots_find(const struct attempt *attempt, uint64_t x);

/* How many knots the core of an era has, and the first of them; 0: too few to tell where it is. */
uint32_t era_core(const struct attempt *attempt, const struct era *era, uint32_t *ret_from);

/* Finds the cores of eras between steps of the rate, as long as no jump divides them. */
void eras_find_cores(struct attempt *attempt);

/* -- sides.c --------------------------------------------------------------------------------- */

/* What evidence up to a knot leaves there, of what it left at the knot in front, or behind. */
struct knot side_next(struct walk *walk, const struct knot *left, const struct knot *at,
                      bool is_forward);

/* Widens the bounds at knots [from, to] of an era, near its ends, by what evidence on either side
 * leaves alone. `room` is what evidence usually leaves, as phi. */
void sides_join(const struct attempt *attempt, const struct era *era, uint32_t from, uint32_t to,
                int64_t room, struct knot *bounds);

/* -- eras.c ---------------------------------------------------------------------------------- */

/* Closes a band, era by era where there are some: what the clock leaves before it jumped and what
 * it leaves behind are never joined, and where either can have held both can. Doubts what no era
 * explains. 1: closed, 0: the constraints contradict each other; or FLEXTRACE_E_MEMORY. */
int eras_close(struct attempt *attempt);

/* -- bridge.c: what one mean rate leaves ----------------------------------------------------- */

/* How far apart two rates in a piece can be, in ns per tick. */
double piece_spread(const struct piece *piece, double rho);

/* Leaves of a closed band only the knots from which all others follow. Returns how many. */
uint32_t band_thin(struct attempt *band);

/* Narrows a thinned band to what is left where the rate of each piece stays within rho of one mean.
 * FLEXTRACE_E_MEMORY or 0. */
int band_bridge(struct attempt *band);

/* -- follow.c -------------------------------------------------------------------------------- */

#define N_WIDTHS 1024u

/* Some knots of a closed band, before it was thinned: how wide it was. */
struct widths {
	struct knot knots[N_WIDTHS];
	uint32_t n;
};

void widths_sample(struct widths *widths, const struct attempt *band);

/* Moves the middles of a narrowed band to a path, phi in us at each knot, as far as that is worth
 * wider bounds. FLEXTRACE_E_MEMORY or 0. */
int band_follow(struct attempt *band, const struct widths *widths, const double *path);

static inline double phi_us(int64_t phi)
{
	return (double)phi * (1.0 / (1 << PHI_BITS)) * 1e-3;
}

/* -- smooth.c -------------------------------------------------------------------------------- */

/* Moves the middles of a narrowed band to where host time is likeliest, and widens its bounds as
 * that needs. FLEXTRACE_E_MEMORY or 0. */
int band_smooth(struct attempt *band, const struct widths *widths);

/* -- map.c ----------------------------------------------------------------------------------- */

/* Makes the map along the middle of a thinned band that has knots, which are used up: they can only
 * be freed. */
int clock_map_init(struct clock_map *map, struct attempt *band, const struct evidence *evidence);

/* Places a stamp: looks near `*knot` first, and stores where it found it. */
struct placed clock_map_place_near(const struct clock_map *map, uint64_t ticks, uint32_t *knot);

const struct clock_map *clocks_map(const struct clocks *clocks, uint32_t counter, uint16_t segment);

/* -- report.c -------------------------------------------------------------------------------- */

/* Whether the evidence leaves the rate of a map open. */
bool map_has_open_rate(const struct clock_map *map);

/* Judges every operation by the finished maps: one that its own bracket contradicts becomes an
 * outlier. Fills the counts and distributions of the reports. */
int report_judge(struct clocks *clocks, const struct calibrate_input *input);

#endif
