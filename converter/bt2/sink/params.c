/* SPDX-License-Identifier: Apache-2.0 */
#include "params.h"

#include <stdio.h>
#include <string.h>

#include "profile.h"

struct params_reader {
	struct conversion_options *options;
	struct flextrace_error *error;
	int code;
};

static int read_array(const struct option_spec *spec, const bt_value *array, void *values,
                      struct flextrace_error *error)
{
	uint64_t n = bt_value_array_get_length(array);

	if (spec->type != OPTION_LIST)
		return option_refuse(spec, NULL, error);
	for (uint64_t i = 0; i < n; i++) {
		const bt_value *element = bt_value_array_borrow_element_by_index_const(array, i);

		if (!bt_value_is_string(element))
			return option_refuse(spec, NULL, error);
		FLEXTRACE_TRY(option_set_text(spec, bt_value_string_get(element), values, error));
	}
	return 0;
}

static int read_unsigned(const struct option_spec *spec, uint64_t value, void *values,
                         struct flextrace_error *error)
{
	if (value > INT64_MAX)
		return error_set(error, FLEXTRACE_E_USAGE, "Option `%s` is out of range",
		                 spec->name);
	return option_set_number(spec, (int64_t)value, values, error);
}

static int read_value(const struct option_spec *spec, const bt_value *value, void *values,
                      struct flextrace_error *error)
{
	if (bt_value_is_bool(value))
		return option_set_flag(spec, bt_value_bool_get(value), values, error);
	if (bt_value_is_signed_integer(value))
		return option_set_number(spec, bt_value_integer_signed_get(value), values, error);
	if (bt_value_is_unsigned_integer(value))
		return read_unsigned(spec, bt_value_integer_unsigned_get(value), values, error);
	if (bt_value_is_real(value))
		return option_set_real(spec, bt_value_real_get(value), values, error);
	if (bt_value_is_string(value))
		return option_set_text(spec, bt_value_string_get(value), values, error);
	if (bt_value_is_array(value))
		return read_array(spec, value, values, error);
	return option_refuse(spec, NULL, error);
}

/* Known parameters, for the message: "output-dir, formats, ..." */
static void list_names(const struct option_spec *table, char *to, size_t size)
{
	size_t used = 0;

	to[0] = '\0';
	for (; table->name && used < size; table++)
		used += (size_t)snprintf(to + used, size - used, "%s%s", used ? ", " : "",
		                         table->name);
}

static bt_value_map_foreach_entry_const_func_status read_entry(const char *key,
                                                               const bt_value *value, void *data)
{
	struct params_reader *reader = data;
	const struct option_spec *spec = option_find(conversion_option_table, key);
	char names[512];

	if (!spec)
		spec = option_find(aie_option_table, key);
	if (spec) {
		profile_note_given(spec, reader->options);
		reader->code = read_value(spec, value, reader->options, reader->error);
	} else {
		list_names(conversion_option_table, names, sizeof(names));
		reader->code = error_set(reader->error, FLEXTRACE_E_USAGE,
		                         "Unknown parameter `%s`; known ones are %s", key, names);
	}
	return reader->code < 0 ? BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_INTERRUPT
	                        : BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
}

int params_read(const bt_value *params, struct conversion_options *options,
                struct flextrace_error *error)
{
	struct params_reader reader = {options, error, 0};

	if (bt_value_map_foreach_entry_const(params, read_entry, &reader) < 0 && reader.code == 0)
		return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	return reader.code;
}
