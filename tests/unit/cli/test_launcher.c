/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cli/process/launcher.h"

static const char *const *environment; /* "NAME=value" up to NULL */

static char *get(const char *name)
{
	size_t n = strlen(name);

	for (const char *const *entry = environment; *entry; entry++)
		if (strncmp(*entry, name, n) == 0 && (*entry)[n] == '=')
			return (char *)*entry + n + 1;
	return NULL;
}

static struct launcher detect(const char *const *entries)
{
	struct launcher launcher;

	environment = entries;
	launcher_detect(&launcher, get);
	return launcher;
}

#define DETECT(...) detect((const char *const[]){__VA_ARGS__, NULL})

static void test_launcher__none_without_a_launcher(void **state)
{
	(void)state;
	assert_string_equal(DETECT("PATH=/bin").job, "");
	/* A shell inside of an allocation is no rank; neither is a batch script. */
	assert_string_equal(DETECT("SLURM_JOB_ID=7", "SLURM_NTASKS=4").job, "");
	assert_string_equal(DETECT("SLURM_JOB_ID=7", "SLURM_PROCID=0").job, "");
}

static void test_launcher__open_mpi_names_the_job(void **state)
{
	struct launcher launcher = DETECT("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4",
	                                  "OMPI_COMM_WORLD_LOCAL_SIZE=4",
	                                  "PMIX_NAMESPACE=prterun-host/a-42@1", "SLURM_JOB_ID=7",
	                                  "SLURM_STEP_ID=0", "SLURM_PROCID=0");

	(void)state;
	assert_string_equal(launcher.job, "ompi-prterun-host_a-42_1");
	assert_int_equal(launcher.n_local, 4);
	assert_false(launcher.is_multi_host);
}

static void test_launcher__sees_that_there_are_other_hosts(void **state)
{
	(void)state;
	assert_true(DETECT("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=8",
	                   "OMPI_COMM_WORLD_LOCAL_SIZE=4", "PMIX_NAMESPACE=x")
	                    .is_multi_host);
	assert_true(DETECT("SLURM_PROCID=1", "SLURM_JOB_ID=7", "SLURM_STEP_ID=2",
	                   "SLURM_STEP_NUM_NODES=2")
	                    .is_multi_host);
}

static void test_launcher__slurm_steps_are_jobs(void **state)
{
	struct launcher launcher = DETECT("SLURM_PROCID=1", "SLURM_JOB_ID=7", "SLURM_STEP_ID=2",
	                                  "SLURM_STEP_TASKS_PER_NODE=2(x3)");

	(void)state;
	assert_string_equal(launcher.job, "slurm-7.2");
	assert_int_equal(launcher.n_local, 0);
	assert_int_equal(DETECT("SLURM_PROCID=1", "SLURM_JOB_ID=7", "SLURM_STEP_ID=2",
	                        "SLURM_STEP_TASKS_PER_NODE=2")
	                         .n_local,
	                 2);
}

/* Ranks of one launcher agree on the name, because they have one parent. */
static void test_launcher__hydra_and_torchrun_are_known_by_the_parent(void **state)
{
	struct launcher first = DETECT("PMI_RANK=0", "PMI_SIZE=2", "MPI_LOCALNRANKS=2");
	struct launcher second = DETECT("PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALNRANKS=2");

	(void)state;
	assert_memory_equal(first.job, "hydra-", 6);
	assert_string_equal(first.job, second.job);
	assert_int_equal(first.n_local, 2);
	assert_memory_equal(DETECT("LOCAL_WORLD_SIZE=3", "RANK=0").job, "torchrun-", 9);
	assert_int_equal(DETECT("LOCAL_WORLD_SIZE=3", "RANK=0").n_local, 3);
}

static void test_launcher__hostile_values_stay_a_file_name(void **state)
{
	char namespace_[600] = "PMIX_NAMESPACE=../../";
	struct launcher launcher;

	(void)state;
	memset(namespace_ + 21, 'x', sizeof(namespace_) - 22);
	launcher = DETECT("OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_LOCAL_SIZE=99999999999",
	                  namespace_);
	assert_null(strchr(launcher.job, '/'));
	assert_int_equal(strlen(launcher.job), LAUNCHER_JOB_SIZE - 1);
	assert_int_equal(launcher.n_local, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launcher__none_without_a_launcher),
		cmocka_unit_test(test_launcher__open_mpi_names_the_job),
		cmocka_unit_test(test_launcher__sees_that_there_are_other_hosts),
		cmocka_unit_test(test_launcher__slurm_steps_are_jobs),
		cmocka_unit_test(test_launcher__hydra_and_torchrun_are_known_by_the_parent),
		cmocka_unit_test(test_launcher__hostile_values_stay_a_file_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
