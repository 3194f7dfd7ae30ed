/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_ops.h: the operations of devices: which took longest, what bounds them, what to do.
 */
#ifndef FLEXTRACE_SUMMARY_OPS_H
#define FLEXTRACE_SUMMARY_OPS_H

#include <stdio.h>

/* Reads device_ops.csv, or ops.csv where that has no line; prints nothing where neither has. */
void summary_print_ops(FILE *to, const char *dir);

#endif
