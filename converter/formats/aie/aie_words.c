/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw trace words as text, one hexadecimal word a line: packets of a header and seven words. Those
 * of a unit are the bytes of its commands. Which event a slot has stands in event_slots.json beside
 * the file; without it slots are called by their number, and there are no kernels.
 *
 * Header: bits 4..0 packet id, 14..12 unit, 20..16 row, 27..21 column; 31 makes the parity odd, and
 * all others are 0.
 */
#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text/digits.h"
#include "aie_impl.h"

#define PACKET_WORDS  8
#define LOOK_WORDS    PACKET_WORDS
#define FILLER        0xa5a5a5a5u
#define ROOM          0x00fefefeu /* one command 0, then nothing */
#define HEADER_ZEROES 0x70088fe0u

const char *const aie_type_names[AIE_N_TYPES] = {"core", "mem", "shim", "memtile"};

/* -- words ----------------------------------------------------------------------------------- */

struct words {
	FILE *file;         /* weak */
	uint64_t n_bytes;   /* read */
	uint64_t n_lines;   /* that ended */
	uint64_t word_byte; /* offset of the last word */
	uint64_t word_line; /* of the last word, from 1 */
};

static int next_byte(struct words *words)
{
	int byte = getc_unlocked(words->file);

	words->n_bytes++;
	words->n_lines += byte == '\n';
	return byte;
}

/* Stores the next word. 1: there is one, 0: the end, -1: what stands there is none. */
static int next_word(struct words *words, uint32_t *ret_word)
{
	int byte = next_byte(words);
	bool is_good = true;
	uint32_t n = 0;

	while (byte != EOF && isspace(byte))
		byte = next_byte(words);
	if (byte == EOF)
		return 0;
	words->word_byte = words->n_bytes - 1;
	words->word_line = words->n_lines + 1;
	for (*ret_word = 0; byte != EOF && !isspace(byte); byte = next_byte(words)) {
		int digit = hex_digit(byte);

		is_good &= digit >= 0 && n++ < 8;
		*ret_word = *ret_word << 4 | (uint32_t)(digit & 15);
	}
	return is_good && n == 8 ? 1 : -1;
}

static bool is_header(uint32_t word)
{
	return word && (word & HEADER_ZEROES) == 0 && __builtin_parity(word) == 1 &&
	       (word >> 12 & 7) < AIE_N_TYPES;
}

bool aie_is_words(const struct probe *probe)
{
	struct words words = {
		.file = fmemopen((void *)(uintptr_t)probe->bytes, probe->n_bytes, "r")};
	uint32_t word = 0;
	bool is_aie = words.file;

	for (int i = 0; i < LOOK_WORDS && is_aie; i++)
		is_aie = next_word(&words, &word) > 0 && (i > 0 || is_header(word));
	if (words.file)
		fclose(words.file);
	return is_aie;
}

/* -- units ----------------------------------------------------------------------------------- */

struct word_unit {
	struct aie_place place;
	struct aie_decoder decoder;
	uint32_t unit;
	uint32_t slots[AIE_N_SLOTS]; /* of the unit */
};

struct word_file {
	struct aie *aie;
	struct words words;
	struct cJSON *slots;     /* owned; NULL: there are none */
	struct word_unit *units; /* owned */
	struct word_unit *unit;  /* weak; whose words come */
	uint32_t n_units;
	uint64_t word_line; /* of the word that is decoded */
	bool is_full;       /* the packet before is, to its last word */
};

static int name_unit(struct word_file *file, struct word_unit *unit)
{
	const struct aie_place *place = &unit->place;
	char name[64];

	snprintf(name, sizeof(name), "%s_trace for tile%u,%u", aie_type_names[place->type],
	         place->row, place->column);
	return string_intern(&file->aie->import.cache, name, &file->aie->units[unit->unit].name);
}

/* Slots that were set up are named whether or not anything happened. */
static int name_slots(struct word_file *file, struct word_unit *unit)
{
	for (uint32_t i = 0; i < AIE_N_SLOTS; i++) {
		int event = aie_slots_event(file->slots, &unit->place, i);
		char text[64];
		uint32_t name;

		if (event >= 0)
			aie_name_event(unit->place.type, (uint32_t)event, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "SLOT_%u", i);
		FLEXTRACE_TRY(string_intern(&file->aie->import.cache, text, &name));
		FLEXTRACE_TRY(aie_find_slot(file->aie, unit->unit, i, name, &unit->slots[i]));
	}
	return FLEXTRACE_OK;
}

static int add_unit(struct word_file *file, const struct aie_place *place)
{
	uint64_t id = (uint64_t)place->type << 32 | place->row << 16 | place->column;
	struct word_unit *unit;

	FLEXTRACE_TRY(ARRAY_PUSH(file->units, file->n_units, (struct word_unit){.place = *place}));
	unit = &file->units[file->n_units - 1];
	FLEXTRACE_TRY(aie_find_unit(file->aie, id, FLEXTRACE_NONE, &unit->unit));
	FLEXTRACE_TRY(name_unit(file, unit));
	return name_slots(file, unit);
}

/* False: it has failed, or there are too many. */
static bool enter_unit(struct word_file *file, uint32_t header, int *ret_code)
{
	const struct aie_place place = {
		.row = header >> 16 & 31,
		.column = header >> 21 & 127,
		.type = header >> 12 & 7,
	};
	uint32_t i = 0;

	while (i < file->n_units && (file->units[i].place.row != place.row ||
	                             file->units[i].place.column != place.column ||
	                             file->units[i].place.type != place.type))
		i++;
	*ret_code = FLEXTRACE_OK;
	if (i == AIE_MAX_UNITS)
		return false;
	if (i == file->n_units)
		*ret_code = add_unit(file, &place);
	file->unit = &file->units[i];
	return *ret_code >= 0;
}

static int take_edge(void *context, uint32_t slot, bool is_rise, uint64_t cycle)
{
	struct word_file *file = context;
	const struct word_unit *unit = file->unit;
	const struct aie_edge edge = {
		unit->unit,
		unit->slots[slot],
		is_rise,
		origin_make(file->aie->import.streams->files.n - 1, file->word_line),
	};

	file->aie->units[unit->unit].origin = unit->decoder.timer;
	return aie_take_edge(file->aie, &edge, cycle);
}

/* -- packets --------------------------------------------------------------------------------- */

struct packet {
	uint32_t words[PACKET_WORDS];
	uint64_t lines[PACKET_WORDS];
	uint32_t n, n_used; /* words; up to the last that is not 0 */
	uint32_t n_bad;     /* what stands for a word and is none */
	uint64_t offset_bytes;
};

static bool read_packet(struct word_file *file, struct packet *packet)
{
	int code = 1;

	*packet = (struct packet){.n = 0};
	while (packet->n < PACKET_WORDS && code) {
		uint32_t word = 0;

		code = next_word(&file->words, &word);
		if (!code)
			break;
		if (packet->n == 0)
			packet->offset_bytes = file->words.word_byte;
		packet->n_bad += code < 0;
		packet->lines[packet->n] = file->words.word_line;
		packet->words[packet->n++] = word;
		if (word || code < 0)
			packet->n_used = packet->n;
	}
	return packet->n > 0;
}

/* A unit that ends its trace says so and fills its packet. One that was cut off goes on in the room
 * behind its last packet, as mlir-aie's parser reads it: 0 is the first slot's event in the next
 * cycle. It ends what the last command raised. */
static int take_room(struct word_file *file, const struct aie_sink *sink)
{
	if (!file->is_full || file->unit->decoder.is_ended)
		return FLEXTRACE_OK;
	file->is_full = false;
	return aie_decode_word(&file->unit->decoder, ROOM, sink);
}

/* Words of 0 behind the last one are room that was not needed. */
static int take_packet(struct word_file *file, const struct packet *packet)
{
	const struct aie_sink sink = {take_edge, file, &file->aie->n_repeated};
	int code;

	if (!packet->n_used)
		return take_room(file, &sink);
	file->is_full = packet->n_used == PACKET_WORDS;
	if (packet->n_bad)
		return import_reject(&file->aie->import, LOSS_MALFORMED,
		                     "a word has not eight digits", packet->offset_bytes);
	if (!is_header(packet->words[0]))
		return import_reject(&file->aie->import, LOSS_MALFORMED, "a packet has no header",
		                     packet->offset_bytes);
	if (!enter_unit(file, packet->words[0], &code))
		return code < 0 ? code
		                : import_reject(&file->aie->import, LOSS_MALFORMED,
		                                "there are more than 4096 trace units",
		                                packet->offset_bytes);
	for (uint32_t i = 1; i < packet->n_used; i++) {
		file->word_line = packet->lines[i];
		if (packet->words[i] != FILLER)
			FLEXTRACE_TRY(
				aie_decode_word(&file->unit->decoder, packet->words[i], &sink));
	}
	return FLEXTRACE_OK;
}

/* What came behind the last change lasted up to the last command. */
static int end_units(struct word_file *file)
{
	for (uint32_t i = 0; i < file->n_units; i++) {
		struct word_unit *unit = &file->units[i];
		struct aie_unit *of = &file->aie->units[unit->unit];

		if (unit->decoder.n_bad)
			FLEXTRACE_TRY(import_reject(&file->aie->import, LOSS_MALFORMED,
			                            "a unit has bytes that are no command", 0));
		if (unit->decoder.n_untold)
			FLEXTRACE_TRY(import_reject(&file->aie->import, LOSS_MALFORMED,
			                            "events are repeated beyond all reason", 0));
		of->last = unit->decoder.cycle > of->last ? unit->decoder.cycle : of->last;
	}
	return aie_end_file(file->aie);
}

static int take_packets(struct word_file *file, struct packet *last)
{
	struct packet packet;

	while (read_packet(file, &packet)) {
		*last = packet;
		FLEXTRACE_TRY(take_packet(file, &packet));
	}
	return end_units(file);
}

/* -- one file -------------------------------------------------------------------------------- */

static int read_words(struct word_file *file, const char *path, struct flextrace_error *error)
{
	struct import *import = &file->aie->import;
	struct packet last = {.n = 0};
	int code = aie_slots_open(path, &file->slots, error);

	FLEXTRACE_TRY(code);
	if (!file->slots)
		import_warn(import,
		            "There is no event_slots.json beside the trace words, events are "
		            "called SLOT_0 to SLOT_7: file=%s",
		            path);
	FLEXTRACE_TRY(take_packets(file, &last));
	if (last.n_used == PACKET_WORDS) {
		import_warn(import,
		            "The trace buffer is full, what came later is not in it: file=%s",
		            path);
		code = import_lose(import, LOSS_TRUNCATED_STREAM, 1);
	}
	import_warn_of_faults(import, path, "Events", "byte");
	if (code >= 0 && (ferror(file->words.file) || (last.n && last.n < PACKET_WORDS)))
		code = import_cut(import, path);
	return code;
}

int aie_read_words(struct aie *aie, const char *path, struct flextrace_error *error)
{
	struct word_file file = {.aie = aie, .words.file = text_open(path, error)};
	int code;

	if (!file.words.file)
		return error->code;
	code = read_words(&file, path, error);
	fclose(file.words.file);
	cJSON_Delete(file.slots);
	free(file.units);
	return code;
}
