/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h: whether other threads than LTTng's live in this process, and its end if its main
 * thread has ended by pthread_exit().
 *
 * Such a process ends with its last thread. LTTng's two never end. So when the main thread has
 * ended, a thread of ours looks until no thread of the program is left, and calls exit(0) then, as
 * the C library would in the last one.
 */
#ifndef FLEXTRACE_PROVIDER_THREADS_H
#define FLEXTRACE_PROVIDER_THREADS_H

/*
 * 1 if there is a thread that is neither the calling one nor one of LTTng's (these have names that
 * end in "-ust"), or if that cannot be known. A thread that has begun to exit, which may be some
 * time after who joined it went on, does not count: it runs nothing of the program any more.
 */
int threads_are_others(void);

/* Called once, before threads_watch_main(). */
void threads_init(void);

/* In the main thread, of the child of a fork, too: be there when it ends. In others nothing. */
void threads_watch_main(void);

#endif
