/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace convert: recorded traces and files of other tools -> one timeline. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "bt2/read/reader.h"
#include "terminal/cli.h"
#include "conversion.h"
#include "formats/ctf/ctf_repair.h"
#include "model/emitted/emitted.h"
#include "imports.h"
#include "process/isolate.h"
#include "base/paths.h"
#include "model/timeline/columns.h"
#include "recording/recovery.h"
#include "recording/lttng/rlimits.h"
#include "base/spill.h"
#include "report/summary.h"

#define MAX_WORKERS        256
#define MAX_FORMAT_THREADS 8
#define MAX_OPEN           64                  /* streams of a worker */
#define STREAM_BYTES       (UINT64_C(8) << 20) /* that babeltrace2 maps of one */

struct convert_options {
	int64_t n_workers; /* 0 = one per core */
	struct conversion_options conversion;
};

static const struct option_spec option_table[] = {
	CLI_WORKERS_OPTION(struct convert_options, MAX_WORKERS), {.name = NULL}};

/* Cores that this process may run on. */
static uint32_t count_cores(void)
{
	cpu_set_t cores;
	int n = 1;

	if (sched_getaffinity(0, sizeof(cores), &cores) == 0)
		n = CPU_COUNT(&cores);
	return n < MAX_WORKERS ? (uint32_t)n : MAX_WORKERS;
}

static void show_progress(void *context, uint64_t n_messages)
{
	(void)context;
	cli_progress("Reading: %.1f M messages", (double)n_messages / 1e6);
}

struct conversion {
	struct string_pool *strings; /* owned, all */
	struct stream_set set;
	struct ledger ledger;
	struct pair_report *pairs;
	uint32_t n_pairs;
	struct emitted emitted;
};

static int keep_pair(void *context, const struct pair_report *report)
{
	struct conversion *conversion = context;

	return ARRAY_PUSH(conversion->pairs, conversion->n_pairs, *report);
}

/* Puts the traces in front and the files of other tools behind them; where these are told what they
 * are, any file is one. Stores how many traces. */
static int sort_inputs(const char **inputs, uint32_t n, bool has_dialect, uint32_t *ret_n_traces)
{
	uint32_t n_traces = 0;

	for (uint32_t i = 0; i < n; i++) {
		const char *input = inputs[i];
		int is_foreign = import_is_foreign(input);

		FLEXTRACE_TRY(is_foreign);
		if (is_foreign || (has_dialect && path_has_type(input, S_IFREG)))
			continue;
		memmove(&inputs[n_traces + 1], &inputs[n_traces], (i - n_traces) * sizeof(*inputs));
		inputs[n_traces++] = input;
	}
	*ret_n_traces = n_traces;
	return FLEXTRACE_OK;
}

static int read_inputs(struct conversion *conversion, const struct reader_options *reader,
                       const struct conversion_options *options, struct flextrace_error *error)
{
	const char **inputs = malloc(reader->n_traces * sizeof(*inputs));
	struct reader_options traces = *reader;
	struct import_options files = {.torch_ranks = options->torch_ranks,
	                               .aie = &options->findings.aie,
	                               .warn = cli_pass_warning,
	                               .pair = keep_pair,
	                               .context = conversion};
	int code = dialect_of_name(options->as, &files.dialect, error);

	if (!inputs)
		return error_memory(error);
	memcpy(inputs, reader->traces, reader->n_traces * sizeof(*inputs));
	traces.traces = inputs;
	if (code >= 0 && sort_inputs(inputs, reader->n_traces, files.dialect != IMPORT_BY_CONTENT,
	                             &traces.n_traces) < 0)
		code = error_memory(error);
	files.paths = inputs + traces.n_traces;
	files.n_paths = reader->n_traces - traces.n_traces;
	if (code >= 0 && files.n_paths)
		code = import_run(&files, conversion->strings, &conversion->set,
		                  &conversion->ledger, error);
	if (code >= 0 && traces.n_traces)
		code = reader_run(&traces, conversion->strings, &conversion->set,
		                  &conversion->ledger, error);
	for (uint32_t i = 0; i < traces.n_traces && code >= 0; i++)
		code = emitted_read(&conversion->emitted, inputs[i], error);
	free(inputs);
	return spill_explain(code, error);
}

/* Streams that each worker may have open: a quarter of the limit. */
static uint32_t count_open(uint64_t memory_limit_bytes, uint32_t n_workers)
{
	uint64_t n = memory_limit_bytes / 4 / STREAM_BYTES / n_workers;

	if (!memory_limit_bytes || n > MAX_OPEN)
		return MAX_OPEN;
	return n ? (uint32_t)n : 1;
}

/* What a process of its own converts. */
struct job {
	const char *const *traces; /* weak, all */
	uint32_t n_traces, n_workers;
	const struct conversion_options *options;
	struct ctf_views *views; /* shared with the process */
	bool is_careful;         /* a reader died before */
};

/* Everything that was allocated is gone afterwards. */
static int convert(const struct job *job, struct pipeline_result *ret_result,
                   struct flextrace_error *error)
{
	struct conversion conversion = {.strings = string_pool_new()};
	struct conversion_options options = *job->options;
	struct reader_options reader = {
		.traces = job->traces,
		.n_traces = job->n_traces,
		.n_workers = job->n_workers,
		.n_open = count_open(options.memory_limit_bytes, job->n_workers),
		.views = job->views,
		.is_careful = job->is_careful,
		.progress = show_progress,
		.warn = cli_pass_warning};
	int code;

	if (!conversion.strings)
		return error_memory(error);
	ledger_init(&conversion.ledger);
	code = read_inputs(&conversion, &reader, &options, error);
	ctf_views_remove(job->views);
	if (code >= 0) {
		options.n_threads = job->n_workers < MAX_FORMAT_THREADS ? job->n_workers
		                                                        : MAX_FORMAT_THREADS;
		options.pairs = conversion.pairs;
		options.n_pairs = conversion.n_pairs;
		options.plain.emitted = &conversion.emitted;
		options.warn = cli_pass_warning;
		cli_progress("Converting: %u streams", conversion.set.n_streams);
		code = conversion_run(&options, &conversion.set, conversion.strings,
		                      &conversion.ledger, ret_result, error);
	}
	stream_set_release(&conversion.set);
	free(conversion.pairs);
	emitted_release(&conversion.emitted);
	ledger_release(&conversion.ledger);
	string_pool_free(conversion.strings);
	return code;
}

static int run_job(void *context)
{
	const struct job *job = context;
	struct flextrace_error error = {0};
	struct pipeline_result result = {0};
	int code = conversion_check(job->options, &error);

	rlimits_raise_files();    /* babeltrace2 2.0 keeps the metadata of each trace open */
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is told as one on a full disk */
	if (code == 0)
		code = convert(job, &result, &error);
	cli_progress_end();
	if (code < 0) {
		error.code = code;
		return cli_fail(&error);
	}
	if (!result.is_lossy)
		return CLI_OK;
	if (result.n_without_clock)
		return cli_refuse(CLI_LOSS,
		                  "All device work of a process found no clock: lost=%" PRIu64,
		                  result.n_without_clock);
	return cli_refuse(CLI_LOSS, "Records were lost: lost=%" PRIu64 ", fail-on-loss=%" PRIu64,
	                  result.lost, job->options->plain.fail_on_loss.value);
}

/* Says of what a conversion died that did so twice, or by order. */
static int give_up(const struct job *job, int number)
{
	if (isolate_is_crash(number))
		return cli_refuse(CLI_INPUT,
		                  "The conversion died, which is a defect of flextrace: please "
		                  "report it with the input; reason=%s",
		                  strsignal(number));
	if (number == SIGKILL)
		return cli_refuse(CLI_INPUT, "The conversion was killed; was there too little "
		                             "memory? --memory-limit keeps it small");
	if (job->n_traces == 1)
		cli_note("The conversion was ended by a signal (%s), `flextrace convert` reads the "
		         "trace again: %s",
		         strsignal(number), job->traces[0]);
	signal(number, SIG_DFL);
	raise(number);
	return CLI_INPUT;
}

/* As the writer makes them, for their owner alone; what others write there is theirs. */
static bool is_unfinished(int dir, const char *name, const struct timespec *since)
{
	size_t length = strlen(name);
	struct stat status;

	if (length < 4 || strcmp(name + length - 4, ".tmp") != 0 ||
	    fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode) ||
	    (status.st_mode & 077) || status.st_uid != geteuid())
		return false;
	return status.st_mtim.tv_sec >= since->tv_sec;
}

static void remove_unfinished(const char *path, const struct timespec *since)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_unfinished(dirfd(dir), entry->d_name, since))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/* Of a conversion that died: its line on the terminal, its private views, and its files that are
 * half-written. */
static void clean(const struct job *job, const struct timespec *since)
{
	const char *dir = job->options->output_dir;

	cli_progress("%s", "");
	cli_progress_end();
	ctf_views_remove(job->views);
	remove_unfinished(dir, since);
	remove_unfinished(path_of(dir, TABLES_DIR).text, since);
}

/* Runs a job in a process of its own; where its reader dies, once more with care. Nothing is left
 * of what one that died had begun. */
static int run_isolated(struct job *job)
{
	struct timespec since;
	int code;

	for (;;) {
		clock_gettime(CLOCK_REALTIME_COARSE, &since);
		code = isolate(run_job, job);
		if (code >= 0)
			return code;
		clean(job, &since);
		if (job->is_careful || !isolate_is_crash(-code))
			return give_up(job, -code);
		cli_warn("A reader died; looking at each stream in a process of its own: reason=%s",
		         strsignal(-code));
		job->is_careful = true;
	}
}

int convert_traces(const char *const *traces, uint32_t n_traces,
                   const struct conversion_options *options, uint32_t n_workers)
{
	struct job job = {.traces = traces,
	                  .n_traces = n_traces,
	                  .n_workers = n_workers ? n_workers : count_cores(),
	                  .options = options};
	int code;

	job.views = mmap(NULL, sizeof(*job.views), PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job.views == MAP_FAILED)
		return cli_refuse(CLI_INPUT, "Out of memory");
	code = run_isolated(&job);
	munmap(job.views, sizeof(*job.views));
	return code;
}

static int run(void *values, int n_operands, char **operands)
{
	const struct convert_options *options = values;
	const char *output_dir = options->conversion.output_dir;
	uint32_t n_traces = (uint32_t)n_operands;
	struct flextrace_error error = {0};
	char **inputs;
	int code;

	if (!n_traces)
		return cli_refuse(CLI_USAGE,
		                  "Trace is missing; `flextrace convert --help` shows the usage");
	if (!output_dir)
		return cli_refuse(CLI_USAGE, "Output directory is missing: name it with -o DIR");
	inputs = recovery_inputs((const char *const *)operands, n_traces, &error);
	if (!inputs)
		return cli_fail(&error);
	code = convert_traces((const char *const *)inputs, n_traces, &options->conversion,
	                      (uint32_t)options->n_workers);
	recovery_free_inputs(inputs, n_traces);
	if ((code != CLI_OK && code != CLI_LOSS) || cli_is_quiet())
		return code;
	if (summary_print(output_dir, stdout, &error) < 0)
		cli_warn("%s", error.message);
	return code;
}

#define CONVERSION offsetof(struct convert_options, conversion)

const struct command convert_command = {
	.name = "convert",
	.operands = "-o DIR TRACE...",
	.summary = "Convert recorded traces into one timeline",
	.text = "Reads the LTTng traces at or below each TRACE, as babeltrace2 finds them, and "
		"writes trace.json for Perfetto or Chrome, CSV tables and run.json into the output "
		"directory. A stream file that ends inside a packet is read up to its last whole "
		"packet. The directory of a recording with --crash-safe that broke off is "
		"recovered first. A TRACE that is a file, or a directory of *.json or *.json.gz, "
		"is events of Flex, of the torch profiler or of AMD's AI engines; a file may also "
		"be a device log of tt-metal, a report of Nsight Systems as SQLite, a profile of "
		"JAX, or a copy of device memory, see decode.",
	.tables = {{option_table, 0, NULL},
                   {conversion_option_table, CONVERSION, "conversion"},
                   {import_option_table, CONVERSION, "files"},
                   {aie_import_option_table, CONVERSION, "aie-files"},
                   {aie_option_table, CONVERSION, "aie"}},
	.options_bytes = sizeof(struct convert_options),
	.defaults = &(const struct convert_options){.conversion = CONVERSION_OPTIONS_INIT},
	.run = run,
};
