/* SPDX-License-Identifier: Apache-2.0 */
#include "align_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

void scene_init(struct scene *scene, uint32_t n_processes)
{
	*scene = (struct scene){.options = ALIGN_OPTIONS_INIT, .strings = string_pool_new()};
	assert_non_null(scene->strings);
	ledger_init(&scene->ledger);
	for (uint32_t i = 0; i < n_processes; i++)
		scene->processes[i] = (struct process){.rank = (int32_t)i, .host_clock = i};
	scene->identity = (struct identity){
		.processes = scene->processes,
		.n_processes = n_processes,
		.host_clocks = scene->clocks,
		.n_host_clocks = SCENE_CLOCKS,
		.strings = scene->strings,
	};
}

void scene_release(struct scene *scene)
{
	alignment_free(scene->alignment);
	table_release(&scene->points);
	ledger_release(&scene->ledger);
	string_pool_free(scene->strings);
}

static uint32_t intern(struct scene *scene, const char *text)
{
	struct string_cache cache;
	uint32_t id;

	string_cache_init(&cache, scene->strings);
	assert_int_equal(string_intern(&cache, text, &id), 0);
	string_cache_release(&cache);
	return id;
}

struct sync_point *scene_add(struct scene *scene, uint32_t process, const char *op,
                             const char *peers, uint64_t seq)
{
	struct sync_point *point = table_append(&scene->points, sizeof(*point));

	assert_non_null(point);
	*point = (struct sync_point){
		.enter_host_ns = INT64_MIN,
		.exit_host_ns = INT64_MAX,
		.seq = seq,
		.process = process,
		.group = intern(scene, "world"),
		.op = intern(scene, op),
		.peers = intern(scene, peers),
	};
	return point;
}

void scene_stamp(struct scene *scene, uint32_t process, uint64_t seq, int64_t enter_ns,
                 int64_t exit_ns)
{
	struct sync_point *point = scene_add(scene, process, "barrier", "", seq);

	point->enter_host_ns = enter_ns;
	point->exit_host_ns = exit_ns;
}

int scene_try(struct scene *scene)
{
	alignment_free(scene->alignment);
	scene->alignment = NULL;
	return align_run(&scene->options, &scene->identity, &scene->points, &scene->ledger,
	                 &scene->alignment, &scene->error);
}

void scene_align(struct scene *scene)
{
	assert_int_equal(scene_try(scene), 0);
}

struct alignment_report scene_line(const struct scene *scene, uint32_t process)
{
	uint32_t n;
	const struct alignment_report *lines = alignment_report(scene->alignment, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (lines[i].process == process)
			return lines[i];
	}
	fail_msg("no line of process %u", process);
	return lines[0];
}
