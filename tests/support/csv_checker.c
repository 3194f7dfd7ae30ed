// SPDX-License-Identifier: Apache-2.0
#include "csv_checker.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 512

enum type { TYPE_INTEGER, TYPE_NUMBER, TYPE_TEXT };

struct column {
	char name[64];
	enum type type;
	bool may_be_empty;
};

struct checker {
	const char *name; /* weak */
	FILE *out;
	unsigned long n_violations;
	struct column columns[MAX_COLUMNS];
	int n_columns;
	char *fields[MAX_COLUMNS]; /* weak: of the line, unquoted in place */
	int n_fields;
	long line; /* records, the header is 1 */
	int64_t last_time;
	bool has_time;
	char owner[256]; /* of the row before, where the table is in order of owners */
};

static void complain(struct checker *checker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void complain(struct checker *checker, const char *format, ...)
{
	va_list args;

	checker->n_violations++;
	fprintf(checker->out, "%s:%ld: ", checker->name, checker->line);
	va_start(args, format);
	vfprintf(checker->out, format, args);
	va_end(args);
	fputc('\n', checker->out);
}

/* -- what is promised -------------------------------------------------------------------------- */

/* Reads "| `name` | type | ..." into the next column; false: some other line. */
static bool read_column(struct checker *checker, const char *line)
{
	struct column *column = &checker->columns[checker->n_columns];
	char type[16] = "";

	if (checker->n_columns == MAX_COLUMNS ||
	    sscanf(line, "| `%63[^`]` | %15[a-z?] |", column->name, type) != 2)
		return false;
	column->may_be_empty = type[strlen(type) - 1] == '?';
	if (column->may_be_empty)
		type[strlen(type) - 1] = '\0';
	if (!strcmp(type, "integer"))
		column->type = TYPE_INTEGER;
	else if (!strcmp(type, "number"))
		column->type = TYPE_NUMBER;
	else if (!strcmp(type, "text"))
		column->type = TYPE_TEXT;
	else
		return false;
	checker->n_columns++;
	return true;
}

/* The first table of types in section "### <name>". */
static void read_promise(struct checker *checker, const char *formats)
{
	char heading[128];
	const char *at;

	snprintf(heading, sizeof(heading), "\n### %s\n", checker->name);
	at = strstr(formats, heading);
	if (!at)
		return;
	for (at = strchr(at + 1, '\n'); at && strncmp(at, "\n#", 2) != 0;
	     at = strchr(at + 1, '\n')) {
		bool is_column = read_column(checker, at + 1);

		if (!is_column && checker->n_columns > 0)
			return;
	}
}

/* -- RFC 4180 ---------------------------------------------------------------------------------- */

/* Unquotes the field at `at` in place and returns what ended it; NULL: a fault was told. */
static char *read_field(struct checker *checker, char *at, char *end)
{
	char *to = at;

	if (at == end || *at != '"') {
		for (; at < end && *at != ',' && *at != '\n'; at++) {
			if (*at == '"' || *at == '\r')
				complain(checker, "quote or CR in a field without quotes");
		}
		return at;
	}
	for (at++; at < end; at++) {
		if (*at == '"' && (at + 1 == end || at[1] != '"'))
			break;
		at += *at == '"';
		*to++ = *at;
	}
	if (at == end) {
		complain(checker, "quoted field without end");
		return NULL;
	}
	*to = '\0';
	at++;
	if (at == end || (*at != ',' && *at != '\n')) {
		complain(checker, "bytes behind a quoted field");
		return NULL;
	}
	return at;
}

/* Reads one line into `fields`; returns where the next one starts, NULL: a fault was told. */
static char *read_line(struct checker *checker, char *at, char *end)
{
	checker->line++;
	checker->n_fields = 0;
	for (;;) {
		char *behind = read_field(checker, at, end);
		char separator;

		if (!behind)
			return NULL;
		if (behind == end) {
			complain(checker, "last line has no line end");
			return NULL;
		}
		separator = *behind;
		*behind = '\0';
		if (checker->n_fields < MAX_COLUMNS)
			checker->fields[checker->n_fields] = at;
		checker->n_fields++;
		at = behind + 1;
		if (separator == '\n')
			return at;
	}
}

/* -- fields ------------------------------------------------------------------------------------ */

static bool is_integer(const char *text)
{
	text += *text == '-';
	return *text && strspn(text, "0123456789") == strlen(text) &&
	       (*text != '0' || text[1] == '\0');
}

static bool is_number(const char *text)
{
	char *end;

	if (!strcmp(text, "nan") || !strcmp(text, "inf") || !strcmp(text, "-inf"))
		return true;
	if (!isdigit((unsigned char)*text) && *text != '-')
		return false;
	strtod(text, &end);
	return *end == '\0' && !strchr(text, 'x');
}

static void check_field(struct checker *checker, int i)
{
	const struct column *column = &checker->columns[i];
	const char *text = checker->fields[i];

	if (!*text) {
		if (!column->may_be_empty)
			complain(checker, "%s is empty", column->name);
	} else if (column->type == TYPE_INTEGER && !is_integer(text)) {
		complain(checker, "%s is no integer: %s", column->name, text);
	} else if (column->type == TYPE_NUMBER && !is_number(text)) {
		complain(checker, "%s is no number: %s", column->name, text);
	}
}

static int find_column(const struct checker *checker, const char *name)
{
	for (int i = 0; i < checker->n_columns; i++) {
		if (!strcmp(checker->columns[i].name, name))
			return i;
	}
	return -1;
}

/* Whether a row is the first of a rank, or of a step of it, in a table that is in their order. */
static bool is_of_another(struct checker *checker)
{
	static const char *const tables[] = {"overview.csv", "critical_path.csv",
	                                     "critical_path_summary.csv"};
	static const char *const columns[] = {"rank", "pid", "step"};
	char owner[sizeof(checker->owner)] = "";
	bool is_another, is_by_owner = false;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		is_by_owner |= strcmp(checker->name, tables[i]) == 0;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		int column = find_column(checker, columns[i]);
		size_t length = strlen(owner);

		if (column >= 0)
			snprintf(owner + length, sizeof(owner) - length, "%s,",
			         checker->fields[column]);
	}
	is_another = strcmp(owner, checker->owner) != 0;
	memcpy(checker->owner, owner, sizeof(owner));
	return is_by_owner && is_another;
}

/* Rows of a time are in order of it; an interval's duration is its end less its start. */
static void check_times(struct checker *checker)
{
	int start = find_column(checker, "start_ns"), end = find_column(checker, "end_ns");
	int dur = find_column(checker, "dur_ns");
	int time = start >= 0 ? start : find_column(checker, "time_ns");
	int64_t time_ns;

	if (time < 0)
		return;
	time_ns = strtoll(checker->fields[time], NULL, 10);
	if (!is_of_another(checker) && checker->has_time && time_ns < checker->last_time)
		complain(checker, "%s goes backwards", checker->columns[time].name);
	checker->last_time = time_ns;
	checker->has_time = true;
	if (start < 0 || end < 0 || dur < 0)
		return;
	if (strtoll(checker->fields[end], NULL, 10) - time_ns !=
	            strtoll(checker->fields[dur], NULL, 10) ||
	    *checker->fields[dur] == '-')
		complain(checker, "dur_ns is not end_ns - start_ns, or below 0");
}

/* Whether a name is one that was promised; a star stands for anything. */
static bool matches(const char *promise, const char *name)
{
	const char *star = strchr(promise, '*');
	size_t n_end = star ? strlen(star + 1) : 0, n = strlen(name);

	if (!star)
		return strcmp(promise, name) == 0;
	return strncmp(promise, name, (size_t)(star - promise)) == 0 &&
	       n >= (size_t)(star - promise) + n_end && strcmp(name + n - n_end, star + 1) == 0;
}

/* Columns with a star may be there any number of times, also none, together with those beside
 * them. Puts in their place what the header has. */
static void expand(struct checker *checker)
{
	struct column *promised = malloc(sizeof(checker->columns));
	int n = checker->n_columns, group = 0, at = 0;

	memcpy(promised, checker->columns, sizeof(checker->columns));
	checker->n_columns = 0;
	while (at < n && checker->n_columns < MAX_COLUMNS) {
		const struct column *next = &promised[at];
		int field = checker->n_columns;
		bool is_there = field < checker->n_fields && field < MAX_COLUMNS &&
		                matches(next->name, checker->fields[field]);

		if (strchr(next->name, '*') && !is_there) {
			at++;
			continue;
		}
		checker->columns[checker->n_columns++] = *next;
		if (is_there)
			snprintf(checker->columns[field].name, sizeof(next->name), "%.63s",
			         checker->fields[field]);
		if (!strchr(next->name, '*'))
			group = ++at;
		else if (++at == n || !strchr(promised[at].name, '*'))
			at = group;
	}
	free(promised);
}

static void check_header(struct checker *checker)
{
	if (checker->n_columns == 0)
		complain(checker, "docs/formats.md has no section with columns for it");
	expand(checker);
	if (checker->n_fields != checker->n_columns)
		complain(checker, "header has %d columns, documented are %d", checker->n_fields,
		         checker->n_columns);
	for (int i = 0; i < checker->n_fields && i < checker->n_columns; i++) {
		if (strcmp(checker->fields[i], checker->columns[i].name) != 0)
			complain(checker, "column %d is %s, documented is %s", i + 1,
			         checker->fields[i], checker->columns[i].name);
	}
}

static void check_row(struct checker *checker)
{
	if (checker->n_fields != checker->n_columns) {
		complain(checker, "%d fields instead of %d", checker->n_fields, checker->n_columns);
		return;
	}
	for (int i = 0; i < checker->n_columns; i++)
		check_field(checker, i);
	check_times(checker);
}

unsigned long csv_check(const char *name, const char *text, size_t n, const char *formats,
                        FILE *out)
{
	struct checker checker = {.name = name, .out = out};
	char *copy = malloc(n + 1);
	char *at = copy, *end = copy + n;

	memcpy(copy, text, n);
	copy[n] = '\0';
	if (memchr(text, '\0', n))
		complain(&checker, "a NUL byte");
	read_promise(&checker, formats);
	at = read_line(&checker, at, end);
	if (at)
		check_header(&checker);
	while (at && at < end && checker.n_columns > 0) {
		at = read_line(&checker, at, end);
		if (at)
			check_row(&checker);
	}
	free(copy);
	return checker.n_violations;
}
