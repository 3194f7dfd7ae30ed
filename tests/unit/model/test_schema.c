/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "provider/tracepoints.h" /* of fake-lttng: `tracepoints` */
#include "model/schema.h"
#include "model/ledger/ledger.h"

static size_t payload_bytes(enum record_class class)
{
	static const size_t sizes[] = {
#define SIZE(id, event, payload, member, table) sizeof(struct payload),
		FLEXTRACE_RECORD_CLASSES(SIZE)
#undef SIZE
	};

	return sizes[class];
}

static size_t field_bytes(enum schema_type type)
{
	switch (type) {
	case SCHEMA_U32:
	case SCHEMA_I32:
		return 4;
	case SCHEMA_TS:
		return 4 * FLEXTRACE_N_STAMPS;
	case SCHEMA_TS64:
		return 8 * FLEXTRACE_N_STAMPS;
	default:
		return 8;
	}
}

/* What a record has of a field: of strings their ids, and words and wide stamps stand
 * behind it. */
static size_t recorded_bytes(const struct schema_field *field)
{
	if (field->n_kinds)
		return sizeof(uint8_t);
	if (field->type == SCHEMA_WORDS || field->type == SCHEMA_TS64)
		return 0;
	return field->type == SCHEMA_STRING ? sizeof(uint32_t) : field_bytes(field->type);
}

static size_t align_up(size_t offset, size_t align)
{
	return (offset + align - 1) / align * align;
}

/* Fields lie end to end in the order of the struct, but for its size, its padding and the length of
 * the words. */
static void test_schema__describes_every_member_of_every_payload(void **state)
{
	(void)state;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		const struct schema_class *schema = schema_of((enum record_class) class);
		size_t end = sizeof(uint32_t);

		for (uint32_t i = 0; i < schema->n_fields; i++) {
			const struct schema_field *field = &schema->fields[i];
			size_t bytes = field_bytes(field->type);

			if (field->type == SCHEMA_WORDS)
				end += sizeof(uint32_t);
			end = align_up(end, bytes % 8 ? 4 : 8);
			assert_int_equal(field->offset, end);
			end += bytes;
		}
		end = align_up(end, payload_bytes((enum record_class) class) % 8 ? 4 : 8);
		assert_int_equal(end, payload_bytes((enum record_class) class));
	}
}

/* Each field has a place of its own in its record: behind the head, or as its name or its kind. */
static void test_schema__gives_every_field_a_place_in_its_record(void **state)
{
	(void)state;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		const struct schema_class *schema = schema_of((enum record_class) class);
		uint8_t is_taken[1024] = {0};

		assert_in_range(schema->record_bytes, sizeof(struct record), sizeof(is_taken));
		for (uint32_t i = 0; i < schema->n_fields; i++) {
			const struct schema_field *field = &schema->fields[i];
			size_t bytes = recorded_bytes(field);

			if (field->to < sizeof(struct record))
				assert_int_equal(field->to,
				                 field->n_kinds ? offsetof(struct record, kind)
				                                : offsetof(struct record, name));
			assert_int_equal(field->to % (field->n_kinds ? 1 : 4), 0);
			assert_true(field->to + bytes <= schema->record_bytes);
			for (size_t k = 0; k < bytes; k++)
				assert_int_equal(is_taken[field->to + k]++, 0);
		}
	}
}

static void test_schema__finds_every_class_by_its_name(void **state)
{
	(void)state;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		const struct schema_class *schema = schema_of((enum record_class) class);
		char name[64];

		snprintf(name, sizeof(name), "flextrace:%s", schema->name);
		assert_int_equal(schema_find(name), class);
		assert_string_equal(schema->name, record_class_name((enum record_class) class));
		assert_true(schema->n_fields > 0);
	}
	assert_int_equal(schema_of(RECORD_MARKER_NAME)->table, TABLE_DEFINITIONS);
	assert_int_equal(schema_of(RECORD_SCOPE)->table, TABLE_HOST);
	assert_int_equal(schema_of(RECORD_COLLECTIVE)->table, TABLE_EVIDENCE);
}

static void test_schema__tells_unknown_events_from_foreign_ones(void **state)
{
	static const struct {
		const char *name;
		int found;
	} cases[] = {
		{"flextrace:scope", RECORD_SCOPE},
		{"flextrace:scope_args", RECORD_SCOPE_ARGS},
		{"flextrace:scop", -2},
		{"flextrace:scopes", -2},
		{"flextrace:", -2},
		{"flextrac", -1},
		{"scope", -1},
		{"", -1},
		{"lttng_ust_statedump:start", -1},
		{"xflextrace:scope", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(schema_find(cases[i].name), cases[i].found);
}

/* -- the tracepoints ------------------------------------------------------------------------- */

static const char *recorded_type(enum schema_type type)
{
	static const char *const types[] = {
		[SCHEMA_U32] = "uint32_t",     [SCHEMA_I32] = "int32_t",
		[SCHEMA_U64] = "uint64_t",     [SCHEMA_DOUBLE] = "double",
		[SCHEMA_STRING] = "string",    [SCHEMA_TS] = "uint32_t[]",
		[SCHEMA_TS64] = "uint64_t...", [SCHEMA_WORDS] = "uint64_t...",
	};

	return types[type];
}

/* What the provider records is what readers look for: each event, each field, in their order. Rows
 * that a file told of no program records. */
static void test_schema__is_what_the_tracepoints_record(void **state)
{
	const size_t n = sizeof(tracepoints) / sizeof(tracepoints[0]);

	(void)state;
	assert_int_equal(n, RECORD_CLASS_COUNT - 1);
	assert_int_equal(RECORD_RESTORED, RECORD_CLASS_COUNT - 1);
	for (size_t i = 0; i < n; i++) {
		int class = schema_find(tracepoints[i].name);
		const struct tracepoint_field *field = tracepoints[i].fields;
		const struct schema_class *schema;

		assert_true(class >= 0);
		schema = schema_of((enum record_class) class);
		for (uint32_t k = 0; k < schema->n_fields; k++, field++) {
			assert_non_null(field->name);
			assert_string_equal(field->name, schema->fields[k].name);
			assert_string_equal(field->type, recorded_type(schema->fields[k].type));
		}
		assert_null(field->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schema__describes_every_member_of_every_payload),
		cmocka_unit_test(test_schema__gives_every_field_a_place_in_its_record),
		cmocka_unit_test(test_schema__finds_every_class_by_its_name),
		cmocka_unit_test(test_schema__tells_unknown_events_from_foreign_ones),
		cmocka_unit_test(test_schema__is_what_the_tracepoints_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
