/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h: in which steps and windows of its process a time is.
 *
 * Steps and windows of one name are one. Left out are those that have all calls of their process
 * within them, which would repeat the whole, and all names but the first WINDOWS_MAX.
 */
#ifndef FLEXTRACE_WINDOWS_H
#define FLEXTRACE_WINDOWS_H

#include "findings/work/call_tree.h"
#include "name_trie.h"

#define WINDOWS_MAX 100u

struct window_stretch { /* from its time to the next one's the same windows are open */
	int64_t time_ns;
	uint32_t process;
	uint32_t open; /* node of `sets` */
};

struct windows {
	struct window_stretch *stretches; /* owned: by process and time */
	uint32_t n_stretches;
	struct name_trie sets;           /* windows that are open at once: numbers of names */
	uint32_t names[WINDOWS_MAX + 1]; /* strings, by number, from 1: in order of first starts */
	uint32_t n_names;
	uint32_t n_most_open; /* at once */
};

/* FLEXTRACE_E_MEMORY or 0; release in any case. */
int windows_init(struct windows *windows, const struct call_tree *tree, uint32_t n_processes);
void windows_release(struct windows *windows);

/* The set of windows that a time is in: a node of `sets`; 0: none. */
uint32_t windows_at(const struct windows *windows, uint32_t process, int64_t time_ns);

#endif
