/* SPDX-License-Identifier: Apache-2.0 */
/* The files of paths, one after the other. */
#include "faults.h"
#include "format.h"

struct reading {
	struct import *import;
	import_read_file *read;
	struct flextrace_error *error;
	bool is_of_folder;
};

static int count_one(void *context, const char *path)
{
	const struct reading *reading = context;

	(void)path;
	reading->import->n_files++;
	return FLEXTRACE_OK;
}

static int read_one(void *context, const char *path)
{
	const struct reading *reading = context;
	int code = reading->read(reading->import, path, reading->error);

	if (code != FLEXTRACE_E_INPUT || !reading->is_of_folder)
		return code;
	import_warn(reading->import, "%s", reading->error->message);
	return import_lose(reading->import, LOSS_TRUNCATED_STREAM, 1);
}

int import_each_file(struct import *import, import_read_file *read, struct flextrace_error *error)
{
	const struct path_filter *filter = import->format->filter;
	const struct import_options *options = import->options;
	struct flextrace_error unused;
	struct reading reading = {import, read, error ? error : &unused, false};

	for (uint32_t i = 0; i < options->n_paths; i++)
		FLEXTRACE_TRY(path_each(options->paths[i], filter, count_one, &reading));
	for (uint32_t i = 0; i < options->n_paths; i++) {
		reading.is_of_folder = path_is_folder(options->paths[i]);
		FLEXTRACE_TRY(path_each(options->paths[i], filter, read_one, &reading));
	}
	return FLEXTRACE_OK;
}
