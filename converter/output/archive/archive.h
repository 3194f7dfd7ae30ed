/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive.h: one ZIP file, written front to back to `<name>.tmp` and renamed when whole.
 *
 * - Members are written one after the other, each as its bytes come: nothing of it is kept.
 * - The same members give the same bytes: no time, no owner.
 * - Members are deflated, but for those whose names end in ".gz", which are stored. All have fields
 *   for sizes beyond 4 GiB.
 *
 * One thread at a time. Built without libminizip there are no archives (archive_is_built()).
 */
#ifndef FLEXTRACE_ARCHIVE_H
#define FLEXTRACE_ARCHIVE_H

#include "base/text/writer.h"

struct archive {
	struct writer_target target; /* first: of the open member */
	struct writer file;
	uint64_t offset; /* where the next byte of `file` goes */
	void *zip;       /* owned; NULL = closed */
};

bool archive_is_built(void);

static inline bool name_is_gzip(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && strcmp(name + n - 3, ".gz") == 0;
}

/* Opens `dir`/`name`. FLEXTRACE_E_OUTPUT, FLEXTRACE_E_MEMORY; on failure nothing is open. */
int archive_open(struct archive *archive, const char *dir, const char *name,
                 struct flextrace_error *error);

/* Opens a writer of a member, with gzip where its name ends in ".gz"; it is closed or abandoned
 * before the next one is opened. FLEXTRACE_E_OUTPUT, FLEXTRACE_E_MEMORY. */
int archive_open_member(struct archive *archive, struct writer *writer, const char *name,
                        struct flextrace_error *error);

/* Adds a file, `dir`/`name`, as it is. The same errors. */
int archive_add_file(struct archive *archive, const char *dir, const char *name,
                     struct flextrace_error *error);

/* Finishes the file. FLEXTRACE_E_OUTPUT if anything failed since archive_open(); it is gone
 * then. */
int archive_close(struct archive *archive, struct flextrace_error *error);

/* Removes `<name>.tmp`. Does nothing on a closed one, or on zeroes. */
void archive_abandon(struct archive *archive);

#endif
