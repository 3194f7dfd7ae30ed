/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins.h: babeltrace2's CTF source, loaded by each thread for itself.
 *
 * babeltrace2 keeps a process-wide list of the component classes of loaded plug-ins without a lock.
 * Loading a plug-in, and dropping what may be the last reference of one of its classes, happens
 * under our lock; nothing else is shared between threads.
 */
#ifndef FLEXTRACE_BT2_PLUGINS_H
#define FLEXTRACE_BT2_PLUGINS_H

#include <babeltrace2/babeltrace.h>

#include "base/error.h"

struct plugins {
	const bt_plugin *ctf;                /* owned reference */
	const bt_component_class_source *fs; /* weak, of `ctf` */
};

/* FLEXTRACE_E_SYSTEM: babeltrace2 has no plug-in `ctf` here. */
int plugins_load(struct plugins *plugins, struct flextrace_error *error);

/* The same for a thread of its own, from the file where `loaded` was found, which must stay: no
 * directory is searched, no library is linked again. */
int plugins_load_again(struct plugins *plugins, const struct plugins *loaded,
                       struct flextrace_error *error);
void plugins_release(struct plugins *plugins);

/* Puts a graph, which may hold the last references of component classes. */
void plugins_put_graph(const bt_graph *graph);

/* Takes the current thread's error from babeltrace2 and stores `what` and its deepest cause.
 * Returns `code`. */
int plugins_take_error(struct flextrace_error *error, int code, const char *what);

#endif
