/* SPDX-License-Identifier: Apache-2.0 */
#include "flex_judge.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

void flex_add_truth(struct flex_run *run, const struct flex_truth *truth)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/a.json", run->in);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(flex_truth_write_json(truth, -1, file));
	assert_int_equal(fclose(file), 0);
}

const struct flex_op *flex_find_op(const struct flex_truth *truth, const struct csv_table *events,
                                   uint64_t row)
{
	static const char *const columns[] = {"ts1", "ts2", "ts3", "ts4", "ts5"};
	const char *name = flex_cell(events, row, "name");
	uint32_t rank = (uint32_t)flex_number(events, row, "rank"), words[FLEX_STAMPS];

	for (int k = 0; k < FLEX_STAMPS; k++)
		words[k] = (uint32_t)flex_number(events, row, columns[k]);
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct flex_op *op = &truth->ops[i];

		if (op->rank == rank && memcmp(op->words, words, sizeof(words)) == 0 &&
		    strcmp(op->name, name) == 0)
			return op;
	}
	fail_msg("No operation has the stamps of row %llu", (unsigned long long)row);
	return NULL;
}

int flex_first_stamp(const char *kind)
{
	return strcmp(kind, "Memcpy HtoD") == 0 || strcmp(kind, "DmaI") == 0 ? 0
	       : strcmp(kind, "Prep") == 0                                   ? 1
	       : strcmp(kind, "Exec") == 0                                   ? 2
	                                                                     : 3;
}

static uint32_t n_times(uint8_t fate)
{
	return fate & (FLEX_LOST | FLEX_NO_BEGIN) ? 0 : fate & FLEX_TWICE ? 2 : 1;
}

uint64_t flex_count_blocks(const struct flex_truth *truth)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct flex_phase phases[2];
		uint32_t n = flex_phases(&truth->ops[i], phases), most = 0;

		for (uint32_t k = 0; k < n; k++) {
			uint32_t times = n_times(truth->ops[i].fates[k]);

			most = times > most ? times : most;
		}
		sum += most;
	}
	return sum;
}

uint64_t flex_count_fates(const struct flex_truth *truth, uint8_t fates)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct flex_phase phases[2];
		uint32_t n = flex_phases(&truth->ops[i], phases);

		for (uint32_t k = 0; k < n; k++)
			sum += (truth->ops[i].fates[k] & fates) != 0;
	}
	for (uint32_t i = 0; i < truth->n_trips; i++)
		sum += (truth->trips[i].fate & fates) != 0;
	return sum;
}
