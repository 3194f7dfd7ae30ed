/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of files: what the path of a trace tells of its run, and what those of cores are called.
 *
 *	outputs/HWID-gemm_M_K_N-ROW_row_COL_col/traces/trace_mm_M_K_N.json
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aie.h"
#include "base/text/digits.h"

#define MAX_NUMBER 1000000000 /* as of the options */
#define FOLDER     "-gemm_"
#define FILE_NAME  "trace_mm_"
#define TILE       "tile" /* what the files of cores begin with, and no other one */

/* Reads a number and what stands behind it; false: it is not there. */
static bool read_number(const char **at, const char *behind, int64_t *ret_number)
{
	uint64_t number = 0;

	if (!digits_take(at, MAX_NUMBER, &number) || !number ||
	    strncmp(*at, behind, strlen(behind)) != 0)
		return false;
	*ret_number = (int64_t)number;
	*at += strlen(behind);
	return true;
}

static bool read_size(const char **at, const char *behind, struct aie_options *ret)
{
	return read_number(at, "_", &ret->M) && read_number(at, "_", &ret->K) &&
	       read_number(at, behind, &ret->N);
}

/* What the file's name tells goes before the folder's, as it is nearer. */
static void read_path(const char *path, struct aie_options *ret)
{
	const char *file = strrchr(path, '/'), *folder = strstr(path, FOLDER), *at;
	struct aie_options found = {.M = 0};

	file = file ? file + 1 : path;
	if (folder) {
		at = folder + strlen(FOLDER);
		if (read_size(&at, "-", &found) && read_number(&at, "_row_", &found.row) &&
		    read_number(&at, "_col", &found.col))
			*ret = found;
	}
	at = file + strlen(FILE_NAME);
	if (strncmp(file, FILE_NAME, strlen(FILE_NAME)) == 0 && read_size(&at, ".", &found)) {
		ret->M = found.M;
		ret->K = found.K;
		ret->N = found.N;
	}
}

static void take_unsaid(int64_t *option, int64_t found)
{
	if (!*option)
		*option = found;
}

void aie_read_path(struct aie_options *options, const char *path, char hwid[AIE_HWID_BYTES])
{
	struct aie_options found = {.M = 0};
	const char *end = strstr(path, FOLDER), *begin = end;

	read_path(path, &found);
	if (!options->M && !options->K && !options->N) { /* of one product */
		options->M = found.M;
		options->K = found.K;
		options->N = found.N;
	}
	take_unsaid(&options->row, found.row);
	take_unsaid(&options->col, found.col);
	while (begin && begin > path && begin[-1] != '/')
		begin--;
	if (options->hwid || !found.row || begin == end || end - begin >= AIE_HWID_BYTES)
		return;
	memcpy(hwid, begin, (size_t)(end - begin));
	hwid[end - begin] = '\0';
	options->hwid = hwid;
}

/* -- files of cores --------------------------------------------------------------------------- */

/* A tile's name with what may stand in that of a file; `number` 1 is not told. */
static void write_name(const char *tile, uint32_t number, char name[AIE_FILE_BYTES])
{
	char suffix[16] = "";

	if (number > 1)
		snprintf(suffix, sizeof(suffix), ".%u", number);
	snprintf(name, AIE_FILE_BYTES, "%s%.100s%s.json",
	         strncmp(tile, TILE, strlen(TILE)) ? TILE : "", tile, suffix);
	for (char *at = name; *at; at++) {
		if (!isalnum((unsigned char)*at) && !strchr(",.()-_", *at))
			*at = '_';
	}
}

/* `names`: how many have each name so far, by its hash. */
static int name_file(const char *tile, struct map *names, char name[AIE_FILE_BYTES])
{
	uint32_t number;
	uint64_t hash;

	write_name(tile, 1, name);
	hash = hash_bytes(HASH_NO_BYTES, name, strlen(name));
	number = map_find(names, hash, 0);
	for (number = number == MAP_NONE ? 1 : number + 1;; number++) {
		write_name(tile, number, name);
		if (map_find(names, hash_bytes(HASH_NO_BYTES, name, strlen(name)), 0) == MAP_NONE)
			break;
	}
	FLEXTRACE_TRY(map_put(names, hash_bytes(HASH_NO_BYTES, name, strlen(name)), 0, 1));
	return map_put(names, hash, 0, number);
}

int aie_name_files(struct aie_run *run)
{
	struct map names = {.n_slots = 0};
	int code = FLEXTRACE_OK;

	for (uint32_t i = 0; i < run->n_cores && code >= 0; i++)
		code = name_file(aie_tile_name(run, &run->cores[i]), &names, run->cores[i].file);
	map_release(&names);
	return code;
}
