/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.h: a file as a source of text, plain or gzip by its first bytes.
 *
 * What a damaged gzip stream gives before the damage is read; then the read fails with
 * FLEXTRACE_E_INPUT.
 */
#ifndef FLEXTRACE_IMPORT_TRACE_FILE_H
#define FLEXTRACE_IMPORT_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Where bytes come from: stores up to `n_bytes` and returns how many, 0 at the end, or a negative
 * enum flextrace_status. */
struct trace_source {
	int64_t (*read)(void *context, char *bytes, size_t n_bytes, struct flextrace_error *error);
	void *context; /* weak */
};

struct trace_file;

/* Owned: trace_file_close(). NULL, with `error`: it cannot be read, or no memory. */
struct trace_file *trace_file_open(const char *path, struct flextrace_error *error);

/* The `read` of struct trace_source; `context` is a struct trace_file. */
int64_t trace_file_read(void *context, char *bytes, size_t n_bytes, struct flextrace_error *error);

bool trace_file_is_packed(const struct trace_file *file);

/* NULL is allowed. */
void trace_file_close(struct trace_file *file);

#endif
