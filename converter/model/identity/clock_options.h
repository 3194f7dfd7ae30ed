/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_options.h: what a user knows of device clocks that no trace says.
 *
 * Settings hold for all devices; overrides, from a small JSON file, for one device each:
 *
 *   {"devices": [{"uuid": "aiu0-7f", "rho_ppm": 2, "nominal_mhz": 560,
 *                 "latency_floor_ns": [2000, 4000], "max_dispatch_ns": 100000000},
 *                {"device": 1, "latency_floor_ns": 6000}]}
 *
 * A device is named by its uuid, or by the runtime's index of it (in every process then). Where
 * several overrides name one device, the last that has a setting gives it.
 */
#ifndef FLEXTRACE_CLOCK_OPTIONS_H
#define FLEXTRACE_CLOCK_OPTIONS_H

#include "base/error.h"
#include "model/identity/identity.h"

#define DEFAULT_RHO_PPM 10.0

/* Members of 0 are not given. */
struct clock_settings {
	double rho_ppm;     /* how far a counter's rate goes off its mean, either way */
	double nominal_mhz; /* the rate where the evidence leaves it open */
	double nominal_ppm; /* how far the mean rate is off that at most; it is a fact then */
	/* The least time from submit to TS1, and from TS5 to completion; known together. */
	int64_t submit_floor_ns, complete_floor_ns;
	bool has_floors;
	/* The least sum of the two, where only that is known: it proves nothing of either. */
	int64_t round_trip_floor_ns;
	/* An operation starts so soon after its submit, or after the end of the one before it on
	 * its queue; and so soon after its end the host sees that it completed. */
	int64_t max_dispatch_ns;
};

struct clock_override {
	char *uuid; /* owned; NULL: by index */
	uint32_t device;
	struct clock_settings settings;
};

struct calibrate_options {
	struct clock_settings all;
	struct clock_override *overrides; /* owned */
	uint32_t n_overrides;
};
#define CALIBRATE_OPTIONS_INIT                       \
	{                                            \
		.all = {.rho_ppm = DEFAULT_RHO_PPM } \
	}

/* Parses "S,C", two floors, or "R", that of the round trip, in ns. FLEXTRACE_E_USAGE. */
int clock_options_floors(const char *text, struct clock_settings *settings,
                         struct flextrace_error *error);

/* Adds the overrides of a file. FLEXTRACE_E_USAGE: it cannot be read, or says something that is
 * not understood; the message names it and the reason. */
int clock_options_read(struct calibrate_options *options, const char *path,
                       struct flextrace_error *error);
void clock_options_release(struct calibrate_options *options);

/* What holds for a counter: that of its device, else that of all. */
struct clock_settings clock_options_of(const struct calibrate_options *options,
                                       const struct identity *identity, uint32_t counter);

#endif
