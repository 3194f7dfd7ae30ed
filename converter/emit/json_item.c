/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/json_item.h"

#include <string.h>

#include "emit/writer.h"

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
