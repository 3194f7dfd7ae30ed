/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_checker.h: says what is wrong with a CSV file, independently of the code that writes it.
 *
 * The columns of a file and their types are those that docs/formats.md promises in the section of
 * the file's name; the reader of RFC 4180 is its own.
 */
#ifndef FLEXTRACE_TESTS_CSV_CHECKER_H
#define FLEXTRACE_TESTS_CSV_CHECKER_H

#include <stddef.h>
#include <stdio.h>

/* Checks the `n` bytes of file `name` against `formats` (the text of docs/formats.md) and writes
 * one line per violation to `out`. Returns their number. */
unsigned long csv_check(const char *name, const char *text, size_t n, const char *formats,
                        FILE *out);

#endif
