/* SPDX-License-Identifier: Apache-2.0 */
/*
 * categories.csv, categories.txt: kernels by the compiler's category, per rank and phase; empty
 * without compiler information.
 */
#include <stdlib.h>

#include "analysis_impl.h"
#include "array.h"
#include "categories_impl.h"
#include "map.h"

/* -- lines ------------------------------------------------------------------------------------- */

static int add_line(struct categories *categories, struct map *places,
                    const struct category_line *key, uint32_t *ret_place)
{
	uint64_t group = (uint64_t)(uint32_t)key->rank << 16 | (uint64_t)key->phase << 8 |
	                 key->order;

	*ret_place = map_find(places, group, key->category);
	if (*ret_place != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_RESERVE(categories->lines, categories->n_allocated,
	                            categories->n_lines + 1ull));
	*ret_place = categories->n_lines;
	categories->lines[categories->n_lines++] = *key;
	return map_put(places, group, key->category, *ret_place);
}

static void add_to(struct category_line *line, const struct category_line *kernel)
{
	line->calls++;
	line->kernel_ns += kernel->kernel_ns;
	line->cycles += kernel->cycles;
	line->ideal_cycles += kernel->ideal_cycles;
	line->cycles_core += kernel->cycles_core;
	line->ideal_ns += kernel->ideal_ns;
}

/* The kernel's category, or `other`, and the total; both of these are always there. */
static int count_kernel(struct categories *categories, struct map *places,
                        const struct category_line *kernel)
{
	struct category_line key = {.rank = kernel->rank, .phase = kernel->phase};
	uint32_t places_of[3];

	for (key.order = CATEGORY_OTHER; key.order <= CATEGORY_TOTAL; key.order++)
		FLEXTRACE_TRY(add_line(categories, places, &key, &places_of[key.order]));
	if (kernel->category) {
		key.order = CATEGORY_NAMED;
		key.category = kernel->category;
		FLEXTRACE_TRY(add_line(categories, places, &key, &places_of[CATEGORY_NAMED]));
	}
	add_to(&categories->lines[places_of[CATEGORY_TOTAL]], kernel);
	add_to(&categories->lines[places_of[kernel->category ? CATEGORY_NAMED : CATEGORY_OTHER]],
	       kernel);
	return FLEXTRACE_OK;
}

static struct category_line look_at(const struct timeline *timeline, const struct device_row *row)
{
	const struct kernel_costs *costs = timeline->costs;
	const struct kernel_cost *cost = kernel_cost_of(costs, row);
	const uint64_t *ticks = timeline->ops[row->source].ticks;
	uint32_t device = timeline->tracks[row->track].owner;
	const struct identity *identity = timeline->identity;
	struct category_line line = {
		.rank = identity->processes[identity->devices[device].process].rank,
		.kernel_ns = kernel_time_ns(costs, row),
	};

	line.cycles_core = (double)line.kernel_ns * costs->core_hz[device] / 1e9;
	if (ticks[2] && ticks[3] > ticks[2])
		line.cycles = ticks[3] - ticks[2];
	if (!cost)
		return line;
	line.phase = cost->phase;
	line.category = cost->category;
	line.ideal_cycles = cost->ideal_cycles;
	line.ideal_ns = kernel_ideal_ns(costs, device, cost->ideal_cycles);
	return line;
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct category_line *a = left, *b = right;
	const struct string_pool *strings = context;

	if (a->rank != b->rank)
		return (uint32_t)a->rank < (uint32_t)b->rank ? -1 : 1;
	if (a->phase != b->phase)
		return (int)a->phase - (int)b->phase;
	if (a->order != b->order)
		return (int)a->order - (int)b->order;
	if (a->kernel_ns != b->kernel_ns)
		return a->kernel_ns > b->kernel_ns ? -1 : 1;
	return strcmp(string_get(strings, a->category), string_get(strings, b->category));
}

int categories_count(struct categories *categories, const struct timeline *timeline)
{
	const struct device_row *row;
	struct table_cursor cursor;
	struct map places = {0};
	int code = FLEXTRACE_OK;

	*categories = (struct categories){.strings = timeline->strings};
	if (!timeline->costs)
		return FLEXTRACE_OK;
	analysis_read(&cursor, &timeline->device_rows);
	while (code == FLEXTRACE_OK && (row = table_next(&cursor, sizeof(*row)))) {
		struct category_line kernel;

		if (row->kind != ROW_EXEC)
			continue;
		kernel = look_at(timeline, row);
		code = count_kernel(categories, &places, &kernel);
	}
	map_release(&places);
	if (categories->n_lines)
		qsort_r(categories->lines, categories->n_lines, sizeof(categories->lines[0]),
		        compare_lines, (void *)timeline->strings);
	return code;
}

void categories_release(struct categories *categories)
{
	free(categories->lines);
}

const struct category_line *category_total(const struct category_line *line)
{
	while (line->order != CATEGORY_TOTAL)
		line++;
	return line;
}

/* -- CSV --------------------------------------------------------------------------------------- */

static void write_share(struct writer *writer, double part, double all)
{
	writer_char(writer, ',');
	if (all > 0)
		writer_fixed(writer, part / all, 4);
}

static void write_count(struct writer *writer, uint64_t count)
{
	writer_char(writer, ',');
	writer_u64(writer, count);
}

static void write_name(const struct categories *categories, struct writer *writer,
                       const struct category_line *line)
{
	const char *name = category_name(categories, line);

	writer_csv(writer, name, strlen(name));
}

static void write_line(const struct categories *categories, struct writer *writer,
                       const struct category_line *line)
{
	const struct category_line *total = category_total(line);

	if (line->rank >= 0)
		writer_i64(writer, line->rank);
	writer_char(writer, ',');
	writer_raw(writer, kernel_phase_name(line->phase));
	writer_char(writer, ',');
	write_name(categories, writer, line);
	write_count(writer, line->calls);
	write_count(writer, line->kernel_ns);
	write_share(writer, (double)line->kernel_ns, (double)total->kernel_ns);
	write_count(writer, line->cycles);
	write_share(writer, (double)line->cycles, (double)total->cycles);
	write_count(writer, (uint64_t)(line->cycles_core + 0.5));
	write_count(writer, line->ideal_cycles);
	write_count(writer, (uint64_t)(line->ideal_ns + 0.5));
	write_share(writer, (double)line->ideal_cycles, (double)total->ideal_cycles);
	write_share(writer, line->ideal_ns, (double)line->kernel_ns);
	writer_char(writer, '\n');
}

static void write_csv(const struct categories *categories, struct writer *writer)
{
	writer_literal(writer, "rank,phase,category,calls,kernel_ns,frac_time,cycles,frac_cycles,"
	                       "cycles_core,ideal_cycles,ideal_ns,frac_ideal,pt_util\n");
	for (uint32_t i = 0; i < categories->n_lines; i++)
		write_line(categories, writer, &categories->lines[i]);
}

/* -- files ------------------------------------------------------------------------------------- */

static int write_file(const char *file,
                      void (*write)(const struct categories *categories, struct writer *writer),
                      const struct timeline *timeline, const char *output_dir, uint64_t *ret_rows,
                      struct flextrace_error *error)
{
	struct categories categories;
	struct writer writer;
	int code = categories_count(&categories, timeline);

	*ret_rows = categories.n_lines;
	if (code < 0)
		error_set(error, code, "Cannot write %s: no memory", file);
	else
		code = writer_open(&writer, output_dir, file, false, error);
	if (code == 0) {
		write(&categories, &writer);
		code = writer_close(&writer, error);
	}
	categories_release(&categories);
	return code;
}

static int write_categories(const struct timeline *timeline, const char *output_dir,
                            uint64_t *ret_rows, struct flextrace_error *error)
{
	return write_file("categories.csv", write_csv, timeline, output_dir, ret_rows, error);
}

static int write_categories_text(const struct timeline *timeline, const char *output_dir,
                                 uint64_t *ret_rows, struct flextrace_error *error)
{
	return write_file("categories.txt", categories_write_text, timeline, output_dir, ret_rows,
	                  error);
}

const struct analysis analysis_categories = {.name = "categories", .write = write_categories};
const struct analysis analysis_categories_text = {
	.name = "categories", .file = "categories.txt", .write = write_categories_text};
