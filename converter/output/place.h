/* SPDX-License-Identifier: Apache-2.0 */
/* place.h: where a file of a conversion goes: into the output directory, or into an archive. */
#ifndef FLEXTRACE_OUTPUT_PLACE_H
#define FLEXTRACE_OUTPUT_PLACE_H

#include "output/archive/archive.h"
#include "output/emit.h"

/* With gzip where the name ends in ".gz". As writer_open(). */
static inline int place_open(struct writer *writer, const struct emit_options *options,
                             const char *name, struct flextrace_error *error)
{
	if (options->to)
		return archive_open_member(options->to, writer, name, error);
	return writer_open(writer, options->output_dir, name, name_is_gzip(name), error);
}

#endif
