// SPDX-License-Identifier: Apache-2.0
/*
 * event_rows.c: rows of the host, instants, counters and arrows as events.
 */
#include "events.h"

#include "base/text/ascii.h"

const char *const event_key_names[N_EVENT_KEYS] = {
#define KEY(name, text) [EVENT_KEY_##name] = text,
	EVENT_KEYS(KEY)
#undef KEY
};

void event_append_name(const struct events *events, const struct file_event *event,
                       struct writer *text)
{
	size_t start;

	if (event->around)
		writer_format(text, "%s (", event->around);
	if (event->before)
		writer_raw(text, event->before);
	start = (size_t)(text->at - text->buffer);
	if (event->name) {
		struct string_text name = string_text(events->view.strings, event->name);

		writer_append(text, name.bytes, name.length);
	} else {
		writer_append(text, event->label.bytes, event->label.length);
	}
	for (char *at = text->buffer + start; event->letters && at < text->at; at++)
		*at = event->letters == LETTERS_CAPITAL ? ascii_upper(*at)
		      : strchr(" ()<>", *at)            ? '_'
		                                        : *at;
	if (event->around)
		writer_char(text, ')');
	if (event->part)
		writer_format(text, " \u00b7 %s", event->part);
	if (event->core != FLEXTRACE_NONE)
		writer_format(text, " core %u", event->core);
}

static void name_event(struct file_event *event, uint32_t name, const struct row_kind *kind)
{
	event->name = name;
	event->label = (struct trace_text){kind->label, kind->n_label};
	event->category = (struct trace_text){kind->category, kind->n_category};
}

/* Kineto's readers find what belongs together by the External id; in trace.json it would say the
 * same again. */
void event_add_correlation(const struct events *events, uint64_t correlation,
                           struct file_event *event)
{
	if (correlation == 0)
		return;
	event_add_u64(event, EVENT_KEY_CORRELATION, correlation);
	if (events_are_kineto(events))
		event_add_u64(event, EVENT_KEY_EXTERNAL_ID,
		              events->is_without_ops ? 0 : correlation);
}

/* An object whose first member is "category" says of which the event is. */
static void take_category(const struct string_text *text, struct file_event *event)
{
	struct trace_text rest = {text->bytes, text->length - 1}, key;
	struct trace_value value;

	if (text->bytes[0] == '{' && told_next(&rest, &key, &value) &&
	    trace_text_is(&key, "category") && value.kind == TRACE_TEXT && value.text.length)
		event->category = value.text;
}

void event_add_recorded(const struct events *events, uint8_t key, uint32_t string,
                        struct file_event *event)
{
	struct string_text text;

	if (!string)
		return;
	text = string_text(events->view.strings, string);
	if ((text.bytes[0] != '{' && text.bytes[0] != '[') || !told_is_json(text.bytes)) {
		event_add_string(event, key, string);
		return;
	}
	event_add_text(event, key, ARG_JSON, text.bytes, text.length);
	take_category(&text, event);
}

/* -- the host ---------------------------------------------------------------------------------- */

void event_of_host(const struct events *events, const struct host_row *row,
                   struct file_event *event)
{
	const struct row_kind *kind = event_host_kind(events, row);
	struct told told;

	event_begin(event, EVENT_INTERVAL, ON_TRACK, row->track);
	event->start_time_ns = row->start_time_ns;
	event->end_time_ns = row->end_time_ns;
	event->status = row->status;
	event->has_status = true;
	name_event(event, row->name, kind);
	if (event_told_of_host(events, row, &told)) {
		event_tell(event, &told, event->label);
		if (!event_told_has(&told, "correlation") && !events_are_of_rank(events))
			event_add_correlation(events, row->correlation, event);
		event->has_status = !event_told_has(&told, "status");
		return;
	}
	event->file = row->file;
	event->line = row->line;
	if (!kind->is_usual)
		event_add_text(event, EVENT_KEY_KIND, ARG_WORD, kind->label, kind->n_label);
	event_add_correlation(events, row->correlation, event);
	event_add_recorded(events, EVENT_KEY_ARGS, row->args, event);
}

void event_of_instant(const struct events *events, const struct instant_row *row,
                      struct file_event *event)
{
	const char *label = instant_kind_name(row->class);
	struct told told;

	event_begin(event, EVENT_INSTANT, ON_TRACK, row->track);
	event->start_time_ns = event->end_time_ns = row->time_ns;
	event->status = row->status;
	event->has_status = true;
	event->err_ns = row->err_ns;
	event->name = row->name;
	event->label = (struct trace_text){label, strlen(label)};
	event->category = row->class == RECORD_MARKER_BATCH ? EVENT_TEXT("firmware")
	                                                    : EVENT_TEXT("cpu_instant_event");
	if (event_told(events, row->value, &told)) {
		event_tell(event, &told, event->label);
		event->has_status = !event_told_has(&told, "status");
		return;
	}
	if (row->class == RECORD_ANNOTATION)
		event_add_word(event, EVENT_KEY_KIND, label);
	event_add_recorded(events, EVENT_KEY_VALUE, row->value, event);
	event_add_correlation(events, instant_correlation(row), event);
}

/* -- lines of values --------------------------------------------------------------------------- */

void event_of_counter(const struct counter_row *row, const char *unit, struct file_event *event)
{
	event_begin(event, EVENT_COUNTER, row->is_device ? ON_DEVICE : ON_PROCESS, row->owner);
	event->start_time_ns = event->end_time_ns = row->time_ns;
	event->name = row->name;
	event->label = event->category = EVENT_TEXT("counter");
	event->unit = unit;
	event->value = row->value;
	event->core = row->core;
	event->has_status = row->class == RECORD_MARKER_BATCH; /* who told others is their host */
	event->err_ns = event->has_status ? row->err_ns : UINT32_MAX;
	event->status = row->status;
}

void event_of_rate(const struct collective_rate *rate, struct file_event *event)
{
	event_begin(event, EVENT_COUNTER, ON_PROCESS, rate->process);
	event->start_time_ns = event->end_time_ns = rate->time_ns;
	event->label = EVENT_TEXT("collective bus bandwidth");
	event->category = EVENT_TEXT("counter");
	event->unit = "GB/s";
	event->value = rate->gbps;
}

/* Below zero: there is no bound. */
void event_of_band(const struct event_later *band, struct file_event *event)
{
	event_begin(event, EVENT_COUNTER, ON_DEVICE, band->device);
	event->start_time_ns = event->end_time_ns = band->time_ns;
	event->label = EVENT_TEXT("error bar");
	event->category = EVENT_TEXT("counter");
	event->unit = "ns";
	event->value = band->err_ns == UINT32_MAX ? -1. : (double)band->err_ns;
}

/* The record itself is an argument: where a format has none of counters, it is left out. */
void event_of_memory(const struct events *events, const struct memory_row *row,
                     struct file_event *event)
{
	int32_t vtid = events->view.identity->threads[row->thread].vtid;

	event_begin(event, EVENT_COUNTER, ON_DEVICE, row->device);
	event->start_time_ns = event->end_time_ns = row->time_ns;
	event->label = EVENT_TEXT("allocated memory");
	event->category = EVENT_TEXT("counter");
	event->unit = "bytes";
	event->value = (double)row->total_bytes;
	event_add_word(event, EVENT_KEY_OP, memory_op_name(row->op));
	event_add_u64(event, EVENT_KEY_ADDRESS, row->address);
	event_add_u64(event, EVENT_KEY_BYTES, row->bytes);
	if (vtid >= 0)
		event_add_u64(event, EVENT_KEY_TID, (uint64_t)vtid);
}

/* -- arrows ------------------------------------------------------------------------------------ */

static struct trace_text arrow_category(const struct flow *flow, const struct track *tracks)
{
	if (flow->is_told)
		return tracks[flow->from_track].kind < TRACK_QUEUE ? EVENT_TEXT("flow")
		                                                   : EVENT_TEXT("queue_wait");
	if (flow_is_message(flow, tracks))
		return EVENT_TEXT("message");
	if (flow->is_critical)
		return EVENT_TEXT("critical_path");
	if (flow_is_gradient(flow, tracks))
		return EVENT_TEXT("fwdbwd");
	return EVENT_TEXT("ac2g");
}

void event_of_arrow(const struct events *events, const struct flow *flow, bool is_out, uint64_t id,
                    struct file_event *event)
{
	event_begin(event, is_out ? EVENT_ARROW_OUT : EVENT_ARROW_IN, ON_TRACK,
	            is_out ? flow->from_track : flow->to_track);
	event->start_time_ns = is_out ? flow->from_time_ns : flow->to_time_ns;
	event->end_time_ns = is_out ? flow->to_time_ns : flow->from_time_ns;
	event->id = id;
	event->label = event->category = arrow_category(flow, events->view.timeline->tracks);
	if (flow->is_told) {
		event->name = flow->message.sync;
	} else if (flow_is_message(flow, events->view.timeline->tracks)) {
		event->name = flow->message.sync;
		event_add(event, EVENT_KEY_GROUP, ARG_STRING)->u.string = flow->message.group;
	}
}
