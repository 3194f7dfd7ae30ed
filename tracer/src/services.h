/* SPDX-License-Identifier: Apache-2.0 */
/*
 * services.h: what the provider does for the process beside records.
 */
#ifndef FLEXTRACE_TRACER_SERVICES_H
#define FLEXTRACE_TRACER_SERVICES_H

#include <flextrace/flextrace.h>

/* `services` is weak and lives on; NULL = the provider is an older one. */
void flextrace_i_services_set(const struct flextrace_i_services *services);

/* NULL = there are none. Any thread, also in signal handlers. */
const struct flextrace_i_services *flextrace_i_services_borrow(void);

#endif
