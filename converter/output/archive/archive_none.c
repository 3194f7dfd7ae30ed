// SPDX-License-Identifier: Apache-2.0
/* archive_none.c: built where there is no libminizip. */
#include "archive.h"

bool archive_is_built(void)
{
	return false;
}

int archive_open(struct archive *archive, const char *dir, const char *name,
                 struct flextrace_error *error)
{
	(void)dir;
	*archive = (struct archive){.zip = NULL};
	return error_set(error, FLEXTRACE_E_USAGE,
	                 "This flextrace was built without libminizip, which writes archives: "
	                 "name=%s",
	                 name);
}

int archive_open_member(struct archive *archive, struct writer *writer, const char *name,
                        struct flextrace_error *error)
{
	(void)archive, (void)writer, (void)name;
	return error_memory(error);
}

int archive_add_file(struct archive *archive, const char *dir, const char *name,
                     struct flextrace_error *error)
{
	(void)archive, (void)dir, (void)name;
	return error_memory(error);
}

int archive_close(struct archive *archive, struct flextrace_error *error)
{
	(void)archive;
	return error_memory(error);
}

void archive_abandon(struct archive *archive)
{
	(void)archive;
}
