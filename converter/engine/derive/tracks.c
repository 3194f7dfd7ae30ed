/* SPDX-License-Identifier: Apache-2.0 */
#include "derive_impl.h"

/* Streams of the torch profiler have annotations around the work on them. */
static bool is_told(const struct derive *derive, uint32_t device)
{
	return identity_is_torch_file(derive->identity, derive->out.strings,
	                              derive->identity->devices[device].process);
}

static uint8_t dialect_of(const struct identity *identity, const struct track *track)
{
	uint32_t process = track->kind < TRACK_QUEUE ? identity->threads[track->owner].process
	                                             : identity->devices[track->owner].process;

	return identity->processes[process].dialect;
}

static int add_family(struct derive *derive, struct track track, uint32_t *ret_family)
{
	struct track_family *family;
	bool nests = track.kind == TRACK_THREAD || track.kind == TRACK_CORE ||
	             (track.kind == TRACK_QUEUE && is_told(derive, track.owner));

	track.dialect = dialect_of(derive->identity, &track);
	FLEXTRACE_TRY(ARRAY_ROOM(derive->lines.families, derive->lines.n));
	family = &derive->lines.families[derive->lines.n];
	*family = (struct track_family){.track = track};
	lanes_init(&family->lanes, nests);
	*ret_family = derive->lines.n++;
	return FLEXTRACE_OK;
}

int family_of_thread(struct derive *derive, uint32_t thread, enum track_kind kind,
                     uint32_t *ret_family)
{
	struct derive_thread *state = derive_thread(derive, thread);

	if (!state)
		return FLEXTRACE_E_MEMORY;
	if (!state->families[kind]) {
		struct track track = {.kind = (uint8_t)kind, .owner = thread};

		FLEXTRACE_TRY(add_family(derive, track, &state->families[kind]));
		state->families[kind]++;
	}
	*ret_family = state->families[kind] - 1;
	return FLEXTRACE_OK;
}

static int family_of_key(struct derive *derive, struct map *map, uint64_t a, struct track track,
                         uint32_t *ret_family)
{
	uint64_t b = (uint64_t)track.owner << 8 | track.row_kind;

	*ret_family = map_find(map, a, b);
	if (*ret_family != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(add_family(derive, track, ret_family));
	return map_put(map, a, b, *ret_family);
}

int family_of_queue(struct derive *derive, uint32_t device, uint32_t queue, uint8_t row_kind,
                    uint32_t *ret_family)
{
	bool is_main = is_main_row(row_kind) || (row_kind == ROW_STATE && is_told(derive, device));
	struct track track = {.kind = TRACK_QUEUE,
	                      .row_kind = is_main ? ROW_EXEC : row_kind,
	                      .owner = device,
	                      .id = queue};

	return family_of_key(derive, &derive->lines.of_queues, queue, track, ret_family);
}

int family_of_core(struct derive *derive, uint32_t device, uint32_t core, uint32_t processor,
                   uint32_t *ret_family)
{
	struct track track = {
		.kind = TRACK_CORE, .owner = device, .id = core, .processor = processor};

	return family_of_key(derive, &derive->lines.of_cores, (uint64_t)core << 32 | processor,
	                     track, ret_family);
}

/* Adds the tracks of a family up to that of a lane. */
static __attribute__((noinline)) int add_tracks(struct derive *derive, struct track_family *family,
                                                uint32_t lane)
{
	while (family->n_tracks <= lane) {
		struct track track = family->track;

		track.lane = family->n_tracks;
		FLEXTRACE_TRY(ARRAY_PUSH(family->tracks, family->n_tracks, derive->out.n_tracks));
		FLEXTRACE_TRY(ARRAY_PUSH(derive->out.tracks, derive->out.n_tracks, track));
	}
	return FLEXTRACE_OK;
}

int family_track(struct derive *derive, uint32_t family_id, uint32_t lane, uint32_t *ret_track)
{
	struct track_family *family = &derive->lines.families[family_id];

	if (lane >= family->n_tracks)
		FLEXTRACE_TRY(add_tracks(derive, family, lane));
	*ret_track = family->tracks[lane];
	return FLEXTRACE_OK;
}

int family_place(struct derive *derive, uint32_t family, int64_t start_time_ns, int64_t end_time_ns,
                 uint32_t *ret_track, uint32_t *ret_depth)
{
	uint32_t lane;

	FLEXTRACE_TRY(lanes_place(&derive->lines.families[family].lanes, start_time_ns, end_time_ns,
	                          &lane, ret_depth));
	return family_track(derive, family, lane, ret_track);
}

void families_release(struct track_families *lines)
{
	for (uint32_t i = 0; i < lines->n; i++) {
		lanes_release(&lines->families[i].lanes);
		free(lines->families[i].tracks);
	}
	free(lines->families);
	map_release(&lines->of_queues);
	map_release(&lines->of_cores);
}
