/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is on tracks -> events. Nobody promises where times of other programs are: their rows are
 * given.
 */
#include <inttypes.h>
#include <stdio.h>

#include "model/identity/identity.h"
#include "perfetto_impl.h"

/* -- whose they are --------------------------------------------------------------------------- */

int perfetto_add_stream(struct perfetto *perfetto, bool is_given, uint32_t *ret_stream)
{
	struct import_stream stream = {
		.uuid = PERFETTO_TOOL,
		.clock_offset_ns = perfetto->file.epoch_ns,
		.is_given = is_given,
	};

	*ret_stream = perfetto->import.n_streams;
	import_number_stream(&stream, *ret_stream, (uint32_t)perfetto->file.hash);
	FLEXTRACE_TRY(import_add_stream(&perfetto->import, &stream));
	return import_add_file(&perfetto->import, *ret_stream, PERFETTO_TOOL, perfetto->file.path);
}

/* All of a file are on one clock. */
int perfetto_define_process(struct perfetto *perfetto, uint32_t stream, int32_t vpid,
                            const struct flextrace_process *process, const char *clock)
{
	struct flextrace_process of = *process;
	char boot_id[64];

	snprintf(boot_id, sizeof(boot_id), IDENTITY_FILE "%s" PERFETTO_TOOL " %016" PRIx64, clock,
	         perfetto->file.hash);
	of.boot_id = boot_id;
	return import_define(&perfetto->import, stream, vpid, RECORD_PROCESS, &of);
}

struct event perfetto_event_of(const struct perfetto *perfetto, const struct perfetto_track *track,
                               enum record_class class, int64_t time_ns)
{
	return (struct event){
		.class = class,
		.clock_ns = (uint64_t)time_ns,
		.vpid = track->vpid,
		.vtid = track->vtid,
		.n_origins = 1,
		/* each file has streams of its own */
		.origins[0] = origin_make(0, perfetto->file.n_packets),
	};
}

/* -- what they say ---------------------------------------------------------------------------- */

int perfetto_tell(struct perfetto *perfetto, uint32_t category, const char *members,
                  const char **ret_told)
{
	struct json_text *told = &perfetto->told;
	size_t n;

	*ret_told = "";
	if (!*members && !category)
		return FLEXTRACE_OK;
	json_text_clear(told);
	json_text_open(told, '{');
	json_text_string(told, "cat", perfetto_string(perfetto, category));
	if (*members)
		writer_format(&told->writer, ",%s", members);
	json_text_close(told, '}');
	return json_text_get(told, ret_told, &n);
}

/* -- rows ------------------------------------------------------------------------------------- */

int perfetto_write_interval(struct perfetto *perfetto, const struct perfetto_track *track,
                            const struct perfetto_open *open)
{
	struct event event = perfetto_event_of(perfetto, track, RECORD_SCOPE, open->end_ns);
	const char *told;

	event.origins[0] = origin_make(0, open->packet);
	event.payload.scope = (struct flextrace_scope){
		.begin_ns = (uint64_t)open->begin_ns,
		.name = perfetto_string(perfetto, open->name),
		.file = perfetto_string(perfetto, open->location.file),
		.line = open->location.line,
	};
	FLEXTRACE_TRY(perfetto_tell(perfetto, open->category, open->members, &told));
	return import_write_scope(&perfetto->import, track->stream, &event, told);
}

int perfetto_write_begin(struct perfetto *perfetto, const struct perfetto_track *track,
                         const struct perfetto_open *open)
{
	struct event event = perfetto_event_of(perfetto, track, RECORD_BEGIN, open->begin_ns);

	event.payload.edge.name = perfetto_string(perfetto, open->name);
	return import_write(&perfetto->import, track->stream, &event);
}

/* One that says more than its name is an annotation. */
int perfetto_write_instant(struct perfetto *perfetto, const struct track_event *of)
{
	struct perfetto_file *file = &perfetto->file;
	const char *name = perfetto_string(perfetto, of->name), *told;
	struct event event;

	if (file->is_ours)
		return perfetto_write_our_instant(perfetto, of);
	FLEXTRACE_TRY(perfetto_own_track(perfetto, of->track));
	FLEXTRACE_TRY(perfetto_take_flows(perfetto, of, of->time_ns));
	event = perfetto_event_of(perfetto, &file->tracks[of->track], RECORD_INSTANT, of->time_ns);
	event.payload.instant.name = name;
	if (*of->members) {
		FLEXTRACE_TRY(perfetto_tell(perfetto, of->category, of->members, &told));
		event.class = RECORD_ANNOTATION;
		event.payload.annotation = (struct flextrace_annotation){.key = name,
		                                                         .value = told};
	}
	return import_write(&perfetto->import, file->tracks[of->track].stream, &event);
}

/* Its name, and what else tells it from others: of which thread it is, and its unit. */
static int name_counter(struct perfetto *perfetto, const struct perfetto_track *track,
                        const char **ret_name)
{
	size_t n;

	json_text_clear(&perfetto->told);
	writer_raw(&perfetto->told.writer, perfetto_string(perfetto, track->name));
	if (track->vtid >= 0)
		writer_format(&perfetto->told.writer, " of thread %d", track->vtid);
	if (track->unit)
		writer_format(&perfetto->told.writer, " (%s)",
		              perfetto_string(perfetto, track->unit));
	return json_text_get(&perfetto->told, ret_name, &n);
}

int perfetto_write_counter(struct perfetto *perfetto, const struct track_event *of)
{
	struct perfetto_track *track;
	struct event event;

	if (perfetto->file.is_ours)
		return perfetto_write_our_counter(perfetto, of);
	FLEXTRACE_TRY(perfetto_own_track(perfetto, of->track));
	track = &perfetto->file.tracks[of->track];
	track->value = (track->is_incremental ? track->value : 0) + of->value * track->multiplier;
	event = perfetto_event_of(perfetto, track, RECORD_COUNTER, of->time_ns);
	event.payload.counter.value = track->value;
	event.payload.counter.device = -1;
	FLEXTRACE_TRY(name_counter(perfetto, track, &event.payload.counter.name));
	return import_write(&perfetto->import, track->stream, &event);
}
