/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h: the one table of kinds: row kind -> label in CSV and text, category in trace.json.
 *
 * Labels and categories are part of the output contract: docs/formats.md.
 */
#ifndef FLEXTRACE_KINDS_H
#define FLEXTRACE_KINDS_H

#include "base/text/json_value.h"
#include "model/model.h"

/* Texts stand in it whole, so that writers of many rows copy them without a call. */
struct row_kind {
	char label[48];              /* "Exec" */
	char category[24];           /* Kineto's where it has one: "kernel" */
	uint8_t n_label, n_category; /* bytes */
	bool is_usual;               /* the one that its category means by itself */
};

/* `kind`: enum flextrace_runtime_kind or enum host_kind. A kind that a newer tracer recorded is
 * "Unknown". */
const struct row_kind *kind_of_host(uint8_t kind);

/* `kind`: enum device_row_kind. */
const struct row_kind *kind_of_device(uint8_t kind);

/* Their labels. */
const char *host_label(uint8_t kind);
const char *device_label(uint8_t kind);

/* "certified", "assumed", "outlier", "unmatched" or "given". */
const char *time_status_name(uint8_t status);

/* "alloc", "free" or "resize". */
const char *memory_op_name(uint8_t op);

/* What an instant was: "instant", "annotation", "mark". */
const char *instant_kind_name(uint8_t record_class);

/* Finds what a text names among the first `n` that one of these functions names; `n`: none. */
uint8_t word_find(const char *(*name_of)(uint8_t), uint8_t n, const struct trace_text *text);

#endif
