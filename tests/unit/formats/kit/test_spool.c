/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "formats/kit/spool.h"
#include "base/paths.h"
#include "scratch.h"

#define SMALL (2 * SPOOL_ITEM_LIMIT)

/* An item tells when it was added, and is filled with that up to its size. */
static void add(struct spool *spool, uint64_t key, uint64_t number, size_t n_bytes)
{
	void *item;

	assert_int_equal(spool_add(spool, key, n_bytes, &item), 0);
	assert_int_equal((uintptr_t)item % 8, 0);
	memset(item, (int)(number & 0xff), n_bytes);
	memcpy(item, &number, sizeof(number));
}

/* Reads all: by key, of equal keys in the order in which they were added, each as it was. */
static void check(struct spool *spool, uint64_t n_expected, const uint64_t *keys,
                  const uint32_t *sizes)
{
	uint64_t last_key = 0, last = 0, n = 0;
	struct spool_item item;
	int code;

	for (; (code = spool_next(spool, &item)) > 0; n++) {
		const unsigned char *bytes = item.bytes;
		uint64_t number;

		memcpy(&number, bytes, sizeof(number));
		assert_true(number < n_expected && item.key == keys[number]);
		assert_int_equal(item.n_bytes, sizes[number]);
		for (size_t i = 8; i < item.n_bytes; i++)
			assert_int_equal(bytes[i], number & 0xff);
		assert_true(n == 0 || last_key < item.key ||
		            (last_key == item.key && last < number));
		last_key = item.key;
		last = number;
	}
	assert_int_equal(code, 0);
	assert_int_equal(spool_next(spool, &item), 0);
	assert_int_equal(n, n_expected);
}

static uint64_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

enum order { RISING, FALLING, EQUAL, SHUFFLED, TWO_RISING };

static uint64_t key_of(enum order order, uint64_t i, uint64_t n, uint64_t *random)
{
	switch (order) {
	case RISING:
		return i;
	case FALLING:
		return n - i;
	case EQUAL:
		return 7;
	case SHUFFLED:
		return draw(random) % n;
	default:
		return i % 2 ? i : i + 1000;
	}
}

static void sort(enum order order, uint64_t n, uint32_t max_bytes)
{
	uint64_t *keys = malloc((n + 1) * sizeof(*keys)), random = 1;
	uint32_t *sizes = malloc((n + 1) * sizeof(*sizes));
	struct spool *spool = spool_new(SMALL);

	for (uint64_t i = 0; i < n; i++) {
		keys[i] = key_of(order, i, n, &random);
		sizes[i] = 8 + (uint32_t)(draw(&random) % (max_bytes - 7));
		add(spool, keys[i], i, sizes[i]);
	}
	check(spool, n, keys, sizes);
	spool_free(spool);
	free(keys);
	free(sizes);
}

static void test_spool__sorts_what_fits(void **state)
{
	(void)state;
	for (int order = RISING; order <= TWO_RISING; order++) {
		for (uint64_t n = 0; n < 40; n++)
			sort((enum order)order, n, 100);
	}
}

static void test_spool__sorts_what_does_not_fit(void **state)
{
	(void)state;
	for (int order = RISING; order <= TWO_RISING; order++) {
		sort((enum order)order, 5000, 100);
		sort((enum order)order, 40, SPOOL_ITEM_LIMIT);
	}
}

/* A thousand items a run: more runs than are merged at once. */
static void test_spool__merges_merged_runs(void **state)
{
	(void)state;
	sort(SHUFFLED, 200000, 16);
	sort(FALLING, 70000, 16);
}

static void test_spool__keeps_bytes_beside_the_items(void **state)
{
	struct spool *spool = spool_new(SMALL);
	char *bytes = malloc(1 << 20);
	uint64_t places[3], keys[3000];
	uint32_t sizes[3000];

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		keys[i] = 5000 - i;
		sizes[i] = 64;
		add(spool, keys[i], i, sizes[i]);
		if (i % 1000)
			continue;
		memset(bytes, 'a' + (int)(i / 1000), 1 << 20);
		assert_int_equal(spool_put_bytes(spool, bytes, 1 << 20, &places[i / 1000]), 0);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(spool_get_bytes(spool, places[i], bytes, 1 << 20), 0);
		for (int k = 0; k < 1 << 20; k += 4095)
			assert_int_equal(bytes[k], 'a' + i);
	}
	check(spool, 3000, keys, sizes);
	spool_free(spool);
	free(bytes);
}

static void test_spool__leaves_no_file(void **state)
{
	char *dir = scratch_dir();

	(void)state;
	assert_int_equal(setenv("TMPDIR", dir, 1), 0);
	sort(SHUFFLED, 5000, 100);
	assert_string_equal(temporary_directory(), dir);
	assert_int_equal(rmdir(dir), 0);
	free(dir);
}

static void test_spool__tells_where_it_cannot_write(void **state)
{
	struct spool *spool = spool_new(SMALL);
	void *item;
	int code = 0;

	(void)state;
	assert_int_equal(setenv("TMPDIR", "/no/such/directory", 1), 0);
	for (int i = 0; i < 5000 && code == 0; i++)
		code = spool_add(spool, 1, 100, &item);
	assert_int_equal(code, FLEXTRACE_E_OUTPUT);
	spool_free(spool);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_string_equal(temporary_directory(), "/tmp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spool__sorts_what_fits),
		cmocka_unit_test(test_spool__sorts_what_does_not_fit),
		cmocka_unit_test(test_spool__merges_merged_runs),
		cmocka_unit_test(test_spool__keeps_bytes_beside_the_items),
		cmocka_unit_test(test_spool__leaves_no_file),
		cmocka_unit_test(test_spool__tells_where_it_cannot_write),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
