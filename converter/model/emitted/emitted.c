/* SPDX-License-Identifier: Apache-2.0 */
#include "emitted.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "base/text/csv_reader.h"

enum {
	COLUMN_WHEN,
	COLUMN_PID,
	COLUMN_START,
	COLUMN_OWN,
	COLUMN_HERE,
	COLUMN_PROGRAM,
	COLUMN_WAIT,
	COLUMN_THREADS,
	N_COLUMNS
};

/* Of one process, from its start to its end or to that of a program that replaced it. */
struct life {
	int32_t pid;
	bool is_own, is_here;
	char program[EMITTED_PROGRAM_SIZE];
	uint64_t start_ns, wait_ms, n_threads;
	/* With what is late, and that alone. */
	uint64_t n[EMITTED_TIME_COUNT][RECORD_CLASS_COUNT];
	uint64_t late[EMITTED_TIME_COUNT][RECORD_CLASS_COUNT];
	uint64_t n_unrecorded[EMITTED_TIME_COUNT];
};

struct lives {
	struct life *all; /* owned */
	uint32_t n;
	struct map by_who; /* (pid, start_ns) */
	/* Behind the last one: an event that the recorder did not know. */
	size_t columns[RECORD_CLASS_COUNT], late_columns[RECORD_CLASS_COUNT];
	size_t unrecorded_column;
	uint64_t n_discarded;
	bool is_ended, wants_all;
};

const char *emitted_time_name(enum emitted_time time)
{
	static const char *const names[] = {
#define EMITTED_NAME(id, text) text,
		EMITTED_TIMES(EMITTED_NAME)
#undef EMITTED_NAME
	};

	return names[time];
}

void emitted_release(struct emitted *emitted)
{
	free(emitted->processes);
	map_release(&emitted->files);
	*emitted = (struct emitted){NULL};
}

/* -- the file ---------------------------------------------------------------------------------- */

static int find_columns(struct csv_reader *reader, struct lives *lives)
{
	char late[64];

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		snprintf(late, sizeof(late), EMITTED_LATE "%s", record_class_name(class));
		lives->columns[class] = csv_reader_find(reader, record_class_name(class));
		lives->late_columns[class] = csv_reader_find(reader, late);
	}
	lives->unrecorded_column = csv_reader_find(reader, EMITTED_UNRECORDED);
	return reader->n_fields >= N_COLUMNS ? FLEXTRACE_OK : FLEXTRACE_E_INPUT;
}

static int find_life(struct lives *lives, const struct csv_reader *reader, struct life **ret_life)
{
	uint64_t pid = strtoul(csv_reader_field(reader, COLUMN_PID), NULL, 10);
	uint64_t start_ns = strtoull(csv_reader_field(reader, COLUMN_START), NULL, 10);
	uint32_t found;

	FLEXTRACE_TRY(MAP_PLACE(&lives->by_who, pid, start_ns, lives->all, lives->n, &found));
	lives->all[found].pid = (int32_t)pid;
	lives->all[found].start_ns = start_ns;
	*ret_life = &lives->all[found];
	(*ret_life)->is_own |= csv_reader_field(reader, COLUMN_OWN)[0] == '1';
	(*ret_life)->is_here |= csv_reader_field(reader, COLUMN_HERE)[0] == '1';
	return FLEXTRACE_OK;
}

static uint64_t read_number(const struct csv_reader *reader, size_t column)
{
	return strtoull(csv_reader_field(reader, column), NULL, 10);
}

static void take_counts(const struct lives *lives, const struct csv_reader *reader,
                        enum emitted_time time, struct life *life)
{
	snprintf(life->program, sizeof(life->program), "%s",
	         csv_reader_field(reader, COLUMN_PROGRAM));
	life->wait_ms = read_number(reader, COLUMN_WAIT);
	if (time == EMITTED_STOPPING)
		life->n_threads = read_number(reader, COLUMN_THREADS);
	life->n_unrecorded[time] = read_number(reader, lives->unrecorded_column);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		uint64_t late = read_number(reader, lives->late_columns[class]);

		life->late[time][class] = late;
		life->n[time][class] = read_number(reader, lives->columns[class]) + late;
	}
}

static int take_line(struct lives *lives, const struct csv_reader *reader)
{
	const char *when = csv_reader_field(reader, COLUMN_WHEN);
	enum emitted_time time = 0;
	struct life *life;

	if (reader->n_fields == 1 && strcmp(when, EMITTED_ALL) == 0) {
		lives->wants_all = true;
		return FLEXTRACE_OK;
	}
	if (reader->n_fields == 2 && strcmp(when, EMITTED_LTTNG) == 0) {
		lives->n_discarded = read_number(reader, 1);
		return FLEXTRACE_OK;
	}
	while (time < EMITTED_TIME_COUNT && strcmp(when, emitted_time_name(time)) != 0)
		time++;
	if (time == EMITTED_TIME_COUNT || (reader->n_fields > 1 && reader->n_fields < N_COLUMNS))
		return FLEXTRACE_E_INPUT;
	lives->is_ended |= time == EMITTED_STOPPED;
	if (reader->n_fields == 1) /* nobody was there */
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_life(lives, reader, &life));
	take_counts(lives, reader, time, life);
	return FLEXTRACE_OK;
}

static int read_lives(struct csv_reader *reader, struct lives *lives, struct flextrace_error *error)
{
	int code = csv_reader_next(reader, error);

	if (code > 0)
		code = find_columns(reader, lives);
	while (code >= 0 && (code = csv_reader_next(reader, error)) > 0)
		code = take_line(lives, reader);
	return code;
}

/* -- by process -------------------------------------------------------------------------------- */

ORDER_BY(compare_lives, struct life, pid, start_ns);

static int add_process(struct emitted *emitted, int32_t pid, struct emitted_process **ret_process)
{
	FLEXTRACE_TRY(ARRAY_ROOM(emitted->processes, emitted->n));
	*ret_process = &emitted->processes[emitted->n++];
	**ret_process = (struct emitted_process){.pid = pid, .process = FLEXTRACE_NONE};
	return FLEXTRACE_OK;
}

/* A counter that is in no file any more has ended with nothing. */
static void add_life(struct emitted_process *process, const struct life *life, bool wants_all)
{
	const uint64_t(*n)[RECORD_CLASS_COUNT] = life->n;
	const uint64_t(*late)[RECORD_CLASS_COUNT] = life->late;

	process->is_own |= life->is_own || (wants_all && life->is_here);
	memcpy(process->program, life->program, sizeof(process->program));
	process->wait_ms += life->wait_ms;
	process->n_threads += life->n_threads;
	process->n_unrecorded += emitted_rise(life->n_unrecorded[EMITTED_STARTED],
	                                      life->n_unrecorded[EMITTED_STOPPED]);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		process->least[class] += emitted_rise(n[EMITTED_STARTED][class],
		                                      n[EMITTED_STOPPING][class]);
		process->most[class] += emitted_rise(n[EMITTED_STARTING][class],
		                                     n[EMITTED_STOPPED][class]);
		process->late[class] += emitted_rise(late[EMITTED_STARTED][class],
		                                     late[EMITTED_STOPPING][class]);
	}
}

static int add_lives(struct emitted *emitted, struct lives *lives)
{
	struct emitted_process *process = NULL;

	if (!lives->is_ended)
		return FLEXTRACE_OK;
	emitted->is_known = true;
	emitted->n_discarded += lives->n_discarded;
	ORDER_ARRAY(lives->all, lives->n, compare_lives);
	for (uint32_t i = 0; i < lives->n; i++) {
		if (!process || process->pid != lives->all[i].pid)
			FLEXTRACE_TRY(add_process(emitted, lives->all[i].pid, &process));
		add_life(process, &lives->all[i], lives->wants_all);
	}
	return FLEXTRACE_OK;
}

/* The file beside a trace, or beside what `trace` stands in. */
static FILE *open_beside(const char *path, char name[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	FILE *file;

	snprintf(name, PATH_MAX, "%s/" EMITTED_FILE, path);
	file = fopen(name, "re");
	if (file || strcmp(slash ? slash + 1 : path, "trace") != 0)
		return file;
	snprintf(name, PATH_MAX, "%s/../" EMITTED_FILE, path);
	return fopen(name, "re");
}

/* Notes the content of a file; 1: it was read before. */
static int note_content(struct emitted *emitted, FILE *file)
{
	uint64_t hash = HASH_NO_BYTES, n_bytes = 0;
	int byte;

	for (; (byte = getc(file)) != EOF; n_bytes++)
		hash = hash_byte(hash, (unsigned char)byte);
	rewind(file);
	if (map_find(&emitted->files, hash, n_bytes) != MAP_NONE)
		return 1;
	return map_put(&emitted->files, hash, n_bytes, 0);
}

int emitted_read(struct emitted *emitted, const char *path, struct flextrace_error *error)
{
	struct lives lives = {NULL};
	struct csv_reader reader;
	char name[PATH_MAX];
	FILE *file = open_beside(path, name);
	int code;

	if (!file)
		return FLEXTRACE_OK;
	code = note_content(emitted, file);
	if (code != 0) {
		fclose(file);
		return code < 0 ? code : FLEXTRACE_OK;
	}
	csv_reader_init(&reader, file, name);
	code = read_lives(&reader, &lives, error);
	if (code == FLEXTRACE_E_INPUT && error && !error->code)
		error_set(error, code, "Not a list of what was emitted: path=%s, line=%" PRIu64,
		          name, reader.line);
	csv_reader_release(&reader);
	fclose(file);
	if (code >= 0)
		code = add_lives(emitted, &lives);
	map_release(&lives.by_who);
	free(lives.all);
	return code;
}
