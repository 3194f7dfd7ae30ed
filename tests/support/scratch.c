// SPDX-License-Identifier: Apache-2.0
#include "scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *place)
{
	(void)info;
	(void)flag;
	(void)place;
	return remove(path);
}

char *scratch_dir(void)
{
	const char *parent = getenv("TMPDIR");
	char *dir = NULL;

	if (asprintf(&dir, "%s/flextrace-test.XXXXXX", parent ? parent : "/tmp") < 0)
		abort();
	if (!mkdtemp(dir))
		abort();
	return dir;
}

void scratch_remove(char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
}

char *scratch_read(const char *dir, const char *name, size_t *ret_n)
{
	char *path = NULL, *text;
	FILE *file;
	long n;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	file = fopen(path, "rb");
	free(path);
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	n = ftell(file);
	rewind(file);
	text = malloc((size_t)n + 1);
	if (!text || fread(text, 1, (size_t)n, file) != (size_t)n)
		abort();
	fclose(file);
	text[n] = '\0';
	if (ret_n)
		*ret_n = (size_t)n;
	return text;
}

bool scratch_has(const char *dir, const char *name)
{
	char *path = NULL;
	bool has;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	has = access(path, F_OK) == 0;
	free(path);
	return has;
}
