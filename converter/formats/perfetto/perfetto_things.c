/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that flextrace wrote: its attribute `flextrace` says what each track stands for. Processes
 * whose rows were exactly on the clock of the file are defined as such, all others are given.
 */
#include <string.h>

#include "base/array.h"
#include "base/text/digits.h"
#include "perfetto_impl.h"

/* -- members ---------------------------------------------------------------------------------- */

static uint64_t number_of(const struct told *members, const char *key, uint64_t other)
{
	uint64_t number;

	return told_find_u64(members, key, &number) ? number : other;
}

static bool is(const struct told *members, const char *word)
{
	struct trace_value value;

	return told_find(members, "is", &value) && trace_text_is(&value.text, word);
}

/* -- things ----------------------------------------------------------------------------------- */

static int32_t int_of(const struct told *members, const char *key, int32_t other)
{
	uint64_t number = number_of(members, key, UINT64_MAX);

	return number <= INT32_MAX ? (int32_t)number : other;
}

static int define_process(struct perfetto *perfetto, struct perfetto_thing *thing,
                          const struct told *of)
{
	uint32_t host, program, runtime, version;
	struct flextrace_process process = {
		.rank = int_of(of, "rank", FLEXTRACE_RANK_UNKNOWN),
		.world_size = int_of(of, "world_size", 0),
		.pid = (uint32_t)int_of(of, "pid", 0),
	};

	thing->kind = THING_PROCESS;
	thing->is_torch = number_of(of, "torch", 0);
	thing->vpid = (int32_t)process.pid;
	FLEXTRACE_TRY(our_row_text_of(perfetto, of, "host", &host));
	FLEXTRACE_TRY(our_row_text_of(perfetto, of, "program", &program));
	FLEXTRACE_TRY(our_row_text_of(perfetto, of, "runtime", &runtime));
	FLEXTRACE_TRY(our_row_text_of(perfetto, of, "version", &version));
	process.host = perfetto_string(perfetto, host);
	process.program = perfetto_string(perfetto, program);
	process.runtime = perfetto_string(perfetto, runtime);
	process.version = perfetto_string(perfetto, version);
	FLEXTRACE_TRY(perfetto_add_stream(perfetto, !number_of(of, "exact", 0), &thing->stream));
	return perfetto_define_process(perfetto, thing->stream, thing->vpid, &process,
	                               thing->is_torch ? "torch rank " : "");
}

static int define_device(struct perfetto *perfetto, const struct perfetto_thing *thing,
                         const struct told *of)
{
	struct flextrace_device device = {
		.device = thing->number,
		.n_cores = (uint32_t)number_of(of, "cores", 0),
		.core_hz = number_of(of, "hz", 0),
	};
	uint32_t name, uuid, power_unit, processors;

	FLEXTRACE_TRY(our_row_text_of(perfetto, of, "name", &name));
	FLEXTRACE_TRY(our_row_text_of(perfetto, of, "uuid", &uuid));
	FLEXTRACE_TRY(our_row_text_of(perfetto, of, "power_unit", &power_unit));
	FLEXTRACE_TRY(our_row_text_of(perfetto, of, "processors", &processors));
	device.name = perfetto_string(perfetto, name);
	device.uuid = perfetto_string(perfetto, uuid);
	device.power_unit = perfetto_string(perfetto, power_unit);
	device.processors = perfetto_string(perfetto, processors);
	return import_define(&perfetto->import, thing->stream, thing->vpid, RECORD_DEVICE, &device);
}

/* Of a queue or a thread. */
static int define_name(struct perfetto *perfetto, const struct perfetto_thing *thing,
                       const struct told *of)
{
	struct event event = {.vpid = thing->vpid, .vtid = -1};
	const struct perfetto_thing *device = perfetto_thing(&perfetto->file, thing->of);
	bool is_queue = thing->kind == THING_QUEUE;
	uint32_t name;

	FLEXTRACE_TRY(our_row_text_of(perfetto, of, "name", &name));
	if (!name || thing->number == FLEXTRACE_NONE)
		return FLEXTRACE_OK;
	event.class = is_queue ? RECORD_QUEUE_NAME : RECORD_THREAD_NAME;
	event.vtid = is_queue ? -1 : (int32_t)thing->number;
	event.payload.name = (struct flextrace_name){
		.device = is_queue && device ? device->number : 0,
		.id = thing->number,
		.name = perfetto_string(perfetto, name),
	};
	return import_write(&perfetto->import, thing->stream, &event);
}

/* Whether a loss, which the file of each rank tells that it may be of, is the first one. */
static int is_new_loss(struct perfetto *perfetto, uint64_t shared, uint64_t cause, uint64_t count)
{
	struct map *known = &perfetto->shared_losses;
	uint64_t what = hash_mix(cause, count);

	if (!shared)
		return 1;
	if (map_find(known, shared, what) != MAP_NONE)
		return 0;
	return map_put(known, shared, what, 0) < 0 ? FLEXTRACE_E_MEMORY : 1;
}

static int lose(struct perfetto *perfetto, const struct told *of)
{
	struct loss_place place = LOSS_NOWHERE;
	uint64_t shared = number_of(of, "shared", 0), count = number_of(of, "count", 0);
	struct trace_value cause;
	int code;

	place.device = (uint32_t)number_of(of, "device", UINT32_MAX);
	place.core = (uint32_t)number_of(of, "core", UINT32_MAX);
	if (!told_find(of, "cause", &cause))
		return FLEXTRACE_OK;
	for (int i = 0; i < LOSS_CAUSE_COUNT; i++) {
		if (!trace_text_is(&cause.text, ledger_cause_id((enum loss_cause)i)))
			continue;
		code = is_new_loss(perfetto, shared, (uint64_t)i, count);
		return code <= 0 ? code
		                 : ledger_lose(&perfetto->import.ledger, (enum loss_cause)i, &place,
		                               count, INT64_MIN);
	}
	return FLEXTRACE_OK;
}

/* Whose a thing is, which stands in front of it. False: nobody's that there is. */
static bool inherit(const struct perfetto_file *file, struct perfetto_thing *thing,
                    enum thing_kind of)
{
	const struct perfetto_thing *owner = perfetto_thing(file, thing->of);

	if (!owner || owner->kind != of)
		return false;
	thing->stream = owner->stream;
	thing->vpid = owner->vpid;
	thing->is_torch = owner->is_torch;
	return true;
}

static int define(struct perfetto *perfetto, struct perfetto_thing *thing, const struct told *of)
{
	const struct perfetto_file *file = &perfetto->file;

	thing->kind = THING_LOSS;
	thing->of = number_of(of, "of", 0);
	thing->number = (uint32_t)number_of(of, "number", FLEXTRACE_NONE);
	thing->processor = (uint32_t)number_of(of, "processor", 0);
	if (is(of, "process"))
		return define_process(perfetto, thing, of);
	if (is(of, "device") && inherit(file, thing, THING_PROCESS)) {
		thing->kind = THING_DEVICE;
		return define_device(perfetto, thing, of);
	}
	thing->is_async = is(of, "async");
	if ((is(of, "thread") || thing->is_async) && inherit(file, thing, THING_PROCESS)) {
		thing->kind = THING_THREAD;
		return define_name(perfetto, thing, of);
	}
	if (is(of, "queue") && inherit(file, thing, THING_DEVICE)) {
		thing->kind = THING_QUEUE;
		return define_name(perfetto, thing, of);
	}
	if (is(of, "core") && inherit(file, thing, THING_DEVICE))
		thing->kind = THING_CORE;
	else if (is(of, "loss"))
		return lose(perfetto, of);
	return FLEXTRACE_OK;
}

/* -- the attribute ---------------------------------------------------------------------------- */

int perfetto_take_things(struct perfetto *perfetto, struct protobuf attributes)
{
	struct protobuf_field attribute, of[ATTRIBUTE_TEXT + 1] = {{.wire = 0}};
	struct protobuf *key = &of[ATTRIBUTE_KEY].bytes;

	while (protobuf_next(&attributes, &attribute) > 0) {
		if (attribute.wire != PROTOBUF_BYTES || perfetto->file.is_ours ||
		    protobuf_read(&attribute.bytes, of, ATTRIBUTE_TEXT + 1) < 0 ||
		    protobuf_length(key) != 9 || memcmp(key->at, "flextrace", 9) != 0)
			continue;
		FLEXTRACE_TRY(
			perfetto_intern(perfetto, &of[ATTRIBUTE_TEXT].bytes, &perfetto->file.ours));
		perfetto->file.is_ours =
			told_is_json(perfetto_string(perfetto, perfetto->file.ours));
	}
	return FLEXTRACE_OK;
}

static int take_member(struct perfetto *perfetto, uint64_t uuid, const struct trace_value *value)
{
	struct perfetto_file *file = &perfetto->file;
	const struct told of = {.members = value->text};
	struct perfetto_thing *thing;
	uint32_t place;
	int is_new = MAP_PLACE(&file->thing_index, uuid, 0, file->things, file->n_things, &place);
	int code;

	if (is_new <= 0)
		return is_new;
	thing = &file->things[place];
	thing->stream = FLEXTRACE_NONE;
	code = define(perfetto, thing, &of);
	return code;
}

/* Tracks that nothing is said of have no rows of ours. */
static int place_tracks(struct perfetto *perfetto)
{
	struct perfetto_file *file = &perfetto->file;

	for (uint32_t i = 0; i < file->n_tracks; i++) {
		struct perfetto_track *track = &file->tracks[i];
		uint64_t uuid = track->kind == IS_COUNTER ? track->parent : track->uuid;
		uint32_t place = map_find(&file->thing_index, uuid, 0);
		const struct perfetto_thing *thing;

		if (place == MAP_NONE)
			continue;
		thing = &file->things[place];
		track->thing = place;
		track->stream = thing->stream;
		track->vpid = thing->vpid;
		track->vtid = thing->kind == THING_THREAD && thing->number != FLEXTRACE_NONE
		                      ? (int32_t)thing->number
		                      : -1;
	}
	return FLEXTRACE_OK;
}

int perfetto_define_things(struct perfetto *perfetto)
{
	const char *text = perfetto_string(perfetto, perfetto->file.ours);
	struct trace_text rest = {text, strlen(text)}, key;
	struct trace_value value;
	uint64_t uuid;

	while (told_next(&rest, &key, &value)) {
		const char *at = key.bytes;

		if (value.kind == TRACE_JSON && digits_take(&at, UINT64_MAX, &uuid) && *at == '"')
			FLEXTRACE_TRY(take_member(perfetto, uuid, &value));
	}
	return place_tracks(perfetto);
}
