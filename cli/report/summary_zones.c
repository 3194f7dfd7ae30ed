/* SPDX-License-Identifier: Apache-2.0 */
/* Zones of firmware that never ended. */

#include "terminal/cli.h"
#include "summary_impl.h"

#define MAX_NAMED    10
#define NAME_COLUMNS 36

void summary_print_endless(FILE *to, const cJSON *run)
{
	const cJSON *zones = cJSON_GetObjectItemCaseSensitive(run, "zones_without_end");
	const cJSON *zone;
	int n = 0;

	if (!cJSON_GetArraySize(zones))
		return;
	cli_heading(to, "Zones of firmware that never ended");
	cJSON_ArrayForEach(zone, zones)
	{
		const char *file = summary_text(zone, "file");

		if (n++ == MAX_NAMED)
			break;
		summary_cell(to, "  ", summary_text(zone, "name"), NAME_COLUMNS);
		fprintf(to, " %.0f", summary_number(zone, "count"));
		if (*file)
			cli_print(to, "  %s:%.0f", file, summary_number(zone, "line"));
		fputc('\n', to);
	}
	if (n > MAX_NAMED)
		fprintf(to, "  and %d others: zones_without_end in run.json\n",
		        cJSON_GetArraySize(zones) - MAX_NAMED);
}
