/* SPDX-License-Identifier: Apache-2.0 */
#include "work_world.h"

#include <stdlib.h>
#include <string.h>

#include "findings/work/work.h"

static int compare_works(const void *left, const void *right)
{
	const struct world_work *a = left, *b = right;

	return a->start != b->start ? a->start - b->start : b->end - a->end;
}

static void make_works(struct work_world *world)
{
	for (int i = 0; i < WORLD_WORKS; i++) {
		struct world_work *work = &world->works[i];

		work->device = rand() % WORLD_DEVICES;
		work->start = rand() % WORLD_NS;
		work->end = work->start + rand() % 10;
		if (work->end > WORLD_NS)
			work->end = WORLD_NS;
		work->class = rand() % WORK_CLASS_COUNT;
		work->launch = rand() % (WORLD_CALLS + 1) - 1;
	}
	qsort(world->works, WORLD_WORKS, sizeof(world->works[0]), compare_works);
}

static void note_works(struct work_world *world)
{
	memset(world->first, -1, sizeof(world->first));
	memset(world->last, -1, sizeof(world->last));
	for (int i = 0; i < WORLD_WORKS; i++) {
		const struct world_work *work = &world->works[i];

		for (int ns = work->start; ns < work->end; ns++)
			world->masks[work->device][ns] |= (uint8_t)(1 << work->class);
		if (world->first[work->device] < 0)
			world->first[work->device] = work->start;
		if (work->end > world->last[work->device])
			world->last[work->device] = work->end;
	}
}

static void add_works(struct work_world *world, int64_t scale)
{
	static const uint8_t kinds[] = {ROW_EXEC, ROW_EXEC, ROW_MEMCPY_HTOD, ROW_PREP};

	for (int i = 0; i < WORLD_WORKS; i++) {
		const struct world_work *work = &world->works[i];

		analysis_test_row(&world->test, (uint32_t)work->device, kinds[work->class],
		                  work->class == WORK_COMMUNICATION ? "ncclKernel" : "k",
		                  work->start * scale, work->end * scale)
			->correlation = (uint64_t)i + 1;
		world->launch_of_op[i] = work->launch < 0 ? FLEXTRACE_NONE : (uint32_t)work->launch;
	}
	world->test.fixture.timeline.launch_of_op = world->launch_of_op;
}

static void add_calls(struct work_world *world, int64_t scale)
{
	const struct track track = {.kind = TRACK_THREAD};
	struct timeline_fixture *fixture = &world->test.fixture;
	uint32_t of = fixture_track(fixture, track);
	int start = 0;

	for (int i = 0; i < WORLD_CALLS; i++) {
		char name[] = "call 0";

		start += rand() % 9;
		start = start < WORLD_NS ? start : WORLD_NS - 1;
		world->call_start[i] = start;
		world->call_end[i] = start + rand() % 5;
		name[5] = (char)('0' + i % 3);
		fixture_host(fixture, fixture_scope(fixture, of, name, start * scale,
		                                    world->call_end[i] * scale));
		start = world->call_end[i];
	}
}

void work_world_init(struct work_world *world, unsigned seed, int64_t scale)
{
	struct timeline_fixture *fixture = &world->test.fixture;
	uint32_t rank_0, rank_1;

	memset(world, 0, sizeof(*world));
	srand(seed);
	analysis_test_init(&world->test);
	rank_0 = fixture_process(fixture, 0, 100, "app");
	rank_1 = fixture_process(fixture, 1, 200, "app");
	fixture_device(fixture, rank_0, 0, "");
	fixture_device(fixture, rank_0, 1, "");
	fixture_device(fixture, rank_1, 0, "");
	fixture_thread(fixture, rank_0, 100, "main");
	make_works(world);
	note_works(world);
	add_calls(world, scale);
	add_works(world, scale);
}

void work_world_release(struct work_world *world)
{
	analysis_test_release(&world->test);
}
