/* SPDX-License-Identifier: Apache-2.0 */
#include "human.h"

#include <math.h>
#include <stdio.h>

/* The last unit takes what is too large for it. */
static const char *scale(double value, const char *const *units, int n_units, char *text)
{
	int unit = 0;

	while (unit + 1 < n_units && fabs(value) >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(text, HUMAN_BYTES, "%.*f %s",
	         fabs(value) >= 99.95 || unit == 0 ? 0
	         : fabs(value) >= 9.995            ? 1
	                                           : 2,
	         value, units[unit]);
	return text;
}

const char *human_time(double ns, char text[HUMAN_BYTES])
{
	static const char *const units[] = {"ns", "us", "ms", "s "};

	return scale(ns, units, 4, text);
}

const char *human_bytes(double n_bytes, char text[HUMAN_BYTES])
{
	static const char *const units[] = {"B ", "kB", "MB", "GB", "TB"};

	return scale(n_bytes, units, 5, text);
}
