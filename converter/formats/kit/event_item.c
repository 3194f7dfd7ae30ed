/* SPDX-License-Identifier: Apache-2.0 */
#include "event_item.h"

#include <string.h>

#include "base/array.h"
#include "model/schema.h"

#define MAX_INLINE     ((size_t)4 << 10) /* bytes of a text in an item */
#define MAX_TEXTS      8                 /* of an event */
#define PAYLOAD_OFFSET offsetof(struct event, payload)

/* -- texts ----------------------------------------------------------------------------------- */

size_t item_text_bytes(const struct trace_text *text)
{
	return sizeof(uint32_t) + (text->length > MAX_INLINE ? sizeof(uint64_t) : text->length + 1);
}

void item_copy_text(char **at, const struct item_text *text)
{
	uint32_t length = (uint32_t)text->text.length;

	memcpy(*at, &length, sizeof(length));
	*at += sizeof(length);
	if (length > MAX_INLINE) {
		memcpy(*at, &text->place, sizeof(text->place));
		*at += sizeof(text->place);
		return;
	}
	if (length)
		memcpy(*at, text->text.bytes, length);
	(*at)[length] = '\0';
	*at += length + 1;
}

int item_put_text(struct spool *spool, char **at, const struct trace_text *text)
{
	struct item_text item = {*text, 0};

	if (text->length > MAX_INLINE)
		FLEXTRACE_TRY(spool_put_bytes(spool, text->bytes, text->length, &item.place));
	item_copy_text(at, &item);
	return FLEXTRACE_OK;
}

struct item_text item_get_text(const char **at)
{
	struct item_text text = {{NULL, 0}, 0};
	uint32_t length;

	memcpy(&length, *at, sizeof(length));
	*at += sizeof(length);
	text.text.length = length;
	if (length <= MAX_INLINE) {
		text.text.bytes = *at;
		*at += length + 1;
	} else {
		memcpy(&text.place, *at, sizeof(text.place));
		*at += sizeof(text.place);
	}
	return text;
}

int item_fetch_texts(struct spool *spool, struct item_texts *memory, struct item_text *texts,
                     uint32_t n)
{
	uint64_t n_bytes = 0;
	char *at;

	for (uint32_t i = 0; i < n; i++)
		n_bytes += texts[i].text.bytes ? 0 : texts[i].text.length + 1;
	if (!n_bytes)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_RESERVE(memory->bytes, memory->n_allocated, n_bytes));
	at = memory->bytes;
	for (uint32_t i = 0; i < n; i++) {
		if (texts[i].text.bytes)
			continue;
		FLEXTRACE_TRY(spool_get_bytes(spool, texts[i].place, at, texts[i].text.length));
		texts[i].text.bytes = at;
		at += texts[i].text.length;
		*at++ = '\0';
	}
	return FLEXTRACE_OK;
}

/* -- events ---------------------------------------------------------------------------------- */

/* Of what stands between a payload and its texts: words, which are aligned there, and the origins
 * behind the first. */
static size_t words_bytes(const struct event *event)
{
	const struct flextrace_marker_batch *batch = &event->payload.marker_batch;

	return event->class == RECORD_MARKER_BATCH ? batch->n_words * sizeof(*batch->words) : 0;
}

static size_t origins_bytes(const struct event *event)
{
	return event->n_origins > 1 ? (event->n_origins - 1) * sizeof(*event->origins) : 0;
}

static const char **text_of(const struct event *event, const struct schema_field *field)
{
	return (const char **)((char *)(uintptr_t)event + PAYLOAD_OFFSET + field->offset);
}

/* Lists the texts of an event. */
static uint32_t list_texts(const struct event *event, struct trace_text texts[MAX_TEXTS])
{
	const struct schema_class *schema = schema_of(event->class);
	uint32_t n = 0;

	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const char *text;

		if (schema->fields[i].type != SCHEMA_STRING)
			continue;
		text = *text_of(event, &schema->fields[i]);
		texts[n++] = (struct trace_text){text, text ? strlen(text) : 0};
	}
	return n;
}

int event_item_add(struct spool *spool, uint32_t stream, const struct event *event)
{
	const struct item_head head = {
		.clock_ns = event->clock_ns,
		.stream = stream,
		.vpid = event->vpid,
		.vtid = event->vtid,
		.class = (uint16_t)event->class,
		.n_origins = (uint8_t)event->n_origins,
		.status = (uint8_t)event->status,
		.file = event->origins[0].file,
		.record = event->origins[0].record,
	};
	size_t n_payload = schema_of(event->class)->payload_bytes, n_words = words_bytes(event);
	size_t n_origins = origins_bytes(event);
	size_t n_bytes = sizeof(head) + n_payload + n_words + n_origins;
	struct trace_text texts[MAX_TEXTS];
	uint32_t n = list_texts(event, texts);
	void *item;
	char *at;

	for (uint32_t i = 0; i < n; i++)
		n_bytes += item_text_bytes(&texts[i]);
	FLEXTRACE_TRY(spool_add(spool, event->clock_ns, n_bytes, &item));
	memcpy(item, &head, sizeof(head));
	memcpy((char *)item + sizeof(head), &event->payload, n_payload);
	at = (char *)item + sizeof(head) + n_payload;
	if (n_words)
		memcpy(at, event->payload.marker_batch.words, n_words);
	memcpy(at + n_words, &event->origins[1], n_origins);
	at += n_words + n_origins;
	for (uint32_t i = 0; i < n; i++)
		FLEXTRACE_TRY(item_put_text(spool, &at, &texts[i]));
	return FLEXTRACE_OK;
}

int event_item_read(struct spool *spool, const void *item, struct item_texts *memory,
                    uint32_t *ret_stream, struct event *ret_event)
{
	struct item_text texts[MAX_TEXTS];
	const struct schema_class *schema;
	struct item_head head;
	const char *at = item;
	uint32_t n = 0;

	memcpy(&head, at, sizeof(head));
	at += sizeof(head);
	ret_event->class = (enum record_class)head.class;
	ret_event->clock_ns = head.clock_ns;
	ret_event->vpid = head.vpid;
	ret_event->vtid = head.vtid;
	ret_event->n_origins = head.n_origins;
	ret_event->status = head.status;
	ret_event->origins[0] = (struct origin){head.file, head.record, false};
	*ret_stream = head.stream;
	schema = schema_of(ret_event->class);
	memcpy(&ret_event->payload, at, schema->payload_bytes);
	at += schema->payload_bytes;
	if (words_bytes(ret_event))
		ret_event->payload.marker_batch.words = (const uint64_t *)at;
	at += words_bytes(ret_event);
	memcpy(&ret_event->origins[1], at, origins_bytes(ret_event));
	at += origins_bytes(ret_event);
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		if (schema->fields[i].type == SCHEMA_STRING)
			texts[n++] = item_get_text(&at);
	}
	FLEXTRACE_TRY(item_fetch_texts(spool, memory, texts, n));
	n = 0;
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		if (schema->fields[i].type == SCHEMA_STRING)
			*text_of(ret_event, &schema->fields[i]) = texts[n++].text.bytes;
	}
	return FLEXTRACE_OK;
}
