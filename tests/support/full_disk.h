/* SPDX-License-Identifier: Apache-2.0 */
/*
 * full_disk.h: a disk that is full for one file. Link with -Wl,--wrap=write.
 */
#ifndef FLEXTRACE_TESTS_FULL_DISK_H
#define FLEXTRACE_TESTS_FULL_DISK_H

/* From now on nothing can be written to files of this name (weak); NULL: there is room for all. */
void full_disk_for(const char *name);

#endif
