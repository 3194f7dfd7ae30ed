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
	uint32_t device;   /* index */
	uint8_t direction; /* enum dma_direction */
	double gbps, mean_gbps, median_gbps, min_gbps, max_gbps;
};

struct bandwidth {
	const struct timeline *timeline; /* weak */
	struct flow_rate *rates;         /* owned, by struct device and direction */
};

static int add_rate(struct flow_rate *flow, const struct dma *dma, uint64_t ns)
{
	double rate = (double)dma->bytes * 1e9 / (double)ns + 0.5;

	return ARRAY_PUSH(flow->rates, flow->n_rates, rate < 18e18 ? (uint64_t)rate : UINT64_MAX);
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

	FLEXTRACE_TRY(
		ARRAY_NEW(bandwidth->rates, (identity->n_devices + 1ull) * DMA_DIRECTION_COUNT));
	if (!bandwidth->timeline->has.bytes)
		return FLEXTRACE_OK;
	dma_read(&reader, bandwidth->timeline);
	code = count_all(bandwidth, &reader);
	dma_release(&reader);
	return code;
}

static const char *direction_name(uint8_t direction)
{
	static const char *const names[] = {"in", "out", "within", "peer"};

	return names[direction];
}

static const struct column columns[] = {
	COLUMNS_DEVICE(struct flow_rate, device),
	COLUMN_NAMED("direction", struct flow_rate, direction, direction_name),
	COLUMN_AS("transfers", struct flow_rate, n),
	COLUMN_AS("duplicates", struct flow_rate, n_duplicates),
	COLUMN_AS("timeless", struct flow_rate, n_timeless),
	COLUMN(struct flow_rate, bytes),
	COLUMN(struct flow_rate, sum_ns),
	COLUMN(struct flow_rate, busy_ns),
	COLUMN_FIXED(struct flow_rate, gbps, 4),
	COLUMN_FIXED(struct flow_rate, mean_gbps, 4),
	COLUMN_FIXED(struct flow_rate, median_gbps, 4),
	COLUMN_FIXED(struct flow_rate, min_gbps, 4),
	COLUMN_FIXED(struct flow_rate, max_gbps, 4),
};

static void fill_rates(struct flow_rate *flow)
{
	struct spread spread;

	flow->gbps = flow->mean_gbps = flow->median_gbps = flow->min_gbps = flow->max_gbps = NAN;
	if (!flow->n_rates)
		return;
	spread_of(flow->rates, flow->n_rates, &spread);
	flow->gbps = (double)flow->bytes / (double)flow->busy_ns;
	flow->mean_gbps = (double)spread.mean / 1e9;
	flow->median_gbps = (double)spread.median / 1e9;
	flow->min_gbps = (double)spread.min / 1e9;
	flow->max_gbps = (double)spread.max / 1e9;
}

static void put_flow(const struct bandwidth *bandwidth, uint32_t device, uint8_t direction,
                     struct row_sink *sink)
{
	struct flow_rate *flow = &bandwidth->rates[device * DMA_DIRECTION_COUNT + direction];

	if (!flow->n)
		return;
	flow->device = device;
	flow->direction = direction;
	fill_rates(flow);
	row_put(sink, flow);
}

static void release(struct bandwidth *bandwidth)
{
	uint64_t n = (uint64_t)bandwidth->timeline->identity->n_devices * DMA_DIRECTION_COUNT;

	for (uint64_t i = 0; bandwidth->rates && i < n; i++)
		free(bandwidth->rates[i].rates);
	free(bandwidth->rates);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	struct bandwidth bandwidth = {.timeline = timeline};
	int code = count_transfers(&bandwidth);

	for (uint32_t i = 0; code == FLEXTRACE_OK && i < timeline->identity->n_devices; i++) {
		for (uint8_t way = 0; way < DMA_DIRECTION_COUNT; way++)
			put_flow(&bandwidth, findings->owners->devices[i], way, sink);
	}
	release(&bandwidth);
	return code;
}

const struct analysis analysis_bandwidth =
	ANALYSIS_CSV("bandwidth", columns, fill, .title = "Bandwidth of copies",
                     .what = "What the DMA of each device moved: bytes divided by the "
                             "duration of each transfer that says its bytes.");
