/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider.h: where the LTTng provider of instrumented programs is, seen from this command.
 */
#ifndef FLEXTRACE_PROVIDER_H
#define FLEXTRACE_PROVIDER_H

#include <limits.h>
#include <stdbool.h>

#include "error.h"

#define PROVIDER_FILE "libflextrace-lttng.so"

/* Finds the provider beside this command: in the build tree, or where both were installed. */
bool provider_find(char ret_path[PATH_MAX]);

/* Loads a provider in a process of its own. FLEXTRACE_E_SYSTEM: it cannot be loaded; the message says why. */
int provider_try(const char *path, struct flextrace_error *error);

#endif
