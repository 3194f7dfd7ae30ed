/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_run DIR: recounts the books of run.json: what was read against what became of it, and the
 * rows of each file and the losses against the files themselves. Says each fault; prints how many
 * records there were. Exits 1 if there is a fault, 2 if something cannot be read.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/text/csv_reader.h"
#include "scratch.h"

static int n_faults;

static void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void fault(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("run.json: ", stdout);
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
	n_faults++;
}

static double number_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!cJSON_IsNumber(item))
		fault("there is no number `%s`", name);
	return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static double sum_of(const cJSON *object)
{
	const cJSON *item;
	double sum = 0;

	cJSON_ArrayForEach(item, object) sum += item->valuedouble;
	return sum;
}

/* Returns how many records were read. */
static double check_balance(const cJSON *run)
{
	const cJSON *line, *balance = cJSON_GetObjectItemCaseSensitive(run, "balance");
	const cJSON *totals = cJSON_GetObjectItemCaseSensitive(run, "totals");
	bool has_all = !cJSON_HasObjectItem(cJSON_GetObjectItemCaseSensitive(run, "losses"),
	                                    "unaccounted");
	double n_read = 0;

	cJSON_ArrayForEach(line, balance)
	{
		const cJSON *discarded = cJSON_GetObjectItemCaseSensitive(line, "discarded");
		double read = number_of(line, "read");
		double booked = number_of(line, "rows") + number_of(line, "evidence") +
		                sum_of(discarded);

		if (read != booked)
			fault("%.0f records of class %s were read, %.0f are booked", read,
			      line->string, booked);
		n_read += read;
	}
	if (n_read != number_of(totals, "records"))
		fault("the classes have %.0f records, the totals others", n_read);
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(run, "closes")) != has_all)
		fault("it says itself that its books do not close, or that they do");
	return n_read;
}

static FILE *open_table(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fopen(path, "re");
}

static void check_rows(const char *dir, const char *name, double rows)
{
	FILE *file = open_table(dir, name);
	struct csv_reader reader;
	double n = -1; /* the heading */

	if (!file) {
		fault("%s cannot be opened", name);
		return;
	}
	csv_reader_init(&reader, file, name);
	while (csv_reader_next(&reader, NULL) > 0)
		n++;
	csv_reader_release(&reader);
	fclose(file);
	if (n != rows)
		fault("%s has %.0f rows, not %.0f", name, n, rows);
}

static void check_files(const cJSON *run, const char *dir)
{
	const cJSON *file;

	cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(run, "files"))
	{
		const cJSON *by_class = cJSON_GetObjectItemCaseSensitive(file, "by_class");
		const char *name =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(file, "file"));
		double rows = number_of(file, "rows");

		if (by_class && sum_of(by_class) != rows)
			fault("the classes of %s have %.0f rows, not %.0f", name, sum_of(by_class),
			      rows);
		if (name && strstr(name, ".csv"))
			check_rows(dir, name, rows);
	}
}

/* No table of an earlier conversion stands beside those of this one. */
static void check_others(const cJSON *run, const char *dir)
{
	glob_t found;

	glob_in(dir, "tables/*.csv", &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const cJSON *file = cJSON_GetObjectItemCaseSensitive(run, "files")->child;
		const char *name = found.gl_pathv[i] + strlen(dir) + 1;

		while (file &&
		       strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(file, "file")), name) != 0)
			file = file->next;
		if (!file && strcmp(name, "tables/twice.csv") != 0)
			fault("%s is not in run.json", name);
	}
	globfree(&found);
}

/* The lines of losses.csv are taken off what run.json says; nothing may be left. */
static void check_losses(cJSON *run, const char *dir)
{
	cJSON *loss, *losses = cJSON_GetObjectItemCaseSensitive(run, "losses");
	FILE *file = open_table(dir, "tables/losses.csv");
	struct csv_reader reader;
	size_t cause = 0, count = 0;

	csv_reader_init(&reader, file, "tables/losses.csv");
	if (file && csv_reader_next(&reader, NULL) > 0)
		for (size_t i = 0; i < reader.n_fields; i++) {
			cause = strcmp(csv_reader_field(&reader, i), "cause") == 0 ? i : cause;
			count = strcmp(csv_reader_field(&reader, i), "count") == 0 ? i : count;
		}
	while (file && csv_reader_next(&reader, NULL) > 0) {
		loss = cJSON_GetObjectItemCaseSensitive(losses, csv_reader_field(&reader, cause));
		if (loss)
			loss->valuedouble -= strtod(csv_reader_field(&reader, count), NULL);
		else
			fault("there is no cause %s", csv_reader_field(&reader, cause));
	}
	csv_reader_release(&reader);
	if (file)
		fclose(file); /* else nothing was lost */
	cJSON_ArrayForEach(loss, losses)
	{
		if (loss->valuedouble != 0)
			fault("%s differs from losses.csv by %.0f", loss->string,
			      loss->valuedouble);
	}
}

int main(int argc, char **argv)
{
	char *text = argc == 2 ? scratch_read(argv[1], "run.json", NULL) : NULL;
	cJSON *run = text ? cJSON_Parse(text) : NULL;

	free(text);
	if (!run) {
		fputs("check_run: cannot read run.json\n", stderr);
		return 2;
	}
	printf("records=%.0f\n", check_balance(run));
	check_files(run, argv[1]);
	check_others(run, argv[1]);
	check_losses(run, argv[1]);
	cJSON_Delete(run);
	return n_faults > 0;
}
