/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.csv: one line for each rank and collective, by start and rank.
 */
#include "findings/collectives/exchanges.h"
#include "model/words/kinds.h"
#include "analysis_impl.h"

static const char *algorithm_name(uint8_t algorithm)
{
	static const char *const names[] = {"", "multicast", "chain", "tree"};

	return names[algorithm];
}

struct collective_row {
	struct collective_part of;
	const char *op;
	uint64_t wait_ns;
	double alg_gbps, bus_gbps;
};

static const struct column columns[] = {
	COLUMNS_PROCESS(struct collective_row, of.process),
	COLUMN_DEVICE(struct collective_row, of.device),
	COLUMN_STRING("group", struct collective_row, of.group),
	COLUMN_AS("number", struct collective_row, of.number),
	COLUMN(struct collective_row, op),
	COLUMN_NAMED("algorithm", struct collective_row, of.algorithm, algorithm_name),
	COLUMN_AS("ranks", struct collective_row, of.ranks),
	COLUMN_AS("bytes", struct collective_row, of.bytes),
	COLUMN_OPTIONAL_AS("sent", struct collective_row, of.sent),
	COLUMN_OPTIONAL_AS("received", struct collective_row, of.received),
	COLUMN_TIME("start_ns", struct collective_row, of.start_time_ns),
	COLUMN_TIME("end_ns", struct collective_row, of.end_time_ns),
	COLUMN_LENGTH("dur_ns", struct collective_row, of.start_time_ns),
	COLUMN_OPTIONAL(struct collective_row, wait_ns),
	COLUMN_OPTIONAL_AS("err_ns", struct collective_row, of.err_ns),
	COLUMN_NAMED("status", struct collective_row, of.status, time_status_name),
	COLUMN_FIXED(struct collective_row, alg_gbps, 4),
	COLUMN_FIXED(struct collective_row, bus_gbps, 4),
};

static void put_part(const struct collectives *collectives, const struct collective_part *part,
                     struct row_sink *sink)
{
	double size, bus;
	struct collective_row row = {
		.of = *part,
		.op = collective_part_op(collectives, part, &size, &bus),
		.wait_ns = collective_part_wait_ns(part),
	};

	if (part->device == FLEXTRACE_NONE || part->told_op)
		row.of.sent = row.of.received = COLUMN_NONE_U32;
	exchange_rates(part->bytes, interval_ns(part->start_time_ns, part->end_time_ns), size, bus,
	               &row.alg_gbps, &row.bus_gbps);
	row_put(sink, &row);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct collectives collectives;
	int code = collectives_find(&collectives, findings);

	for (uint32_t i = 0; code == FLEXTRACE_OK && i < collectives.n_parts; i++)
		put_part(&collectives, &collectives.parts[i], sink);
	collectives_release(&collectives);
	return code;
}

const struct analysis analysis_collectives =
	ANALYSIS_CSV("collectives", columns, fill, .title = "Collectives",
                     .what = "What ranks did together, and how long each waited: the wait "
                             "of a rank lasts from its arrival to that of the last one. "
                             "Bandwidth is bytes divided by duration.");
