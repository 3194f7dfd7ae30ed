/* SPDX-License-Identifier: Apache-2.0 */
/* What the importer holds, whatever it is given. */
#include <malloc.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "formats/flex/flex.h"
#include "formats/pairing/event_files.h"

#define LIMIT_BYTES ((size_t)24 << 20)
#define N_EVENTS    120000u

/* -- what is allocated ----------------------------------------------------------------------- */

static size_t held_bytes, peak_bytes;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t item_bytes);
void *__real_realloc(void *bytes, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void __real_free(void *bytes);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t item_bytes);
void *__wrap_realloc(void *bytes, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
void __wrap_free(void *bytes);
char *__wrap_strdup(const char *text);
int __wrap_vasprintf(char **ret, const char *format, va_list values);
int __wrap_asprintf(char **ret, const char *format, ...);

static void *note(void *bytes)
{
	held_bytes += malloc_usable_size(bytes);
	if (held_bytes > peak_bytes)
		peak_bytes = held_bytes;
	return bytes;
}

void *__wrap_malloc(size_t n)
{
	return note(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t item_bytes)
{
	return note(__real_calloc(n, item_bytes));
}

void *__wrap_realloc(void *bytes, size_t n)
{
	held_bytes -= malloc_usable_size(bytes);
	return note(__real_realloc(bytes, n));
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
	return note(__real_aligned_alloc(alignment, n));
}

void __wrap_free(void *bytes)
{
	held_bytes -= malloc_usable_size(bytes);
	__real_free(bytes);
}

char *__wrap_strdup(const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(__wrap_malloc(n), text, n);
}

int __wrap_vasprintf(char **ret, const char *format, va_list values)
{
	char text[256];
	int n = vsnprintf(text, sizeof(text), format, values);

	assert_in_range(n, 0, sizeof(text) - 1);
	*ret = __wrap_strdup(text);
	return n;
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list values;
	int n;

	va_start(values, format);
	n = __wrap_vasprintf(ret, format, values);
	va_end(values);
	return n;
}

/* -- events ---------------------------------------------------------------------------------- */

enum story {
	IN_ORDER,
	BACKWARDS,
	TWINS,   /* all of them are the same */
	ENDLESS, /* begins without an end */
	ON_HOST, /* no stamps */
	LONG     /* names of 64 KiB */
};

static const char *const keys[] = {"TS1", "TS2", "TS3", "TS4", "TS5"};

struct made {
	char name[(64 << 10) + 32], stamps[5][16];
	struct trace_arg args[5];
	struct trace_event event;
};

static void add_stamps(struct made *made, uint64_t i)
{
	for (uint32_t k = 0; k < 5; k++) {
		int length = snprintf(made->stamps[k], sizeof(made->stamps[k]), "%u",
		                      (uint32_t)(1000 * i + 100 * k));

		made->args[k] = (struct trace_arg){
			{keys[k], 3}, {TRACE_TEXT, {made->stamps[k], (size_t)length}}, false};
	}
	made->event.args = made->args;
	made->event.n_args = 5;
}

static void make(struct made *made, enum story story, uint64_t i)
{
	size_t length = 0;

	if (story == TWINS)
		i = 1;
	if (story == BACKWARDS)
		i = N_EVENTS - i;
	if (story == LONG) {
		length = 64 << 10;
		memset(made->name, 'x', length);
	}
	length += (size_t)sprintf(made->name + length, "kernel %llu Cmpt %s",
	                          (unsigned long long)i / 2, i % 2 ? "Exec" : "Prep");
	made->event = (struct trace_event){
		.ph = story == ENDLESS ? 'B' : 'X',
		.has_ts = true,
		.has_dur = true,
		.ts_ns = (int64_t)(1000 * i),
		.dur_ns = 100,
		.name = {made->name, length},
		.pid = {TRACE_NUMBER, {"0", 1}},
		.tid = {TRACE_NUMBER, {"7", 1}},
	};
	if (story != ON_HOST)
		add_stamps(made, i / 2);
}

/* Gives all events, takes all records, and returns how many control blocks they were. */
static uint64_t run(enum story story, uint64_t n)
{
	struct made *made = malloc(sizeof(*made));
	const struct import_options options = {.n_paths = 0};
	struct import *import = import_new(&import_event_files, &options);
	struct event_import *events = (struct event_import *)import;
	uint64_t n_ops = 0, last_ns = 0;
	struct event event;
	const char *fault;
	uint32_t stream;
	int code;

	assert_int_equal(event_begin_file(events, &flex_events, NULL, "made.json"), 0);
	for (uint64_t i = 0; i < n; i++) {
		make(made, story, i);
		assert_int_equal(event_push(events, &made->event, &fault), 0);
		assert_null(fault);
	}
	assert_int_equal(event_end_file(events), 0);
	assert_int_equal(event_end_files(events), 0);
	while ((code = import_next(import, &stream, &event)) > 0) {
		n_ops += event.class == RECORD_DEVICE_OP;
		assert_true(event.clock_ns >= last_ns);
		last_ns = event.clock_ns;
	}
	assert_int_equal(code, 0);
	import_close(import);
	free(made);
	return n_ops;
}

static void test_flex_memory__is_bounded(void **state)
{
	static const struct {
		enum story story;
		uint64_t n, n_ops, n_torn;
	} cases[] = {
		{IN_ORDER, N_EVENTS, N_EVENTS / 2, 0},
		{BACKWARDS, N_EVENTS, N_EVENTS / 2 + 1, 0},
		{TWINS, N_EVENTS, N_EVENTS, 0},
		/* The begins of one block may be given up at two times. */
		{ENDLESS, N_EVENTS, N_EVENTS / 2, N_EVENTS / 10000},
		{ON_HOST, N_EVENTS, 0, 0},
		{LONG, 2000, 1000, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t before = held_bytes;
		uint64_t n_ops;

		peak_bytes = held_bytes;
		n_ops = run(cases[i].story, cases[i].n);
		assert_in_range(n_ops, cases[i].n_ops, cases[i].n_ops + cases[i].n_torn);
		assert_int_equal(held_bytes, before);
		assert_in_range(peak_bytes - before, 0, LIMIT_BYTES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flex_memory__is_bounded),
	};

	return cmocka_run_group_tests_name("flex_memory", tests, NULL, NULL);
}
