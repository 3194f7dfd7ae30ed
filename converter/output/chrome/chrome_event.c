// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_event.c: one event of trace.json each.
 */
#include "chrome.h"

#include <assert.h>
#include <math.h>

/* JavaScript readers lose integers above 2^53. */
#define MAX_EXACT ((uint64_t)1 << 53)

/* -- numbers ----------------------------------------------------------------------------------- */

/* A number that a JavaScript reader would not keep: as a string. */
static char *put_inexact(char *at, uint64_t value)
{
	*at = '"';
	at = put_u64(at + 1, value);
	*at = '"';
	return at + 1;
}

static char *put_exact(char *at, uint64_t value)
{
	return value < MAX_EXACT ? put_u64(at, value) : put_inexact(at, value);
}

static void write_u64(struct chrome *chrome, const struct event_arg *arg)
{
	char *at = writer_room(&chrome->writer, WRITER_NUMBER_BYTES + 2);
	uint64_t value = arg->u.u64;

	if (!at)
		return;
	if (arg->key == EVENT_KEY_JOB && value < MAX_EXACT)
		chrome->writer.at = put_again(at, &chrome->digits.job, value);
	else
		chrome->writer.at = put_exact(at, value);
}

static void write_i64(struct chrome *chrome, int64_t value)
{
	bool is_inexact = value > (int64_t)MAX_EXACT || value < -(int64_t)MAX_EXACT;

	writer_raw(&chrome->writer, is_inexact ? "\"" : "");
	writer_i64(&chrome->writer, value);
	writer_raw(&chrome->writer, is_inexact ? "\"" : "");
}

/* At most FLEXTRACE_N_STAMPS of them. */
static void write_cycles(struct chrome *chrome, const struct event_arg *arg)
{
	char *at = writer_room(&chrome->writer,
	                       FLEXTRACE_N_STAMPS * (WRITER_NUMBER_BYTES + 12) + 4);

	if (!at)
		return;
	*at++ = '{';
	for (uint32_t i = 0; i < arg->n_cycles; i++) {
		const char *name = event_stamp_names[arg->first_stamp + i];
		uint64_t ticks = arg->u.ticks[i];

		if (!ticks)
			continue;
		*at++ = '"';
		at = stpcpy(at, name);
		at = put_literal(at, "\":");
		if (arg->type == ARG_RAW)
			at = put_u64(at, (uint32_t)ticks);
		else if (ticks < MAX_EXACT)
			at = put_near(at, &chrome->digits.cycles, ticks);
		else
			at = put_inexact(at, ticks);
		*at++ = ',';
	}
	at[-1] = '}';
	chrome->writer.at = at;
}

/* -- times ------------------------------------------------------------------------------------- */

static void write_ts(struct chrome *chrome, int64_t time_ns)
{
	assert(time_ns >= chrome->base_time_ns);
	writer_us_near(&chrome->writer, &chrome->digits.times,
	               (uint64_t)(time_ns - chrome->base_time_ns));
}

static void write_times(struct chrome *chrome, int64_t start_time_ns, int64_t end_time_ns)
{
	char *at = writer_room(&chrome->writer, 2 * WRITER_NUMBER_BYTES + 8);

	assert(start_time_ns >= chrome->base_time_ns && end_time_ns >= start_time_ns);
	if (!at)
		return;
	at = put_us_near(at, &chrome->digits.times,
	                 (uint64_t)(start_time_ns - chrome->base_time_ns));
	at = put_literal(at, ",\"dur\":");
	if (!events_are_of_rank(&chrome->events))
		at = put_us(at, (uint64_t)(end_time_ns - start_time_ns));
	chrome->writer.at = at;
	if (events_are_of_rank(&chrome->events))
		chrome_write_dur(chrome, start_time_ns, end_time_ns);
}

/* -- names ------------------------------------------------------------------------------------- */

static void write_label(struct writer *writer, const char *text, size_t n)
{
	writer_char(writer, '"');
	writer_append(writer, text, n);
	writer_char(writer, '"');
}

/* A name with something of ours around or behind it. */
static void write_long_name(struct chrome *chrome, const struct file_event *event)
{
	struct writer *writer = &chrome->writer;
	struct writer text;

	writer_open_memory(&text);
	event_append_name(&chrome->events, event, &text);
	writer_json(writer, text.buffer, (size_t)(text.at - text.buffer));
	if (writer_failed(&text))
		writer->failure = text.failure;
	writer_abandon(&text);
}

static void write_name(struct chrome *chrome, const struct file_event *event)
{
	if (event->around || event->before || event->letters || event->part ||
	    event->core != FLEXTRACE_NONE)
		write_long_name(chrome, event);
	else if (event->name)
		view_write_json(&chrome->events.view, &chrome->writer, event->name);
	else
		write_label(&chrome->writer, event->label.bytes, event->label.length);
}

static const char *phase_of(uint8_t type)
{
	static const char *const phases[] = {
		[EVENT_INTERVAL] = "{\"ph\":\"X\"",  [EVENT_ASYNC_BEGIN] = "{\"ph\":\"b\"",
		[EVENT_ASYNC_END] = "{\"ph\":\"e\"", [EVENT_ARROW_OUT] = "{\"ph\":\"s\"",
		[EVENT_ARROW_IN] = "{\"ph\":\"f\"",  [EVENT_INSTANT] = "{\"ph\":\"i\"",
		[EVENT_COUNTER] = "{\"ph\":\"C\"",
	};

	return phases[type];
}

/* From the phase to the name. */
static void write_head(struct chrome *chrome, const struct file_event *event)
{
	struct writer *writer = &chrome->writer;

	writer_append(writer, phase_of(event->type), sizeof("{\"ph\":\"X\"") - 1);
	if (event->type == EVENT_INSTANT) {
		writer_literal(writer, ",\"s\":\"t\"");
	} else if (event->id) {
		writer_literal(writer, ",\"id\":");
		writer_u64(writer, event->id);
	}
	if (event->category.length) {
		writer_literal(writer, ",\"cat\":\"");
		if (event->told.bytes)
			writer_json_inside(writer, event->category.bytes, event->category.length);
		else
			writer_append(writer, event->category.bytes, event->category.length);
		writer_char(writer, '"');
	}
	writer_literal(writer, ",\"name\":");
	write_name(chrome, event);
	if (event->type == EVENT_ARROW_IN)
		writer_literal(writer, ",\"bp\":\"e\"");
}

/* -- lines ------------------------------------------------------------------------------------- */

/* From the pid up to the time. */
static void write_ids(struct writer *writer, uint32_t pid, uint32_t tid)
{
	writer_literal(writer, ",\"pid\":");
	writer_u64(writer, pid);
	writer_literal(writer, ",\"tid\":");
	writer_u64(writer, tid);
	writer_literal(writer, ",\"ts\":");
}

int chrome_track_ids_init(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->events.view.timeline;
	const struct line_ids *ids = &chrome->ids;

	FLEXTRACE_TRY(fragments_init(&chrome->track_ids, timeline->n_tracks));
	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		uint32_t line = chrome->events.views.overlap == OVERLAP_LANES
		                        ? i
		                        : chrome->events.lines.track_line[i];

		write_ids(&chrome->track_ids.bytes, line_ids_pid(ids, &chrome->events.view, i),
		          ids->track_tid[line]);
		fragments_end(&chrome->track_ids);
	}
	return fragments_check(&chrome->track_ids);
}

static void write_line(struct chrome *chrome, const struct file_event *event)
{
	const struct line_ids *ids = &chrome->ids;
	const struct losses *losses = &chrome->events.losses.lines;
	uint32_t pid = 0, tid = 0, place = event->place;

	if (event->on == ON_TRACK) {
		fragments_write(&chrome->track_ids, place, &chrome->writer);
		return;
	}
	switch (event->on) {
	case ON_PROCESS:
		pid = tid = ids->process_pid[place];
		break;
	case ON_DEVICE:
		pid = tid = ids->device_pid[place];
		break;
	case ON_LOSSES:
		pid = chrome_loss_pid(losses->all[place].cause);
		tid = place + 1;
		break;
	case ON_WAITS:
		pid = ids->device_pid[chrome->events.hta.device];
		tid = CHROME_WAITS_TID + place;
		break;
	case ON_FOUND_STEPS:
		pid = ids->process_pid[place];
		tid = CHROME_STEPS_TID;
		break;
	default:
		pid = ids->process_pid[chrome->events.found.lines[place].process];
		tid = CHROME_FOUND_TID(chrome->events.found.lines[place].lane);
		break;
	}
	write_ids(&chrome->writer, pid, tid);
}

/* -- arguments --------------------------------------------------------------------------------- */

#define KEY_BYTES 32 /* of the longest key as it is written */

static const struct {
	uint8_t n;
	char text[KEY_BYTES - 1]; /* ,"kind": */
} keys[N_EVENT_KEYS] = {
#define KEY(name, text) [EVENT_KEY_##name] = {sizeof(",\"" text "\":") - 1, ",\"" text "\":"},
	EVENT_KEYS(KEY)
#undef KEY
};

/* The first one opens the arguments. */
static void write_key(struct chrome *chrome, enum event_key key)
{
	bool is_first = !chrome->has_args;
	char *at = writer_room(&chrome->writer, 2 * KEY_BYTES);

	if (!at)
		return;
	if (is_first)
		at = put_literal(at, ",\"args\":{");
	memcpy(at, keys[key].text + is_first, KEY_BYTES - 2);
	chrome->writer.at = at + keys[key].n - is_first;
	chrome->has_args = true;
}

static void write_arg(struct chrome *chrome, const struct event_arg *arg)
{
	struct writer *writer = &chrome->writer;

	write_key(chrome, arg->key);
	switch (arg->type) {
	case ARG_U64:
		write_u64(chrome, arg);
		break;
	case ARG_I64:
		write_i64(chrome, arg->u.i64);
		break;
	case ARG_DOUBLE:
		writer_double(writer, arg->u.number);
		break;
	case ARG_WORD:
		write_label(writer, arg->u.text, arg->n_bytes);
		break;
	case ARG_STRING:
		view_write_json(&chrome->events.view, writer, arg->u.string);
		break;
	case ARG_JSON:
		writer_json_inside(writer, arg->u.text, arg->n_bytes);
		break;
	default:
		write_cycles(chrome, arg);
		break;
	}
}

static void write_err(struct chrome *chrome, uint32_t err_ns)
{
	char *at;

	write_key(chrome, EVENT_KEY_ERR);
	at = writer_room(&chrome->writer, WRITER_NUMBER_BYTES);
	if (at)
		chrome->writer.at = put_again(at, &chrome->digits.err, err_ns);
}

/* Where in the source code it is, unless all of its name are there. */
static int write_site(struct chrome *chrome, const struct file_event *event)
{
	int is_known = chrome_sites_have(&chrome->sites, event);

	if (is_known)
		return is_known;
	write_key(chrome, EVENT_KEY_FILE);
	view_write_json(&chrome->events.view, &chrome->writer, event->file);
	write_key(chrome, EVENT_KEY_LINE);
	writer_u64(&chrome->writer, event->line);
	return 0;
}

static void write_told_args(struct chrome *chrome, const struct trace_text *told,
                            const struct trace_text *rest)
{
	size_t n_skipped = !told->length && rest->length; /* its comma */

	if (!told->length && !rest->length)
		return;
	writer_literal(&chrome->writer, ",\"args\":{");
	writer_json_inside(&chrome->writer, told->bytes, told->length);
	if (rest->length)
		writer_json_inside(&chrome->writer, rest->bytes + n_skipped,
		                   rest->length - n_skipped);
	chrome->has_args = true;
}

/* Kineto's readers want arguments where there are none, too. */
static void close_args(struct chrome *chrome)
{
	if (chrome->has_args)
		writer_literal(&chrome->writer, "}}");
	else if (events_are_of_rank(&chrome->events))
		writer_literal(&chrome->writer, ",\"args\":{}}");
	else
		writer_char(&chrome->writer, '}');
}

/* What is not certified says so. */
static int write_args(struct chrome *chrome, const struct file_event *event)
{
	int code = 0;

	chrome->has_args = false;
	write_told_args(chrome, &event->told, &event->told_rest);
	for (uint32_t i = 0; i < event->n_args; i++)
		write_arg(chrome, &event->args[i]);
	if (event->file && event->type == EVENT_INTERVAL)
		code = write_site(chrome, event);
	if (event->has_status && event->status != TIME_CERTIFIED) {
		const char *name = time_status_name(event->status);

		write_key(chrome, EVENT_KEY_STATUS);
		write_label(&chrome->writer, name, strlen(name));
	}
	if (event->err_ns != UINT32_MAX)
		write_err(chrome, event->err_ns);
	close_args(chrome);
	return code < 0 ? code : 0;
}

static void write_value(struct chrome *chrome, const struct file_event *event)
{
	struct writer *writer = &chrome->writer;
	const char *unit = event->unit ? event->unit : "value";

	assert(isfinite(event->value));
	writer_literal(writer, ",\"args\":{");
	writer_json(writer, unit, strlen(unit));
	writer_char(writer, ':');
	writer_double(writer, event->value);
	writer_literal(writer, "}}");
}

int chrome_write_event(struct chrome *chrome, const struct file_event *event)
{
	chrome_next(chrome);
	write_head(chrome, event);
	write_line(chrome, event);
	if (event->type == EVENT_INTERVAL)
		write_times(chrome, event->start_time_ns, event->end_time_ns);
	else
		write_ts(chrome, event->start_time_ns);
	if (event->type != EVENT_COUNTER)
		return write_args(chrome, event);
	write_value(chrome, event);
	return 0;
}
