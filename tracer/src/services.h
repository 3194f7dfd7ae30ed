/* SPDX-License-Identifier: Apache-2.0 */
/*
 * services.h: what the provider does for the process beside records: threads are made ready, and
 * close(), closefrom() and close_range() of the program leave LTTng's file descriptors alone. These
 * are weak: a program that defines its own keeps that. Without a provider they are the C library's,
 * or those of a library that was preloaded.
 */
#ifndef FLEXTRACE_TRACER_SERVICES_H
#define FLEXTRACE_TRACER_SERVICES_H

#include <flextrace/flextrace.h>

/* Finds the functions that ours stand before. Called once; before that the system's are used. */
void flextrace_i_services_init(void);

/* `services` is weak and lives on; NULL = the provider is an older one. */
void flextrace_i_services_set(const struct flextrace_i_services *services);

/* Counts a record that came before the provider, now or when the services are set. */
void flextrace_i_services_leave_out(void);

#endif
