/* SPDX-License-Identifier: Apache-2.0 */
#include "json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void append(struct json_text *text, const char *bytes, size_t n)
{
	if (text->n_bytes + n + 1 > text->n_allocated) {
		size_t larger = 2 * (text->n_bytes + n + 1) + 64;
		char *moved = realloc(text->bytes, larger);

		if (!moved) {
			text->has_failed = true;
			return;
		}
		text->bytes = moved;
		text->n_allocated = larger;
	}
	memcpy(text->bytes + text->n_bytes, bytes, n);
	text->n_bytes += n;
	text->bytes[text->n_bytes] = '\0';
}

static void append_escaped(struct json_text *text, unsigned char byte)
{
	static const char letters[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	char escape[8];

	for (size_t i = 0; i + 1 < sizeof(letters); i += 2) {
		if ((unsigned char)letters[i] == byte) {
			append(text, (char[]){'\\', letters[i + 1]}, 2);
			return;
		}
	}
	snprintf(escape, sizeof(escape), "\\u%04x", byte);
	append(text, escape, 6);
}

/* A NUL of the text itself is C0 80, as importers store it. */
static bool is_nul(const char *value)
{
	return value[0] == '\xc0' && value[1] == '\x80';
}

static bool is_plain(const char *value)
{
	return (unsigned char)*value >= 0x20 && *value != '"' && *value != '\\' && !is_nul(value);
}

static void append_string(struct json_text *text, const char *value)
{
	append(text, "\"", 1);
	while (*value) {
		size_t n = 0;

		while (is_plain(value + n))
			n++;
		append(text, value, n);
		value += n;
		if (is_nul(value)) {
			append_escaped(text, '\0');
			value += 2;
		} else if (*value) {
			append_escaped(text, (unsigned char)*value++);
		}
	}
	append(text, "\"", 1);
}

static void separate(struct json_text *text)
{
	if (!text->is_first)
		append(text, ",", 1);
	text->is_first = false;
}

void json_text_open(struct json_text *text, char bracket)
{
	separate(text);
	append(text, &bracket, 1);
	text->is_first = true;
}

void json_text_close(struct json_text *text, char bracket)
{
	append(text, &bracket, 1);
	text->is_first = false;
}

void json_text_member(struct json_text *text, const char *name)
{
	separate(text);
	append_string(text, name);
	append(text, ":", 1);
	text->is_first = true;
}

void json_text_string(struct json_text *text, const char *name, const char *value)
{
	json_text_member(text, name);
	separate(text);
	append_string(text, value);
}

void json_text_raw(struct json_text *text, const char *name, const char *value)
{
	json_text_member(text, name);
	separate(text);
	append(text, value, strlen(value));
}

void json_text_number(struct json_text *text, const char *name, uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	json_text_member(text, name);
	separate(text);
	append(text, digits, (size_t)n);
}

int json_text_get(const struct json_text *text, const char **ret_bytes, size_t *ret_n_bytes)
{
	*ret_bytes = text->bytes;
	*ret_n_bytes = text->n_bytes;
	return text->has_failed ? FLEXTRACE_E_MEMORY : FLEXTRACE_OK;
}

int json_text_intern(struct json_text *text, struct string_cache *strings, uint32_t *ret_id)
{
	int code = FLEXTRACE_E_MEMORY;

	if (!text->has_failed)
		code = string_intern(strings, text->bytes, ret_id);
	free(text->bytes);
	*text = (struct json_text)JSON_TEXT_INIT;
	return code;
}
