/* SPDX-License-Identifier: Apache-2.0 */
#include "collective_rates.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "exchanges.h"

/* A part begins or ends: first changes of the rate, then, swept, the rate. */
ORDER_BY(compare_by_process, struct collective_rate, process, time_ns, gbps);

ORDER_BY(compare_by_time, struct collective_rate, time_ns, process);

static int add_part(struct collective_rates *edges, const struct collectives *collectives,
                    const struct collective_part *part)
{
	struct collective_rate edge = {part->start_time_ns, 0, part->process};
	double size, bus, alg_gbps;

	collective_part_op(collectives, part, &size, &bus);
	if (part->end_time_ns <= part->start_time_ns)
		return FLEXTRACE_OK;
	exchange_rates(part->bytes, interval_ns(part->start_time_ns, part->end_time_ns), size, bus,
	               &alg_gbps, &edge.gbps);
	if (!(edge.gbps > 0))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_PUSH(edges->all, edges->n, edge));
	edge.time_ns = part->end_time_ns;
	edge.gbps = -edge.gbps;
	return ARRAY_PUSH(edges->all, edges->n, edge);
}

/* What a program recorded is the same again where its devices were seen at it. */
static int add_parts(struct collective_rates *edges, const struct collectives *collectives)
{
	uint32_t n = collectives->timeline->identity->n_processes;
	bool *has_devices = calloc(n + 1ull, sizeof(bool));
	int code = has_devices ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	for (uint32_t i = 0; has_devices && i < collectives->n_parts; i++) {
		const struct collective_part *part = &collectives->parts[i];

		has_devices[part->process] |= part->device != FLEXTRACE_NONE;
	}
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < collectives->n_parts; i++) {
		const struct collective_part *part = &collectives->parts[i];

		if (part->device != FLEXTRACE_NONE || !has_devices[part->process])
			code = add_part(edges, collectives, part);
	}
	free(has_devices);
	return code;
}

/* Edges become the rate from their time on; one for all that happens at one time. */
static void sweep(struct collective_rates *rates)
{
	uint32_t n = 0, n_open = 0;
	double gbps = 0;

	for (uint32_t i = 0; i < rates->n; i++) {
		struct collective_rate edge = rates->all[i];
		const struct collective_rate *next = &rates->all[i + 1];

		if (edge.gbps > 0)
			n_open++;
		else
			n_open--;
		gbps = n_open ? gbps + edge.gbps : 0; /* sums of doubles do not come back to 0 */
		if (i + 1 < rates->n && next->process == edge.process &&
		    next->time_ns == edge.time_ns)
			continue;
		edge.gbps = gbps;
		rates->all[n++] = edge;
	}
	rates->n = n;
}

int collective_rates_find(struct collective_rates *rates, const struct collectives *collectives)
{
	FLEXTRACE_TRY(add_parts(rates, collectives));
	if (!rates->n)
		return FLEXTRACE_OK;
	qsort(rates->all, rates->n, sizeof(rates->all[0]), compare_by_process);
	sweep(rates);
	qsort(rates->all, rates->n, sizeof(rates->all[0]), compare_by_time);
	return FLEXTRACE_OK;
}

void collective_rates_release(struct collective_rates *rates)
{
	free(rates->all);
	*rates = (struct collective_rates){.all = NULL};
}
