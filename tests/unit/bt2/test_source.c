/* SPDX-License-Identifier: Apache-2.0 */
/* Where rows of imported files say that they are from: held against the files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <cjson/cJSON.h>

#include "flex_fixture.h"
#include "scratch.h"
#include "texts.h"

/* -- rows by hand ----------------------------------------------------------------------------- */

#define STAMPS "\"attr\":{\"TS1\":1000,\"TS2\":2000,\"TS3\":3000,\"TS4\":7000,\"TS5\":7006}"
#define X(name, pid, ts, rest)                                                       \
	"{\"name\":\"" name "\",\"ph\":\"X\",\"pid\":" #pid ",\"tid\":1,\"ts\":" #ts \
	",\"dur\":1" rest "}"
#define EDGE(ph, name, ts, rest) \
	"{\"name\":\"" name "\",\"ph\":\"" ph "\",\"pid\":0,\"tid\":1,\"ts\":" #ts rest "}"
#define LOG_COLUMNS                                                                            \
	"ARCH: blackhole, CHIP_FREQ[MHz]: 1000\n"                                              \
	"PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], " \
	"data, run host ID, trace id, trace id counter, zone name, type, source line, "        \
	"source file, meta data\n"
#define LOG(cycles, zone, type) "0,1,2,BRISC,1," #cycles ",0,1,,," zone "," type ",1,fw.cc,\n"
#define REPORT_COLUMNS                                                           \
	"OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,HOST START TS,HOST END TS," \
	"DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],"     \
	"DEVICE KERNEL DURATION [ns]\n"

static const struct source_case {
	const char *what;
	const char *files[3][2]; /* name, text */
	struct {
		const char *table, *kind, *name, *source;
	} rows[6];
} cases[] = {
	{"elements of a list, broken ones among them",
         {{"a.json", "[null,5," X("a", 0, 5, "") ",{\"name\":}," X("b", 0, 3, "") "]"}},
         {{"tables/host.csv", "User", "a", "0:2"}, {"tables/host.csv", "User", "b", "0:4"}}},
	{"an object around the list, and members around it",
         {{"a.json", "{\"x\":[1,{\"y\":2}],\"traceEvents\":[{\"name\":\"m\",\"ph\":\"M\"}," X(
			     "a", 0, 5, "") "],\"z\":3}"}},
         {{"tables/host.csv", "User", "a", "0:1"}}},
	{"points",
         {{"a.json", "[{\"name\":\"c\",\"ph\":\"C\",\"ts\":9,\"args\":{\"p\":1,\"q\":2}},"
                     "{\"name\":\"i\",\"ph\":\"i\",\"ts\":1}]"}},
         {{"tables/counters.csv", NULL, "c/p", "0:0"},
          {"tables/counters.csv", NULL, "c/q", "0:0"},
          {"tables/instants.csv", "instant", "i", "0:1"}}},
	{"begins, beside their ends and around others",
         {{"a.json",
           "[" EDGE("B", "a", 1, "") "," EDGE("E", "a", 9, "") "," EDGE("B", "b", 10, "") "," EDGE(
		   "B", "c", 11, "") "," EDGE("E", "c", 12, "") "," EDGE("E", "b", 13,
                                                                         "") "," EDGE("B", "open",
                                                                                      14, "") "]"}},
         {{"tables/host.csv", "User", "a", "0:0"},
          {"tables/host.csv", "User", "b", "0:2"},
          {"tables/host.csv", "User", "c", "0:3"},
          {"tables/host.csv", "User", "open", "0:6"}}},
	{"begins behind their ends in the file",
         {{"a.json", "[" EDGE("E", "a", 9, "") "," EDGE("B", "a", 1, "") "]"}},
         {{"tables/host.csv", "User", "a", "0:1"}}},
	{"ends that tell what begins do not",
         {{"a.json",
           "[" EDGE("B", "k Cmpt Exec", 1, "") "," EDGE("E", "k Cmpt Exec", 9, "," STAMPS) "]"}},
         {{"tables/events.csv", "Exec", "k", "0:0"}}},
	{"parts of a control block, in files of their own",
         {{"a.json", "[" X("k Cmpt Exec", 0, 13, "," STAMPS) "]"},
          {"b.json", "[" X("s", 0, 1, "") "," X("k Cmpt Prep", 0, 12, "," STAMPS) "," X(
			     "k DmaI", 0, 11, "," STAMPS) "]"}},
         {{"tables/events.csv", "DmaI", "k", "1:2"},
          {"tables/events.csv", "Prep", "k", "1:1"},
          {"tables/events.csv", "Exec", "k", "0:0"},
          {"tables/counters.csv", NULL, "ConcurrentPreps", "0:0"},
          {"tables/host.csv", "User", "s", "1:0"}}},
	{"a control block of one event",
         {{"a.json", "[" X("k DmaO", 0, 13, "," STAMPS) "]"}},
         {{"tables/events.csv", "Memcpy DtoH", "k", "0:0"}}},
	{"ranks in one file, and a rank in two",
         {{"a.json", "[" X("a0", 0, 1, "") "," X("a1", 1, 1, "") "]"},
          {"b.json", "[" X("b1", 1, 2, "") "," X("b0", 0, 2, "") "]"}},
         {{"tables/host.csv", "User", "a0", "0:0"},
          {"tables/host.csv", "User", "a1", "0:1"},
          {"tables/host.csv", "User", "b1", "1:0"},
          {"tables/host.csv", "User", "b0", "1:1"}}},
	{"names that a table or a shell would stumble over",
         {{"a b,c\"d\":1:2\n.json", "[" X("a", 0, 1, "") "]"},
          {"%s%n.json", "[" X("b", 0, 1, "") "]"}},
         {{"tables/host.csv", "User", "a", "1:0"}, {"tables/host.csv", "User", "b", "0:0"}}},
	{"a file of the torch profiler, and what stands outside of its events",
         {{"t.json",
           "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0}],\"traceEvents\":["
           "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"p\"}},"
           "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":7,\"tid\":7,\"ts\":9,"
           "\"dur\":2},"
           "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":3,\"ts\":5,"
           "\"dur\":2,\"args\":{\"device\":0,\"stream\":3}}]}"}},
         {{"tables/host.csv", "Op", "op", "0:1"},
          {"tables/events.csv", "kernel", "k", "0:2"},
          {"tables/instants.csv", "annotation", "deviceProperties", "0"}}},
	{"lines of a device log",
         {{"profile_log_device.csv",
           LOG_COLUMNS LOG(1000, "BRISC-FW", "ZONE_START") LOG(1010, "BRISC-KERNEL", "ZONE_START")
                   LOG(1020, "READ", "ZONE_START") LOG(1030, "READ", "ZONE_END") LOG(
			   1040, "BRISC-KERNEL", "ZONE_END") LOG(1050, "BRISC-FW", "ZONE_END")
                           LOG(2000, "BRISC-FW", "ZONE_START") LOG(2050, "BRISC-FW", "ZONE_END")}},
         {{"tables/events.csv", "FW", NULL, "0:3"},
          {"tables/events.csv", "Kernel", NULL, "0:4"},
          {"tables/events.csv", "Zone", "READ", "0:5"}}},
	{"lines of an ops report, of which a text spans two",
         {{"ops_perf_results.csv",
           REPORT_COLUMNS "\"a\nb\",tt_dnn_device,1,0,1000,2000,5000,6000,1000,900\n"
                          "second,tt_dnn_device,2,0,3000,4000,7000,8000,1000,900\n"}},
         {{"tables/host.csv", "Op", "second", "0:4"},
          {"tables/events.csv", "compute", "second", "0:4"}}},
	{"events of an AI engine",
         {{"trace.json",
           "[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":"
           "\"core_trace for tile2,1\"}},"
           "{\"name\":\"LOCK_STALL\",\"ph\":\"B\",\"ts\":1,\"pid\":0,\"tid\":7},"
           "{\"name\":\"LOCK_STALL\",\"ph\":\"E\",\"ts\":20,\"pid\":0,\"tid\":7},"
           "{\"name\":\"INSTR_EVENT_0\",\"ph\":\"B\",\"ts\":30,\"pid\":0,\"tid\":0},"
           "{\"name\":\"INSTR_EVENT_0\",\"ph\":\"E\",\"ts\":31,\"pid\":0,\"tid\":0},"
           "{\"name\":\"INSTR_EVENT_1\",\"ph\":\"B\",\"ts\":75,\"pid\":0,\"tid\":1},"
           "{\"name\":\"INSTR_EVENT_1\",\"ph\":\"E\",\"ts\":76,\"pid\":0,\"tid\":1}]"}},
         {{"tables/events.csv", "state", "LOCK_STALL", "0:1"},
          {"tables/events.csv", "compute", "kernel", "0:3"}}},
};

static const char *cell_of(const struct csv_table *table, uint64_t row, const char *column)
{
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (strcmp(table->columns[i], column) == 0)
			return table->rows[row].cells[i];
	}
	return NULL;
}

/* The source of the first row of that kind and name (NULL: of any). */
static const char *source_of(const struct csv_table *table, const char *kind, const char *name)
{
	for (uint64_t i = 0; i < table->n_rows; i++) {
		if ((!kind || strcmp(cell_of(table, i, "kind"), kind) == 0) &&
		    (!name || strcmp(cell_of(table, i, "name"), name) == 0))
			return cell_of(table, i, "source");
	}
	return "no such row";
}

static void test_source__names_the_file_and_what_stands_in_it(void **state)
{
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const struct source_case *of = &cases[c];
		struct flex_run *run;

		flex_stop(state);
		flex_start(state);
		run = *state;
		for (int i = 0; i < 3 && of->files[i][0]; i++)
			flex_add_file(run, of->files[i][0], of->files[i][1]);
		flex_convert(run);
		for (int i = 0; i < 6 && of->rows[i].table; i++) {
			struct csv_table table = flex_read_table(run, of->rows[i].table);
			const char *source = source_of(&table, of->rows[i].kind, of->rows[i].name);

			if (strcmp(source, of->rows[i].source) != 0)
				fail_msg("%s: %s %s is of %s, not of %s", of->what,
				         of->rows[i].table, of->rows[i].name, source,
				         of->rows[i].source);
			csv_table_release(&table);
		}
	}
}

/* -- many rows, in no order ------------------------------------------------------------------- */

#define N_FILES 3
#define N_WORK  1500 /* more than a list keeps unpacked */

struct writer_of_work {
	FILE *files[N_FILES];
	uint64_t seed;
};

static uint32_t draw(struct writer_of_work *writer, uint32_t n)
{
	writer->seed = writer->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(writer->seed >> 33) % n;
}

/* An event in one of the files: a name of its own, its rank, when it is. */
static void write_event(struct writer_of_work *writer, uint32_t i, const char *suffix,
                        uint32_t at_us)
{
	FILE *file = writer->files[draw(writer, N_FILES)];
	uint32_t at = (i + 1) * 500000;

	fprintf(file,
	        "%s{\"name\":\"%s_%u%s\",\"ph\":\"X\",\"pid\":%u,\"tid\":1,\"ts\":%u,\"dur\":50",
	        ftell(file) > 1 ? "," : "", *suffix ? "work" : "call", i, suffix, i % 2, at_us);
	if (*suffix)
		fprintf(file, ",\"args\":{\"cycles_ts\":[%u,%u,%u,%u,%u]}", at, at + 9, at + 99,
		        at + 999, at + 1999);
	fputs("}", file);
}

/* A call and four parts of a control block each, some parts missing, spread over the files. */
static void write_work(struct flex_run *run, uint32_t n)
{
	static const char *const suffixes[] = {" DmaI", " Cmpt Prep", " Cmpt Exec", " DmaO"};
	struct writer_of_work writer = {.seed = 17};

	for (int i = 0; i < N_FILES; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%c.json", run->in, 'a' + i);
		writer.files[i] = fopen(path, "w");
		assert_non_null(writer.files[i]);
		fputs("[", writer.files[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at_us = 1000000 + 1000 * (i ^ draw(&writer, 8));

		write_event(&writer, i, "", at_us);
		for (int part = 0; part < 4; part++) {
			if (part == 2 || draw(&writer, 3))
				write_event(&writer, i, suffixes[part], at_us + 100 * part);
		}
	}
	for (int i = 0; i < N_FILES; i++) {
		fputs("]", writer.files[i]);
		assert_int_equal(fclose(writer.files[i]), 0);
	}
}

/* What a row of that kind is called in the file. */
static const char *suffix_of(const char *kind)
{
	if (strcmp(kind, "User") == 0)
		return "";
	return strcmp(kind, "Prep") == 0   ? " Cmpt Prep"
	       : strcmp(kind, "Exec") == 0 ? " Cmpt Exec"
	       : strcmp(kind, "DmaI") == 0 ? " DmaI"
	                                   : " DmaO";
}

struct judge {
	cJSON *files[N_FILES];
	cJSON **elements[N_FILES]; /* by number */
	uint8_t *is_told[N_FILES];
	int n[N_FILES];
};

static void judge_init(struct judge *judge, const struct flex_run *run)
{
	for (int i = 0; i < N_FILES; i++) {
		char name[] = {(char)('a' + i), '.', 'j', 's', 'o', 'n', 0};
		char *text = scratch_read(run->in, name, NULL);
		cJSON *element;
		int n = 0;

		judge->files[i] = cJSON_Parse(text);
		judge->n[i] = cJSON_GetArraySize(judge->files[i]);
		assert_true(judge->n[i] > 0);
		judge->elements[i] = calloc((size_t)judge->n[i], sizeof(cJSON *));
		judge->is_told[i] = calloc((size_t)judge->n[i], 1);
		cJSON_ArrayForEach(element, judge->files[i]) judge->elements[i][n++] = element;
		free(text);
	}
}

/* Each element is told by one row, and that is the row of its name and rank. */
static void judge_table(struct judge *judge, const struct csv_table *table)
{
	for (uint64_t row = 0; row < table->n_rows; row++) {
		const char *source = flex_cell(table, row, "source");
		const cJSON *element;
		char name[128];
		int file, number;

		assert_int_equal(sscanf(source, "%d:%d", &file, &number), 2);
		assert_in_range(file, 0, N_FILES - 1);
		assert_in_range(number, 0, judge->n[file] - 1);
		element = judge->elements[file][number];
		snprintf(name, sizeof(name), "%s%s", flex_cell(table, row, "name"),
		         suffix_of(flex_cell(table, row, "kind")));
		assert_string_equal(cJSON_GetObjectItem(element, "name")->valuestring, name);
		assert_int_equal(cJSON_GetObjectItem(element, "pid")->valueint,
		                 flex_number(table, row, "rank"));
		assert_int_equal(judge->is_told[file][number]++, 0);
	}
}

static void judge_release(struct judge *judge)
{
	for (int i = 0; i < N_FILES; i++) {
		for (int j = 0; j < judge->n[i]; j++)
			assert_int_equal(judge->is_told[i][j], 1);
		cJSON_Delete(judge->files[i]);
		free(judge->elements[i]);
		free(judge->is_told[i]);
	}
}

static void test_source__of_each_row_is_its_own_event(void **state)
{
	struct flex_run *run = *state;
	struct judge judge;

	write_work(run, N_WORK);
	flex_convert(run);
	judge_init(&judge, run);
	judge_table(&judge, &run->host);
	judge_table(&judge, &run->events);
	judge_release(&judge);
}

/* -- filters ---------------------------------------------------------------------------------- */

static const struct filter_case {
	const char *keep, *drop;
	const char *left; /* names of the host rows */
	uint64_t n_warnings;
} filters[] = {
	{"source:^1:", NULL, "b0 b1 ", 0},
	{NULL, "source:^1:", "a0 a1 ", 0},
	{"source:^0:1$", NULL, "a1 ", 0},
	{"source:b[.]json$", NULL, "b0 b1 ", 0},
	{NULL, "source:^flex a[.]json$", "b0 b1 ", 0},
	{"source:^flex ", NULL, "a0 a1 b0 b1 ", 0},
	{"source:^2:", NULL, "", 1},
	{NULL, "source:c[.]json", "a0 a1 b0 b1 ", 1},
	{"source:^0:2", NULL, "", 1},
};

static void test_source__is_what_filters_ask_for(void **state)
{
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		const struct filter_case *filter = &filters[i];
		struct flex_run *run;
		char left[64] = "";

		flex_stop(state);
		flex_start(state);
		run = *state;
		flex_add_file(run, "a.json", "[" X("a0", 0, 1, "") "," X("a1", 1, 2, "") "]");
		flex_add_file(run, "b.json", "[" X("b0", 0, 3, "") "," X("b1", 1, 4, "") "]");
		run->options.select = (struct select_options){
			.keep = TEXTS(&filter->keep, filter->keep != NULL),
			.drop = TEXTS(&filter->drop, filter->drop != NULL),
		};
		flex_convert(run);
		for (uint64_t row = 0; row < run->host.n_rows; row++) {
			strcat(left, flex_cell(&run->host, row, "name"));
			strcat(left, " ");
		}
		assert_string_equal(left, filter->left);
		assert_int_equal(run->ledger.warnings[WARNING_NO_SUCH_SOURCE], filter->n_warnings);
	}
}

/* Of one control block, parts of one file are left without those of the other. */
static void test_source__filters_tell_parts_of_a_control_block_apart(void **state)
{
	static const char *const keep = "source:b[.]json";
	struct flex_run *run = *state;

	flex_add_file(run, "a.json", "[" X("k Cmpt Exec", 0, 13, "," STAMPS) "]");
	flex_add_file(run, "b.json", "[" X("k Cmpt Prep", 0, 12, "," STAMPS) "]");
	run->options.select = (struct select_options){.keep = TEXTS(&keep, 1)};
	flex_convert(run);
	assert_int_equal(run->events.n_rows, 1);
	assert_string_equal(flex_cell(&run->events, 0, "kind"), "Prep");
	assert_string_equal(flex_cell(&run->events, 0, "source"), "1:0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_source__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_the_file_and_what_stands_in_it),
		TEST(of_each_row_is_its_own_event),
		TEST(is_what_filters_ask_for),
		TEST(filters_tell_parts_of_a_control_block_apart),
	};

	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
