/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stragglers.csv: for whom the others waited: how often each rank was the first and the last to
 * come to a collective, how long it waited itself and had others wait, and in how many steps.
 */
#include <stdlib.h>

#include "../analysis_impl.h"
#include "base/array.h"
#include "findings/collectives/exchanges.h"
#include "findings/iterations.h"

struct straggler_row { /* of a process, or all */
	uint32_t process;
	const char *of;
	uint64_t collectives, first, last, unsure_last, total_wait_ns, caused_wait_ns;
	uint64_t steps, steps_last, mean_wait_ns, err_ns; /* the last UINT32_MAX: no bound */
	double last_percent;
};

struct step { /* an iteration of a process */
	int64_t start_time_ns, end_time_ns;
	uint8_t seen[2]; /* of programs, of devices; bit 0: it took part, bit 1: as the last */
};

struct stragglers {
	struct straggler_row *rows; /* owned, all: 2 of each process: of itself, of its devices */
	struct step *steps;         /* by process, then number */
	uint32_t *first_step;       /* by process, and the end */
};

/* -- steps ------------------------------------------------------------------------------------- */

static int place_steps(struct stragglers *stragglers, const struct iterations *iterations)
{
	uint32_t n = iterations->timeline->identity->n_processes;

	FLEXTRACE_TRY(ARRAY_NEW(stragglers->steps, iterations->n + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(stragglers->first_step, n + 1ull));
	for (uint32_t i = 0; i < n; i++)
		stragglers->first_step[i + 1] = stragglers->first_step[i] +
		                                iterations->summaries[i].n_iterations;
	for (uint32_t i = 0; i < iterations->n; i++) {
		const struct iteration *at = &iterations->all[i];

		stragglers->steps[stragglers->first_step[at->process] + at->number] =
			(struct step){at->start_time_ns, at->end_time_ns, {0, 0}};
	}
	return FLEXTRACE_OK;
}

static bool begins_not_after(const void *row, const void *key)
{
	const struct step *step = row;
	const int64_t *time_ns = key;

	return step->start_time_ns <= *time_ns;
}

/* Counts the step in which an exchange began, once. */
static void count_step(struct stragglers *stragglers, const struct exchange *exchange,
                       struct straggler_row *row, bool is_last)
{
	const uint32_t *first = &stragglers->first_step[exchange->process];
	struct step *steps = &stragglers->steps[first[0]];
	uint32_t n = array_count_before(steps, first[1] - first[0], sizeof(*steps),
	                                begins_not_after, &exchange->start_time_ns);
	uint8_t *seen;

	if (!n || steps[n - 1].end_time_ns <= exchange->start_time_ns)
		return;
	seen = &steps[n - 1].seen[exchange->device != FLEXTRACE_NONE];
	row->steps += !(*seen & 1);
	row->steps_last += is_last && !(*seen & 2);
	*seen |= is_last ? 3 : 1;
}

/* -- arrivals ---------------------------------------------------------------------------------- */

static void count(struct stragglers *stragglers, const struct together *together)
{
	const struct exchange *last = &together->first[together->n - 1];
	struct straggler_row *row = NULL;
	uint64_t wait_ns = 0, has_order = together->skew_ns > 0;

	for (uint32_t i = 0; i < together->n; i++) {
		const struct exchange *at = &together->first[i];

		row = &stragglers->rows[2 * at->process + (at->device != FLEXTRACE_NONE)];
		row->collectives++;
		row->first += has_order && i == 0;
		row->total_wait_ns += at->wait_ns;
		row->err_ns = at->err_ns > row->err_ns ? at->err_ns : row->err_ns;
		wait_ns += at->wait_ns;
		count_step(stragglers, at, row, has_order && at == last);
	}
	if (!has_order)
		return;
	row->last++;
	row->unsure_last += exchanges_are_close(last - 1, last);
	row->caused_wait_ns += wait_ns;
}

/* -- rows -------------------------------------------------------------------------------------- */

static const struct column columns[] = {
	COLUMNS_PROCESS(struct straggler_row, process),
	COLUMN(struct straggler_row, of),
	COLUMN(struct straggler_row, collectives),
	COLUMN(struct straggler_row, first),
	COLUMN(struct straggler_row, last),
	COLUMN_FIXED(struct straggler_row, last_percent, 2),
	COLUMN(struct straggler_row, unsure_last),
	COLUMN(struct straggler_row, total_wait_ns),
	COLUMN(struct straggler_row, mean_wait_ns),
	COLUMN(struct straggler_row, caused_wait_ns),
	COLUMN(struct straggler_row, steps),
	COLUMN(struct straggler_row, steps_last),
	COLUMN_OPTIONAL(struct straggler_row, err_ns),
};

static void put(struct straggler_row *row, uint32_t process, int of, struct row_sink *sink)
{
	row->process = process;
	row->of = of ? "device" : "program";
	row->last_percent = 100.0 * (double)row->last / (double)row->collectives;
	row->mean_wait_ns = (row->total_wait_ns + row->collectives / 2) / row->collectives;
	if (row->err_ns == UINT32_MAX)
		row->err_ns = COLUMN_NONE_U64;
	row_put(sink, row);
}

static void add(struct straggler_row *all, const struct straggler_row *row)
{
	all->collectives += row->collectives;
	all->first += row->first;
	all->last += row->last;
	all->unsure_last += row->unsure_last;
	all->total_wait_ns += row->total_wait_ns;
	all->caused_wait_ns += row->caused_wait_ns;
	all->steps += row->steps;
	all->steps_last += row->steps_last;
	all->err_ns = row->err_ns > all->err_ns ? row->err_ns : all->err_ns;
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct owners *owners = findings->owners;
	uint32_t n = owners->identity->n_processes;
	struct stragglers stragglers = {.rows = calloc(2 * (n + 1ull), sizeof(*stragglers.rows))};
	struct together together = {.n = 0};
	struct exchanges exchanges;
	int code = exchanges_find(&exchanges, findings);

	if (code == FLEXTRACE_OK)
		code = stragglers.rows ? place_steps(&stragglers, findings->iterations)
		                       : FLEXTRACE_E_MEMORY;
	while (code == FLEXTRACE_OK && exchanges_next(&exchanges, &together)) {
		if (together.skew_ns != UINT64_MAX)
			count(&stragglers, &together);
	}
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < 2 * n + 2; i++) {
		uint32_t process = i < 2 * n ? owners->processes[i / 2] : n;
		struct straggler_row *row = &stragglers.rows[2 * process + i % 2];

		if (process < n)
			add(&stragglers.rows[2 * n + i % 2], row);
		if (row->collectives)
			put(row, process < n ? process : FLEXTRACE_NONE, (int)(i % 2), sink);
	}
	exchanges_release(&exchanges);
	free(stragglers.rows);
	free(stragglers.steps);
	free(stragglers.first_step);
	return code;
}

const struct analysis analysis_stragglers =
	ANALYSIS_CSV("stragglers", columns, fill, .title = "Stragglers",
                     .what = "How often each rank came first and last to a collective, and "
                             "waits. An order within the error of the clocks is unsure.");
