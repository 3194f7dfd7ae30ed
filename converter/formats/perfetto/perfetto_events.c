/* SPDX-License-Identifier: Apache-2.0 */
/* A packet's track event, and what it does to its track. */
#include <stdio.h>

#include "base/hash.h"
#include "perfetto_impl.h"

#define NS_PER_US 1000

/* -- fields ----------------------------------------------------------------------------------- */

static int take_category(struct perfetto *perfetto, struct track_event *event,
                         const struct protobuf_field *field)
{
	bool is_iid = field->number == TRACK_EVENT_CATEGORY_IIDS;
	uint32_t category;
	char *both;
	int code;

	FLEXTRACE_TRY(perfetto_text(perfetto, event->sequence, field,
	                            is_iid ? INTERNED_CATEGORIES : 0, &category));
	if (!event->category || !category) {
		event->category = category ? category : event->category;
		return FLEXTRACE_OK;
	}
	if (asprintf(&both, "%s,%s", perfetto_string(perfetto, event->category),
	             perfetto_string(perfetto, category)) < 0)
		return FLEXTRACE_E_MEMORY;
	code = string_intern(&perfetto->import.cache, both, &event->category);
	free(both);
	return code;
}

static int take_location(struct perfetto *perfetto, struct track_event *event,
                         const struct protobuf_field *field)
{
	struct protobuf_field of[LOCATION_LINE + 1];
	struct protobuf message = field->bytes;
	uint32_t place;

	if (field->number == TRACK_EVENT_LOCATION) {
		protobuf_read(&message, of, LOCATION_LINE + 1);
		event->location.line = (uint32_t)of[LOCATION_LINE].value;
		return perfetto_intern(perfetto, &of[LOCATION_FILE].bytes, &event->location.file);
	}
	place = map_find(&event->sequence->interned, field->value, INTERNED_LOCATIONS);
	if (place != MAP_NONE)
		event->location = perfetto->file.locations[place];
	return FLEXTRACE_OK;
}

static int take_flow(struct perfetto *perfetto, struct track_event *event, uint64_t id,
                     bool is_ending)
{
	if (event->n_flows == MAX_FLOWS)
		return perfetto_reject(perfetto, event->packet, LOSS_UNUSED,
		                       "it has more than 16 flows");
	event->flow_ends[event->n_flows] = is_ending;
	event->flows[event->n_flows++] = id;
	return FLEXTRACE_OK;
}

/* Of repeated numbers, which may be packed. */
static int take_flows(struct perfetto *perfetto, struct track_event *event,
                      const struct protobuf_field *field, bool is_ending)
{
	struct protobuf rest = field->bytes;
	uint64_t id;

	if (field->wire != PROTOBUF_BYTES)
		return take_flow(perfetto, event, field->value, is_ending);
	while (protobuf_length(&rest)) {
		if (field->number < TRACK_EVENT_FLOW_IDS ? !protobuf_varint(&rest, &id)
		                                         : !protobuf_fixed(&rest, 8, &id))
			break;
		FLEXTRACE_TRY(take_flow(perfetto, event, id, is_ending));
	}
	return FLEXTRACE_OK;
}

static int take_field(struct perfetto *perfetto, struct track_event *event,
                      const struct protobuf_field *field)
{
	switch (field->number) {
	case TRACK_EVENT_TYPE:
		event->type = field->value;
		break;
	case TRACK_EVENT_TRACK_UUID:
		event->uuid = field->value;
		event->has_uuid = true;
		break;
	case TRACK_EVENT_NAME_IID:
		return perfetto_text(perfetto, event->sequence, field, INTERNED_NAMES,
		                     &event->name);
	case TRACK_EVENT_NAME:
		return perfetto_intern(perfetto, &field->bytes, &event->name);
	case TRACK_EVENT_CATEGORY_IIDS:
	case TRACK_EVENT_CATEGORIES:
		return take_category(perfetto, event, field);
	case TRACK_EVENT_ANNOTATIONS:
		return perfetto_add_arg(perfetto, event->sequence, field->bytes);
	case TRACK_EVENT_COUNTER_VALUE:
		event->value = (double)(int64_t)field->value;
		event->has_value = true;
		break;
	case TRACK_EVENT_DOUBLE_COUNTER_VALUE:
		event->value = protobuf_double(field->value);
		event->has_value = true;
		break;
	case TRACK_EVENT_LOCATION:
	case TRACK_EVENT_LOCATION_IID:
		return take_location(perfetto, event, field);
	case TRACK_EVENT_FLOW_IDS_OLD:
	case TRACK_EVENT_FLOW_IDS:
		return take_flows(perfetto, event, field, false);
	case TRACK_EVENT_TERMINATING_FLOW_IDS_OLD:
	case TRACK_EVENT_TERMINATING_FLOW_IDS:
		return take_flows(perfetto, event, field, true);
	case TRACK_EVENT_EXTRA_VALUES:
	case TRACK_EVENT_EXTRA_DOUBLE_VALUES:
		return perfetto_reject(perfetto, event->packet, LOSS_UNUSED,
		                       "values of further counters are not read");
	case TRACK_EVENT_LEGACY:
		event->legacy = field->bytes;
		break;
	}
	return FLEXTRACE_OK;
}

/* -- events of Chrome's older form ------------------------------------------------------------ */

/* Intervals that need not nest have an id: they are on a track of their own. */
static int find_async_track(struct perfetto *perfetto, struct track_event *event,
                            const struct protobuf_field *legacy)
{
	static const int ids[] = {LEGACY_UNSCOPED_ID, LEGACY_LOCAL_ID, LEGACY_GLOBAL_ID};
	uint64_t parent = event->uuid, id = 0;
	struct perfetto_track *track;

	for (int i = 0; i < 3; i++)
		id = legacy[ids[i]].number ? legacy[ids[i]].value : id;
	event->uuid = hash_mix(parent ^ 0x666c65787472ull, id ^ (uint64_t)event->category << 32);
	FLEXTRACE_TRY(perfetto_find_track(perfetto, event->uuid, &event->track));
	track = &perfetto->file.tracks[event->track];
	track->parent = parent;
	if (!track->name)
		track->name = event->name;
	return FLEXTRACE_OK;
}

static int take_complete(struct perfetto *perfetto, const struct track_event *event, int64_t dur_us)
{
	int64_t ns;

	if (__builtin_mul_overflow(dur_us, NS_PER_US, &ns) ||
	    __builtin_add_overflow(event->time_ns, ns, &ns) || ns < event->time_ns)
		return perfetto_reject(perfetto, event->packet, LOSS_MALFORMED,
		                       "its duration is out of range");
	return perfetto_complete(perfetto, event, ns);
}

static int take_legacy(struct perfetto *perfetto, struct track_event *event)
{
	struct protobuf message = event->legacy;
	struct protobuf_field of[LEGACY_FIELD_COUNT];

	protobuf_read(&message, of, LEGACY_FIELD_COUNT);
	if (of[LEGACY_NAME_IID].number && !event->name)
		FLEXTRACE_TRY(perfetto_text(perfetto, event->sequence, &of[LEGACY_NAME_IID],
		                            INTERNED_NAMES, &event->name));
	if (of[LEGACY_BIND_ID].number && of[LEGACY_FLOW_DIRECTION].value)
		FLEXTRACE_TRY(take_flow(perfetto, event, of[LEGACY_BIND_ID].value,
		                        of[LEGACY_FLOW_DIRECTION].value == 1));
	switch (of[LEGACY_PHASE].value) {
	case 'b':
	case 'S':
		FLEXTRACE_TRY(find_async_track(perfetto, event, of));
		return perfetto_begin(perfetto, event);
	case 'e':
	case 'F':
		FLEXTRACE_TRY(find_async_track(perfetto, event, of));
		return perfetto_end(perfetto, event);
	case 'B':
		return perfetto_begin(perfetto, event);
	case 'E':
		return perfetto_end(perfetto, event);
	case 'X':
		return take_complete(perfetto, event, (int64_t)of[LEGACY_DURATION_US].value);
	case 'I':
	case 'i':
	case 'n':
	case 'R':
		return perfetto_write_instant(perfetto, event);
	default:
		return perfetto_reject(perfetto, event->packet, LOSS_UNUSED,
		                       "it is of a phase that is not read");
	}
}

/* -- an event --------------------------------------------------------------------------------- */

static int take_typed(struct perfetto *perfetto, struct track_event *event)
{
	switch (event->type) {
	case TYPE_SLICE_BEGIN:
		return perfetto_begin(perfetto, event);
	case TYPE_SLICE_END:
		return perfetto_end(perfetto, event);
	case TYPE_INSTANT:
		return perfetto_write_instant(perfetto, event);
	case TYPE_COUNTER:
		return event->has_value ? perfetto_write_counter(perfetto, event)
		                        : perfetto_reject(perfetto, event->packet, LOSS_MALFORMED,
		                                          "a counter has no value");
	case TYPE_STATE:
		if (perfetto->file.tracks[event->track].top != NO_OPEN)
			FLEXTRACE_TRY(perfetto_end(perfetto, event));
		return event->name ? perfetto_begin(perfetto, event) : FLEXTRACE_OK;
	default:
		if (event->legacy.at)
			return take_legacy(perfetto, event);
		return perfetto_reject(perfetto, event->packet, LOSS_UNUSED,
		                       "it is of a type that is not read");
	}
}

static int read_fields(struct perfetto *perfetto, struct track_event *event)
{
	struct protobuf message = event->packet->payload;
	struct protobuf_field field = {.is_cut = false};
	size_t n;
	int code;

	json_text_clear(&perfetto->members);
	while ((code = protobuf_next(&message, &field)) > 0)
		FLEXTRACE_TRY(take_field(perfetto, event, &field));
	if (code < 0 || field.is_cut)
		event->fault = "an event is damaged";
	if (perfetto->members.is_first)
		return FLEXTRACE_OK;
	return json_text_get(&perfetto->members, &event->members, &n);
}

int perfetto_take_event(struct perfetto *perfetto, const struct trace_packet *packet,
                        struct perfetto_sequence *sequence, int64_t time_ns, const char *fault)
{
	struct track_event event = {
		.packet = packet,
		.sequence = sequence,
		.time_ns = time_ns,
		.fault = fault,
		.members = "",
	};

	if (packet->flags & SEQUENCE_NEEDS_STATE && !sequence->is_whole)
		return perfetto_reject(perfetto, packet, LOSS_LOST_PACKETS,
		                       "it relies on a packet that was lost");
	FLEXTRACE_TRY(read_fields(perfetto, &event));
	if (event.fault)
		return perfetto_reject(perfetto, packet, LOSS_MALFORMED, event.fault);
	if (!event.has_uuid)
		event.uuid = sequence->track;
	FLEXTRACE_TRY(perfetto_find_track(perfetto, event.uuid, &event.track));
	return take_typed(perfetto, &event);
}
