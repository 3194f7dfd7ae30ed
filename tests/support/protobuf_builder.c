/* SPDX-License-Identifier: Apache-2.0 */
#include "protobuf_builder.h"

#include <assert.h>
#include <string.h>

static size_t put_varint(uint8_t *at, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		at[n++] = (uint8_t)(value | 0x80);
	at[n++] = (uint8_t)value;
	return n;
}

static void put_tag(struct protobuf_builder *builder, uint32_t field, uint32_t wire)
{
	assert(builder->n + 32 < sizeof(builder->bytes));
	builder->n += put_varint(builder->bytes + builder->n, (uint64_t)field << 3 | wire);
}

void protobuf_put_number(struct protobuf_builder *builder, uint32_t field, uint64_t value)
{
	put_tag(builder, field, 0);
	builder->n += put_varint(builder->bytes + builder->n, value);
}

void protobuf_put_double(struct protobuf_builder *builder, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_tag(builder, field, 1);
	for (int i = 0; i < 8; i++)
		builder->bytes[builder->n++] = (uint8_t)(bits >> (8 * i));
}

void protobuf_put_text(struct protobuf_builder *builder, uint32_t field, const char *text)
{
	size_t n = strlen(text);

	put_tag(builder, field, 2);
	builder->n += put_varint(builder->bytes + builder->n, n);
	assert(builder->n + n < sizeof(builder->bytes));
	memcpy(builder->bytes + builder->n, text, n);
	builder->n += n;
}

void protobuf_open(struct protobuf_builder *builder, uint32_t field)
{
	put_tag(builder, field, 2);
	builder->begins[builder->n_open++] = builder->n;
}

/* The length stands in front: what is behind it moves. */
void protobuf_close(struct protobuf_builder *builder)
{
	size_t begin = builder->begins[--builder->n_open], n = builder->n - begin;
	uint8_t length[10];
	size_t n_length = put_varint(length, n);

	memmove(builder->bytes + begin + n_length, builder->bytes + begin, n);
	memcpy(builder->bytes + begin, length, n_length);
	builder->n += n_length;
}
