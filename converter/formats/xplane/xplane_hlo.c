/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled programs: the instructions by which events name what they are of. */
#include <string.h>

#include "xplane_impl.h"

enum hlo_field {
	PROTO_MODULE = 1,
	MODULE_COMPUTATION = 3,
	COMPUTATION_INSTRUCTION = 2,
	COMPUTATION_ID = 5,
	COMPUTATION_FIELD_COUNT,
	INSTRUCTION_NAME = 1,
	INSTRUCTION_OPCODE = 2,
	INSTRUCTION_METADATA = 7,
	INSTRUCTION_FIELD_COUNT,
	INSTRUCTION_CALLED = 38,
	METADATA_OP_NAME = 2,
	METADATA_SOURCE_FILE = 3,
	METADATA_SOURCE_LINE = 4,
	METADATA_FIELD_COUNT
};

#define MAX_FUSED       16  /* names that a fusion is told to be of */
#define MAX_FUSED_STEPS 256 /* instructions of it that are looked at */

struct program {
	struct xplane *xplane;
	uint64_t id;
	struct map computations; /* by id: the place of its newest instruction */
	uint32_t newest;         /* of the one that is read; FLEXTRACE_NONE: none yet */
};

/* The first computation that an instruction calls; -1: none. */
static int64_t called_by(struct protobuf message)
{
	struct protobuf ids;
	uint64_t id;

	return xplane_next(&message, INSTRUCTION_CALLED, &ids) && protobuf_varint(&ids, &id)
	               ? (int64_t)id
	               : -1;
}

static int take_instruction(struct program *program, struct protobuf message)
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
	hlo->called = called_by(message);
	hlo->before = program->newest;
	program->newest = place;
	FLEXTRACE_TRY(xplane_intern(xplane, &of[INSTRUCTION_OPCODE].bytes, &hlo->opcode));
	FLEXTRACE_TRY(xplane_read(xplane, of[INSTRUCTION_METADATA].bytes, metadata,
	                          METADATA_FIELD_COUNT));
	FLEXTRACE_TRY(xplane_intern(xplane, &metadata[METADATA_OP_NAME].bytes, &hlo->op_name));
	hlo->source_line = metadata[METADATA_SOURCE_LINE].value;
	return xplane_intern(xplane, &metadata[METADATA_SOURCE_FILE].bytes, &hlo->source_file);
}

static int take_computation(struct program *program, struct protobuf message)
{
	struct protobuf_field of[COMPUTATION_FIELD_COUNT];
	struct protobuf inner;

	program->newest = FLEXTRACE_NONE;
	FLEXTRACE_TRY(xplane_read(program->xplane, message, of, COMPUTATION_FIELD_COUNT));
	while (xplane_next(&message, COMPUTATION_INSTRUCTION, &inner))
		FLEXTRACE_TRY(take_instruction(program, inner));
	return map_put(&program->computations, of[COMPUTATION_ID].value, 0, program->newest);
}

/* Goes down to the computations: of messages in messages, a field of each has the next ones. */
static int descend(struct program *program, struct protobuf message, const uint32_t *numbers)
{
	struct protobuf_field none[1];
	struct protobuf inner;

	if (!*numbers)
		return take_computation(program, message);
	FLEXTRACE_TRY(xplane_read(program->xplane, message, none, 1)); /* counts what is damaged */
	while (xplane_next(&message, *numbers, &inner))
		FLEXTRACE_TRY(descend(program, inner, numbers + 1));
	return FLEXTRACE_OK;
}

/* -- fusions ----------------------------------------------------------------------------------- */

/* Stores the different names of the instructions from one on; returns how many. */
static uint32_t find_names(const struct xplane_file *file, uint32_t place, uint32_t *ret_names)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MAX_FUSED_STEPS && place != FLEXTRACE_NONE && n < MAX_FUSED; i++) {
		uint32_t name = file->hlos[place].op_name, at = 0;

		while (at < n && ret_names[at] != name)
			at++;
		ret_names[n] = name;
		n += name && at == n;
		place = file->hlos[place].before;
	}
	return n;
}

/* What a fusion was made of, where that is more than one thing. */
static int tell_fused(struct program *program, struct xplane_hlo *hlo)
{
	struct xplane *xplane = program->xplane;
	const struct string_pool *strings = xplane->import.strings;
	uint32_t names[MAX_FUSED + 1], place, n;
	struct json_text text = JSON_TEXT_INIT;

	if (hlo->called < 0 || strcmp(string_get(strings, hlo->opcode), "fusion") != 0)
		return FLEXTRACE_OK;
	place = map_find(&program->computations, (uint64_t)hlo->called, 0);
	n = place == MAP_NONE ? 0 : find_names(&xplane->file, place, names);
	if (n < 2)
		return FLEXTRACE_OK;
	json_text_open(&text, '[');
	while (n-- > 0) {
		if (!text.is_first)
			writer_char(&text.writer, ',');
		text.is_first = false;
		writer_json_ours(&text.writer, string_get(strings, names[n]),
		                 string_length(strings, names[n]));
	}
	json_text_close(&text, ']');
	return json_text_intern(&text, &xplane->import.cache, &hlo->fused);
}

static int read_program(struct program *program, struct protobuf proto)
{
	static const uint32_t way[] = {PROTO_MODULE, MODULE_COMPUTATION, 0};
	struct xplane_file *file = &program->xplane->file;
	uint32_t first = file->n_hlos;
	int code = descend(program, proto, way);

	for (uint32_t i = first; i < file->n_hlos && code == FLEXTRACE_OK; i++)
		code = tell_fused(program, &file->hlos[i]);
	map_release(&program->computations);
	return code;
}

int xplane_read_programs(struct xplane *xplane, const struct xplane_plane *plane)
{
	for (uint32_t i = 0; i < plane->n_events; i++) {
		struct program program = {.xplane = xplane, .id = plane->events[i].id};
		struct xplane_value said[SAID_COUNT] = {{0}};

		json_text_clear(&xplane->args);
		FLEXTRACE_TRY(xplane_read_stats(xplane, plane, plane->events[i].message, NAME_STAT,
		                                said));
		if (said[SAID_HLO_PROTO].bytes.at)
			FLEXTRACE_TRY(read_program(&program, said[SAID_HLO_PROTO].bytes));
	}
	return FLEXTRACE_OK;
}

/* -- what is told of an event ------------------------------------------------------------------ */

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
	if (hlo->fused)
		json_text_raw(&xplane->args, "op_names",
		              string_get(xplane->import.strings, hlo->fused));
	add_text(xplane, "source_file", hlo->source_file);
	if (hlo->source_line)
		json_text_number(&xplane->args, "source_line", hlo->source_line);
}
