/* SPDX-License-Identifier: Apache-2.0 */
/* device_stats.csv and device_stats.txt: core_stats.h as a table and as tt-metal prints it. */
#include <stdio.h>
#include <string.h>

#include "core_stats.h"
#include "base/text/writer.h"

#define CELL_BYTES 96
#define CELL_WIDTH 17
#define ROW_WIDTH  7

/* -- the table ------------------------------------------------------------------------------- */

struct device_stats_row {
	uint32_t device, core_x, core_y;
	const char *label;
	struct core_line of;
	uint64_t range;
	double average, median, average_ns;
};

static const struct column columns[] = {
	COLUMNS_DEVICE(struct device_stats_row, device),
	COLUMN_OPTIONAL(struct device_stats_row, core_x),
	COLUMN_OPTIONAL(struct device_stats_row, core_y),
	COLUMN_AS("analysis", struct device_stats_row, label),
	COLUMN_AS("count", struct device_stats_row, of.n),
	COLUMN(struct device_stats_row, average),
	COLUMN_AS("max", struct device_stats_row, of.spread.max),
	COLUMN_AS("min", struct device_stats_row, of.spread.min),
	COLUMN(struct device_stats_row, range),
	COLUMN(struct device_stats_row, median),
	COLUMN_AS("sum", struct device_stats_row, of.spread.total),
	COLUMN_AS("first", struct device_stats_row, of.first),
	COLUMN_FIXED(struct device_stats_row, average_ns, 3),
};

static void put_line(const struct core_stats *stats, const struct core_line *line,
                     struct row_sink *sink)
{
	bool has_core = line->core != FLEXTRACE_NONE;
	char label[CORE_LABEL_BYTES];

	core_label(stats, line, label);
	row_put(sink, &(struct device_stats_row){
			      .device = stats->all.owners->devices[line->device],
			      .core_x = has_core ? stats->all.cores[line->core].x : COLUMN_NONE_U32,
			      .core_y = has_core ? stats->all.cores[line->core].y : COLUMN_NONE_U32,
			      .label = label,
			      .of = *line,
			      .range = line->spread.max - line->spread.min,
			      .average = core_average(line),
			      .median = spread_median(&line->spread),
			      .average_ns = core_average(line) * 1e9 /
	                                    (double)core_hz(&stats->all, line->device),
		      });
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct core_stats stats;
	int code = core_stats_init(&stats, findings);

	for (uint32_t i = 0; code == FLEXTRACE_OK && i < stats.n_lines; i++)
		put_line(&stats, &stats.lines[i], sink);
	core_stats_release(&stats);
	return code;
}

const struct analysis analysis_device_stats = {
	.name = "device_stats",
	.file = {.name = "device_stats.csv",
                 .title = "Firmware and kernels by core",
                 .what = "How long firmware and kernels took on each core and processor, in "
                         "cycles: "
                         "count, mean, median, least, most and standard deviation.",
                 .table = COLUMN_TABLE(columns, fill)},
	.shape_of = IDENTITY_TT_METAL_FILE,
};

/* -- the text -------------------------------------------------------------------------------- */

/* Whole cycles, with commas between thousands. */
static void group(double value, char text[CELL_BYTES])
{
	char digits[CELL_BYTES];
	int n = snprintf(digits, sizeof(digits), "%.0f", value);
	size_t to = 0;

	for (int i = 0; i < n && to + 2 < CELL_BYTES; i++) {
		if (i && (n - i) % 3 == 0)
			text[to++] = ',';
		text[to++] = digits[i];
	}
	text[to] = '\0';
}

static size_t count_characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80; /* one may have several bytes */
	return n;
}

static void pad(struct writer *writer, const char *text, size_t width)
{
	for (size_t n = count_characters(text); n < width; n++)
		writer_char(writer, ' ');
	writer_raw(writer, text);
}

static void write_number(const char *label, double value, struct writer *writer)
{
	char text[CELL_BYTES];

	group(value, text);
	writer_format(writer, "%12s [cycles] = %10s\n", label, text);
}

static void write_head(const struct core_stats *stats, const struct core_line *line,
                       struct writer *writer)
{
	const struct spread *spread = &line->spread;
	char label[CORE_LABEL_BYTES];

	core_label(stats, line, label);
	writer_format(writer, "\n=================== %s ===================\n", label);
	if (line->n == 1) {
		write_number("Duration", core_average(line), writer);
		return;
	}
	write_number("Count", (double)line->n, writer);
	write_number("Average", core_average(line), writer);
	write_number("Max", (double)spread->max, writer);
	write_number("Median", spread_median(spread), writer);
	write_number("Min", (double)spread->min, writer);
}

/* Of several values the average, and how far they are from it at most. */
static void print_cell(const struct core_line *line, char text[2 * CELL_BYTES])
{
	double average = core_average(line), above = (double)line->spread.max - average;
	double below = average - (double)line->spread.min;
	char spread[CELL_BYTES];

	group(average, text);
	if (line->n > 1) {
		group(above > below ? above : below, spread);
		strcat(strcat(text, "\u00b1"), spread);
	}
}

/* As wide as tt-metal's, or as the widest cell with a blank before it. */
static size_t find_cell_width(const struct core_stats *stats, uint32_t first, uint32_t end)
{
	size_t width = CELL_WIDTH;

	for (uint32_t i = first; i < end; i++) {
		char text[2 * CELL_BYTES];
		size_t n;

		print_cell(&stats->lines[i], text);
		n = count_characters(text) + 1;
		width = n > width ? n : width;
	}
	return width;
}

/* The lines of cores from `first` to `end` are of one analysis: the cell of one of them. */
static const struct core_line *line_of(const struct core_stats *stats, uint32_t first, uint32_t end,
                                       const struct core *at)
{
	for (uint32_t i = first; i < end; i++) {
		const struct core *core = &stats->all.cores[stats->lines[i].core];

		if (core->x == at->x && core->y == at->y)
			return &stats->lines[i];
	}
	return NULL;
}

static void write_grid_head(uint32_t n_x, size_t width, struct writer *writer)
{
	char text[CELL_BYTES];

	writer_char(writer, '\n');
	pad(writer, "y \\ x", ROW_WIDTH);
	for (uint32_t x = 0; x < n_x; x++) {
		snprintf(text, sizeof(text), "%u", x);
		pad(writer, text, width);
	}
	writer_char(writer, '\n');
}

static void write_grid(const struct core_stats *stats, uint32_t first, uint32_t end,
                       struct writer *writer)
{
	size_t width = find_cell_width(stats, first, end);
	uint32_t n_x = 0, n_y = 0;
	char text[2 * CELL_BYTES];

	for (uint32_t i = first; i < end; i++) {
		const struct core *core = &stats->all.cores[stats->lines[i].core];

		n_x = core->x >= n_x ? core->x + 1 : n_x;
		n_y = core->y >= n_y ? core->y + 1 : n_y;
	}
	write_grid_head(n_x, width, writer);
	for (uint32_t y = 0; y < n_y; y++) {
		snprintf(text, sizeof(text), "%u||", y);
		pad(writer, text, ROW_WIDTH);
		for (uint32_t x = 0; x < n_x; x++) {
			const struct core at = {.x = x, .y = y};
			const struct core_line *line = line_of(stats, first, end, &at);

			strcpy(text, "X");
			if (line)
				print_cell(line, text);
			pad(writer, text, width);
		}
		writer_char(writer, '\n');
	}
	writer_literal(writer, "\n\n\n");
}

static void write_device_name(const struct core_stats *stats, uint32_t place, struct writer *writer)
{
	const struct identity *identity = stats->all.timeline->identity;
	const struct device *device = core_device(&stats->all, place);
	const struct process *process = &identity->processes[device->process];

	if (process->rank >= 0)
		writer_format(writer, "\n# rank %d", process->rank);
	else
		writer_literal(writer, "\n# no rank");
	writer_format(writer, ", pid %u on %s, device %u\n", process->pid,
	              string_get(stats->all.timeline->strings, process->host), device->device);
}

/* Lines of an analysis stand together, those of its cores first. */
static void write_blocks(const struct core_stats *stats, struct text_sink *sink)
{
	const struct core_line *lines = stats->lines;
	struct writer *writer = &sink->writer;

	for (uint32_t first = 0, end = 0; first < stats->n_lines; first = end + 1) {
		for (end = first; lines[end].core != FLEXTRACE_NONE; end++)
			;
		if (first && lines[first].device != lines[first - 1].device)
			write_device_name(stats, lines[first].device, writer);
		write_head(stats, &lines[end], writer);
		if (end > first)
			write_grid(stats, first, end, writer);
		sink->count->rows++;
	}
}

static int write_text(const struct findings *findings, struct text_sink *sink)
{
	struct core_stats stats;
	int code = core_stats_init(&stats, findings);

	if (code == FLEXTRACE_OK)
		write_blocks(&stats, sink);
	core_stats_release(&stats);
	return code;
}

const struct analysis analysis_device_stats_text = {
	.name = "device_stats_text",
	.file = ANALYSIS_TEXT("device_stats.txt", write_text),
	.shape_of = IDENTITY_TT_METAL_FILE,
};
