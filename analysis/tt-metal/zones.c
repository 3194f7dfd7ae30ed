/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zones.csv: cycles of the zones of firmware by device, processor and name, over all cores. Of
 * devices whose processors are named, as all tables of cores.
 */
#include <stdlib.h>

#include "core_stamps.h"
#include "emit/kinds.h"

#define FILE_NAME      "zones.csv"
#define MAX_PROCESSORS 1024u /* that owners have numbers for */

struct zones {
	struct core_stamps all;
	struct stats stats;
};

static const char *label_of(uint8_t kind)
{
	return kind_of_device(kind)->label;
}

static int count_zone(struct zones *zones, const struct device_row *row)
{
	const struct timeline *timeline = zones->all.timeline;
	const struct zone *zone = &timeline->zones[row->source];
	const struct track *track = &timeline->tracks[row->track];
	struct stats_key key = {.kind = row->kind, .name = timeline->markers[zone->marker].name};
	uint32_t group;

	if (!core_is_named(timeline, track->owner) || track->processor >= MAX_PROCESSORS)
		return FLEXTRACE_OK;
	key.owner = zones->all.places[track->owner] * MAX_PROCESSORS + track->processor;
	return stats_count(&zones->stats, &key, zone->last_ticks - zone->first_ticks, &group);
}

static int count_zones(struct zones *zones, const struct timeline *timeline)
{
	struct table_cursor cursor;
	const struct device_row *row;

	FLEXTRACE_TRY(core_places_init(&zones->all, timeline));
	if (!zones->all.places)
		return FLEXTRACE_OK;
	analysis_read(&cursor, &timeline->device_rows);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		if (row->kind >= ROW_FIRMWARE)
			FLEXTRACE_TRY(count_zone(zones, row));
	}
	return stats_finish(&zones->stats, timeline->strings);
}

static void write_zone(struct zones *zones, const struct stats_group *group, struct writer *writer)
{
	uint32_t place = group->key.owner / MAX_PROCESSORS;
	const struct device *device = core_device(&zones->all, place);
	uint64_t hz = core_hz(&zones->all, place);
	char name[64];

	owners_write(&zones->all.owners, device->process, writer);
	writer_char(writer, ',');
	writer_u64(writer, device->device);
	writer_char(writer, ',');
	core_processor_name(&zones->all, place, group->key.owner % MAX_PROCESSORS, name,
	                    sizeof(name));
	writer_csv(writer, name, strlen(name));
	writer_char(writer, ',');
	stats_write_head(&zones->stats, zones->all.timeline->strings, group, writer);
	stats_write_spread(&zones->stats, group, writer);
	writer_char(writer, ',');
	if (hz)
		writer_fixed(writer,
		             (double)group->total_ns / (double)group->calls * 1e9 / (double)hz, 3);
	writer_char(writer, '\n');
}

static void write_zones(void *context, struct writer *writer)
{
	struct zones *zones = context;

	writer_literal(writer, "rank,host,pid,device,processor,kind,name,calls,total,mean,median,"
	                       "min,max,stddev,mean_ns\n");
	for (uint32_t i = 0; i < zones->stats.n_groups; i++)
		write_zone(zones, stats_line(&zones->stats, i), writer);
}

static int write_file(const struct timeline *timeline, const char *output_dir, uint64_t *ret_rows,
                      struct flextrace_error *error)
{
	struct zones zones = {.all = {.timeline = timeline}};
	int code;

	stats_init(&zones.stats, label_of, timeline->device_rows.n_rows);
	if (count_zones(&zones, timeline) < 0)
		code = analysis_no_memory(FILE_NAME, error);
	else
		code = analysis_save(output_dir, FILE_NAME, write_zones, &zones, error);
	*ret_rows = zones.stats.n_groups;
	stats_release(&zones.stats);
	core_stamps_release(&zones.all);
	return code;
}

const struct analysis analysis_zones = {.name = "zones", .write = write_file};
