/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains.h: control blocks with estimates, and which of them are whole wraps off together.
 *
 *   line.c    all work on one line
 *   bodies.c  what follows each other on the device becomes a body
 *   slots.c   which places bodies can have
 *   chains.c  bodies get their places
 *   open.c    which bodies can as well be elsewhere
 */
#ifndef FLEXTRACE_UNWRAP_CHAINS_H
#define FLEXTRACE_UNWRAP_CHAINS_H

#include <math.h>

#include "trips.h"

#define TRIP_SLACK_NS 100e3 /* that work may be beside a trip: the line is known so well */
#define NEAR_NS       200e3 /* between work that follows each other */
#define OFF_NS        1e6   /* that estimates may be off whole wraps */
#define OFF           1e-4  /* and of the distance */
#define OVER_NS       5e3   /* that work may be over other work */
#define STRETCH       0.02  /* of its length, besides */
#define MAX_WRAPS     3     /* that an epoch is wrong by */
#define NO_LINK       UINT32_MAX

/* A control block that has an estimate. */
struct link {
	struct sample *sample; /* weak */
	double estimate_ns;    /* when it began */
	double told_ns;        /* likewise; once on the line, by its stamps, in that wrap */
	double begin, end;     /* phases: ticks within a wrap */
	double most;           /* ticks that what follows may begin behind it */
	uint32_t next, before; /* on the device, or NO_LINK */
	uint32_t up;           /* one of its body; the root: itself */
	double up_ns;          /* how much more than that one it is to be moved */
	uint32_t body;
	bool is_in_trip;
	bool is_witness; /* of where the line is */
	bool is_crossed; /* with what follows another one */
	bool is_over;    /* estimates put other work of its part there, too */
};

/* One at a time of a wrap. */
struct place {
	double phase;
	uint32_t link;
};

/* For qsort() and array_count_before(): by phase. */
int compare_places(const void *left, const void *right);
bool is_place_before(const void *row, const void *key);

/* Links that are moved together. */
struct body {
	uint32_t first, n;  /* of chains->members */
	double least, most; /* of how much more than the root members are to be moved */
	double shift_ns;    /* of the root, once it is settled */
	uint32_t n_places;  /* it can have, and ... */
	double place_ns;    /* ... the shift to the best one */
	bool is_settled;
	bool is_contested;  /* other work is where it would be */
	bool is_elsewhere;  /* it may be: another place fits as well */
	uint32_t n_doubted; /* members that are far from all trips */
};

/* When a link was, or would be. */
struct slot {
	double begin, end;
	uint32_t link;
};

/* How late the counter's 0 is at a time, whole wraps aside. */
struct knot {
	double at_ns, late_ns;
};

struct body_ends { /* where bodies begin, and end: owned, by phase */
	struct place *begins, *ends;
	uint32_t n_begins, n_ends;
};

struct chains {
	struct axis *axis; /* weak */
	double rate, wrap_ns;
	double off_ns;      /* that the rate may make of the farthest move */
	int64_t base_ns;    /* host time that all times count from */
	struct trips trips; /* owned */
	struct knot *knots; /* owned */
	uint32_t n_knots;
	double tilt, tilt_at_ns;              /* on top of knots: a share, from there on */
	double most;                          /* ticks between links, mostly */
	double near_ns;                       /* between work of one trip */
	bool is_parallel[FLEXTRACE_N_STAMPS]; /* work of this part is done several at a time */
	struct link *links;                   /* owned, by told_ns */
	uint32_t n;
	struct body_ends ends;
	uint32_t *members;   /* owned: links by body */
	struct body *bodies; /* owned */
	uint32_t n_bodies;
	struct slot *slots; /* owned, by begin */
	uint32_t n_slots;
	uint64_t n_mended, n_believed;
};

/* Puts links and trips on one line. FLEXTRACE_E_MEMORY or 0; likewise below. */
int line_make(struct chains *chains);

/* Finds anew where the line is, by witnesses, for what is on it. */
int line_find_again(struct chains *chains);

/* How late the counter's 0 is at a time of the line, whole wraps aside. */
double line_late_ns(const struct chains *chains, double ns);

/* Lists the control blocks of a counter, by time. */
int bodies_list_links(struct chains *chains);

/* Makes bodies of them. */
int bodies_make(struct chains *chains);

/* Makes them anew, without the links of torn bodies that found no place which may be false. Returns
 * whether there are such links. */
bool bodies_split(struct chains *chains);

/* Whether estimates put its members whole wraps apart. */
static inline bool body_is_torn(const struct chains *chains, const struct body *body)
{
	return body->most - body->least > chains->wrap_ns / 2;
}

/* Makes one of a sample, its phases to be filled in. False: it has no estimate that tells its
 * length.
 */
static inline bool link_make(struct sample *sample, struct link *ret_link)
{
	if (sample->kind != SAMPLE_OP || !sample_is_bounded(sample) || sample->is_longer)
		return false;
	*ret_link = (struct link){
		.sample = sample,
		.told_ns = (double)sample->before_ns + UNWRAP_ESTIMATE_SLACK_NS,
		.next = NO_LINK,
		.before = NO_LINK,
	};
	return true;
}

/* Where estimates put a link. An estimated end may be wrong by itself; the stamps are not. */
static inline double link_begin(const struct link *link)
{
	return link->told_ns;
}

static inline double link_end(const struct chains *chains, const struct link *link)
{
	return link->told_ns + (double)link->sample->span / chains->rate;
}

/* Whether a pause is as long as whole wraps, one at least: within `off_ns`, and what a rate tells
 * that is off by a share. */
static inline bool is_whole_wraps(double pause_ns, double wrap_ns, double off_ns, double off)
{
	double wraps = round(pause_ns / wrap_ns);

	return wraps >= 1 && fabs(pause_ns - wraps * wrap_ns) <= off_ns + off * pause_ns;
}

/* How far work may be over what lasts so long: estimates can be stretched. */
static inline double allowance(double begin_ns, double end_ns)
{
	return OVER_NS + STRETCH * (end_ns - begin_ns);
}

/* The part of the device that a link is work of: its first stamp. */
static inline uint8_t link_part(const struct chains *chains, uint32_t link)
{
	return chains->links[link].sample->from;
}

static inline bool link_is_settled(const struct chains *chains, const struct link *link)
{
	return chains->bodies[link->body].is_settled;
}

/* Where a link is if the root of its body is moved by so much. */
static inline struct slot slot_of(const struct chains *chains, uint32_t i, double shift_ns)
{
	const struct link *link = &chains->links[i];
	double ns = shift_ns + link->up_ns;

	return (struct slot){link_begin(link) + ns, link_end(chains, link) + ns, i};
}

void slots_sort(struct chains *chains);

/* The first slot that begins then or later. */
uint32_t slots_first(const struct chains *chains, double ns);

void slots_clear_contests(struct chains *chains);

/* Notes bodies that have work where other bodies have work of that part, by the slots. Counts how
 * much is so, by part. */
void slots_contest(struct chains *chains, uint32_t n_over[FLEXTRACE_N_STAMPS]);

/* Counts the slots that begin together with another one of their part, and last. */
void slots_count_together(const struct chains *chains, uint32_t n_together[FLEXTRACE_N_STAMPS]);

/* Lists where settled work is. */
void slots_list_settled(struct chains *chains);

/* How many ends of a body touch other work or an end of a trip, if it is moved by so much, by the
 * slots. */
uint32_t slots_count_touches(const struct chains *chains, const struct body *body, double shift_ns);

/* Whether a body would begin right behind other work, or end right before some, if it were whole
 * wraps away, or could be of one trip with other work that is in none; by the slots. */
bool slots_meet_elsewhere(const struct chains *chains, const struct body *body);

/* Whether a body fits whole wraps from where it is settled, and touches as much there. */
bool slots_fit(const struct chains *chains, const struct body *body, int wraps, uint32_t n_touches);

/* From the first begin to the last end of a body, if it is moved by so much. */
struct slot body_reach(const struct chains *chains, const struct body *body, double shift_ns);

/* Lists where all work is: where it is settled, or else where estimates put it. */
void slots_list_all(struct chains *chains);

/* Unsettles the bodies that can as well be elsewhere, for good. */
void open_doubt(struct chains *chains);

/* Counts the places that a body can have, the slots being those of settled work. A torn one can be
 * where some of it is told to be. */
void slots_find_places(const struct chains *chains, struct body *body);

#endif
