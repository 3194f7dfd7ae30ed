/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace start, stop, status: a recording that outlives the command. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/child.h"
#include "terminal/cli.h"
#include "recording/lttng/consumers.h"
#include "recording/flight.h"
#include "recording/member.h"
#include "process/process.h"
#include "recording/recording.h"
#include "model/identity/recording_id.h"
#include "recording/running.h"

struct start_options {
	const char *output_dir;
	struct recording_options buffers;
};

static const struct option_spec start_option_table[] = {
	OPTION("output-dir", 'o', TEXT, offsetof(struct start_options, output_dir), "DIR",
               "Directory of the recording", .fallback = "flextrace-DATE"),
	{.name = NULL}};

static const struct option_spec stop_option_table[] = RECORDED_OPTION_TABLE("Only stop");

static int start(const struct start_options *options)
{
	char session[SESSION_NAME_SIZE], dir[64], date[SESSION_DATE_SIZE];
	struct flextrace_error error = {0};
	struct recording recording;

	session_make_name_of(RECORDING_LABEL_START, session);
	snprintf(dir, sizeof(dir), "flextrace-%s", session_date(date));
	if (recording_begin(options->output_dir ? options->output_dir : dir, session,
	                    &options->buffers, 0, &recording, &error) < 0 ||
	    recording_save(&recording, &error) < 0)
		return cli_fail(&error);
	cli_note("recording; `flextrace stop%s` ends it: %s",
	         recording.kind == SESSION_TO_RELAY ? " DIR" : "", recording.dir);
	return CLI_OK;
}

static int run_start(void *values, int n_operands, char **operands)
{
	struct held_signals signals;
	int code;

	(void)n_operands;
	(void)operands;
	signals_hold(&signals);
	code = start(values);
	signals_release(&signals);
	return code;
}

/* Ends a recording. A flight recorder is asked for what it holds first, which is stored as the
 * recording to convert. The state file stays until the session is gone, so that who finds the one
 * finds the other. */
static int end(struct recording *recording, struct recording_outcome *outcome,
               struct flextrace_error *error)
{
	struct recording snapshot = *recording;
	struct flextrace_error later;
	int taken = FLEXTRACE_OK, ended;

	if (recording->kind == SESSION_FLIGHT)
		taken = flight_take(recording, FLIGHT_END, &snapshot, error);
	ended = recording_end(recording, outcome, taken < 0 ? &later : error);
	recording_forget(recording);
	if (recording->has_made_dir)
		rmdir(recording->dir); /* where nothing is in it */
	snapshot.cut_code = recording->cut_code;
	*recording = snapshot;
	return taken < 0 ? taken : ended;
}

/* Claims a recording that nobody records and nobody else ends. Returns an exit code. */
static int claim_ended(const struct recording *recording, int *ret_claim)
{
	if (member_lives(recording))
		return cli_refuse(CLI_INPUT,
		                  "`flextrace record` records there and ends it with its program; "
		                  "to end it now, interrupt that: path=%s",
		                  recording->dir);
	if (!member_claim(recording, ret_claim))
		return cli_refuse(CLI_INPUT,
		                  "Another `flextrace stop`, or the guardian of a recorder that "
		                  "died, ends it already: path=%s",
		                  recording->dir);
	return CLI_OK;
}

static int stop(const char *dir, struct recorded_options *options)
{
	struct recording_outcome outcome = {.verdict = SESSION_NO_STREAMS};
	struct flextrace_error error = {0};
	struct held_signals signals;
	struct recording recording;
	bool is_flight;
	const struct running_wish wish = {.prefix = SESSION_PREFIX "start-"};
	int code = running_find(dir, &wish, &recording), ended, claim;

	if (code != CLI_OK)
		return code;
	code = claim_ended(&recording, &claim);
	if (code != CLI_OK)
		return code;
	signals_hold(&signals);
	is_flight = recording.kind == SESSION_FLIGHT;
	ended = end(&recording, &outcome, &error);
	descriptor_close(claim);
	signals_release(&signals);
	if (ended < 0 && access(recording.trace_dir, F_OK) == 0)
		cli_note("the trace is kept, `flextrace convert` reads it: %s",
		         recording.trace_dir);
	if (ended < 0)
		return cli_fail(&error);
	if (recording.kind == SESSION_TO_RELAY)
		return recording_tell_relay(&recording, &outcome);
	code = is_flight ? flight_explain(&recording) : recording_explain(&recording, &outcome);
	if (code != CLI_OK)
		return code;
	return is_flight ? flight_convert(&recording, options, stdout)
	                 : recording_convert(&recording, options, stdout);
}

static int run_stop(void *values, int n_operands, char **operands)
{
	if (n_operands > 1)
		return cli_refuse(CLI_USAGE, "Several directories were named; name one, each "
		                             "recording is stopped by itself");
	return stop(operands[0], values);
}

static int report_no_daemon(void)
{
	pid_t daemon = consumers_daemon();

	if (daemon > 0 && process_is_stopped(daemon))
		return cli_refuse(
			CLI_INPUT,
			"Cannot tell what is recorded: LTTng's session daemon is stopped, "
			"`kill -CONT %ld` lets it go on",
			(long)daemon);
	printf("no recording runs\n");
	return CLI_OK;
}

static int run_status(void *values, int n_operands, char **operands)
{
	struct session_entry *entries;
	struct flextrace_error error = {0};
	int n;

	(void)values;
	(void)n_operands;
	(void)operands;
	if (!daemon_is_alive())
		return report_no_daemon();
	n = session_list(SESSION_PREFIX, &entries, &error);
	if (n < 0)
		return cli_fail(&error);
	for (int i = 0; i < n; i++) {
		cli_print(stdout, "%s %s: %s",
		          !entries[i].is_active  ? "stopped"
		          : entries[i].is_flight ? "flight recorder"
		                                 : "recording",
		          entries[i].name, entries[i].trace_dir);
		printf("\n");
	}
	if (n == 0)
		printf("no recording runs\n");
	free(entries);
	return CLI_OK;
}

const struct command start_command = {
	.name = "start",
	.operands = "",
	.summary = "Start a recording that goes on until `flextrace stop`",
	.text = "Records all instrumented programs of this user that run or start meanwhile.",
	.tables = {{start_option_table, 0, NULL},
                   {recording_option_table, offsetof(struct start_options, buffers), "recording"}},
	.options_bytes = sizeof(struct start_options),
	.defaults = &(const struct start_options){.buffers = {.wants_all = true}},
	.run = run_start};

const struct command stop_command = {
	.name = "stop",
	.operands = "[DIR]",
	.summary = "Stop a recording of `flextrace start` and convert it",
	.text = "Without DIR, the only recording of `flextrace start` there is; with it, also what "
		"a `flextrace record` that died left there. The output goes beside the trace "
		"unless -o names another directory.",
	.tables = RECORDED_TABLES(stop_option_table),
	.options_bytes = sizeof(struct recorded_options),
	.defaults = &(const struct recorded_options){.conversion = CONVERSION_OPTIONS_INIT},
	.run = run_stop};

const struct command status_command = {.name = "status",
                                       .operands = "",
                                       .summary = "List the recordings that run",
                                       .run = run_status};
