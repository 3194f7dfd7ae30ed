/* SPDX-License-Identifier: Apache-2.0 */
#include "event.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "environment.h"

#define PAYLOAD_OFFSET offsetof(struct event, payload)

/* -- event classes, once ----------------------------------------------------------------------- */

/* Returns the index of a member, or -1. LTTng's hidden length members have names of their own. */
static int find_member(const bt_field_class *structure, const char *name)
{
	uint64_t n = structure ? bt_field_class_structure_get_member_count(structure) : 0;

	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(structure, i);

		if (strcmp(bt_field_class_structure_member_get_name(member), name) == 0)
			return (int)i;
	}
	return -1;
}

static bool is_integer(const bt_field_class *class, bool *ret_is_signed)
{
	bt_field_class_type type = bt_field_class_get_type(class);

	*ret_is_signed = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER);
}

static bool is_unsigned(const bt_field_class *class)
{
	bool is_signed;

	return is_integer(class, &is_signed) && !is_signed;
}

/* Whether a member of this class can be read as `type`. */
static bool fits(const bt_field_class *class, enum schema_type type, bool *ret_is_signed)
{
	bt_field_class_type bt_type = bt_field_class_get_type(class);

	*ret_is_signed = false;
	switch (type) {
	case SCHEMA_U32:
	case SCHEMA_I32:
	case SCHEMA_U64:
		return is_integer(class, ret_is_signed);
	case SCHEMA_DOUBLE:
		return bt_type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL;
	case SCHEMA_STRING:
		return bt_type == BT_FIELD_CLASS_TYPE_STRING;
	case SCHEMA_TS:
		return bt_type == BT_FIELD_CLASS_TYPE_STATIC_ARRAY &&
		       bt_field_class_array_static_get_length(class) == FLEXTRACE_N_STAMPS &&
		       is_unsigned(bt_field_class_array_borrow_element_field_class_const(class));
	case SCHEMA_TS64:
	case SCHEMA_WORDS:
		return bt_field_class_type_is(bt_type, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY) &&
		       is_unsigned(bt_field_class_array_borrow_element_field_class_const(class));
	}
	return false;
}

/* Resolves one member: 1 found, 0 absent, -1 of a wrong type. */
static int resolve(const bt_field_class *structure, const char *name, enum schema_type type,
                   size_t offset, struct event_field *ret_field)
{
	int member = find_member(structure, name);
	const bt_field_class_structure_member *found;
	bool is_signed;

	if (member < 0)
		return 0;
	found = bt_field_class_structure_borrow_member_by_index_const(structure, (uint64_t)member);
	if (!fits(bt_field_class_structure_member_borrow_field_class_const(found), type,
	          &is_signed))
		return -1;
	*ret_field = (struct event_field){(uint16_t)member, (uint16_t)offset, (uint8_t)type,
	                                  is_signed};
	return 1;
}

/* What may be negative is -1, not known, where the trace has no such member; else 0 or "". */
static void set_default(struct event *event, const struct schema_field *field)
{
	char *member = (char *)event + PAYLOAD_OFFSET + field->offset;

	if (field->type == SCHEMA_STRING)
		*(const char **)member = "";
	if (field->type == SCHEMA_I32)
		*(int32_t *)member = -1;
}

static void resolve_payload(struct event_class *class, const bt_field_class *structure)
{
	const struct schema_class *schema = schema_of((enum record_class) class->class);

	assert(schema->n_fields <= EVENT_MAX_FIELDS);
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct schema_field *field = &schema->fields[i];
		int found = resolve(structure, field->name, field->type,
		                    PAYLOAD_OFFSET + field->offset,
		                    &class->payload[class->n_payload]);

		set_default(&class->event, field);
		if (found > 0)
			class->n_payload++;
		else if (found < 0 || field->is_required)
			class->is_malformed = true;
	}
}

/* A context of a wrong type counts as absent: the records are still good. */
static void resolve_context(struct event_class *class, const bt_field_class *structure)
{
	static const struct {
		const char *name;
		size_t offset;
	} contexts[] = {{"vpid", offsetof(struct event, vpid)},
	                {"vtid", offsetof(struct event, vtid)},
	                {STATUS_NAME, offsetof(struct event, status)}};

	struct event_field origins;

	class->event.vpid = -1;
	class->event.vtid = -1;
	class->origins = -1;
	for (int i = 0; i < 3; i++)
		if (resolve(structure, contexts[i].name, SCHEMA_I32, contexts[i].offset,
		            &class->context[class->n_context]) > 0)
			class->n_context++;
	if (resolve(structure, ORIGINS_NAME, SCHEMA_WORDS, 0, &origins) > 0)
		class->origins = origins.member;
}

static void find_dialects(const bt_stream_class *stream, bool has[RECORD_CLASS_COUNT],
                          bool is_there[RECORD_CLASS_COUNT])
{
	uint64_t n = bt_stream_class_get_event_class_count(stream);

	for (uint64_t i = 0; i < n; i++) {
		const bt_event_class *bt = bt_stream_class_borrow_event_class_by_index_const(stream,
		                                                                             i);
		const char *name = bt_event_class_get_name(bt);
		int class = name ? schema_find(name) : -1;

		if (class != RECORD_PROCESS && class != RECORD_SCOPE)
			continue;
		is_there[class] = true;
		has[class] |= find_member(bt_event_class_borrow_payload_field_class_const(bt),
		                          class == RECORD_PROCESS ? "dialect" : "args") >= 0;
	}
}

bool event_classes_have_dialects(const bt_trace_class *trace)
{
	bool has[RECORD_CLASS_COUNT] = {0}, is_there[RECORD_CLASS_COUNT] = {0};
	uint64_t n = bt_trace_class_get_stream_class_count(trace);

	for (uint64_t i = 0; i < n; i++)
		find_dialects(bt_trace_class_borrow_stream_class_by_index_const(trace, i), has,
		              is_there);
	return is_there[RECORD_PROCESS] ? has[RECORD_PROCESS] : has[RECORD_SCOPE];
}

void event_class_init(struct event_class *class, const bt_event_class *bt)
{
	const char *name = bt_event_class_get_name(bt);
	const bt_stream_class *stream = bt_event_class_borrow_stream_class_const(bt);

	memset(class, 0, sizeof(*class));
	class->bt = bt;
	bt_event_class_get_ref(bt);
	class->class = name ? schema_find(name) : -1;
	if (class->class < 0)
		return;
	class->event.class = (enum record_class) class->class;
	resolve_payload(class, bt_event_class_borrow_payload_field_class_const(bt));
	resolve_context(class,
	                bt_stream_class_borrow_event_common_context_field_class_const(stream));
}

void event_class_release(struct event_class *class)
{
	bt_event_class_put_ref(class->bt);
}

/* -- events ------------------------------------------------------------------------------------ */

/* Reads an integer of either sign into [0, max]. */
static bool read_unsigned(const bt_field *field, bool is_signed, uint64_t max, uint64_t *ret_value)
{
	if (is_signed) {
		int64_t value = bt_field_integer_signed_get_value(field);

		*ret_value = (uint64_t)value;
		return value >= 0 && (uint64_t)value <= max;
	}
	*ret_value = bt_field_integer_unsigned_get_value(field);
	return *ret_value <= max;
}

static bool read_i32(const bt_field *field, bool is_signed, int32_t *ret_value)
{
	int64_t value;

	if (is_signed) {
		value = bt_field_integer_signed_get_value(field);
	} else {
		uint64_t wide = bt_field_integer_unsigned_get_value(field);

		value = wide > INT32_MAX ? INT64_MAX : (int64_t)wide;
	}
	*ret_value = (int32_t)value;
	return value >= INT32_MIN && value <= INT32_MAX;
}

static bool read_stamps(const bt_field *field, uint32_t *ret_ts)
{
	bool is_good = true;

	for (uint64_t i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		uint64_t value = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(field, i));

		ret_ts[i] = (uint32_t)value;
		is_good &= value <= UINT32_MAX;
	}
	return is_good;
}

static int read_wide_stamps(const bt_field *field, uint64_t *ret_ts)
{
	uint64_t n = bt_field_array_get_length(field);

	memset(ret_ts, 0, FLEXTRACE_N_STAMPS * sizeof(*ret_ts));
	if (n != 0 && n != FLEXTRACE_N_STAMPS)
		return FLEXTRACE_E_INPUT;
	for (uint64_t i = 0; i < n; i++)
		ret_ts[i] = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(field, i));
	return 0;
}

static int read_words(const bt_field *field, struct event_words *words,
                      struct flextrace_marker_batch *batch)
{
	uint64_t n = bt_field_array_get_length(field);

	if (n > UINT32_MAX)
		return FLEXTRACE_E_INPUT;
	FLEXTRACE_TRY(ARRAY_RESERVE(words->words, words->n_allocated, n));
	for (uint64_t i = 0; i < n; i++)
		words->words[i] = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(field, i));
	batch->words = words->words;
	batch->n_words = (uint32_t)n;
	return 0;
}

/* babeltrace2 2.0 leaves the text of an earlier event in place of an empty one; only the length is
 * right. */
static const char *read_string(const bt_field *field)
{
	return bt_field_string_get_length(field) ? bt_field_string_get_value(field) : "";
}

static int read_field(const struct event_field *to, const bt_field *field,
                      struct event_words *words, struct event *event)
{
	void *member = (char *)event + to->offset;
	bool is_good = true;
	uint64_t value;

	switch ((enum schema_type)to->type) {
	case SCHEMA_STRING:
		*(const char **)member = read_string(field);
		break;
	case SCHEMA_U64:
		is_good = read_unsigned(field, to->is_signed, UINT64_MAX, (uint64_t *)member);
		break;
	case SCHEMA_U32:
		is_good = read_unsigned(field, to->is_signed, UINT32_MAX, &value);
		*(uint32_t *)member = (uint32_t)value;
		break;
	case SCHEMA_I32:
		is_good = read_i32(field, to->is_signed, (int32_t *)member);
		break;
	case SCHEMA_DOUBLE:
		*(double *)member = bt_field_real_double_precision_get_value(field);
		break;
	case SCHEMA_TS:
		is_good = read_stamps(field, (uint32_t *)member);
		break;
	case SCHEMA_TS64:
		return read_wide_stamps(field, (uint64_t *)member);
	case SCHEMA_WORDS:
		return read_words(field, words, &event->payload.marker_batch);
	}
	return is_good ? 0 : FLEXTRACE_E_INPUT;
}

static int read_structure(const struct event_field *fields, uint32_t n, const bt_field *structure,
                          struct event_words *words, struct event *event)
{
	for (uint32_t i = 0; i < n; i++)
		FLEXTRACE_TRY(read_field(&fields[i],
		                         bt_field_structure_borrow_member_field_by_index_const(
						 structure, fields[i].member),
		                         words, event));
	return 0;
}

/* Of more than there can be, the first ones. */
static void read_origins(const bt_field *field, struct event *event)
{
	uint64_t n = bt_field_array_get_length(field);

	event->n_origins = n < 1 + ORIGIN_N_PARTS ? (uint32_t)n : 1 + ORIGIN_N_PARTS;
	for (uint32_t i = 0; i < event->n_origins; i++) {
		uint64_t number = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(field, i));

		event->origins[i] = (struct origin){(uint32_t)(number >> 32), (uint32_t)number,
		                                    false};
	}
}

int event_read(struct event_class *class, const bt_event *event, struct event_words *words)
{
	if (class->n_context)
		FLEXTRACE_TRY(read_structure(class->context, class->n_context,
		                             bt_event_borrow_common_context_field_const(event),
		                             words, &class->event));
	if (class->origins >= 0)
		read_origins(bt_field_structure_borrow_member_field_by_index_const(
				     bt_event_borrow_common_context_field_const(event),
				     (uint64_t) class->origins),
		             &class->event);
	if (class->n_payload)
		FLEXTRACE_TRY(read_structure(class->payload, class->n_payload,
		                             bt_event_borrow_payload_field_const(event), words,
		                             &class->event));
	return 0;
}
