// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "output/fragment_cache.h"

struct fixture {
	struct fragment_cache cache;
	struct writer writer; /* memory */
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(fragment_cache_init(&f->cache), 0);
	writer_open_memory(&f->writer);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	fragment_cache_release(&f->cache);
	writer_abandon(&f->writer);
	free(f);
	return 0;
}

static void keep(struct fixture *f, uint64_t key, const char *text)
{
	writer_json(fragment_cache_start(&f->cache), text, strlen(text));
	fragment_cache_end(&f->cache, key);
}

static void assert_written(struct fixture *f, const char *text)
{
	assert_int_equal(f->writer.at - f->writer.buffer, strlen(text));
	assert_memory_equal(f->writer.buffer, text, strlen(text));
}

static void test_fragment_cache__comes_back_by_its_key(void **state)
{
	struct fixture *f = *state;

	assert_false(fragment_cache_write(&f->cache, 0, &f->writer));
	assert_false(fragment_cache_write(&f->cache, 7, &f->writer));
	keep(f, 0, "zero");
	keep(f, 7, "a \"piece\"");
	assert_true(fragment_cache_write(&f->cache, 7, &f->writer));
	assert_true(fragment_cache_write(&f->cache, 0, &f->writer));
	assert_true(fragment_cache_write(&f->cache, 7, &f->writer));
	assert_written(f, "\"a \\\"piece\\\"\"\"zero\"\"a \\\"piece\\\"\"");
}

/* Places are few: a piece that gives way is not taken for the other one. */
static void test_fragment_cache__never_is_that_of_another_key(void **state)
{
	struct fixture *f = *state;
	char text[32];
	uint32_t n_kept = 0;

	for (uint64_t key = 0; key < 4096; key++) {
		snprintf(text, sizeof(text), "%u", (unsigned int)key);
		keep(f, key << 9, text);
	}
	for (uint64_t key = 0; key < 4096; key++) {
		f->writer.at = f->writer.buffer;
		if (!fragment_cache_write(&f->cache, key << 9, &f->writer))
			continue;
		snprintf(text, sizeof(text), "\"%u\"", (unsigned int)key);
		assert_written(f, text);
		n_kept++;
	}
	assert_in_range(n_kept, 1, (1u << FRAGMENT_CACHE_BITS));
}

static void test_fragment_cache__keeps_as_much_as_a_place_holds(void **state)
{
	struct fixture *f = *state;
	char text[FRAGMENT_BYTES] = "";

	memset(text, 'x', FRAGMENT_BYTES - 2);
	keep(f, 1, text);
	assert_true(fragment_cache_write(&f->cache, 1, &f->writer));
	assert_int_equal(f->writer.at - f->writer.buffer, FRAGMENT_BYTES);
	text[FRAGMENT_BYTES - 2] = 'x';
	keep(f, 2, text);
	assert_false(fragment_cache_write(&f->cache, 2, &f->writer));
}

/* Each line that has them counts them. */
static void test_fragment_cache__does_not_keep_replaced_bytes(void **state)
{
	struct fixture *f = *state;

	keep(f, 1, "caf\xe9");
	assert_false(fragment_cache_write(&f->cache, 1, &f->writer));
	keep(f, 1, "caf\xc3\xa9");
	assert_true(fragment_cache_write(&f->cache, 1, &f->writer));
	assert_written(f, "\"caf\xc3\xa9\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fragment_cache__comes_back_by_its_key, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(test_fragment_cache__never_is_that_of_another_key,
	                                        set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fragment_cache__keeps_as_much_as_a_place_holds,
	                                        set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fragment_cache__does_not_keep_replaced_bytes,
	                                        set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
