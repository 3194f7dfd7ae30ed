/* SPDX-License-Identifier: Apache-2.0 */
#include "params.h"

#include <string.h>

#include "profile.h"

struct params_reader {
	const struct params_known *known;
	struct conversion_options *options;
	struct flextrace_error *error;
	int code;
};

static struct option_value value_of(const bt_value *value)
{
	if (bt_value_is_bool(value))
		return OPTION_FLAG_VALUE(bt_value_bool_get(value));
	if (bt_value_is_signed_integer(value))
		return OPTION_NUMBER_VALUE(bt_value_integer_signed_get(value));
	if (bt_value_is_unsigned_integer(value))
		return OPTION_NUMBER_VALUE((int64_t)bt_value_integer_unsigned_get(value));
	if (bt_value_is_real(value))
		return OPTION_REAL_VALUE(bt_value_real_get(value));
	if (bt_value_is_string(value))
		return OPTION_TEXT_VALUE(bt_value_string_get(value));
	return (struct option_value){GIVEN_OTHER, .flag = false};
}

static int read_value(const struct option_spec *spec, const bt_value *value,
                      const struct params_reader *reader)
{
	if (bt_value_is_unsigned_integer(value) && bt_value_integer_unsigned_get(value) > INT64_MAX)
		return error_set(reader->error, FLEXTRACE_E_USAGE, "Option `%s` is out of range",
		                 spec->name);
	if (!bt_value_is_array(value) || spec->type != OPTION_LIST)
		return option_set(spec, value_of(value), reader->options, reader->error);
	for (uint64_t i = 0; i < bt_value_array_get_length(value); i++) {
		const bt_value *item = bt_value_array_borrow_element_by_index_const(value, i);

		FLEXTRACE_TRY(option_set(spec, value_of(item), reader->options, reader->error));
	}
	return FLEXTRACE_OK;
}

static int refuse(const char *name, const struct params_reader *reader)
{
	const struct params_known *known = reader->known;
	int code = error_set(reader->error, FLEXTRACE_E_USAGE,
	                     "Unknown parameter `%s`; known ones are %s", name,
	                     known->own ? known->own : "");

	for (const struct option_spec *const *table = known->tables; *table; table++)
		for (const struct option_spec *spec = *table; spec->name; spec++)
			error_list(reader->error, spec->name);
	return code;
}

static bt_value_map_foreach_entry_const_func_status read_entry(const char *key,
                                                               const bt_value *value, void *data)
{
	struct params_reader *reader = data;
	const struct option_spec *spec = option_find_any(reader->known->tables, key);

	if (reader->known->own && strcmp(key, reader->known->own) == 0)
		return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
	if (spec)
		profile_note_given(spec, reader->options);
	reader->code = spec ? read_value(spec, value, reader) : refuse(key, reader);
	return reader->code < 0 ? BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_INTERRUPT
	                        : BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
}

int params_read(const bt_value *params, const struct params_known *known,
                struct conversion_options *options, struct flextrace_error *error)
{
	struct params_reader reader = {known, options, error, 0};

	if (bt_value_map_foreach_entry_const(params, read_entry, &reader) < 0 && reader.code == 0)
		return error_memory(error);
	return reader.code;
}
