/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bandwidth.csv: what the DMA of each device moved, by direction. Transfers come in order of their
 * starts, so that one sweep knows how long at least one was under way. Memory: 8 bytes per
 * transfer.
 */
#include <stdlib.h>

#include "array.h"
#include "dma.h"

#define FILE_NAME "bandwidth.csv"

struct flow_rate { /* of a device, one way */
	uint64_t n, n_duplicates, n_timeless;
	uint64_t bytes, sum_ns, busy_ns; /* at most UINT64_MAX */
	int64_t reach_time_ns;           /* where the transfers so far end */
	uint64_t *rates;                 /* owned: bytes per second of each, or UINT64_MAX */
	uint32_t n_rates, n_allocated;
};

struct bandwidth {
	const struct timeline *timeline; /* weak */
	struct owners owners;
	struct flow_rate *rates; /* owned, by struct device and direction */
	uint64_t n_lines;
};

static int add_rate(struct flow_rate *flow, const struct dma *dma, uint64_t ns)
{
	double rate = (double)dma->bytes * 1e9 / (double)ns + 0.5;

	FLEXTRACE_TRY(ARRAY_RESERVE(flow->rates, flow->n_allocated, flow->n_rates + 1ull));
	flow->rates[flow->n_rates++] = rate < 18e18 ? (uint64_t)rate : UINT64_MAX;
	return FLEXTRACE_OK;
}

static int count(struct flow_rate *flow, const struct dma *dma)
{
	int64_t from_ns = dma->row->start_time_ns, to_ns = dma->row->end_time_ns;
	uint64_t ns = analysis_duration(from_ns, to_ns);

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
		flow->busy_ns += analysis_duration(from_ns, to_ns);
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

static void write_gbps(struct writer *writer, uint64_t bytes_per_s)
{
	writer_char(writer, ',');
	writer_fixed(writer, (double)bytes_per_s / 1e9, 4);
}

static void write_rates(struct flow_rate *flow, struct writer *writer)
{
	struct spread spread;

	if (!flow->n_rates) {
		writer_literal(writer, ",,,,,\n");
		return;
	}
	writer_char(writer, ',');
	writer_fixed(writer, (double)flow->bytes / (double)flow->busy_ns, 4);
	spread_of(flow->rates, flow->n_rates, &spread);
	write_gbps(writer, spread.mean);
	write_gbps(writer, spread.median);
	write_gbps(writer, spread.min);
	write_gbps(writer, spread.max);
	writer_char(writer, '\n');
}

static void write_flow(const struct bandwidth *bandwidth, uint32_t device, uint8_t direction,
                       struct writer *writer)
{
	static const char *const directions[] = {"in", "out", "within", "peer"};
	const struct device *of = &bandwidth->timeline->identity->devices[device];
	struct flow_rate *flow = &bandwidth->rates[device * DMA_DIRECTION_COUNT + direction];
	const uint64_t counts[] = {flow->n,     flow->n_duplicates, flow->n_timeless,
	                           flow->bytes, flow->sum_ns,       flow->busy_ns};

	owners_write(&bandwidth->owners, of->process, writer);
	writer_char(writer, ',');
	writer_u64(writer, of->device);
	writer_char(writer, ',');
	writer_raw(writer, directions[direction]);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		writer_char(writer, ',');
		writer_u64(writer, counts[i]);
	}
	write_rates(flow, writer);
}

static void write_flows(void *context, struct writer *writer)
{
	struct bandwidth *bandwidth = context;

	writer_literal(writer, "rank,host,pid,device,direction,transfers,duplicates,timeless,bytes,"
	                       "sum_ns,busy_ns,gbps,mean_gbps,median_gbps,min_gbps,max_gbps\n");
	for (uint32_t i = 0; i < bandwidth->timeline->identity->n_devices; i++) {
		uint32_t device = bandwidth->owners.devices[i];

		for (int way = 0; way < DMA_DIRECTION_COUNT; way++) {
			if (!bandwidth->rates[device * DMA_DIRECTION_COUNT + (uint32_t)way].n)
				continue;
			write_flow(bandwidth, device, (uint8_t)way, writer);
			bandwidth->n_lines++;
		}
	}
}

static void release(struct bandwidth *bandwidth)
{
	uint64_t n = (uint64_t)bandwidth->timeline->identity->n_devices * DMA_DIRECTION_COUNT;

	for (uint64_t i = 0; bandwidth->rates && i < n; i++)
		free(bandwidth->rates[i].rates);
	free(bandwidth->rates);
	owners_release(&bandwidth->owners);
}

static int write_bandwidth(const struct timeline *timeline, const char *output_dir,
                           uint64_t *ret_rows, struct flextrace_error *error)
{
	struct bandwidth bandwidth = {.timeline = timeline};
	int code;

	if (count_transfers(&bandwidth) < 0)
		code = analysis_no_memory(FILE_NAME, error);
	else
		code = analysis_save(output_dir, FILE_NAME, write_flows, &bandwidth, error);
	*ret_rows = bandwidth.n_lines;
	release(&bandwidth);
	return code;
}

const struct analysis analysis_bandwidth = {.name = "bandwidth", .write = write_bandwidth};
