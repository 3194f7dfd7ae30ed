/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_item.h: cJSON documents with what cJSON lacks: texts that may be no UTF-8, integers of 64
 * bits, and memory that may run out.
 *
 * A document to which something could not be added is spoilt: cJSON_Print() of it, or of what holds
 * it, gives NULL. So nobody has to look at single items. `object` and `list` may be NULL: what is
 * added to them is freed.
 */
#ifndef FLEXTRACE_EMIT_JSON_ITEM_H
#define FLEXTRACE_EMIT_JSON_ITEM_H

#include <cjson/cJSON.h>
#include <stdint.h>

/* Take `item`; NULL: there was no memory for it. */
void json_item_add(cJSON *object, const char *key, cJSON *item);
void json_item_append(cJSON *list, cJSON *item);

/* What was added is weak; NULL: no memory. */
cJSON *json_item_add_object(cJSON *object, const char *key);
cJSON *json_item_add_list(cJSON *object, const char *key);

/* Readers that take numbers for doubles (JavaScript, jq) do not keep larger ones. */
#define JSON_MOST_EXACT ((uint64_t)1 << 53)

/* A number; beyond that a string of digits. */
void json_item_add_u64(cJSON *object, const char *key, uint64_t value);
void json_item_add_i64(cJSON *object, const char *key, int64_t value);

/* Always a string of digits: times since the Unix epoch are beyond it. */
void json_item_add_time(cJSON *object, const char *key, int64_t time_ns);
void json_item_add_text(cJSON *object, const char *key, const char *text);

/* Valid UTF-8 whatever the text is (writer.h). NULL: no memory. */
cJSON *json_item_of_text(const char *text);

#endif
