// SPDX-License-Identifier: Apache-2.0
/*
 * check_csv DIR [FORMATS.md]: says every violation in each CSV file in DIR/tables against what
 * docs/formats.md promises; exits 1 if there is any, 2 if something cannot be read or there is
 * no such file.
 */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv_checker.h"
#include "scratch.h"

static int is_csv(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".csv");
}

int main(int argc, char **argv)
{
	char *formats = argc > 2 ? scratch_read(".", argv[2], NULL)
	                         : scratch_read(FORMATS_DIR, "formats.md", NULL);
	struct dirent **entries;
	char dir[PATH_MAX] = "";
	int n = argc > 1 ? snprintf(dir, sizeof(dir), "%s/tables", argv[1]) : -1;
	bool is_bad = false;

	if (n > 0)
		n = scandir(dir, &entries, is_csv, alphasort);
	if (!formats || n <= 0) {
		fprintf(stderr, "check_csv: cannot read formats.md or a CSV file: dir=%s\n", dir);
		free(formats);
		return 2;
	}
	for (int i = 0; i < n; i++) {
		size_t n_bytes;
		char *text = scratch_read(dir, entries[i]->d_name, &n_bytes);

		if (csv_check(entries[i]->d_name, text, n_bytes, formats, stdout) > 0)
			is_bad = true;
		free(text);
		free(entries[i]);
	}
	free(entries);
	free(formats);
	return is_bad;
}
