/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_words.h: what LTTng does when the process ends, left undone.
 */
#ifndef FLEXTRACE_PROVIDER_LAST_WORDS_H
#define FLEXTRACE_PROVIDER_LAST_WORDS_H

/*
 * The destructors of LTTng's libraries, and what its headers put into ours, give back what the
 * kernel takes anyway, and do harm:
 *
 * - They wait, with all signals blocked, until no thread is inside of a record: for ever, where a
 *   signal handler that interrupted a record calls exit(), or has jumped out of it.
 * - They cancel LTTng's threads, for which the C library loads a library: where it cannot (behind
 *   chroot, without a free descriptor) it ends the program by abort().
 * - In a child that has left LTTng these threads do not exist, and glibc gives their identifiers to
 *   threads that the child made itself: those would be cancelled.
 *
 * So from exit() on none of these objects has a destructor, but for `last`.
 */
void last_words_init(void (*last)(void));

#endif
