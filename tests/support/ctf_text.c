/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf_text.h"

#include "text_source.h"

#define MAX_STREAMS 8

struct entry {
	const struct stream *key; /* weak, both */
	struct ctf_stream *ctf;
	bool has_event;
};

struct target {
	struct ctf_writer *writer; /* owned */
	struct entry streams[MAX_STREAMS];
};

static struct entry *entry_of(struct target *target, const struct stream *key)
{
	for (int i = 0; i < MAX_STREAMS; i++) {
		struct entry *entry = &target->streams[i];

		if (entry->key == key)
			return entry;
		if (entry->key)
			continue;
		entry->key = key;
		entry->ctf = ctf_writer_stream(target->writer, (uint32_t)key->class_id,
		                               key->instance_id);
		return entry->ctf ? entry : NULL;
	}
	return NULL;
}

static int write_event(void *self, struct stream *key, const struct event *event)
{
	struct entry *entry = entry_of(self, key);

	if (!entry)
		return FLEXTRACE_E_OUTPUT;
	entry->has_event = true;
	return ctf_stream_event(entry->ctf, event);
}

static int write_skip(void *self, struct stream *key, enum loss_cause cause, int class,
                      uint64_t clock_ns)
{
	struct entry *entry = entry_of(self, key);

	if (!entry || class >= 0)
		return FLEXTRACE_E_INPUT;
	entry->has_event = true;
	return cause == LOSS_UNKNOWN_EVENT ? ctf_stream_unknown(entry->ctf, clock_ns)
	                                   : ctf_stream_foreign(entry->ctf, clock_ns);
}

static int write_lost(void *self, struct stream *key, enum loss_cause cause,
                      const struct loss_span *span)
{
	struct entry *entry = entry_of(self, key);

	if (!entry)
		return FLEXTRACE_E_OUTPUT;
	if (entry->has_event)
		FLEXTRACE_TRY(ctf_stream_flush(entry->ctf));
	if (cause == LOSS_DISCARDED_PACKETS)
		ctf_stream_discard_packets(entry->ctf, span->count);
	else
		ctf_stream_discard_events(entry->ctf, span->count);
	return FLEXTRACE_OK;
}

static const struct text_target ctf_target = {write_event, write_skip, write_lost};

int ctf_text_write(const struct ctf_writer_options *options, const char *text,
                   struct flextrace_error *error)
{
	struct target target = {.writer = ctf_writer_new(options)};
	struct text_source source;
	int code, closed;

	if (!target.writer || text_source_init(&source) < 0)
		return error_set(error, FLEXTRACE_E_OUTPUT, "Cannot write %s", options->dir);
	source.target = &ctf_target;
	source.target_self = &target;
	code = text_source_read(&source, text, error);
	closed = ctf_writer_close(target.writer);
	text_source_release(&source);
	return code < 0 ? code : closed;
}
