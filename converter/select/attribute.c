/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/ascii.h"
#include "model/words/event_class.h"
#include "model/findings.h"
#include "model/words/kinds.h"
#include "model/words/told.h"
#include "select_impl.h"

/* What a row says: a string of the pool, or digits and the like in `bytes`. */
struct attribute_text {
	uint32_t string; /* 0 = `text` holds */
	const char *text;
	const char *input; /* NULL, or what says it as well */
	char bytes[SOURCE_BYTES];
};

static void put_number(struct attribute_text *out, uint64_t number)
{
	snprintf(out->bytes, sizeof(out->bytes), "%" PRIu64, number);
}

static void put_nonzero(struct attribute_text *out, uint64_t number)
{
	if (number)
		put_number(out, number);
}

/* -- of the process ------------------------------------------------------------------------- */

static const struct process *process_of(const struct timeline *timeline, const struct any_row *row)
{
	return &timeline->identity->processes[row->process];
}

static void get_rank(struct attribute_text *out, const struct timeline *timeline,
                     const struct any_row *row)
{
	const struct process *process = process_of(timeline, row);

	if (process->rank >= 0)
		put_number(out, (uint64_t)process->rank);
}

static void get_host(struct attribute_text *out, const struct timeline *timeline,
                     const struct any_row *row)
{
	out->string = process_of(timeline, row)->host;
}

static void get_pid(struct attribute_text *out, const struct timeline *timeline,
                    const struct any_row *row)
{
	const struct process *process = process_of(timeline, row);

	if (process->is_defined)
		put_number(out, process->pid);
	else if (process->vpid >= 0)
		put_number(out, (uint64_t)process->vpid);
}

/* -- of where it ran ------------------------------------------------------------------------ */

static void get_tid(struct attribute_text *out, const struct timeline *timeline,
                    const struct any_row *row)
{
	if (row->thread != FLEXTRACE_NONE && timeline->identity->threads[row->thread].vtid >= 0)
		put_number(out, (uint64_t)timeline->identity->threads[row->thread].vtid);
}

static void get_thread(struct attribute_text *out, const struct timeline *timeline,
                       const struct any_row *row)
{
	if (row->thread != FLEXTRACE_NONE)
		out->string = timeline->identity->threads[row->thread].name;
}

static void get_device(struct attribute_text *out, const struct timeline *timeline,
                       const struct any_row *row)
{
	if (row->device != FLEXTRACE_NONE)
		put_number(out, timeline->identity->devices[row->device].device);
}

static void get_core(struct attribute_text *out, const struct timeline *timeline,
                     const struct any_row *row)
{
	(void)timeline;
	if (row->core != FLEXTRACE_NONE)
		put_number(out, row->core);
}

static void get_queue(struct attribute_text *out, const struct timeline *timeline,
                      const struct any_row *row)
{
	(void)timeline;
	if (row->op)
		put_number(out, row->op->queue);
}

/* -- of what it is -------------------------------------------------------------------------- */

static void get_kind(struct attribute_text *out, const struct timeline *timeline,
                     const struct any_row *row)
{
	(void)timeline;
	if (row->table == OF_HOST)
		out->text = kind_of_host(row->kind)->label;
	else if (row->table == OF_DEVICE)
		out->text = kind_of_device(row->kind)->label;
	else if (row->table == OF_INSTANTS)
		out->text = instant_kind_name(row->class);
	else
		out->text = row->table == OF_COUNTERS ? "counter" : "memory";
}

static void get_name(struct attribute_text *out, const struct timeline *timeline,
                     const struct any_row *row)
{
	(void)timeline;
	out->string = row->name;
}

static void get_job(struct attribute_text *out, const struct timeline *timeline,
                    const struct any_row *row)
{
	(void)timeline;
	if (row->op)
		put_number(out, row->op->job);
	else if (row->run)
		put_nonzero(out, row->run->job);
}

static void get_correlation(struct attribute_text *out, const struct timeline *timeline,
                            const struct any_row *row)
{
	(void)timeline;
	put_nonzero(out, row->correlation);
}

static void get_status(struct attribute_text *out, const struct timeline *timeline,
                       const struct any_row *row)
{
	(void)timeline;
	out->text = time_status_name(row->status);
}

static void get_args(struct attribute_text *out, const struct timeline *timeline,
                     const struct any_row *row)
{
	(void)timeline;
	if (row->table == OF_HOST)
		out->string = ((const struct host_row *)row->row)->args;
	else if (row->table == OF_INSTANTS)
		out->string = ((const struct instant_row *)row->row)->value;
}

static void get_bytes(struct attribute_text *out, const struct timeline *timeline,
                      const struct any_row *row)
{
	(void)timeline;
	if (row->op)
		put_nonzero(out, row->op->bytes);
}

static void get_group(struct attribute_text *out, const struct timeline *timeline,
                      const struct any_row *row)
{
	(void)timeline;
	if (row->op)
		out->string = row->op->group;
}

static void get_peer(struct attribute_text *out, const struct timeline *timeline,
                     const struct any_row *row)
{
	(void)timeline;
	if (row->op && row->op->peer >= 0)
		put_number(out, (uint64_t)row->op->peer);
}

static void get_type(struct attribute_text *out, const struct timeline *timeline,
                     const struct any_row *row)
{
	struct trace_value type;
	struct told told;
	const char *text;

	if (!row->op || !row->op->type)
		return;
	text = string_get(timeline->strings, row->op->type);
	if (!told_is_likely(text) || !told_read(text, strlen(text), &told))
		out->string = row->op->type;
	else if (told_find(&told, "Type", &type))
		snprintf(out->bytes, sizeof(out->bytes), "%.*s", (int)type.text.length,
		         type.text.bytes);
}

static void get_category(struct attribute_text *out, const struct timeline *timeline,
                         const struct any_row *row)
{
	const struct kernel_cost *cost = NULL;

	(void)timeline;
	if (row->table == OF_DEVICE)
		cost = kernel_cost_of(row->findings->costs, row->row);
	if (cost)
		out->string = cost->category;
}

static void get_class(struct attribute_text *out, const struct timeline *timeline,
                      const struct any_row *row)
{
	(void)timeline;
	if (row->table == OF_HOST)
		out->text = event_class_of_host(row->kind);
	else if (row->table == OF_DEVICE && row->op)
		out->text =
			event_class_name((uint8_t)event_class_of(row->findings->classes, row->row));
}

static void get_source(struct attribute_text *out, const struct timeline *timeline,
                       const struct any_row *row)
{
	const struct stream *stream = timeline->streams->streams[row->stream];
	uint32_t record;
	uint32_t place = inputs_find(row->inputs, stream, row->stream, row->source, &record);

	inputs_write_place(out->bytes, row->inputs, stream, place);
	if (record != ORIGIN_NO_RECORD || !stream->origins)
		snprintf(out->bytes + strlen(out->bytes), SOURCE_BYTES - strlen(out->bytes),
		         ":%" PRIu32, record);
	out->input = row->inputs->texts[row->inputs->numbers[place]];
}

/* -- by name -------------------------------------------------------------------------------- */

static const struct attribute {
	const char *name;
	void (*get)(struct attribute_text *out, const struct timeline *timeline,
	            const struct any_row *row);
	bool is_of_process;
} attributes[] = {
	{"rank", get_rank, true},
	{"host", get_host, true},
	{"pid", get_pid, true},
	{"tid", get_tid, false},
	{"thread", get_thread, false},
	{"device", get_device, false},
	{"core", get_core, false},
	{"queue", get_queue, false},
	{"kind", get_kind, false},
	{"name", get_name, false},
	{"job", get_job, false},
	{"correlation", get_correlation, false},
	{"status", get_status, false},
	{"args", get_args, false},
	{"bytes", get_bytes, false},
	{"group", get_group, false},
	{"peer", get_peer, false},
	{"type", get_type, false},
	{"category", get_category, false},
	{"class", get_class, false},
	{"source", get_source, false},
};

#define N_ATTRIBUTES (sizeof(attributes) / sizeof(attributes[0]))

uint32_t attribute_find(const char *name, size_t length)
{
	for (uint32_t i = 0; i < N_ATTRIBUTES; i++) {
		if (strlen(attributes[i].name) == length &&
		    memcmp(attributes[i].name, name, length) == 0)
			return i;
	}
	return FLEXTRACE_NONE;
}

void attribute_list(char *text, size_t size)
{
	for (uint32_t i = 0; i < N_ATTRIBUTES; i++) {
		size_t used = strlen(text);

		snprintf(text + used, size - used, "%s%s", i ? " " : "", attributes[i].name);
	}
}

bool attribute_is_of_process(uint32_t attribute)
{
	return attributes[attribute].is_of_process;
}

bool attribute_is_source(uint32_t attribute)
{
	return attributes[attribute].get == get_source;
}

/* -- conditions ----------------------------------------------------------------------------- */

/* `part` has no capitals. */
static bool begins_with(const char *text, const char *part)
{
	while (*part && ascii_lower(*text) == *part) {
		text++;
		part++;
	}
	return !*part;
}

/* What belongs to a run as a whole and hides what is in it. */
static bool is_global(const char *name)
{
	static const char *const parts[] = {
		"execute graph",    "senfuseddevicenode", "aiu roundtrip", "flex roundtrip",
		"postkeys",         "fetchkeys",          "callback",      "hostprep",
		"allocateframe of", "update cbs"};

	for (; *name; name++) {
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			if (begins_with(name, parts[i]))
				return true;
		}
	}
	return false;
}

static bool matches(const struct condition *condition, const char *text)
{
	return condition->is_global ? is_global(text)
	                            : regexec(&condition->regex, text, 0, NULL, 0) == 0;
}

/* A string is looked at once. */
static int string_matches(struct condition *condition, const struct timeline *timeline,
                          uint32_t string)
{
	enum { UNKNOWN, NO, YES };

	FLEXTRACE_TRY(ARRAY_RESERVE(condition->known, condition->n_known_allocated, string + 1ull));
	if (condition->known[string] == UNKNOWN)
		condition->known[string] = matches(condition, string_get(timeline->strings, string))
		                                   ? YES
		                                   : NO;
	return condition->known[string] == YES;
}

int condition_holds(struct condition *condition, const struct timeline *timeline,
                    const struct any_row *row)
{
	struct attribute_text text = {0, NULL, NULL, ""};
	int is_match;

	if (condition->is_global && row->table != OF_HOST)
		return 1;
	attributes[condition->attribute].get(&text, timeline, row);
	if (text.string)
		is_match = string_matches(condition, timeline, text.string);
	else
		is_match = matches(condition, text.text ? text.text : text.bytes) ||
		           (text.input && matches(condition, text.input));
	condition->has_matched |= is_match > 0;
	return is_match < 0 ? is_match : (is_match > 0) != condition->is_drop;
}
