/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/sizes.h"

#define MEMBER(name) offsetof(struct conversion_options, name)

/* clang-format off */
const struct option_spec conversion_option_table[] = {
	OPTION("output-dir", 'o', TEXT, MEMBER(output_dir), "DIR",
	       "Write all files into DIR, which is created if missing", .is_untold = true),
	OPTION("formats", 'f', TEXT, MEMBER(formats), "LIST",
	       "Formats to write: chrome (trace.json), csv, json (tables), pftrace (trace.pftrace, "
	       "for Perfetto), report (report.html), text (timeline.txt), tt-log, tt-log-6",
	       .is_always_told = true),
	OPTION("gzip", 'z', FLAG, MEMBER(gzip), NULL,
	       "Compress traces: trace.json.gz instead of trace.json", .is_always_told = true),
	OPTION("rho-ppm", 0, REAL, MEMBER(clock.rho_ppm), "PPM",
	       "How far a device clock's rate goes off its mean at most, either way, in parts per "
	       "million", .min = 1e-6, .max = 1e5, .is_always_told = true),
	OPTION("nominal-mhz", 0, REAL, MEMBER(clock.nominal_mhz), "MHZ",
	       "Nominal frequency of the device counters, for those the trace does not tell",
	       .min = 1e-3, .max = 1e6),
	OPTION("nominal-ppm", 0, REAL, MEMBER(clock.nominal_ppm), "PPM",
	       "The mean rate is within so many parts per million of the nominal one",
	       .min = 1e-3, .max = 1e5),
	OPTION("latency-floor-ns", 0, TEXT, MEMBER(latency_floor_ns), "S,C|R",
	       "Least latencies of submit and completion, or of the round trip"),
	OPTION("max-dispatch-ns", 0, NUMBER, MEMBER(clock.max_dispatch_ns), "N",
	       "Work starts, and is seen complete, within N ns once it can", .min = 1, .max = 1e17),
	OPTION("clocks", 0, TEXT, MEMBER(clocks), "FILE",
	       "Take settings of the clocks of single devices from a JSON file"),
	OPTION("reference-rank", 0, NUMBER, MEMBER(align.reference_rank), "RANK",
	       "Put all hosts on the clock of this rank's host", .max = INT32_MAX,
	       .fallback = "the lowest rank"),
	OPTION("no-align", 0, FLAG, MEMBER(align.is_off), NULL,
	       "Do not align hosts by their collectives, only by their system clocks"),
	OPTION("session", 0, TEXT, MEMBER(plain.session), "ID",
	       "Keep only the processes of this recording"),
	OPTION("dialect", 0, TEXT, MEMBER(plain.dialect), "NAME",
	       "Whose names kinds of work have: neutral, aiu, cuda (or kineto), tt-metal",
	       .fallback = "as programs chose"),
	OPTION("names", 0, LIST, MEMBER(plain.names), "FILE",
	       "Take marker names from a firmware image (may be repeated)"),
	OPTION("compiler-info", 0, LIST, MEMBER(findings.compiler_info), "PATH,...",
	       "Take ideal cycles from compiler logs, one for all ranks or one for each"),
	OPTION("kernels-from", 0, TEXT, MEMBER(findings.kernels_from), "DIR",
	       "Kernel times of the autopilot from an earlier conversion without it"),
	OPTION("freq", 0, TEXT, MEMBER(freq), "SOC[:CORE]",
	       "Nominal MHz of the device counters, and MHz of the compute clock"),
	OPTION("ranks", 0, TEXT, MEMBER(select.ranks), "LIST",
	       "Keep rows of these ranks, as 0,2-5"),
	OPTION("jobs", 0, TEXT, MEMBER(select.jobs), "LIST",
	       "Keep device work of these jobs and what launched it, as 1,7-9"),
	OPTION("time-range", 0, TEXT, MEMBER(select.time_range), "FROM,TO",
	       "Keep rows in this range: ns, or +TIME since the start with a unit"),
	OPTION("keep", 0, LIST, MEMBER(select.keep), "ATTR:REGEX",
	       "Keep rows whose attribute matches (may be repeated: all must)"),
	OPTION("drop", 0, LIST, MEMBER(select.drop), "ATTR:REGEX",
	       "Leave out rows whose attribute matches (may be repeated)"),
	OPTION("drop-globals", 0, FLAG, MEMBER(select.drop_globals), NULL,
	       "Leave out host rows of whole runs, as AIU Roundtrip"),
	OPTION("skip", 0, NUMBER, MEMBER(select.skip), "N",
	       "Leave out the first N of the rows that are left", .max = 1e18),
	OPTION("count", 0, NUMBER, MEMBER(select.count), "N", "Keep N rows, in order of time",
	       .min = 1, .max = 1e18),
	OPTION("per-rank", 0, WORD, MEMBER(view.per_rank), "NAMES",
	       "Write a file for each rank, too: JSON as TensorBoard and HTA read it, or pftrace"),
	OPTION("compat", 0, TEXT, MEMBER(view.compat), "READER",
	       "Write the files of ranks with names that a reader needs: hta"),
	OPTION("archive", 0, WORD, MEMBER(archive), "all|ranks",
	       "Write all files into flextrace.zip, too, traces only there; or those of ranks into "
	       "ranks.zip, which Perfetto opens", .is_untold = true),
	OPTION("overlap", 0, TEXT, MEMBER(view.overlap), "MODE",
	       "Rows that cross in trace.json: lanes, async, drop or warn"),
	OPTION("types", 0, TEXT, MEMBER(view.types), "PHASES",
	       "Write only these kinds of events into trace.json, as XCisf", .fallback = "all"),
	OPTION("time-unit", 0, TEXT, MEMBER(view.time_unit), "UNIT",
	       "What viewers of trace.json show: ms or ns"),
	OPTION("error-bands", 0, FLAG, MEMBER(view.error_bands), NULL,
	       "Show in traces, below each device, how far its times may be off"),
	OPTION("compress-packets", 0, FLAG, MEMBER(view.packs_packets), NULL,
	       "Compress within trace.pftrace, which viewers open as it is (not with --gzip)"),
	OPTION("profile", 0, TEXT, MEMBER(profile), "FILE",
	       "Take options from a JSON file; those given here go before it", .is_untold = true),
	OPTION("without", 0, LIST, MEMBER(without), "NAME,...",
	       "Do not make these tables, counters, or flows", .is_untold = true),
	OPTION("with", 0, LIST, MEMBER(with), "NAME,...",
	       "Make them, whatever the profile says and the input is", .is_untold = true),
	OPTION("summarize-comm", 0, FLAG, MEMBER(summarize_comm), NULL,
	       "Write messages.txt: messages between devices, one a line"),
	OPTION("report-rows", 0, NUMBER, MEMBER(report_rows), "N",
	       "Show N rows of each table in report.html", .min = 1, .max = 1e6),
	OPTION("power-unit", 0, TEXT, MEMBER(findings.power_unit), "UNIT",
	       "What the power counters count by: us, cycle or uJ", .fallback = "as they tell"),
	OPTION("fail-on-loss", 0, LIMIT, MEMBER(plain.fail_on_loss), "N",
	       "Fail if over N records were lost", .fallback = "0", .is_untold = true),
	OPTION("memory-limit", 0, SIZE, MEMBER(memory_limit_bytes), "SIZE",
	       "Keep tables in a temporary file where they need more memory, as 512M",
	       .is_untold = true),
	{.name = NULL}};

const struct option_spec import_option_table[] = {
	OPTION("torch-ranks", 0, TEXT, MEMBER(torch_ranks), "N,...",
	       "Ranks of the files of torch or nsys that tell none, in their order"),
	OPTION("as", 0, TEXT, MEMBER(as), "TOOL",
	       "Read files as flex, torch, tt-csv, aie-json, nsys-sqlite, perfetto or marker-area",
	       .fallback = "by content"),
	{.name = NULL}};

#define AIE(name) MEMBER(findings.aie.name)

const struct option_spec aie_import_option_table[] = {
	OPTION("clock-ghz", 0, REAL, AIE(clock_ghz), "GHZ",
	       "Rate of the cycles of AIE traces", .min = 1e-3, .max = 1e3),
	OPTION("duplicate-gap", 0, REAL, AIE(duplicate_gap), "PART",
	       "AIE kernels that start nearer than PART of their median are one",
	       .min = 1e-6, .max = 1),
	{.name = NULL}};

#define AIE_SIZE(name, help) \
	OPTION(#name, 0, NUMBER, AIE(name), "N", help, .min = 1, .max = 1e9)

const struct option_spec aie_option_table[] = {
	OPTION("peak-macs", 0, REAL, AIE(peak_macs), "N",
	       "AIE: what a core multiplies and adds in a cycle at most", .min = 1e-3, .max = 1e9),
	OPTION("stall-factor", 0, REAL, AIE(stall_factor), "X",
	       "AIE: a LOCK_STALL of X median kernels ends an iteration", .min = 1e-3, .max = 1e9),
	OPTION("outlier-window", 0, REAL, AIE(outlier_window), "X",
	       "AIE: flag kernels X times longer or shorter than the median", .min = 1, .max = 1e9),
	AIE_SIZE(M, "AIE: rows of the product"),
	AIE_SIZE(K, "AIE: columns of its first factor"),
	AIE_SIZE(N, "AIE: columns of the product"),
	AIE_SIZE(m, "AIE: the part of M of one kernel"),
	AIE_SIZE(k, "AIE: the part of K of one kernel"),
	AIE_SIZE(n, "AIE: the part of N of one kernel"),
	OPTION("row", 0, NUMBER, AIE(row), "N", "AIE: rows of cores used", .min = 1, .max = 1e6,
	       .fallback = "those in the trace"),
	OPTION("col", 0, NUMBER, AIE(col), "N", "AIE: columns of cores used", .min = 1, .max = 1e6,
	       .fallback = "those in the trace"),
	OPTION("hwid", 0, TEXT, AIE(hwid), "TEXT", "AIE: what the hardware is called"),
	OPTION("warmup", 0, NUMBER, AIE(warmup), "N", "AIE: iterations before those that count",
	       .max = 1e9, .fallback = "0"),
	OPTION("iterations", 0, NUMBER, AIE(iterations), "N", "AIE: iterations that count",
	       .max = 1e9, .fallback = "all behind the warm-up"),
	{.name = NULL}};
/* clang-format on */

const char *option_type_phrase(enum option_type type)
{
	static const char *const phrases[] = {
		[OPTION_FLAG] = "a switch",
		[OPTION_TEXT] = "a text",
		[OPTION_WORD] = "a switch or a text",
		[OPTION_LIST] = "a text or a list of texts",
		[OPTION_NUMBER] = "a whole number",
		[OPTION_REAL] = "a number",
		[OPTION_LIMIT] = "a switch or a count",
		[OPTION_SIZE] = "a size as 1073741824, 512M or 2G",
		[OPTION_BUDGET] = "a switch or a size as 67108864, 64M or 1G",
	};

	return phrases[type];
}

/* Says what an option takes, and what was given instead (NULL: no text). */
static int refuse(const struct option_spec *spec, const char *value, struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_USAGE, "Option `%s` takes %s%s%s", spec->name,
	                 option_type_phrase(spec->type), value ? ": value=" : "",
	                 value ? value : "");
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

/* Makes what was given a value of the option's own type, where it can be one. */
static void adapt(const struct option_spec *spec, struct option_value *value)
{
	uint64_t bytes;

	if (value->kind == GIVEN_FLAG && spec->type == OPTION_WORD)
		*value = OPTION_TEXT_VALUE(value->flag ? "auto" : "no");
	else if (value->kind == GIVEN_NUMBER && spec->type == OPTION_REAL)
		*value = OPTION_REAL_VALUE((double)value->number);
	else if (value->kind == GIVEN_TEXT &&
	         (spec->type == OPTION_SIZE || spec->type == OPTION_BUDGET) &&
	         size_parse(value->text, &bytes))
		*value = OPTION_NUMBER_VALUE((int64_t)bytes);
}

static bool takes(enum option_type type, const struct option_value *value)
{
	static const unsigned char kinds[] = {
		[OPTION_FLAG] = 1 << GIVEN_FLAG,
		[OPTION_TEXT] = 1 << GIVEN_TEXT,
		[OPTION_WORD] = 1 << GIVEN_TEXT,
		[OPTION_LIST] = 1 << GIVEN_TEXT,
		[OPTION_NUMBER] = 1 << GIVEN_NUMBER,
		[OPTION_REAL] = 1 << GIVEN_REAL,
		[OPTION_LIMIT] = 1 << GIVEN_FLAG | 1 << GIVEN_NUMBER,
		[OPTION_SIZE] = 1 << GIVEN_NUMBER,
		[OPTION_BUDGET] = 1 << GIVEN_FLAG | 1 << GIVEN_NUMBER,
	};

	return kinds[type] >> value->kind & 1;
}

static int check_value(const struct option_spec *spec, const struct option_value *value,
                       struct flextrace_error *error)
{
	if (!takes(spec->type, value))
		return refuse(spec, value->kind == GIVEN_TEXT ? value->text : NULL, error);
	if (value->kind == GIVEN_NUMBER)
		return check_range(spec, (double)value->number, error);
	if (value->kind == GIVEN_REAL)
		return check_range(spec, value->real, error);
	if (value->kind == GIVEN_TEXT && !value->text[0])
		return error_set(error, FLEXTRACE_E_USAGE, "Option `%s` must not be empty",
		                 spec->name);
	return 0;
}

int option_set(const struct option_spec *spec, struct option_value value, void *values,
               struct flextrace_error *error)
{
	void *member = (char *)values + spec->offset;

	adapt(spec, &value);
	FLEXTRACE_TRY(check_value(spec, &value, error));
	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)member = value.flag;
		break;
	case OPTION_TEXT:
	case OPTION_WORD:
		*(const char **)member = value.text;
		break;
	case OPTION_LIST:
		if (text_list_add(member, "%s", value.text) < 0)
			return error_memory(error);
		break;
	case OPTION_NUMBER:
	case OPTION_SIZE: /* not negative: the same bytes */
		*(int64_t *)member = value.number;
		break;
	case OPTION_REAL:
		*(double *)member = value.real;
		break;
	case OPTION_LIMIT:
	case OPTION_BUDGET:
		*(struct option_limit *)member =
			value.kind == GIVEN_FLAG
				? (struct option_limit){value.flag, 0}
				: (struct option_limit){true, (uint64_t)value.number};
	}
	return 0;
}

/* False: the text is no value of that type. */
static bool read_text(enum option_type type, const char *text, struct option_value *ret_value)
{
	char *end = NULL;

	errno = 0;
	switch (type) {
	case OPTION_FLAG:
		*ret_value = OPTION_FLAG_VALUE(text[0] == 'y');
		return strcmp(text, "yes") == 0 || strcmp(text, "no") == 0;
	case OPTION_NUMBER:
	case OPTION_LIMIT:
		*ret_value = OPTION_NUMBER_VALUE(strtoll(text, &end, 10));
		return !errno && end != text && !*end;
	case OPTION_REAL:
		*ret_value = OPTION_REAL_VALUE(strtod(text, &end));
		return end != text && !*end;
	default:
		*ret_value = OPTION_TEXT_VALUE(text);
		return true;
	}
}

int option_parse(const struct option_spec *spec, const char *text, void *values,
                 struct flextrace_error *error)
{
	struct option_value value = OPTION_FLAG_VALUE(true);

	if (!text || read_text(spec->type, text, &value))
		return option_set(spec, value, values, error);
	if (spec->type != OPTION_FLAG)
		return refuse(spec, text, error);
	return error_set(error, FLEXTRACE_E_USAGE, "Option `%s` takes yes or no: value=%s",
	                 spec->name, text);
}

char *option_join(const struct text_list *list)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	for (uint32_t i = 0; to && i < list->n; i++)
		fprintf(to, "%s%s", i ? "," : "", list->texts[i]);
	if (to && fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

char *option_text(const struct option_spec *spec, const void *values)
{
	const void *value = (const char *)values + spec->offset;
	char *text = NULL;

	switch (spec->type) {
	case OPTION_FLAG:
		return strdup(*(const bool *)value ? "yes" : "no");
	case OPTION_TEXT:
	case OPTION_WORD:
		return strdup(*(const char *const *)value ? *(const char *const *)value : "");
	case OPTION_LIST:
		return option_join(value);
	case OPTION_REAL:
		return asprintf(&text, "%g", *(const double *)value) < 0 ? NULL : text;
	case OPTION_LIMIT:
	case OPTION_BUDGET:
		value = &((const struct option_limit *)value)->value;
		/* fall through */
	default:
		return asprintf(&text, "%" PRId64, *(const int64_t *)value) < 0 ? NULL : text;
	}
}

const struct option_spec *option_find(const struct option_spec *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

const struct option_spec *option_find_any(const struct option_spec *const *tables, const char *name)
{
	const struct option_spec *spec = NULL;

	while (*tables && !spec)
		spec = option_find(*tables++, name);
	return spec;
}

void options_release(const struct option_spec *table, void *values)
{
	for (; table->name; table++)
		if (table->type == OPTION_LIST)
			text_list_release((void *)((char *)values + table->offset));
}
