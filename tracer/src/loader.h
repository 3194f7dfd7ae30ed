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

/* Name of the symbol `const struct flextrace_i_api *(*)(void)`; the number is the ABI's. */
#define PROVIDER_SYMBOL "flextrace_provider_1"
#define PROVIDER_SONAME "libflextrace-lttng.so"

/*
 * Loads the provider, for ever, and returns its table (weak). NULL if there is none or if it is
 * older than this libflextrace; says why on stderr if `env->verbose`.
 */
const struct flextrace_i_api *flextrace_i_loader_open(const struct environment *env);

#endif
