// SPDX-License-Identifier: Apache-2.0
#include "timeline_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/strings.h"

/* -- the stages that are not linked ------------------------------------------------------------ */

int64_t alignment_epoch_offset_ns(const struct alignment *alignment)
{
	return alignment->epoch_offset_ns;
}

const struct alignment_report *alignment_report(const struct alignment *alignment, uint32_t *ret_n)
{
	*ret_n = alignment->n;
	return alignment->reports;
}

uint32_t alignment_bound(const struct alignment *alignment, uint32_t process, int64_t time_ns)
{
	(void)time_ns;
	for (uint32_t i = 0; i < alignment->n; i++) {
		if (alignment->reports[i].process == process)
			return (uint32_t)ceil(alignment->reports[i].half_width_ns_max);
	}
	return UINT32_MAX;
}

struct aligned alignment_place(const struct alignment *alignment, uint32_t process, int64_t host_ns)
{
	(void)alignment;
	(void)process;
	return (struct aligned){host_ns, 0, TIME_CERTIFIED};
}

struct placed clocks_place_far(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                               uint64_t ticks, struct clock_near *near)
{
	(void)clocks;
	(void)counter;
	(void)segment;
	(void)near;
	return (struct placed){(int64_t)ticks, 0, TIME_CERTIFIED};
}

const struct clock_report *clocks_report(const struct clocks *clocks, uint32_t *ret_n)
{
	*ret_n = clocks->n;
	return clocks->reports;
}

bool identity_processor(const struct identity *identity, const struct string_pool *strings,
                        const struct track *track, struct string_text *ret_name)
{
	(void)identity;
	(void)strings;
	(void)ret_name;
	return track->owner == FLEXTRACE_NONE; /* no device has names */
}

uint32_t identity_queue_name(const struct identity *identity, uint32_t device, uint32_t queue)
{
	const struct identity_index *names = identity->index;

	for (uint32_t i = 0; i < names->n; i++) {
		if (names->device[i] == device && names->queue[i] == queue)
			return names->name[i];
	}
	return 0;
}

/* -- building ---------------------------------------------------------------------------------- */

void timeline_fixture_init(struct timeline_fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->strings = string_pool_new();
	string_cache_init(&fixture->cache, fixture->strings);
	ledger_init(&fixture->ledger);
	fixture->identity = (struct identity){
		.processes = fixture->processes,
		.threads = fixture->threads,
		.devices = fixture->devices,
		.counters = fixture->counters,
		.index = &fixture->queue_names,
		.strings = fixture->strings,
	};
	fixture->streams[0] = (struct stream){.class_id = 1, .clock_is_1ghz = true};
	fixture->stream_list[0] = &fixture->streams[0];
	fixture->stream_set = (struct stream_set){.streams = fixture->stream_list, .n_streams = 1};
	fixture->timeline = (struct timeline){
		.counts.clocks = fixture->clock_counts,
		.tracks = fixture->tracks,
		.ops = fixture->ops,
		.marks.zones = fixture->zones,
		.marks.runs = fixture->runs,
		.markers = fixture->markers,
		.identity = &fixture->identity,
		.clocks = &fixture->clocks,
		.alignment = &fixture->alignment,
		.ledger = &fixture->ledger,
		.streams = &fixture->stream_set,
		.strings = fixture->strings,
	};
	fixture->findings = (struct findings){
		.flows = &fixture->timeline.flows_from,
		.timeline = &fixture->timeline,
		.classes = &fixture->classes,
	};
	fixture->classes = (struct event_classes){.timeline = &fixture->timeline};
}

void timeline_fixture_release(struct timeline_fixture *fixture)
{
	table_release(&fixture->timeline.host_rows);
	table_release(&fixture->timeline.device_rows);
	table_release(&fixture->timeline.instants);
	table_release(&fixture->timeline.counters);
	table_release(&fixture->timeline.memory);
	table_release(&fixture->timeline.flows_from);
	ledger_release(&fixture->ledger);
	string_cache_release(&fixture->cache);
	string_pool_free(fixture->strings);
}

uint32_t fixture_string(struct timeline_fixture *fixture, const char *text)
{
	uint32_t id;

	if (string_intern(&fixture->cache, text, &id) < 0)
		abort();
	return id;
}

uint32_t fixture_process(struct timeline_fixture *fixture, int32_t rank, uint32_t pid,
                         const char *program)
{
	fixture->processes[fixture->identity.n_processes] = (struct process){
		.vpid = (int32_t)pid,
		.pid = pid,
		.is_defined = true,
		.rank = rank,
		.host = fixture_string(fixture, "node,1"),
		.program = fixture_string(fixture, program),
		.runtime = fixture_string(fixture, "miniflex"),
		.version = fixture_string(fixture, "1.2"),
	};
	return fixture->identity.n_processes++;
}

uint32_t fixture_thread(struct timeline_fixture *fixture, uint32_t process, int32_t vtid,
                        const char *name)
{
	fixture->threads[fixture->identity.n_threads] =
		(struct thread){process, vtid, fixture_string(fixture, name)};
	return fixture->identity.n_threads++;
}

uint32_t fixture_device(struct timeline_fixture *fixture, uint32_t process, uint32_t device,
                        const char *name)
{
	fixture->devices[fixture->identity.n_devices] = (struct device){
		.process = process,
		.device = device,
		.is_defined = true,
		.uuid = fixture_string(fixture, "0000:65:00.0"),
		.name = fixture_string(fixture, name),
		.n_cores = 4,
		.core_hz = 560000000,
	};
	return fixture->identity.n_devices++;
}

uint32_t fixture_track(struct timeline_fixture *fixture, struct track track)
{
	fixture->tracks[fixture->timeline.n_tracks] = track;
	return fixture->timeline.n_tracks++;
}

uint32_t fixture_op(struct timeline_fixture *fixture, struct tick_op op)
{
	fixture->ops[fixture->timeline.n_ops] = op;
	return (uint32_t)fixture->timeline.n_ops++;
}

/* Each zone has a run and a marker of its own. */
uint32_t fixture_zone(struct timeline_fixture *fixture, struct zone zone, struct mark_run run,
                      struct marker marker)
{
	uint32_t at = (uint32_t)fixture->timeline.marks.n_zones++;

	zone.run = zone.marker = at;
	fixture->zones[at] = zone;
	fixture->runs[at] = run;
	fixture->markers[at] = marker;
	fixture->timeline.n_markers = at + 1;
	return at;
}

static void cover(struct timeline_fixture *fixture, int64_t first_ns, int64_t last_ns)
{
	struct timeline *timeline = &fixture->timeline;
	bool is_first = timeline->host_rows.n_rows + timeline->device_rows.n_rows +
	                        timeline->instants.n_rows + timeline->counters.n_rows +
	                        timeline->memory.n_rows ==
	                1;

	if (is_first || first_ns < timeline->first_time_ns)
		timeline->first_time_ns = first_ns;
	if (is_first || last_ns > timeline->last_time_ns)
		timeline->last_time_ns = last_ns;
}

static void *append(struct table *table, size_t n)
{
	void *row = table_append(table, n);

	if (!row)
		abort();
	return row;
}

static void book_row(struct timeline_fixture *fixture, enum record_class class)
{
	fixture->ledger.read[class]++;
	fixture->ledger.rows[class]++;
}

void fixture_host(struct timeline_fixture *fixture, struct host_row row)
{
	*(struct host_row *)append(&fixture->timeline.host_rows, sizeof(row)) = row;
	book_row(fixture, row.class);
	cover(fixture, row.start_time_ns, row.end_time_ns);
}

void fixture_device_row(struct timeline_fixture *fixture, struct device_row row)
{
	*(struct device_row *)append(&fixture->timeline.device_rows, sizeof(row)) = row;
	book_row(fixture, row.kind >= ROW_FIRMWARE ? RECORD_MARKER_BATCH : RECORD_DEVICE_OP);
	cover(fixture, row.start_time_ns, row.end_time_ns);
}

void fixture_instant(struct timeline_fixture *fixture, struct instant_row row)
{
	*(struct instant_row *)append(&fixture->timeline.instants, sizeof(row)) = row;
	book_row(fixture, row.class);
	cover(fixture, row.time_ns, row.time_ns);
}

void fixture_counter(struct timeline_fixture *fixture, struct counter_row row)
{
	row.class = row.is_device ? RECORD_MARKER_BATCH : RECORD_COUNTER;
	*(struct counter_row *)append(&fixture->timeline.counters, sizeof(row)) = row;
	book_row(fixture, row.class);
	cover(fixture, row.time_ns, row.time_ns);
}

void fixture_memory(struct timeline_fixture *fixture, struct memory_row row)
{
	*(struct memory_row *)append(&fixture->timeline.memory, sizeof(row)) = row;
	book_row(fixture, RECORD_MEMORY);
	cover(fixture, row.time_ns, row.time_ns);
}

void fixture_flow(struct timeline_fixture *fixture, struct flow flow)
{
	*(struct flow *)append(&fixture->timeline.flows_from, sizeof(flow)) = flow;
}

struct host_row fixture_scope(struct timeline_fixture *fixture, uint32_t track, const char *name,
                              int64_t start_time_ns, int64_t end_time_ns)
{
	return (struct host_row){
		.start_time_ns = start_time_ns,
		.end_time_ns = end_time_ns,
		.track = track,
		.name = fixture_string(fixture, name),
		.class = RECORD_SCOPE,
	};
}

/* -- the sample -------------------------------------------------------------------------------- */

enum sample_track {
	MAIN_0,      /* rank 0, thread 100 */
	MAIN_0_LANE, /* its second lane */
	ASYNC_0,
	MAIN_1, /* rank 1, thread 200 */
	UNKNOWN,
	QUEUE_0, /* rank 0, device 0 */
	QUEUE_0_LANE,
	PREP_0,
	DMA_IN_0,
	DMA_OUT_0,
	CORE_0,
	QUEUE_1, /* rank 1, device 3 */
};

static void add_places(struct timeline_fixture *f)
{
	uint32_t rank_1 = fixture_process(f, 1, 200, "app \"one\"");
	uint32_t rank_0 = fixture_process(f, 0, 100, "app");
	uint32_t unknown = fixture_process(f, FLEXTRACE_RANK_UNKNOWN, 0, "");
	uint32_t thread_0 = fixture_thread(f, rank_0, 100, "main");
	uint32_t thread_1 = fixture_thread(f, rank_1, 200, "");
	uint32_t thread_2 = fixture_thread(f, unknown, -1, "");
	uint32_t device_0 = fixture_device(f, rank_0, 0, "emulator");
	uint32_t device_1 = fixture_device(f, rank_1, 3, "emu,lator");
	const struct track tracks[] = {
		[MAIN_0] = {.kind = TRACK_THREAD, .owner = thread_0},
		[MAIN_0_LANE] = {.kind = TRACK_THREAD, .owner = thread_0, .lane = 1},
		[ASYNC_0] = {.kind = TRACK_ASYNC, .owner = thread_0},
		[MAIN_1] = {.kind = TRACK_THREAD, .owner = thread_1},
		[UNKNOWN] = {.kind = TRACK_THREAD, .owner = thread_2},
		[QUEUE_0] = {.kind = TRACK_QUEUE, .row_kind = ROW_EXEC, .owner = device_0},
		[QUEUE_0_LANE] = {.kind = TRACK_QUEUE,
	                          .row_kind = ROW_EXEC,
	                          .owner = device_0,
	                          .lane = 1},
		[PREP_0] = {.kind = TRACK_QUEUE, .row_kind = ROW_PREP, .owner = device_0},
		[DMA_IN_0] = {.kind = TRACK_QUEUE, .row_kind = ROW_DMA_IN, .owner = device_0},
		[DMA_OUT_0] = {.kind = TRACK_QUEUE, .row_kind = ROW_DMA_OUT, .owner = device_0},
		[CORE_0] = {.kind = TRACK_CORE, .owner = device_0, .id = 2, .processor = 1},
		[QUEUE_1] = {.kind = TRACK_QUEUE, .row_kind = ROW_EXEC, .owner = device_1, .id = 7},
	};

	f->processes[rank_0].world_size = f->processes[rank_1].world_size = 2;
	f->processes[unknown].is_defined = false;
	f->processes[unknown].vpid = -1;
	for (uint32_t i = 0; i < sizeof(tracks) / sizeof(tracks[0]); i++)
		fixture_track(f, tracks[i]);
	f->queue_names = (struct identity_index){
		.device = {device_1}, .queue = {7}, .name = {fixture_string(f, "copies")}, .n = 1};
	f->counters[0] =
		(struct counter){.device = device_0, .counter_bits = 32, .nominal_hz = 560000000};
	f->identity.n_counters = 1;
}

static void add_host_rows(struct timeline_fixture *f)
{
	struct host_row row;

	row = fixture_scope(f, ASYNC_0, "ProfilerStep#3", 1000000000, 1000100000);
	row.kind = HOST_STEP;
	row.class = RECORD_STEP;
	f->timeline.has.steps = true;
	fixture_host(f, row);
	row = fixture_scope(f, MAIN_0, "outer, \"quoted\"", 1000000000, 1000090000);
	row.file = fixture_string(f, "src/main.c");
	row.line = 12;
	fixture_host(f, row);
	row = fixture_scope(f, MAIN_0, "launch", 1000000000, 1000010000);
	row.kind = FLEXTRACE_RUNTIME_LAUNCH_CONTROL_BLOCKS;
	row.correlation = 41;
	row.depth = 1;
	row.args = fixture_string(f, "{\"shape\":\"2x3\"}");
	fixture_host(f, row);
	row = fixture_scope(f, MAIN_0_LANE, "crossing", 1000005000, 1000095000);
	row.status = TIME_ASSUMED;
	fixture_host(f, row);
	row = fixture_scope(f, MAIN_0, "launch", 1000010000, 1000012000);
	row.kind = FLEXTRACE_RUNTIME_LAUNCH_CONTROL_BLOCKS;
	row.correlation = 42;
	row.depth = 1;
	fixture_host(f, row);
	row = fixture_scope(f, MAIN_1, "matmul", 1000020000, 1000020000);
	row.kind = FLEXTRACE_RUNTIME_OP;
	row.correlation = ((uint64_t)1 << 60) + 1;
	fixture_host(f, row);
	row = fixture_scope(f, UNKNOWN, "", 1000020001, 1000020002);
	row.kind = FLEXTRACE_RUNTIME_COMPILE_GRAPH;
	fixture_host(f, row);
	row = fixture_scope(f, MAIN_1, "all_reduce", 1000030000, 1000040000);
	row.kind = HOST_COLLECTIVE;
	row.class = RECORD_COLLECTIVE;
	fixture_host(f, row);
}

static uint32_t add_op(struct timeline_fixture *f, uint32_t device, uint32_t queue, uint64_t job)
{
	return fixture_op(f, (struct tick_op){
				     .ticks = {((uint64_t)1 << 32) + 10, ((uint64_t)1 << 32) + 20,
	                                       ((uint64_t)1 << 32) + 30, ((uint64_t)1 << 32) + 40,
	                                       ((uint64_t)1 << 32) + 50},
				     .job = job,
				     .correlation = job + 40,
				     .device = device,
				     .queue = queue,
				     .name = fixture_string(f, "mm_0"),
				     .peer = -1,
				     .index = 17,
				     .kind = FLEXTRACE_DEVICE_KERNEL,
				     .class = RECORD_DEVICE_OP,
			     });
}

static uint32_t add_zone(struct timeline_fixture *f, uint8_t kind)
{
	return fixture_zone(
		f, (struct zone){.first_ticks = 100, .last_ticks = ((uint64_t)1 << 53) + 1},
		(struct mark_run){.run = 5, .job = 1, .core = 2, .processor = 1},
		(struct marker){.name = fixture_string(f, "load tile"), .kind = kind});
}

static void add_device_rows(struct timeline_fixture *f)
{
	uint32_t first = add_op(f, 0, 0, 1), second = add_op(f, 0, 0, 2), copy = add_op(f, 1, 7, 3);

	f->ops[first].power = 900;
	f->ops[copy].bytes = 4096;
	f->ops[copy].peer = 0;
	f->ops[copy].group = fixture_string(f, "world");
	f->ops[copy].type = fixture_string(f, "SingleCast");
	f->ops[copy].ticks[0] = f->ops[copy].ticks[1] = f->ops[copy].ticks[4] = 0;
	fixture_device_row(f, (struct device_row){1000020000, 1000021000, 12, first, DMA_IN_0,
	                                          ROW_DMA_IN, TIME_CERTIFIED, 0});
	fixture_device_row(f, (struct device_row){1000021000, 1000022000, 12, first, PREP_0,
	                                          ROW_PREP, TIME_CERTIFIED, 0});
	fixture_device_row(f, (struct device_row){1000022000, 1000030000, 12, first, QUEUE_0,
	                                          ROW_EXEC, TIME_CERTIFIED, 0});
	fixture_device_row(f, (struct device_row){1000022000, 1000029000, 15,
	                                          add_zone(f, ROW_FIRMWARE), CORE_0, ROW_FIRMWARE,
	                                          TIME_CERTIFIED, 0});
	fixture_device_row(f,
	                   (struct device_row){1000023000, 1000028000, 15, add_zone(f, ROW_KERNEL),
	                                       CORE_0, ROW_KERNEL, TIME_CERTIFIED, 0});
	fixture_device_row(f, (struct device_row){1000023000, 1000024000, 15, add_zone(f, ROW_ZONE),
	                                          CORE_0, ROW_ZONE, TIME_CERTIFIED, 0});
	fixture_device_row(f, (struct device_row){1000025000, 1000041000, UINT32_MAX, second,
	                                          QUEUE_0_LANE, ROW_EXEC, TIME_OUTLIER, 0});
	fixture_device_row(f, (struct device_row){1000030000, 1000031000, 12, first, DMA_OUT_0,
	                                          ROW_DMA_OUT, TIME_CERTIFIED, 0});
	fixture_device_row(f, (struct device_row){1000050000, 1000052000, 7, copy, QUEUE_1,
	                                          ROW_MEMCPY_PTOP, TIME_CERTIFIED, 0});
}

static void add_points(struct timeline_fixture *f)
{
	uint32_t mark = fixture_string(f, "tile done"),
		 free_cores = fixture_string(f, "free,cores");

	fixture_instant(f, (struct instant_row){.time_ns = 1000001000,
	                                        .track = MAIN_0,
	                                        .name = fixture_string(f, "model"),
	                                        .value = fixture_string(f, "bert"),
	                                        .class = RECORD_ANNOTATION});
	fixture_instant(f, (struct instant_row){.time_ns = 1000002000,
	                                        .correlation = 41,
	                                        .track = MAIN_0,
	                                        .name = fixture_string(f, "kicked"),
	                                        .class = RECORD_INSTANT});
	fixture_instant(f, (struct instant_row){.time_ns = 1000023500,
	                                        .err_ns = 15,
	                                        .track = CORE_0,
	                                        .name = mark,
	                                        .class = RECORD_MARKER_BATCH});
	fixture_counter(f, (struct counter_row){.time_ns = 1000003000,
	                                        .value = 2.5,
	                                        .owner = 1,
	                                        .core = FLEXTRACE_NONE,
	                                        .name = free_cores});
	fixture_counter(f, (struct counter_row){.time_ns = 1000023600,
	                                        .value = 7,
	                                        .err_ns = 15,
	                                        .owner = 0,
	                                        .core = 2,
	                                        .name = free_cores,
	                                        .is_device = true});
	fixture_memory(f, (struct memory_row){.time_ns = 1000004000,
	                                      .address = 0xfffffffff0000000,
	                                      .bytes = 4096,
	                                      .total_bytes = 4096});
	fixture_memory(f, (struct memory_row){.time_ns = 1000060000,
	                                      .address = 0xfffffffff0000000,
	                                      .bytes = 4096,
	                                      .op = FLEXTRACE_MEMORY_FREE});
}

static void add_books(struct timeline_fixture *f)
{
	const struct loss_place stream = {FLEXTRACE_NONE, FLEXTRACE_NONE, FLEXTRACE_NONE, 0};
	const struct loss_place core = {1, 0, 2, 0};

	ledger_lose(&f->ledger, LOSS_DISCARDED_EVENTS, &stream, 11, 1000007000);
	ledger_lose(&f->ledger, LOSS_DISCARDED_EVENTS, &stream, 2, 1000008000);
	ledger_lose(&f->ledger, LOSS_RING_DROPPED, &core, 3, INT64_MIN);
	f->ledger.read[RECORD_END] = 3;
	f->ledger.evidence[RECORD_END] = 1;
	f->ledger.discarded[RECORD_END][LOSS_UNMATCHED_END] = 2;
	f->ledger.warnings[WARNING_LOST_EVENTS] = 13;
	f->clocks.reports[0] = (struct clock_report){
		.freq_mhz = 560.0012345,
		.ppm_vs_nominal = 2.2044,
		.ci_ppm = NAN,
		.offset_ns = -123456.7894,
		.half_width_ns_p50 = 10.25,
		.half_width_ns_p99 = 12,
		.half_width_ns_max = 12,
		.rho_ppm = 10,
		.rho_source = "default",
	};
	f->clock_counts[0] = (struct clock_count){.events = 2, .certified = 1, .outliers = 1};
	f->clocks.n = 1;
	f->alignment.reports[0] = (struct alignment_report){.process = 1,
	                                                    .drift_ppm = NAN,
	                                                    .residual_ns_p50 = NAN,
	                                                    .residual_ns_p90 = NAN,
	                                                    .residual_ns_p99 = NAN,
	                                                    .residual_ns_max = NAN};
	f->alignment.reports[1] = (struct alignment_report){
		.process = 0,
		.offset_ns = -1234.5,
		.drift_ppm = 0.5,
		.half_width_ns_p50 = 100,
		.half_width_ns_p99 = 190,
		.half_width_ns_max = 199.5,
		.sync_points_used = 10,
		.sync_points_dropped = 1,
		.residual_ns_max = 80,
		.one_sided = true,
	};
	f->alignment.n = 2;
}

void timeline_fixture_sample(struct timeline_fixture *f)
{
	timeline_fixture_init(f);
	f->alignment.epoch_offset_ns = 1787000000000000000 + 123;
	add_places(f);
	add_host_rows(f);
	add_device_rows(f);
	add_points(f);
	/* the second leaves later and arrives first */
	fixture_flow(f, (struct flow){1000000000, 1000025000, MAIN_0, QUEUE_0_LANE, 0, 0, {41}});
	fixture_flow(f, (struct flow){1000010000, 1000022000, MAIN_0, QUEUE_0, 0, 0, {42}});
	add_books(f);
}
