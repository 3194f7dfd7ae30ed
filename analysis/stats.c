/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define MIN_CHUNK 4u /* durations */
#define MAX_CHUNK 4096u

/* Chunks of a group double, and are all full but the last. */
struct stats_chunk {
	struct stats_chunk *before; /* weak */
	uint32_t n, n_allocated;
	uint64_t durations_ns[];
};

void stats_init(struct stats *stats, const char *(*label)(uint8_t kind))
{
	*stats = (struct stats){.label = label};
}

void stats_release(struct stats *stats)
{
	free(stats->groups);
	free(stats->scratch_ns);
	map_release(&stats->places);
	table_release(&stats->chunks);
	stats_init(stats, stats->label);
}

/* -- counting ------------------------------------------------------------------------------- */

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int add_group(struct stats *stats, uint8_t kind, uint32_t name, uint32_t *ret_group)
{
	uint32_t n = stats->n_groups;

	FLEXTRACE_TRY(ARRAY_RESERVE(stats->groups, stats->n_allocated, n + 1));
	FLEXTRACE_TRY(map_put(&stats->places, kind, name, n));
	stats->groups[n] = (struct stats_group){.name = name, .kind = kind, .min_ns = UINT64_MAX};
	stats->n_groups++;
	*ret_group = n;
	return FLEXTRACE_OK;
}

static int add_chunk(struct stats *stats, struct stats_group *group)
{
	struct stats_chunk *last = group->last, *chunk;
	uint32_t n = last ? 2 * last->n : MIN_CHUNK;

	n = n < MAX_CHUNK ? n : MAX_CHUNK;
	chunk = table_append(&stats->chunks, sizeof(*chunk) + n * sizeof(*chunk->durations_ns));
	if (!chunk)
		return FLEXTRACE_E_MEMORY;
	*chunk = (struct stats_chunk){.before = last, .n_allocated = n};
	group->last = chunk;
	return FLEXTRACE_OK;
}

static int keep_duration(struct stats *stats, struct stats_group *group, uint64_t duration_ns)
{
	if (!group->last || group->last->n == group->last->n_allocated)
		FLEXTRACE_TRY(add_chunk(stats, group));
	group->last->durations_ns[group->last->n++] = duration_ns;
	group->calls++;
	return FLEXTRACE_OK;
}

int stats_count(struct stats *stats, uint8_t kind, uint32_t name, uint64_t duration_ns,
                uint32_t *ret_group)
{
	struct stats_group *group;

	*ret_group = map_find(&stats->places, kind, name);
	if (*ret_group == MAP_NONE)
		FLEXTRACE_TRY(add_group(stats, kind, name, ret_group));
	group = &stats->groups[*ret_group];
	FLEXTRACE_TRY(keep_duration(stats, group, duration_ns));
	group->total_ns = add_saturated(group->total_ns, duration_ns);
	stats->total_ns = add_saturated(stats->total_ns, duration_ns);
	if (duration_ns < group->min_ns)
		group->min_ns = duration_ns;
	if (duration_ns > group->max_ns)
		group->max_ns = duration_ns;
	return FLEXTRACE_OK;
}

struct sorting {
	const struct stats *stats;
	const struct string_pool *strings;
};

static int compare_groups(const void *left_group, const void *right_group, void *context)
{
	const struct stats_group *left = left_group, *right = right_group;
	const struct sorting *sorting = context;
	int order;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	order = strcmp(string_get(sorting->strings, left->name),
	               string_get(sorting->strings, right->name));
	if (order)
		return order;
	return strcmp(sorting->stats->label(left->kind), sorting->stats->label(right->kind));
}

int stats_finish(struct stats *stats, const struct string_pool *strings)
{
	struct sorting sorting = {stats, strings};
	uint64_t most = 0;

	for (uint32_t i = 0; i < stats->n_groups; i++)
		most = stats->groups[i].calls > most ? stats->groups[i].calls : most;
	stats->scratch_ns = malloc((most + 1) * sizeof(*stats->scratch_ns));
	if (!stats->scratch_ns)
		return FLEXTRACE_E_MEMORY;
	if (stats->n_groups)
		qsort_r(stats->groups, stats->n_groups, sizeof(*stats->groups), compare_groups,
		        &sorting);
	return FLEXTRACE_OK;
}

/* -- figures -------------------------------------------------------------------------------- */

static void swap(uint64_t *left, uint64_t *right)
{
	uint64_t held = *left;

	*left = *right;
	*right = held;
}

/* Hoare's selection: afterwards values[k] is in its sorted place, smaller ones before, larger
 * ones behind it. Pivots are drawn, so that no order of input makes it slow. */
static uint64_t select_nth(uint64_t *values, int64_t n, int64_t k)
{
	uint64_t random = 0x9e3779b97f4a7c15u;
	int64_t low = 0, high = n - 1; /* the place lies in [low, high] */

	while (low < high) {
		int64_t left = low, right = high;
		uint64_t pivot;

		random = random * 6364136223846793005u + 1442695040888963407u;
		pivot = values[low + (int64_t)((random >> 33) % (uint64_t)(high - low + 1))];
		while (left <= right) {
			while (values[left] < pivot)
				left++;
			while (values[right] > pivot)
				right--;
			if (left <= right)
				swap(&values[left++], &values[right--]);
		}
		/* [low, right] <= pivot <= [left, high], and what lies between is the pivot */
		if (k <= right)
			high = right;
		else if (k >= left)
			low = left;
		else
			break;
	}
	return values[k];
}

/* Reorders the values. */
static uint64_t median_of(uint64_t *values, uint64_t calls)
{
	int64_t n = (int64_t)calls;
	uint64_t upper = select_nth(values, n, n / 2);
	uint64_t lower = 0;

	if (n % 2)
		return upper;
	for (int64_t i = 0; i < n / 2; i++) {
		if (values[i] > lower)
			lower = values[i];
	}
	return lower + (upper - lower) / 2 + (upper - lower) % 2;
}

static uint64_t deviation_of(const uint64_t *values, uint64_t calls, double mean)
{
	double sum = 0.0;

	if (calls < 2)
		return 0;
	for (uint64_t i = 0; i < calls; i++)
		sum += ((double)values[i] - mean) * ((double)values[i] - mean);
	return (uint64_t)(sqrt(sum / (double)(calls - 1)) + 0.5);
}

void stats_spread(struct stats *stats, const struct stats_group *group, struct stats_spread *ret)
{
	uint64_t calls = group->calls, at = calls;

	for (const struct stats_chunk *chunk = group->last; chunk; chunk = chunk->before) {
		at -= chunk->n;
		memcpy(stats->scratch_ns + at, chunk->durations_ns,
		       chunk->n * sizeof(*chunk->durations_ns));
	}
	ret->mean_ns = group->total_ns / calls + (group->total_ns % calls >= calls - calls / 2);
	ret->deviation_ns = deviation_of(stats->scratch_ns, calls,
	                                 (double)group->total_ns / (double)calls);
	ret->median_ns = median_of(stats->scratch_ns, calls);
}

/* -- writing -------------------------------------------------------------------------------- */

void stats_write_head(const struct stats *stats, const struct string_pool *strings,
                      const struct stats_group *group, struct writer *writer)
{
	writer_raw(writer, stats->label(group->kind));
	writer_char(writer, ',');
	writer_csv(writer, string_get(strings, group->name), string_length(strings, group->name));
	writer_char(writer, ',');
	writer_u64(writer, group->calls);
	writer_char(writer, ',');
	writer_u64(writer, group->total_ns);
}

void stats_write_spread(struct stats *stats, const struct stats_group *group, struct writer *writer)
{
	struct stats_spread spread;

	stats_spread(stats, group, &spread);
	writer_char(writer, ',');
	writer_u64(writer, spread.mean_ns);
	writer_char(writer, ',');
	writer_u64(writer, spread.median_ns);
	writer_char(writer, ',');
	writer_u64(writer, group->min_ns);
	writer_char(writer, ',');
	writer_u64(writer, group->max_ns);
	writer_char(writer, ',');
	writer_u64(writer, spread.deviation_ns);
}
