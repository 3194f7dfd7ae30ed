/* SPDX-License-Identifier: Apache-2.0 */
#include "conversion.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "findings/compiler_info.h"
#include "findings/kernel_times.h"
#include "findings/power.h"
#include "conversion_texts.h"
#include "derivations.h"
#include "model/words/kinds.h"
#include "formats/kit/dialect.h"
#include "pipeline.h"
#include "base/spill.h"

#define MIN_MHZ 1e-3
#define MAX_MHZ 1e6

/* -- before reading ---------------------------------------------------------------------------- */

/* The directory, or the closest of its parents that exists, must be a directory that we may write
 * to. */
static int check_output_dir(const char *output_dir, struct flextrace_error *error)
{
	char *path = malloc(strlen(output_dir) + 2);
	struct stat status;
	int code = 0;

	if (!path)
		return error_memory(error);
	strcpy(path, output_dir);
	while (stat(path, &status) < 0 && errno == ENOENT) {
		const char *above = dirname(path); /* within `path`, or a static text */

		memmove(path, above, strlen(above) + 1);
	}
	if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
		code = error_set(error, FLEXTRACE_E_OUTPUT,
		                 "Output directory is no directory: path=%s", path);
	else if (access(path, W_OK | X_OK) < 0)
		code = error_set(error, FLEXTRACE_E_OUTPUT,
		                 "Cannot write into output directory: path=%s, reason=%s",
		                 output_dir, strerror(errno));
	free(path);
	return code;
}

/* "SOC[:CORE]"; what is not given is 0. */
static int parse_freq(const char *text, double *ret_soc_mhz, double *ret_core_mhz,
                      struct flextrace_error *error)
{
	char *end = NULL;

	*ret_soc_mhz = *ret_core_mhz = 0;
	if (!text)
		return FLEXTRACE_OK;
	*ret_soc_mhz = strtod(text, &end);
	if (*end == ':')
		*ret_core_mhz = strtod(end + 1, &end);
	else
		*ret_core_mhz = MIN_MHZ; /* in range */
	if (*end || !(*ret_soc_mhz >= MIN_MHZ && *ret_soc_mhz <= MAX_MHZ) ||
	    !(*ret_core_mhz >= MIN_MHZ && *ret_core_mhz <= MAX_MHZ))
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `freq` takes SOC[:CORE] in MHz: value=%s", text);
	if (!strchr(text, ':'))
		*ret_core_mhz = 0;
	return FLEXTRACE_OK;
}

/* What is said of clocks, those of the compute units (0: nothing), too; clock_options_release() it
 * in any case. */
static int read_clocks(const struct conversion_options *options,
                       struct calibrate_options *ret_clocks, double *ret_core_hz,
                       struct flextrace_error *error)
{
	double soc_mhz, core_mhz;

	*ret_clocks = (struct calibrate_options){.all = options->clock};
	FLEXTRACE_TRY(parse_freq(options->freq, &soc_mhz, &core_mhz, error));
	*ret_core_hz = core_mhz * 1e6;
	if (!(options->clock.nominal_mhz > 0))
		ret_clocks->all.nominal_mhz = soc_mhz;
	if (options->latency_floor_ns)
		FLEXTRACE_TRY(
			clock_options_floors(options->latency_floor_ns, &ret_clocks->all, error));
	return options->clocks ? clock_options_read(ret_clocks, options->clocks, error)
	                       : FLEXTRACE_OK;
}

static struct pipeline_options pipeline_options_of(const struct conversion_options *options)
{
	return (struct pipeline_options){
		.emit = {.output_dir = options->output_dir,
	                 .formats = options->formats,
	                 .report_rows = (uint32_t)options->report_rows,
	                 .gzip = options->gzip,
	                 .n_threads = options->n_threads},
		.align = options->align,
		.findings = options->findings,
		.select = options->select,
		.plain = options->plain,
		.warn = options->warn,
	};
}

/* What the texts of some options stand for. */
static int read_texts(const struct conversion_options *options, struct pipeline_options *pipeline,
                      struct derivations *derivations, struct flextrace_error *error)
{
	FLEXTRACE_TRY(read_clocks(options, &pipeline->calibrate, &pipeline->core_hz, error));
	FLEXTRACE_TRY(derivations_read(derivations, options, error));
	FLEXTRACE_TRY(emit_read_views(&pipeline->emit.views, &options->view, error));
	pipeline->findings.per_rank |= pipeline->emit.views.has_ranks;
	FLEXTRACE_TRY(emit_read_archive(&pipeline->emit.archive, options->archive, error));
	if (pipeline->emit.archive == ARCHIVE_RANKS && !pipeline->findings.per_rank)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `archive=ranks` needs `per-rank`, which writes what is "
		                 "in the archive");
	return FLEXTRACE_OK;
}

/* Whether these texts stand for anything. */
static int check_texts(const struct conversion_options *options, struct flextrace_error *error)
{
	struct pipeline_options pipeline = pipeline_options_of(options);
	struct derivations derivations;
	int code = read_texts(options, &pipeline, &derivations, error);

	clock_options_release(&pipeline.calibrate);
	return code < 0 ? code : select_check(&pipeline.select, error);
}

static int check_power_unit(const struct conversion_options *options, struct flextrace_error *error)
{
	enum power_unit unit;

	if (!options->findings.power_unit || power_unit_read(options->findings.power_unit, &unit))
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_USAGE,
	                 "Option `power-unit` takes us, cycle or uJ: value=%s",
	                 options->findings.power_unit);
}

static int check_kernels_from(const struct conversion_options *options,
                              struct flextrace_error *error)
{
	if (!options->findings.kernels_from)
		return FLEXTRACE_OK;
	if (!options->findings.compiler_info.n)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `kernels-from` needs `compiler-info`, which tells what "
		                 "the autopilot ran");
	return kernel_times_check(options->findings.kernels_from, error);
}

int conversion_check(const struct conversion_options *options, struct flextrace_error *error)
{
	enum import_dialect dialect;

	if (!options->output_dir)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Output directory is missing: give `output-dir`");
	FLEXTRACE_TRY(emit_check_formats(options->formats, error));
	FLEXTRACE_TRY(check_texts(options, error));
	FLEXTRACE_TRY(check_power_unit(options, error));
	if (options->plain.dialect && dialect_find(options->plain.dialect) == DIALECT_COUNT)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `dialect` takes neutral, aiu, cuda, kineto or tt-metal: "
		                 "value=%s",
		                 options->plain.dialect);
	FLEXTRACE_TRY(dialect_of_name(options->as, &dialect, error));
	FLEXTRACE_TRY(dialect_check_ranks(options->torch_ranks, error));
	for (uint32_t i = 0; i < options->plain.names.n; i++)
		if (access(options->plain.names.texts[i], R_OK) < 0)
			return error_set(error, FLEXTRACE_E_INPUT,
			                 "Cannot read firmware image: path=%s, reason=%s",
			                 options->plain.names.texts[i], strerror(errno));
	for (uint32_t i = 0; i < options->findings.compiler_info.n; i++)
		FLEXTRACE_TRY(compiler_info_check(options->findings.compiler_info.texts[i], error));
	FLEXTRACE_TRY(check_kernels_from(options, error));
	FLEXTRACE_TRY(check_output_dir(options->output_dir, error));
	return options->memory_limit_bytes ? spill_begin(options->memory_limit_bytes, error)
	                                   : FLEXTRACE_OK;
}

/* -- after reading ----------------------------------------------------------------------------- */

static int describe(const struct conversion_options *options, const struct stream_set *set,
                    const struct string_pool *strings, struct text_list *inputs,
                    struct text_list *set_options)
{
	FLEXTRACE_TRY(describe_inputs(set, strings, inputs));
	return describe_options(options, set_options);
}

int conversion_run(const struct conversion_options *options, struct stream_set *set,
                   struct string_pool *strings, struct ledger *ledger,
                   struct pipeline_result *ret_result, struct flextrace_error *error)
{
	struct pipeline_options pipeline = pipeline_options_of(options);
	struct text_list inputs = {0}, set_options = {0};
	struct derivations derivations;
	struct emit_run run = {.pairs = options->pairs, .n_pairs = options->n_pairs};
	int code = describe(options, set, strings, &inputs, &set_options);

	if (code < 0)
		error_set(error, code, "Out of memory");
	else
		code = read_texts(options, &pipeline, &derivations, error);
	run.inputs = (const char *const *)inputs.texts;
	run.n_inputs = inputs.n;
	run.options = (const char *const *)set_options.texts;
	run.n_options = set_options.n;
	pipeline.emit.run = &run;
	pipeline.derivations = &derivations;
	if (code == 0)
		code = pipeline_run(set, strings, ledger, &pipeline, ret_result, error);
	clock_options_release(&pipeline.calibrate);
	text_list_release(&inputs);
	text_list_release(&set_options);
	return spill_explain(code, error);
}
