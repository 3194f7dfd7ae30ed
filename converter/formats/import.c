/* SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

#include <stdlib.h>

#include "format.h"
#include "base/temporary_file.h"

/* clang-format off */
/* Any JSON is an event file: these are asked last. */
static const struct import_format *const formats[] = {
#define IMPORT_POINTER(reader, dialect, name) &import_##reader,
	IMPORT_FORMATS(IMPORT_POINTER)
#undef IMPORT_POINTER
	&import_event_files,
};
/* clang-format on */

#define N_FORMATS (sizeof(formats) / sizeof(*formats))

/* -- whose files ----------------------------------------------------------------------------- */

/* 1: stores it, 0: nobody's, FLEXTRACE_E_MEMORY. */
static int find_format(const char *path, const struct import_format **ret_format)
{
	int code = 0;

	for (size_t i = 0; i < N_FORMATS && code == 0; i++) {
		*ret_format = formats[i];
		code = formats[i]->is_of(path);
	}
	return code;
}

static const struct import_format *format_of_dialect(enum import_dialect dialect)
{
	for (size_t i = 0; i < N_FORMATS; i++) {
		if (formats[i]->dialect == dialect)
			return formats[i];
	}
	return &import_event_files;
}

/* What is nobody's is opened as an event file, to say what is wrong with it. */
static int format_of(const struct import_options *options, const char *path,
                     const struct import_format **ret_format)
{
	int code = 1;

	if (options->dialect != IMPORT_BY_CONTENT)
		*ret_format = format_of_dialect(options->dialect);
	else
		code = find_format(path, ret_format);
	if (code == 0)
		*ret_format = &import_event_files;
	return code < 0 ? code : FLEXTRACE_OK;
}

int import_is_foreign(const char *path)
{
	const struct import_format *format;

	return find_format(path, &format);
}

enum import_dialect import_dialect_of(const char *path)
{
	const struct import_format *format;
	enum import_dialect dialect = IMPORT_BY_CONTENT;
	struct flextrace_error error = {0};

	if (find_format(path, &format) <= 0)
		return IMPORT_BY_CONTENT;
	if (format->dialect != IMPORT_BY_CONTENT)
		return format->dialect;
	return dialect_of_file(path, &dialect, &error) < 0 ? IMPORT_BY_CONTENT : dialect;
}

/* -- one format ------------------------------------------------------------------------------ */

static int open_reader(struct import *import, const struct import_options *options,
                       struct flextrace_error *error)
{
	int code = import->format->open(options, &import->reader, error);

	return code == FLEXTRACE_E_MEMORY ? import_explain(code, error) : code;
}

int import_open(struct import *import, const struct import_options *options,
                struct flextrace_error *error)
{
	int code;

	*import = (struct import){.reader = NULL};
	code = format_of(options, options->paths[0], &import->format);
	if (code < 0)
		return import_explain(code, error);
	return open_reader(import, options, error);
}

void import_close(struct import *import)
{
	if (import->reader)
		import->format->free(import->reader);
	import->reader = NULL;
}

int import_explain(int code, struct flextrace_error *error)
{
	if (code == FLEXTRACE_E_MEMORY)
		return error_set(error, code, "Out of memory");
	return error_set(error, code, "Cannot sort events in a temporary file: directory=%s",
	                 temporary_directory());
}

/* -- all formats ----------------------------------------------------------------------------- */

/* Reads paths that are of one format. */
static int visit_one(const struct import_format *format, const struct import_options *options,
                     import_visit *visit, void *context, struct flextrace_error *error)
{
	struct import import = {.format = format};
	int code;

	FLEXTRACE_TRY(open_reader(&import, options, error));
	code = visit(context, &import);
	import_close(&import);
	return code < 0 ? import_explain(code, error) : FLEXTRACE_OK;
}

int import_each(const struct import_options *options, import_visit *visit, void *context,
                struct flextrace_error *error)
{
	const struct import_format **of = malloc(options->n_paths * sizeof(*of));
	const char **paths = malloc(options->n_paths * sizeof(*paths));
	struct import_options one = *options;
	int code = of && paths ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	one.paths = paths;
	for (uint32_t i = 0; i < options->n_paths && code >= 0; i++)
		code = format_of(options, options->paths[i], &of[i]);
	if (code < 0)
		import_explain(code, error);
	for (size_t i = 0; i < N_FORMATS && code >= 0; i++) {
		one.n_paths = 0;
		for (uint32_t j = 0; j < options->n_paths; j++) {
			if (of[j] == formats[i])
				paths[one.n_paths++] = options->paths[j];
		}
		if (one.n_paths)
			code = visit_one(formats[i], &one, visit, context, error);
	}
	free(of);
	free(paths);
	return code;
}
