/* SPDX-License-Identifier: Apache-2.0 */
/* Stats: what the profiler says of an event, by names that stand in a table of the plane. */
#include <math.h>
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

enum xplane_stat xplane_stat_of(const char *name)
{
	static const struct {
		const char *name;
		enum xplane_stat is;
	} names[] = {
		{"correlation_id", XPLANE_CORRELATION},
		{"memcpy_details", XPLANE_MEMCPY},
		{"memset_details", XPLANE_MEMSET},
		{"hlo_op", XPLANE_HLO_OP},
		{"program_id", XPLANE_PROGRAM},
		{"Hlo Proto", XPLANE_HLO_PROTO},
		{"hlo_proto", XPLANE_HLO_PROTO},
		{"profile_start_time", XPLANE_START_NS},
		{"core_count", XPLANE_CORES},
		{"clock_rate", XPLANE_CLOCK_KHZ},
		{"device_type_string", XPLANE_DEVICE_TYPE},
		{"device_vendor", XPLANE_VENDOR},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i].name, name) == 0)
			return names[i].is;
	}
	return XPLANE_OTHER;
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

/* Keeps what is looked at. True: it stands elsewhere in what we write. */
static bool keep(struct xplane_said *said, const struct stat *stat)
{
	switch (stat->name->is) {
	case XPLANE_CORRELATION:
		said->correlation = stat->number;
		return true;
	case XPLANE_HLO_PROTO:
		said->hlo_proto = stat->bytes;
		return true;
	case XPLANE_PROGRAM:
		said->program = stat->number;
		break;
	case XPLANE_START_NS:
		said->start_ns = stat->number;
		break;
	case XPLANE_CORES:
		said->n_cores = stat->number;
		break;
	case XPLANE_CLOCK_KHZ:
		said->clock_khz = stat->number;
		break;
	case XPLANE_MEMCPY:
		said->memcpy = stat->text;
		break;
	case XPLANE_MEMSET:
		said->memset = stat->text;
		break;
	case XPLANE_HLO_OP:
		said->hlo_op = stat->text;
		break;
	case XPLANE_DEVICE_TYPE:
		said->device_type = stat->text;
		break;
	case XPLANE_VENDOR:
		said->vendor = stat->text;
		break;
	case XPLANE_OTHER:
		break;
	}
	return false;
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
		else if (!keep(said, &stat))
			add_arg(xplane, &stat);
	}
	return FLEXTRACE_OK;
}
