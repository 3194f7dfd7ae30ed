/* SPDX-License-Identifier: Apache-2.0 */
#include "import/tt_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "csv_reader.h"
#include "import/faults.h"
#include "import/trace_file.h"

#define LOOK_BYTES    4096
#define N_TENSORS     16 /* of one operation, each way */
#define MAX_DIM_CHARS 42 /* two numbers of 64 bits */
#define DIMS_BYTES    (4 * (MAX_DIM_CHARS + 1))

/* -- columns --------------------------------------------------------------------------------- */

enum column {
	OP_CODE,
	OP_TYPE,
	CALL_COUNT,
	DEVICE_ID,
	DEVICE_ARCH,
	ATTRIBUTES,
	CORE_COUNT,
	WORKER_CORES,
	HOST_START,
	HOST_END,
	FW_START,
	FW_END,
	FW_NS,
	KERNEL_NS,
	KERNEL_START,
	N_COLUMNS
};

static const struct {
	const char *name;
	enum column column;
} names[] = {
	{"OP CODE", OP_CODE},
	{"OP NAME", OP_CODE},
	{"OP TYPE", OP_TYPE},
	{"GLOBAL CALL COUNT", CALL_COUNT},
	{"DEVICE ID", DEVICE_ID},
	{"DEVICE ARCH", DEVICE_ARCH},
	{"ATTRIBUTES", ATTRIBUTES},
	{"CORE COUNT", CORE_COUNT},
	{"AVAILABLE WORKER CORE COUNT", WORKER_CORES},
	{"HOST START TS", HOST_START},
	{"HOST END TS", HOST_END},
	{"DEVICE FW START CYCLE", FW_START},
	{"DEVICE FW END CYCLE", FW_END},
	{"DEVICE FW DURATION [ns]", FW_NS},
	{"DEVICE KERNEL DURATION [ns]", KERNEL_NS},
	{"DEVICE KERNEL START CYCLE", KERNEL_START},
};

/* Of a tensor: W, Z, Y, X, layout, data type, memory. */
enum { TENSOR_W, TENSOR_X = 3, TENSOR_LAYOUT, TENSOR_DTYPE, TENSOR_MEMORY, N_TENSOR_COLUMNS };

struct report {
	struct tt *tt;                        /* weak */
	const struct import_options *options; /* weak */
	const char *path;                     /* weak */
	struct csv_reader csv;
	struct faults faults;
	int16_t column[N_COLUMNS]; /* -1: there is none */
	int16_t tensor[2][N_TENSORS][N_TENSOR_COLUMNS];
	bool is_survey;
	struct map *told; /* weak: calls whose host part is told */
};

static const char *field(const struct report *report, enum column column)
{
	int16_t at = report->column[column];

	return at < 0 ? "" : csv_reader_field(&report->csv, (size_t)at);
}

static int tensor_column(const char *text)
{
	static const char *const parts[N_TENSOR_COLUMNS] = {"W",      "Z",        "Y",     "X",
	                                                    "LAYOUT", "DATATYPE", "MEMORY"};

	for (int i = 0; i < N_TENSOR_COLUMNS; i++) {
		size_t n = strlen(parts[i]);

		if (strncmp(text, parts[i], n) == 0 &&
		    (!text[n] || strcmp(text + n, "_PAD[LOGICAL]") == 0))
			return i;
	}
	return -1;
}

static void take_tensor_heading(struct report *report, const char *heading, int16_t at)
{
	bool is_output = strncmp(heading, "OUTPUT_", 7) == 0;
	unsigned int number;
	int n = 0, part;

	if (sscanf(heading, is_output ? "OUTPUT_%u_%n" : "INPUT_%u_%n", &number, &n) != 1 || !n ||
	    number >= N_TENSORS)
		return;
	part = tensor_column(heading + n);
	if (part >= 0)
		report->tensor[is_output][number][part] = at;
}

static void take_headings(struct report *report)
{
	memset(report->column, -1, sizeof(report->column));
	memset(report->tensor, -1, sizeof(report->tensor));
	for (size_t i = 0; i < report->csv.n_fields && i < INT16_MAX; i++) {
		const char *heading = csv_reader_field(&report->csv, i);

		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++) {
			if (strcmp(heading, names[j].name) == 0)
				report->column[names[j].column] = (int16_t)i;
		}
		take_tensor_heading(report, heading, (int16_t)i);
	}
}

int tt_is_report(const char *path)
{
	char bytes[LOOK_BYTES + 1];

	FLEXTRACE_TRY(tt_look(path, bytes, LOOK_BYTES));
	return strstr(bytes, "GLOBAL CALL COUNT") && strstr(bytes, "DEVICE FW");
}

/* -- a line ---------------------------------------------------------------------------------- */

struct line {
	uint64_t call, host_start_ns, host_end_ns;
	uint64_t fw_start, fw_end, kernel_start; /* cycles */
	double fw_ns, kernel_ns;
	uint64_t device;
	bool has_device, has_host;
};

static bool read_number(const struct report *report, enum column column, uint64_t *ret)
{
	const char *text = field(report, column);
	char *end;

	*ret = 0;
	if (*text < '0' || *text > '9')
		return false;
	*ret = strtoull(text, &end, 10);
	return (!*end || *end == '.') && *ret < TT_TICKS_LIMIT;
}

/* Lines are taken to be near the one before, as the rows of a log are. */
static void count_wraps(struct tt_device *device, struct line *line)
{
	int64_t step = (int64_t)((line->fw_start - device->near_ticks) << (64 - TT_COUNTER_BITS));
	uint64_t before = line->fw_start;

	if (device->has_near && !device->is_wide)
		line->fw_start = device->near_ticks +
		                 (uint64_t)(step / (INT64_C(1) << (64 - TT_COUNTER_BITS)));
	device->has_near = true;
	device->near_ticks = line->fw_start;
	line->fw_end += line->fw_start - before;
	if (line->kernel_start)
		line->kernel_start += line->fw_start - before;
}

static void read_line(const struct report *report, struct line *line)
{
	bool has_start = read_number(report, HOST_START, &line->host_start_ns);

	line->has_host = has_start && read_number(report, HOST_END, &line->host_end_ns) &&
	                 line->host_end_ns >= line->host_start_ns;
	read_number(report, CALL_COUNT, &line->call);
	line->fw_ns = strtod(field(report, FW_NS), NULL);
	line->kernel_ns = strtod(field(report, KERNEL_NS), NULL);
	line->has_device = read_number(report, DEVICE_ID, &line->device) &&
	                   line->device < UINT32_MAX &&
	                   read_number(report, FW_START, &line->fw_start) &&
	                   read_number(report, FW_END, &line->fw_end) &&
	                   line->fw_end >= line->fw_start && line->fw_ns >= 0 &&
	                   line->fw_ns < 1e15 && line->kernel_ns >= 0 &&
	                   line->kernel_ns <= line->fw_ns + 1;
	if (!read_number(report, KERNEL_START, &line->kernel_start))
		line->kernel_start = 0;
}

static int reject(struct report *report, const char *fault)
{
	if (report->is_survey)
		return FLEXTRACE_OK;
	faults_note(&report->faults, fault, report->csv.line);
	return ledger_lose(&report->tt->ledger, LOSS_MALFORMED, &LOSS_NOWHERE, 1, INT64_MIN);
}

/* -- the first time -------------------------------------------------------------------------- */

/* The longest line tells the rate best. */
static void learn_rate(struct tt_device *device, const struct line *line)
{
	double mhz = line->fw_ns > 0 ? (double)(line->fw_end - line->fw_start) * 1e3 / line->fw_ns
	                             : 0;

	if (device->hz_is_told || line->fw_ns <= device->longest_fw_ns || mhz < 1 || mhz > 1e4)
		return;
	device->longest_fw_ns = line->fw_ns;
	device->hz = (uint64_t)(mhz + 0.5) * 1000000u;
}

static int survey_line(struct report *report, const struct line *line)
{
	const struct tt_header header = {.n_cores = 0};
	struct tt_device *device;
	uint64_t n_cores;
	uint32_t index;

	if (!line->has_device)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(tt_find_device(report->tt, &header, (uint32_t)line->device, &index));
	if (index == MAP_NONE)
		return FLEXTRACE_OK;
	device = &report->tt->devices[index];
	if (!device->n_cores && read_number(report, WORKER_CORES, &n_cores))
		device->n_cores = (uint32_t)n_cores;
	if (!*device->arch)
		snprintf(device->arch, sizeof(device->arch), "%s", field(report, DEVICE_ARCH));
	learn_rate(device, line);
	device->is_wide |= line->fw_end >> TT_COUNTER_BITS;
	return FLEXTRACE_OK;
}

/* -- the second time ------------------------------------------------------------------------- */

static int add_event(struct report *report, const struct event *event)
{
	struct event out = *event;

	out.vtid = event->class == RECORD_DEVICE_OP || event->class == RECORD_HOST_ESTIMATE ? -1
	                                                                                    : 0;
	report->tt->n_events++;
	return event_item_add(report->tt->events, 0, &out);
}

static const char *tensor_field(const struct report *report, const int16_t *columns, int part)
{
	return columns[part] < 0 ? "" : csv_reader_field(&report->csv, (size_t)columns[part]);
}

/* Without the brackets of "64[64]", which say nothing. */
static size_t dim_length(const char *text)
{
	size_t n = strcspn(text, "[");

	/* What is equal to the first n characters has as many. */
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	if (text[n] && strncmp(text, text + n + 1, n) == 0 && text[2 * n + 1] == ']')
		return n;
	return strlen(text);
}

/* Each is a number, or "32[19]": padded and logical. */
static bool join_dims(const struct report *report, const int16_t *columns, char dims[DIMS_BYTES])
{
	size_t n = 0;

	for (int i = TENSOR_W; i <= TENSOR_X; i++) {
		const char *text = tensor_field(report, columns, i);
		size_t length = dim_length(text);

		if (!length || length > MAX_DIM_CHARS)
			return false;
		n += (size_t)sprintf(dims + n, "%s%.*s", n ? "x" : "", (int)length, text);
	}
	return true;
}

static int add_tensors(struct report *report, const struct line *line)
{
	char dims[DIMS_BYTES];

	for (int i = 0; i < 2 * N_TENSORS; i++) {
		const int16_t *columns = report->tensor[i / N_TENSORS][i % N_TENSORS];
		struct event event = {.class = RECORD_TENSOR, .clock_ns = line->host_end_ns};

		if (!join_dims(report, columns, dims))
			continue;
		event.payload.tensor = (struct flextrace_tensor){
			.correlation = line->call,
			.is_output = i >= N_TENSORS,
			.dims = dims,
			.layout = tensor_field(report, columns, TENSOR_LAYOUT),
			.dtype = tensor_field(report, columns, TENSOR_DTYPE),
			.memory = tensor_field(report, columns, TENSOR_MEMORY),
		};
		FLEXTRACE_TRY(add_event(report, &event));
	}
	return FLEXTRACE_OK;
}

static int add_host(struct report *report, const struct line *line)
{
	struct event op = {.class = RECORD_OP, .clock_ns = line->host_end_ns};
	struct event scope = {.class = RECORD_SCOPE, .clock_ns = line->host_end_ns};
	uint64_t n_cores;

	if (map_find(report->told, line->call, 0) != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(map_put(report->told, line->call, 0, 0));
	read_number(report, CORE_COUNT, &n_cores);
	op.payload.op = (struct flextrace_op){
		.correlation = line->call,
		.type = field(report, OP_TYPE),
		.attributes = field(report, ATTRIBUTES),
		.n_cores = (uint32_t)n_cores,
	};
	scope.payload.scope = (struct flextrace_scope){
		.begin_ns = line->host_start_ns ? line->host_start_ns : 1,
		.kind = FLEXTRACE_RUNTIME_OP,
		.name = field(report, OP_CODE),
		.correlation = line->call,
	};
	FLEXTRACE_TRY(add_event(report, &op));
	FLEXTRACE_TRY(add_tensors(report, line));
	return add_event(report, &scope);
}

static int add_signpost(struct report *report, const struct line *line)
{
	struct event event = {.class = RECORD_INSTANT, .clock_ns = line->host_start_ns};

	event.payload.instant.name = field(report, OP_CODE);
	return add_event(report, &event);
}

/* Where the report does not tell when the kernel began, it stands in the middle of the firmware. */
static uint64_t kernel_begin_ns(const struct tt_device *device, const struct line *line)
{
	double lead_ns = line->fw_ns > line->kernel_ns ? (line->fw_ns - line->kernel_ns) / 2 : 0;

	if (line->kernel_start)
		return tt_ns(device, line->kernel_start);
	return tt_ns(device, line->fw_start) + (uint64_t)lead_ns;
}

static int add_device(struct report *report, const struct line *line,
                      const struct tt_device *device)
{
	uint64_t begin_ns = kernel_begin_ns(device, line);
	uint64_t end_ns = begin_ns + (uint64_t)(line->kernel_ns + 0.5);
	struct event op = {.class = RECORD_DEVICE_OP, .clock_ns = end_ns};
	struct event estimate = {.class = RECORD_HOST_ESTIMATE, .clock_ns = end_ns};

	op.payload.device_op = (struct flextrace_device_op){
		.device = device->slot,
		.job = line->call,
		.correlation = line->call,
		.kind = FLEXTRACE_DEVICE_KERNEL,
		.name = field(report, OP_CODE),
		.peer = -1,
	};
	estimate.payload.host_estimate = (struct flextrace_host_estimate){
		.device = device->slot,
		.job = line->call,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.source = "ops report",
	};
	FLEXTRACE_TRY(add_event(report, &op));
	return add_event(report, &estimate);
}

static int take_line(struct report *report, const struct line *line)
{
	uint32_t index = line->has_device ? map_find(&report->tt->device_index, line->device, 0)
	                                  : MAP_NONE;

	if (strcmp(field(report, OP_TYPE), "signpost") == 0 && line->host_start_ns)
		return add_signpost(report, line);
	if (!line->call)
		return reject(report, "it has no call count");
	if (line->has_host)
		FLEXTRACE_TRY(add_host(report, line));
	if (index != MAP_NONE && !report->tt->devices[index].has_items)
		return add_device(report, line, &report->tt->devices[index]);
	return line->has_host || index != MAP_NONE ? FLEXTRACE_OK
	                                           : reject(report, "it has no times");
}

/* -- files ----------------------------------------------------------------------------------- */

static ssize_t read_bytes(void *context, char *bytes, size_t n_bytes)
{
	return (ssize_t)trace_file_read(context, bytes, n_bytes, NULL);
}

static int close_bytes(void *context)
{
	trace_file_close(context);
	return 0;
}

static FILE *open_text(const char *path, struct flextrace_error *error)
{
	const cookie_io_functions_t functions = {.read = read_bytes, .close = close_bytes};
	struct trace_file *text = trace_file_open(path, error);
	FILE *file = text ? fopencookie(text, "r", functions) : NULL;

	if (text && !file) {
		trace_file_close(text);
		error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	}
	return file;
}

static uint64_t own_ns(const struct tt_device *device, uint64_t ticks)
{
	return tt_ns(device, ticks) - (uint64_t)device->shift_ns;
}

static int note_meeting(struct report *report, const struct line *line)
{
	uint32_t index = map_find(&report->tt->device_index, line->device, 0);
	const struct tt_device *device;

	if (!line->has_device || index == MAP_NONE || !tt_is_collective(field(report, OP_CODE)))
		return FLEXTRACE_OK;
	device = &report->tt->devices[index];
	return tt_note_meeting(report->tt, index, (int64_t)own_ns(device, line->fw_start),
	                       (int64_t)own_ns(device, line->fw_end));
}

/* The shift of a device is as late as its operations' host calls ask for. */
static void note_cause(struct report *report, const struct line *line)
{
	uint32_t index = map_find(&report->tt->device_index, line->device, 0);
	struct tt_device *device;
	int64_t shift_ns;

	if (!line->has_device || !line->has_host || index == MAP_NONE)
		return;
	device = &report->tt->devices[index];
	shift_ns = (int64_t)line->host_start_ns - (int64_t)own_ns(device, line->fw_start);
	if (!device->has_cause || shift_ns > device->cause_ns)
		device->cause_ns = shift_ns;
	device->has_cause = true;
}

enum pass { LEARN_RATES, LEARN_SHIFTS, TELL };

static int take_record(struct report *report, enum pass pass)
{
	struct line line = {0};
	uint32_t index;

	read_line(report, &line);
	index = line.has_device ? map_find(&report->tt->device_index, line.device, 0) : MAP_NONE;
	if (index != MAP_NONE)
		count_wraps(&report->tt->devices[index], &line);
	if (pass == TELL)
		return take_line(report, &line);
	if (pass == LEARN_RATES)
		return survey_line(report, &line);
	note_cause(report, &line);
	return note_meeting(report, &line);
}

/* A record that is no CSV ends the file: counted, and what stood before it holds. */
static int read_records(struct report *report, enum pass pass, struct flextrace_error *error)
{
	int code = csv_reader_next(&report->csv, error);

	if (code > 0)
		take_headings(report);
	while (code > 0) {
		code = csv_reader_next(&report->csv, error);
		if (code > 0)
			FLEXTRACE_TRY(take_record(report, pass));
	}
	if (code != FLEXTRACE_E_INPUT)
		return code;
	FLEXTRACE_TRY(reject(report, "it is no CSV, and nothing behind it is read"));
	return report->is_survey ? FLEXTRACE_OK
	                         : ledger_lose(&report->tt->ledger, LOSS_TRUNCATED_STREAM,
	                                       &LOSS_NOWHERE, 1, INT64_MIN);
}

static void tell(const struct report *report)
{
	char text[1024];

	if (!report->faults.n || !report->options->warn)
		return;
	snprintf(text, sizeof(text),
	         "Rows were rejected: file=%s, rows=%" PRIu64 ", first at line %" PRIu64 ": %s",
	         report->path, report->faults.n, report->faults.first_bytes, report->faults.first);
	report->options->warn(report->options->context, text);
}

static int read_pass(struct tt *tt, const struct import_options *options, const char *path,
                     enum pass pass, struct flextrace_error *error)
{
	struct report report = {.tt = tt,
	                        .options = options,
	                        .path = path,
	                        .is_survey = pass != TELL,
	                        .told = &tt->told};
	FILE *file = open_text(path, error);
	int code;

	if (!file)
		return error->code;
	for (uint32_t i = 0; i < tt->n_devices; i++)
		tt->devices[i].has_near = false;
	csv_reader_init(&report.csv, file, path);
	code = read_records(&report, pass, error);
	if (code == FLEXTRACE_E_MEMORY || code == FLEXTRACE_E_OUTPUT)
		import_explain(code, error);
	if (pass == TELL)
		tell(&report);
	csv_reader_release(&report.csv);
	fclose(file);
	return code;
}

int tt_report_survey(struct tt *tt, const struct import_options *options, const char *path,
                     struct flextrace_error *error)
{
	FLEXTRACE_TRY(read_pass(tt, options, path, LEARN_RATES, error));
	for (uint32_t i = 0; i < tt->n_devices; i++)
		tt->devices[i].hz = tt->devices[i].hz ? tt->devices[i].hz : TT_ASSUMED_HZ;
	return read_pass(tt, options, path, LEARN_SHIFTS, error);
}

int tt_report_read(struct tt *tt, const struct import_options *options, const char *path,
                   struct flextrace_error *error)
{
	return read_pass(tt, options, path, TELL, error);
}
