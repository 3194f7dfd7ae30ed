/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h: what was read, as `inputs` of run.json lists it, and what a record of it is called.
 *
 *   CTF traces    "ctf HOST UUID"; a record is "<input>/<stream class>.<stream instance>:<record>"
 *   files         "<tool> <name>"; a record is "<input>:<record>", see origins.h
 *
 * Inputs are numbered from 0: traces in order of their UUID, then files in order of their texts.
 * A file has its name, with as many of the folders around it as tell it from the others: the same
 * bytes come out wherever it lies. Const once made.
 */
#ifndef FLEXTRACE_INPUTS_H
#define FLEXTRACE_INPUTS_H

#include "model/streams.h"

struct inputs {
	char **texts; /* owned, each */
	uint32_t n;
	uint32_t *first;   /* owned: per stream, where its numbers begin */
	uint32_t *numbers; /* owned: of the inputs of all streams: its trace, or its files */
	uint32_t n_numbers;
};

/* Streams are told by their places in the set. FLEXTRACE_E_MEMORY or 0. */
int inputs_init(struct inputs *inputs, const struct stream_set *set,
                const struct string_pool *strings);
void inputs_release(struct inputs *inputs);

/* Of what a record is called, with its number. */
#define SOURCE_BYTES 96

/* Where in the numbers of a stream a record's input is, and which record of it it is;
 * ORIGIN_NO_RECORD: none. */
static inline uint32_t inputs_find(const struct inputs *inputs, const struct stream *stream,
                                   uint32_t id, uint32_t index, uint32_t *ret_record)
{
	struct origin origin;

	*ret_record = index;
	if (!stream->origins)
		return inputs->first[id];
	origin = origins_get(stream->origins, index);
	*ret_record = origin.record;
	return inputs->first[id] + origin.file;
}

/* The place of the origin of a device row: of the part of its record that it shows. */
static inline uint32_t inputs_part(const struct stream *stream, uint32_t index, uint8_t row_kind)
{
	bool is_part = row_kind <= ROW_DMA_OUT || row_kind == ROW_KERNEL;

	if (!is_part || !stream->origins || !origins_get(stream->origins, index).has_parts)
		return index;
	return index + 1 + (row_kind == ROW_KERNEL ? ORIGIN_KERNEL : row_kind - ROW_DMA_IN);
}

/* Writes what the records of an input are called up to their number: all but ":<record>". */
void inputs_write_place(char text[SOURCE_BYTES], const struct inputs *inputs,
                        const struct stream *stream, uint32_t place);

#endif
