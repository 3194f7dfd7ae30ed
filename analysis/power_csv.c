/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power.csv: how much each device drew, all in all, while kernels ran and while none did, and for
 * which kernels. A stretch between two samples counts by how much of it kernels covered. Memory: 24
 * bytes per sample and 16 more of one device at a time, and what its kernels' names take: 40 each,
 * and 4 to 16 to find and to sort them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis_impl.h"
#include "base/array.h"
#include "base/order.h"
#include "base/blocks.h"
#include "findings/power.h"
#include "findings/statistics/name_groups.h"

enum power_part { PART_ALL, PART_KERNELS, PART_IDLE, PART_COUNT };

struct power_energy { /* over stretches of known power */
	double ns, joules;
};

struct power_sum {
	uint64_t n; /* stretches of known power, and what lies in them */
	struct power_energy energy;
	double min_watts, max_watts, median_watts;
};

struct power_kernel {
	struct group_key key; /* owner: index of struct device */
	uint32_t calls;
	uint32_t n; /* calls in stretches of known power */
	struct power_energy energy;
};

struct power_line {
	struct power_sum sums[PART_COUNT];
	struct power_energy *up_to; /* owned, by sample: before it */
	double *covered_ns; /* owned, by stretch: from a sample to the next one, by kernels */
	uint32_t next;      /* first stretch that kernels may still cover */
	uint32_t n_before;  /* samples up to the start of the last kernel */
	int64_t reach_time_ns;
	bool has_kernels;
};

struct power_table {
	const struct timeline *timeline; /* weak, all */
	const struct power *power;
	const struct owners *owners;
	struct power_line *lines;   /* owned, by struct device */
	struct name_groups kernels; /* struct power_kernel */
};

/* -- energy up to a time ----------------------------------------------------------------------- */

static int make_line(const struct power_device *device, struct power_line *line)
{
	struct power_energy sum = {0};

	FLEXTRACE_TRY(BLOCKS_NEW(line->up_to, device->n));
	FLEXTRACE_TRY(BLOCKS_NEW(line->covered_ns, device->n));
	for (uint32_t i = 0; i < device->n; i++) {
		const struct power_level *from = &device->levels[i];

		line->up_to[i] = sum;
		line->covered_ns[i] = 0;
		if (i + 1 < device->n && !isnan(from->watts)) {
			double ns = (double)interval_ns(from->time_ns, from[1].time_ns);

			sum.joules += from->watts * ns / 1e9;
			sum.ns += ns;
		}
	}
	return FLEXTRACE_OK;
}

/* Returns how many samples there are up to a time, of which there are `low` or more: looks in steps
 * that double, as mostly it is near. */
static uint32_t count_samples(const struct power_device *device, int64_t time_ns, uint32_t low)
{
	const struct power_level *levels = device->levels;
	uint32_t high = low, step = 1;

	while (high < device->n && levels[high].time_ns <= time_ns) {
		low = high + 1;
		high = device->n - high > step ? high + step : device->n;
		step *= 2;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (levels[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns energy and known time before a moment, up to which there are `n` samples. */
static struct power_energy energy_at(const struct power_device *device,
                                     const struct power_line *line, int64_t time_ns, uint32_t n)
{
	struct power_energy energy = {0};

	if (n) {
		const struct power_level *level = &device->levels[n - 1];
		double ns = (double)interval_ns(level->time_ns, time_ns);

		energy = line->up_to[n - 1];
		if (!isnan(level->watts) && ns > 0) {
			energy.joules += level->watts * ns / 1e9;
			energy.ns += ns;
		}
	}
	return energy;
}

/* -- kernels ----------------------------------------------------------------------------------- */

/* Rows come in order of their starts. */
static int take_kernel(struct power_table *table, const struct device_row *row)
{
	const struct tick_op *op = &table->timeline->ops[row->source];
	const struct power_device *device = &table->power->devices[op->device];
	struct power_line *line = &table->lines[op->device];
	struct power_energy before, after;
	struct power_kernel *kernel;
	uint32_t place;

	if (device->n < 2)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(name_groups_find(&table->kernels,
	                               &(struct group_key){op->device, op->name, 0, 0}, &place));
	kernel = name_groups_at(&table->kernels, place);
	line->n_before = count_samples(device, row->start_time_ns, line->n_before);
	before = energy_at(device, line, row->start_time_ns, line->n_before);
	after = energy_at(device, line, row->end_time_ns,
	                  count_samples(device, row->end_time_ns, line->n_before));
	kernel->calls++;
	kernel->n += after.ns > before.ns;
	kernel->energy.joules += after.joules - before.joules;
	kernel->energy.ns += after.ns - before.ns;
	return FLEXTRACE_OK;
}

static int compare_kernels(const void *left, const void *right, void *context)
{
	const struct power_table *table = context;
	const struct string_pool *strings = table->timeline->strings;
	const struct power_kernel *a = name_groups_at(&table->kernels, *(const uint32_t *)left);
	const struct power_kernel *b = name_groups_at(&table->kernels, *(const uint32_t *)right);

	return ORDER(a->key.owner, b->key.owner) ?: ORDER(b->energy.joules, a->energy.joules) ?:
	       string_compare(strings, a->key.name, b->key.name);
}

/* -- parts ------------------------------------------------------------------------------------- */

/* Covers stretches from `from_ns` to `to_ns`; these come in order and do not overlap. */
static void cover(const struct power_device *device, struct power_line *line, int64_t from_ns,
                  int64_t to_ns)
{
	while (line->next + 1 < device->n && device->levels[line->next + 1].time_ns <= from_ns)
		line->next++;
	for (uint32_t i = line->next; i + 1 < device->n && device->levels[i].time_ns < to_ns; i++) {
		int64_t start_ns = device->levels[i].time_ns,
			end_ns = device->levels[i + 1].time_ns;

		start_ns = start_ns > from_ns ? start_ns : from_ns;
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (end_ns > start_ns)
			line->covered_ns[i] += (double)interval_ns(start_ns, end_ns);
		line->next = i;
	}
}

/* Rows come in order of their starts. */
static void cover_by(struct power_table *table, const struct device_row *row)
{
	uint32_t index = table->timeline->tracks[row->track].owner;
	struct power_line *line = &table->lines[index];
	int64_t from_ns = row->start_time_ns;

	if (line->has_kernels && row->end_time_ns <= line->reach_time_ns)
		return;
	if (line->has_kernels && from_ns < line->reach_time_ns)
		from_ns = line->reach_time_ns;
	line->has_kernels = true;
	line->reach_time_ns = row->end_time_ns;
	cover(&table->power->devices[index], line, from_ns, row->end_time_ns);
}

/* The time of a stretch that is of a part. */
static double part_ns(const struct power_level *from, double covered_ns, enum power_part part)
{
	double ns = (double)interval_ns(from->time_ns, from[1].time_ns);

	return part == PART_ALL ? ns : part == PART_KERNELS ? covered_ns : ns - covered_ns;
}

struct weight {
	double watts, ns;
};

/* Hoare's selection: returns the least watts that no more than half of `total_ns` exceed. Pivots
 * are drawn, so that no order makes it slow. */
static double median_watts(struct weight *weights, int64_t n, double total_ns)
{
	uint64_t random = 0x9e3779b97f4a7c15u;
	int64_t low = 0, high = n - 1; /* it lies in [low, high] */
	double below_ns = 0;           /* of what lies before */

	while (low < high) {
		int64_t left = low, right = high;
		double pivot, ns = below_ns;

		random = random * 6364136223846793005u + 1442695040888963407u;
		pivot = weights[low + (int64_t)((random >> 33) % (uint64_t)(high - low + 1))].watts;
		while (left <= right) {
			while (weights[left].watts < pivot)
				ns += weights[left++].ns;
			while (weights[right].watts > pivot)
				right--;
			if (left <= right) {
				struct weight held = weights[left];

				weights[left] = weights[right];
				weights[right--] = held;
				ns += weights[left++].ns;
			}
		}
		/* [low, right] <= pivot <= [left, high], and what lies between is the pivot */
		if (2 * ns < total_ns) {
			low = left;
			below_ns = ns;
		} else if (right < left - 1 && 2 * (ns - weights[left - 1].ns) < total_ns) {
			return pivot;
		} else {
			high = right;
		}
	}
	return weights[low].watts;
}

/* Takes the stretches of known power; `weights` is room for one each. */
static void sum_part(const struct power_device *device, const struct power_line *line,
                     struct weight *weights, enum power_part part, struct power_sum *ret)
{
	struct power_sum sum = {.min_watts = INFINITY};

	for (uint32_t i = 0; i + 1 < device->n; i++) {
		double watts = device->levels[i].watts;
		double ns = part_ns(&device->levels[i], line->covered_ns[i], part);

		if (isnan(watts) || ns <= 0)
			continue;
		weights[sum.n++] = (struct weight){watts, ns};
		sum.min_watts = watts < sum.min_watts ? watts : sum.min_watts;
		sum.max_watts = watts > sum.max_watts ? watts : sum.max_watts;
		sum.energy.ns += ns;
		sum.energy.joules += watts * ns / 1e9;
	}
	if (sum.n)
		sum.median_watts = median_watts(weights, (int64_t)sum.n, sum.energy.ns);
	*ret = sum;
}

static int sum_parts(const struct power_device *device, struct power_line *line)
{
	struct weight *weights;

	FLEXTRACE_TRY(BLOCKS_NEW(weights, device->n));
	for (int part = PART_ALL; part < PART_COUNT; part++)
		sum_part(device, line, weights, (enum power_part)part, &line->sums[part]);
	blocks_free(weights);
	return FLEXTRACE_OK;
}

static int take_rows(struct power_table *table)
{
	name_groups_init(&table->kernels, sizeof(struct power_kernel), table->timeline->n_ops);
	TABLE_EACH(struct device_row, row, &table->timeline->device_rows) {
		if (row->kind == ROW_EXEC) {
			cover_by(table, row);
			FLEXTRACE_TRY(take_kernel(table, row));
		}
	}
	return name_groups_sort(&table->kernels, compare_kernels, table);
}

static int count_power(struct power_table *table)
{
	const struct power *power = table->power;

	if (!power || !power->n_devices)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_NEW(table->lines, power->n_devices));
	for (uint32_t i = 0; i < power->n_devices; i++)
		FLEXTRACE_TRY(make_line(&power->devices[i], &table->lines[i]));
	FLEXTRACE_TRY(take_rows(table));
	for (uint32_t i = 0; i < power->n_devices; i++)
		FLEXTRACE_TRY(sum_parts(&power->devices[i], &table->lines[i]));
	return FLEXTRACE_OK;
}

/* -- rows ------------------------------------------------------------------------------------- */

struct power_row {
	uint32_t device, name, calls;
	const char *part, *unit;
	uint64_t stretches, measured_ns, unclear, implausible;
	double joules, mean_watts, min_watts, median_watts, max_watts;
};

static const struct column columns[] = {
	COLUMNS_DEVICE(struct power_row, device),
	COLUMN(struct power_row, part),
	COLUMN_STRING("name", struct power_row, name),
	COLUMN(struct power_row, unit),
	COLUMN_OPTIONAL(struct power_row, calls),
	COLUMN(struct power_row, stretches),
	COLUMN(struct power_row, measured_ns),
	COLUMN_FIXED(struct power_row, joules, 6),
	COLUMN_FIXED(struct power_row, mean_watts, 3),
	COLUMN_FIXED(struct power_row, min_watts, 3),
	COLUMN_FIXED(struct power_row, median_watts, 3),
	COLUMN_FIXED(struct power_row, max_watts, 3),
	COLUMN_OPTIONAL(struct power_row, unclear),
	COLUMN_OPTIONAL(struct power_row, implausible),
};

/* Of a device: what all rows have in common. */
static struct power_row start_row(const struct power_table *table, uint32_t index, uint64_t n,
                                  const struct power_energy *energy)
{
	return (struct power_row){
		.device = index,
		.unit = power_unit_name(table->power->devices[index].unit),
		.calls = COLUMN_NONE_U32,
		.stretches = n,
		.measured_ns = (uint64_t)(energy->ns + 0.5),
		.joules = energy->joules,
		.mean_watts = energy->joules * 1e9 / energy->ns,
		.min_watts = NAN,
		.median_watts = NAN,
		.max_watts = NAN,
		.unclear = COLUMN_NONE_U64,
		.implausible = COLUMN_NONE_U64,
	};
}

static void put_part(const struct power_table *table, uint32_t index, enum power_part part,
                     struct row_sink *sink)
{
	static const char *const names[] = {"all", "with_kernels", "without_kernels"};
	const struct power_device *device = &table->power->devices[index];
	const struct power_sum *sum = &table->lines[index].sums[part];
	struct power_row row = start_row(table, index, sum->n, &sum->energy);

	row.part = names[part];
	if (sum->n) {
		row.min_watts = sum->min_watts;
		row.median_watts = sum->median_watts;
		row.max_watts = sum->max_watts;
	}
	if (part == PART_ALL) {
		row.unclear = device->n_unclear;
		row.implausible = device->n_implausible;
	}
	row_put(sink, &row);
}

struct kernels_of {
	const struct power_table *table;
	uint32_t device;
};

static bool is_before(const void *place, const void *any)
{
	const struct kernels_of *of = any;
	const struct group_key *key = name_groups_at(&of->table->kernels, *(const uint32_t *)place);

	return key->owner < of->device;
}

static void put_kernels(const struct power_table *table, uint32_t index, struct row_sink *sink)
{
	const struct name_groups *kernels = &table->kernels;
	uint32_t i = array_count_before(kernels->order, kernels->n, sizeof(*kernels->order),
	                                is_before, &(struct kernels_of){table, index});

	for (; i < kernels->n; i++) {
		const struct power_kernel *kernel = name_groups_line(kernels, i);
		struct power_row row = start_row(table, index, kernel->n, &kernel->energy);

		if (kernel->key.owner != index)
			break;
		row.part = "kernel";
		row.name = kernel->key.name;
		row.calls = kernel->calls;
		row_put(sink, &row);
	}
}

static void put_devices(const struct power_table *table, struct row_sink *sink)
{
	const struct identity *identity = table->timeline->identity;

	for (uint32_t i = 0; table->power && i < identity->n_devices; i++) {
		uint32_t device = table->owners->devices[i];

		if (device >= table->power->n_devices || table->power->devices[device].n <= 1 ||
		    identity->processes[identity->devices[device].process].is_excluded)
			continue;
		for (int part = PART_ALL; part < PART_COUNT; part++)
			put_part(table, device, (enum power_part)part, sink);
		put_kernels(table, device, sink);
	}
}

static void release(struct power_table *table)
{
	for (uint32_t i = 0; table->lines && i < table->power->n_devices; i++) {
		blocks_free(table->lines[i].covered_ns);
		blocks_free(table->lines[i].up_to);
	}
	free(table->lines);
	name_groups_release(&table->kernels);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct power_table table = {.timeline = findings->timeline,
	                            .power = findings->power,
	                            .owners = findings->owners};
	int code = count_power(&table);

	if (code == FLEXTRACE_OK)
		put_devices(&table, sink);
	release(&table);
	return code;
}

const struct analysis analysis_power =
	ANALYSIS_CSV("power", columns, fill, .title = "Power of devices",
                     .what = "What each device drew between samples of its power counter: "
                             "energy over time, with kernels and without. Mean watts are "
                             "joules divided by seconds.");
