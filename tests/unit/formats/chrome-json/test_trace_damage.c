// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_digest.h"

#define GOOD "{\"ph\":\"i\"}"

static void test_trace_damage__costs_the_bad_event_only(void **state)
{
	static const struct {
		const char *bad, *damage;
	} cases[] = {
		/* types */
		{"{\"ph\":1}", "|1/0@12 no ph of one byte"},
		{"{\"ph\":\"\"}", "|1/0@12 no ph of one byte"},
		{"{\"ph\":\"XX\"}", "|1/0@12 no ph of one byte"},
		{"{}", "|1/0@12 no ph of one byte"},
		{"{\"ph\":\"X\",\"name\":5}", "|1/0@12 name, cat or bp is no text"},
		{"{\"ph\":\"X\",\"cat\":[]}", "|1/0@12 name, cat or bp is no text"},
		{"{\"ph\":\"X\",\"pid\":{}}", "|1/0@12 pid, tid or id is neither text nor number"},
		{"{\"ph\":\"X\",\"tid\":false}",
	         "|1/0@12 pid, tid or id is neither text nor number"},
		{"{\"ph\":\"X\",\"ts\":[1]}", "|1/0@12 ts or dur is no time"},
		/* no object */
		{"5", "|1/0@12 no object"},
		{"\"text\"", "|1/0@12 no object"},
		{"[1,2]", "|1/0@12 no object"},
		{"[[],{}]", "|1/0@12 no object"},
		{"null", "|1/0@12 no object"},
		{"garbage", "|1/0@12 no object"},
		{"}", "|1/0@12 no object"},
		{"\"ph\":\"X\",\"ts\":1}", "|1/0@12 no object"},
		/* texts */
		{"{\"ph\":\"X\",\"name\":\"\\x41\"}", "|1/0@12 bad escape"},
		{"{\"ph\":\"X\",\"name\":\"\\u12g4\"}", "|1/0@12 bad escape"},
		{"{\"ph\":\"X\",\"args\":{\"\\x\":[]}}", "|1/0@12 bad escape"},
		{"{\"ph\":\"X\",\"args\":{\"a\":[\"\\'\"]}}", "|1/0@12 bad escape"},
		{"{\"ph\":\"X\",\"args\":{\"a\":[\"\n\"]}}",
	         "|1/0@12 a control byte in a nested text"},
		{"{\"ph\":\"X\",\"args\":{\"a\":{\"\t\":1}}}",
	         "|1/0@12 a control byte in a nested text"},
		/* numbers and words */
		{"{\"ph\":\"X\",\"args\":{\"a\":007}}", "|1/0@12 bad number"},
		{"{\"ph\":\"X\",\"args\":{\"a\":-}}", "|1/0@12 bad number"},
		{"{\"ph\":\"X\",\"args\":{\"a\":1.}}", "|1/0@12 bad number"},
		{"{\"ph\":\"X\",\"args\":{\"a\":1e}}", "|1/0@12 bad number"},
		{"{\"ph\":\"X\",\"args\":{\"a\":0x10}}", "|1/0@12 a comma or bracket is missing"},
		{"{\"ph\":\"X\",\"args\":{\"a\":nul}}", "|1/0@12 unknown word"},
		{"{\"ph\":\"X\",\"args\":{\"a\":None}}", "|1/0@12 unknown word"},
		{"{\"ph\":\"X\",\"args\":{\"a\":[NaN]}}",
	         "|1/0@12 NaN or Infinity in a nested value"},
		/* punctuation */
		{"{\"ph\":\"X\",\"ts\"}", "|1/0@12 a colon is missing"},
		{"{\"ph\":\"X\",\"ts\":}", "|1/0@12 a value is missing"},
		{"{\"ph\":\"X\" \"ts\":1}", "|1/0@12 a comma or bracket is missing"},
		{"{\"ph\":\"X\",ts:1}", "|1/0@12 a name is missing"},
		{"{'ph':'X'}", "|1/0@12 a name is missing"},
		{"{\"ph\":\"X\",\"args\":{\"a\":[1,]}}", "|1/0@12 a value is missing"},
		{"{\"ph\":\"X\",\"args\":{\"a\":[1}}", "|1/0@12 a comma or bracket is missing"},
		/* brackets and quotes that went missing */
		{"{\"ph\":\"X\",\"args\":{\"a\":{\"b\":1}", "|1/0@12 a name is missing"},
		{"{\"ph\":\"X\",\"args\":{\"a\":[1,2,\"ts\":3}",
	         "|1/0@12 a comma or bracket is missing"},
		{"{\"ph\":\"X\",\"name\":\"a}", "|1/0@12 a comma or bracket is missing"},
		{"{\"ph\":\"X\",\"name\":a\"}", "|1/0@12 a value is missing"},
		{"{\"ph\":\"X\",\"name\":\"a\"b\",\"ts\":1}",
	         "|1/0@12 a comma or bracket is missing"},
		{"{\"ph\":\"X\",\"na", "|1/0@12 a colon is missing"},
		{"{\"ph\":\"X\",\"args\":{\"x\":\"}]}\"", "|1/0@12 a name is missing"},
		/* what is nested in the bad one is no event */
		{"{\"ph\":5,\"args\":{\"a\":[{\"ph\":\"X\"},{\"ph\":\"X\"}]}}",
	         "|1/0@12 no ph of one byte"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[200], expected[200];
		size_t n = (size_t)snprintf(text, sizeof(text), "[%s,%s," GOOD "," GOOD "]", GOOD,
		                            cases[i].bad);

		snprintf(expected, sizeof(expected), "i;i;i;%s", cases[i].damage);
		for (size_t buffer_bytes = 0; buffer_bytes <= n; buffer_bytes++) {
			char *digest = digest_text(text, n, buffer_bytes);

			assert_string_equal(digest, expected);
			free(digest);
		}
	}
}

static void test_trace_damage__of_the_frame_is_told(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"[" GOOD "5" GOOD "]", "i;i;|1/0@11 no object"},
		{"[" GOOD ",5,{},7,8," GOOD "]", "i;i;|2/0@12 no object"},
		{"[" GOOD "],x", "i;|1/1@13 the events go on behind their end"},
		{"[" GOOD "]," GOOD "]", "i;i;|0/1@13 the events go on behind their end"},
		{"[" GOOD "][" GOOD "]", "i;i;|0/1@12 the events go on behind their end"},
		{"{\"traceEvents\":[" GOOD "]" GOOD "]}",
	         "i;i;|0/1@27 the events go on behind their end"},
		{"{\"traceEvents\":[" GOOD, "i;|cut"},
		{"{\"traceEvents\":[" GOOD "]", "i;|cut"},
		{"{\"traceEvents\":[" GOOD "],\"a\":1", "i;|0/1@28 cut|cut"},
		{"{\"traceEvents\":[" GOOD "],\"a\":tru,\"b\":[1],\"c\":2}",
	         "i;#b=`[1]`;#c=2;|0/1@28 unknown word"},
		{"{\"a\":{\"b\":[1}},\"c\":2,\"traceEvents\":[" GOOD "]}",
	         "#c=2;i;|0/1@1 a comma or bracket is missing"},
		{"{\"a\":\"\\x\",\"traceEvents\":[" GOOD "]}", "i;|0/1@1 bad escape"},
		{"{\"a\":\"b,\"traceEvents\":[" GOOD "],\"c\":1}",
	         "i;#c=1;|0/1@1 a comma or bracket is missing"},
		{"{\"a\":{\"b\":1,\"traceEvents\":[" GOOD "],\"c\":1", "i;|0/2@1 cut|cut"},
		{"{],\"traceEvents\":[" GOOD "]}", "i;|0/1@1 a name is missing"},
		{"{\"traceEvents\":[" GOOD "]}}", "i;|0/1@28 text behind the end"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = strlen(cases[i].text);

		for (size_t buffer_bytes = 0; buffer_bytes <= n; buffer_bytes++) {
			char *digest = digest_text(cases[i].text, n, buffer_bytes);

			assert_string_equal(digest, cases[i].expected);
			free(digest);
		}
	}
}

static void test_trace_damage__no_text_holds_a_nul(void **state)
{
	static const char text[] = "[{\"ph\":\"X\",\"name\":\"a\0bcdefghi\"}," GOOD "]";
	char *digest = digest_text(text, sizeof(text) - 1, 0);

	(void)state;
	assert_string_equal(digest, "i;|1/0@1 a NUL in a text");
	free(digest);
}

/* Nor if the event before had the same one in a key. */
static void test_trace_damage__no_key_holds_a_nul(void **state)
{
#define BAD "{\"ph\":\"X\",\"a\0b\":1},"
	static const char text[] = "[" BAD BAD GOOD "," GOOD "," GOOD "," GOOD "]";
	char *digest = digest_text(text, sizeof(text) - 1, 0);

	(void)state;
	assert_string_equal(digest, "i;i;i;i;|2/0@1 a NUL in a text");
	free(digest);
}

/* Five events that show all there is, and how many stand in a prefix. */
static const char *const five[] = {
	"{\"ph\":\"X\",\"name\":\"a \\u00e9 \\\\\",\"ts\":12.345,\"dur\":1e1,\"pid\":0}",
	"{\"attr\":{\"TS1\":\"0xc06cc211\",\"x\":-1.5},\"ph\":\"B\",\"tid\":15514734831341844875}",
	"{\"ph\":\"i\",\"args\":{\"list\":[1,[2,{\"a\":null}]],\"t\":true},\"s\":\"g\"}",
	"{ \"ph\" : \"M\" , \"name\" : \"process_name\" , \"args\" : { \"name\" : \"AIU 0\" } }",
	"{\"ph\":\"E\",\"ts\":\"13\"}",
};

#define N_FIVE (sizeof(five) / sizeof(five[0]))

static size_t make_five(char *text, size_t *ends)
{
	size_t n = 0;

	for (size_t i = 0; i < N_FIVE; i++) {
		text[n++] = i ? ',' : '[';
		memcpy(text + n, five[i], strlen(five[i]));
		n += strlen(five[i]);
		ends[i] = n;
	}
	text[n++] = ']';
	return n;
}

struct count {
	int code;
	size_t n_good;
	struct trace_damage damage;
};

/* The bytes are copied, so that reading behind them is seen. */
static struct count count_events(const char *bytes, size_t n_bytes)
{
	char *copy = malloc(n_bytes + 1);
	struct text_bytes text = {.bytes = copy, .n_bytes = n_bytes};
	const struct trace_source source = text_bytes_source(&text);
	struct trace_events *events = trace_events_open_source(&source, "input", 32, NULL);
	struct trace_event event;
	struct count count = {0};

	assert_non_null(events);
	memcpy(copy, bytes, n_bytes);
	while ((count.code = trace_events_next(events, &event, NULL)) > 0)
		count.n_good++;
	count.damage = *trace_events_damage(events);
	trace_events_close(events);
	free(copy);
	return count;
}

static void test_trace_damage__every_prefix_keeps_its_whole_events(void **state)
{
	size_t ends[N_FIVE], n_whole = 0;
	char text[600];
	size_t n = make_five(text, ends);

	(void)state;
	for (size_t length = 2; length < n; length++) {
		struct count count = count_events(text, length);
		bool is_within;

		while (n_whole < N_FIVE && ends[n_whole] <= length)
			n_whole++;
		is_within = n_whole < N_FIVE && length > (n_whole ? ends[n_whole - 1] + 1 : 1);
		assert_int_equal(count.n_good, n_whole);
		assert_int_equal(count.damage.n_events, is_within);
		assert_int_equal(count.damage.is_cut, is_within);
		if (is_within)
			assert_int_equal(count.damage.first_bytes,
			                 n_whole ? ends[n_whole - 1] + 1 : 1);
		/* before the first ph nothing tells that this is a trace */
		assert_true(count.code == 0 || (n_whole == 0 && count.code == FLEXTRACE_E_INPUT));
	}
}

static void test_trace_damage__every_flipped_byte_costs_one_event(void **state)
{
	size_t ends[N_FIVE];
	char text[600];
	size_t n = make_five(text, ends);

	(void)state;
	for (size_t at = 1; at < n; at++) {
		char right = text[at];

		for (int wrong = 0; wrong < 256; wrong++) {
			struct count count;

			text[at] = (char)wrong;
			count = count_events(text, n);
			assert_int_equal(count.code, 0);
			assert_in_range(count.n_good, N_FIVE - 1, N_FIVE);
			/* a bracket that closes too early leaves two parts */
			if (count.n_good < N_FIVE)
				assert_in_range(count.damage.n_events, 1, 2);
		}
		text[at] = right;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_damage__costs_the_bad_event_only),
		cmocka_unit_test(test_trace_damage__of_the_frame_is_told),
		cmocka_unit_test(test_trace_damage__no_text_holds_a_nul),
		cmocka_unit_test(test_trace_damage__no_key_holds_a_nul),
		cmocka_unit_test(test_trace_damage__every_prefix_keeps_its_whole_events),
		cmocka_unit_test(test_trace_damage__every_flipped_byte_costs_one_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
