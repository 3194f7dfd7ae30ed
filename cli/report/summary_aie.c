/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "base/paths.h"
#include "terminal/cli.h"
#include "summary_impl.h"

#define MAX_CORES    16 /* named one by one */
#define CORE_COLUMNS 20

static bool is_written(const cJSON *run, const char *name)
{
	const cJSON *files = cJSON_GetObjectItemCaseSensitive(run, "files"), *file;

	cJSON_ArrayForEach(file, files)
	{
		if (strcmp(summary_text(file, "file"), name) == 0)
			return true;
	}
	return false;
}

static void print_share(FILE *to, const cJSON *object, const char *key)
{
	const cJSON *share = cJSON_GetObjectItemCaseSensitive(object, key);

	if (cJSON_IsNumber(share))
		fprintf(to, " %9.1f%%", 100 * share->valuedouble);
	else
		fprintf(to, " %10s", "-");
}

static void print_core(FILE *to, const cJSON *core)
{
	const cJSON *iterations = cJSON_GetObjectItemCaseSensitive(core, "iterations"), *of;
	const cJSON *coverage = cJSON_GetObjectItemCaseSensitive(core, "coverage");
	double n_kernels = 0;

	cJSON_ArrayForEach(of, iterations) n_kernels += summary_number(of, "num_kernels");
	summary_cell(to, "  ", summary_text(core, "tile_name"), CORE_COLUMNS);
	fprintf(to, " %10d %9.0f %9.1f", cJSON_GetArraySize(iterations), n_kernels,
	        summary_number(core, "median_kernel_duration_cycles"));
	print_share(to, coverage, "kernel_share");
	print_share(to, coverage, "stall_share");
	fputc('\n', to);
}

static void print_all(FILE *to, const char *dir)
{
	cJSON *all = summary_json(dir, TABLES_DIR "/aggregate_perf.json");
	const cJSON *average = cJSON_GetObjectItemCaseSensitive(all, "average");
	const cJSON *gmacs = cJSON_GetObjectItemCaseSensitive(average, "gmacs_per_second");

	if (average)
		fprintf(to, "  iterations that count: %.0f, of %.0f cycles on average",
		        summary_number(all, "count"), summary_number(average, "runtime_cycles"));
	if (cJSON_IsNumber(gmacs))
		fprintf(to, ": %.1f GMAC/s", gmacs->valuedouble);
	if (average)
		fputc('\n', to);
	cJSON_Delete(all);
}

void summary_print_aie(FILE *to, const char *dir, const cJSON *run)
{
	cJSON *index = is_written(run, TABLES_DIR "/index.json")
	                       ? summary_json(dir, TABLES_DIR "/index.json")
	                       : NULL;
	const cJSON *cores = cJSON_GetObjectItemCaseSensitive(index, "cores"), *name;
	int n = 0;

	if (cJSON_GetArraySize(cores)) {
		cli_heading(to, "AI engines");
		fprintf(to, "  %-*s %10s %9s %9s %10s %10s\n", CORE_COLUMNS, "", "iterations",
		        "kernels", "cycles", "busy", "stalled");
	}
	cJSON_ArrayForEach(name, cores)
	{
		const char *file = cJSON_GetStringValue(name);
		cJSON *core = NULL;

		if (n++ < MAX_CORES && file && !strchr(file, '/'))
			core = summary_json(path_of(dir, TABLES_DIR).text, file);
		if (core)
			print_core(to, core);
		cJSON_Delete(core);
	}
	if (n > MAX_CORES)
		fprintf(to, "  and %d more, see tables/index.json\n", n - MAX_CORES);
	if (n)
		print_all(to, dir);
	cJSON_Delete(index);
}
