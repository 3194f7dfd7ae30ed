/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_impl.h: what the files of calibrate share.
 *
 * A fit works on one segment of one counter, in numbers relative to its first evidence, so that nothing absolute
 * ever stands in a double:
 *   x       ticks - ticks0
 *   t       host ns - host0
 *   phi     t - ref(x), in 2^-20 ns: how far host time is off the reference, a few straight pieces
 * The band works on phi in integers only. The reference may come from doubles: whatever it is, the band is
 * exact around it.
 */
#ifndef FLEXTRACE_CALIBRATE_IMPL_H
#define FLEXTRACE_CALIBRATE_IMPL_H

#include "calibrate.h"

#define PHI_BITS      20                 /* fraction bits of phi */
#define SLOPE_BITS    40                 /* of a piece's slope */
#define WANDER_BITS   44                 /* of rates of change, and of a map's slopes */
#define PHI_UNBOUNDED (INT64_C(1) << 60) /* as a bound: there is none */

typedef __int128 wide_int; /* exact products of ticks and ns */

/* One straight piece of the reference, from `x` to the next piece. */
struct piece {
	uint64_t x;
	wide_int at;         /* ref(x), 2^-20 ns */
	uint64_t slope;      /* 2^-40 ns per tick */
	uint64_t rise, fall; /* how fast phi may wander in it, 2^-44 ns per tick */
};

struct reference {
	struct piece *pieces; /* owned, at least one, by x */
	uint32_t n_pieces;
};

/* A constraint's place; after the band is closed, the bounds that hold there. */
struct knot {
	uint64_t x;
	int64_t lo, hi; /* phi */
};

/* Hard evidence of one segment. */
struct evidence {
	const struct bracket **brackets; /* weak, by last_ticks */
	uint8_t *is_false;               /* weak, one of each bracket */
	uint32_t n;
	uint64_t ticks0;
	int64_t host0;
};

/* A straight line through the evidence. Slopes in ns per tick. */
struct line {
	double slope, slope_lo,
		slope_hi; /* the steadiest, and the certified range of the mean rate */
	double offset_ns; /* t at x = 0 */
	double margin_ns; /* negative: how far no straight line meets the evidence */
};

/* A place of a finished map; the map is straight from knot to knot. 40 bytes. */
struct map_knot {
	uint64_t ticks;
	int64_t host_ns;
	uint32_t fraction; /* 2^-20 ns */
	uint32_t half_ns;  /* certified half-width here; UINT32_MAX = none */
	uint64_t slope;    /* up to the next knot, 2^-44 ns per tick, rounded down */
	uint64_t grow;     /* how the half-width grows away from a knot, 2^-44 ns per tick */
};

struct clock_map {
	struct map_knot *knots; /* owned, at least one */
	uint32_t n_knots;
	uint64_t slope_before, grow_before; /* in front of the first knot */
	uint32_t tick_ns;  /* a tick's length, rounded up: a stamp stands somewhere in its tick */
	bool is_assumed;   /* the evidence did not fit the assumptions, or is only soft */
	bool is_wandering; /* the assumption was about rho */
	double rho;        /* relative; what the band was made with */
};

struct clocks {
	uint32_t *first_map; /* owned, of each counter; one more than counters */
	uint32_t n_counters;
	struct clock_map *maps; /* owned, by counter and segment */
	uint32_t n_maps;
	struct clock_report *reports; /* owned, one of each map */
};

/* -- line.c: slopes ------------------------------------------------------------------------------- */

/* Guesses the slope by the agreement of pairs at all distances, and how far it may be off (relative). Stores
 * nothing where no two are apart, or do not agree. FLEXTRACE_E_MEMORY or 0. */
int line_guess(const struct evidence *evidence, double *slope, double *ret_slack);

/* Fits the line of largest margin to what is not false. `hint`: the slope where the evidence leaves it open. */
int line_fit(const struct evidence *evidence, double hint, struct line *ret_line);

/* -- reject.c: lies ------------------------------------------------------------------------------- */

/* Marks as false what most of its neighbours contradict, if the slope is off by at most `slack` (relative).
 * Returns how many there are now. */
uint32_t reject_false(struct evidence *evidence, double slope, double slack);

/* -- reference.c ---------------------------------------------------------------------------------- */

/* A reference of one piece along `line`, whose rate wanders by at most `rho`. FLEXTRACE_E_MEMORY or 0. */
int reference_init(struct reference *reference, const struct line *line, double rho);
void reference_release(struct reference *reference);
wide_int reference_at(const struct reference *reference, uint64_t x);

/* -- band.c: bounds ------------------------------------------------------------------------------- */

/* Lists the constraints of all that is not false. `ret_knots` is owned by the caller. */
int band_constrain(const struct evidence *evidence, const struct reference *reference,
                   struct knot **ret_knots, uint32_t *ret_n);

/* Drops constraints until the rest meet; gives up beyond `max_drops`. Returns how many it dropped. */
uint32_t band_drop_conflicts(struct knot *knots, uint32_t n, const struct reference *reference,
                             uint32_t max_drops);

/* Turns constraints into the exact bounds of all maps that meet them. */
void band_close(struct knot *knots, uint32_t n, const struct reference *reference);

/* -- map.c ---------------------------------------------------------------------------------------- */

/* Makes the map along the middle of a closed band (n > 0), leaving out knots it can spare. */
int clock_map_init(struct clock_map *map, const struct knot *knots, uint32_t n,
                   const struct reference *reference, const struct evidence *evidence);
struct placed clock_map_place(const struct clock_map *map, uint64_t ticks);
const struct clock_map *clocks_map(const struct clocks *clocks, uint32_t counter, uint16_t segment);

/* -- fit.c ---------------------------------------------------------------------------------------- */

/* Makes the map of one segment of what is not false; no knots: there is no evidence. `hint` is the slope where
 * the evidence leaves it open. Sorts `evidence`. */
int fit_map(struct evidence *evidence, double hint, double rho, struct clock_map *ret_map);

/* -- report.c ------------------------------------------------------------------------------------- */

/* Judges every operation by the finished maps: one that its own bracket contradicts becomes an outlier. Fills
 * the counts and distributions of the reports. */
int report_judge(struct clocks *clocks, const struct calibrate_options *options,
                 const struct identity *identity, struct table *ops, struct ledger *ledger);

#endif
