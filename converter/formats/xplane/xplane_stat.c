/* SPDX-License-Identifier: Apache-2.0 */
/* Stats: what the profiler says of an event, by names that stand in a table of the plane. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "xplane_impl.h"

enum stat_field {
	STAT_NAME = 1,
	STAT_DOUBLE = 2,
	STAT_UNSIGNED = 3,
	STAT_SIGNED = 4,
	STAT_TEXT = 5,
	STAT_BYTES = 6,
	STAT_NAME_OF_TEXT = 7
};

#define SAID(kind, member, is_shown) kind, offsetof(struct xplane_said, member), is_shown

const struct xplane_known *xplane_find_known(const char *name)
{
	static const struct xplane_known known[] = {
		{"correlation_id", SAID(XPLANE_NUMBER, correlation, false)},
		{"program_id", SAID(XPLANE_NUMBER, program, true)},
		{"profile_start_time", SAID(XPLANE_NUMBER, start_ns, true)},
		{"core_count", SAID(XPLANE_NUMBER, n_cores, true)},
		{"clock_rate", SAID(XPLANE_NUMBER, clock_khz, true)},
		{"hlo_op", SAID(XPLANE_STRING, hlo_op, true)},
		{"memcpy_details", SAID(XPLANE_STRING, memcpy, true)},
		{"memset_details", SAID(XPLANE_STRING, memset, true)},
		{"device_type_string", SAID(XPLANE_STRING, device_type, true)},
		{"device_vendor", SAID(XPLANE_STRING, vendor, true)},
		{"Hlo Proto", SAID(XPLANE_BYTES, hlo_proto, false)},
		{"hlo_proto", SAID(XPLANE_BYTES, hlo_proto, false)},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	}
	return NULL;
}

/* -- one stat --------------------------------------------------------------------------------- */

struct stat {
	const struct xplane_stat_name *name; /* weak; NULL: no table has it */
	enum stat_field kind;                /* STAT_NAME: there is no value */
	uint64_t number;
	uint32_t text; /* string */
	struct protobuf bytes;
};

static const struct xplane_stat_name *find_name(const struct xplane_plane *plane, uint64_t id)
{
	uint32_t place = map_find(&plane->stat_index, id, 0);

	return place == MAP_NONE ? NULL : &plane->stats[place];
}

/* Texts that come again stand as names in the table of names. */
static int take_value(struct xplane *xplane, const struct xplane_plane *plane,
                      const struct protobuf_field *field, struct stat *stat)
{
	const struct xplane_stat_name *text;

	stat->kind = (enum stat_field)field->number;
	stat->number = field->value;
	stat->bytes = field->bytes;
	if (stat->kind == STAT_TEXT)
		return xplane_intern(xplane, &field->bytes, &stat->text);
	if (stat->kind != STAT_NAME_OF_TEXT)
		return FLEXTRACE_OK;
	text = find_name(plane, field->value);
	stat->kind = text ? STAT_TEXT : STAT_UNSIGNED;
	stat->text = text ? text->name : 0;
	return FLEXTRACE_OK;
}

static int read_stat(struct xplane *xplane, const struct xplane_plane *plane,
                     struct protobuf message, struct stat *ret_stat)
{
	struct protobuf_field field;
	int code;

	*ret_stat = (struct stat){.kind = STAT_NAME};
	while ((code = protobuf_next(&message, &field)) > 0) {
		if (field.number == STAT_NAME)
			ret_stat->name = find_name(plane, field.value);
		else if (field.number <= STAT_NAME_OF_TEXT)
			FLEXTRACE_TRY(take_value(xplane, plane, &field, ret_stat));
	}
	return code < 0 ? xplane_damaged(xplane, &message) : FLEXTRACE_OK;
}

/* -- what it says ----------------------------------------------------------------------------- */

static void add_double(struct json_text *args, const char *name, uint64_t bits)
{
	double number = protobuf_double(bits);

	json_text_member(args, name);
	if (isfinite(number))
		writer_format(&args->writer, "%.17g", number);
	else
		writer_format(&args->writer, "\"%g\"", number);
	args->is_first = false;
}

static void add_arg(struct xplane *xplane, const struct stat *stat)
{
	const char *name = string_get(xplane->import.strings, stat->name->name);
	struct json_text *args = &xplane->args;

	switch (stat->kind) {
	case STAT_DOUBLE:
		add_double(args, name, stat->number);
		break;
	case STAT_SIGNED:
		json_text_member(args, name);
		writer_i64(&args->writer, (int64_t)stat->number);
		args->is_first = false;
		break;
	case STAT_TEXT:
		json_text_string(args, name, string_get(xplane->import.strings, stat->text));
		break;
	case STAT_BYTES:
		json_text_member(args, name);
		writer_format(&args->writer, "\"%zu bytes\"", protobuf_length(&stat->bytes));
		args->is_first = false;
		break;
	default:
		json_text_number(args, name, stat->number);
		break;
	}
}

static void keep(struct xplane_said *said, const struct stat *stat)
{
	const struct xplane_known *known = stat->name->known;
	char *at = (char *)said + known->offset;

	if (known->kind == XPLANE_NUMBER)
		memcpy(at, &stat->number, sizeof(stat->number));
	else if (known->kind == XPLANE_STRING)
		memcpy(at, &stat->text, sizeof(stat->text));
	else
		memcpy(at, &stat->bytes, sizeof(stat->bytes));
}

static void take_stat(struct xplane *xplane, const struct stat *stat, struct xplane_said *said)
{
	const struct xplane_known *known = stat->name->known;

	if (known)
		keep(said, stat);
	if (!known || known->is_shown)
		add_arg(xplane, stat);
}

int xplane_read_stats(struct xplane *xplane, const struct xplane_plane *plane,
                      struct protobuf message, uint32_t number, struct xplane_said *said)
{
	struct protobuf_field field;
	struct stat stat;

	/* What is damaged is counted by who reads the rest of the message. */
	while (protobuf_next(&message, &field) > 0) {
		if (field.number != number || field.wire != PROTOBUF_BYTES)
			continue;
		FLEXTRACE_TRY(read_stat(xplane, plane, field.bytes, &stat));
		if (!stat.name || stat.kind == STAT_NAME)
			FLEXTRACE_TRY(import_reject(&xplane->import, LOSS_MALFORMED,
			                            "a stat has no name or no value",
			                            (uint64_t)(field.bytes.at - xplane->bytes)));
		else
			take_stat(xplane, &stat, said);
	}
	return FLEXTRACE_OK;
}
