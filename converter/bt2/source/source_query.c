/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a file is one for a source component. */
#include <string.h>

#include "source.h"
#include "formats/all/each_format.h"

#define WEIGHT 0.5

static const struct source_kind kinds[] = {
	{"flex-json", IMPORT_FLEX, "flextrace: files of Flex"},
	{"aie-json", IMPORT_AIE, NULL},
	{"torch-json", IMPORT_TORCH, NULL}, /* each counts its time from a point of its own */
	{"marker-area", IMPORT_MARKER_AREA, "flextrace: marker areas"},
	{"nsys-sqlite", IMPORT_NSYS, "flextrace: reports of nsys"},
	{"tt-csv", IMPORT_TT_CSV, "flextrace: logs of tt-metal"},
	{"perfetto", IMPORT_PERFETTO, NULL}, /* likewise */
	{"xplane", IMPORT_XPLANE, NULL},     /* each counts its time from a point of its own */
};

const struct source_kind *source_kind_of(const bt_component_class *class)
{
	const struct source_kind *kind = kinds;

	while (strcmp(kind->name, bt_component_class_get_name(class)) != 0)
		kind++;
	return kind;
}

static const char *text_of(const bt_value *params, const char *key)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(params, key);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

static bool is_supported(const bt_value *params, enum import_dialect dialect)
{
	return strcmp(text_of(params, "type"), "file") == 0 &&
	       import_dialect_of(text_of(params, "input")) == dialect;
}

/* {weight, group} of what is supported, else 0. NULL: no memory. */
static const bt_value *make_answer(bool is_supported, const char *group)
{
	bt_value *answer = is_supported ? bt_value_map_create() : bt_value_real_create_init(0);

	if (!answer || !is_supported)
		return answer;
	if (bt_value_map_insert_real_entry(answer, "weight", WEIGHT) ||
	    (group && bt_value_map_insert_string_entry(answer, "group", group)))
		BT_VALUE_PUT_REF_AND_RESET(answer);
	return answer;
}

bt_component_class_query_method_status source_query(bt_self_component_class_source *self,
                                                    bt_private_query_executor *executor,
                                                    const char *object, const bt_value *params,
                                                    void *data, const bt_value **ret_result)
{
	const struct source_kind *kind =
		source_kind_of(bt_component_class_source_as_component_class_const(
			bt_self_component_class_source_as_component_class_source(self)));

	(void)executor;
	(void)data;
	if (strcmp(object, "babeltrace.support-info") != 0)
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	if (!bt_value_is_map(params))
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_ERROR;
	*ret_result = make_answer(is_supported(params, kind->dialect), kind->group);
	return *ret_result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK
	                   : BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}
