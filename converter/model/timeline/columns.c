/* SPDX-License-Identifier: Apache-2.0 */
#include "column_cell.h"

struct cell column_read(const struct column *column, const void *row,
                        const struct timeline *timeline)
{
	return column_cell(column, row, timeline);
}

const char *column_type_name(const struct column *column)
{
	switch ((enum column_type)column->type) {
	case COLUMN_TYPE_TEXT:
	case COLUMN_TYPE_WORD:
	case COLUMN_TYPE_NAMED:
	case COLUMN_TYPE_CALL:
	case COLUMN_TYPE_STRING:
	case COLUMN_TYPE_HOST:
	case COLUMN_TYPE_DEVICE_HOST:
	case COLUMN_TYPE_THREAD:
		return "text";
	case COLUMN_TYPE_REAL:
		return column->n_decimals ? "number" : "integer";
	default:
		return "integer";
	}
}

/* Where a name ends, but for what it is of a distribution. */
static size_t end_of_unit(const char *name)
{
	static const char *const parts[] = {"_p50", "_p90", "_p99", "_max"};
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t n_part = strlen(parts[i]);

		if (n > n_part && strcmp(name + n - n_part, parts[i]) == 0)
			return n - n_part;
	}
	return n;
}

const char *column_unit(const char *name)
{
	static const struct {
		const char *ending, *unit;
	} units[] = {
		{"_ns", "ns"},       {"[ns]", "ns"},       {"bytes", "bytes"},
		{"[B]", "bytes"},    {"cycles", "cycles"}, {"_cycle", "cycles"},
		{"CYCLE", "cycles"}, {"ts1", "cycles"},    {"ts2", "cycles"},
		{"ts3", "cycles"},   {"ts4", "cycles"},    {"ts5", "cycles"},
		{"_mhz", "MHz"},     {"_ppm", "ppm"},      {"ppm_vs_nominal", "ppm"},
		{"_percent", "%"},   {"(%)", "%"},         {"gbps", "GB/s"},
		{"watts", "W"},      {"joules", "J"},
	};
	size_t end = end_of_unit(name);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i].ending);

		if (end >= n && strncmp(name + end - n, units[i].ending, n) == 0)
			return units[i].unit;
	}
	return "";
}
