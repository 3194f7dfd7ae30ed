/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An importer, through to the records: FUZZ_DIALECT says which. Where there is a FUZZ_SECOND, parts
 * of the input are two files of these names; FUZZ_BESIDE: only the first is given.
 */
#include "fuzz.h"

#include <stdio.h>

#include "imports.h"

static void import(const char *const *paths, uint32_t n_paths)
{
	const struct import_options options = {
		.paths = paths, .n_paths = n_paths, .dialect = FUZZ_DIALECT};
	struct string_pool *strings = string_pool_new();
	struct stream_set set = {NULL, 0, 0};
	struct flextrace_error error = {0};
	struct ledger ledger;

	ledger_init(&ledger);
	if (!strings)
		fuzz_fail("no memory");
	import_run(&options, strings, &set, &ledger, &error);
	stream_set_release(&set);
	ledger_release(&ledger);
	string_pool_free(strings);
}

#ifdef FUZZ_SECOND
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char paths[2][320];
	size_t n_part;
	const uint8_t *part = fuzz_part(data, n, 1, &n_part);

	snprintf(paths[1], sizeof(paths[1]), "%s",
	         fuzz_file_in_dir(FUZZ_SECOND, part, part ? n_part : 0));
	part = fuzz_part(data, n, 0, &n_part);
	snprintf(paths[0], sizeof(paths[0]), "%s", fuzz_file_in_dir(FUZZ_FIRST, part, n_part));
	import((const char *[]){paths[0], paths[1]}, FUZZ_BESIDE ? 1 : 2);
	return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *path = fuzz_file(data, n);

	import(&path, 1);
	return 0;
}
#endif
