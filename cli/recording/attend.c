/* SPDX-License-Identifier: Apache-2.0 */
#include "attend.h"

#include <stdio.h>
#include <string.h>

#include "terminal/cli.h"
#include "flight.h"
#include "guardian.h"
#include "recording/lttng/relay_watch.h"

#define TICK_NS       200000000
#define RELAY_TICK_NS 1000000000
#define MAX_GUARDIANS 16 /* that die; whatever kills them will not stop */

static int add_conversion(struct attendance *attendance, const struct recording *part,
                          const char *what, struct flextrace_error *error)
{
	struct background_job job = {.is_part = attendance->recording->kind != SESSION_FLIGHT};

	snprintf(job.what, sizeof(job.what), "%s %s", what, strrchr(part->dir, '/') + 1);
	if (attendance->is_unconverted) {
		cli_note("%s: %s", job.what, part->dir);
		return FLEXTRACE_OK;
	}
	snprintf(job.trace_dir, sizeof(job.trace_dir), "%s", part->trace_dir);
	snprintf(job.output_dir, sizeof(job.output_dir), "%s", part->dir);
	return background_add(&attendance->background, &job, error);
}

static void on_usr2(void *context)
{
	struct attendance *attendance = context;
	struct flextrace_error error = {0};
	struct recording snapshot;

	if (flight_take(attendance->recording, FLIGHT_ASKED, &snapshot, &error) < 0) {
		cli_fail(&error);
		return;
	}
	if (flight_explain(&snapshot) == CLI_OK &&
	    add_conversion(attendance, &snapshot, "snapshot", &error) < 0)
		cli_fail(&error);
}

static void add_chunks(struct attendance *attendance)
{
	struct flextrace_error error = {0};
	struct recording chunk;
	int code = 0;

	/* Without conversion nobody needs their directories. */
	while (!attendance->is_unconverted &&
	       (code = rotation_claim(attendance->recording, &chunk, &error)) > 0) {
		code = add_conversion(attendance, &chunk, "chunk", &error);
		if (code < 0)
			break;
	}
	if (code < 0)
		cli_fail(&error);
}

/* A session that lost its consumer daemon ends as if all was well. */
static void report_failed(struct attendance *attendance, const struct flextrace_error *error)
{
	cli_error("No more chunks are closed, and records may be lost from here on: %s",
	          error->message);
	attendance->has_failed = true;
}

static void rotate(struct attendance *attendance)
{
	struct rotator *rotator = &attendance->rotator;
	struct flextrace_error error = {0};
	int code;

	if (!rotator->going_on && !member_leads(attendance->member))
		return;
	code = rotator_tick(rotator, &error);
	if (code < 0)
		report_failed(attendance, &error);
	if (code > 0)
		add_chunks(attendance);
}

static void on_tick(void *context)
{
	struct attendance *attendance = context;

	background_poll(&attendance->background);
	if (attendance->rotates)
		rotate(attendance);
	if (attendance->recording->kind == SESSION_TO_RELAY)
		relay_watch_look(&attendance->recording->relay);
}

static void on_end(void *context)
{
	struct attendance *attendance = context;

	attendance->is_asked = true;
	guardian_tell(attendance->recording, GUARDIAN_ASKED);
}

/* What killed it may kill us next. */
static void on_guardian_lost(void *context)
{
	struct attendance *attendance = context;
	struct recording *recording = attendance->recording;

	attendance->meanwhile.watched_fd = 0;
	if (++attendance->n_guardians > MAX_GUARDIANS) {
		cli_warn("The guardian was killed %d times, there is none any more: if this "
		         "process is killed, end the recording with `flextrace stop %s`",
		         attendance->n_guardians, recording->dir);
		return;
	}
	if (!guardian_replace(recording, attendance->guarded))
		return;
	attendance->meanwhile.watched_fd = recording->guardian;
	if (attendance->is_asked)
		guardian_tell(recording, GUARDIAN_ASKED);
	cli_note("the guardian was killed, there is another one");
}

void attend_begin(struct attendance *attendance, const struct rotation_plan *rotation,
                  struct recording *recording, const struct conversion_options *conversion)
{
	struct meanwhile *meanwhile = &attendance->meanwhile;

	attendance->recording = recording;
	attendance->background.conversion = conversion;
	*meanwhile = (struct meanwhile){.tick = on_tick,
	                                .on_end = on_end,
	                                .on_broken = on_guardian_lost,
	                                .watched_fd = recording->guardian,
	                                .context = attendance};
	if (recording->kind == SESSION_FLIGHT)
		meanwhile->on_usr2 = on_usr2;
	attendance->rotates = rotation->size_bytes || rotation->period_ns;
	if (attendance->rotates)
		meanwhile->tick_ns = TICK_NS;
	else if (recording->kind == SESSION_TO_RELAY)
		meanwhile->tick_ns = RELAY_TICK_NS;
	rotator_init(&attendance->rotator, rotation, recording);
}

void attend_end(struct attendance *attendance)
{
	struct flextrace_error error = {0};

	if (rotator_finish(&attendance->rotator, &error) < 0)
		report_failed(attendance, &error);
}

void attend_rest(struct attendance *attendance)
{
	if (attendance->rotates)
		add_chunks(attendance);
}

int attend_finish(struct attendance *attendance)
{
	return background_finish(&attendance->background);
}
