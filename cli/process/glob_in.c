/* SPDX-License-Identifier: Apache-2.0 */
#include "glob_in.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int glob_in(const char *dir, const char *pattern, glob_t *ret_found)
{
	char path[2 * PATH_MAX + 64];
	size_t n = 0;

	if (strlen(dir) >= PATH_MAX)
		return GLOB_NOMATCH;
	for (; *dir; dir++) {
		if (strchr("*?[\\", *dir))
			path[n++] = '\\';
		path[n++] = *dir;
	}
	snprintf(path + n, sizeof(path) - n, "/%s", pattern);
	return glob(path, 0, NULL, ret_found);
}

uint64_t glob_sum_bytes(const char *dir, const char *pattern)
{
	uint64_t n_bytes = 0;
	struct stat status;
	glob_t found;

	if (glob_in(dir, pattern, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (stat(found.gl_pathv[i], &status) == 0)
			n_bytes += (uint64_t)status.st_size;
	globfree(&found);
	return n_bytes;
}
