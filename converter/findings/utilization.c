/* SPDX-License-Identifier: Apache-2.0 */
#include "utilization.h"

#include "base/blocks.h"
#include "utilization_impl.h"
#include "base/order.h"

/* -- kernels in order -------------------------------------------------------------------------- */

static uint32_t device_of(const struct timeline *timeline, const struct device_row *row)
{
	return timeline->tracks[row->track].owner;
}

/* Stores where the kernels of each device begin; the last one, where they all end. */
static int count_kernels(const struct timeline *timeline, uint64_t **ret_begins)
{
	uint32_t n_devices = timeline->identity->n_devices;
	uint64_t *begins = calloc(n_devices + 1ull, sizeof(*begins));

	*ret_begins = begins;
	if (!begins)
		return FLEXTRACE_E_MEMORY;
	TABLE_EACH(struct device_row, row, &timeline->device_rows)
		if (row->kind == ROW_EXEC)
			begins[device_of(timeline, row) + 1]++;
	for (uint32_t i = 0; i < n_devices; i++)
		begins[i + 1] += begins[i];
	return FLEXTRACE_OK;
}

/* The name that the compiler knows a kernel by. */
static int name_kernel(struct map *names, struct string_cache *strings, uint32_t name,
                       uint32_t *ret_name)
{
	*ret_name = map_find(names, 0, name);
	if (*ret_name != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(kernel_times_name(strings, string_get(strings->pool, name), ret_name));
	return map_put(names, 0, name, *ret_name);
}

static int collect_kernels(const struct timeline *timeline, struct string_cache *strings,
                           uint64_t *ends, struct matched_kernel *kernels)
{
	struct map names = {0};
	int code = FLEXTRACE_OK;

	TABLE_EACH(struct device_row, row, &timeline->device_rows) {
		struct matched_kernel *kernel;

		if (row->kind != ROW_EXEC || code < 0)
			continue;
		kernel = &kernels[ends[device_of(timeline, row)]++];
		kernel->op = row->source;
		kernel->duration_ns = (uint64_t)row->end_time_ns - (uint64_t)row->start_time_ns;
		code = name_kernel(&names, strings, timeline->ops[row->source].name, &kernel->name);
	}
	map_release(&names);
	return code;
}

/* -- ranks ------------------------------------------------------------------------------------- */

/* Ranks in order, those that are not known behind. */
static int compare_ranks(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return ORDER(a, b);
}

static int list_ranks(const struct timeline *timeline, uint32_t **ret_ranks, uint32_t *ret_n)
{
	const struct identity *identity = timeline->identity;
	uint32_t *ranks = malloc((identity->n_devices + 1ull) * sizeof(*ranks));
	uint32_t n = 0;

	*ret_ranks = ranks;
	if (!ranks)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < identity->n_devices; i++)
		ranks[n++] = (uint32_t)identity->processes[identity->devices[i].process].rank;
	qsort(ranks, n, sizeof(*ranks), compare_ranks);
	*ret_n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || ranks[i] != ranks[*ret_n - 1])
			ranks[(*ret_n)++] = ranks[i];
	return FLEXTRACE_OK;
}

/* The source of a rank; FLEXTRACE_NONE is none. */
static uint32_t source_of(const struct compiler_info *info, const uint32_t *ranks, uint32_t n_ranks,
                          int32_t rank)
{
	if (info->n_sources == 1)
		return 0;
	for (uint32_t i = 0; i < n_ranks && i < info->n_sources; i++)
		if (ranks[i] == (uint32_t)rank)
			return i;
	return FLEXTRACE_NONE;
}

/* -- all devices ------------------------------------------------------------------------------- */

static double core_hz_of(const struct device *device, const struct utilization_options *options)
{
	if (options->core_hz > 0)
		return options->core_hz;
	return device->core_hz ? (double)device->core_hz : UTILIZATION_CORE_HZ;
}

static int prepare(struct kernel_costs *costs, const struct compiler_info *info,
                   const struct utilization_options *options, const struct timeline *timeline)
{
	uint32_t n_devices = timeline->identity->n_devices;

	*costs = (struct kernel_costs){.costs = info->rows};
	costs->of_op = blocks_allocate(timeline->n_ops, sizeof(*costs->of_op));
	costs->core_hz = malloc((n_devices + 1ull) * sizeof(*costs->core_hz));
	if (options->times)
		costs->taken_ns = calloc(timeline->n_ops + 1ull, sizeof(*costs->taken_ns));
	if (!costs->of_op || !costs->core_hz || (options->times && !costs->taken_ns))
		return FLEXTRACE_E_MEMORY;
	for (uint64_t i = 0; i < timeline->n_ops; i++)
		costs->of_op[i] = FLEXTRACE_NONE;
	for (uint32_t i = 0; i < n_devices; i++)
		costs->core_hz[i] = core_hz_of(&timeline->identity->devices[i], options);
	return FLEXTRACE_OK;
}

/* What the kernels of one rank took in the other run. */
static void look_up_times(const struct kernel_times *times, int32_t rank,
                          struct matched_kernel *kernels, uint64_t n)
{
	for (uint64_t i = 0; times && i < n; i++)
		/* the caller has filled all names */
		/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
		kernels[i].taken_ns = kernel_times_mean(times, rank, kernels[i].name);
}

/* `ends`: where the kernels of a device end. */
static int match_devices(struct matching *matching, const struct timeline *timeline,
                         const uint64_t *ends, struct matched_kernel *kernels)
{
	const struct identity *identity = timeline->identity;
	uint32_t *ranks, n_ranks = 0;
	int code = list_ranks(timeline, &ranks, &n_ranks);

	for (uint32_t i = 0; i < identity->n_devices && code == FLEXTRACE_OK; i++) {
		int32_t rank = identity->processes[identity->devices[i].process].rank;

		uint64_t begin = i ? ends[i - 1] : 0;

		matching->kernels = kernels + begin;
		matching->n_kernels = ends[i] - begin;
		look_up_times(matching->times, rank, kernels + begin, ends[i] - begin);
		matching->core_hz = matching->costs->core_hz[i];
		matching->rank = rank;
		matching->source = source_of(matching->info, ranks, n_ranks, rank);
		code = matching_run(matching);
	}
	if (matching->info->n_sources > 1 && matching->info->n_sources != n_ranks)
		matching->ledger->warnings[WARNING_COMPILER_RANKS] = 1;
	free(ranks);
	return code;
}

static int match_all(struct matching *matching, const struct timeline *timeline,
                     struct string_cache *strings)
{
	uint64_t *ends = NULL, n;
	struct matched_kernel *kernels = NULL;
	int code = count_kernels(timeline, &ends);

	if (code == FLEXTRACE_OK) {
		n = ends[timeline->identity->n_devices];
		kernels = blocks_allocate(n, sizeof(*kernels));
		code = kernels ? collect_kernels(timeline, strings, ends, kernels)
		               : FLEXTRACE_E_MEMORY;
	}
	if (code == FLEXTRACE_OK)
		code = match_devices(matching, timeline, ends, kernels);
	blocks_free(kernels);
	free(ends);
	return code;
}

static int compare_uses(const void *left, const void *right)
{
	const struct kernel_table_use *a = left, *b = right;
	uint32_t rank_a = (uint32_t)a->rank, rank_b = (uint32_t)b->rank;

	return ORDER(rank_a, rank_b) ?: ORDER(a->source, b->source) ?: ORDER(a->table, b->table);
}

static bool has_autopilot(const struct kernel_costs *costs)
{
	for (uint32_t i = 0; i < costs->n_uses; i++) {
		if (costs->uses[i].is_autopilot)
			return true;
	}
	return false;
}

int utilization_run(struct kernel_costs *costs, const struct compiler_info *info,
                    const struct utilization_options *options, const struct timeline *timeline,
                    struct string_cache *strings, struct ledger *ledger)
{
	struct matching matching = {
		.info = info, .costs = costs, .ledger = ledger, .times = options->times};
	int code = prepare(costs, info, options, timeline);

	if (code == FLEXTRACE_OK)
		code = matching_init(&matching);
	if (code == FLEXTRACE_OK)
		code = match_all(&matching, timeline, strings);
	matching_release(&matching);
	ORDER_ARRAY(costs->uses, costs->n_uses, compare_uses);
	ledger->warnings[WARNING_KERNEL_TIMES_UNUSED] = options->times && !has_autopilot(costs);
	ledger->warnings[WARNING_COMPILER_DAMAGED] = info->n_bad_lines + info->n_bad_tables;
	ledger->warnings[WARNING_COMPILER_EMPTY] = info->n_empty;
	return code;
}

void utilization_release(struct kernel_costs *costs)
{
	blocks_free(costs->of_op);
	free(costs->core_hz);
	free(costs->taken_ns);
	free(costs->uses);
	*costs = (struct kernel_costs){0};
}
