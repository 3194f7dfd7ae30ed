/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler_info.h: reader of what the compiler told of its kernels: names, categories and ideal
 * cycles.
 *
 * A source is a compiler's log, or a directory of its cache:
 *
 *   DECODING                                        the phase of the next table, if it is told
 *   ~~~~ Ideal/Total Cycles ~~~~                    a table opens
 *   Name                       Ideal Cy.
 *   convolution_1-opCatConv_fp16   12544            kernel "convolution_1", category "Conv_fp16"
 *   Total                          12544
 *   ====== Perf Summary End ======                  and closes
 *
 *   DIR/inductor-spyre/KERNEL/perf/ideal_cycles.json
 *   [{"ideal_cycles": 12544, "op_category": "Conv_fp16"}]
 *
 * - A log may have any number of tables; one that is told twice is kept once.
 * - A line that cannot be understood costs that line and is counted; a file of any size or content
 *   is read in one pass and with a buffer of fixed size.
 */
#ifndef FLEXTRACE_COMPILER_INFO_H
#define FLEXTRACE_COMPILER_INFO_H

#include "base/error.h"
#include "model/kernel_costs.h"
#include "base/text/strings.h"

#define COMPILER_CACHE "inductor-spyre" /* in a directory */

struct compiler_table {
	uint32_t source;    /* in the order given */
	uint32_t first_row; /* in `rows`, in the order of the compiler */
	uint32_t n_rows;    /* behind them one more, for kernels that the table does not name */
	uint64_t ideal_cycles;
	uint8_t phase;   /* enum kernel_phase */
	bool is_ordered; /* rows stand in the order of their execution */
	bool is_autopilot;
};

struct compiler_info {
	struct compiler_table *tables; /* owned */
	struct kernel_cost *rows;      /* owned */
	uint32_t n_tables;
	uint32_t n_rows, n_rows_allocated;
	uint32_t n_sources;
	uint32_t n_empty;      /* sources without a table */
	uint64_t n_bad_lines;  /* lines of tables, and files of directories, that say nothing */
	uint64_t n_bad_tables; /* that end early, or whose rows are not what their total says */
};

/* Reads sources: each text is a path or several, separated by commas. FLEXTRACE_E_INPUT: one cannot
 * be opened. Release in any case. */
int compiler_info_read(struct compiler_info *info, const char *const *texts, uint32_t n,
                       struct string_cache *strings, struct flextrace_error *error);
void compiler_info_release(struct compiler_info *info);

/* Says whether a text's paths can be opened, without reading them. FLEXTRACE_E_INPUT or 0. */
int compiler_info_check(const char *text, struct flextrace_error *error);

/* -- between the readers ----------------------------------------------------------------------- */

/* Opens a table, adds rows to it, closes it; an empty table, or one that its source has already, is
 * forgotten. `category` NULL: the compiler knows none. */
int compiler_table_open(struct compiler_info *info, uint8_t phase);
int compiler_table_add(struct compiler_info *info, const struct kernel_cost *row);
int compiler_table_close(struct compiler_info *info);

int compiler_log_read(struct compiler_info *info, const char *path, struct string_cache *strings,
                      struct flextrace_error *error);
int compiler_dir_read(struct compiler_info *info, const char *path, struct string_cache *strings,
                      struct flextrace_error *error);

#endif
