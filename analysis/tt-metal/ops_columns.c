/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of ops.csv that are always there, and what stands in them. */
#include <string.h>

#include "model/words/kinds.h"
#include "ops.h"
#include "model/alignment.h"

struct ops_column {
	const char *name;
	void (*write)(const struct ops_sheet *sheet); /* NULL: we do not know that */
	bool is_device;                               /* only where there is work */
};

static void write_string(const struct ops_sheet *sheet, uint32_t string)
{
	const struct string_pool *strings = sheet->ops->timeline->strings;

	writer_csv(sheet->writer, string_get(strings, string), string_length(strings, string));
}

static void write_text(const struct ops_sheet *sheet, const char *text)
{
	writer_csv(sheet->writer, text, strlen(text));
}

static void write_time(const struct ops_sheet *sheet, int64_t time_ns)
{
	writer_i64(sheet->writer,
	           time_ns + alignment_epoch_offset_ns(sheet->ops->timeline->alignment));
}

static void write_length(const struct ops_sheet *sheet, const struct ops_span *span)
{
	if (span->n)
		writer_u64(sheet->writer, interval_ns(span->start_time_ns, span->end_time_ns));
}

/* -- the operation --------------------------------------------------------------------------- */

static void write_code(const struct ops_sheet *sheet)
{
	write_string(sheet, sheet->line->row.name);
}

static void write_type(const struct ops_sheet *sheet)
{
	write_string(sheet, sheet->line->call->type);
}

static void write_number(const struct ops_sheet *sheet)
{
	writer_u64(sheet->writer, sheet->line->number);
}

static void write_attributes(const struct ops_sheet *sheet)
{
	write_string(sheet, sheet->line->call->attributes);
}

/* As it is named among the attributes. */
static void write_fidelity(const struct ops_sheet *sheet)
{
	static const char *const names[] = {"LoFi", "HiFi2", "HiFi3", "HiFi4"};
	const char *attributes = string_get(sheet->ops->timeline->strings,
	                                    sheet->line->call->attributes);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strstr(attributes, names[i]))
			continue;
		write_text(sheet, names[i]);
		return;
	}
}

static void write_core_count(const struct ops_sheet *sheet)
{
	uint32_t n = sheet->line->call->n_cores;

	if (!n && sheet->work)
		n = sheet->work->n_cores;
	if (n)
		writer_u64(sheet->writer, n);
}

static void write_start(const struct ops_sheet *sheet)
{
	if (sheet->line->has_host)
		write_time(sheet, sheet->line->row.start_time_ns);
}

static void write_end(const struct ops_sheet *sheet)
{
	if (sheet->line->has_host)
		write_time(sheet, sheet->line->row.end_time_ns);
}

static void write_duration(const struct ops_sheet *sheet)
{
	const struct host_row *row = &sheet->line->row;

	if (sheet->line->has_host)
		writer_u64(sheet->writer, interval_ns(row->start_time_ns, row->end_time_ns));
}

static void write_depth(const struct ops_sheet *sheet)
{
	writer_u64(sheet->writer, sheet->line->call->depth);
}

static void write_rank(const struct ops_sheet *sheet)
{
	const struct identity *identity = sheet->ops->timeline->identity;
	const struct owner_cells owner = identity_owner(identity, sheet->line->process);

	if (owner.rank != COLUMN_NONE_I64)
		writer_i64(sheet->writer, owner.rank);
	writer_char(sheet->writer, ',');
	write_text(sheet, owner.host);
	writer_char(sheet->writer, ',');
	if (owner.pid != COLUMN_NONE_I64)
		writer_i64(sheet->writer, owner.pid);
}

static void write_correlation(const struct ops_sheet *sheet)
{
	writer_u64(sheet->writer, sheet->line->row.correlation);
}

static void write_status(const struct ops_sheet *sheet)
{
	uint8_t status = sheet->line->row.status;

	if (sheet->work && sheet->work->status > status)
		status = sheet->work->status;
	write_text(sheet, time_status_name(status));
}

static void write_op_name(const struct ops_sheet *sheet)
{
	write_string(sheet, sheet->line->call->op_name);
}

static void write_module(const struct ops_sheet *sheet)
{
	write_string(sheet, sheet->line->call->module);
}

static void write_opcode(const struct ops_sheet *sheet)
{
	write_string(sheet, sheet->line->call->opcode);
}

/* -- its work on a device -------------------------------------------------------------------- */

static void write_device(const struct ops_sheet *sheet)
{
	writer_u64(sheet->writer, sheet->device->device);
}

static void write_arch(const struct ops_sheet *sheet)
{
	write_string(sheet, sheet->device->name);
}

static void write_available(const struct ops_sheet *sheet)
{
	if (sheet->device->n_cores)
		writer_u64(sheet->writer, sheet->device->n_cores);
}

static void write_first_cycle(const struct ops_sheet *sheet)
{
	if (ops_firmware(sheet->work)->first_ticks)
		writer_u64(sheet->writer, ops_firmware(sheet->work)->first_ticks);
}

static void write_last_cycle(const struct ops_sheet *sheet)
{
	if (ops_firmware(sheet->work)->last_ticks)
		writer_u64(sheet->writer, ops_firmware(sheet->work)->last_ticks);
}

static void write_latency(const struct ops_sheet *sheet)
{
	if (!sheet->work->is_first)
		writer_i64(sheet->writer, sheet->work->latency_ns);
}

static void write_dm_latency(const struct ops_sheet *sheet)
{
	if (!sheet->work->is_first && ops_moved_kernels(sheet->work).n)
		writer_i64(sheet->writer, sheet->work->dm_latency_ns);
}

static void write_firmware(const struct ops_sheet *sheet)
{
	write_length(sheet, ops_firmware(sheet->work));
}

static void write_kernel(const struct ops_sheet *sheet)
{
	write_length(sheet, ops_kernels(sheet->work));
}

static void write_dm_kernel(const struct ops_sheet *sheet)
{
	const struct ops_span moved = ops_moved_kernels(sheet->work);

	write_length(sheet, &moved);
}

struct per_core {
	uint64_t min_ns, max_ns, sum_ns;
	int64_t first_start_ns, last_start_ns;
};

static struct per_core per_core_of(const struct ops_sheet *sheet)
{
	struct per_core all = {UINT64_MAX, 0, 0, INT64_MAX, INT64_MIN};
	uint32_t i = sheet->work->first_core;

	for (; i != FLEXTRACE_NONE; i = sheet->ops->cores[i].next) {
		const struct ops_span *span = &sheet->ops->cores[i].span;
		uint64_t ns = interval_ns(span->start_time_ns, span->end_time_ns);

		if (ns < all.min_ns)
			all.min_ns = ns;
		if (ns > all.max_ns)
			all.max_ns = ns;
		all.sum_ns += ns;
		if (span->start_time_ns < all.first_start_ns)
			all.first_start_ns = span->start_time_ns;
		if (span->start_time_ns > all.last_start_ns)
			all.last_start_ns = span->start_time_ns;
	}
	return all;
}

static void write_core_min(const struct ops_sheet *sheet)
{
	if (sheet->work->n_cores)
		writer_u64(sheet->writer, per_core_of(sheet).min_ns);
}

static void write_core_max(const struct ops_sheet *sheet)
{
	if (sheet->work->n_cores)
		writer_u64(sheet->writer, per_core_of(sheet).max_ns);
}

static void write_core_mean(const struct ops_sheet *sheet)
{
	if (sheet->work->n_cores)
		writer_u64(sheet->writer, per_core_of(sheet).sum_ns / sheet->work->n_cores);
}

static void write_core_skew(const struct ops_sheet *sheet)
{
	struct per_core all;

	if (!sheet->work->n_cores)
		return;
	all = per_core_of(sheet);
	writer_u64(sheet->writer, interval_ns(all.first_start_ns, all.last_start_ns));
}

#define WRITE_RISC(number)                                             \
	static void write_risc_##number(const struct ops_sheet *sheet) \
	{                                                              \
		write_length(sheet, &sheet->work->riscs[number]);      \
	}
WRITE_RISC(0)
WRITE_RISC(1)
WRITE_RISC(2)
WRITE_RISC(3)
WRITE_RISC(4)
WRITE_RISC(5)

static void write_ideal(const struct ops_sheet *sheet)
{
	if (sheet->work->ideal_ns > 0)
		writer_fixed(sheet->writer, sheet->work->ideal_ns, 0);
}

static void write_utilization(const struct ops_sheet *sheet)
{
	const struct ops_span *kernels = ops_kernels(sheet->work);
	double ns = (double)interval_ns(kernels->start_time_ns, kernels->end_time_ns);

	if (sheet->work->ideal_ns > 0 && kernels->n && ns > 0)
		writer_fixed(sheet->writer, 100 * sheet->work->ideal_ns / ns, 3);
}

/* -- columns --------------------------------------------------------------------------------- */

static const struct ops_column before_tensors[] = {
	{"OP CODE", write_code, false},
	{"OP TYPE", write_type, false},
	{"GLOBAL CALL COUNT", write_correlation, false},
	{"DEVICE ID", write_device, true},
	{"DEVICE ARCH", write_arch, true},
	{"ATTRIBUTES", write_attributes, false},
	{"MATH FIDELITY", write_fidelity, false},
	{"CORE COUNT", write_core_count, false},
	{"AVAILABLE WORKER CORE COUNT", write_available, true},
	{"PARALLELIZATION STRATEGY", NULL, false},
	{"HOST START TS", write_start, false},
	{"HOST END TS", write_end, false},
	{"HOST DURATION [ns]", write_duration, false},
	{"DEVICE FW START CYCLE", write_first_cycle, true},
	{"DEVICE FW END CYCLE", write_last_cycle, true},
	{"OP TO OP LATENCY [ns]", write_latency, true},
	{"OP TO OP LATENCY BR/NRISC START [ns]", write_dm_latency, true},
	{"DEVICE FW DURATION [ns]", write_firmware, true},
	{"DEVICE KERNEL DURATION [ns]", write_kernel, true},
	{"DEVICE KERNEL DURATION DM START [ns]", write_dm_kernel, true},
	{"DEVICE KERNEL DURATION PER CORE MIN [ns]", write_core_min, true},
	{"DEVICE KERNEL DURATION PER CORE MAX [ns]", write_core_max, true},
	{"DEVICE KERNEL DURATION PER CORE AVG [ns]", write_core_mean, true},
	{"DEVICE KERNEL FIRST TO LAST START [ns]", write_core_skew, true},
	{"DEVICE BRISC KERNEL DURATION [ns]", write_risc_0, true},
	{"DEVICE NCRISC KERNEL DURATION [ns]", write_risc_1, true},
	{"DEVICE TRISC0 KERNEL DURATION [ns]", write_risc_2, true},
	{"DEVICE TRISC1 KERNEL DURATION [ns]", write_risc_3, true},
	{"DEVICE TRISC2 KERNEL DURATION [ns]", write_risc_4, true},
	{"DEVICE ERISC KERNEL DURATION [ns]", write_risc_5, true},
	{"DEVICE COMPUTE CB WAIT FRONT [ns]", NULL, true},
	{"DEVICE COMPUTE CB RESERVE BACK [ns]", NULL, true},
	{"DISPATCH TOTAL CQ CMD OP TIME [ns]", NULL, true},
	{"DISPATCH GO SEND WAIT TIME [ns]", NULL, true},
	{NULL, NULL, false},
};

static const struct ops_column behind_tensors[] = {
	{"METAL TRACE ID", NULL, false},
	{"METAL TRACE REPLAY SESSION ID", NULL, false},
	{"COMPUTE KERNEL SOURCE", NULL, false},
	{"COMPUTE KERNEL HASH", NULL, false},
	{"DATA MOVEMENT KERNEL SOURCE", NULL, false},
	{"DATA MOVEMENT KERNEL HASH", NULL, false},
	{"PROGRAM HASH", NULL, false},
	{"PROGRAM CACHE HIT", NULL, false},
	{"TENSIX DM 0 MAX KERNEL SIZE [B]", NULL, false},
	{"TENSIX DM 1 MAX KERNEL SIZE [B]", NULL, false},
	{"TENSIX COMPUTE 0 MAX KERNEL SIZE [B]", NULL, false},
	{"TENSIX COMPUTE 1 MAX KERNEL SIZE [B]", NULL, false},
	{"TENSIX COMPUTE 2 MAX KERNEL SIZE [B]", NULL, false},
	{"ACTIVE ETH DM 0 MAX KERNEL SIZE [B]", NULL, false},
	{"ACTIVE ETH DM 1 MAX KERNEL SIZE [B]", NULL, false},
	{"IDLE ETH DM 0 MAX KERNEL SIZE [B]", NULL, false},
	{"IDLE ETH DM 1 MAX KERNEL SIZE [B]", NULL, false},
	{"PM IDEAL [ns]", write_ideal, true},
	{"PM COMPUTE [ns]", write_ideal, true},
	{"PM BANDWIDTH [ns]", NULL, true},
	{"PM REQ I BW", NULL, true},
	{"PM REQ O BW", NULL, true},
	{"PM FPU UTIL (%)", write_utilization, true},
	{"NOC UTIL (%)", NULL, true},
	{"MULTICAST NOC UTIL (%)", NULL, true},
	{"DRAM BW UTIL (%)", NULL, true},
	{"DRAM BW UTIL PER CTRL (%)", NULL, true},
	{"ETH BW UTIL (%)", NULL, true},
	{"NPE CONG IMPACT (%)", NULL, true},
	{"SFPU Util Min (%)", NULL, true},
	{"SFPU Util Median (%)", NULL, true},
	{"SFPU Util Max (%)", NULL, true},
	{"Avg SFPU util on full grid (%)", NULL, true},
	{"FPU Util Min (%)", NULL, true},
	{"FPU Util Median (%)", NULL, true},
	{"FPU Util Max (%)", NULL, true},
	{"Avg FPU util on full grid (%)", NULL, true},
	{"MATH Util Min (%)", NULL, true},
	{"MATH Util Median (%)", NULL, true},
	{"MATH Util Max (%)", NULL, true},
	{"Avg Math util on full grid (%)", NULL, true},
	/* of the documentation */
	{"CALL DEPTH", write_depth, false},
	{"COMPUTE KERNEL PATH", NULL, false},
	{"DATAMOVEMENT KERNEL PATH", NULL, false},
	{"DATAMOVEMENT KERNEL HASH", NULL, false},
	{NULL, NULL, false},
};

static const struct ops_column ours[] = {
	{"rank,host,pid", write_rank, false},      {"number", write_number, false},
	{"correlation", write_correlation, false}, {"status", write_status, false},
	{"op_name", write_op_name, false},         {"module", write_module, false},
	{"opcode", write_opcode, false},           {NULL, NULL, false},
};

static const struct ops_column *const parts[] = {
	[OPS_BEFORE_TENSORS] = before_tensors,
	[OPS_BEHIND_TENSORS] = behind_tensors,
	[OPS_OURS] = ours,
};

/* A log of the device tells more than the report. */
static bool is_logged(const struct ops_sheet *sheet, const struct ops_column *column)
{
	return column->is_device && column->write && sheet->work && sheet->work->firmware.n;
}

static void write_known(const struct ops_sheet *sheet, const struct ops_column *column)
{
	if (column->write && (sheet->work || !column->is_device))
		column->write(sheet);
}

void ops_write_cells(const struct ops_sheet *sheet, enum ops_part part)
{
	const struct ops_column *column = parts[part];

	for (; column->name; column++) {
		if (is_logged(sheet, column) || !ops_write_given(sheet, column->name))
			write_known(sheet, column);
		writer_char(sheet->writer, ',');
	}
}

bool ops_has_column(const char *name)
{
	for (int part = OPS_BEFORE_TENSORS; part <= OPS_OURS; part++) {
		for (const struct ops_column *column = parts[part]; column->name; column++) {
			if (strcmp(column->name, name) == 0)
				return true;
		}
	}
	return false;
}

void ops_write_names(struct writer *writer, enum ops_part part)
{
	const struct ops_column *column = parts[part];

	for (; column->name; column++) {
		writer_raw(writer, column->name);
		writer_char(writer, ',');
	}
}
