/* SPDX-License-Identifier: Apache-2.0 */
#include "source_stream.h"

#include <stdio.h>

#include "bt2/read/environment.h"
#include "model/schema.h"

#define NS_PER_S INT64_C(1000000000)

/* -- field classes: functions return NULL where there is no memory ----------------------------- */

static bt_field_class *unsigned_class(bt_trace_class *trace, uint64_t n_bits)
{
	bt_field_class *class = bt_field_class_integer_unsigned_create(trace);

	if (class)
		bt_field_class_integer_set_field_value_range(class, n_bits);
	return class;
}

static bt_field_class *signed_class(bt_trace_class *trace)
{
	bt_field_class *class = bt_field_class_integer_signed_create(trace);

	if (class)
		bt_field_class_integer_set_field_value_range(class, 32);
	return class;
}

/* Of so many elements; 0: of any number. */
static bt_field_class *array_class(bt_trace_class *trace, uint64_t n_bits, uint64_t n)
{
	bt_field_class *element = unsigned_class(trace, n_bits), *class = NULL;

	if (element)
		class = n ? bt_field_class_array_static_create(trace, element, n)
		          : bt_field_class_array_dynamic_create(trace, element, NULL);
	bt_field_class_put_ref(element);
	return class;
}

static bt_field_class *class_of(bt_trace_class *trace, enum schema_type type)
{
	switch (type) {
	case SCHEMA_U32:
		return unsigned_class(trace, 32);
	case SCHEMA_I32:
		return signed_class(trace);
	case SCHEMA_U64:
		return unsigned_class(trace, 64);
	case SCHEMA_DOUBLE:
		return bt_field_class_real_double_precision_create(trace);
	case SCHEMA_STRING:
		return bt_field_class_string_create(trace);
	case SCHEMA_TS:
		return array_class(trace, 32, FLEXTRACE_N_STAMPS);
	case SCHEMA_TS64:
	case SCHEMA_WORDS:
		return array_class(trace, 64, 0);
	}
	return NULL;
}

static int add_member(bt_field_class *structure, const char *name, bt_field_class *class)
{
	bool is_good = class && bt_field_class_structure_append_member(structure, name, class) ==
	                                BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK;

	bt_field_class_put_ref(class);
	return is_good ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

static int add_fields(bt_field_class *structure, bt_trace_class *trace,
                      const struct schema_class *schema)
{
	for (uint32_t i = 0; i < schema->n_fields; i++)
		FLEXTRACE_TRY(add_member(structure, schema->fields[i].name,
		                         class_of(trace, schema->fields[i].type)));
	return FLEXTRACE_OK;
}

/* -- classes --------------------------------------------------------------------------------- */

static int set_payload(bt_event_class *class, bt_trace_class *trace, enum record_class of)
{
	bt_field_class *payload = bt_field_class_structure_create(trace);
	int code = payload ? add_fields(payload, trace, schema_of(of)) : FLEXTRACE_E_MEMORY;

	if (code == FLEXTRACE_OK && bt_event_class_set_payload_field_class(class, payload))
		code = FLEXTRACE_E_MEMORY;
	bt_field_class_put_ref(payload);
	return code;
}

/* Only classes of events that there are: each is written into the metadata of a trace. */
static int add_event_class(struct source_stream *stream, enum record_class of)
{
	bt_stream_class *owner = bt_stream_borrow_class(stream->stream);
	bt_trace_class *trace = bt_stream_class_borrow_trace_class(owner);
	bt_event_class *class = bt_event_class_create(owner);
	char name[64];
	int code;

	if (!class)
		return FLEXTRACE_E_MEMORY;
	snprintf(name, sizeof(name), "flextrace:%s", schema_of(of)->name);
	code = set_payload(class, trace, of);
	if (code == FLEXTRACE_OK && bt_event_class_set_name(class, name))
		code = FLEXTRACE_E_MEMORY;
	stream->classes[of] = code == FLEXTRACE_OK ? class : NULL;
	bt_event_class_put_ref(class);
	return code;
}

static int set_context(bt_stream_class *class, bt_trace_class *trace)
{
	bt_field_class *context = bt_field_class_structure_create(trace);
	int code = context ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	if (code == FLEXTRACE_OK)
		code = add_member(context, "vpid", signed_class(trace));
	if (code == FLEXTRACE_OK)
		code = add_member(context, "vtid", signed_class(trace));
	if (code == FLEXTRACE_OK)
		code = add_member(context, ORIGINS_NAME, array_class(trace, 64, 0));
	if (code == FLEXTRACE_OK)
		code = add_member(context, STATUS_NAME, signed_class(trace));
	if (code == FLEXTRACE_OK &&
	    bt_stream_class_set_event_common_context_field_class(class, context))
		code = FLEXTRACE_E_MEMORY;
	bt_field_class_put_ref(context);
	return code;
}

/* The clock counts from the Unix epoch, or from a boot of which nobody knows when it was; to say
 * so would keep babeltrace2 from showing ranks together. */
static int set_clock(bt_stream_class *class, bt_self_component *self, int64_t offset_ns)
{
	bt_clock_class *clock = bt_clock_class_create(self);
	int code = clock ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	if (clock)
		bt_clock_class_set_offset(clock, offset_ns / NS_PER_S,
		                          (uint64_t)(offset_ns % NS_PER_S));
	if (clock && (bt_clock_class_set_name(clock, "monotonic") ||
	              bt_stream_class_set_default_clock_class(class, clock)))
		code = FLEXTRACE_E_MEMORY;
	bt_clock_class_put_ref(clock);
	return code;
}

/* -- streams --------------------------------------------------------------------------------- */

static int create_stream(struct source_stream *stream, bt_stream_class *class,
                         bt_trace_class *trace_class, const struct source_origin *origin)
{
	const struct import_stream *of = origin->stream;
	bt_trace *trace = bt_trace_create(trace_class);
	int code = FLEXTRACE_E_MEMORY;

	if (!trace)
		return code;
	bt_trace_set_uuid(trace, of->uuid);
	if (bt_trace_set_environment_entry_string(trace, "hostname", IMPORT_HOST) == 0 &&
	    environment_set_uuid(trace, of->uuid) == 0 &&
	    environment_set_inputs(trace, &of->files) == 0 &&
	    (!origin->losses || environment_set_losses(trace, &origin->losses->losses) == 0))
		stream->stream = bt_stream_create_with_id(class, trace, of->instance);
	if (stream->stream)
		code = FLEXTRACE_OK;
	bt_trace_put_ref(trace);
	return code;
}

int source_stream_init(struct source_stream *stream, bt_self_component *self,
                       const struct source_origin *origin)
{
	bt_trace_class *trace = bt_trace_class_create(self);
	bt_stream_class *class = trace ? bt_stream_class_create(trace) : NULL;
	int code = class ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	*stream = (struct source_stream){.stream = NULL};
	if (class)
		bt_stream_class_set_assigns_automatic_stream_id(class, BT_FALSE);
	if (code == FLEXTRACE_OK)
		code = set_clock(class, self, origin->stream->clock_offset_ns);
	if (code == FLEXTRACE_OK)
		code = set_context(class, trace);
	if (code == FLEXTRACE_OK)
		code = create_stream(stream, class, trace, origin);
	bt_stream_class_put_ref(class);
	bt_trace_class_put_ref(trace);
	return code;
}

void source_stream_release(struct source_stream *stream)
{
	bt_stream_put_ref(stream->stream);
	*stream = (struct source_stream){.stream = NULL};
}

/* -- events ---------------------------------------------------------------------------------- */

static int set_stamps(bt_field *field, const uint32_t *ts)
{
	for (uint64_t i = 0; i < FLEXTRACE_N_STAMPS; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(field, i), ts[i]);
	return FLEXTRACE_OK;
}

static int set_wide_stamps(bt_field *field, const struct flextrace_device_op *op)
{
	uint64_t n = has_wide_stamps(op) ? FLEXTRACE_N_STAMPS : 0;

	if (bt_field_array_dynamic_set_length(field, n))
		return FLEXTRACE_E_MEMORY;
	for (uint64_t i = 0; i < n; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(field, i), op->ts64[i]);
	return FLEXTRACE_OK;
}

static int set_words(bt_field *field, const struct flextrace_marker_batch *batch)
{
	if (bt_field_array_dynamic_set_length(field, batch->n_words))
		return FLEXTRACE_E_MEMORY;
	for (uint64_t i = 0; i < batch->n_words; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(field, i), batch->words[i]);
	return FLEXTRACE_OK;
}

static int set_field(bt_field *field, enum schema_type type, const void *value)
{
	const char *text;

	switch (type) {
	case SCHEMA_U32:
		bt_field_integer_unsigned_set_value(field, *(const uint32_t *)value);
		return FLEXTRACE_OK;
	case SCHEMA_I32:
		bt_field_integer_signed_set_value(field, *(const int32_t *)value);
		return FLEXTRACE_OK;
	case SCHEMA_U64:
		bt_field_integer_unsigned_set_value(field, *(const uint64_t *)value);
		return FLEXTRACE_OK;
	case SCHEMA_DOUBLE:
		bt_field_real_double_precision_set_value(field, *(const double *)value);
		return FLEXTRACE_OK;
	case SCHEMA_STRING:
		text = *(const char *const *)value;
		return bt_field_string_set_value(field, text ? text : "") ? FLEXTRACE_E_MEMORY
		                                                          : FLEXTRACE_OK;
	case SCHEMA_TS:
		return set_stamps(field, value);
	case SCHEMA_TS64: /* see set_event() */
	case SCHEMA_WORDS:
		break;
	}
	return FLEXTRACE_OK;
}

static int set_origins(bt_field *field, const struct event *event)
{
	if (bt_field_array_dynamic_set_length(field, event->n_origins))
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < event->n_origins; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(field, i),
			(uint64_t)event->origins[i].file << 32 | event->origins[i].record);
	return FLEXTRACE_OK;
}

static int set_event(bt_event *bt, const struct event *event)
{
	const struct schema_class *schema = schema_of(event->class);
	bt_field *context = bt_event_borrow_common_context_field(bt);
	bt_field *payload = bt_event_borrow_payload_field(bt);

	bt_field_integer_signed_set_value(
		bt_field_structure_borrow_member_field_by_index(context, 0), event->vpid);
	bt_field_integer_signed_set_value(
		bt_field_structure_borrow_member_field_by_index(context, 1), event->vtid);
	bt_field_integer_signed_set_value(
		bt_field_structure_borrow_member_field_by_index(context, 3), event->status);
	FLEXTRACE_TRY(
		set_origins(bt_field_structure_borrow_member_field_by_index(context, 2), event));
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		bt_field *field = bt_field_structure_borrow_member_field_by_index(payload, i);
		const char *value = (const char *)&event->payload + schema->fields[i].offset;

		FLEXTRACE_TRY(schema->fields[i].type == SCHEMA_WORDS
		                      ? set_words(field, &event->payload.marker_batch)
		              : schema->fields[i].type == SCHEMA_TS64
		                      ? set_wide_stamps(field, &event->payload.device_op)
		                      : set_field(field, schema->fields[i].type, value));
	}
	return FLEXTRACE_OK;
}

bt_message *source_stream_message(struct source_stream *stream, bt_self_message_iterator *self,
                                  const struct event *event)
{
	bt_message *message;

	if (!stream->classes[event->class] && add_event_class(stream, event->class) < 0)
		return NULL;
	message = bt_message_event_create_with_default_clock_snapshot(
		self, stream->classes[event->class], stream->stream, event->clock_ns);
	if (message && set_event(bt_message_event_borrow_event(message), event) < 0)
		BT_MESSAGE_PUT_REF_AND_RESET(message);
	return message;
}
