/* SPDX-License-Identifier: Apache-2.0 */
#include "emit_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "base/paths.h"

static struct path whole_of(const struct recording *recording)
{
	return path_of(recording->dir, EMITTED_FILE);
}

static struct path chunk_of(const struct recording *recording, long number)
{
	char name[64];

	snprintf(name, sizeof(name), EMITTED_FILE "-%ld", number);
	return path_of(recording->dir, name);
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
	bool is_beginning = time == EMITTED_STARTING || time == EMITTED_STARTED;
	long open_chunk;

	wish.session = recording->session;
	if (recording->kind != SESSION_FLIGHT || is_beginning)
		emit_note(whole_of(recording).text, &wish, time);
	else
		unlink(whole_of(recording).text);
	open_chunk = is_beginning ? -1 : find_open(recording);
	wish.n_discarded = NULL; /* of all chunks */
	if (open_chunk >= 0)
		emit_note(chunk_of(recording, open_chunk).text, &wish, time);
}

void emit_parts_rotate(const struct recording *recording, enum emitted_time time)
{
	const struct emit_wish wish = {.session = recording->session,
	                               .wants_all = recording->wants_all};
	long open_chunk = find_open(recording);

	if (open_chunk < 0 && time == EMITTED_STOPPED)
		return;
	if (open_chunk < 0) {
		open_chunk = 0;
		emit_note_copy(whole_of(recording).text, chunk_of(recording, 0).text);
	}
	if (time == EMITTED_STOPPED) /* the next one has begun */
		open_chunk--;
	emit_note(chunk_of(recording, open_chunk).text, &wish, time);
	emit_note(chunk_of(recording, open_chunk + 1).text, &wish,
	          time == EMITTED_STOPPING ? EMITTED_STARTING : EMITTED_STARTED);
}

void emit_parts_settle(const struct recording *recording)
{
	glob_t found;

	glob_in(recording->trace_dir, "archives/*-*-[0-9]*", &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const struct path to = path_of(found.gl_pathv[i], EMITTED_FILE);

		if (rename(chunk_of(recording, number_of(found.gl_pathv[i])).text, to.text) != 0 &&
		    errno != ENOENT)
			cli_warn("Cannot keep the note of what programs emitted: path=%s, "
			         "reason=%s",
			         to.text, strerror(errno));
	}
	globfree(&found);
}

void emit_parts_snapshot(const struct recording *recording, const struct recording *snapshot,
                         enum emitted_time time)
{
	const struct emit_wish wish = {.session = recording->session};
	const struct path path = whole_of(snapshot);

	if (time == EMITTED_STOPPING)
		emit_note_copy(whole_of(recording).text, path.text);
	emit_note(path.text, &wish, time);
}
