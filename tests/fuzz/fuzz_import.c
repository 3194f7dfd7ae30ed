/* SPDX-License-Identifier: Apache-2.0 */
/* An importer, through to the records: FUZZ_DIALECT says which. */
#include "fuzz.h"

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *path = fuzz_file(data, n);
	const struct import_options options = {
		.paths = &path, .n_paths = 1, .dialect = FUZZ_DIALECT};
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
	return 0;
}
