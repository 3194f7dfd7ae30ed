/* SPDX-License-Identifier: Apache-2.0 */
/* Device work by names without numbers, by queue, and how much its names vary. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "calls_fixture.h"

#define SPREAD "calls,total_ns,mean_ns,median_ns,min_ns,max_ns,stddev_ns,share_percent"

static void add(struct calls_test *test, uint32_t device, const char *name, int64_t start_ns,
                int64_t dur_ns)
{
	calls_test_kernel(test, device, name, (const int64_t[]){start_ns, start_ns + dur_ns},
	                  FLEXTRACE_NONE);
}

/* As in the summary of the AIU Trace Analyzer, and behind the '.' of XLA. */
static void test_kernels_grouped__have_no_numbers(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	add(&test, 0, "convolution_1", 0, 10);
	add(&test, 0, "convolution-22", 10, 10);
	add(&test, 0, "convolution_1", 20, 10);
	add(&test, 0, "fusion.3", 30, 20);
	add(&test, 0, "conv3d_", 50, 50);
	add(&test, 0, "x_1_2-y_a", 100, 10);
	analysis_test_expect(&test.test, "kernels_grouped",
	                     "kind,name,names," SPREAD ",rank,host,pid\n"
	                     "Exec,conv3d_,1,1,50,50,50,50,50,0,45.45" OF_0
	                     "Exec,convolution_[N],2,3,30,10,10,10,10,0,27.27" OF_0
	                     "Exec,fusion.[N],1,1,20,20,20,20,20,0,18.18" OF_0
	                     "Exec,x_[N]_[N]-y_a,1,1,10,10,10,10,10,0,9.09" OF_0);
	calls_test_release(&test);
}

static void test_kernels_grouped__are_summed_over_ranks(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	add(&test, 1, "a_1", 0, 30);
	add(&test, 0, "a_2", 0, 10);
	analysis_test_expect(&test.test, "kernels_grouped",
	                     "kind,name,names," SPREAD ",rank,host,pid\n"
	                     "Exec,a_[N],1,1,10,10,10,10,10,0,100.00" OF_0
	                     "Exec,a_[N],1,1,30,30,30,30,30,0,100.00" OF_1
	                     "Exec,a_[N],2,2,40,20,20,10,30,14,100.00,,,\n");
	calls_test_release(&test);
}

static void test_kernels_by_queue__are_told_by_device(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	add(&test, 0, "a", 0, 10);
	add(&test, 0, "b", 10, 30);
	test.test.ops[test.test.n_ops - 1].queue = 12;
	add(&test, 1, "a", 20, 5);
	add(&test, 0, "b", 40, 10);
	analysis_test_expect(&test.test, "kernels_by_queue",
	                     "rank,host,pid,device,queue,kind,names," SPREAD "\n"
	                     "0,\"node,1\",70,0,12,Exec,1,1,30,30,30,30,30,0,60.00\n"
	                     "0,\"node,1\",70,0,0,Exec,2,2,20,10,10,10,10,0,40.00\n"
	                     "1,\"node,1\",71,0,0,Exec,1,1,5,5,5,5,5,0,100.00\n");
	calls_test_release(&test);
}

/* What ran once, or took no time, has no variation; what is equal each time is not marked. */
static void test_variability__marks_what_varies_most(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	add(&test, 0, "steady", 0, 50);
	add(&test, 0, "once", 1, 5);
	add(&test, 0, "varies", 2, 10);
	add(&test, 0, "none", 3, 0);
	add(&test, 0, "none", 4, 0);
	add(&test, 0, "varies", 10, 30);
	add(&test, 0, "steady", 50, 50);
	analysis_test_expect(&test.test, "variability",
	                     "kind,name,calls,total_ns,share_percent,mean_ns,stddev_ns,"
	                     "variation_percent,most_variable,rank,host,pid\n"
	                     "Exec,varies,2,40,27.59,20,14,70.00,1" OF_0
	                     "Exec,steady,2,100,68.97,50,0,0.00," OF_0);
	calls_test_release(&test);
}

static void test_variability__marks_ten(void **state)
{
	struct calls_test test;
	char name[8], *text;

	(void)state;
	calls_test_init(&test);
	for (int i = 0; i < 24; i++) {
		snprintf(name, sizeof(name), "k%c", 'a' + i / 2);
		add(&test, 0, name, i, 100 + (i % 2) * i);
	}
	text = analysis_test_write(&test.test, "variability");
	assert_non_null(strstr(text, "Exec,kl,2,223,"));
	assert_non_null(strstr(text, ",10" OF_0));
	assert_null(strstr(text, ",11" OF_0));
	free(text);
	calls_test_release(&test);
}

static void test_kernels_by__of_nothing_are_a_header(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	analysis_test_expect(&test.test, "kernels_grouped",
	                     "kind,name,names," SPREAD ",rank,host,pid\n");
	analysis_test_expect(&test.test, "kernels_by_queue",
	                     "rank,host,pid,device,queue,kind,names," SPREAD "\n");
	calls_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels_grouped__have_no_numbers),
		cmocka_unit_test(test_kernels_grouped__are_summed_over_ranks),
		cmocka_unit_test(test_kernels_by_queue__are_told_by_device),
		cmocka_unit_test(test_variability__marks_what_varies_most),
		cmocka_unit_test(test_variability__marks_ten),
		cmocka_unit_test(test_kernels_by__of_nothing_are_a_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
