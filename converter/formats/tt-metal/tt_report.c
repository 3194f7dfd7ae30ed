/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/digits.h"
#include "tt_report_impl.h"

#define MAX_COLUMNS  1024
#define TOO_WIDE     "it has more than 1024 columns, and those behind are not read"
#define WRAP         (UINT64_C(1) << TT_COUNTER_BITS)
#define MIN_MHZ      1.0
#define MAX_MHZ      1e4
#define NEAR_TICKS   (INT64_C(3) << (TT_COUNTER_BITS - 3)) /* 3/8 of a turn */
#define MAX_PAUSE_NS 1e17                                  /* 3 years */

/* -- columns --------------------------------------------------------------------------------- */

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
	{"OP TO OP LATENCY [ns]", LATENCY_NS},
	{"METAL TRACE REPLAY SESSION ID", REPLAY},
};

const char *report_field(const struct report *report, enum column column)
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

static int reject(struct report *report, const char *fault)
{
	if (report->is_survey)
		return FLEXTRACE_OK;
	return import_reject(&report->tt->import, LOSS_MALFORMED, fault, report->csv.line);
}

static int take_headings(struct report *report)
{
	memset(report->column, -1, sizeof(report->column));
	memset(report->tensor, -1, sizeof(report->tensor));
	for (size_t i = 0; i < report->csv.n_fields && i < MAX_COLUMNS; i++) {
		const char *heading = csv_reader_field(&report->csv, i);

		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++) {
			if (strcmp(heading, names[j].name) == 0)
				report->column[names[j].column] = (int16_t)i;
		}
		take_tensor_heading(report, heading, (int16_t)i);
		FLEXTRACE_TRY(text_list_add(&report->headings, "%s", heading));
	}
	return report->csv.n_fields > MAX_COLUMNS ? reject(report, TOO_WIDE) : FLEXTRACE_OK;
}

bool tt_is_report(const struct probe *probe)
{
	return probe_has(probe, "GLOBAL CALL COUNT") && probe_has(probe, "DEVICE FW");
}

/* -- a line ---------------------------------------------------------------------------------- */

bool report_number(const struct report *report, enum column column, uint64_t *ret)
{
	const char *text = report_field(report, column);
	const char *end;

	*ret = 0;
	return digits_read(text, &end, ret) && (!*end || *end == '.') && *ret < TT_TICKS_LIMIT;
}

static int64_t ticks_of(const struct tt_device *device, double ns)
{
	return (int64_t)(fmin(fmax(ns, -MAX_PAUSE_NS), MAX_PAUSE_NS) * 1e-9 * (double)device->hz);
}

static bool has_call(const struct line *line)
{
	return line->has_host && line->host_start_ns && !line->is_replay;
}

/* Where a line is to be looked for: near the one before, as the rows of a log are, unless the host
 * says, or else the report, that a pause between them was nearly half a turn of the counter. */
static uint64_t expect(const struct tt_device *device, const struct line *line)
{
	uint64_t ticks = device->told.near_ticks;

	if (has_call(line) && device->told.call_ns)
		ticks = device->told.call_ticks +
		        (uint64_t)ticks_of(device, (double)(int64_t)(line->host_start_ns -
		                                                     device->told.call_ns));
	else if (line->latency_ns > 0)
		ticks += (uint64_t)ticks_of(device, line->latency_ns);
	return llabs((int64_t)(ticks - device->told.near_ticks)) < NEAR_TICKS
	               ? device->told.near_ticks
	               : ticks;
}

static void count_wraps(struct tt_device *device, struct line *line)
{
	uint64_t length = line->fw_end - line->fw_start;

	if (device->is_wide)
		return;
	if (device->told.has_near)
		line->fw_start = tt_near(expect(device, line), line->fw_start);
	else
		line->fw_start += device->below;
	line->fw_end = line->fw_start + length;
	if (line->kernel_start)
		line->kernel_start = tt_near(line->fw_start, line->kernel_start);
	device->told.has_near = true;
	device->told.near_ticks = line->fw_start;
	if (has_call(line)) {
		device->told.call_ticks = line->fw_start;
		device->told.call_ns = line->host_start_ns;
	}
	if ((int64_t)line->fw_start < device->told.least_ticks)
		device->told.least_ticks = (int64_t)line->fw_start;
}

/* The firmware ends behind its start, and as late as its duration says. */
static bool has_interval(struct line *line)
{
	double mhz;

	if (line->fw_end >= line->fw_start)
		return true;
	if (line->fw_start >= WRAP || line->fw_ns <= 0)
		return false;
	line->is_wrapped = true;
	line->fw_end += WRAP; /* the counter wrapped between the two */
	mhz = (double)(line->fw_end - line->fw_start) * 1e3 / line->fw_ns;
	return mhz >= MIN_MHZ && mhz <= MAX_MHZ;
}

static double read_ns(const struct report *report, enum column column)
{
	const char *text = report_field(report, column);
	char *end;
	double ns = strtod(text, &end);

	return end != text && !*end && isfinite(ns) ? ns : NAN;
}

static void read_line(const struct report *report, struct line *line)
{
	bool has_start = report_number(report, HOST_START, &line->host_start_ns);

	line->has_host = has_start && report_number(report, HOST_END, &line->host_end_ns) &&
	                 line->host_end_ns >= line->host_start_ns;
	line->is_replay = *report_field(report, REPLAY);
	report_number(report, CALL_COUNT, &line->call);
	line->fw_ns = strtod(report_field(report, FW_NS), NULL);
	line->kernel_ns = strtod(report_field(report, KERNEL_NS), NULL);
	line->latency_ns = read_ns(report, LATENCY_NS);
	line->has_device = report_number(report, DEVICE_ID, &line->device) &&
	                   line->device < UINT32_MAX &&
	                   report_number(report, FW_START, &line->fw_start) &&
	                   report_number(report, FW_END, &line->fw_end) && line->fw_ns >= 0 &&
	                   line->fw_ns < 1e15 && has_interval(line) && line->kernel_ns >= 0 &&
	                   line->kernel_ns <= line->fw_ns + 1;
	line->is_wide = line->fw_start >= WRAP || (line->fw_end >= WRAP && !line->is_wrapped);
	if (!report_number(report, KERNEL_START, &line->kernel_start))
		line->kernel_start = 0;
}

/* -- the first time -------------------------------------------------------------------------- */

/* The longest line tells the rate best. */
static void learn_rate(struct tt_device *device, const struct line *line)
{
	double mhz = line->fw_ns > 0 ? (double)(line->fw_end - line->fw_start) * 1e3 / line->fw_ns
	                             : 0;

	if (device->hz_is_told || line->fw_ns <= device->told.longest_fw_ns || mhz < MIN_MHZ ||
	    mhz > MAX_MHZ)
		return;
	device->told.longest_fw_ns = line->fw_ns;
	device->hz = (uint64_t)(mhz + 0.5) * 1000000u;
}

static int survey_line(struct report *report, struct line *line)
{
	const struct tt_header header = {.n_cores = 0};
	struct tt_device *device;
	uint64_t n_cores;
	uint32_t index;

	FLEXTRACE_TRY(report_count_call(report, line));
	if (!line->has_device)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(tt_find_device(report->tt, &header, (uint32_t)line->device, &index));
	if (index == MAP_NONE)
		return FLEXTRACE_OK;
	device = &report->tt->devices[index];
	if (!device->n_cores && report_number(report, WORKER_CORES, &n_cores))
		device->n_cores = (uint32_t)n_cores;
	if (!*device->arch)
		snprintf(device->arch, sizeof(device->arch), "%s",
		         report_field(report, DEVICE_ARCH));
	learn_rate(device, line);
	device->is_wide |= line->is_wide;
	count_wraps(device, line);
	return FLEXTRACE_OK;
}

/* -- the second time ------------------------------------------------------------------------- */

struct origin report_origin(const struct report *report)
{
	return origin_make(report->tt->import.streams->files.n - 1, report->csv.line);
}

int report_add(struct report *report, const struct event *event)
{
	struct event out = *event;

	out.vtid = event->class == RECORD_DEVICE_OP || event->class == RECORD_HOST_ESTIMATE ? -1
	                                                                                    : 0;
	if (!out.n_origins)
		out.origins[0] = report_origin(report);
	out.n_origins = 1;
	report->tt->n_events++;
	return import_write(&report->tt->import, 0, &out);
}

static int add_signpost(struct report *report, const struct line *line)
{
	struct event event = {.class = RECORD_INSTANT, .clock_ns = line->host_start_ns};

	event.payload.instant.name = report_field(report, OP_CODE);
	return report_add(report, &event);
}

/* The report tells seldom when the kernel began, but often how long after the one before it ended;
 * else it stands in the middle of the firmware. */
static uint64_t kernel_begin_ns(const struct tt_device *device, const struct line *line)
{
	double lead_ns = line->fw_ns > line->kernel_ns ? (line->fw_ns - line->kernel_ns) / 2 : 0;
	uint64_t fw_ns = tt_ns(device, line->fw_start);
	double after_ns = (double)(int64_t)(device->told.kernel_end_ns - fw_ns) + line->latency_ns;

	if (line->kernel_start)
		return tt_ns(device, line->kernel_start);
	if (device->told.kernel_end_ns && after_ns >= -1 && after_ns <= 2 * lead_ns + 1)
		return device->told.kernel_end_ns + (uint64_t)(int64_t)llround(line->latency_ns);
	return fw_ns + (uint64_t)lead_ns;
}

static int add_device(struct report *report, const struct line *line, struct tt_device *device)
{
	uint64_t begin_ns = kernel_begin_ns(device, line);
	uint64_t end_ns = begin_ns + (uint64_t)(line->kernel_ns + 0.5);
	struct event op = {.class = RECORD_DEVICE_OP, .clock_ns = end_ns};
	struct event estimate = {.class = RECORD_HOST_ESTIMATE, .clock_ns = end_ns};
	struct json_text cells = JSON_TEXT_INIT;
	const char *text = "";
	size_t n_bytes;
	int code = report_write_cells(report, line, &cells);

	if (code > 0)
		code = json_text_get(&cells, &text, &n_bytes);
	device->told.kernel_end_ns = end_ns;
	op.payload.device_op = (struct flextrace_device_op){
		.device = device->slot,
		.job = line->call,
		.correlation = line->call,
		.kind = FLEXTRACE_DEVICE_KERNEL,
		.name = report_field(report, OP_CODE),
		.type = text,
		.peer = -1,
	};
	estimate.payload.host_estimate = (struct flextrace_host_estimate){
		.device = device->slot,
		.job = line->call,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.source = "ops report",
	};
	if (code >= 0)
		code = report_add(report, &op);
	json_text_release(&cells);
	return code < 0 ? code : report_add(report, &estimate);
}

static int take_line(struct report *report, const struct line *line, struct tt_device *device)
{
	if (strcmp(report_field(report, OP_TYPE), "signpost") == 0 && line->host_start_ns)
		return add_signpost(report, line);
	if (!line->call)
		return reject(report, "it has no call count");
	FLEXTRACE_TRY(report_take_call(report, line));
	if (device && !device->has_items)
		return add_device(report, line, device);
	return line->has_host || device ? FLEXTRACE_OK : reject(report, "it has no times");
}

/* -- files ----------------------------------------------------------------------------------- */

static uint64_t own_ns(const struct tt_device *device, uint64_t ticks)
{
	return tt_ns(device, ticks) - (uint64_t)device->shift_ns;
}

static int note_meeting(struct report *report, const struct line *line,
                        const struct tt_device *device)
{
	if (!tt_is_collective(report_field(report, OP_CODE)))
		return FLEXTRACE_OK;
	return tt_note_meeting(report->tt, (uint32_t)(device - report->tt->devices),
	                       (int64_t)own_ns(device, line->fw_start),
	                       (int64_t)own_ns(device, line->fw_end));
}

/* The shift of a device is as late as its operations' host calls ask for. */
static void note_cause(const struct line *line, struct tt_device *device)
{
	int64_t shift_ns = (int64_t)line->host_start_ns - (int64_t)own_ns(device, line->fw_start);

	if (!device->has_cause || shift_ns > device->cause_ns)
		device->cause_ns = shift_ns;
	device->has_cause = true;
}

enum pass { LEARN_RATES, LEARN_SHIFTS, TELL };

/* NULL: it is beyond those that are taken. */
static struct tt_device *find_device(struct tt *tt, uint64_t slot)
{
	uint32_t index = map_find(&tt->device_index, slot, 0);

	return index == MAP_NONE ? NULL : &tt->devices[index];
}

static int take_record(struct report *report, enum pass pass)
{
	struct tt_device *device = NULL;
	struct line line = {0};

	read_line(report, &line);
	if (pass == LEARN_RATES)
		return survey_line(report, &line);
	if (line.has_device)
		device = find_device(report->tt, line.device);
	if (device)
		count_wraps(device, &line);
	if (pass == TELL)
		return take_line(report, &line, device);
	if (device && line.has_host)
		note_cause(&line, device);
	return device ? note_meeting(report, &line, device) : FLEXTRACE_OK;
}

/* A record that is no CSV ends the file: counted, and what stood before it holds. */
static int read_records(struct report *report, enum pass pass, struct flextrace_error *error)
{
	int code = csv_reader_next(&report->csv, error);

	if (code > 0)
		FLEXTRACE_TRY(take_headings(report));
	while (code > 0) {
		code = csv_reader_next(&report->csv, error);
		if (code > 0)
			FLEXTRACE_TRY(take_record(report, pass));
	}
	if (code != FLEXTRACE_E_INPUT)
		return code;
	FLEXTRACE_TRY(reject(report, "it is no CSV, and nothing behind it is read"));
	return report->is_survey ? FLEXTRACE_OK
	                         : import_lose(&report->tt->import, LOSS_TRUNCATED_STREAM, 1);
}

static int read_pass(struct tt *tt, const char *path, enum pass pass, struct flextrace_error *error)
{
	struct report report = {.tt = tt, .is_survey = pass != TELL};
	FILE *file = text_open(path, error);
	int code;

	if (!file)
		return error->code;
	for (uint32_t i = 0; i < tt->n_devices; i++) {
		tt->devices[i].told.has_near = false;
		tt->devices[i].told.call_ns = 0;
		tt->devices[i].told.kernel_end_ns = 0;
	}
	csv_reader_init(&report.csv, file, path);
	code = read_records(&report, pass, error);
	if (pass == TELL)
		import_warn_of_faults(&tt->import, path, "Rows", "line");
	text_list_release(&report.headings);
	csv_reader_release(&report.csv);
	fclose(file);
	return code;
}

int tt_report_survey(struct tt *tt, const char *path, struct flextrace_error *error)
{
	FLEXTRACE_TRY(read_pass(tt, path, LEARN_RATES, error));
	for (uint32_t i = 0; i < tt->n_devices; i++) {
		struct tt_device *device = &tt->devices[i];

		device->hz = device->hz ? device->hz : TT_ASSUMED_HZ;
		if (!device->has_items && !device->is_wide && device->told.least_ticks < 0)
			device->below = ((uint64_t)-device->told.least_ticks / WRAP + 1) * WRAP;
	}
	return read_pass(tt, path, LEARN_SHIFTS, error);
}

int tt_report_read(struct tt *tt, const char *path, struct flextrace_error *error)
{
	FLEXTRACE_TRY(import_add_file(&tt->import, 0, "tt-csv", path));
	return read_pass(tt, path, TELL, error);
}
