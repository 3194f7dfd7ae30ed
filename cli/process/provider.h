/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider.h: where the LTTng provider of instrumented programs is, the babeltrace2 plug-in, and
 * what else programs load, seen from this command.
 */
#ifndef FLEXTRACE_PROVIDER_H
#define FLEXTRACE_PROVIDER_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

#define PROVIDER_FILE "libflextrace-lttng.so"

/* Chooses the provider that programs should load: $FLEXTRACE_PROVIDER, else the one beside this
 * command (in the build tree, or where both were installed), else PROVIDER_FILE for the dynamic
 * linker to find. */
const char *provider_choose(char ret_path[PATH_MAX]);

/* Finds a library of the tracer beside this command; `folder`: where it is below tracer/ in the
 * build tree. False = not there. */
bool library_find(const char *folder, const char *file, char ret_path[PATH_MAX]);

/* Finds the folder of the babeltrace2 plug-in beside this command; false = not there. */
bool plugin_find(char ret_dir[PATH_MAX]);

/*
 * Loads a provider in a process of its own, which registers with the session daemon and waits
 * for that at most `timeout_ms`. It records nothing, but makes LTTng allocate this user's
 * buffers. FLEXTRACE_E_SYSTEM: it cannot be loaded; the message says why. Returns 1 if it did not
 * finish, or a signal ended the wait for it.
 */
int provider_try(const char *path, int timeout_ms, struct flextrace_error *error);

#endif
