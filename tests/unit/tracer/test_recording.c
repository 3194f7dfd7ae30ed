/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider's windows, schedule and list of clients, against state words of its own: no LTTng.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "provider/recording.h"

#define N flextrace_i_n_events

static int words[N]; /* LTTng's */
static const int *states[N];
static char emitted[512];

static void note(const char *text, uint64_t number)
{
	size_t n = strlen(emitted);

	snprintf(emitted + n, sizeof(emitted) - n, "%s%llu ", text, (unsigned long long)number);
}

static void on_step(const struct flextrace_step *step)
{
	note("step", step->number);
}

static void on_window(const struct flextrace_window *window)
{
	note(window->name, window->edge);
}

static const struct recording_backend backend = {states, on_step, on_window};

/* -- environment -- */

static const char *windows_only;
static const char *schedule;

static char *get(const char *name)
{
	if (!strcmp(name, "FLEXTRACE_WINDOWS_ONLY"))
		return (char *)(uintptr_t)windows_only;
	if (!strcmp(name, "FLEXTRACE_SCHEDULE"))
		return (char *)(uintptr_t)schedule;
	return NULL;
}

static void start(const char *with_windows_only, const char *with_schedule)
{
	size_t i;

	for (i = 0; i < N; i++) {
		words[i] = 1;
		states[i] = &words[i];
	}
	emitted[0] = '\0';
	windows_only = with_windows_only;
	schedule = with_schedule;
	recording_init(&backend, get);
}

/* -- a copy of libflextrace -- */

struct copy {
	const int *state[N];
	struct flextrace_i_client client;
};

static int n_dumps, n_forks;

static void dump(void)
{
	n_dumps++;
}

static void forked(void)
{
	n_forks++;
}

static void copy_init(struct copy *copy, size_t n_states)
{
	memset(copy, 0, sizeof(*copy));
	copy->client.size = sizeof(copy->client);
	copy->client.state = copy->state;
	copy->client.n_states = n_states;
	copy->client.dump = dump;
	copy->client.forked = forked;
	recording_attach(&copy->client);
}

#define IS_ON(copy, event) (*(copy)->state[flextrace_i_event_##event])

static void window(enum flextrace_edge edge, const char *name)
{
	const struct flextrace_window w = {sizeof(w), (uint32_t)edge, name};

	recording_window(&w);
}

/* -- tests -- */

static void test_recording__is_on_by_itself(void **state)
{
	struct copy copy;
	size_t i;

	(void)state;
	start(NULL, NULL);
	copy_init(&copy, N);
	for (i = 0; i < N; i++)
		assert_ptr_equal(copy.state[i], states[i]);
	window(FLEXTRACE_EDGE_BEGIN, "w");
	window(FLEXTRACE_EDGE_END, "w");
	window(FLEXTRACE_EDGE_END, "never began");
	assert_true(IS_ON(&copy, scope));
	assert_string_equal(emitted, "w0 w1 never began1 ");
}

static void test_recording__follows_lttng_word_by_word(void **state)
{
	struct copy copy;

	(void)state;
	start(NULL, NULL);
	copy_init(&copy, N);
	words[flextrace_i_event_scope] = 0;
	assert_false(IS_ON(&copy, scope));
	assert_true(IS_ON(&copy, instant));
	words[flextrace_i_event_scope] = 1;
	assert_true(IS_ON(&copy, scope));
}

/* What LTTng would drop is not handed to it, so that nobody counts it. */
static void test_recording__emits_no_step_or_window_that_lttng_does_not_record(void **state)
{
	const struct flextrace_step step = {sizeof(step), 7};
	struct copy copy;

	(void)state;
	start(NULL, "0,0,1,1");
	copy_init(&copy, N);
	words[flextrace_i_event_step] = words[flextrace_i_event_window] = 0;
	window(FLEXTRACE_EDGE_BEGIN, "w");
	recording_step(&step);
	recording_step(&step);
	window(FLEXTRACE_EDGE_END, "w");
	assert_string_equal(emitted, "");
}

static void test_windows_only__records_definitions_always_and_the_rest_inside(void **state)
{
	struct copy copy;
	size_t i;

	(void)state;
	start("1", NULL);
	copy_init(&copy, N);
	for (i = 0; i < N; i++)
		assert_int_equal(*copy.state[i], i <= flextrace_i_event_marker_name);
	window(FLEXTRACE_EDGE_BEGIN, "w");
	for (i = 0; i < N; i++)
		assert_int_equal(*copy.state[i], 1);
	window(FLEXTRACE_EDGE_END, "w");
	for (i = 0; i < N; i++)
		assert_int_equal(*copy.state[i], i <= flextrace_i_event_marker_name);
	assert_string_equal(emitted, "w0 w1 ");
}

static void test_windows_only__ends_with_the_last_of_overlapping_windows(void **state)
{
	struct copy copy;

	(void)state;
	start("1", NULL);
	copy_init(&copy, N);
	window(FLEXTRACE_EDGE_BEGIN, "a");
	window(FLEXTRACE_EDGE_BEGIN, "b");
	window(FLEXTRACE_EDGE_END, "a");
	assert_true(IS_ON(&copy, scope));
	window(FLEXTRACE_EDGE_END, "b");
	assert_false(IS_ON(&copy, scope));
	window(FLEXTRACE_EDGE_END, "once too often");
	assert_false(IS_ON(&copy, scope));
	window(FLEXTRACE_EDGE_BEGIN, "c");
	assert_true(IS_ON(&copy, scope));
	assert_string_equal(emitted, "a0 b0 a1 b1 c0 ");
}

static void test_windows__of_one_copy_hold_for_all(void **state)
{
	struct copy one, two;

	(void)state;
	start("1", NULL);
	copy_init(&one, N);
	window(FLEXTRACE_EDGE_BEGIN, "w");
	copy_init(&two, N); /* loaded inside the window */
	assert_true(IS_ON(&one, scope));
	assert_true(IS_ON(&two, scope));
	window(FLEXTRACE_EDGE_END, "w");
	assert_false(IS_ON(&one, scope));
	assert_false(IS_ON(&two, scope));
}

static void test_off_bits__keep_an_event_off(void **state)
{
	struct copy copy;

	(void)state;
	start("1", NULL);
	memset(&copy, 0, sizeof(copy));
	copy.client.state = copy.state;
	copy.client.n_states = N;
	copy.client.off = UINT64_C(1) << flextrace_i_event_device_op;
	recording_attach(&copy.client);
	window(FLEXTRACE_EDGE_BEGIN, "w");
	assert_false(IS_ON(&copy, device_op));
	assert_true(IS_ON(&copy, scope));
}

static void test_attach__writes_no_more_words_than_the_copy_has(void **state)
{
	struct copy older;

	(void)state;
	start(NULL, NULL);
	copy_init(&older, N - 2);
	assert_non_null(older.state[N - 3]);
	assert_null(older.state[N - 2]);
	recording_detach(&older.client);
	copy_init(&older, N + 5); /* newer than the provider: knows events that are not there */
	assert_non_null(older.state[N - 1]);
}

static void test_detach__forgets_the_copy(void **state)
{
	struct copy one, two, three;

	(void)state;
	start(NULL, NULL);
	copy_init(&one, N);
	copy_init(&two, N);
	copy_init(&three, N);
	n_dumps = n_forks = 0;
	recording_dump();
	recording_forked();
	assert_int_equal(n_dumps, 3);
	assert_int_equal(n_forks, 3);
	recording_detach(&two.client);
	recording_detach(&two.client);
	recording_dump();
	assert_int_equal(n_dumps, 5);
	recording_detach(&three.client);
	recording_detach(&one.client);
	recording_dump();
	assert_int_equal(n_dumps, 5);
}

static void test_schedule__is_parsed_whole_or_not_at_all(void **state)
{
	static const char *const bad[] = {"",
	                                  "1",
	                                  "1,2,3",
	                                  "1,2,0,1",
	                                  "1,2,3,4,",
	                                  "1,2,3,x",
	                                  "1,,3,4",
	                                  "-1,2,3,4",
	                                  "1 ,2,3,4",
	                                  " 1,2,3,4",
	                                  "1,2,3,99999999999999999999",
	                                  "4294967296,0,1,0"};
	struct recording_schedule parsed = {9, 9, 9, 9};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (recording_parse_schedule(bad[i], &parsed) != -1 || parsed.wait != 9)
			fail_msg("accepted: %s", bad[i]);
	assert_int_equal(recording_parse_schedule("1,2,3,0", &parsed), 0);
	assert_int_equal(parsed.wait, 1);
	assert_int_equal(parsed.warmup, 2);
	assert_int_equal(parsed.active, 3);
	assert_int_equal(parsed.repeat, 0);
}

static void test_schedule__knows_the_active_steps(void **state)
{
	static const struct {
		struct recording_schedule schedule;
		const char *steps; /* one character each from step 0, x = recorded */
	} cases[] = {
		{{0, 0, 1, 0}, "xxxxxxxx"},     {{0, 0, 2, 1}, "xx......"},
		{{1, 1, 2, 0}, "..xx..xx..xx"}, {{1, 1, 2, 2}, "..xx..xx...."},
		{{3, 0, 1, 1}, "...x......."},  {{0, 1, 1, 0}, ".x.x.x.x"},
	};
	size_t i, step;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (step = 0; cases[i].steps[step]; step++)
			if (recording_is_active(&cases[i].schedule, step) !=
			    (cases[i].steps[step] == 'x'))
				fail_msg("case %zu, step %zu", i, step);
}

static void test_schedule__counts_masked_steps_and_frames_the_active_ones(void **state)
{
	struct copy copy;
	uint64_t i;

	(void)state;
	start(NULL, "1,1,2,1");
	copy_init(&copy, N);
	assert_false(IS_ON(&copy, scope)); /* nothing before the first step */
	for (i = 0; i < 6; i++) {
		const struct flextrace_step step = {sizeof(step), 100 + i};

		assert_true(IS_ON(&copy, step)); /* so that the call site calls */
		recording_step(&step);
		assert_int_equal(IS_ON(&copy, scope), i == 2 || i == 3);
		assert_true(IS_ON(&copy, process));
	}
	assert_string_equal(emitted, "schedule0 step102 step103 schedule1 ");
}

static void test_schedule__and_windows_must_both_agree(void **state)
{
	const struct flextrace_step step = {0};
	struct copy copy;

	(void)state;
	start("1", "1,0,1,0");
	copy_init(&copy, N);
	window(FLEXTRACE_EDGE_BEGIN, "w");
	assert_false(IS_ON(&copy, scope));
	recording_step(&step);
	assert_false(IS_ON(&copy, scope));
	recording_step(&step);
	assert_true(IS_ON(&copy, scope));
	window(FLEXTRACE_EDGE_END, "w");
	assert_false(IS_ON(&copy, scope));
}

static void test_schedule__that_makes_no_sense_is_none(void **state)
{
	const struct flextrace_step step = {sizeof(step), 4};
	struct copy copy;

	(void)state;
	start("yes", "1,2,3");
	copy_init(&copy, N);
	assert_true(IS_ON(&copy, scope));
	recording_step(&step);
	assert_string_equal(emitted, "step4 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recording__is_on_by_itself),
		cmocka_unit_test(test_recording__follows_lttng_word_by_word),
		cmocka_unit_test(
			test_recording__emits_no_step_or_window_that_lttng_does_not_record),
		cmocka_unit_test(test_windows_only__records_definitions_always_and_the_rest_inside),
		cmocka_unit_test(test_windows_only__ends_with_the_last_of_overlapping_windows),
		cmocka_unit_test(test_windows__of_one_copy_hold_for_all),
		cmocka_unit_test(test_off_bits__keep_an_event_off),
		cmocka_unit_test(test_attach__writes_no_more_words_than_the_copy_has),
		cmocka_unit_test(test_detach__forgets_the_copy),
		cmocka_unit_test(test_schedule__is_parsed_whole_or_not_at_all),
		cmocka_unit_test(test_schedule__knows_the_active_steps),
		cmocka_unit_test(test_schedule__counts_masked_steps_and_frames_the_active_ones),
		cmocka_unit_test(test_schedule__and_windows_must_both_agree),
		cmocka_unit_test(test_schedule__that_makes_no_sense_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
