/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_checker.h: says what is wrong with a trace.json, independently of the code that writes it.
 *
 * Knows the Trace Event format and the readers' rules only: it shares no code with converter/,
 * parses with cJSON and has a UTF-8 decoder of its own.
 */
#ifndef FLEXTRACE_TESTS_TRACE_CHECKER_H
#define FLEXTRACE_TESTS_TRACE_CHECKER_H

#include <stddef.h>
#include <stdio.h>

/* Checks `n` bytes of JSON and writes one line per violation to `out`. Returns their number. */
unsigned long trace_check(const char *text, size_t n, FILE *out);

#endif
