// SPDX-License-Identifier: Apache-2.0
/*
 * check_trace FILE...: says every violation in each trace.json; exits 1 if there is any, 2 if a
 * file cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "trace_checker.h"

/* Returns the whole file, ended by NUL, or NULL. */
static char *read_file(const char *path, size_t *ret_n)
{
	FILE *file = fopen(path, "rb");
	size_t n = 0, n_bytes = 1 << 20;
	char *text = malloc(n_bytes + 1);

	while (file && text) {
		size_t got = fread(text + n, 1, n_bytes - n, file);

		n += got;
		if (got == 0)
			break;
		if (n == n_bytes) {
			n_bytes *= 2;
			text = realloc(text, n_bytes + 1);
		}
	}
	if (!file || !text || ferror(file)) {
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	if (text)
		text[n] = '\0';
	*ret_n = n;
	return text;
}

int main(int argc, char **argv)
{
	int code = 0;

	for (int i = 1; i < argc; i++) {
		size_t n;
		char *text = read_file(argv[i], &n);

		if (!text) {
			perror(argv[i]);
			return 2;
		}
		if (trace_check(text, n, stdout) > 0)
			code = 1;
		free(text);
	}
	return argc > 1 ? code : 2;
}
