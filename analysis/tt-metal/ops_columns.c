/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of ops.csv, and what stands in those that are always there. */
#include <math.h>
#include <string.h>

#include "model/alignment.h"
#include "model/words/kinds.h"
#include "ops.h"

/* -- columns --------------------------------------------------------------------------------- */

#define OP(name, member)       COLUMN_AS(name, struct ops_row, member)
#define OP_MAYBE(name, member) COLUMN_OPTIONAL_AS(name, struct ops_row, member)
#define WORK(name, member)     COLUMN_OPTIONAL_AS(name, struct ops_row, work.member)
#define UNKNOWN(name)          COLUMN_AS(name, struct ops_row, unknown)
#define WORK_FIXED(name, member, n_decimals) \
	COLUMN_FIXED_AS(name, struct ops_row, work.member, n_decimals)

static const struct column before_tensors[] = {
	OP("OP CODE", code),
	OP("OP TYPE", type),
	OP("GLOBAL CALL COUNT", correlation),
	WORK("DEVICE ID", device),
	WORK("DEVICE ARCH", arch),
	OP("ATTRIBUTES", attributes),
	OP("MATH FIDELITY", fidelity),
	OP_MAYBE("CORE COUNT", n_cores),
	WORK("AVAILABLE WORKER CORE COUNT", n_cores),
	UNKNOWN("PARALLELIZATION STRATEGY"),
	OP_MAYBE("HOST START TS", start_ns),
	OP_MAYBE("HOST END TS", end_ns),
	OP_MAYBE("HOST DURATION [ns]", dur_ns),
	WORK("DEVICE FW START CYCLE", first_cycle),
	WORK("DEVICE FW END CYCLE", last_cycle),
	WORK("OP TO OP LATENCY [ns]", latency_ns),
	WORK("OP TO OP LATENCY BR/NRISC START [ns]", dm_latency_ns),
	WORK("DEVICE FW DURATION [ns]", firmware_ns),
	WORK("DEVICE KERNEL DURATION [ns]", kernel_ns),
	WORK("DEVICE KERNEL DURATION DM START [ns]", dm_kernel_ns),
	WORK("DEVICE KERNEL DURATION PER CORE MIN [ns]", core_min_ns),
	WORK("DEVICE KERNEL DURATION PER CORE MAX [ns]", core_max_ns),
	WORK("DEVICE KERNEL DURATION PER CORE AVG [ns]", core_mean_ns),
	WORK("DEVICE KERNEL FIRST TO LAST START [ns]", core_skew_ns),
	WORK("DEVICE BRISC KERNEL DURATION [ns]", risc_ns[0]),
	WORK("DEVICE NCRISC KERNEL DURATION [ns]", risc_ns[1]),
	WORK("DEVICE TRISC0 KERNEL DURATION [ns]", risc_ns[2]),
	WORK("DEVICE TRISC1 KERNEL DURATION [ns]", risc_ns[3]),
	WORK("DEVICE TRISC2 KERNEL DURATION [ns]", risc_ns[4]),
	WORK("DEVICE ERISC KERNEL DURATION [ns]", risc_ns[5]),
	UNKNOWN("DEVICE COMPUTE CB WAIT FRONT [ns]"),
	UNKNOWN("DEVICE COMPUTE CB RESERVE BACK [ns]"),
	UNKNOWN("DISPATCH TOTAL CQ CMD OP TIME [ns]"),
	UNKNOWN("DISPATCH GO SEND WAIT TIME [ns]"),
};

#define TENSOR(which, name, member) COLUMN_AS(which "_*_" name, struct ops_tensor, member)
#define TENSOR_COLUMNS(which)                                                               \
	TENSOR(which, "W_PAD[LOGICAL]", dims[0]), TENSOR(which, "Z_PAD[LOGICAL]", dims[1]), \
		TENSOR(which, "Y_PAD[LOGICAL]", dims[2]),                                   \
		TENSOR(which, "X_PAD[LOGICAL]", dims[3]), TENSOR(which, "LAYOUT", layout),  \
		TENSOR(which, "DATATYPE", dtype), TENSOR(which, "MEMORY", memory)

/* As the documentation names them. */
#define PADDED(which, name, i) COLUMN_OPTIONAL_AS(which "_*_" name, struct ops_tensor, padded[i])
#define OLD_TENSOR_COLUMNS(which)                                            \
	PADDED(which, "W", 0), PADDED(which, "Z", 1), PADDED(which, "Y", 2), \
		PADDED(which, "X", 3), TENSOR(which, "DATA TYPE", dtype)

static const struct column inputs[] = {TENSOR_COLUMNS("INPUT")};
static const struct column outputs[] = {TENSOR_COLUMNS("OUTPUT")};
static const struct column old_inputs[] = {OLD_TENSOR_COLUMNS("INPUT")};
static const struct column old_outputs[] = {OLD_TENSOR_COLUMNS("OUTPUT")};

static const struct column behind_tensors[] = {
	UNKNOWN("METAL TRACE ID"),
	UNKNOWN("METAL TRACE REPLAY SESSION ID"),
	UNKNOWN("COMPUTE KERNEL SOURCE"),
	UNKNOWN("COMPUTE KERNEL HASH"),
	UNKNOWN("DATA MOVEMENT KERNEL SOURCE"),
	UNKNOWN("DATA MOVEMENT KERNEL HASH"),
	UNKNOWN("PROGRAM HASH"),
	UNKNOWN("PROGRAM CACHE HIT"),
	UNKNOWN("TENSIX DM 0 MAX KERNEL SIZE [B]"),
	UNKNOWN("TENSIX DM 1 MAX KERNEL SIZE [B]"),
	UNKNOWN("TENSIX COMPUTE 0 MAX KERNEL SIZE [B]"),
	UNKNOWN("TENSIX COMPUTE 1 MAX KERNEL SIZE [B]"),
	UNKNOWN("TENSIX COMPUTE 2 MAX KERNEL SIZE [B]"),
	UNKNOWN("ACTIVE ETH DM 0 MAX KERNEL SIZE [B]"),
	UNKNOWN("ACTIVE ETH DM 1 MAX KERNEL SIZE [B]"),
	UNKNOWN("IDLE ETH DM 0 MAX KERNEL SIZE [B]"),
	UNKNOWN("IDLE ETH DM 1 MAX KERNEL SIZE [B]"),
	WORK_FIXED("PM IDEAL [ns]", ideal_ns, 0),
	WORK_FIXED("PM COMPUTE [ns]", ideal_ns, 0),
	UNKNOWN("PM BANDWIDTH [ns]"),
	UNKNOWN("PM REQ I BW"),
	UNKNOWN("PM REQ O BW"),
	WORK_FIXED("PM FPU UTIL (%)", utilization_percent, 3),
	UNKNOWN("NOC UTIL (%)"),
	UNKNOWN("MULTICAST NOC UTIL (%)"),
	UNKNOWN("DRAM BW UTIL (%)"),
	UNKNOWN("DRAM BW UTIL PER CTRL (%)"),
	UNKNOWN("ETH BW UTIL (%)"),
	UNKNOWN("NPE CONG IMPACT (%)"),
	UNKNOWN("SFPU Util Min (%)"),
	UNKNOWN("SFPU Util Median (%)"),
	UNKNOWN("SFPU Util Max (%)"),
	UNKNOWN("Avg SFPU util on full grid (%)"),
	UNKNOWN("FPU Util Min (%)"),
	UNKNOWN("FPU Util Median (%)"),
	UNKNOWN("FPU Util Max (%)"),
	UNKNOWN("Avg FPU util on full grid (%)"),
	UNKNOWN("MATH Util Min (%)"),
	UNKNOWN("MATH Util Median (%)"),
	UNKNOWN("MATH Util Max (%)"),
	UNKNOWN("Avg Math util on full grid (%)"),
	/* of the documentation */
	OP("CALL DEPTH", depth),
	UNKNOWN("COMPUTE KERNEL PATH"),
	UNKNOWN("DATAMOVEMENT KERNEL PATH"),
	UNKNOWN("DATAMOVEMENT KERNEL HASH"),
};

static const struct column owner[] = {COLUMNS_OWNER(struct ops_row)};

static const struct column ours[] = {
	OP("number", number), OP("correlation", correlation), OP("status", status),
	OP("op_name", name),  OP("module", module),           OP("opcode", opcode),
};

static const struct column frames[] = {OP("frames", frames)};

static const struct column functions[] = {
	COLUMN_OPTIONAL_AS("* Count", struct ops_function, calls),
	COLUMN_OPTIONAL_AS("* Average", struct ops_function, mean_ns),
	COLUMN_OPTIONAL_AS("*_TT_HOST_FUNC [ns]", struct ops_function, total_ns),
};

#define GROUP(each, columns, may_be_reported)                      \
	{                                                          \
		each, columns, N_COLUMNS(columns), may_be_reported \
	}

const struct ops_group ops_groups[OPS_N_GROUPS] = {
	GROUP(OPS_ONCE, before_tensors, true),   GROUP(OPS_EACH_INPUT, inputs, true),
	GROUP(OPS_EACH_OUTPUT, outputs, true),   GROUP(OPS_ONCE, behind_tensors, true),
	GROUP(OPS_EACH_INPUT, old_inputs, true), GROUP(OPS_EACH_OUTPUT, old_outputs, true),
	GROUP(OPS_ONCE, owner, false),           GROUP(OPS_ONCE, ours, true),
	GROUP(OPS_ONCE, frames, false),          GROUP(OPS_EACH_FUNCTION, functions, false),
};

bool ops_is_of_work(const struct column *column)
{
	return column->offset_bytes >= offsetof(struct ops_row, work) &&
	       column->offset_bytes < sizeof(struct ops_row);
}

/* -- the operation --------------------------------------------------------------------------- */

/* As it is named among the attributes; NULL: it is not. */
static const char *find_fidelity(const char *attributes)
{
	static const char *const names[] = {"LoFi", "HiFi2", "HiFi3", "HiFi4"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strstr(attributes, names[i]))
			return names[i];
	}
	return NULL;
}

static uint32_t count_cores(const struct ops_line *line, const struct ops_work *work)
{
	uint32_t n = line->call->n_cores;

	if (!n && work)
		n = work->n_cores;
	return n ? n : COLUMN_NONE_U32;
}

static void fill_times(const struct ops *ops, const struct host_row *of, struct ops_row *row)
{
	int64_t epoch_offset_ns = alignment_epoch_offset_ns(ops->timeline->alignment);

	row->start_ns = of->start_time_ns + epoch_offset_ns;
	row->end_ns = of->end_time_ns + epoch_offset_ns;
	row->dur_ns = interval_ns(of->start_time_ns, of->end_time_ns);
}

/* -- its work on a device -------------------------------------------------------------------- */

static uint64_t length_of(const struct ops_span *span)
{
	return span->n ? interval_ns(span->start_time_ns, span->end_time_ns) : COLUMN_NONE_U64;
}

static void fill_cores(const struct ops *ops, const struct ops_work *work,
                       struct ops_work_cells *cells)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	uint64_t sum_ns = 0;

	cells->core_max_ns = 0;
	for (uint32_t i = work->first_core; i != FLEXTRACE_NONE; i = ops->cores[i].next) {
		const struct ops_span *span = &ops->cores[i].span;
		uint64_t ns = length_of(span);

		sum_ns += ns;
		cells->core_min_ns = ns < cells->core_min_ns ? ns : cells->core_min_ns;
		cells->core_max_ns = ns > cells->core_max_ns ? ns : cells->core_max_ns;
		first_ns = span->start_time_ns < first_ns ? span->start_time_ns : first_ns;
		last_ns = span->start_time_ns > last_ns ? span->start_time_ns : last_ns;
	}
	cells->core_mean_ns = sum_ns / work->n_cores;
	cells->core_skew_ns = interval_ns(first_ns, last_ns);
}

static void fill_ideal(const struct ops_work *work, struct ops_work_cells *cells)
{
	const struct ops_span *kernels = ops_kernels(work);
	double ns = (double)interval_ns(kernels->start_time_ns, kernels->end_time_ns);

	if (!(work->ideal_ns > 0))
		return;
	cells->ideal_ns = work->ideal_ns;
	if (kernels->n && ns > 0)
		cells->utilization_percent = 100 * work->ideal_ns / ns;
}

static const struct ops_work_cells no_work = {
	.device = COLUMN_NONE_U32,
	.n_cores = COLUMN_NONE_U32,
	.first_cycle = COLUMN_NONE_U64,
	.last_cycle = COLUMN_NONE_U64,
	.latency_ns = COLUMN_NONE_I64,
	.dm_latency_ns = COLUMN_NONE_I64,
	.firmware_ns = COLUMN_NONE_U64,
	.kernel_ns = COLUMN_NONE_U64,
	.dm_kernel_ns = COLUMN_NONE_U64,
	.core_min_ns = COLUMN_NONE_U64,
	.core_max_ns = COLUMN_NONE_U64,
	.core_mean_ns = COLUMN_NONE_U64,
	.core_skew_ns = COLUMN_NONE_U64,
	.risc_ns = {COLUMN_NONE_U64, COLUMN_NONE_U64, COLUMN_NONE_U64, COLUMN_NONE_U64,
                    COLUMN_NONE_U64, COLUMN_NONE_U64},
	.ideal_ns = NAN,
	.utilization_percent = NAN,
};

static struct ops_work_cells cells_of(const struct ops *ops, const struct ops_work *work)
{
	const struct device *device = &ops->timeline->identity->devices[work->device];
	const struct ops_span *firmware = ops_firmware(work);
	const struct ops_span moved = ops_moved_kernels(work);
	struct ops_work_cells cells = no_work;

	cells.device = device->device;
	cells.arch = string_get(ops->timeline->strings, device->name);
	if (device->n_cores)
		cells.n_cores = device->n_cores;
	if (firmware->first_ticks)
		cells.first_cycle = firmware->first_ticks;
	if (firmware->last_ticks)
		cells.last_cycle = firmware->last_ticks;
	if (!work->is_first)
		cells.latency_ns = work->latency_ns;
	if (!work->is_first && moved.n)
		cells.dm_latency_ns = work->dm_latency_ns;
	cells.firmware_ns = length_of(firmware);
	cells.kernel_ns = length_of(ops_kernels(work));
	cells.dm_kernel_ns = length_of(&moved);
	if (work->n_cores)
		fill_cores(ops, work, &cells);
	for (int i = 0; i < OPS_N_RISCS; i++)
		cells.risc_ns[i] = length_of(&work->riscs[i]);
	fill_ideal(work, &cells);
	return cells;
}

/* -- all of it ------------------------------------------------------------------------------- */

struct ops_row ops_row_of(const struct ops *ops, const struct ops_line *line,
                          const struct ops_work *work)
{
	const struct string_pool *strings = ops->timeline->strings;
	const struct op_call *call = line->call;
	uint8_t status = line->row.status;
	struct ops_row row = {
		.owner = identity_owner(ops->timeline->identity, line->process),
		.code = string_get(strings, line->row.name),
		.type = string_get(strings, call->type),
		.attributes = string_get(strings, call->attributes),
		.fidelity = find_fidelity(string_get(strings, call->attributes)),
		.name = string_get(strings, call->op_name),
		.module = string_get(strings, call->module),
		.opcode = string_get(strings, call->opcode),
		.frames = string_get(strings, call->frames),
		.n_cores = count_cores(line, work),
		.depth = call->depth,
		.number = line->number,
		.correlation = line->row.correlation,
		.start_ns = COLUMN_NONE_I64,
		.end_ns = COLUMN_NONE_I64,
		.dur_ns = COLUMN_NONE_U64,
		.work = work ? cells_of(ops, work) : no_work,
	};

	if (work && work->status > status)
		status = work->status;
	row.status = time_status_name(status);
	if (line->has_host)
		fill_times(ops, &line->row, &row);
	return row;
}
