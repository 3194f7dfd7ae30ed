// SPDX-License-Identifier: Apache-2.0
#include "trace_digest.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static int64_t read_bytes(void *context, char *bytes, size_t n_bytes, struct flextrace_error *error)
{
	struct text_bytes *text = context;
	size_t n = text->n_bytes - text->at;

	if (text->fails_at && text->at >= text->fails_at)
		return error_set(error, FLEXTRACE_E_SYSTEM, "Cannot read");
	n = n < n_bytes ? n : n_bytes;
	if (text->step_bytes && n > text->step_bytes)
		n = text->step_bytes;
	memcpy(bytes, text->bytes + text->at, n);
	text->at += n;
	return (int64_t)n;
}

struct trace_source text_bytes_source(struct text_bytes *text)
{
	return (struct trace_source){read_bytes, text};
}

/* Every text that is handed out has a NUL behind it and none in it. */
static void put_text(FILE *out, const struct trace_text *text)
{
	assert_int_equal(strlen(text->bytes), text->length);
	fwrite(text->bytes, 1, text->length, out);
}

static void put_value(FILE *out, const struct trace_value *value)
{
	static const char *const quotes[] = {"?", "<>", "", "", "``"};

	assert_in_range(value->kind, TRACE_TEXT, TRACE_JSON);
	fprintf(out, "%.1s", quotes[value->kind]);
	put_text(out, &value->text);
	fprintf(out, "%s", quotes[value->kind] + (*quotes[value->kind] != 0));
}

static void put_known(FILE *out, const char *name, const struct trace_value *value)
{
	if (value->kind == TRACE_ABSENT)
		return;
	fprintf(out, " %s=", name);
	put_value(out, value);
}

static void put_event(FILE *out, const struct trace_event *event)
{
	const struct trace_text *texts[] = {&event->cat, &event->bp};

	fputc(event->ph, out);
	if (event->name.bytes) {
		fputc(':', out);
		put_text(out, &event->name);
	}
	for (size_t i = 0; i < 2; i++) {
		const struct trace_value value = {TRACE_TEXT, *texts[i]};

		if (texts[i]->bytes)
			put_known(out, i ? "bp" : "cat", &value);
	}
	put_known(out, "pid", &event->pid);
	put_known(out, "tid", &event->tid);
	put_known(out, "id", &event->id);
	if (event->has_ts)
		fprintf(out, " ts=%" PRId64, event->ts_ns);
	if (event->has_dur)
		fprintf(out, " dur=%" PRId64, event->dur_ns);
	for (uint32_t i = 0; i < event->n_args; i++) {
		fprintf(out, event->args[i].is_member ? " ." : " ");
		put_text(out, &event->args[i].key);
		fputc('=', out);
		put_value(out, &event->args[i].value);
	}
	fputc(';', out);
}

static int put_member(void *context, const struct trace_text *key, const struct trace_value *value)
{
	FILE *out = context;

	fputc('#', out);
	put_text(out, key);
	fputc('=', out);
	put_value(out, value);
	fputc(';', out);
	return 0;
}

char *digest_events(struct trace_events *events)
{
	const struct trace_damage *damage = trace_events_damage(events);
	struct flextrace_error error = {0};
	struct trace_event event;
	char *text = NULL;
	size_t n_text;
	FILE *out = open_memstream(&text, &n_text);
	int code;

	trace_events_take_members(events, put_member, out);
	while ((code = trace_events_next(events, &event, &error)) > 0)
		put_event(out, &event);
	assert_int_equal(trace_events_next(events, &event, NULL), code); /* it stays so */
	if (code < 0)
		fprintf(out, "!%s", error.message);
	else if (damage->first_cause)
		fprintf(out, "|%" PRIu64 "/%" PRIu64 "@%" PRIu64 " %s", damage->n_events,
		        damage->n_members, damage->first_bytes, damage->first_cause);
	if (code == 0 && damage->is_cut)
		fputs("|cut", out);
	trace_events_close(events);
	fclose(out);
	return text;
}

char *digest_text(const char *bytes, size_t n_bytes, size_t buffer_bytes)
{
	struct text_bytes text = {.bytes = bytes, .n_bytes = n_bytes};
	const struct trace_source source = text_bytes_source(&text);
	struct trace_events *events = trace_events_open_source(&source, "input", buffer_bytes,
	                                                       NULL);

	assert_non_null(events);
	return digest_events(events);
}
