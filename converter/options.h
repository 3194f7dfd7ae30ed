/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h: named options, described once: command line, sink parameters, --help and man pages.
 *
 * A table of `struct option_spec` says what an option is called, what it takes and which member of
 * a plain struct it fills. The command parses text against it, the plug-in typed parameters, a
 * profile JSON. `flextrace options` prints it for man pages and completion, --help for people,
 * run.json what was chosen.
 *
 * - Tables end with a NULL name. Values are set over defaults that the owner of the struct put
 *   there.
 * - Texts are weak: whoever set them keeps them alive while the values are used.
 * - Lists own copies of theirs: options_release().
 */
#ifndef FLEXTRACE_OPTIONS_H
#define FLEXTRACE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text/text_list.h"
#include "model/identity/clock_options.h"
#include "model/ledger/pair_report.h"
#include "model/user_options.h"

enum option_type {                /* fills a member of type ... */
	           OPTION_FLAG,   /* bool: --name or --name=yes, --name=no */
	           OPTION_TEXT,   /* const char *: --name TEXT, not empty */
	           OPTION_WORD,   /* const char *: --name ("auto") or --name=TEXT */
	           OPTION_LIST,   /* struct text_list: --name TEXT, any number of times */
	           OPTION_NUMBER, /* int64_t: --name N, within [min, max] */
	           OPTION_REAL,   /* double: --name X, within [min, max] */
	           OPTION_LIMIT,  /* struct option_limit: --name or --name=N, N >= 0 */
	           OPTION_SIZE,   /* uint64_t, bytes: --name 1048576, 1024K, 1M, ... */
	           OPTION_BUDGET  /* struct option_limit, bytes: --name or --name=1M */
};

struct option_limit {
	bool is_set;
	uint64_t value; /* 0 where none was given */
};

struct option_spec {
	const char *name; /* "output-dir": --output-dir, parameter output-dir; NULL ends a table */
	char letter;      /* 'o' for -o; 0 = none */
	enum option_type type;
	size_t offset;        /* of the member that it fills */
	const char *metavar;  /* "DIR"; NULL for flags */
	const char *help;     /* one phrase, capital letter, no full stop, no default */
	double min, max;      /* NUMBER and REAL; both 0 = any that is not negative */
	const char *fallback; /* what holds without it, in words; NULL: the default value */
	/* In run.json an option stands whose value is not its default: */
	bool is_untold;      /* not this one, which changes nothing in the output */
	bool is_always_told; /* this one in any case */
};
#define OPTION(name_, letter_, type_, offset_, metavar_, help_, ...)                         \
	{                                                                                    \
		.name = name_, .letter = letter_, .type = OPTION_##type_, .offset = offset_, \
		.metavar = metavar_, .help = help_, __VA_ARGS__                              \
	}

/* What was given for an option: a text of a command line, or a value that has a type. */
struct option_value {
	enum { GIVEN_OTHER, GIVEN_FLAG, GIVEN_NUMBER, GIVEN_REAL, GIVEN_TEXT } kind;
	union { /* nothing of OTHER, which no option takes */
		bool flag;
		int64_t number;
		double real;
		const char *text;
	};
};
#define OPTION_FLAG_VALUE(value)   ((struct option_value){GIVEN_FLAG, .flag = (value)})
#define OPTION_NUMBER_VALUE(value) ((struct option_value){GIVEN_NUMBER, .number = (value)})
#define OPTION_REAL_VALUE(value)   ((struct option_value){GIVEN_REAL, .real = (value)})
#define OPTION_TEXT_VALUE(value)   ((struct option_value){GIVEN_TEXT, .text = (value)})

/* Sets an option, adds to a list. FLEXTRACE_E_USAGE where it takes no such value. Whole numbers
 * serve REAL and LIMIT too, booleans FLAG and LIMIT, texts SIZE and BUDGET. */
int option_set(const struct option_spec *spec, struct option_value value, void *values,
               struct flextrace_error *error);

/* The same from the text of a command line, whatever its type; NULL: none was given. */
int option_parse(const struct option_spec *spec, const char *text, void *values,
                 struct flextrace_error *error);

/* The option of that name in a table, or in one of several (ended by NULL); or NULL. */
const struct option_spec *option_find(const struct option_spec *table, const char *name);
const struct option_spec *option_find_any(const struct option_spec *const *tables,
                                          const char *name);

/* "a switch", "a whole number", ...: what an option takes. */
const char *option_type_phrase(enum option_type type);

/* What an option is set to: "yes", "10", "a,b"; "" = none. Owned; NULL: no memory. */
char *option_text(const struct option_spec *spec, const void *values);
char *option_join(const struct text_list *list);

/* Frees the lists of a table's values. */
void options_release(const struct option_spec *table, void *values);

/* -- what every conversion takes: command and plug-in alike ------------------------------------ */

/* What the pipeline takes as it was given. */
struct plain_options {
	const char *session;              /* keep only processes of this recording; NULL = all */
	const char *dialect;              /* whose names kinds have; NULL = as programs chose */
	struct text_list names;           /* firmware images with marker names */
	struct option_limit fail_on_loss; /* report more losses as failure */
	struct emitted *emitted;          /* what processes counted; NULL: nobody knows; weak */
};

struct conversion_options {
	const char *output_dir; /* required */
	const char *formats;
	bool gzip;
	const char *archive; /* see emit_read_archive(); NULL = none */
	struct clock_settings clock;
	const char *latency_floor_ns;
	const char *clocks; /* a file: see clock_options.h */
	const char *freq;   /* "SOC[:CORE]" in MHz */
	struct align_options align;
	struct plain_options plain;
	struct findings_options findings;
	struct select_options select;
	struct view_options view;
	const char *profile;            /* a file, see profile.h */
	struct text_list with, without; /* names, see derivations.h */
	bool summarize_comm;
	uint64_t memory_limit_bytes; /* 0 = none */
	int64_t report_rows;
	/* of import_option_table */
	const char *as;          /* dialect of imported files, NULL = by content */
	const char *torch_ranks; /* of imported files */
	/* no options of a table */
	uint32_t n_threads;             /* files written at a time, 0 = one */
	uint64_t given;                 /* options that the caller gave: see profile.h */
	struct text_list profile_off;   /* derivations */
	struct cJSON *profile_document; /* owned */
	/* What import_run() told of files of two tools. */
	const struct pair_report *pairs;
	uint32_t n_pairs;
	void (*warn)(void *context,
	             const char *text); /* told before files are written; NULL: nobody */
};
/* The defaults of all options: help, man pages, run.json and the plug-in take them from here. */
#define CONVERSION_OPTIONS_INIT                                                     \
	{                                                                           \
		.formats = "chrome,csv,report", .report_rows = 2000,                \
		.clock = {.rho_ppm = DEFAULT_RHO_PPM}, .align = ALIGN_OPTIONS_INIT, \
		.findings = {.aie = AIE_OPTIONS_INIT}, .view = {                    \
			.overlap = "lanes",                                         \
			.time_unit = "ms"                                           \
		}                                                                   \
	}

/* All of struct conversion_options: what every conversion takes, what those take that read files of
 * other tools and of AMD's AI engines, and what convert and the sink take besides. */
extern const struct option_spec conversion_option_table[];
extern const struct option_spec import_option_table[];
extern const struct option_spec aie_import_option_table[];
extern const struct option_spec aie_option_table[];

#endif
