/* SPDX-License-Identifier: Apache-2.0 */
#include "column_cell.h"

struct cell column_read(const struct column *column, const void *row,
                        const struct timeline *timeline)
{
	return column_cell(column, row, timeline);
}
