/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/schema.h"

#define MAGIC          UINT32_C(0xC1FC1FC1)
#define HEAD_BYTES     84 /* packet header and context */
#define EVENT_FOREIGN  RECORD_CLASS_COUNT
#define EVENT_UNKNOWN  (RECORD_CLASS_COUNT + 1)
#define EVENT_EXTENDED UINT16_MAX

struct ctf_stream {
	struct ctf_stream *next;
	const struct ctf_writer_options *options; /* weak */
	FILE *file;
	uint32_t class_id;
	uint64_t instance_id;
	uint8_t *packet; /* owned */
	size_t n_bytes, n_allocated;
	uint64_t begin_ns, last_ns;
	uint64_t n_packets, n_discarded_events;
	bool has_event; /* in this packet */
};

struct ctf_writer {
	struct ctf_writer_options options;
	struct ctf_stream *streams; /* owned */
};

/* -- metadata ---------------------------------------------------------------------------------- */

static const char *const byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be";

static void write_uuid(FILE *to, const uint8_t *uuid)
{
	for (int i = 0; i < 16; i++)
		fprintf(to, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

static const char head_text[] =
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := unsigned long;\n\n";

static const char clock_text[] =
	"typealias integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; } "
	":= "
	"uint32_clock_monotonic_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } "
	":= "
	"uint64_clock_monotonic_t;\n\n"
	"struct packet_context {\n"
	"\tuint64_clock_monotonic_t timestamp_begin;\n"
	"\tuint64_clock_monotonic_t timestamp_end;\n"
	"\tuint64_t content_size;\n"
	"\tuint64_t packet_size;\n"
	"\tuint64_t packet_seq_num;\n"
	"\tunsigned long events_discarded;\n"
	"\tuint32_t cpu_id;\n"
	"};\n\n"
	"struct event_header_large {\n"
	"\tenum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"
	"\tvariant <id> {\n"
	"\t\tstruct { uint32_clock_monotonic_t timestamp; } compact;\n"
	"\t\tstruct { uint32_t id; uint64_clock_monotonic_t timestamp; } extended;\n"
	"\t} v;\n"
	"} align(8);\n\n";

static void write_trace_head(FILE *to, const struct ctf_writer_options *options)
{
	fprintf(to, "/* CTF 1.8 */\n\n%strace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"",
	        head_text);
	write_uuid(to, options->uuid);
	fprintf(to,
	        "\";\n\tbyte_order = %s;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n"
	        "\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n"
	        "\t};\n};\n\nenv {\n",
	        byte_order);
	if (options->hostname)
		fprintf(to, "\thostname = \"%s\";\n", options->hostname);
	fprintf(to, "\tdomain = \"ust\";\n\ttracer_name = \"lttng-ust\";\n\ttracer_major = 2;\n"
	            "\ttracer_minor = 13;\n\ttracer_buffering_scheme = \"uid\";\n};\n\n");
}

/* LTTng gives the offset in cycles; so do we, for the part that is a whole number of them. */
static void write_clock(FILE *to, const struct ctf_writer_options *options)
{
	uint64_t hz = options->clock_hz ? options->clock_hz : 1000000000;
	int64_t seconds = options->clock_offset_ns / 1000000000;
	uint64_t rest_ns = (uint64_t)(options->clock_offset_ns % 1000000000);

	fprintf(to,
	        "clock {\n\tname = \"monotonic\";\n\tuuid = "
	        "\"b6e1a4c4-0000-4000-8000-000000000001\";\n"
	        "\tdescription = \"Monotonic Clock\";\n\tfreq = %llu;\n\toffset_s = %lld;\n"
	        "\toffset = %llu;\n};\n\n%s",
	        (unsigned long long)hz, (long long)seconds,
	        (unsigned long long)(rest_ns * (hz / 1000000) / 1000), clock_text);
}

static void write_stream_class(FILE *to, const struct ctf_writer_options *options, uint32_t id)
{
	fprintf(to,
	        "stream {\n\tid = %u;\n\tevent.header := struct event_header_large;\n"
	        "\tpacket.context := struct packet_context;\n",
	        id);
	if (!options->without_contexts)
		fprintf(to, "\tevent.context := struct {\n"
		            "\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; base "
		            "= 10; } _vpid;\n"
		            "\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; base "
		            "= 10; } _vtid;\n"
		            "\t};\n");
	fprintf(to, "};\n\n");
}

static bool is_named(const char *member, const char *name)
{
	return member && strcmp(member, name) == 0;
}

static void write_integer(FILE *to, int size, bool is_signed, const char *name, const char *suffix)
{
	fprintf(to,
	        "\t\tinteger { size = %d; align = 8; signed = %d; encoding = none; base = 10; } "
	        "_%s%s;\n",
	        size, is_signed, name, suffix);
}

static void write_field(FILE *to, const struct schema_field *field, bool is_flipped)
{
	char text[64];

	switch (field->type) {
	case SCHEMA_U32:
	case SCHEMA_I32:
		write_integer(to, 32, (field->type == SCHEMA_I32) != is_flipped, field->name, "");
		break;
	case SCHEMA_U64:
		write_integer(to, 64, is_flipped, field->name, "");
		break;
	case SCHEMA_DOUBLE:
		fprintf(to, "\t\tfloating_point { exp_dig = 11; mant_dig = 53; align = 8; } _%s;\n",
		        field->name);
		break;
	case SCHEMA_STRING:
		fprintf(to, "\t\tstring _%s;\n", field->name);
		break;
	case SCHEMA_TS:
		snprintf(text, sizeof(text), "[%d]", FLEXTRACE_N_STAMPS);
		write_integer(to, 32, false, field->name, text);
		break;
	case SCHEMA_TS64:
	case SCHEMA_WORDS:
		snprintf(text, sizeof(text), "_%s_length", field->name);
		write_integer(to, 32, false, text, "");
		snprintf(text, sizeof(text), "[ __%s_length ]", field->name);
		write_integer(to, 64, false, field->name, text);
		break;
	}
}

static void write_event_class(FILE *to, const struct ctf_writer_options *options, const char *name,
                              uint32_t id, uint32_t stream_id, const struct schema_class *schema)
{
	fprintf(to,
	        "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = %u;\n\tloglevel = 6;\n"
	        "\tfields := struct {\n",
	        name, id, stream_id);
	for (uint32_t i = 0; schema && i < schema->n_fields; i++) {
		if (is_named(options->missing_member, schema->fields[i].name))
			continue;
		if (is_named(options->mistyped_member, schema->fields[i].name))
			fprintf(to, "\t\tstring _%s;\n", schema->fields[i].name);
		else
			write_field(to, &schema->fields[i],
			            is_named(options->flipped_member, schema->fields[i].name));
	}
	if (options->has_newer_members && id != EVENT_FOREIGN) {
		write_integer(to, 64, false, "newer", "");
		fprintf(to, "\t\tstring _newest;\n");
	}
	fprintf(to, "\t};\n};\n\n");
}

static void write_event_classes(FILE *to, const struct ctf_writer_options *options,
                                uint32_t stream_id)
{
	char name[64];

	for (uint32_t class = 0; class < RECORD_CLASS_COUNT; class ++) {
		const struct schema_class *schema = schema_of(class);

		snprintf(name, sizeof(name), "flextrace:%s", schema->name);
		write_event_class(to, options, name, class, stream_id, schema);
	}
	write_event_class(to, options, "other:thing", EVENT_FOREIGN, stream_id, NULL);
	write_event_class(to, options, "flextrace:of_the_future", EVENT_UNKNOWN, stream_id, NULL);
}

static int write_metadata(const struct ctf_writer_options *options)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/metadata", options->dir);
	file = fopen(path, "we");
	if (!file)
		return FLEXTRACE_E_OUTPUT;
	write_trace_head(file, options);
	write_clock(file, options);
	for (uint32_t i = 0; i < options->n_stream_classes; i++) {
		write_stream_class(file, options, i);
		write_event_classes(file, options, i);
	}
	return fclose(file) == 0 ? 0 : FLEXTRACE_E_OUTPUT;
}

/* -- packets ----------------------------------------------------------------------------------- */

static int put(struct ctf_stream *stream, const void *data, size_t n)
{
	if (stream->n_bytes + n > stream->n_allocated) {
		size_t n_allocated = 2 * (stream->n_bytes + n);
		uint8_t *packet = realloc(stream->packet, n_allocated);

		if (!packet)
			return FLEXTRACE_E_MEMORY;
		stream->packet = packet;
		stream->n_allocated = n_allocated;
	}
	memcpy(stream->packet + stream->n_bytes, data, n);
	stream->n_bytes += n;
	return 0;
}

static uint8_t *set32(uint8_t *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static uint8_t *set64(uint8_t *to, uint64_t value)
{
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static void set_head(struct ctf_stream *stream, size_t packet_bytes)
{
	uint8_t *to = stream->packet;

	to = set32(to, MAGIC);
	memcpy(to, stream->options->uuid, 16);
	to = set32(to + 16, stream->class_id);
	to = set64(to, stream->instance_id);
	to = set64(to, stream->begin_ns);
	to = set64(to, stream->last_ns);
	to = set64(to, 8 * stream->n_bytes);
	to = set64(to, 8 * packet_bytes);
	to = set64(to, stream->n_packets);
	to = set64(to, stream->n_discarded_events);
	set32(to, (uint32_t)stream->instance_id);
}

int ctf_stream_flush(struct ctf_stream *stream)
{
	size_t packet_bytes = stream->options->packet_bytes;

	if (packet_bytes < stream->n_bytes)
		packet_bytes = (stream->n_bytes + 4095) / 4096 * 4096;
	set_head(stream, packet_bytes);
	if (fwrite(stream->packet, 1, stream->n_bytes, stream->file) != stream->n_bytes)
		return FLEXTRACE_E_OUTPUT;
	for (size_t i = stream->n_bytes; i < packet_bytes; i++)
		if (putc_unlocked(0, stream->file) == EOF)
			return FLEXTRACE_E_OUTPUT;
	stream->n_packets++;
	stream->n_bytes = HEAD_BYTES;
	stream->begin_ns = stream->last_ns;
	stream->has_event = false;
	return 0;
}

void ctf_stream_discard_events(struct ctf_stream *stream, uint64_t n)
{
	stream->n_discarded_events += n;
}

void ctf_stream_discard_packets(struct ctf_stream *stream, uint64_t n)
{
	stream->n_packets += n;
}

/* -- events ------------------------------------------------------------------------------------ */

/* The compact header holds the low half of the clock: enough while less than 2^32 passed since the
 * last. */
static int put_event_head(struct ctf_stream *stream, uint32_t id, uint64_t clock_ns, int32_t vpid,
                          int32_t vtid)
{
	uint16_t compact_id = (uint16_t)id, extended_id = EVENT_EXTENDED;
	uint32_t low = (uint32_t)clock_ns;

	if (!stream->has_event)
		stream->begin_ns = stream->last_ns = clock_ns;
	stream->has_event = true;
	if (clock_ns - stream->last_ns <= UINT32_MAX) {
		FLEXTRACE_TRY(put(stream, &compact_id, sizeof(compact_id)));
		FLEXTRACE_TRY(put(stream, &low, sizeof(low)));
	} else {
		FLEXTRACE_TRY(put(stream, &extended_id, sizeof(extended_id)));
		FLEXTRACE_TRY(put(stream, &id, sizeof(id)));
		FLEXTRACE_TRY(put(stream, &clock_ns, sizeof(clock_ns)));
	}
	stream->last_ns = clock_ns;
	if (stream->options->without_contexts)
		return 0;
	FLEXTRACE_TRY(put(stream, &vpid, sizeof(vpid)));
	return put(stream, &vtid, sizeof(vtid));
}

static int put_string(struct ctf_stream *stream, const char *text)
{
	text = text ? text : "";
	return put(stream, text, strlen(text) + 1);
}

static int put_wide_stamps(struct ctf_stream *stream, const uint64_t *ts)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < FLEXTRACE_N_STAMPS; i++)
		n |= ts[i] ? FLEXTRACE_N_STAMPS : 0;
	FLEXTRACE_TRY(put(stream, &n, sizeof(n)));
	return n ? put(stream, ts, n * sizeof(*ts)) : 0;
}

static int put_words(struct ctf_stream *stream, const struct flextrace_marker_batch *batch)
{
	FLEXTRACE_TRY(put(stream, &batch->n_words, sizeof(batch->n_words)));
	return batch->n_words ? put(stream, batch->words, batch->n_words * sizeof(*batch->words))
	                      : 0;
}

static int put_field(struct ctf_stream *stream, const struct schema_field *field,
                     const struct event *event)
{
	const char *member = (const char *)&event->payload + field->offset;

	if (is_named(stream->options->missing_member, field->name))
		return 0;
	if (is_named(stream->options->mistyped_member, field->name))
		return put_string(stream, "?");
	switch (field->type) {
	case SCHEMA_U32:
	case SCHEMA_I32:
		return put(stream, member, 4);
	case SCHEMA_U64:
	case SCHEMA_DOUBLE:
		return put(stream, member, 8);
	case SCHEMA_STRING:
		return put_string(stream, *(const char *const *)member);
	case SCHEMA_TS:
		return put(stream, member, 4 * FLEXTRACE_N_STAMPS);
	case SCHEMA_TS64:
		return put_wide_stamps(stream, (const uint64_t *)(const void *)member);
	case SCHEMA_WORDS:
		return put_words(stream, &event->payload.marker_batch);
	}
	return 0;
}

static int put_newer_members(struct ctf_stream *stream)
{
	const uint64_t newer = UINT64_MAX;

	if (!stream->options->has_newer_members)
		return 0;
	FLEXTRACE_TRY(put(stream, &newer, sizeof(newer)));
	return put_string(stream, "a member of a later version");
}

/* Bytes of an event at most, for the question whether it fits. */
static size_t event_bytes(const struct schema_class *schema, const struct event *event)
{
	size_t n = 2 + 4 + 8 + 8 + 40; /* extended header, contexts, newer members */

	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const char *member = (const char *)&event->payload + schema->fields[i].offset;
		const char *text;

		n += 4 + 8 * FLEXTRACE_N_STAMPS;
		if (schema->fields[i].type == SCHEMA_STRING) {
			text = *(const char *const *)member;
			n += text ? strlen(text) + 1 : 1;
		}
		if (schema->fields[i].type == SCHEMA_WORDS)
			n += 4 + 8 * (size_t)event->payload.marker_batch.n_words;
	}
	return n;
}

static int make_room(struct ctf_stream *stream, size_t n)
{
	if (stream->has_event && stream->n_bytes + n > stream->options->packet_bytes)
		return ctf_stream_flush(stream);
	return 0;
}

int ctf_stream_event(struct ctf_stream *stream, const struct event *event)
{
	const struct schema_class *schema = schema_of(event->class);

	FLEXTRACE_TRY(make_room(stream, event_bytes(schema, event)));
	FLEXTRACE_TRY(
		put_event_head(stream, event->class, event->clock_ns, event->vpid, event->vtid));
	for (uint32_t i = 0; i < schema->n_fields; i++)
		FLEXTRACE_TRY(put_field(stream, &schema->fields[i], event));
	return put_newer_members(stream);
}

int ctf_stream_foreign(struct ctf_stream *stream, uint64_t clock_ns)
{
	FLEXTRACE_TRY(make_room(stream, 32));
	return put_event_head(stream, EVENT_FOREIGN, clock_ns, 1, 1);
}

int ctf_stream_unknown(struct ctf_stream *stream, uint64_t clock_ns)
{
	FLEXTRACE_TRY(make_room(stream, 80));
	FLEXTRACE_TRY(put_event_head(stream, EVENT_UNKNOWN, clock_ns, 1, 1));
	return put_newer_members(stream);
}

/* -- the writer -------------------------------------------------------------------------------- */

struct ctf_writer *ctf_writer_new(const struct ctf_writer_options *options)
{
	struct ctf_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->options = *options;
	if (!writer->options.packet_bytes)
		writer->options.packet_bytes = 65536;
	if (!writer->options.n_stream_classes)
		writer->options.n_stream_classes = 1;
	if ((mkdir(options->dir, 0777) < 0 && errno != EEXIST) ||
	    write_metadata(&writer->options) < 0) {
		free(writer);
		return NULL;
	}
	return writer;
}

struct ctf_stream *ctf_writer_stream(struct ctf_writer *writer, uint32_t class_id,
                                     uint64_t instance_id)
{
	struct ctf_stream *stream = calloc(1, sizeof(*stream));
	char path[4096];

	if (!stream)
		return NULL;
	snprintf(path, sizeof(path), "%s/channel%u_%llu", writer->options.dir, class_id,
	         (unsigned long long)instance_id);
	*stream = (struct ctf_stream){
		.next = writer->streams,
		.options = &writer->options,
		.file = fopen(path, "we"),
		.class_id = class_id,
		.instance_id = instance_id,
		.packet = calloc(1, HEAD_BYTES),
		.n_bytes = HEAD_BYTES,
		.n_allocated = HEAD_BYTES,
	};
	if (!stream->file || !stream->packet) {
		if (stream->file)
			fclose(stream->file);
		free(stream->packet);
		free(stream);
		return NULL;
	}
	writer->streams = stream;
	return stream;
}

static int close_stream(struct ctf_stream *stream)
{
	int code = 0;

	if (stream->has_event || !stream->n_packets) /* also an empty stream has a packet */
		code = ctf_stream_flush(stream);
	if (fclose(stream->file) != 0)
		code = FLEXTRACE_E_OUTPUT;
	free(stream->packet);
	free(stream);
	return code;
}

int ctf_writer_close(struct ctf_writer *writer)
{
	int code = 0;

	while (writer->streams) {
		struct ctf_stream *stream = writer->streams;
		int closed;

		writer->streams = stream->next;
		closed = close_stream(stream);
		code = code < 0 ? code : closed;
	}
	free(writer);
	return code;
}
