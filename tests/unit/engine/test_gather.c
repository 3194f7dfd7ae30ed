/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/gather.h"
#include "text_source.h"

static void read_text(struct text_source *source, const char *text)
{
	struct flextrace_error error = {0};

	assert_int_equal(text_source_init(source), 0);
	if (text_source_read(source, text, &error) < 0)
		fail_msg("%s", error.message);
	stream_set_sort(&source->set);
}

/* "clock@stream.index ..." of everything gathered. */
static void expect_order(struct text_source *source, bool consumes, const char *expected)
{
	struct gather gather;
	const struct record *record;
	uint32_t stream;
	char order[1024] = "";
	size_t length = 0;

	assert_int_equal(gather_init(&gather, &source->set, TABLE_HOST, consumes), 0);
	while (gather_next(&gather, &record, &stream))
		length += (size_t)snprintf(order + length, sizeof(order) - length, "%llu@%u.%u ",
		                           (unsigned long long)record->clock_ns, stream,
		                           record->index);
	assert_int_equal(gather_next(&gather, &record, &stream), 0);
	gather_release(&gather);
	assert_string_equal(order, expected);
}

static void test_gather__merges_by_clock_then_stream_then_index(void **state)
{
	struct text_source source;

	(void)state;
	read_text(&source, "stream uuid=2 class=0 instance=0\n"
	                   "10 1 1 step number=0\n"
	                   "20 1 1 step number=1\n"
	                   "stream uuid=1 class=1 instance=0\n"
	                   "20 1 1 step number=2\n"
	                   "stream uuid=1 class=0 instance=1\n"
	                   "20 1 1 step number=3\n"
	                   "20 1 1 step number=4\n"
	                   "15 1 1 foreign\n"
	                   "30 1 1 step number=5\n"
	                   "stream uuid=1 class=0 instance=0\n"
	                   "20 1 1 step number=6\n"
	                   "stream uuid=3\n"
	                   "5 1 1 thread_name id=1 name=other_table\n");
	expect_order(&source, false, "10@3.0 20@0.0 20@1.0 20@1.1 20@2.0 20@3.1 30@1.3 ");
	expect_order(&source, true, "10@3.0 20@0.0 20@1.0 20@1.1 20@2.0 20@3.1 30@1.3 ");
	expect_order(&source, true, "");
	assert_int_equal(source.set.streams[0]->trace, 0);
	assert_int_equal(source.set.streams[2]->trace, 0);
	assert_int_equal(source.set.streams[3]->trace, 1);
	assert_int_equal(source.set.streams[4]->trace, 2);
	text_source_release(&source);
}

static void test_gather__keeps_the_order_of_a_stream_whose_clock_runs_backwards(void **state)
{
	struct text_source source;

	(void)state;
	read_text(&source, "stream class=0\n"
	                   "10 1 1 step number=0\n5 1 1 step number=0\n20 1 1 step number=0\n"
	                   "stream class=1\n"
	                   "7 1 1 step number=0\n12 1 1 step number=0\n3 1 1 step number=0\n");
	expect_order(&source, true, "7@1.0 10@0.0 5@0.1 12@1.1 3@1.2 20@0.2 ");
	text_source_release(&source);
}

static void test_gather__has_nothing_to_say_of_nothing(void **state)
{
	struct text_source source;

	(void)state;
	read_text(&source, "");
	expect_order(&source, true, "");
	text_source_release(&source);
	read_text(&source, "stream class=1\nstream class=2\n");
	expect_order(&source, true, "");
	text_source_release(&source);
}

static void test_gather__takes_streams_of_another_set(void **state)
{
	struct stream_set to = {0}, from = {0};

	(void)state;
	assert_int_equal(stream_set_take(&to, &from), 0);
	for (int i = 0; i < 40; i++)
		stream_set_add(i % 2 ? &to : &from)->class_id = (uint64_t)(40 - i);
	assert_int_equal(stream_set_take(&to, &from), 0);
	assert_int_equal(to.n_streams, 40);
	assert_int_equal(from.n_streams, 0);
	stream_set_sort(&to);
	for (uint64_t i = 0; i < 40; i++)
		assert_int_equal(to.streams[i]->class_id, i + 1);
	stream_set_release(&to);
	stream_set_release(&from);
}

/* 256 streams of random lengths against a sort of everything. */
#define N_STREAMS 256

struct key {
	uint64_t clock_ns;
	uint32_t stream, index;
};

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	if (a->clock_ns != b->clock_ns)
		return a->clock_ns < b->clock_ns ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void test_gather__agrees_with_a_sort_of_all_records(void **state)
{
	struct text_source source;
	struct key *keys = malloc(N_STREAMS * 400 * sizeof(*keys));
	size_t n = 0, k = 0;
	struct gather gather;
	const struct record *record;
	uint32_t stream, seed = 1;

	(void)state;
	assert_int_equal(text_source_init(&source), 0);
	for (uint32_t i = 0; i < N_STREAMS; i++) {
		struct event event = {.class = RECORD_STEP};

		source.stream = stream_set_add(&source.set);
		source.stream->instance_id = i;
		for (uint32_t index = 0; index < i * 7919 % 400; index++) {
			seed = seed * 1664525 + 1013904223;
			event.clock_ns += seed >> 28;
			keys[n++] = (struct key){event.clock_ns, i, index};
			assert_int_equal(decode_push(&source.decoder, source.stream, &event), 0);
		}
	}
	qsort(keys, n, sizeof(*keys), compare_keys);
	assert_int_equal(gather_init(&gather, &source.set, TABLE_HOST, true), 0);
	for (; gather_next(&gather, &record, &stream); k++) {
		assert_int_equal(record->clock_ns, keys[k].clock_ns);
		assert_int_equal(stream, keys[k].stream);
		assert_int_equal(record->index, keys[k].index);
	}
	assert_int_equal(k, n);
	gather_release(&gather);
	text_source_release(&source);
	free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gather__merges_by_clock_then_stream_then_index),
		cmocka_unit_test(
			test_gather__keeps_the_order_of_a_stream_whose_clock_runs_backwards),
		cmocka_unit_test(test_gather__has_nothing_to_say_of_nothing),
		cmocka_unit_test(test_gather__takes_streams_of_another_set),
		cmocka_unit_test(test_gather__agrees_with_a_sort_of_all_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
