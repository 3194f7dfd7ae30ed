/* SPDX-License-Identifier: Apache-2.0 */
/* Plain tables: what columns become, what a bad line costs, and our own tables read back. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "imports.h"

#define BASE_NS INT64_C(1700000000000000000)

static struct flex_run *convert(void **state, const char *text)
{
	struct flex_run *run = *state;
	char path[4096];
	const char *paths[] = {path};

	run->dialect = IMPORT_TABLE;
	flex_add_file(run, "table.csv", text);
	snprintf(path, sizeof(path), "%s/table.csv", run->in);
	flex_convert_files(run, paths, 1);
	return run;
}

static void again(void **state)
{
	flex_stop(state);
	flex_start(state);
}

/* -- columns ---------------------------------------------------------------------------------- */

static void test_table__takes_what_has_a_name_and_two_times(void **state)
{
	const struct flex_run *run = convert(state, "rank,name,start_ns,end_ns\n"
	                                            "0,load,1000,2500\n"
	                                            "1,\"a, b\",1200.0,1300.0\n"
	                                            ",nobody,5,6\n");
	uint64_t load = flex_row(&run->host, "name", "load", "rank", "0");

	assert_int_equal(run->host.n_rows, 3);
	assert_int_equal(run->events.n_rows, 0);
	assert_string_equal(flex_cell(&run->host, load, "kind"), "User");
	assert_int_equal(flex_number(&run->host, load, "start_ns"), 1000);
	assert_int_equal(flex_number(&run->host, load, "dur_ns"), 1500);
	assert_int_equal(flex_number(&run->host, flex_row(&run->host, "name", "a, b", "rank", "1"),
	                             "dur_ns"),
	                 100);
	flex_row(&run->host, "name", "nobody", "rank", "");
}

static void test_table__takes_device_work_with_all_that_is_said_of_it(void **state)
{
	const struct flex_run *run = convert(
		state, "rank,device,queue,kind,name,start_ns,dur_ns,bytes,correlation,color\n"
		       "3,1,7,Exec,matmul,1000,500,,9,red\n"
		       "3,1,8,Memcpy HtoD,copy,1100,100,4096,,\n"
		       "3,1,9,,unnamed kind,1200,1,,,\n"
		       "3,1,9,Zone,in the kernel,1210,1,,,\n");
	uint64_t matmul = flex_row(&run->events, "name", "matmul", "queue", "7");
	uint64_t copy = flex_row(&run->events, "name", "copy", "kind", "Memcpy HtoD");
	char *trace;

	assert_int_equal(run->events.n_rows, 4);
	assert_string_equal(flex_cell(&run->events, matmul, "status"), "given");
	assert_string_equal(flex_cell(&run->events, matmul, "correlation"), "9");
	assert_string_equal(flex_cell(&run->events, matmul, "device"), "1");
	assert_string_equal(flex_cell(&run->events, copy, "bytes"), "4096");
	flex_row(&run->events, "name", "unnamed kind", "kind", "Exec");
	flex_row(&run->events, "name", "in the kernel", "kind", "State");
	trace = flex_read_rows(run, "trace.json");
	assert_non_null(strstr(trace, "\"color\":\"red\""));
	free(trace);
}

struct bad_line {
	const char *line, *fault;
};

static const struct bad_line bad_lines[] = {
	{"0,x,1,2", "there are fewer fields than columns"},
	{"0,x,,20,1", "start_ns is no time"},
	{"0,x,-5,20,1", "start_ns is no time"},
	{"0,x,soon,20,1", "start_ns is no time"},
	{"0,x,10,1e3,1", "end_ns is no time"},
	{"0,x,10,9223372036854775807,1", "end_ns is no time"},
	{"0,x,10.5,20,1", "start_ns is no time"},
	{"1.5,x,10,20,1", "a rank, pid, tid or device is no such number"},
	{"0,x,30,20,1", "its end is before its begin"},
	{"0,x,10,,1", "there is neither an end_ns nor a dur_ns"},
	{"zero,x,10,20,1", "a rank, pid, tid or device is no such number"},
	{"0,x,10,20,many", "a job, correlation, seq or bytes is no such number"},
};

static void test_table__a_bad_line_costs_itself(void **state)
{
	for (size_t i = 0; i < sizeof(bad_lines) / sizeof(*bad_lines); i++) {
		const struct flex_run *run;
		char text[256];

		snprintf(text, sizeof(text),
		         "rank,name,start_ns,end_ns,bytes\n0,a,1,2,\n%s\n0,b,3,4,\n",
		         bad_lines[i].line);
		run = convert(state, text);
		assert_int_equal(run->host.n_rows, 2);
		assert_int_equal(ledger_total(&run->ledger, LOSS_MALFORMED), 1);
		assert_non_null(strstr(run->warnings, bad_lines[i].fault));
		assert_non_null(strstr(run->warnings, "line 3"));
		again(state);
	}
}

static const struct bad_line bad_files[] = {
	{"", "The table is empty"},
	{"name,start_ns,end_ns\nx,1,2\n", "column=rank"},
	{"rank,start_ns,end_ns\n0,1,2\n", "column=name"},
	{"rank,name,end_ns\n0,x,2\n", "column=start_ns"},
	{"rank,name,start_ns\n0,x,1\n", "column=end_ns"},
	{"rank,name,start_ns,end_ns\n", "There is no row of a table"},
	{"rank,name,name,start_ns,end_ns\n0,x,y,1,2\n", "stands twice: file="},
	{"rank,name,start_ns,end_ns,a,a\n0,x,1,2,3,4\n", "column=a"},
	{"rank,name,start_ns,end_ns,seq,number\n0,x,1,2,3,4\n", "column=number"},
	{"rank;name;start_ns;end_ns\n0;x;1;2\n", "commas are to stand between columns"},
};

static void test_table__says_what_a_file_lacks(void **state)
{
	struct flex_run *run = *state;

	for (size_t i = 0; i < sizeof(bad_files) / sizeof(*bad_files); i++) {
		struct string_pool *strings = string_pool_new();
		struct stream_set set = {NULL, 0, 0};
		struct flextrace_error error = {0};
		char path[4096];
		const char *paths[] = {path};
		struct import_options options = {
			.paths = paths, .n_paths = 1, .dialect = IMPORT_TABLE};
		struct ledger ledger;

		flex_add_file(run, "bad.csv", bad_files[i].line);
		snprintf(path, sizeof(path), "%s/bad.csv", run->in);
		ledger_init(&ledger);
		assert_int_equal(import_run(&options, strings, &set, &ledger, &error),
		                 FLEXTRACE_E_INPUT);
		assert_non_null(strstr(error.message, bad_files[i].fault));
		stream_set_release(&set);
		ledger_release(&ledger);
		string_pool_free(strings);
	}
}

static void test_table__rows_need_not_be_in_order(void **state)
{
	const struct flex_run *run = convert(state, "rank,name,start_ns,dur_ns\n"
	                                            "0,late,1700864000000000000,5\n"
	                                            "0,early,1700000000000000000,5\n");

	assert_int_equal(run->host.n_rows, 2);
	assert_int_equal(flex_number(&run->host, 0, "start_ns"), 1700000000000000000);
}

static void test_table__a_bad_file_of_a_folder_costs_itself(void **state)
{
	struct flex_run *run = *state;

	run->dialect = IMPORT_TABLE;
	flex_add_file(run, "events.csv", "rank,name\n0,x\n");
	flex_add_file(run, "host.csv", "rank,name,start_ns,end_ns\n0,x,1,2\n");
	flex_convert_files(run, (const char *[]){run->in}, 1);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(ledger_total(&run->ledger, LOSS_TRUNCATED_STREAM), 1);
	assert_non_null(strstr(run->warnings, "A column is missing"));
}

static void test_table__a_file_that_is_no_csv_ends_there(void **state)
{
	const struct flex_run *run = convert(state, "rank,name,start_ns,end_ns\n"
	                                            "0,a,1,2\n0,\"b,3,4\n");

	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(ledger_total(&run->ledger, LOSS_TRUNCATED_STREAM), 1);
}

/* -- ranks ------------------------------------------------------------------------------------ */

#define N_RANKS       4
#define N_COLLECTIVES 120

/* Clocks of four ranks, hundreds of ms apart, and rates that differ. */
static const int64_t offsets_ns[N_RANKS] = {0, -28540798, -174413873, 305481316};
static const double drifts[N_RANKS] = {0, 2e-9, -12e-9, -22e-9};

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static int64_t on_rank(int rank, int64_t ns)
{
	return BASE_NS + ns + offsets_ns[rank] + (int64_t)(drifts[rank] * (double)ns);
}

/* A collective ends on all ranks after it began on the last one, by up to 100 us. */
static char *make_collectives(const char *device)
{
	char *text = malloc((size_t)N_RANKS * N_COLLECTIVES * 160);
	uint64_t seed = 7;
	size_t n;

	n = (size_t)sprintf(text, "rank,device,name,op,group,seq,bytes,start_ns,end_ns\n");
	for (int i = 0; i < N_COLLECTIVES; i++) {
		int64_t begins_ns[N_RANKS], last_ns = 0;

		for (int rank = 0; rank < N_RANKS; rank++) {
			begins_ns[rank] = 1000000000 + i * INT64_C(700000000) +
			                  next_random(&seed) % 2000000;
			last_ns = begins_ns[rank] > last_ns ? begins_ns[rank] : last_ns;
		}
		for (int rank = 0; rank < N_RANKS; rank++) {
			int64_t end_ns = last_ns + 3000 + next_random(&seed) % 100000;

			n += (size_t)sprintf(text + n,
			                     "%d,%s,nccl,all_reduce,world,%d,1024,%" PRId64
			                     ",%" PRId64 "\n",
			                     rank, device, i, on_rank(rank, begins_ns[rank]),
			                     on_rank(rank, end_ns));
		}
	}
	return text;
}

/* How far rank `rank` is shifted in the middle is its offset to the first, within the bound. */
static void check_alignment(const struct flex_run *run)
{
	struct csv_table alignment = flex_read_table(run, "tables/alignment.csv");

	assert_int_equal(alignment.n_rows, N_RANKS);
	for (int rank = 0; rank < N_RANKS; rank++) {
		uint64_t row;
		char text[8];

		snprintf(text, sizeof(text), "%d", rank);
		row = flex_row(&alignment, "rank", text, "rank", text);
		assert_true(llabs(flex_number(&alignment, row, "offset_ns") + offsets_ns[rank]) <=
		            flex_number(&alignment, row, "half_width_ns_p50") + 2000);
		assert_true(flex_number(&alignment, row, "half_width_ns_p50") < 60000);
	}
	csv_table_release(&alignment);
}

static void test_table__collectives_of_the_host_align_its_ranks(void **state)
{
	char *text = make_collectives("");
	const struct flex_run *run = convert(state, text);
	struct csv_table collectives = flex_read_table(run, "tables/collectives.csv");

	assert_int_equal(collectives.n_rows, N_RANKS * N_COLLECTIVES);
	assert_int_equal(flex_count(&collectives, "ranks", "4"), N_RANKS * N_COLLECTIVES);
	check_alignment(run);
	csv_table_release(&collectives);
	free(text);
}

static void test_table__collectives_of_devices_align_ranks_if_nothing_else_does(void **state)
{
	char *text = make_collectives("0");
	const struct flex_run *run = convert(state, text);

	assert_int_equal(run->events.n_rows, N_RANKS * N_COLLECTIVES);
	check_alignment(run);
	free(text);
}

/* -- our own tables --------------------------------------------------------------------------- */

/* What a table that is read cannot promise, and where it stood. */
static bool is_compared(const char *column)
{
	static const char *const others[] = {"status", "err_ns", "source", "moved_ns"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (strcmp(others[i], column) == 0)
			return false;
	}
	return true;
}

static void expect_same(const struct csv_table *a, const struct csv_table *b)
{
	assert_int_equal(a->n_rows, b->n_rows);
	for (uint64_t i = 0; i < a->n_rows; i++) {
		for (uint32_t k = 0; k < a->n_columns; k++) {
			if (is_compared(a->columns[k]))
				assert_string_equal(a->rows[i].cells[k], b->rows[i].cells[k]);
		}
	}
}

static void expect_same_file(const struct flex_run *first, const struct flex_run *second,
                             const char *name)
{
	struct csv_table a = flex_read_table(first, name), b = flex_read_table(second, name);

	assert_true(a.n_rows > 0);
	expect_same(&a, &b);
	csv_table_release(&a);
	csv_table_release(&b);
}

static void test_table__reads_our_own_tables_back(void **state)
{
	struct flex_run *first, *second;
	void *other = NULL;

	first = convert(
		state,
		"rank,pid,tid,thread,device,queue,kind,name,start_ns,end_ns,bytes,group,seq\n"
		"0,10,10,main,,,User,step,1000,90000,,,\n"
		"0,10,10,main,,,aiuMalloc,alloc,2000,3000,,,\n"
		"0,10,11,,,,Window,measure,1500,80000,,,\n"
		"0,10,11,,,,Async,io,1600,70000,,,\n"
		"0,10,10,main,,,,barrier,4000,5000,64,world,1\n"
		"1,20,20,main,,,,barrier,4100,5100,64,world,1\n"
		"0,10,,,0,1,DmaI,k,10000,11000,512,,\n"
		"0,10,,,0,1,Prep,k,11000,12000,,,\n"
		"0,10,,,0,1,Exec,k,12000,15000,,,\n"
		"0,10,,,0,1,DmaO,k,15000,15500,256,,\n"
		"0,10,,,0,2,Memcpy DtoH,back,16000,17000,1024,,\n");
	flex_row(&first->events, "kind", "DmaI", "bytes", "512");
	flex_row(&first->events, "kind", "Prep", "name", "k");
	flex_row(&first->events, "kind", "DmaO", "bytes", "256");
	flex_row(&first->host, "kind", "Window", "name", "measure");
	flex_row(&first->host, "kind", "Async", "name", "io");
	flex_start(&other);
	second = other;
	second->dialect = IMPORT_TABLE;
	flex_convert_files(second, (const char *const[]){first->out}, 1);
	expect_same(&first->events, &second->events);
	expect_same(&first->host, &second->host);
	expect_same_file(first, second, "tables/kernels.csv");
	expect_same_file(first, second, "tables/runtime.csv");
	expect_same_file(first, second, "tables/active.csv");
	expect_same_file(first, second, "tables/collectives.csv");
	expect_same_file(first, second, "tables/bandwidth.csv");
	flex_stop(&other);
}

static void test_table__rows_of_ours_are_no_more_certain_than_they_were(void **state)
{
	const struct flex_run *run =
		convert(state, "rank,tid,kind,name,start_ns,end_ns,err_ns,status,args\n"
	                       "0,1,User,a,1000,2000,500,assumed,\n"
	                       "0,1,Window,w,1000,2000,500,assumed,\n"
	                       "0,1,Async,w,1000,2000,500,assumed,\n"
	                       "0,1,Collective,barrier,1000,2000,0,certified,\"{\"\"group\"\":"
	                       "\"\"g\"\",\"\"seq\"\":1}\"\n"
	                       "1,1,Step,b,1000,2000,0,certified,\n");

	assert_int_equal(run->host.n_rows, 5);
	assert_int_equal(flex_count(&run->host, "status", "given"), 5);
	assert_int_equal(flex_count(&run->host, "err_ns", ""), 5);
}

static void test_table__points_of_ours_are_given_too(void **state)
{
	const struct flex_run *run = convert(state, "rank,kind,name,value,time_ns,status\n"
	                                            "0,annotation,key,text,1000,certified\n"
	                                            "0,instant,here,,2000,assumed\n");
	struct csv_table instants = flex_read_table(run, "tables/instants.csv");

	assert_int_equal(instants.n_rows, 2);
	assert_int_equal(flex_count(&instants, "status", "given"), 2);
	assert_int_equal(flex_count(&instants, "err_ns", ""), 2);
	assert_string_equal(flex_cell(&instants, 0, "value"), "text");
	csv_table_release(&instants);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_table__takes_what_has_a_name_and_two_times),
		TEST(test_table__takes_device_work_with_all_that_is_said_of_it),
		TEST(test_table__a_bad_line_costs_itself),
		TEST(test_table__says_what_a_file_lacks),
		TEST(test_table__rows_need_not_be_in_order),
		TEST(test_table__a_bad_file_of_a_folder_costs_itself),
		TEST(test_table__a_file_that_is_no_csv_ends_there),
		TEST(test_table__collectives_of_the_host_align_its_ranks),
		TEST(test_table__collectives_of_devices_align_ranks_if_nothing_else_does),
		TEST(test_table__reads_our_own_tables_back),
		TEST(test_table__rows_of_ours_are_no_more_certain_than_they_were),
		TEST(test_table__points_of_ours_are_given_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
