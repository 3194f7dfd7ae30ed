/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace record: records a program, or programs that already run, and converts what was
 * recorded. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/attend.h"
#include "process/child.h"
#include "terminal/cli.h"
#include "recording/flight.h"
#include "recording/guardian.h"
#include "process/launcher.h"
#include "process/mpi.h"
#include "base/paths.h"
#include "recording/member.h"
#include "process/provider.h"
#include "recording/recording.h"
#include "model/identity/recording_id.h"
#include "recording/recovery.h"
#include "report/twice.h"
#include "tracer/src/schedule.h"

#define REGISTER_TIMEOUT_MS "30000"
#define MAX_PROGRAM_BYTES   128 /* of its name in that of a directory */

struct record_options {
	int64_t pid;
	const char *schedule;
	const char *rotate;
	const char *mpi;
	bool is_windows_only;
	bool is_twice;
	struct recording_options buffers;
	struct recorded_options after;
};

#define AT(member) offsetof(struct record_options, member)
static const struct option_spec record_option_table[] = {
	OPTION("pid", 0, NUMBER, AT(pid), "PID", "Record this running process instead of a command",
               .min = 1, .max = INT32_MAX),
	OPTION("windows-only", 0, FLAG, AT(is_windows_only), NULL,
               "Record only inside windows that the program opens"),
	OPTION("schedule", 0, TEXT, AT(schedule), "WAIT,WARMUP,ACTIVE,REPEAT",
               "Record only the active steps (FLEXTRACE_STEP)"),
	OPTION("mpi", 0, WORD, AT(mpi), "openmpi|mpich",
               "Record the MPI calls of programs that know nothing of flextrace"),
	OPTION("rotate", 0, TEXT, AT(rotate), "SIZE|TIME",
               "Close a chunk of the trace after so much, as 1G or 10min, and convert it "
               "meanwhile"),
	OPTION("twice", 0, FLAG, AT(is_twice), NULL,
               "Run the command without and with records of the device, and compare"),
	{.name = NULL}};
static const struct option_spec after_option_table[] = RECORDED_OPTION_TABLE("Only record");

/* All that a run of the command works with. */
struct run {
	struct record_options own;
	char **argv; /* the program; argv[0] NULL = attach to what runs */
	char program[PATH_MAX];
	char mpi_library[PATH_MAX]; /* "" = MPI is not recorded */
	struct launcher launcher;
	struct held_signals signals;
	struct member member;
	struct rotation_plan rotation;
	struct recording recording;
	struct attendance attendance;
	struct guardian_work guarded;
	bool has_run;          /* the program did, or what ran already was recorded */
	bool is_snapshot_lost; /* the last one of a flight recorder could not be taken */
};

static int check_rotation(struct run *run)
{
	struct flextrace_error error = {0};

	if (!run->own.rotate)
		return CLI_OK;
	if (run->own.buffers.flight.is_set || run->own.buffers.relay)
		return cli_refuse(CLI_USAGE, "--rotate goes neither with --flight-recorder nor "
		                             "with --relay: no trace is written here");
	return rotation_parse(run->own.rotate, &run->rotation, &error) < 0 ? cli_fail(&error)
	                                                                   : CLI_OK;
}

static int check_usage(const struct run *run)
{
	const struct record_options *own = &run->own;
	struct recording_schedule schedule;

	if (own->is_twice && (!run->argv[0] || own->after.is_unconverted ||
	                      own->buffers.flight.is_set || own->buffers.relay))
		return cli_refuse(CLI_USAGE,
		                  "--twice needs a command, and all that it recorded converted");
	if (own->schedule && recording_parse_schedule(own->schedule, &schedule) < 0)
		return cli_refuse(CLI_USAGE,
		                  "Not a schedule (four whole numbers WAIT,WARMUP,ACTIVE,REPEAT, "
		                  "ACTIVE not 0): `%s`",
		                  own->schedule);
	if (run->argv[0] && own->pid)
		return cli_refuse(CLI_USAGE, "--pid and a command were both given; `flextrace "
		                             "record` takes one of them");
	if (!run->argv[0] && (own->schedule || own->is_windows_only))
		return cli_refuse(CLI_USAGE, "--windows-only and --schedule need a command: "
		                             "programs that already run have read their "
		                             "environment");
	return CLI_OK;
}

static int find_mpi(struct run *run)
{
	struct flextrace_error error = {0};

	if (!run->own.mpi)
		return CLI_OK;
	if (!run->argv[0])
		return cli_refuse(CLI_USAGE, "--mpi needs a command: programs that already run "
		                             "have loaded their MPI");
	return mpi_find_library(run->own.mpi, run->argv, run->mpi_library, &error) < 0
	               ? cli_fail(&error)
	               : CLI_OK;
}

static int find_program(struct run *run)
{
	int code = child_find(run->argv[0], run->program);

	if (code == 127)
		cli_error("Command not found: `%s`", run->argv[0]);
	else if (code)
		cli_error("Cannot be executed: `%s`", run->argv[0]);
	return code;
}

static void set_environment(const struct run *run)
{
	char provider[PATH_MAX];

	setenv("FLEXTRACE_SESSION", run->recording.session, 1);
	if (run->own.is_windows_only)
		setenv("FLEXTRACE_WINDOWS_ONLY", "1", 1);
	if (run->own.schedule)
		setenv("FLEXTRACE_SCHEDULE", run->own.schedule, 1);
	if (run->own.buffers.is_blocking)
		setenv("LTTNG_UST_ALLOW_BLOCKING", "1", 1);
	if (strchr(provider_choose(provider), '/'))
		setenv("FLEXTRACE_PROVIDER", provider, 1);
	if (run->mpi_library[0])
		mpi_preload(run->mpi_library);
	/* The daemon is there: worth waiting for, even if it is busy. */
	setenv("LTTNG_UST_REGISTER_TIMEOUT", REGISTER_TIMEOUT_MS, 0);
}

/* The length of a name, cut where it leaves no room in that of a directory: between characters. */
static int cut_name(const char *name)
{
	size_t n = strlen(name);

	if (n > MAX_PROGRAM_BYTES)
		for (n = MAX_PROGRAM_BYTES; n && (name[n] & 0xc0) == 0x80; n--)
			;
	return (int)n;
}

/* "flextrace-<program>-<date>", or one name for all of a job; hosts of one job do not share a
 * directory. */
static void choose_dir(const struct run *run, const char *program, char dir[PATH_MAX])
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) check_usage(): there is one */
	const char *base = path_base(program);
	char date[SESSION_DATE_SIZE], host[65] = "";
	int n;

	if (run->own.after.conversion.output_dir)
		n = snprintf(dir, PATH_MAX, "%s", run->own.after.conversion.output_dir);
	else if (run->launcher.job[0])
		n = snprintf(dir, PATH_MAX, "flextrace-%s", run->launcher.job);
	else
		n = snprintf(dir, PATH_MAX, "flextrace-%.*s-%s", cut_name(base), base,
		             session_date(date));
	if (run->launcher.is_multi_host && n > 0 && n < PATH_MAX - 80 &&
	    gethostname(host, sizeof(host) - 1) == 0)
		snprintf(dir + n, (size_t)(PATH_MAX - n), "/host-%s", host);
}

static int begin_in(struct run *run, const char *dir, const char *session,
                    struct flextrace_error *error)
{
	struct member_request request = {.dir = dir,
	                                 .job = run->launcher.job,
	                                 .session = session,
	                                 .options = &run->own.buffers,
	                                 .n_expected = run->launcher.n_local};

	if (run->launcher.job[0]) {
		FLEXTRACE_TRY(member_join(&run->member, &request, &run->recording, error));
		if (!run->recording.guardian) /* we have joined */
			guardian_begin(&run->recording, run->own.buffers.guard);
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(recording_begin(dir, session, &run->own.buffers, (pid_t)run->own.pid,
	                              &run->recording, error));
	FLEXTRACE_TRY(recording_save(&run->recording, error));
	member_be_alone(&run->member, &run->recording);
	return FLEXTRACE_OK;
}

/* Converts what was recorded, or a snapshot, and prints the summary. */
static int convert(struct run *run, const struct recording *recording,
                   recording_converter *converter)
{
	run->own.after.conversion.output_dir = recording->dir;
	/* Standard output is the program's. */
	return converter(recording, &run->own.after, stderr);
}

/* In the guardian, where the recorder did not come to it. */
static int convert_orphan(void *context, const struct recording *recording)
{
	struct run *run = context;

	return recording->kind == SESSION_TO_DISK ? convert(run, recording, recording_convert)
	                                          : CLI_OK;
}

static int begin(struct run *run)
{
	const char *program = run->argv[0] ? run->argv[0] : "running";
	char session[SESSION_NAME_SIZE], dir[PATH_MAX];
	struct flextrace_error error = {0};
	size_t n;
	int code;

	run->guarded = (struct guardian_work){convert_orphan, run, run->launcher.n_local};
	run->own.buffers.guard = &run->guarded;
	run->own.buffers.wants_all = !run->argv[0] && !run->own.pid;
	if (run->argv[0])
		session_make_name(program, session);
	else
		session_make_name_of(
			run->own.pid ? RECORDING_LABEL_PROCESS : RECORDING_LABEL_RUNNING, session);
	choose_dir(run, program, dir);
	n = strlen(dir);
	code = begin_in(run, dir, session, &error);
	/* A name of our own choice that is taken: the same second, or another recording of the
	 * job. */
	for (int i = 2; code == FLEXTRACE_E_OUTPUT && !run->own.after.conversion.output_dir &&
	                i < 100 && recording_is_in(dir) && n < sizeof(dir) - 4;
	     i++) {
		snprintf(dir + n, sizeof(dir) - n, "-%d", i);
		code = begin_in(run, dir, session, &error);
	}
	if (code < 0)
		return cli_fail(&error);
	return CLI_OK;
}

/* Takes the last snapshot if the program failed, or where we cannot know. Returns an exit code and
 * whether there is one to convert. */
static int take_last(struct run *run, int program_code, struct recording *ret_snapshot,
                     bool *ret_taken)
{
	struct flextrace_error error = {0};
	int code;

	*ret_taken = false;
	if (run->recording.kind != SESSION_FLIGHT || !run->has_run ||
	    (run->argv[0] && program_code == 0))
		return CLI_OK;
	code = flight_take(&run->recording, FLIGHT_END, ret_snapshot, &error);
	run->is_snapshot_lost = code < 0;
	if (code < 0)
		return cli_fail(&error);
	*ret_taken = code == 0;
	return CLI_OK;
}

/* What is left to do of a flight recorder that ended. */
static int end_flight(struct run *run, const struct recording *snapshot, bool is_taken)
{
	int code;

	if (!is_taken) {
		if (!run->is_snapshot_lost && !recording_is_in(run->recording.dir))
			cli_note("The program ended well, nothing was kept: a flight recorder "
			         "writes when it fails, on SIGUSR2 or on `flextrace snapshot`");
		return CLI_OK;
	}
	code = flight_explain(snapshot);
	return code == CLI_OK ? convert(run, snapshot, flight_convert) : code;
}

/* Ends the recording if it is ours to end, and converts it. Returns an exit code. */
static int end_recording(struct run *run, const struct recording *snapshot, bool is_taken)
{
	struct recording_outcome outcome = {.verdict = SESSION_NO_STREAMS};
	struct flextrace_error error = {0};
	int code, ended;

	if (!member_leave(&run->member, &run->recording)) {
		guardian_end(&run->recording);
		signals_release(&run->signals);
		return is_taken ? end_flight(run, snapshot, true) : CLI_OK;
	}
	ended = recording_end(&run->recording, &outcome, &error);
	guardian_tell(&run->recording, GUARDIAN_ENDED);
	member_has_ended(&run->member);
	signals_release(&run->signals);
	if (ended == 1)
		cli_note("lttng-sessiond is left running: others record with it");
	if (ended < 0)
		return cli_fail(&error);
	if (!run->has_run && outcome.verdict != SESSION_HAS_DATA)
		return CLI_OK;
	if (run->recording.cut_code && recovery_is_needed(run->recording.dir))
		return convert(run, &run->recording, recording_convert);
	if (run->recording.kind == SESSION_FLIGHT)
		return end_flight(run, snapshot, is_taken);
	if (run->recording.kind == SESSION_TO_RELAY)
		return recording_tell_relay(&run->recording, &outcome);
	code = recording_explain(&run->recording, &outcome);
	if (code != CLI_OK)
		return code;
	attend_rest(&run->attendance);
	attend_finish(&run->attendance); /* parts before the whole; end() asks for the code */
	return convert(run, &run->recording, recording_convert);
}

static int end(struct run *run, int program_code)
{
	struct recording snapshot;
	int code, ended, finished;
	bool is_taken;

	signals_forget(&run->signals);
	code = take_last(run, program_code, &snapshot, &is_taken);
	attend_end(&run->attendance);
	signals_ignore(SIGUSR2);
	if (run->attendance.has_failed)
		run->recording.cut_code = CLI_INPUT;
	ended = end_recording(run, &snapshot, is_taken);
	finished = attend_finish(&run->attendance);
	guardian_end(&run->recording);
	code = code ? code : ended;
	code = code ? code : finished;
	return code ? code : run->attendance.has_failed ? CLI_INPUT : CLI_OK;
}

static void attend(struct run *run)
{
	run->attendance.is_unconverted = run->own.after.is_unconverted;
	run->attendance.member = &run->member;
	run->attendance.guarded = &run->guarded;
	if (run->recording.kind == SESSION_FLIGHT)
		signals_hear_usr2(&run->signals);
	attend_begin(&run->attendance, &run->rotation, &run->recording, &run->own.after.conversion);
}

/* A shell tells of its own children only. */
static void note_signal(int program_code)
{
	int number = program_code - 128;

	if (number > 0 && number < NSIG && number != SIGINT && number != SIGPIPE)
		cli_note("The program ended with exit code %d, as by signal %d (%s)", program_code,
		         number, strsignal(number));
}

static int record_program(struct run *run)
{
	struct flextrace_error error = {0};
	int code, ended, interrupted;
	pid_t pid = -1;

	code = find_program(run);
	if (code == 0)
		code = begin(run);
	if (code != 0) {
		signals_release(&run->signals);
		return code;
	}
	set_environment(run);
	attend(run);
	interrupted = signals_pending(&run->signals);
	if (!interrupted)
		pid = child_start(run->program, run->argv, &run->signals, &error);
	run->has_run = pid > 0;
	if (interrupted)
		cli_note("Interrupted before the program ran");
	else if (pid < 0)
		cli_fail(&error);
	code = interrupted ? 128 + interrupted
	       : pid < 0   ? 126
	                   : child_wait(pid, &run->signals, &run->attendance.meanwhile);
	if (run->has_run)
		note_signal(code);
	ended = end(run, code);
	return code ? code : ended;
}

/* -- twice ----------------------------------------------------------------------------------- */

#define WITHOUT_DIR "without-device"

/* Runs the command once more, as if it was the only time. `mode`: of FLEXTRACE_DEVICE. */
static int record_pass(const struct run *run, const char *dir, const char *mode)
{
	struct run pass = *run;

	setenv("FLEXTRACE_DEVICE", mode, 1);
	pass.own.after.conversion.output_dir = dir;
	cli_note("--twice: FLEXTRACE_DEVICE=%s", mode);
	signals_hold(&pass.signals);
	return record_program(&pass);
}

/* Whether the records cost more than the intervals scatter. */
static void note_cost(const struct twice_result *result)
{
	struct difference cost = difference_from_zero(&result->cost_ns);

	if (isnan(cost.error))
		cli_note("--twice: too few intervals to know whether that is noise");
	else
		cli_note("--twice: %s, %+.0f ns +- %.0f ns for each of the %.0f outermost (%d %% "
		         "confidence)",
		         difference_is_certain(&cost) ? "the difference is more than noise"
		                                      : "the difference is noise",
		         cost.value, cost.error, result->cost_ns.n, CONFIDENCE_PERCENT);
}

static int compare_passes(const char *without_dir, const char *dir)
{
	struct flextrace_error error = {0};
	struct twice_result result;
	double cost_ns;

	if (twice_write(without_dir, dir, &result, &error) < 0)
		return cli_fail(&error);
	cost_ns = result.cost_ns.mean * result.cost_ns.n;
	cli_note("--twice: %" PRIu64 " host intervals of both runs took %.3f ms without the "
	         "device's records, %.3f ms with: %+.3f ms (%+.1f %%); in one run only: %" PRIu64
	         " without, %" PRIu64 " with",
	         result.n_both, (double)result.without_ns / 1e6, (double)result.with_ns / 1e6,
	         cost_ns / 1e6, result.without_ns ? 100 * cost_ns / (double)result.without_ns : 0,
	         result.n_without, result.n_with);
	note_cost(&result);
	cli_note("table: %s/tables/twice.csv; by name: flextrace diff %s %s", dir, without_dir,
	         dir);
	return CLI_OK;
}

/* The run that others look at comes second: what it reads is in memory then, as in every later
 * run. */
static int record_twice(const struct run *run)
{
	const char *mode = getenv("FLEXTRACE_DEVICE");
	char dir[PATH_MAX], without_dir[PATH_MAX + 32];
	int code;

	if (run->launcher.job[0])
		return cli_refuse(
			CLI_USAGE,
			"--twice runs a whole job: put it in front of the launcher, as in "
			"`flextrace record --twice -- mpirun ...`");
	mode = mode && strcmp(mode, "sync") == 0 ? "sync" : "drain";
	choose_dir(run, run->argv[0], dir);
	snprintf(without_dir, sizeof(without_dir), "%s/" WITHOUT_DIR, dir);
	if (recording_is_in(dir) || recording_is_in(without_dir))
		return cli_refuse(CLI_OUTPUT,
		                  "There is a recording already, choose another directory with -o: "
		                  "path=%s",
		                  dir);
	code = record_pass(run, without_dir, "off");
	if (code == CLI_OK)
		code = record_pass(run, dir, mode);
	return code == CLI_OK ? compare_passes(without_dir, dir) : code;
}

static int record_running(struct run *run)
{
	int code = CLI_INPUT;

	if (run->own.pid && kill((pid_t)run->own.pid, 0) != 0 && errno == ESRCH)
		cli_error("There is no such process: pid=%" PRId64, run->own.pid);
	else
		code = begin(run);
	if (code != CLI_OK) {
		signals_release(&run->signals);
		return code;
	}
	if (run->own.pid)
		cli_note("recording process %" PRId64 " until it ends or Ctrl-C", run->own.pid);
	else
		cli_note("recording what runs until Ctrl-C");
	run->has_run = true;
	attend(run);
	signals_wait(&run->signals, (pid_t)run->own.pid, &run->attendance.meanwhile);
	return end(run, 0);
}

static int run_record(void *values, int n_operands, char **operands)
{
	struct run run = {.own = *(const struct record_options *)values, .argv = operands};
	int code = check_usage(&run);

	(void)n_operands;
	if (code == CLI_OK)
		code = check_rotation(&run);
	if (code == CLI_OK)
		code = find_mpi(&run);
	if (code != CLI_OK)
		return code;
	if (run.argv[0])
		launcher_detect(&run.launcher, getenv);
	if (run.own.is_twice)
		return record_twice(&run);
	signals_ignore(SIGPIPE);
	signals_hold(&run.signals);
	return run.argv[0] ? record_program(&run) : record_running(&run);
}

const struct command record_command = {
	.name = "record",
	.operands = "[-- COMMAND [ARGUMENT...]]",
	.summary = "Record a program, or programs that run, and convert the recording",
	.text = "Without a command, records the instrumented programs that already run, until "
		"Ctrl-C. The trace goes into DIR/trace and the output beside it; without -o, DIR "
		"is flextrace-PROGRAM-DATE. A DIR that holds a recording is refused. The exit code "
		"is the program's; if that is 0, the recording's: 2 = nothing could be recorded, 3 "
		"= more was lost than --fail-on-loss allows, 4 = output cannot be written.",
	.tables = {{record_option_table, 0, NULL},
                   {after_option_table, AT(after), NULL},
                   {recording_option_table, AT(buffers), "recording"},
                   {conversion_option_table, AT(after.conversion), "conversion"}},
	.options_bytes = sizeof(struct record_options),
	.defaults = &(const struct record_options){.after.conversion = CONVERSION_OPTIONS_INIT},
	.stops_at_operand = true,
	.run = run_record};
