/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_file.h: small files as one text.
 */
#ifndef FLEXTRACE_TEXT_FILE_H
#define FLEXTRACE_TEXT_FILE_H

#include <stddef.h>

#define TEXT_FILE_MAX_BYTES (1 << 20)

/* The whole file, ended by NUL. Owned: free(). NULL: errno says why (EFBIG: it is larger). */
char *text_file_read(const char *path);

/* The same of a file in which there may be NULs, and which may be as large as that. */
char *text_file_read_bytes(const char *path, size_t max_bytes, size_t *ret_n);

#endif
