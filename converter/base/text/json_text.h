/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.h: one small JSON text, written member by member and interned as one string.
 *
 * Appending never fails: a lack of memory is told by json_text_intern(), which releases the text
 * either way. Bytes above 0x7f are passed on as they are.
 */
#ifndef FLEXTRACE_JSON_TEXT_H
#define FLEXTRACE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strings.h"
#include "writer.h"

struct json_text {
	struct writer writer; /* owned: a buffer, and no file */
	bool is_first;        /* no comma before what comes */
};

#define JSON_TEXT_INIT                                 \
	{                                              \
		.writer = {.fd = -1}, .is_first = true \
	}

/* Opens an array or object as an element, closes it. */
void json_text_open(struct json_text *text, char bracket);
void json_text_close(struct json_text *text, char bracket);

/* A member's name; its value is to follow. */
void json_text_member(struct json_text *text, const char *name);
void json_text_key(struct json_text *text, const char *name, size_t n_name);

void json_text_string(struct json_text *text, const char *name, const char *value);
/* A value that is JSON already. */
void json_text_raw(struct json_text *text, const char *name, const char *value);
void json_text_number(struct json_text *text, const char *name, uint64_t value);

/* Begins a text anew, and gives it up. */
void json_text_clear(struct json_text *text);
void json_text_release(struct json_text *text);

/* Stores the text as it is; weak. FLEXTRACE_E_MEMORY or 0. */
int json_text_get(struct json_text *text, const char **ret_bytes, size_t *ret_n_bytes);

/* Stores the id of the text and releases it. FLEXTRACE_E_MEMORY or 0. */
int json_text_intern(struct json_text *text, struct string_cache *strings, uint32_t *ret_id);

#endif
