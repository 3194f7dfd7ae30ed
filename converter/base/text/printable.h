/* SPDX-License-Identifier: Apache-2.0 */
/* printable.h: texts of an input that are printed must not drive a terminal. */
#ifndef FLEXTRACE_PRINTABLE_H
#define FLEXTRACE_PRINTABLE_H

#include <stddef.h>
#include <string.h>

/* The bytes of the control character at `at`, of ASCII or in UTF-8 above it; 0: it is none, or the
 * end of the text. Ends of lines are some. */
static inline size_t printable_control_bytes(const char *at)
{
	const unsigned char *byte = (const unsigned char *)at;

	if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0)
		return 2;
	return byte[0] && (byte[0] < ' ' || byte[0] == 0x7f);
}

/* Replaces each byte of a control character by '?'. */
static inline void printable_make(char *text)
{
	for (size_t n; *text; text += n ? n : 1) {
		n = printable_control_bytes(text);
		memset(text, '?', n);
	}
}

#endif
