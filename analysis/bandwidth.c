/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bandwidth.csv: what the DMA of each device moved, by direction. Transfers come in order of their
 * starts, so that one sweep knows how long at least one was under way. Memory: 8 bytes per
 * transfer.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "findings/dma.h"
#include "analysis_impl.h"

struct flow_rate { /* of a device, one way */
	uint64_t n, n_duplicates, n_timeless;
	uint64_t bytes, sum_ns, busy_ns; /* at most UINT64_MAX */
	int64_t reach_time_ns;           /* where the transfers so far end */
	uint64_t *rates;                 /* owned: bytes per second of each, or UINT64_MAX */
	uint32_t n_rates;
};

struct bandwidth {
	const struct timeline *timeline; /* weak */
	struct owners owners;
	struct flow_rate *rates; /* owned, by struct device and direction */
};

static int add_rate(struct flow_rate *flow, const struct dma *dma, uint64_t ns)
{
	double rate = (double)dma->bytes * 1e9 / (double)ns + 0.5;

	FLEXTRACE_TRY(
		ARRAY_PUSH(flow->rates, flow->n_rates, rate < 18e18 ? (uint64_t)rate : UINT64_MAX));
	return FLEXTRACE_OK;
}

static int count(struct flow_rate *flow, const struct dma *dma)
{
	int64_t from_ns = dma->row->start_time_ns, to_ns = dma->row->end_time_ns;
	uint64_t ns = interval_ns(from_ns, to_ns);

	if (dma->is_duplicate) {
		flow->n_duplicates++;
		return FLEXTRACE_OK;
	}
	if (flow->n++ == 0)
		flow->reach_time_ns = from_ns;
	flow->bytes = spread_add(flow->bytes, dma->bytes);
	flow->sum_ns = spread_add(flow->sum_ns, ns);
	if (to_ns > flow->reach_time_ns) {
		if (from_ns < flow->reach_time_ns)
			from_ns = flow->reach_time_ns;
		flow->busy_ns += interval_ns(from_ns, to_ns);
		flow->reach_time_ns = to_ns;
	}
	if (ns)
		return add_rate(flow, dma, ns);
	flow->n_timeless++;
	return FLEXTRACE_OK;
}

static int count_all(struct bandwidth *bandwidth, struct dma_reader *reader)
{
	struct dma dma;
	int code;

	while ((code = dma_next(reader, &dma)) > 0)
		FLEXTRACE_TRY(count(
			&bandwidth->rates[dma.device * DMA_DIRECTION_COUNT + dma.direction], &dma));
	return code;
}

static int count_transfers(struct bandwidth *bandwidth)
{
	const struct identity *identity = bandwidth->timeline->identity;
	struct dma_reader reader;
	int code;

	FLEXTRACE_TRY(owners_init(&bandwidth->owners, identity));
	bandwidth->rates = calloc((identity->n_devices + 1ull) * DMA_DIRECTION_COUNT,
	                          sizeof(*bandwidth->rates));
	if (!bandwidth->rates)
		return FLEXTRACE_E_MEMORY;
	if (!bandwidth->timeline->has_bytes)
		return FLEXTRACE_OK;
	dma_read(&reader, bandwidth->timeline);
	code = count_all(bandwidth, &reader);
	dma_release(&reader);
	return code;
}

struct bandwidth_row {
	struct owner_cells owner;
	uint32_t device;
	const char *direction;
	struct flow_rate of;
	double gbps, mean_gbps, median_gbps, min_gbps, max_gbps;
};

static const struct column columns[] = {
	COLUMNS_OWNER(struct bandwidth_row),
	COLUMN(struct bandwidth_row, device),
	COLUMN(struct bandwidth_row, direction),
	COLUMN_AS("transfers", struct bandwidth_row, of.n),
	COLUMN_AS("duplicates", struct bandwidth_row, of.n_duplicates),
	COLUMN_AS("timeless", struct bandwidth_row, of.n_timeless),
	COLUMN_AS("bytes", struct bandwidth_row, of.bytes),
	COLUMN_AS("sum_ns", struct bandwidth_row, of.sum_ns),
	COLUMN_AS("busy_ns", struct bandwidth_row, of.busy_ns),
	COLUMN_FIXED(struct bandwidth_row, gbps, 4),
	COLUMN_FIXED(struct bandwidth_row, mean_gbps, 4),
	COLUMN_FIXED(struct bandwidth_row, median_gbps, 4),
	COLUMN_FIXED(struct bandwidth_row, min_gbps, 4),
	COLUMN_FIXED(struct bandwidth_row, max_gbps, 4),
};

static void fill_rates(const struct flow_rate *flow, struct bandwidth_row *row)
{
	struct spread spread;

	row->gbps = row->mean_gbps = row->median_gbps = row->min_gbps = row->max_gbps = NAN;
	if (!flow->n_rates)
		return;
	spread_of(flow->rates, flow->n_rates, &spread);
	row->gbps = (double)flow->bytes / (double)flow->busy_ns;
	row->mean_gbps = (double)spread.mean / 1e9;
	row->median_gbps = (double)spread.median / 1e9;
	row->min_gbps = (double)spread.min / 1e9;
	row->max_gbps = (double)spread.max / 1e9;
}

static void put_flow(const struct bandwidth *bandwidth, uint32_t device, uint32_t direction,
                     struct row_sink *sink)
{
	static const char *const directions[] = {"in", "out", "within", "peer"};
	const struct identity *identity = bandwidth->timeline->identity;
	const struct flow_rate *flow = &bandwidth->rates[device * DMA_DIRECTION_COUNT + direction];
	struct bandwidth_row row = {
		.owner = identity_owner(identity, identity->devices[device].process),
		.device = identity->devices[device].device,
		.direction = directions[direction],
		.of = *flow,
	};

	if (!flow->n)
		return;
	fill_rates(flow, &row);
	row_put(sink, &row);
}

static void release(struct bandwidth *bandwidth)
{
	uint64_t n = (uint64_t)bandwidth->timeline->identity->n_devices * DMA_DIRECTION_COUNT;

	for (uint64_t i = 0; bandwidth->rates && i < n; i++)
		free(bandwidth->rates[i].rates);
	free(bandwidth->rates);
	owners_release(&bandwidth->owners);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	struct bandwidth bandwidth = {.timeline = timeline};
	int code = count_transfers(&bandwidth);

	for (uint32_t i = 0; code == FLEXTRACE_OK && i < timeline->identity->n_devices; i++) {
		for (uint32_t way = 0; way < DMA_DIRECTION_COUNT; way++)
			put_flow(&bandwidth, bandwidth.owners.devices[i], way, sink);
	}
	release(&bandwidth);
	return code;
}

const struct analysis analysis_bandwidth = ANALYSIS_CSV("bandwidth", columns, fill);
