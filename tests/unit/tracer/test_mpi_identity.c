/* SPDX-License-Identifier: Apache-2.0 */
/* Names of communicators, and the table that finds them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tracer/mpi/identity.h"
#include "tracer/mpi/table.h"

static void test_identity__tells_how_a_communicator_was_made(void **state)
{
	char name[IDENTITY_BYTES];

	(void)state;
	identity_child(name, "MPI_COMM_WORLD", "split", 2, 4, 0);
	assert_string_equal(name, "MPI_COMM_WORLD/split2@4");
	identity_child(name, name, "dup", 0, 4, 0);
	assert_string_equal(name, "MPI_COMM_WORLD/split2@4/dup0@4");
}

static void test_identity__stays_short_and_differs(void **state)
{
	char names[64][IDENTITY_BYTES] = {"MPI_COMM_WORLD"};

	(void)state;
	for (int i = 1; i < 64; i++) {
		identity_child(names[i], names[i - 1], "dup", 0, 0, 0);
		assert_true(strlen(names[i]) < 80);
		for (int other = 0; other < i; other++)
			assert_string_not_equal(names[other], names[i]);
	}
}

static void test_identity__of_some_ranks_differs_by_who_and_how_often(void **state)
{
	char names[4][IDENTITY_BYTES];

	(void)state;
	identity_child(names[0], "MPI_COMM_WORLD", "group", 0, 1, 10);
	identity_child(names[1], "MPI_COMM_WORLD", "group", 1, 1, 10);
	identity_child(names[2], "MPI_COMM_WORLD", "group", 0, 1, 11);
	identity_child(names[3], "MPI_COMM_WORLD", "group", 0, 1, 10);
	assert_string_not_equal(names[0], names[1]);
	assert_string_not_equal(names[0], names[2]);
	assert_string_equal(names[0], names[3]);
	assert_non_null(strstr(names[0], "MPI_COMM_WORLD/group0@1#"));
}

/* Against an array, with keys that collide. */
static void test_table__finds_what_was_put_and_not_taken(void **state)
{
	enum { N = 512 };
	struct table table = {NULL, 0, 0};
	unsigned int seed = 7;
	static struct table_entry entries[N];
	bool there[N] = {false};

	(void)state;
	assert_null(table_find(&table, 0));
	assert_null(table_take(&table, 0));
	for (int i = 0; i < 200000; i++) {
		unsigned int n = (unsigned int)rand_r(&seed) % N;
		uint64_t key = (uint64_t)n << (n & 1 ? 40 : 0);

		assert_ptr_equal(table_find(&table, key), there[n] ? &entries[n] : NULL);
		if (rand_r(&seed) & 1) {
			if (!there[n])
				assert_int_equal(table_put(&table, key, &entries[n]), 0);
			there[n] = true;
		} else {
			assert_ptr_equal(table_take(&table, key), there[n] ? &entries[n] : NULL);
			there[n] = false;
		}
	}
	for (unsigned int n = 0; n < N; n++)
		table_take(&table, (uint64_t)n << (n & 1 ? 40 : 0));
	table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity__tells_how_a_communicator_was_made),
		cmocka_unit_test(test_identity__stays_short_and_differs),
		cmocka_unit_test(test_identity__of_some_ranks_differs_by_who_and_how_often),
		cmocka_unit_test(test_table__finds_what_was_put_and_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
