/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_ranks DIR RANKS STEPS: a trace for each rank, DIR/<rank>, each of a host of its own, whose
 * clock is a ms ahead of that of the rank before. A ms apart all ranks meet in a barrier, and
 * between two barriers each does its step: a scope whose name is the number of the step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/ctf_writer.h"

#define MS       UINT64_C(1000000)
#define START_NS (UINT64_C(1000000) * MS)

struct rank {
	struct ctf_stream *stream; /* weak */
	int32_t rank, n_ranks;
	uint64_t ahead_ns;
};

static int put(const struct rank *rank, struct event *event, enum record_class class,
               uint64_t true_ns)
{
	event->class = class;
	event->clock_ns = true_ns + rank->ahead_ns;
	event->vpid = event->vtid = 1000 + rank->rank;
	return ctf_stream_event(rank->stream, event);
}

static int put_process(const struct rank *rank)
{
	char host[32];
	struct event event = {.payload.process = {.rank = rank->rank,
	                                          .world_size = rank->n_ranks,
	                                          .pid = 1000 + (uint32_t)rank->rank,
	                                          .start_ns = START_NS + rank->ahead_ns,
	                                          .time_ns = START_NS + rank->ahead_ns,
	                                          .boot_id = host,
	                                          .host = host,
	                                          .program = "ranks"}};

	snprintf(host, sizeof(host), "host%d", rank->rank);
	return put(rank, &event, RECORD_PROCESS, START_NS);
}

static int put_barrier(const struct rank *rank, uint64_t seq, enum flextrace_phase phase,
                       uint64_t true_ns)
{
	struct event event = {.payload.collective = {.group = "world",
	                                             .seq = seq,
	                                             .op = "barrier",
	                                             .peers = "",
	                                             .phase = phase}};

	return put(rank, &event, RECORD_COLLECTIVE, true_ns);
}

/* A barrier, then the step. */
static int put_step(const struct rank *rank, uint64_t step)
{
	const uint64_t met_ns = START_NS + (step + 1) * MS,
		       late_ns = (uint64_t)rank->rank % 7 * 500;
	const uint64_t begin_ns = met_ns + 100000 + (uint64_t)rank->rank * 1000;
	char name[32];
	struct event event = {
		.payload.scope = {.begin_ns = begin_ns + rank->ahead_ns, .name = name}};

	snprintf(name, sizeof(name), "%llu", (unsigned long long)step);
	if (put_barrier(rank, step, FLEXTRACE_PHASE_ENTER, met_ns - late_ns) < 0 ||
	    put_barrier(rank, step, FLEXTRACE_PHASE_EXIT, met_ns + 1000 + late_ns) < 0)
		return -1;
	return put(rank, &event, RECORD_SCOPE, begin_ns + 300000);
}

static int write_rank(const char *dir, int32_t number, int32_t n_ranks, uint64_t n_steps)
{
	struct rank rank = {.rank = number, .n_ranks = n_ranks, .ahead_ns = (uint64_t)number * MS};
	char path[4096];
	struct ctf_writer_options options = {.dir = path, .hostname = "host", .packet_bytes = 4096};
	struct ctf_writer *writer;
	int code;

	snprintf(path, sizeof(path), "%s/%d", dir, number);
	snprintf((char *)options.uuid, sizeof(options.uuid), "rank %d", number);
	writer = ctf_writer_new(&options);
	rank.stream = writer ? ctf_writer_stream(writer, 0, 0) : NULL;
	if (!rank.stream)
		return -1;
	code = put_process(&rank);
	for (uint64_t step = 0; step < n_steps && code >= 0; step++)
		code = put_step(&rank, step);
	return ctf_writer_close(writer) < 0 ? -1 : code;
}

int main(int argc, char **argv)
{
	const int32_t n_ranks = argc == 4 ? atoi(argv[2]) : 0;

	if (n_ranks < 1 || mkdir(argv[1], 0700) < 0) {
		fputs("usage: make_ranks DIR RANKS STEPS\n", stderr);
		return 2;
	}
	for (int32_t rank = 0; rank < n_ranks; rank++) {
		if (write_rank(argv[1], rank, n_ranks, strtoull(argv[3], NULL, 10)) < 0) {
			fprintf(stderr, "make_ranks: cannot write rank %d\n", rank);
			return 1;
		}
	}
	return 0;
}
