/* SPDX-License-Identifier: Apache-2.0 */
#include "glob_in.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

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
