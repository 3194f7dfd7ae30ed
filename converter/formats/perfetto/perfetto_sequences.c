/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sequence of packets says once: texts by iids, defaults. All of it is gone where the
 * sequence says that it starts anew, or where a packet of it was lost: what then relies on it is
 * lost as well, up to the next start.
 */
#include <string.h>

#include "base/array.h"
#include "perfetto_impl.h"

int perfetto_intern(struct perfetto *perfetto, const struct protobuf *bytes, uint32_t *ret_string)
{
	size_t n = protobuf_length(bytes), length = 0;

	*ret_string = 0;
	if (!n)
		return FLEXTRACE_OK;
	if (2 * n >= perfetto->n_scratch) {
		char *grown = realloc(perfetto->scratch, 4 * n + 64);

		if (!grown)
			return FLEXTRACE_E_MEMORY;
		perfetto->scratch = grown;
		perfetto->n_scratch = 4 * n + 64;
	}
	for (size_t i = 0; i < n; i++) {
		if (bytes->at[i]) {
			perfetto->scratch[length++] = (char)bytes->at[i];
		} else { /* as texts of ours have a NUL */
			perfetto->scratch[length++] = '\xc0';
			perfetto->scratch[length++] = '\x80';
		}
	}
	perfetto->scratch[length] = '\0';
	return string_intern(&perfetto->import.cache, perfetto->scratch, ret_string);
}

/* -- interned data ---------------------------------------------------------------------------- */

static int take_text(struct perfetto *perfetto, struct perfetto_sequence *sequence,
                     const struct protobuf_field *field)
{
	struct protobuf_field of[LOCATION_LINE + 1];
	struct protobuf message = field->bytes;
	struct perfetto_location location = {0, 0};
	uint32_t value = 0;

	if (protobuf_read(&message, of, LOCATION_LINE + 1) < 0)
		return import_reject(&perfetto->import, LOSS_MALFORMED, "interned data is damaged",
		                     perfetto->file.place);
	FLEXTRACE_TRY(perfetto_intern(perfetto, &of[TEXT_TEXT].bytes, &value));
	if (field->number == INTERNED_LOCATIONS) {
		location.file = value;
		location.line = (uint32_t)of[LOCATION_LINE].value;
		value = perfetto->file.n_locations;
		FLEXTRACE_TRY(
			ARRAY_PUSH(perfetto->file.locations, perfetto->file.n_locations, location));
	}
	return map_put(&sequence->interned, of[TEXT_IID].value, field->number, value);
}

static int take_interned(struct perfetto *perfetto, struct perfetto_sequence *sequence,
                         struct protobuf message)
{
	struct protobuf_field field;

	while (protobuf_next(&message, &field) > 0) {
		switch (field.number) {
		case INTERNED_CATEGORIES:
		case INTERNED_NAMES:
		case INTERNED_KEYS:
		case INTERNED_LOCATIONS:
		case INTERNED_STRINGS:
			FLEXTRACE_TRY(take_text(perfetto, sequence, &field));
		}
	}
	return FLEXTRACE_OK;
}

int perfetto_text(struct perfetto *perfetto, const struct perfetto_sequence *sequence,
                  const struct protobuf_field *text, uint32_t interned, uint32_t *ret_string)
{
	uint32_t found;

	if (!interned)
		return perfetto_intern(perfetto, &text->bytes, ret_string);
	found = map_find(&sequence->interned, text->value, interned);
	*ret_string = found == MAP_NONE ? 0 : found;
	return found == MAP_NONE ? import_reject(&perfetto->import, LOSS_MALFORMED,
	                                         "an iid stands for no text", perfetto->file.place)
	                         : FLEXTRACE_OK;
}

/* -- sequences -------------------------------------------------------------------------------- */

static void take_defaults(struct perfetto_sequence *sequence, struct protobuf message)
{
	struct protobuf_field of[DEFAULTS_TIMESTAMP_CLOCK_ID + 1];
	struct protobuf_field event[TRACK_EVENT_TRACK_UUID + 1];

	protobuf_read(&message, of, DEFAULTS_TIMESTAMP_CLOCK_ID + 1);
	protobuf_read(&of[DEFAULTS_TRACK_EVENT].bytes, event, TRACK_EVENT_TRACK_UUID + 1);
	sequence->clock_id = of[DEFAULTS_TIMESTAMP_CLOCK_ID].value;
	sequence->track = event[TRACK_EVENT_TRACK_UUID].value;
}

static void clear(struct perfetto_sequence *sequence)
{
	map_release(&sequence->interned);
	sequence->clock_id = sequence->track = 0;
	sequence->is_whole = true;
}

int perfetto_enter(struct perfetto *perfetto, const struct trace_packet *packet,
                   struct perfetto_sequence **ret_sequence)
{
	struct perfetto_file *file = &perfetto->file;
	struct perfetto_sequence *sequence;
	uint32_t place;

	FLEXTRACE_TRY(MAP_PLACE(&file->sequence_index, packet->sequence, 0, file->sequences,
	                        file->n_sequences, &place));
	*ret_sequence = sequence = &file->sequences[place];
	sequence->id = packet->sequence;
	if (packet->dropped) {
		sequence->is_whole = false;
		FLEXTRACE_TRY(import_lose(&perfetto->import, LOSS_LOST_PACKETS, 1));
	}
	if (packet->flags & SEQUENCE_STATE_CLEARED)
		clear(sequence);
	if (packet->defaults.at)
		take_defaults(sequence, packet->defaults);
	return packet->interned.at ? take_interned(perfetto, sequence, packet->interned)
	                           : FLEXTRACE_OK;
}
