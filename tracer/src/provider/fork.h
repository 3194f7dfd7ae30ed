/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.h: what becomes of the child of a fork.
 *
 * The child of a process without threads, but for LTTng's own, registers with LTTng as a process of
 * its own. That of a process with threads does not, until it runs another program: registering
 * enters the dynamic loader, whose lists a thread that the fork left behind may have half changed.
 * Its records are refused and counted (admit.h), LTTng's descriptors in it lead nowhere, and its
 * children are such children as well. FLEXTRACE_FORK=register is the word of a program that nobody
 * is in the loader while it forks: its children register all the same. docs/adr/0009 has the why.
 *
 * Where liblttng-ust-fork is preloaded, LTTng does what it does there.
 */
#ifndef FLEXTRACE_PROVIDER_FORK_H
#define FLEXTRACE_PROVIDER_FORK_H

#include <flextrace/flextrace.h>

/* Called once. `identity` is weak and lives on: a child gets a new start time. */
void fork_init(struct flextrace_i_identity *identity, char *(*get)(const char *name));

#endif
