/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of AMD's AI engines: files of JSON or of raw words, or the folder of a run. All files are
 * one run, so one process; nobody knows when it was.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aie_impl.h"

#define TRACES_OF_RUN "traces" /* a folder in that of a run */

/* -- whose files ----------------------------------------------------------------------------- */

/* JSON goes before words: the one was made of the other. */
enum file_kind { FILE_JSON, FILE_WORDS, FILE_KIND_COUNT, FILE_OTHERS = FILE_KIND_COUNT };

static bool is_words_name(const char *name)
{
	return path_ends_with(name, ".txt") || path_ends_with(name, ".txt.gz");
}

static bool is_name(const char *name)
{
	return path_is_json(name) || is_words_name(name);
}

static const struct path_filter files = {.fits = is_name, .below = TRACES_OF_RUN};

/* Whether a file that is no trace of an AIE has events all the same. */
static int is_of_others(const struct probe *probe)
{
	int code = aie_is_json(probe);

	if (code != 0)
		return code < 0 ? code : 0;
	return aie_has_events(probe->path);
}

/* Of a folder, names tell JSON from words. 1, 0, FLEXTRACE_E_MEMORY. */
static int is_of_kind(const struct probe *probe, enum file_kind kind)
{
	if (is_words_name(probe->path) != (kind == FILE_WORDS))
		return 0;
	if (kind == FILE_OTHERS)
		return is_of_others(probe);
	return kind == FILE_JSON ? aie_is_json(probe) : aie_is_words(probe);
}

static int probe_aie(const struct probe *probe)
{
	return aie_is_words(probe) ? 1 : aie_is_json(probe);
}

/* -- reading --------------------------------------------------------------------------------- */

struct reading {
	struct aie *aie;
	struct flextrace_error *error;
	enum file_kind kind; /* of a folder */
	uint32_t n_files;
};

static int read_file(struct aie *aie, const struct probe *probe, struct flextrace_error *error)
{
	const char *path = probe->path;

	FLEXTRACE_TRY(import_add_file(&aie->import, 0, "aie", path));
	if (!aie->path)
		FLEXTRACE_TRY(string_intern(&aie->import.cache, path, &aie->path));
	return aie_is_words(probe) ? aie_read_words(aie, path, error)
	                           : aie_read_json(aie, path, error);
}

/* Of a folder what cannot be read costs that file, and traces of other tools are told. */
static int read_entry(void *context, const char *path)
{
	struct reading *reading = context;
	struct import *import = &reading->aie->import;
	struct probe probe;
	int code;

	FLEXTRACE_TRY(probe_file(path, &probe));
	code = is_of_kind(&probe, reading->kind);
	if (code <= 0)
		return code;
	if (reading->kind == FILE_OTHERS) {
		import_warn(import,
		            "A trace of another tool was passed over, give it by its name: file=%s",
		            path);
		return import_lose(import, LOSS_UNUSED, 1);
	}
	reading->n_files++;
	code = read_file(reading->aie, &probe, reading->error);
	if (code != FLEXTRACE_E_INPUT)
		return code;
	import_warn(import, "%s", reading->error->message);
	return import_lose(import, LOSS_TRUNCATED_STREAM, 1);
}

static int read_path(struct aie *aie, const char *path, struct flextrace_error *error)
{
	struct reading reading = {.aie = aie, .error = error};
	struct probe probe;

	if (!path_is_folder(path)) {
		FLEXTRACE_TRY(probe_file(path, &probe));
		return read_file(aie, &probe, error);
	}
	for (; reading.kind < FILE_KIND_COUNT && !reading.n_files; reading.kind++)
		FLEXTRACE_TRY(path_each(path, &files, read_entry, &reading));
	reading.kind = FILE_OTHERS;
	return path_each(path, &files, read_entry, &reading);
}

static void know_options(struct aie *aie, const struct import_options *options)
{
	const struct aie_options defaults = AIE_OPTIONS_INIT;
	const struct aie_options *told = options->aie ? options->aie : &defaults;

	aie->clock_hz = (uint64_t)llround(told->clock_ghz * 1e9);
	aie->duplicate_gap = told->duplicate_gap;
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	const struct import_options *options = import->options;
	const struct import_stream stream = {.uuid = "flextrace AIE"};
	struct aie *aie = (struct aie *)import;

	know_options(aie, options);
	FLEXTRACE_TRY(import_add_stream(import, &stream));
	for (uint32_t i = 0; i < options->n_paths; i++)
		FLEXTRACE_TRY(read_path(aie, options->paths[i], error));
	if (!aie->n_units)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no event of an AIE: file=%s",
		                 options->paths[0]);
	return aie_define(aie);
}

/* -- the format ------------------------------------------------------------------------------ */

static void release(struct import *import)
{
	struct aie *aie = (struct aie *)import;

	for (uint32_t i = 0; i < aie->n_units; i++) {
		free(aie->units[i].slots);
		free(aie->units[i].starts.times);
		free(aie->units[i].ends.times);
	}
	free(aie->units);
	map_release(&aie->unit_index);
	map_release(&aie->slot_index);
	map_release(&aie->queue_index);
	map_release(&aie->device_index);
}

const struct import_format import_aie = {
	.dialect = IMPORT_AIE,
	.filter = &files,
	.probe = probe_aie,
	.n_bytes = sizeof(struct aie),
	.read = read_all,
	.release = release,
};
