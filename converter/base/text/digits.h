/* SPDX-License-Identifier: Apache-2.0 */
/* digits.h: whole numbers, and their digits, as files and people write them. */
#ifndef FLEXTRACE_DIGITS_H
#define FLEXTRACE_DIGITS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Reads digits, and stores what stands behind them. False, with nothing stored: there are none (a
 * sign or a blank is none), or 64 bits do not hold the number. */
static inline bool digits_read(const char *text, const char **ret_end, uint64_t *ret_number)
{
	unsigned long long number;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return false;
	*ret_end = end;
	*ret_number = number;
	return true;
}

/* Reads such a number of at most `max`, and moves `at` behind it. False: there is none. */
static inline bool digits_take(const char **at, uint64_t max, uint64_t *ret_number)
{
	return digits_read(*at, at, ret_number) && *ret_number <= max;
}

/* Reads a text that is such a number and nothing else. */
static inline bool digits_read_all(const char *text, uint64_t max, uint64_t *ret_number)
{
	return digits_take(&text, max, ret_number) && !*text;
}

/* What a hexadecimal digit stands for; -1: it is none. */
static inline int hex_digit(int byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

#endif
