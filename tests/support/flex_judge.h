/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex_judge.h: rows of events.csv against the truth of a made Flex trace.
 */
#ifndef FLEX_JUDGE_H
#define FLEX_JUDGE_H

#include "flex_fixture.h"
#include "flex_truth.h"

/* Writes the trace to a file of the run's input. */
void flex_add_truth(struct flex_run *run, const struct flex_truth *truth);

/* The control block that a row is of, by its name, rank and stamps. */
const struct flex_op *flex_find_op(const struct flex_truth *truth, const struct csv_table *events,
                                   uint64_t row);

/* The stamp (from 0 on) that a row of this kind begins with. */
int flex_first_stamp(const char *kind);

/* How many control blocks the importer must find: a second event of one phase begins another. */
uint64_t flex_count_blocks(const struct flex_truth *truth);

/* How many events, trips among them, have one of these fates. */
uint64_t flex_count_fates(const struct flex_truth *truth, uint8_t fates);

#endif
