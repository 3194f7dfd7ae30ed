/* SPDX-License-Identifier: Apache-2.0 */
/* A dump of marker areas, printed by `flextrace decode`. */
#include "fuzz.h"

#include "cli/report/area_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static FILE *nowhere;
	struct area_list areas = {.warn = NULL};
	struct marker_names names = {.n = 0};

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (!nowhere)
		fuzz_fail("no file");
	area_list_add(&areas, fuzz_file(data, n), NULL);
	for (uint32_t i = 0; i < areas.n; i++)
		area_text_print(&areas.areas[i], &names, nowhere, NULL);
	area_list_release(&areas);
	marker_names_release(&names);
	return 0;
}
