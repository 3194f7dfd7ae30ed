/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output directory that somebody else wrote: what `report` and `diff` print of it, what `record
 * --twice` and `--kernels-from` take from it. Parts of the input are its files, in the order of
 * `names`.
 */
#include "fuzz.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/paths.h"
#include "findings/kernel_times.h"
#include "cli/report/diff.h"
#include "cli/report/table_view.h"
#include "cli/report/summary.h"
#include "cli/report/twice.h"

static const char *const names[] = {"run.json",
                                    "tables/host.csv",
                                    "tables/events.csv",
                                    "tables/kernels.csv",
                                    "tables/clocks.csv",
                                    "tables/losses.csv",
                                    "tables/emitted.csv",
                                    "tables/runtime.csv",
                                    "tables/compiler.csv",
                                    "tables/alignment.csv",
                                    "tables/ops.csv",
                                    "tables/device_ops.csv",
                                    "tables/index.json",
                                    "tables/aggregate_perf.json"};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

static void write_dir(const uint8_t *data, size_t n)
{
	char tables[512];

	snprintf(tables, sizeof(tables), "%s/tables", fuzz_dir());
	mkdir(tables, 0700);
	for (uint32_t i = 0; i < N_NAMES; i++) {
		size_t n_part;
		const uint8_t *part = fuzz_part(data, n, i, &n_part);

		if (part)
			fuzz_file_in_dir(names[i], part, n_part);
		else
			remove(fuzz_file_in_dir(names[i], NULL, 0));
	}
}

static void print_table(const uint8_t *data, size_t n, FILE *to)
{
	const struct csv_table_query query = {.sort = "count", .rank = "0", .limit = 3};
	FILE *file = fopen(fuzz_file(data, n), "re");
	struct csv_table table;
	uint32_t n_hidden;

	if (!file)
		fuzz_fail("no file");
	if (csv_table_read(file, "table", &query, &table, NULL) == 0) {
		table_view_print(&table, &(struct table_view){.width = 80, .is_human = true}, to,
		                 &n_hidden, NULL);
		table_view_print_json(&table, &(struct table_view){0}, NULL, to, NULL);
		csv_table_release(&table);
	}
	fclose(file);
}

static void take_times(void)
{
	struct string_pool *strings = string_pool_new();
	struct kernel_times times = {0};
	struct string_cache cache;

	if (!strings)
		fuzz_fail("no memory");
	string_cache_init(&cache, strings);
	kernel_times_read(&times, fuzz_dir(), &cache, NULL);
	kernel_times_release(&times);
	string_cache_release(&cache);
	string_pool_free(strings);
}

static void compare(FILE *to)
{
	struct diff diff = {.rank = NULL};

	if (diff_init(&diff, NULL) < 0)
		fuzz_fail("no memory");
	if (diff_add(&diff, DIFF_A, "a", fuzz_dir(), NULL) == 0 &&
	    diff_add(&diff, DIFF_B, "b", fuzz_dir(), NULL) == 0 && diff_finish(&diff, NULL) == 0) {
		diff_print(&diff, 2, to);
		diff_print_csv(&diff, to);
		diff_print_json(&diff, to);
		diff_write_page(&diff, path_of(fuzz_dir(), "diff.html").text, NULL);
	}
	diff_release(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static FILE *nowhere;
	struct twice_result result;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (!nowhere)
		fuzz_fail("no file");
	print_table(data, n, nowhere);
	write_dir(data, n);
	summary_print(fuzz_dir(), nowhere, NULL);
	twice_write(fuzz_dir(), fuzz_dir(), &result, NULL);
	take_times();
	compare(nowhere);
	return 0;
}
