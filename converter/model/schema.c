/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"

#include <string.h>

#include "schema_fields.h"

#define PROVIDER "flextrace:"

static const struct schema_class classes[RECORD_CLASS_COUNT] = {
#define SCHEMA_CLASS(id, event, payload, member, place)                        \
	[RECORD_##id] = {#event,                                               \
	                 TABLE_##place,                                        \
	                 member##_fields,                                      \
	                 sizeof(member##_fields) / sizeof(member##_fields[0]), \
	                 sizeof(struct payload),                               \
	                 member##_RECORD_BYTES},
	FLEXTRACE_RECORD_CLASSES(SCHEMA_CLASS)
#undef SCHEMA_CLASS
};

const struct schema_class *schema_of(enum record_class class)
{
	return &classes[class];
}

int schema_find(const char *event_name)
{
	if (strncmp(event_name, PROVIDER, strlen(PROVIDER)))
		return -1;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		if (!strcmp(event_name + strlen(PROVIDER), classes[class].name))
			return class;
	return -2;
}
