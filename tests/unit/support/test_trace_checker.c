// SPDX-License-Identifier: Apache-2.0
/*
 * Each rule of the checker is shown to fire, or a trace that breaks it would pass unseen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_checker.h"

#define HEAD "{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":5,"
#define TAIL ",\"traceName\":\"trace.json\"}"
#define NAMES                                                                                \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":1,\"ts\":0,\"args\":{}}," \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"ts\":0,\"args\":{}}"
#define EVENT(ph, ts, rest) \
	",{\"ph\":\"" ph "\",\"name\":\"n\",\"pid\":1,\"tid\":2,\"ts\":" ts ",\"args\":{}" rest "}"
#define X(ts, dur)    EVENT("X", ts, ",\"cat\":\"c\",\"dur\":" dur)
#define TRACE(events) HEAD "\"traceEvents\":[" NAMES events "]" TAIL

/* Checks `text`; returns what was said, owned. */
static char *check(const char *text, unsigned long *ret_n)
{
	char *said = NULL;
	size_t n;
	FILE *out = open_memstream(&said, &n);

	*ret_n = trace_check(text, strlen(text), out);
	fclose(out);
	return said;
}

static void assert_clean(const char *text)
{
	unsigned long n;
	char *said = check(text, &n);

	assert_string_equal(said, "");
	assert_int_equal(n, 0);
	free(said);
}

static void test_trace_checker__accepts_good_traces(void **state)
{
	(void)state;
	assert_clean(TRACE(""));
	assert_clean(TRACE(X("0", "10") X("0", "5") X("5.001", "1") X("10", "0") X("10", "3")));
	assert_clean(TRACE(X("0", "10") EVENT("s", "0", ",\"id\":7,\"cat\":\"a\"") X("20", "1")
	                           EVENT("f", "20", ",\"id\":7,\"cat\":\"a\",\"bp\":\"e\"")));
	assert_clean(TRACE(X("3", "0") EVENT("s", "3", ",\"id\":7") X("4", "0")
	                           EVENT("f", "4", ",\"id\":7,\"bp\":\"e\"")));
	assert_clean(TRACE(EVENT("B", "1", "") EVENT("E", "2", "")));
	assert_clean(TRACE(EVENT("i", "1", ",\"s\":\"t\"")));
	assert_clean(HEAD "\"distributedInfo\":{\"rank\": 3},\"traceEvents\":[" NAMES "]" TAIL);
}

static void test_trace_checker__finds_each_fault(void **state)
{
	static const struct {
		const char *trace, *fault;
	} cases[] = {
		{"", "no JSON object"},
		{"[]", "no JSON object"},
		{"{}", "no JSON object"},
		{HEAD "\"traceEvents\":[" NAMES, "no JSON object"},
		{TRACE("") "x", "bytes behind"},
		{"{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":5,\"traceEvents\":[]" TAIL,
	         "schemaVersion"},
		{"{\"schemaVersion\":1,\"baseTimeNanoseconds\":5,\"traceEvents\":[]" TAIL,
	         "displayTimeUnit"},
		{"{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",\"traceEvents\":[]" TAIL,
	         "baseTimeNanoseconds"},
		{HEAD "\"traceEvents\":[]}", "traceName"},
		{TRACE(X("0", "1") ",{\"ph\":\"M\",\"name\":\"x\",\"pid\":1,\"tid\":2,\"ts\":0,"
	                           "\"args\":{}}"),
	         "metadata behind"},
		{TRACE(X("2", "1") X("1", "0.5")), "backwards"},
		{TRACE(X("0", "10") X("5", "6")), "overlaps event 2"},
		{TRACE(X("0", "10") X("5", "5.001")), "overlaps event 2"},
		{TRACE(X("0", "5") X("0", "10")), "overlaps event 2"},
		{TRACE(X("0", "-1")), "dur"},
		{TRACE(X("0", "1.0005")), "finer than ns"},
		{TRACE(EVENT("X", "0", ",\"cat\":\"c\"")), "dur"},
		{TRACE(X("-1", "1")), "ts is missing"},
		{TRACE(X("0.0005", "1")), "finer than ns"},
		{TRACE(EVENT("X", "0", ",\"dur\":1")), "X without cat"},
		{TRACE(EVENT("Q", "0", "")), "unknown ph"},
		{TRACE(EVENT("XX", "0", "")), "unknown ph"},
		{TRACE(EVENT("B", "0", "")), "B without E"},
		{TRACE(EVENT("E", "0", "")), "E without B"},
		{TRACE(EVENT("i", "0", "")), "scope t"},
		{TRACE(",{\"ph\":\"C\",\"name\":\"n\",\"pid\":1,\"tid\":2,\"ts\":0}"), "no args"},
		{TRACE(",{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":0,\"s\":\"t\",\"args\":{}}"),
	         "no name"},
		{TRACE(",{\"ph\":\"i\",\"name\":\"n\",\"pid\":1,\"tid\":0,\"ts\":0,\"s\":\"t\","
	               "\"args\":{}}"),
	         "from 1"},
		{TRACE(",{\"ph\":\"i\",\"name\":\"n\",\"pid\":1,\"tid\":9,\"ts\":0,\"s\":\"t\","
	               "\"args\":{}}"),
	         "thread 9 of 1 has 0 names"},
		{TRACE(",{\"ph\":\"C\",\"name\":\"n\",\"pid\":8,\"tid\":8,\"ts\":0,"
	               "\"args\":{\"v\":1}}"),
	         "process 8 has 0 names"},
		{TRACE("," NAMES), "2 names"},
		{TRACE(EVENT("C", "0", "")), "counter without value"},
		{TRACE(",{\"ph\":\"C\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":0,"
	               "\"args\":{\"v\":\"1\"}}"),
	         "no number"},
		{TRACE(X("0", "9") EVENT("s", "0", ",\"id\":7")), "no pair"},
		{TRACE(X("0", "9") EVENT("f", "0", ",\"id\":7,\"bp\":\"e\"")), "no pair"},
		{TRACE(X("0", "9") EVENT("s", "0", ",\"id\":7,\"cat\":\"a\"")
	                       EVENT("f", "0", ",\"id\":7,\"cat\":\"b\",\"bp\":\"e\"")),
	         "no pair"},
		{TRACE(X("0", "9") EVENT("s", "0", ",\"id\":7") EVENT("s", "0", ",\"id\":7")
	                       EVENT("f", "0", ",\"id\":7,\"bp\":\"e\"")),
	         "no pair"},
		{TRACE(X("0", "9") EVENT("f", "0", ",\"id\":7,\"bp\":\"e\"")
	                       EVENT("s", "1", ",\"id\":7")),
	         "back in time"},
		{TRACE(X("0", "1") EVENT("s", "0", ",\"id\":7")
	                       EVENT("f", "1", ",\"id\":7,\"bp\":\"e\"")),
	         "f outside"},
		{TRACE(EVENT("s", "0", ",\"id\":7") X("0", "1")
	                       EVENT("f", "0", ",\"id\":7,\"bp\":\"e\"")),
	         "s outside"},
		{TRACE(X("0", "9") EVENT("s", "0", ",\"id\":7") EVENT("f", "0", ",\"id\":7")),
	         "without bp"},
		{TRACE(X("0", "9") EVENT("s", "0", ",\"id\":9007199254740992")), "without an id"},
		{TRACE(X("0", "9") EVENT("s", "0", ",\"id\":\"7\"")), "without an id"},
		{TRACE(",{\"ph\":\"X\",\"name\":\"\xff\",\"cat\":\"c\",\"pid\":1,\"tid\":2,"
	               "\"ts\":0,\"dur\":1,\"args\":{}}"),
	         "invalid UTF-8"},
		{TRACE(",{\"ph\":\"X\",\"name\":\"\xed\xa0\x80\",\"cat\":\"c\",\"pid\":1,"
	               "\"tid\":2,\"ts\":0,\"dur\":1,\"args\":{}}"),
	         "invalid UTF-8"},
		{TRACE(",{\"ph\":\"X\",\"name\":\"n\",\"cat\":\"c\",\"pid\":1,\"tid\":2,\"ts\":0,"
	               "\"dur\":1,\"args\":{\"correlation\":9007199254740993}}"),
	         "correlation is no id"},
		{TRACE(",{\"ph\":\"X\",\"name\":\"n\",\"cat\":\"kernel\",\"pid\":1,\"tid\":2,"
	               "\"ts\":0,\"dur\":1,\"args\":{\"device\":0,\"stream\":-1}}"),
	         "stream >= 0"},
		{TRACE(",{\"ph\":\"X\",\"name\":\"n\",\"cat\":\"gpu_memcpy\",\"pid\":1,\"tid\":2,"
	               "\"ts\":0,\"dur\":1,\"args\":{\"stream\":1}}"),
	         "without device"},
		{TRACE(",{\"ph\":\"X\",\"name\":\"n\",\"cat\":\"c\",\"pid\":1,\"tid\":2,\"ts\":0,"
	               "\"dur\":1,\"args\":{\"rank\":1}}"),
	         "no distributedInfo"},
		{HEAD "\"distributedInfo\":{\"rank\":3},\"traceEvents\":[" NAMES "]" TAIL,
	         "is there 0 times"},
		{HEAD "\"distributedInfo\":{\"rank\": 3},\"other\":{\"rank\": 4},"
	              "\"traceEvents\":[" NAMES "]" TAIL,
	         "a second"},
		{HEAD "\"distributedInfo\":{\"rank\": 3},\"traceEvents\":[" NAMES
	              ",{\"ph\":\"X\",\"name\":\"n\",\"cat\":\"c\",\"pid\":1,\"tid\":2,\"ts\":0,"
	              "\"dur\":1,\"args\":{\"rank\":4}}]" TAIL,
	         "not all of the trace"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned long n;
		char *said = check(cases[i].trace, &n);

		if (!strstr(said, cases[i].fault))
			fail_msg("case %zu: expected \"%s\", got \"%s\"", i, cases[i].fault, said);
		assert_true(n > 0);
		free(said);
	}
}

static void test_trace_checker__says_every_fault(void **state)
{
	unsigned long n;
	char *said = check(TRACE(X("0", "5") X("1", "5") X("2", "9")), &n);

	(void)state;
	assert_int_equal(n, 2);
	assert_non_null(strstr(said, "event 3: overlaps event 2 on its row\n"));
	assert_non_null(strstr(said, "event 4: overlaps event 2 on its row\n"));
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_checker__accepts_good_traces),
		cmocka_unit_test(test_trace_checker__finds_each_fault),
		cmocka_unit_test(test_trace_checker__says_every_fault),
	};

	return cmocka_run_group_tests_name("trace_checker", tests, NULL, NULL);
}
