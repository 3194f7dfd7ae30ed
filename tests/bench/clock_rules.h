/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_rules.h: how other tools place device stamps on the host's clock, on the same data.
 *
 * Each rule is given more than its tools have: the counter's true mean rate, where it needs a
 * nominal one, and the true cycles and resets, where it says nothing about wraps.
 */
#ifndef BENCH_CLOCK_RULES_H
#define BENCH_CLOCK_RULES_H

#include "clock_truth.h"

struct placing {         /* what a rule makes of a trace; five stamps an operation */
	double *time_ns; /* owned, after the origin */
	uint64_t *ticks; /* owned */
	bool *is_placed; /* owned, one an operation */
};

struct clock_rule {
	const char *name;
	/* `hz`: of the counter, as the rule is told */
	void (*place)(const struct clock_truth *truth, double hz, struct placing *placing);
};

extern const struct clock_rule clock_rules[];
extern const uint32_t n_clock_rules;

/* The rule whose p99 flextrace must beat. */
#define CLOCK_RULE_OWN_END 5

struct score {
	double placed, wrong;          /* shares of operations */
	double outside;                /* honest operations out of their bracket, share */
	double inverted;               /* stamps in front of one that came before, share */
	double p50_us, p99_us, max_us; /* of true stamps */
};

void placing_init(struct placing *placing, const struct clock_truth *truth);
void placing_release(struct placing *placing);
void placing_score(const struct placing *placing, const struct clock_truth *truth,
                   struct score *ret_score);

/* The counter's mean rate up to its first reset. */
double true_hz(const struct clock_truth *truth);

#endif
