/* SPDX-License-Identifier: Apache-2.0 */
/* replay [FILE...]: runs a target on each file, or on what stands on standard input. AFL++'s
 * compiler makes the latter a loop in one process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

#define MAX_BYTES ((size_t)1 << 20)

static void run(FILE *file, const char *name)
{
	uint8_t *bytes = malloc(MAX_BYTES), *exact;
	size_t n;

	if (!bytes || !file) {
		fprintf(stderr, "replay: cannot read %s\n", name);
		exit(1);
	}
	n = fread(bytes, 1, MAX_BYTES, file);
	exact = malloc(n ? n : 1); /* so that a look behind the end is found */
	if (!exact)
		fuzz_fail("no memory");
	memcpy(exact, bytes, n);
	free(bytes);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

static void run_input(void)
{
#ifdef __AFL_LOOP
	while (__AFL_LOOP(1000)) {
		clearerr(stdin);
		run(stdin, "standard input");
	}
#else
	run(stdin, "standard input");
#endif
}

int main(int argc, char **argv)
{
	if (argc == 1)
		run_input();
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");

		run(file, argv[i]);
		fclose(file);
	}
	if (argc > 1)
		printf("%d inputs\n", argc - 1);
	return 0;
}
