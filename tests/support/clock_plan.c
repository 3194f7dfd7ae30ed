/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_plan.h"

#include <stdlib.h>

long double plan_at(const struct clock_plan *plan, double ns)
{
	uint32_t lo = 0, n = plan->n;

	if (n == 0 || ns < plan->bends[0].ns)
		return 0;
	while (n > 1) {
		uint32_t half = n / 2;

		lo += plan->bends[lo + half].ns <= ns ? half : 0;
		n -= half;
	}
	return plan->bends[lo].sum_ns +
	       (long double)plan->bends[lo].rate * (ns - plan->bends[lo].ns);
}

void plan_add(struct clock_plan *plan, double ns, double rate)
{
	struct plan_bend bend = {ns, rate, plan_at(plan, ns)};

	if (plan->n == plan->n_allocated) {
		plan->n_allocated = 2 * plan->n_allocated + 64;
		plan->bends = realloc(plan->bends, plan->n_allocated * sizeof(*plan->bends));
	}
	plan->bends[plan->n++] = bend;
}

void plan_release(struct clock_plan *plan)
{
	free(plan->bends);
	*plan = (struct clock_plan){.bends = NULL};
}
