/* SPDX-License-Identifier: Apache-2.0 */
/* Doubles as the writer writes them, against those of printf. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text/writer.h"
#include "scratch.h"

#define N_VALUES 200000u

/* What printf makes of a double with the fewest digits that read back, but for 20 decimals, which
 * Perfetto misreads. */
static void print_shortest(char *to, size_t n_bytes, double value)
{
	for (int n_digits = 15; n_digits <= 17; n_digits++) {
		snprintf(to, n_bytes, "%.*g", n_digits, value);
		if (strtod(to, NULL) == value)
			break;
	}
	if (strstr(to, "0.000") && strlen(strchr(to, '.')) > 20)
		snprintf(to, n_bytes, "%.16e", value);
}

static double draw_double(uint64_t *random, uint32_t i)
{
	double value;
	uint64_t bits;
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	bits = *random >> 12 | (uint64_t)(1000 + (*random >> 3) % 80) << 52;
	if (i % 4 == 0) /* beside a power of two */
		bits = (bits & ~(((uint64_t)1 << 52) - 1)) + *random % 4;
	memcpy(&value, &bits, sizeof(value));
	if (i % 16 == 3) /* after three zeros */
		value = 1e-4 + (double)(*random >> 11) * 0x1p-53 * 9e-4;
	if (i % 4 == 1) /* few decimals */
		value = rint(fmod(value, 1e6) * 1000) / 1000;
	if (i % 4 == 2) /* halves, so that digits tie */
		value = rint(fmod(value, 1e14) * 64) / 64;
	value = value == rint(value) ? 0.5 : value; /* whole ones are written otherwise */
	return i % 8 < 4 ? value : -value;
}

static void test_doubles__are_those_of_printf(void **state)
{
	char *dir = scratch_dir(), *text, *at;
	struct writer writer;
	uint64_t random = 1;

	(void)state;
	assert_int_equal(writer_open(&writer, dir, "out", false, NULL), 0);
	for (uint32_t i = 0; i < N_VALUES; i++) {
		writer_double(&writer, draw_double(&random, i));
		writer_char(&writer, '\n');
	}
	assert_int_equal(writer_close(&writer, NULL), 0);
	text = at = scratch_read(dir, "out", NULL);
	random = 1;
	for (uint32_t i = 0; i < N_VALUES; i++) {
		char expected[64];

		print_shortest(expected, sizeof(expected), draw_double(&random, i));
		assert_memory_equal(at, expected, strlen(expected));
		at += strlen(expected);
		assert_int_equal(*at++, '\n');
	}
	free(text);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubles__are_those_of_printf),
	};

	return cmocka_run_group_tests_name("doubles", tests, NULL, NULL);
}
