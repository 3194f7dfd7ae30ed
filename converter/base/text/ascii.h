/* SPDX-License-Identifier: Apache-2.0 */
/* ascii.h: beginnings, and letters as files spell them. The C library asks the user's locale: a
 * Turkish one does not call "i" the small letter of "I", and "MPI_Allreduce" would be no collective
 * any more. */
#ifndef FLEXTRACE_ASCII_H
#define FLEXTRACE_ASCII_H

#include <stdbool.h>
#include <string.h>

static inline bool text_begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static inline char ascii_upper(char letter)
{
	return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

static inline char ascii_lower(char letter)
{
	if (letter < 'A' || letter > 'Z')
		return letter;
	return (char)(letter - 'A' + 'a');
}

#endif
