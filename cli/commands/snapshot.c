/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace snapshot: what a flight recorder holds now, converted. */
#include "terminal/cli.h"
#include "recording/flight.h"
#include "recording/running.h"

static const struct option_spec option_table[] = RECORDED_OPTION_TABLE("Only take it");

static int take(const char *name, struct recording *ret_snapshot)
{
	const struct running_wish wish = {.prefix = SESSION_PREFIX, .is_flight = true};
	struct flextrace_error error = {0};
	struct recording recording;
	int code = running_find(name, &wish, &recording);

	if (code != CLI_OK)
		return code;
	if (recording.kind != SESSION_FLIGHT)
		return cli_refuse(CLI_INPUT,
		                  "Not a flight recorder, it was started without "
		                  "--flight-recorder: path=%s",
		                  recording.dir);
	if (flight_take(&recording, FLIGHT_ASKED, ret_snapshot, &error) < 0)
		return cli_fail(&error);
	return flight_explain(ret_snapshot);
}

static int run(void *values, int n_operands, char **operands)
{
	struct recorded_options *options = values;
	struct recording snapshot;
	int code;

	if (n_operands > 1)
		return cli_refuse(CLI_USAGE, "Several recordings were named; name one, a snapshot "
		                             "is of one flight recorder");
	code = take(operands[0], &snapshot);
	if (code != CLI_OK || !options->is_unconverted)
		return code == CLI_OK ? flight_convert(&snapshot, options, stdout) : code;
	cli_note("snapshot: %s", snapshot.dir);
	return CLI_OK;
}

const struct command snapshot_command = {
	.name = "snapshot",
	.operands = "[DIR|SESSION]",
	.summary = "Write down what a flight recorder holds, and convert it",
	.text = "Of a recording with --flight-recorder that runs: the only one, or the one with "
		"that directory or session (see status). The recording goes on. The snapshot is "
		"written into DIR/snapshots/N/trace and its output beside it, unless -o names "
		"another directory.",
	.tables = RECORDED_TABLES(option_table),
	.options_bytes = sizeof(struct recorded_options),
	.defaults = &(const struct recorded_options){.conversion = CONVERSION_OPTIONS_INIT},
	.run = run};
