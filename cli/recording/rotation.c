/* SPDX-License-Identifier: Apache-2.0 */
#include "rotation.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "recording/emit_parts.h"
#include "base/paths.h"
#include "process/patience.h"
#include "recording/lttng/session_running.h"
#include "base/text/digits.h"
#include "base/text/sizes.h"

#define LIMIT_S 60 /* for a chunk to be closed */
#define MAX_S   (INT64_C(366) * 24 * 3600)

/* -- when -------------------------------------------------------------------------------------- */

/* Reads a time in s, min or h; 0: it is none. */
static int64_t parse_period_ns(const char *text)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
	uint64_t n;

	if (!digits_take(&text, MAX_S, &n))
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (n <= (uint64_t)MAX_S / units[i].seconds && strcmp(text, units[i].name) == 0)
			return (int64_t)(n * units[i].seconds) * 1000000000;
	}
	return 0;
}

int rotation_parse(const char *text, struct rotation_plan *ret_plan, struct flextrace_error *error)
{
	bool has_unit = *text && !isdigit((unsigned char)text[strlen(text) - 1]);

	*ret_plan = (struct rotation_plan){.period_ns = parse_period_ns(text)};
	if (ret_plan->period_ns)
		return FLEXTRACE_OK;
	if (has_unit && size_parse(text, &ret_plan->size_bytes) && ret_plan->size_bytes)
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_USAGE,
	                 "Neither a size (as 64M or 2G) nor a time (as 30s, 10min or 1h): "
	                 "--rotate=%s",
	                 text);
}

void rotator_init(struct rotator *rotator, const struct rotation_plan *plan,
                  const struct recording *recording)
{
	*rotator = (struct rotator){
		.plan = *plan, .recording = recording, .began_ns = patience_now_ns()};
}

static bool is_due(const struct rotator *rotator)
{
	const struct rotation_plan *plan = &rotator->plan;

	if (plan->period_ns)
		return patience_now_ns() - rotator->began_ns >= plan->period_ns;
	return plan->size_bytes && recording_open_bytes(rotator->recording) >= plan->size_bytes;
}

/* -- chunks ------------------------------------------------------------------------------------ */

static int close_chunk(struct rotator *rotator, struct flextrace_error *error)
{
	const char *session = rotator->recording->session;

	emit_parts_rotate(rotator->recording, EMITTED_STOPPING);
	FLEXTRACE_TRY(session_rotate(session, &rotator->going_on, error));
	emit_parts_rotate(rotator->recording, EMITTED_STOPPED);
	rotator->began_ns = patience_now_ns();
	/* What is recorded from now on goes into the next chunk. */
	return session_dump_definitions(session, error);
}

static int check_closed(struct rotator *rotator, struct flextrace_error *error)
{
	int code = session_rotated(rotator->going_on, error);

	if (code != 0)
		rotator->going_on = NULL;
	if (code > 0)
		emit_parts_settle(rotator->recording);
	return code;
}

int rotator_tick(struct rotator *rotator, struct flextrace_error *error)
{
	int code = 0;

	if (rotator->going_on)
		code = check_closed(rotator, error);
	else if (is_due(rotator))
		code = close_chunk(rotator, error);
	if (code < 0)
		rotator->plan = (struct rotation_plan){0};
	return code;
}

int rotator_finish(struct rotator *rotator, struct flextrace_error *error)
{
	struct patience patience = {.what = "LTTng to close a chunk", .limit_s = LIMIT_S};
	int code = 0;

	rotator->plan = (struct rotation_plan){0};
	while (rotator->going_on && code == 0) {
		code = check_closed(rotator, error);
		if (code == 0 && !patience_lasts(&patience, -1))
			code = error_set(error, FLEXTRACE_E_SYSTEM,
			                 "LTTng does not finish a rotation");
	}
	return code < 0 ? code : FLEXTRACE_OK;
}

/* Claims the chunk in `trace_dir`; 0 = somebody has it, or there is nothing in it. */
static int claim(const struct recording *recording, const char *trace_dir,
                 struct recording *ret_chunk, struct flextrace_error *error)
{
	char parent[PATH_MAX];

	if (!session_has_records(trace_dir))
		return 0;
	FLEXTRACE_TRY(path_join(parent, recording->dir, "chunks", error));
	mkdir(parent, 0700);
	FLEXTRACE_TRY(path_join(ret_chunk->dir, parent, strrchr(trace_dir, '-') + 1, error));
	if (mkdir(ret_chunk->dir, 0700) == 0) {
		snprintf(ret_chunk->trace_dir, sizeof(ret_chunk->trace_dir), "%s", trace_dir);
		return 1;
	}
	return errno == EEXIST ? 0 : path_not_made("directory of a chunk", ret_chunk->dir, error);
}

int rotation_claim(const struct recording *recording, struct recording *ret_chunk,
                   struct flextrace_error *error)
{
	glob_t found;
	int code = 0;

	glob_in(recording->trace_dir, "archives/*-*-[0-9]*", &found);
	*ret_chunk = *recording;
	for (size_t i = 0; i < found.gl_pathc && code == 0; i++)
		code = claim(recording, found.gl_pathv[i], ret_chunk, error);
	globfree(&found);
	return code;
}
