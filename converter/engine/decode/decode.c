/* SPDX-License-Identifier: Apache-2.0 */
#include "decode.h"

#include <string.h>

#include "base/array.h"
#include "model/schema.h"

#define MAX_RECORD_BYTES ((size_t)16 << 20) /* what a table takes */
#define MIN_COUNTER_BITS 16                 /* narrower ones wrap while an operation runs */

int decoder_init(struct decoder *decoder, struct string_pool *pool)
{
	string_cache_init(&decoder->cache, pool);
	ledger_init(&decoder->ledger);
	decoder->last_file = decoder->last_source = 0;
	return FLEXTRACE_OK;
}

void decoder_release(struct decoder *decoder)
{
	string_cache_release(&decoder->cache);
	ledger_release(&decoder->ledger);
}

/* -- one function per record type; the head is filled already ---------------------------------- */

#define INTERN(text, ret_id) FLEXTRACE_TRY(string_intern(&decoder->cache, text, ret_id))

static int put_process(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_process *in = &event->payload.process;
	struct record_process *out = (struct record_process *)head;

	out->rank = in->rank < 0 ? FLEXTRACE_RANK_UNKNOWN : in->rank;
	out->world_size = in->world_size < 0 ? 0 : in->world_size;
	out->pid = in->pid;
	out->start_ns = in->start_ns;
	out->time_ns = in->time_ns;
	out->time_namespace = in->time_namespace;
	out->real_ns = in->real_ns;
	INTERN(in->program, &head->name);
	INTERN(in->boot_id, &out->boot_id);
	INTERN(in->host, &out->host);
	INTERN(in->runtime, &out->runtime);
	INTERN(in->version, &out->version);
	INTERN(in->session, &out->session);
	return FLEXTRACE_OK;
}

static int put_device(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_device *in = &event->payload.device;
	struct record_device *out = (struct record_device *)head;

	out->device = in->device;
	out->n_cores = in->n_cores;
	out->core_hz = in->core_hz;
	INTERN(in->name, &head->name);
	INTERN(in->uuid, &out->uuid);
	INTERN(in->power_unit, &out->power_unit);
	INTERN(in->processors, &out->processors);
	return FLEXTRACE_OK;
}

static int put_clock_domain(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_clock_domain *in = &event->payload.clock_domain;
	struct record_clock_domain *out = (struct record_clock_domain *)head;

	(void)decoder;
	out->device = in->device;
	out->domain = in->domain;
	out->counter_bits = in->counter_bits ? in->counter_bits : 32;
	out->rate_group = in->rate_group;
	out->nominal_hz = in->nominal_hz;
	return FLEXTRACE_OK;
}

static int put_name(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_name *in = &event->payload.name;
	struct record_name *out = (struct record_name *)head;

	out->device = in->device;
	out->id = in->id;
	out->line = in->line;
	INTERN(in->name, &head->name);
	INTERN(in->file, &out->file);
	return FLEXTRACE_OK;
}

static int put_scope(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_scope *in = &event->payload.scope;
	struct record_scope *out = (struct record_scope *)head;

	out->begin_ns = in->begin_ns;
	out->correlation = in->correlation;
	out->line = in->line;
	INTERN(in->name, &head->name);
	FLEXTRACE_TRY(string_intern_again(&decoder->cache, in->file, &decoder->last_file));
	out->file = decoder->last_file;
	return FLEXTRACE_OK;
}

static int put_edge(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_span_edge *in = &event->payload.edge;

	((struct record_edge *)head)->correlation = in->correlation;
	INTERN(in->name, &head->name);
	return FLEXTRACE_OK;
}

static int put_scope_args(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_scope_args *in = &event->payload.scope_args;
	struct record_text *out = (struct record_text *)head;

	out->correlation = in->correlation;
	INTERN(in->args, &out->text);
	return FLEXTRACE_OK;
}

static int put_annotation(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_annotation *in = &event->payload.annotation;
	struct record_text *out = (struct record_text *)head;

	INTERN(in->key, &head->name);
	INTERN(in->value, &out->text);
	return FLEXTRACE_OK;
}

static int put_value(struct decoder *decoder, struct record *head, const struct event *event)
{
	struct record_value *out = (struct record_value *)head;

	switch (event->class) {
	case RECORD_INSTANT:
		out->u.correlation = event->payload.instant.correlation;
		INTERN(event->payload.instant.name, &head->name);
		break;
	case RECORD_COUNTER:
		out->u.value = event->payload.counter.value;
		INTERN(event->payload.counter.name, &head->name);
		break;
	case RECORD_WINDOW:
		INTERN(event->payload.window.name, &head->name);
		break;
	default:
		out->u.number = event->payload.step.number;
	}
	return FLEXTRACE_OK;
}

static int put_memory(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_memory *in = &event->payload.memory;
	struct record_memory *out = (struct record_memory *)head;

	(void)decoder;
	out->address = in->address;
	out->bytes = in->bytes;
	out->device = in->device;
	return FLEXTRACE_OK;
}

static int put_op(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_op *in = &event->payload.op;
	struct record_op *out = (struct record_op *)head;

	out->correlation = in->correlation;
	out->n_cores = in->n_cores;
	out->depth = in->depth;
	INTERN(in->type, &head->name);
	INTERN(in->attributes, &out->text[0]);
	return FLEXTRACE_OK;
}

static int put_tensor(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_tensor *in = &event->payload.tensor;
	struct record_op *out = (struct record_op *)head;

	out->correlation = in->correlation;
	out->n_cores = in->is_output;
	INTERN(in->dims, &head->name);
	INTERN(in->layout, &out->text[0]);
	INTERN(in->dtype, &out->text[1]);
	INTERN(in->memory, &out->text[2]);
	return FLEXTRACE_OK;
}

static int put_op_info(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_op_info *in = &event->payload.op_info;
	struct record_op *out = (struct record_op *)head;

	out->correlation = in->correlation;
	INTERN(in->op_name, &head->name);
	INTERN(in->module, &out->text[0]);
	INTERN(in->opcode, &out->text[1]);
	INTERN(in->frames, &out->text[2]);
	return FLEXTRACE_OK;
}

static int put_device_op(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_device_op *in = &event->payload.device_op;
	struct record_device_op *out = (struct record_device_op *)head;

	out->job = in->job;
	out->correlation = in->correlation;
	out->submit_ns = in->submit_ns;
	out->complete_ns = in->complete_ns;
	out->bytes = in->bytes;
	out->device = in->device;
	out->domain = in->domain;
	out->queue = in->queue;
	memcpy(out->ticks32, in->ts, sizeof(out->ticks32));
	out->power = in->power;
	out->peer = in->peer;
	INTERN(in->name, &head->name);
	INTERN(in->group, &out->group);
	INTERN(in->type, &out->type);
	return FLEXTRACE_OK;
}

static int put_bracket(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_bracket *in = &event->payload.bracket;
	struct record_bracket *out = (struct record_bracket *)head;

	out->job = in->job;
	out->correlation = in->correlation;
	out->host_ns = in->host_ns;
	out->device = in->device;
	out->queue = in->queue;
	INTERN(in->name, &head->name);
	return FLEXTRACE_OK;
}

static int put_host_estimate(struct decoder *decoder, struct record *head,
                             const struct event *event)
{
	const struct flextrace_host_estimate *in = &event->payload.host_estimate;
	struct record_host_estimate *out = (struct record_host_estimate *)head;

	out->job = in->job;
	out->begin_ns = in->begin_ns;
	out->end_ns = in->end_ns;
	out->device = in->device;
	out->queue = in->queue;
	FLEXTRACE_TRY(string_intern_again(&decoder->cache, in->source, &decoder->last_source));
	head->name = decoder->last_source;
	return FLEXTRACE_OK;
}

static int put_marker_batch(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_marker_batch *in = &event->payload.marker_batch;
	struct record_marker_batch *out = (struct record_marker_batch *)head;

	(void)decoder;
	out->first_index = in->first_index;
	out->dropped = in->dropped;
	out->device = in->device;
	out->core = in->core;
	out->processor = in->processor;
	out->domain = in->domain;
	out->n_words = in->n_words;
	if (in->n_words)
		memcpy(out->words, in->words, in->n_words * sizeof(*in->words));
	return FLEXTRACE_OK;
}

static int put_clock_sync(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_clock_sync *in = &event->payload.clock_sync;
	struct record_clock_sync *out = (struct record_clock_sync *)head;

	(void)decoder;
	out->host_before_ns = in->host_before_ns;
	out->ticks = in->ticks;
	out->host_after_ns = in->host_after_ns;
	out->device = in->device;
	out->domain = in->domain;
	return FLEXTRACE_OK;
}

static int put_collective(struct decoder *decoder, struct record *head, const struct event *event)
{
	const struct flextrace_collective *in = &event->payload.collective;
	struct record_collective *out = (struct record_collective *)head;

	out->seq = in->seq;
	out->bytes = in->bytes;
	INTERN(in->op, &head->name);
	INTERN(in->group, &out->group);
	INTERN(in->peers, &out->peers);
	return FLEXTRACE_OK;
}

/* -- what a class needs ------------------------------------------------------------------------ */

#define PUT(function, record) .put = put_##function, .size_bytes = sizeof(struct record_##record)
#define KIND(payload, member, n) \
	.kind_offset = offsetof(struct flextrace_##payload, member), .n_kinds = (n)

struct packing {
	int (*put)(struct decoder *decoder, struct record *head, const struct event *event);
	uint16_t size_bytes;  /* without marker words */
	uint16_t kind_offset; /* of the kind, edge, phase or op in the payload */
	uint16_t n_kinds;     /* a kind must be below; 0 = the payload has none */
	bool has_host_stamps; /* that mean nothing unless LTTng's clock counts ns */
};

/* clang-format off */
static const struct packing packings[RECORD_CLASS_COUNT] = {
	[RECORD_PROCESS] = {PUT(process, process)},
	[RECORD_DEVICE] = {PUT(device, device)},
	[RECORD_CLOCK_DOMAIN] = {PUT(clock_domain, clock_domain)},
	[RECORD_THREAD_NAME] = {PUT(name, name)},
	[RECORD_QUEUE_NAME] = {PUT(name, name)},
	[RECORD_MARKER_NAME] = {PUT(name, name)},
	[RECORD_SCOPE] = {PUT(scope, scope),
		KIND(scope, kind, FLEXTRACE_RUNTIME_KIND_COUNT), .has_host_stamps = true},
	[RECORD_SCOPE_ARGS] = {PUT(scope_args, text)},
	[RECORD_BEGIN] = {PUT(edge, edge), KIND(span_edge, kind, FLEXTRACE_RUNTIME_KIND_COUNT)},
	[RECORD_END] = {PUT(edge, edge), KIND(span_edge, kind, FLEXTRACE_RUNTIME_KIND_COUNT)},
	[RECORD_ASYNC_BEGIN] = {PUT(edge, edge),
		KIND(span_edge, kind, FLEXTRACE_RUNTIME_KIND_COUNT)},
	[RECORD_ASYNC_END] = {PUT(edge, edge), KIND(span_edge, kind, FLEXTRACE_RUNTIME_KIND_COUNT)},
	[RECORD_INSTANT] = {PUT(value, value)},
	[RECORD_COUNTER] = {PUT(value, value)},
	[RECORD_ANNOTATION] = {PUT(annotation, text)},
	[RECORD_STEP] = {PUT(value, value)},
	[RECORD_WINDOW] = {PUT(value, value), KIND(window, edge, FLEXTRACE_EDGE_END + 1)},
	[RECORD_MEMORY] = {PUT(memory, memory), KIND(memory, op, FLEXTRACE_MEMORY_RESIZE + 1)},
	[RECORD_OP] = {PUT(op, op)},
	[RECORD_TENSOR] = {PUT(tensor, op)},
	[RECORD_OP_INFO] = {PUT(op_info, op)},
	[RECORD_DEVICE_OP] = {PUT(device_op, device_op),
		KIND(device_op, kind, FLEXTRACE_DEVICE_KIND_COUNT_FULL), .has_host_stamps = true},
	[RECORD_SUBMIT] = {PUT(bracket, bracket), .has_host_stamps = true},
	[RECORD_COMPLETE] = {PUT(bracket, bracket), .has_host_stamps = true},
	[RECORD_HOST_ESTIMATE] = {PUT(host_estimate, host_estimate),
		KIND(host_estimate, kind, FLEXTRACE_ESTIMATE_COUNT), .has_host_stamps = true},
	[RECORD_MARKER_BATCH] = {PUT(marker_batch, marker_batch)},
	[RECORD_CLOCK_SYNC] = {PUT(clock_sync, clock_sync), .has_host_stamps = true},
	[RECORD_COLLECTIVE] = {PUT(collective, collective),
		KIND(collective, phase, FLEXTRACE_PHASE_EXIT + 1)},
};
/* clang-format on */

/* Stores the kind of the payload; false: out of range. */
static bool read_kind(const struct packing *packing, const struct event *event, uint32_t *ret_kind)
{
	*ret_kind = 0;
	if (!packing->n_kinds)
		return true;
	memcpy(ret_kind, (const char *)&event->payload + packing->kind_offset, sizeof(*ret_kind));
	return *ret_kind < packing->n_kinds;
}

/* 146 years of uptime: their sums with epoch offsets and differences stay within 64 bits. */
static bool is_time(uint64_t ns)
{
	return ns < (uint64_t)1 << 62;
}

static bool has_sound_times(const struct event *event)
{
	switch (event->class) {
	case RECORD_PROCESS:
		return is_time(event->payload.process.start_ns);
	case RECORD_SCOPE:
		return is_time(event->payload.scope.begin_ns);
	case RECORD_DEVICE_OP:
		return is_time(event->payload.device_op.submit_ns) &&
		       is_time(event->payload.device_op.complete_ns);
	case RECORD_SUBMIT:
	case RECORD_COMPLETE:
		return is_time(event->payload.bracket.host_ns);
	case RECORD_HOST_ESTIMATE:
		return is_time(event->payload.host_estimate.begin_ns) &&
		       is_time(event->payload.host_estimate.end_ns);
	case RECORD_CLOCK_SYNC:
		return is_time(event->payload.clock_sync.host_before_ns) &&
		       is_time(event->payload.clock_sync.host_after_ns);
	default:
		return true;
	}
}

static bool is_sound(const struct event *event)
{
	const struct flextrace_marker_batch *batch = &event->payload.marker_batch;
	uint32_t bits = event->payload.clock_domain.counter_bits;

	if (!is_time(event->clock_ns) || !has_sound_times(event))
		return false;
	if (event->class == RECORD_MARKER_BATCH)
		return batch->n_words < (MAX_RECORD_BYTES - sizeof(struct record_marker_batch)) /
		                                sizeof(*batch->words);
	if (event->class == RECORD_CLOCK_DOMAIN)
		return !bits || (bits >= MIN_COUNTER_BITS && bits <= 64);
	return true;
}

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
	const struct packing *packing = &packings[event->class];
	enum record_table table = schema_of(event->class)->table;
	uint32_t index = stream->n_events++;
	size_t size_bytes = packing->size_bytes;
	struct record *head;
	uint32_t kind;

	FLEXTRACE_TRY(note_process(stream, event));
	if (packing->has_host_stamps && !stream->clock_is_1ghz) {
		decoder->ledger.warnings[WARNING_CLOCK_NOT_1GHZ]++;
		return skip(decoder, stream, LOSS_MALFORMED, event->class, event->clock_ns);
	}
	if (!read_kind(packing, event, &kind) || !is_sound(event))
		return skip(decoder, stream, LOSS_MALFORMED, event->class, event->clock_ns);
	if (event->class == RECORD_MARKER_BATCH)
		size_bytes += event->payload.marker_batch.n_words * sizeof(uint64_t);
	stream->processes[stream->last_process].has_rows |= table != TABLE_DEFINITIONS;
	if (stream->n_files)
		FLEXTRACE_TRY(note_origins(stream, event, &index));
	head = table_append(&stream->tables[table], size_bytes);
	if (!head)
		return FLEXTRACE_E_MEMORY;
	memset(head, 0, packing->size_bytes);
	head->clock_ns = event->clock_ns;
	head->index = index;
	head->size_bytes = (uint32_t)size_bytes;
	head->vpid = event->vpid;
	head->vtid = event->vtid;
	head->class = (uint8_t)event->class;
	head->kind = (uint8_t)kind;
	decoder->ledger.read[event->class]++;
	return packing->put(decoder, head, event);
}
