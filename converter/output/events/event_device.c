// SPDX-License-Identifier: Apache-2.0
/*
 * event_device.c: rows of devices as events. The stamps of a control block stand once, on its main
 * row.
 */
#include "events.h"

#include <math.h>

const char *const event_stamp_names[N_EVENT_STAMPS] = {"TS1", "TS2",   "TS3", "TS4",
                                                       "TS5", "begin", "end"};

static void add_stamps(const uint64_t *ticks, uint8_t n, uint8_t first, bool is_raw,
                       struct file_event *event)
{
	struct event_arg *arg = event_add(event, is_raw ? EVENT_KEY_RAW : EVENT_KEY_CYCLES,
	                                  is_raw ? ARG_RAW : ARG_CYCLES);

	arg->u.ticks = ticks;
	arg->n_cycles = n;
	arg->first_stamp = first;
}

/* The counter's low 32 bits are all of it until it has wrapped; then those of the first stamp are
 * told, as the others are as far behind it in either. */
static void add_cycles(const uint64_t *ticks, uint8_t n, uint8_t first, struct file_event *event)
{
	uint64_t all = 0;
	uint8_t i = 0;

	for (uint8_t stamp = 0; stamp < n; stamp++)
		all |= ticks[stamp];
	if (!all)
		return;
	add_stamps(ticks, n, first, false, event);
	while (!ticks[i])
		i++;
	if (first == STAMP_TS1 && all > UINT32_MAX)
		add_stamps(&ticks[i], 1, (uint8_t)(first + i), true, event);
}

/* Which counter the stamps of a control block are of, and since which reset of it. */
static void add_clock(const struct events *events, const struct tick_op *op,
                      struct file_event *event)
{
	uint32_t domain = events->view.identity->counters[op->counter].domain;

	add_cycles(op->ticks, FLEXTRACE_N_STAMPS, STAMP_TS1, event);
	if (domain)
		event_add_u64(event, EVENT_KEY_DOMAIN, domain);
	if (op->segment)
		event_add_u64(event, EVENT_KEY_SEGMENT, op->segment);
}

static void add_power(const struct tick_op *op, struct file_event *event)
{
	if (op->power)
		event_add_u64(event, EVENT_KEY_POWER, op->power);
	if (op->power && op->sample_before_ns)
		event_add_u64(event, EVENT_KEY_SAMPLE, op->sample_before_ns);
}

static void add_kind(const struct row_kind *kind, struct file_event *event)
{
	if (!kind->is_usual)
		event_add_text(event, EVENT_KEY_KIND, ARG_WORD, kind->label, kind->n_label);
}

/* How long after its call began, and after it returned, work began; below zero: clocks erred. */
static void add_launch(const struct events *events, const struct device_row *row,
                       struct file_event *event)
{
	const uint32_t *launches = events->view.timeline->launch_of_op;
	const struct host_row *call;

	if (!launches || launches[row->source] == FLEXTRACE_NONE)
		return;
	call = table_index_get(&events->host_rows, launches[row->source], sizeof(*call));
	event_add_i64(event, EVENT_KEY_LAUNCH_DELAY, row->start_time_ns - call->start_time_ns);
	event_add_i64(event, EVENT_KEY_QUEUE_TIME, row->start_time_ns - call->end_time_ns);
}

/* What the compiler says of a kernel. */
static void add_costs(const struct events *events, const struct device_row *row,
                      struct file_event *event)
{
	const struct kernel_costs *costs = events->view.findings->costs;
	const struct kernel_cost *cost = kernel_cost_of(costs, row);
	uint32_t device = events->view.timeline->tracks[row->track].owner;

	if (!cost)
		return;
	if (cost->phase)
		event_add_word(event, EVENT_KEY_PHASE, kernel_phase_name(cost->phase));
	if (!cost->category)
		return;
	event_add_string(event, EVENT_KEY_CATEGORY, cost->category);
	event_add_u64(event, EVENT_KEY_IDEAL_CYCLES, cost->ideal_cycles);
	if (kernel_time_ns(costs, row)) /* else there is nothing to divide by */
		event_add_double(event, EVENT_KEY_PT_UTIL,
		                 round(kernel_utilization(costs, cost, device, row) * 1e4) / 1e4);
}

/* -- control blocks ---------------------------------------------------------------------------- */

static const char *part_of(uint8_t kind)
{
	return kind == ROW_DMA_IN    ? "DMA in"
	       : kind == ROW_PREP    ? "prep"
	       : kind == ROW_DMA_OUT ? "DMA out"
	                             : NULL;
}

static void add_op_args(const struct events *events, const struct tick_op *op,
                        struct file_event *event)
{
	event_add_correlation(events, op->correlation, event);
	add_clock(events, op, event);
	if (op->bytes)
		event_add_u64(event, EVENT_KEY_BYTES, op->bytes);
	if (op->peer >= 0)
		event_add_i64(event, EVENT_KEY_PEER, op->peer);
	event_add_string(event, EVENT_KEY_GROUP, op->group);
	if (op->type && !told_is_likely(string_get(events->view.strings, op->type)))
		event_add_string(event, EVENT_KEY_TYPE, op->type);
	add_power(op, event);
	if (op->kind >= FLEXTRACE_DEVICE_KIND_COUNT_FULL && op->kind < UNNUMBERED_KIND)
		event_add_u64(event, EVENT_KEY_KIND_NUMBER, op->kind);
	event_add_recorded(events, EVENT_KEY_ARGS, op->args, event);
}

/* Who reads the file of a rank takes what has a stream for a kernel, and what has a correlation and
 * no stream for a launch. */
static void add_op_row(const struct events *events, const struct device_row *row,
                       struct file_event *event)
{
	const struct tick_op *op = &events->view.timeline->ops[row->source];
	const struct track *track = &events->view.timeline->tracks[row->track];
	bool is_kineto = events_are_kineto(events), is_part = part_of(row->kind);

	add_kind(kind_of_device(track->dialect, row->kind), event);
	event_add_u64(event, EVENT_KEY_DEVICE, events->device_number[track->owner]);
	if (!is_kineto || !is_part)
		event_add_u64(event, EVENT_KEY_STREAM,
		              is_kineto ? view_stream(&events->view, track) : track->id);
	event_add_u64(event, EVENT_KEY_JOB, op->job);
	if (is_part) {
		if (op->correlation && !is_kineto)
			event_add_u64(event, EVENT_KEY_CORRELATION, op->correlation);
		if (!op->ticks[2] || !op->ticks[3]) { /* there is no main row */
			add_clock(events, op, event);
			add_power(op, event);
		}
		return;
	}
	add_op_args(events, op, event);
	if (is_kineto)
		event_name_copy(events, row, event);
	add_launch(events, row, event);
	add_costs(events, row, event);
}

static bool has_either(const struct told *told, const char *key, const char *other)
{
	return event_told_has(told, key) || event_told_has(told, other);
}

/* What the importer found in the file, where it stands elsewhere than in the arguments. */
static void add_found(const struct events *events, const struct tick_op *op,
                      const struct told *told, struct file_event *event)
{
	if (!event_told_has(told, "correlation"))
		event_add_correlation(events, op->correlation, event);
	if (op->bytes && !has_either(told, "bytes", "Bytes"))
		event_add_u64(event, EVENT_KEY_BYTES, op->bytes);
	if (op->peer >= 0 && !has_either(told, "peer", "Peer"))
		event_add_i64(event, EVENT_KEY_PEER, op->peer);
	if (!has_either(told, "group", "CollGroup"))
		event_add_string(event, EVENT_KEY_GROUP, op->group);
	if (!has_either(told, "power", "Power"))
		add_power(op, event);
}

/* Of ours, what the file does not know. */
static void add_told_row(const struct events *events, const struct device_row *row,
                         const struct told *told, struct file_event *event)
{
	const struct tick_op *op = &events->view.timeline->ops[row->source];

	event_tell(event, told, event->label);
	event_add_told_ids(events, told, row, event);
	if (op->job && !event_told_has(told, "job"))
		event_add_u64(event, EVENT_KEY_JOB, op->job);
	if (!events_are_of_rank(events))
		add_found(events, op, told, event);
	if (op->status != TIME_GIVEN && !event_told_has(told, "cycles"))
		add_clock(events, op, event);
	add_costs(events, row, event);
	event->has_status = !event_told_has(told, "status");
}

/* -- markers ----------------------------------------------------------------------------------- */

static void add_zone(const struct events *events, const struct device_row *row,
                     const struct row_kind *kind, struct file_event *event)
{
	const struct zone *zone = &events->view.timeline->marks.zones[row->source];
	const struct marker *marker = view_marker(&events->view, zone);
	const struct mark_run *run = view_run(&events->view, zone);

	event->name = marker->name;
	event->file = marker->file;
	event->line = marker->line;
	add_kind(kind, event);
	if (run->run && run->run != run->job)
		event_add_u64(event, EVENT_KEY_RUN, run->run);
	if (run->job)
		event_add_u64(event, EVENT_KEY_JOB, run->job);
	add_cycles(&zone->first_ticks, 2, STAMP_BEGIN, event);
}

_Static_assert(offsetof(struct zone, last_ticks) ==
                       offsetof(struct zone, first_ticks) + sizeof(uint64_t),
               "both are a list");

void event_of_device(const struct events *events, const struct device_row *row,
                     struct file_event *event)
{
	const struct row_kind *kind = event_device_kind(events, row);
	const struct tick_op *op = &events->view.timeline->ops[row->source];
	struct told told;

	event_begin(event, EVENT_INTERVAL, ON_TRACK, row->track);
	event->start_time_ns = row->start_time_ns;
	event->end_time_ns = row->end_time_ns;
	event->label = (struct trace_text){kind->label, kind->n_label};
	event->category = (struct trace_text){kind->category, kind->n_category};
	event->err_ns = row->err_ns;
	event->status = row->status;
	event->has_status = true;
	if (view_is_zone(row)) {
		add_zone(events, row, kind, event);
		return;
	}
	event->name = op->name;
	event->part = op->name ? part_of(row->kind) : NULL; /* else it is called by its kind */
	if (!part_of(row->kind) && event_told(events, op->type, &told))
		add_told_row(events, row, &told, event);
	else
		add_op_row(events, row, event);
}
