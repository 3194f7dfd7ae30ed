/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_impl.h: what the files of select share.
 *
 *   criteria.c      what was asked for, from its texts
 *   attribute.c     what a row says of itself, as text, and whether a condition holds
 *   select.c        one pass over all rows in order of time
 *   select_books.c  whose rows are all gone
 */
#ifndef FLEXTRACE_SELECT_IMPL_H
#define FLEXTRACE_SELECT_IMPL_H

#include <regex.h>

#include "model/ledger/inputs.h"
#include "base/map.h"
#include "model/timeline/any_row.h"
#include "select.h"

/* -- criteria.c ----------------------------------------------------------------------------- */

struct number_range {
	uint64_t first, last;
};

struct number_list {
	struct number_range *ranges; /* owned */
	uint32_t n;                  /* 0 = all */
};

/* A moment that the caller named. */
struct moment {
	int64_t ns;
	bool is_set;
	bool is_relative; /* to the first row */
};

struct condition {
	regex_t regex; /* owned; none where `is_global` */
	uint32_t attribute;
	bool is_drop;
	bool has_matched; /* some row */
	bool is_global;   /* matches host rows that stand for a whole run; other rows pass */
	uint8_t *known;   /* owned: per string, whether it matches; 0 = not looked at */
	uint32_t n_known_allocated; /* of them */
};

struct criteria {
	struct number_list ranks, jobs;
	struct moment from, to;       /* half open */
	struct condition *conditions; /* owned */
	uint32_t n_conditions;
	uint64_t skip, count; /* UINT64_MAX = all */
};

/* criteria_release() in any case. */
int criteria_read(struct criteria *criteria, const struct select_options *options,
                  struct flextrace_error *error);
void criteria_release(struct criteria *criteria);
bool number_list_has(const struct number_list *list, uint64_t number);

/* -- attribute.c ---------------------------------------------------------------------------- */

/* FLEXTRACE_NONE: there is no such attribute. */
uint32_t attribute_find(const char *name, size_t length);

/* Appends the names of all attributes, see error_list(). */
void attribute_list(struct flextrace_error *error);

/* Whether the attribute is one of the row's process. */
bool attribute_is_of_process(uint32_t attribute);

/* Whether it is `source`, which of a mistake matches nothing. */
bool attribute_is_source(uint32_t attribute);

/* A row, and what its attributes are found in. Weak, all. */
struct asked_row {
	struct any_row of; /* first: columns read it */
	const struct event_classes *classes;
	const struct kernel_costs *costs;
	const struct inputs *inputs;
	char *room; /* SOURCE_BYTES: of a text that stands nowhere else */
};

/* 1: the row passes; 0: it does not; FLEXTRACE_E_MEMORY. A row without the attribute has an empty
 * one. */
int condition_holds(struct condition *condition, const struct timeline *timeline,
                    const struct asked_row *row);

/* -- select_books.c ------------------------------------------------------------------------- */

struct select_books {
	uint8_t *ops;       /* owned: per control block, which of the two below */
	struct map batches; /* (stream, index) of marker batches -> the same */
};

enum { BOOK_KEPT = 1, BOOK_LEFT_OUT = 2 };

int select_books_init(struct select_books *books, const struct timeline *timeline);
void select_books_release(struct select_books *books);

/* Notes what became of a row; a record of one row is booked at once. */
int select_books_note(struct select_books *books, struct ledger *ledger, const struct any_row *row,
                      const struct timeline *timeline, bool is_kept);

/* Books the records of several rows. */
int select_books_close(struct select_books *books, struct ledger *ledger,
                       const struct timeline *timeline);

#endif
