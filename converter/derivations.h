/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derivations.h: what a conversion makes besides the rows of what was recorded, by name, so that a
 * profile can do without it: each table of the analyses, the arrows, the page of a report, each
 * counter that we compute.
 *
 * Nothing of this is a record: what is off is not made, and not counted as left out.
 */
#ifndef FLEXTRACE_DERIVATIONS_H
#define FLEXTRACE_DERIVATIONS_H

#include "base/error.h"
#include "options.h"

#define MAX_DERIVATIONS 64

enum derivation_state {
	DERIVATION_USUAL, /* made, but for what is made only where it is asked for */
	DERIVATION_OFF,
	DERIVATION_ASKED, /* made whatever was read, a table also without a row */
};

struct derivations {
	uint8_t states[MAX_DERIVATIONS]; /* by derivation_name(): enum derivation_state */
};

/* The name of the i-th one; NULL behind the last. */
const char *derivation_name(uint32_t i);

/* Reads lists of names, separated by commas, the texts of `options`: what it goes without, and of
 * its profile what is off and not asked for with `with`. FLEXTRACE_E_USAGE: an unknown name. */
int derivations_read(struct derivations *derivations, const struct conversion_options *options,
                     struct flextrace_error *error);

/* Of an unknown name, and where `derivations` is NULL: DERIVATION_USUAL. */
enum derivation_state derivation_state(const struct derivations *derivations, const char *name);

#endif
