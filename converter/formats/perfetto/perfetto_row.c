/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of a row in a file of ours. What an importer had told of it stands in front of what
 * flextrace says, which begins with its kind.
 */
#include <string.h>

#include "base/text/json_scan.h"
#include "model/schema.h"
#include "model/words/kinds.h"
#include "perfetto_impl.h"

/* -- members ---------------------------------------------------------------------------------- */

uint64_t perfetto_number(const struct told *told, const char *key, uint64_t other)
{
	uint64_t number;

	return told_find_u64(told, key, &number) ? number : other;
}

int perfetto_copy(struct perfetto *perfetto, const struct trace_value *value, const char **ret_text)
{
	char *copy = strndup(value->text.bytes, value->text.length);
	uint32_t string;
	int code;

	if (!copy)
		return FLEXTRACE_E_MEMORY;
	if (value->kind == TRACE_TEXT)
		copy[json_unescape(copy, value->text.length)] = '\0';
	code = string_intern(&perfetto->import.cache, copy, &string);
	free(copy);
	if (code == FLEXTRACE_OK)
		*ret_text = perfetto_string(perfetto, string);
	return code;
}

int perfetto_member(struct perfetto *perfetto, const struct told *told, const char *key,
                    const char **ret_text)
{
	struct trace_value value;

	*ret_text = "";
	return told_find(told, key, &value) ? perfetto_copy(perfetto, &value, ret_text)
	                                    : FLEXTRACE_OK;
}

static int set(struct perfetto *perfetto, const struct schema_field *field,
               const struct trace_value *value, void *payload)
{
	void *to = (char *)payload + field->offset;
	uint64_t number;

	if (field->type == SCHEMA_STRING)
		return perfetto_copy(perfetto, value, to);
	if (!trace_value_u64(value, &number))
		return FLEXTRACE_OK;
	if (field->type == SCHEMA_U64)
		*(uint64_t *)to = number;
	else if (field->type == SCHEMA_U32)
		*(uint32_t *)to = (uint32_t)number;
	else if (field->type == SCHEMA_I32)
		*(int32_t *)to = number <= INT32_MAX ? (int32_t)number : -1;
	return FLEXTRACE_OK;
}

int perfetto_fill(struct perfetto *perfetto, const struct told *told, enum record_class class,
                  void *payload)
{
	const struct schema_class *schema = schema_of(class);
	struct trace_text rest = told->members, key;
	struct trace_value value;

	memset(payload, 0, schema->payload_bytes);
	for (const struct schema_field *field = schema->fields;
	     field < schema->fields + schema->n_fields; field++) {
		if (field->type == SCHEMA_STRING)
			*(const char **)((char *)payload + field->offset) = "";
		if (field->type == SCHEMA_I32)
			*(int32_t *)((char *)payload + field->offset) = -1;
	}
	while (told_next(&rest, &key, &value)) {
		for (uint32_t i = 0; i < schema->n_fields; i++) {
			if (trace_text_is(&key, schema->fields[i].name))
				FLEXTRACE_TRY(set(perfetto, &schema->fields[i], &value, payload));
		}
	}
	return FLEXTRACE_OK;
}

/* -- rows ------------------------------------------------------------------------------------- */

/* Finds its kind by the label, or as the one that its category means. */
static void find_kind(struct our_row *row, bool is_device)
{
	const struct trace_text *text = row->has_label ? &row->label : &row->all.category;
	const struct row_kind *kind;
	uint32_t found = is_device ? kind_find_device(text->bytes, text->length, !row->has_label)
	                           : kind_find_host(text->bytes, text->length, !row->has_label);

	row->kind = (uint8_t)found;
	row->is_known = found != KIND_NONE;
	if (!row->is_known || !row->has_label)
		return;
	kind = is_device ? kind_of_device(row->dialect, row->kind)
	                 : kind_of_host(row->dialect, row->kind);
	row->has_told |= kind->is_usual || !trace_text_is(&row->all.category, kind->category);
}

/* What an importer told ends where the last `kind` begins, or at the end, if it says that. */
static void split(struct our_row *row)
{
	struct trace_text rest = row->all.members, key, before = rest;
	struct trace_value value;

	row->ours.members = rest;
	while (told_next(&rest, &key, &value)) {
		if (trace_text_is(&key, "kind") && value.kind == TRACE_TEXT) {
			row->label = value.text;
			row->has_label = true;
			row->ours.members = before;
			row->has_told = before.bytes != row->all.members.bytes;
		}
		before = rest;
	}
}

int our_row_read(struct perfetto *perfetto, uint8_t dialect, uint32_t category, const char *members,
                 bool is_device, struct our_row *ret_row)
{
	const char *all;

	*ret_row = (struct our_row){.dialect = dialect};
	FLEXTRACE_TRY(perfetto_tell(perfetto, category, members, &all));
	if (!told_read(all, strlen(all), &ret_row->all))
		return FLEXTRACE_OK;
	split(ret_row);
	find_kind(ret_row, is_device);
	return FLEXTRACE_OK;
}

uint8_t our_row_status(const struct our_row *row)
{
	struct trace_value value;

	return told_find(&row->ours, "status", &value)
	               ? word_find(time_status_name, TIME_GIVEN, &value.text)
	               : TIME_CERTIFIED;
}

int our_row_told(struct perfetto *perfetto, const struct our_row *row, const char **ret_text)
{
	const struct trace_text *category = &row->all.category;
	int n = (int)(row->ours.members.bytes - row->all.members.bytes);
	uint32_t string;
	char *told;
	int code;

	if (asprintf(&told, "{\"cat\":\"%.*s\"%s%.*s}", (int)category->length, category->bytes,
	             n ? "," : "", n, row->all.members.bytes) < 0)
		return FLEXTRACE_E_MEMORY;
	code = string_intern(&perfetto->import.cache, told, &string);
	free(told);
	if (code == FLEXTRACE_OK)
		*ret_text = perfetto_string(perfetto, string);
	return code;
}
