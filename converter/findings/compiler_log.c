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

#define TABLE_TITLE "Ideal/Total Cycles"
#define TABLE_END   "====== Perf Summary End ======"
#define AUTOPILOT   "DSM-AutoPilot BEGIN"
#define CATEGORY    "-opCat"
#define NO_CATEGORY "-NA"
#define MAX_CYCLES  ((uint64_t)1 << 48) /* of a row: days; sums stay far from overflow */
#define MAX_LINE    16384               /* bytes; of longer ones, only these are looked at */

struct log {
	struct compiler_info *info; /* weak, both */
	struct string_cache *strings;
	uint64_t all_cycles;   /* of the open table, with the rows left out */
	uint64_t total_cycles; /* of it, as stated */
	uint8_t phase;         /* of the next table */
	bool is_open, has_total, is_autopilot;
};

/* -- lines ------------------------------------------------------------------------------------- */

/* The next line without its end and blanks around it, cut to MAX_LINE; NULL at the end. NUL bytes
 * become blanks. Weak, in `line`. */
static char *next_line(FILE *file, char line[MAX_LINE + 1])
{
	size_t length = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF && c != '\n') {
		if (length < MAX_LINE)
			line[length++] = c ? (char)c : ' ';
	}
	if (c == EOF && !length)
		return NULL;
	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	line[length] = '\0';
	return line + strspn(line, " \t");
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

static int take_lines(struct log *log, FILE *file)
{
	char buffer[MAX_LINE + 1], *line;

	while ((line = next_line(file, buffer)))
		FLEXTRACE_TRY(take_line(log, line));
	return close_table(log, false);
}

int compiler_log_read(struct compiler_info *info, const char *path, struct string_cache *strings,
                      struct flextrace_error *error)
{
	struct log log = {.info = info, .strings = strings};
	FILE *file = fopen(path, "re");
	int code;

	if (!file)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "Cannot read compiler information: path=%s, reason=%s", path,
		                 strerror(errno));
	code = take_lines(&log, file);
	if (!code && ferror(file))
		code = error_set(error, FLEXTRACE_E_INPUT,
		                 "Cannot read compiler information to its end: path=%s", path);
	fclose(file);
	return code;
}
