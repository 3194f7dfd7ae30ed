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
	CLI_HELP = -1   /* cli_parse() only: help was printed, return CLI_OK */
};

#define CLI_MAX_TABLES 3

struct command {
	const char *name;
	const char *operands; /* "TRACE...", "[-- COMMAND [ARGUMENT...]]"; "" = takes none */
	const char *summary;  /* one line for the list of commands */
	const char *text;     /* paragraph for --help; NULL = the summary says it all */
	const struct option_spec *tables[CLI_MAX_TABLES]; /* up to the first NULL */
	bool stops_at_operand; /* options behind the first operand belong to someone else */
	int (*run)(const struct command *command, int argc, char **argv); /* argv[0] = its name */
};

/*
 * Parses argv against the command's tables into `values`, one struct for each table, in their
 * order. Operands are moved behind the options; stores the index of the first. Returns CLI_OK,
 * CLI_HELP or CLI_USAGE (message printed).
 *
 *	int first, parsed = cli_parse(command, argc, argv, (void *[]){&own, &conversion}, &first);
 *	if (parsed != CLI_OK)
 *		return parsed == CLI_HELP ? CLI_OK : parsed;
 */
int cli_parse(const struct command *command, int argc, char **argv, void *const values[],
              int *ret_first_operand);

/* Prints a command's --help page. */
void cli_help(const struct command *command, FILE *to);

/* Message on stderr: "flextrace: <sentence>". No newline in the format. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What happens, for the curious: printed unless --quiet. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

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

/* True when --quiet was given. */
bool cli_is_quiet(void);

/*
 * Converts traces as `flextrace convert` does, with progress and messages, without printing a
 * summary. `traces` weak. Returns an exit code. For `record`, which converts what it has recorded.
 */
int convert_traces(const char *const *traces, uint32_t n_traces,
                   const struct conversion_options *options, uint32_t n_workers);

#endif
