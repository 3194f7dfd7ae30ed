/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of AMD's AI engines: files of JSON or of raw words, or the folder of a run. All files are
 * one run, so one process; nobody knows when it was.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "aie_impl.h"
#include "formats/chrome-json/trace_file.h"

#define DEFAULT_CLOCK_GHZ 1.25
#define DEFAULT_GAP       0.25
#define TRACES_OF_RUN     "traces" /* a folder in that of a run */

/* -- folders --------------------------------------------------------------------------------- */

/* JSON goes before words: the one was made of the other. */
enum file_kind { FILE_JSON, FILE_WORDS, FILE_KIND_COUNT, FILE_OTHERS = FILE_KIND_COUNT };

/* Whether a file that is no trace of an AIE has events all the same. */
static int is_of_others(const char *path)
{
	struct flextrace_error error = {0};
	enum import_dialect dialect;
	int code = aie_is_json(path);

	if (code != 0)
		return code < 0 ? code : 0;
	code = dialect_of_file(path, &dialect, &error);
	return code == FLEXTRACE_E_MEMORY ? code : code >= 0;
}

/* 1, 0, FLEXTRACE_E_MEMORY. */
static int is_of_kind(const char *path, enum file_kind kind)
{
	if (kind == FILE_OTHERS)
		return is_of_others(path);
	return kind == FILE_JSON ? aie_is_json(path) : aie_is_words(path);
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), n = strlen(end);

	return length > n && strcmp(name + length - n, end) == 0;
}

static int is_json_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       (ends_with(entry->d_name, ".json") || ends_with(entry->d_name, ".json.gz"));
}

static int is_words_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       (ends_with(entry->d_name, ".txt") || ends_with(entry->d_name, ".txt.gz"));
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static int give_file(const char *folder, const char *name, enum file_kind kind,
                     int (*take)(void *context, const char *path), void *context)
{
	char *path;
	int code;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return FLEXTRACE_E_MEMORY;
	code = trace_file_is_special(path) ? 0 : is_of_kind(path, kind);
	if (code > 0)
		code = take(context, path);
	free(path);
	return code;
}

/* Calls `take` for the files of a kind in a folder, until that is not 0, which is returned. */
static int for_each_file(const char *folder, enum file_kind kind,
                         int (*take)(void *context, const char *path), void *context)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, kind == FILE_WORDS ? is_words_name : is_json_name,
	                by_name);
	int code = 0;

	for (int i = 0; i < n; i++) {
		if (!code)
			code = give_file(folder, entries[i]->d_name, kind, take, context);
		free(entries[i]);
	}
	free(entries);
	return code;
}

/* The same for the folder of a run: files stand in it or in its folder of traces. */
static int for_each_of_run(const char *folder, enum file_kind kind,
                           int (*take)(void *context, const char *path), void *context)
{
	int code = for_each_file(folder, kind, take, context);
	char *traces;

	if (code)
		return code;
	if (asprintf(&traces, "%s/" TRACES_OF_RUN, folder) < 0)
		return FLEXTRACE_E_MEMORY;
	code = for_each_file(traces, kind, take, context);
	free(traces);
	return code;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int find_one(void *context, const char *path)
{
	(void)context;
	(void)path;
	return 1;
}

static int is_aie_path(const char *path)
{
	int code = 0;

	for (int kind = 0; kind < FILE_KIND_COUNT && code == 0; kind++)
		code = is_folder(path) ? for_each_of_run(path, (enum file_kind)kind, find_one, NULL)
		                       : is_of_kind(path, (enum file_kind)kind);
	return code;
}

/* -- reading --------------------------------------------------------------------------------- */

struct reading {
	struct aie *aie;
	struct flextrace_error *error;
	uint32_t n_files;
};

static int read_file(struct aie *aie, const char *path, struct flextrace_error *error)
{
	int is_words = aie_is_words(path);

	FLEXTRACE_TRY(is_words);
	FLEXTRACE_TRY(import_add_file(&aie->import, 0, "aie", path));
	if (!aie->path)
		FLEXTRACE_TRY(string_intern(&aie->import.cache, path, &aie->path));
	return is_words ? aie_read_words(aie, path, error) : aie_read_json(aie, path, error);
}

/* Of a folder what cannot be read costs that file. */
static int read_entry(void *context, const char *path)
{
	struct reading *reading = context;
	int code = read_file(reading->aie, path, reading->error);

	reading->n_files++;
	if (code != FLEXTRACE_E_INPUT)
		return code;
	import_warn(&reading->aie->import, "%s", reading->error->message);
	return import_lose(&reading->aie->import, LOSS_TRUNCATED_STREAM, 1);
}

/* Tells of traces of other tools that stand in the folder of a run. */
static int pass_over(void *context, const char *path)
{
	struct import *import = &((const struct reading *)context)->aie->import;

	import_warn(import, "A trace of another tool was passed over, give it by its name: file=%s",
	            path);
	return import_lose(import, LOSS_UNUSED, 1);
}

static int read_folder(struct aie *aie, const char *path, struct flextrace_error *error)
{
	struct reading reading = {.aie = aie, .error = error};
	int code = FLEXTRACE_OK;

	for (int kind = 0; kind < FILE_KIND_COUNT && code >= 0 && !reading.n_files; kind++)
		code = for_each_of_run(path, (enum file_kind)kind, read_entry, &reading);
	if (code >= 0)
		code = for_each_of_run(path, FILE_OTHERS, pass_over, &reading);
	return code;
}

static void know_options(struct aie *aie, const struct import_options *options)
{
	double clock_ghz = options->clock_ghz > 0 ? options->clock_ghz : DEFAULT_CLOCK_GHZ;

	aie->clock_hz = (uint64_t)llround(clock_ghz * 1e9);
	aie->duplicate_gap = options->duplicate_gap > 0 ? options->duplicate_gap : DEFAULT_GAP;
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	const struct import_options *options = import->options;
	const struct import_stream stream = {.uuid = "flextrace AIE"};
	struct aie *aie = (struct aie *)import;

	know_options(aie, options);
	FLEXTRACE_TRY(import_add_stream(import, &stream));
	for (uint32_t i = 0; i < options->n_paths; i++) {
		const char *path = options->paths[i];

		FLEXTRACE_TRY(is_folder(path) ? read_folder(aie, path, error)
		                              : read_file(aie, path, error));
	}
	if (!aie->n_units)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no event of an AIE: file=%s",
		                 options->paths[0]);
	return aie_define(aie);
}

/* -- the format ------------------------------------------------------------------------------ */

static void free_times(struct aie_times *times)
{
	free(times->cycles);
	free(times->origins);
}

static void release(struct import *import)
{
	struct aie *aie = (struct aie *)import;

	for (uint32_t i = 0; i < aie->n_units; i++) {
		free(aie->units[i].slots);
		free_times(&aie->units[i].starts);
		free_times(&aie->units[i].ends);
	}
	free(aie->units);
	map_release(&aie->unit_index);
	map_release(&aie->slot_index);
	map_release(&aie->queue_index);
	map_release(&aie->device_index);
}

const struct import_format import_aie = {
	.dialect = IMPORT_AIE,
	.is_of = is_aie_path,
	.n_bytes = sizeof(struct aie),
	.read = read_all,
	.release = release,
};
