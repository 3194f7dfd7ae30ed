/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zones.csv: cycles of the zones of firmware by device, processor and name, over all cores. Of
 * devices whose processors are named, as all tables of cores.
 */
#include <stdlib.h>

#include "core_stamps.h"
#include "model/words/kinds.h"

#define MAX_PROCESSORS 1024u /* that owners have numbers for */

struct zones {
	struct core_stamps all;
	struct stats stats;
};

static int count_zone(struct zones *zones, const struct device_row *row)
{
	const struct timeline *timeline = zones->all.timeline;
	const struct zone *zone = &timeline->marks.zones[row->source];
	const struct track *track = &timeline->tracks[row->track];
	struct group_key key = {.kind = row->kind, .name = timeline->markers[zone->marker].name};
	uint32_t group;

	if (!core_is_named(timeline, track->owner) || track->processor >= MAX_PROCESSORS)
		return FLEXTRACE_OK;
	key.owner = zones->all.owners->device_positions[track->owner] * MAX_PROCESSORS +
	            track->processor;
	return stats_count(&zones->stats, &key, zone->last_ticks - zone->first_ticks, &group);
}

static int count_zones(struct zones *zones, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;

	core_places_init(&zones->all, findings);
	if (!zones->all.owners)
		return FLEXTRACE_OK;
	TABLE_EACH(struct device_row, row, &timeline->device_rows) {
		if (row->kind >= ROW_FIRMWARE)
			FLEXTRACE_TRY(count_zone(zones, row));
	}
	return stats_finish(&zones->stats);
}

struct zone_row {
	struct stats_cells of;
	uint32_t device;
	const char *processor;
	double mean_ns;
};

static const struct column columns[] = {
	COLUMNS_DEVICE(struct zone_row, device),
	COLUMN(struct zone_row, processor),
	COLUMN_AS("kind", struct zone_row, of.kind),
	COLUMN_AS("name", struct zone_row, of.name),
	COLUMN_AS("calls", struct zone_row, of.calls),
	COLUMN_AS("total", struct zone_row, of.total),
	COLUMNS_SPREAD(struct zone_row, of.spread, ""),
	COLUMN_FIXED(struct zone_row, mean_ns, 3),
};

static void put_zone(struct zones *zones, const struct stats_group *group, struct row_sink *sink)
{
	uint32_t place = group->key.owner / MAX_PROCESSORS;
	double mean = (double)group->total_ns / (double)group->calls;
	char name[64];

	core_processor_name(&zones->all, place, group->key.owner % MAX_PROCESSORS, name,
	                    sizeof(name));
	row_put(sink, &(struct zone_row){
			      .of = stats_cells(&zones->stats, group),
			      .device = zones->all.owners->devices[place],
			      .processor = name,
			      .mean_ns = mean * 1e9 / (double)core_hz(&zones->all, place),
		      });
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	struct zones zones = {.all = {.timeline = timeline}};
	int code;

	stats_init(&zones.stats, timeline->strings, kind_device_label,
	           timeline->device_rows.n_rows);
	code = count_zones(&zones, findings);
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < zones.stats.groups.n; i++)
		put_zone(&zones, stats_line(&zones.stats, i), sink);
	stats_release(&zones.stats);
	core_stamps_release(&zones.all);
	return code;
}

const struct analysis analysis_zones =
	ANALYSIS_CSV("zones", columns, fill, .title = "Zones of firmware",
                     .what = "Zones of the firmware by processor and name: calls, and "
                             "their cycles in all, mean, median, least and most.");
