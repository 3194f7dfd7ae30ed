/* SPDX-License-Identifier: Apache-2.0 */
#include "text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

char *text_file_read_bytes(const char *path, size_t max_bytes, size_t *ret_n)
{
	FILE *file = fopen(path, "re");
	char *text;
	size_t n;

	if (!file)
		return NULL;
	text = calloc(1, max_bytes + 2);
	errno = text ? 0 : ENOMEM;
	n = text ? fread(text, 1, max_bytes + 1, file) : 0;
	if (n > max_bytes)
		errno = EFBIG;
	if (errno) {
		free(text);
		text = NULL;
	}
	*ret_n = n;
	fclose(file);
	return text;
}

char *text_file_read(const char *path)
{
	size_t n;

	return text_file_read_bytes(path, TEXT_FILE_MAX_BYTES, &n);
}
