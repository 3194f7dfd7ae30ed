/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_reader.h: the fields of a protobuf message, one by one, without its description.
 *
 * Source of the format: "Encoding" in the documentation of protocol buffers. Groups, which no
 * message that we read has, count as damage. Packed fields are bytes whose numbers
 * protobuf_varint() takes off.
 */
#ifndef FLEXTRACE_PROTOBUF_READER_H
#define FLEXTRACE_PROTOBUF_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* What is left of a message, or of bytes; weak. */
struct protobuf {
	const uint8_t *at, *end;
};

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2, /* texts, messages, packed numbers */
	PROTOBUF_FIXED32 = 5
};

struct protobuf_field {
	uint32_t number;
	enum protobuf_wire wire;
	uint64_t value;        /* of all but bytes; of signed numbers the two's complement */
	struct protobuf bytes; /* of bytes, else empty */
	bool is_cut;           /* the message ends before its bytes do */
};

/* Takes off a number of up to ten bytes. False: there is none. */
bool protobuf_varint(struct protobuf *message, uint64_t *ret_value);

/* The same of one of 4 or 8 bytes, the lowest one first. */
bool protobuf_fixed(struct protobuf *message, unsigned int n_bytes, uint64_t *ret_value);

/* Takes off the next field. 1; 0: there is none; FLEXTRACE_E_INPUT: what is left is none. */
int protobuf_next(struct protobuf *message, struct protobuf_field *ret_field);

/* Takes off all fields, and stores the last one of each number below `n`: with the number 0 and
 * nothing in it, where there is none. FLEXTRACE_E_INPUT: what is left is none, or was cut. */
int protobuf_read(struct protobuf *message, struct protobuf_field *ret_fields, uint32_t n);

static inline size_t protobuf_length(const struct protobuf *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

static inline double protobuf_double(uint64_t value)
{
	double number;

	memcpy(&number, &value, sizeof(number));
	return number;
}

#endif
