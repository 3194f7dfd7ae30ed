/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "environment.h"

static const char *const *variables; /* name, value, ..., NULL */

static char *get(const char *name)
{
	const char *const *v;

	for (v = variables; *v; v += 2)
		if (!strcmp(v[0], name))
			return (char *)(uintptr_t)v[1];
	return NULL;
}

static void test_environment__finds_the_rank_wherever_a_launcher_says_it(void **state)
{
	static const struct {
		const char *variables[9];
		int rank, world_size;
	} cases[] = {
		{{NULL}, -1, 0},
		{{"RANK", "2", "WORLD_SIZE", "4", NULL}, 2, 4},
		{{"OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "8", NULL}, 0, 8},
		{{"PMI_RANK", "3", "PMI_SIZE", "5", NULL}, 3, 5},
		{{"PMIX_RANK", "6", NULL}, 6, 0},
		{{"SLURM_PROCID", "1", "SLURM_NTASKS", "2", NULL}, 1, 2},
		/* The more specific one counts, world size from wherever it is told. */
		{{"FLEXTRACE_RANK", "9", "RANK", "2", "WORLD_SIZE", "4", NULL}, 9, 4},
		{{"RANK", "1", "WORLD_SIZE", "4", "SLURM_PROCID", "0", "SLURM_NTASKS", "1"}, 1, 4},
		{{"PMIX_RANK", "1", "SLURM_NTASKS", "3", NULL}, 1, 3},
		/* What is no number was not said. */
		{{"RANK", "two", "PMI_RANK", "3", NULL}, 3, 0},
		{{"RANK", "", "WORLD_SIZE", "0", NULL}, -1, 0},
		{{"RANK", "-1", NULL}, -1, 0},
		{{"RANK", "+1", NULL}, -1, 0},
		{{"RANK", " 1", NULL}, -1, 0},
		{{"RANK", "1x", NULL}, -1, 0},
		{{"RANK", "2147483647", NULL}, 2147483647, 0},
		{{"RANK", "2147483648", NULL}, -1, 0},
		{{"RANK", "99999999999999999999", NULL}, -1, 0},
	};
	struct environment env;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		variables = cases[i].variables;
		flextrace_i_environment_read(&env, get);
		if (env.rank != cases[i].rank || env.world_size != cases[i].world_size)
			fail_msg("case %zu: rank=%d, world_size=%d", i, (int)env.rank,
			         (int)env.world_size);
	}
}

static void test_environment__reads_switches_and_ignores_nonsense(void **state)
{
	static const char *const none[] = {NULL};
	static const char *const all[] = {"FLEXTRACE",
	                                  "0",
	                                  "FLEXTRACE_VERBOSE",
	                                  "1",
	                                  "FLEXTRACE_DEVICE",
	                                  "sync",
	                                  "FLEXTRACE_PROVIDER",
	                                  "/p.so",
	                                  "FLEXTRACE_SESSION",
	                                  "s1",
	                                  NULL};
	static const char *const odd[] = {"FLEXTRACE",
	                                  "no",
	                                  "FLEXTRACE_VERBOSE",
	                                  "yes",
	                                  "FLEXTRACE_DEVICE",
	                                  "OFF",
	                                  "FLEXTRACE_PROVIDER",
	                                  "",
	                                  NULL};
	static const char *const device_off[] = {"FLEXTRACE_DEVICE", "off", NULL};
	struct environment env;

	(void)state;
	variables = none;
	flextrace_i_environment_read(&env, get);
	assert_int_equal(env.enabled, 1);
	assert_int_equal(env.verbose, 0);
	assert_int_equal(env.device, FLEXTRACE_DEVICE_MODE_DRAIN);
	assert_null(env.provider);
	assert_string_equal(env.session, "");

	variables = all;
	flextrace_i_environment_read(&env, get);
	assert_int_equal(env.enabled, 0);
	assert_int_equal(env.verbose, 1);
	assert_int_equal(env.device, FLEXTRACE_DEVICE_MODE_SYNC);
	assert_string_equal(env.provider, "/p.so");
	assert_string_equal(env.session, "s1");

	variables = odd;
	flextrace_i_environment_read(&env, get);
	assert_int_equal(env.enabled, 1);
	assert_int_equal(env.verbose, 0);
	assert_int_equal(env.device, FLEXTRACE_DEVICE_MODE_DRAIN);
	assert_null(env.provider);

	variables = device_off;
	flextrace_i_environment_read(&env, get);
	assert_int_equal(env.device, FLEXTRACE_DEVICE_MODE_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment__finds_the_rank_wherever_a_launcher_says_it),
		cmocka_unit_test(test_environment__reads_switches_and_ignores_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
