/* SPDX-License-Identifier: Apache-2.0 */
/* What programs emitted, as they counted it, against what was read of it. */
#include <stdbool.h>
#include <string.h>

#include "terminal/cli.h"
#include "summary_impl.h"

#define MAX_NAMED    10 /* programs, one by one */
#define NAME_COLUMNS 36
#define MIN_WAIT_MS  1000
#define UUID_LENGTH  36
#define UUID_VERSION 14 /* place of its digit */

struct sums {
	double emitted, at_most, read, missing, late;
};

static struct sums sum_up(const cJSON *process)
{
	struct sums sums = {0};
	const cJSON *class;

	cJSON_ArrayForEach(class, process)
	{
		double emitted = summary_number(class, "emitted");
		double at_most = summary_number(class, "emitted_at_most");
		double read = summary_number(class, "read");

		sums.emitted += emitted;
		sums.at_most += at_most > emitted ? at_most : emitted;
		sums.read += read;
		sums.missing += emitted > read ? emitted - read : 0;
		sums.late += summary_number(class, "late");
	}
	return sums;
}

/* Whose records are missing, or who waited long for LTTng. */
static bool is_to_name(const cJSON *process)
{
	return sum_up(process).missing > 0 || summary_number(process, "unrecorded") > 0 ||
	       summary_number(process, "wait_ms") >= MIN_WAIT_MS;
}

/* Of programs that run on it is known between two numbers. */
static void print_emitted(FILE *to, const struct sums *sums)
{
	fprintf(to, "%.0f", sums->emitted);
	if (sums->at_most > sums->emitted)
		fprintf(to, " to %.0f", sums->at_most);
}

static void print_process(FILE *to, const cJSON *process)
{
	struct sums sums = sum_up(process);

	summary_cell(to, "  ", summary_text(process, "program"), NAME_COLUMNS);
	fprintf(to, " pid %.0f: ", summary_number(process, "pid"));
	print_emitted(to, &sums);
	fprintf(to, " emitted, %.0f read", sums.read);
	if (sums.late > 0)
		fprintf(to, ", %.0f before LTTng answered: it began late", sums.late);
	if (summary_number(process, "unrecorded") > 0)
		fprintf(to, "; %.0f more could not be made, in its children or in signal handlers",
		        summary_number(process, "unrecorded"));
	if (summary_number(process, "wait_ms") >= MIN_WAIT_MS)
		fprintf(to, "; it waited %.1f s for LTTng",
		        summary_number(process, "wait_ms") / 1000);
	fputc('\n', to);
}

/* LTTng's traces have random identifiers, version 4; those of files of other tools are made up. */
static bool has_trace(const cJSON *run)
{
	const cJSON *trace;

	cJSON_ArrayForEach(trace, cJSON_GetObjectItemCaseSensitive(run, "traces"))
	{
		const char *uuid = summary_text(trace, "uuid");

		if (strlen(uuid) == UUID_LENGTH && uuid[UUID_VERSION] == '4')
			return true;
	}
	return false;
}

static void print_uncounted(FILE *to)
{
	cli_heading(to, "What programs emitted");
	fputs("  nobody noted it, so nothing tells whether all of it is here: `flextrace record` "
	      "and "
	      "`start`\n  note it, plain lttng does not\n",
	      to);
}

void summary_print_emitted(FILE *to, const cJSON *run)
{
	const cJSON *emitted = cJSON_GetObjectItemCaseSensitive(run, "emitted");
	const cJSON *processes = cJSON_GetObjectItemCaseSensitive(emitted, "processes");
	const cJSON *process;
	struct sums all = {0};
	int n = 0;

	if (cJSON_IsNull(emitted) && has_trace(run))
		print_uncounted(to);
	if (!cJSON_GetArraySize(processes))
		return;
	cJSON_ArrayForEach(process, processes)
	{
		struct sums sums = sum_up(process);

		all.emitted += sums.emitted;
		all.at_most += sums.at_most;
		all.read += sums.read;
		all.missing += sums.missing;
		n += is_to_name(process);
	}
	cli_heading(to, "What programs emitted");
	fputs("  ", to);
	print_emitted(to, &all);
	fprintf(to, " records of %d programs, %.0f were read, %.0f are missing\n",
	        cJSON_GetArraySize(processes), all.read, all.missing);
	if (n > MAX_NAMED)
		fprintf(to, "  %d programs have records missing, or waited: run.json\n", n);
	n = 0;
	cJSON_ArrayForEach(process, processes)
	{
		if (n < MAX_NAMED && is_to_name(process)) {
			print_process(to, process);
			n++;
		}
	}
}
