/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows between devices and collectives.csv, from rows whose messages are known. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/analysis_impl.h"
#include "findings/transfers.h"
#include "analysis_files.h"
#include "analysis_fixture.h"
#include "scratch.h"

#define HEADER                                                                               \
	"rank,host,pid,device,group,number,op,algorithm,ranks,bytes,sent,received,start_ns," \
	"end_ns,dur_ns,wait_ns,err_ns,status,alg_gbps,bus_gbps\n"
#define MAX_RANKS 4

struct collectives_test {
	struct analysis_test analysis;
	struct transfers transfers;
	struct table points;
	uint32_t devices[MAX_RANKS];
};

static int start(void **state)
{
	struct collectives_test *test = calloc(1, sizeof(*test));

	*state = test;
	analysis_test_init(&test->analysis);
	return 0;
}

static int stop(void **state)
{
	struct collectives_test *test = *state;

	transfers_release(&test->transfers);
	table_release(&test->points);
	analysis_test_release(&test->analysis);
	free(test);
	return 0;
}

static void add_ranks(struct collectives_test *test, uint32_t n)
{
	struct timeline_fixture *fixture = &test->analysis.fixture;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t process = fixture_process(fixture, (int32_t)i, 100 + i, "p");

		test->devices[i] = fixture_device(fixture, process, 0, "AIU");
		fixture_track(fixture, (struct track){.kind = TRACK_QUEUE,
		                                      .row_kind = ROW_EXEC,
		                                      .owner = test->devices[i]});
	}
}

static struct tick_op *add_row(struct collectives_test *test, uint32_t rank, uint8_t kind,
                               const char *name, int64_t start_ns, int64_t end_ns)
{
	struct tick_op *op = analysis_test_row(&test->analysis, test->devices[rank], kind, name,
	                                       start_ns, end_ns);

	op->peer = -1;
	return op;
}

static struct tick_op *add_message(struct collectives_test *test, uint32_t rank, const char *name,
                                   int32_t peer, int64_t start_ns, int64_t end_ns)
{
	uint8_t kind = strstr(name, "Send") ? ROW_MEMCPY_DTOH : ROW_MEMCPY_HTOD;
	struct tick_op *op = add_row(test, rank, kind, name, start_ns, end_ns);

	op->peer = peer;
	op->bytes = 1000;
	op->group = fixture_string(&test->analysis.fixture, "AllReduce_4");
	return op;
}

static void find(struct collectives_test *test)
{
	struct timeline *timeline = &test->analysis.fixture.timeline;

	timeline->has.groups = true;
	timeline->sync_points = &test->points;
	assert_int_equal(transfers_find(&test->transfers, timeline, &test->analysis.fixture.cache),
	                 0);
	test->analysis.fixture.findings.transfers = &test->transfers;
}

static void expect(struct collectives_test *test, const char *lines)
{
	char expected[4096];

	find(test);
	snprintf(expected, sizeof(expected), "%s%s", HEADER, lines);
	analysis_test_expect(&test->analysis, "collectives", expected);
}

/* -- collectives ----------------------------------------------------------------------------- */

/* 0 -> 1 -> 2, and 2 tells all. Each was done with its own work at 100, 150, 90. */
static void add_chain(struct collectives_test *test, int64_t at)
{
	add_row(test, 0, ROW_EXEC, "k", at, at + 100);
	add_row(test, 1, ROW_EXEC, "k", at, at + 150);
	add_row(test, 2, ROW_EXEC, "k", at, at + 90);
	add_message(test, 1, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0, at + 10, at + 310);
	add_message(test, 2, "SenRdmaReceive_2 [sync=g_s1_r2_1]", 1, at + 20, at + 420);
	add_message(test, 0, "SenRdmaReceive_3 [sync=g_s2_r0x3_2]", 2, at + 30, at + 600);
	add_message(test, 1, "SenRdmaReceive_3 [sync=g_s2_r0x3_2]", 2, at + 40, at + 610);
	add_message(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, at + 200, at + 300);
	add_message(test, 1, "SenRdmaSend_2 [sync=g_s1_r2_1]", 2, at + 320, at + 400);
	add_row(test, 2, ROW_EXEC, "AllReduce_4_Add_1", at + 420, at + 430)->group =
		fixture_string(&test->analysis.fixture, "AllReduce_4");
	add_message(test, 2, "SenRdmaSend_3 - Set BcList [sync=g_s2_r0x3_2]", -1, at + 440,
	            at + 441)
		->bytes = 0;
	add_message(test, 2, "SenRdmaSend_3 Data [sync=g_s2_r0x3_2]", -1, at + 450, at + 590);
}

static void test_collectives__measure_a_chain(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 3);
	add_chain(test, 0);
	expect(test, "2,\"node,1\",102,0,AllReduce_4,0,all_reduce,chain,3,1000,1,1,90,590,500,60,0,"
	             "certified,2.0000,2.6667\n"
	             "0,\"node,1\",100,0,AllReduce_4,0,all_reduce,chain,3,1000,1,1,100,600,500,50,"
	             "0,certified,2.0000,2.6667\n"
	             "1,\"node,1\",101,0,AllReduce_4,0,all_reduce,chain,3,1000,1,2,150,610,460,0,0,"
	             "certified,2.1739,2.8986\n");
}

static void test_collectives__are_told_apart_by_their_messages(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 3);
	add_chain(test, 0);
	add_chain(test, 10000);
	expect(test, "2,\"node,1\",102,0,AllReduce_4,0,all_reduce,chain,3,1000,1,1,90,590,500,60,0,"
	             "certified,2.0000,2.6667\n"
	             "0,\"node,1\",100,0,AllReduce_4,0,all_reduce,chain,3,1000,1,1,100,600,500,50,"
	             "0,certified,2.0000,2.6667\n"
	             "1,\"node,1\",101,0,AllReduce_4,0,all_reduce,chain,3,1000,1,2,150,610,460,0,0,"
	             "certified,2.1739,2.8986\n"
	             "2,\"node,1\",102,0,AllReduce_4,1,all_reduce,chain,3,1000,1,1,10090,10590,500,"
	             "60,0,certified,2.0000,2.6667\n"
	             "0,\"node,1\",100,0,AllReduce_4,1,all_reduce,chain,3,1000,1,1,10100,10600,500,"
	             "50,0,certified,2.0000,2.6667\n"
	             "1,\"node,1\",101,0,AllReduce_4,1,all_reduce,chain,3,1000,1,2,10150,10610,460,"
	             "0,0,certified,2.1739,2.8986\n");
}

/* Numbers of messages that run on: the step tells, where a kernel of no group stands between. One
 * that ends within a collective does not split it. */
static void test_collectives__are_told_apart_by_their_steps(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 2);
	add_row(test, 0, ROW_EXEC, "k", 0, 10);
	add_row(test, 1, ROW_EXEC, "k", 0, 25); /* ends between */
	add_message(test, 1, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0, 5, 22);
	add_message(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, 11, 20);
	add_message(test, 1, "SenRdmaSend_2 [sync=g_s1_r0x1_2]", -1, 26, 40);
	add_message(test, 0, "SenRdmaReceive_2 [sync=g_s1_r0x1_2]", 1, 27, 41);
	add_row(test, 0, ROW_EXEC, "k", 100, 110);
	add_row(test, 1, ROW_EXEC, "k", 100, 110);
	add_message(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_4]", 1, 111, 120);
	add_message(test, 1, "SenRdmaReceive_1 [sync=g_s0_r1_4]", 0, 112, 122);
	expect(test, "1,\"node,1\",101,0,AllReduce_4,0,all_reduce,chain,2,1000,1,1,5,40,35,6,0,"
	             "certified,28.5714,28.5714\n"
	             "0,\"node,1\",100,0,AllReduce_4,0,all_reduce,chain,2,1000,1,1,11,41,30,0,0,"
	             "certified,33.3333,33.3333\n"
	             "0,\"node,1\",100,0,AllReduce_4,1,all_reduce,chain,2,1000,1,0,111,120,9,1,0,"
	             "certified,111.1111,111.1111\n"
	             "1,\"node,1\",101,0,AllReduce_4,1,all_reduce,chain,2,1000,0,1,112,122,10,0,0,"
	             "certified,100.0000,100.0000\n");
}

/* 1 and 2 send to 0, which sends to both. Nobody ran a kernel. */
static void test_collectives__know_a_tree(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 3);
	add_message(test, 0, "SenRdmaReceive_1 [sync=g_s0_r0_0]", 1, 0, 60);
	add_message(test, 0, "SenRdmaReceive_2 [sync=g_s0_r0_1]", 2, 0, 70);
	add_message(test, 1, "SenRdmaReceive_3 [sync=g_s1_r1_2]", 0, 5, 110);
	add_message(test, 2, "SenRdmaReceive_4 [sync=g_s1_r2_3]", 0, 5, 120);
	add_message(test, 1, "SenRdmaSend_1 [sync=g_s0_r0_0]", 0, 10, 50);
	add_message(test, 2, "SenRdmaSend_2 [sync=g_s0_r0_1]", 0, 10, 50);
	add_message(test, 0, "SenRdmaSend_3 [sync=g_s1_r1_2]", 1, 80, 100);
	add_message(test, 0, "SenRdmaSend_4 [sync=g_s1_r2_3]", 2, 80, 100);
	expect(test, "0,\"node,1\",100,0,AllReduce_4,0,all_reduce,tree,3,1000,2,2,0,100,100,5,0,"
	             "certified,10.0000,13.3333\n"
	             "1,\"node,1\",101,0,AllReduce_4,0,all_reduce,tree,3,1000,1,1,5,110,105,0,0,"
	             "certified,9.5238,12.6984\n"
	             "2,\"node,1\",102,0,AllReduce_4,0,all_reduce,tree,3,1000,1,1,5,120,115,0,0,"
	             "certified,8.6957,11.5942\n");
}

/* A chain there and back passes each rank twice, in turns. */
static void test_collectives__know_a_chain_there_and_back(void **state)
{
	struct collectives_test *test = *state;
	char *text;

	add_ranks(test, 3);
	add_message(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, 0, 10);
	add_message(test, 1, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0, 0, 11);
	add_message(test, 1, "SenRdmaSend_2 [sync=g_s1_r2_1]", 2, 12, 20);
	add_message(test, 2, "SenRdmaReceive_2 [sync=g_s1_r2_1]", 1, 12, 21);
	add_message(test, 2, "SenRdmaSend_3 [sync=g_s2_r1_2]", 1, 22, 30);
	add_message(test, 1, "SenRdmaReceive_3 [sync=g_s2_r1_2]", 2, 22, 31);
	add_message(test, 1, "SenRdmaSend_4 [sync=g_s3_r0_3]", 0, 32, 40);
	add_message(test, 0, "SenRdmaReceive_4 [sync=g_s3_r0_3]", 1, 32, 41);
	find(test);
	text = analysis_test_write(&test->analysis, "collectives");
	assert_non_null(strstr(text, ",chain,3,"));
	assert_null(strstr(text, "tree"));
	free(text);
}

/* One of the ranks is missing, and one used the group less often: nobody knows who waited. */
static void test_collectives__say_nothing_of_ranks_they_do_not_have(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 2);
	add_message(test, 0, "SenRdmaSend_1 [sync=g_s0_r2_0]", 2, 0, 100);
	add_message(test, 0, "SenRdmaSend_2 [sync=g_s0_r1_1]", 1, 0, 100);
	add_message(test, 1, "SenRdmaReceive_2 [sync=g_s0_r1_1]", 0, 10, 110);
	add_message(test, 0, "SenRdmaSend_2 [sync=g_s0_r1_1]", 1, 200, 300);
	expect(test, "0,\"node,1\",100,0,AllReduce_4,0,all_reduce,tree,2,1000,2,0,0,100,100,,0,"
	             "certified,10.0000,10.0000\n"
	             "1,\"node,1\",101,0,AllReduce_4,0,all_reduce,tree,2,1000,0,1,10,110,100,,0,"
	             "certified,10.0000,10.0000\n"
	             "0,\"node,1\",100,0,AllReduce_4,1,all_reduce,chain,2,1000,1,0,200,300,100,,0,"
	             "certified,10.0000,10.0000\n");
}

/* Both send to each other from `at` on: the second one came `late_ns` later. */
static void exchange(struct collectives_test *test, uint32_t a, uint32_t b, int64_t at,
                     int64_t late_ns)
{
	char names[4][64];

	snprintf(names[0], 64, "SenRdmaSend_%d%d [sync=g_s0_r%d_0]", a, b, b);
	snprintf(names[1], 64, "SenRdmaReceive_%d%d [sync=g_s0_r%d_0]", a, b, b);
	snprintf(names[2], 64, "SenRdmaSend_%d%d [sync=g_s1_r%d_1]", b, a, a);
	snprintf(names[3], 64, "SenRdmaReceive_%d%d [sync=g_s1_r%d_1]", b, a, a);
	add_message(test, a, names[0], (int32_t)b, at, at + 100);
	add_message(test, b, names[1], (int32_t)a, at + late_ns, at + 110 + late_ns);
	add_message(test, b, names[2], (int32_t)a, at + 120 + late_ns, at + 200 + late_ns);
	add_message(test, a, names[3], (int32_t)b, at + 120, at + 210 + late_ns);
}

/* Asserts what lines say, as RANK:NUMBER:RANKS:WAIT. The host's name has a comma in quotes. */
static void expect_parts(struct collectives_test *test, const char *expected)
{
	char *text, *line, *rest, parts[1024] = "";

	find(test);
	text = analysis_test_write(&test->analysis, "collectives");
	strtok_r(text, "\n", &rest);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		const char *cells[20] = {NULL};
		size_t used = strlen(parts);

		for (uint32_t i = 0; line && i < 20; i++) {
			cells[i] = line;
			line = strchr(i == 1 ? strchr(line + 1, '"') : line, ',');
			if (line)
				*line++ = '\0';
		}
		snprintf(parts + used, sizeof(parts) - used, "%s:%s:%s:%s ", cells[0], cells[5],
		         cells[8], cells[15]);
	}
	free(text);
	assert_string_equal(parts, expected);
}

/* Tensor parallel pairs, then data parallel ones, under one name. */
static void test_collectives__of_one_name_are_told_apart_by_who_took_part(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 4);
	exchange(test, 0, 1, 0, 5);
	exchange(test, 2, 3, 1000, 50);
	for (uint32_t rank = 0; rank < 4; rank++)
		add_row(test, rank, ROW_EXEC, "k", 2000, 2100);
	exchange(test, 0, 2, 3000, 7);
	exchange(test, 1, 3, 4000, 9);
	expect_parts(test, "0:0:2:5 1:0:2:0 2:0:2:50 3:0:2:0 0:1:2:7 2:1:2:0 1:1:2:9 3:1:2:0 ");
}

/* Two sets, one of which used the group more often: that says nothing about the other. */
static void test_collectives__of_other_ranks_are_not_missed(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 4);
	exchange(test, 0, 1, 0, 5);
	exchange(test, 2, 3, 1000, 50);
	for (uint32_t rank = 0; rank < 4; rank++)
		add_row(test, rank, ROW_EXEC, "k", 2000, 2100);
	exchange(test, 2, 3, 4000, 9);
	expect_parts(test, "0:0:2:5 1:0:2:0 2:0:2:50 3:0:2:0 2:1:2:9 3:1:2:0 ");
}

/* Who names nobody may be of either set. */
static void test_collectives__do_not_guess_who_took_part(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 4);
	exchange(test, 0, 1, 0, 5);
	add_message(test, 2, "SenRdmaSend_9 [sync=g_s0_r7_0]", -1, 0, 100);
	expect_parts(test, "0:0:2:5 2:0:1: 1:0:2:0 ");
}

/* Without messages, what stands between two kernels is one collective. */
static void test_collectives__of_the_host_lie_between_kernels(void **state)
{
	struct collectives_test *test = *state;
	static const struct {
		const char *name;
		int64_t start_ns, end_ns;
		bool is_kernel;
	} rows[] = {{"k", 0, 100, true},
	            {"HCOLL Signal", 110, 120, false},
	            {"R5 Wait DATA", 120, 200, false},
	            {"HCOLL Signal", 200, 210, false},
	            {"k", 300, 400, true},
	            {"HCOLL Signal", 410, 410, false}};

	add_ranks(test, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tick_op *op = add_row(test, 0,
		                             rows[i].is_kernel ? ROW_EXEC : ROW_MEMCPY_PTOP,
		                             rows[i].name, rows[i].start_ns, rows[i].end_ns);

		if (!rows[i].is_kernel)
			op->group = fixture_string(&test->analysis.fixture, "AllGather_1");
	}
	expect(test,
	       "0,\"node,1\",100,0,AllGather_1,0,all_gather,,1,0,0,0,110,210,100,0,0,certified,,\n"
	       "0,\"node,1\",100,0,AllGather_1,1,all_gather,,1,0,0,0,410,410,0,0,0,certified,,\n");
}

static struct sync_point *add_point(struct collectives_test *test, uint32_t process, uint64_t seq,
                                    const char *op, const char *peers, int64_t enter_ns)
{
	struct timeline_fixture *fixture = &test->analysis.fixture;
	struct sync_point *point = table_append(&test->points, sizeof(*point));

	assert_non_null(point);
	*point = (struct sync_point){.enter_host_ns = enter_ns,
	                             .exit_host_ns = 1000,
	                             .seq = seq,
	                             .bytes = 300,
	                             .process = process,
	                             .group = fixture_string(fixture, "world"),
	                             .op = fixture_string(fixture, op),
	                             .peers = fixture_string(fixture, peers)};
	return point;
}

static void test_collectives__of_programs_are_what_they_recorded(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 4);
	add_point(test, 0, 7, "nccl:all_gather", "", 700);
	add_point(test, 1, 7, "nccl:all_gather", "", 900);
	add_point(test, 0, 8, "all_reduce", "1", 800); /* pairs, each of its own */
	add_point(test, 1, 8, "all_reduce", "0", 900);
	add_point(test, 2, 8, "all_reduce", "3", 850);
	add_point(test, 3, 8, "all_reduce", "2", 1000); /* no time at all */
	add_point(test, 3, 9, "dance", "", 500);
	add_point(test, 0, 9, "send", "1", 500);         /* a message */
	add_point(test, 2, 9, "barrier", "", INT64_MIN); /* its begin is missing */
	add_point(test, 2, 10, "all_reduce", "", 1001);  /* runs backwards */
	expect(test, "3,\"node,1\",103,,world,9,dance,,1,300,,,500,1000,500,0,0,certified,0.6000,\n"
	             "0,\"node,1\",100,,world,7,all_gather,,2,300,,,700,1000,300,200,0,certified,2."
	             "0000,1.0000\n"
	             "0,\"node,1\",100,,world,8,all_reduce,,2,300,,,800,1000,200,100,0,certified,1."
	             "5000,1.5000\n"
	             "2,\"node,1\",102,,world,8,all_reduce,,2,300,,,850,1000,150,150,0,certified,2."
	             "0000,2.0000\n"
	             "1,\"node,1\",101,,world,8,all_reduce,,2,300,,,900,1000,100,0,0,certified,3."
	             "0000,3.0000\n"
	             "1,\"node,1\",101,,world,7,all_gather,,2,300,,,900,1000,100,0,0,certified,6."
	             "0000,3.0000\n"
	             "3,\"node,1\",103,,world,8,all_reduce,,2,300,,,1000,1000,0,0,0,certified,,\n");
}

/* The second of two records has a row that filters left. */
static void test_collectives__of_programs_obey_filters(void **state)
{
	struct collectives_test *test = *state;
	struct timeline_fixture *fixture = &test->analysis.fixture;
	uint32_t track;

	add_ranks(test, 1);
	track = fixture_track(fixture, (struct track){.kind = TRACK_THREAD});
	add_point(test, 0, 1, "barrier", "", 100);
	add_point(test, 0, 2, "barrier", "", 200)->index = 5;
	fixture_host(fixture, (struct host_row){200, 1000, .track = track, .index = 5,
	                                        .kind = HOST_COLLECTIVE});
	fixture->timeline.counts.n_filtered = 1;
	expect(test, "0,\"node,1\",100,,world,2,barrier,,1,300,,,200,1000,800,0,0,certified,"
	             "0.3750,\n");
}

static void test_collectives__of_nothing_are_nothing(void **state)
{
	struct collectives_test *test = *state;

	analysis_test_expect(&test->analysis, "collectives", HEADER);
	add_ranks(test, 1);
	add_row(test, 0, ROW_EXEC, "k", 0, 100);
	expect(test, "");
}

/* -- messages.txt ----------------------------------------------------------------------- */

static char *messages(struct collectives_test *test)
{
	const struct findings *findings = &test->analysis.fixture.findings;
	char *dir = scratch_dir(), *text;
	uint64_t rows;

	find(test);
	assert_int_equal(analysis_files_save(findings, "messages.txt", dir, &rows, NULL), 0);
	text = scratch_read(dir, "messages.txt", NULL);
	scratch_remove(dir);
	return text;
}

static void test_messages__joins_what_serves_one_message(void **state)
{
	struct collectives_test *test = *state;
	char *text, *line, *rest;
	static const char *const lines[] = {
		"    0      0                    5          0.030         1000     3 send    "
		"SenRdmaSend_3              g_s2_r0x6_2 to 1,2",
		"    1      0                   10          0.015         1000     1 receive "
		"SenRdmaReceive_3           g_s2_r0x6_2 from 0",
		"    0      0                  105          0.010         1000     1 send    "
		"SenRdmaSend_3              g_s2_r0x6_2 to -"};

	add_ranks(test, 2);
	add_message(test, 0, "SenRdmaSend_3 - Xseg to rank 2 [sync=g_s2_r0x6_2]", 2, 5, 6);
	add_message(test, 0, "SenRdmaSend_3 - Xseg to rank 1 [sync=g_s2_r0x6_2]", 1, 6, 7);
	add_message(test, 1, "SenRdmaReceive_3 [sync=g_s2_r0x6_2]", 0, 10, 25);
	add_message(test, 0, "SenRdmaSend_3 Data [sync=g_s2_r0x6_2]", -1, 15, 35);
	add_message(test, 0, "SenRdmaSend_3 Data [sync=g_s2_r0x6_2]", -1, 105, 115);
	text = messages(test);
	line = strtok_r(text, "\n", &rest);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		line = strtok_r(NULL, "\n", &rest);
		assert_non_null(line);
		assert_string_equal(line, lines[i]);
	}
	assert_null(strtok_r(NULL, "\n", &rest));
	free(text);
}

static void test_messages__of_nothing_is_no_file(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 1);
	assert_null(messages(test));
}

/* -- arrows ---------------------------------------------------------------------------------- */

static void expect_arrows(struct collectives_test *test, const char *expected)
{
	const struct timeline *timeline = &test->analysis.fixture.timeline;
	struct table flows = TABLE_INIT;
	struct table_cursor cursor;
	const struct flow *flow;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	find(test);
	assert_int_equal(transfers_draw(&test->transfers, timeline, &flows), 0);
	cursor = table_begin(flows.n_rows ? &flows : &timeline->flows_from);
	while ((flow = table_next(&cursor, sizeof(*flow)))) {
		fprintf(out, "%lld-%lld ", (long long)flow->from_time_ns,
		        (long long)flow->to_time_ns);
		if (flow_is_message(flow, timeline->tracks))
			fprintf(out, "%s\n", string_get(timeline->strings, flow->message.sync));
		else
			fprintf(out, "%llu\n", (unsigned long long)flow->correlation);
	}
	fclose(out);
	table_release(&flows);
	assert_string_equal(text, expected);
	free(text);
}

static void test_arrows__lead_from_each_sending_to_its_receives(void **state)
{
	struct collectives_test *test = *state;
	struct timeline_fixture *fixture = &test->analysis.fixture;
	uint32_t thread;

	add_ranks(test, 3);
	add_chain(test, 0);
	thread = fixture_track(fixture, (struct track){.kind = TRACK_THREAD});
	fixture_flow(fixture, (struct flow){250, 260, thread, 0, 0, 0, {7}});
	expect_arrows(test, "200-309 g_s0_r1_0\n250-260 7\n320-419 g_s1_r2_1\n"
	                    "450-599 g_s2_r0x3_2\n450-609 g_s2_r0x3_2\n");
}

/* The second sending of three was not recorded; the first receive was not, either. */
static void test_arrows__find_the_last_sending_where_some_are_missing(void **state)
{
	struct collectives_test *test = *state;
	static const char send[] = "SenRdmaSend_1 [sync=g_s0_r1_0]";
	static const char receive[] = "SenRdmaReceive_1 [sync=g_s0_r1_0]";

	add_ranks(test, 2);
	add_message(test, 0, send, 1, 0, 10);
	add_message(test, 1, receive, 0, 0, 9); /* before any sending was through */
	add_message(test, 0, send, 1, 100, 110);
	add_message(test, 0, send, 1, 200, 210);
	add_message(test, 1, receive, 0, 205, 215);
	expect_arrows(test, "200-214 g_s0_r1_0\n");
}

static void test_arrows__need_both_ends_and_both_ranks(void **state)
{
	struct collectives_test *test = *state;

	add_ranks(test, 2);
	add_message(test, 0, "SenRdmaSend_1 [sync=a]", 1, 0, 10);
	add_message(test, 1, "SenRdmaReceive_1 [sync=a]", -1, 0, 20); /* of nobody */
	add_message(test, 1, "SenRdmaReceive_1 [sync=b]", 0, 0, 20);  /* never sent */
	add_message(test, 0, "SenRdmaSend_1 [sync=c]", 3, 0, 10);     /* to somebody else */
	add_message(test, 1, "SenRdmaReceive_1 [sync=c]", 0, 0, 20);
	add_message(test, 0, "SenRdmaSend_1 [sync=d]", 1, 30, 30); /* no time at all */
	add_message(test, 1, "SenRdmaReceive_1 [sync=d]", 0, 30, 30);
	expect_arrows(test, "30-30 d\n");
}

#define TEST(name)       cmocka_unit_test_setup_teardown(test_collectives__##name, start, stop)
#define ARROW_TEST(name) cmocka_unit_test_setup_teardown(test_arrows__##name, start, stop)
#define TEXT_TEST(name)  cmocka_unit_test_setup_teardown(test_messages__##name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(measure_a_chain),
		TEST(are_told_apart_by_their_messages),
		TEST(are_told_apart_by_their_steps),
		TEST(know_a_tree),
		TEST(know_a_chain_there_and_back),
		TEST(say_nothing_of_ranks_they_do_not_have),
		TEST(of_one_name_are_told_apart_by_who_took_part),
		TEST(of_other_ranks_are_not_missed),
		TEST(do_not_guess_who_took_part),
		TEST(of_the_host_lie_between_kernels),
		TEST(of_programs_are_what_they_recorded),
		TEST(of_programs_obey_filters),
		TEST(of_nothing_are_nothing),
		ARROW_TEST(lead_from_each_sending_to_its_receives),
		ARROW_TEST(find_the_last_sending_where_some_are_missing),
		ARROW_TEST(need_both_ends_and_both_ranks),
		TEXT_TEST(joins_what_serves_one_message),
		TEXT_TEST(of_nothing_is_no_file),
	};

	return cmocka_run_group_tests_name("collectives", tests, NULL, NULL);
}
