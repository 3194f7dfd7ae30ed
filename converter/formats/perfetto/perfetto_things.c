/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that flextrace wrote: its attribute `flextrace` says what each track stands for. Processes
 * whose rows were exactly on the clock of the file are defined as such, all others are given.
 */
#include <string.h>

#include "base/text/digits.h"
#include "model/words/kinds.h"
#include "perfetto_impl.h"

/* -- things ----------------------------------------------------------------------------------- */

static int restore(struct perfetto *perfetto, const struct perfetto_thing *thing,
                   const struct flextrace_restored *restored)
{
	struct event event = {.class = RECORD_RESTORED, .vpid = thing->vpid, .vtid = -1};

	event.payload.restored = *restored;
	return import_write(&perfetto->import, thing->stream, &event);
}

/* What the file says of a clock or of the host clock of a process, as it stands there. */
static int tell(struct perfetto *perfetto, const struct perfetto_thing *thing,
                const struct told *of, struct flextrace_restored restored)
{
	struct trace_value value = {TRACE_JSON, of->members};

	FLEXTRACE_TRY(perfetto_copy(perfetto, &value, &restored.type));
	return restore(perfetto, thing, &restored);
}

static int define_process(struct perfetto *perfetto, struct perfetto_thing *thing,
                          const struct told *of)
{
	bool is_exact = perfetto_number(of, "exact", 0);
	struct flextrace_process process;

	FLEXTRACE_TRY(perfetto_fill(perfetto, of, RECORD_PROCESS, &process));
	thing->is_torch = perfetto_number(of, "torch", 0);
	thing->dialect = dialect_find(process.dialect);
	if (thing->dialect == DIALECT_COUNT)
		thing->dialect = DIALECT_NEUTRAL;
	thing->vpid = (int32_t)process.pid;
	FLEXTRACE_TRY(perfetto_add_stream(perfetto, !is_exact, &thing->stream));
	FLEXTRACE_TRY(perfetto_define_process(perfetto, thing->stream, thing->vpid, &process,
	                                      thing->is_torch ? "torch rank " : ""));
	if (perfetto_number(of, "component", FLEXTRACE_NONE) == FLEXTRACE_NONE)
		return FLEXTRACE_OK; /* an older file */
	return tell(perfetto, thing, of, (struct flextrace_restored){.kind = RESTORED_ALIGNMENT});
}

static int define_device(struct perfetto *perfetto, const struct perfetto_thing *thing,
                         const struct told *of)
{
	struct flextrace_device device;

	FLEXTRACE_TRY(perfetto_fill(perfetto, of, RECORD_DEVICE, &device));
	device.device = thing->number;
	device.n_cores = (uint32_t)perfetto_number(of, "cores", 0);
	device.core_hz = perfetto_number(of, "hz", 0);
	return import_define(&perfetto->import, thing->stream, thing->vpid, RECORD_DEVICE, &device);
}

static int define_clock(struct perfetto *perfetto, const struct perfetto_thing *thing,
                        const struct told *of)
{
	struct flextrace_clock_domain domain;
	struct flextrace_restored restored = {
		.kind = RESTORED_CLOCK,
		.segment = (uint32_t)perfetto_number(of, "segment", FLEXTRACE_NONE),
	};

	FLEXTRACE_TRY(perfetto_fill(perfetto, of, RECORD_CLOCK_DOMAIN, &domain));
	restored.domain = domain.domain;
	restored.device = domain.device = perfetto_thing(&perfetto->file, thing->of)->number;
	if (!restored.segment)
		FLEXTRACE_TRY(import_define(&perfetto->import, thing->stream, thing->vpid,
		                            RECORD_CLOCK_DOMAIN, &domain));
	return tell(perfetto, thing, of, restored);
}

/* Of a queue or a thread. */
static int define_name(struct perfetto *perfetto, const struct perfetto_thing *thing,
                       const struct told *of)
{
	struct event event = {.class = RECORD_QUEUE_NAME, .vpid = thing->vpid, .vtid = -1};
	struct flextrace_name *name = &event.payload.name;

	FLEXTRACE_TRY(perfetto_fill(perfetto, of, RECORD_QUEUE_NAME, name));
	if (!*name->name || thing->number == FLEXTRACE_NONE)
		return FLEXTRACE_OK;
	name->id = thing->number;
	if (thing->kind == THING_QUEUE) {
		name->device = perfetto_thing(&perfetto->file, thing->of)->number;
	} else {
		event.class = RECORD_THREAD_NAME;
		event.vtid = (int32_t)thing->number;
	}
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

/* What was lost of a process, by when it was. */
static int lose_of_process(struct perfetto *perfetto, const struct perfetto_thing *process,
                           const struct told *of, struct flextrace_restored loss)
{
	struct trace_value spans = {TRACE_ABSENT, {NULL, 0}}, value;
	int64_t number[3]; /* the first and the last time, and how many */
	uint64_t rest = loss.bytes;

	told_find(of, "spans", &spans);
	for (int i = 0; spans.kind == TRACE_JSON && trace_array_next(&spans.text, &value); i++) {
		if (!trace_value_i64(&value, &number[i % 3]) ||
		    (i % 3 < 2 && __builtin_sub_overflow(number[i % 3], perfetto->file.epoch_ns,
		                                         &number[i % 3])))
			break;
		if (i % 3 < 2 || number[0] <= 0)
			continue;
		loss.begin_ns = (uint64_t)number[0];
		loss.end_ns = (uint64_t)number[1];
		loss.bytes = (uint64_t)number[2];
		rest -= loss.bytes;
		FLEXTRACE_TRY(restore(perfetto, process, &loss));
	}
	loss.begin_ns = loss.end_ns = 0;
	loss.bytes = rest;
	return rest ? restore(perfetto, process, &loss) : FLEXTRACE_OK;
}

static int lose(struct perfetto *perfetto, const struct perfetto_thing *thing,
                const struct told *of)
{
	struct loss_place place = LOSS_NOWHERE;
	uint64_t shared = perfetto_number(of, "shared", 0);
	uint64_t count = perfetto_number(of, "count", 0);
	const struct perfetto_thing *process = perfetto_thing(&perfetto->file, thing->of);
	struct trace_value cause;
	int code;

	place.device = (uint32_t)perfetto_number(of, "device", UINT32_MAX);
	place.core = (uint32_t)perfetto_number(of, "core", UINT32_MAX);
	for (int i = 0; told_find(of, "cause", &cause) && i < LOSS_CAUSE_COUNT; i++) {
		if (!trace_text_is(&cause.text, ledger_cause_id((enum loss_cause)i)))
			continue;
		if (process && process->kind == THING_PROCESS)
			return lose_of_process(perfetto, process, of,
			                       (struct flextrace_restored){
						       .kind = RESTORED_LOSS,
						       .op_kind = (uint32_t)i,
						       .device = place.device,
						       .core = place.core,
						       .bytes = count,
					       });
		code = is_new_loss(perfetto, shared, (uint64_t)i, count);
		return code <= 0 ? code
		                 : ledger_lose(&perfetto->import.ledger, (enum loss_cause)i, &place,
		                               count, INT64_MIN);
	}
	return FLEXTRACE_OK;
}

/* Takes over what the owner has, which stands in front of it. False: there is none. */
static bool inherit(const struct perfetto_file *file, struct perfetto_thing *thing,
                    enum thing_kind of)
{
	const struct perfetto_thing *owner = perfetto_thing(file, thing->of);

	if (!owner || owner->kind != of)
		return false;
	thing->stream = owner->stream;
	thing->vpid = owner->vpid;
	thing->is_torch = owner->is_torch;
	thing->dialect = owner->dialect;
	return true;
}

/* What it is called, and what it is of. */
static const struct thing_word {
	const char *word;
	enum thing_kind kind, of;
} words[] = {
	{"device", THING_DEVICE, THING_PROCESS}, {"thread", THING_THREAD, THING_PROCESS},
	{"clock", THING_CLOCK, THING_DEVICE},    {"async", THING_THREAD, THING_PROCESS},
	{"queue", THING_QUEUE, THING_DEVICE},    {"core", THING_CORE, THING_DEVICE},
};

static int define(struct perfetto *perfetto, struct perfetto_thing *thing, const struct told *of)
{
	struct trace_value is;

	thing->kind = THING_LOSS;
	thing->of = perfetto_number(of, "of", 0);
	thing->number = (uint32_t)perfetto_number(of, "number", FLEXTRACE_NONE);
	thing->processor = (uint32_t)perfetto_number(of, "processor", 0);
	if (!told_find(of, "is", &is))
		return FLEXTRACE_OK;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (trace_text_is(&is.text, words[i].word) &&
		    inherit(&perfetto->file, thing, words[i].of))
			thing->kind = words[i].kind;
	}
	thing->is_async = trace_text_is(&is.text, "async");
	if (thing->kind == THING_DEVICE)
		return define_device(perfetto, thing, of);
	if (thing->kind == THING_CLOCK)
		return define_clock(perfetto, thing, of);
	if (thing->kind == THING_THREAD || thing->kind == THING_QUEUE)
		return define_name(perfetto, thing, of);
	if (trace_text_is(&is.text, "loss"))
		return lose(perfetto, thing, of);
	if (!trace_text_is(&is.text, "process"))
		return FLEXTRACE_OK;
	thing->kind = THING_PROCESS;
	return define_process(perfetto, thing, of);
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

/* Tracks that nothing is said of stand for what they lie in, or have no rows of ours. */
static void place_tracks(struct perfetto_file *file)
{
	for (uint32_t i = 0; i < file->n_tracks; i++) {
		struct perfetto_track *track = &file->tracks[i];
		uint64_t uuid = track->kind == IS_COUNTER ? track->parent : track->uuid;
		const struct perfetto_thing *thing = perfetto_thing(file, uuid);

		if (!thing)
			thing = perfetto_thing(file, track->parent);
		if (!thing)
			continue;
		track->thing = (uint32_t)(thing - file->things);
		track->stream = thing->stream;
		track->vpid = thing->vpid;
		track->vtid = thing->kind == THING_THREAD && thing->number != FLEXTRACE_NONE
		                      ? (int32_t)thing->number
		                      : -1;
	}
}

int perfetto_define_things(struct perfetto *perfetto)
{
	struct perfetto_file *file = &perfetto->file;
	const char *text = perfetto_string(perfetto, file->ours);
	struct trace_text rest = {text, strlen(text)}, key;
	struct trace_value value;
	uint64_t uuid;
	uint32_t place;

	while (told_next(&rest, &key, &value)) {
		const struct told of = {.members = value.text};
		const char *at = key.bytes;
		int is_new;

		if (value.kind != TRACE_JSON || !digits_take(&at, UINT64_MAX, &uuid) || *at != '"')
			continue;
		is_new = MAP_PLACE(&file->thing_index, uuid, 0, file->things, file->n_things,
		                   &place);
		FLEXTRACE_TRY(is_new);
		if (!is_new)
			continue;
		file->things[place].stream = FLEXTRACE_NONE;
		FLEXTRACE_TRY(define(perfetto, &file->things[place], &of));
	}
	place_tracks(file);
	return FLEXTRACE_OK;
}
