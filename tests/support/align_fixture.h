/* SPDX-License-Identifier: Apache-2.0 */
/* align_fixture.h: a few processes and sync points by hand. */
#ifndef ALIGN_FIXTURE_H
#define ALIGN_FIXTURE_H

#include "engine/align/align.h"
#include "base/text/strings.h"

#define SCENE_CLOCKS 4

/* Processes (rank, host clock) on clocks with the given epoch offsets. */
struct scene {
	struct process processes[8];
	struct host_clock clocks[SCENE_CLOCKS];
	struct identity identity;
	struct align_options options;
	struct ledger ledger;
	struct table points;
	struct string_pool *strings;
	struct alignment *alignment;
	struct flextrace_error error;
};

/* Makes an empty scene: process i has rank i and host clock i. */
void scene_init(struct scene *scene, uint32_t n_processes);
void scene_release(struct scene *scene);

/* Adds a point and returns it, to be changed at will until the next one is added. */
struct sync_point *scene_add(struct scene *scene, uint32_t process, const char *op,
                             const char *peers, uint64_t seq);

/* The same with stamps. */
void scene_stamp(struct scene *scene, uint32_t process, uint64_t seq, int64_t enter_ns,
                 int64_t exit_ns);

/* align_run(). */
int scene_try(struct scene *scene);
void scene_align(struct scene *scene);

struct alignment_report scene_line(const struct scene *scene, uint32_t process);

#endif
