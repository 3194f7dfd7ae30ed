/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes -> packets. A trace is a list of fields, each a packet; a packet may hold packets that are
 * packed by zlib, which are unpacked as they are read: a window moves over them, as it does over
 * the file.
 */
#include <zlib.h>

#include "perfetto_impl.h"

#define WINDOW_BYTES ((size_t)256 << 10)
#define HEAD_BYTES   20 /* at most, of a field: its tag and its length */

/* -- unpacking -------------------------------------------------------------------------------- */

static int64_t read_packed(void *context, char *bytes, size_t n_bytes,
                           struct flextrace_error *error)
{
	z_stream *stream = context;
	int code;

	(void)error;
	stream->next_out = (Bytef *)bytes;
	stream->avail_out = (uInt)n_bytes;
	code = inflate(stream, Z_NO_FLUSH);
	if (stream->avail_out < n_bytes)
		return (int64_t)(n_bytes - stream->avail_out);
	return code == Z_STREAM_END ? 0 : FLEXTRACE_E_INPUT;
}

/* -- fields of a trace ------------------------------------------------------------------------ */

/* Holds `n` bytes, if there are as many. 1, 0: there are fewer, FULL: no window holds them. */
static int hold(struct text_window *window, uint64_t n, struct flextrace_error *error)
{
	int state = WINDOW_GREW;

	while (state == WINDOW_GREW && window->end - window->begin < n)
		state = text_window_fill(window, error);
	return state == WINDOW_ENDED ? 0 : state;
}

static int skip(struct text_window *window, uint64_t n, struct flextrace_error *error)
{
	int code = 1;

	while (n && code > 0) {
		size_t step = window->end - window->begin;

		step = step < n ? step : (size_t)n;
		window->begin += step;
		n -= step;
		code = n ? hold(window, 1, error) : 1;
	}
	return code;
}

int perfetto_reject(struct perfetto *perfetto, const struct trace_packet *packet,
                    enum loss_cause cause, const char *fault)
{
	if (perfetto->file.is_first_pass) /* the second one meets it again */
		return FLEXTRACE_OK;
	return import_reject(&perfetto->import, cause, fault, packet->place);
}

struct trace_reader {
	struct perfetto *perfetto; /* weak */
	perfetto_take *take;
	struct text_window window;
	bool is_packed, is_cut;
};

static int reject_at(const struct trace_reader *reader, const char *fault)
{
	const struct trace_packet packet = {.place = text_window_offset(&reader->window)};

	return perfetto_reject(reader->perfetto, &packet, LOSS_MALFORMED, fault);
}

/* Stores the next packet. 1; 0: the end, or what is left is none. */
static int next_packet(struct trace_reader *reader, struct protobuf *ret_packet,
                       struct flextrace_error *error)
{
	struct text_window *window = &reader->window;
	struct protobuf head;
	uint64_t tag, n;
	int code;

	for (;;) {
		code = hold(window, HEAD_BYTES, error);
		if (code < 0 || window->begin == window->end)
			return code;
		head.at = (const uint8_t *)window->bytes + window->begin;
		head.end = (const uint8_t *)window->bytes + window->end;
		reader->is_cut = true;
		if (!protobuf_varint(&head, &tag) || tag >> 3 == 0 || (tag & 7) != PROTOBUF_BYTES ||
		    !protobuf_varint(&head, &n))
			return 0;
		window->begin = (size_t)(head.at - (const uint8_t *)window->bytes);
		code = n > TEXT_WINDOW_LIMIT_BYTES ? WINDOW_FULL : hold(window, n, error);
		if (code <= 0)
			return code;
		reader->is_cut = false;
		if (code == WINDOW_GREW && tag >> 3 == TRACE_PACKET)
			break;
		if (code == WINDOW_FULL) {
			FLEXTRACE_TRY(reject_at(reader, "it has more than 16 MiB"));
			code = skip(window, n, error);
			reader->is_cut = code == 0;
			if (code <= 0)
				return code;
		} else {
			window->begin += n;
		}
	}
	ret_packet->at = (const uint8_t *)window->bytes + window->begin;
	ret_packet->end = ret_packet->at + n;
	return 1;
}

/* -- a packet --------------------------------------------------------------------------------- */

static void take_field(struct trace_packet *packet, const struct protobuf_field *field)
{
	switch (field->number) {
	case PACKET_TIMESTAMP:
		packet->time = field->value;
		packet->has_time = true;
		break;
	case PACKET_TIMESTAMP_CLOCK_ID:
		packet->clock_id = field->value;
		break;
	case PACKET_SEQUENCE_ID:
		packet->sequence = field->value;
		break;
	case PACKET_SEQUENCE_FLAGS:
		packet->flags |= field->value;
		break;
	case PACKET_STATE_CLEARED:
		packet->flags |= field->value ? SEQUENCE_STATE_CLEARED : 0;
		break;
	case PACKET_DROPPED:
		packet->dropped = field->value;
		break;
	case PACKET_MACHINE_ID:
		packet->machine = field->value;
		break;
	case PACKET_INTERNED_DATA:
		packet->interned = field->bytes;
		break;
	case PACKET_DEFAULTS:
		packet->defaults = field->bytes;
		break;
	case PACKET_TRUSTED_UID:
	case PACKET_TRUSTED_PID:
	case PACKET_FIRST_ON_SEQUENCE:
		break;
	default:
		packet->kind = field->number;
		packet->payload = field->bytes;
	}
}

static int each_packet(struct trace_reader *reader, struct flextrace_error *error);

static int unpack(struct trace_reader *reader, const struct trace_packet *packet,
                  struct flextrace_error *error)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)packet->payload.at,
	                   .avail_in = (uInt)protobuf_length(&packet->payload)};
	const struct trace_source source = {read_packed, &stream};
	struct trace_reader inside = {reader->perfetto, reader->take, .is_packed = true};
	int code = FLEXTRACE_E_MEMORY;

	if (reader->is_packed)
		return reject_at(reader, "packed packets are packed again");
	if (inflateInit(&stream) != Z_OK)
		return FLEXTRACE_E_MEMORY;
	if (text_window_init(&inside.window, &source, WINDOW_BYTES) == FLEXTRACE_OK)
		code = each_packet(&inside, error);
	if (code == FLEXTRACE_OK && (inside.is_cut || inside.window.is_damaged))
		code = perfetto_reject(reader->perfetto, packet, LOSS_MALFORMED,
		                       "its packed packets are damaged");
	text_window_release(&inside.window);
	inflateEnd(&stream);
	return code;
}

static int take_packet(struct trace_reader *reader, struct protobuf message,
                       struct flextrace_error *error)
{
	struct trace_packet packet = {.place = text_window_offset(&reader->window)};
	struct protobuf_field field = {.is_cut = false};
	int code;

	while ((code = protobuf_next(&message, &field)) > 0)
		take_field(&packet, &field);
	reader->perfetto->file.n_packets++;
	reader->perfetto->file.place = packet.place;
	if (code < 0 || field.is_cut)
		return reject_at(reader, "what is left of a packet is none");
	if (packet.kind == PACKET_COMPRESSED_PACKETS)
		return unpack(reader, &packet, error);
	return reader->take(reader->perfetto, &packet);
}

static int each_packet(struct trace_reader *reader, struct flextrace_error *error)
{
	struct protobuf packet;
	int code;

	while ((code = next_packet(reader, &packet, error)) > 0) {
		FLEXTRACE_TRY(take_packet(reader, packet, error));
		reader->window.begin += protobuf_length(&packet);
	}
	return code;
}

int perfetto_each_packet(struct perfetto *perfetto, perfetto_take *take,
                         struct flextrace_error *error)
{
	struct trace_file *file = trace_file_open(perfetto->file.path, error);
	const struct trace_source source = {trace_file_read, file};
	struct trace_reader reader = {perfetto, take, .is_cut = false};
	int code = FLEXTRACE_E_MEMORY;

	if (!file)
		return error->code;
	perfetto->file.n_packets = 0;
	if (text_window_init(&reader.window, &source, WINDOW_BYTES) == FLEXTRACE_OK)
		code = each_packet(&reader, error);
	perfetto->file.is_cut = reader.is_cut || reader.window.is_damaged;
	text_window_release(&reader.window);
	trace_file_close(file);
	return code;
}
