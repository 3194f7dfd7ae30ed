/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a file is one for a source component. */
#include <string.h>

#include "source.h"
#include "formats/import.h"

#define WEIGHT     0.5
#define FLEX_GROUP "flextrace: files of Flex"
#define AREA_GROUP "flextrace: marker areas"
#define TT_GROUP   "flextrace: logs of tt-metal"

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

static bt_component_class_query_method_status query(const char *object, const bt_value *params,
                                                    enum import_dialect dialect, const char *group,
                                                    const bt_value **ret_result)
{
	if (strcmp(object, "babeltrace.support-info") != 0)
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	if (!bt_value_is_map(params))
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_ERROR;
	*ret_result = make_answer(is_supported(params, dialect), group);
	return *ret_result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK
	                   : BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}

#define QUERY(name, dialect, group)                                                        \
	bt_component_class_query_method_status source_##name##_query(                      \
		bt_self_component_class_source *self, bt_private_query_executor *executor, \
		const char *object, const bt_value *params, void *data,                    \
		const bt_value **ret_result)                                               \
	{                                                                                  \
		(void)self;                                                                \
		(void)executor;                                                            \
		(void)data;                                                                \
		return query(object, params, dialect, group, ret_result);                  \
	}

QUERY(flex, IMPORT_FLEX, FLEX_GROUP)
QUERY(aie, IMPORT_AIE, NULL)
QUERY(torch, IMPORT_TORCH, NULL) /* each counts its time from a point of its own */
QUERY(marker_area, IMPORT_MARKER_AREA, AREA_GROUP)
QUERY(tt, IMPORT_TT_CSV, TT_GROUP)
