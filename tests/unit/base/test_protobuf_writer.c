/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of protobuf messages as bytes by hand, and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/protobuf/protobuf_writer.h"

static struct protobuf bytes_of(const struct writer *writer)
{
	return (struct protobuf){(const uint8_t *)writer->buffer, (const uint8_t *)writer->at};
}

static void assert_bytes(struct writer *writer, const char *expected, size_t n)
{
	assert_int_equal(writer->at - writer->buffer, n);
	assert_memory_equal(writer->buffer, expected, n);
	writer->at = writer->buffer;
}

#define ASSERT_BYTES(writer, literal) assert_bytes((writer), (literal), sizeof(literal) - 1)

static void test_protobuf_writer__writes_numbers_of_every_length(void **state)
{
	struct writer writer;

	(void)state;
	writer_open_memory(&writer);
	protobuf_write_u64(&writer, 1, 0);
	ASSERT_BYTES(&writer, "\x08\x00");
	protobuf_write_u64(&writer, 1, 127);
	ASSERT_BYTES(&writer, "\x08\x7f");
	protobuf_write_u64(&writer, 15, 128);
	ASSERT_BYTES(&writer, "\x78\x80\x01");
	protobuf_write_u64(&writer, 16, 300);
	ASSERT_BYTES(&writer, "\x80\x01\xac\x02");
	protobuf_write_u64(&writer, (1u << 28) - 1, UINT64_MAX);
	ASSERT_BYTES(&writer, "\xf8\xff\xff\xff\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	protobuf_write_u64(&writer, 2, (uint64_t)-7303);
	ASSERT_BYTES(&writer, "\x10\xf9\xc6\xff\xff\xff\xff\xff\xff\xff\x01");
	writer_abandon(&writer);
}

static void test_protobuf_writer__reads_back_what_is_at_a_boundary(void **state)
{
	struct protobuf_field field;
	struct protobuf message;
	struct writer writer;

	(void)state;
	writer_open_memory(&writer);
	for (int bit = 0; bit < 64; bit++) {
		for (int off = -1; off <= 1; off++)
			protobuf_write_u64(&writer, (uint32_t)bit + 1,
			                   ((uint64_t)1 << bit) + (uint64_t)(int64_t)off);
	}
	message = bytes_of(&writer);
	for (int bit = 0; bit < 64; bit++) {
		for (int off = -1; off <= 1; off++) {
			assert_int_equal(protobuf_next(&message, &field), 1);
			assert_int_equal(field.number, bit + 1);
			assert_true(field.value == ((uint64_t)1 << bit) + (uint64_t)(int64_t)off);
		}
	}
	assert_int_equal(protobuf_next(&message, &field), 0);
	writer_abandon(&writer);
}

static void test_protobuf_writer__writes_fixed_numbers_low_byte_first(void **state)
{
	struct writer writer;

	(void)state;
	writer_open_memory(&writer);
	protobuf_write_fixed64(&writer, 47, 0x0102030405060708);
	ASSERT_BYTES(&writer, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01");
	protobuf_write_double(&writer, 5, -2.5);
	ASSERT_BYTES(&writer, "\x29\x00\x00\x00\x00\x00\x00\x04\xc0");
	writer_abandon(&writer);
}

static void test_protobuf_writer__writes_bytes_with_their_length(void **state)
{
	char text[300];
	struct writer writer;

	(void)state;
	memset(text, 'x', sizeof(text));
	writer_open_memory(&writer);
	protobuf_write_bytes(&writer, 2, "", 0);
	ASSERT_BYTES(&writer, "\x12\x00");
	protobuf_write_bytes(&writer, 2, "a\0b", 3);
	ASSERT_BYTES(&writer, "\x12\x03"
	                      "a\0b");
	protobuf_write_bytes(&writer, 2, text, sizeof(text));
	assert_int_equal(writer.at - writer.buffer, sizeof(text) + 3);
	assert_memory_equal(writer.buffer, "\x12\xac\x02xx", 5);
	writer_abandon(&writer);
}

/* Opens messages within each other, `n_open` of them, around `n` bytes of a text. */
static void check_nested(int n_open, size_t n)
{
	size_t opened[8];
	char *text = malloc(n + 1);
	struct protobuf_field field;
	struct protobuf message;
	struct writer writer;

	memset(text, 'y', n + 1);
	writer_open_memory(&writer);
	for (int i = 0; i < n_open; i++) {
		opened[i] = protobuf_open(&writer, 3);
		protobuf_write_u64(&writer, 1, (uint64_t)i);
	}
	writer_append(&writer, text, 0);
	protobuf_write_bytes(&writer, 2, text, n);
	for (int i = n_open - 1; i >= 0; i--)
		protobuf_close(&writer, opened[i]);
	protobuf_write_u64(&writer, 4, 99);
	message = bytes_of(&writer);
	for (int i = 0; i < n_open; i++) {
		struct protobuf behind;

		assert_int_equal(protobuf_next(&message, &field), 1);
		assert_int_equal(field.number, 3);
		behind = message;
		message = field.bytes;
		assert_int_equal(protobuf_next(&message, &field), 1);
		assert_int_equal(field.value, i);
		assert_true(i > 0 || (protobuf_next(&behind, &field) == 1 && field.value == 99));
	}
	assert_int_equal(protobuf_next(&message, &field), 1);
	assert_int_equal(field.number, 2);
	assert_int_equal(protobuf_length(&field.bytes), n);
	assert_memory_equal(field.bytes.at, text, n);
	assert_int_equal(protobuf_next(&message, &field), 0);
	writer_abandon(&writer);
	free(text);
}

static void test_protobuf_writer__closes_messages_whose_length_needs_more_bytes(void **state)
{
	(void)state;
	for (int n_open = 1; n_open <= 4; n_open++) {
		for (size_t n = 100; n < 140; n++)
			check_nested(n_open, n);
		for (size_t n = 16360; n < 16400; n++)
			check_nested(n_open, n);
		check_nested(n_open, 1 << 21);
		check_nested(n_open, 0);
	}
}

static void test_protobuf_writer__closes_an_empty_message(void **state)
{
	struct writer writer;

	(void)state;
	writer_open_memory(&writer);
	protobuf_close(&writer, protobuf_open(&writer, 8));
	ASSERT_BYTES(&writer, "\x42\x00");
	writer_abandon(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_protobuf_writer__writes_numbers_of_every_length),
		cmocka_unit_test(test_protobuf_writer__reads_back_what_is_at_a_boundary),
		cmocka_unit_test(test_protobuf_writer__writes_fixed_numbers_low_byte_first),
		cmocka_unit_test(test_protobuf_writer__writes_bytes_with_their_length),
		cmocka_unit_test(
			test_protobuf_writer__closes_messages_whose_length_needs_more_bytes),
		cmocka_unit_test(test_protobuf_writer__closes_an_empty_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
