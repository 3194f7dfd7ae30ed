/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_thread.h: the end of a process whose main thread has ended by pthread_exit().
 *
 * Such a process ends with its last thread. LTTng's two never end. So when the main thread has
 * ended, a thread of ours looks until no thread of the program is left, and calls exit(0) then, as
 * the C library would in the last one.
 */
#ifndef FLEXTRACE_PROVIDER_LAST_THREAD_H
#define FLEXTRACE_PROVIDER_LAST_THREAD_H

/* Called once, before any other. */
void last_thread_init(void);

/* In the main thread, of the child of a fork, too: be there when it ends. In others nothing. */
void last_thread_watch(void);

#endif
