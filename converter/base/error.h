/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h: the one error convention of the converter, the analysis and the command.
 *
 * - A function returns 0 or a positive count when it went well, a negative `enum flextrace_status`
 *   when not.
 * - A function that can explain takes `struct flextrace_error *` last; NULL = not wanted.
 * - Bad input is not an error of the run: it costs the bad record and is counted in the ledger.
 * - Bad callers are asserts.
 */
#ifndef FLEXTRACE_ERROR_H
#define FLEXTRACE_ERROR_H

enum flextrace_status {
	FLEXTRACE_OK = 0,
	FLEXTRACE_E_MEMORY = -1, /* an allocation failed */
	FLEXTRACE_E_USAGE = -2,  /* an option or parameter is unknown or out of range */
	FLEXTRACE_E_INPUT = -3,  /* the input cannot be read at all */
	FLEXTRACE_E_OUTPUT = -4, /* an output file cannot be written */
	FLEXTRACE_E_SYSTEM = -5 /* the system refused something else (a thread, a pipe, a daemon) */
};

struct flextrace_error {
	int code;          /* enum flextrace_status */
	char message[640]; /* one English sentence, `: name=value` behind it; no newline */
};

/* Stores code and message (cut to fit) where `error` is given, and returns `code`. */
int error_set(struct flextrace_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* FLEXTRACE_E_MEMORY. */
int error_memory(struct flextrace_error *error);

/* Appends a name to the list that a message ends in, which begins behind `=` or a blank. */
void error_list(struct flextrace_error *error, const char *name);

/* Returns from the calling function when `expression` is negative. */
#define FLEXTRACE_TRY(expression)        \
	do {                             \
		int try_ = (expression); \
		if (try_ < 0)            \
			return try_;     \
	} while (0)

#endif
