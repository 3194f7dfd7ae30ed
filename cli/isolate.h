/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isolate.h: work in a process of its own, so that what it reads can at most end that.
 *
 * babeltrace2's reader of CTF crashes on some damage (see bt2/probe.h). A child does the work and
 * the caller sees how it ended.
 *
 * - The signals that end a program go on to the child; the caller ends of them after the child
 *   has. A caller that is killed takes the child along.
 * - The child may allocate what the machine has to spare: a number of a damaged file must not cost
 *   other programs their memory. (Not with a sanitizer, whose own needs are larger.)
 */
#ifndef FLEXTRACE_ISOLATE_H
#define FLEXTRACE_ISOLATE_H

#include <stdbool.h>

/* Returns what `work(context)` returned (0..255), or minus the signal that ended it. Where there
 * can be no child, works in the caller. Not for programs with threads. */
int isolate(int (*work)(void *context), void *context);

/* Whether a signal is how a defect ends a program. */
bool isolate_is_crash(int number);

#endif
