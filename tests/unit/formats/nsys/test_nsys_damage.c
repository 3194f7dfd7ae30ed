/* SPDX-License-Identifier: Apache-2.0 */
/* Reports that are damaged, or made to be trouble; and that theirs is not made worse. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nsys_fixture.h"
#include "scratch.h"

/* A view may be any program: this one has no end. */
static void test_nsys_damage__views_are_not_read(void **state)
{
	char *path = nsys_convert_sql(
		state, "",
		"CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId "
		"INTEGER);"
		"INSERT INTO OSRT_API VALUES (1, 2, TID(70, 70), 1);"
		"CREATE VIEW StringIds AS WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1"
		" FROM c) SELECT id, 'x' value FROM c;"
		"CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1"
		" FROM c) SELECT x start, x end, 59 eventType FROM c;");
	struct flex_run *run = *state;

	assert_int_equal(run->host.n_rows, 1);
	assert_non_null(strstr(run->warnings, "NVTX ranges"));
	free(path);
}

/* Converts bytes as a report; whether it is read is of no matter. */
static void try_bytes(const struct flex_run *run, const char *bytes, size_t n)
{
	char path[4200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/damaged.sqlite", run->in);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
	nsys_try(path);
}

static char *make_bytes(void **state, size_t *ret_n)
{
	char *path = nsys_convert_sql(state, nsys_schema_2022,
	                              "PRAGMA page_size = 512; VACUUM;" NSYS_STRINGS NSYS_ROWS);
	struct flex_run *run = *state;
	char *bytes = scratch_read(run->in, "report.sqlite", ret_n);

	assert_non_null(bytes);
	free(path);
	return bytes;
}

static void test_nsys_damage__survives_a_cut_anywhere(void **state)
{
	size_t n;
	char *bytes = make_bytes(state, &n);

	for (size_t i = 0; i < n; i += i < 2048 ? 17 : 255)
		try_bytes(*state, bytes, i);
	free(bytes);
}

static void test_nsys_damage__survives_a_wrong_byte_anywhere(void **state)
{
	static const uint8_t wrong[] = {0x00, 0x01, 0x7f, 0xff};
	size_t n;
	char *bytes = make_bytes(state, &n);

	for (size_t i = 0; i < n; i += 29) {
		char byte = bytes[i];

		bytes[i] = (char)wrong[i / 29 % sizeof(wrong)];
		try_bytes(*state, bytes, n);
		bytes[i] = byte;
	}
	free(bytes);
}

/* Lets all children of the first page that has some be one and the same. */
static void tie_pages(char *bytes, size_t n)
{
	enum { PAGE_BYTES = 512, INTERIOR = 5 };

	for (size_t page = PAGE_BYTES; page < n; page += PAGE_BYTES) {
		uint8_t *at = (uint8_t *)bytes + page;
		uint32_t n_cells = (uint32_t)at[3] << 8 | at[4];
		const uint8_t *first = at + ((uint32_t)at[12] << 8 | at[13]);

		if (*at != INTERIOR || n_cells < 3)
			continue;
		for (uint32_t i = 1; i < n_cells; i++)
			memcpy(at + ((uint32_t)at[12 + 2 * i] << 8 | at[13 + 2 * i]), first, 4);
		return;
	}
	fail_msg("No page has children");
}

static void test_nsys_damage__rows_that_go_backwards_end_a_table(void **state)
{
	static const char sql[] =
		"PRAGMA page_size = 512; CREATE TABLE OSRT_API (start INTEGER, end INTEGER,"
		" globalTid INTEGER, nameId INTEGER);"
		"INSERT INTO OSRT_API WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
		" FROM n WHERE i < 500) SELECT i, i, TID(70, 70), NULL FROM n;";
	struct flex_run *run = *state;
	char *path = nsys_make(run, "report.sqlite", sql);
	size_t n;
	char *bytes = scratch_read(run->in, "report.sqlite", &n);
	FILE *file = fopen(path, "w");

	tie_pages(bytes, n);
	fwrite(bytes, 1, n, file);
	fclose(file);
	nsys_convert(run, path);
	assert_true(run->host.n_rows > 0 && run->host.n_rows < 500);
	assert_int_equal(ledger_lost(&run->ledger), 1);
	assert_non_null(strstr(run->warnings, "cause=its rows go backwards"));
	free(bytes);
	free(path);
}

/* What is found in a table for rows of others is not there; the others are. */
static void test_nsys_damage__what_a_table_lacks_costs_no_other(void **state)
{
	static const char *const sql[] = {
		"ALTER TABLE NVTX_EVENTS DROP COLUMN start;",
		"ALTER TABLE NVTX_EVENTS DROP COLUMN globalTid;",
		"ALTER TABLE NVTX_EVENTS DROP COLUMN text;",
		"ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN globalTid;",
		"ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN start;",
		"ALTER TABLE StringIds RENAME TO x;",
		"DROP TABLE MPI_RANKS; DROP TABLE MPI_COMMUNICATORS; DROP TABLE ThreadNames;",
	};

	for (size_t i = 0; i < sizeof(sql) / sizeof(*sql); i++) {
		char text[8192], *path;
		struct flex_run *run;

		snprintf(text, sizeof(text),
		         NSYS_STRINGS NSYS_ROWS
		         "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES"
		         " (900, 3500, 59, 'ncclGroupStart', TID(70, 70)),"
		         " (900, 3500, 59, 'ncclGroupEnd', TID(70, 70)); %s",
		         sql[i]);
		path = nsys_convert_sql(state, nsys_schema_2024, text);
		run = *state;
		assert_int_equal(run->events.n_rows, 5);
		assert_null(strstr(run->warnings, "damaged"));
		free(path);
		flex_stop(state);
		flex_start(state);
	}
}

static uint32_t count_files(const char *dir)
{
	DIR *folder = opendir(dir);
	uint32_t n = 0;

	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static void test_nsys_damage__writes_nothing_beside_the_file(void **state)
{
	struct flex_run *run = *state;
	char *path = nsys_convert_sql(state, nsys_schema_2024,
	                              "PRAGMA journal_mode = WAL;" NSYS_STRINGS NSYS_ROWS
	                              "PRAGMA journal_mode = WAL;");

	assert_int_equal(count_files(run->in), 3); /* with . and .. */
	assert_int_equal(run->events.n_rows, 5);
	free(path);
}

/* What only the journal beside a file has is missing: told, and not written into the file. */
static void test_nsys_damage__tells_of_a_journal_beside_the_file(void **state)
{
	static const char sql[] = "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid "
				  "INTEGER, nameId INTEGER);"
				  "INSERT INTO OSRT_API VALUES (1, 2, TID(70, 70), NULL);";
	struct flex_run *run = *state;
	char *path = nsys_make(run, "report.sqlite", sql);

	flex_add_file(run, "report.sqlite-wal", "7");
	nsys_convert(run, path);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(ledger_lost(&run->ledger), 1);
	assert_non_null(strstr(run->warnings, "its journal is not read"));
	free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nsys_damage__views_are_not_read),
		TEST(test_nsys_damage__survives_a_cut_anywhere),
		TEST(test_nsys_damage__survives_a_wrong_byte_anywhere),
		TEST(test_nsys_damage__rows_that_go_backwards_end_a_table),
		TEST(test_nsys_damage__what_a_table_lacks_costs_no_other),
		TEST(test_nsys_damage__writes_nothing_beside_the_file),
		TEST(test_nsys_damage__tells_of_a_journal_beside_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
