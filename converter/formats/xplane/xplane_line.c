/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines and their events -> events of the tracer. Of a device the lines of streams, and of XLA's
 * operations, are queues; those that sum these up (modules, steps, scopes of names) are intervals
 * which may cross others. All else is a thread of the host.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text/digits.h"
#include "xplane_impl.h"

#define PS_PER_NS 1000
#define END_NS    (INT64_C(1) << 62) /* times from here on are garbage */

enum event_field {
	EVENT_NAME = 1,
	EVENT_OFFSET_PS = 2,
	EVENT_DURATION_PS = 3,
	EVENT_STAT = 4,
	EVENT_N = 5,
	EVENT_FIELD_COUNT
};

struct line {
	const struct xplane_plane *plane; /* weak */
	bool is_summary;                  /* of what other lines have */
	uint32_t device;                  /* FLEXTRACE_NONE: of the host */
	uint32_t row;                     /* queue or thread */
	int64_t start_ns;
};

struct interval {
	uint32_t name; /* string */
	int64_t begin_ns, end_ns;
	struct protobuf about; /* weak: what is said of all events of this name */
	bool is_summary;       /* of what others are */
	struct xplane_value said[SAID_COUNT];
	struct origin origin;
};

/* -- what becomes of it ----------------------------------------------------------------------- */

static struct event event_of(const struct line *line, const struct interval *interval,
                             enum record_class class)
{
	return (struct event){
		.class = class,
		.clock_ns = (uint64_t)interval->end_ns,
		.vpid = XPLANE_VPID,
		.vtid = line->device == FLEXTRACE_NONE ? (int32_t)line->row : -1,
		.n_origins = 1,
		.origins[0] = interval->origin,
	};
}

/* "kind:HtoD size:655360 dest:2 async:1" */
static uint64_t copy_bytes(const char *details)
{
	const char *size = strstr(details, "size:");
	uint64_t bytes;

	size = size ? size + strlen("size:") : "";
	return digits_take(&size, UINT64_MAX, &bytes) ? bytes : 0;
}

static uint32_t copy_kind(const char *details, const char *name)
{
	static const struct {
		const char *text;
		uint32_t kind;
	} kinds[] = {
		{"HtoD", FLEXTRACE_DEVICE_MEMCPY_HTOD},
		{"H2D", FLEXTRACE_DEVICE_MEMCPY_HTOD},
		{"HostToDevice", FLEXTRACE_DEVICE_MEMCPY_HTOD},
		{"DtoH", FLEXTRACE_DEVICE_MEMCPY_DTOH},
		{"D2H", FLEXTRACE_DEVICE_MEMCPY_DTOH},
		{"DeviceToHost", FLEXTRACE_DEVICE_MEMCPY_DTOH},
		{"PtoP", FLEXTRACE_DEVICE_MEMCPY_PTOP},
		{"P2P", FLEXTRACE_DEVICE_MEMCPY_PTOP},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strstr(details, kinds[i].text) || strstr(name, kinds[i].text))
			return kinds[i].kind;
	}
	return FLEXTRACE_DEVICE_MEMCPY_DTOD;
}

/* Summaries are what the device was in, and no work of its own. */
static void classify(const struct string_pool *strings, const struct interval *interval,
                     struct flextrace_device_op *op)
{
	uint32_t copy = interval->said[SAID_MEMCPY].text, set = interval->said[SAID_MEMSET].text;

	op->kind = interval->is_summary ? FLEXTRACE_DEVICE_STATE : FLEXTRACE_DEVICE_KERNEL;
	if (copy)
		op->kind = copy_kind(string_get(strings, copy), op->name);
	else if (set)
		op->kind = FLEXTRACE_DEVICE_MEMSET;
	op->bytes = copy_bytes(string_get(strings, copy ? copy : set));
}

/* Nobody stamped it: the profiler says when it was. */
static int write_work(struct xplane *xplane, const struct line *line,
                      const struct interval *interval, const char *args)
{
	const struct import_placed placed = {interval->begin_ns, interval->end_ns,
	                                     FLEXTRACE_ESTIMATE_WHOLE, "xplane"};
	struct event event = event_of(line, interval, RECORD_DEVICE_OP);

	event.payload.device_op = (struct flextrace_device_op){
		.device = line->device,
		.queue = line->row,
		.job = xplane->file.n_events,
		.correlation = interval->said[SAID_CORRELATION].number,
		.name = string_get(xplane->import.strings, interval->name),
		.peer = -1,
		.group = "",
		.type = args,
	};
	classify(xplane->import.strings, interval, &event.payload.device_op);
	return import_write_placed(&xplane->import, xplane->file.stream, &event, &placed);
}

static uint32_t call_kind(const char *name)
{
	bool is_driver = name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
	bool is_call = is_driver || strncmp(name, "hip", 3) == 0 || strncmp(name, "cuda", 4) == 0;

	return is_call ? FLEXTRACE_RUNTIME_CALL : FLEXTRACE_RUNTIME_USER;
}

/* "$file.py:12 function": returns the length of the file's name, and stores the line. */
static size_t python_file(const char *name, uint32_t *ret_line)
{
	const char *colon = *name == '$' ? strchr(name, ':') : NULL, *at = colon ? colon + 1 : "";
	uint64_t line;

	if (!digits_take(&at, UINT32_MAX, &line) || *at != ' ')
		return 0;
	*ret_line = (uint32_t)line;
	return (size_t)(colon - (name + 1));
}

static int write_scope(struct xplane *xplane, const struct line *line,
                       const struct interval *interval, const char *args)
{
	struct event event = event_of(line, interval, RECORD_SCOPE);
	const char *name = string_get(xplane->import.strings, interval->name);
	const uint8_t *file = (const uint8_t *)name + (*name == '$');
	uint32_t number = 0, file_name;

	FLEXTRACE_TRY(xplane_intern(
		xplane, &(struct protobuf){file, file + python_file(name, &number)}, &file_name));
	event.payload.scope = (struct flextrace_scope){
		.begin_ns = (uint64_t)interval->begin_ns,
		.kind = call_kind(name),
		.name = name,
		.correlation = interval->said[SAID_CORRELATION].number,
		.file = string_get(xplane->import.strings, file_name),
		.line = number,
	};
	return import_write_scope(&xplane->import, xplane->file.stream, &event, args);
}

/* What the profiler of torch calls such a thing: told.h. */
static const char *category_of(const struct line *line, const struct interval *interval,
                               const char *name)
{
	if (line->device != FLEXTRACE_NONE)
		return interval->said[SAID_MEMCPY].text   ? "gpu_memcpy"
		       : interval->said[SAID_MEMSET].text ? "gpu_memset"
		       : interval->is_summary             ? "gpu_user_annotation"
		                                          : "kernel";
	if (*name == '$')
		return "python_function";
	return call_kind(name) == FLEXTRACE_RUNTIME_CALL ? "cuda_runtime" : "user_annotation";
}

/* A row without arguments has none, and the category that its kind gives it. The number by which
 * readers join launches and work is called as they know it. */
static int tell(struct xplane *xplane, const char *category, uint64_t correlation,
                const char **ret_told)
{
	const char *members;
	size_t n;

	*ret_told = "";
	if (xplane->args.is_first)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(json_text_get(&xplane->args, &members, &n));
	json_text_clear(&xplane->told);
	json_text_open(&xplane->told, '{');
	json_text_string(&xplane->told, "cat", category);
	if (correlation)
		json_text_number(&xplane->told, "correlation", correlation);
	writer_char(&xplane->told.writer, ',');
	writer_append(&xplane->told.writer, members, n);
	json_text_close(&xplane->told, '}');
	return json_text_get(&xplane->told, ret_told, &n);
}

static int write_interval(struct xplane *xplane, const struct line *line,
                          const struct interval *interval)
{
	const char *name = string_get(xplane->import.strings, interval->name), *told;

	xplane_add_hlo(xplane, interval->said);
	FLEXTRACE_TRY(tell(xplane, category_of(line, interval, name),
	                   interval->said[SAID_CORRELATION].number, &told));
	return line->device == FLEXTRACE_NONE ? write_scope(xplane, line, interval, told)
	                                      : write_work(xplane, line, interval, told);
}

/* -- an event --------------------------------------------------------------------------------- */

/* False: that is no time. 0 would be a time that nobody knows. */
static bool place(const struct xplane *xplane, const struct line *line,
                  const struct protobuf_field *fields, struct interval *interval)
{
	__int128 base_ps = ((__int128)line->start_ns - xplane->file.epoch_ns) * PS_PER_NS;
	__int128 begin_ps = base_ps + (int64_t)fields[EVENT_OFFSET_PS].value;
	__int128 end_ps = begin_ps + (int64_t)fields[EVENT_DURATION_PS].value;

	if (begin_ps < 0 || end_ps < begin_ps || end_ps / PS_PER_NS >= END_NS)
		return false;
	interval->begin_ns = (int64_t)(begin_ps / PS_PER_NS);
	interval->end_ns = (int64_t)(end_ps / PS_PER_NS);
	interval->begin_ns += !interval->begin_ns;
	interval->end_ns += !interval->end_ns;
	return true;
}

/* NULL, or what is wrong with an event. */
static const char *read_event(const struct xplane *xplane, const struct line *line,
                              struct protobuf message, struct interval *interval)
{
	const struct xplane_plane *plane = line->plane;
	struct protobuf_field fields[EVENT_FIELD_COUNT];
	uint32_t found;

	if (protobuf_read(&message, fields, EVENT_FIELD_COUNT) < 0)
		return "it cannot be read";
	if (fields[EVENT_N].value)
		return "it is a count, and says no time";
	found = map_find(&plane->event_index, fields[EVENT_NAME].value, 0);
	if (found == MAP_NONE)
		return "no table has its name";
	interval->name = plane->events[found].name;
	interval->about = plane->events[found].message;
	return place(xplane, line, fields, interval) ? NULL : "its time is out of range";
}

/* XLA's operations nest: what the ones in a loop did, which stand behind it, is what it did. */
static bool has_inner(const struct xplane *xplane, const struct line *line, struct protobuf rest,
                      const struct interval *interval)
{
	struct interval next;
	struct protobuf event;

	return line->device != FLEXTRACE_NONE && xplane_next(&rest, LINE_EVENT, &event) &&
	       !read_event(xplane, line, event, &next) && next.begin_ns >= interval->begin_ns &&
	       next.begin_ns < interval->end_ns && next.end_ns <= interval->end_ns;
}

/* `rest`: of the line, behind the event. */
static int take_event(struct xplane *xplane, const struct line *line, struct protobuf message,
                      struct protobuf rest)
{
	struct interval interval = {
		.origin = origin_make(xplane->import.streams[xplane->file.stream].files.n - 1,
	                              xplane->file.n_events),
	};
	const char *fault = read_event(xplane, line, message, &interval);

	xplane->file.n_events++;
	if (fault)
		return import_reject(&xplane->import, LOSS_MALFORMED, fault,
		                     (uint64_t)(message.at - xplane->file.space.at));
	interval.is_summary = line->is_summary || has_inner(xplane, line, rest, &interval);
	json_text_clear(&xplane->args);
	FLEXTRACE_TRY(
		xplane_read_stats(xplane, line->plane, interval.about, NAME_STAT, interval.said));
	FLEXTRACE_TRY(xplane_read_stats(xplane, line->plane, message, EVENT_STAT, interval.said));
	return write_interval(xplane, line, &interval);
}

/* -- a line ----------------------------------------------------------------------------------- */

static bool is_summary(const char *name)
{
	static const char *const starts[] = {
		"Steps", "XLA Modules",  "Framework",   "TensorFlow",       "Source",
		"Scope", "Launch Stats", "XLA TraceMe", "SparseCore Steps", "SparseCore Modules"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	return false;
}

static int take_line(struct xplane *xplane, const struct line *of, struct protobuf message)
{
	struct protobuf_field fields[LINE_FIELD_COUNT];
	struct line line = *of;
	struct protobuf event;
	uint32_t shown;

	FLEXTRACE_TRY(xplane_read(xplane, message, fields, LINE_FIELD_COUNT));
	FLEXTRACE_TRY(
		xplane_intern(xplane, xplane_name(fields, LINE_DISPLAY_NAME, LINE_NAME), &shown));
	line.start_ns = (int64_t)fields[LINE_START_NS].value;
	line.is_summary = line.device != FLEXTRACE_NONE &&
	                  is_summary(string_get(xplane->import.strings, shown));
	FLEXTRACE_TRY(
		xplane_define_row(xplane, line.device, fields[LINE_ID].value, shown, &line.row));
	while (xplane_next(&message, LINE_EVENT, &event))
		FLEXTRACE_TRY(take_event(xplane, &line, event, message));
	return FLEXTRACE_OK;
}

int xplane_read_lines(struct xplane *xplane, const struct xplane_plane *plane)
{
	struct protobuf message = plane->message, bytes;
	struct line of = {.plane = plane, .device = FLEXTRACE_NONE};

	if (xplane_is(xplane, plane, "/device:"))
		FLEXTRACE_TRY(xplane_define_device(xplane, plane, &of.device));
	while (xplane_next(&message, PLANE_LINE, &bytes))
		FLEXTRACE_TRY(take_line(xplane, &of, bytes));
	return FLEXTRACE_OK;
}
