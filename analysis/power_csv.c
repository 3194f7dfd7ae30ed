/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power.csv: how much each device drew, all in all, while kernels ran and while none did, and for
 * which kernels. A stretch between two samples counts by how much of it kernels covered. Memory: 16
 * bytes per sample of a device, and what its kernels' names take.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis_impl.h"
#include "array.h"
#include "map.h"
#include "power.h"

#define FILE_NAME "power.csv"

enum power_part { PART_ALL, PART_KERNELS, PART_IDLE, PART_COUNT };

struct power_sum { /* over stretches of known power, and what lies in them */
	uint64_t n;
	double ns, joules, min_watts, max_watts, median_watts;
};

struct power_kernel {
	uint32_t device, name; /* index; string */
	uint64_t calls;
	struct power_sum sum;
};

struct power_line {
	double *covered_ns; /* owned: of each sample's stretch, by kernels */
	double *joules;     /* owned: up to each sample, and below: of known power */
	double *known_ns;   /* owned */
	uint32_t next;      /* first stretch that kernels may still cover */
	int64_t reach_time_ns;
	bool has_kernels;
};

struct power_table {
	const struct timeline *timeline; /* weak, both */
	const struct power *power;
	struct owners owners;
	struct power_line *lines;     /* owned, by struct device */
	struct power_kernel *kernels; /* owned */
	uint32_t n_kernels, n_allocated;
	struct map places; /* (device; name) -> kernel */
	uint64_t n_lines;
};

/* -- energy up to a time ----------------------------------------------------------------------- */

static int sum_up(struct power_table *table, uint32_t index)
{
	const struct power_device *device = &table->power->devices[index];
	struct power_line *line = &table->lines[index];

	line->covered_ns = calloc(device->n + 1ull, sizeof(double));
	line->joules = calloc(device->n + 1ull, sizeof(double));
	line->known_ns = calloc(device->n + 1ull, sizeof(double));
	if (!line->covered_ns || !line->joules || !line->known_ns)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i + 1 < device->n; i++) {
		const struct power_sample *from = &device->samples[i];
		double ns = (double)from[1].time_ns - (double)from->time_ns;
		bool is_known = !isnan(from->watts);

		line->joules[i + 1] = line->joules[i] + (is_known ? from->watts * ns / 1e9 : 0);
		line->known_ns[i + 1] = line->known_ns[i] + (is_known ? ns : 0);
	}
	return FLEXTRACE_OK;
}

/* Stores energy and known time before a moment. */
static void sums_at(const struct power_device *device, const struct power_line *line,
                    int64_t time_ns, double *ret_joules, double *ret_known_ns)
{
	uint32_t low = 0, high = device->n;
	const struct power_sample *sample;
	double ns;

	while (low < high) { /* the first sample behind it */
		uint32_t middle = low + (high - low) / 2;

		if (device->samples[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_joules = *ret_known_ns = 0;
	if (!low)
		return;
	sample = &device->samples[low - 1];
	ns = isnan(sample->watts) ? 0 : (double)time_ns - (double)sample->time_ns;
	*ret_joules = line->joules[low - 1] + (ns ? sample->watts * ns / 1e9 : 0);
	*ret_known_ns = line->known_ns[low - 1] + ns;
}

/* -- kernels ----------------------------------------------------------------------------------- */

static int find_kernel(struct power_table *table, uint32_t device, uint32_t name,
                       struct power_kernel **ret)
{
	uint32_t place = map_find(&table->places, device, name);

	if (place == MAP_NONE) {
		FLEXTRACE_TRY(
			ARRAY_RESERVE(table->kernels, table->n_allocated, table->n_kernels + 1ull));
		place = table->n_kernels++;
		table->kernels[place] = (struct power_kernel){.device = device, .name = name};
		FLEXTRACE_TRY(map_put(&table->places, device, name, place));
	}
	*ret = &table->kernels[place];
	return FLEXTRACE_OK;
}

/* Covers stretches from `from_ns` to `to_ns`; these come in order and do not overlap. */
static void cover(const struct power_device *device, struct power_line *line, int64_t from_ns,
                  int64_t to_ns)
{
	while (line->next + 1 < device->n && device->samples[line->next + 1].time_ns <= from_ns)
		line->next++;
	for (uint32_t i = line->next; i + 1 < device->n && device->samples[i].time_ns < to_ns;
	     i++) {
		int64_t start_ns = device->samples[i].time_ns,
			end_ns = device->samples[i + 1].time_ns;

		start_ns = start_ns > from_ns ? start_ns : from_ns;
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (end_ns > start_ns)
			line->covered_ns[i] += (double)end_ns - (double)start_ns;
		line->next = i;
	}
}

static int take_kernel(struct power_table *table, const struct device_row *row)
{
	const struct tick_op *op = &table->timeline->ops[row->source];
	const struct power_device *device = &table->power->devices[op->device];
	struct power_line *line = &table->lines[op->device];
	double joules[2], known_ns[2];
	struct power_kernel *kernel;
	int64_t from_ns = row->start_time_ns;

	if (device->n < 2)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_kernel(table, op->device, op->name, &kernel));
	sums_at(device, line, row->start_time_ns, &joules[0], &known_ns[0]);
	sums_at(device, line, row->end_time_ns, &joules[1], &known_ns[1]);
	kernel->calls++;
	kernel->sum.n += known_ns[1] > known_ns[0];
	kernel->sum.joules += joules[1] - joules[0];
	kernel->sum.ns += known_ns[1] - known_ns[0];
	if (line->has_kernels && row->end_time_ns <= line->reach_time_ns)
		return FLEXTRACE_OK;
	if (line->has_kernels && from_ns < line->reach_time_ns)
		from_ns = line->reach_time_ns;
	line->has_kernels = true;
	line->reach_time_ns = row->end_time_ns;
	cover(device, line, from_ns, row->end_time_ns);
	return FLEXTRACE_OK;
}

static int count_power(struct power_table *table)
{
	struct table_cursor cursor;
	const struct device_row *row;

	FLEXTRACE_TRY(owners_init(&table->owners, table->timeline->identity));
	if (!table->power)
		return FLEXTRACE_OK;
	table->lines = calloc(table->power->n_devices + 1ull, sizeof(*table->lines));
	if (!table->lines)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < table->power->n_devices; i++)
		FLEXTRACE_TRY(sum_up(table, i));
	if (!table->power->n_devices)
		return FLEXTRACE_OK;
	analysis_read(&cursor, &table->timeline->device_rows);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		if (row->kind == ROW_EXEC)
			FLEXTRACE_TRY(take_kernel(table, row));
	}
	return FLEXTRACE_OK;
}

/* -- sums of a device -------------------------------------------------------------------------- */

/* The time of a stretch that is of a part. */
static double part_ns(const struct power_device *device, const struct power_line *line, uint32_t i,
                      enum power_part part)
{
	double ns = (double)device->samples[i + 1].time_ns - (double)device->samples[i].time_ns;

	if (part == PART_ALL)
		return ns;
	return part == PART_KERNELS ? line->covered_ns[i] : ns - line->covered_ns[i];
}

struct order {
	double watts;
	uint32_t stretch;
};

static int compare_watts(const void *left, const void *right)
{
	const struct order *a = left, *b = right;

	if (a->watts != b->watts)
		return a->watts < b->watts ? -1 : 1;
	return (a->stretch > b->stretch) - (a->stretch < b->stretch);
}

static void sum_part(const struct power_device *device, const struct power_line *line,
                     const struct order *orders, uint32_t n, enum power_part part,
                     struct power_sum *ret)
{
	double ns = 0;

	*ret = (struct power_sum){.n = 0};
	for (uint32_t i = 0; i < n; i++) {
		double own_ns = part_ns(device, line, orders[i].stretch, part);

		if (own_ns <= 0)
			continue;
		if (!ret->n++)
			ret->min_watts = orders[i].watts;
		ret->max_watts = orders[i].watts;
		ret->ns += own_ns;
		ret->joules += orders[i].watts * own_ns / 1e9;
	}
	for (uint32_t i = 0; i < n && 2 * ns < ret->ns; i++) {
		double own_ns = part_ns(device, line, orders[i].stretch, part);

		ns += own_ns > 0 ? own_ns : 0;
		ret->median_watts = orders[i].watts;
	}
}

/* Orders the known stretches of a device by their watts; the caller frees them. */
static struct order *order_stretches(const struct power_device *device, uint32_t *ret_n)
{
	struct order *orders = array_allocate(device->n + 1ull, sizeof(*orders));

	*ret_n = 0;
	for (uint32_t i = 0; orders && i + 1 < device->n; i++) {
		if (!isnan(device->samples[i].watts))
			orders[(*ret_n)++] = (struct order){device->samples[i].watts, i};
	}
	if (orders)
		qsort(orders, *ret_n, sizeof(*orders), compare_watts);
	return orders;
}

/* -- lines ------------------------------------------------------------------------------------- */

static void write_watts(struct writer *writer, double watts)
{
	writer_char(writer, ',');
	writer_fixed(writer, watts, 3);
}

/* From rank to calls. */
static void write_head(const struct power_table *table, uint32_t index, const char *part,
                       const char *name, struct writer *writer)
{
	const struct device *of = &table->timeline->identity->devices[index];

	owners_write(&table->owners, of->process, writer);
	writer_char(writer, ',');
	writer_u64(writer, of->device);
	writer_char(writer, ',');
	writer_raw(writer, part);
	writer_char(writer, ',');
	writer_csv(writer, name, strlen(name));
	writer_char(writer, ',');
	writer_raw(writer, power_unit_name(table->power->devices[index].unit));
	writer_char(writer, ',');
}

static void write_energy(const struct power_sum *sum, struct writer *writer)
{
	writer_u64(writer, sum->n);
	writer_char(writer, ',');
	writer_u64(writer, (uint64_t)(sum->ns + 0.5));
	writer_char(writer, ',');
	writer_fixed(writer, sum->joules, 6);
	writer_char(writer, ',');
	if (sum->ns > 0)
		writer_fixed(writer, sum->joules * 1e9 / sum->ns, 3);
}

static void write_part(struct power_table *table, uint32_t index, enum power_part part,
                       const struct power_sum *sum, struct writer *writer)
{
	static const char *const names[] = {"all", "with_kernels", "without_kernels"};
	const struct power_device *device = &table->power->devices[index];

	write_head(table, index, names[part], "", writer);
	writer_char(writer, ',');
	write_energy(sum, writer);
	if (sum->n) {
		write_watts(writer, sum->min_watts);
		write_watts(writer, sum->median_watts);
		write_watts(writer, sum->max_watts);
	} else {
		writer_literal(writer, ",,,");
	}
	writer_char(writer, ',');
	if (part == PART_ALL)
		writer_u64(writer, device->n_unclear);
	writer_char(writer, ',');
	if (part == PART_ALL)
		writer_u64(writer, device->n_implausible);
	writer_char(writer, '\n');
	table->n_lines++;
}

static int compare_kernels(const void *left, const void *right, void *context)
{
	const struct string_pool *strings = context;
	const struct power_kernel *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->sum.joules != b->sum.joules)
		return a->sum.joules > b->sum.joules ? -1 : 1;
	return strcmp(string_get(strings, a->name), string_get(strings, b->name));
}

static void write_kernels(struct power_table *table, uint32_t index, struct writer *writer)
{
	for (uint32_t i = 0; i < table->n_kernels; i++) {
		const struct power_kernel *kernel = &table->kernels[i];

		if (kernel->device != index)
			continue;
		write_head(table, index, "kernel",
		           string_get(table->timeline->strings, kernel->name), writer);
		writer_u64(writer, kernel->calls);
		writer_char(writer, ',');
		write_energy(&kernel->sum, writer);
		writer_literal(writer, ",,,,,\n");
		table->n_lines++;
	}
}

static void write_device(struct power_table *table, uint32_t index, struct writer *writer)
{
	const struct power_device *device = &table->power->devices[index];
	struct power_sum sum;
	uint32_t n;
	struct order *orders = order_stretches(device, &n);

	if (!orders)
		writer->failure = ENOMEM;
	for (int part = PART_ALL; orders && part < PART_COUNT; part++) {
		sum_part(device, &table->lines[index], orders, n, (enum power_part)part, &sum);
		write_part(table, index, (enum power_part)part, &sum, writer);
	}
	write_kernels(table, index, writer);
	free(orders);
}

static void write_devices(void *context, struct writer *writer)
{
	struct power_table *table = context;
	const struct identity *identity = table->timeline->identity;

	writer_literal(writer,
	               "rank,host,pid,device,part,name,unit,calls,stretches,measured_ns,joules,"
	               "mean_watts,min_watts,median_watts,max_watts,unclear,implausible\n");
	if (table->n_kernels)
		qsort_r(table->kernels, table->n_kernels, sizeof(*table->kernels), compare_kernels,
		        (void *)(uintptr_t)table->timeline->strings);
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		uint32_t device = table->owners.devices[i];

		if (table->power && device < table->power->n_devices &&
		    table->power->devices[device].n > 1 &&
		    !identity->processes[identity->devices[device].process].is_excluded)
			write_device(table, device, writer);
	}
}

static void release(struct power_table *table)
{
	for (uint32_t i = 0; table->lines && i < table->power->n_devices; i++) {
		free(table->lines[i].covered_ns);
		free(table->lines[i].joules);
		free(table->lines[i].known_ns);
	}
	free(table->lines);
	free(table->kernels);
	map_release(&table->places);
	owners_release(&table->owners);
}

static int write_power(const struct timeline *timeline, const char *output_dir, uint64_t *ret_rows,
                       struct flextrace_error *error)
{
	struct power_table table = {.timeline = timeline, .power = timeline->power};
	int code;

	if (count_power(&table) < 0)
		code = analysis_no_memory(FILE_NAME, error);
	else
		code = analysis_save(output_dir, FILE_NAME, write_devices, &table, error);
	*ret_rows = table.n_lines;
	release(&table);
	return code;
}

const struct analysis analysis_power = {.name = "power", .write = write_power};
