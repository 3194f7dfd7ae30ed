/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is lost is told: for each case of loss_cases.c the same number stands in losses.csv,
 * run.json, trace.json, the summary and the exit code of `flextrace convert`.
 *
 * FLEXTRACE, MAKE_AREAS and CHECK_RUN are the programs' paths, EMULATOR is what runs them: "" where
 * the machine does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <zlib.h>

#include "base/text/csv_reader.h"
#include "ctf_text.h"
#include "model/emitted/emitted.h"
#include "model/ledger/ledger.h"
#include "loss_cases.h"
#include "formats/ctf/torn.h"
#include "scratch.h"
#include "trace_checker.h"

#define MAX_TRACE_BYTES (1 << 20)

struct run {
	const struct loss_case *of; /* weak */
	char *dir;                  /* owned */
	cJSON *root;                /* owned: run.json or the trace */
};

static uint64_t expected(const struct loss_case *of, enum loss_cause cause)
{
	for (int i = 0; i < LOSS_CASE_CAUSES; i++)
		if (of->lost[i].count && of->lost[i].cause == cause)
			return of->lost[i].count;
	return 0;
}

static uint64_t expected_lost(const struct loss_case *of)
{
	uint64_t n = 0;

	for (int i = 0; i < LOSS_CASE_CAUSES; i++)
		n += ledger_is_loss(of->lost[i].cause) ? of->lost[i].count : 0;
	return n;
}

static void assert_count(const struct run *run, const char *where, enum loss_cause cause,
                         uint64_t n)
{
	if (n != expected(run->of, cause))
		fail_msg("%s: %s tells of %llu %s, not %llu", run->of->name, where,
		         (unsigned long long)n, ledger_cause_id(cause),
		         (unsigned long long)expected(run->of, cause));
}

/* -- input ------------------------------------------------------------------------------------- */

/* Runs a line of the shell in the case's directory; returns the exit code. */
static int run_line(const struct run *run, const char *line)
{
	char text[4096];
	int status;

	snprintf(text, sizeof(text), "cd '%s' && %s", run->dir, line);
	status = system(text); /* NOLINT(cert-env33-c): literals */
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void write_file(const struct run *run, const char *name, const char *content)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/in/%s", run->dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The only packet of the stream gets longer by the mark. */
static void tear(const struct run *run)
{
	struct torn_mark mark = {TORN_MAGIC, 24};
	uint64_t content_bits, packet_bits;
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/in/%s", run->dir, run->of->torn);
	file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, 48, SEEK_SET), 0);
	assert_int_equal(fread(&content_bits, sizeof(content_bits), 1, file), 1);
	assert_int_equal(fread(&packet_bits, sizeof(packet_bits), 1, file), 1);
	packet_bits = content_bits / 8 * 8 + 8 * sizeof(mark);
	assert_int_equal(fseek(file, 56, SEEK_SET), 0);
	assert_int_equal(fwrite(&packet_bits, sizeof(packet_bits), 1, file), 1);
	assert_int_equal(fseek(file, (long)(content_bits / 8), SEEK_SET), 0);
	assert_int_equal(fwrite(&mark, sizeof(mark), 1, file), 1);
	assert_int_equal(ftruncate(fileno(file), (off_t)(packet_bits / 8)), 0);
	assert_int_equal(fclose(file), 0);
}

static void write_recording(const struct run *run)
{
	char path[512];
	const struct ctf_writer_options options = {
		.dir = path,
		.hostname = "node0",
		.uuid = {1},
		.clock_offset_ns = 1700000000000000000,
		.packet_bytes = 4096,
		.n_stream_classes = run->of->n_channels ? run->of->n_channels : 2};
	struct flextrace_error error = {0};

	snprintf(path, sizeof(path), "%s/in", run->dir);
	if (ctf_text_write(&options, run->of->events, &error) < 0)
		fail_msg("%s: %s", run->of->name, error.message);
	if (run->of->indexed) {
		snprintf(path, sizeof(path), "mkdir in/index && : >in/index/%s.idx",
		         run->of->indexed);
		assert_int_equal(run_line(run, path), 0);
	}
	if (run->of->emitted)
		write_file(run, EMITTED_FILE, run->of->emitted);
	if (run->of->torn)
		tear(run);
	if (run->of->cut) {
		snprintf(path, sizeof(path), "truncate -s -1 in/%s", run->of->cut);
		assert_int_equal(run_line(run, path), 0);
	}
}

static void write_input(const struct run *run)
{
	const struct loss_case *of = run->of;
	char line[512];

	if (of->events) {
		write_recording(run);
		return;
	}
	assert_int_equal(run_line(run, "mkdir in"), 0);
	for (int i = 0; i < LOSS_CASE_FILES && of->files[i].name; i++)
		write_file(run, of->files[i].name, of->files[i].content);
	if (of->areas) {
		snprintf(line, sizeof(line), EMULATOR " '%s' in/memory %s", MAKE_AREAS, of->areas);
		assert_int_equal(run_line(run, line), 0);
		snprintf(line, sizeof(line), "truncate -s %u in/memory", of->n_bytes);
		assert_int_equal(run_line(run, of->n_bytes ? line : "true"), 0);
	}
}

/* -- what is told ------------------------------------------------------------------------------ */

static int convert(const struct run *run, const char *options, uint64_t limit)
{
	char line[2048];

	snprintf(line, sizeof(line),
	         EMULATOR " '%s' convert in%s -o out --fail-on-loss=%llu %s %s >summary 2>messages",
	         FLEXTRACE, run->of->areas ? "/memory" : "", (unsigned long long)limit,
	         run->of->options ? run->of->options : "", options);
	return run_line(run, line);
}

static void read_json(struct run *run, const char *name)
{
	char path[512], *text = malloc(MAX_TRACE_BYTES);
	gzFile file;
	int n;

	snprintf(path, sizeof(path), "%s/out/%s", run->dir, name);
	file = gzopen(path, "rb"); /* reads what is not compressed as it is */
	if (!file)
		fail_msg("%s: there is no %s", run->of->name, name);
	n = gzread(file, text, MAX_TRACE_BYTES - 1);
	assert_in_range(n, 1, MAX_TRACE_BYTES - 2);
	gzclose(file);
	text[n] = '\0';
	if (strncmp(name, "trace", 5) == 0 && trace_check(text, (size_t)n, stderr) != 0)
		fail_msg("%s: %s is bad", run->of->name, name);
	cJSON_Delete(run->root);
	run->root = cJSON_Parse(text);
	assert_non_null(run->root);
	free(text);
}

/* The last of a number of words that stands behind an id in the text; 0: it is not there. */
static uint64_t number_behind(const char *text, const char *id)
{
	const char *at = strstr(text, id);

	return at ? strtoull(at + strlen(id), NULL, 10) : 0;
}

static void check_summary(const struct run *run)
{
	char *text = scratch_read(run->dir, "summary", NULL);

	for (enum loss_cause cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		char id[64];

		snprintf(id, sizeof(id), "\n  %-36s", ledger_cause_id(cause));
		assert_count(run, "the summary", cause, number_behind(text, id));
	}
	if ((strstr(text, "What was lost\n  nothing") != NULL) != !expected_lost(run->of))
		fail_msg("%s: the summary says nothing was lost, or does not", run->of->name);
	free(text);
}

static void check_csv(const struct run *run)
{
	uint64_t n[LOSS_CAUSE_COUNT] = {0};
	struct csv_reader row;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/out/tables/losses.csv", run->dir);
	file = fopen(path, "r");
	csv_reader_init(&row, file, path);
	while (file && csv_reader_next(&row, NULL) > 0) {
		for (enum loss_cause cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
			if (strcmp(csv_reader_field(&row, 3), ledger_cause_id(cause)) == 0)
				n[cause] += strtoull(csv_reader_field(&row, 7), NULL, 10);
	}
	csv_reader_release(&row);
	if (file)
		fclose(file); /* else nothing was lost */
	for (enum loss_cause cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
		assert_count(run, "tables/losses.csv", cause, n[cause]);
}

static uint64_t number_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(item) ? (uint64_t)item->valuedouble : 0;
}

static void check_books(struct run *run)
{
	char line[512];

	snprintf(line, sizeof(line), EMULATOR " '%s' out >books || { cat books; false; }",
	         CHECK_RUN);
	if (run_line(run, line) != 0)
		fail_msg("%s: the books are bad", run->of->name);
	read_json(run, "run.json");
	for (enum loss_cause cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
		assert_count(run, "run.json", cause,
		             number_of(cJSON_GetObjectItem(run->root, "losses"),
		                       ledger_cause_id(cause)));
	assert_int_equal(number_of(cJSON_GetObjectItem(run->root, "totals"), "lost"),
	                 expected_lost(run->of));
}

/* The counts of intervals, and those of the names of their lines, are what was lost. */
static void check_trace(struct run *run, const char *name)
{
	uint64_t shown[LOSS_CAUSE_COUNT] = {0}, named[LOSS_CAUSE_COUNT] = {0};
	const cJSON *event;

	read_json(run, name);
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(run->root, "traceEvents"))
	{
		const cJSON *args = cJSON_GetObjectItem(event, "args");
		const char *cat = cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat"));
		const char *label = cJSON_GetStringValue(cJSON_GetObjectItem(args, "name"));
		const char *what = cJSON_GetStringValue(cJSON_GetObjectItem(event, "name"));

		for (enum loss_cause cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
			const char *id = ledger_cause_id(cause);
			size_t n = strlen(id);

			if (cat && strcmp(cat, ledger_is_loss(cause) ? "loss" : "left_out") == 0 &&
			    strcmp(what, id) == 0)
				shown[cause] += number_of(args, "count");
			if (label && strncmp(label, id, n) == 0 && label[n] == ':')
				named[cause] += number_behind(label, ": ");
		}
	}
	for (enum loss_cause cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		assert_count(run, name, cause, shown[cause]);
		assert_count(run, "a line's name", cause, named[cause]);
	}
}

static void start(struct run *run, const struct loss_case *of)
{
	*run = (struct run){.of = of, .dir = scratch_dir()};
	write_input(run);
}

static void stop(struct run *run)
{
	cJSON_Delete(run->root);
	scratch_remove(run->dir);
}

static void expect_code(const struct run *run, int code, int wanted)
{
	char *messages;

	if (code == wanted)
		return;
	messages = scratch_read(run->dir, "messages", NULL);
	fail_msg("%s: the exit code is %d, not %d: %s", run->of->name, code, wanted, messages);
}

/* The exit code tells exactly how much was lost: one less is a failure, what it was is none. */
static void test_losses__are_told_everywhere_and_exactly(void **state)
{
	(void)state;
	for (const struct loss_case *of = loss_cases; of->name; of++) {
		uint64_t lost = expected_lost(of);
		struct run run;

		start(&run, of);
		expect_code(&run, convert(&run, "", lost ? lost - 1 : 0), lost ? 3 : 0);
		check_summary(&run);
		check_csv(&run);
		check_books(&run);
		check_trace(&run, "trace.json");
		expect_code(&run, convert(&run, "--quiet --formats=text", lost), 0);
		stop(&run);
	}
}

static void test_losses__are_in_every_view_of_a_trace(void **state)
{
	static const struct {
		const char *options, *trace;
	} views[] = {
		{"--gzip", "trace.json.gz"},         {"--types=C", "trace.json"},
		{"--overlap=async", "trace.json"},   {"--overlap=drop", "trace.json"},
		{"--time-unit=ns", "trace.json"},    {"--per-rank", "trace.json"},
		{"--memory-limit=1M", "trace.json"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct run run;

		/* QEMU dies of a range of 4 TiB, in which the tables would lie. */
		if (*EMULATOR && strstr(views[i].options, "memory-limit"))
			continue;
		start(&run, &loss_cases[0]);
		expect_code(&run, convert(&run, views[i].options, 0), 3);
		check_trace(&run, views[i].trace);
		stop(&run);
	}
}

/* A cause that is new needs an input that loses a known number by it. */
static void test_losses__of_every_cause_have_a_case(void **state)
{
	(void)state;
	for (enum loss_cause cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		const struct loss_case *of = loss_cases;

		while (of->name && !expected(of, cause))
			of++;
		if (!of->name)
			fail_msg("No case of loss_cases.c loses anything by %s",
			         ledger_cause_id(cause));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses__of_every_cause_have_a_case),
		cmocka_unit_test(test_losses__are_told_everywhere_and_exactly),
		cmocka_unit_test(test_losses__are_in_every_view_of_a_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
