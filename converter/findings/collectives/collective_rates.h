/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_rates.h: the bus bandwidth of collectives over time, by process: of each part over its
 * own time, as collectives.csv has it, added up where parts lie side by side. Of a process whose
 * devices were seen at collectives those alone count.
 */
#ifndef FLEXTRACE_FINDINGS_COLLECTIVE_RATES_H
#define FLEXTRACE_FINDINGS_COLLECTIVE_RATES_H

#include "model/collective_rates.h"
#include "collectives.h"

/* Into `rates`, which are zero. FLEXTRACE_E_MEMORY or 0; collective_rates_release() in any case. */
int collective_rates_find(struct collective_rates *rates, const struct collectives *collectives);
void collective_rates_release(struct collective_rates *rates);

#endif
