/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of protobuf messages: what a builder of our own wrote, and bytes by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/protobuf/protobuf_reader.h"
#include "protobuf_builder.h"

static struct protobuf of(const void *bytes, size_t n)
{
	return (struct protobuf){bytes, (const uint8_t *)bytes + n};
}

/* "number:value" of all fields, "!" for what is none, "cut" behind bytes that are. */
static void print(struct protobuf message, char *text, size_t n_text)
{
	struct protobuf_field field;
	size_t n = 0;
	int code;

	*text = '\0';
	while ((code = protobuf_next(&message, &field)) > 0) {
		if (field.wire == PROTOBUF_BYTES)
			n += (size_t)snprintf(text + n, n_text - n, "%u:\"%.*s\"%s ", field.number,
			                      (int)protobuf_length(&field.bytes),
			                      (const char *)field.bytes.at,
			                      field.is_cut ? "cut" : "");
		else
			n += (size_t)snprintf(text + n, n_text - n, "%u:%llu ", field.number,
			                      (unsigned long long)field.value);
	}
	if (code < 0)
		snprintf(text + n, n_text - n, "!");
}

struct bytes_case {
	const char *bytes;
	size_t n;
	const char *fields;
};

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct bytes_case cases[] = {
	{BYTES(""), ""},
	{BYTES("\x08\x96\x01"), "1:150 "},
	{BYTES("\x12\x07testing"), "2:\"testing\" "},
	{BYTES("\x12\x00\x08\x01"), "2:\"\" 1:1 "},
	{BYTES("\x12\x07test"), "2:\"test\"cut "},
	{BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01test"), "2:\"test\"cut "},
	{BYTES("\x0d\x01\x02\x00\x00"), "1:513 "},
	{BYTES("\x09\x01\x02\x00\x00\x00\x00\x00\x80"), "1:9223372036854776321 "},
	{BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "1:18446744073709551615 "},
	{BYTES("\xf8\xff\xff\xff\x0f\x01"), "536870911:1 "},
	/* a number that does not end, one of eleven bytes */
	{BYTES("\x08\x96"), "!"},
	{BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "!"},
	/* field 0, one above 29 bits, groups, what is no wire type */
	{BYTES("\x00\x01"), "!"},
	{BYTES("\x80\x80\x80\x80\x10\x01"), "!"},
	{BYTES("\x08\x01\x0b\x0c"), "1:1 !"},
	{BYTES("\x0e\x01"), "!"},
	{BYTES("\x0d\x01\x02\x00"), "!"},
	{BYTES("\x09\x01\x02\x00\x00\x00\x00\x00"), "!"},
	{BYTES("\x12"), "!"},
};

static void test_protobuf__reads_the_fields_that_are_there(void **state)
{
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print(of(cases[i].bytes, cases[i].n), text, sizeof(text));
		assert_string_equal(text, cases[i].fields);
	}
}

static void test_protobuf__reads_messages_in_messages(void **state)
{
	struct protobuf_builder built = {.n = 0};
	struct protobuf_field field;
	struct protobuf message;
	char text[128];

	(void)state;
	protobuf_open(&built, 4);
	protobuf_put_number(&built, 1, 300);
	protobuf_put_double(&built, 2, -0.5);
	protobuf_put_text(&built, 3, "text");
	protobuf_close(&built);
	protobuf_put_number(&built, 5, UINT64_MAX);
	message = of(built.bytes, built.n);
	assert_int_equal(protobuf_next(&message, &field), 1);
	print(field.bytes, text, sizeof(text));
	assert_string_equal(text, "1:300 2:13826050856027422720 3:\"text\" ");
	assert_true(protobuf_double(UINT64_C(13826050856027422720)) == -0.5);
	assert_int_equal(protobuf_next(&message, &field), 1);
	assert_true(field.value == UINT64_MAX);
	assert_int_equal(protobuf_next(&message, &field), 0);
}

/* A message that is cut anywhere gives the fields in front of that, and no others. */
static void test_protobuf__ends_where_a_message_is_cut(void **state)
{
	static const char whole[] = "\x08\x96\x01\x12\x07testing\x0d\x01\x02\x00\x00";
	static const size_t ends[] = {0, 3, 12, 17};
	struct protobuf_field field;

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n++) {
		struct protobuf message = of(whole, n);
		int code, n_fields = 0, n_whole = 0;

		while ((code = protobuf_next(&message, &field)) > 0)
			n_fields += !field.is_cut;
		for (size_t i = 1; i < sizeof(ends) / sizeof(*ends); i++)
			n_whole += ends[i] <= n;
		assert_int_equal(n_fields, n_whole);
		assert_true(message.at <= message.end);
	}
}

static void test_protobuf__stores_the_last_field_of_each_number(void **state)
{
	/* 1: 5, 1: 6, 3: "ab", 9: 1 */
	static const uint8_t bytes[] = {0x08, 5, 0x08, 6, 0x1a, 2, 'a', 'b', 0x48, 1};
	struct protobuf_field fields[4];
	struct protobuf message;

	(void)state;
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		bool is_whole = n == 0 || n == 2 || n == 4 || n == 8 || n == sizeof(bytes);

		message = of(bytes, n);
		assert_int_equal(protobuf_read(&message, fields, 4),
		                 is_whole ? 0 : FLEXTRACE_E_INPUT);
		assert_true(message.at <= message.end);
		assert_int_equal(fields[1].value, n < 2 ? 0 : n < 4 ? 5 : 6);
		assert_int_equal(fields[2].number, 0);
		assert_int_equal(protobuf_length(&fields[2].bytes), 0);
	}
	assert_int_equal(protobuf_length(&fields[3].bytes), 2);
	assert_memory_equal(fields[3].bytes.at, "ab", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_protobuf__reads_the_fields_that_are_there),
		cmocka_unit_test(test_protobuf__reads_messages_in_messages),
		cmocka_unit_test(test_protobuf__ends_where_a_message_is_cut),
		cmocka_unit_test(test_protobuf__stores_the_last_field_of_each_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
