/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_trace INPUT DIR: writes the events of a golden case as a trace in CTF. */
#include <stdio.h>
#include <stdlib.h>

#include "ctf_text.h"
#include "base/error.h"

#define MAX_BYTES        (1u << 20)
#define N_STREAM_CLASSES 2 /* as many as a case has */

int main(int argc, char **argv)
{
	struct ctf_writer_options options = {.n_stream_classes = N_STREAM_CLASSES};
	static char text[MAX_BYTES];
	struct flextrace_error error = {0};
	FILE *from = argc == 3 ? fopen(argv[1], "r") : NULL;
	size_t n;

	if (!from) {
		fprintf(stderr, "usage: oracle_trace INPUT DIR\n");
		return 2;
	}
	n = fread(text, 1, sizeof(text) - 1, from);
	fclose(from);
	options.dir = argv[2];
	if (n == sizeof(text) - 1 || ctf_text_write(&options, text, &error) < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], error.message);
		return 1;
	}
	return 0;
}
