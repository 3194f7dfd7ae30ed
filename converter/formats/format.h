/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h: what an importer gives: the files of a tool -> events of streams, as if our tracer had
 * written them.
 *
 * The definitions of all streams come first, then all else in order of time. What stands in
 * formats.h is read by `flextrace convert`; a source component is a few lines more.
 *
 * Codes: FLEXTRACE_E_MEMORY, FLEXTRACE_E_OUTPUT (a temporary file cannot be written).
 */
#ifndef FLEXTRACE_IMPORT_FORMAT_H
#define FLEXTRACE_IMPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/formats.h"
#include "formats/kit/dialect.h"
#include "formats/kit/files.h"
#include "import.h"
#include "model/ledger/ledger.h"
#include "model/model.h"

struct import_format {
	enum import_dialect dialect; /* of all its files; IMPORT_BY_CONTENT: flex or torch */
	/* Whether a file or a directory is one of these, 1 or 0, or FLEXTRACE_E_MEMORY; looks at no
	 * more of it than it needs. */
	int (*is_of)(const char *path);
	/* Reads all `options->paths` into a reader, owned. FLEXTRACE_E_INPUT: there is nothing. */
	int (*open)(const struct import_options *options, void **ret_reader,
	            struct flextrace_error *error);
	void (*free)(void *reader);
	/* The texts of a stream live as long as the reader. */
	uint32_t (*n_streams)(const void *reader);
	const struct import_stream *(*stream)(const void *reader, uint32_t stream);
	/* What origins of a stream's events name; each file that was read is of some stream. */
	const struct import_files *(*files)(const void *reader, uint32_t stream);
	/* Stores the next event. 1: there is one, 0: the end. Texts are weak: until then. */
	int (*next)(void *reader, uint32_t *ret_stream, struct event *ret_event);
	/* What was lost: all of it behind the last event. */
	const struct ledger *(*ledger)(const void *reader);
};

extern const struct import_format import_event_files; /* JSON of Flex and of torch */
#define IMPORT_DECLARATION(reader, dialect, name) extern const struct import_format import_##reader;
IMPORT_FORMATS(IMPORT_DECLARATION)
#undef IMPORT_DECLARATION

#endif
