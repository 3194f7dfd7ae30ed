/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace snapshot: what a flight recorder holds now, converted. */
#include "cli.h"
#include "recording/flight.h"
#include "profile.h"
#include "recording/running.h"

struct snapshot_options {
	bool is_unconverted;
	int64_t n_workers;
};

static const struct option_spec snapshot_option_table[] = {
	{"no-convert", 0, OPTION_FLAG, offsetof(struct snapshot_options, is_unconverted), NULL,
         "Only take it", 0, 0},
	{"workers", 'j', OPTION_NUMBER, offsetof(struct snapshot_options, n_workers), "N",
         "Threads that read streams (default: one per core)", 1, 1024},
	{0}};

static int take(const char *name, struct recording *ret_snapshot)
{
	const struct running_wish wish = {.prefix = SESSION_PREFIX, .is_flight = true};
	struct flextrace_error error = {0};
	struct recording recording;
	int code = running_find(name, &wish, &recording);

	if (code != CLI_OK)
		return code;
	if (recording.kind != SESSION_FLIGHT) {
		cli_error(
			"Not a flight recorder, it was started without --flight-recorder: path=%s",
			recording.dir);
		return CLI_INPUT;
	}
	if (flight_take(&recording, FLIGHT_ASKED, ret_snapshot, &error) < 0)
		return cli_fail(&error);
	return flight_explain(ret_snapshot);
}

static int snapshot(const char *name, const struct snapshot_options *options,
                    struct conversion_options *conversion)
{
	struct recording snapshot;
	int code = take(name, &snapshot);

	if (code != CLI_OK)
		return code;
	if (options->is_unconverted) {
		cli_note("snapshot: %s", snapshot.dir);
		return CLI_OK;
	}
	code = recording_convert(&snapshot, conversion, (uint32_t)options->n_workers, stdout);
	if (code == CLI_OK || code == CLI_LOSS)
		flight_tell_overwritten(conversion->output_dir);
	return code;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct conversion_options conversion = CONVERSION_OPTIONS_INIT;
	struct snapshot_options options = {.n_workers = 0};
	int first, code = cli_parse(command, argc, argv, (void *[]){&options, &conversion}, &first);

	if (code == CLI_OK && first + 1 < argc) {
		cli_error("Several recordings were named; name one, a snapshot is of one flight "
		          "recorder");
		code = CLI_USAGE;
	}
	if (code == CLI_OK)
		code = snapshot(argv[first], &options, &conversion);
	conversion_options_release(&conversion);
	return code == CLI_HELP ? CLI_OK : code;
}

const struct command snapshot_command = {
	.name = "snapshot",
	.operands = "[DIR|SESSION]",
	.summary = "Write down what a flight recorder holds, and convert it",
	.text = "Of a recording with --flight-recorder that runs: the only one, or the one with "
		"that\n"
		"directory or session (see status). The recording goes on. The snapshot is "
		"written\n"
		"into DIR/snapshots/N/trace and its output beside it, unless -o names another\n"
		"directory.",
	.tables = {snapshot_option_table, conversion_option_table},
	.run = run};
