/* SPDX-License-Identifier: Apache-2.0 */
#include "text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

char *text_file_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text;
	size_t n;

	if (!file)
		return NULL;
	text = calloc(1, TEXT_FILE_MAX_BYTES + 2);
	errno = text ? 0 : ENOMEM;
	n = text ? fread(text, 1, TEXT_FILE_MAX_BYTES + 1, file) : 0;
	if (n > TEXT_FILE_MAX_BYTES)
		errno = EFBIG;
	if (errno) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}
