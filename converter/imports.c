/* SPDX-License-Identifier: Apache-2.0 */
#include "imports.h"

#include <string.h>

#include "engine/decode/decode.h"

struct reading { /* weak, all */
	struct string_pool *strings;
	struct stream_set *set;
	struct ledger *ledger;
};

static int add_streams(const struct import *import, struct string_cache *strings,
                       struct stream_set *set)
{
	for (uint32_t i = 0; i < import->n_streams; i++) {
		const struct import_stream *of = &import->streams[i];
		struct stream *stream = stream_set_add(set);

		if (!stream)
			return FLEXTRACE_E_MEMORY;
		memcpy(stream->trace_uuid, of->uuid, sizeof(stream->trace_uuid));
		stream->instance_id = of->instance;
		stream->clock_offset_ns = of->clock_offset_ns;
		stream->clock_is_1ghz = true;
		stream->is_given = of->is_given;
		FLEXTRACE_TRY(string_intern(strings, IMPORT_HOST, &stream->host));
		for (uint32_t k = 0; k < of->files.n; k++)
			FLEXTRACE_TRY(stream_add_file(stream, strings, of->files.texts[k]));
	}
	return FLEXTRACE_OK;
}

static int decode_all(const struct reading *reading, struct decoder *decoder, struct import *import)
{
	uint32_t first = reading->set->n_streams, stream;
	struct event event;
	int code;

	FLEXTRACE_TRY(add_streams(import, &decoder->cache, reading->set));
	while ((code = import_next(import, &stream, &event)) > 0)
		FLEXTRACE_TRY(decode_push(decoder, reading->set->streams[first + stream], &event));
	FLEXTRACE_TRY(code);
	FLEXTRACE_TRY(ledger_add(&decoder->ledger, &import->ledger));
	return ledger_add(reading->ledger, &decoder->ledger);
}

static int decode_import(void *context, struct import *import)
{
	const struct reading *reading = context;
	struct decoder decoder;
	int code = decoder_init(&decoder, reading->strings);

	if (code >= 0)
		code = decode_all(reading, &decoder, import);
	decoder_release(&decoder);
	return code;
}

int import_run(const struct import_options *options, struct string_pool *strings,
               struct stream_set *set, struct ledger *ledger, struct flextrace_error *error)
{
	struct reading reading = {strings, set, ledger};

	return import_each(options, decode_import, &reading, error);
}
