/* SPDX-License-Identifier: Apache-2.0 */
/* identity_fixture.h: identities of definitions that are written as text. */
#ifndef FLEXTRACE_TESTS_IDENTITY_FIXTURE_H
#define FLEXTRACE_TESTS_IDENTITY_FIXTURE_H

#include "model/identity/identity.h"
#include "text_source.h"

struct fixture {
	struct text_source source;
	struct identity identity;
	struct ledger *ledger; /* weak: the decoder's */
};

/* Set-up and tear-down of a test. */
int identity_fixture_start(void **state);
int identity_fixture_stop(void **state);

/* Reads the definitions of a text for a recording (NULL = all). */
struct fixture *identity_fixture_define(void **state, const char *session, const char *text);

/* The process of a record in the n-th stream. */
struct process *process_at(struct fixture *fixture, uint32_t stream, uint64_t clock_ns,
                           int32_t vpid);

/* The counter of a device of a process. */
uint32_t counter_of(struct fixture *fixture, int32_t vpid, uint32_t device, uint32_t domain);

#endif
