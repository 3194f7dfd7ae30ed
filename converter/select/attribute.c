/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/ascii.h"
#include "model/timeline/columns.h"
#include "model/timeline/event_class.h"
#include "model/words/kinds.h"
#include "model/words/told.h"
#include "select_impl.h"

static uint8_t dialect_of(const struct timeline *timeline, const struct any_row *row)
{
	return timeline->identity->processes[row->process].dialect;
}

static struct cell read_kind(const void *any, const struct timeline *timeline)
{
	const struct any_row *row = any;

	if (row->table == OF_HOST)
		return cell_of_text(kind_of_host(dialect_of(timeline, row), row->kind)->label);
	if (row->table == OF_DEVICE)
		return cell_of_text(kind_of_device(dialect_of(timeline, row), row->kind)->label);
	if (row->table == OF_INSTANTS)
		return cell_of_text(instant_kind_name(row->class));
	return cell_of_text(row->table == OF_COUNTERS ? "counter" : "memory");
}

/* What a file told of an operation has its type among other things. */
static struct cell read_type(const void *any, const struct timeline *timeline)
{
	const struct asked_row *row = any;
	struct trace_value type;
	struct told told;
	const struct cell whole = cell_of_string(timeline->strings, row->of.type);

	if (!told_is_likely(whole.text) || !told_read(whole.text, whole.n_bytes, &told))
		return whole;
	if (!told_find(&told, "Type", &type))
		return cell_of_text(NULL);
	snprintf(row->room, SOURCE_BYTES, "%.*s", (int)type.text.length, type.text.bytes);
	return cell_of_text(row->room);
}

static struct cell read_category(const void *any, const struct timeline *timeline)
{
	const struct asked_row *row = any;
	const struct kernel_cost *cost = NULL;

	if (row->of.table == OF_DEVICE)
		cost = kernel_cost_of(row->costs, row->of.row);
	if (!cost)
		return cell_of_text(NULL);
	return cell_of_string(timeline->strings, cost->category);
}

static struct cell read_class(const void *any, const struct timeline *timeline)
{
	const struct asked_row *row = any;

	if (row->of.table == OF_HOST)
		return cell_of_text(
			event_class_of_host(dialect_of(timeline, &row->of), row->of.kind));
	if (row->of.table != OF_DEVICE || !row->of.op)
		return cell_of_text(NULL);
	return cell_of_text(event_class_name((uint8_t)event_class_of(row->classes, row->of.row)));
}

/* The place of its input among those of all streams. */
static uint32_t input_of(const struct asked_row *row, const struct timeline *timeline,
                         uint32_t *ret_record)
{
	return inputs_find(row->inputs, timeline->streams->streams[row->of.stream], row->of.stream,
	                   row->of.source, ret_record);
}

static struct cell read_source(const void *any, const struct timeline *timeline)
{
	const struct asked_row *row = any;
	const struct stream *stream = timeline->streams->streams[row->of.stream];
	uint32_t record, place = input_of(row, timeline, &record);
	size_t n;

	inputs_write_place(row->room, row->inputs, stream, place);
	n = strlen(row->room);
	if (record != ORIGIN_NO_RECORD || !stream->origins)
		snprintf(row->room + n, SOURCE_BYTES - n, ":%" PRIu32, record);
	return cell_of_text(row->room);
}

/* -- by name -------------------------------------------------------------------------------- */

static const struct column attributes[] = {
	COLUMNS_PROCESS(struct any_row, process),
	COLUMNS_THREAD(struct any_row, thread),
	COLUMN_DEVICE(struct any_row, device),
	COLUMN_OPTIONAL(struct any_row, core),
	COLUMN_OPTIONAL(struct any_row, queue),
	COLUMN_CALL("kind", read_kind, struct any_row, table),
	COLUMN_STRING("name", struct any_row, name),
	COLUMN_OPTIONAL(struct any_row, job),
	COLUMN_NONZERO("correlation", struct any_row, correlation),
	COLUMN_NAMED("status", struct any_row, status, time_status_name),
	COLUMN_STRING("args", struct any_row, args),
	COLUMN_NONZERO("bytes", struct any_row, bytes),
	COLUMN_STRING("group", struct any_row, group),
	COLUMN_OPTIONAL(struct any_row, peer),
	COLUMN_CALL("type", read_type, struct any_row, table),
	COLUMN_CALL("category", read_category, struct any_row, table),
	COLUMN_CALL("class", read_class, struct any_row, table),
	COLUMN_CALL("source", read_source, struct any_row, table),
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

void attribute_list(struct flextrace_error *error)
{
	for (uint32_t i = 0; i < N_ATTRIBUTES; i++)
		error_list(error, attributes[i].name);
}

bool attribute_is_of_process(uint32_t attribute)
{
	return attributes[attribute].type >= COLUMN_TYPE_RANK &&
	       attributes[attribute].type <= COLUMN_TYPE_PID;
}

bool attribute_is_source(uint32_t attribute)
{
	return attributes[attribute].read == read_source;
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

/* Whether a source's input is named so, beside the record of it. */
static bool input_matches(const struct condition *condition, const struct timeline *timeline,
                          const struct asked_row *row)
{
	uint32_t record;

	return attribute_is_source(condition->attribute) &&
	       matches(condition,
	               row->inputs->texts[row->inputs->numbers[input_of(row, timeline, &record)]]);
}

int condition_holds(struct condition *condition, const struct timeline *timeline,
                    const struct asked_row *row)
{
	struct cell cell;
	char digits[32] = "";
	int is_match;

	if (condition->is_global && row->of.table != OF_HOST)
		return 1;
	cell = column_read(&attributes[condition->attribute], row, timeline);
	if (cell.kind == CELL_NUMBER)
		snprintf(digits, sizeof(digits), "%" PRIu64, cell.number);
	else if (cell.kind == CELL_SIGNED)
		snprintf(digits, sizeof(digits), "%" PRId64, cell.signed_number);
	if (cell.kind == CELL_TEXT && cell.string)
		is_match = string_matches(condition, timeline, cell.string);
	else
		is_match = matches(condition, cell.kind == CELL_TEXT ? cell.text : digits) ||
		           input_matches(condition, timeline, row);
	condition->has_matched |= is_match > 0;
	return is_match < 0 ? is_match : (is_match > 0) != condition->is_drop;
}
