/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/words/sync_ops.h"

static void test_sync_ops__know_what_waits_for_whom(void **state)
{
	static const struct {
		const char *op;
		enum op_family family;
	} cases[] = {
		{"all_reduce", OP_ALL_REDUCE},
		{"AllReduce", OP_ALL_REDUCE},
		{"MPI_Allreduce", OP_ALL_REDUCE},
		{"ncclAllReduce", OP_ALL_REDUCE},
		{"nccl:all_reduce", OP_ALL_REDUCE},
		{"c10d::_allgather_base", OP_ALL_GATHER},
		{"all_gather_into_tensor", OP_ALL_GATHER},
		{"reduce_scatter", OP_REDUCE_SCATTER},
		{"all_to_all", OP_ALL_TO_ALL},
		{"Barrier", OP_BARRIER},
		{"bcast", OP_BROADCAST},
		{"reduce", OP_REDUCE},
		{"gather", OP_GATHER},
		{"scatter", OP_SCATTER},
		{"MPI_Isend", OP_SEND},
		{"MPI_Issend", OP_SEND},
		{"MPI_Send_c", OP_SEND}, /* large counts */
		{"MPI_Allreduce_c", OP_ALL_REDUCE},
		{"recv", OP_RECEIVE},
		{"MPI_Irecv", OP_OTHER},      /* returns before anything came */
		{"MPI_Iallreduce", OP_OTHER}, /* likewise */
		{"MPI_Iallreduce+MPI_Wait", OP_ALL_REDUCE},
		{"MPI_Iallreduce_c+MPI_Wait", OP_ALL_REDUCE},
		{"MPI_Allreduce_init+MPI_Wait", OP_ALL_REDUCE},
		{"MPI_Ibcast+MPI_Wait", OP_BROADCAST},
		{"MPI_Ibarrier+MPI_Wait", OP_BARRIER},
		{"MPI_Allreduce_init", OP_OTHER},
		{"MPI_Iallreduce+MPI_Wait (empty)", OP_OTHER},
		{"MPI_Ialltoallv+MPI_Wait", OP_OTHER},
		{"MPI_Irecv+MPI_Wait", OP_RECEIVE},
		{"MPI_Alltoallv", OP_OTHER}, /* may wait for nobody */
		{"MPI_Bcast (empty)", OP_OTHER},
		{"MPI_Allreduce_init", OP_OTHER},
		{"all_reduce_but_longer_than_any_name", OP_OTHER},
		{"", OP_OTHER},
		{":", OP_OTHER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(sync_op_family(cases[i].op), cases[i].family);
}

static void test_sync_ops__know_what_ends_in_another_call(void **state)
{
	(void)state;
	assert_true(sync_op_is_async("MPI_Iallreduce"));
	assert_true(sync_op_is_async("MPI_Bcast_init"));
	assert_true(sync_op_is_async("MPI_Iallreduce+MPI_Wait"));
	assert_true(sync_op_is_async("MPI_Ialltoallv+MPI_Wait"));
	assert_true(sync_op_is_async("MPI_Bcast_init+MPI_Wait"));
	assert_false(sync_op_is_async("MPI_Isend"));
	assert_false(sync_op_is_async("MPI_Allreduce"));
	assert_false(sync_op_is_async("MPI_Alltoallv"));
	assert_false(sync_op_is_async("I"));
}

static void test_sync_ops__read_lists_of_ranks(void **state)
{
	static const struct {
		const char *peers;
		uint32_t n;
		int32_t only;
	} cases[] = {
		{"", 0, -1},           {"7", 1, 7},
		{"1,2", 2, -1},        {"1, 2 ,3", 3, -1},
		{"x", 0, -1},          {"1;2", 0, -1},
		{"-1", 0, -1},         {"99999999999999999999", 0, -1},
		{"2147483648", 0, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t sum;
		int32_t only;

		assert_int_equal(sync_op_peers(cases[i].peers, 0, &only, &sum), cases[i].n);
		if (cases[i].n)
			assert_int_equal(only, cases[i].only);
	}
}

static void test_sync_ops__a_set_is_the_same_whoever_names_it(void **state)
{
	uint64_t zero, one, two, other;
	int32_t only;

	(void)state;
	sync_op_peers("1,2", 0, &only, &zero);
	sync_op_peers("2,0", 1, &only, &one);
	sync_op_peers("0,1,2", 2, &only, &two);
	sync_op_peers("0,1", 3, &only, &other);
	assert_true(zero == one && one == two);
	assert_true(zero != other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sync_ops__know_what_waits_for_whom),
		cmocka_unit_test(test_sync_ops__know_what_ends_in_another_call),
		cmocka_unit_test(test_sync_ops__read_lists_of_ranks),
		cmocka_unit_test(test_sync_ops__a_set_is_the_same_whoever_names_it),
	};

	return cmocka_run_group_tests_name("sync_ops", tests, NULL, NULL);
}
