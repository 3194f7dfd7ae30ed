/* SPDX-License-Identifier: Apache-2.0 */
#include "emit_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "process/paths.h"

#define PATH_SIZE (PATH_MAX + 64)

static void name_whole(const struct recording *recording, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/" EMITTED_FILE, recording->dir);
}

static void name_chunk(const struct recording *recording, long number, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/" EMITTED_FILE "-%ld", recording->dir, number);
}

static long number_of(const char *path)
{
	return strtol(strrchr(path, '-') + 1, NULL, 10);
}

/* The chunk that is being written; -1: nothing has been rotated yet. */
static long find_open(const struct recording *recording)
{
	long newest = -1;
	glob_t found;

	glob_in(recording->dir, EMITTED_FILE "-[0-9]*", &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (number_of(found.gl_pathv[i]) > newest)
			newest = number_of(found.gl_pathv[i]);
	globfree(&found);
	return newest;
}

void emit_parts_note(const struct recording *recording, struct emit_wish wish,
                     enum emitted_time time)
{
	char path[PATH_SIZE];
	bool is_beginning = time == EMITTED_STARTING || time == EMITTED_STARTED;
	long open_chunk;

	wish.session = recording->session;
	name_whole(recording, path);
	if (recording->kind != SESSION_FLIGHT || is_beginning)
		emit_note(path, &wish, time);
	else
		unlink(path);
	open_chunk = is_beginning ? -1 : find_open(recording);
	wish.n_discarded = NULL; /* of all chunks */
	if (open_chunk < 0)
		return;
	name_chunk(recording, open_chunk, path);
	emit_note(path, &wish, time);
}

void emit_parts_rotate(const struct recording *recording, enum emitted_time time)
{
	const struct emit_wish wish = {.session = recording->session,
	                               .wants_all = recording->wants_all};
	long open_chunk = find_open(recording);
	char path[PATH_SIZE], next[PATH_SIZE];

	if (open_chunk < 0 && time == EMITTED_STOPPED)
		return;
	if (open_chunk < 0) {
		name_whole(recording, next);
		name_chunk(recording, 0, path);
		emit_note_copy(next, path);
		open_chunk = 0;
	}
	if (time == EMITTED_STOPPED) /* the next one has begun */
		open_chunk--;
	name_chunk(recording, open_chunk, path);
	name_chunk(recording, open_chunk + 1, next);
	emit_note(path, &wish, time);
	emit_note(next, &wish, time == EMITTED_STOPPING ? EMITTED_STARTING : EMITTED_STARTED);
}

void emit_parts_settle(const struct recording *recording)
{
	char path[PATH_SIZE], to[PATH_SIZE];
	glob_t found;

	glob_in(recording->trace_dir, "archives/*-*-[0-9]*", &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		name_chunk(recording, number_of(found.gl_pathv[i]), path);
		snprintf(to, sizeof(to), "%.*s/" EMITTED_FILE, PATH_MAX, found.gl_pathv[i]);
		if (rename(path, to) != 0 && errno != ENOENT)
			cli_warn("Cannot keep the note of what programs emitted: path=%s, "
			         "reason=%s",
			         to, strerror(errno));
	}
	globfree(&found);
}

void emit_parts_snapshot(const struct recording *recording, const struct recording *snapshot,
                         enum emitted_time time)
{
	const struct emit_wish wish = {.session = recording->session};
	char path[PATH_SIZE], whole[PATH_SIZE];

	name_whole(recording, whole);
	name_whole(snapshot, path);
	if (time == EMITTED_STOPPING)
		emit_note_copy(whole, path);
	emit_note(path, &wish, time);
}
