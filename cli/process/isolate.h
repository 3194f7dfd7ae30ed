/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isolate.h: work in a process of its own, so that a crash on bad input ends only that process.
 *
 * babeltrace2's reader of CTF crashes on some damage (see bt2/read/probe.h). A child does the work
 * and the caller sees how it ended.
 *
 * - Signals that end the program are passed on to the child; the caller ends by them after the
 *   child has. If the caller is killed, the child is killed as well.
 * - The child may allocate the memory that the machine can spare: a number in a damaged file must
 *   not cost other programs their memory. (Not with a sanitizer, whose own needs are larger.)
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
