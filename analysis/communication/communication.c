/* SPDX-License-Identifier: Apache-2.0 */
/*
 * communication.csv: how long ranks exchanged something, how much of it was hidden behind
 * computation, how long they waited for each other, and how fast it was, by operation and size.
 */
#include "../analysis_impl.h"
#include "base/order.h"
#include "findings/collectives/exchanges.h"
#include "findings/statistics/difference.h"

struct communication_row {
	struct group_key key;   /* owner: 2 * position (behind the last: all) + by a device */
	uint32_t process, last; /* collective that was counted */
	uint64_t collectives, count, bytes, total_ns, hidden_ns, wait_ns, max_skew_ns;
	uint64_t unsure, err_ns; /* the latter UINT32_MAX: one has no bound */
	uint64_t n_waits;
	struct sample skew, alg, bus;
	/* from here: made of these when the row is put */
	const char *of, *op;
	uint64_t size_bytes, exposed_ns;
	double hidden_percent, skew_ns, alg_gbps, alg_stderr, bus_gbps, bus_stderr;
};

struct communication {
	const struct findings *findings; /* weak */
	struct exchanges exchanges;
	struct name_groups rows; /* struct communication_row */
};

/* Kinds of rows: of an operation, all sizes and one of them; of all operations. */
enum { ALL_SIZES, NO_BYTES, FIRST_SIZE, ALL_OPS = 255, N_LEVELS = 3 };

static uint8_t kind_of(const struct exchange *exchange, int level)
{
	if (level)
		return level == 1 ? ALL_SIZES : ALL_OPS;
	return exchange->bytes ? (uint8_t)(FIRST_SIZE + 63 - __builtin_clzll(exchange->bytes))
	                       : NO_BYTES;
}

static void add_known(struct sample *sample, double number)
{
	if (isfinite(number))
		sample_add(sample, number);
}

static void add(struct communication_row *row, const struct exchange *exchange,
                const struct together *together, bool is_all)
{
	bool is_next = !row->count || row->last != exchange->collective;

	row->last = exchange->collective;
	row->count++;
	row->bytes += exchange->bytes;
	row->total_ns += interval_ns(exchange->start_time_ns, exchange->end_time_ns);
	row->hidden_ns += exchange->hidden_ns;
	row->err_ns = exchange->err_ns > row->err_ns ? exchange->err_ns : row->err_ns;
	row->n_waits += exchange->wait_ns != UINT64_MAX;
	row->wait_ns += exchange->wait_ns != UINT64_MAX ? exchange->wait_ns : 0;
	row->collectives += is_next;
	if ((is_next || !is_all) && row->key.kind != ALL_OPS) {
		add_known(&row->alg, is_all ? together->alg_gbps : exchange->alg_gbps);
		add_known(&row->bus, is_all ? together->bus_gbps : exchange->bus_gbps);
	}
	if (!is_next || together->skew_ns == UINT64_MAX)
		return;
	row->unsure += together->is_unsure;
	sample_add(&row->skew, (double)together->skew_ns);
	if (together->skew_ns > row->max_skew_ns)
		row->max_skew_ns = together->skew_ns;
}

static int count(struct communication *communication, const struct exchange *exchange,
                 const struct together *together)
{
	const struct owners *owners = communication->findings->owners;

	for (int i = 0; i < (int)communication->exchanges.n_processes * N_LEVELS; i++) {
		bool is_all = i >= N_LEVELS;
		uint8_t kind = kind_of(exchange, i % N_LEVELS);
		uint32_t place, position = is_all ? owners->identity->n_processes
		                                  : owners->positions[exchange->process];
		const struct group_key key = {2 * position + (exchange->device != FLEXTRACE_NONE),
		                              kind == ALL_OPS ? 0 : exchange->op, kind, 0};
		struct communication_row *row;

		FLEXTRACE_TRY(name_groups_find(&communication->rows, &key, &place));
		row = name_groups_at(&communication->rows, place);
		row->process = is_all ? FLEXTRACE_NONE : exchange->process;
		add(row, exchange, together, is_all);
	}
	return FLEXTRACE_OK;
}

/* -- rows -------------------------------------------------------------------------------------- */

static const struct column columns[] = {
	COLUMNS_PROCESS(struct communication_row, process),
	COLUMN(struct communication_row, of),
	COLUMN(struct communication_row, op),
	COLUMN_OPTIONAL(struct communication_row, size_bytes),
	COLUMN(struct communication_row, collectives),
	COLUMN(struct communication_row, count),
	COLUMN(struct communication_row, bytes),
	COLUMN(struct communication_row, total_ns),
	COLUMN(struct communication_row, hidden_ns),
	COLUMN(struct communication_row, exposed_ns),
	COLUMN_FIXED(struct communication_row, hidden_percent, 2),
	COLUMN_OPTIONAL(struct communication_row, wait_ns),
	COLUMN_FIXED(struct communication_row, skew_ns, 0),
	COLUMN_OPTIONAL(struct communication_row, max_skew_ns),
	COLUMN_OPTIONAL(struct communication_row, unsure),
	COLUMN_OPTIONAL(struct communication_row, err_ns),
	COLUMN_FIXED(struct communication_row, alg_gbps, 4),
	COLUMN_FIXED_AS("alg_stderr_gbps", struct communication_row, alg_stderr, 4),
	COLUMN_FIXED(struct communication_row, bus_gbps, 4),
	COLUMN_FIXED_AS("bus_stderr_gbps", struct communication_row, bus_stderr, 4),
};

static void put(const struct communication *communication, struct communication_row row,
                struct row_sink *sink)
{
	uint64_t size = row.key.kind < FIRST_SIZE ? 0 : 1ull << (row.key.kind - FIRST_SIZE) % 64;
	bool is_sum = row.key.kind == ALL_SIZES || row.key.kind == ALL_OPS;

	row.of = row.key.owner % 2 ? "device" : "program";
	row.op = string_get(communication->exchanges.collectives.names, row.key.name);
	row.size_bytes = is_sum ? COLUMN_NONE_U64 : size;
	row.exposed_ns = row.total_ns - row.hidden_ns;
	row.hidden_percent = 100.0 * (double)row.hidden_ns / (double)row.total_ns;
	row.wait_ns = row.n_waits ? row.wait_ns : COLUMN_NONE_U64;
	row.skew_ns = sample_mean(&row.skew);
	if (!(row.skew.n > 0))
		row.max_skew_ns = row.unsure = COLUMN_NONE_U64;
	row.err_ns = row.err_ns == UINT32_MAX ? COLUMN_NONE_U64 : row.err_ns;
	row.alg_gbps = sample_mean(&row.alg);
	row.alg_stderr = sample_standard_error(&row.alg);
	row.bus_gbps = sample_mean(&row.bus);
	row.bus_stderr = sample_standard_error(&row.bus);
	row_put(sink, &row);
}

/* All operations of an owner first, then each, of all its sizes first. */
static int compare_rows(const void *left, const void *right, void *context)
{
	const struct communication *communication = context;
	const struct communication_row *a = name_groups_at(&communication->rows,
	                                                   *(const uint32_t *)left);
	const struct communication_row *b = name_groups_at(&communication->rows,
	                                                   *(const uint32_t *)right);

	return ORDER(a->key.owner, b->key.owner) ?:
	       ORDER(b->key.kind == ALL_OPS, a->key.kind == ALL_OPS) ?:
	       string_compare(communication->exchanges.collectives.names, a->key.name,
	                      b->key.name) ?:
	       ORDER(a->key.kind, b->key.kind);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct communication communication = {.findings = findings};
	struct name_groups *rows = &communication.rows;
	struct together together = {.n = 0};
	int code = exchanges_find(&communication.exchanges, findings);

	name_groups_init(rows, sizeof(struct communication_row),
	                 6ull * communication.exchanges.n + 1);
	while (code == FLEXTRACE_OK && exchanges_next(&communication.exchanges, &together)) {
		for (uint32_t i = 0; code == FLEXTRACE_OK && i < together.n; i++)
			code = count(&communication, &together.first[i], &together);
	}
	if (code == FLEXTRACE_OK)
		code = name_groups_sort(rows, compare_rows, &communication);
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < rows->n; i++)
		put(&communication, *(const struct communication_row *)name_groups_line(rows, i),
		    sink);
	name_groups_release(rows);
	exchanges_release(&communication.exchanges);
	return code;
}

const struct analysis analysis_communication =
	ANALYSIS_CSV("communication", columns, fill, .title = "Communication",
                     .what = "Exchanges of ranks: what the union of computation hides and what "
                             "not, wait for the last rank, bandwidths of nccl-tests.");
