/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracer.h: this copy of libflextrace: starting, and meeting the provider.
 */
#ifndef FLEXTRACE_TRACER_TRACER_H
#define FLEXTRACE_TRACER_TRACER_H

#include "environment.h"

/* Reads what the process is. Called once, before anything else of this library. */
void flextrace_i_tracer_init(const struct environment *env);

/* Makes `api` (weak, never freed) the provider and emits all definitions. */
void flextrace_i_tracer_attach(const struct flextrace_i_api *api);

/*
 * Takes this copy off the provider's list, because its code goes away (dlclose) or the program
 * ends. State words and table stay what they are: destructors that run later may still record.
 */
void flextrace_i_tracer_detach(void);

#endif
