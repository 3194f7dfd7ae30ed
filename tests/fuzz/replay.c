/* SPDX-License-Identifier: Apache-2.0 */
/* replay [FILE...]: runs a target on each file, or on what stands on standard input; with AFL++'s
 * compiler, without files, on what its fuzzer hands over, in a loop in one process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

#define MAX_BYTES ((size_t)1 << 20)

/* A copy of its own size, so that a look behind the end is found. */
static void run(const uint8_t *bytes, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1);

	if (!exact)
		fuzz_fail("no memory");
	memcpy(exact, bytes, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

static void run_file(FILE *file, const char *name)
{
	uint8_t *bytes = malloc(MAX_BYTES);

	if (!bytes || !file) {
		fprintf(stderr, "replay: cannot read %s\n", name);
		exit(1);
	}
	run(bytes, fread(bytes, 1, MAX_BYTES, file));
	free(bytes);
}

#ifdef __AFL_FUZZ_TESTCASE_LEN
__AFL_FUZZ_INIT();

static void run_input(void)
{
	const uint8_t *bytes;

	__AFL_INIT();
	bytes = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(10000))
		run(bytes, (size_t)__AFL_FUZZ_TESTCASE_LEN);
}
#else
static void run_input(void)
{
	run_file(stdin, "standard input");
}
#endif

int main(int argc, char **argv)
{
	if (argc == 1)
		run_input();
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");

		run_file(file, argv[i]);
		fclose(file);
	}
	if (argc > 1)
		printf("%d inputs\n", argc - 1);
	return 0;
}
