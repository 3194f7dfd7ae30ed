/* SPDX-License-Identifier: Apache-2.0 */
#include "each_format.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/paths.h"
#include "formats/kit/format.h"
#include "formats/pairing/event_files.h"

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

static int probe_one(void *context, const char *path)
{
	const struct import_format *format = context;
	struct probe probe;

	FLEXTRACE_TRY(probe_file(path, &probe));
	return format->probe(&probe);
}

/* Whether a file, or one of a folder, is of a format: 1, 0, FLEXTRACE_E_MEMORY. */
static int is_of(const struct import_format *format, const char *path)
{
	struct path_filter all;

	if (!path_is_folder(path))
		return access(path, F_OK) == 0 ? probe_one((void *)(uintptr_t)format, path) : 0;
	if (!format->filter)
		return 0;
	all = *format->filter;
	all.has_pipes = true;
	return path_each(path, &all, probe_one, (void *)(uintptr_t)format);
}

/* 1: stores it, 0: nobody's, FLEXTRACE_E_MEMORY. */
static int find_format(const char *path, const struct import_format **ret_format)
{
	int code = 0;

	for (size_t i = 0; i < N_FORMATS && code == 0; i++) {
		*ret_format = formats[i];
		code = is_of(formats[i], path);
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

/* Those of a format may have explained other codes. */
static int explain(int code, struct flextrace_error *error)
{
	if (code == FLEXTRACE_E_MEMORY)
		return error_set(error, code, "Out of memory");
	if (code == FLEXTRACE_E_OUTPUT)
		return error_set(error, code,
		                 "Cannot sort events in a temporary file: directory=%s",
		                 temporary_directory());
	return code;
}

static int open_format(const struct import_format *format, const struct import_options *options,
                       struct import **ret_import, struct flextrace_error *error)
{
	struct import *import = import_new(format, options);
	int code = import ? format->read(import, error) : FLEXTRACE_E_MEMORY;

	*ret_import = NULL;
	if (code < 0) {
		import_close(import);
		return explain(code, error);
	}
	import->options = NULL;
	*ret_import = import;
	return FLEXTRACE_OK;
}

int import_open(const struct import_options *options, struct import **ret_import,
                struct flextrace_error *error)
{
	const struct import_format *format;
	int code = format_of(options, options->paths[0], &format);

	return code < 0 ? explain(code, error) : open_format(format, options, ret_import, error);
}

/* -- all formats ----------------------------------------------------------------------------- */

/* Reads paths that are of one format. */
static int visit_one(const struct import_format *format, const struct import_options *options,
                     import_visit *visit, void *context, struct flextrace_error *error)
{
	struct import *import;
	int code;

	FLEXTRACE_TRY(open_format(format, options, &import, error));
	code = visit(context, import);
	import_close(import);
	return explain(code, error);
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
	explain(code, error);
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
