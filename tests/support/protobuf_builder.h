/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_builder.h: protobuf messages, field by field.
 */
#ifndef PROTOBUF_BUILDER_H
#define PROTOBUF_BUILDER_H

#include <stddef.h>
#include <stdint.h>

struct protobuf_builder {
	uint8_t bytes[16384];
	size_t n;
	size_t begins[16]; /* of the messages that are open */
	int n_open;
};

void protobuf_put_number(struct protobuf_builder *builder, uint32_t field, uint64_t value);
void protobuf_put_double(struct protobuf_builder *builder, uint32_t field, double value);
void protobuf_put_text(struct protobuf_builder *builder, uint32_t field, const char *text);

/* A message in the message; all up to its close is of it. */
void protobuf_open(struct protobuf_builder *builder, uint32_t field);
void protobuf_close(struct protobuf_builder *builder);

#endif
