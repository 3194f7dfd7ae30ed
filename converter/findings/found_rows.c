/* SPDX-License-Identifier: Apache-2.0 */
#include "found_rows.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "model/lanes.h"
#include "iterations.h"

/* -- steps ---------------------------------------------------------------------------------- */

/* Of a process, over all its intervals. */
struct extent {
	int64_t first_time_ns, last_time_ns;
	uint32_t last; /* its last step + 1, 0 = none */
};

static void cover(struct extent *extent, int64_t start_time_ns, int64_t end_time_ns)
{
	if (start_time_ns < extent->first_time_ns)
		extent->first_time_ns = start_time_ns;
	if (end_time_ns > extent->last_time_ns)
		extent->last_time_ns = end_time_ns;
}

/* Readers add ts and dur as doubles: what ends with the last step must end before it. */
static int64_t end_of_all(const struct extent *extent)
{
	return extent->last_time_ns < INT64_MAX ? extent->last_time_ns + 1 : INT64_MAX;
}

static void cover_all(struct extent *extents, const struct timeline *timeline)
{
	const struct identity *identity = timeline->identity;

	for (uint32_t i = 0; i < identity->n_processes; i++)
		extents[i] = (struct extent){INT64_MAX, INT64_MIN, 0};
	TABLE_EACH(struct host_row, host, &timeline->host_rows)
		cover(&extents[identity->threads[timeline->tracks[host->track].owner].process],
		      host->start_time_ns, host->end_time_ns);
	TABLE_EACH(struct device_row, device, &timeline->device_rows)
		cover(&extents[identity->devices[timeline->tracks[device->track].owner].process],
		      device->start_time_ns, device->end_time_ns);
}

/* A step lasts until the next one begins; the last one that is known, until all ends. */
static int add_turn(struct found_rows *rows, struct extent *extent,
                    const struct iteration *iteration)
{
	const struct found_row row = {
		.start_time_ns = extent->last ? iteration->start_time_ns : extent->first_time_ns,
		.end_time_ns = end_of_all(extent),
		.process = iteration->process,
		.number = iteration->number,
		.is_turn = true,
	};

	if (extent->last)
		rows->rows[extent->last - 1].end_time_ns = iteration->start_time_ns;
	FLEXTRACE_TRY(ARRAY_PUSH(rows->rows, rows->n, row));
	extent->last = rows->n;
	return FLEXTRACE_OK;
}

/* What a file of the torch profiler has comes out again, and nothing else. */
static bool has_own_rows(const struct timeline *timeline, uint32_t process)
{
	return identity_is_torch_file(timeline->identity, timeline->strings, process);
}

static int add_turns(struct found_rows *rows, struct extent *extents,
                     const struct iterations *iterations)
{
	for (uint32_t i = 0; i < iterations->n; i++) {
		const struct iteration *iteration = &iterations->all[i];

		if (iterations->summaries[iteration->process].source == ITERATIONS_KERNELS &&
		    !has_own_rows(iterations->timeline, iteration->process))
			FLEXTRACE_TRY(add_turn(rows, &extents[iteration->process], iteration));
	}
	return FLEXTRACE_OK;
}

static int add_wholes(struct found_rows *rows, const struct extent *extents,
                      const struct iterations *iterations)
{
	uint32_t n_processes = iterations->timeline->identity->n_processes;

	for (uint32_t i = 0; i < n_processes; i++) {
		const struct found_row row = {.start_time_ns = extents[i].first_time_ns,
		                              .end_time_ns = end_of_all(&extents[i]),
		                              .process = i};

		if (iterations->summaries[i].source == ITERATIONS_NONE &&
		    !has_own_rows(iterations->timeline, i) &&
		    extents[i].first_time_ns <= extents[i].last_time_ns)
			FLEXTRACE_TRY(ARRAY_PUSH(rows->rows, rows->n, row));
	}
	return FLEXTRACE_OK;
}

/* -- collectives ---------------------------------------------------------------------------- */

/* Those that programs recorded are rows of the host already, those that a file tells of kernels. */
static int add_part(struct found_rows *rows, const struct collectives *collectives,
                    const struct collective_part *part, struct lanes *lanes)
{
	double size, bus;
	struct found_row row = {.start_time_ns = part->start_time_ns,
	                        .end_time_ns = part->end_time_ns,
	                        .process = part->process,
	                        .op = collective_part_op(collectives, part, &size, &bus),
	                        .bytes = part->bytes,
	                        .device = part->device,
	                        .group = part->group,
	                        .err_ns = part->err_ns,
	                        .status = part->status};
	uint32_t depth;

	if (part->device == FLEXTRACE_NONE || part->told_op ||
	    part->start_time_ns > part->end_time_ns)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(
		lanes_place(lanes, part->start_time_ns, part->end_time_ns, &row.lane, &depth));
	return ARRAY_PUSH(rows->rows, rows->n, row);
}

static int add_parts(struct found_rows *rows, const struct collectives *collectives)
{
	uint32_t n = collectives->timeline->identity->n_processes;
	struct lanes *lanes = calloc(n + 1ull, sizeof(*lanes));
	int code = lanes ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	for (uint32_t i = 0; lanes && i < n; i++)
		lanes_init(&lanes[i], false);
	for (uint32_t i = 0; i < collectives->n_parts && code >= 0; i++) {
		const struct collective_part *part = &collectives->parts[i];

		code = add_part(rows, collectives, part, &lanes[part->process]);
	}
	for (uint32_t i = 0; lanes && i < n; i++)
		lanes_release(&lanes[i]);
	free(lanes);
	return code;
}

/* -- all of it ------------------------------------------------------------------------------ */

static int compare_rows(const void *left, const void *right)
{
	const struct found_row *a = left, *b = right;

	return ORDER(a->start_time_ns, b->start_time_ns) ?: ORDER(a->process, b->process) ?:
	       ORDER(b->end_time_ns, a->end_time_ns) ?: ORDER(a->lane, b->lane);
}

static int find_steps(struct found_rows *rows, const struct iterations *iterations)
{
	uint32_t n_processes = iterations->timeline->identity->n_processes;
	struct extent *extents;
	int code;

	FLEXTRACE_TRY(ARRAY_NEW(extents, n_processes + 1ull));
	cover_all(extents, iterations->timeline);
	code = add_turns(rows, extents, iterations);
	if (code >= 0)
		code = add_wholes(rows, extents, iterations);
	free(extents);
	return code;
}

int found_rows_find(struct found_rows *rows, const struct collectives *collectives,
                    const struct iterations *iterations)
{
	rows->has_ranks = iterations;
	if (iterations)
		FLEXTRACE_TRY(find_steps(rows, iterations));
	FLEXTRACE_TRY(add_parts(rows, collectives));
	ORDER_ARRAY(rows->rows, rows->n, compare_rows);
	return FLEXTRACE_OK;
}

void found_rows_release(struct found_rows *rows)
{
	free(rows->rows);
	*rows = (struct found_rows){.rows = NULL};
}
