/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers wrote: a log with tables or, where it is JSON, ideal cycles. */
#include "fuzz.h"

#include "findings/compiler_info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *path = fuzz_file(data, n);
	struct compiler_info info = {0};
	struct string_pool *strings = string_pool_new();
	struct flextrace_error error = {0};
	struct string_cache cache;

	if (!strings)
		fuzz_fail("no memory");
	string_cache_init(&cache, strings);
	compiler_info_read(&info, &path, 1, &cache, &error);
	compiler_info_release(&info);
	string_cache_release(&cache);
	string_pool_free(strings);
	return 0;
}
