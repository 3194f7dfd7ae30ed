/* SPDX-License-Identifier: Apache-2.0 */
#include "derive_impl.h"
#include "model/stamps.h"

struct device_row *device_add_row(struct derive *derive, uint8_t kind, uint32_t source,
                                  const struct place *start, const struct place *end,
                                  uint8_t status)
{
	struct device_row *row = row_sorter_append(&derive->device_rows);

	if (!row)
		return NULL;
	*row = (struct device_row){
		.start_time_ns = start->time_ns,
		.end_time_ns = end->time_ns,
		.err_ns = larger_err(start->err_ns, end->err_ns),
		.source = source,
		.kind = kind,
		.status = worse_status(status, worse_status(start->status, end->status)),
	};
	derive_cover(derive, row->start_time_ns, row->end_time_ns);
	return row;
}

/* -- control blocks ------------------------------------------------------------------------- */

/* One control block on its way to its rows. Stamp i is TS(i + 1). */
struct op_input {
	const struct tick_op *op; /* weak */
	uint32_t source;
	uint32_t process;
	struct place places[FLEXTRACE_N_STAMPS];
	uint8_t asked, placed; /* a bit for each stamp whose place was asked for, and found */
	uint32_t n_rows;
	uint8_t worst; /* status of them */
	bool lacks_stamp, lacks_clock, is_backwards;
};

enum { TS1, TS2, TS3, TS4, TS5 };

static uint8_t row_kind_of(const struct tick_op *op)
{
	switch (op->kind) {
	case FLEXTRACE_DEVICE_MEMCPY_HTOD:
		return ROW_MEMCPY_HTOD;
	case FLEXTRACE_DEVICE_MEMCPY_DTOH:
		return ROW_MEMCPY_DTOH;
	case FLEXTRACE_DEVICE_MEMCPY_DTOD:
		return ROW_MEMCPY_DTOD;
	case FLEXTRACE_DEVICE_MEMCPY_PTOP:
		return ROW_MEMCPY_PTOP;
	case FLEXTRACE_DEVICE_MEMSET:
		return ROW_MEMSET;
	case FLEXTRACE_DEVICE_RELEASE:
		return ROW_RELEASE;
	case FLEXTRACE_DEVICE_STATE:
		return ROW_STATE;
	default:
		return op->kind < FLEXTRACE_DEVICE_KIND_COUNT_FULL ? ROW_EXEC : ROW_UNKNOWN;
	}
}

/* Whether a stamp has a place, found when it is asked for first: most need not be. */
static bool place_stamp(const struct derive *derive, struct op_input *input, int i)
{
	const struct tick_op *op = input->op;
	uint8_t bit = (uint8_t)(1 << i);

	if (!(input->asked & bit) && place_ticks(derive, input->process, op->counter, op->segment,
	                                         op->ticks[i], &input->places[i]))
		input->placed |= bit;
	input->asked |= bit;
	return input->placed & bit;
}

/* Whether a stamp is the first or the last that was taken. */
static bool is_end(const struct tick_op *op, int i)
{
	uint64_t before = 0, behind = 0;

	for (int k = 0; k < i; k++)
		before |= op->ticks[k];
	for (int k = i + 1; k < FLEXTRACE_N_STAMPS; k++)
		behind |= op->ticks[k];
	return !before || !behind;
}

static uint8_t status_of(const struct tick_op *op, int from, int to)
{
	if (op->has_open_middle && (!is_end(op, from) || !is_end(op, to)))
		return worse_status(op->status, TIME_ASSUMED);
	return op->status;
}

/* Power is read at TS4, which need not be an end of a row: then its place is as sure as the row. */
static void note_sample(struct derive *derive, struct op_input *input, int to,
                        struct device_row *row)
{
	struct tick_op *op = &derive->out.ops[input->source];
	const struct place *place = &input->places[TS4];
	int64_t before_ns;

	if (!op->power || row->kind <= ROW_DMA_OUT || !op->ticks[TS4] ||
	    op->ticks[TS4] == op->ticks[to])
		return;
	op->sample_before_ns = UINT32_MAX;
	if (!place_stamp(derive, input, TS4))
		return;
	before_ns = row->end_time_ns - place->time_ns;
	if (before_ns >= 0 && before_ns < UINT32_MAX)
		op->sample_before_ns = (uint32_t)before_ns;
	row->err_ns = larger_err(row->err_ns, place->err_ns);
	row->status = worse_status(row->status, place->status);
}

/* Adds the row between two stamps, or notes why not. 1: added. */
static int add_pair(struct derive *derive, struct op_input *input, uint8_t kind, int from, int to)
{
	const struct tick_op *op = input->op;
	struct device_row *row;

	if (!op->ticks[from] || !op->ticks[to]) {
		input->lacks_stamp = true;
		return 0;
	}
	if (!place_stamp(derive, input, from) || !place_stamp(derive, input, to)) {
		input->lacks_clock = true;
		return 0;
	}
	if (op->ticks[from] == op->ticks[to] && kind <= ROW_DMA_OUT && kind != ROW_EXEC &&
	    op->kind < FLEXTRACE_DEVICE_KIND_COUNT)
		return 0;
	if (input->places[from].time_ns > input->places[to].time_ns) {
		input->is_backwards = true;
		return 0;
	}
	row = device_add_row(derive, kind, input->source, &input->places[from], &input->places[to],
	                     status_of(op, from, to));
	if (!row)
		return FLEXTRACE_E_MEMORY;
	note_sample(derive, input, to, row);
	input->worst = worse_status(input->worst, row->status);
	input->n_rows++;
	return 1;
}

static int add_kernel_rows(struct derive *derive, struct op_input *input)
{
	int parts = tick_op_parts(input->op);

	if (parts & FLEXTRACE_PART_DMA_IN)
		FLEXTRACE_TRY(add_pair(derive, input, ROW_DMA_IN, TS1, TS2));
	if (parts & FLEXTRACE_PART_PREP)
		FLEXTRACE_TRY(add_pair(derive, input, ROW_PREP, TS2, TS3));
	if (parts & FLEXTRACE_PART_EXEC)
		FLEXTRACE_TRY(add_pair(derive, input, ROW_EXEC, TS3, TS4));
	if (parts & FLEXTRACE_PART_DMA_OUT)
		FLEXTRACE_TRY(add_pair(derive, input, ROW_DMA_OUT, TS4, TS5));
	return FLEXTRACE_OK;
}

/* What has no phases lasts from its first stamp to its last. */
static int add_whole_row(struct derive *derive, struct op_input *input)
{
	int from = tick_op_first(input->op), to = tick_op_last(input->op);

	if (from < to)
		return add_pair(derive, input, row_kind_of(input->op), from, to);
	return add_pair(derive, input, row_kind_of(input->op), TS1, TS5);
}

/* Where another tool told when one DMA of a transfer was, as Flex does of a control block that it
 * calls DmaI or DmaO, that is its row, if its two stamps say something. */
static int add_copy_row(struct derive *derive, struct op_input *input, int from, int to)
{
	const struct tick_op *op = input->op;
	bool is_told = op->estimate == 1 + FLEXTRACE_ESTIMATE_DMA_IN ||
	               op->estimate == 1 + FLEXTRACE_ESTIMATE_DMA_OUT;

	if (!is_told || !op->ticks[from] || !op->ticks[to] || op->ticks[from] == op->ticks[to])
		return add_whole_row(derive, input);
	return add_pair(derive, input, row_kind_of(op), from, to);
}

static int add_stamp_rows(struct derive *derive, struct op_input *input)
{
	switch (row_kind_of(input->op)) {
	case ROW_EXEC:
		return add_kernel_rows(derive, input);
	case ROW_MEMCPY_HTOD:
		return add_copy_row(derive, input, TS1, TS2);
	case ROW_MEMCPY_DTOH:
		return add_copy_row(derive, input, TS4, TS5);
	default:
		return add_whole_row(derive, input);
	}
}

/* Of a control block of one part, that part. */
static uint8_t whole_kind_of(const struct tick_op *op)
{
	switch (op->kind) {
	case FLEXTRACE_DEVICE_PARTS(FLEXTRACE_PART_DMA_IN):
		return ROW_DMA_IN;
	case FLEXTRACE_DEVICE_PARTS(FLEXTRACE_PART_PREP):
		return ROW_PREP;
	case FLEXTRACE_DEVICE_PARTS(FLEXTRACE_PART_DMA_OUT):
		return ROW_DMA_OUT;
	default:
		return row_kind_of(op);
	}
}

/* Work that no stamp places stands at its host bracket, if it has one. So does work whose stamps
 * contradict the others: they may name any time, and the bracket is nearer to the truth. */
static int add_bracket_row(struct derive *derive, struct op_input *input)
{
	const struct tick_op *op = input->op;
	struct place start, end;
	uint8_t status = op->status;

	if (!op->submit_host_ns || !op->complete_host_ns ||
	    op->submit_host_ns > op->complete_host_ns)
		return FLEXTRACE_OK;
	start = place_host(derive, input->process, op->submit_host_ns);
	end = place_host(derive, input->process, op->complete_host_ns);
	start.err_ns = UINT32_MAX;
	input->n_rows++;
	if (status != TIME_OUTLIER)
		status = worse_status(status, TIME_UNMATCHED);
	if (!device_add_row(derive, whole_kind_of(op), input->source, &start, &end, status))
		return FLEXTRACE_E_MEMORY;
	input->worst = worse_status(input->worst, status);
	return FLEXTRACE_OK;
}

/* -- books ---------------------------------------------------------------------------------- */

static enum loss_cause cause_of(const struct op_input *input)
{
	if (input->op->class == RECORD_SUBMIT)
		return LOSS_UNMATCHED_SUBMIT;
	if (input->op->class == RECORD_COMPLETE)
		return LOSS_UNMATCHED_COMPLETE;
	if (input->lacks_clock)
		return LOSS_NO_CLOCK;
	return input->is_backwards ? LOSS_BACKWARDS : LOSS_MISSING_STAMP;
}

static int book_op(struct derive *derive, struct derive_process *process,
                   const struct op_input *input)
{
	const struct tick_op *op = input->op;
	struct loss_place place = identity_place(derive->identity, op->device, FLEXTRACE_NONE,
	                                         op->stream);
	int64_t host_ns = op->complete_host_ns ? op->complete_host_ns : op->submit_host_ns;

	if (!host_ns)
		host_ns = INT64_MIN;
	process->n_without_clock += input->lacks_clock;
	process->has_clock |= input->n_rows && !input->lacks_clock;
	if (!input->n_rows)
		return derive_discard(derive, cause_of(input), &place, op->class, host_ns);
	derive->ledger->rows[op->class]++;
	if (op->class != RECORD_DEVICE_OP)
		return FLEXTRACE_OK;
	if (op->status != TIME_GIVEN)
		derive_count_event(derive, op->counter, op->segment, input->worst);
	if (input->lacks_clock)
		FLEXTRACE_TRY(ledger_lose(derive->ledger, LOSS_NO_CLOCK, &place, 1, host_ns));
	if (input->is_backwards)
		FLEXTRACE_TRY(ledger_lose(derive->ledger, LOSS_BACKWARDS, &place, 1, host_ns));
	if (input->lacks_stamp && op->status != TIME_GIVEN)
		FLEXTRACE_TRY(ledger_lose(derive->ledger, LOSS_MISSING_STAMP, &place, 1, host_ns));
	return FLEXTRACE_OK;
}

static int take_op(struct derive *derive, uint32_t source)
{
	const struct tick_op *op = &derive->out.ops[source];
	struct op_input input = {.op = op, .source = source};
	struct derive_process *process;

	input.process = derive->identity->devices[op->device].process;
	process = derive_process(derive, input.process);
	if (!process)
		return FLEXTRACE_E_MEMORY;
	if (op->complete_host_ns && op->complete_host_ns > process->last_host_ns)
		process->last_host_ns = op->complete_host_ns;
	if (op->status == TIME_OUTLIER && !op->is_doubted)
		FLEXTRACE_TRY(add_bracket_row(derive, &input));
	if (!input.n_rows)
		FLEXTRACE_TRY(add_stamp_rows(derive, &input));
	if (!input.n_rows)
		FLEXTRACE_TRY(add_bracket_row(derive, &input));
	return book_op(derive, process, &input);
}

int device_take_ops(struct derive *derive, struct table *ops, uint64_t n_more)
{
	uint64_t n = ops->n_rows + n_more;

	if (!n)
		return FLEXTRACE_OK;
	derive->out.ops = blocks_reserve(n, sizeof(*derive->out.ops));
	if (!derive->out.ops || n >= FLEXTRACE_NONE)
		return FLEXTRACE_E_MEMORY;
	TABLE_CONSUME(struct tick_op, op, ops)
	{
		FLEXTRACE_TRY(blocks_fill_next(derive->out.ops, derive->out.n_ops,
		                               sizeof(*derive->out.ops)));
		derive->out.ops[derive->out.n_ops] = *op;
		if (clocks_refuse(derive->out.clocks, derive->out.n_ops))
			derive->out.ops[derive->out.n_ops].status = TIME_OUTLIER;
		derive->out.has.groups |= op->group != 0;
		derive->out.has.power |= op->power != 0;
		derive->out.has.bytes |= op->bytes != 0;
		FLEXTRACE_TRY(take_op(derive, (uint32_t)derive->out.n_ops++));
	}
	return FLEXTRACE_OK;
}

/* -- merging -------------------------------------------------------------------------------- */

static int find_family(struct derive *derive, const struct device_row *row, uint32_t *ret_family)
{
	if (row->kind >= ROW_FIRMWARE) {
		*ret_family = row->track;
		return FLEXTRACE_OK;
	}
	return family_of_queue(derive, derive->out.ops[row->source].device,
	                       derive->out.ops[row->source].queue, row->kind, ret_family);
}

/* Kernels come in order of their starts. */
static void see_kernel(struct derive *derive, uint32_t family, const struct device_row *row)
{
	struct track_family *line = &derive->lines.families[family];
	int64_t end_ns = row->end_time_ns;

	if (line->has_kernels && row->start_time_ns < line->reach_time_ns) {
		uint64_t ns;

		if (end_ns > line->reach_time_ns)
			end_ns = line->reach_time_ns;
		ns = (uint64_t)end_ns - (uint64_t)row->start_time_ns;
		/* one that lasts no time and begins with another is before it */
		derive->out.counts.n_overlaps += ns || row->start_time_ns > line->start_time_ns;
		derive->out.counts.overlap_ns += ns;
		if (ns > derive->out.counts.largest_overlap_ns)
			derive->out.counts.largest_overlap_ns = ns;
	}
	if (!line->has_kernels || row->end_time_ns > line->reach_time_ns)
		line->reach_time_ns = row->end_time_ns;
	line->start_time_ns = row->start_time_ns;
	line->has_kernels = true;
}

static int merge_row(void *context, void *visited)
{
	struct derive *derive = context;
	struct device_row *row = visited;
	uint32_t family, depth;

	FLEXTRACE_TRY(find_family(derive, row, &family));
	FLEXTRACE_TRY(family_place(derive, family, row->start_time_ns, row->end_time_ns,
	                           &row->track, &depth));
	if (row->kind == ROW_EXEC)
		see_kernel(derive, family, row);
	if (is_main_row(row->kind))
		flows_see_device_row(derive, row);
	return table_put(&derive->out.device_rows, row, sizeof(*row));
}

int device_merge(struct derive *derive)
{
	return row_sorter_merge(&derive->device_rows, merge_row, derive);
}
