/* SPDX-License-Identifier: Apache-2.0 */
#include "conversion_texts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "derivations.h"
#include "model/ledger/inputs.h"

void text_list_release(struct text_list *out)
{
	for (uint32_t i = 0; i < out->n; i++)
		free(out->texts[i]);
	free(out->texts);
}

static int text_list_add(struct text_list *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int text_list_add(struct text_list *out, const char *format, ...)
{
	va_list arguments;
	int length;

	FLEXTRACE_TRY(ARRAY_RESERVE(out->texts, out->n_allocated, out->n + 1));
	va_start(arguments, format);
	length = vasprintf(&out->texts[out->n], format, arguments);
	va_end(arguments);
	if (length < 0)
		return FLEXTRACE_E_MEMORY;
	out->n++;
	return 0;
}

/* One text for all texts of a list, because run.json has one value per option. */
static int describe_list(const char *option, const struct option_list *list, struct text_list *out)
{
	char *text = NULL;
	size_t size;
	FILE *stream;
	int code;

	if (!list->n)
		return 0;
	stream = open_memstream(&text, &size);
	if (!stream)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < list->n; i++)
		fprintf(stream, "%s%s", i ? "," : "", list->texts[i]);
	code = fclose(stream) == 0 ? text_list_add(out, "%s=%s", option, text) : FLEXTRACE_E_MEMORY;
	free(text);
	return code;
}

static int describe_selection(const struct conversion_options *options, struct text_list *out)
{
	if (options->ranks)
		FLEXTRACE_TRY(text_list_add(out, "ranks=%s", options->ranks));
	if (options->jobs)
		FLEXTRACE_TRY(text_list_add(out, "jobs=%s", options->jobs));
	if (options->time_range)
		FLEXTRACE_TRY(text_list_add(out, "time-range=%s", options->time_range));
	FLEXTRACE_TRY(describe_list("keep", &options->keep, out));
	FLEXTRACE_TRY(describe_list("drop", &options->drop, out));
	if (options->drop_globals)
		FLEXTRACE_TRY(text_list_add(out, "drop-globals=yes"));
	if (options->power_unit)
		FLEXTRACE_TRY(text_list_add(out, "power-unit=%s", options->power_unit));
	if (options->summarize_comm)
		FLEXTRACE_TRY(text_list_add(out, "summarize-comm=yes"));
	if (options->skip)
		FLEXTRACE_TRY(text_list_add(out, "skip=%" PRId64, options->skip));
	if (options->count)
		FLEXTRACE_TRY(text_list_add(out, "count=%" PRId64, options->count));
	return FLEXTRACE_OK;
}

/* What was said of a run on AI engines. */
static int describe_aie(const struct aie_options *aie, struct text_list *out)
{
	const struct {
		const char *name;
		int64_t value, unsaid;
	} counts[] = {
		{"M", aie->M, 0},           {"K", aie->K, 0},
		{"N", aie->N, 0},           {"m", aie->m, 0},
		{"k", aie->k, 0},           {"n", aie->n, 0},
		{"row", aie->row, 0},       {"col", aie->col, 0},
		{"warmup", aie->warmup, 0}, {"iterations", aie->iterations, -1},
	};
	const struct aie_options none = AIE_OPTIONS_INIT;
	const struct {
		const char *name;
		double value, unsaid;
	} reals[] = {
		{"clock-ghz", aie->clock_ghz, none.clock_ghz},
		{"duplicate-gap", aie->duplicate_gap, none.duplicate_gap},
		{"peak-macs", aie->peak_macs, none.peak_macs},
		{"stall-factor", aie->stall_factor, none.stall_factor},
		{"outlier-window", aie->outlier_window, none.outlier_window},
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (counts[i].value != counts[i].unsaid)
			FLEXTRACE_TRY(
				text_list_add(out, "%s=%" PRId64, counts[i].name, counts[i].value));
	}
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		if (reals[i].value != reals[i].unsaid)
			FLEXTRACE_TRY(text_list_add(out, "%s=%g", reals[i].name, reals[i].value));
	}
	return aie->hwid ? text_list_add(out, "hwid=%s", aie->hwid) : FLEXTRACE_OK;
}

/* What is off in the end, whoever said so. */
static int describe_derivations(const struct conversion_options *options, struct text_list *out)
{
	struct derivations derivations;
	const char *off[MAX_DERIVATIONS];
	struct option_list list = {off, 0};
	const char *name;

	if (derivations_read(&derivations, options, NULL) < 0)
		return FLEXTRACE_OK;
	for (uint32_t i = 0; (name = derivation_name(i)); i++) {
		if (derivations.is_off[i] && !derivation_is_on_demand(i))
			off[list.n++] = name;
	}
	return describe_list("without", &list, out);
}

static int describe_views(const struct conversion_options *options, struct text_list *out)
{
	if (options->per_rank)
		FLEXTRACE_TRY(text_list_add(out, "per-rank=yes"));
	if (options->overlap)
		FLEXTRACE_TRY(text_list_add(out, "overlap=%s", options->overlap));
	if (options->types)
		FLEXTRACE_TRY(text_list_add(out, "types=%s", options->types));
	if (options->time_unit)
		FLEXTRACE_TRY(text_list_add(out, "time-unit=%s", options->time_unit));
	return describe_derivations(options, out);
}

int describe_options(const struct conversion_options *options, struct text_list *out)
{
	FLEXTRACE_TRY(text_list_add(out, "formats=%s", options->formats));
	FLEXTRACE_TRY(text_list_add(out, "gzip=%s", options->gzip ? "yes" : "no"));
	FLEXTRACE_TRY(text_list_add(out, "rho-ppm=%g", options->rho_ppm));
	if (options->nominal_mhz > 0)
		FLEXTRACE_TRY(text_list_add(out, "nominal-mhz=%g", options->nominal_mhz));
	if (options->nominal_ppm > 0)
		FLEXTRACE_TRY(text_list_add(out, "nominal-ppm=%g", options->nominal_ppm));
	if (options->latency_floor_ns)
		FLEXTRACE_TRY(text_list_add(out, "latency-floor-ns=%s", options->latency_floor_ns));
	if (options->max_dispatch_ns > 0)
		FLEXTRACE_TRY(text_list_add(out, "max-dispatch-ns=%lld",
		                            (long long)options->max_dispatch_ns));
	if (options->clocks)
		FLEXTRACE_TRY(text_list_add(out, "clocks=%s", options->clocks));
	if (options->reference_rank >= 0)
		FLEXTRACE_TRY(
			text_list_add(out, "reference-rank=%" PRId64, options->reference_rank));
	if (options->no_align)
		FLEXTRACE_TRY(text_list_add(out, "no-align=yes"));
	if (options->session)
		FLEXTRACE_TRY(text_list_add(out, "session=%s", options->session));
	if (options->kernels_from)
		FLEXTRACE_TRY(text_list_add(out, "kernels-from=%s", options->kernels_from));
	if (options->freq)
		FLEXTRACE_TRY(text_list_add(out, "freq=%s", options->freq));
	FLEXTRACE_TRY(describe_selection(options, out));
	if (options->as)
		FLEXTRACE_TRY(text_list_add(out, "as=%s", options->as));
	if (options->torch_ranks)
		FLEXTRACE_TRY(text_list_add(out, "torch-ranks=%s", options->torch_ranks));
	FLEXTRACE_TRY(describe_aie(&options->aie, out));
	FLEXTRACE_TRY(describe_views(options, out));
	FLEXTRACE_TRY(describe_list("names", &options->names, out));
	return describe_list("compiler-info", &options->compiler_info, out);
}

int describe_inputs(const struct stream_set *set, const struct string_pool *strings,
                    struct text_list *out)
{
	struct inputs inputs;
	int code = inputs_init(&inputs, set, strings);

	for (uint32_t i = 0; i < inputs.n && code == 0; i++)
		code = text_list_add(out, "%s", inputs.texts[i]);
	inputs_release(&inputs);
	return code;
}
