/* SPDX-License-Identifier: Apache-2.0 */
/* Which records of one process in two traces are one record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "identity_fixture.h"
#include "engine/twins.h"

/* Takes the record of a process 7 and asks whether it is a copy. */
static bool is_twin(struct fixture *fixture, struct twins *twins, uint32_t stream,
                    uint64_t clock_ns, uint8_t kind)
{
	const struct record record = {.clock_ns = clock_ns,
	                              .size_bytes = sizeof(record),
	                              .vpid = 7,
	                              .vtid = 7,
	                              .kind = kind};
	int is_one = twins_leave_out(twins, fixture->source.set.streams[stream], stream, &record);

	assert_true(is_one >= 0);
	return is_one;
}

static void test_twins__are_told_from_others_like_them(void **state)
{
	struct fixture *fixture =
		identity_fixture_define(state, NULL,
	                                "stream uuid=1\n"
	                                "9 7 7 process pid=7 start_ns=5 boot_id=b\n"
	                                "stream uuid=2\n"
	                                "9 7 7 process pid=7 start_ns=5 boot_id=b\n");
	struct twins twins = {.identity = &fixture->identity, .ledger = fixture->ledger};
	const uint64_t later_ns = 100 + 10 * TWINS_FAR_NS;

	assert_false(is_twin(fixture, &twins, 0, 100, 1));
	assert_true(is_twin(fixture, &twins, 1, 101, 1));
	assert_false(is_twin(fixture, &twins, 0, 102, 1)); /* the thread did the same again */
	assert_true(is_twin(fixture, &twins, 1, 103, 1));
	assert_false(is_twin(fixture, &twins, 1, 104, 2)); /* only one recording has it */
	assert_false(is_twin(fixture, &twins, 0, 105, 3));
	/* One recording ends, another one begins, and the thread does the same as ever. */
	assert_false(is_twin(fixture, &twins, 1, later_ns, 3));
	assert_false(is_twin(fixture, &twins, 0, 3 * later_ns, 3));
	twins_release(&twins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_twins__are_told_from_others_like_them,
	                                        identity_fixture_start, identity_fixture_stop),
	};

	return cmocka_run_group_tests_name("twins", tests, NULL, NULL);
}
