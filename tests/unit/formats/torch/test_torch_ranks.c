/* SPDX-License-Identifier: Apache-2.0 */
/* Files of single ranks that are made of files of the torch profiler. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "flex_fixture.h"
#include "scratch.h"
#include "torch_events.h"

static struct flex_run *convert(void **state, const char *text)
{
	struct flex_run *run = *state;

	run->options.findings.per_rank = true;
	flex_add_file(run, "a.json", text);
	flex_convert(run);
	return run;
}

/* Whether a file of the output has a text. */
static bool has_text(const struct flex_run *run, const char *file, const char *text)
{
	char *all = scratch_read(run->out, file, NULL);
	bool is_there = all && strstr(all, text);

	free(all);
	return is_there;
}

/* Whether the file of rank 1, which is gzipped, has a text, and another one (or NULL) behind it. */
static bool rank_has_in_order(const struct flex_run *run, const char *text, const char *later)
{
	char path[4096], *all = calloc(1, (1 << 20) + 1);
	gzFile file;
	bool is_there;

	snprintf(path, sizeof(path), "%s/trace.rank1.pt.trace.json.gz", run->out);
	file = gzopen(path, "rb");
	assert_non_null(file);
	assert_non_null(all);
	assert_in_range(gzread(file, all, 1 << 20), 1, (1 << 20) - 1);
	gzclose(file);
	is_there = strstr(all, text) != NULL;
	if (is_there && later)
		is_there = strstr(strstr(all, text), later) != NULL;
	free(all);
	return is_there;
}

static bool rank_has_text(const struct flex_run *run, const char *text)
{
	return rank_has_in_order(run, text, NULL);
}

/* clang-format off */
static const char of_2021[] = FILE_OF("\"distributedInfo\":{\"rank\":1},",
	X("Operator", "ProfilerStep#5", HOST, AT(10, 20), "\"External id\":1") ","
	X("Operator", "ProfilerStep#6", HOST, AT(31, 20), "\"External id\":9") ","
	X("Runtime", "cudaLaunchKernel", HOST, AT(12, 3), "\"correlation\":4,\"external id\":1") ","
	X("Kernel", "k", "\"pid\":0,\"tid\":\"stream 7\"", AT(14, 1),
		"\"device\":0,\"stream\":7,\"correlation\":4,\"external id\":1") ","
	X("Trace", "PyTorch Profiler (0)", "\"pid\":\"Traces\",\"tid\":\"PyTorch Profiler\"",
		AT(1, 99), "\"Op count\":0"));
/* clang-format on */

static void test_torch_ranks__takes_steps_of_2021_and_makes_up_none(void **state)
{
	struct flex_run *run = convert(state, of_2021);
	flex_row(&run->host, "name", "ProfilerStep#5", "kind", "Step");
	flex_row(&run->host, "name", "ProfilerStep#6", "kind", "Step");
	assert_true(has_text(run, "tables/loops.csv", "steps,2,"));
	assert_true(rank_has_text(run, "\"ProfilerStep#6\""));
	assert_false(rank_has_text(run, "\"found\""));
	assert_false(has_text(run, "tables/runtime.csv", "ProfilerStep"));
}

/* Its category, and all of its arguments as they stood there. */
static void test_torch_ranks__says_again_what_the_file_said(void **state)
{
	static const char *const all[] = {
		"\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\"",
		"\"cat\":\"Operator\",\"name\":\"ProfilerStep#5\",\"pid\":500,\"tid\":501,",
		"\"args\":{\"External id\":1,\"kind\":\"Step\"}",
		"\"cat\":\"Runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":500,\"tid\":501,",
		"\"args\":{\"correlation\":4,\"external id\":1,\"kind\":\"cudaLaunchKernel\"}",
		"\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,",
		("\"args\":{\"device\":0,\"stream\":7,\"correlation\":4,\"external id\":1,"
	         "\"kind\":\"kernel\",\"rank\":1,\"job\":1,\"status\":\"given\"}"),
	};
	struct flex_run *run = convert(state, of_2021);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!rank_has_text(run, all[i]))
			fail_msg("Not in the file: %s", all[i]);
	}
}

/* clang-format off */
static const char crossing[] = FILE_OF("\"distributedInfo\":{\"rank\":1},",
	X("python_function", "f", HOST, AT(10, 20), "") ","
	X("user_annotation", "ProfilerStep#3", HOST, AT(15, 40), ""));
/* clang-format on */

/* Readers look there for what a device is, and for who talks how. */
static void test_torch_ranks__says_again_who_rank_and_devices_are(void **state)
{
	struct flex_run *run = *state;

	run->options.findings.per_rank = true;
	convert(state,
	        FILE_OF("\"deviceProperties\":[{\"id\":3,\"name\":\"<A>\",\"totalGlobalMem\":"
	                "42297524224}],"
	                "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\": 1,\"pg_count\":5},",
	                X("kernel", "k", DEVICE, AT(1, 1), "")));
	assert_true(rank_has_text(run, "\"totalGlobalMem\":42297524224"));
	assert_true(rank_has_text(run, "\"\\u003cA>\""));
	assert_true(rank_has_text(run, "{\"backend\":\"nccl\",\"rank\": 1,"));
	assert_true(has_text(run, "trace.json", "\"backend\": \"flextrace\""));
}

/* HTA takes the first rows of a name for steps of the host; TensorBoard shows any properties. */
static void test_torch_ranks__puts_steps_of_devices_behind_those_of_the_host(void **state)
{
	struct flex_run *run = convert(
		state, FILE_OF("\"distributedInfo\":{\"rank\":1},",
	                       X("gpu_user_annotation", "ProfilerStep#1", DEVICE, AT(5, 9),
	                         "") "," X("user_annotation", "ProfilerStep#1", HOST, AT(1, 20),
	                                   "") "," X("user_annotation", "ProfilerStep#2", HOST,
	                                             AT(31, 20), "")));
	assert_true(rank_has_text(run, "\"cat\":\"gpu_user_annotation\""));
	assert_true(rank_has_in_order(run, "\"ProfilerStep#2\"", "\"gpu_user_annotation\""));
	assert_false(rank_has_text(run, "deviceProperties"));
}

static void test_torch_ranks__leaves_what_crosses_on_its_line(void **state)
{
	struct flex_run *run = convert(state, crossing);
	assert_true(rank_has_text(run, "\"name\":\"f\",\"pid\":500,\"tid\":501,"));
	assert_true(rank_has_text(run, "\"name\":\"ProfilerStep#3\",\"pid\":500,\"tid\":501,"));
	assert_false(has_text(run, "trace.json",
	                      "\"name\":\"ProfilerStep#3\",\"pid\":2000,\"tid\":501,"));
}

#define ARROW(ph, cat, id, tid, ts)                                                  \
	"{\"ph\":\"" ph "\",\"id\":" #id ",\"pid\":500,\"tid\":" #tid ",\"ts\":" #ts \
	",\"cat\":\"" cat "\",\"name\":\"" cat "\"}"

/* clang-format off */
static const char gradients[] = FILE_OF("\"distributedInfo\":{\"rank\":1},",
	ARROW("f", "fwdbwd", 7, 502, 50) ","  /* before anything tells the process */
	X("cpu_op", "forward", HOST, AT(10, 20), "\"Sequence number\":3") ","
	X("cpu_op", "inner", HOST, AT(10, 5), "") ","
	X("cpu_op", "backward", "\"pid\":500,\"tid\":502", AT(50, 5), "\"Sequence number\":3") ","
	ARROW("s", "fwdbwd", 7, 501, 10) ","
	ARROW("s", "fwdbwd", 8, 501, 11) ","  /* to nowhere */
	ARROW("f", "fwdbwd", 9, 502, 50) ","  /* from nowhere */
	ARROW("s", "fwdbwd", 10, 501, 12) "," /* from no row */
	ARROW("f", "fwdbwd", 10, 502, 50) ","
	ARROW("s", "ac2g", 11, 501, 10) ","
	ARROW("f", "ac2g", 11, 502, 50));
/* clang-format on */

static void test_torch_ranks__keeps_arrows_to_gradients(void **state)
{
	struct flex_run *run = *state;
	char *text;

	run->options.findings.per_rank = true;
	convert(state, gradients);
	assert_true(rank_has_text(run, "\"ph\":\"s\",\"id\":1,\"cat\":\"fwdbwd\",\"name\":"
	                               "\"fwdbwd\",\"pid\":500,\"tid\":501,"));
	assert_true(rank_has_text(run, "\"ph\":\"f\",\"id\":1,\"cat\":\"fwdbwd\",\"name\":"
	                               "\"fwdbwd\",\"bp\":\"e\",\"pid\":500,\"tid\":502,"));
	assert_false(rank_has_text(run, "\"ph\":\"s\",\"id\":2"));
	text = scratch_read(run->out, "timeline.txt", NULL);
	assert_non_null(text);
	assert_non_null(strstr(text, "\nflow 0 40000 rank=1 tid=501 -> rank=1 tid=502\n"));
	free(text);
	assert_int_equal(run->host.n_rows, 3);
	assert_int_equal(ledger_lost(&run->ledger), 0);
	assert_int_equal(ledger_total(&run->ledger, LOSS_UNUSED), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_torch_ranks__##name, flex_start, flex_stop)
		TEST(takes_steps_of_2021_and_makes_up_none),
		TEST(says_again_what_the_file_said),
		TEST(says_again_who_rank_and_devices_are),
		TEST(puts_steps_of_devices_behind_those_of_the_host),
		TEST(leaves_what_crosses_on_its_line),
		TEST(keeps_arrows_to_gradients),
	};

	return cmocka_run_group_tests_name("torch_ranks", tests, NULL, NULL);
}
