/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_calls.c: what the importer has in common with pairing.h: intervals, times and ranks.
 */
#include <string.h>

#include "formats/torch/torch_impl.h"

/* What two events must have in common to be the same work. */
enum key_kind { KEY_NONE, KEY_EXEC, KEY_PREP, KEY_DMA_IN, KEY_DMA_OUT, KEY_RUNTIME, KEY_NAME };

static uint64_t hash_text(const struct trace_text *text, uint64_t seed)
{
	uint64_t hash = hash_words(seed, text->length);

	for (size_t i = 0; i < text->length; i++)
		hash = (hash ^ (unsigned char)text->bytes[i]) * UINT64_C(0x100000001b3);
	return hash_words(hash, seed);
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

static enum key_kind kind_of_work(const struct flex_call *call)
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
static uint64_t key_of(const struct flex_call *call)
{
	struct flex_call named = *call;
	enum key_kind kind;

	if (call->is_device || call->has_stamps) {
		flex_cut_name(&named);
		kind = kind_of_work(&named);
		return kind == KEY_EXEC || kind == KEY_PREP ? hash_text(&named.name, kind) : kind;
	}
	if (call->kind == FLEXTRACE_RUNTIME_OP)
		return KEY_NONE;
	if (call->kind == FLEXTRACE_RUNTIME_USER || call->kind == FLEXTRACE_RUNTIME_CALL)
		return hash_text(&call->full_name, KEY_NAME);
	return hash_words(call->kind, KEY_RUNTIME);
}

static uint64_t hash_stamps(const struct flex_call *call)
{
	uint64_t hash = 0, any = 0;

	for (int i = 0; call->has_stamps && i < FLEXTRACE_N_STAMPS; i++) {
		hash = hash_words(call->ts[i], hash);
		any |= call->ts[i];
	}
	return any ? hash : 0;
}

static struct pair_event event_of(const struct flex_call *call)
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

static int note(struct flex *flex, const struct flex_rank *rank, const struct pair_event *event)
{
	if (rank->reader->side == PAIR_TORCH)
		return pairing_note_torch(flex->pairing, flex->torch->n_files, event);
	return rank->rank < 0 ? FLEXTRACE_OK : pairing_note_flex(flex->pairing, rank->rank, event);
}

int flex_pair_call(struct flex *flex, const struct flex_thread *thread, struct flex_call *call,
                   bool *ret_is_taken)
{
	const struct flex_rank *rank = &flex->ranks[thread->rank];
	const struct pair_event event = event_of(call), *partner;

	*ret_is_taken = flex->is_survey;
	if (flex->is_survey && event.end_ns <= PAIR_MAX_NS)
		pairing_see(flex->pairing, rank->reader->side, event.begin_ns);
	if (!event.key || event.end_ns > PAIR_MAX_NS || (!flex->is_survey && !rank->pair))
		return FLEXTRACE_OK;
	if (flex->is_survey)
		return note(flex, rank, &event);
	partner = pairing_partner(flex->pairing, rank->pair, rank->reader->side, &event);
	if (!partner)
		return FLEXTRACE_OK;
	/* Of work of the device Flex knows more, of the host torch. */
	*ret_is_taken = (rank->reader->side == PAIR_TORCH) == event.is_device;
	if (*ret_is_taken)
		return import_lose(&flex->import, LOSS_DUPLICATE, 1);
	if (event.is_device) {
		call->correlation = partner->correlation ? partner->correlation : call->correlation;
		call->bytes = call->bytes ? call->bytes : partner->bytes;
	}
	return FLEXTRACE_OK;
}

int flex_pair_move(struct flex *flex, struct trace_event *event)
{
	uint32_t rank;

	if (flex->is_survey || !event->has_ts || event->ts_ns < 0 || event->ts_ns > PAIR_MAX_NS)
		return FLEXTRACE_OK; /* what is beyond is no time for the decoder either */
	FLEXTRACE_TRY(flex_find_rank(flex, event, &rank));
	if (flex->ranks[rank].pair)
		event->ts_ns = pair_move(&flex->ranks[rank].pair->result.fit, event->ts_ns);
	return FLEXTRACE_OK;
}

void flex_pair_rank(const struct flex *flex, struct flex_rank *rank, struct import_stream *stream)
{
	bool is_torch = rank->reader->side == PAIR_TORCH;

	if (!flex->pairing || flex->is_survey)
		return;
	rank->pair = is_torch ? pairing_of_file(flex->pairing, flex->torch->n_files)
	                      : pairing_of_rank(flex->pairing, rank->rank);
	if (!is_torch)
		stream->clock_offset_ns = pairing_flex_epoch_ns(flex->pairing);
	if (!rank->pair)
		return;
	rank->device = rank->pair->device;
	rank->vpid = rank->pair->rank;
	stream->clock_offset_ns = pairing_epoch_ns(flex->pairing);
}

/* The device is one that torch describes. */
int flex_pair_devices(struct flex *flex)
{
	struct torch_device *device;

	for (uint32_t i = 0; flex->torch && i < flex->n_ranks; i++) {
		const struct flex_rank *torch = &flex->ranks[i];

		for (uint32_t j = 0;
		     j < flex->n_ranks && torch->reader == &torch_events && torch->pair; j++) {
			if (flex->ranks[j].reader != &flex_events ||
			    flex->ranks[j].pair != torch->pair || !flex->ranks[j].has_device)
				continue;
			FLEXTRACE_TRY(torch_find_device(flex, i, torch->device, &device));
			device->has_stamps = true;
		}
	}
	return FLEXTRACE_OK;
}

void flex_pair(struct flex *flex, struct pairing *pairing)
{
	flex->pairing = pairing;
	flex->is_survey = !pairing_is_solved(pairing);
}

const struct pairing *flex_pairing(const struct flex *flex)
{
	return flex->pairing;
}

int flex_pair_end(struct flex *flex)
{
	return pairing_solve(flex->pairing, flex->torch ? flex->torch->epoch_ns : 0);
}
