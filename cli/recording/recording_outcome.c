/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a recording: told, and converted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "base/paths.h"
#include "model/emitted/emitted.h"
#include "recording.h"
#include "model/identity/recording_id.h"
#include "model/timeline/rows.h"
#include "report/summary.h"
#include "report/summary_impl.h"

static void explain_losses(const struct recording *recording, const struct session_losses *losses)
{
	char size[32];

	if (!losses->events && !losses->packets)
		return;
	cli_warn("%" PRIu64 " events were lost because the buffers were full%s", losses->events,
	         losses->packets ? ", and whole packets were overwritten" : "");
	if (recording->buffers.events.subbuf_bytes)
		cli_note("the buffers were %" PRIu64
		         " x %s per CPU; enlarge them with --subbuf-size "
		         "and --num-subbuf (and /dev/shm where it is small), or record less with "
		         "--windows-only or --schedule",
		         recording->buffers.events.n_subbufs,
		         buffers_format_size(recording->buffers.events.subbuf_bytes, size));
}

static int explain_disk(const struct recording *recording, const struct recording_outcome *outcome)
{
	if (outcome->is_removed)
		cli_error("The directory was removed or renamed while it was recorded into, "
		          "nothing is left there; if it was renamed, `flextrace convert` reads "
		          "the trace: path=%s",
		          recording->trace_dir);
	else
		cli_error("The disk is full: records that found no room are lost, and nobody "
		          "counted them; make room, or record elsewhere with -o: path=%s",
		          recording->trace_dir);
	return outcome->is_removed || outcome->verdict != SESSION_HAS_DATA ? CLI_OUTPUT : CLI_OK;
}

void recording_count_unread(const struct recording *recording, struct recording_unread *ret_unread)
{
	struct emitted emitted = {NULL};
	struct stream_set none = {NULL};

	*ret_unread = (struct recording_unread){0};
	if (emitted_read(&emitted, recording->dir, NULL) < 0 ||
	    emitted_compare(&emitted, &none) < 0)
		emitted.n = 0;
	for (uint32_t i = 0; i < emitted.n; i++) {
		const struct emitted_process *process = &emitted.processes[i];

		for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
			ret_unread->n_records += process->least[class];
		if (ret_unread->n_programs++)
			continue;
		ret_unread->pid = process->pid;
		memcpy(ret_unread->program, process->program, sizeof(ret_unread->program));
	}
	emitted_release(&emitted);
}

static void report_unread(const struct recording_unread *unread)
{
	char others[32] = "";

	if (unread->n_programs > 1)
		snprintf(others, sizeof(others), " and %" PRIu32 " others", unread->n_programs - 1);
	cli_error("%" PRIu64 " records of %s (pid %" PRId32 ")%s were made before LTTng's session "
	          "daemon answered, and are lost: the machine was busy, or the daemon stood still",
	          unread->n_records, unread->program, unread->pid, others);
}

static int refuse_no_data(void)
{
	return cli_refuse(CLI_INPUT,
	                  "No data: no program with flextrace wrote a record. Was it built with "
	                  "flextrace.h, and is the provider installed where it runs? "
	                  "FLEXTRACE_VERBOSE=1 in its environment tells; `flextrace doctor` "
	                  "checks the machine. A program that ran before the recording began may "
	                  "take 5 s to be seen by LTTng");
}

/* Whether a conversion found a process: others of the same user may have written into the trace. */
static bool has_processes(const char *output_dir)
{
	cJSON *run = summary_json(output_dir, "run.json");
	bool has_any = !run ||
	               cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(run, "processes")) > 0;

	cJSON_Delete(run);
	return has_any;
}

int recording_explain(const struct recording *recording, const struct recording_outcome *outcome)
{
	explain_losses(recording, &outcome->losses);
	if (outcome->is_removed || outcome->is_full)
		return explain_disk(recording, outcome);
	switch (outcome->verdict) {
	case SESSION_HAS_DATA:
		return CLI_OK;
	case SESSION_NO_STREAMS:
	case SESSION_NO_RECORDS:
		if (outcome->unread.n_records)
			report_unread(&outcome->unread);
		return refuse_no_data();
	default:
		return cli_refuse(CLI_INPUT,
		                  "The recording failed: LTTng could not make the "
		                  "buffers, " RECORDING_TOO_SMALL ": path=%s",
		                  outcome->where);
	}
}

struct loss_count { /* of a row of losses.csv */
	const char *cause;
	uint64_t count;
};

static const struct column columns[] = {COLUMN(struct loss_count, cause),
                                        COLUMN(struct loss_count, count)};

uint64_t recording_count_lost(const char *output_dir, const char *cause)
{
	struct loss_count loss = {NULL, 0};
	uint64_t count = 0;
	struct rows rows;

	if (!rows_open(&rows, output_dir, "losses.csv", columns, N_COLUMNS(columns), NULL))
		return 0;
	while (rows_next(&rows, &loss, NULL)) {
		if (strcmp(loss.cause, cause) == 0)
			count += loss.count;
	}
	rows_close(&rows);
	return count;
}

/* Nobody can hold it against what is read there, but the user. */
static void note_emitted(const struct recording *recording)
{
	struct recording_unread unread;

	recording_count_unread(recording, &unread);
	if (unread.n_programs)
		cli_note("%" PRIu32 " programs emitted %" PRIu64 " records, by their own count; as "
		         "many are read there, if none is lost",
		         unread.n_programs, unread.n_records);
	path_remove(recording->dir, EMITTED_FILE);
}

int recording_tell_relay(const struct recording *recording, const struct recording_outcome *outcome)
{
	char host[65] = "";

	recording_explain(recording, outcome);
	gethostname(host, sizeof(host) - 1);
	cli_note("recorded on the relay, where `flextrace convert` reads it: "
	         "lttng-traces/%s/%s-*",
	         host, recording->session);
	note_emitted(recording);
	if (recording->has_made_dir)
		rmdir(recording->dir);
	return recording->cut_code;
}

int recording_convert(const struct recording *recording, struct recorded_options *options, FILE *to)
{
	struct conversion_options *conversion = &options->conversion;
	const char *trace = recording->trace_dir;
	struct flextrace_error error = {0};
	int code;

	if (options->is_unconverted) {
		cli_note("recorded: %s", trace);
		return recording->cut_code;
	}
	if (!conversion->output_dir)
		conversion->output_dir = recording->dir;
	code = convert_traces(&trace, 1, conversion, (uint32_t)options->n_workers);
	if (code != CLI_OK && code != CLI_LOSS) {
		cli_note("the trace is kept: %s", trace);
		return code;
	}
	if (recording_scope_of(recording->session) == RECORDING_OF_COMMAND &&
	    !has_processes(conversion->output_dir))
		return refuse_no_data();
	if (!cli_is_quiet() && summary_print(conversion->output_dir, to, &error) < 0)
		return cli_fail(&error);
	fflush(to);
	cli_note("output: %s", conversion->output_dir);
	if (!recording->cut_code &&
	    recording_count_lost(conversion->output_dir, "channel_not_created"))
		return cli_refuse(CLI_INPUT, "The recording is not whole: LTTng could not make all "
		                             "buffers, " RECORDING_TOO_SMALL);
	return recording->cut_code ? recording->cut_code : code;
}
