/* SPDX-License-Identifier: Apache-2.0 */
/* Files with options: of clocks, and profiles, and what is made of their texts. */
#include "fuzz.h"

#include "model/identity/clock_options.h"
#include "derivations.h"
#include "output/emit.h"
#include "formats/kit/dialect.h"
#include "profile.h"
#include "select/select.h"

static void check_texts(const struct conversion_options *options)
{
	struct clock_settings settings = {0};
	struct derivations derivations;
	struct emit_views views;

	select_check(&options->select, NULL);
	derivations_read(&derivations, options, NULL);
	emit_read_views(&views, &options->view, NULL);
	dialect_check_ranks(options->select.ranks, NULL);
	if (options->latency_floor_ns)
		clock_options_floors(options->latency_floor_ns, &settings, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *path = fuzz_file(data, n);
	struct calibrate_options clocks = CALIBRATE_OPTIONS_INIT;
	struct conversion_options options = CONVERSION_OPTIONS_INIT;
	struct flextrace_error error = {0};

	clock_options_read(&clocks, path, &error);
	clock_options_release(&clocks);
	options.profile = path;
	if (profile_read(&options, &error) == 0)
		check_texts(&options);
	conversion_options_release(&options);
	return 0;
}
