/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled programs: the instructions by which events name what they are of. */
#include "base/array.h"
#include "xplane_impl.h"

#define EVENT_NAME_STATS 5

enum hlo_field {
	PROTO_MODULE = 1,
	MODULE_COMPUTATION = 3,
	COMPUTATION_INSTRUCTION = 2,
	INSTRUCTION_NAME = 1,
	INSTRUCTION_OPCODE = 2,
	INSTRUCTION_METADATA = 7,
	METADATA_OP_NAME = 2,
	METADATA_SOURCE_FILE = 3,
	METADATA_SOURCE_LINE = 4
};

struct program {
	struct xplane *xplane;
	uint64_t id;
};

static int read_metadata(struct xplane *xplane, struct protobuf message, struct xplane_hlo *hlo)
{
	struct protobuf_field field;
	int code;

	while ((code = protobuf_next(&message, &field)) > 0) {
		if (field.number == METADATA_OP_NAME)
			FLEXTRACE_TRY(xplane_intern(xplane, &field.bytes, &hlo->op_name));
		else if (field.number == METADATA_SOURCE_FILE)
			FLEXTRACE_TRY(xplane_intern(xplane, &field.bytes, &hlo->source_file));
		else if (field.number == METADATA_SOURCE_LINE)
			hlo->source_line = field.value;
	}
	return code < 0 ? xplane_damaged(xplane, &message) : FLEXTRACE_OK;
}

static int take_instruction(struct program *program, struct protobuf message)
{
	struct xplane *xplane = program->xplane;
	struct xplane_hlo hlo = {.opcode = 0};
	struct protobuf_field field;
	uint32_t name = 0;
	int code;

	while ((code = protobuf_next(&message, &field)) > 0) {
		if (field.number == INSTRUCTION_NAME)
			FLEXTRACE_TRY(xplane_intern(xplane, &field.bytes, &name));
		else if (field.number == INSTRUCTION_OPCODE)
			FLEXTRACE_TRY(xplane_intern(xplane, &field.bytes, &hlo.opcode));
		else if (field.number == INSTRUCTION_METADATA)
			FLEXTRACE_TRY(read_metadata(xplane, field.bytes, &hlo));
	}
	if (code < 0)
		FLEXTRACE_TRY(xplane_damaged(xplane, &message));
	if (!name || map_find(&xplane->hlo_index, program->id, name) != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(map_put(&xplane->hlo_index, program->id, name, xplane->n_hlos));
	return ARRAY_PUSH(xplane->hlos, xplane->n_hlos, hlo);
}

/* Goes down to the instructions: of messages in messages, a field of each has the next ones. */
static int descend(struct program *program, struct protobuf message, const uint32_t *numbers)
{
	struct protobuf_field field;
	int code;

	if (!*numbers)
		return take_instruction(program, message);
	while ((code = protobuf_next(&message, &field)) > 0) {
		if (field.number == *numbers && field.wire == PROTOBUF_BYTES)
			FLEXTRACE_TRY(descend(program, field.bytes, numbers + 1));
	}
	return code < 0 ? xplane_damaged(program->xplane, &message) : FLEXTRACE_OK;
}

int xplane_read_programs(struct xplane *xplane, const struct xplane_plane *plane)
{
	static const uint32_t way[] = {PROTO_MODULE, MODULE_COMPUTATION, COMPUTATION_INSTRUCTION,
	                               0};

	for (uint32_t i = 0; i < plane->n_events; i++) {
		struct program program = {xplane, plane->events[i].id};
		struct xplane_said said = {.correlation = 0};

		json_text_clear(&xplane->args);
		FLEXTRACE_TRY(xplane_read_stats(xplane, plane, plane->events[i].message,
		                                EVENT_NAME_STATS, &said));
		if (said.hlo_proto.at)
			FLEXTRACE_TRY(descend(&program, said.hlo_proto, way));
	}
	return FLEXTRACE_OK;
}

static void add_text(struct xplane *xplane, const char *name, uint32_t text)
{
	if (text)
		json_text_string(&xplane->args, name, string_get(xplane->import.strings, text));
}

void xplane_add_hlo(struct xplane *xplane, const struct xplane_said *said)
{
	uint32_t place = said->hlo_op ? map_find(&xplane->hlo_index, said->program, said->hlo_op)
	                              : MAP_NONE;
	const struct xplane_hlo *hlo;

	if (place == MAP_NONE)
		return;
	hlo = &xplane->hlos[place];
	add_text(xplane, "opcode", hlo->opcode);
	add_text(xplane, "op_name", hlo->op_name);
	add_text(xplane, "source_file", hlo->source_file);
	if (hlo->source_line)
		json_text_number(&xplane->args, "source_line", hlo->source_line);
}
