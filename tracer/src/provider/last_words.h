/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_words.h: what LTTng does when the process ends, left undone.
 */
#ifndef FLEXTRACE_PROVIDER_LAST_WORDS_H
#define FLEXTRACE_PROVIDER_LAST_WORDS_H

/*
 * liblttng-ust's destructor cancels its threads. In a child that has left LTTng these do not exist,
 * and glibc gives their identifiers to threads that the child made itself: those would be
 * cancelled, which ends a C++ program by abort(). So that library has no destructors there, which
 * would only give back what the kernel takes anyway. Called in the child by a destructor of ours,
 * which runs before those of the libraries it needs.
 */
void last_words_skip(void);

#endif
