/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden.c: converts the literal events of CASE/input.txt and compares what comes out with
 * CASE/expect.txt: the rows of the text format, then the warnings, then the balance.
 *
 * The events are read twice, once by one reader and once shared out among three, whose streams come
 * in another order: both must give the same bytes. FLEXTRACE_UPDATE_GOLDEN=1 writes expect.txt
 * instead of comparing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "pipeline.h"
#include "scratch.h"
#include "text_source.h"

#define N_PARTS 3

static void die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

/* A line "# NAME=VALUE" in the input stands for an option. Owned, or NULL. */
static char *find_option(const char *input, const char *name)
{
	const char *at = strstr(input, name);

	if (!at)
		return NULL;
	at += strlen(name);
	return strndup(at, strcspn(at, "\n"));
}

static void write_books(const struct ledger *ledger, FILE *to)
{
	for (int warning = 0; warning < WARNING_COUNT; warning++)
		if (ledger->warnings[warning])
			fprintf(to, "warning id=%s count=%" PRIu64 "\n",
			        ledger_warning_id((enum warning)warning),
			        ledger->warnings[warning]);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		if (!ledger->read[class])
			continue;
		fprintf(to, "balance class=%s read=%" PRIu64 " rows=%" PRIu64 " evidence=%" PRIu64,
		        record_class_name((enum record_class) class), ledger->read[class],
		        ledger->rows[class], ledger->evidence[class]);
		for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
			if (ledger->discarded[class][cause])
				fprintf(to, " %s=%" PRIu64, ledger_cause_id((enum loss_cause)cause),
				        ledger->discarded[class][cause]);
		fputc('\n', to);
	}
}

/* Converts what is read and returns the text. Owned. */
static char *convert(struct text_source *source, struct plain_options plain)
{
	struct flextrace_error error = {0};
	struct pipeline_result result = {0};
	char *dir = scratch_dir(), *rows, *text = NULL;
	struct pipeline_options options = {
		.emit = {.output_dir = dir, .formats = "text", .n_threads = 1},
		.calibrate = CALIBRATE_OPTIONS_INIT,
		.align = ALIGN_OPTIONS_INIT,
		.plain = plain,
	};
	size_t n;
	FILE *to = open_memstream(&text, &n);
	int status = pipeline_run(&source->set, source->strings, &source->decoder.ledger, &options,
	                          &result, &error);

	if (status < 0) {
		fprintf(to, "error code=%d message=%s\n", status, error.message);
	} else {
		rows = scratch_read(dir, "timeline.txt", NULL);
		fputs(rows, to);
		free(rows);
		write_books(&source->decoder.ledger, to);
	}
	fclose(to);
	scratch_remove(dir);
	return text;
}

/* Reads the input as so many workers would and converts it. Owned. */
static char *read_and_convert(const char *input, uint32_t n_parts)
{
	struct string_pool *strings = string_pool_new();
	struct text_source parts[N_PARTS + 1];
	struct flextrace_error error = {0};
	char *session = find_option(input, "# session="),
	     *dialect = find_option(input, "# dialect=");
	char *text;

	if (text_source_init_part(&parts[n_parts], strings, 0, 1))
		die("golden", "out of memory");
	for (uint32_t i = n_parts; i-- > 0;) {
		if (text_source_init_part(&parts[i], strings, i, n_parts) < 0 ||
		    text_source_read(&parts[i], input, &error) < 0)
			die("input.txt", error.message);
		if (stream_set_take(&parts[n_parts].set, &parts[i].set) ||
		    ledger_add(&parts[n_parts].decoder.ledger, &parts[i].decoder.ledger))
			die("golden", "out of memory");
	}
	text = convert(&parts[n_parts],
	               (struct plain_options){.session = session, .dialect = dialect});
	for (uint32_t i = 0; i <= n_parts; i++)
		text_source_release(&parts[i]);
	string_pool_free(strings);
	free(session);
	free(dialect);
	return text;
}

static void save(const char *path, const char *text)
{
	FILE *to = fopen(path, "w");

	if (!to || fputs(text, to) < 0 || fclose(to))
		die(path, "cannot write");
}

/* Shows how `text` differs from the file `expected`, which it does. */
static void show_difference(const char *expected, const char *text)
{
	char *dir = scratch_dir();
	char path[512];
	pid_t child;

	snprintf(path, sizeof(path), "%s/actual", dir);
	save(path, text);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		execlp("diff", "diff", "-uN", expected, path, (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	scratch_remove(dir);
}

int main(int argc, char **argv)
{
	char expect_path[512];
	char *input, *expected, *whole, *shared;
	int status;

	if (argc != 2)
		die("usage", "golden CASE-DIRECTORY");
	snprintf(expect_path, sizeof(expect_path), "%s/expect.txt", argv[1]);
	input = scratch_read(argv[1], "input.txt", NULL);
	if (!input)
		die(argv[1], "no input.txt");
	whole = read_and_convert(input, 1);
	shared = read_and_convert(input, N_PARTS);
	if (getenv("FLEXTRACE_UPDATE_GOLDEN"))
		save(expect_path, whole);
	expected = scratch_read(argv[1], "expect.txt", NULL);
	status = !expected || strcmp(expected, whole) != 0;
	if (status)
		show_difference(expect_path, whole);
	if (strcmp(whole, shared) != 0) {
		fprintf(stderr, "One reader and %d readers give different output\n", N_PARTS);
		show_difference(expect_path, shared);
		status = 1;
	}
	free(input);
	free(expected);
	free(whole);
	free(shared);
	return status;
}
