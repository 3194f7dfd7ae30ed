/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEADING_BYTES 4096

/* -- folders --------------------------------------------------------------------------------- */

bool path_ends_with(const char *path, const char *end)
{
	size_t length = strlen(path), n = strlen(end);

	return length > n && strcmp(path + length - n, end) == 0;
}

bool path_is_json(const char *path)
{
	return path_ends_with(path, ".json") || path_ends_with(path, ".json.gz");
}

/* Of what is not there 0. */
static mode_t kind_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? status.st_mode & S_IFMT : 0;
}

bool path_is_folder(const char *path)
{
	return kind_of(path) == S_IFDIR;
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Owned; NULL: no memory. */
static char *join(const char *folder, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static int visit_entry(const char *folder, const char *name, bool has_pipes, path_visit *visit,
                       void *context)
{
	char *path = join(folder, name);
	mode_t kind;
	int code;

	if (!path)
		return FLEXTRACE_E_MEMORY;
	kind = kind_of(path);
	code = has_pipes || !kind || kind == S_IFREG ? visit(context, path) : 0;
	free(path);
	return code;
}

static int each_in(const char *folder, const struct path_filter *filter, path_visit *visit,
                   void *context)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_visible, by_name), code = 0;

	for (int i = 0; i < n; i++) {
		if (!code && filter->fits(entries[i]->d_name))
			code = visit_entry(folder, entries[i]->d_name, filter->has_pipes, visit,
			                   context);
		free(entries[i]);
	}
	free(entries);
	return code;
}

char *path_newest(const char *folder, const char *runs, uint32_t *ret_n)
{
	struct dirent **entries = NULL;
	char *all = join(folder, runs), *newest = NULL;
	int n = all ? scandir(all, &entries, is_visible, by_name) : 0;

	*ret_n = 0;
	for (int i = 0; i < n; i++) {
		char *run = join(all, entries[i]->d_name);

		free(entries[i]);
		if (run && path_is_folder(run)) {
			free(newest);
			newest = run;
			++*ret_n;
		} else {
			free(run);
		}
	}
	free(entries);
	free(all);
	return newest;
}

int path_each(const char *path, const struct path_filter *filter, path_visit *visit, void *context)
{
	char *below;
	uint32_t n;
	int code;

	if (!path_is_folder(path))
		return visit(context, path);
	code = filter ? each_in(path, filter, visit, context) : 0;
	if (code || !filter || (!filter->below && !filter->runs))
		return code;
	below = filter->below ? join(path, filter->below) : path_newest(path, filter->runs, &n);
	if (below)
		code = each_in(below, filter, visit, context);
	else if (filter->below)
		code = FLEXTRACE_E_MEMORY;
	free(below);
	return code;
}

/* -- first bytes ----------------------------------------------------------------------------- */

int probe_file(const char *path, struct probe *ret_probe)
{
	struct flextrace_error error = {0};
	struct trace_file *file;
	int64_t n = 1;

	memset(ret_probe, 0, sizeof(*ret_probe));
	ret_probe->path = path;
	if (kind_of(path) != S_IFREG)
		return FLEXTRACE_OK;
	file = trace_file_open(path, &error);
	ret_probe->is_packed = file && trace_file_is_packed(file);
	while (file && n > 0 && ret_probe->n_bytes < PROBE_BYTES) {
		n = trace_file_read(file, ret_probe->bytes + ret_probe->n_bytes,
		                    PROBE_BYTES - ret_probe->n_bytes, &error);
		ret_probe->n_bytes += n > 0 ? (size_t)n : 0;
	}
	trace_file_close(file);
	return error.code == FLEXTRACE_E_MEMORY ? error.code : FLEXTRACE_OK;
}

bool probe_has(const struct probe *probe, const char *text)
{
	const char *at = strstr(probe->bytes, text);

	return at && at + strlen(text) <= probe->bytes + HEADING_BYTES;
}

static int64_t read_probe(void *context, char *bytes, size_t n_bytes, struct flextrace_error *error)
{
	struct probe_text *text = context;
	size_t n = text->probe->n_bytes - text->at;

	(void)error;
	n = n < n_bytes ? n : n_bytes;
	memcpy(bytes, text->probe->bytes + text->at, n);
	text->at += n;
	return (int64_t)n;
}

struct trace_source probe_source(struct probe_text *text)
{
	return (struct trace_source){read_probe, text};
}

/* -- texts ----------------------------------------------------------------------------------- */

static ssize_t read_bytes(void *context, char *bytes, size_t n_bytes)
{
	return (ssize_t)trace_file_read(context, bytes, n_bytes, NULL);
}

static int close_bytes(void *context)
{
	trace_file_close(context);
	return 0;
}

FILE *text_open(const char *path, struct flextrace_error *error)
{
	const cookie_io_functions_t functions = {.read = read_bytes, .close = close_bytes};
	struct trace_file *text = trace_file_open(path, error);
	FILE *file = text ? fopencookie(text, "r", functions) : NULL;

	if (text && !file) {
		trace_file_close(text);
		error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	}
	return file;
}
