/* SPDX-License-Identifier: Apache-2.0 */
#include "decode.h"

#include <string.h>

#include "base/array.h"
#include "model/schema_fields.h"

#define MAX_RECORD_BYTES ((size_t)16 << 20) /* what a table takes */
#define MIN_COUNTER_BITS 16                 /* narrower ones wrap while an operation runs */
#define COUNT(array)     (sizeof(array) / sizeof(*(array)))

/* Of the lists of fields comes straight code for each class; loops over them would cost 2 % of a
 * conversion. */
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define UNROLL        _Pragma("GCC unroll 18")

int decoder_init(struct decoder *decoder, struct string_pool *pool)
{
	*decoder = (struct decoder){.last = {0}};
	string_cache_init(&decoder->cache, pool);
	ledger_init(&decoder->ledger);
	decoder->args = (struct args_reader){JSON_TEXT_INIT, &decoder->cache, &decoder->ledger};
	return FLEXTRACE_OK;
}

void decoder_release(struct decoder *decoder)
{
	json_text_release(&decoder->args.text);
	string_cache_release(&decoder->cache);
	ledger_release(&decoder->ledger);
}

/* -- one event --------------------------------------------------------------------------------- */

/* 146 years of uptime: their sums with epoch offsets and differences stay within 64 bits. */
static bool is_time(uint64_t ns)
{
	return ns < (uint64_t)1 << 62;
}

/* Counts a kind that this version does not know. Whether a row can be made of it. */
static __attribute__((noinline)) bool take_unknown(struct decoder *decoder,
                                                   const struct schema_field *field,
                                                   const struct event *event, uint32_t kind)
{
	bool is_newer = kind < FLEXTRACE_KIND_LIMIT;

	if (kind == HOST_FLOW && event->n_origins) /* a row of ours: no tracer has that kind */
		return event->class == RECORD_SCOPE;
	decoder->ledger.warnings[WARNING_UNKNOWN_KIND] += is_newer;
	return is_newer && field->may_be_newer;
}

/* Whether fields are in their ranges; stores the kind among them. */
static ALWAYS_INLINE bool check_fields(struct decoder *decoder, const struct schema_field *fields,
                                       uint32_t n, const struct event *event, uint32_t *ret_kind)
{
	uint64_t ns;

	UNROLL
	for (uint32_t i = 0; i < n; i++) {
		const char *from = (const char *)&event->payload + fields[i].offset;

		if (fields[i].n_kinds) {
			memcpy(ret_kind, from, sizeof(*ret_kind));
			if (*ret_kind >= fields[i].n_kinds &&
			    !take_unknown(decoder, &fields[i], event, *ret_kind))
				return false;
		} else if (fields[i].is_host_time) {
			memcpy(&ns, from, sizeof(ns));
			if (!is_time(ns))
				return false;
		}
	}
	return true;
}

static bool has_sound_fields(struct decoder *decoder, const struct event *event, uint32_t *ret_kind)
{
	*ret_kind = 0;
	switch (event->class) {
#define CHECK(id, name, payload, member, table)                                              \
	case RECORD_##id:                                                                    \
		return check_fields(decoder, member##_fields, COUNT(member##_fields), event, \
		                    ret_kind);
		FLEXTRACE_RECORD_CLASSES(CHECK)
#undef CHECK
	default:
		return false;
	}
}

static bool is_sound(struct decoder *decoder, const struct event *event, uint32_t *ret_kind)
{
	const struct flextrace_marker_batch *batch = &event->payload.marker_batch;
	uint32_t bits = event->payload.clock_domain.counter_bits;

	if (!is_time(event->clock_ns) || (uint32_t)event->status > TIME_GIVEN ||
	    !has_sound_fields(decoder, event, ret_kind))
		return false;
	if (event->class == RECORD_MARKER_BATCH)
		return batch->n_words < (MAX_RECORD_BYTES - sizeof(struct record_marker_batch)) /
		                                sizeof(*batch->words);
	if (event->class == RECORD_CLOCK_DOMAIN)
		return !bits || (bits >= MIN_COUNTER_BITS && bits <= 64);
	return true;
}

/* Times of definitions are compared with each other only. */
static bool has_host_stamps(const struct schema_class *schema)
{
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		if (schema->fields[i].is_host_time && schema->table != TABLE_DEFINITIONS)
			return true;
	}
	return false;
}

/* A string; most of those that are repeated are the one before. */
static ALWAYS_INLINE int put_string(struct decoder *decoder, const struct schema_field *field,
                                    const struct event *event, uint32_t *ret_id)
{
	const char *text;

	memcpy(&text, (const char *)&event->payload + field->offset, sizeof(text));
	if (field->is_args)
		return text && *text ? args_intern(&decoder->args, text, ret_id) : FLEXTRACE_OK;
	if (!field->is_repeated)
		return string_intern(&decoder->cache, text, ret_id);
	FLEXTRACE_TRY(string_intern_again(&decoder->cache, text, &decoder->last[event->class]));
	*ret_id = decoder->last[event->class];
	return FLEXTRACE_OK;
}

static void put_words(const struct flextrace_marker_batch *batch, struct record *head)
{
	struct record_marker_batch *out = (struct record_marker_batch *)head;

	out->n_words = batch->n_words;
	if (batch->n_words)
		memcpy(out->words, batch->words, batch->n_words * sizeof(*batch->words));
}

static ALWAYS_INLINE int put_field(struct decoder *decoder, const struct schema_field *field,
                                   const struct event *event, struct record *head)
{
	const void *from = (const char *)&event->payload + field->offset;
	void *to = (char *)head + field->to;

	switch (field->type) {
	case SCHEMA_U32:
	case SCHEMA_I32:
		memcpy(to, from, sizeof(uint32_t));
		break;
	case SCHEMA_U64:
	case SCHEMA_DOUBLE:
		memcpy(to, from, sizeof(uint64_t));
		break;
	case SCHEMA_TS:
		memcpy(to, from, FLEXTRACE_N_STAMPS * sizeof(uint32_t));
		break;
	case SCHEMA_TS64:
		if (head->size_bytes > sizeof(struct record_device_op))
			memcpy(to, from, FLEXTRACE_N_STAMPS * sizeof(uint64_t));
		break;
	case SCHEMA_STRING:
		return put_string(decoder, field, event, to);
	case SCHEMA_WORDS:
		put_words(&event->payload.marker_batch, head);
	}
	return FLEXTRACE_OK;
}

/* What is not known has one value, however it was recorded. */
static void settle(struct record *head)
{
	struct record_process *process = (struct record_process *)head;
	struct record_clock_domain *domain = (struct record_clock_domain *)head;

	if (head->class == RECORD_PROCESS) {
		process->rank = process->rank < 0 ? FLEXTRACE_RANK_UNKNOWN : process->rank;
		process->world_size = process->world_size < 0 ? 0 : process->world_size;
	} else if (head->class == RECORD_CLOCK_DOMAIN && !domain->counter_bits) {
		domain->counter_bits = 32;
	}
}

static ALWAYS_INLINE int put_fields(struct decoder *decoder, const struct schema_field *fields,
                                    uint32_t n, const struct event *event, struct record *head)
{
	UNROLL
	for (uint32_t i = 0; i < n; i++) {
		if (!fields[i].n_kinds)
			FLEXTRACE_TRY(put_field(decoder, &fields[i], event, head));
	}
	return FLEXTRACE_OK;
}

static int put(struct decoder *decoder, const struct event *event, struct record *head)
{
	switch (event->class) {
#define PUT(id, name, payload, member, table) \
	case RECORD_##id:                     \
		return put_fields(decoder, member##_fields, COUNT(member##_fields), event, head);
		FLEXTRACE_RECORD_CLASSES(PUT)
#undef PUT
	default:
		return FLEXTRACE_OK;
	}
}

/* -- streams ----------------------------------------------------------------------------------- */

/* An event that will not become a record. The stream has stepped its index already. */
static int skip(struct decoder *decoder, struct stream *stream, enum loss_cause cause, int class,
                uint64_t clock_ns)
{
	int64_t host_ns = is_time(clock_ns) ? (int64_t)clock_ns : INT64_MIN;
	const struct loss_span span = {host_ns, host_ns, 1};

	if (class >= 0) {
		decoder->ledger.read[class]++;
		decoder->ledger.discarded[class][cause]++;
	} else if (cause == LOSS_FOREIGN_EVENT) {
		decoder->ledger.foreign_events++;
	}
	return losses_add(&stream->losses, cause, &LOSS_NOWHERE, &span);
}

int decode_skip(struct decoder *decoder, struct stream *stream, enum loss_cause cause, int class,
                uint64_t clock_ns)
{
	stream->n_events++;
	return skip(decoder, stream, cause, class, clock_ns);
}

static int add_process(struct stream *stream, int32_t vpid, uint32_t *ret_process)
{
	uint32_t n = stream->n_processes;

	FLEXTRACE_TRY(array_make_room(&stream->processes, n, sizeof(*stream->processes)));
	FLEXTRACE_TRY(map_put(&stream->process_index, (uint32_t)vpid, 0, n));
	stream->processes[n] = (struct stream_process){.vpid = vpid};
	stream->n_processes++;
	*ret_process = n;
	return FLEXTRACE_OK;
}

/* Counts a record, by whose it is. */
static int note_process(struct stream *stream, const struct event *event)
{
	struct stream_process *process = &stream->processes[stream->last_process];
	uint32_t found;

	if (!stream->n_processes || process->vpid != event->vpid) {
		found = map_find(&stream->process_index, (uint32_t)event->vpid, 0);
		if (found == MAP_NONE)
			FLEXTRACE_TRY(add_process(stream, event->vpid, &found));
		stream->last_process = found;
		process = &stream->processes[found];
	}
	process->n_read[event->class]++;
	return FLEXTRACE_OK;
}

/* What no file told is where the one before was, for one or the other must be. */
static struct origin origin_of(const struct stream *stream, const struct event *event, uint32_t i)
{
	const struct origins *origins = stream->origins;
	struct origin origin = {0, ORIGIN_NO_RECORD, false};

	if (i < event->n_origins && event->origins[i].file < stream->n_files)
		origin = event->origins[i];
	else if (origins->n)
		origin = origins_get(origins, origins->n - 1);
	origin.has_parts = false;
	return origin;
}

/* Stores the place of a record among the origins of its stream. */
static int note_origins(struct stream *stream, const struct event *event, uint32_t *ret_place)
{
	bool has_parts = event->n_origins == 1 + ORIGIN_N_PARTS;

	if (!stream->origins)
		stream->origins = origins_new();
	if (!stream->origins)
		return FLEXTRACE_E_MEMORY;
	*ret_place = stream->origins->n;
	for (uint32_t i = 0; i < (has_parts ? event->n_origins : 1); i++) {
		struct origin origin = origin_of(stream, event, i);

		origin.has_parts = has_parts && !i;
		FLEXTRACE_TRY(origins_add(stream->origins, &origin));
	}
	return FLEXTRACE_OK;
}

int decode_push(struct decoder *decoder, struct stream *stream, const struct event *event)
{
	const struct schema_class *schema = schema_of(event->class);
	uint32_t index = stream->n_events++;
	size_t size_bytes = schema->record_bytes;
	struct record *head;
	uint32_t kind;

	FLEXTRACE_TRY(note_process(stream, event));
	if (!stream->clock_is_1ghz && has_host_stamps(schema)) {
		decoder->ledger.warnings[WARNING_CLOCK_NOT_1GHZ]++;
		return skip(decoder, stream, LOSS_MALFORMED, event->class, event->clock_ns);
	}
	if (!is_sound(decoder, event, &kind))
		return skip(decoder, stream, LOSS_MALFORMED, event->class, event->clock_ns);
	if (event->class == RECORD_MARKER_BATCH)
		size_bytes += event->payload.marker_batch.n_words * sizeof(uint64_t);
	else if (event->class == RECORD_DEVICE_OP && has_wide_stamps(&event->payload.device_op))
		size_bytes += FLEXTRACE_N_STAMPS * sizeof(uint64_t);
	stream->processes[stream->last_process].has_rows |= schema->table != TABLE_DEFINITIONS;
	if (stream->n_files)
		FLEXTRACE_TRY(note_origins(stream, event, &index));
	head = table_append(&stream->tables[schema->table], size_bytes);
	if (!head)
		return FLEXTRACE_E_MEMORY;
	memset(head, 0, schema->record_bytes);
	head->clock_ns = event->clock_ns;
	head->index = index;
	head->size_bytes = (uint32_t)size_bytes;
	head->vpid = event->vpid;
	head->vtid = event->vtid;
	head->class = (uint8_t)event->class;
	head->kind = (uint8_t)kind;
	head->status = (uint8_t)event->status;
	decoder->ledger.read[event->class]++;
	FLEXTRACE_TRY(put(decoder, event, head));
	settle(head);
	return FLEXTRACE_OK;
}
