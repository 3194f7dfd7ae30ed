/* SPDX-License-Identifier: Apache-2.0 */
#include "feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "environment.h"
#include "model/identity/recording_id.h"

#define MAX_NAME_BYTES 128 /* more is cut */
#define HZ_PER_GHZ     UINT64_C(1000000000)

int feed_init(struct feed *feed, struct string_pool *strings)
{
	memset(feed, 0, sizeof(*feed));
	return decoder_init(&feed->decoder, strings);
}

void feed_detach(struct feed *feed)
{
	for (uint32_t i = 0; i < feed->n_streams; i++)
		bt_stream_put_ref(feed->streams[i].bt);
	for (uint32_t i = 0; i < feed->n_classes; i++) {
		event_class_release(feed->classes[i]);
		free(feed->classes[i]);
	}
	free(feed->streams);
	free(feed->classes);
	free(feed->words.words);
	map_release(&feed->stream_index);
	map_release(&feed->class_index);
	feed->streams = NULL;
	feed->classes = NULL;
	feed->words = (struct event_words){NULL, 0};
	feed->n_streams = feed->n_classes = 0;
	feed->last_bt = NULL;
	feed->last_class = NULL;
}

void feed_release(struct feed *feed)
{
	feed_detach(feed);
	stream_set_release(&feed->set);
	decoder_release(&feed->decoder);
	for (uint32_t i = 0; i < feed->n_traces; i++)
		losses_release(&feed->traces[i].lost);
	free(feed->traces);
	feed->traces = NULL;
	feed->n_traces = 0;
}

/* -- traces and streams ------------------------------------------------------------------------ */

static bool has_stream_of(const bt_trace *trace, const bt_stream_class *class)
{
	uint64_t n = bt_trace_get_stream_count(trace);

	for (uint64_t i = 0; i < n; i++)
		if (bt_stream_borrow_class_const(bt_trace_borrow_stream_by_index_const(trace, i)) ==
		    class)
			return true;
	return false;
}

static uint32_t count_missing_channels(const bt_trace *trace)
{
	const bt_trace_class *class = bt_trace_borrow_class_const(trace);
	uint64_t n = bt_trace_class_get_stream_class_count(class);
	uint32_t n_missing = 0;

	for (uint64_t i = 0; i < n; i++)
		n_missing += !has_stream_of(
			trace, bt_trace_class_borrow_stream_class_by_index_const(class, i));
	return n_missing;
}

static struct feed_trace *find_trace(struct feed *feed, const uint8_t uuid[16])
{
	uint32_t i = 0;

	while (i < feed->n_traces && memcmp(feed->traces[i].uuid, uuid, 16) != 0)
		i++;
	return i < feed->n_traces ? &feed->traces[i] : NULL;
}

static int note_trace(struct feed *feed, const struct feed_trace *trace)
{
	struct feed_trace *noted;

	noted = find_trace(feed, trace->uuid);
	if (noted) { /* a reader of what is recorded meanwhile sees its streams one after another */
		if (trace->n_missing_channels < noted->n_missing_channels)
			noted->n_missing_channels = trace->n_missing_channels;
		if (trace->n_channels > noted->n_channels)
			noted->n_channels = trace->n_channels;
		return 0;
	}
	FLEXTRACE_TRY(ARRAY_ROOM(feed->traces, feed->n_traces));
	noted = &feed->traces[feed->n_traces++];
	*noted = (struct feed_trace){.n_channels = trace->n_channels,
	                             .n_missing_channels = trace->n_missing_channels};
	memcpy(noted->uuid, trace->uuid, sizeof(noted->uuid));
	return losses_merge(&noted->lost, &trace->lost, FLEXTRACE_NONE);
}

/* What a trace says of itself. */
static int read_trace(struct feed *feed, const bt_trace *trace, uint8_t ret_uuid[16])
{
	struct feed_trace read = {
		.n_channels = (uint32_t)bt_trace_class_get_stream_class_count(
			bt_trace_borrow_class_const(trace)),
		.n_missing_channels = count_missing_channels(trace),
	};
	int code;

	environment_get_uuid(trace, read.uuid);
	memcpy(ret_uuid, read.uuid, sizeof(read.uuid));
	code = environment_get_losses(trace, &read.lost);
	if (code == 0)
		code = note_trace(feed, &read);
	losses_release(&read.lost);
	return code;
}

/* A text that the trace says of itself; NULL: it does not. */
static const char *text_of(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

static int set_origin(struct feed *feed, struct stream *stream, const bt_trace *trace)
{
	const char *host = text_of(trace, "hostname"), *name = text_of(trace, "trace_name");

	if (host)
		FLEXTRACE_TRY(string_intern(&feed->decoder.cache, host, &stream->host));
	if (!name || recording_scope_of(name) == RECORDING_OF_OTHERS)
		return 0;
	return string_intern(&feed->decoder.cache, name, &stream->recording);
}

static void set_clock(struct feed_stream *entry, const bt_stream_class *class)
{
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);
	int64_t seconds;
	uint64_t cycles;

	if (!clock)
		return;
	entry->has_clock = true;
	entry->frequency_hz = bt_clock_class_get_frequency(clock);
	entry->stream->clock_is_1ghz = entry->frequency_hz == HZ_PER_GHZ;
	bt_clock_class_get_offset(clock, &seconds, &cycles);
	entry->stream->clock_offset_ns =
		(int64_t)((uint64_t)seconds * HZ_PER_GHZ +
	                  (uint64_t)((unsigned __int128)cycles * HZ_PER_GHZ / entry->frequency_hz));
}

/* Adds the stream of a babeltrace2 stream; its place in feed->streams is feed->n_streams - 1. */
static int add_stream(struct feed *feed, const bt_stream *bt)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(bt);
	const bt_trace *trace = bt_stream_borrow_trace_const(bt);
	struct feed_stream entry = {.bt = bt};

	FLEXTRACE_TRY(ARRAY_ROOM(feed->streams, feed->n_streams));
	entry.stream = stream_set_add(&feed->set);
	if (!entry.stream)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(read_trace(feed, trace, entry.stream->trace_uuid));
	entry.stream->class_id = bt_stream_class_get_id(class);
	entry.stream->instance_id = bt_stream_get_id(bt);
	set_clock(&entry, class);
	FLEXTRACE_TRY(set_origin(feed, entry.stream, trace));
	FLEXTRACE_TRY(environment_get_inputs(trace, &feed->decoder.cache, entry.stream));
	entry.stream->has_dialects =
		!entry.stream->n_files && /* imports tell it as it is */
		event_classes_have_dialects(bt_trace_borrow_class_const(trace));
	FLEXTRACE_TRY(map_put(&feed->stream_index, (uintptr_t)bt, 0, feed->n_streams));
	bt_stream_get_ref(bt);
	feed->streams[feed->n_streams++] = entry;
	return 0;
}

static int find_stream(struct feed *feed, const bt_stream *bt, struct feed_stream **ret_stream)
{
	if (bt != feed->last_bt) {
		uint32_t index = map_find(&feed->stream_index, (uintptr_t)bt, 0);

		if (index == MAP_NONE) {
			FLEXTRACE_TRY(add_stream(feed, bt));
			index = feed->n_streams - 1;
		}
		feed->last_bt = bt;
		feed->last_stream = index;
	}
	*ret_stream = &feed->streams[feed->last_stream];
	return 0;
}

/* -- events ------------------------------------------------------------------------------------ */

/* Each name once, and no more than have room. */
static void note_unknown(struct feed *feed, const char *name, int n)
{
	size_t n_before = strlen(feed->unknown);
	char text[sizeof(feed->unknown)];

	snprintf(text, sizeof(text), "%.*s, ", n, name);
	if (!strstr(feed->unknown, text) && n_before + strlen(text) < sizeof(feed->unknown))
		strcpy(feed->unknown + n_before, text);
}

void feed_warn(const struct feed *feed, void (*warn)(void *context, const char *text),
               void *context)
{
	char text[sizeof(feed->unknown) + 64];

	if (!warn || !*feed->unknown)
		return;
	snprintf(text, sizeof(text), "Events of a newer version are not read: events=%.*s",
	         (int)strlen(feed->unknown) - 2, feed->unknown);
	warn(context, text);
}

static int add_class(struct feed *feed, const bt_event_class *bt)
{
	struct event_class *class;

	FLEXTRACE_TRY(ARRAY_ROOM(feed->classes, feed->n_classes));
	FLEXTRACE_TRY(map_put(&feed->class_index, (uintptr_t)bt, 0, feed->n_classes));
	class = malloc(sizeof(*class));
	if (!class)
		return FLEXTRACE_E_MEMORY;
	event_class_init(class, bt);
	if (class->class == EVENT_UNKNOWN)
		note_unknown(feed, bt_event_class_get_name(bt), MAX_NAME_BYTES);
	feed->classes[feed->n_classes++] = class;
	return 0;
}

static int find_class(struct feed *feed, const bt_event_class *bt, struct event_class **ret_class)
{
	if (!feed->last_class || feed->last_class->bt != bt) {
		uint32_t index = map_find(&feed->class_index, (uintptr_t)bt, 0);

		if (index == MAP_NONE) {
			FLEXTRACE_TRY(add_class(feed, bt));
			index = feed->n_classes - 1;
		}
		feed->last_class = feed->classes[index];
	}
	*ret_class = feed->last_class;
	return 0;
}

static uint64_t snapshot_ns(const struct feed_stream *stream, const bt_clock_snapshot *snapshot)
{
	uint64_t value = bt_clock_snapshot_get_value(snapshot);

	if (stream->frequency_hz == HZ_PER_GHZ)
		return value;
	return (uint64_t)((unsigned __int128)value * HZ_PER_GHZ / stream->frequency_hz);
}

static uint64_t clock_of(const struct feed_stream *stream, const bt_message *message)
{
	if (!stream->has_clock)
		return 0;
	return snapshot_ns(stream, bt_message_event_borrow_default_clock_snapshot_const(message));
}

static int take_event(struct feed *feed, const bt_message *message)
{
	const bt_event *bt = bt_message_event_borrow_event_const(message);
	struct event_class *class;
	struct feed_stream *stream;
	uint64_t clock_ns;
	int status;

	FLEXTRACE_TRY(find_stream(feed, bt_event_borrow_stream_const(bt), &stream));
	FLEXTRACE_TRY(find_class(feed, bt_event_borrow_class_const(bt), &class));
	clock_ns = clock_of(stream, message);
	feed->decoder.ledger.warnings[WARNING_UNKNOWN_KIND] += class->class == EVENT_UNKNOWN;
	if (class->class < 0)
		return decode_skip(&feed->decoder, stream->stream,
		                   class->class == EVENT_UNKNOWN ? LOSS_UNKNOWN_EVENT
		                                                 : LOSS_FOREIGN_EVENT,
		                   class->class, clock_ns);
	status = class->is_malformed ? FLEXTRACE_E_INPUT : event_read(class, bt, &feed->words);
	if (status == FLEXTRACE_E_INPUT)
		return decode_skip(&feed->decoder, stream->stream, LOSS_MALFORMED, class->class,
		                   clock_ns);
	FLEXTRACE_TRY(status);
	class->event.clock_ns = clock_ns;
	return decode_push(&feed->decoder, stream->stream, &class->event);
}

/* -- what was lost ----------------------------------------------------------------------------- */

/* A count that fell, as LTTng's sometimes do for a while, is right only in the sum. */
static int take_loss(struct feed_stream *stream, enum loss_cause cause, uint64_t count,
                     const bt_clock_snapshot *first, const bt_clock_snapshot *last)
{
	struct loss_span span = {INT64_MIN, INT64_MIN, count};

	if (first && last && !(count >> 63) && !(snapshot_ns(stream, last) >> 62)) {
		span.first_ns = (int64_t)snapshot_ns(stream, first);
		span.last_ns = (int64_t)snapshot_ns(stream, last);
	}
	return losses_add(&stream->stream->losses, cause, &LOSS_NOWHERE, &span);
}

/* What was lost before the first packet, which babeltrace2 does not tell; where the files do not
 * either, at least one. A source of files gives a stream the name of its first one. */
static uint64_t count_first(const struct feed *feed, const bt_stream *bt,
                            const struct stream *stream)
{
	uint64_t n;

	if (feed->fronts)
		n = ctf_first_discarded(feed->fronts, stream->trace_uuid, stream->class_id,
		                        stream->instance_id);
	else
		n = ctf_discarded_in_front(bt_stream_get_name(bt), stream->trace_uuid);
	return n ? n : 1;
}

static int take_discarded_events(struct feed *feed, const bt_message *message)
{
	const bt_stream *bt = bt_message_discarded_events_borrow_stream_const(message);
	const bt_clock_snapshot *first = NULL, *last = NULL;
	struct feed_stream *stream;
	uint64_t count;

	FLEXTRACE_TRY(find_stream(feed, bt, &stream));
	if (bt_message_discarded_events_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = count_first(feed, bt, stream->stream);
	if (bt_stream_class_discarded_events_have_default_clock_snapshots(
		    bt_stream_borrow_class_const(bt))) {
		first = bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
			message);
		last = bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message);
	}
	return take_loss(stream, LOSS_DISCARDED_EVENTS, count, first, last);
}

static int take_discarded_packets(struct feed *feed, const bt_message *message)
{
	const bt_stream *bt = bt_message_discarded_packets_borrow_stream_const(message);
	const bt_clock_snapshot *first = NULL, *last = NULL;
	struct feed_stream *stream;
	uint64_t count;

	FLEXTRACE_TRY(find_stream(feed, bt, &stream));
	if (bt_message_discarded_packets_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 1; /* at least */
	if (bt_stream_class_discarded_packets_have_default_clock_snapshots(
		    bt_stream_borrow_class_const(bt))) {
		first = bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
			message);
		last = bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(
			message);
	}
	return take_loss(stream, LOSS_DISCARDED_PACKETS, count, first, last);
}

int feed_message(struct feed *feed, const bt_message *message)
{
	struct feed_stream *stream;

	feed->n_messages++;
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		return take_event(feed, message);
	case BT_MESSAGE_TYPE_STREAM_BEGINNING: /* also a stream without events is one */
		return find_stream(feed, bt_message_stream_beginning_borrow_stream_const(message),
		                   &stream);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return take_discarded_events(feed, message);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return take_discarded_packets(feed, message);
	default: /* packets, ends, inactivity: nothing to learn */
		return 0;
	}
}

/* -- all feeds together ------------------------------------------------------------------------ */

int feed_merge(struct feed *to, struct feed *from)
{
	FLEXTRACE_TRY(stream_set_take(&to->set, &from->set));
	FLEXTRACE_TRY(ledger_add(&to->decoder.ledger, &from->decoder.ledger));
	for (uint32_t i = 0; i < from->n_traces; i++)
		FLEXTRACE_TRY(note_trace(to, &from->traces[i]));
	for (const char *name = from->unknown; *name; name += strcspn(name, ",") + 2)
		note_unknown(to, name, (int)strcspn(name, ","));
	to->n_messages += from->n_messages;
	return 0;
}

/* Whether streams of a trace have records of other tables, but no definition at all. */
static bool lacks_definitions(const struct feed *feed, const struct feed_trace *trace)
{
	uint64_t n_definitions = 0, n_others = 0;

	for (uint32_t i = 0; i < feed->set.n_streams; i++) {
		const struct stream *stream = feed->set.streams[i];

		if (memcmp(stream->trace_uuid, trace->uuid, sizeof(trace->uuid)))
			continue;
		n_definitions += stream->tables[TABLE_DEFINITIONS].n_rows;
		n_others += stream->tables[TABLE_EVIDENCE].n_rows +
		            stream->tables[TABLE_HOST].n_rows;
	}
	return n_others && !n_definitions;
}

static int book_channels(struct feed *feed, const struct feed_trace *trace)
{
	struct loss_place nowhere = LOSS_NOWHERE;
	uint64_t n = trace->n_missing_channels;

	/* Where there are several, theirs is there, and a live reader came late. */
	if (!n && trace->n_channels < 2 && lacks_definitions(feed, trace))
		n = 1;
	return ledger_lose(&feed->decoder.ledger, LOSS_CHANNEL_NOT_CREATED, &nowhere, n, INT64_MIN);
}

int feed_book_losses(struct feed *feed)
{
	for (uint32_t i = 0; i < feed->n_traces; i++) {
		FLEXTRACE_TRY(book_channels(feed, &feed->traces[i]));
		FLEXTRACE_TRY(losses_merge(&feed->decoder.ledger.losses, &feed->traces[i].lost,
		                           FLEXTRACE_NONE));
	}
	return 0;
}
