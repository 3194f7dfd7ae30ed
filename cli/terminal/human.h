/* SPDX-License-Identifier: Apache-2.0 */
/* human.h: durations and sizes for people: three digits and a unit. */
#ifndef FLEXTRACE_HUMAN_H
#define FLEXTRACE_HUMAN_H

#define HUMAN_BYTES 32

/* Writes "999 ns", "1.23 us", "-45.6 ms" or "789 s " into `text` and returns it. */
const char *human_time(double ns, char text[HUMAN_BYTES]);

/* Writes "999 B ", "1.23 kB", "45.6 MB" or "789 GB" (powers of 1000) into `text` and returns it. */
const char *human_bytes(double n_bytes, char text[HUMAN_BYTES]);

#endif
