/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_file.h: small files that a user wrote, as one text.
 */
#ifndef FLEXTRACE_TEXT_FILE_H
#define FLEXTRACE_TEXT_FILE_H

#define TEXT_FILE_MAX_BYTES (1 << 20)

/* The whole file, ended by NUL. Owned: free(). NULL: errno says why (EFBIG: it is larger). */
char *text_file_read(const char *path);

#endif
