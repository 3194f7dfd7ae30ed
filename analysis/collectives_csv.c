/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.csv: one line for each rank and collective, by start and rank.
 */
#include <math.h>

#include "findings/collectives/collectives.h"
#include "model/words/kinds.h"
#include "model/alignment.h"
#include "analysis_impl.h"

static const char *algorithm_name(uint8_t algorithm)
{
	static const char *const names[] = {"", "multicast", "chain", "tree"};

	return names[algorithm];
}

/* A time that the part waited for the last rank, once it was ready itself. */
static uint64_t wait_ns(const struct collective_part *part)
{
	int64_t until_ns = part->ready_time_ns < part->end_time_ns ? part->ready_time_ns
	                                                           : part->end_time_ns;

	return interval_ns(part->start_time_ns, until_ns);
}

struct collective_row {
	struct collective_part of;
	struct owner_cells owner;
	uint32_t device;
	const char *group, *op, *algorithm, *status;
	uint32_t sent, received;
	int64_t start_ns, end_ns;
	uint64_t dur_ns, wait_ns;
	double alg_gbps, bus_gbps;
};

static const struct column columns[] = {
	COLUMNS_OWNER(struct collective_row),
	COLUMN_OPTIONAL(struct collective_row, device),
	COLUMN(struct collective_row, group),
	COLUMN_AS("number", struct collective_row, of.number),
	COLUMN(struct collective_row, op),
	COLUMN(struct collective_row, algorithm),
	COLUMN_AS("ranks", struct collective_row, of.ranks),
	COLUMN_AS("bytes", struct collective_row, of.bytes),
	COLUMN_OPTIONAL(struct collective_row, sent),
	COLUMN_OPTIONAL(struct collective_row, received),
	COLUMN(struct collective_row, start_ns),
	COLUMN(struct collective_row, end_ns),
	COLUMN(struct collective_row, dur_ns),
	COLUMN_OPTIONAL(struct collective_row, wait_ns),
	COLUMN_OPTIONAL_AS("err_ns", struct collective_row, of.err_ns),
	COLUMN(struct collective_row, status),
	COLUMN_FIXED(struct collective_row, alg_gbps, 4),
	COLUMN_FIXED(struct collective_row, bus_gbps, 4),
};

static void fill_rates(struct collective_row *row, double size, double bus)
{
	double rate = (double)row->of.bytes * size / (double)row->dur_ns; /* bytes per ns: GB/s */
	bool has_rate = row->dur_ns && row->of.bytes;

	row->alg_gbps = has_rate ? rate : (double)NAN;
	row->bus_gbps = has_rate && bus > 0 ? rate * bus : (double)NAN;
}

static void put_part(const struct collectives *collectives, const struct collective_part *part,
                     struct row_sink *sink)
{
	const struct timeline *timeline = collectives->timeline;
	bool is_device = part->device != FLEXTRACE_NONE, is_told = part->told_op;
	const char *name = is_told ? part->told_op
	                           : string_get(timeline->strings,
	                                        is_device ? part->group : part->op);
	int64_t epoch_offset_ns = alignment_epoch_offset_ns(timeline->alignment);
	double size, bus;
	struct collective_row row = {
		.of = *part,
		.owner = identity_owner(timeline->identity, part->process),
		.device = is_device ? timeline->identity->devices[part->device].device
	                            : COLUMN_NONE_U32,
		.group = string_get(timeline->strings, part->group),
		.op = collective_op(name, part->ranks, &size, &bus),
		.algorithm = algorithm_name(part->algorithm),
		.status = time_status_name(part->status),
		.sent = is_device && !is_told ? part->sent : COLUMN_NONE_U32,
		.received = is_device && !is_told ? part->received : COLUMN_NONE_U32,
		.start_ns = part->start_time_ns + epoch_offset_ns,
		.end_ns = part->end_time_ns + epoch_offset_ns,
		.dur_ns = interval_ns(part->start_time_ns, part->end_time_ns),
		.wait_ns = part->is_known ? wait_ns(part) : COLUMN_NONE_U64,
	};

	if (!row.op)
		row.op = is_device && !is_told ? "" : name;
	fill_rates(&row, size, bus);
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

const struct analysis analysis_collectives = ANALYSIS_CSV("collectives", columns, fill);
