/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_list.h: the numbers that are the names in a folder of /proc, without malloc(): in a fork, in
 * a signal handler, and where another thread may hold any lock.
 */
#ifndef FLEXTRACE_PROVIDER_PROC_LIST_H
#define FLEXTRACE_PROVIDER_PROC_LIST_H

/*
 * Calls `visit` with each number, but for that of the descriptor used to read the folder, until it
 * returns something else than 0. Returns that, 0 at the end, -1 if the folder cannot be read.
 */
int proc_list(const char *path, int (*visit)(int number, void *data), void *data);

#endif
