/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled programs: the instructions by which events name what they are of. */
#include "base/array.h"
#include "xplane_impl.h"

enum hlo_field {
	PROTO_MODULE = 1,
	MODULE_COMPUTATION = 3,
	COMPUTATION_INSTRUCTION = 2,
	INSTRUCTION_NAME = 1,
	INSTRUCTION_OPCODE = 2,
	INSTRUCTION_METADATA = 7,
	INSTRUCTION_FIELD_COUNT,
	METADATA_OP_NAME = 2,
	METADATA_SOURCE_FILE = 3,
	METADATA_SOURCE_LINE = 4,
	METADATA_FIELD_COUNT
};

struct program {
	struct xplane *xplane;
	uint64_t id;
};

static int take_instruction(const struct program *program, struct protobuf message)
{
	struct protobuf_field of[INSTRUCTION_FIELD_COUNT], metadata[METADATA_FIELD_COUNT];
	struct xplane *xplane = program->xplane;
	struct xplane_file *file = &xplane->file;
	struct xplane_hlo *hlo;
	uint32_t name, place;
	int is_new;

	FLEXTRACE_TRY(xplane_read(xplane, message, of, INSTRUCTION_FIELD_COUNT));
	FLEXTRACE_TRY(xplane_intern(xplane, &of[INSTRUCTION_NAME].bytes, &name));
	is_new = MAP_PLACE(&file->hlo_index, program->id, name, file->hlos, file->n_hlos, &place);
	if (is_new <= 0)
		return is_new;
	hlo = &file->hlos[place];
	FLEXTRACE_TRY(xplane_intern(xplane, &of[INSTRUCTION_OPCODE].bytes, &hlo->opcode));
	FLEXTRACE_TRY(xplane_read(xplane, of[INSTRUCTION_METADATA].bytes, metadata,
	                          METADATA_FIELD_COUNT));
	FLEXTRACE_TRY(xplane_intern(xplane, &metadata[METADATA_OP_NAME].bytes, &hlo->op_name));
	hlo->source_line = metadata[METADATA_SOURCE_LINE].value;
	return xplane_intern(xplane, &metadata[METADATA_SOURCE_FILE].bytes, &hlo->source_file);
}

/* Goes down to the instructions: of messages in messages, a field of each has the next ones. */
static int descend(const struct program *program, struct protobuf message, const uint32_t *numbers)
{
	struct protobuf_field none[1];
	struct protobuf inner;

	if (!*numbers)
		return take_instruction(program, message);
	FLEXTRACE_TRY(xplane_read(program->xplane, message, none, 1)); /* counts what is damaged */
	while (xplane_next(&message, *numbers, &inner))
		FLEXTRACE_TRY(descend(program, inner, numbers + 1));
	return FLEXTRACE_OK;
}

int xplane_read_programs(struct xplane *xplane, const struct xplane_plane *plane)
{
	static const uint32_t way[] = {PROTO_MODULE, MODULE_COMPUTATION, COMPUTATION_INSTRUCTION,
	                               0};

	for (uint32_t i = 0; i < plane->n_events; i++) {
		struct program program = {xplane, plane->events[i].id};
		struct xplane_value said[SAID_COUNT] = {{0}};

		json_text_clear(&xplane->args);
		FLEXTRACE_TRY(xplane_read_stats(xplane, plane, plane->events[i].message, NAME_STAT,
		                                said));
		if (said[SAID_HLO_PROTO].bytes.at)
			FLEXTRACE_TRY(descend(&program, said[SAID_HLO_PROTO].bytes, way));
	}
	return FLEXTRACE_OK;
}

static void add_text(struct xplane *xplane, const char *name, uint32_t text)
{
	if (text)
		json_text_string(&xplane->args, name, string_get(xplane->import.strings, text));
}

void xplane_add_hlo(struct xplane *xplane, const struct xplane_value *said)
{
	uint32_t op = said[SAID_HLO_OP].text, place;
	const struct xplane_hlo *hlo;

	place = op ? map_find(&xplane->file.hlo_index, said[SAID_PROGRAM].number, op) : MAP_NONE;
	if (place == MAP_NONE)
		return;
	hlo = &xplane->file.hlos[place];
	add_text(xplane, "opcode", hlo->opcode);
	add_text(xplane, "op_name", hlo->op_name);
	add_text(xplane, "source_file", hlo->source_file);
	if (hlo->source_line)
		json_text_number(&xplane->args, "source_line", hlo->source_line);
}
