/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler_log.c: the tables of a compiler's log, line by line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler_info.h"
#include "base/text/digits.h"

#define TABLE_TITLE  "Ideal/Total Cycles"
#define TABLE_END    "====== Perf Summary End ======"
#define AUTOPILOT    "DSM-AutoPilot BEGIN"
#define CATEGORY     "-opCat"
#define NO_CATEGORY  "-NA"
#define MAX_CYCLES   ((uint64_t)1 << 48) /* of a row: days; sums stay far from overflow */
#define MAX_LINE     16384               /* bytes; of longer ones, only these are looked at */
#define BUFFER_BYTES ((size_t)64 << 10)

struct log {
	struct compiler_info *info; /* weak, both */
	struct string_cache *strings;
	uint64_t all_cycles;   /* of the open table, with the rows left out */
	uint64_t total_cycles; /* of it, as stated */
	uint8_t phase;         /* of the next table */
	bool is_open, has_total, is_autopilot;
};

/* -- lines ------------------------------------------------------------------------------------- */

struct lines {
	FILE *file;
	size_t at, n; /* in `buffer` */
	char buffer[BUFFER_BYTES];
	char line[MAX_LINE + 1];
};

/* The next line without its end and blanks around it, cut to MAX_LINE; NULL at the end. NUL bytes
 * become blanks. Weak, until the next call. */
static char *next_line(struct lines *lines)
{
	size_t length = 0;
	bool is_over = false, is_any = false;

	while (!is_over) {
		size_t n, keep;
		char *end;

		if (lines->at == lines->n) {
			lines->at = 0;
			lines->n = fread(lines->buffer, 1, BUFFER_BYTES, lines->file);
			if (!lines->n)
				break;
		}
		end = memchr(lines->buffer + lines->at, '\n', lines->n - lines->at);
		is_over = end;
		is_any = true;
		n = end ? (size_t)(end - lines->buffer) - lines->at : lines->n - lines->at;
		keep = n < MAX_LINE - length ? n : MAX_LINE - length;
		memcpy(lines->line + length, lines->buffer + lines->at, keep);
		length += keep;
		lines->at += n + is_over;
	}
	if (!is_any)
		return NULL;
	for (size_t i = 0; i < length; i++)
		if (!lines->line[i])
			lines->line[i] = ' ';
	while (length && isspace((unsigned char)lines->line[length - 1]))
		length--;
	lines->line[length] = '\0';
	return lines->line + strspn(lines->line, " \t");
}

/* -- rows -------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Cuts "name  123" behind the name; false: the line is no such thing. */
static bool split_row(char *line, uint64_t *ret_cycles)
{
	size_t length = strcspn(line, " \t");
	const char *at = line + length + strspn(line + length, " \t");

	if (!digits_take(&at, MAX_CYCLES, ret_cycles) || (*at && *at != ' ' && *at != '\t'))
		return false;
	line[length] = '\0';
	return true;
}

/* Rules, the heading, and nothing. */
static bool is_decoration(const char *line)
{
	return line[strspn(line, "-=~")] == '\0' ||
	       (!strncmp(line, "Name", 4) && strstr(line, "Ideal"));
}

static bool is_left_out(const char *name)
{
	return strstr(name, "Precompute") || strstr(name, "-LxPreload");
}

static int add_row(struct log *log, char *name, uint64_t cycles)
{
	struct kernel_cost row = {.ideal_cycles = cycles};
	char *category = strstr(name, CATEGORY);

	log->all_cycles += cycles;
	if (is_left_out(name))
		return FLEXTRACE_OK;
	if (category) {
		*category = '\0';
		category += strlen(CATEGORY);
	} else if (ends_with(name, NO_CATEGORY)) {
		name[strlen(name) - strlen(NO_CATEGORY)] = '\0';
	}
	FLEXTRACE_TRY(string_intern(log->strings, name, &row.name));
	FLEXTRACE_TRY(string_intern(log->strings, category && *category ? category : "NotAvailable",
	                            &row.category));
	return compiler_table_add(log->info, &row);
}

static int take_row(struct log *log, char *line)
{
	uint64_t cycles;

	if (is_decoration(line))
		return FLEXTRACE_OK;
	if (!split_row(line, &cycles)) {
		log->info->n_bad_lines++;
		return FLEXTRACE_OK;
	}
	if (strcmp(line, "Total"))
		return add_row(log, line, cycles);
	log->has_total = true;
	log->total_cycles = cycles;
	return FLEXTRACE_OK;
}

/* -- tables ------------------------------------------------------------------------------------ */

static int close_table(struct log *log, bool is_whole)
{
	struct compiler_table *table;

	if (!log->is_open)
		return FLEXTRACE_OK;
	log->is_open = false;
	table = &log->info->tables[log->info->n_tables];
	if (!is_whole || (log->has_total && log->total_cycles != log->all_cycles &&
	                  log->total_cycles != table->ideal_cycles))
		log->info->n_bad_tables++;
	table->is_ordered = true;
	table->is_autopilot = log->is_autopilot;
	return compiler_table_close(log->info);
}

static int open_table(struct log *log)
{
	FLEXTRACE_TRY(close_table(log, false));
	FLEXTRACE_TRY(compiler_table_open(log->info, log->phase));
	log->phase = PHASE_UNKNOWN;
	log->is_open = true;
	log->has_total = false;
	log->all_cycles = 0;
	return FLEXTRACE_OK;
}

static int take_line(struct log *log, char *line)
{
	if (strstr(line, TABLE_TITLE))
		return open_table(log);
	if (strstr(line, TABLE_END))
		return close_table(log, true);
	if (log->is_open)
		return take_row(log, line);
	if (!strcmp(line, "DECODING"))
		log->phase = PHASE_DECODING;
	else if (!strcmp(line, "PREFILL"))
		log->phase = PHASE_PREFILL;
	else if (strstr(line, AUTOPILOT))
		log->is_autopilot = true;
	return FLEXTRACE_OK;
}

static int take_lines(struct log *log, struct lines *lines)
{
	char *line;

	while ((line = next_line(lines)))
		FLEXTRACE_TRY(take_line(log, line));
	return close_table(log, false);
}

int compiler_log_read(struct compiler_info *info, const char *path, struct string_cache *strings,
                      struct flextrace_error *error)
{
	struct log log = {.info = info, .strings = strings};
	struct lines *lines = malloc(sizeof(*lines));
	int code;

	if (!lines)
		return FLEXTRACE_E_MEMORY;
	lines->at = lines->n = 0;
	lines->file = fopen(path, "re");
	if (!lines->file) {
		code = error_set(error, FLEXTRACE_E_INPUT,
		                 "Cannot read compiler information: path=%s, reason=%s", path,
		                 strerror(errno));
	} else {
		code = take_lines(&log, lines);
		if (!code && ferror(lines->file))
			code = error_set(error, FLEXTRACE_E_INPUT,
			                 "Cannot read compiler information to its end: path=%s",
			                 path);
		fclose(lines->file);
	}
	free(lines);
	return code;
}
