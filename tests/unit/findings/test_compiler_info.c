/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "findings/compiler_info.h"
#include "scratch.h"

struct fixture {
	struct compiler_info info;
	struct string_pool *strings;
	struct string_cache cache;
	struct flextrace_error error;
	char *dir;
};

static int start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->strings = string_pool_new();
	assert_non_null(fixture->strings);
	string_cache_init(&fixture->cache, fixture->strings);
	fixture->dir = scratch_dir();
	*state = fixture;
	return 0;
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	compiler_info_release(&fixture->info);
	string_cache_release(&fixture->cache);
	string_pool_free(fixture->strings);
	scratch_remove(fixture->dir);
	free(fixture);
	return 0;
}

static void write_bytes(const struct fixture *fixture, const char *name, const void *bytes,
                        size_t n)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fixture->dir, name);
	for (char *at = strchr(path + strlen(fixture->dir) + 1, '/'); at;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0777);
		*at = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static int read_source(struct fixture *fixture, const char *name)
{
	char path[4096];
	const char *text = path;

	snprintf(path, sizeof(path), "%s/%s", fixture->dir, name);
	return compiler_info_read(&fixture->info, &text, 1, &fixture->cache, &fixture->error);
}

static void read_log(struct fixture *fixture, const char *log)
{
	write_bytes(fixture, "log", log, strlen(log));
	assert_int_equal(read_source(fixture, "log"), 0);
}

/* All tables as text: "source/phase: name category cycles, ..." */
static void expect_tables(const struct fixture *fixture, const char *expected)
{
	char text[4096] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < fixture->info.n_tables; i++) {
		const struct compiler_table *table = &fixture->info.tables[i];
		const struct kernel_cost *row = &fixture->info.rows[table->first_row];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u/%s:", table->source,
		                      kernel_phase_name(table->phase));
		for (uint32_t k = 0; k < table->n_rows; k++, row++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %s %s %llu,",
			                      string_get(fixture->strings, row->name),
			                      string_get(fixture->strings, row->category),
			                      (unsigned long long)row->ideal_cycles);
		assert_int_equal(row->category, 0); /* what the table does not name */
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
	}
	assert_string_equal(text, expected);
}

#define OPEN "~~~~ Ideal/Total Cycles ~~~~\n---------\nName         Ideal Cy.\n---------\n"
#define END  "====== Perf Summary End ======\n"

static void test_compiler_info__reads_the_tables_of_a_log(void **state)
{
	struct fixture *fixture = *state;

	read_log(fixture, "[DeepRT] ===== Perf BEGIN =====\n"
	                  "outside-opCatX 5\n" OPEN "conv_1-opCatConv_fp16     12544         \n"
	                  "a-b_c-opCatStcdpLx\t0\r\n"
	                  "plain-NA   7\n"
	                  "bare   8\n"
	                  "x-Precompute-opCatX   100\n"
	                  "x-LxPreload-opCatX   200\n"
	                  "Total\t\t\t12859\n" END "DECODING\nother\n" OPEN "k-opCatA 1\n" END
	                  "k-opCatA 2\n" OPEN "k-opCatA 3\n" END "  PREFILL  \n" OPEN
	                  "k-opCatA 4\nTotal 4\n" END);
	expect_tables(fixture, "0/: conv_1 Conv_fp16 12544, a-b_c StcdpLx 0, plain NotAvailable 7,"
	                       " bare NotAvailable 8,\n"
	                       "0/decoding: k A 1,\n"
	                       "0/: k A 3,\n"
	                       "0/prefill: k A 4,\n");
	assert_int_equal(fixture->info.tables[0].ideal_cycles, 12559);
	assert_true(fixture->info.tables[0].is_ordered);
	assert_int_equal(fixture->info.n_bad_lines, 0);
	assert_int_equal(fixture->info.n_bad_tables, 0);
	assert_int_equal(fixture->info.n_empty, 0);
}

static void test_compiler_info__keeps_a_table_told_twice_once(void **state)
{
	struct fixture *fixture = *state;

	read_log(fixture, OPEN "k-opCatA 1\n" END OPEN "k-opCatA 2\n" END OPEN "k-opCatA 1\n" END
	                       "DECODING\n" OPEN "k-opCatA 1\n" END);
	expect_tables(fixture, "0/: k A 1,\n0/: k A 2,\n0/decoding: k A 1,\n");
	assert_int_equal(read_source(fixture, "log"), 0); /* another rank's */
	assert_int_equal(fixture->info.n_tables, 6);
	assert_int_equal(fixture->info.tables[5].source, 1);
	assert_int_equal(fixture->info.n_sources, 2);
}

static void test_compiler_info__knows_logs_of_the_autopilot(void **state)
{
	struct fixture *fixture = *state;

	read_log(fixture, OPEN "k-opCatA 1\n" END "[DeepRT] ===== DSM-AutoPilot BEGIN =====\n" OPEN
	                       "k-opCatA 2\n" END);
	assert_false(fixture->info.tables[0].is_autopilot);
	assert_true(fixture->info.tables[1].is_autopilot);
}

static void test_compiler_info__counts_what_says_nothing(void **state)
{
	static const struct {
		const char *log, *tables;
		uint32_t n_bad_lines, n_bad_tables, n_empty;
	} cases[] = {
		{"", "", 0, 0, 1},
		{"k-opCatA 1\n", "", 0, 0, 1},
		{OPEN END, "", 0, 0, 1},
		{OPEN "k-opCatA\n" END, "", 1, 0, 1},
		{OPEN "k-opCatA x\nj-opCatA -1\ni-opCatA 1x\nh-opCatA 1 2\n" END, "0/: h A 1,\n", 3,
	         0, 0},
		{OPEN "k-opCatA 18446744073709551616\nj-opCatA 281474976710657\n" END, "", 2, 0, 1},
		{OPEN "k-opCatA 1\n[DeepRT] words between\n" END, "0/: k A 1,\n", 1, 0, 0},
		{OPEN "k-opCatA 1\n", "0/: k A 1,\n", 0, 1, 0}, /* cut */
		{OPEN "k-opCatA 1", "0/: k A 1,\n", 0, 1, 0},   /* cut in a line */
		{OPEN "k-opCatA 1\n" OPEN "k-opCatA 2\n" END, "0/: k A 1,\n0/: k A 2,\n", 0, 1, 0},
		{OPEN "k-opCatA 1\nTotal 2\n" END, "0/: k A 1,\n", 0, 1, 0}, /* a row is missing */
		{OPEN "-opCatA 1\nk-opCat 2\n" END, "0/:  A 1, k NotAvailable 2,\n", 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *fixture = *state;

		read_log(fixture, cases[i].log);
		expect_tables(fixture, cases[i].tables);
		assert_int_equal(fixture->info.n_bad_lines, cases[i].n_bad_lines);
		assert_int_equal(fixture->info.n_bad_tables, cases[i].n_bad_tables);
		assert_int_equal(fixture->info.n_empty, cases[i].n_empty);
		compiler_info_release(&fixture->info);
	}
}

/* Wherever it is cut: what stands before the cut is there, nothing is made up. */
static void test_compiler_info__reads_a_log_cut_at_any_byte(void **state)
{
	static const char log[] = OPEN "first-opCatA 10\nsecond-opCatB 20\nTotal 30\n" END;
	struct fixture *fixture = *state;

	for (size_t n = 0; n < sizeof(log); n++) {
		bool has_second = n >= sizeof(OPEN "first-opCatA 10\nsecond-opCatB 20") - 1;

		write_bytes(fixture, "log", log, n);
		assert_int_equal(read_source(fixture, "log"), 0);
		if (has_second) {
			assert_int_equal(fixture->info.n_tables, 1);
			assert_int_equal(fixture->info.tables[0].ideal_cycles, 30);
		}
		compiler_info_release(&fixture->info);
	}
}

static void test_compiler_info__reads_bytes_of_any_kind(void **state)
{
	const size_t n = 300000; /* several buffers, a few long lines */
	struct fixture *fixture = *state;
	unsigned char *bytes = malloc(n);
	uint64_t random = 7;

	assert_non_null(bytes);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < n; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			bytes[i] = (unsigned char)(random >> 33);
			if (round == 1 && bytes[i] == '\n')
				bytes[i] = 0;
		}
		memcpy(bytes, OPEN, sizeof(OPEN) - 1);
		memcpy(bytes + n - sizeof(END), "\n" END, sizeof(END));
		write_bytes(fixture, "log", bytes, n);
		assert_int_equal(read_source(fixture, "log"), 0);
		assert_true(fixture->info.n_bad_lines > 0);
		assert_int_equal(fixture->info.n_bad_tables, 0);
		compiler_info_release(&fixture->info);
	}
	free(bytes);
}

static void test_compiler_info__reads_rows_across_buffers(void **state)
{
	const uint32_t n = 20000;
	struct fixture *fixture = *state;
	uint64_t sum = 0;
	char *log;
	size_t size;
	FILE *stream = open_memstream(&log, &size);

	fputs(OPEN, stream);
	for (uint32_t i = 0; i < n; i++, sum += i - 1)
		fprintf(stream, "kernel_%u-opCatA %*u\n", i, (int)(i % 40), i);
	fprintf(stream, "Total %llu\n" END, (unsigned long long)sum);
	fclose(stream);
	read_log(fixture, log);
	free(log);
	assert_int_equal(fixture->info.tables[0].n_rows, n);
	assert_int_equal(fixture->info.tables[0].ideal_cycles, sum);
	assert_int_equal(fixture->info.n_bad_tables, 0);
}

static void write_kernel(const struct fixture *fixture, const char *kernel, const char *json)
{
	char name[256];

	snprintf(name, sizeof(name), "cache/inductor-spyre/%s/perf/ideal_cycles.json", kernel);
	write_bytes(fixture, name, json, strlen(json));
}

static void test_compiler_info__reads_directories_of_kernels(void **state)
{
	struct fixture *fixture = *state;

	write_kernel(fixture, "b", "[{\"ideal_cycles\": 12, \"op_category\": \"Bmm\"}]");
	write_kernel(fixture, "a",
	             "[{\"ideal_cycles\": 1, \"op_category\": \"Scalar\"},"
	             " {\"ideal_cycles\": 5, \"op_category\": \"Conv\"}]");
	write_kernel(fixture, "none", "[{\"ideal_cycles\": 0}]");
	write_kernel(fixture, "bad_1", "[{\"ideal_cycles\": \"x\", \"op_category\": \"Conv\"}]");
	write_kernel(fixture, "bad_2", "[{\"ideal_cycles\": 1, ");
	write_kernel(fixture, "bad_3", "[]");
	write_kernel(fixture, "bad_4", "{\"x\": {\"ideal_cycles\": 1}}");
	write_kernel(fixture, "bad_5", "");
	write_kernel(fixture, "bad_6", "[{\"ideal_cycles\": 1e300}]");
	write_bytes(fixture, "cache/inductor-spyre/no_perf/x", "", 0);
	assert_int_equal(read_source(fixture, "cache"), 0);
	expect_tables(fixture, "0/: a Conv 6, b Bmm 12, none NotAvailable 0,\n");
	assert_false(fixture->info.tables[0].is_ordered);
	assert_int_equal(fixture->info.n_bad_lines, 6);
}

static void test_compiler_info__takes_paths_apart_at_commas(void **state)
{
	struct fixture *fixture = *state;
	char text[8192];
	const char *texts[2] = {text, text};

	write_bytes(fixture, "a", OPEN "a-opCatA 1\n" END, sizeof(OPEN "a-opCatA 1\n" END) - 1);
	write_bytes(fixture, "b", OPEN "b-opCatA 1\n" END, sizeof(OPEN "b-opCatA 1\n" END) - 1);
	snprintf(text, sizeof(text), "%s/b,%s/a,", fixture->dir, fixture->dir);
	assert_int_equal(compiler_info_check(text, &fixture->error), 0);
	assert_int_equal(compiler_info_read(&fixture->info, texts, 2, &fixture->cache, NULL), 0);
	expect_tables(fixture, "0/: b A 1,\n1/: a A 1,\n2/: b A 1,\n3/: a A 1,\n");
}

static void test_compiler_info__says_what_cannot_be_opened(void **state)
{
	static const char *const names[] = {"missing", "empty_dir"};
	struct fixture *fixture = *state;
	char path[4096];

	write_bytes(fixture, "empty_dir/x", "", 0);
	for (size_t i = 0; i < 2; i++) {
		fixture->error = (struct flextrace_error){0};
		assert_int_equal(read_source(fixture, names[i]), FLEXTRACE_E_INPUT);
		assert_non_null(strstr(fixture->error.message, names[i]));
		assert_non_null(strstr(fixture->error.message, "No such file"));
		fixture->error = (struct flextrace_error){0};
		snprintf(path, sizeof(path), "%s/%s", fixture->dir, names[i]);
		assert_int_equal(compiler_info_check(path, &fixture->error), FLEXTRACE_E_INPUT);
		assert_non_null(strstr(fixture->error.message, names[i]));
	}
	assert_int_equal(compiler_info_check("/dev/null", &fixture->error), FLEXTRACE_E_INPUT);
}

/* Logs that a real compiler wrote, where they are at hand. */
static void expect_sample(struct fixture *fixture, const char *name, uint32_t n_rows,
                          uint64_t ideal_cycles)
{
	char path[4096];
	const char *text = path;

	snprintf(path, sizeof(path), SAMPLES_DIR "/%s", name);
	if (access(path, R_OK) < 0)
		skip();
	assert_int_equal(compiler_info_read(&fixture->info, &text, 1, &fixture->cache, NULL), 0);
	assert_int_equal(fixture->info.n_tables, 1);
	assert_int_equal(fixture->info.tables[0].n_rows, n_rows);
	assert_int_equal(fixture->info.tables[0].ideal_cycles, ideal_cycles);
	assert_int_equal(fixture->info.n_bad_lines + fixture->info.n_bad_tables, 0);
}

static void test_compiler_info__reads_a_log_of_convolutions(void **state)
{
	expect_sample(*state, "sample_comp_log_ideal.txt", 17, 556336);
}

static void test_compiler_info__reads_a_log_of_products(void **state)
{
	expect_sample(*state, "dt_cycles_table.log", 5, 67584);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_compiler_info__reads_the_tables_of_a_log),
		TEST(test_compiler_info__keeps_a_table_told_twice_once),
		TEST(test_compiler_info__knows_logs_of_the_autopilot),
		TEST(test_compiler_info__counts_what_says_nothing),
		TEST(test_compiler_info__reads_a_log_cut_at_any_byte),
		TEST(test_compiler_info__reads_bytes_of_any_kind),
		TEST(test_compiler_info__reads_rows_across_buffers),
		TEST(test_compiler_info__reads_directories_of_kernels),
		TEST(test_compiler_info__takes_paths_apart_at_commas),
		TEST(test_compiler_info__says_what_cannot_be_opened),
		TEST(test_compiler_info__reads_a_log_of_convolutions),
		TEST(test_compiler_info__reads_a_log_of_products),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
