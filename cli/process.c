/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t process_start_ticks(pid_t pid)
{
	char path[64], text[1024];
	const char *field;
	uint64_t ticks = 0;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	/* The name in parentheses may hold anything; field 22 is the 20th behind it. */
	field = strrchr(text, ')');
	for (int i = 0; i < 20 && field; i++)
		field = strchr(field + 1, ' ');
	if (field)
		ticks = strtoull(field, NULL, 10);
	return ticks;
}
