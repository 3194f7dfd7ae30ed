/* SPDX-License-Identifier: Apache-2.0 */
#include "temporary_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *temporary_directory(void)
{
	const char *directory = secure_getenv("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}

int temporary_file_open(void)
{
	char path[4096];
	int fd = open(temporary_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Not every file system knows files that never had a name. */
	if (fd >= 0 || snprintf(path, sizeof(path), "%s/flextrace-XXXXXX", temporary_directory()) >=
	                       (int)sizeof(path))
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}
