/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ledger.h"

static struct loss_place at_device(uint32_t device)
{
	struct loss_place place = LOSS_NOWHERE;

	place.device = device;
	return place;
}

static void test_ledger__sums_losses_of_one_cause_and_place(void **state)
{
	struct ledger ledger;
	struct loss_place here = at_device(1);

	(void)state;
	ledger_init(&ledger);
	assert_int_equal(ledger_lose(&ledger, LOSS_MALFORMED, &here, 2, INT64_MIN), 0);
	assert_int_equal(ledger_lose(&ledger, LOSS_MALFORMED, &here, 3, 70), 0);
	assert_int_equal(ledger_lose(&ledger, LOSS_MALFORMED, &here, 0, 1), 0);
	assert_int_equal(ledger_lose(&ledger, LOSS_MALFORMED, &here, 1, 50), 0);
	assert_int_equal(ledger_lose(&ledger, LOSS_MALFORMED, &here, 1, 60), 0);
	assert_int_equal(ledger.n_losses, 1);
	assert_int_equal(ledger.losses[0].count, 7);
	assert_int_equal(ledger.losses[0].first_host_ns, 50);
	assert_int_equal(ledger.losses[0].last_host_ns, 70);
	ledger_release(&ledger);
}

static void test_ledger__sorts_losses_by_cause_and_place(void **state)
{
	struct ledger ledger;
	struct loss nth;
	uint64_t sum = 0;
	uint32_t n;

	(void)state;
	ledger_init(&ledger);
	ledger_sort(&ledger);
	for (uint32_t i = 0; i < 5000; i++) {
		struct loss_place place = {i % 3, (i * 7919) % 50, i % 7, FLEXTRACE_NONE};

		assert_int_equal(ledger_lose(&ledger, (enum loss_cause)(i % 5), &place, i, i), 0);
		sum += i;
	}
	ledger_sort(&ledger);
	for (uint32_t i = 1; i < ledger.n_losses; i++) {
		const struct loss *a = &ledger.losses[i - 1], *b = &ledger.losses[i];

		assert_true(a->cause <= b->cause);
		if (a->cause == b->cause)
			assert_true(a->place.process < b->place.process ||
			            (a->place.process == b->place.process &&
			             (a->place.device < b->place.device ||
			              (a->place.device == b->place.device &&
			               a->place.core < b->place.core))));
		sum -= b->count;
	}
	assert_int_equal(sum, ledger.losses[0].count);

	/* Sorting does not lose the way to what is there. */
	n = ledger.n_losses;
	nth = ledger.losses[9];
	assert_int_equal(ledger_lose(&ledger, nth.cause, &nth.place, 1000, INT64_MIN), 0);
	assert_int_equal(ledger.n_losses, n);
	assert_int_equal(ledger.losses[9].count, nth.count + 1000);
	ledger_release(&ledger);
}

static void test_ledger__keeps_a_million_places_apart(void **state)
{
	struct ledger ledger;

	(void)state;
	ledger_init(&ledger);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 1000000; i++) {
			struct loss_place place = at_device(i * 4099);

			assert_int_equal(ledger_lose(&ledger, LOSS_NO_CLOCK, &place, 1, i), 0);
		}
	}
	assert_int_equal(ledger.n_losses, 1000000);
	assert_int_equal(ledger_total(&ledger, LOSS_NO_CLOCK), 2000000);
	ledger_release(&ledger);
}

static void test_ledger__closes_only_when_every_record_is_booked_once(void **state)
{
	struct ledger ledger;
	const struct record record = {.class = RECORD_SCOPE, .clock_ns = 5};

	(void)state;
	ledger_init(&ledger);
	assert_int_equal(ledger_check(&ledger), 0);
	ledger.read[RECORD_SCOPE] = 3;
	ledger.rows[RECORD_SCOPE] = 1;
	assert_int_equal(ledger_check(&ledger), RECORD_SCOPE + 1);
	ledger.evidence[RECORD_SCOPE] = 1;
	assert_int_equal(ledger_discard(&ledger, LOSS_BACKWARDS, &LOSS_NOWHERE, &record), 0);
	assert_int_equal(ledger_check(&ledger), 0);
	assert_int_equal(ledger_total(&ledger, LOSS_BACKWARDS), 1);
	assert_int_equal(ledger.losses[0].first_host_ns, 5);
	assert_int_equal(ledger_discard(&ledger, LOSS_BACKWARDS, &LOSS_NOWHERE, &record), 0);
	assert_int_equal(ledger_check(&ledger), RECORD_SCOPE + 1);
	ledger_release(&ledger);
}

static void test_ledger__adds_all_books_of_another(void **state)
{
	struct ledger to, from;
	const struct record record = {.class = RECORD_END, .clock_ns = 90};

	(void)state;
	ledger_init(&to);
	ledger_init(&from);
	from.read[RECORD_END] = 3;
	from.rows[RECORD_END] = 1;
	from.evidence[RECORD_END] = 1;
	from.foreign_events = 4;
	from.warnings[WARNING_CROSSING] = 2;
	assert_int_equal(ledger_discard(&from, LOSS_UNMATCHED_END, &LOSS_NOWHERE, &record), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ledger_add(&to, &from), 0);
	assert_int_equal(to.read[RECORD_END], 6);
	assert_int_equal(to.foreign_events, 8);
	assert_int_equal(to.warnings[WARNING_CROSSING], 4);
	assert_int_equal(to.discarded[RECORD_END][LOSS_UNMATCHED_END], 2);
	assert_int_equal(to.n_losses, 1);
	assert_int_equal(to.losses[0].count, 2);
	assert_int_equal(ledger_check(&to), 0);
	ledger_release(&to);
	ledger_release(&from);
}

static void test_ledger__calls_lost_what_was_not_left_out_on_purpose(void **state)
{
	static const enum loss_cause left_out[] = {LOSS_FOREIGN_EVENT, LOSS_FOREIGN_PROCESS,
	                                           LOSS_FILTERED, LOSS_DUPLICATE, LOSS_UNUSED};
	struct ledger ledger;

	(void)state;
	ledger_init(&ledger);
	for (int i = 0; i < 5; i++)
		assert_int_equal(ledger_lose(&ledger, left_out[i], &LOSS_NOWHERE, 100, 1), 0);
	assert_int_equal(ledger_lost(&ledger), 0);
	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
		assert_int_equal(ledger_lose(&ledger, (enum loss_cause)cause, &LOSS_NOWHERE, 1, 1),
		                 0);
	assert_int_equal(ledger_lost(&ledger), LOSS_CAUSE_COUNT - 5);
	ledger_release(&ledger);
}

static void test_ledger__names_what_it_counts(void **state)
{
	(void)state;
	assert_string_equal(ledger_cause_id(LOSS_DISCARDED_EVENTS), "lttng_discarded_events");
	assert_string_equal(ledger_cause_id(LOSS_UNUSED), "unused");
	assert_string_equal(ledger_warning_id(WARNING_INFEASIBLE), "rate_wanders");
	assert_non_null(strstr(ledger_warning_remedy(WARNING_NO_CONTEXTS), "add-context"));
	assert_string_equal(record_class_name(RECORD_PROCESS), "process");
	assert_string_equal(record_class_name(RECORD_COLLECTIVE), "collective");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ledger__sums_losses_of_one_cause_and_place),
		cmocka_unit_test(test_ledger__sorts_losses_by_cause_and_place),
		cmocka_unit_test(test_ledger__keeps_a_million_places_apart),
		cmocka_unit_test(test_ledger__closes_only_when_every_record_is_booked_once),
		cmocka_unit_test(test_ledger__adds_all_books_of_another),
		cmocka_unit_test(test_ledger__calls_lost_what_was_not_left_out_on_purpose),
		cmocka_unit_test(test_ledger__names_what_it_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
