/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tt_impl.h"

#define WINDOW_BYTES ((size_t)256 << 10)

int tt_lines_open(struct tt_lines *lines, const char *path, struct flextrace_error *error)
{
	struct trace_source source = {.read = trace_file_read};

	*lines = (struct tt_lines){.file = trace_file_open(path, error)};
	if (!lines->file)
		return error->code;
	source.context = lines->file;
	if (text_window_init(&lines->window, &source, WINDOW_BYTES) >= 0)
		return FLEXTRACE_OK;
	tt_lines_close(lines);
	return error_set(error, FLEXTRACE_E_MEMORY, "No memory for a text: file=%s", path);
}

void tt_lines_close(struct tt_lines *lines)
{
	text_window_release(&lines->window);
	trace_file_close(lines->file);
	*lines = (struct tt_lines){0};
}

/* Ends the line at `n` bytes and steps behind it. */
static char *take_line(struct tt_lines *lines, size_t n, size_t n_used)
{
	struct text_window *window = &lines->window;
	char *line = window->bytes + window->begin;

	if (n && line[n - 1] == '\r')
		n--;
	line[n] = '\0';
	lines->offset_bytes = text_window_offset(window);
	lines->number++;
	window->begin += n_used;
	return line;
}

int tt_lines_next(struct tt_lines *lines, char **ret_line, struct flextrace_error *error)
{
	struct text_window *window = &lines->window;
	size_t searched = 0;

	for (;;) {
		size_t n = window->end - window->begin;
		const char *from = window->bytes + window->begin;
		const char *end = memchr(from + searched, '\n', n - searched);
		int state;

		if (end) {
			n = (size_t)(end - from);
			*ret_line = take_line(lines, n, n + 1);
			return 1;
		}
		searched = n;
		state = text_window_fill(window, error);
		if (state < 0)
			return state;
		if (state == WINDOW_GREW)
			continue;
		lines->is_cut |= window->is_damaged || n > 0;
		if (n == 0)
			return 0;
		*ret_line = take_line(lines, n, n);
		return 1;
	}
}

static char *trim(char *text)
{
	size_t n;

	while (*text == ' ' || *text == '\t')
		text++;
	n = strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		text[--n] = '\0';
	return text;
}

uint32_t tt_split(char *line, char **fields)
{
	uint32_t n = 0;
	char *comma = line;

	while (comma) {
		comma = n + 1 < TT_MAX_FIELDS ? strchr(line, ',') : NULL;
		if (comma)
			*comma = '\0';
		fields[n++] = trim(line);
		line = comma ? comma + 1 : NULL;
	}
	return n;
}
