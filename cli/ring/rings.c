/* SPDX-License-Identifier: Apache-2.0 */
#include "rings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/paths.h"
#include "ring/layout.h"
#include "process/mappers.h"
#include "process/patience.h"

#define FILES     "ust/uid/*/*-bit/*_[0-9]*"
#define LOOKS     10 /* without a change */
#define STEPS     5  /* of patience from look to look */
#define LIMIT_S   10
#define TENDED_NS INT64_C(2000000000)

static bool is_same(const struct ring_stuck *a, const struct ring_stuck *b)
{
	return a->position == b->position && a->committed == b->committed;
}

/* Heals the one that was found, or all. What LTTng says of the events stands beside the buffers. */
static uint32_t heal(const char *path, const char *trace_dir, struct ring *ring,
                     const struct ring_stuck *one)
{
	struct layout layout;
	char description[PATH_MAX];
	uint32_t n;

	snprintf(description, sizeof(description), "%.*s/metadata",
	         (int)(strrchr(path, '/') - path), path);
	ring->layout = layout_load(description, &layout) ? &layout : NULL;
	ring->trace_dir = trace_dir;
	ring->name = strrchr(path, '/') + 1;
	n = one ? ring_heal_one(ring, one) : ring_heal(ring);
	layout_release(&layout);
	ring->layout = NULL;
	ring->trace_dir = NULL;
	return n;
}

/* -- healing all that there is ----------------------------------------------------------------- */

/* A file, and for how many looks the same sub-buffer of it was stuck. */
struct look {
	struct ring_stuck stuck;
	int n_same;
};

/* Looks at a file, and heals what nobody went on with. Returns how many sub-buffers. */
static uint32_t look_at(const char *path, const char *trace_dir, struct look *look, bool is_quiet,
                        bool *ret_is_stuck)
{
	struct ring_stuck stuck;
	struct ring ring;
	uint32_t n = 0;

	if (!ring_open(path, &ring))
		return 0;
	if (!ring_find_stuck(&ring, &stuck)) {
		look->n_same = 0;
	} else {
		*ret_is_stuck = true;
		look->n_same = is_same(&look->stuck, &stuck) ? look->n_same + 1 : 1;
		look->stuck = stuck;
		if (look->n_same > LOOKS) {
			n = heal(path, trace_dir, &ring, is_quiet ? NULL : &stuck);
			look->n_same = 0;
		}
	}
	ring_close(&ring);
	return n;
}

uint32_t rings_heal(const char *dir, const char *trace_dir, bool is_quiet)
{
	struct patience patience = {.what = "programs that are in the middle of a record",
	                            .limit_s = LIMIT_S};
	struct look *looks;
	bool is_stuck = true, lasts = true;
	uint32_t n = 0;
	glob_t files;

	if (!*dir || !glob_in(dir, FILES, &files))
		return 0;
	looks = calloc(files.gl_pathc, sizeof(*looks));
	while (looks && is_stuck && lasts) {
		is_stuck = false;
		for (size_t j = 0; j < files.gl_pathc; j++)
			n += look_at(files.gl_pathv[j], trace_dir, &looks[j], is_quiet, &is_stuck);
		for (int i = 0; i < STEPS && is_stuck && lasts; i++)
			lasts = patience_lasts(&patience, -1);
	}
	free(looks);
	globfree(&files);
	return n;
}

uint32_t rings_close(const char *dir, const char *trace_dir)
{
	struct ring ring;
	uint32_t n = 0;
	glob_t files;

	if (!*dir || !glob_in(dir, FILES, &files))
		return 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		if (!ring_open(files.gl_pathv[i], &ring))
			continue;
		ring_close_current(&ring);
		n += heal(files.gl_pathv[i], trace_dir, &ring, NULL);
		ring_close(&ring);
	}
	globfree(&files);
	return n;
}

/* -- while it records -------------------------------------------------------------------------- */

struct rings_seen {
	char *path; /* owned */
	struct ring_stuck stuck;
	int64_t since_ns;
	bool is_stuck;
	struct mappers mappers;
};

static struct rings_seen *find_seen(struct rings_watch *watch, const char *path)
{
	struct rings_seen *seen;

	for (uint32_t i = 0; i < watch->n_seen; i++)
		if (strcmp(watch->seen[i].path, path) == 0)
			return &watch->seen[i];
	if (array_make_room(&watch->seen, watch->n_seen, sizeof(*watch->seen)) < 0)
		return NULL;
	seen = &watch->seen[watch->n_seen];
	*seen = (struct rings_seen){.path = strdup(path)};
	watch->n_seen += seen->path != NULL;
	return seen->path ? seen : NULL;
}

static void tend(struct rings_seen *seen, const char *trace_dir, struct ring *ring)
{
	struct ring_stuck stuck;

	if (!ring_find_stuck(ring, &stuck)) {
		seen->is_stuck = false;
		return;
	}
	if (!seen->is_stuck || !is_same(&seen->stuck, &stuck)) {
		mappers_release(&seen->mappers);
		mappers_list(seen->path, &seen->mappers);
		seen->stuck = stuck;
		seen->is_stuck = true;
		seen->since_ns = patience_now_ns();
		return;
	}
	if (patience_now_ns() - seen->since_ns < TENDED_NS ||
	    mappers_may_write(&seen->mappers, seen->path))
		return;
	heal(seen->path, trace_dir, ring, &stuck);
}

void rings_tend(struct rings_watch *watch, const char *dir, const char *trace_dir)
{
	struct ring ring;
	glob_t files;

	if (!*dir || !glob_in(dir, FILES, &files))
		return;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct rings_seen *seen = find_seen(watch, files.gl_pathv[i]);

		if (!seen || !ring_open(files.gl_pathv[i], &ring))
			continue;
		tend(seen, trace_dir, &ring);
		ring_close(&ring);
	}
	globfree(&files);
}

void rings_forget(struct rings_watch *watch)
{
	for (uint32_t i = 0; i < watch->n_seen; i++) {
		mappers_release(&watch->seen[i].mappers);
		free(watch->seen[i].path);
	}
	free(watch->seen);
	*watch = (struct rings_watch){NULL, 0};
}
