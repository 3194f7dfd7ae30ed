/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: writes the fixed traces of the bench.
 *
 *   trace DIR host RECORDS STREAMS    80 % scope, 5 % each submit, complete, device_op, instant or
 *   counter trace DIR markers RECORDS STREAMS marker batches of one run each: slot stamps, zones,
 *   marks
 *   trace DIR names RECORDS STREAMS   scopes that have all a name of their own
 *   trace DIR renames RECORDS STREAMS threads that are renamed all the time
 *
 * One thread per stream, two processes' worth of nothing else: a group of 20 records is one launch:
 * fifteen scopes one after the other, one around them, and the launched work with its bracket. The
 * device's 32-bit counter runs at exactly 560 MHz. Seed 1; the same arguments write the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/ctf_writer.h"

#define PID           4242
#define START_NS      UINT64_C(1000000000000)
#define N_SCOPES      15
#define GROUP_RECORDS 20

struct thread_state {
	struct ctf_stream *stream; /* weak */
	uint32_t id;
	uint64_t clock_ns;
	uint64_t random;
	uint64_t n_groups;
};

static const char *const scope_names[] = {"convert input",  "lookup kernel", "write control block",
                                          "prepare DMA",    "map buffer",    "check shape",
                                          "hash signature", "poll"};
static const char *const kernel_names[] = {"convolution_1", "addmm_MatMul", "max_pool2d",
                                           "softmax_2"};

static uint64_t next_random(struct thread_state *thread, uint64_t below)
{
	thread->random ^= thread->random >> 12;
	thread->random ^= thread->random << 25;
	thread->random ^= thread->random >> 27;
	return (thread->random * UINT64_C(0x2545f4914f6cdd1d) >> 33) % below;
}

static uint64_t ticks_at(uint64_t clock_ns)
{
	return clock_ns / 100 * 56 + clock_ns % 100 * 56 / 100;
}

static int put(struct thread_state *thread, struct event *event, enum record_class class)
{
	event->class = class;
	event->clock_ns = thread->clock_ns;
	event->vpid = PID;
	event->vtid = PID + 1 + (int32_t)thread->id;
	return ctf_stream_event(thread->stream, event);
}

static int put_scope(struct thread_state *thread, const char *name, uint64_t begin_ns,
                     uint64_t correlation)
{
	struct event event = {0};
	event.payload.scope.begin_ns = begin_ns;
	event.payload.scope.kind = correlation ? FLEXTRACE_RUNTIME_LAUNCH_CONTROL_BLOCKS : 0;
	event.payload.scope.name = name;
	event.payload.scope.correlation = correlation;
	event.payload.scope.file = "runtime.cpp";
	event.payload.scope.line = 42;
	return put(thread, &event, RECORD_SCOPE);
}

static int put_bracket(struct thread_state *thread, enum record_class class, uint64_t job)
{
	struct event event = {0};
	event.payload.bracket.queue = thread->id;
	event.payload.bracket.job = job;
	event.payload.bracket.correlation = job;
	event.payload.bracket.name = kernel_names[job % 4];
	event.payload.bracket.host_ns = thread->clock_ns;
	return put(thread, &event, class);
}

static int put_device_op(struct thread_state *thread, uint64_t job, uint64_t submit_ns,
                         uint64_t complete_ns)
{
	struct event event = {0};
	struct flextrace_device_op *op = &event.payload.device_op;
	const uint64_t step_ns = (complete_ns - submit_ns - 3000) / 4;
	op->queue = thread->id;
	op->job = job;
	op->correlation = job;
	op->kind = FLEXTRACE_DEVICE_KERNEL;
	op->name = kernel_names[job % 4];
	op->submit_ns = submit_ns;
	op->complete_ns = complete_ns;
	for (uint32_t i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op->ts[i] = (uint32_t)ticks_at(submit_ns + 1500 + i * step_ns);
	op->peer = -1;
	op->group = "";
	op->type = "";
	return put(thread, &event, RECORD_DEVICE_OP);
}

static int put_point(struct thread_state *thread)
{
	struct event event = {0};
	if (thread->n_groups % 2) {
		event.payload.instant.name = "tick";
		return put(thread, &event, RECORD_INSTANT);
	}
	event.payload.counter.name = "queue depth";
	event.payload.counter.device = -1;
	event.payload.counter.value = (double)next_random(thread, 64);
	return put(thread, &event, RECORD_COUNTER);
}

/* 20 records: one launch. */
static int put_group(struct thread_state *thread)
{
	const uint64_t begin_ns = thread->clock_ns;
	const uint64_t job = ++thread->n_groups * 1024 + thread->id;
	uint64_t submit_ns = 0;
	for (int i = 0; i < N_SCOPES; i++) {
		const uint64_t inner_ns = thread->clock_ns + 50;
		thread->clock_ns += 400 + next_random(thread, 1600);
		if (put_scope(thread, scope_names[next_random(thread, 8)], inner_ns, 0))
			return -1;
		if (i == 1) {
			submit_ns = thread->clock_ns += 100;
			if (put_bracket(thread, RECORD_SUBMIT, job))
				return -1;
		}
	}
	const uint64_t complete_ns = thread->clock_ns += 100;
	if (put_bracket(thread, RECORD_COMPLETE, job))
		return -1;
	thread->clock_ns += 100;
	if (put_device_op(thread, job, submit_ns, complete_ns) || put_point(thread))
		return -1;
	thread->clock_ns += 100;
	return put_scope(thread, "launch", begin_ns, job);
}

/* A name that no other record has. */
static void make_name(const struct thread_state *thread, char name[32])
{
	snprintf(name, 32, "kernel %u of launch %llu", thread->id,
	         (unsigned long long)thread->n_groups);
}

static int put_named(struct thread_state *thread)
{
	char name[32];
	thread->n_groups++;
	make_name(thread, name);
	thread->clock_ns += 500;
	return put_scope(thread, name, thread->clock_ns - 400, 0);
}

static int put_rename(struct thread_state *thread)
{
	char name[32];
	struct event event = {.payload.name = {.name = name, .file = ""}};
	thread->n_groups++;
	make_name(thread, name);
	thread->clock_ns += 500;
	return put(thread, &event, RECORD_THREAD_NAME);
}

/* One run of the firmware on core = stream: a slot with its stamps, or what the ring holds of it.
 */
static int put_words(struct thread_state *thread, const uint64_t *words, uint32_t n, uint64_t first)
{
	struct event event = {0};
	event.payload.marker_batch.core = thread->id;
	event.payload.marker_batch.first_index = first;
	event.payload.marker_batch.n_words = n;
	event.payload.marker_batch.words = words;
	return put(thread, &event, RECORD_MARKER_BATCH);
}

static int put_slot(struct thread_state *thread, uint64_t run, uint64_t ticks)
{
	uint64_t words[4 + FLEXTRACE_WIRE_N_STAMPS];
	static const uint32_t steps[FLEXTRACE_WIRE_N_STAMPS] = {0,   800, 9000, 9600, 100,
	                                                        700, 900, 8900, 9500};
	const uint32_t anchor[2] = {(uint32_t)ticks, (uint32_t)(ticks >> 32)};
	words[0] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_RUN, run), run);
	words[1] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_QUEUE, 1),
	                               thread->id);
	words[2] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_ANCHOR_LO, 0),
	                               anchor[0]);
	words[3] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_ANCHOR_HI, 0),
	                               anchor[1]);
	for (uint32_t i = 0; i < FLEXTRACE_WIRE_N_STAMPS; i++)
		words[4 + i] =
			FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_SLOT_STAMP, i),
		                            (uint32_t)(ticks + steps[i]));
	return put_words(thread, words, 4 + FLEXTRACE_WIRE_N_STAMPS, run);
}

#define RING_WORDS 33

static int put_ring(struct thread_state *thread, uint64_t run, uint64_t ticks)
{
	uint64_t words[RING_WORDS];
	words[0] = FLEXTRACE_WIRE_WORD(FLEXTRACE_WIRE_KIND_ID(FLEXTRACE_WIRE_RUN, run),
	                               (uint32_t)ticks);
	for (uint32_t i = 1; i < RING_WORDS; i++) {
		const uint32_t kind = i % 2 ? FLEXTRACE_WIRE_ZONE_BEGIN : FLEXTRACE_WIRE_ZONE_END;
		words[i] = FLEXTRACE_WIRE_WORD(
			FLEXTRACE_WIRE_KIND_ID(kind, 16 * (1 + (i - 1) / 2 % 4)),
			(uint32_t)(ticks + 900 + i * 200));
	}
	return put_words(thread, words, RING_WORDS, (run - 1) * RING_WORDS);
}

static int put_sync(struct thread_state *thread)
{
	struct event event = {0};
	event.payload.clock_sync.host_before_ns = thread->clock_ns;
	event.payload.clock_sync.ticks = ticks_at(thread->clock_ns + 100);
	event.payload.clock_sync.host_after_ns = thread->clock_ns += 200;
	return put(thread, &event, RECORD_CLOCK_SYNC);
}

static int put_run(struct thread_state *thread)
{
	const uint64_t run = ++thread->n_groups;
	const uint64_t ticks = ticks_at(thread->clock_ns);
	thread->clock_ns += 20000;
	if (run % 64 == 1 && thread->id == 0 && put_sync(thread))
		return -1;
	return put_slot(thread, run, ticks) || put_ring(thread, run, ticks) ? -1 : 0;
}

static int put_definitions(struct thread_state *thread)
{
	static const char *const marker_names[] = {"load tile", "multiply tile", "store tile",
	                                           "barrier"};
	struct event process = {0}, device = {0}, domain = {0};
	process.payload.process =
		(struct flextrace_process){.rank = 0,
	                                   .world_size = 1,
	                                   .pid = PID,
	                                   .start_ns = START_NS,
	                                   .time_ns = START_NS,
	                                   .boot_id = "00000000-0000-4000-8000-000000000001",
	                                   .time_namespace = 1,
	                                   .host = "bench",
	                                   .program = "bench",
	                                   .runtime = "bench",
	                                   .version = "1",
	                                   .session = ""};
	device.payload.device = (struct flextrace_device){.uuid = "0000:01:00.0",
	                                                  .n_cores = 2,
	                                                  .core_hz = 560000000,
	                                                  .name = "bench device",
	                                                  .power_unit = ""};
	domain.payload.clock_domain = (struct flextrace_clock_domain){.counter_bits = 32,
	                                                              .nominal_hz = 560000000};
	if (put(thread, &process, RECORD_PROCESS) || put(thread, &device, RECORD_DEVICE) ||
	    put(thread, &domain, RECORD_CLOCK_DOMAIN))
		return -1;
	for (uint32_t i = 0; i < 4; i++) {
		struct event name = {0};
		name.payload.name = (struct flextrace_name){
			.id = 16 * (1 + i), .name = marker_names[i], .file = "fw.c", .line = i};
		if (put(thread, &name, RECORD_MARKER_NAME))
			return -1;
	}
	return 0;
}

static int write_all(struct ctf_writer *writer, int (*put_next)(struct thread_state *),
                     uint64_t n_groups, uint32_t n_streams)
{
	struct thread_state *threads = calloc(n_streams, sizeof(*threads));
	int status = threads ? 0 : -1;
	for (uint32_t i = 0; !status && i < n_streams; i++) {
		threads[i] = (struct thread_state){.stream = ctf_writer_stream(writer, 0, i),
		                                   .id = i,
		                                   .clock_ns = START_NS + 37 * i,
		                                   .random = 1 + i};
		status = threads[i].stream ? 0 : -1;
	}
	if (!status)
		status = put_definitions(&threads[0]);
	for (uint64_t i = 0; !status && i < n_groups; i++)
		status = put_next(&threads[i % n_streams]);
	free(threads);
	return status;
}

/* What is written for how many records. */
static const struct kind {
	const char *name;
	int (*put_next)(struct thread_state *thread);
	uint64_t n_records;
} kinds[] = {
	{"host", put_group, GROUP_RECORDS},
	{"markers", put_run, 2},
	{"names", put_named, 1},
	{"renames", put_rename, 1},
};

int main(int argc, char **argv)
{
	const uint64_t n_records = argc == 5 ? strtoull(argv[3], NULL, 10) : 0;
	const uint32_t n_streams = argc == 5 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
	const struct kind *kind = NULL;
	for (size_t i = 0; argc == 5 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(argv[2], kinds[i].name))
			kind = &kinds[i];
	}
	if (!n_records || !n_streams || !kind) {
		fputs("usage: trace DIR host|markers|names|renames RECORDS STREAMS\n", stderr);
		return 2;
	}
	struct ctf_writer_options options = {.dir = argv[1],
	                                     .hostname = "bench",
	                                     .packet_bytes = 1 << 20,
	                                     .clock_offset_ns = INT64_C(1700000000000000000)};
	memcpy(options.uuid, "flextrace bench", sizeof(options.uuid));
	struct ctf_writer *writer = ctf_writer_new(&options);
	if (!writer) {
		fprintf(stderr, "trace: cannot write %s\n", argv[1]);
		return 1;
	}
	int status = write_all(writer, kind->put_next, n_records / kind->n_records, n_streams);
	if (ctf_writer_close(writer) || status) {
		fprintf(stderr, "trace: cannot write %s\n", argv[1]);
		return 1;
	}
	return 0;
}
