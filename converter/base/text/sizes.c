/* SPDX-License-Identifier: Apache-2.0 */
#include "sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ascii.h"

bool size_parse(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "kmgt";
	const char *unit;
	unsigned long long n;
	char *end;

	if (*text < '0' || *text > '9') /* strtoull() takes signs */
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	unit = *end ? strchr(units, ascii_lower(*end)) : NULL;
	if (errno || (*end && !unit) || (unit && end[1]))
		return false;
	for (; unit && unit >= units; unit--) {
		if (__builtin_mul_overflow(n, 1024ull, &n))
			return false;
	}
	if (n > INT64_MAX)
		return false;
	*ret_bytes = n;
	return true;
}
