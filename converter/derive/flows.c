/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch leads from a host row to the main row of each control block with its correlation. Of
 * several host rows it is the innermost that encloses the submission, else the first. Device rows
 * are merged first and leave their time and track; host rows of a correlation that device work uses
 * are kept as they pass, and a sweep over both, correlation by correlation, links them.
 */
#include "derive_impl.h"

struct flow_end { /* one control block */
	int64_t to_time_ns;
	int64_t submit_time_ns; /* INT64_MIN = not known */
	uint32_t slot;          /* of its correlation; FLEXTRACE_NONE = none */
	uint32_t to_track;      /* FLEXTRACE_NONE = no main row */
};

struct flow_start { /* one host row, in output order within its slot */
	int64_t start_time_ns, end_time_ns;
	uint32_t slot, track;
	uint32_t below; /* in the sweep: place + 1 of the open row under it */
	uint32_t order;
};

struct flow_links {
	struct map slots; /* (correlation, process) -> slot */
	uint8_t *filter;  /* owned: one bit for each correlation in `slots`, by its low bits */
	uint64_t filter_mask;
	struct flow_end *ends; /* owned: one per control block */
	uint64_t n_ends;
	struct flow_start *starts; /* owned */
	uint32_t n_starts, n_starts_allocated;
	uint32_t n_slots;
};

static int find_slot(struct flow_links *flows, uint64_t correlation, uint32_t process,
                     uint32_t *ret_slot)
{
	*ret_slot = map_find(&flows->slots, correlation, process);
	if (*ret_slot != MAP_NONE)
		return FLEXTRACE_OK;
	*ret_slot = flows->n_slots++;
	return map_put(&flows->slots, correlation, process, *ret_slot);
}

/* Correlations are counted up, so that those of one time are neighbours in the filter. */
static uint64_t filter_bit(const struct flow_links *flows, uint64_t correlation, uint32_t process)
{
	return (correlation + process * 0x9e3779b97f4a7c15u) & flows->filter_mask;
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

static int add_end(struct derive *derive, const struct tick_op *op, struct flow_end *end)
{
	uint32_t process = derive->identity->devices[op->device].process;
	uint64_t bit = filter_bit(derive->flows, op->correlation, process);

	*end = (struct flow_end){0, INT64_MIN, FLEXTRACE_NONE, FLEXTRACE_NONE};
	if (!op->correlation)
		return FLEXTRACE_OK;
	if (op->submit_host_ns)
		end->submit_time_ns = place_host(derive, process, op->submit_host_ns).time_ns;
	derive->flows->filter[bit / 8] |= (uint8_t)(1 << bit % 8);
	return find_slot(derive->flows, op->correlation, process, &end->slot);
}

int flows_init(struct derive *derive)
{
	struct flow_links *flows = calloc(1, sizeof(*flows));

	derive->flows = flows;
	if (!flows)
		return FLEXTRACE_E_MEMORY;
	flows->n_ends = derive->n_ops;
	flows->ends = malloc((derive->n_ops + 1) * sizeof(*flows->ends));
	if (!flows->ends)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(make_filter(flows, derive->n_ops));
	for (uint64_t i = 0; i < derive->n_ops; i++)
		FLEXTRACE_TRY(add_end(derive, &derive->ops[i], &flows->ends[i]));
	return FLEXTRACE_OK;
}

void flows_free(struct flow_links *flows)
{
	if (!flows)
		return;
	map_release(&flows->slots);
	free(flows->ends);
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
	end->to_track = row->track;
}

int flows_see_host_row(struct derive *derive, uint32_t process, const struct host_row *row)
{
	struct flow_links *flows = derive->flows;
	uint64_t bit;
	uint32_t slot;

	if (!flows || !row->correlation)
		return FLEXTRACE_OK;
	bit = filter_bit(flows, row->correlation, process);
	if (!(flows->filter[bit / 8] & 1 << bit % 8))
		return FLEXTRACE_OK;
	slot = map_find(&flows->slots, row->correlation, process);
	if (slot == MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(
		ARRAY_RESERVE(flows->starts, flows->n_starts_allocated, flows->n_starts + 1ull));
	flows->starts[flows->n_starts] = (struct flow_start){
		.start_time_ns = row->start_time_ns,
		.end_time_ns = row->end_time_ns,
		.slot = slot,
		.track = row->track,
		.order = flows->n_starts,
	};
	flows->n_starts++;
	return FLEXTRACE_OK;
}

/* -- the sweep ------------------------------------------------------------------------------ */

static int compare_starts(const void *left_start, const void *right_start)
{
	const struct flow_start *left = left_start, *right = right_start;

	if (left->slot != right->slot)
		return left->slot < right->slot ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static int compare_ends(const void *left_end, const void *right_end)
{
	const struct flow_end *left = left_end, *right = right_end;

	if (left->slot != right->slot)
		return left->slot < right->slot ? -1 : 1;
	if (left->submit_time_ns != right->submit_time_ns)
		return left->submit_time_ns < right->submit_time_ns ? -1 : 1;
	if (left->to_time_ns != right->to_time_ns)
		return left->to_time_ns < right->to_time_ns ? -1 : 1;
	return left->to_track < right->to_track ? -1 : left->to_track > right->to_track;
}

static int compare_flows(const void *left_flow, const void *right_flow)
{
	const struct flow *left = left_flow, *right = right_flow;

	if (left->from_time_ns != right->from_time_ns)
		return left->from_time_ns < right->from_time_ns ? -1 : 1;
	if (left->to_time_ns != right->to_time_ns)
		return left->to_time_ns < right->to_time_ns ? -1 : 1;
	if (left->to_track != right->to_track)
		return left->to_track < right->to_track ? -1 : 1;
	if (left->from_track != right->from_track)
		return left->from_track < right->from_track ? -1 : 1;
	return left->correlation < right->correlation ? -1 : left->correlation > right->correlation;
}

struct sweep {
	struct flow_links *flows;
	uint32_t next;  /* first start not yet begun */
	uint32_t first; /* of this slot */
	uint32_t open;  /* place + 1 of the innermost open start; 0 = none */
};

/* Returns the start that launched `end`; NULL: there is none. Ends of a slot come in order of
 * submission. */
static const struct flow_start *start_of(struct sweep *sweep, const struct flow_end *end)
{
	struct flow_start *starts = sweep->flows->starts;
	uint32_t n = sweep->flows->n_starts;

	while (sweep->next < n && starts[sweep->next].slot == end->slot &&
	       starts[sweep->next].start_time_ns <= end->submit_time_ns) {
		starts[sweep->next].below = sweep->open;
		sweep->open = ++sweep->next;
	}
	while (sweep->open && starts[sweep->open - 1].end_time_ns < end->submit_time_ns)
		sweep->open = starts[sweep->open - 1].below;
	if (sweep->open)
		return &starts[sweep->open - 1];
	if (sweep->first < n && starts[sweep->first].slot == end->slot)
		return &starts[sweep->first];
	return NULL;
}

static void enter_slot(struct sweep *sweep, uint32_t slot)
{
	const struct flow_links *flows = sweep->flows;

	while (sweep->next < flows->n_starts && flows->starts[sweep->next].slot < slot)
		sweep->next++;
	sweep->first = sweep->next;
	sweep->open = 0;
}

/* Fills `links` with one flow per control block that has one, and returns how many. */
static uint64_t link_all(struct derive *derive, struct flow *links)
{
	struct flow_links *flows = derive->flows;
	struct sweep sweep = {.flows = flows};
	uint32_t slot = FLEXTRACE_NONE;
	uint64_t n = 0;

	for (uint64_t i = 0; i < flows->n_ends && flows->ends[i].slot != FLEXTRACE_NONE; i++) {
		const struct flow_end *end = &flows->ends[i];
		const struct flow_start *start;

		if (end->slot != slot)
			enter_slot(&sweep, end->slot);
		slot = end->slot;
		start = start_of(&sweep, end);
		if (!start || end->to_track == FLEXTRACE_NONE ||
		    start->start_time_ns > end->to_time_ns)
			continue;
		links[n++] = (struct flow){start->start_time_ns, end->to_time_ns, start->track,
		                           end->to_track, slot};
	}
	return n;
}

/* Slots stand for correlations until here: puts the correlations back. */
static int restore_correlations(struct derive *derive, struct flow *links, uint64_t n)
{
	const struct flow_links *flows = derive->flows;
	uint64_t *correlations = calloc(flows->n_slots + 1ull, sizeof(*correlations));

	if (!correlations)
		return FLEXTRACE_E_MEMORY;
	for (uint64_t i = 0; i < flows->slots.n_slots; i++) {
		const struct map_slot *slot = &flows->slots.slots[i];

		if (slot->value != MAP_NONE)
			correlations[slot->value] = slot->a;
	}
	for (uint64_t i = 0; i < n; i++)
		links[i].correlation = correlations[links[i].correlation];
	free(correlations);
	return FLEXTRACE_OK;
}

static int link_into(struct derive *derive, struct flow *links)
{
	uint64_t n = link_all(derive, links);

	FLEXTRACE_TRY(restore_correlations(derive, links, n));
	qsort(links, n, sizeof(*links), compare_flows);
	for (uint64_t i = 0; i < n; i++) {
		struct flow *flow = table_append(&derive->out->flows_from, sizeof(*flow));

		if (!flow)
			return FLEXTRACE_E_MEMORY;
		*flow = links[i];
	}
	return FLEXTRACE_OK;
}

int flows_finish(struct derive *derive)
{
	struct flow_links *flows = derive->flows;
	struct flow *links;
	int code;

	if (!flows || !flows->n_starts)
		return FLEXTRACE_OK;
	qsort(flows->starts, flows->n_starts, sizeof(*flows->starts), compare_starts);
	qsort(flows->ends, flows->n_ends, sizeof(*flows->ends), compare_ends);
	links = malloc(flows->n_ends * sizeof(*links));
	if (!links)
		return FLEXTRACE_E_MEMORY;
	code = link_into(derive, links);
	free(links);
	return code;
}
