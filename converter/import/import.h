/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h: files of other tools -> streams of records.
 *
 * A file is one of another tool if it begins as JSON or gzip, or has the name of such. A directory
 * is if such names stand right in it: all these files are read, in order of their names. What
 * cannot be read at all costs the run, but in a directory only that file.
 */
#ifndef FLEXTRACE_IMPORT_IMPORT_H
#define FLEXTRACE_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "gather.h"
#include "import/dialect.h"
#include "import/flex.h"
#include "ledger.h"
#include "pair_report.h"
#include "strings.h"

struct import_options {
	const char *const *paths; /* weak; each import_is_foreign() */
	uint32_t n_paths;
	enum import_dialect dialect; /* of all files; IMPORT_BY_CONTENT: each its own */
	/* Of torch files that tell none, in order; see dialect_check_ranks(). NULL: unknown */
	const char *torch_ranks;
	/* Tells what events were rejected, where and why; NULL = not wanted. */
	void (*warn)(void *context, const char *text);
	/* Takes what became of a rank with files of both Flex and torch. FLEXTRACE_E_MEMORY or 0;
	 * NULL = not wanted. */
	int (*pair)(void *context, const struct pair_report *report);
	void *context;
};

/* Whether a path is for import_run(), and not for the reader of traces. */
bool import_is_foreign(const char *path);

/* Reads all files into `*ret_flex`, owned: flex_next() gives their events. */
int import_open(const struct import_options *options, struct flex **ret_flex,
                struct flextrace_error *error);

/* Reads all files into `set` and `ledger`. FLEXTRACE_E_INPUT: there is no event file. */
int import_run(const struct import_options *options, struct string_pool *strings,
               struct stream_set *set, struct ledger *ledger, struct flextrace_error *error);

#endif
