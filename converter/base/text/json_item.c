/* SPDX-License-Identifier: Apache-2.0 */
#include "json_item.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "writer.h"

/* Takes what could not be added. cJSON prints no item without a type. */
static void spoil(cJSON *holder, cJSON *item)
{
	cJSON_Delete(item);
	if (holder)
		holder->type = cJSON_Invalid;
}

void json_item_add(cJSON *object, const char *key, cJSON *item)
{
	if (!cJSON_AddItemToObject(object, key, item))
		spoil(object, item);
}

void json_item_append(cJSON *list, cJSON *item)
{
	if (!cJSON_AddItemToArray(list, item))
		spoil(list, item);
}

cJSON *json_item_add_object(cJSON *object, const char *key)
{
	cJSON *added = cJSON_AddObjectToObject(object, key);

	if (!added)
		spoil(object, NULL);
	return added;
}

cJSON *json_item_add_list(cJSON *object, const char *key)
{
	cJSON *added = cJSON_AddArrayToObject(object, key);

	if (!added)
		spoil(object, NULL);
	return added;
}

static void add_digits(cJSON *object, const char *key, const char *digits, bool is_exact)
{
	json_item_add(object, key, is_exact ? cJSON_CreateRaw(digits) : cJSON_CreateString(digits));
}

void json_item_add_u64(cJSON *object, const char *key, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	add_digits(object, key, digits, value <= JSON_MOST_EXACT);
}

void json_item_add_i64(cJSON *object, const char *key, int64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	add_digits(object, key, digits,
	           value <= (int64_t)JSON_MOST_EXACT && value >= -(int64_t)JSON_MOST_EXACT);
}

void json_item_add_time(cJSON *object, const char *key, int64_t time_ns)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, time_ns);
	add_digits(object, key, digits, false);
}

void json_item_add_text(cJSON *object, const char *key, const char *text)
{
	json_item_add(object, key, json_item_of_text(text));
}

cJSON *json_item_of_text(const char *text)
{
	struct writer writer;
	cJSON *item = NULL;

	writer_open_memory(&writer);
	writer_json(&writer, text, strlen(text));
	writer_char(&writer, '\0');
	if (!writer_failed(&writer))
		item = cJSON_CreateRaw(writer.buffer);
	writer_abandon(&writer);
	return item;
}
