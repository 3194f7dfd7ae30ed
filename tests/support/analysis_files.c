/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "findings/statistics/owners.h"
#include "output/column_text.h"

int analysis_files_save(const struct findings *findings, const char *file, const char *dir,
                        uint64_t *ret_rows, struct flextrace_error *error)
{
	struct findings with_owners = *findings;
	struct file_count count;
	struct owners owners;

	with_owners.owners = &owners;
	for (size_t i = 0; analysis_all[i]; i++) {
		int code;

		if (strcmp(analysis_all[i]->file.name, file) != 0)
			continue;
		assert_int_equal(owners_init(&owners, findings->timeline->identity), 0);
		code = column_save(&analysis_all[i]->file, &with_owners, dir, &count, error);
		owners_release(&owners);
		*ret_rows = count.rows;
		free(count.columns);
		return code;
	}
	fail_msg("No such file: %s", file);
	return FLEXTRACE_E_USAGE;
}
