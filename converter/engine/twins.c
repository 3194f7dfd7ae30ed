/* SPDX-License-Identifier: Apache-2.0 */
#include "twins.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"

void twins_release(struct twins *twins)
{
	map_release(&twins->index);
	free(twins->threads);
}

/* All but where in its stream it stood, and when that was. */
static uint64_t hash_of(const struct record *record)
{
	const unsigned char *bytes = (const unsigned char *)record;
	uint64_t hash = record->size_bytes, word;

	for (size_t i = offsetof(struct record, vpid); i < record->size_bytes; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		hash = hash_words(hash, word);
	}
	return hash;
}

static int find_thread(struct twins *twins, uint32_t process, int32_t vtid,
                       struct twins_thread **ret_thread)
{
	uint64_t who = (uint64_t)process << 32 | (uint32_t)vtid;
	uint32_t found = map_find(&twins->index, who, 0);

	if (found == MAP_NONE) {
		found = twins->n_threads;
		FLEXTRACE_TRY(array_make_room(&twins->threads, found, sizeof(*twins->threads)));
		FLEXTRACE_TRY(map_put(&twins->index, who, 0, found));
		twins->threads[twins->n_threads++] = (struct twins_thread){.next = 0};
	}
	*ret_thread = &twins->threads[found];
	return FLEXTRACE_OK;
}

/* Whether a record is still without a copy in a trace; notes that it has one then. */
static bool match(struct twins_recent *recent, uint64_t hash, uint32_t trace, uint64_t clock_ns)
{
	if (!recent->n_traces || recent->hash != hash || recent->n_traces == TWINS_TRACES ||
	    clock_ns - recent->clock_ns > TWINS_FAR_NS)
		return false;
	for (uint32_t i = 0; i < recent->n_traces; i++)
		if (recent->traces[i] == trace)
			return false;
	recent->traces[recent->n_traces++] = trace;
	return true;
}

/* 1: it is a copy of one that came before. */
static int take(struct twins *twins, uint32_t process, uint32_t trace, const struct record *record)
{
	uint64_t hash = hash_of(record);
	struct twins_thread *thread;

	FLEXTRACE_TRY(find_thread(twins, process, record->vtid, &thread));
	for (uint32_t i = 0; i < TWINS_RECENT; i++) /* the oldest first */
		if (match(&thread->recent[(thread->next + i) % TWINS_RECENT], hash, trace,
		          record->clock_ns))
			return 1;
	thread->recent[thread->next] = (struct twins_recent){hash, record->clock_ns, {trace}, 1};
	thread->next = (thread->next + 1) % TWINS_RECENT;
	return 0;
}

int twins_leave_out(struct twins *twins, const struct stream *stream, uint32_t stream_id,
                    const struct record *record)
{
	struct loss_place place = LOSS_NOWHERE;
	int code;

	if (!twins->identity->n_shared)
		return 0;
	FLEXTRACE_TRY(identity_process(twins->identity, stream, record, &place.process));
	if (!twins->identity->processes[place.process].is_shared)
		return 0;
	code = take(twins, place.process, stream->trace, record);
	if (code <= 0)
		return code;
	place.stream = stream_id;
	code = ledger_discard(twins->ledger, LOSS_DUPLICATE, &place, record);
	return code < 0 ? code : 1;
}
