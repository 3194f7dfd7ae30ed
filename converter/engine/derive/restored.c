/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control blocks of a file of ours: their rows are made as the file has them, with what it says of
 * their errors. Nobody placed them but flextrace itself, when it wrote the file.
 */
#include "derive_impl.h"

static bool is_row(const struct restored_row *row, uint64_t n_rows)
{
	bool is_of_core = row->kind >= ROW_FIRMWARE;
	bool is_kind = row->kind < DEVICE_ROW_KIND_COUNT || row->kind == RESTORED_MARK ||
	               row->kind == RESTORED_VALUE;

	return is_kind && (!is_of_core || n_rows == 1) && row->status <= TIME_GIVEN &&
	       row->err_ns <= UINT32_MAX && row->start_ns <= (uint64_t)MAX_HOST_NS &&
	       row->dur_ns <= (uint64_t)MAX_HOST_NS;
}

void restored_place(const struct derive *derive, const struct tick_op *op,
                    const struct restored_row *row, struct place ret_places[2])
{
	uint32_t process = derive->identity->devices[op->device].process;

	ret_places[0] = place_host(derive, process, op->submit_host_ns);
	ret_places[0].time_ns += (int64_t)row->start_ns;
	ret_places[0].err_ns = (uint32_t)row->err_ns;
	ret_places[0].status = (uint8_t)row->status;
	ret_places[1] = ret_places[0];
	ret_places[1].time_ns += (int64_t)row->dur_ns;
}

static int add_row(struct derive *derive, uint32_t source, const struct restored_row *row)
{
	struct place places[2];

	restored_place(derive, &derive->out.ops[source], row, places);
	return device_add_row(derive, (uint8_t)row->kind, source, &places[0], &places[1],
	                      (uint8_t)row->status)
	               ? FLEXTRACE_OK
	               : FLEXTRACE_E_MEMORY;
}

/* As it was before it was written: nobody estimates when stamped work was. */
static int restore(struct derive *derive, struct tick_op *op, const struct restored *restored,
                   const char *type)
{
	FLEXTRACE_TRY(string_intern(&derive->strings, type, &op->type));
	if (restored->rows[0].kind < ROW_FIRMWARE)
		memcpy(op->ticks, restored->ticks, sizeof(op->ticks));
	op->job = restored->job;
	op->estimate = 0;
	op->status = TIME_CERTIFIED;
	for (uint64_t i = 0; i < restored->n_rows; i++)
		op->status = worse_status(op->status, (uint8_t)restored->rows[i].status);
	return FLEXTRACE_OK;
}

/* Only of files of Perfetto: in others such a text is a text. Their clocks may be named after the
 * tool that they come from, too. */
static bool is_of_perfetto_file(const struct derive *derive, uint32_t process)
{
	const struct identity *identity = derive->identity;
	uint32_t clock = identity->processes[process].host_clock;

	return identity_is_file_of(identity, derive->out.strings, process, IDENTITY_FILE) &&
	       strstr(string_get(derive->out.strings, identity->host_clocks[clock].boot_id),
	              "perfetto ");
}

int restored_take_status(struct derive *derive, uint32_t thread, uint32_t *text,
                         enum time_status *ret_status)
{
	const char *rest;
	uint64_t status;

	if (!*text || !is_of_perfetto_file(derive, derive->identity->threads[thread].process) ||
	    !restored_read_status(string_get(derive->out.strings, *text), &status, &rest) ||
	    status > TIME_GIVEN)
		return FLEXTRACE_OK;
	*ret_status = (enum time_status)status;
	*text = 0;
	return *rest ? string_intern(&derive->strings, rest, text) : FLEXTRACE_OK;
}

int restored_take(struct derive *derive, uint32_t source)
{
	struct tick_op *op = &derive->out.ops[source];
	uint32_t process = derive->identity->devices[op->device].process;
	struct restored restored;
	const char *type;

	if (!op->type || op->status != TIME_GIVEN || op->submit_host_ns <= 0 ||
	    !is_of_perfetto_file(derive, process) ||
	    !restored_read(string_get(derive->out.strings, op->type), &restored, &type))
		return 0;
	for (uint64_t i = 0; i < restored.n_rows; i++) {
		if (!is_row(&restored.rows[i], restored.n_rows))
			return 0;
	}
	FLEXTRACE_TRY(restore(derive, op, &restored, type));
	derive->ledger->rows[op->class]++;
	if (restored.n_rows && restored.rows[0].kind >= ROW_FIRMWARE) {
		FLEXTRACE_TRY(restored_keep(derive, source, &restored));
		return 1;
	}
	for (uint64_t i = 0; i < restored.n_rows; i++)
		FLEXTRACE_TRY(add_row(derive, source, &restored.rows[i]));
	return 1;
}
