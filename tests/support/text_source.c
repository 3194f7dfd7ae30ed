/* SPDX-License-Identifier: Apache-2.0 */
#include "text_source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/schema.h"

#define MAX_WORDS 1024

struct member { /* name=value, both in the line's own bytes */
	char *name;
	char *value;
};

static int push_event(void *self, struct stream *stream, const struct event *event)
{
	struct text_source *source = self;

	return decode_push(&source->decoder, stream, event);
}

static int push_skip(void *self, struct stream *stream, enum loss_cause cause, int class,
                     uint64_t clock_ns)
{
	struct text_source *source = self;

	return decode_skip(&source->decoder, stream, cause, class, clock_ns);
}

static int push_lost(void *self, struct stream *stream, enum loss_cause cause,
                     const struct loss_span *span)
{
	(void)self;
	return losses_add(&stream->losses, cause, &LOSS_NOWHERE, span);
}

static const struct text_target decoder_target = {push_event, push_skip, push_lost};

int text_source_init_part(struct text_source *source, struct string_pool *strings, uint32_t part,
                          uint32_t n_parts)
{
	*source = (struct text_source){.target = &decoder_target,
	                               .target_self = source,
	                               .strings = strings,
	                               .part = part,
	                               .n_parts = n_parts};
	return decoder_init(&source->decoder, source->strings);
}

int text_source_init(struct text_source *source)
{
	struct string_pool *strings = string_pool_new();

	if (!strings)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(text_source_init_part(source, strings, 0, 1));
	source->owns_strings = true;
	return FLEXTRACE_OK;
}

void text_source_release(struct text_source *source)
{
	stream_set_release(&source->set);
	decoder_release(&source->decoder);
	if (source->owns_strings)
		string_pool_free(source->strings);
	*source = (struct text_source){0};
}

/* -- words of a line --------------------------------------------------------------------------- */

/* Copies a quoted string over itself without quotes; returns what stands behind it. */
static char *unquote(char *text)
{
	char *to = text;

	for (text++; *text && *text != '"'; text++) {
		if (*text == '\\' && text[1])
			*to++ = *++text == 'n' ? '\n' : *text;
		else
			*to++ = *text;
	}
	if (*text)
		text++;
	*to = '\0';
	return text;
}

/* Cuts the next blank-separated word off `*line`; NULL at its end. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");
	char *end = word;

	if (!*word)
		return NULL;
	end += strcspn(word, " \t");
	*line = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static bool next_member(char **line, struct member *ret_member)
{
	char *name = *line + strspn(*line, " \t");
	char *equals = strchr(name, '=');
	char *end;

	if (!equals)
		return false;
	*equals = '\0';
	*ret_member = (struct member){name, equals + 1};
	end = equals[1] == '"' ? unquote(equals + 1) : equals + 1 + strcspn(equals + 1, " \t");
	*line = *end ? end + 1 : end;
	*end = '\0';
	return true;
}

static bool parse_u64(const char *text, uint64_t *ret_value)
{
	char *end;

	*ret_value = text[0] == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	return *text && !*end;
}

static int parse_context(const char *word, int32_t *ret_id)
{
	uint64_t value = (uint64_t)-1;

	if (!word || (strcmp(word, "-") && !parse_u64(word, &value)))
		return FLEXTRACE_E_INPUT;
	*ret_id = (int32_t)value;
	return FLEXTRACE_OK;
}

/* -- values ------------------------------------------------------------------------------------ */

static int parse_stamps(char *text, bool is_wide, void *stamps)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		uint64_t stamp = strtoull(text, &text, 0);

		if (is_wide)
			((uint64_t *)stamps)[i] = stamp;
		else
			((uint32_t *)stamps)[i] = (uint32_t)stamp;
		text += *text == ',';
	}
	return *text ? FLEXTRACE_E_INPUT : FLEXTRACE_OK;
}

static int word_kind(const char *text, size_t length)
{
	static const struct {
		const char *name;
		int kind;
	} kinds[] = {
		{"mark", FLEXTRACE_WIRE_MARK},
		{"begin", FLEXTRACE_WIRE_ZONE_BEGIN},
		{"end", FLEXTRACE_WIRE_ZONE_END},
		{"value", FLEXTRACE_WIRE_VALUE},
		{"data", FLEXTRACE_WIRE_VALUE_DATA},
		{"run", FLEXTRACE_WIRE_RUN},
		{"slot", FLEXTRACE_WIRE_SLOT_RUN},
		{"boot", FLEXTRACE_WIRE_BOOT},
		{"queue", FLEXTRACE_WIRE_SLOT_QUEUE},
		{"anchor_lo", FLEXTRACE_WIRE_SLOT_ANCHOR_LO},
		{"anchor_hi", FLEXTRACE_WIRE_SLOT_ANCHOR_HI},
		{"stamp", FLEXTRACE_WIRE_SLOT_STAMP},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, text, length))
			return kinds[i].kind;
	return -1;
}

/* kind:id:ticks,... */
static int parse_words(char *text, uint64_t *words, uint32_t *ret_n)
{
	for (*ret_n = 0; *text; ++*ret_n) {
		size_t length = strcspn(text, ":");
		int kind = word_kind(text, length);
		uint32_t id, ticks;

		if (kind < 0 || !text[length] || *ret_n == MAX_WORDS)
			return FLEXTRACE_E_INPUT;
		id = (uint32_t)strtoull(text + length + 1, &text, 0);
		if (*text++ != ':')
			return FLEXTRACE_E_INPUT;
		ticks = (uint32_t)strtoull(text, &text, 0);
		words[*ret_n] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(kind, id), ticks);
		if (*text && *text++ != ',')
			return FLEXTRACE_E_INPUT;
	}
	return FLEXTRACE_OK;
}

static int put_value(struct event *event, const struct schema_field *field, char *text,
                     uint64_t *words)
{
	void *at = (char *)&event->payload + field->offset;
	uint64_t value;
	char *end;

	switch (field->type) {
	case SCHEMA_STRING:
		*(const char **)at = text;
		return FLEXTRACE_OK;
	case SCHEMA_DOUBLE:
		*(double *)at = strtod(text, &end);
		return *end ? FLEXTRACE_E_INPUT : FLEXTRACE_OK;
	case SCHEMA_TS:
	case SCHEMA_TS64:
		return parse_stamps(text, field->type == SCHEMA_TS64, at);
	case SCHEMA_WORDS:
		event->payload.marker_batch.words = words;
		return parse_words(text, words, &event->payload.marker_batch.n_words);
	default:
		break;
	}
	if (!parse_u64(text, &value))
		return FLEXTRACE_E_INPUT;
	if (field->type == SCHEMA_U64)
		*(uint64_t *)at = value;
	else
		*(uint32_t *)at = (uint32_t)value; /* also i32 */
	return FLEXTRACE_OK;
}

/* -- lines ------------------------------------------------------------------------------------- */

static int find_field(const struct schema_class *schema, const char *name)
{
	for (uint32_t i = 0; i < schema->n_fields; i++)
		if (!strcmp(schema->fields[i].name, name))
			return (int)i;
	return -1;
}

static void set_defaults(struct event *event, const struct schema_class *schema)
{
	for (uint32_t i = 0; i < schema->n_fields; i++)
		if (schema->fields[i].type == SCHEMA_I32)
			*(int32_t *)((char *)&event->payload + schema->fields[i].offset) = -1;
}

static bool has_required(const struct schema_class *schema, uint32_t seen)
{
	for (uint32_t i = 0; i < schema->n_fields; i++)
		if (schema->fields[i].is_required && !(seen & 1u << i))
			return false;
	return true;
}

static int skip(struct text_source *source, enum loss_cause cause, int class, uint64_t clock_ns)
{
	return source->target->skip(source->target_self, source->stream, cause, class, clock_ns);
}

static int read_event(struct text_source *source, const char *class, struct event *event,
                      char *line)
{
	uint64_t words[MAX_WORDS];
	const struct schema_class *schema;
	struct member member;
	char full_name[64];
	uint32_t seen = 0;
	int found;

	if (!strcmp(class, "foreign"))
		return skip(source, LOSS_FOREIGN_EVENT, -1, event->clock_ns);
	if (!strcmp(class, "unknown"))
		return skip(source, LOSS_UNKNOWN_EVENT, -1, event->clock_ns);
	snprintf(full_name, sizeof(full_name), "flextrace:%s", class);
	found = schema_find(full_name);
	if (found < 0)
		return FLEXTRACE_E_INPUT;
	event->class = (enum record_class)found;
	schema = schema_of(event->class);
	set_defaults(event, schema);
	while (next_member(&line, &member)) {
		found = find_field(schema, member.name);
		if (found < 0)
			return FLEXTRACE_E_INPUT;
		FLEXTRACE_TRY(put_value(event, &schema->fields[found], member.value, words));
		seen |= 1u << found;
	}
	if (!has_required(schema, seen))
		return skip(source, LOSS_MALFORMED, event->class, event->clock_ns);
	return source->target->event(source->target_self, source->stream, event);
}

static struct stream *find_stream(struct text_source *source, const struct stream *key)
{
	for (uint32_t i = 0; i < source->set.n_streams; i++) {
		struct stream *stream = source->set.streams[i];

		if (stream->class_id == key->class_id && stream->instance_id == key->instance_id &&
		    !memcmp(stream->trace_uuid, key->trace_uuid, sizeof(key->trace_uuid)))
			return stream;
	}
	return NULL;
}

static int select_stream(struct text_source *source, const struct stream *wanted)
{
	uint64_t sum = wanted->trace_uuid[15] + wanted->class_id + wanted->instance_id;

	source->is_skipping = sum % source->n_parts != source->part;
	if (source->is_skipping)
		return FLEXTRACE_OK;
	source->stream = find_stream(source, wanted);
	if (source->stream)
		return FLEXTRACE_OK;
	source->stream = stream_set_add(&source->set);
	if (!source->stream)
		return FLEXTRACE_E_MEMORY;
	*source->stream = *wanted;
	return FLEXTRACE_OK;
}

static int read_stream(struct text_source *source, char *line)
{
	struct stream wanted = {.clock_is_1ghz = true};
	struct member member;
	uint64_t value;

	while (next_member(&line, &member)) {
		if (!strcmp(member.name, "host") || !strcmp(member.name, "recording")) {
			FLEXTRACE_TRY(string_intern(&source->decoder.cache, member.value,
			                            *member.name == 'h' ? &wanted.host
			                                                : &wanted.recording));
			continue;
		}
		if (!parse_u64(member.value, &value))
			return FLEXTRACE_E_INPUT;
		if (!strcmp(member.name, "uuid"))
			wanted.trace_uuid[15] = (uint8_t)value;
		else if (!strcmp(member.name, "class"))
			wanted.class_id = value;
		else if (!strcmp(member.name, "instance"))
			wanted.instance_id = value;
		else if (!strcmp(member.name, "offset"))
			wanted.clock_offset_ns = (int64_t)value;
		else if (!strcmp(member.name, "dialects"))
			wanted.has_dialects = value;
		else if (!strcmp(member.name, "hz"))
			wanted.clock_is_1ghz = value == 1000000000;
		else
			return FLEXTRACE_E_INPUT;
	}
	return select_stream(source, &wanted);
}

static int read_lost(struct text_source *source, char *line)
{
	struct loss_span span = {INT64_MIN, INT64_MIN, 0};
	const char *id = next_word(&line), *count = next_word(&line);
	const char *first = next_word(&line), *last = next_word(&line);
	enum loss_cause cause = 0;

	while (cause < LOSS_CAUSE_COUNT && id && strcmp(ledger_cause_id(cause), id) != 0)
		cause++;
	if (!count || cause == LOSS_CAUSE_COUNT || !parse_u64(count, &span.count))
		return FLEXTRACE_E_INPUT;
	if (last && (!parse_u64(first, (uint64_t *)&span.first_ns) ||
	             !parse_u64(last, (uint64_t *)&span.last_ns)))
		return FLEXTRACE_E_INPUT;
	if (source->is_skipping)
		return FLEXTRACE_OK;
	return source->target->lost(source->target_self, source->stream, cause, &span);
}

static int read_line(struct text_source *source, char *line)
{
	struct event event = {0};
	char *word = next_word(&line);

	if (!word || *word == '#')
		return FLEXTRACE_OK;
	if (!strcmp(word, "stream"))
		return read_stream(source, line);
	if (!strcmp(word, "lost"))
		return read_lost(source, line);
	if (!parse_u64(word, &event.clock_ns))
		return FLEXTRACE_E_INPUT;
	FLEXTRACE_TRY(parse_context(next_word(&line), &event.vpid));
	FLEXTRACE_TRY(parse_context(next_word(&line), &event.vtid));
	word = next_word(&line);
	if (!word)
		return FLEXTRACE_E_INPUT;
	if (!source->stream && !source->is_skipping)
		FLEXTRACE_TRY(select_stream(source, &(struct stream){.clock_is_1ghz = true}));
	if (source->is_skipping)
		return FLEXTRACE_OK;
	return read_event(source, word, &event, line);
}

int text_source_read(struct text_source *source, const char *text, struct flextrace_error *error)
{
	int number = 1;

	for (const char *next; *text; text = next, number++) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);
		int status = line ? read_line(source, line) : FLEXTRACE_E_MEMORY;

		free(line);
		if (status < 0)
			return error_set(error, status,
			                 "Cannot understand a line: number=%d, line=%.*s", number,
			                 (int)length, text);
		next = text + length + (text[length] == '\n');
	}
	return FLEXTRACE_OK;
}
