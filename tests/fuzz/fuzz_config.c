/* SPDX-License-Identifier: Apache-2.0 */
/* Files with options: of clocks, and profiles. */
#include "fuzz.h"

#include "clock_options.h"
#include "profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *path = fuzz_file(data, n);
	struct calibrate_options clocks = CALIBRATE_OPTIONS_INIT;
	struct conversion_options options = CONVERSION_OPTIONS_INIT;
	struct flextrace_error error = {0};

	clock_options_read(&clocks, path, &error);
	clock_options_release(&clocks);
	options.profile = path;
	profile_read(&options, &error);
	conversion_options_release(&options);
	return 0;
}
