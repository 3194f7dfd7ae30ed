/* SPDX-License-Identifier: Apache-2.0 */
#include "json_text.h"

#include <stdlib.h>

#include "base/error.h"

static void separate(struct json_text *text)
{
	if (!text->is_first)
		writer_char(&text->writer, ',');
	text->is_first = false;
}

void json_text_open(struct json_text *text, char bracket)
{
	separate(text);
	writer_char(&text->writer, bracket);
	text->is_first = true;
}

void json_text_close(struct json_text *text, char bracket)
{
	writer_char(&text->writer, bracket);
	text->is_first = false;
}

void json_text_key(struct json_text *text, const char *name, size_t n_name)
{
	separate(text);
	writer_json_ours(&text->writer, name, n_name);
	writer_char(&text->writer, ':');
	text->is_first = true;
}

void json_text_member(struct json_text *text, const char *name)
{
	json_text_key(text, name, strlen(name));
}

void json_text_string(struct json_text *text, const char *name, const char *value)
{
	json_text_member(text, name);
	separate(text);
	writer_json_ours(&text->writer, value, strlen(value));
}

void json_text_raw(struct json_text *text, const char *name, const char *value)
{
	json_text_member(text, name);
	separate(text);
	writer_raw(&text->writer, value);
}

void json_text_number(struct json_text *text, const char *name, uint64_t value)
{
	json_text_member(text, name);
	separate(text);
	writer_u64(&text->writer, value);
}

void json_text_clear(struct json_text *text)
{
	text->writer.at = text->writer.buffer;
	text->is_first = true;
}

void json_text_release(struct json_text *text)
{
	free(text->writer.buffer);
	*text = (struct json_text)JSON_TEXT_INIT;
}

int json_text_get(struct json_text *text, const char **ret_bytes, size_t *ret_n_bytes)
{
	writer_char(&text->writer, '\0');
	if (writer_failed(&text->writer))
		return FLEXTRACE_E_MEMORY;
	text->writer.at--;
	*ret_bytes = text->writer.buffer;
	*ret_n_bytes = (size_t)(text->writer.at - text->writer.buffer);
	return FLEXTRACE_OK;
}

int json_text_intern(struct json_text *text, struct string_cache *strings, uint32_t *ret_id)
{
	const char *bytes;
	size_t n_bytes;
	int code = json_text_get(text, &bytes, &n_bytes);

	if (code >= 0)
		code = string_intern(strings, bytes, ret_id);
	json_text_release(text);
	return code;
}
