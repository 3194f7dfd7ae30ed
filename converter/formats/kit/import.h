/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h: files of other tools -> events.
 *
 * What cannot be read at all costs the run, but in a directory only that file. format.h is for the
 * formats, each_format.h opens files of any of them.
 */
#ifndef FLEXTRACE_IMPORT_IMPORT_H
#define FLEXTRACE_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/kit/dialect.h"
#include "formats/kit/event_item.h"
#include "model/aie_options.h"
#include "model/ledger/ledger.h"
#include "model/ledger/pair_report.h"
#include "base/text/strings.h"
#include "base/text/text_list.h"

struct import_options {
	const char *const *paths; /* weak; each import_is_foreign(), see each_format.h */
	uint32_t n_paths;
	enum import_dialect dialect; /* of all files; IMPORT_BY_CONTENT: each its own */
	/* Of torch files that tell none, in order; see dialect_check_ranks(). NULL: unknown */
	const char *torch_ranks;
	const struct aie_options *aie; /* how AIE traces are read, weak; NULL: the defaults */
	/* Tells what events were rejected, where and why; NULL = not wanted. */
	void (*warn)(void *context, const char *text);
	/* Takes what became of a rank with files of both Flex and torch. FLEXTRACE_E_MEMORY or 0;
	 * NULL = not wanted. */
	int (*pair)(void *context, const struct pair_report *report);
	void *context;
};

#define IMPORT_HOST "imported" /* nobody tells where files of other tools were made */

/* Whose events these are. */
struct import_stream {
	uint8_t uuid[16];        /* of its trace */
	uint64_t instance;       /* of the stream in it */
	int64_t clock_offset_ns; /* clock value + this = ns since the Unix epoch */
	bool is_given;           /* another tool placed its times: we promise nothing of them */
	/* Owned: "<tool> <path>", what origins of its events name by number. */
	struct text_list files;
};

/* What was wrong with a file: how many of its events, and where and why the first. */
struct faults {
	uint64_t n, first_place;
	const char *first; /* static */
};

struct import_format;

/* Files that are read: the head of the state of each format, see format.h. */
struct import {
	const struct import_format *format;
	const struct import_options *options; /* weak, until it is open */
	struct import_stream *streams;        /* owned; each file that was read is of one of them */
	uint32_t n_streams;
	uint32_t n_files;            /* of the paths, see import_each_file() */
	struct ledger ledger;        /* what was lost: all of it behind the last event */
	struct string_pool *strings; /* owned */
	struct string_cache cache;   /* of them */
	struct spool *events;        /* owned */
	struct item_texts texts;     /* owned: of the event that was taken out last */
	struct faults faults;        /* of the file that is read */
};

void import_close(struct import *import); /* NULL is allowed */

/* Stores the next event: the definitions of all streams, then all else in order of time. 1: there
 * is one, 0: the end, FLEXTRACE_E_MEMORY or FLEXTRACE_E_OUTPUT. Texts are weak: until the next
 * call. */
int import_next(struct import *import, uint32_t *ret_stream, struct event *ret_event);

#endif
