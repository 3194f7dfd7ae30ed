/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costs_fixture.h"
#include "scratch.h"

#define CATEGORIES                                                                            \
	"rank,phase,category,calls,kernel_ns,frac_time,cycles,frac_cycles,cycles_core,ideal_" \
	"cycles,"                                                                             \
	"ideal_ns,frac_ideal,pt_util\n"

/* A network of 16 kernels, one of them traced twice, on a counter of 557.05 MHz: figures of a real
 * run. */
static void add_network(struct costs_fixture *fixture, uint32_t device)
{
	static const struct {
		const char *name;
		int64_t duration_ns;
		uint64_t cycles;
	} kernels[] = {
		{"convolution", 353545, 196942},
		{"max_pool2d_with_indices", 191651, 106759},
		{"convolution_1", 35665, 19867},
		{"convolution_4", 109545, 61022},
		{"convolution_2", 196065, 109218},
		{"convolution_3", 107552, 59912},
		{"add", 281041, 156554},
		{"relu_3", 176117, 98106},
		{"convolution_5", 134737, 75055},
		{"convolution_6", 195884, 109117},
		{"convolution_7", 110267, 61424},
		{"add_1", 280968, 156513},
		{"add_1", 280968, 156513},
		{"relu_6", 178961, 99690},
		{"mean", 2064, 1150},
		{"view-VirtualReshape-Output-LxRelayout", 470, 262},
		{"addmm_MatMul", 66867, 37248},
	};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		costs_kernel(fixture, device, kernels[i].name, kernels[i].duration_ns,
		             kernels[i].cycles);
}

#define NETWORK                                                                         \
	"convolution-opCatConvOs1_fp16 115248 max_pool2d_with_indices-opCatPooling 0 "  \
	"convolution_1-opCatConv_fp16 12544 convolution_4-opCatConv_fp16 50176 "        \
	"convolution_2-opCatConv_fp16 112896 convolution_3-opCatConv_fp16 50176 "       \
	"add-opCatBroadcast 0 relu_3-opCatScalar 0 convolution_5-opCatConv_fp16 50176 " \
	"convolution_6-opCatConv_fp16 112896 convolution_7-opCatConv_fp16 50176 "       \
	"add_1-opCatBroadcast 0 relu_6-opCatScalar 0 "                                  \
	"convolution_15-Output-Form1-LxRelayout-opCatStcdpLx 0 mean-opCatPooling 0 "    \
	"view-VirtualReshape-Output-LxRelayout-opCatStcdpLx 0 addmm_MatMul-opCatBmm_fp16 2048"

/* Calls, times, cycles and utilisation as they are known. */
static void test_categories__of_a_known_network(void **state)
{
	struct costs_fixture *fixture = *state;

	add_network(fixture, costs_device(fixture, 0));
	costs_source(fixture, NETWORK);
	costs_run(fixture, 1e9);
	costs_expect_file(
		fixture, "categories.csv",
		CATEGORIES
		"0,,Conv_fp16,7,889715,0.3292,495615,0.3292,889715,439040,439040,0.7892,0.4935\n"
		"0,,Broadcast,3,842977,0.3119,469580,0.3119,842977,0,0,0.0000,0.0000\n"
		"0,,Scalar,2,355078,0.1314,197796,0.1314,355078,0,0,0.0000,0.0000\n"
		"0,,ConvOs1_fp16,1,353545,0.1308,196942,0.1308,353545,115248,115248,0.2072,0.3260\n"
		"0,,Pooling,2,193715,0.0717,107909,0.0717,193715,0,0,0.0000,0.0000\n"
		"0,,Bmm_fp16,1,66867,0.0247,37248,0.0247,66867,2048,2048,0.0037,0.0306\n"
		"0,,StcdpLx,1,470,0.0002,262,0.0002,470,0,0,0.0000,0.0000\n"
		"0,,other,0,0,0.0000,0,0.0000,0,0,0,0.0000,\n"
		"0,,Total,17,2702367,1.0000,1505352,1.0000,2702367,556336,556336,1.0000,0.2059\n");
}

static void test_categories__tell_all_ranks_and_phases(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t unknown = costs_device(fixture, -1), second = costs_device(fixture, 3);
	uint32_t first = costs_device(fixture, 1), again = costs_device(fixture, 1);

	costs_kernels(fixture, second, "a b d");
	costs_kernels(fixture, first, "a x");
	costs_kernels(fixture, again, "a b");
	costs_kernels(fixture, unknown, "d");
	costs_source(fixture, "PREFILL a-opCatA 60 b-opCatB 20; DECODING d-opCatD,D 10");
	costs_run(fixture, 2e9);
	costs_expect_file(fixture, "categories.csv",
	                  CATEGORIES
	                  "1,prefill,A,2,200,0.5000,100,0.5000,400,120,60,0.8571,0.3000\n"
	                  "1,prefill,B,1,100,0.2500,50,0.2500,200,20,10,0.1429,0.1000\n"
	                  "1,prefill,other,1,100,0.2500,50,0.2500,200,0,0,0.0000,0.0000\n"
	                  "1,prefill,Total,4,400,1.0000,200,1.0000,800,140,70,1.0000,0.1750\n"
	                  "3,prefill,A,1,100,0.5000,50,0.5000,200,60,30,0.7500,0.3000\n"
	                  "3,prefill,B,1,100,0.5000,50,0.5000,200,20,10,0.2500,0.1000\n"
	                  "3,prefill,other,0,0,0.0000,0,0.0000,0,0,0,0.0000,\n"
	                  "3,prefill,Total,2,200,1.0000,100,1.0000,400,80,40,1.0000,0.2000\n"
	                  "3,decoding,\"D,D\",1,100,1.0000,50,1.0000,200,10,5,1.0000,0.0500\n"
	                  "3,decoding,other,0,0,0.0000,0,0.0000,0,0,0,0.0000,\n"
	                  "3,decoding,Total,1,100,1.0000,50,1.0000,200,10,5,1.0000,0.0500\n"
	                  ",decoding,\"D,D\",1,100,1.0000,50,1.0000,200,10,5,1.0000,0.0500\n"
	                  ",decoding,other,0,0,0.0000,0,0.0000,0,0,0,0.0000,\n"
	                  ",decoding,Total,1,100,1.0000,50,1.0000,200,10,5,1.0000,0.0500\n");
}

static void test_categories__show_more_than_can_be(void **state)
{
	struct costs_fixture *fixture = *state;

	costs_kernels(fixture, costs_device(fixture, 0), "a");
	costs_source(fixture, "a-opCatA 150");
	costs_run(fixture, 1e9);
	costs_expect_file(fixture, "categories.csv",
	                  CATEGORIES "0,,A,1,100,1.0000,50,1.0000,100,150,150,1.0000,1.5000\n"
	                             "0,,other,0,0,0.0000,0,0.0000,0,0,0,0.0000,\n"
	                             "0,,Total,1,100,1.0000,50,1.0000,100,150,150,1.0000,1.5000\n");
}

static void test_categories__of_kernels_without_a_table_are_other(void **state)
{
	struct costs_fixture *fixture = *state;

	costs_kernels(fixture, costs_device(fixture, 0), "a a");
	costs_source(fixture, "");
	costs_run(fixture, 1e9);
	costs_expect_file(fixture, "categories.csv",
	                  CATEGORIES "0,,other,2,200,1.0000,100,1.0000,200,0,0,,0.0000\n"
	                             "0,,Total,2,200,1.0000,100,1.0000,200,0,0,,0.0000\n");
}

static void test_categories__of_nothing_are_no_file(void **state)
{
	struct costs_fixture *fixture = *state;

	costs_kernels(fixture, costs_device(fixture, 0), "a"); /* no compiler information */
	costs_expect_file(fixture, "categories.csv", CATEGORIES);
}

/* Columns stand below each other. */
static void test_categories__can_be_read_as_text(void **state)
{
	struct costs_fixture *fixture = *state;

	add_network(fixture, costs_device(fixture, 12));
	costs_source(fixture, "DECODING " NETWORK);
	costs_run(fixture, 1e9);
	costs_expect_file(
		fixture, "categories.txt",
		" rank phase        category    calls      kernel_us frac_time         cycles "
		"frac_cycles    cycles_core   ideal_cycles       ideal_us frac_ideal  pt_util\n"
		"   12 decoding    Conv_fp16        7        889.715    0.3292         495615 "
		"     0.3292         889715         439040        439.040     0.7892   0.4935\n"
		"   12 decoding    Broadcast        3        842.977    0.3119         469580 "
		"     0.3119         842977              0          0.000     0.0000   0.0000\n"
		"   12 decoding       Scalar        2        355.078    0.1314         197796 "
		"     0.1314         355078              0          0.000     0.0000   0.0000\n"
		"   12 decoding ConvOs1_fp16        1        353.545    0.1308         196942 "
		"     0.1308         353545         115248        115.248     0.2072   0.3260\n"
		"   12 decoding      Pooling        2        193.715    0.0717         107909 "
		"     0.0717         193715              0          0.000     0.0000   0.0000\n"
		"   12 decoding     Bmm_fp16        1         66.867    0.0247          37248 "
		"     0.0247          66867           2048          2.048     0.0037   0.0306\n"
		"   12 decoding      StcdpLx        1          0.470    0.0002            262 "
		"     0.0002            470              0          0.000     0.0000   0.0000\n"
		"   12 decoding        other        0          0.000    0.0000              0 "
		"     0.0000              0              0          0.000     0.0000   0.0000\n"
		"   12 decoding        Total       17       2702.367    1.0000        1505352 "
		"     1.0000        2702367         556336        556.336     1.0000   0.2059\n");
}

static void test_categories__count_times_of_another_run_for_the_autopilot(void **state)
{
	struct costs_fixture *fixture = *state;

	costs_kernels(fixture, costs_device(fixture, 0), "a b c a b c other d");
	costs_times(fixture, "0,Exec,a Cmpt Exec,2,800\n0,Exec,b,1,200\n0,Exec,d,1,7\n"
	                     "0,Exec,other,1,60\n0,Memcpy HtoD,c,1,5\n");
	costs_source(fixture, "d-opCatD 4; AUTOPILOT a-opCatA 100 b-opCatB 20 c-opCatC 3");
	costs_run(fixture, 1e9);
	costs_expect_file(fixture, "categories.csv",
	                  CATEGORIES
	                  "0,,A,2,800,0.5128,100,0.2500,800,200,200,0.8000,0.2500\n"
	                  "0,,B,2,400,0.2564,100,0.2500,400,40,40,0.1600,0.1000\n"
	                  "0,,C,2,200,0.1282,100,0.2500,200,6,6,0.0240,0.0300\n" /* measured */
	                  "0,,D,1,100,0.0641,50,0.1250,100,4,4,0.0160,0.0400\n"  /* likewise */
	                  "0,,other,1,60,0.0385,50,0.1250,60,0,0,0.0000,0.0000\n"
	                  "0,,Total,8,1560,1.0000,400,1.0000,1560,250,250,1.0000,0.1603\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COSTS_TEST(test_categories__of_a_known_network),
		COSTS_TEST(test_categories__tell_all_ranks_and_phases),
		COSTS_TEST(test_categories__show_more_than_can_be),
		COSTS_TEST(test_categories__of_kernels_without_a_table_are_other),
		COSTS_TEST(test_categories__of_nothing_are_no_file),
		COSTS_TEST(test_categories__count_times_of_another_run_for_the_autopilot),
		COSTS_TEST(test_categories__can_be_read_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
