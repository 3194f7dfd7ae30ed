/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_item.h: texts as items of cJSON documents, valid UTF-8 whatever they are (writer.h).
 */
#ifndef FLEXTRACE_EMIT_JSON_ITEM_H
#define FLEXTRACE_EMIT_JSON_ITEM_H

#include <cjson/cJSON.h>

/* NULL: no memory. */
cJSON *json_item_of_text(const char *text);

#endif
