/* SPDX-License-Identifier: Apache-2.0 */
#include "protobuf_reader.h"

#define WIRE_BITS  3
#define WIRE_MASK  7u
#define MAX_NUMBER ((1u << 29) - 1)

bool protobuf_varint(struct protobuf *message, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && message->at < message->end; shift += 7) {
		uint8_t byte = *message->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

bool protobuf_fixed(struct protobuf *message, unsigned int n_bytes, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (protobuf_length(message) < n_bytes)
		return false;
	for (unsigned int i = 0; i < n_bytes; i++)
		value |= (uint64_t)message->at[i] << (8 * i);
	message->at += n_bytes;
	*ret_value = value;
	return true;
}

static bool take_bytes(struct protobuf *message, struct protobuf_field *field)
{
	uint64_t n;

	if (!protobuf_varint(message, &n))
		return false;
	field->is_cut = n > protobuf_length(message);
	field->bytes.at = message->at;
	message->at = field->is_cut ? message->end : message->at + n;
	field->bytes.end = message->at;
	return true;
}

static bool take_value(struct protobuf *message, struct protobuf_field *field)
{
	switch (field->wire) {
	case PROTOBUF_VARINT:
		return protobuf_varint(message, &field->value);
	case PROTOBUF_FIXED64:
		return protobuf_fixed(message, 8, &field->value);
	case PROTOBUF_BYTES:
		return take_bytes(message, field);
	case PROTOBUF_FIXED32:
		return protobuf_fixed(message, 4, &field->value);
	}
	return false;
}

int protobuf_next(struct protobuf *message, struct protobuf_field *ret_field)
{
	uint64_t tag;

	if (message->at == message->end)
		return 0;
	*ret_field = (struct protobuf_field){.bytes = {message->at, message->at}};
	if (!protobuf_varint(message, &tag) || !(tag >> WIRE_BITS) || tag >> WIRE_BITS > MAX_NUMBER)
		return FLEXTRACE_E_INPUT;
	ret_field->number = (uint32_t)(tag >> WIRE_BITS);
	ret_field->wire = (enum protobuf_wire)(tag & WIRE_MASK);
	return take_value(message, ret_field) ? 1 : FLEXTRACE_E_INPUT;
}

int protobuf_read(struct protobuf *message, struct protobuf_field *ret_fields, uint32_t n)
{
	struct protobuf_field field = {.is_cut = false};
	int code;

	for (uint32_t i = 0; i < n; i++)
		ret_fields[i] = (struct protobuf_field){.bytes = {message->end, message->end}};
	while ((code = protobuf_next(message, &field)) > 0) {
		if (field.number < n)
			ret_fields[field.number] = field;
	}
	return field.is_cut ? FLEXTRACE_E_INPUT : code;
}
