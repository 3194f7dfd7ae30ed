/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporary_file.h: files without a name.
 */
#ifndef FLEXTRACE_TEMPORARY_FILE_H
#define FLEXTRACE_TEMPORARY_FILE_H

/* Where they are made: $TMPDIR, else /tmp; a set-user-id program's environment is not asked. */
const char *temporary_directory(void);

/* Opens a new file that is gone with its descriptor, for reading and writing by its owner alone;
 * -1 with errno. */
int temporary_file_open(void);

#endif
