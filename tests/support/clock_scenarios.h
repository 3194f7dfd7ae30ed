/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_scenarios.h: the scenarios by which unwrap and calibrate are judged.
 *
 * A scenario is a device and a host over some time: a FIFO queue that a runtime keeps at most
 * SCENARIO_DEPTH deep, latencies with floors and long tails, a counter whose rate wanders, and
 * what goes wrong with records and clocks. Everything happens in a true time that neither side
 * sees; the host's clock and the counter are functions of it. The truth a scenario makes (struct
 * clock_truth) is in host time. The same seed makes the same trace.
 *
 * A latency is: floor + lognormal (median 5 us, sigma 0.8) + with `slow_share` an exponential of
 * 50 us + with `tail_share` a Pareto (1.3) from 0.5 ms to 30 ms.
 */
#ifndef CLOCK_SCENARIOS_H
#define CLOCK_SCENARIOS_H

#include "clock_truth.h"

#define SCENARIO_DEPTH 8

struct clock_scenario { /* what is 0 is as usual, or does not happen */
	const char *name;
	double duration_s;
	double ops_hz;       /* while busy; 100 as usual */
	double busy_s;       /* mean time between gaps */
	double gap_s[2];     /* least and greatest length of a gap */
	double hz;           /* of the counter */
	double floors_us[2]; /* least time from submit to TS1, from TS5 to completion */
	double jitter_us;    /* median of the lognormal part; 5 as usual */
	double slow_share;   /* see above */
	double tail_share;   /* see above */
	double thermal_ppm;  /* amplitude of a sine over thermal_s */
	double thermal_s;
	double walk_ppm;        /* standard deviation of the rate's random walk after 1 s */
	double step_ppm;        /* the rate steps up by this and, later, back */
	double step_rest;       /* share of the duration between the two steps */
	uint32_t n_resets;      /* the counter starts again near 0 */
	double false_share;     /* brackets of something else, up to 3 ms off */
	double garbage_share;   /* random stamps */
	uint32_t shuffle;       /* records come in any order within so many */
	double loss_share;      /* records lost one by one */
	double burst_s[2];      /* every so often, all records of so long are lost */
	double duplicate_share; /* records that come twice */
	double long_share;      /* operations of one to three wraps */
	int long_phase;         /* of which phase; 0 = as usual, the compute phase, 1 = TS1..TS2 */
	double wait_share;      /* operations submitted one to three wraps before they start */
	double slip_share;    /* operations one of whose stamps is before the one in front of it */
	uint32_t slip_ticks;  /* by at most so many */
	double heartbeat_s;   /* a short operation on its own queue every so often */
	double poll_s;        /* completions are only seen every so often */
	double suspend_s;     /* the host's clock stands still, the device runs on */
	double host_slew_ppm; /* of the host's clock, for a tenth of the duration */
	double host_step_s;   /* of the host's clock */
	double exec_us;       /* mean time of the compute phase; 1000 as usual */
	bool is_even;         /* all compute phases take nearly as long */
	/* The rate is another one every so often, by so much, for so long. */
	uint32_t n_excursions;
	double excursion_ppm, excursion_s[2];
	bool is_ramp;            /* it goes there in steps of a thousandth of the excursion */
	double stop_us;          /* the counter stands still where an excursion begins and ends */
	double idle_share;       /* of its rate that the counter has in gaps */
	double job_s[2];         /* work comes in jobs, so far from begin to begin */
	uint32_t job_ops;        /* operations of a job */
	bool restarts, is_gated; /* the counter starts anew, or runs only, with each job */
	/* As often as `n_excursions`: */
	uint32_t off_run[2];  /* records in a row have the brackets of their next ... */
	bool is_off_back;     /* ... or of the one before */
	double host_jump_us;  /* the host's clock jumps, to and fro */
	double host_bend_ppm; /* it is slewed, for `excursion_s` */
	double late_share;    /* submissions stamped 2 to 8 us late */
};

/* S0 .. S12 of the reference, then those that are about damage and the host's clock. */
extern const struct clock_scenario clock_scenarios[];
extern const uint32_t n_clock_scenarios;

/* Returns a scenario by its name, or NULL. */
const struct clock_scenario *clock_scenario_find(const char *name);

/* Makes the truth; release it by clock_truth_release(). */
void clock_scenario_make(const struct clock_scenario *scenario, uint64_t seed,
                         struct clock_truth *truth);

#endif
