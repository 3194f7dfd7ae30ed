/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h: what a format gives: files of a tool -> events of streams, as if our tracer had written
 * them.
 *
 * What stands in formats.h is read by `flextrace convert`; a source component is a few lines more.
 * All functions return FLEXTRACE_E_MEMORY, FLEXTRACE_E_OUTPUT (a temporary file cannot be written),
 * which each_format.c explains, or 0, if nothing else is said.
 */
#ifndef FLEXTRACE_IMPORT_FORMAT_H
#define FLEXTRACE_IMPORT_FORMAT_H

#include <stdint.h>

#include "formats/kit/formats.h"
#include "formats/kit/paths.h"
#include "formats/kit/import.h"
#include "model/model.h"

struct import_format {
	enum import_dialect dialect;      /* of all its files; IMPORT_BY_CONTENT: flex or torch */
	const struct path_filter *filter; /* NULL: folders are none of these */
	/* Whether a file is one of these, by its first bytes: 1, 0, FLEXTRACE_E_MEMORY. */
	int (*probe)(const struct probe *probe);
	size_t n_bytes; /* of its state, which begins with a struct import and is zeroed */
	/* Reads all `options->paths`. FLEXTRACE_E_INPUT, explained: there is nothing. */
	int (*read)(struct import *import, struct flextrace_error *error);
	/* As import_next(); NULL: what import_write() took. */
	int (*next)(struct import *import, uint32_t *ret_stream, struct event *ret_event);
	void (*release)(struct import *import); /* what is its own; NULL: nothing is */
};

/* NULL: no memory. */
struct import *import_new(const struct import_format *format, const struct import_options *options);

/* Adds a stream, and a file to one. `tool` has no blank. */
int import_add_stream(struct import *import, const struct import_stream *stream);
int import_add_file(struct import *import, uint32_t stream, const char *tool, const char *path);

/* Adds a definition to a stream: the payload of a class, of a process or of nobody (0). */
int import_define(struct import *import, uint32_t stream, int32_t vpid, enum record_class class,
                  const void *payload);

/* Takes an event of a stream, in any order, to be given back in order of time. Texts and words are
 * copied. */
int import_write(struct import *import, uint32_t stream, const struct event *event);

/* Takes device work that nobody stamped: its control block, and when the tool says that it was. */
struct import_placed {
	int64_t begin_ns, end_ns;
	uint32_t part;      /* enum flextrace_estimate: of the control block */
	const char *source; /* weak: the tool */
};

int import_write_placed(struct import *import, uint32_t stream, const struct event *device_op,
                        const struct import_placed *placed);

/* Takes a scope and its arguments; "" = none. */
int import_write_scope(struct import *import, uint32_t stream, const struct event *scope,
                       const char *args);

/* Takes what begins and ends with a record of its own, a window or a collective: the record of its
 * end, but for its edge or phase, and when it begins. */
int import_write_edges(struct import *import, uint32_t stream, const struct event *of,
                       int64_t begin_ns);

/* Puts numbers of a stream behind the first 8 bytes of its uuid, which say what tool it is of. */
void import_number_stream(struct import_stream *stream, uint32_t first, uint32_t second);

/* What times count from: 0, or 30 days before the first, where that is since the Unix epoch. */
int64_t import_epoch_of(int64_t first_ns);

/* Reads each file of `options->paths`, and of folders what the format's filter lets through, when
 * it has counted them. A file of a folder that cannot be read costs itself; it is told and counted.
 */
typedef int import_read_file(struct import *import, const char *path,
                             struct flextrace_error *error);
int import_each_file(struct import *import, import_read_file *read, struct flextrace_error *error);

#define IMPORT_DECLARATION(reader, dialect, name) extern const struct import_format import_##reader;
IMPORT_FORMATS(IMPORT_DECLARATION)
#undef IMPORT_DECLARATION

#endif
