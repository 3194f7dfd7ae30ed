/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/words/sync_ops.h"
#include "base/array.h"
#include "base/order.h"
#include "base/text/ascii.h"
#include "base/map.h"
#include "model/alignment.h"

/* -- names ------------------------------------------------------------------------------------- */

const char *collective_op(const char *name, uint32_t n, double *ret_size, double *ret_bus)
{
	/* What contains another stands before it. */
	static const struct {
		const char *plain, *op;
		bool is_share;      /* of the result, each rank's bytes are one n-th */
		double all, others; /* bus factor: all * (n - 1) / n + others */
	} ops[] = {
		{"allreduce", "all_reduce", false, 2, 0},
		{"allgather", "all_gather", true, 1, 0},
		{"reducescatter", "reduce_scatter", true, 1, 0},
		{"alltoall", "all_to_all", false, 1, 0},
		{"barrier", "barrier", false, 0, 0},
		{"broadcast", "broadcast", false, 0, 1},
		{"bcast", "broadcast", false, 0, 1},
		{"scatter", "scatter", false, 0, 1},
		{"gather", "gather", false, 0, 1},
		{"reduce", "reduce", false, 0, 1},
	};
	char plain[64];
	size_t length = 0;

	for (; *name && length + 1 < sizeof(plain); name++) {
		if (isalpha((unsigned char)*name))
			plain[length++] = ascii_lower(*name);
	}
	plain[length] = '\0';
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!strstr(plain, ops[i].plain))
			continue;
		*ret_size = ops[i].is_share ? n : 1;
		*ret_bus = n ? ops[i].all * (n - 1) / n + ops[i].others : 0;
		return ops[i].op;
	}
	*ret_size = 1;
	*ret_bus = 0;
	return NULL;
}

const char *collective_part_op(const struct collectives *collectives,
                               const struct collective_part *part, double *ret_size,
                               double *ret_bus)
{
	bool is_device = part->device != FLEXTRACE_NONE;
	const char *name = part->told_op ? part->told_op
	                                 : string_get(collectives->timeline->strings,
	                                              is_device ? part->group : part->op);
	const char *op = collective_op(name, part->ranks, ret_size, ret_bus);

	if (op)
		return op;
	return is_device && !part->told_op ? "" : name;
}

uint64_t collective_part_wait_ns(const struct collective_part *part)
{
	int64_t until_ns = part->ready_time_ns < part->end_time_ns ? part->ready_time_ns
	                                                           : part->end_time_ns;

	return part->is_known ? interval_ns(part->start_time_ns, until_ns) : UINT64_MAX;
}

/* -- parts of programs ------------------------------------------------------------------------- */

static uint32_t who_of(const struct timeline *timeline, const struct sync_point *point,
                       enum op_family family)
{
	uint64_t sum = 0;
	int32_t only = -1;

	if (point->peers)
		sync_op_peers(string_get(timeline->strings, point->peers),
		              timeline->identity->processes[point->process].rank, &only, &sum);
	/* Who names one rank may name the root: that says nothing of the others. */
	if (only >= 0 && (family >= OP_BROADCAST || family == OP_OTHER))
		return 0;
	return (uint32_t)(sum ^ sum >> 32);
}

static int take_point(void *context, const struct sync_point *point)
{
	struct collectives *out = context;
	const struct timeline *timeline = out->timeline;
	enum op_family family = sync_op_family(string_get(timeline->strings, point->op));
	struct aligned start, end;

	if (point->enter_host_ns == INT64_MIN || point->exit_host_ns == INT64_MAX ||
	    point->exit_host_ns < point->enter_host_ns || family >= OP_SEND)
		return FLEXTRACE_OK;
	start = alignment_place(timeline->alignment, point->process, point->enter_host_ns);
	end = alignment_place(timeline->alignment, point->process, point->exit_host_ns);
	FLEXTRACE_TRY(ARRAY_ROOM(out->parts, out->n_parts));
	out->parts[out->n_parts++] = (struct collective_part){
		.start_time_ns = start.time_ns,
		.end_time_ns = end.time_ns,
		.number = point->seq,
		.bytes = point->bytes,
		.process = point->process,
		.device = FLEXTRACE_NONE,
		.group = point->group,
		.op = point->op,
		.who = who_of(timeline, point, family),
		.err_ns = start.err_ns > end.err_ns ? start.err_ns : end.err_ns,
		.status = (uint8_t)(start.status > end.status ? start.status : end.status),
	};
	return FLEXTRACE_OK;
}

/* Notes which records have a row: filters may have left some out. */
static int find_rows(const struct timeline *timeline, struct map *rows)
{
	TABLE_EACH(struct host_row, row, &timeline->host_rows) {
		if (row->kind == HOST_COLLECTIVE)
			FLEXTRACE_TRY(map_put(rows, row->stream, row->index, 1));
	}
	return FLEXTRACE_OK;
}

int each_sync_point(const struct timeline *timeline, sync_point_taker *take, void *context)
{
	struct map rows = {0};
	int code = FLEXTRACE_OK;

	if (!timeline->sync_points || !timeline->sync_points->n_rows)
		return FLEXTRACE_OK;
	if (timeline->counts.n_filtered)
		code = find_rows(timeline, &rows);
	TABLE_EACH(struct sync_point, point, timeline->sync_points) {
		if (code == FLEXTRACE_OK &&
		    (!timeline->counts.n_filtered ||
		     map_find(&rows, point->stream, point->index) != MAP_NONE))
			code = take(context, point);
	}
	map_release(&rows);
	return code;
}

/* -- what the ranks have in common ------------------------------------------------------------- */

/* What no file told of stands first. */
static int compare_told(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_groups(const struct collective_part *a, const struct collective_part *b)
{
	return ORDER(a->device != FLEXTRACE_NONE, b->device != FLEXTRACE_NONE) ?:
	       ORDER(a->group, b->group) ?: ORDER(a->op, b->op) ?:
	       compare_told(a->told_op, b->told_op) ?: ORDER(a->who, b->who);
}

static int compare_collectives(const void *left, const void *right)
{
	const struct collective_part *a = left, *b = right;

	return compare_groups(a, b) ?: ORDER(a->number, b->number) ?:
	       ORDER(a->subset, b->subset) ?: ORDER(a->process, b->process) ?:
	       ORDER(a->device, b->device) ?: ORDER(a->start_time_ns, b->start_time_ns);
}

/* Of parts that files tell of, whose group is told, too: whether all of it are there, once each. */
static bool is_whole(const struct collective_part *parts, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (parts[i].process == parts[i - 1].process)
			return false;
	}
	return parts[0].told_op && parts[0].told_ranks == n && !parts[0].is_alone;
}

/* Of parts that were seen at work: what is told of a part is its own. */
static bool is_seen(const struct collective_part *part)
{
	return part->device != FLEXTRACE_NONE && !part->told_op;
}

/* Tells the parts of one collective of each other. */
static void share(struct collective_part *parts, uint32_t n)
{
	struct collective_part all = parts[0];
	bool is_known = is_whole(parts, n);

	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || parts[i].start_time_ns > all.ready_time_ns)
			all.ready_time_ns = parts[i].start_time_ns;
		if (parts[i].algorithm > all.algorithm)
			all.algorithm = parts[i].algorithm;
		if (is_seen(&parts[i]) && parts[i].bytes > all.bytes)
			all.bytes = parts[i].bytes;
	}
	for (uint32_t i = 0; i < n; i++) {
		parts[i].is_known = is_known;
		parts[i].ranks = parts[i].told_ranks ? parts[i].told_ranks : n;
		parts[i].ready_time_ns = all.ready_time_ns;
		parts[i].algorithm = all.algorithm;
		if (is_seen(&parts[i]))
			parts[i].bytes = all.bytes;
	}
}

/* Returns how many ranks the largest of the collectives with one number has. */
static uint32_t share_number(struct collective_part *parts, uint32_t n)
{
	uint32_t first, end, most = 0;

	for (first = 0; first < n; first = end) {
		for (end = first + 1; end < n && parts[end].subset == parts[first].subset;)
			end++;
		share(&parts[first], end - first);
		most = end - first > most ? end - first : most;
	}
	return most;
}

/* Who used a group less often than others lacks some, and nobody knows which. */
static void share_group(struct collective_part *parts, uint32_t n)
{
	uint32_t first, end, most = 0, n_parts = 0;
	bool is_known = true;

	for (first = 0; first < n; first = end) {
		uint32_t ranks;

		for (end = first + 1; end < n && parts[end].number == parts[first].number;)
			end++;
		ranks = share_number(&parts[first], end - first);
		is_known = is_known && (!n_parts || end - first == n_parts);
		n_parts = end - first;
		most = ranks > most ? ranks : most;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!parts[i].told_op)
			parts[i].is_known = parts[i].device == FLEXTRACE_NONE ||
			                    (is_known && !parts[i].is_alone);
		if (!is_known && parts[i].device != FLEXTRACE_NONE && !parts[i].told_ranks)
			parts[i].ranks = most;
	}
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct collectives *collectives = context;
	const uint32_t *positions = collectives->owners->positions;
	const struct string_pool *strings = collectives->timeline->strings;
	const struct collective_part *a = left, *b = right;

	return ORDER(a->start_time_ns, b->start_time_ns) ?:
	       ORDER(positions[a->process], positions[b->process]) ?:
	       ORDER(a->end_time_ns, b->end_time_ns) ?: ORDER(a->device, b->device) ?:
	       ORDER(string_compare(strings, a->group, b->group), 0) ?:
	       ORDER(string_compare(strings, a->op, b->op), 0) ?:
	       compare_told(a->told_op, b->told_op) ?: ORDER(a->number, b->number);
}

/* Numbers collectives, while their parts stand together. */
static void count_collectives(struct collectives *out)
{
	for (uint32_t i = 0; i < out->n_parts; i++) {
		struct collective_part *part = &out->parts[i];

		out->n_collectives += i == 0 || compare_groups(part, part - 1) != 0 ||
		                      part->number != part[-1].number ||
		                      part->subset != part[-1].subset;
		part->collective = out->n_collectives - 1;
	}
}

/* Numbers them anew, by their first parts. */
static int number_collectives(struct collectives *out)
{
	uint32_t *numbers, n = 0;

	FLEXTRACE_TRY(ARRAY_NEW(numbers, out->n_collectives + 1ull));
	for (uint32_t i = 0; i < out->n_parts; i++) {
		uint32_t *number = &numbers[out->parts[i].collective];

		if (!*number)
			*number = ++n;
		out->parts[i].collective = *number - 1;
	}
	free(numbers);
	return FLEXTRACE_OK;
}

static int join(struct collectives *out)
{
	uint32_t first, end;

	if (!out->n_parts)
		return FLEXTRACE_OK;
	qsort(out->parts, out->n_parts, sizeof(*out->parts), compare_collectives);
	for (first = 0; first < out->n_parts; first = end) {
		for (end = first + 1; end < out->n_parts &&
		                      compare_groups(&out->parts[first], &out->parts[end]) == 0;)
			end++;
		share_group(&out->parts[first], end - first);
	}
	count_collectives(out);
	qsort_r(out->parts, out->n_parts, sizeof(*out->parts), compare_lines, out);
	return number_collectives(out);
}

/* -- the sentence ------------------------------------------------------------------------------ */

int collectives_find(struct collectives *collectives, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;
	int code;

	*collectives = (struct collectives){.timeline = timeline, .owners = findings->owners};
	collectives->names = string_pool_new();
	if (!collectives->names)
		return FLEXTRACE_E_MEMORY;
	string_cache_init(&collectives->names_cache, collectives->names);
	code = collectives_take_devices(collectives, findings->transfers);
	if (code == FLEXTRACE_OK)
		code = collectives_take_told(collectives);
	if (code == FLEXTRACE_OK)
		code = each_sync_point(timeline, take_point, collectives);
	return code == FLEXTRACE_OK ? join(collectives) : code;
}

void collectives_release(struct collectives *collectives)
{
	string_cache_release(&collectives->names_cache);
	string_pool_free(collectives->names);
	free(collectives->parts);
}
