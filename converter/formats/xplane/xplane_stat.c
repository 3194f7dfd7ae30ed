/* SPDX-License-Identifier: Apache-2.0 */
/* Stats: what the profiler says of an event, by names that stand in a table of the plane. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xplane_impl.h"

enum stat_field {
	STAT_NAME = 1,
	STAT_DOUBLE = 2,
	STAT_UNSIGNED = 3,
	STAT_SIGNED = 4,
	STAT_TEXT = 5,
	STAT_BYTES = 6,
	STAT_NAME_OF_TEXT = 7, /* texts that come again stand in the table of names */
	STAT_FIELD_COUNT
};

enum xplane_said xplane_find_said(const char *name)
{
	static const struct {
		const char *name;
		enum xplane_said said;
	} known[] = {
		{"correlation_id", SAID_CORRELATION}, {"program_id", SAID_PROGRAM},
		{"profile_start_time", SAID_START},   {"core_count", SAID_CORES},
		{"clock_rate", SAID_CLOCK},           {"hlo_op", SAID_HLO_OP},
		{"memcpy_details", SAID_MEMCPY},      {"memset_details", SAID_MEMSET},
		{"device_type_string", SAID_DEVICE},  {"device_vendor", SAID_VENDOR},
		{"Hlo Proto", SAID_HLO_PROTO},        {"hlo_proto", SAID_HLO_PROTO},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(known[i].name, name) == 0)
			return known[i].said;
	}
	return SAID_OTHER;
}

static const struct xplane_stat_name *find_name(const struct xplane_plane *plane, uint64_t id)
{
	uint32_t place = map_find(&plane->stat_index, id, 0);

	return place == MAP_NONE ? NULL : &plane->stats[place];
}

/* The field with the value: the last one that there is; STAT_NAME: none. */
static enum stat_field kind_of(const struct protobuf_field *fields)
{
	enum stat_field kind = STAT_NAME_OF_TEXT;

	while (kind > STAT_NAME && !fields[kind].number)
		kind--;
	return kind;
}

static void add_arg(struct json_text *args, const char *name, enum stat_field kind,
                    const struct xplane_value *value)
{
	double number = protobuf_double(value->number);
	char text[40];

	if (kind == STAT_DOUBLE)
		snprintf(text, sizeof(text), isfinite(number) ? "%.17g" : "\"%g\"", number);
	else if (kind == STAT_SIGNED)
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)value->number);
	else if (kind == STAT_BYTES)
		snprintf(text, sizeof(text), "\"%zu bytes\"", protobuf_length(&value->bytes));
	else
		snprintf(text, sizeof(text), "%" PRIu64, value->number);
	json_text_raw(args, name, text);
}

static int take_value(struct xplane *xplane, const struct xplane_plane *plane,
                      const struct xplane_stat_name *name, const struct protobuf_field *fields,
                      struct xplane_value *said)
{
	enum stat_field kind = kind_of(fields);
	struct xplane_value value = {fields[kind].value, 0, fields[kind].bytes};
	const struct xplane_stat_name *text = find_name(plane, value.number);
	const char *key = string_get(xplane->import.strings, name->name);

	if (kind == STAT_TEXT)
		FLEXTRACE_TRY(xplane_intern(xplane, &value.bytes, &value.text));
	else if (kind == STAT_NAME_OF_TEXT && text)
		value.text = text->name;
	if (name->said != SAID_OTHER)
		said[name->said] = value;
	if (name->said == SAID_CORRELATION || name->said == SAID_HLO_PROTO)
		return FLEXTRACE_OK;
	if (kind == STAT_TEXT || (kind == STAT_NAME_OF_TEXT && text))
		json_text_string(&xplane->args, key,
		                 string_get(xplane->import.strings, value.text));
	else
		add_arg(&xplane->args, key, kind, &value);
	return FLEXTRACE_OK;
}

int xplane_read_stats(struct xplane *xplane, const struct xplane_plane *plane,
                      struct protobuf message, uint32_t number, struct xplane_value *said)
{
	struct protobuf_field fields[STAT_FIELD_COUNT];
	const struct xplane_stat_name *name;
	struct protobuf stat;

	while (xplane_next(&message, number, &stat)) {
		FLEXTRACE_TRY(xplane_read(xplane, stat, fields, STAT_FIELD_COUNT));
		name = find_name(plane, fields[STAT_NAME].value);
		if (name && kind_of(fields) != STAT_NAME)
			FLEXTRACE_TRY(take_value(xplane, plane, name, fields, said));
		else
			FLEXTRACE_TRY(import_reject(&xplane->import, LOSS_MALFORMED,
			                            "a stat has no name or no value",
			                            (uint64_t)(stat.at - xplane->file.space.at)));
	}
	return FLEXTRACE_OK;
}
