// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "trace_digest.h"

struct text_case {
	const char *text, *expected;
};

/* With buffers of all small sizes, so that the text is split everywhere. */
static void expect(const char *text, const char *expected)
{
	size_t n = strlen(text);

	for (size_t buffer_bytes = 0; buffer_bytes <= n + 1; buffer_bytes++) {
		char *digest = digest_text(text, n, buffer_bytes);

		assert_string_equal(digest, expected);
		free(digest);
	}
}

static void expect_all(const struct text_case *cases, size_t n_cases)
{
	for (size_t i = 0; i < n_cases; i++)
		expect(cases[i].text, cases[i].expected);
}

#define EXPECT_ALL(cases) expect_all(cases, sizeof(cases) / sizeof((cases)[0]))

static void test_trace_events__reads_arrays_and_objects(void **state)
{
	static const struct text_case cases[] = {
		{"[]", ""},
		{" [ ] ", ""},
		{"[{\"ph\":\"X\"}]", "X;"},
		{"\xef\xbb\xbf[{\"ph\":\"X\"}]\n", "X;"},
		{"[{\"ph\":\"X\"},{\"ph\":\"i\"}]", "X;i;"},
		{"[{\"ph\":\"X\"},\r\n\t{\"ph\":\"i\"},\n]", "X;i;"},
		{"[{\"ph\":\"X\"}{\"ph\":\"i\"},,{\"ph\":\"M\"}", "X;i;M;"},
		{"[{\"ph\":\"X\"},", "X;"},
		{"[", ""},
		{"{\"traceEvents\":[]}", ""},
		{"{ \"traceEvents\" : [ {\"ph\":\"X\"} , ] , }", "X;"},
		{"{\"a\":1,\"traceEvents\":[{\"ph\":\"X\"}],\"b\":[2,{}],\"c\":\"d\\n\"}",
	         "#a=1;X;#b=`[2,{}]`;#c=<d\n>;"},
		{"{\"traceEvents\":[{\"ph\":\"X\"}],\"b\":5}", "X;#b=5;"},
		{"{\"traceEvents\":[{\"ph\":\"X\"}],\"b\":null,\"c\":true}", "X;#b=null;#c=true;"},
		{"{\"traceEvents\":[{\"ph\":\"X\"}],\"traceEvents\":[{\"ph\":\"i\"}]}", "X;i;"},
	};

	(void)state;
	EXPECT_ALL(cases);
}

static void test_trace_events__tells_what_is_no_trace(void **state)
{
	static const struct text_case cases[] = {
		{"", "!No trace, it is empty: file=input"},
		{" \n", "!No trace, it is empty: file=input"},
		{"\x7f"
	         "ELF",
	         "!No trace, it is no JSON array or object: file=input, byte=0x7f"},
		{"\xff\xfe[", "!No trace, it is no JSON array or object: file=input, byte=0xff"},
		{"5", "!No trace, it is no JSON array or object: file=input, byte=0x35"},
		{"{}", "!No trace, it has no array traceEvents: file=input"},
		{"{\"a\":1}", "#a=1;!No trace, it has no array traceEvents: file=input"},
		{"{\"traceEvents\":5}",
	         "#traceEvents=5;!No trace, it has no array traceEvents: file=input"},
		{"[1,2,3]",
	         "!No trace, nothing in it is an event: file=input, elements=1, first=no object"},
		{"[{\"a\":1},{\"b\":2}]", "!No trace, nothing in it is an event: file=input, "
	                                  "elements=2, first=no ph of one byte"},
		{"[{\"na",
	         "!No trace, nothing in it is an event: file=input, elements=1, first=cut"},
	};

	(void)state;
	EXPECT_ALL(cases);
}

static void test_trace_events__knows_the_members_of_an_event(void **state)
{
	static const struct text_case cases[] = {
		{"[{\"ph\":\"X\",\"name\":\"n\",\"cat\":\"c\",\"bp\":\"e\",\"pid\":1,\"tid\":"
	         "15514734831341844875,\"id\":\"0x1\",\"ts\":1475000720166.077,\"dur\":0.5}]",
	         "X:n cat=<c> bp=<e> pid=1 tid=15514734831341844875 id=<0x1> ts=1475000720166077 "
	         "dur=500;"},
		{"[{\"ph\":\"X\",\"pid\":\"Spans\",\"tid\":\"stream 7\",\"id\":7}]",
	         "X pid=<Spans> tid=<stream 7> id=7;"},
		{"[{\"name\":null,\"ph\":\"M\",\"cat\":null,\"ts\":null,\"pid\":null,\"args\":null}"
	         "]",
	         "M;"},
		{"[{\"name\":\"\",\"ph\":\"M\"}]", "M:;"},
		{"[{\"ph\":\"X\",\"s\":\"g\",\"tts\":1,\"stack\":[\"a\"],\"x\":null}]",
	         "X .s=<g> .tts=1 .stack=`[\"a\"]` .x=null;"},
		{"[{\"ph\":\"X\",\"args\":\"text\",\"attr\":[1]}]", "X .args=<text> .attr=`[1]`;"},
		{"[{\"\\u0070h\":\"\\u0058\",\"\\u0061\\u0072\\u0067\\u0073\":{\"\\u0061\":1}}]",
	         "X a=1;"},
		{"[{\"ph\":\"X\",\"ph\":\"i\",\"ts\":1,\"ts\":2}]", "i ts=2000;"},
		{"[{\"ph\":\"X\",\"phh\":1,\"tss\":2,\"n\":3,\"\":4,\"argss\":5}]",
	         "X .phh=1 .tss=2 .n=3 .=4 .argss=5;"},
		{"[{\"ph\":\"\xe9\"}]", "\xe9;"},
	};

	(void)state;
	EXPECT_ALL(cases);
}

/* A file's events are much alike, but need not be. */
static void test_trace_events__does_not_mix_up_events_that_are_alike(void **state)
{
	static const struct text_case cases[] = {
		{"[{\"ph\":\"X\",\"args\":{\"TS1\":1,\"TS2\":2},\"ts\":1},"
	         "{\"ph\":\"X\",\"args\":{\"TS1\":3,\"TS22\":4},\"ts\":2},"
	         "{\"ph\":\"X\",\"args\":{\"TS1\":5,\"TS2\":6},\"tss\":3}]",
	         "X ts=1000 TS1=1 TS2=2;X ts=2000 TS1=3 TS22=4;X TS1=5 TS2=6 .tss=3;"},
		{"[{\"ph\":\"X\",\"tid\" : 1},{\"ph\":\"X\",\"tid\":2},{\"ph\" :\"X\",\"tid\":3}]",
	         "X tid=1;X tid=2;X tid=3;"},
		{"[{\"ph\":\"X\",\"args\":{\"ts\":1}},{\"ph\":\"X\",\"a\":{\"ts\":1},\"ts\":2},"
	         "{\"ph\":\"X\",\"args\":{\"ts\":3}},{\"ph\":\"X\",\"args\":null,\"ts\":4}]",
	         "X ts=1;X ts=2000 .a=`{\"ts\":1}`;X ts=3;X ts=4000;"},
		{"[{\"ph\":\"X\",\"\\u0074s\":1},{\"ph\":\"X\",\"\\u0074s\":2},{\"ph\":\"X\","
	         "\"ts\":3}]",
	         "X ts=1000;X ts=2000;X ts=3000;"},
		{"[{\"ph\":\"X\",\"a key of 13 by\":1,\"twelve bytes\":2},"
	         "{\"ph\":\"X\",\"a key of 13 bz\":1,\"twelve bytes\":2}]",
	         "X .a key of 13 by=1 .twelve bytes=2;X .a key of 13 bz=1 .twelve bytes=2;"},
	};

	(void)state;
	EXPECT_ALL(cases);
}

/* What the reader makes of one event behind another of which there were two, without offsets. */
static char *digest_behind(const char *before, const char *event)
{
	static const char space[] = "                                        ";
	size_t n = 2 * strlen(before) + strlen(event) + 4 * sizeof(space) + 32;
	char *text = malloc(n), *digest, *at, *end;

	assert_non_null(text);
	n = (size_t)(*before ? snprintf(text, n, "[%s%s,%s%s,%s%s,{\"ph\":\"i\"}]", before, space,
	                                before, space, event, space)
	                     : snprintf(text, n, "[%s%s,{\"ph\":\"i\"}]", event, space));
	digest = digest_text(text, n, 0);
	free(text);
	for (at = strchr(digest, '@'); at; at = strchr(at, '@')) {
		for (end = at + 1; isdigit((unsigned char)*end);)
			end++;
		memmove(at, end, strlen(end) + 1);
	}
	return digest;
}

/* An event is what it is, whatever stood before it. */
static void test_trace_events__do_not_depend_on_those_before(void **state)
{
	static const char *const events[] = {
		"{\"ph\":\"X\",\"args\":{\"TS1\":\"0x1\",\"TS2\":2},\"ts\":1.5}",
		"{\"ph\":\"X\",\"args\":{\"TS1\":\"0x1\",\"TS2\":2,},\"ts\":1.5,}",
		"{,\"ph\":\"X\",\"args\":{\"TS1\":\"0x1\"}}",
		"{\"ph\":\"X\",\"args\":{,\"TS1\":\"0x1\"}}",
		"{\"ph\":\"X\",\"args\":{\"TS1\":\"0x1\"\"TS2\":2}}",
		"{\"ph\":\"X\",\"args\":{},\"TS1\":\"0x1\",\"TS2\":2,\"ts\":1.5}",
		"{\"ph\":\"X\",\"args\":{},\"args\":{\"TS1\":1},\"ts\":01}",
		"{\"ph\":\"X\",\"args\":null,\"TS1\":-1,\"ts\":1e3}",
		"{\"ph\":\"X\",\"args\":{\"TS1\":\"\\u0030\",\"TS2\":[2]},\"ts\":1.}",
		"{\"ph\":\"X\",\"args\":{\"TS1\":{\"TS2\":2}},\"ts\":.5}",
		"{\"ph\":\"X\",\"args\":{\"TS1\":true,\"TS2\":+2},\"ts\":1}",
		"{\"ph\": \"X\", \"args\": {\"TS1\": \"0x1\", \"TS2\": 2 }, \"ts\": 1.5 }",
		"{\"ph\":\"X\",\"args\":\"TS1\",\"attr\":{\"TS2\":2},\"ts\":1.5}",
		"{\"ph\":\"X\",\"a\001b\":1,\"\\u0061\":2}",
		"{\"args\":{\"TS1\":1,\"TS2\":2,\"TS3\":3,\"TS4\":4},\"ts\":1,\"ph\":\"X\"}",
		"{\"args\":{\"TS1\":1,\"TS2\":2,\"TS3\":3,\"TS4\":4}},\"ts\":1,\"ph\":\"X\"}",
		"{\"ph\":\"X\",\"dur\":12345678901234567890.123,\"tid\":1,\"pid\":\"1",
	};
	const size_t n = sizeof(events) / sizeof(events[0]);

	(void)state;
	for (size_t i = 0; i < n * n; i++) {
		char *before = digest_behind("", events[i / n]), *behind, *alone;

		if (strchr(before, '|')) { /* not a good one */
			free(before);
			continue;
		}
		behind = digest_behind(events[i / n], events[i % n]);
		alone = digest_behind("", events[i % n]);
		before[strlen(before) - 2] = '\0'; /* without the one behind all */
		assert_memory_equal(behind, before, strlen(before));
		assert_memory_equal(behind + strlen(before), before, strlen(before));
		assert_string_equal(behind + 2 * strlen(before), alone);
		free(before);
		free(behind);
		free(alone);
	}
}

static void test_trace_events__keeps_arguments_as_they_are(void **state)
{
	static const struct text_case cases[] = {
		{"[{\"ph\":\"X\",\"args\":{}}]", "X;"},
		{"[{\"ph\":\"X\",\"args\":{\"TS1\":\"0xc06cc211\",\"n\":-1.50e+3,\"t\":true}}]",
	         "X TS1=<0xc06cc211> n=-1.50e+3 t=true;"},
		{"[{\"attr\":{\"a\":1},\"ph\":\"X\",\"args\":{\"a\":2,}}]", "X a=1 a=2;"},
		{"[{\"ph\":\"X\",\"args\":{\"cycles_ts\":[1, 2,\n3],\"o\":{\"a\":{\"b\":[]}}}}]",
	         "X cycles_ts=`[1, 2,\n3]` o=`{\"a\":{\"b\":[]}}`;"},
		{"[{\"ph\":\"X\",\"args\":{\"ph\":\"i\",\"args\":{\"x\":1},\"name\":\"n\"}}]",
	         "X ph=<i> args=`{\"x\":1}` name=<n>;"},
		{"[{\"ph\":\"X\",\"args\":{\"a\":NaN,\"b\":-Infinity,\"c\":Infinity,\"d\":-0}}]",
	         "X a=<NaN> b=<-Infinity> c=<Infinity> d=-0;"},
		{"[{\"ph\":\"X\",\"args\":{\"u\":18446744073709551615,\"v\":1e400}}]",
	         "X u=18446744073709551615 v=1e400;"},
	};

	(void)state;
	EXPECT_ALL(cases);
}

static void test_trace_events__keeps_every_byte_of_a_name(void **state)
{
	static const struct text_case cases[] = {
		{"[{\"ph\":\"X\",\"name\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t</script>\"}]",
	         "X:\"\\/\b\f\n\r\t</script>;"},
		{"[{\"ph\":\"X\",\"name\":\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"}]",
	         "X:A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80;"},
		{"[{\"ph\":\"X\",\"name\":\"a\\u0000b\"}]", "X:a\xc0\x80"
	                                                    "b;"},
		{"[{\"ph\":\"X\",\"name\":\"\\ud83d\"}]", "X:\xed\xa0\xbd;"},
		{"[{\"ph\":\"X\",\"name\":\"\\ud83dx\\ude00\\ud83d\\u0041\"}]",
	         "X:\xed\xa0\xbdx\xed\xb8\x80\xed\xa0\xbd"
	         "A;"},
		{"[{\"ph\":\"X\",\"name\":\"\xff\xfe \xc3\"}]", "X:\xff\xfe \xc3;"},
		{"[{\"ph\":\"X\",\"name\":\"two\nlines\ttab\x01\x7f\"}]",
	         "X:two\nlines\ttab\x01\x7f;"},
		{"[{\"ph\":\"X\",\"name\":\"a},{\\\"ph\\\":\\\"i\\\"}]\"}]",
	         "X:a},{\"ph\":\"i\"}];"},
	};

	(void)state;
	EXPECT_ALL(cases);
}

static void test_trace_events__times_are_exact(void **state)
{
	static const struct text_case cases[] = {
		{"[{\"ph\":\"X\",\"ts\":1475000719617.232}]", "X ts=1475000719617232;"},
		{"[{\"ph\":\"X\",\"ts\":9223372036854775.807}]", "X ts=9223372036854775807;"},
		{"[{\"ph\":\"X\",\"ts\":-9223372036854775.808}]", "X ts=-9223372036854775808;"},
		{"[{\"ph\":\"X\",\"ts\":0,\"dur\":-0.0}]", "X ts=0 dur=0;"},
		{"[{\"ph\":\"X\",\"ts\":1.0004999,\"dur\":1.0005}]", "X ts=1000 dur=1001;"},
		{"[{\"ph\":\"X\",\"ts\":-1.0004999,\"dur\":-1.0005}]", "X ts=-1000 dur=-1001;"},
		{"[{\"ph\":\"X\",\"ts\":0.00049,\"dur\":0.0005}]", "X ts=0 dur=1;"},
		{"[{\"ph\":\"X\",\"ts\":1.5e3,\"dur\":15E-4}]", "X ts=1500000 dur=2;"},
		{"[{\"ph\":\"X\",\"ts\":1e-999999999999999999999,\"dur\":0e99999999999999}]",
	         "X ts=0 dur=0;"},
		{"[{\"ph\":\"X\",\"ts\":123456789012345678e-10}]", "X ts=12345678901;"},
		{"[{\"ph\":\"X\",\"ts\":\"12.5\",\"dur\":\"007\"}]", "X ts=12500 dur=7000;"},
		{"[{\"ph\":\"X\",\"ts\":9223372036854775.808},{\"ph\":\"i\"}]",
	         "i;|1/0@1 ts or dur is no time"},
		{"[{\"ph\":\"X\",\"dur\":1e16},{\"ph\":\"i\"}]", "i;|1/0@1 ts or dur is no time"},
		{"[{\"ph\":\"X\",\"ts\":\"soon\"},{\"ph\":\"i\"}]",
	         "i;|1/0@1 ts or dur is no time"},
		{"[{\"ph\":\"X\",\"ts\":true},{\"ph\":\"i\"}]", "i;|1/0@1 ts or dur is no time"},
		{"[{\"ph\":\"X\",\"ts\":NaN},{\"ph\":\"i\"}]", "i;|1/0@1 ts or dur is no time"},
	};

	(void)state;
	EXPECT_ALL(cases);
}

static void test_trace_values__are_whole_numbers_or_none(void **state)
{
	static const struct {
		enum trace_kind kind;
		const char *text;
		bool is_u64, is_i64;
		uint64_t u64;
		int64_t i64;
	} cases[] = {
		{TRACE_NUMBER, "0", true, true, 0, 0},
		{TRACE_NUMBER, "-0", true, true, 0, 0},
		{TRACE_NUMBER, "18446744073709551615", true, false, UINT64_MAX, 0},
		{TRACE_NUMBER, "18446744073709551616", false, false, 0, 0},
		{TRACE_NUMBER, "9223372036854775808", true, false, (uint64_t)1 << 63, 0},
		{TRACE_NUMBER, "-9223372036854775808", false, true, 0, INT64_MIN},
		{TRACE_NUMBER, "-9223372036854775809", false, false, 0, 0},
		{TRACE_NUMBER, "1.0", true, true, 1, 1},
		{TRACE_NUMBER, "1.5", false, false, 0, 0},
		{TRACE_NUMBER, "1.25e2", true, true, 125, 125},
		{TRACE_NUMBER, "120e-1", true, true, 12, 12},
		{TRACE_NUMBER, "1e19", true, false, 10000000000000000000u, 0},
		{TRACE_NUMBER, "1e20", false, false, 0, 0},
		{TRACE_NUMBER, "1e999999999999", false, false, 0, 0},
		{TRACE_TEXT, "3228353041", true, true, 3228353041, 3228353041},
		{TRACE_TEXT, "0xc06cc211", true, true, 0xc06cc211, 0xc06cc211},
		{TRACE_TEXT, "0XFFFFFFFFFFFFFFFF", true, false, UINT64_MAX, 0},
		{TRACE_TEXT, "0x00000000000000000001", true, true, 1, 1},
		{TRACE_TEXT, "0x10000000000000000", false, false, 0, 0},
		{TRACE_TEXT, "0x", false, false, 0, 0},
		{TRACE_TEXT, "0xg", false, false, 0, 0},
		{TRACE_TEXT, "-5", false, true, 0, -5},
		{TRACE_TEXT, "", false, false, 0, 0},
		{TRACE_TEXT, "-", false, false, 0, 0},
		{TRACE_TEXT, ".5", false, false, 0, 0},
		{TRACE_TEXT, "5.", false, false, 0, 0},
		{TRACE_TEXT, "5e", false, false, 0, 0},
		{TRACE_TEXT, "5e+", false, false, 0, 0},
		{TRACE_TEXT, " 5", false, false, 0, 0},
		{TRACE_TEXT, "5 ", false, false, 0, 0},
		{TRACE_LITERAL, "true", false, false, 0, 0},
		{TRACE_JSON, "[5]", false, false, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct trace_value value = {cases[i].kind,
		                                  {cases[i].text, strlen(cases[i].text)}};
		uint64_t u64 = 0;
		int64_t i64 = 0;

		assert_int_equal(trace_value_u64(&value, &u64), cases[i].is_u64);
		assert_int_equal(trace_value_i64(&value, &i64), cases[i].is_i64);
		assert_true(u64 == cases[i].u64);
		assert_true(i64 == cases[i].i64);
	}
}

/* Digits are read by eight at a time: every byte at every place. */
static void test_trace_values__are_made_of_digits_only(void **state)
{
	(void)state;
	for (int byte = 1; byte < 256; byte++) {
		for (size_t at = 0; at < 10; at++) {
			char hex[] = "0x12fE90Ab", whole[] = "1234567890", us[] = "1234567890.125";
			struct trace_value value = {TRACE_TEXT, {hex, 10}};
			uint64_t number;
			int64_t ns;

			hex[at] = whole[at] = us[at] = (char)byte;
			if (at >= 2) {
				assert_int_equal(trace_value_u64(&value, &number),
				                 isxdigit(byte) != 0);
				assert_true(!isxdigit(byte) || number == strtoull(hex, NULL, 16));
			}
			value.text.bytes = whole;
			if (!strchr("-.eE", byte)) /* they have a meaning */
				assert_int_equal(trace_value_us_as_ns(&value, &ns),
				                 isdigit(byte) != 0);
			if (isdigit(byte))
				assert_true(ns == 1000 * strtoll(whole, NULL, 10));
			value.text = (struct trace_text){us, 14};
			if (isdigit(byte)) {
				assert_true(trace_value_us_as_ns(&value, &ns));
				assert_true(ns == 1000 * strtoll(us, NULL, 10) + 125);
			}
		}
	}
}

/* Each length and each wrong byte, whatever is read at once. */
static void test_trace_values__times_are_made_of_digits_only(void **state)
{
	static const char digits[] = "9081726354987654", others[] = "/:;x +\xb1";

	(void)state;
	for (size_t n = 1; n < sizeof(digits); n++) {
		char text[32];
		struct trace_value value = {TRACE_NUMBER, {text, n + 4}};
		int64_t ns;

		snprintf(text, sizeof(text), "%.*s.705", (int)n, digits);
		assert_true(trace_value_us_as_ns(&value, &ns));
		assert_true(ns == 1000 * strtoll(text, NULL, 10) + 705);
		for (size_t at = 0; at < n + 4; at++) {
			char right = text[at];

			for (size_t i = 0; i + 1 < sizeof(others); i++) {
				text[at] = others[i];
				assert_false(trace_value_us_as_ns(&value, &ns));
			}
			text[at] = right;
		}
	}
}

static void test_trace_values__are_doubles_or_none(void **state)
{
	static const struct {
		const char *text;
		bool is_double;
		double expected;
	} cases[] = {
		{"0.1", true, 0.1},  {"-1.5e3", true, -1500}, {"0x10", true, 16},
		{"1e400", false, 0}, {"nan", false, 0},       {"1,5", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct trace_value value = {TRACE_TEXT,
		                                  {cases[i].text, strlen(cases[i].text)}};
		double number = 0;

		assert_int_equal(trace_value_double(&value, &number), cases[i].is_double);
		assert_true(!cases[i].is_double || number == cases[i].expected);
	}
}

static void test_trace_values__arrays_are_walked(void **state)
{
	static const char array[] = "[ 4294967295,\n\"0x10\" , [3, 4], {}, true]";
	static const char *const elements[] = {"4294967295", "0x10", "[3, 4]", "{}", "true"};
	static const char *const others[] = {"[]", "[ ]", "{\"a\":1}", "", "5"};
	struct trace_text rest = {array, sizeof(array) - 1};
	struct trace_value element;

	(void)state;
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		assert_true(trace_array_next(&rest, &element));
		assert_true(trace_text_is(&element.text, elements[i]));
	}
	assert_false(trace_array_next(&rest, &element));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		rest = (struct trace_text){others[i], strlen(others[i])};
		assert_false(trace_array_next(&rest, &element));
	}
}

static void test_trace_event_arg__finds_the_last_of_a_name(void **state)
{
	static const char text[] =
		"[{\"ph\":\"X\",\"a\":0,\"args\":{\"a\":1,\"ab\":2},\"attr\":{\"a\":3},\"b\":4}]";
	struct text_bytes bytes = {.bytes = text, .n_bytes = sizeof(text) - 1};
	const struct trace_source source = text_bytes_source(&bytes);
	struct trace_events *events = trace_events_open_source(&source, "input", 0, NULL);
	struct trace_event event;

	(void)state;
	assert_int_equal(trace_events_next(events, &event, NULL), 1);
	assert_int_equal(event.offset_bytes, 1);
	assert_string_equal(trace_event_arg(&event, "a")->value.text.bytes, "3");
	assert_string_equal(trace_event_arg(&event, "ab")->value.text.bytes, "2");
	assert_null(trace_event_arg(&event, "b"));
	trace_events_close(events);
}

static int refuse(void *context, const struct trace_text *key, const struct trace_value *value)
{
	(void)context;
	(void)value;
	return trace_text_is(key, "b") ? FLEXTRACE_E_OUTPUT : 0;
}

static void test_trace_events__stops_where_the_taker_fails(void **state)
{
	static const char text[] = "{\"a\":1,\"b\":2,\"traceEvents\":[{\"ph\":\"X\"}]}";
	struct text_bytes bytes = {.bytes = text, .n_bytes = sizeof(text) - 1};
	const struct trace_source source = text_bytes_source(&bytes);
	struct trace_events *events = trace_events_open_source(&source, "input", 0, NULL);
	struct trace_event event;

	(void)state;
	trace_events_take_members(events, refuse, NULL);
	assert_int_equal(trace_events_next(events, &event, NULL), FLEXTRACE_E_OUTPUT);
	assert_int_equal(trace_events_next(events, &event, NULL), FLEXTRACE_E_OUTPUT);
	trace_events_close(events);
}

static void test_trace_events__stops_where_reading_fails(void **state)
{
	static const char text[] = "[{\"ph\":\"X\"},{\"ph\":\"X\"},{\"ph\":\"X\"}]";
	struct text_bytes bytes = {
		.bytes = text, .n_bytes = sizeof(text) - 1, .step_bytes = 12, .fails_at = 24};
	const struct trace_source source = text_bytes_source(&bytes);
	struct trace_events *events = trace_events_open_source(&source, "input", 12, NULL);
	struct trace_event event;

	(void)state;
	assert_int_equal(trace_events_next(events, &event, NULL), 1);
	assert_int_equal(trace_events_next(events, &event, NULL), 1);
	assert_int_equal(trace_events_next(events, &event, NULL), FLEXTRACE_E_SYSTEM);
	assert_int_equal(trace_events_next(events, &event, NULL), FLEXTRACE_E_SYSTEM);
	trace_events_close(events);
}

#define N_ARGS 70 /* more than there is room for at first */

/* Reads with a small buffer; FLEXTRACE_E_MEMORY: there was none. */
static int read_memory(const char *text)
{
	struct text_bytes bytes = {.bytes = text, .n_bytes = strlen(text)};
	const struct trace_source source = text_bytes_source(&bytes);
	struct flextrace_error error = {0};
	struct trace_events *events = trace_events_open_source(&source, "input", 4, &error);
	struct trace_event event;
	int code = error.code;

	while (events && (code = trace_events_next(events, &event, &error)) > 0)
		assert_int_equal(event.n_args, N_ARGS);
	assert_int_equal(error.code, code);
	trace_events_close(events);
	return code;
}

static void test_trace_events__every_allocation_may_fail(void **state)
{
	char text[1024] = "[{\"ph\":\"X\",\"args\":{";
	uint64_t n_failed = 0;
	bool has_failed;

	(void)state;
	for (int i = 0; i < N_ARGS; i++)
		sprintf(text + strlen(text), "\"a%d\":%d,", i, i);
	strcat(text, "}}]");
	do {
		int code;

		failing_malloc_set(n_failed + 1);
		code = read_memory(text);
		has_failed = failing_malloc_has_failed();
		failing_malloc_set(0);
		assert_int_equal(code, has_failed ? FLEXTRACE_E_MEMORY : FLEXTRACE_OK);
		n_failed += has_failed;
	} while (has_failed);
	assert_true(n_failed > 8); /* reader, buffer, its growth, arguments and theirs */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_events__reads_arrays_and_objects),
		cmocka_unit_test(test_trace_events__tells_what_is_no_trace),
		cmocka_unit_test(test_trace_events__knows_the_members_of_an_event),
		cmocka_unit_test(test_trace_events__does_not_mix_up_events_that_are_alike),
		cmocka_unit_test(test_trace_events__do_not_depend_on_those_before),
		cmocka_unit_test(test_trace_events__keeps_arguments_as_they_are),
		cmocka_unit_test(test_trace_events__keeps_every_byte_of_a_name),
		cmocka_unit_test(test_trace_events__times_are_exact),
		cmocka_unit_test(test_trace_values__are_whole_numbers_or_none),
		cmocka_unit_test(test_trace_values__are_made_of_digits_only),
		cmocka_unit_test(test_trace_values__times_are_made_of_digits_only),
		cmocka_unit_test(test_trace_values__are_doubles_or_none),
		cmocka_unit_test(test_trace_values__arrays_are_walked),
		cmocka_unit_test(test_trace_event_arg__finds_the_last_of_a_name),
		cmocka_unit_test(test_trace_events__stops_where_the_taker_fails),
		cmocka_unit_test(test_trace_events__stops_where_reading_fails),
		cmocka_unit_test(test_trace_events__every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
