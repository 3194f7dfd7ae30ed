/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h: what all commands of `flextrace` share: the command table, options, messages, exit codes.
 *
 * A command is one file `cli/<command>.c` that defines `const struct command <command>_command`,
 * listed in main.c. Its options are tables of converter/options.h over plain structs; a command
 * that converts appends conversion_option_table as a second table. --help (-h) and --quiet (-q)
 * belong to every command.
 *
 * - Results go to stdout, everything else to stderr; only the functions below print messages.
 * - Colour only on a terminal without NO_COLOR; progress only on a terminal without --quiet.
 */
#ifndef FLEXTRACE_CLI_H
#define FLEXTRACE_CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "options.h"

enum cli_exit {
	CLI_OK = 0,
	CLI_USAGE = 1,  /* wrong usage */
	CLI_INPUT = 2,  /* the input cannot be read at all, or the system refused what was asked */
	CLI_LOSS = 3,   /* converted, but more was lost than --fail-on-loss allows */
	CLI_OUTPUT = 4, /* output cannot be written */
	CLI_SLOWER = 5, /* compared, and something is slower than --fail-if-slower allows */
	CLI_HELP = -1   /* inside cli_run(): help was printed, as was asked for */
};

#define CLI_MAX_TABLES 5

struct command_table {
	const struct option_spec *specs; /* NULL: no more tables */
	size_t offset;                   /* of what they fill, in the command's options */
	const char *group;               /* what they are about; NULL: this command alone */
	const char *const *names;        /* of those that it takes, ended by NULL; NULL: all */
};

struct command {
	const char *name;
	const char *operands; /* "TRACE...", "[-- COMMAND [ARGUMENT...]]"; "" = takes none */
	const char *summary;  /* one line for the list of commands */
	const char *text;     /* paragraph for --help; NULL = the summary says it all */
	struct command_table tables[CLI_MAX_TABLES + 1];
	size_t options_bytes;  /* of the struct with the command's options */
	const void *defaults;  /* such a struct; NULL = zeros */
	bool stops_at_operand; /* options behind the first operand belong to someone else */
	int (*run)(void *options, int n_operands, char **operands); /* `operands` end with NULL */
};

/* Parses argv (argv[0] = the command's name) against the command's tables, over its defaults, and
 * runs it. Returns an exit code. */
int cli_run(const struct command *command, int argc, char **argv);

/* The option of all commands that convert; `type` has a member `n_workers`, 0 = one per core. */
#define CLI_WORKERS_OPTION(type, most)                                 \
	OPTION("workers", 'j', NUMBER, offsetof(type, n_workers), "N", \
	       "Threads that read streams", .min = 1, .max = most, .fallback = "one per core")

/* Prints a command's --help page, and its options for scripts, one a line, with tabs in between:
 * group, letter, name, what it takes, argument, default, least, most, phrase. */
void cli_help(const struct command *command, FILE *to);
void cli_list_options(const struct command *command, FILE *to);

/* Message on stderr: "flextrace: <sentence>". No newline in the format. A note says what happens,
 * for the curious: printed unless --quiet. cli_refuse() returns the exit code. */
#define cli_error(...)        ((void)cli_say(CLI_ERROR, 0, __VA_ARGS__))
#define cli_warn(...)         ((void)cli_say(CLI_WARNING, 0, __VA_ARGS__))
#define cli_note(...)         ((void)cli_say(CLI_NOTE, 0, __VA_ARGS__))
#define cli_refuse(code, ...) cli_say(CLI_ERROR, code, __VA_ARGS__)

enum cli_message { CLI_ERROR, CLI_WARNING, CLI_NOTE };
int cli_say(enum cli_message kind, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A warning of a library that hands out texts. */
void cli_pass_warning(void *context, const char *text);

/* Prints a part of a line in which there may be texts of an input: control characters, also ends of
 * lines, become '?'. So do the messages above. */
void cli_print(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

void cli_vprint(FILE *to, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/* Prints an error of a library and returns the exit code of its status. */
int cli_fail(const struct flextrace_error *error);

/* Replaces the progress line on a terminal; nothing elsewhere. cli_progress_end() removes it.
 * Messages above remove it by themselves. */
void cli_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_progress_end(void);

/* True if `to` wants colour; escape sequence of a style, "" where it does not. */
enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_RED, CLI_YELLOW, CLI_GREEN };
const char *cli_style(FILE *to, enum cli_style style);

/* A line in bold. */
void cli_heading(FILE *to, const char *text);

/* How wide a terminal is; 0: it is none. */
uint32_t cli_columns(int fd);

/* Whether --quiet was given. */
bool cli_is_quiet(void);
void cli_set_quiet(bool is_quiet);

/*
 * Converts traces as `flextrace convert` does, with progress and messages, without printing a
 * summary. `traces` weak. Returns an exit code. For `record`, which converts what it has recorded.
 */
int convert_traces(const char *const *traces, uint32_t n_traces,
                   const struct conversion_options *options, uint32_t n_workers);

#endif
