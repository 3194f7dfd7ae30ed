/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h: two sides of conversions, each of one run or several, compared by name.
 *
 * Reads kernels.csv, runtime.csv, iterations.csv and run.json of each run. Ranks are taken
 * together, and so are all iterations. Where both sides have several runs, a value that is repeated
 * is the mean of a run, and what differs between runs is in the interval; else it is the time of a
 * call.
 */
#ifndef FLEXTRACE_DIFF_H
#define FLEXTRACE_DIFF_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "base/text/strings.h"
#include "findings/statistics/difference.h"

enum diff_table { DIFF_RUN, DIFF_DEVICE, DIFF_HOST, N_DIFF_TABLES };
enum diff_side { DIFF_A, DIFF_B };

enum diff_verdict {
	DIFF_SLOWER,
	DIFF_FASTER,
	DIFF_UNCHANGED,
	DIFF_UNKNOWN, /* not repeated: nobody knows how it scatters */
	DIFF_ADDED,
	DIFF_REMOVED,
	N_DIFF_VERDICTS
};

struct diff_row {
	const char *of, *kind, *name;  /* weak: as are those of struct diff */
	double a_calls, b_calls;       /* all four: of a run, the mean of several */
	double a_total_ns, b_total_ns; /* 0 where a side has none */
	double difference_ns;          /* of the totals */
	double a_mean_ns, b_mean_ns;   /* of a call; NAN: none */
	double change_ns, error_ns;    /* of these, and half of its interval; NAN: not known */
	double change_percent;         /* of a_mean_ns */
	double error_percent;          /* likewise */
	double share_percent;          /* of the larger total, of all of its table; 100 of a run */
	double a_repeats, b_repeats;   /* what the interval rests on: calls, or runs */
	const char *verdict;           /* of `is` */
	enum diff_table table;
	enum diff_verdict is;
};

struct diff {
	/* Set before the first run: */
	const char *rank;          /* weak: only this one; NULL = all */
	double min_change_percent; /* a smaller difference is none */
	/* Found: */
	uint32_t n_runs[2];
	uint32_t n_rows;
	struct diff_row *rows; /* owned: by table, then the largest difference of totals */
	uint32_t n_verdicts[N_DIFF_VERDICTS];
	struct cJSON *runs[2]; /* owned: lists of runs: `path`, and what run.json tells of each */
	/* Inside: */
	struct string_pool *strings; /* owned, all */
	struct string_cache cache;
	struct map index; /* (table and kind, name) -> entry */
	struct diff_entry *entries;
	uint32_t n_entries;
};

/* Zeroes but for the options. FLEXTRACE_E_MEMORY; release in any case. */
int diff_init(struct diff *diff, struct flextrace_error *error);

/* Adds a run to a side, by the name under which it was asked for. FLEXTRACE_E_INPUT: `dir` has no
 * conversion with tables. */
int diff_add(struct diff *diff, enum diff_side side, const char *name, const char *dir,
             struct flextrace_error *error);

/* Compares. FLEXTRACE_E_MEMORY. */
int diff_finish(struct diff *diff, struct flextrace_error *error);
void diff_release(struct diff *diff);

/* Whether an interval comes from the runs of each side, not from their calls. */
static inline bool diff_is_of_runs(const struct diff *diff)
{
	return diff->n_runs[DIFF_A] > 1 && diff->n_runs[DIFF_B] > 1;
}

/* Of each table, for reading. */
extern const char *const diff_titles[N_DIFF_TABLES];

/* Prints `limit` rows of each table (0 = all) in columns, and how many there are of each verdict;
 * all of them as CSV; or as JSON, with the names of the runs of each side. FLEXTRACE_E_MEMORY or
 * 0. */
void diff_print(const struct diff *diff, uint64_t limit, FILE *to);
int diff_print_csv(const struct diff *diff, FILE *to);
int diff_print_json(const struct diff *diff, FILE *to);

/* Writes a page as report.html is one, with the first rows of each table. FLEXTRACE_E_OUTPUT,
 * FLEXTRACE_E_MEMORY or 0. */
int diff_write_page(const struct diff *diff, const char *path, struct flextrace_error *error);

#endif
