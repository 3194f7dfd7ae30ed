/* SPDX-License-Identifier: Apache-2.0 */
/*
 * categories.txt: categories.csv in columns, for reading.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis_impl.h"
#include "categories_impl.h"
#include "base/text/writer.h"

#define MIN_NAME 8  /* bytes */
#define MAX_NAME 60 /* longer ones push the rest aside */

static size_t name_width(const struct categories *categories)
{
	size_t width = MIN_NAME;

	for (uint32_t i = 0; i < categories->n_lines; i++) {
		size_t n = strlen(category_name(categories, &categories->lines[i]));

		width = n > width && n <= MAX_NAME ? n : width;
	}
	return width;
}

static void write_name(struct writer *writer, const char *name, size_t width)
{
	for (size_t n = strlen(name); n < width; n++)
		writer_char(writer, ' ');
	analysis_write_shown(writer, name);
}

static double share(double part, double all)
{
	return all > 0 ? part / all : 0;
}

static void write_head(const struct category_line *line, struct writer *writer)
{
	char rank[16] = "-";
	const char *phase = kernel_phase_name(line->phase);

	if (line->rank >= 0)
		snprintf(rank, sizeof(rank), "%" PRId32, line->rank);
	writer_format(writer, "%5s %-8s ", rank, *phase ? phase : "-");
}

static void write_figures(const struct category_line *line, struct writer *writer)
{
	const struct category_line *total = category_total(line);

	writer_format(writer,
	              " %8" PRIu64 " %14.3f %9.4f %14" PRIu64 " %11.4f %14.0f %14" PRIu64
	              " %14.3f %10.4f %8.4f\n",
	              line->calls, (double)line->kernel_ns / 1e3,
	              share((double)line->kernel_ns, (double)total->kernel_ns), line->cycles,
	              share((double)line->cycles, (double)total->cycles), line->cycles_core,
	              line->ideal_cycles, line->ideal_ns / 1e3,
	              share((double)line->ideal_cycles, (double)total->ideal_cycles),
	              share(line->ideal_ns, (double)line->kernel_ns));
}

static void write_lines(const struct categories *categories, struct writer *writer)
{
	size_t width = name_width(categories);

	writer_literal(writer, " rank phase    ");
	write_name(writer, "category", width);
	writer_literal(writer,
	               "    calls      kernel_us frac_time         cycles frac_cycles"
	               "    cycles_core   ideal_cycles       ideal_us frac_ideal  pt_util\n");
	for (uint32_t i = 0; i < categories->n_lines; i++) {
		const struct category_line *line = &categories->lines[i];

		write_head(line, writer);
		write_name(writer, category_name(categories, line), width);
		write_figures(line, writer);
	}
}

static int write(const struct findings *findings, struct text_sink *sink)
{
	struct categories categories;
	int code = categories_count(&categories, findings);

	if (code == FLEXTRACE_OK)
		write_lines(&categories, &sink->writer);
	sink->count->rows = categories.n_lines;
	categories_release(&categories);
	return code;
}

const struct analysis analysis_categories_text = {.name = "categories",
                                                  .file = ANALYSIS_TEXT("categories.txt", write)};
