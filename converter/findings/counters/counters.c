/* SPDX-License-Identifier: Apache-2.0 */
#include "counters.h"

#include "counters_impl.h"

static const struct {
	const char *name;
	int (*add)(struct counter_maker *maker);
} computed[COMPUTED_COUNTER_COUNT] = {
	[COUNTER_POWER] = {"Power", power_watts_add},
	[COUNTER_TRANSFER_BW] = {"TransferBW", transfer_bw_add},
	[COUNTER_PT_ACTIVE] = {"PT Active", pt_active_add},
	[COUNTER_CONCURRENT_PREPS] = {"ConcurrentPreps", preps_add},
};

const char *computed_counter_name(enum computed_counter counter)
{
	return computed[counter].name;
}

int counter_add_row(struct counter_maker *maker, const struct counter_sample *sample, double value)
{
	const struct tick_op *op = &maker->input->timeline->ops[sample->source];
	const struct counter_row row = {
		.time_ns = sample->time_ns,
		.value = value,
		.err_ns = sample->err_ns,
		.owner = sample->device,
		.core = FLEXTRACE_NONE,
		.name = maker->name,
		.stream = op->stream,
		.index = op->index,
		.is_device = 1,
		.status = sample->status,
		.class = op->class,
	};

	return row_sorter_put(maker->rows, &row);
}

static int add_recorded(const struct timeline *timeline, struct row_sorter *rows)
{
	TABLE_EACH(struct counter_row, row, &timeline->counters)
		FLEXTRACE_TRY(row_sorter_put(rows, row));
	return FLEXTRACE_OK;
}

static int add_computed(const struct counters_input *input, enum computed_counter counter,
                        struct row_sorter *rows)
{
	struct counter_maker maker = {input, rows, 0};

	if (input->is_off[counter] || !input->timeline->n_ops)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(string_intern(input->strings, computed[counter].name, &maker.name));
	return computed[counter].add(&maker);
}

/* Rows of one time stay in this order. */
static int add_all(const struct counters_input *input, struct row_sorter *rows)
{
	FLEXTRACE_TRY(add_computed(input, COUNTER_POWER, rows));
	FLEXTRACE_TRY(add_computed(input, COUNTER_TRANSFER_BW, rows));
	FLEXTRACE_TRY(add_computed(input, COUNTER_PT_ACTIVE, rows));
	FLEXTRACE_TRY(add_recorded(input->timeline, rows));
	return add_computed(input, COUNTER_CONCURRENT_PREPS, rows);
}

static int put_row(void *context, void *row)
{
	return table_put(context, row, sizeof(struct counter_row));
}

int counters_find(struct table *counters, const struct counters_input *input)
{
	struct row_sorter rows;
	int code;

	row_sorter_init(&rows, sizeof(struct counter_row), false);
	code = add_all(input, &rows);
	if (code >= 0)
		code = row_sorter_merge(&rows, put_row, counters);
	row_sorter_release(&rows);
	return code;
}
