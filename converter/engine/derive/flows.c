/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch leads from a host row to the main row of each control block with its correlation. Of
 * several host rows it is the innermost that encloses the submission, else the first. Device rows
 * are merged first and leave their time and track; host rows of a correlation that device work uses
 * are kept as they pass, and a sweep over both, correlation by correlation, links them.
 */
#include "derive_impl.h"
#include "base/order.h"
#include "base/radix_sort.h"

/* Where an arrow may start or end. Correlation and process are its key. */
struct flow_point {
	uint64_t correlation; /* 0 = none */
	uint32_t process;
	uint32_t track; /* FLEXTRACE_NONE = no main row */
};

struct flow_end { /* one control block */
	int64_t to_time_ns;
	int64_t submit_time_ns; /* INT64_MIN = not known */
	struct flow_point to;
	uint32_t op; /* index of struct tick_op */
};

struct flow_start { /* one host row, in output order within its key */
	int64_t start_time_ns, end_time_ns;
	struct flow_point from;
	uint32_t below; /* in the sweep: place + 1 of the open row under it */
	uint32_t row;   /* its place in the host rows */
};

struct flow_links {
	uint8_t *filter; /* owned: a bit for the low bits of each key that control blocks have */
	uint64_t filter_mask;
	struct flow_end *ends; /* owned: one per control block */
	uint64_t n_ends;
	struct flow_start *starts; /* owned */
	uint32_t n_starts;
};

/* Correlations are counted up, so that those of one time are neighbours in the filter. */
static uint64_t filter_bit(const struct flow_links *flows, const struct flow_point *point)
{
	return (point->correlation + point->process * 0x9e3779b97f4a7c15u) & flows->filter_mask;
}

static int make_filter(struct flow_links *flows, uint64_t n)
{
	uint64_t n_bits = 64;

	while (n_bits < 8 * n)
		n_bits *= 2;
	flows->filter_mask = n_bits - 1;
	flows->filter = calloc(n_bits / 8, 1);
	return flows->filter ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

static void add_end(struct derive *derive, uint32_t index, struct flow_end *end)
{
	const struct tick_op *op = &derive->out.ops[index];
	uint32_t process = derive->identity->devices[op->device].process;
	uint64_t bit;

	*end = (struct flow_end){0, INT64_MIN, {op->correlation, process, FLEXTRACE_NONE}, index};
	if (!op->correlation)
		return;
	if (op->submit_host_ns)
		end->submit_time_ns = place_host(derive, process, op->submit_host_ns).time_ns;
	bit = filter_bit(derive->flows, &end->to);
	derive->flows->filter[bit / 8] |= (uint8_t)(1 << bit % 8);
}

int flows_init(struct derive *derive)
{
	struct flow_links *flows = calloc(1, sizeof(*flows));

	derive->flows = flows;
	if (!flows)
		return FLEXTRACE_E_MEMORY;
	flows->n_ends = derive->out.n_ops;
	FLEXTRACE_TRY(BLOCKS_NEW(flows->ends, derive->out.n_ops));
	FLEXTRACE_TRY(make_filter(flows, derive->out.n_ops));
	for (uint32_t i = 0; i < derive->out.n_ops; i++)
		add_end(derive, i, &flows->ends[i]);
	return FLEXTRACE_OK;
}

void flows_free(struct flow_links *flows)
{
	if (!flows)
		return;
	blocks_free(flows->ends);
	free(flows->starts);
	free(flows->filter);
	free(flows);
}

void flows_see_device_row(struct derive *derive, const struct device_row *row)
{
	struct flow_end *end;

	if (!derive->flows)
		return;
	end = &derive->flows->ends[row->source];
	end->to_time_ns = row->start_time_ns;
	end->to.track = row->track;
}

int flows_see_host_row(struct derive *derive, uint32_t process, const struct host_row *row)
{
	struct flow_links *flows = derive->flows;
	struct flow_point from = {row->correlation, process, row->track};
	uint64_t bit;

	if (!flows || !row->correlation)
		return FLEXTRACE_OK;
	bit = filter_bit(flows, &from);
	if (!(flows->filter[bit / 8] & 1 << bit % 8))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_ROOM(flows->starts, flows->n_starts));
	flows->starts[flows->n_starts] = (struct flow_start){
		.start_time_ns = row->start_time_ns,
		.end_time_ns = row->end_time_ns,
		.from = from,
		.row = (uint32_t)derive->out.host_rows.n_rows,
	};
	flows->n_starts++;
	return FLEXTRACE_OK;
}

/* -- the sweep ------------------------------------------------------------------------------ */

static int compare_keys(const struct flow_point *left, const struct flow_point *right)
{
	return ORDER(left->correlation, right->correlation) ?: ORDER(left->process, right->process);
}

static int compare_starts(const void *left_start, const void *right_start)
{
	const struct flow_start *left = left_start, *right = right_start;
	int order = compare_keys(&left->from, &right->from);

	return order ? order : ORDER(left->row, right->row);
}

static int compare_ends(const void *left_end, const void *right_end)
{
	const struct flow_end *left = left_end, *right = right_end;
	int order = compare_keys(&left->to, &right->to);

	if (order)
		return order;
	return ORDER(left->submit_time_ns, right->submit_time_ns) ?:
	       ORDER(left->to_time_ns, right->to_time_ns) ?:
	       ORDER(left->to.track, right->to.track);
}

ORDER_BY(compare_flows, struct flow, from_time_ns, to_time_ns, to_track, from_track, correlation);

static const struct radix_order start_order = {
	.size_bytes = sizeof(struct flow_start),
	.key_offset = offsetof(struct flow_start, from.correlation),
	.compare = compare_starts,
};
static const struct radix_order end_order = {
	.size_bytes = sizeof(struct flow_end),
	.key_offset = offsetof(struct flow_end, to.correlation),
	.compare = compare_ends,
};
static const struct radix_order flow_order = {
	.size_bytes = sizeof(struct flow),
	.key_offset = offsetof(struct flow, from_time_ns),
	.is_signed = true,
	.compare = compare_flows,
};

struct sweep {
	struct flow_links *flows;
	uint32_t next;  /* first start not yet begun */
	uint32_t first; /* of this key */
	uint32_t open;  /* place + 1 of the innermost open start; 0 = none */
};

static bool has_key(const struct flow_links *flows, uint32_t start, const struct flow_point *to)
{
	return start < flows->n_starts && !compare_keys(&flows->starts[start].from, to);
}

/* Returns the start that launched `end`; NULL: there is none. Ends of a key come in order of
 * submission. */
static const struct flow_start *start_of(struct sweep *sweep, const struct flow_end *end)
{
	struct flow_start *starts = sweep->flows->starts;

	while (has_key(sweep->flows, sweep->next, &end->to) &&
	       starts[sweep->next].start_time_ns <= end->submit_time_ns) {
		starts[sweep->next].below = sweep->open;
		sweep->open = ++sweep->next;
	}
	while (sweep->open && starts[sweep->open - 1].end_time_ns < end->submit_time_ns)
		sweep->open = starts[sweep->open - 1].below;
	if (sweep->open)
		return &starts[sweep->open - 1];
	if (has_key(sweep->flows, sweep->first, &end->to))
		return &starts[sweep->first];
	return NULL;
}

static void enter_key(struct sweep *sweep, const struct flow_point *to)
{
	const struct flow_links *flows = sweep->flows;

	while (sweep->next < flows->n_starts &&
	       compare_keys(&flows->starts[sweep->next].from, to) < 0)
		sweep->next++;
	sweep->first = sweep->next;
	sweep->open = 0;
}

/* Tells the timeline what launched a control block. */
static int note_launch(struct timeline *out, const struct flow_end *end,
                       const struct flow_start *start)
{
	if (!out->launch_of_op) {
		FLEXTRACE_TRY(BLOCKS_NEW(out->launch_of_op, out->n_ops));
		memset(out->launch_of_op, 0xff, out->n_ops * sizeof(*out->launch_of_op));
	}
	out->launch_of_op[end->op] = start->row;
	return FLEXTRACE_OK;
}

/* Fills `links` with one flow per control block that has one, and stores how many. One that seems
 * to begin before its launch has none: no viewer draws it. */
static int link_all(struct derive *derive, struct flow *links, uint64_t *ret_n)
{
	struct flow_links *flows = derive->flows;
	struct sweep sweep = {.flows = flows};
	struct flow_point key = {0};

	*ret_n = 0;
	for (uint64_t i = 0; i < flows->n_ends; i++) {
		const struct flow_end *end = &flows->ends[i];
		const struct flow_start *start;

		if (!end->to.correlation)
			continue;
		if (compare_keys(&end->to, &key))
			enter_key(&sweep, &end->to);
		key = end->to;
		start = start_of(&sweep, end);
		if (!start || end->to.track == FLEXTRACE_NONE)
			continue;
		FLEXTRACE_TRY(note_launch(&derive->out, end, start));
		if (start->start_time_ns > end->to_time_ns)
			continue;
		links[(*ret_n)++] = (struct flow){
			.from_time_ns = start->start_time_ns,
			.to_time_ns = end->to_time_ns,
			.from_track = start->from.track & INT32_MAX,
			.to_track = end->to.track & INT32_MAX,
			.correlation = key.correlation,
		};
	}
	return FLEXTRACE_OK;
}

/* Between work of queues of which one waits for the other. Ends are in the order of operations. */
static uint64_t link_waits(const struct derive *derive, struct flow *links)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < derive->told_flows.n_waits; i++) {
		const struct queue_wait *wait = &derive->told_flows.waits[i];
		const struct flow_end *from, *to;

		if (wait->from_op == FLEXTRACE_NONE || wait->to_op == FLEXTRACE_NONE)
			continue;
		from = &derive->flows->ends[wait->from_op];
		to = &derive->flows->ends[wait->to_op];
		if (from->to.track == FLEXTRACE_NONE || to->to.track == FLEXTRACE_NONE)
			continue;
		links[n++] = (struct flow){
			.from_time_ns = from->to_time_ns,
			.to_time_ns = to->to_time_ns,
			.from_track = from->to.track & INT32_MAX,
			.to_track = to->to.track & INT32_MAX,
			.is_told = true,
			.message.sync = wait->name,
		};
	}
	return n;
}

static int link_into(struct derive *derive, struct flow *links)
{
	struct flow_links *flows = derive->flows;
	uint64_t n = link_waits(derive, links), n_launches;

	FLEXTRACE_TRY(radix_sort_elements(flows->starts, flows->n_starts, &start_order));
	FLEXTRACE_TRY(radix_sort_elements(flows->ends, (uint32_t)flows->n_ends, &end_order));
	FLEXTRACE_TRY(link_all(derive, links + n, &n_launches));
	n += n_launches;
	n += arrows_link(derive, links + n);
	FLEXTRACE_TRY(radix_sort_elements(links, (uint32_t)n, &flow_order));
	for (uint64_t i = 0; i < n; i++)
		FLEXTRACE_TRY(table_put(&derive->out.flows_from, &links[i], sizeof(*links)));
	return FLEXTRACE_OK;
}

int flows_finish(struct derive *derive)
{
	struct flow_links *flows = derive->flows;
	uint32_t n_waits = derive->told_flows.n_waits;
	struct flow *links;
	int code;

	derive->out.has.arrows = derive->arrows.n || n_waits;
	if (!flows || (!flows->n_starts && !derive->arrows.n && !n_waits))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(told_flows_find_ops(derive));
	FLEXTRACE_TRY(BLOCKS_NEW(links, flows->n_ends + derive->arrows.n + n_waits));
	code = link_into(derive, links);
	blocks_free(links);
	return code;
}
