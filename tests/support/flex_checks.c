/* SPDX-License-Identifier: Apache-2.0 */
#include "flex_checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "csv_checker.h"
#include "scratch.h"
#include "trace_checker.h"

char *flex_check_files(const struct flex_run *run)
{
	static const char *const tables[] = {
		"events.csv",     "host.csv",       "counters.csv",    "instants.csv",
		"kernels.csv",    "runtime.csv",    "stamps.csv",      "active.csv",
		"iterations.csv", "categories.csv", "collectives.csv", "bandwidth.csv",
		"power.csv",      "losses.csv",
	};
	char *formats = scratch_read(FORMATS_DIR, "formats.md", NULL), *text;
	size_t n;

	assert_non_null(formats);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), "tables/%s", tables[i]);
		text = scratch_read(run->out, path, &n);
		if (text) /* else it has no row */
			assert_int_equal(csv_check(tables[i], text, n, formats, stderr), 0);
		free(text);
	}
	free(formats);
	text = scratch_read(run->out, "trace.json", &n);
	assert_non_null(text);
	assert_int_equal(trace_check(text, n, stderr), 0);
	return text;
}
