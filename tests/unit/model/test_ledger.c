/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/ledger/ledger.h"

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
	assert_int_equal(ledger.losses.n, 1);
	assert_int_equal(ledger.losses.all[0].all.count, 7);
	assert_int_equal(ledger.losses.all[0].all.first_ns, 50);
	assert_int_equal(ledger.losses.all[0].all.last_ns, 70);
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
	losses_sort(&ledger.losses);
	for (uint32_t i = 0; i < 5000; i++) {
		struct loss_place place = {i % 3, (i * 7919) % 50, i % 7, FLEXTRACE_NONE};

		assert_int_equal(ledger_lose(&ledger, (enum loss_cause)(i % 5), &place, i, i), 0);
		sum += i;
	}
	losses_sort(&ledger.losses);
	for (uint32_t i = 1; i < ledger.losses.n; i++) {
		const struct loss *a = &ledger.losses.all[i - 1], *b = &ledger.losses.all[i];

		assert_true(a->cause <= b->cause);
		if (a->cause == b->cause)
			assert_true(a->place.process < b->place.process ||
			            (a->place.process == b->place.process &&
			             (a->place.device < b->place.device ||
			              (a->place.device == b->place.device &&
			               a->place.core < b->place.core))));
		sum -= b->all.count;
	}
	assert_int_equal(sum, ledger.losses.all[0].all.count);

	/* Sorting does not lose the way to what is there. */
	n = ledger.losses.n;
	nth = ledger.losses.all[9];
	assert_int_equal(ledger_lose(&ledger, nth.cause, &nth.place, 1000, INT64_MIN), 0);
	assert_int_equal(ledger.losses.n, n);
	assert_int_equal(ledger.losses.all[9].all.count, nth.all.count + 1000);
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
	assert_int_equal(ledger.losses.n, 1000000);
	assert_int_equal(ledger_total(&ledger, LOSS_NO_CLOCK), 2000000);
	ledger_release(&ledger);
}

static void add_at(struct losses *losses, int64_t first_ns, int64_t last_ns, uint64_t count)
{
	const struct loss_span span = {first_ns, last_ns, count};

	assert_int_equal(losses_add(losses, LOSS_MALFORMED, &LOSS_NOWHERE, &span), 0);
}

static void test_losses__keep_few_spans_as_they_are(void **state)
{
	struct losses losses = {.all = NULL};
	const struct loss *loss;

	(void)state;
	add_at(&losses, 70, 75, 1);
	add_at(&losses, 10, 20, 2);
	add_at(&losses, INT64_MIN, INT64_MIN, 4);
	add_at(&losses, 70, 71, 8);
	loss = losses.all;
	assert_int_equal(losses.n, 1);
	assert_int_equal(loss->all.count, 15);
	assert_int_equal(loss->all.first_ns, 10);
	assert_int_equal(loss->all.last_ns, 75);
	assert_int_equal(loss->n_spans, 2);
	assert_int_equal(loss->spans[0].first_ns, 10);
	assert_int_equal(loss->spans[0].last_ns, 20);
	assert_int_equal(loss->spans[0].count, 2);
	assert_int_equal(loss->spans[1].last_ns, 75);
	assert_int_equal(loss->spans[1].count, 9);
	losses_release(&losses);
}

/* Loses n things in an order of its own, by several sets that are merged. */
static void lose_in_order(struct losses *total, uint32_t n, uint32_t step, uint32_t n_sets)
{
	struct losses sets[4] = {{.all = NULL}};

	for (uint32_t i = 0; i < n; i++) {
		int64_t at = (int64_t)((uint64_t)i * step % n);

		add_at(&sets[i % n_sets], at * at * 17 - 5000, at * at * 17 - 4990, 1);
	}
	for (uint32_t i = 0; i < n_sets; i++) {
		assert_int_equal(losses_merge(total, &sets[i], FLEXTRACE_NONE), 0);
		losses_release(&sets[i]);
	}
}

static void test_losses__have_the_same_spans_in_any_order(void **state)
{
	static const uint32_t steps[] = {1, 7, 1009, 9972};
	struct losses one = {.all = NULL};

	(void)state;
	lose_in_order(&one, 9973, 1, 1);
	assert_in_range(one.all->n_spans, LOSS_MAX_SPANS / 4, LOSS_MAX_SPANS);
	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t n_sets = 1; n_sets <= 4; n_sets++) {
			struct losses other = {.all = NULL};

			lose_in_order(&other, 9973, steps[i], n_sets);
			assert_int_equal(other.all->all.count, 9973);
			assert_int_equal(other.all->n_spans, one.all->n_spans);
			assert_memory_equal(other.all->spans, one.all->spans,
			                    one.all->n_spans * sizeof(*one.all->spans));
			losses_release(&other);
		}
	}
	losses_release(&one);
}

static void test_losses__are_of_the_stream_that_they_are_merged_as(void **state)
{
	struct losses one = {.all = NULL}, total = {.all = NULL};

	(void)state;
	add_at(&one, 5, 6, 3);
	assert_int_equal(losses_merge(&total, &one, 7), 0);
	assert_int_equal(losses_merge(&total, &one, 4), 0);
	assert_int_equal(losses_merge(&total, &one, 7), 0);
	losses_sort(&total);
	assert_int_equal(total.n, 2);
	assert_int_equal(total.all[0].place.stream, 4);
	assert_int_equal(total.all[1].place.stream, 7);
	assert_int_equal(total.all[1].all.count, 6);
	losses_release(&one);
	losses_release(&total);
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
	assert_int_equal(ledger.losses.all[0].all.first_ns, 5);
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
	assert_int_equal(to.losses.n, 1);
	assert_int_equal(to.losses.all[0].all.count, 2);
	assert_int_equal(ledger_check(&to), 0);
	ledger_release(&to);
	ledger_release(&from);
}

static void test_ledger__calls_lost_what_was_not_left_out_on_purpose(void **state)
{
	static const enum loss_cause left_out[] = {
		LOSS_FOREIGN_EVENT, LOSS_FOREIGN_PROCESS, LOSS_FILTERED,  LOSS_DUPLICATE,
		LOSS_UNUSED,        LOSS_OVERWRITTEN,     LOSS_UNRECORDED};
	struct ledger ledger;

	(void)state;
	ledger_init(&ledger);
	for (int i = 0; i < 7; i++)
		assert_int_equal(ledger_lose(&ledger, left_out[i], &LOSS_NOWHERE, 100, 1), 0);
	assert_int_equal(ledger_lost(&ledger), 0);
	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
		assert_int_equal(ledger_lose(&ledger, (enum loss_cause)cause, &LOSS_NOWHERE, 1, 1),
		                 0);
	assert_int_equal(ledger_lost(&ledger), LOSS_CAUSE_COUNT - 7);
	ledger_release(&ledger);
}

/* A trace that says so must not get round --fail-on-loss. */
static void test_ledger__never_has_lost_more_than_it_can_count(void **state)
{
	static const struct loss_span most = {INT64_MIN, INT64_MIN, UINT64_MAX};
	struct ledger ledger;

	(void)state;
	ledger_init(&ledger);
	assert_int_equal(ledger_lose(&ledger, LOSS_MALFORMED, &LOSS_NOWHERE, 5, 1), 0);
	assert_int_equal(losses_add(&ledger.losses, LOSS_OUTLIER, &LOSS_NOWHERE, &most), 0);
	assert_int_equal(losses_add(&ledger.losses, LOSS_NO_CLOCK, &LOSS_NOWHERE, &most), 0);
	assert_true(ledger_lost(&ledger) == UINT64_MAX);
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
		cmocka_unit_test(test_losses__keep_few_spans_as_they_are),
		cmocka_unit_test(test_losses__have_the_same_spans_in_any_order),
		cmocka_unit_test(test_losses__are_of_the_stream_that_they_are_merged_as),
		cmocka_unit_test(test_ledger__closes_only_when_every_record_is_booked_once),
		cmocka_unit_test(test_ledger__adds_all_books_of_another),
		cmocka_unit_test(test_ledger__calls_lost_what_was_not_left_out_on_purpose),
		cmocka_unit_test(test_ledger__never_has_lost_more_than_it_can_count),
		cmocka_unit_test(test_ledger__names_what_it_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
