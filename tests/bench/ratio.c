/* SPDX-License-Identifier: Apache-2.0 */
#include "ratio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void ratio_add(struct ratio *ratio, double a, double b)
{
	if (ratio->n == RATIO_MAX_PAIRS)
		return;
	ratio->a[ratio->n] = a;
	ratio->b[ratio->n++] = b;
}

double ratio_median(double *values, uint32_t n)
{
	if (!n)
		return 0;
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void ratio_print(const struct ratio *ratio, const char *label, const char *unit, double bar)
{
	double a[RATIO_MAX_PAIRS], b[RATIO_MAX_PAIRS], quotient[RATIO_MAX_PAIRS];
	const uint32_t n = ratio->n;
	memcpy(a, ratio->a, n * sizeof(*a));
	memcpy(b, ratio->b, n * sizeof(*b));
	for (uint32_t i = 0; i < n; i++)
		quotient[i] = b[i] > 0 ? a[i] / b[i] : 0;
	const double median = ratio_median(quotient, n);
	printf("%-44s %9.3f / %9.3f %-3s = %6.3f  (%.3f .. %.3f, n=%u)", label, ratio_median(a, n),
	       ratio_median(b, n), unit, median, n ? quotient[0] : 0, n ? quotient[n - 1] : 0, n);
	if (bar > 0)
		printf("  bar %.2f %s", bar, median <= bar ? "ok" : "MISSED");
	putchar('\n');
	fflush(stdout);
}
