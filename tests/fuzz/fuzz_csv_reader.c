/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <string.h>

#include "base/text/csv_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	FILE *file = fopen(fuzz_file(data, n), "re");
	struct flextrace_error error = {0};
	struct csv_reader reader;
	size_t n_bytes = 0;

	if (!file)
		fuzz_fail("no file");
	csv_reader_init(&reader, file, "input");
	while (csv_reader_next(&reader, &error) > 0) {
		for (size_t i = 0; i <= reader.n_fields; i++)
			n_bytes += strlen(csv_reader_field(&reader, i));
	}
	csv_reader_release(&reader);
	fclose(file);
	if (n_bytes > n)
		fuzz_fail("more text than there is");
	return 0;
}
