/* SPDX-License-Identifier: Apache-2.0 */
#include "flight.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "base/paths.h"
#include "recording/emit_parts.h"
#include "recording/lttng/session_running.h"

#define MAX_SNAPSHOTS 100000

static int name_snapshot(const struct recording *recording, const char *name,
                         struct recording *snapshot, struct flextrace_error *error)
{
	FLEXTRACE_TRY(path_join(snapshot->dir, recording->trace_dir, name, error));
	return path_join(snapshot->trace_dir, snapshot->dir, "trace", error);
}

/* Makes the next directory that nobody else has made; of the end there is one. */
static int make_dir(const struct recording *recording, enum flight_reason reason,
                    struct recording *snapshot, struct flextrace_error *error)
{
	char name[16] = "end";
	bool is_new;

	/* Who removed the directory did not mean what is still in memory. */
	FLEXTRACE_TRY(recording_make_dir(recording->trace_dir, &is_new, error));
	for (int i = 1; i < MAX_SNAPSHOTS; i++) {
		if (reason != FLIGHT_END)
			snprintf(name, sizeof(name), "%d", i);
		FLEXTRACE_TRY(name_snapshot(recording, name, snapshot, error));
		if (mkdir(snapshot->dir, 0700) == 0)
			return FLEXTRACE_OK;
		if (errno != EEXIST)
			break;
		if (reason == FLIGHT_END)
			return 1;
	}
	return path_not_made("directory of a snapshot", snapshot->dir, error);
}

static int fill(const struct recording *recording, const struct recording *snapshot,
                struct flextrace_error *error)
{
	int code = session_dump_definitions(recording->session, error);

	emit_parts_snapshot(recording, snapshot, EMITTED_STOPPING);
	if (code == FLEXTRACE_OK)
		code = session_snapshot(recording->session, snapshot->trace_dir, error);
	/* LTTng leaves out what is unfinished when it closes what is being written. */
	if (code == FLEXTRACE_OK && recording_heal(recording, false)) {
		path_remove_tree(snapshot->trace_dir);
		code = session_snapshot(recording->session, snapshot->trace_dir, error);
	}
	emit_parts_snapshot(recording, snapshot, EMITTED_STOPPED);
	if (code < 0 && recording_is_full(snapshot->dir))
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "The disk is full, it has no room for the snapshot: path=%s",
		                 snapshot->dir);
	return code;
}

int flight_take(const struct recording *recording, enum flight_reason reason,
                struct recording *ret_snapshot, struct flextrace_error *error)
{
	int code;

	*ret_snapshot = *recording;
	code = make_dir(recording, reason, ret_snapshot, error);
	if (code != 0)
		return code;
	ret_snapshot->kind = SESSION_TO_DISK;
	code = fill(recording, ret_snapshot, error);
	/* LTTng may have given up in the middle. */
	if (code < 0 || !session_has_records(ret_snapshot->trace_dir))
		path_remove_tree(ret_snapshot->dir);
	return code;
}

int flight_explain(const struct recording *snapshot)
{
	struct recording_outcome outcome = {.losses = {0}};

	outcome.verdict = session_inspect(snapshot->trace_dir, outcome.where);
	return recording_explain(snapshot, &outcome);
}

int flight_convert(const struct recording *snapshot, struct recorded_options *options, FILE *to)
{
	int code = recording_convert(snapshot, options, to);
	uint64_t n = 0;

	if (!options->is_unconverted && (code == CLI_OK || code == CLI_LOSS))
		n = recording_count_lost(options->conversion.output_dir, "overwritten");
	if (n)
		cli_note("overwritten before the snapshot: %" PRIu64 " packets of the buffers", n);
	return code;
}
