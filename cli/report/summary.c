/* SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/calls.h"
#include "base/array.h"
#include "base/order.h"
#include "terminal/cli.h"
#include "terminal/human.h"
#include "model/ledger/ledger.h"
#include "model/timeline/clock_columns.h"
#include "output/emit.h"
#include "base/text/printable.h"
#include "base/text/text_file.h"
#include "base/paths.h"
#include "model/timeline/rows.h"
#include "summary_impl.h"
#include "summary_ops.h"
#include "model/words/kinds.h"

#define N_TOP              5  /* lines of each table of times */
#define MAX_PROCESSES      8  /* named one by one */
#define MAX_CLOCKS         16 /* likewise, of devices and of hosts */
#define NAME_COLUMNS       36
#define CLOCK_NAME_COLUMNS 28         /* of a clock's name */
#define MAX_FILE_BYTES     (64 << 20) /* run.json is a few KiB */

/* -- files ------------------------------------------------------------------------------------- */

cJSON *summary_json(const char *dir, const char *name)
{
	size_t n_bytes;
	char *text = text_file_read_bytes(path_of(dir, name).text, MAX_FILE_BYTES, &n_bytes);
	cJSON *json = text ? cJSON_Parse(text) : NULL;

	free(text);
	return json;
}

/* -- texts ------------------------------------------------------------------------------------- */

void summary_cell(FILE *to, const char *before, const char *name, int n_columns)
{
	bool is_cut = isatty(fileno(to));
	int n = 0;

	fputs(before, to);
	for (size_t n_control; *name && (!is_cut || n < n_columns);
	     name += n_control ? n_control : 1) {
		n_control = printable_control_bytes(name);
		fputc(n_control ? '?' : *name, to);
		/* Bytes behind the first of a character take no column. */
		n += (*name & 0xc0) != 0x80;
	}
	while (n++ < n_columns)
		fputc(' ', to);
}

static void print_time(FILE *to, double ns)
{
	char text[HUMAN_BYTES];

	fprintf(to, " %9s", human_time(ns, text));
}

double summary_number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	/* beyond 2^53 it is a string of digits */
	return cJSON_IsString(item)   ? strtod(item->valuestring, NULL)
	       : cJSON_IsNumber(item) ? item->valuedouble
	                              : 0;
}

const char *summary_text(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

	return text ? text : "";
}

const char *summary_process(const struct owner_cells *owner, char text[64])
{
	bool has_rank = owner->rank != COLUMN_NONE_I64;
	int64_t number = has_rank ? owner->rank : owner->pid;

	if (number == COLUMN_NONE_I64)
		return "pid ";
	snprintf(text, 64, "%s %" PRId64, has_rank ? "rank" : "pid", number);
	return text;
}

/* -- what ran ---------------------------------------------------------------------------------- */

static void print_process(FILE *to, const cJSON *process)
{
	double rank = summary_number(process, "rank");
	char text[512];

	if (rank >= 0)
		snprintf(text, sizeof(text), "rank %.0f: %s", rank,
		         summary_text(process, "program"));
	else
		snprintf(text, sizeof(text), "no rank: %s", summary_text(process, "program"));
	summary_cell(to, "  ", text, NAME_COLUMNS);
	cli_print(to, " pid %.0f on %s", summary_number(process, "pid"),
	          summary_text(process, "host"));
	fputc('\n', to);
}

/* Whether a process comes behind another: by rank, those without one last, then by pid. */
static bool is_behind(const cJSON *process, const cJSON *other)
{
	double rank = summary_number(process, "rank"), other_rank = summary_number(other, "rank");

	if (rank != other_rank)
		return rank < 0 || (other_rank >= 0 && rank > other_rank);
	return summary_number(process, "pid") > summary_number(other, "pid");
}

/* The first processes in their order; returns how many. */
static int first_processes(const cJSON *processes, const cJSON *first[MAX_PROCESSES + 1])
{
	const cJSON *process;
	int n = 0;

	cJSON_ArrayForEach(process, processes)
	{
		int i = n;

		for (; i > 0 && is_behind(first[i - 1], process); i--)
			first[i] = first[i - 1];
		first[i] = process;
		n += n < MAX_PROCESSES;
	}
	return n;
}

static void print_overlaps(FILE *to, const cJSON *totals)
{
	double n = summary_number(totals, "overlapping_kernels");

	if (!(n > 0))
		return;
	fprintf(to, "  %.0f kernels began before the one before them had ended: in all", n);
	print_time(to, summary_number(totals, "overlap_ns"));
	fprintf(to, ", at most");
	print_time(to, summary_number(totals, "largest_overlap_ns"));
	fputc('\n', to);
}

static void print_what_ran(FILE *to, const cJSON *run)
{
	const cJSON *processes = cJSON_GetObjectItemCaseSensitive(run, "processes");
	const cJSON *totals = cJSON_GetObjectItemCaseSensitive(run, "totals");
	const cJSON *first[MAX_PROCESSES + 1];
	int n = first_processes(processes, first), n_all = cJSON_GetArraySize(processes);

	cli_heading(to, "What ran");
	for (int i = 0; i < n; i++)
		print_process(to, first[i]);
	if (n_all > n)
		fprintf(to, "  and %d more, see run.json\n", n_all - n);
	fprintf(to, "  %.0f host and %.0f device intervals in", summary_number(totals, "host_rows"),
	        summary_number(totals, "device_rows"));
	print_time(to, summary_number(totals, "length_ns"));
	fputc('\n', to);
	print_overlaps(to, totals);
}

/* -- where the time went ----------------------------------------------------------------------- */

/* Kinds of work whose times add up. Kernels and zones of the firmware are within its runs, and
 * these are the control blocks' work seen from the inside: shares are those of the outermost. */
enum layer { LAYER_WORK, LAYER_STATES, LAYER_FIRMWARE, LAYER_KERNELS, LAYER_ZONES, N_LAYERS };

struct top {
	char *name; /* owned */
	double calls, time_ns;
	enum layer layer;
};

struct times {
	struct top *names; /* owned */
	uint32_t n, n_allocated;
	double total_ns[N_LAYERS];
};

static enum layer layer_of(const char *kind)
{
	static const uint8_t layers[DEVICE_ROW_KIND_COUNT + 1] = {
		[ROW_STATE] = LAYER_STATES,
		[ROW_FIRMWARE] = LAYER_FIRMWARE,
		[ROW_KERNEL] = LAYER_KERNELS,
		[ROW_ZONE] = LAYER_ZONES,
	};

	return (enum layer)layers[kind_read_device(kind)];
}

/* What the work of a layer is a share of. */
static double whole_of(const struct times *times, enum layer layer)
{
	enum layer outer = layer > LAYER_FIRMWARE ? LAYER_FIRMWARE : layer;

	while (outer < layer && !(times->total_ns[outer] > 0))
		outer++;
	return times->total_ns[outer];
}

/* "kind: name", as the same name may stand under several kinds. Owned; NULL: no memory. */
static char *name_of_row(const struct calls_row *row)
{
	const char *kind = row->of.kind, *name = row->of.name;
	char *text = NULL;

	if (strcmp(kind, name) == 0 || !kind[0] || !name[0])
		return strdup(kind[0] ? kind : name);
	return asprintf(&text, "%s: %s", kind, name) < 0 ? NULL : text;
}

static int compare_names(const void *left, const void *right)
{
	const struct top *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int compare_times(const void *left, const void *right)
{
	const struct top *a = left, *b = right;

	return ORDER(b->time_ns, a->time_ns) ?: strcmp(a->name, b->name);
}

/* Reads the rows of all ranks; those for which there is no memory are left out. */
static void read_times(struct times *times, struct rows *rows, bool are_own)
{
	struct calls_row row = {.self_ns = 0};

	while (rows_next(rows, &row, NULL)) {
		double time_ns = (double)(are_own ? row.self_ns : row.of.total);
		char *name = name_of_row(&row);

		if (!name || ARRAY_RESERVE(times->names, times->n_allocated, times->n + 1ull) < 0) {
			free(name);
			return;
		}
		times->names[times->n] = (struct top){name, row.of.calls, time_ns,
		                                      layer_of(row.of.kind)};
		times->total_ns[times->names[times->n++].layer] += time_ns;
	}
}

/* Makes one of what has the same name, the largest first. */
static void sum_times(struct times *times)
{
	uint32_t n = 0;

	if (!times->n)
		return;
	qsort(times->names, times->n, sizeof(*times->names), compare_names);
	for (uint32_t i = 1; i < times->n; i++) {
		struct top *sum = &times->names[n], *next = &times->names[i];

		if (strcmp(sum->name, next->name) != 0) {
			times->names[++n] = *next;
			continue;
		}
		sum->calls += next->calls;
		sum->time_ns += next->time_ns;
		free(next->name);
	}
	times->n = n + 1;
	qsort(times->names, times->n, sizeof(*times->names), compare_times);
}

static void print_top(FILE *to, const struct top *top, double total_ns)
{
	summary_cell(to, "    ", top->name, NAME_COLUMNS);
	fprintf(to, " %7.0f", top->calls);
	print_time(to, top->time_ns);
	print_time(to, top->calls > 0 ? top->time_ns / top->calls : 0);
	fprintf(to, " %5.1f%%\n", total_ns > 0 ? 100 * top->time_ns / total_ns : 0);
}

static void print_times(FILE *to, struct rows *rows, const char *title, bool are_own)
{
	struct times times = {0};

	read_times(&times, rows, are_own);
	rows_close(rows);
	sum_times(&times);
	if (times.n) {
		summary_cell(to, "  ", title, NAME_COLUMNS);
		fprintf(to, " %9s %10s %10s %6s\n", "calls", "total", "mean", "share");
	}
	for (uint32_t i = 0; i < times.n && i < N_TOP; i++)
		print_top(to, &times.names[i], whole_of(&times, times.names[i].layer));
	for (uint32_t i = 0; i < times.n; i++)
		free(times.names[i].name);
	free(times.names);
}

/* -- what was lost, clock quality, warnings ---------------------------------------------------- */

/* Causes of a kind under their heading; returns whether there is one. */
static bool print_causes(FILE *to, const cJSON *run, bool are_losses, const char *heading)
{
	const cJSON *losses = cJSON_GetObjectItemCaseSensitive(run, "losses");
	bool has_any = false;

	for (enum loss_cause cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		const char *id = ledger_cause_id(cause);

		if (ledger_is_loss(cause) != are_losses || summary_number(losses, id) == 0)
			continue;
		if (!has_any && heading)
			cli_heading(to, heading);
		has_any = true;
		fprintf(to, "  %s%-36s%s %9.0f\n",
		        cli_style(to, are_losses ? CLI_YELLOW : CLI_PLAIN), id,
		        cli_style(to, CLI_PLAIN), summary_number(losses, id));
	}
	return has_any;
}

static void print_losses(FILE *to, const cJSON *run)
{
	cli_heading(to, "What was lost");
	if (!print_causes(to, run, true, NULL))
		fprintf(to, "  %snothing%s\n", cli_style(to, CLI_GREEN), cli_style(to, CLI_PLAIN));
	print_causes(to, run, false, "What was left out, and is no loss");
}

/* A time, "-" where it is not known. */
static void print_bound(FILE *to, double ns)
{
	if (isfinite(ns))
		print_time(to, ns);
	else
		fprintf(to, " %9s", "-");
}

static void print_clock(FILE *to, const struct clock_row *clock)
{
	uint64_t n_events = clock->count.events;
	char text[128], process[64], device[16] = "", domain[16] = "", segment[16] = "";
	char rate[32] = "-", ci[32] = "-";

	if (clock->device != COLUMN_NONE_U32)
		snprintf(device, sizeof(device), "%" PRIu32, clock->device);
	if (clock->domain != COLUMN_NONE_U32)
		snprintf(domain, sizeof(domain), "%" PRIu32, clock->domain);
	if (clock->of.segment > 0)
		snprintf(segment, sizeof(segment), ".%u", clock->of.segment);
	snprintf(text, sizeof(text), "%s device %s domain %s%s",
	         summary_process(&clock->owner, process), device, domain, segment);
	if (isfinite(clock->of.freq_mhz))
		snprintf(rate, sizeof(rate), "%.6f", clock->of.freq_mhz);
	if (isfinite(clock->of.ci_ppm))
		snprintf(ci, sizeof(ci), "%.3f", clock->of.ci_ppm);
	summary_cell(to, "  ", text, CLOCK_NAME_COLUMNS);
	fprintf(to, " %12s %8s", rate, ci);
	print_bound(to, clock->of.half_width_ns_p50);
	print_bound(to, clock->of.half_width_ns_max);
	if (n_events > 0)
		fprintf(to, " %8.1f%%\n", 100 * (double)clock->count.certified / (double)n_events);
	else
		fprintf(to, " %9s\n", "-");
}

static void print_clocks(FILE *to, const char *dir)
{
	struct clock_row clock = {.device = 0};
	struct rows rows;
	int n = 0;

	if (!rows_open(&rows, dir, "clocks.csv", clock_columns, CLOCK_COLUMNS, NULL))
		return;
	for (; rows_next(&rows, &clock, NULL); n++) {
		if (n == 0) {
			cli_heading(to, "Clock quality");
			fprintf(to, "  %-*s %12s %8s %9s %9s %9s\n", CLOCK_NAME_COLUMNS, "",
			        "rate MHz", "+- ppm", "+- median", "+- max", "certified");
		}
		if (n < MAX_CLOCKS)
			print_clock(to, &clock);
	}
	if (n > MAX_CLOCKS)
		fprintf(to, "  and %d more, see tables/clocks.csv\n", n - MAX_CLOCKS);
	rows_close(&rows);
}

/* What all processes of one host clock have in common; owned. */
static char *host_clock_key(const struct alignment_row *row)
{
	char *key = NULL;

	if (asprintf(&key, "%" PRIu32 ",%.17g,%.17g,%s", row->of.component, row->of.offset_ns,
	             row->of.drift_ppm, row->owner.host) < 0)
		return NULL;
	return key;
}

static void print_host_clock(FILE *to, const struct alignment_row *row)
{
	char text[128], process[64];

	snprintf(text, sizeof(text), "%s on %s", summary_process(&row->owner, process),
	         row->owner.host);
	summary_cell(to, "  ", text, CLOCK_NAME_COLUMNS);
	fprintf(to, " %15.6f", isfinite(row->of.offset_ns) ? row->of.offset_ns / 1e9 : 0);
	print_bound(to, row->of.half_width_ns_p50);
	print_bound(to, row->of.half_width_ns_max);
	if (row->of.component > 0)
		fprintf(to, "  %snot aligned%s\n", cli_style(to, CLI_YELLOW),
		        cli_style(to, CLI_PLAIN));
	else
		fprintf(to, " %12" PRIu64 "\n", (uint64_t)row->of.sync_points_used);
}

static bool is_reference(const struct alignment_row *row)
{
	return row->of.component == 0 && !(fabs(row->of.offset_ns) > 0);
}

/* Keeps a new key; false: it is there already. Takes `key`. */
static bool add_key(char **keys, int *n, char *key)
{
	int i = 0;

	while (key && i < *n && strcmp(keys[i], key) != 0)
		i++;
	if (!key || i < *n) {
		free(key);
		return false;
	}
	keys[(*n)++] = key;
	return true;
}

/* Prints the first process of each host clock but the reference's. */
static void print_host_clocks(FILE *to, struct rows *rows)
{
	struct alignment_row row = {.owner = {0}};
	char *keys[MAX_CLOCKS];
	int n = 0;

	while (n < MAX_CLOCKS && rows_next(rows, &row, NULL)) {
		if (is_reference(&row) || !add_key(keys, &n, host_clock_key(&row)))
			continue;
		if (n == 1) {
			cli_heading(to, "Host clocks");
			fprintf(to, "  %-*s %15s %9s %9s %12s\n", CLOCK_NAME_COLUMNS, "",
			        "offset s", "+- median", "+- max", "sync points");
		}
		print_host_clock(to, &row);
	}
	if (n == MAX_CLOCKS && rows_next(rows, &row, NULL))
		fputs("  and perhaps more, see tables/alignment.csv\n", to);
	while (n > 0)
		free(keys[--n]);
}

static void print_alignment(FILE *to, const char *dir)
{
	struct rows rows;

	if (!rows_open(&rows, dir, "alignment.csv", alignment_columns, ALIGNMENT_COLUMNS, NULL))
		return;
	print_host_clocks(to, &rows);
	rows_close(&rows);
}

static void print_pairing(FILE *to, const cJSON *pairing)
{
	char text[32];

	snprintf(text, sizeof(text), "rank %.0f", summary_number(pairing, "rank"));
	fprintf(to, "  %-*s %9.0f", CLOCK_NAME_COLUMNS, text, summary_number(pairing, "pairs"));
	if (summary_number(pairing, "pairs") > 0) {
		print_time(to, summary_number(pairing, "residual_ns_p50"));
		print_time(to, summary_number(pairing, "residual_ns_max"));
	} else {
		fprintf(to, " %9s %9s", "-", "-");
	}
	fprintf(to, "%s\n",
	        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(pairing, "uncertain")) ? "  uncertain"
	                                                                             : "");
}

/* Ranks that files of both Flex and torch tell of. */
static void print_pairings(FILE *to, const cJSON *run)
{
	const cJSON *pairings = cJSON_GetObjectItemCaseSensitive(run, "pairings"), *pairing;
	int n = 0;

	if (!cJSON_GetArraySize(pairings))
		return;
	cli_heading(to, "Flex on torch's clock");
	fprintf(to, "  %-*s %9s %9s %9s\n", CLOCK_NAME_COLUMNS, "", "events", "median", "max off");
	cJSON_ArrayForEach(pairing, pairings)
	{
		if (n++ < MAX_CLOCKS)
			print_pairing(to, pairing);
	}
	if (n > MAX_CLOCKS)
		fprintf(to, "  and %d more, see run.json\n", n - MAX_CLOCKS);
}

static void print_warnings(FILE *to, const cJSON *run)
{
	const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(run, "warnings");
	const cJSON *warning;

	if (cJSON_GetArraySize(warnings) > 0)
		cli_heading(to, "Warnings");
	cJSON_ArrayForEach(warning, warnings)
	{
		fputs(cli_style(to, CLI_YELLOW), to);
		cli_print(to, "  %s", summary_text(warning, "id"));
		fputs(cli_style(to, CLI_PLAIN), to);
		cli_print(to, " (%.0f): %s", summary_number(warning, "count"),
		          summary_text(warning, "remedy"));
		fputc('\n', to);
	}
}

/* Of an earlier version, whose tables stood elsewhere. */
static bool is_old(const cJSON *run)
{
	const cJSON *versions = cJSON_GetObjectItemCaseSensitive(run, "versions");

	return versions && summary_number(versions, "run_json") < RUN_JSON_FORMAT;
}

int summary_print(const char *output_dir, FILE *to, struct flextrace_error *error)
{
	cJSON *run = summary_json(output_dir, "run.json");
	struct rows rows;

	if (!run)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "There is no conversion in this directory, `flextrace convert` "
		                 "makes one: path=%s",
		                 output_dir);
	if (is_old(run)) {
		cJSON_Delete(run);
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "This conversion is of an earlier version, convert again: path=%s",
		                 output_dir);
	}
	print_what_ran(to, run);
	cli_heading(to, "Where the time went");
	summary_print_devices(to, output_dir);
	if (rows_open(&rows, output_dir, "kernels.csv", kernel_columns, KERNEL_COLUMNS, NULL))
		print_times(to, &rows, "device work", false);
	if (rows_open(&rows, output_dir, "runtime.csv", runtime_columns, RUNTIME_COLUMNS, NULL))
		print_times(to, &rows, "host functions, own time", true);
	summary_print_aie(to, output_dir, run);
	summary_print_ops(to, output_dir);
	summary_print_emitted(to, run);
	print_losses(to, run);
	summary_print_endless(to, run);
	print_clocks(to, output_dir);
	print_alignment(to, output_dir);
	print_pairings(to, run);
	print_warnings(to, run);
	cJSON_Delete(run);
	return 0;
}
