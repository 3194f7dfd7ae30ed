/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors.h: LTTng's file descriptors stay LTTng's.
 *
 * LTTng writes to numbers that it opened. A program that closes all descriptors, and opens files of
 * its own, would find LTTng's bytes in them. libflextrace gives its close(), closefrom() and
 * close_range() to these functions, which ask LTTng's own table of descriptors: those in it are
 * left open, and the program is told what it would be told if they were not there. LTTng opens them
 * close-on-exec.
 */
#ifndef FLEXTRACE_PROVIDER_DESCRIPTORS_H
#define FLEXTRACE_PROVIDER_DESCRIPTORS_H

/* Called once, before the others, in a thread that LTTng has warmed. */
void descriptors_init(void);

/* close() by way of `real`, or -1 with EBADF. As safe in signal handlers as close(). */
int descriptors_close(int fd, int (*real)(int fd));

/* Closes what the program has open from `first` to `last`. Returns 0, -1 if /proc is not there. */
int descriptors_close_range(unsigned int first, unsigned int last, int (*real)(int fd));

/* In a child that leaves LTTng: what LTTng has open leads to /dev/null from now on. */
void descriptors_leave(void);

#endif
