/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fresh_seed.h: a seed of made input about which a test knows nothing: it asserts what must hold
 * for every one. In the suite it is always the same, so that no verdict hangs on the time of day;
 * with FLEXTRACE_TEST_SEED=time, as under `ctest -C soak -L soak`, each run has its own. It is
 * printed, and FLEXTRACE_TEST_SEED repeats it.
 */
#ifndef FLEXTRACE_TESTS_FRESH_SEED_H
#define FLEXTRACE_TESTS_FRESH_SEED_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static inline uint64_t fresh_seed(void)
{
	const char *given = getenv("FLEXTRACE_TEST_SEED");
	uint64_t seed = 1795300000;

	if (given)
		seed = strcmp(given, "time") == 0 ? (uint64_t)time(NULL) : strtoull(given, NULL, 0);
	print_message("fresh seed: FLEXTRACE_TEST_SEED=%" PRIu64 "\n", seed);
	return seed;
}

#endif
