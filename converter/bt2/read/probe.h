/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h: a look at files in a process of its own, which may die of them.
 *
 * babeltrace2's reader of CTF ends the process for some damage: it divides by what metadata says,
 * asserts what a file broke, or asks for more memory than there is. A probe does first, in a child,
 * what the reader is about to do. It costs as much as reading, so that it is done only after a
 * reader died.
 */
#ifndef FLEXTRACE_BT2_PROBE_H
#define FLEXTRACE_BT2_PROBE_H

/* Runs `look(context)` in a child, whose memory is a copy; what it prints is not seen. Returns 0 if
 * it came back, the signal that it died of, or FLEXTRACE_E_SYSTEM: there is no child. */
int probe(void (*look)(void *context), void *context);

#endif
