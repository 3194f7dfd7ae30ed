/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranges carry by the schemas of their domain, and what NCCL says there of its operations.
 *
 * A call of NCCL only queues its work, so it is no evidence of when ranks met: its kernel is. The
 * kernel is launched in the call's own range, or in that of the ncclGroupEnd behind it; of several
 * operations in one group nobody can tell whose kernel one is. The n-th operation of a communicator
 * is the same on all ranks, if the recording saw the communicator made, and lost nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "nsys_impl.h"

#define HEAD_BYTES 32 /* domain, schema, bytes of the payload, bytes of all: 8 each */

/* -- payloads -------------------------------------------------------------------------------- */

static int visit_field(struct nsys *nsys, const struct nsys_rows *rows)
{
	const char *name = nsys_text(rows, NSYS_NAME);
	struct nsys_field field = {.offset = 0}; /* NULL: the first one's */

	if (!name || !nsys_integer(rows, NSYS_DOMAIN, &field.domain) ||
	    !nsys_integer(rows, NSYS_SCHEMA, &field.schema) ||
	    !nsys_integer(rows, NSYS_TYPE, &field.type))
		return FLEXTRACE_OK;
	nsys_integer(rows, NSYS_OFFSET, &field.offset);
	FLEXTRACE_TRY(string_intern(&nsys->import.cache, name, &field.name));
	return ARRAY_PUSH(nsys->nccl.fields, nsys->nccl.n_fields, field);
}

int nsys_read_schemas(struct nsys *nsys)
{
	return nsys_each(nsys, "NVTX_PAYLOAD_SCHEMA_ENTRIES", visit_field);
}

static uint64_t little(const uint8_t *bytes, int n)
{
	uint64_t number = 0;

	while (n--)
		number = number << 8 | bytes[n];
	return number;
}

/* Bytes of a whole number by its type in NVTX, as 64-bit Linux has it; 0: it is none. */
static int width_of(int64_t type)
{
	static const uint8_t widths[] = {
		[3] = 2,  [4] = 2,  [5] = 4,  [6] = 4,  [7] = 8,  [8] = 8,
		[9] = 8,  [10] = 8, [11] = 1, [12] = 1, [13] = 2, [14] = 2,
		[15] = 4, [16] = 4, [17] = 8, [18] = 8, [22] = 8, [23] = 8};

	return type >= 0 && type < (int64_t)sizeof(widths) ? widths[type] : 0;
}

static void note(struct nsys_payload *told, const char *name, uint64_t number)
{
	if (strcmp(name, "NCCL communicator ID") == 0) {
		told->comm = number;
		told->has_comm = true;
	} else if (strcmp(name, "Message size [bytes]") == 0) {
		told->bytes = number;
		told->has_bytes = true;
	} else if (strcmp(name, "No. of ranks") == 0) {
		told->n_ranks = number;
	}
}

/* Adds the numbers that bytes have where the schema says. */
static void add_fields(struct nsys *nsys, int64_t domain, const uint8_t *bytes, size_t n,
                       struct nsys_payload *told)
{
	for (uint32_t i = 0; i < nsys->nccl.n_fields; i++) {
		const struct nsys_field *field = &nsys->nccl.fields[i];
		const char *name = string_get(nsys->import.strings, field->name);
		int width = width_of(field->type);
		uint64_t number;

		if (field->domain != domain || (uint64_t)field->schema != little(bytes + 8, 8) ||
		    !width || field->offset < 0 || (uint64_t)field->offset > n - HEAD_BYTES ||
		    n - HEAD_BYTES - (uint64_t)field->offset < (uint64_t)width)
			continue;
		number = little(bytes + HEAD_BYTES + field->offset, width);
		if (field->type % 2 && width < 8) /* signed */
			nsys_args_number(nsys, name,
			                 (int64_t)(number << (64 - 8 * width)) >> (64 - 8 * width));
		else
			json_text_number(&nsys->args, name, number);
		note(told, name, number);
	}
}

static enum nsys_nccl_kind kind_of(const char *name, const struct nsys_payload *told)
{
	if (strcmp(name, "ncclGroupStart") == 0)
		return NCCL_GROUP_START;
	if (strcmp(name, "ncclGroupEnd") == 0)
		return NCCL_GROUP_END;
	if (!told->has_bytes || !told->has_comm)
		return NCCL_OTHER;
	return NCCL_OP;
}

int nsys_take_payload(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                      const char *name)
{
	struct nsys_nccl_range range = {span->begin_ns, span->end_ns, span->process,
	                                .tid = span->tid};
	int64_t domain = 0;
	size_t n = 0;
	const uint8_t *bytes = nsys_bytes(rows, NSYS_BINARY, &n);

	nsys_integer(rows, NSYS_DOMAIN, &domain);
	if (bytes && n >= HEAD_BYTES) {
		json_text_member(&nsys->args, "payload");
		json_text_open(&nsys->args, '{');
		add_fields(nsys, domain, bytes, n, &range.told);
		json_text_close(&nsys->args, '}');
	}
	if (strncmp(name, "nccl", 4) != 0)
		return FLEXTRACE_OK;
	range.kind = (uint8_t)kind_of(name, &range.told);
	FLEXTRACE_TRY(string_intern(&nsys->import.cache, name, &range.name));
	return ARRAY_PUSH(nsys->nccl.ranges, nsys->nccl.n_ranges, range);
}

/* -- operations ------------------------------------------------------------------------------ */

static int compare_times(const void *left, const void *right)
{
	const struct nsys_nccl_range *a = left, *b = right;

	return ORDER(a->process, b->process) ?: ORDER(a->begin_ns, b->begin_ns) ?:
	       ORDER(a->tid, b->tid) ?: ORDER(b->end_ns, a->end_ns);
}

static int compare_threads(const void *left, const void *right)
{
	const struct nsys_nccl_range *a = left, *b = right;

	return ORDER(a->process, b->process) ?: ORDER(a->tid, b->tid) ?: compare_times(a, b);
}

/* Messages are counted by nobody: who takes part in one differs. */
static bool is_message(const struct nsys *nsys, const struct nsys_nccl_range *range)
{
	const char *name = string_get(nsys->import.strings, range->name);

	return strcmp(name, "ncclSend") == 0 || strcmp(name, "ncclRecv") == 0;
}

/* Finds out how many ranks each communicator has. 0: the process has several of them, each of which
 * counts for itself. */
static int size_all(struct nsys *nsys, struct map *sizes)
{
	for (uint32_t i = 0; i < nsys->nccl.n_ranges; i++) {
		const struct nsys_nccl_range *range = &nsys->nccl.ranges[i];
		uint32_t n = (uint32_t)(range->told.n_ranks & INT32_MAX);

		if (!range->told.has_comm || !n)
			continue;
		if (map_find(sizes, range->told.comm, range->process) != MAP_NONE)
			n = 0;
		FLEXTRACE_TRY(map_put(sizes, range->told.comm, range->process, n));
	}
	return FLEXTRACE_OK;
}

/* Numbers operations on communicators whose making was recorded. */
static int number_all(struct nsys *nsys, const struct map *sizes, struct map *counts)
{
	for (uint32_t i = 0; i < nsys->nccl.n_ranges; i++) {
		struct nsys_nccl_range *range = &nsys->nccl.ranges[i];
		uint32_t size = map_find(sizes, range->told.comm, range->process);
		uint32_t n = map_find(counts, range->told.comm, range->process);

		if (range->kind != NCCL_OP || is_message(nsys, range) || !size || size == MAP_NONE)
			continue;
		range->has_seq = !nsys->session.has_lost;
		range->seq = n == MAP_NONE ? 0 : n;
		range->told.n_ranks = size;
		FLEXTRACE_TRY(map_put(counts, range->told.comm, range->process,
		                      (uint32_t)range->seq + 1));
	}
	return FLEXTRACE_OK;
}

/* Finds for each range of a thread the operation whose kernel is launched in it. */
static void find_work(struct nsys_nccl *nccl)
{
	uint32_t depth = 0, n_pending = 0, last = 0;

	for (uint32_t i = 0; i < nccl->n_ranges; i++) {
		struct nsys_nccl_range *range = &nccl->ranges[i];

		if (i == 0 || range->process != range[-1].process || range->tid != range[-1].tid)
			depth = n_pending = 0;
		if (range->kind == NCCL_GROUP_START) {
			depth++;
		} else if (range->kind == NCCL_OP && depth) {
			n_pending++;
			last = i + 1;
		} else if (range->kind == NCCL_OP) {
			range->work = i + 1;
		} else if (range->kind == NCCL_GROUP_END && depth && --depth == 0) {
			range->work = n_pending == 1 ? last : 0;
			n_pending = 0;
		}
	}
}

int nsys_nccl_settle(struct nsys *nsys)
{
	struct nsys_nccl *nccl = &nsys->nccl;
	struct map counts = {0}, sizes = {0};
	int code;

	if (!nccl->n_ranges)
		return FLEXTRACE_OK;
	qsort(nccl->ranges, nccl->n_ranges, sizeof(*nccl->ranges), compare_times);
	code = size_all(nsys, &sizes);
	if (code >= 0)
		code = number_all(nsys, &sizes, &counts);
	map_release(&counts);
	map_release(&sizes);
	qsort(nccl->ranges, nccl->n_ranges, sizeof(*nccl->ranges), compare_threads);
	find_work(nccl);
	return code;
}

/* -- kernels --------------------------------------------------------------------------------- */

static bool is_before(const void *row, const void *key)
{
	const struct nsys_nccl_range *range = row, *call = key;

	return (ORDER(range->process, call->process) ?: ORDER(range->tid, call->tid) ?:
	        ORDER(range->begin_ns, call->begin_ns)) <= 0;
}

int nsys_nccl_launch(struct nsys *nsys, const struct nsys_span *span, uint64_t correlation)
{
	const struct nsys_nccl_range call = {
		.begin_ns = span->begin_ns, .process = span->process, .tid = span->tid};
	const struct nsys_nccl *nccl = &nsys->nccl;
	const struct nsys_nccl_range *range;
	uint32_t n;

	if (!correlation || !nccl->n_ranges)
		return FLEXTRACE_OK;
	n = array_count_before(nccl->ranges, nccl->n_ranges, sizeof(*nccl->ranges), is_before,
	                       &call);
	range = n ? &nccl->ranges[n - 1] : &call;
	if (!range->work || range->process != span->process || range->tid != span->tid ||
	    range->end_ns < span->end_ns)
		return FLEXTRACE_OK;
	return map_put(&nsys->nccl.launches, correlation, span->process, range->work - 1);
}

const struct nsys_nccl_range *nsys_nccl_of(const struct nsys *nsys, uint32_t process,
                                           uint64_t correlation)
{
	uint32_t place = map_find(&nsys->nccl.launches, correlation, process);

	return place == MAP_NONE ? NULL : &nsys->nccl.ranges[place];
}
