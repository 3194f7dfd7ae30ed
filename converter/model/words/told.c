/* SPDX-License-Identifier: Apache-2.0 */
#include "told.h"

#include "base/text/json_scan.h"

static bool has_control_byte(const struct trace_text *text)
{
	for (size_t i = 0; i < text->length; i++) {
		if ((unsigned char)text->bytes[i] < 0x20)
			return true;
	}
	return false;
}

/* Scans a member and steps to the comma or bracket behind it; false: it is no JSON. */
static bool scan_member(struct json_scan *scan, struct trace_text *ret_key,
                        struct trace_value *ret_value)
{
	if (scan->at == scan->end || json_key(scan, ret_key) != SCAN_OK ||
	    json_value(scan, ret_value) != SCAN_OK)
		return false;
	if (scan->flaw || has_control_byte(ret_key))
		return false;
	if (ret_value->kind == TRACE_TEXT &&
	    (scan->at[-1] != '"' || has_control_byte(&ret_value->text)))
		return false;
	return json_space(scan) == SCAN_OK && (*scan->at == ',' || *scan->at == '}');
}

bool told_read(const char *text, size_t n_bytes, struct told *ret_told)
{
	struct json_scan scan = {.at = text + 1, .end = text + n_bytes};
	struct trace_value value;
	struct trace_text key;

	if (!told_is_likely(text) || !scan_member(&scan, &key, &value))
		return false;
	ret_told->category = value.text;
	ret_told->members.bytes = scan.at + (*scan.at == ',');
	while (*scan.at == ',') {
		scan.at++;
		if (json_space(&scan) != SCAN_OK || !scan_member(&scan, &key, &value))
			return false;
	}
	ret_told->members.length = (size_t)(scan.at - ret_told->members.bytes);
	return scan.at + 1 == scan.end;
}

bool told_is_json(const char *text)
{
	struct json_scan scan = {.at = text, .end = text + strlen(text)};
	struct trace_value value;

	return scan.at < scan.end && json_value(&scan, &value) == SCAN_OK &&
	       value.kind == TRACE_JSON && !scan.flaw && scan.at == scan.end;
}

bool told_next(struct trace_text *rest, struct trace_text *ret_key, struct trace_value *ret_value)
{
	struct json_scan scan = {.at = rest->bytes, .end = rest->bytes + rest->length + 1};

	if (!rest->length)
		return false;
	scan.at += *scan.at == '{' || *scan.at == ',';
	if (json_space(&scan) != SCAN_OK || !scan_member(&scan, ret_key, ret_value))
		return false;
	*rest = (struct trace_text){scan.at, (size_t)(scan.end - 1 - scan.at)};
	return true;
}

bool told_find(const struct told *told, const char *key, struct trace_value *ret_value)
{
	struct trace_text rest = told->members, name;

	while (told_next(&rest, &name, ret_value)) {
		if (trace_text_is(&name, key))
			return true;
	}
	return false;
}

bool told_find_u64(const struct told *told, const char *key, uint64_t *ret_number)
{
	struct trace_value value;

	return told_find(told, key, &value) && trace_value_u64(&value, ret_number);
}
