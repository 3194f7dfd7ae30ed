/* SPDX-License-Identifier: Apache-2.0 */
/* What the time of devices went to, as breakdown.csv tells it. */
#include <inttypes.h>

#include "model/timeline/rows.h"
#include "summary_impl.h"
#include "terminal/cli.h"
#include "terminal/human.h"

#define MAX_DEVICES  8
#define NAME_COLUMNS 36

struct device_share {
	struct owner_cells owner;
	uint32_t device; /* COLUMN_NONE_U32: the sum of several */
	uint64_t wall_ns, compute_ns, communication_ns, memory_ns;
	uint64_t prepare_ns, idle_ns, host_wait_ns;
};

static const struct column columns[] = {
	COLUMNS_OWNER(struct device_share),
	COLUMN_OPTIONAL(struct device_share, device),
	COLUMN(struct device_share, wall_ns),
	COLUMN(struct device_share, compute_ns),
	COLUMN_AS("exposed_communication_ns", struct device_share, communication_ns),
	COLUMN_AS("exposed_memory_ns", struct device_share, memory_ns),
	COLUMN_AS("exposed_prepare_ns", struct device_share, prepare_ns),
	COLUMN(struct device_share, idle_ns),
	COLUMN(struct device_share, host_wait_ns),
};

static void print_heading(FILE *to)
{
	summary_cell(to, "  ", "devices, from first work to last", NAME_COLUMNS + 2);
	fprintf(to, " %9s %8s %8s %8s %8s %8s %9s\n", "wall", "compute", "comm.", "memory",
	        "prepare", "idle", "host late");
}

static void print_device(FILE *to, const struct device_share *row)
{
	const uint64_t parts[] = {row->compute_ns, row->communication_ns, row->memory_ns,
	                          row->prepare_ns, row->idle_ns,          row->host_wait_ns};
	char process[64], name[96], wall[HUMAN_BYTES];

	if (row->owner.rank == COLUMN_NONE_I64 && row->owner.pid == COLUMN_NONE_I64)
		snprintf(name, sizeof(name), "all");
	else if (row->device == COLUMN_NONE_U32)
		snprintf(name, sizeof(name), "%s", summary_process(&row->owner, process));
	else
		snprintf(name, sizeof(name), "%s device %" PRIu32,
		         summary_process(&row->owner, process), row->device);
	summary_cell(to, "    ", name, NAME_COLUMNS);
	fprintf(to, " %9s", human_time((double)row->wall_ns, wall));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		fprintf(to, " %*.1f%%", i + 1 < sizeof(parts) / sizeof(parts[0]) ? 7 : 8,
		        row->wall_ns ? 100.0 * (double)parts[i] / (double)row->wall_ns : 0);
	fputc('\n', to);
}

/* Of many devices the first, and the sum of all, which stands last. */
void summary_print_devices(FILE *to, const char *dir)
{
	struct device_share row = {.owner = {0}};
	struct rows rows;
	int n = 0;

	if (!rows_open(&rows, dir, "breakdown.csv", columns, N_COLUMNS(columns), NULL))
		return;
	for (; rows_next(&rows, &row, NULL); n++) {
		if (n == 0)
			print_heading(to);
		if (n < MAX_DEVICES)
			print_device(to, &row);
	}
	if (n > MAX_DEVICES) {
		fprintf(to, "    and %d more, see tables/breakdown.csv; the last of them\n",
		        n - MAX_DEVICES);
		print_device(to, &row);
	}
	rows_close(&rows);
}
