/* SPDX-License-Identifier: Apache-2.0 */
#include "event_samples.h"

#include <string.h>

#include "model/schema.h"

#define N_TEXTS 4
#define N_WORDS 5

static const char *const texts[N_TEXTS] = {"matmul", "d\xc3\xa9j\xc3\xa0 \"vu\", 2", "", "a b\tc"};

/* Members that are enums: any sample is 1, which each of them has. */
static bool is_enum(const char *name)
{
	return strcmp(name, "kind") == 0 || strcmp(name, "edge") == 0 ||
	       strcmp(name, "phase") == 0 || strcmp(name, "op") == 0;
}

static void fill(char *member, const struct schema_field *field, uint64_t value)
{
	static uint64_t words[N_WORDS];
	uint32_t low = (uint32_t)value;

	switch (field->type) {
	case SCHEMA_U32:
	case SCHEMA_I32:
		low = is_enum(field->name) ? 1 : low % 1000;
		low = strcmp(field->name, "counter_bits") == 0 ? 48 : low;
		memcpy(member, &low, sizeof(low));
		break;
	case SCHEMA_U64:
		value *= UINT64_C(0x100000001);
		memcpy(member, &value, sizeof(value));
		break;
	case SCHEMA_DOUBLE:
		*(double *)(void *)member = (double)value / 8;
		break;
	case SCHEMA_STRING:
		*(const char **)(void *)member = texts[value % N_TEXTS];
		break;
	case SCHEMA_TS:
		for (uint32_t i = 0; i < FLEXTRACE_N_STAMPS; i++)
			((uint32_t *)(void *)member)[i] = UINT32_MAX - low - i;
		break;
	case SCHEMA_TS64:
		for (uint32_t i = 0; i < FLEXTRACE_N_STAMPS; i++)
			((uint64_t *)(void *)member)[i] = UINT64_MAX - low - i;
		break;
	case SCHEMA_WORDS:
		for (uint32_t i = 0; i < N_WORDS; i++)
			words[i] = value << 40 | i;
		*(const uint64_t **)(void *)member = words;
		break;
	}
}

void event_sample(enum record_class class, uint32_t seed, uint64_t clock_ns,
                  struct event *ret_event)
{
	const struct schema_class *schema = schema_of(class);

	memset(ret_event, 0, sizeof(*ret_event));
	ret_event->class = class;
	ret_event->clock_ns = clock_ns;
	ret_event->vpid = 100 + (int32_t) class;
	ret_event->vtid = 200 + (int32_t)seed;
	for (uint32_t i = 0; i < schema->n_fields; i++)
		fill((char *)&ret_event->payload + schema->fields[i].offset, &schema->fields[i],
		     1000 * (uint64_t) class + 10 * (seed + 1) + i);
	if (class == RECORD_MARKER_BATCH)
		ret_event->payload.marker_batch.n_words = N_WORDS;
}
