/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_filter.h: pairing.h as a filter between the readers of Flex and torch and what they write.
 */
#ifndef FLEXTRACE_IMPORT_PAIR_FILTER_H
#define FLEXTRACE_IMPORT_PAIR_FILTER_H

#include "formats/chrome-json/event_reader.h"
#include "pairing.h"

struct pair_filter {
	struct event_filter filter; /* first */
	struct pairing *pairing;    /* weak */
};

/* In a survey the filter only notes what is read; then the pairing is to be solved. */
void pair_filter_init(struct pair_filter *filter, struct pairing *pairing, bool is_survey);

/* Solves it, behind the last file. `epoch_ns`: what the torch files count from. */
int pair_filter_solve(struct pair_filter *filter, const struct event_import *events,
                      int64_t epoch_ns);

/* Behind the last file of the second time: torch files become streams of the traces of their ranks,
 * with the devices of Flex, to be defined with theirs. */
int pair_filter_end(struct event_import *events);

#endif
