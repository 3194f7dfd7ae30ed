/* SPDX-License-Identifier: Apache-2.0 */
/* What libflextrace holds of things that are named again and again. */
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <flextrace/flextrace.h>

#include "definitions.h"

#define LIMIT_BYTES 4096

static int on = 1;
const int *flextrace_i_state[flextrace_i_n_events];
const struct flextrace_i_api *flextrace_i_api;

/* -- what is allocated ----------------------------------------------------------------------- */

static int64_t held_bytes, peak_bytes;

void *__real_calloc(size_t n, size_t item_bytes);
void __real_free(void *bytes);
void *__wrap_calloc(size_t n, size_t item_bytes);
void __wrap_free(void *bytes);

void *__wrap_calloc(size_t n, size_t item_bytes)
{
	void *bytes = __real_calloc(n, item_bytes);
	int64_t held = __atomic_add_fetch(&held_bytes, (int64_t)malloc_usable_size(bytes),
	                                  __ATOMIC_RELAXED);

	if (held > __atomic_load_n(&peak_bytes, __ATOMIC_RELAXED))
		__atomic_store_n(&peak_bytes, held, __ATOMIC_RELAXED);
	return bytes;
}

void __wrap_free(void *bytes)
{
	__atomic_sub_fetch(&held_bytes, (int64_t)malloc_usable_size(bytes), __ATOMIC_RELAXED);
	__real_free(bytes);
}

/* -- the provider ---------------------------------------------------------------------------- */

static char newest[64];
static void (*meanwhile)(void);
static int n_bad; /* names that were not what somebody gave */

static void on_name(const struct flextrace_name *name)
{
	snprintf(newest, sizeof(newest), "%s", name->name);
	if (meanwhile)
		meanwhile();
}

static void look_at_name(const struct flextrace_name *name)
{
	if (strncmp(name->name, "name ", 5) != 0)
		__atomic_add_fetch(&n_bad, 1, __ATOMIC_RELAXED);
}

static void on_device(const struct flextrace_device *device)
{
	snprintf(newest, sizeof(newest), "%s", device->name);
}

static void take(void (*take_name)(const struct flextrace_name *))
{
	static struct flextrace_i_api api;

	api.thread_name = api.queue_name = api.marker_name = take_name;
	api.device = on_device;
	flextrace_i_api = &api;
	for (size_t i = 0; i < flextrace_i_n_events; i++)
		flextrace_i_state[i] = &on;
}

static void rename_thing(enum flextrace_i_event event, uint32_t id, uint32_t number)
{
	char text[32];
	const struct flextrace_name name = {sizeof(name), 1, id, text, "file.c", 3};
	const struct flextrace_device device = {.device = 1, .name = text};

	snprintf(text, sizeof(text), "name %u", number);
	if (event == flextrace_i_event_device)
		flextrace_device(&device);
	else
		flextrace_i_definitions_add_name(event, &name);
}

/* -- tests ----------------------------------------------------------------------------------- */

static void test_definitions__that_are_replaced_take_no_more_memory(void **state)
{
	static const struct {
		enum flextrace_i_event event;
		uint32_t n;
	} things[] = {{flextrace_i_event_thread_name, 1000000},
	              {flextrace_i_event_queue_name, 10000},
	              {flextrace_i_event_marker_name, 10000},
	              {flextrace_i_event_device, 10000}};
	char text[32];

	(void)state;
	take(on_name);
	for (int i = 0; i < 4; i++) {
		int64_t before = held_bytes;

		peak_bytes = held_bytes;
		for (uint32_t k = 1; k <= things[i].n; k++)
			rename_thing(things[i].event, 1, k);
		assert_in_range(peak_bytes - before, 1, LIMIT_BYTES);
		snprintf(text, sizeof(text), "name %u", things[i].n);
		assert_string_equal(newest, text);
	}
}

static void rename_once(void)
{
	meanwhile = NULL;
	rename_thing(flextrace_i_event_queue_name, 2, 2);
}

/* Whoever emits a text sees it whole, though another replaces it meanwhile. */
static void test_definitions__are_kept_while_they_are_looked_at(void **state)
{
	(void)state;
	take(on_name);
	rename_thing(flextrace_i_event_queue_name, 2, 1);
	meanwhile = rename_once;
	flextrace_i_definitions_emit();
	newest[0] = '\0';
	flextrace_i_definitions_emit();
	assert_null(meanwhile);
	meanwhile = rename_once; /* within the emission of a definition itself */
	rename_thing(flextrace_i_event_queue_name, 2, 3);
	flextrace_i_definitions_emit();
	assert_string_equal(newest, "name 2");
}

#define N_THREADS 4
#define N_SHARED  20000

static void *rename_shared(void *arg)
{
	for (uint32_t i = 0; i < N_SHARED; i++)
		rename_thing(flextrace_i_event_queue_name, 7 + i % 3, i);
	return arg;
}

static void test_definitions__may_be_replaced_by_many_while_they_are_read(void **state)
{
	pthread_t threads[N_THREADS];
	int64_t before;

	(void)state;
	take(look_at_name);
	for (uint32_t i = 0; i < 3; i++)
		rename_thing(flextrace_i_event_queue_name, 7 + i, 0);
	before = held_bytes;
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, rename_shared, NULL), 0);
	for (int i = 0; i < 1000; i++)
		flextrace_i_definitions_emit();
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i < 3; i++)
		rename_thing(flextrace_i_event_queue_name, 7 + i, 0);
	assert_int_equal(n_bad, 0);
	assert_in_range(held_bytes - before + LIMIT_BYTES, 0, 2 * LIMIT_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions__that_are_replaced_take_no_more_memory),
		cmocka_unit_test(test_definitions__are_kept_while_they_are_looked_at),
		cmocka_unit_test(test_definitions__may_be_replaced_by_many_while_they_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
