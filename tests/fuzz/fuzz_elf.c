/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of programs and firmware images: names of markers, versions, sizes. */
#include "fuzz.h"

#include <string.h>

#include "cli/doctor/instrumentation.h"
#include "area/elf_names.h"

static void found(void *context, const struct flextrace_elf_name *name)
{
	size_t *n_bytes = context;

	*n_bytes += strlen(name->name) + strlen(name->file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *path = fuzz_file(data, n);
	size_t n_bytes = 0;
	struct instrumentation instrumentation;

	flextrace_elf_names_read(path, found, &n_bytes);
	if (n_bytes > n)
		fuzz_fail("more text than there is");
	instrumentation_read(path, &instrumentation, NULL);
	return 0;
}
