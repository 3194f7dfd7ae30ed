/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h: whether other threads than LTTng's live in this process.
 */
#ifndef FLEXTRACE_PROVIDER_THREADS_H
#define FLEXTRACE_PROVIDER_THREADS_H

/*
 * 1 if there is a thread that is neither the calling one nor one of LTTng's (these have names that
 * end in "-ust"), or if that cannot be known. A thread that has begun to exit, which may be some
 * time after who joined it went on, does not count: it runs nothing of the program any more.
 */
int threads_are_others(void);

/*
 * 1 if the main thread has ended and no other of the program's is left: only LTTng's, and the
 * calling one, which names itself THREADS_NAME so as to count as one of these.
 */
int threads_are_gone(void);

#define THREADS_NAME "flextrace-ust"

#endif
