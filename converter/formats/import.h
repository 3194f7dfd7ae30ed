/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h: files of other tools -> events.
 *
 * What cannot be read at all costs the run, but in a directory only that file. The formats stand in
 * format.h.
 */
#ifndef FLEXTRACE_IMPORT_IMPORT_H
#define FLEXTRACE_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/kit/dialect.h"
#include "model/ledger/ledger.h"
#include "model/ledger/pair_report.h"
#include "base/text/strings.h"

struct import_options {
	const char *const *paths; /* weak; each import_is_foreign() */
	uint32_t n_paths;
	enum import_dialect dialect; /* of all files; IMPORT_BY_CONTENT: each its own */
	/* Of torch files that tell none, in order; see dialect_check_ranks(). NULL: unknown */
	const char *torch_ranks;
	/* Of AIE traces: the rate of their cycles (0: 1.25), and how near two starts of a kernel
	 * are of which one is told twice, as a part of the median kernel (0: 0.25). */
	double clock_ghz, duplicate_gap;
	/* Tells what events were rejected, where and why; NULL = not wanted. */
	void (*warn)(void *context, const char *text);
	/* Takes what became of a rank with files of both Flex and torch. FLEXTRACE_E_MEMORY or 0;
	 * NULL = not wanted. */
	int (*pair)(void *context, const struct pair_report *report);
	void *context;
};

/* Whose events these are. */
struct import_stream {
	uint8_t uuid[16];        /* of its trace */
	uint64_t instance;       /* of the stream in it */
	const char *host;        /* weak */
	int64_t clock_offset_ns; /* clock value + this = ns since the Unix epoch */
};

/* Whether a path is for import_each(), and not for the reader of traces: 1, 0, or
 * FLEXTRACE_E_MEMORY. */
int import_is_foreign(const char *path);

/* Whose a path is, by content; IMPORT_BY_CONTENT: nobody's that we know, or no memory. */
enum import_dialect import_dialect_of(const char *path);

struct import_format;

struct import { /* read it; see format.h */
	const struct import_format *format;
	void *reader; /* owned */
};

/* Opens files of one format. FLEXTRACE_E_INPUT: there is no event, or nothing can be read. */
int import_open(struct import *import, const struct import_options *options,
                struct flextrace_error *error);
void import_close(struct import *import);

/* Explains what import_format.next() returned. Returns `code`. */
int import_explain(int code, struct flextrace_error *error);

/* Reads an import to its end; a negative code of it, or of import_format.next(), ends all. */
typedef int import_visit(void *context, const struct import *import);

/* Opens all files, those of one format at once, and visits what was opened. FLEXTRACE_E_INPUT:
 * there is no event file. */
int import_each(const struct import_options *options, import_visit *visit, void *context,
                struct flextrace_error *error);

#endif
