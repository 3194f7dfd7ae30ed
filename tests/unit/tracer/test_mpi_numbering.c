/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which message a receive has got, as tracer/mpi/numbering.h tells, against a model of MPI: one
 * rank's queue of posted receives, to which the messages of others come in the order in which they
 * were sent.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tracer/mpi/numbering.h"

#define ANY NUMBERING_ANY

/* -- single cases ------------------------------------------------------------------------------ */

static struct numbering numbering;

static int start(void **state)
{
	(void)state;
	numbering = (struct numbering){.n_wild = 0};
	return 0;
}

static int stop(void **state)
{
	(void)state;
	numbering_release(&numbering);
	return 0;
}

static void post(struct receive *receive, int32_t source, int32_t tag)
{
	numbering_post(&numbering, receive, source, tag);
	numbering_posted(&numbering, receive);
}

static void expect_number(struct receive *receive, int32_t source, int32_t tag, uint64_t number)
{
	assert_true(numbering_complete(&numbering, receive, source, tag));
	assert_int_equal(receive->number, number);
}

static void expect_unknown(struct receive *receive, int32_t source, int32_t tag)
{
	assert_false(numbering_complete(&numbering, receive, source, tag));
}

static void test_numbering__counts_sends_by_rank_and_tag(void **state)
{
	uint64_t number;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		assert_true(numbering_send(&numbering, 1, 7, &number));
		assert_int_equal(number, i);
		for (int32_t tag = 0; tag < 100; tag++) {
			assert_true(numbering_send(&numbering, 2, tag, &number));
			assert_int_equal(number, i);
		}
	}
}

static void test_numbering__goes_by_posting_not_by_completion(void **state)
{
	struct receive a, b, c, other;

	(void)state;
	post(&a, 1, 7);
	post(&other, 1, 8);
	post(&b, 1, 7);
	post(&c, 2, 7);
	expect_number(&b, 1, 7, 1);
	expect_number(&other, 1, 8, 0);
	expect_number(&c, 2, 7, 0);
	expect_number(&a, 1, 7, 0);
}

static void test_numbering__numbers_a_wildcard_when_it_completes(void **state)
{
	struct receive a, wild, b;

	(void)state;
	post(&a, 1, 7);
	post(&wild, ANY, ANY);
	expect_number(&wild, 1, 7, 1);
	post(&b, 1, 7);
	expect_number(&b, 1, 7, 2);
	expect_number(&a, 1, 7, 0);
}

static void test_numbering__a_wildcard_moves_those_behind_it(void **state)
{
	struct receive wild, a, b, c;

	(void)state;
	post(&wild, ANY, 7);
	post(&a, 1, 7);
	post(&b, 1, 8);
	expect_unknown(&wild, 1, 7); /* `a` was counted before it */
	expect_number(&a, 1, 7, 1);
	expect_number(&b, 1, 8, 0);
	post(&c, 1, 7);
	expect_number(&c, 1, 7, 2);
}

static void test_numbering__says_nothing_while_a_wildcard_is_open(void **state)
{
	struct receive wild, a, b, c;

	(void)state;
	post(&wild, ANY, 7);
	post(&a, 1, 7);
	post(&b, 1, 8);
	expect_unknown(&a, 1, 7);
	expect_number(&b, 1, 8, 0); /* not of its tag */
	expect_number(&wild, 2, 7, 0);
	post(&c, 1, 7);
	expect_number(&c, 1, 7, 1);
}

static void test_numbering__of_wildcards_the_first_counts_first(void **state)
{
	struct receive a, b, c;

	(void)state;
	post(&a, ANY, 7);
	post(&b, ANY, 7);
	expect_unknown(&b, 1, 7); /* what `a` has is not known yet */
	expect_unknown(&a, 1, 7); /* nor which of both was first */
	post(&c, ANY, 7);
	expect_number(&c, 1, 7, 2);
}

static void test_numbering__posted_by_two_threads_at_once_is_doubtful(void **state)
{
	struct receive a, b, c;

	(void)state;
	numbering_post(&numbering, &a, 1, 7);
	numbering_post(&numbering, &b, 1, 7);
	numbering_posted(&numbering, &b);
	expect_unknown(&b, 1, 7);
	expect_unknown(&a, 1, 7);
	post(&c, 1, 7);
	expect_number(&c, 1, 7, 2);
	numbering_post(&numbering, &a, 1, 7);
	numbering_post(&numbering, &b, 1, 8); /* cannot get the other's */
	expect_number(&a, 1, 7, 3);
	expect_number(&b, 1, 8, 0);
}

static void test_numbering__a_cancelled_receive_counts_not(void **state)
{
	struct receive a, b, c;

	(void)state;
	post(&a, 1, 7);
	post(&b, 1, 7);
	numbering_doubt(&numbering, &a);
	expect_unknown(&b, 1, 7); /* it may have been too late to cancel `a` */
	numbering_withdraw(&numbering, &a);
	post(&c, 1, 7);
	expect_number(&c, 1, 7, 1);

	post(&a, 1, 7);
	numbering_doubt(&numbering, &a);
	post(&b, 1, 7);
	expect_unknown(&a, 1, 7); /* it was too late */
	expect_number(&b, 1, 7, 3);
}

static void test_numbering__says_nothing_once_a_call_failed(void **state)
{
	struct receive a;
	uint64_t number;

	(void)state;
	post(&a, 1, 7);
	numbering.is_broken = true;
	expect_unknown(&a, 1, 7);
	assert_false(numbering_send(&numbering, 1, 7, &number));
}

/* -- against a model --------------------------------------------------------------------------- */

#define N_SOURCES  3
#define N_TAGS     2
#define MAX_POSTED 12
#define MAX_QUEUED 64

struct message {
	int32_t source, tag;
	uint64_t number;
};

/* A receive of the model; `receive` is what is under test. */
struct posted {
	struct receive receive;
	struct message got;
	bool has_got;
};

struct model {
	struct posted *posted[MAX_POSTED]; /* in the order of posting */
	int n_posted;
	struct message queued[MAX_QUEUED]; /* that nobody waited for, in order */
	int n_queued;
	uint64_t n_sent[N_SOURCES][N_TAGS];
	uint64_t n_known, n_unknown;
	unsigned int seed;
};

static int draw(struct model *model, int n)
{
	return (int)((unsigned int)rand_r(&model->seed) % (unsigned int)n);
}

static bool fits(const struct receive *receive, const struct message *message)
{
	return (receive->source == ANY || receive->source == message->source) &&
	       (receive->tag == ANY || receive->tag == message->tag);
}

static void arrive(struct model *model)
{
	struct message message = {draw(model, N_SOURCES), draw(model, N_TAGS), 0};

	if (model->n_queued == MAX_QUEUED)
		return;
	message.number = model->n_sent[message.source][message.tag]++;
	for (int i = 0; i < model->n_posted; i++) {
		struct posted *posted = model->posted[i];

		if (posted->has_got || !fits(&posted->receive, &message))
			continue;
		posted->got = message;
		posted->has_got = true;
		return;
	}
	model->queued[model->n_queued++] = message;
}

static void post_any(struct model *model)
{
	struct posted *posted = calloc(1, sizeof(*posted));

	if (model->n_posted == MAX_POSTED) {
		free(posted);
		return;
	}
	post(&posted->receive, draw(model, 4) ? draw(model, N_SOURCES) : ANY,
	     draw(model, 4) ? draw(model, N_TAGS) : ANY);
	model->posted[model->n_posted++] = posted;
	for (int i = 0; i < model->n_queued; i++) {
		if (!fits(&posted->receive, &model->queued[i]))
			continue;
		posted->got = model->queued[i];
		posted->has_got = true;
		for (model->n_queued--; i < model->n_queued; i++)
			model->queued[i] = model->queued[i + 1];
	}
}

static void take_out(struct model *model, int at)
{
	free(model->posted[at]);
	for (model->n_posted--; at < model->n_posted; at++)
		model->posted[at] = model->posted[at + 1];
}

static void complete_any(struct model *model)
{
	int at = model->n_posted ? draw(model, model->n_posted) : 0;
	struct posted *posted = model->n_posted ? model->posted[at] : NULL;

	if (!posted || !posted->has_got)
		return;
	if (numbering_complete(&numbering, &posted->receive, posted->got.source, posted->got.tag)) {
		assert_int_equal(posted->receive.number, posted->got.number);
		model->n_known++;
	} else {
		model->n_unknown++;
	}
	take_out(model, at);
}

static void cancel_any(struct model *model)
{
	int at = model->n_posted ? draw(model, model->n_posted) : 0;
	struct posted *posted = model->n_posted ? model->posted[at] : NULL;

	if (!posted || draw(model, 8))
		return;
	if (!posted->receive.is_doubtful)
		numbering_doubt(&numbering, &posted->receive);
	if (posted->has_got || draw(model, 2))
		return; /* too late, or not heard of yet */
	numbering_withdraw(&numbering, &posted->receive);
	take_out(model, at);
}

static void test_numbering__is_right_or_says_nothing(void **state)
{
	uint64_t n_known = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= 300; seed++) {
		static void (*const steps[])(struct model *) = {
			arrive,       arrive,       post_any,     post_any,
			complete_any, complete_any, complete_any, cancel_any};
		struct model model = {.seed = seed};

		numbering_release(&numbering);
		for (int i = 0; i < 2000; i++)
			steps[draw(&model, 8)](&model);
		while (model.n_posted)
			take_out(&model, 0);
		n_known += model.n_known;
		assert_true(model.n_known > 0 && model.n_unknown > 0);
	}
	assert_true(n_known > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_numbering__##name, start, stop)
		TEST(counts_sends_by_rank_and_tag),
		TEST(goes_by_posting_not_by_completion),
		TEST(numbers_a_wildcard_when_it_completes),
		TEST(a_wildcard_moves_those_behind_it),
		TEST(says_nothing_while_a_wildcard_is_open),
		TEST(of_wildcards_the_first_counts_first),
		TEST(posted_by_two_threads_at_once_is_doubtful),
		TEST(a_cancelled_receive_counts_not),
		TEST(says_nothing_once_a_call_failed),
		TEST(is_right_or_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
