/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything behind the readers: events of any content and order become files. Bytes say what the
 * members of the next event are; most numbers are small or near the time, so that events meet.
 * Books that do not close are a failure.
 */
#include "fuzz.h"

#include <string.h>

#include "engine/decode/decode.h"
#include "model/schema.h"
#include "pipeline.h"

#define N_STREAMS 3
#define MAX_WORDS 24

static const char *const names[] = {
	"",     "matmul", "Prep",       "rank/0", "a,\"b\"\r\n",        "</script>",
	"\xff", "=1+1",   "[sync=x]_1", "uuid-a", "2e7b4c5d-0000-4000", "{\"k\":1}"};

struct source {
	struct fuzz_bytes bytes;
	uint64_t clock_ns;
	uint64_t words[MAX_WORDS];
};

static uint64_t number(struct source *source)
{
	uint8_t how = fuzz_u8(&source->bytes);

	if (how < 128)
		return how % 8;
	if (how < 192)
		return source->clock_ns + fuzz_u32(&source->bytes) % 100000 - 50000;
	return how < 224 ? fuzz_u32(&source->bytes) : fuzz_u64(&source->bytes);
}

static void fill_words(struct source *source, struct flextrace_marker_batch *batch)
{
	batch->n_words = fuzz_u8(&source->bytes) % (MAX_WORDS + 1);
	for (uint32_t i = 0; i < batch->n_words; i++)
		source->words[i] = fuzz_u64(&source->bytes);
	batch->words = source->words;
}

static void fill_field(struct source *source, const struct schema_field *field, struct event *event)
{
	void *to = (char *)&event->payload + field->offset;
	uint8_t name;
	double real;

	switch (field->type) {
	case SCHEMA_U32:
	case SCHEMA_I32:
		*(uint32_t *)to = (uint32_t)number(source);
		break;
	case SCHEMA_U64:
		*(uint64_t *)to = number(source);
		break;
	case SCHEMA_DOUBLE:
		real = (double)(int64_t)number(source) / 16;
		memcpy(to, &real, sizeof(real));
		break;
	case SCHEMA_STRING:
		name = fuzz_u8(&source->bytes);
		*(const char **)to = names[name % (sizeof(names) / sizeof(names[0]))];
		break;
	case SCHEMA_TS:
		for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
			((uint32_t *)to)[i] = (uint32_t)number(source);
		break;
	case SCHEMA_TS64:
		for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
			((uint64_t *)to)[i] = number(source);
		break;
	case SCHEMA_WORDS:
		fill_words(source, &event->payload.marker_batch);
		break;
	}
}

static int push(struct source *source, struct decoder *decoder, struct stream_set *set)
{
	uint8_t class = fuzz_u8(&source->bytes), where = fuzz_u8(&source->bytes);
	struct event event = {.class = class % RECORD_CLASS_COUNT,
	                      .vpid = where / 4 % 4 - 1,
	                      .vtid = where / 16 % 4 - 1};
	const struct schema_class *schema = schema_of(event.class);

	source->clock_ns += fuzz_u8(&source->bytes) * (where & 64 ? 997u : 3u);
	event.clock_ns = where & 128 ? number(source) : source->clock_ns;
	for (uint32_t i = 0; i < schema->n_fields; i++)
		fill_field(source, &schema->fields[i], &event);
	return decode_push(decoder, set->streams[where % N_STREAMS], &event);
}

static int add_streams(struct stream_set *set)
{
	for (uint8_t i = 0; i < N_STREAMS; i++) {
		struct stream *stream = stream_set_add(set);

		if (!stream)
			return FLEXTRACE_E_MEMORY;
		stream->trace_uuid[0] = i / 2;
		stream->instance_id = i;
		stream->clock_offset_ns = 1000000000;
		stream->clock_is_1ghz = true;
	}
	return FLEXTRACE_OK;
}

static int convert(struct source *source, struct decoder *decoder, struct string_pool *strings,
                   struct stream_set *set)
{
	uint8_t flags = fuzz_u8(&source->bytes);
	const struct pipeline_options options = {
		.emit = {.output_dir = fuzz_dir(), .formats = "chrome,csv,text", .gzip = flags & 1},
		.calibrate = CALIBRATE_OPTIONS_INIT,
		.align = {.reference_rank = -1, .is_off = flags & 2},
		.findings = {.per_rank = flags & 4},
	};
	struct flextrace_error error = {0};
	struct pipeline_result result;
	int code = add_streams(set);

	source->clock_ns = 1000000;
	while (code == 0 && source->bytes.at < source->bytes.end)
		code = push(source, decoder, set);
	return code < 0 ? code
	                : pipeline_run(set, strings, &decoder->ledger, &options, &result, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct source source = {.bytes = {data, data + n}};
	struct string_pool *strings = string_pool_new();
	struct stream_set set = {NULL, 0, 0};
	struct decoder decoder;

	if (!strings || decoder_init(&decoder, strings) < 0)
		fuzz_fail("no memory");
	if (convert(&source, &decoder, strings, &set) == FLEXTRACE_E_SYSTEM)
		fuzz_fail("the books do not close");
	stream_set_release(&set);
	decoder_release(&decoder);
	string_pool_free(strings);
	return 0;
}
