// SPDX-License-Identifier: Apache-2.0
/*
 * Two passes over the events: each by itself and against the one before it (the file's order), then
 * all of a row (pid, tid) together, and all arrows and async intervals by what identifies them.
 */
#include "trace_checker.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define MAX_EXACT 9007199254740992.0 /* 2^53 */

struct event {
	const char *name, *cat; /* weak */
	double pid, tid;
	int64_t ts_ns, end_ns;
	double id;
	int place; /* in the file */
	char ph;
};

struct checker {
	FILE *out;
	unsigned long n_violations;
	const char *text; /* weak */
	struct event *events;
	int n_events;
	int64_t last_ts_ns;
	bool has_row;    /* an event that is no metadata was seen */
	bool is_of_all;  /* no file of a single rank, whose readers want more */
	double ranks[2]; /* the first two different ranks of args */
	int n_ranks;
};

static void complain(struct checker *checker, int place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void complain(struct checker *checker, int place, const char *format, ...)
{
	va_list args;

	checker->n_violations++;
	if (place >= 0)
		fprintf(checker->out, "event %d: ", place);
	va_start(args, format);
	vfprintf(checker->out, format, args);
	va_end(args);
	fputc('\n', checker->out);
}

/* -- bytes ------------------------------------------------------------------------------------- */

static void check_utf8(struct checker *checker, const unsigned char *at, const unsigned char *end)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

	while (at < end) {
		int length = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
		uint32_t code = length == 1 ? *at : *at & (0x7fu >> length);
		bool good = length > 0 && *at < 0xf8 && end - at >= length;

		for (int i = 1; good && i < length; i++) {
			good = at[i] >> 6 == 2;
			code = code << 6 | (at[i] & 0x3f);
		}
		if (!good || (length > 1 && code < smallest[length]) || code > 0x10ffff ||
		    (code >= 0xd800 && code < 0xe000)) {
			complain(checker, -1, "invalid UTF-8 at byte %ld",
			         (long)(at - (const unsigned char *)checker->text));
			return;
		}
		at += length;
	}
}

/* Holistic Trace Analysis takes the first "rank": N with a space as the rank of the file. */
static void check_rank_text(struct checker *checker, double rank)
{
	static const char key[] = "\"rank\":";
	const char *at = checker->text, *end = at + strlen(at);
	int n = 0;

	/* not strstr(), which a sanitizer makes look for the end of the text each time */
	while ((at = memmem(at, (size_t)(end - at), key, sizeof(key) - 1))) {
		at += sizeof(key) - 1;
		if (!isspace((unsigned char)*at))
			continue;
		n++;
		if (strtod(at, NULL) != rank)
			complain(checker, -1, "a second \"rank\": with a space");
	}
	if (rank >= 0 && n != 1)
		complain(checker, -1, "\"rank\": N is there %d times", n);
}

/* -- one event --------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *object, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

/* NAN when it is missing or no number. */
static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static bool is_whole(double value)
{
	return isfinite(value) && value == floor(value);
}

/* us with 3 decimals -> ns. */
static bool read_time(double us, int64_t *ret_ns)
{
	*ret_ns = 0;
	if (!isfinite(us) || fabs(us) > MAX_EXACT / 1000)
		return false;
	*ret_ns = llround(us * 1000);
	return fabs(us * 1000 - (double)*ret_ns) < 0.01;
}

static void check_args(struct checker *checker, const cJSON *json, const struct event *event)
{
	static const char *const ids[] = {"correlation", "External id", "job", "run"};
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(json, "args"), *item;
	double rank = number_of(args, "rank");

	if (!args && checker->is_of_all && event->ph != 'C' && event->ph != 'M')
		return;
	if (!cJSON_IsObject(args)) {
		complain(checker, event->place, "no args");
		return;
	}
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		double id = number_of(args, ids[i]);

		if (id >= MAX_EXACT || id < 0 || (!isnan(id) && !is_whole(id)))
			complain(checker, event->place, "%s is no id below 2^53", ids[i]);
	}
	if (event->ph == 'C') {
		if (!args->child)
			complain(checker, event->place, "counter without value");
		cJSON_ArrayForEach(item, args)
		{
			if (!cJSON_IsNumber(item))
				complain(checker, event->place, "counter value is no number");
		}
	}
	if (!isnan(rank) && checker->n_ranks < 2 &&
	    (checker->n_ranks == 0 || checker->ranks[0] != rank))
		checker->ranks[checker->n_ranks++] = rank;
}

static bool is_text(const cJSON *args, const char *key, const char *value)
{
	const char *text = text_of(args, key);

	return text && !strcmp(text, value);
}

static void check_interval(struct checker *checker, const cJSON *json, struct event *event)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(json, "args");
	double stream = number_of(args, "stream");
	int64_t dur_ns;
	int first;

	if (!read_time(number_of(json, "dur"), &dur_ns) || dur_ns < 0)
		complain(checker, event->place, "dur is missing, negative or finer than ns");
	event->end_ns = event->ts_ns + dur_ns;
	if (!event->cat) {
		complain(checker, event->place, "X without cat");
		return;
	}
	if ((strcmp(event->cat, "kernel") && strncmp(event->cat, "gpu_", 4)) ||
	    !strcmp(event->cat, "gpu_user_annotation"))
		return;
	/* What another tool's file says of a stream comes out as it is. */
	first = checker->is_of_all || is_text(args, "status", "given") ? 0 : 1;
	if (!is_whole(stream) || stream < first)
		complain(checker, event->place, "device work without stream >= %d", first);
	if (!is_whole(number_of(args, "device")))
		complain(checker, event->place, "device work without device");
}

static void check_order(struct checker *checker, const struct event *event)
{
	if (event->ph == 'M') {
		if (checker->has_row)
			complain(checker, event->place, "metadata behind the first event");
		return;
	}
	if (checker->has_row && event->ts_ns < checker->last_ts_ns)
		complain(checker, event->place, "ts goes backwards");
	checker->has_row = true;
	checker->last_ts_ns = event->ts_ns;
}

static void check_event(struct checker *checker, const cJSON *json, struct event *event)
{
	const char *ph = text_of(json, "ph");

	event->name = text_of(json, "name");
	event->cat = text_of(json, "cat");
	event->pid = number_of(json, "pid");
	event->tid = number_of(json, "tid");
	event->id = number_of(json, "id");
	event->ph = ph && strlen(ph) == 1 && strchr("MXiCsfBEbe", *ph) ? *ph : '?';
	if (event->ph == '?')
		complain(checker, event->place, "unknown ph: %s", ph ? ph : "none");
	if (!event->name && event->ph != 'E')
		complain(checker, event->place, "no name");
	if (!is_whole(event->pid) || !is_whole(event->tid) || event->pid < 1 || event->tid < 1 ||
	    event->pid >= 4294967296.0 || event->tid >= 4294967296.0)
		complain(checker, event->place, "pid or tid is no number from 1");
	if (!read_time(number_of(json, "ts"), &event->ts_ns) || event->ts_ns < 0)
		complain(checker, event->place, "ts is missing, negative or finer than ns");
	event->end_ns = event->ts_ns;
	check_args(checker, json, event);
	check_order(checker, event);
	if (event->ph == 'X')
		check_interval(checker, json, event);
	if (event->ph == 'i' && (!text_of(json, "s") || strcmp(text_of(json, "s"), "t")))
		complain(checker, event->place, "instant without scope t");
	if (event->ph == 'f' && (!text_of(json, "bp") || strcmp(text_of(json, "bp"), "e")))
		complain(checker, event->place, "f without bp e");
}

/* -- names ------------------------------------------------------------------------------------- */

static int compare_doubles(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_rows(const void *left, const void *right)
{
	const struct event *a = left, *b = right;
	int order = compare_doubles(a->pid, b->pid);

	if (!order)
		order = compare_doubles(a->tid, b->tid);
	return order ? order : a->place - b->place;
}

static bool is_metadata(const struct event *event, const char *name)
{
	return event->ph == 'M' && event->name && !strcmp(event->name, name);
}

/* `events` are those of one process, row by row. */
static void check_names_of_process(struct checker *checker, const struct event *events, int n)
{
	int n_names = 0, n_others = 0;

	for (int i = 0; i < n; i++) {
		n_names += is_metadata(&events[i], "process_name");
		n_others += events[i].ph != 'M';
	}
	if (n_names > 1 || (n_names == 0 && n_others > 0))
		complain(checker, events[0].place, "process %.0f has %d names", events[0].pid,
		         n_names);
}

/* -- rows -------------------------------------------------------------------------------------- */

/* Events of one row in order of the file, which is order of time. */
static void check_row(struct checker *checker, const struct event *events, int n)
{
	const struct event **open = malloc(((size_t)n + 1) * sizeof(*open));
	int n_open = 0, n_begun = 0, n_names = 0, n_others = 0;

	for (int i = 0; i < n; i++) {
		const struct event *event = &events[i];

		n_names += is_metadata(event, "thread_name");
		n_others += event->ph != 'M' && event->ph != 'C';
		n_begun += event->ph == 'B';
		if (event->ph == 'E' && n_begun-- == 0)
			complain(checker, event->place, "E without B");
		if (!strchr("Xsf", event->ph))
			continue;
		while (n_open > 0 && open[n_open - 1]->end_ns <= event->ts_ns &&
		       (event->ph == 'X' || open[n_open - 1]->end_ns < event->ts_ns ||
		        open[n_open - 1]->ts_ns < open[n_open - 1]->end_ns))
			n_open--;
		if (event->ph != 'X') {
			if (n_open == 0)
				complain(checker, event->place, "%c outside of every interval",
				         event->ph);
			continue;
		}
		if (n_open > 0 && event->end_ns > open[n_open - 1]->end_ns)
			complain(checker, event->place, "overlaps event %d on its row",
			         open[n_open - 1]->place);
		else
			open[n_open++] = event;
	}
	if (n_begun > 0)
		complain(checker, events[0].place, "B without E on its row");
	if (n_names > 1 || (n_names == 0 && n_others > 0))
		complain(checker, events[0].place, "thread %.0f of %.0f has %d names",
		         events[0].tid, events[0].pid, n_names);
	free(open);
}

static void check_rows(struct checker *checker)
{
	struct event *events = checker->events;
	int n = checker->n_events, process = 0, row = 0;

	qsort(events, (size_t)n, sizeof(*events), compare_rows);
	for (int i = 1; i <= n; i++) {
		bool ends_process = i == n || events[i].pid != events[process].pid;

		if (ends_process || events[i].tid != events[row].tid) {
			check_row(checker, &events[row], i - row);
			row = i;
		}
		if (ends_process) {
			check_names_of_process(checker, &events[process], i - process);
			process = i;
		}
	}
}

/* -- arrows ------------------------------------------------------------------------------------ */

static const char *or_none(const char *text)
{
	return text ? text : "";
}

static int compare_arrow_ids(const struct event *a, const struct event *b)
{
	int order = compare_doubles(a->id, b->id);

	if (!order)
		order = strcmp(or_none(a->cat), or_none(b->cat));
	return order ? order : strcmp(or_none(a->name), or_none(b->name));
}

static int compare_arrows(const void *left, const void *right)
{
	const struct event *a = left, *b = right;
	int order = compare_arrow_ids(a, b);

	if (!order)
		order = (b->ph == 's' || b->ph == 'b') - (a->ph == 's' || a->ph == 'b');
	return order ? order : a->place - b->place;
}

static void check_arrow(struct checker *checker, const struct event *ends, int n)
{
	bool is_pair = n == 2 && ((ends[0].ph == 's' && ends[1].ph == 'f') ||
	                          (ends[0].ph == 'b' && ends[1].ph == 'e'));

	if (!is_pair)
		complain(checker, ends[0].place, "flow or interval %.0f is no pair", ends[0].id);
	else if (ends[0].ts_ns > ends[1].ts_ns)
		complain(checker, ends[0].place, "flow or interval %.0f goes back in time",
		         ends[0].id);
}

/* Leaves the order of `events` changed. */
static void check_arrows(struct checker *checker)
{
	struct event *ends = checker->events;
	int n = 0, first = 0;

	for (int i = 0; i < checker->n_events; i++) {
		if (!strchr("sfbe", ends[i].ph))
			continue;
		ends[n] = ends[i];
		if (!is_whole(ends[n].id) || ends[n].id < 0 || ends[n].id >= MAX_EXACT) {
			complain(checker, ends[n].place,
			         "flow or interval without an id below 2^53");
			continue;
		}
		n++;
	}
	qsort(ends, (size_t)n, sizeof(*ends), compare_arrows);
	for (int i = 1; i <= n; i++) {
		if (i < n && compare_arrow_ids(&ends[i], &ends[first]) == 0)
			continue;
		check_arrow(checker, &ends[first], i - first);
		first = i;
	}
}

/* -- the whole --------------------------------------------------------------------------------- */

static void check_events(struct checker *checker, const cJSON *array)
{
	const cJSON *json;

	checker->events = calloc((size_t)cJSON_GetArraySize(array) + 1, sizeof(struct event));
	cJSON_ArrayForEach(json, array)
	{
		struct event *event = &checker->events[checker->n_events];

		event->place = checker->n_events++;
		check_event(checker, json, event);
	}
	check_rows(checker);
	check_arrows(checker);
	free(checker->events);
}

static void check_object(struct checker *checker, const cJSON *root)
{
	const cJSON *info = cJSON_GetObjectItemCaseSensitive(root, "distributedInfo");
	const char *unit = text_of(root, "displayTimeUnit");
	const cJSON *last = root->child;
	double rank = number_of(info, "rank");

	while (last && last->next)
		last = last->next;
	if (number_of(root, "schemaVersion") != 1)
		complain(checker, -1, "schemaVersion is not 1");
	if (!unit || (strcmp(unit, "ms") && strcmp(unit, "ns")))
		complain(checker, -1, "displayTimeUnit is neither ms nor ns");
	if (!is_whole(number_of(root, "baseTimeNanoseconds")))
		complain(checker, -1, "no baseTimeNanoseconds");
	if (!last || !last->string || strcmp(last->string, "traceName"))
		complain(checker, -1, "traceName is not the last key");
	if (checker->n_ranks == 1 && rank != checker->ranks[0] && !info)
		complain(checker, -1, "one rank, but no distributedInfo");
	if (!isnan(rank) && checker->n_ranks > 0 &&
	    (checker->n_ranks > 1 || rank != checker->ranks[0]))
		complain(checker, -1, "distributedInfo names a rank that is not all of the trace");
	check_rank_text(checker, isnan(rank) ? -1 : rank);
}

unsigned long trace_check(const char *text, size_t n, FILE *out)
{
	struct checker checker = {.out = out, .text = text};
	const char *end = NULL;
	const cJSON *array;
	cJSON *root = cJSON_ParseWithLengthOpts(text, n, &end, false);

	check_utf8(&checker, (const unsigned char *)text, (const unsigned char *)text + n);
	array = cJSON_GetObjectItemCaseSensitive(root, "traceEvents");
	if (!cJSON_IsObject(root) || !cJSON_IsArray(array)) {
		complain(&checker, -1, "no JSON object with traceEvents: stops at byte %ld",
		         end ? (long)(end - text) : 0L);
	} else {
		checker.is_of_all = is_text(root, "traceName", "trace.json");
		check_events(&checker, array);
		check_object(&checker, root);
	}
	for (; root && end < text + n; end++) {
		if (!isspace((unsigned char)*end)) {
			complain(&checker, -1, "bytes behind the object");
			break;
		}
	}
	cJSON_Delete(root);
	return checker.n_violations;
}
