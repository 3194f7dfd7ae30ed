/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of Nsight Systems in a build that has no SQLite: known, and refused with the reason. */
#include <string.h>

#include "formats/kit/format.h"

#define MAGIC "SQLite format 3"

static int probe_report(const struct probe *probe)
{
	return memcmp(probe->bytes, MAGIC, sizeof(MAGIC)) == 0;
}

static int refuse(struct import *import, struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_INPUT,
	                 "This flextrace was built without libsqlite3 and cannot read reports of "
	                 "nsys: file=%s",
	                 import->options->paths[0]);
}

const struct import_format import_nsys = {
	.dialect = IMPORT_NSYS,
	.probe = probe_report,
	.n_bytes = sizeof(struct import),
	.read = refuse,
};
