/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imports.h: files of other tools -> streams of records, as decode makes them of recordings.
 */
#ifndef FLEXTRACE_IMPORTS_H
#define FLEXTRACE_IMPORTS_H

#include "formats/all/each_format.h"
#include "model/streams.h"

/* Reads all files into `set` and `ledger`. FLEXTRACE_E_INPUT: there is no event file. */
int import_run(const struct import_options *options, struct string_pool *strings,
               struct stream_set *set, struct ledger *ledger, struct flextrace_error *error);

#endif
