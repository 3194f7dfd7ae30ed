/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins and ends -> intervals. An end is that of the innermost interval of its track. Flows lead
 * from one interval to the next that has their id.
 */
#include <string.h>

#include "base/array.h"
#include "perfetto_impl.h"

#define MAX_OPEN (1u << 20) /* at once, of all tracks */

/* -- open intervals --------------------------------------------------------------------------- */

static int take_room(struct perfetto_file *file, uint32_t *ret_place)
{
	*ret_place = file->free_open;
	if (file->n_are_open++ < file->n_open && *ret_place != NO_OPEN) {
		file->free_open = file->open[*ret_place].below;
		return FLEXTRACE_OK;
	}
	*ret_place = file->n_open;
	return ARRAY_PUSH(file->open, file->n_open, (struct perfetto_open){.below = NO_OPEN});
}

static void free_room(struct perfetto_file *file, uint32_t place)
{
	free(file->open[place].own_members);
	file->open[place].own_members = NULL;
	file->open[place].below = file->free_open;
	file->free_open = place;
	file->n_are_open--;
}

static struct perfetto_open open_of(const struct perfetto *perfetto,
                                    const struct track_event *event)
{
	return (struct perfetto_open){
		.name = event->name,
		.category = event->category,
		.location = event->location,
		.begin_ns = event->time_ns,
		.packet = perfetto->file.n_packets,
		.held = NO_OPEN,
		.members = "",
	};
}

/* What the end says is said of the interval, too. */
static int add_members(struct perfetto_open *open, const char *members)
{
	char *both;

	if (!*members)
		return FLEXTRACE_OK;
	if (asprintf(&both, "%s%s%s", open->members, *open->members ? "," : "", members) < 0)
		return FLEXTRACE_E_MEMORY;
	free(open->own_members);
	open->members = open->own_members = both;
	return FLEXTRACE_OK;
}

int perfetto_begin(struct perfetto *perfetto, const struct track_event *event)
{
	struct perfetto_file *file = &perfetto->file;
	struct perfetto_track *track = &file->tracks[event->track];
	struct perfetto_open open = open_of(perfetto, event);
	uint32_t place;

	if (file->n_are_open == MAX_OPEN)
		return perfetto_reject(perfetto, event->packet, LOSS_MALFORMED,
		                       "a million intervals are open");
	FLEXTRACE_TRY(take_room(file, &place));
	open.below = track->top;
	file->open[place] = open;
	track->top = place;
	FLEXTRACE_TRY(add_members(&file->open[place], event->members));
	return perfetto_take_flows(perfetto, event, open.begin_ns);
}

static int write_interval(struct perfetto *perfetto, uint32_t track,
                          const struct perfetto_open *open)
{
	const struct perfetto_track *of = &perfetto->file.tracks[track];

	if (perfetto->file.is_ours)
		return perfetto_write_our_interval(perfetto, of, open);
	FLEXTRACE_TRY(perfetto_own_track(perfetto, track));
	return perfetto_write_interval(perfetto, of, open);
}

static void hold(struct perfetto_file *file, uint32_t place)
{
	struct perfetto_open *open = &file->open[place], *around = &file->open[open->below];
	uint32_t last = open->held == NO_OPEN ? place : open->last_held;

	if (around->held == NO_OPEN)
		around->held = place;
	else
		file->open[around->last_held].below = place;
	around->last_held = last;
	open->below = open->held;
	open->held = NO_OPEN;
}

static int write_held(struct perfetto *perfetto, uint32_t track, uint32_t place)
{
	struct perfetto_file *file = &perfetto->file;
	uint32_t next = file->open[place].held;

	while (next != NO_OPEN) {
		uint32_t held = next;

		next = file->open[held].below;
		FLEXTRACE_TRY(write_interval(perfetto, track, &file->open[held]));
		free_room(file, held);
	}
	return FLEXTRACE_OK;
}

static int finish(struct perfetto *perfetto, const struct track_event *event, uint32_t place)
{
	struct perfetto_file *file = &perfetto->file;
	struct perfetto_open *open = &file->open[place];

	if (event->type != TYPE_STATE) {
		FLEXTRACE_TRY(add_members(open, event->members));
		FLEXTRACE_TRY(perfetto_take_flows(perfetto, event, open->begin_ns));
	}
	open->end_ns = event->time_ns;
	if (open->end_ns < open->begin_ns)
		FLEXTRACE_TRY(perfetto_reject(perfetto, event->packet, LOSS_BACKWARDS,
		                              "an interval ends before it begins"));
	else if (open->below != NO_OPEN && file->open[open->below].begin_ns == open->begin_ns)
		return hold(file, place), FLEXTRACE_OK;
	else
		FLEXTRACE_TRY(write_interval(perfetto, event->track, open));
	FLEXTRACE_TRY(write_held(perfetto, event->track, place));
	free_room(file, place);
	return FLEXTRACE_OK;
}

int perfetto_end(struct perfetto *perfetto, const struct track_event *event)
{
	struct perfetto_file *file = &perfetto->file;
	struct perfetto_track *track = &file->tracks[event->track];
	uint32_t place = track->top;

	if (place == NO_OPEN)
		return perfetto_reject(perfetto, event->packet, LOSS_UNMATCHED_END,
		                       "an end has no begin");
	track->top = file->open[place].below;
	return finish(perfetto, event, place);
}

int perfetto_complete(struct perfetto *perfetto, const struct track_event *event, int64_t end_ns)
{
	struct perfetto_open open = open_of(perfetto, event);

	open.end_ns = end_ns;
	open.members = event->members;
	FLEXTRACE_TRY(perfetto_take_flows(perfetto, event, open.begin_ns));
	return write_interval(perfetto, event->track, &open);
}

/* Of devices they are only counted: what nobody placed the end of has no place. */
int perfetto_end_open(struct perfetto *perfetto)
{
	struct perfetto_file *file = &perfetto->file;

	for (uint32_t i = 0; i < file->n_tracks; i++) {
		for (uint32_t k = file->tracks[i].top; k != NO_OPEN; k = file->open[k].below) {
			if (!file->is_ours)
				FLEXTRACE_TRY(perfetto_own_track(perfetto, i));
			FLEXTRACE_TRY(write_held(perfetto, i, k));
			if (file->is_ours && file->tracks[i].vtid < 0)
				FLEXTRACE_TRY(
					import_lose(&perfetto->import, LOSS_UNMATCHED_BEGIN, 1));
			else
				FLEXTRACE_TRY(perfetto_write_begin(perfetto, &file->tracks[i],
				                                   &file->open[k]));
		}
	}
	return FLEXTRACE_OK;
}

/* -- flows ------------------------------------------------------------------------------------ */

/* An arrow is what leads from one row to another: derive finds these. */
static int write_arrow(struct perfetto *perfetto, const struct perfetto_flow *from, uint32_t to,
                       int64_t time_ns)
{
	struct perfetto_file *file = &perfetto->file;
	struct event edge = perfetto_event_of(perfetto, &file->tracks[from->track],
	                                      RECORD_ASYNC_BEGIN, from->time_ns);
	const struct perfetto_track *track = &file->tracks[to];

	edge.payload.edge = (struct flextrace_span_edge){.name = "fwdbwd",
	                                                 .correlation = ++file->n_arrows};
	FLEXTRACE_TRY(import_write(&perfetto->import, file->tracks[from->track].stream, &edge));
	edge.class = RECORD_ASYNC_END;
	edge.clock_ns = (uint64_t)time_ns;
	edge.vtid = track->vtid;
	return import_write(&perfetto->import, track->stream, &edge);
}

static int take_flow(struct perfetto *perfetto, const struct track_event *event, uint64_t id,
                     int64_t begin_ns)
{
	struct perfetto_file *file = &perfetto->file;
	const struct perfetto_track *to = &file->tracks[event->track], *of;
	struct perfetto_flow *flow, from;
	uint32_t place;
	int is_new = MAP_PLACE(&file->flow_index, id, 0, file->flows, file->n_flows, &place);

	FLEXTRACE_TRY(is_new);
	flow = &file->flows[place];
	from = *flow;
	*flow = (struct perfetto_flow){event->track, begin_ns, true};
	of = &file->tracks[from.track];
	if (!from.is_open || (from.track == event->track && from.time_ns == begin_ns))
		return FLEXTRACE_OK;
	if (file->is_ours && !perfetto_draws_flow(file, of, to))
		return FLEXTRACE_OK;
	if (of->stream != to->stream || from.time_ns > begin_ns)
		return perfetto_reject(perfetto, event->packet, LOSS_UNUSED,
		                       "a flow leads to another process, or back in time");
	return write_arrow(perfetto, &from, event->track, begin_ns);
}

int perfetto_take_flows(struct perfetto *perfetto, const struct track_event *event,
                        int64_t begin_ns)
{
	struct perfetto_file *file = &perfetto->file;

	if (event->n_flows && !file->is_ours)
		FLEXTRACE_TRY(perfetto_own_track(perfetto, event->track));
	for (uint32_t i = 0; i < event->n_flows; i++) {
		uint32_t place;

		FLEXTRACE_TRY(take_flow(perfetto, event, event->flows[i], begin_ns));
		place = map_find(&file->flow_index, event->flows[i], 0);
		if (event->flow_ends[i])
			file->flows[place].is_open = false;
	}
	return FLEXTRACE_OK;
}
