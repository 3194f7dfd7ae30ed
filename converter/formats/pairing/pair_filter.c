/* SPDX-License-Identifier: Apache-2.0 */
#include "pair_filter.h"

#include <string.h>

#include "formats/torch/torch.h"

#define FIRST_JOB (UINT64_C(1) << 40) /* of torch: Flex's are numbered from 1 */

/* What two events must have in common to be the same work. */
enum key_kind { KEY_NONE, KEY_EXEC, KEY_PREP, KEY_DMA_IN, KEY_DMA_OUT, KEY_RUNTIME, KEY_NAME };

static uint64_t hash_text(const struct trace_text *text, uint64_t seed)
{
	uint64_t hash = hash_words(seed, text->length);

	return hash_words(hash_bytes(hash, text->bytes, text->length), seed);
}

static enum key_kind kind_of_part(uint8_t part)
{
	switch (part) {
	case FLEXTRACE_ESTIMATE_DMA_IN:
		return KEY_DMA_IN;
	case FLEXTRACE_ESTIMATE_DMA_OUT:
		return KEY_DMA_OUT;
	case FLEXTRACE_ESTIMATE_PREP:
		return KEY_PREP;
	default:
		return KEY_EXEC;
	}
}

static enum key_kind kind_of_work(const struct event_call *call)
{
	switch (call->is_device ? call->kind : FLEXTRACE_DEVICE_KERNEL) {
	case FLEXTRACE_DEVICE_KERNEL:
		return kind_of_part(call->part);
	case FLEXTRACE_DEVICE_MEMCPY_HTOD:
		return KEY_DMA_IN;
	case FLEXTRACE_DEVICE_MEMCPY_DTOH:
		return KEY_DMA_OUT;
	default:
		return KEY_NONE;
	}
}

/* Torch calls all copies of a direction by one name, and Flex's calls by the names of its own. */
static uint64_t key_of(const struct event_call *call)
{
	struct event_call named = *call;
	enum key_kind kind;

	if (call->is_device || call->has_stamps) {
		block_cut_name(&named);
		kind = kind_of_work(&named);
		return kind == KEY_EXEC || kind == KEY_PREP ? hash_text(&named.name, kind) : kind;
	}
	if (call->kind == FLEXTRACE_RUNTIME_OP)
		return KEY_NONE;
	if (call->kind == FLEXTRACE_RUNTIME_USER || call->kind == FLEXTRACE_RUNTIME_CALL)
		return hash_text(&call->full_name, KEY_NAME);
	return hash_words(call->kind, KEY_RUNTIME);
}

static uint64_t hash_stamps(const struct event_call *call)
{
	uint64_t hash = 0, any = 0;

	for (int i = 0; call->has_stamps && i < FLEXTRACE_N_STAMPS; i++) {
		hash = hash_words(call->ts[i], hash);
		any |= call->ts[i];
	}
	return any ? hash : 0;
}

static struct pair_event event_of(const struct event_call *call)
{
	return (struct pair_event){
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
		.key = key_of(call),
		.correlation = call->correlation,
		.stamps = hash_stamps(call),
		.tag = call->device,
		.bytes = call->bytes,
		.is_device = call->is_device || call->has_stamps,
	};
}

static struct pair_filter *filter_of(const struct event_filter *filter)
{
	return (struct pair_filter *)(uintptr_t)filter;
}

static enum pair_side side_of(const struct event_rank *rank)
{
	return rank->reader == &torch_events ? PAIR_TORCH : PAIR_FLEX;
}

/* -- the first time ---------------------------------------------------------------------------- */

static int note(struct pairing *pairing, const struct event_rank *rank,
                const struct pair_event *event)
{
	if (event->end_ns > PAIR_MAX_NS)
		return FLEXTRACE_OK;
	pairing_see(pairing, side_of(rank), event->begin_ns);
	if (!event->key)
		return FLEXTRACE_OK;
	if (side_of(rank) == PAIR_TORCH)
		return pairing_note_torch(pairing, rank->file, event);
	return rank->rank < 0 ? FLEXTRACE_OK : pairing_note_flex(pairing, rank->rank, event);
}

static int note_call(struct event_filter *filter, struct event_import *events,
                     const struct event_thread *thread, struct event_call *call, bool *ret_is_taken)
{
	const struct pair_event event = event_of(call);

	*ret_is_taken = true;
	return note(filter_of(filter)->pairing, &events->ranks[thread->rank], &event);
}

int pair_filter_solve(struct pair_filter *filter, const struct event_import *events,
                      int64_t epoch_ns)
{
	for (uint32_t i = 0; i < events->n_ranks; i++) {
		if (side_of(&events->ranks[i]) == PAIR_TORCH)
			FLEXTRACE_TRY(pairing_name_file(filter->pairing, events->ranks[i].file,
			                                events->ranks[i].rank));
	}
	return pairing_solve(filter->pairing, epoch_ns);
}

/* -- the second time --------------------------------------------------------------------------- */

/* Finds out whether the other tool's files tell an interval, too. */
static int pair_call(struct event_filter *filter, struct event_import *events,
                     const struct event_thread *thread, struct event_call *call, bool *ret_is_taken)
{
	const struct event_rank *rank = &events->ranks[thread->rank];
	const struct pair_event event = event_of(call), *partner;
	enum pair_side side = side_of(rank);

	*ret_is_taken = false;
	if (!event.key || event.end_ns > PAIR_MAX_NS || !rank->pair)
		return FLEXTRACE_OK;
	partner = pairing_partner(filter_of(filter)->pairing, rank->pair, side, &event);
	if (!partner)
		return FLEXTRACE_OK;
	/* Of work of the device Flex knows more, of the host torch. */
	*ret_is_taken = (side == PAIR_TORCH) == event.is_device;
	if (*ret_is_taken)
		return import_lose(&events->import, LOSS_DUPLICATE, 1);
	if (event.is_device) {
		call->correlation = partner->correlation ? partner->correlation : call->correlation;
		call->bytes = call->bytes ? call->bytes : partner->bytes;
	}
	return FLEXTRACE_OK;
}

/* Flex's times count from the start of the machine, torch's from 1970. */
static int move_time(const struct event_filter *filter, struct event_import *events,
                     struct trace_event *event)
{
	uint32_t rank;

	(void)filter;
	if (events->reader == &torch_events || !event->has_ts || event->ts_ns < 0 ||
	    event->ts_ns > PAIR_MAX_NS)
		return FLEXTRACE_OK; /* what is beyond is no time for the decoder either */
	FLEXTRACE_TRY(events->reader->find_rank(events, event, &rank));
	if (events->ranks[rank].pair)
		event->ts_ns = pair_move(&events->ranks[rank].pair->result.fit, event->ts_ns);
	return FLEXTRACE_OK;
}

static void pair_rank(const struct event_filter *filter, struct event_rank *rank,
                      struct import_stream *stream)
{
	const struct pairing *pairing = filter_of(filter)->pairing;
	bool is_torch = side_of(rank) == PAIR_TORCH;

	rank->pair = is_torch ? pairing_of_file(pairing, rank->file)
	                      : pairing_of_rank(pairing, rank->rank);
	if (!is_torch)
		stream->clock_offset_ns = pairing_flex_epoch_ns(pairing);
	if (!rank->pair)
		return;
	rank->device = rank->pair->device;
	rank->vpid = rank->pair->rank;
	rank->n_jobs = is_torch ? FIRST_JOB : 0;
	rank->boot = "imported torch and Flex rank ";
	rank->is_other_defined = !is_torch; /* torch knows more of it */
	stream->clock_offset_ns = pairing_epoch_ns(pairing);
}

/* Says that a device of Flex is one of the torch files of its rank. */
static int give_device(const struct event_import *events, const struct event_rank *of)
{
	for (uint32_t i = 0; i < events->n_ranks; i++) {
		const struct event_rank *torch = &events->ranks[i];

		if (side_of(torch) == PAIR_TORCH && torch->pair == of->pair)
			FLEXTRACE_TRY(torch_add_device(torch->own, i, torch->device));
	}
	return FLEXTRACE_OK;
}

/* Streams of a pair are of one trace. */
static void join_trace(struct import_stream *stream, const struct event_rank *torch)
{
	stream->instance = torch->file; /* Flex's is 0 */
	memset(stream->uuid, 0, sizeof(stream->uuid));
	event_make_uuid(stream->uuid, "", (uint64_t)torch->pair->rank);
}

int pair_filter_end(struct event_import *events)
{
	for (uint32_t i = 0; i < events->n_ranks; i++) {
		struct event_rank *rank = &events->ranks[i];

		if (!rank->pair)
			continue;
		rank->rank = rank->pair->rank;
		if (side_of(rank) == PAIR_TORCH)
			join_trace(&events->import.streams[i], rank);
		else if (rank->has_device)
			FLEXTRACE_TRY(give_device(events, rank));
	}
	return FLEXTRACE_OK;
}

void pair_filter_init(struct pair_filter *filter, struct pairing *pairing, bool is_survey)
{
	static const struct event_filter first = {.take_call = note_call};
	static const struct event_filter second = {pair_rank, move_time, pair_call};

	*filter = (struct pair_filter){is_survey ? first : second, pairing};
}
