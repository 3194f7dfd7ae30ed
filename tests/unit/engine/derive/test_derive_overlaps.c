/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that begin (TS3) before one before them has ended (TS4). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "derive_fixture.h"

struct kernel {
	uint64_t ts3, ts4;
	uint32_t queue;
};

struct overlap_case {
	const char *title;
	struct kernel kernels[4]; /* in any order, ended by ts3 = 0 */
	uint64_t n, total_ns, largest_ns;
};

static const struct overlap_case cases[] = {
	{"none", {{0, 0, 0}}, 0, 0, 0},
	{"one alone", {{10, 20, 0}}, 0, 0, 0},
	{"apart", {{10, 20, 0}, {30, 40, 0}}, 0, 0, 0},
	{"touching", {{10, 20, 0}, {20, 30, 0}}, 0, 0, 0},
	{"crossing", {{10, 20, 0}, {17, 30, 0}}, 1, 3, 3},
	{"the other way round", {{17, 30, 0}, {10, 20, 0}}, 1, 3, 3},
	{"nested", {{10, 100, 0}, {20, 30, 0}, {90, 95, 0}}, 2, 15, 10},
	{"behind a nested one", {{10, 100, 0}, {20, 30, 0}, {98, 120, 0}}, 2, 12, 10},
	{"equal", {{10, 20, 0}, {10, 20, 0}}, 1, 10, 10},
	{"no time at all", {{10, 20, 0}, {15, 15, 0}}, 1, 0, 0},
	{"no time at its start", {{10, 20, 0}, {10, 10, 0}}, 0, 0, 0},
	{"at its end", {{10, 20, 0}, {20, 20, 0}}, 0, 0, 0},
	{"queues run side by side", {{10, 20, 0}, {15, 30, 1}, {16, 40, 1}}, 1, 14, 14},
};

static void test_derive_overlaps__are_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct derive_fixture fixture;

		fixture_open(&fixture, "1 1 7 process start_ns=1 rank=0\n");
		for (const struct kernel *at = cases[i].kernels; at->ts3; at++) {
			const uint64_t ticks[] = {at->ts3, at->ts3, at->ts3, at->ts4, at->ts4};

			fixture_op(&fixture, "k", FLEXTRACE_DEVICE_KERNEL, ticks)->queue =
				at->queue;
		}
		/* copies are no kernels */
		fixture_op(&fixture, "c", FLEXTRACE_DEVICE_MEMCPY_DTOD,
		           (const uint64_t[]){1, 1, 1, 1000, 1000});
		fixture_run(&fixture);
		if (fixture.timeline.counts.n_overlaps != cases[i].n ||
		    fixture.timeline.counts.overlap_ns != cases[i].total_ns ||
		    fixture.timeline.counts.largest_overlap_ns != cases[i].largest_ns)
			fail_msg("%s", cases[i].title);
		fixture_close(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derive_overlaps__are_counted),
	};

	return cmocka_run_group_tests_name("derive_overlaps", tests, NULL, NULL);
}
