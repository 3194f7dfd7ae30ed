/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h: arguments with types, as a program writes them (flextrace/args.h), become a JSON object.
 *
 * Integers beyond 2^53 become strings, as do doubles that JSON has no number for, pointers
 * ("0x7f..") and bytes (hex digits). A value whose end is missing has a "…" at its end, and
 * "left_out" is the number of arguments without room. Both are warned of, and so is a text that is
 * none of ours from where on it is none.
 */
#ifndef FLEXTRACE_DECODE_ARGS_H
#define FLEXTRACE_DECODE_ARGS_H

#include "base/text/json_text.h"
#include "model/ledger/ledger.h"

struct args_reader {
	struct json_text text;        /* owned; reused */
	struct string_cache *strings; /* weak */
	struct ledger *ledger;        /* weak */
};

/* Stores the string of the object, or 0 where a text has no argument. FLEXTRACE_E_MEMORY or 0. */
int args_intern(struct args_reader *reader, const char *text, uint32_t *ret_id);

#endif
