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

/* What is written into, of which sequence, and how deep. */
struct place {
	struct perfetto *perfetto; /* weak, both */
	const struct perfetto_sequence *sequence;
	int depth;
};

static int put_value(struct place at, struct protobuf message, const struct protobuf_field *of);

static int reject(struct place at, const char *fault)
{
	return import_reject(&at.perfetto->import, LOSS_MALFORMED, fault, at.perfetto->file.place);
}

/* A text of its own, or an interned one. */
static int put_text(struct place at, const struct protobuf_field *text,
                    const struct protobuf_field *iid, uint32_t interned)
{
	const char *bytes;
	uint32_t string;

	FLEXTRACE_TRY(perfetto_text(at.perfetto, at.sequence, iid->number ? iid : text,
	                            iid->number ? interned : 0, &string));
	bytes = perfetto_string(at.perfetto, string);
	writer_json(&at.perfetto->members.writer, bytes, strlen(bytes));
	return FLEXTRACE_OK;
}

/* A key, which all but elements have, and a value. */
static int put_one(struct place at, struct protobuf message, bool has_key)
{
	struct protobuf_field of[ANNOTATION_STRING_IID + 1];
	struct protobuf rest = message;

	if (protobuf_read(&rest, of, ANNOTATION_STRING_IID + 1) < 0)
		FLEXTRACE_TRY(reject(at, "an argument is damaged"));
	if (has_key) {
		FLEXTRACE_TRY(put_text(at, &of[ANNOTATION_NAME], &of[ANNOTATION_NAME_IID],
		                       INTERNED_KEYS));
		writer_char(&at.perfetto->members.writer, ':');
	}
	return put_value(at, message, of);
}

/* The fields of a number: each a member, or an element. */
static int put_all(struct place at, struct protobuf message, uint32_t number)
{
	struct writer *writer = &at.perfetto->members.writer;
	bool is_dict = number == ANNOTATION_DICT, is_first = true;
	const struct place inside = {at.perfetto, at.sequence, at.depth + 1};
	struct protobuf_field field;

	writer_char(writer, is_dict ? '{' : '[');
	while (at.depth < MAX_DEPTH && protobuf_next(&message, &field) > 0) {
		if (field.number != number || field.wire != PROTOBUF_BYTES)
			continue;
		if (!is_first)
			writer_char(writer, ',');
		is_first = false;
		FLEXTRACE_TRY(put_one(inside, field.bytes, is_dict));
	}
	writer_char(writer, is_dict ? '}' : ']');
	return at.depth < MAX_DEPTH ? FLEXTRACE_OK : reject(at, "arguments are nested too deep");
}

/* Of Chrome: JSON as it is, if it is some. */
static int put_json(struct place at, const struct protobuf_field *text)
{
	uint32_t string;

	FLEXTRACE_TRY(perfetto_intern(at.perfetto, &text->bytes, &string));
	if (!told_is_json(perfetto_string(at.perfetto, string)))
		return put_text(at, text, &(struct protobuf_field){.number = 0}, 0);
	writer_raw(&at.perfetto->members.writer, perfetto_string(at.perfetto, string));
	return FLEXTRACE_OK;
}

/* In files of ours the text `null` is interned wherever it stands. */
static bool is_null(const struct perfetto *perfetto, const struct protobuf_field *text)
{
	return perfetto->file.is_ours && text->number && protobuf_length(&text->bytes) == 4 &&
	       memcmp(text->bytes.at, "null", 4) == 0;
}

static int put_value(struct place at, struct protobuf message, const struct protobuf_field *of)
{
	struct writer *writer = &at.perfetto->members.writer;
	double number = protobuf_double(of[ANNOTATION_DOUBLE].value);

	if (of[ANNOTATION_BOOL].number)
		writer_raw(writer, of[ANNOTATION_BOOL].value ? "true" : "false");
	else if (of[ANNOTATION_UINT].number)
		writer_u64(writer, of[ANNOTATION_UINT].value);
	else if (of[ANNOTATION_INT].number)
		writer_i64(writer, (int64_t)of[ANNOTATION_INT].value);
	else if (of[ANNOTATION_DOUBLE].number && isfinite(number))
		writer_double(writer, number);
	else if (of[ANNOTATION_DOUBLE].number)
		writer_format(writer, "\"%g\"", number);
	else if (of[ANNOTATION_POINTER].number)
		writer_format(writer, "\"0x%" PRIx64 "\"", of[ANNOTATION_POINTER].value);
	else if (of[ANNOTATION_LEGACY_JSON].number)
		return put_json(at, &of[ANNOTATION_LEGACY_JSON]);
	else if (is_null(at.perfetto, &of[ANNOTATION_STRING]))
		writer_raw(writer, "null");
	else if (of[ANNOTATION_STRING].number || of[ANNOTATION_STRING_IID].number)
		return put_text(at, &of[ANNOTATION_STRING], &of[ANNOTATION_STRING_IID],
		                INTERNED_STRINGS);
	else if (of[ANNOTATION_NESTED].number || of[ANNOTATION_PROTO].number)
		writer_format(writer, "\"%zu bytes\"",
		              protobuf_length(&of[ANNOTATION_NESTED].bytes) +
		                      protobuf_length(&of[ANNOTATION_PROTO].bytes));
	else
		return put_all(at, message,
		               of[ANNOTATION_DICT].number ? ANNOTATION_DICT : ANNOTATION_ARRAY);
	return FLEXTRACE_OK;
}

int perfetto_add_arg(struct perfetto *perfetto, const struct perfetto_sequence *sequence,
                     struct protobuf annotation)
{
	if (!perfetto->members.is_first)
		writer_char(&perfetto->members.writer, ',');
	perfetto->members.is_first = false;
	return put_one((struct place){perfetto, sequence, 0}, annotation, true);
}
