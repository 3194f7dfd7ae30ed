/* SPDX-License-Identifier: Apache-2.0 */
#include "sizes.h"

#include <string.h>

#include "ascii.h"
#include "digits.h"

bool size_parse(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "kmgt";
	const char *unit, *end;
	uint64_t n;

	if (!digits_read(text, &end, &n))
		return false;
	unit = *end ? strchr(units, ascii_lower(*end)) : NULL;
	if ((*end && !unit) || (unit && end[1]))
		return false;
	for (; unit && unit >= units; unit--) {
		if (__builtin_mul_overflow(n, (uint64_t)1024, &n))
			return false;
	}
	if (n > INT64_MAX)
		return false;
	*ret_bytes = n;
	return true;
}
