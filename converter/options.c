/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/sizes.h"

#define MEMBER(name) offsetof(struct conversion_options, name)

const struct option_spec conversion_option_table[] = {
	{"output-dir", 'o', OPTION_TEXT, MEMBER(output_dir), "DIR",
         "Write all files into DIR, which is created if missing", 0, 0},
	{"formats", 'f', OPTION_TEXT, MEMBER(formats), "LIST",
         "Comma separated formats to write (default: chrome,csv)", 0, 0},
	{"gzip", 'z', OPTION_FLAG, MEMBER(gzip), NULL, "Write trace.json.gz instead of trace.json",
         0, 0},
	{"rho-ppm", 0, OPTION_REAL, MEMBER(clock.rho_ppm), "PPM",
         "How far a device clock's rate goes off its mean at most, either way, in parts per "
         "million (default: 10)",
         1e-6, 1e5},
	{"nominal-mhz", 0, OPTION_REAL, MEMBER(clock.nominal_mhz), "MHZ",
         "Nominal frequency of the device counters, for those the trace does not tell", 1e-3, 1e6},
	{"nominal-ppm", 0, OPTION_REAL, MEMBER(clock.nominal_ppm), "PPM",
         "The mean rate is within so many parts per million of the nominal one", 1e-3, 1e5},
	{"latency-floor-ns", 0, OPTION_TEXT, MEMBER(latency_floor_ns), "S,C|R",
         "Least latencies of submit and completion, or of the round trip", 0, 0},
	{"max-dispatch-ns", 0, OPTION_NUMBER, MEMBER(clock.max_dispatch_ns), "N",
         "Work starts, and is seen complete, within N ns once it can", 1, 1e17},
	{"clocks", 0, OPTION_TEXT, MEMBER(clocks), "FILE",
         "Take settings of the clocks of single devices from a JSON file", 0, 0},
	{"reference-rank", 0, OPTION_NUMBER, MEMBER(reference_rank), "RANK",
         "Put all hosts on the clock of this rank's host (default: the lowest rank)", 0, INT32_MAX},
	{"no-align", 0, OPTION_FLAG, MEMBER(no_align), NULL,
         "Do not align hosts by their collectives, only by their system clocks", 0, 0},
	{"session", 0, OPTION_TEXT, MEMBER(plain.session), "ID",
         "Keep only the processes of this recording", 0, 0},
	{"names", 0, OPTION_LIST, MEMBER(plain.names), "FILE",
         "Take marker names from a firmware image (may be repeated)", 0, 0},
	{"compiler-info", 0, OPTION_LIST, MEMBER(plain.compiler_info), "PATH,...",
         "Take ideal cycles from compiler logs, one for all ranks or one for each", 0, 0},
	{"kernels-from", 0, OPTION_TEXT, MEMBER(plain.kernels_from), "DIR",
         "Kernel times of the autopilot from an earlier conversion without it", 0, 0},
	{"freq", 0, OPTION_TEXT, MEMBER(freq), "SOC[:CORE]",
         "Nominal MHz of the device counters, and MHz of the compute clock", 0, 0},
	{"ranks", 0, OPTION_TEXT, MEMBER(select.ranks), "LIST",
         "Keep rows of these ranks, as 0,2-5", 0, 0},
	{"jobs", 0, OPTION_TEXT, MEMBER(select.jobs), "LIST",
         "Keep device work of these jobs and what launched it, as 1,7-9", 0, 0},
	{"time-range", 0, OPTION_TEXT, MEMBER(select.time_range), "FROM,TO",
         "Keep rows in this range: ns, or +TIME since the start with a unit", 0, 0},
	{"keep", 0, OPTION_LIST, MEMBER(select.keep), "ATTR:REGEX",
         "Keep rows whose attribute matches (may be repeated: all must)", 0, 0},
	{"drop", 0, OPTION_LIST, MEMBER(select.drop), "ATTR:REGEX",
         "Leave out rows whose attribute matches (may be repeated)", 0, 0},
	{"drop-globals", 0, OPTION_FLAG, MEMBER(select.drop_globals), NULL,
         "Leave out host rows of whole runs, as AIU Roundtrip", 0, 0},
	{"skip", 0, OPTION_NUMBER, MEMBER(select.skip), "N",
         "Leave out the first N of the rows that are left", 0, 1e18},
	{"count", 0, OPTION_NUMBER, MEMBER(select.count), "N", "Keep N rows, in order of time", 1,
         1e18},
	{"per-rank", 0, OPTION_FLAG, MEMBER(plain.per_rank), NULL,
         "Write a file for each rank, too, as TensorBoard and HTA read them", 0, 0},
	{"overlap", 0, OPTION_TEXT, MEMBER(view.overlap), "MODE",
         "Rows that cross in trace.json: lanes (default), async, drop or warn", 0, 0},
	{"types", 0, OPTION_TEXT, MEMBER(view.types), "PHASES",
         "Write only these kinds of events into trace.json, as XCisf (default: all)", 0, 0},
	{"time-unit", 0, OPTION_TEXT, MEMBER(view.time_unit), "UNIT",
         "What viewers of trace.json show: ms (default) or ns", 0, 0},
	{"profile", 0, OPTION_TEXT, MEMBER(profile), "FILE",
         "Take options from a JSON file; those given here go before it", 0, 0},
	{"without", 0, OPTION_LIST, MEMBER(without), "NAME,...",
         "Do not make these tables, counters, or flows", 0, 0},
	{"with", 0, OPTION_LIST, MEMBER(with), "NAME,...", "Make them, whatever the profile says",
         0, 0},
	{"summarize-comm", 0, OPTION_FLAG, MEMBER(summarize_comm), NULL,
         "Write communication.txt: messages between devices, one a line", 0, 0},
	{"power-unit", 0, OPTION_TEXT, MEMBER(plain.power_unit), "UNIT",
         "What the power counters count by: us, cycle or uJ (default: as they tell)", 0, 0},
	{"fail-on-loss", 0, OPTION_LIMIT, MEMBER(plain.fail_on_loss), "N",
         "Fail if over N records were lost (default: 0)", 0, 0},
	{"memory-limit", 0, OPTION_SIZE, MEMBER(memory_limit_bytes), "SIZE",
         "Keep tables in a temporary file where they need more memory, as 512M", 0, 0},
	{NULL, 0, OPTION_FLAG, 0, NULL, NULL, 0, 0},
};

const struct option_spec import_option_table[] = {
	{"torch-ranks", 0, OPTION_TEXT, MEMBER(torch_ranks), "N,...",
         "Ranks of the files of torch that tell none, in their order", 0, 0},
	{"as", 0, OPTION_TEXT, MEMBER(as), "DIALECT",
         "Read files as flex, torch, tt-csv, aie-json or marker-area (default: by content)", 0, 0},
	{"clock-ghz", 0, OPTION_REAL, MEMBER(plain.aie.clock_ghz), "GHZ",
         "Rate of the cycles of AIE traces (default: 1.25)", 1e-3, 1e3},
	{"duplicate-gap", 0, OPTION_REAL, MEMBER(plain.aie.duplicate_gap), "PART",
         "AIE kernels that start nearer than PART of their median are one (default: 0.25)", 1e-6,
         1},
	{NULL, 0, OPTION_FLAG, 0, NULL, NULL, 0, 0},
};

#define AIE_MEMBER(name) offsetof(struct aie_options, name)

const struct option_spec aie_option_table[] = {
	{"peak-macs", 0, OPTION_REAL, AIE_MEMBER(peak_macs), "N",
         "AIE: what a core multiplies and adds in a cycle at most (default: 64)", 1e-3, 1e9},
	{"stall-factor", 0, OPTION_REAL, AIE_MEMBER(stall_factor), "X",
         "AIE: a LOCK_STALL of X median kernels ends an iteration (default: 20)", 1e-3, 1e9},
	{"outlier-window", 0, OPTION_REAL, AIE_MEMBER(outlier_window), "X",
         "AIE: flag kernels X times longer or shorter than the median (default: 3)", 1, 1e9},
	{"M", 0, OPTION_NUMBER, AIE_MEMBER(M), "N", "AIE: rows of the product", 1, 1e9},
	{"K", 0, OPTION_NUMBER, AIE_MEMBER(K), "N", "AIE: columns of its first factor", 1, 1e9},
	{"N", 0, OPTION_NUMBER, AIE_MEMBER(N), "N", "AIE: columns of the product", 1, 1e9},
	{"m", 0, OPTION_NUMBER, AIE_MEMBER(m), "N", "AIE: the part of M of one kernel", 1, 1e9},
	{"k", 0, OPTION_NUMBER, AIE_MEMBER(k), "N", "AIE: the part of K of one kernel", 1, 1e9},
	{"n", 0, OPTION_NUMBER, AIE_MEMBER(n), "N", "AIE: the part of N of one kernel", 1, 1e9},
	{"row", 0, OPTION_NUMBER, AIE_MEMBER(row), "N",
         "AIE: rows of cores used (default: those in the trace)", 1, 1e6},
	{"col", 0, OPTION_NUMBER, AIE_MEMBER(col), "N", "AIE: columns of cores used", 1, 1e6},
	{"hwid", 0, OPTION_TEXT, AIE_MEMBER(hwid), "TEXT", "AIE: what the hardware is called", 0,
         0},
	{"warmup", 0, OPTION_NUMBER, AIE_MEMBER(warmup), "N",
         "AIE: iterations before those that count (default: 0)", 0, 1e9},
	{"iterations", 0, OPTION_NUMBER, AIE_MEMBER(iterations), "N",
         "AIE: iterations that count (default: all behind the warm-up)", 0, 1e9},
	{NULL, 0, OPTION_FLAG, 0, NULL, NULL, 0, 0},
};

static void *member_of(const struct option_spec *spec, void *values)
{
	return (char *)values + spec->offset;
}

int option_refuse(const struct option_spec *spec, const char *value, struct flextrace_error *error)
{
	static const char *const phrases[] = {
		[OPTION_FLAG] = "a switch",
		[OPTION_TEXT] = "a text",
		[OPTION_LIST] = "a text or a list of texts",
		[OPTION_NUMBER] = "a whole number",
		[OPTION_REAL] = "a number",
		[OPTION_LIMIT] = "a switch or a count",
		[OPTION_SIZE] = "a size as 1073741824, 512M or 2G",
		[OPTION_BUDGET] = "a switch or a size as 67108864, 64M or 1G",
	};

	return error_set(error, FLEXTRACE_E_USAGE, "Option `%s` takes %s%s%s", spec->name,
	                 phrases[spec->type], value ? ": value=" : "", value ? value : "");
}

static int check_range(const struct option_spec *spec, double value, struct flextrace_error *error)
{
	bool is_open = spec->min == 0 && spec->max == 0;
	double max = is_open ? INFINITY : spec->max;

	if (isfinite(value) && value >= spec->min && value <= max)
		return 0;
	if (is_open)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `%s` must not be negative: value=%g", spec->name, value);
	return error_set(error, FLEXTRACE_E_USAGE,
	                 "Option `%s` is out of range: value=%g, min=%g, max=%g", spec->name, value,
	                 spec->min, spec->max);
}

int option_set_flag(const struct option_spec *spec, bool flag, void *values,
                    struct flextrace_error *error)
{
	if (spec->type == OPTION_FLAG) {
		*(bool *)member_of(spec, values) = flag;
		return 0;
	}
	if (spec->type == OPTION_LIMIT || spec->type == OPTION_BUDGET) {
		*(struct option_limit *)member_of(spec, values) = (struct option_limit){flag, 0};
		return 0;
	}
	return option_refuse(spec, NULL, error);
}

int option_set_number(const struct option_spec *spec, int64_t number, void *values,
                      struct flextrace_error *error)
{
	switch (spec->type) {
	case OPTION_NUMBER:
		FLEXTRACE_TRY(check_range(spec, (double)number, error));
		*(int64_t *)member_of(spec, values) = number;
		return 0;
	case OPTION_REAL:
		return option_set_real(spec, (double)number, values, error);
	case OPTION_LIMIT:
	case OPTION_BUDGET:
		FLEXTRACE_TRY(check_range(spec, (double)number, error));
		*(struct option_limit *)member_of(spec, values) =
			(struct option_limit){true, (uint64_t)number};
		return 0;
	case OPTION_SIZE:
		FLEXTRACE_TRY(check_range(spec, (double)number, error));
		*(uint64_t *)member_of(spec, values) = (uint64_t)number;
		return 0;
	default:
		return option_refuse(spec, NULL, error);
	}
}

int option_set_real(const struct option_spec *spec, double real, void *values,
                    struct flextrace_error *error)
{
	if (spec->type != OPTION_REAL)
		return option_refuse(spec, NULL, error);
	FLEXTRACE_TRY(check_range(spec, real, error));
	*(double *)member_of(spec, values) = real;
	return 0;
}

static int list_append(struct option_list *list, const char *text)
{
	const char **texts = realloc(list->texts, (list->n + 1) * sizeof(*texts));

	if (!texts)
		return FLEXTRACE_E_MEMORY;
	list->texts = texts;
	list->texts[list->n++] = text;
	return 0;
}

static int parse_size(const struct option_spec *spec, const char *text, void *values,
                      struct flextrace_error *error)
{
	uint64_t bytes;

	if (!size_parse(text, &bytes))
		return option_refuse(spec, text, error);
	return option_set_number(spec, (int64_t)bytes, values, error);
}

int option_set_text(const struct option_spec *spec, const char *text, void *values,
                    struct flextrace_error *error)
{
	if (spec->type == OPTION_SIZE || spec->type == OPTION_BUDGET)
		return parse_size(spec, text, values, error);
	if (spec->type != OPTION_TEXT && spec->type != OPTION_LIST)
		return option_refuse(spec, NULL, error);
	if (!text[0])
		return error_set(error, FLEXTRACE_E_USAGE, "Option `%s` must not be empty",
		                 spec->name);
	if (spec->type == OPTION_TEXT) {
		*(const char **)member_of(spec, values) = text;
		return 0;
	}
	if (list_append(member_of(spec, values), text) < 0)
		return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	return 0;
}

static int parse_number(const struct option_spec *spec, const char *text, void *values,
                        struct flextrace_error *error)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || end == text || *end)
		return option_refuse(spec, text, error);
	return option_set_number(spec, number, values, error);
}

static int parse_real(const struct option_spec *spec, const char *text, void *values,
                      struct flextrace_error *error)
{
	char *end;
	double real = strtod(text, &end);

	if (end == text || *end)
		return option_refuse(spec, text, error);
	return option_set_real(spec, real, values, error);
}

int option_parse(const struct option_spec *spec, const char *text, void *values,
                 struct flextrace_error *error)
{
	if (!text) {
		if (spec->type == OPTION_FLAG || spec->type == OPTION_LIMIT ||
		    spec->type == OPTION_BUDGET)
			return option_set_flag(spec, true, values, error);
		return option_refuse(spec, NULL, error);
	}
	if (spec->type == OPTION_NUMBER || spec->type == OPTION_LIMIT)
		return parse_number(spec, text, values, error);
	if (spec->type == OPTION_REAL)
		return parse_real(spec, text, values, error);
	if (spec->type != OPTION_FLAG)
		return option_set_text(spec, text, values, error);
	if (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)
		return option_set_flag(spec, text[0] == 'y', values, error);
	return error_set(error, FLEXTRACE_E_USAGE, "Option `%s` takes yes or no: value=%s",
	                 spec->name, text);
}

const struct option_spec *option_find(const struct option_spec *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

void options_release(const struct option_spec *table, void *values)
{
	for (; table->name; table++) {
		struct option_list *list;

		if (table->type != OPTION_LIST)
			continue;
		list = member_of(table, values);
		free(list->texts);
		*list = (struct option_list){NULL, 0};
	}
}
