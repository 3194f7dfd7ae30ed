/* SPDX-License-Identifier: Apache-2.0 */
/* make_trace KIND DIR: writes one of the traces of cli_errors.sh and cli_readers.sh. */
#include <stdio.h>
#include <string.h>

#include "ctf_writer.h"

#define N_STREAMS   4
#define MAX_STREAMS 150
#define N_EVENTS    1000

struct kind {
	const char *name;
	struct ctf_writer_options options;
	bool without_streams, without_definitions, without_events, only_foreign;
	uint64_t n_discarded;
	uint64_t n_streams; /* 0 = N_STREAMS */
	uint64_t n_events;  /* 0 = N_EVENTS */
};

static const struct kind kinds[] = {
	{.name = "good"},
	{.name = "streamless", .without_streams = true},
	{.name = "foreign", .only_foreign = true},
	{.name = "empty", .without_definitions = true, .without_events = true},
	{.name = "undefined", .without_definitions = true},
	{.name = "contextless", .options = {.without_contexts = true}},
	{.name = "lossy", .n_discarded = 17},
	{.name = "slow_clock", .options = {.clock_hz = 500000000}},
	{.name = "many", .n_streams = MAX_STREAMS},
	{.name = "large", .n_events = 60 * N_EVENTS},
};

static int put_process(struct ctf_stream *stream, int32_t rank)
{
	struct event event = {.class = RECORD_PROCESS,
	                      .clock_ns = 1000 + (uint64_t)rank,
	                      .vpid = 100 + rank,
	                      .vtid = 100 + rank,
	                      .payload.process = {.rank = rank,
	                                          .world_size = 2,
	                                          .pid = 100 + (uint32_t)rank,
	                                          .start_ns = 500 + (uint64_t)rank,
	                                          .boot_id = "boot",
	                                          .host = "node0",
	                                          .program = "program"}};

	return ctf_stream_event(stream, &event);
}

static int put_scope(struct ctf_stream *stream, uint64_t i)
{
	static const char *const names[] = {"load", "compute", "store, \"all\""};
	struct event event = {.class = RECORD_SCOPE,
	                      .clock_ns = 2000 + 100 * i,
	                      .vpid = 100 + (int32_t)(i % 2),
	                      .vtid = 200 + (int32_t)(i % N_STREAMS),
	                      .payload.scope = {.begin_ns = 1950 + 100 * i,
	                                        .name = names[i % 3],
	                                        .correlation = i + 1}};

	return ctf_stream_event(stream, &event);
}

static int put_events(const struct kind *kind, struct ctf_stream *const *streams,
                      uint64_t n_streams)
{
	uint64_t n_events = kind->n_events ? kind->n_events : N_EVENTS;

	for (uint64_t i = 0; i < n_events && !kind->without_events; i++) {
		struct ctf_stream *stream = streams[i % n_streams];
		int code = kind->only_foreign ? ctf_stream_foreign(stream, 2000 + i)
		                              : put_scope(stream, i);

		if (code < 0)
			return code;
	}
	FLEXTRACE_TRY(ctf_stream_flush(streams[0]));
	ctf_stream_discard_events(streams[0], kind->n_discarded);
	return ctf_stream_foreign(streams[0], UINT64_C(1000000000));
}

static int write_streams(const struct kind *kind, struct ctf_writer *writer)
{
	struct ctf_stream *streams[MAX_STREAMS];
	uint64_t n_streams = kind->n_streams ? kind->n_streams : N_STREAMS;

	for (uint64_t i = 0; i < n_streams; i++) {
		streams[i] = ctf_writer_stream(writer, 0, i);
		if (!streams[i])
			return FLEXTRACE_E_OUTPUT;
	}
	for (int32_t rank = 0; rank < 2; rank++)
		if (!kind->without_definitions && !kind->only_foreign)
			FLEXTRACE_TRY(put_process(streams[0], rank));
	return put_events(kind, streams, n_streams);
}

static int write_trace(const struct kind *kind, const char *dir)
{
	struct ctf_writer_options options = kind->options;
	struct ctf_writer *writer;
	int code = 0, closed;

	options.dir = dir;
	options.hostname = "node0";
	options.uuid[0] = 1;
	options.packet_bytes = 4096;
	writer = ctf_writer_new(&options);
	if (!writer)
		return FLEXTRACE_E_OUTPUT;
	if (!kind->without_streams)
		code = write_streams(kind, writer);
	closed = ctf_writer_close(writer);
	return code < 0 ? code : closed;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			return write_trace(&kinds[i], argv[2]) < 0;
	fprintf(stderr, "usage: make_trace KIND DIR\n");
	return 1;
}
