/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h: the one table of kinds: row kind -> label in CSV and text, category in trace.json, in
 * the words of each dialect.
 *
 * Labels and categories are part of the output contract: docs/formats.md. A label means the same
 * kind in every dialect that has it, so that it is found again without one.
 */
#ifndef FLEXTRACE_KINDS_H
#define FLEXTRACE_KINDS_H

#include <string.h>

#include "base/text/json_value.h"
#include "model/model.h"

/* Whose words. */
enum dialect { DIALECT_AIU, DIALECT_NEUTRAL, DIALECT_CUDA, DIALECT_TT_METAL, DIALECT_COUNT };

/* "" is of 0.1, which knew the AIU's only; "kineto" is "cuda". DIALECT_COUNT: there is none. */
enum dialect dialect_find(const char *name);
const char *dialect_name(uint8_t dialect);

/* Texts stand in it whole, so that writers of many rows copy them without a call. */
struct row_kind {
	char label[48];              /* "Exec" */
	char category[24];           /* Kineto's where it has one: "kernel" */
	uint8_t n_label, n_category; /* bytes */
	bool is_usual;               /* the one that its category means by itself */
};

/* `kind`: enum flextrace_runtime_kind or enum host_kind. One of a newer tracer is "Unknown" and its
 * number, in any dialect. */
const struct row_kind *kind_of_host(uint8_t dialect, uint8_t kind);

/* `kind`: enum device_row_kind. */
const struct row_kind *kind_of_device(uint8_t dialect, uint8_t kind);

/* What a call of the AIU is in words of no vendor; another kind is what it is. */
uint8_t kind_meaning(uint8_t kind);

/* Whether it is a call of a runtime, which its dialect's category says. */
bool kind_is_call(uint8_t kind);

/* A kind of a dialect as one number, and its label. */
#define KIND_KEY(dialect, kind) ((uint32_t)(dialect) << 8 | (uint8_t)(kind))
#define KIND_NONE               UINT32_MAX
const char *kind_host_label(uint32_t key);
const char *kind_device_label(uint32_t key);

/* Finds a kind by its label, or the usual one of a category. Of DIALECT_COUNT where several
 * dialects have it; KIND_NONE: none has. */
uint32_t kind_find_host(const char *text, size_t n, bool is_category);
uint32_t kind_find_device(const char *text, size_t n, bool is_category);

/* The kind of device rows that a table calls so; DEVICE_ROW_KIND_COUNT: none. */
static inline uint8_t kind_read_device(const char *label)
{
	uint32_t found = kind_find_device(label, strlen(label), false);

	return found == KIND_NONE ? DEVICE_ROW_KIND_COUNT : (uint8_t)found;
}

/* "certified", "assumed", "outlier", "unmatched" or "given". */
const char *time_status_name(uint8_t status);

/* "alloc", "free" or "resize". */
const char *memory_op_name(uint8_t op);

/* What an instant was: "instant", "annotation", "mark". */
const char *instant_kind_name(uint8_t record_class);

/* Finds what a text names among the first `n` that one of these functions names; `n`: none. */
uint8_t word_find(const char *(*name_of)(uint8_t), uint8_t n, const struct trace_text *text);

#endif
