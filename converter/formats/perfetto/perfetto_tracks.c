/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks of any program. One of a thread is that thread, one of a process or with a name is a line
 * of its process, which it has by its ancestors.
 */
#include "base/array.h"
#include "perfetto_impl.h"

#define MAX_ANCESTORS 64
#define NAMED_TID     (1 << 30) /* of lines that are no threads: from here on */
#define NO_PROCESS    0         /* what is of no process */

int perfetto_find_track(struct perfetto *perfetto, uint64_t uuid, uint32_t *ret_track)
{
	struct perfetto_file *file = &perfetto->file;
	int is_new = MAP_PLACE(&file->track_index, uuid, 0, file->tracks, file->n_tracks,
	                       ret_track);

	if (is_new <= 0)
		return is_new;
	file->tracks[*ret_track] = (struct perfetto_track){
		.uuid = uuid,
		.pid = -1,
		.tid = -1,
		.multiplier = 1,
		.thing = FLEXTRACE_NONE,
		.top = NO_OPEN,
	};
	return FLEXTRACE_OK;
}

/* -- descriptors ------------------------------------------------------------------------------ */

/* Of a process or a thread: both descriptors have the pid in the same field. */
static int take_owner(struct perfetto *perfetto, struct perfetto_track *track,
                      struct protobuf message, enum perfetto_track_kind kind)
{
	struct protobuf_field of[PROCESS_NAME + 1], *name;

	protobuf_read(&message, of, PROCESS_NAME + 1);
	name = &of[kind == IS_THREAD ? THREAD_NAME : PROCESS_NAME];
	track->kind = (uint8_t)kind;
	track->pid = (int32_t)of[PROCESS_PID].value;
	if (kind == IS_THREAD)
		track->tid = (int64_t)of[THREAD_TID].value;
	return name->number ? perfetto_intern(perfetto, &name->bytes, &track->name) : FLEXTRACE_OK;
}

static int take_counter(struct perfetto *perfetto, struct perfetto_track *track,
                        struct protobuf message)
{
	static const char *const units[] = {"", "ns", "", "bytes"};
	struct protobuf_field of[COUNTER_UNIT_NAME + 1];
	const char *unit;

	protobuf_read(&message, of, COUNTER_UNIT_NAME + 1);
	track->kind = IS_COUNTER;
	track->is_incremental = of[COUNTER_IS_INCREMENTAL].value;
	if (of[COUNTER_MULTIPLIER].value)
		track->multiplier = (double)(int64_t)of[COUNTER_MULTIPLIER].value;
	if (of[COUNTER_UNIT_NAME].number)
		return perfetto_intern(perfetto, &of[COUNTER_UNIT_NAME].bytes, &track->unit);
	unit = of[COUNTER_UNIT].value < 4 ? units[of[COUNTER_UNIT].value] : "";
	return *unit ? string_intern(&perfetto->import.cache, unit, &track->unit) : FLEXTRACE_OK;
}

int perfetto_take_descriptor(struct perfetto *perfetto, struct protobuf message)
{
	static const uint32_t names[] = {DESCRIPTOR_NAME, DESCRIPTOR_STATIC_NAME,
	                                 DESCRIPTOR_ATRACE_NAME};
	struct protobuf_field of[DESCRIPTOR_STATIC_NAME + 4];
	struct perfetto_track *track;
	uint32_t place;

	if (protobuf_read(&message, of, DESCRIPTOR_STATIC_NAME + 4) < 0)
		return import_reject(&perfetto->import, LOSS_MALFORMED,
		                     "a descriptor of a track is damaged", perfetto->file.place);
	FLEXTRACE_TRY(perfetto_find_track(perfetto, of[DESCRIPTOR_UUID].value, &place));
	track = &perfetto->file.tracks[place];
	if (of[DESCRIPTOR_PARENT_UUID].number)
		track->parent = of[DESCRIPTOR_PARENT_UUID].value;
	if (of[DESCRIPTOR_THREAD].number)
		FLEXTRACE_TRY(take_owner(perfetto, track, of[DESCRIPTOR_THREAD].bytes, IS_THREAD));
	else if (of[DESCRIPTOR_PROCESS].number)
		FLEXTRACE_TRY(
			take_owner(perfetto, track, of[DESCRIPTOR_PROCESS].bytes, IS_PROCESS));
	if (of[DESCRIPTOR_COUNTER].number)
		FLEXTRACE_TRY(take_counter(perfetto, track, of[DESCRIPTOR_COUNTER].bytes));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (of[names[i]].number)
			FLEXTRACE_TRY(perfetto_intern(perfetto, &of[names[i]].bytes, &track->name));
	}
	return FLEXTRACE_OK;
}

/* -- whose they are --------------------------------------------------------------------------- */

/* The thread or process that a track is of, up its ancestors; NULL: of none that is described. */
static const struct perfetto_track *owner_of(const struct perfetto_file *file,
                                             const struct perfetto_track *track)
{
	for (int i = 0; i < MAX_ANCESTORS; i++) {
		uint32_t place;

		if (track->kind == IS_THREAD || track->kind == IS_PROCESS)
			return track;
		place = track->parent ? map_find(&file->track_index, track->parent, 0) : MAP_NONE;
		if (place == MAP_NONE)
			return NULL;
		track = &file->tracks[place];
	}
	return NULL;
}

/* The name that a process has by a track of its own, or of its main thread. */
static const char *name_of_process(const struct perfetto *perfetto, int32_t pid)
{
	const struct perfetto_file *file = &perfetto->file;
	const char *name = PERFETTO_TOOL;

	for (uint32_t i = 0; i < file->n_tracks; i++) {
		const struct perfetto_track *track = &file->tracks[i];

		if (track->kind == IS_PROCESS && track->pid == pid && track->name)
			name = perfetto_string(perfetto, track->name);
	}
	return name;
}

static int define_process(struct perfetto *perfetto, int32_t pid)
{
	uint32_t stream;
	const struct flextrace_process process = {
		.rank = FLEXTRACE_RANK_UNKNOWN,
		.pid = (uint32_t)pid,
		.host = IMPORT_HOST,
		.program = name_of_process(perfetto, pid),
		.runtime = PERFETTO_TOOL,
		.dialect = "neutral",
	};

	FLEXTRACE_TRY(perfetto_add_stream(perfetto, true, &stream));
	FLEXTRACE_TRY(map_put(&perfetto->file.process_index, (uint32_t)pid, 0, stream));
	return perfetto_define_process(perfetto, stream, pid, &process, "");
}

static int name_line(struct perfetto *perfetto, const struct perfetto_track *track)
{
	struct event event = perfetto_event_of(perfetto, track, RECORD_THREAD_NAME, 0);
	uint32_t *place;

	FLEXTRACE_TRY(map_enter(&perfetto->file.thread_index, track->stream, (uint32_t)track->vtid,
	                        &place));
	if (*place != MAP_NONE || !track->name)
		return FLEXTRACE_OK;
	*place = 0;
	event.payload.name = (struct flextrace_name){
		.id = (uint32_t)track->vtid, .name = perfetto_string(perfetto, track->name)};
	return import_write(&perfetto->import, track->stream, &event);
}

int perfetto_own_track(struct perfetto *perfetto, uint32_t place)
{
	struct perfetto_file *file = &perfetto->file;
	struct perfetto_track *track = &file->tracks[place];
	const struct perfetto_track *owner = owner_of(file, track);
	int32_t pid = owner ? (int32_t)owner->pid : NO_PROCESS;

	if (track->is_found)
		return FLEXTRACE_OK;
	if (map_find(&file->process_index, (uint32_t)pid, 0) == MAP_NONE)
		FLEXTRACE_TRY(define_process(perfetto, pid));
	track->is_found = true;
	track->stream = map_find(&file->process_index, (uint32_t)pid, 0);
	track->vpid = pid;
	track->vtid = owner && owner->kind == IS_THREAD ? (int32_t)owner->tid : -1;
	if (track->kind == IS_COUNTER)
		return FLEXTRACE_OK;
	if (track->kind != IS_THREAD)
		track->vtid = NAMED_TID + (int32_t)file->n_named++;
	return name_line(perfetto, track);
}
