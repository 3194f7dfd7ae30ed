/* SPDX-License-Identifier: Apache-2.0 */
/* Which notes of recordings a process believes: one daemon that lives, this process itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "wanted.h"

static unsigned long long own_ticks(void)
{
	char text[1024] = "";
	unsigned long long ticks = 0;
	FILE *file = fopen("/proc/self/stat", "r");

	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	assert_int_equal(sscanf(strrchr(text, ')'),
	                        ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
	                        "%*d %*d %*d %llu",
	                        &ticks),
	                 1);
	return ticks;
}

static unsigned long long own_namespace(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	return st.st_ino;
}

/* Replaces P, T and N by the pid, start and pid namespace of this process. */
static void fill(const char *pattern, char *text, size_t size)
{
	size_t n = 0;

	for (; *pattern; pattern++) {
		char one[2] = {*pattern};
		char number[32];

		snprintf(number, sizeof(number), "%llu",
		         *pattern == 'P'   ? (unsigned long long)getpid()
		         : *pattern == 'T' ? own_ticks()
		                           : own_namespace());
		n += (size_t)snprintf(text + n, size - n, "%s",
		                      strchr("PTN", *pattern) ? number : one);
	}
}

static void test_wanted__believes_daemons_that_live(void **state)
{
	static const struct {
		const char *text;
		int is_wanted;
	} cases[] = {
		{"P T N all a\n", 1},
		{"P T N own session\n", 1},
		{"P T N own other\n", 0},
		{"P T N own \n", 0},
		{"P 1 N all a\n", 0},         /* a later process of that pid */
		{"999999999 T N all a\n", 0}, /* none */
		{"99999999999999999999999 T N all a\n", 0},
		{"P 1 1 all a\n", 1}, /* in another pid namespace: cannot be checked */
		{"0 0 N all a\n", 1}, /* likewise */
		{"P 1 N all a\nP T N own session\n", 1},
		{"P T N all a", 0}, /* unfinished */
		{"P T N all\n", 0},
		{"P T N\n\n all\n   \n", 0},
		{"", 0},
	};
	const struct wanted wanted = {.session = "session"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512] = "";

		fill(cases[i].text, text, sizeof(text));
		if (flextrace_i_is_wanted_by(&wanted, text) != cases[i].is_wanted)
			fail_msg("case %zu: %s", i, cases[i].text);
	}
}

static void test_wanted__needs_a_session_for_its_own(void **state)
{
	const struct wanted nobody = {.session = ""};
	char text[512] = "";

	(void)state;
	fill("P T N own \n", text, sizeof(text));
	assert_false(flextrace_i_is_wanted_by(&nobody, text));
	fill("P T N all x\n", text, sizeof(text));
	assert_true(flextrace_i_is_wanted_by(&nobody, text));
}

static char *get_long(const char *name)
{
	static char text[2000];

	(void)name;
	memset(text, 'x', sizeof(text) - 1);
	return text;
}

static void test_wanted__leaves_out_what_is_too_long(void **state)
{
	struct wanted wanted;

	(void)state;
	flextrace_i_wanted_init(&wanted, get_long);
	assert_string_equal(wanted.session, "");
	assert_string_equal(wanted.home, "");
	assert_false(flextrace_i_is_wanted(&wanted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wanted__believes_daemons_that_live),
		cmocka_unit_test(test_wanted__needs_a_session_for_its_own),
		cmocka_unit_test(test_wanted__leaves_out_what_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
