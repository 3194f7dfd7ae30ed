/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_writer.h: fields of a protobuf message, appended to a writer.
 *
 * Source of the format: "Encoding" in the documentation of protocol buffers. Field numbers are
 * below 2^28. A message within a message is opened and closed in a memory writer, as its length
 * stands before it.
 */
#ifndef FLEXTRACE_PROTOBUF_WRITER_H
#define FLEXTRACE_PROTOBUF_WRITER_H

#include "base/protobuf/protobuf_reader.h"
#include "base/text/writer.h"

#define PROTOBUF_VARINT_BYTES 10

/* Puts a number where there is room for PROTOBUF_VARINT_BYTES, and returns its end. */
static inline char *put_varint(char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (char)(value | 0x80);
	*at = (char)value;
	return at + 1;
}

/* Puts the tag of a field, and a number or length, where there is room for two. */
static inline char *put_tagged(char *at, uint32_t field, enum protobuf_wire wire, uint64_t value)
{
	return put_varint(put_varint(at, field << 3 | wire), value);
}

/* The bytes of a number. */
static inline size_t varint_length(uint64_t value)
{
	return (size_t)(70 - __builtin_clzll(value | 1)) / 7;
}

static inline void protobuf_write_u64(struct writer *writer, uint32_t field, uint64_t value)
{
	char *at = writer_room(writer, 2 * PROTOBUF_VARINT_BYTES);

	if (at)
		writer->at = put_tagged(at, field, PROTOBUF_VARINT, value);
}

/* Of a field of type fixed64 or double. */
static inline void protobuf_write_fixed64(struct writer *writer, uint32_t field, uint64_t value)
{
	char *at = writer_room(writer, PROTOBUF_VARINT_BYTES + sizeof(value));

	if (!at)
		return;
	at = put_varint(at, field << 3 | PROTOBUF_FIXED64);
	for (int i = 0; i < 8; i++)
		*at++ = (char)(value >> 8 * i);
	writer->at = at;
}

static inline void protobuf_write_double(struct writer *writer, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_write_fixed64(writer, field, bits);
}

/* What stands before `n` bytes of a text or message. */
static inline void protobuf_write_length(struct writer *writer, uint32_t field, size_t n)
{
	char *at = writer_room(writer, 2 * PROTOBUF_VARINT_BYTES);

	if (at)
		writer->at = put_tagged(at, field, PROTOBUF_BYTES, n);
}

static inline void protobuf_write_bytes(struct writer *writer, uint32_t field, const void *bytes,
                                        size_t n)
{
	protobuf_write_length(writer, field, n);
	if (n) /* of a memory writer that got none, `bytes` is NULL */
		writer_append(writer, bytes, n);
}

/* Opens a message in a memory writer, and returns where; close it with that. */
static inline size_t protobuf_open(struct writer *writer, uint32_t field)
{
	protobuf_write_length(writer, field, 0);
	return (size_t)(writer->at - writer->buffer);
}

static inline void protobuf_close(struct writer *writer, size_t opened)
{
	char length[PROTOBUF_VARINT_BYTES];
	size_t n, n_length;

	if (!writer_has_room(writer, PROTOBUF_VARINT_BYTES) || writer_failed(writer))
		return;
	n = (size_t)(writer->at - writer->buffer) - opened;
	n_length = (size_t)(put_varint(length, n) - length);
	if (n_length > 1)
		memmove(writer->buffer + opened + n_length - 1, writer->buffer + opened, n);
	memcpy(writer->buffer + opened - 1, length, n_length);
	writer->at += n_length - 1;
}

#endif
