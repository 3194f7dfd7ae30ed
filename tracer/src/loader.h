/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.h: finds the provider, the shared object that knows LTTng.
 *
 * Searched in this order: what FLEXTRACE_PROVIDER names and nothing else; the folder that
 * FLEXTRACE_PROVIDER_DIR named when libflextrace was built; the loader's own search path (run path
 * of the program, LD_LIBRARY_PATH, the system's folders).
 */
#ifndef FLEXTRACE_TRACER_LOADER_H
#define FLEXTRACE_TRACER_LOADER_H

#include "environment.h"

/* Names of functions that return `const struct flextrace_i_api *` and `const struct
 * flextrace_i_services *`; the numbers are the ABI's. The first is called first. */
#define PROVIDER_SYMBOL "flextrace_provider_2"
#define SERVICES_SYMBOL "flextrace_services_2"
#define PROVIDER_SONAME "libflextrace-lttng.so"

/*
 * Loads the provider, for ever, and returns its table (weak). NULL if there is none, if it is older
 * than this libflextrace, or if the program is static; says why on stderr if `env->verbose`.
 * `ret_services`: weak, NULL if the provider has none.
 */
const struct flextrace_i_api *
flextrace_i_loader_open(const struct environment *env,
                        const struct flextrace_i_services **ret_services);

#endif
