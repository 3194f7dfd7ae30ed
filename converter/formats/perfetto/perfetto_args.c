/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations -> members of a JSON object. One without a value is a list without elements, as
 * Perfetto has it.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model/words/told.h"
#include "perfetto_impl.h"

#define MAX_DEPTH 32 /* of objects and lists in each other; what is deeper is none */

struct annotation {
	struct perfetto *perfetto; /* weak, both */
	const struct perfetto_sequence *sequence;
	struct protobuf_field of[ANNOTATION_STRING_IID + 1];
	struct protobuf message;
};

static int put_value(const struct annotation *annotation, int depth);

static void put_text(struct writer *writer, const char *text)
{
	writer_json(writer, text, strlen(text));
}

static void put_double(struct writer *writer, double number)
{
	if (isfinite(number))
		writer_double(writer, number);
	else
		writer_format(writer, "\"%g\"", number);
}

/* A key, which all but elements have, and a value. */
static int put_one(struct perfetto *perfetto, const struct perfetto_sequence *sequence,
                   struct protobuf message, bool has_key, int depth)
{
	struct annotation annotation = {perfetto, sequence, .message = message};
	struct writer *writer = &perfetto->members.writer;
	uint32_t key;

	if (protobuf_read(&message, annotation.of, ANNOTATION_STRING_IID + 1) < 0)
		FLEXTRACE_TRY(import_reject(&perfetto->import, LOSS_MALFORMED,
		                            "an argument is damaged", perfetto->file.place));
	if (has_key) {
		FLEXTRACE_TRY(perfetto_text(perfetto, sequence, &annotation.of[ANNOTATION_NAME],
		                            &annotation.of[ANNOTATION_NAME_IID], INTERNED_KEYS,
		                            &key));
		put_text(writer, perfetto_string(perfetto, key));
		writer_char(writer, ':');
	}
	return put_value(&annotation, depth);
}

/* The fields of a number: each a member, or an element. */
static int put_all(const struct annotation *annotation, uint32_t number, int depth)
{
	struct writer *writer = &annotation->perfetto->members.writer;
	struct protobuf message = annotation->message;
	bool is_dict = number == ANNOTATION_DICT, is_first = true;
	struct protobuf_field field;

	writer_char(writer, is_dict ? '{' : '[');
	while (depth < MAX_DEPTH && protobuf_next(&message, &field) > 0) {
		if (field.number != number || field.wire != PROTOBUF_BYTES)
			continue;
		if (!is_first)
			writer_char(writer, ',');
		is_first = false;
		FLEXTRACE_TRY(put_one(annotation->perfetto, annotation->sequence, field.bytes,
		                      is_dict, depth + 1));
	}
	writer_char(writer, is_dict ? '}' : ']');
	return depth < MAX_DEPTH ? FLEXTRACE_OK
	                         : import_reject(&annotation->perfetto->import, LOSS_MALFORMED,
	                                         "arguments are nested too deep",
	                                         annotation->perfetto->file.place);
}

static int put_string(const struct annotation *annotation)
{
	struct perfetto *perfetto = annotation->perfetto;
	uint32_t text;

	FLEXTRACE_TRY(
		perfetto_text(perfetto, annotation->sequence, &annotation->of[ANNOTATION_STRING],
	                      &annotation->of[ANNOTATION_STRING_IID], INTERNED_STRINGS, &text));
	put_text(&perfetto->members.writer, perfetto_string(perfetto, text));
	return FLEXTRACE_OK;
}

/* Of Chrome: JSON as it is, if it is some. */
static int put_json(const struct annotation *annotation)
{
	struct perfetto *perfetto = annotation->perfetto;
	const char *text;
	uint32_t string;

	FLEXTRACE_TRY(
		perfetto_intern(perfetto, &annotation->of[ANNOTATION_LEGACY_JSON].bytes, &string));
	text = perfetto_string(perfetto, string);
	if (told_is_json(text))
		writer_raw(&perfetto->members.writer, text);
	else
		put_text(&perfetto->members.writer, text);
	return FLEXTRACE_OK;
}

static int put_value(const struct annotation *annotation, int depth)
{
	struct writer *writer = &annotation->perfetto->members.writer;
	const struct protobuf_field *of = annotation->of;

	if (of[ANNOTATION_BOOL].number)
		writer_raw(writer, of[ANNOTATION_BOOL].value ? "true" : "false");
	else if (of[ANNOTATION_UINT].number)
		writer_u64(writer, of[ANNOTATION_UINT].value);
	else if (of[ANNOTATION_INT].number)
		writer_i64(writer, (int64_t)of[ANNOTATION_INT].value);
	else if (of[ANNOTATION_DOUBLE].number)
		put_double(writer, protobuf_double(of[ANNOTATION_DOUBLE].value));
	else if (of[ANNOTATION_POINTER].number)
		writer_format(writer, "\"0x%" PRIx64 "\"", of[ANNOTATION_POINTER].value);
	else if (of[ANNOTATION_LEGACY_JSON].number)
		return put_json(annotation);
	else if (of[ANNOTATION_STRING].number || of[ANNOTATION_STRING_IID].number)
		return put_string(annotation);
	else if (of[ANNOTATION_NESTED].number || of[ANNOTATION_PROTO].number)
		writer_format(writer, "\"%zu bytes\"",
		              protobuf_length(&of[ANNOTATION_NESTED].bytes) +
		                      protobuf_length(&of[ANNOTATION_PROTO].bytes));
	else
		return put_all(annotation,
		               of[ANNOTATION_DICT].number ? ANNOTATION_DICT : ANNOTATION_ARRAY,
		               depth);
	return FLEXTRACE_OK;
}

int perfetto_add_arg(struct perfetto *perfetto, const struct perfetto_sequence *sequence,
                     struct protobuf annotation)
{
	if (!perfetto->members.is_first)
		writer_char(&perfetto->members.writer, ',');
	perfetto->members.is_first = false;
	return put_one(perfetto, sequence, annotation, true, 0);
}
