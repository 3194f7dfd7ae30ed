// SPDX-License-Identifier: Apache-2.0
#include "chrome.h"

#include <stdlib.h>

int chrome_sites_have(struct chrome_sites *sites, const struct file_event *event)
{
	uint64_t category = (uintptr_t)event->category.bytes;
	struct chrome_site *site;
	uint32_t place;
	int is_new = MAP_PLACE(&sites->names, event->name, category, sites->sites, sites->n,
	                       &place);

	FLEXTRACE_TRY(is_new);
	site = &sites->sites[place];
	if (is_new)
		*site = (struct chrome_site){event->name, event->file, event->line,
		                             event->category};
	return site->file == event->file && site->line == event->line;
}

void chrome_sites_release(struct chrome_sites *sites)
{
	map_release(&sites->names);
	free(sites->sites);
}
