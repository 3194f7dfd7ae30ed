/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrappers.h: close(), closefrom() and close_range() of the program, which leave LTTng's file
 * descriptors alone. They are weak: a program that defines its own keeps that. Without a provider
 * they are the C library's, or those of a library that was preloaded.
 */
#ifndef FLEXTRACE_TRACER_WRAPPERS_H
#define FLEXTRACE_TRACER_WRAPPERS_H

/* Finds the functions that ours stand before. Called once; before that the system's are used. */
void flextrace_i_wrappers_init(void);

#endif
