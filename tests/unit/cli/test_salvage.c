/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken out of a packet in which threads died, of what LTTng says of its events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/ring/layout.h"
#include "cli/ring/salvage.h"

#define FIRST    84
#define ROOM     4096
#define PID      100
#define BEGIN_NS UINT64_C(0x7fffffff0)
#define EVENT(name, id, fields)                                                                   \
	"\nevent {\n\tname = \"" name "\";\n\tid = " id ";\n\tstream_id = 1;\n\tloglevel = 13;\n" \
	"\tfields := struct {\n" fields "\t};\n};\n"
#define INTEGER(bits, name)          \
	"\t\tinteger { size = " bits \
	"; align = 8; signed = 0; encoding = none; base = 10; } " name ";\n"

static const char description[] = "/* CTF 1.8 */\n" EVENT(
	"f:pair", "1",
	"\t\tstring _name;\n"
	"\t\tfloating_point { exp_dig = 11; mant_dig = 53; align = 8; } "
	"_value;\n") EVENT("f:words", "2",
                           INTEGER("32", "__words_length")
                                   INTEGER("64", "_words[ __words_length ]"))
	EVENT("f:array", "3", INTEGER("32", "_ts[5]"))
		EVENT("f:odd", "4", "\t\tinteger { size = 3; align = 1; signed = 0; } _bits;\n");

struct packet {
	unsigned char memory[ROOM], before[ROOM];
	struct layout layout;
	uint64_t n;
	uint64_t time_ns;
	bool was_zero;
};

static int set_up(void **state)
{
	static struct packet packet;

	memset(&packet, 0, sizeof(packet));
	packet.n = FIRST;
	packet.time_ns = BEGIN_NS;
	assert_true(layout_read(description, &packet.layout));
	*state = &packet;
	return 0;
}

static int tear_down(void **state)
{
	struct packet *packet = *state;

	layout_release(&packet->layout);
	return 0;
}

static void put(struct packet *packet, const void *bytes, size_t n)
{
	memcpy(packet->memory + packet->n, bytes, n);
	packet->n += n;
}

/* What a thread writes first. */
static void put_head(struct packet *packet, uint16_t id, int32_t tid)
{
	uint32_t time_ns;
	int32_t pid = PID;

	packet->time_ns += 3;
	time_ns = (uint32_t)packet->time_ns;
	put(packet, &id, sizeof(id));
	put(packet, &time_ns, sizeof(time_ns));
	put(packet, &pid, sizeof(pid));
	put(packet, &tid, sizeof(tid));
}

/* A record of 25 bytes. */
static void put_pair(struct packet *packet, int32_t tid, double value)
{
	put_head(packet, 1, tid);
	put(packet, "ab", 3);
	put(packet, &value, sizeof(value));
}
#define PAIR_BYTES 25

/* Its thread wrote the time, and died: what is behind that stood there a round before. */
static void put_old(struct packet *packet, int32_t tid, double value)
{
	put_pair(packet, tid, value);
	memcpy(packet->before + packet->n - PAIR_BYTES + 6,
	       packet->memory + packet->n - PAIR_BYTES + 6, PAIR_BYTES - 6);
}

/* So many bytes that nobody wrote. */
static void leave(struct packet *packet, uint64_t n)
{
	packet->n += n;
}

static uint64_t salvage_at(struct packet *packet, uint64_t n_sure, uint64_t n_missing)
{
	const struct salvage salvage = {.memory = packet->memory,
	                                .layout = &packet->layout,
	                                .stream_id = 1,
	                                .begin_ns = BEGIN_NS,
	                                .end_ns = packet->time_ns + 1000,
	                                .first = FIRST,
	                                .n_sure = n_sure,
	                                .n_bytes = packet->n,
	                                .n_room = ROOM,
	                                .n_missing = n_missing,
	                                .was_zero = packet->was_zero,
	                                .before = packet->before,
	                                .n_before = ROOM};

	return salvage_records(&salvage);
}

/* Pairs of which only values tell which they are. */
static void expect_values(const struct packet *packet, uint64_t end, const char *values)
{
	size_t n = strlen(values);

	assert_int_equal(end, FIRST + n * PAIR_BYTES);
	for (size_t i = 0; i < n; i++) {
		double value;

		memcpy(&value, packet->memory + FIRST + i * PAIR_BYTES + PAIR_BYTES - sizeof(value),
		       sizeof(value));
		assert_int_equal((int)value, values[i] - '0');
	}
}

static void test_salvage__takes_out_what_was_not_begun(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	put_pair(packet, 2, 2);
	leave(packet, PAIR_BYTES);
	put_pair(packet, 2, 3);
	put_pair(packet, 2, 4);
	expect_values(packet, salvage_at(packet, FIRST + 2 * PAIR_BYTES, PAIR_BYTES), "1234");
}

/* LTTng's counter of what is committed in order may be far behind. */
static void test_salvage__keeps_what_is_in_front_of_the_hole(void **state)
{
	struct packet *packet = *state;

	for (int i = 1; i < 8; i++)
		put_pair(packet, 1 + i % 2, i);
	leave(packet, 40);
	put_pair(packet, 2, 8);
	put_pair(packet, 2, 9);
	expect_values(packet, salvage_at(packet, FIRST, 40), "123456789");
}

static void test_salvage__takes_out_several_holes(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	leave(packet, 30);
	put_pair(packet, 2, 2);
	put_pair(packet, 2, 3);
	leave(packet, 50);
	put_pair(packet, 3, 4);
	put_pair(packet, 3, 5);
	leave(packet, 20);
	expect_values(packet, salvage_at(packet, FIRST, 100), "12345");
}

static void test_salvage__takes_out_a_head_without_the_rest(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	put_head(packet, 1, 2);
	leave(packet, PAIR_BYTES - 14);
	put_pair(packet, 1, 3);
	put_pair(packet, 1, 4);
	expect_values(packet, salvage_at(packet, FIRST + PAIR_BYTES, PAIR_BYTES), "134");
}

/* What stood there in an earlier round: it looks whole. */
static void test_salvage__takes_out_what_only_looks_whole(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	put_pair(packet, 2, 2);
	put_old(packet, 1, 3);
	put_head(packet, 1, 1);
	put(packet, "longer", 7);
	put(packet, (double[]){4}, sizeof(double));
	expect_values(packet, salvage_at(packet, FIRST + PAIR_BYTES, PAIR_BYTES) - 29, "12");
}

/* A hole of the same length behind a whole record explains all that is missing, but is not all. */
static void test_salvage__takes_out_what_only_looks_whole_beside_a_hole(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 2, 1);
	put_old(packet, 1, 2);
	put_pair(packet, 2, 3);
	put_head(packet, 1, 2);
	put(packet, "abcdef", 7);
	put(packet, (double[]){4}, sizeof(double));
	put_pair(packet, 2, 5);
	leave(packet, PAIR_BYTES);
	assert_int_equal(salvage_at(packet, FIRST + PAIR_BYTES, 2 * PAIR_BYTES),
	                 FIRST + 3 * PAIR_BYTES + 29);
}

/* Not sure which of two it is: neither is shown. */
static void test_salvage__takes_out_all_that_may_be_it(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	put_pair(packet, 1, 2);
	put_old(packet, 2, 3);
	put_old(packet, 3, 4);
	put_pair(packet, 1, 5);
	expect_values(packet, salvage_at(packet, FIRST + PAIR_BYTES, PAIR_BYTES), "125");
}

/* Thread 3 wrote the time of its record, and died. What is behind it is of an earlier round, when
 * thread 1 wrote there, which goes on now. */
static void test_salvage__takes_out_what_looks_like_another_threads(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 3, 1);
	put_pair(packet, 1, 2);
	put_old(packet, 1, 3);
	put_pair(packet, 1, 4);
	put_pair(packet, 1, 5);
	expect_values(packet, salvage_at(packet, FIRST + 2 * PAIR_BYTES, PAIR_BYTES), "1245");
}

static void test_salvage__ends_a_packet_whose_end_nobody_told(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	put_pair(packet, 2, 2);
	packet->n = ROOM;
	expect_values(packet, salvage_at(packet, FIRST, ROOM - FIRST - 2 * PAIR_BYTES), "12");
}

/* Old bytes behind a hole: their time does not fit. */
static void test_salvage__keeps_nothing_of_an_earlier_round(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	packet->time_ns -= 1000;
	put_pair(packet, 2, 2);
	put_pair(packet, 2, 3);
	packet->time_ns += 1000;
	put_pair(packet, 1, 4);
	put_pair(packet, 1, 5);
	expect_values(packet, salvage_at(packet, FIRST + PAIR_BYTES, 2 * PAIR_BYTES), "145");
}

static void test_salvage__measures_all_kinds_of_fields(void **state)
{
	struct packet *packet = *state;
	const uint64_t words[3] = {1, 2, 3};
	const uint32_t n_words = 3, ts[5] = {0};
	struct layout_size size;
	uint64_t n;

	put_head(packet, 2, 1);
	put(packet, &n_words, sizeof(n_words));
	put(packet, words, sizeof(words));
	put_head(packet, 3, 1);
	put(packet, ts, sizeof(ts));
	n = packet->n;
	leave(packet, 10);
	assert_int_equal(salvage_at(packet, FIRST, 10), n);
	assert_false(layout_measure(&packet->layout, 1, 4, packet->memory, ROOM, &size));
	assert_false(layout_measure(&packet->layout, 0, 1, packet->memory, ROOM, &size));
}

/* A name that does not end, a number of words that does not fit. */
static void test_salvage__measures_nothing_beyond_the_end(void **state)
{
	struct packet *packet = *state;
	uint32_t n_words = UINT32_MAX;
	struct layout_size size;

	memset(packet->memory, 'x', ROOM);
	assert_false(layout_measure(&packet->layout, 1, 1, packet->memory, ROOM, &size));
	memcpy(packet->memory, &n_words, sizeof(n_words));
	assert_false(layout_measure(&packet->layout, 1, 2, packet->memory, ROOM, &size));
	assert_false(layout_measure(&packet->layout, 1, 2, packet->memory, 3, &size));
}

/* Three threads: one left a hole, one wrote behind it, the last one to commit stands between. */
static void test_salvage__takes_out_a_hole_in_what_seemed_sure(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	leave(packet, PAIR_BYTES);
	put_pair(packet, 2, 2);
	put_pair(packet, 3, 3);
	expect_values(packet, salvage_at(packet, FIRST + 3 * PAIR_BYTES, PAIR_BYTES), "123");
}

/* Thread 3 was in the middle of a record when another one got its processor, before it had written
 * who it is: what it wrote last stands in front of it. Thread 1 goes on in the same buffer. */
static void test_salvage__takes_out_what_looks_like_another_threads_behind_its_own(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	put_pair(packet, 3, 2);
	put_old(packet, 1, 9);
	for (int i = 3; i < 7; i++)
		put_pair(packet, 1, i);
	expect_values(packet, salvage_at(packet, FIRST, PAIR_BYTES), "123456");
}

/* A name of an earlier round does not tell whose the hole is. */
static void test_salvage__takes_out_what_looks_whole_beside_a_head_without_the_rest(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	put_pair(packet, 1, 2);
	put_old(packet, 2, 9);
	put_head(packet, 1, 2);
	memset(packet->memory + packet->n, 'x', PAIR_BYTES - 14);
	memset(packet->before + packet->n, 'x', PAIR_BYTES - 14);
	leave(packet, PAIR_BYTES - 14);
	put_pair(packet, 1, 3);
	put_pair(packet, 1, 4);
	expect_values(packet, salvage_at(packet, FIRST + PAIR_BYTES, 2 * PAIR_BYTES), "1234");
}

/* Three threads: the hole in what seemed sure looks whole. */
static void test_salvage__takes_out_what_only_looks_whole_in_what_seemed_sure(void **state)
{
	struct packet *packet = *state;

	packet->was_zero = true;
	put_pair(packet, 1, 1);
	put_pair(packet, 1, 0);
	put_pair(packet, 2, 2);
	put_pair(packet, 3, 3);
	expect_values(packet, salvage_at(packet, FIRST + 3 * PAIR_BYTES, PAIR_BYTES), "123");
}

/* Where zeros were, an end that is none was written: only what ends in zeros may be unfinished. */
static void test_salvage__keeps_what_was_written_where_zeros_were(void **state)
{
	struct packet *packet = *state;

	packet->was_zero = true;
	put_pair(packet, 1, 1);
	put_pair(packet, 2, 2);
	put_pair(packet, 1, 3);
	put_pair(packet, 2, 4);
	expect_values(packet, salvage_at(packet, FIRST, PAIR_BYTES), "1234");
}

/* A thread wrote one record between what two left. */
static void test_salvage__keeps_what_is_between_two_holes(void **state)
{
	struct packet *packet = *state;

	packet->was_zero = true;
	put_pair(packet, 1, 1);
	put_pair(packet, 2, 2);
	leave(packet, PAIR_BYTES);
	put_pair(packet, 2, 3);
	leave(packet, PAIR_BYTES);
	put_pair(packet, 3, 4);
	leave(packet, PAIR_BYTES);
	expect_values(packet, salvage_at(packet, FIRST + 2 * PAIR_BYTES, 3 * PAIR_BYTES), "1234");
}

static void test_salvage__takes_out_zeros_that_nobody_wrote(void **state)
{
	struct packet *packet = *state;

	packet->was_zero = true;
	put_pair(packet, 1, 1);
	put_pair(packet, 2, 0);
	put_pair(packet, 1, 3);
	put_pair(packet, 1, 4);
	expect_values(packet, salvage_at(packet, FIRST, PAIR_BYTES), "134");
}

/* A signal handler interrupted it, told what it knew, and ended the program. */
static void test_salvage__takes_out_what_a_last_word_stands_behind(void **state)
{
	struct packet *packet = *state;

	packet->was_zero = true;
	for (int i = 1; i < 4; i++)
		put_pair(packet, 1, i);
	put_pair(packet, 1, 0);
	put_pair(packet, 1, 5);
	put_pair(packet, 1, 6);
	expect_values(packet, salvage_at(packet, FIRST, PAIR_BYTES), "12356");
}

/* Only the number of words was written. */
static void test_salvage__takes_out_words_that_nobody_wrote(void **state)
{
	struct packet *packet = *state;
	const uint32_t n_words = 3;

	packet->was_zero = true;
	put_pair(packet, 1, 1);
	put_head(packet, 2, 2);
	put(packet, &n_words, sizeof(n_words));
	leave(packet, n_words * sizeof(uint64_t));
	put_pair(packet, 1, 2);
	expect_values(packet, salvage_at(packet, FIRST, 18 + n_words * sizeof(uint64_t)), "12");
}

/* More threads than it looks after: the packet ends there, and nothing of it is wrong. */
static void test_salvage__ends_at_more_threads_than_it_tells_apart(void **state)
{
	enum { N = 300 };
	static unsigned char memory[FIRST + N * PAIR_BYTES];
	struct packet *packet = *state;
	struct salvage salvage = {.memory = memory,
	                          .layout = &packet->layout,
	                          .stream_id = 1,
	                          .begin_ns = BEGIN_NS,
	                          .first = FIRST,
	                          .n_sure = FIRST,
	                          .n_bytes = sizeof(memory),
	                          .n_room = sizeof(memory),
	                          .n_missing = PAIR_BYTES};

	for (int i = 0; i < N; i++) {
		packet->n = FIRST;
		put_pair(packet, i + 1, i);
		memcpy(memory + FIRST + i * PAIR_BYTES, packet->memory + FIRST, PAIR_BYTES);
	}
	salvage.end_ns = packet->time_ns;
	assert_int_equal(salvage_records(&salvage), FIRST);
}

/* The only record of a packet is longer than the header, which was committed or was not. */
static void test_salvage__takes_out_all_there_is_with_and_without_the_header(void **state)
{
	struct packet *packet = *state;
	const uint32_t n_words = 20;
	uint64_t n;

	put_head(packet, 2, 1);
	put(packet, &n_words, sizeof(n_words));
	leave(packet, n_words * sizeof(uint64_t));
	n = packet->n - FIRST;
	assert_int_equal(salvage_at(packet, FIRST, n), FIRST);
	assert_int_equal(salvage_at(packet, FIRST, n + FIRST), FIRST);
	assert_int_equal(salvage_at(packet, 0, n + FIRST), FIRST);
}

/* What is not understood in front of the hole ends it there. */
static void test_salvage__ends_at_the_sure_part_of_what_it_does_not_know(void **state)
{
	struct packet *packet = *state;

	put_pair(packet, 1, 1);
	put_head(packet, 9, 1);
	put_pair(packet, 1, 1);
	leave(packet, 10);
	assert_int_equal(salvage_at(packet, FIRST + 2 * PAIR_BYTES, 10), FIRST + 2 * PAIR_BYTES);
}

/* Any bytes: the end is in the packet, and it ends. */
static void test_salvage__survives_any_bytes(void **state)
{
	struct packet *packet = *state;
	uint32_t random = 1;

	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < ROOM; i++) {
			random = random * 1664525 + 1013904223;
			packet->memory[i] = (unsigned char)(random >> 24 & (round % 2 ? 3 : 255));
		}
		packet->n = ROOM - random % 100;
		assert_true(salvage_at(packet, FIRST + random % 50, random % 5000) <= packet->n);
	}
}

static void test_layout__leaves_out_what_is_not_yet_written(void **state)
{
	struct layout layout;
	char text[sizeof(description)];
	struct layout_size size;

	(void)state;
	for (size_t length = 0; length < sizeof(text); length++) {
		memcpy(text, description, length);
		text[length] = '\0';
		assert_true(layout_read(text, &layout));
		layout_measure(&layout, 1, 1, (const unsigned char *)"a", 2, &size);
		layout_release(&layout);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_salvage__takes_out_what_was_not_begun),
		TEST(test_salvage__keeps_what_is_in_front_of_the_hole),
		TEST(test_salvage__takes_out_several_holes),
		TEST(test_salvage__takes_out_a_head_without_the_rest),
		TEST(test_salvage__takes_out_what_only_looks_whole),
		TEST(test_salvage__takes_out_what_only_looks_whole_beside_a_hole),
		TEST(test_salvage__takes_out_all_that_may_be_it),
		TEST(test_salvage__takes_out_what_looks_like_another_threads),
		TEST(test_salvage__ends_a_packet_whose_end_nobody_told),
		TEST(test_salvage__keeps_nothing_of_an_earlier_round),
		TEST(test_salvage__measures_all_kinds_of_fields),
		TEST(test_salvage__measures_nothing_beyond_the_end),
		TEST(test_salvage__takes_out_a_hole_in_what_seemed_sure),
		TEST(test_salvage__takes_out_what_looks_like_another_threads_behind_its_own),
		TEST(test_salvage__takes_out_what_looks_whole_beside_a_head_without_the_rest),
		TEST(test_salvage__takes_out_what_only_looks_whole_in_what_seemed_sure),
		TEST(test_salvage__keeps_what_was_written_where_zeros_were),
		TEST(test_salvage__keeps_what_is_between_two_holes),
		TEST(test_salvage__takes_out_zeros_that_nobody_wrote),
		TEST(test_salvage__takes_out_what_a_last_word_stands_behind),
		TEST(test_salvage__takes_out_words_that_nobody_wrote),
		TEST(test_salvage__ends_at_more_threads_than_it_tells_apart),
		TEST(test_salvage__takes_out_all_there_is_with_and_without_the_header),
		TEST(test_salvage__ends_at_the_sure_part_of_what_it_does_not_know),
		TEST(test_salvage__survives_any_bytes),
		cmocka_unit_test(test_layout__leaves_out_what_is_not_yet_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
