/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.h: which tool files are of, by name, and which ranks they are said to be of.
 */
#ifndef FLEXTRACE_IMPORT_DIALECT_H
#define FLEXTRACE_IMPORT_DIALECT_H

#include <stdint.h>

#include "base/error.h"
#include "formats/kit/formats.h"

enum import_dialect {
	IMPORT_BY_CONTENT, /* find out */
	IMPORT_FLEX,       /* IBM Flex: stamps in the attributes, no categories */
	IMPORT_TORCH,      /* the torch profiler (Kineto): categories, top-level members */
#define IMPORT_ENUMERATOR(reader, dialect, name) IMPORT_##dialect,
	IMPORT_FORMATS(IMPORT_ENUMERATOR)
#undef IMPORT_ENUMERATOR
};

/* The dialect of a name, "flex", "torch", ...; NULL is IMPORT_BY_CONTENT. FLEXTRACE_E_USAGE. */
int dialect_of_name(const char *name, enum import_dialect *ret_dialect,
                    struct flextrace_error *error);

/* Whether a text is ranks, apart by commas; NULL is. FLEXTRACE_E_USAGE. */
int dialect_check_ranks(const char *text, struct flextrace_error *error);

/* Takes the first rank off such a text; -1: there is none. */
int32_t dialect_next_rank(const char **text);

#endif
