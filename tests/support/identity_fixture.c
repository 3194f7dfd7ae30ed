/* SPDX-License-Identifier: Apache-2.0 */
#include "identity_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

int identity_fixture_start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	fixture->ledger = &fixture->source.decoder.ledger;
	return text_source_init(&fixture->source);
}

int identity_fixture_stop(void **state)
{
	struct fixture *fixture = *state;

	identity_release(&fixture->identity);
	text_source_release(&fixture->source);
	free(fixture);
	return 0;
}

struct fixture *identity_fixture_define(void **state, const char *session, const char *text)
{
	struct fixture *fixture = *state;
	struct flextrace_error error = {0};
	struct gather gather;
	const struct record *record;
	uint32_t stream;

	if (text_source_read(&fixture->source, text, &error) < 0)
		fail_msg("%s", error.message);
	stream_set_sort(&fixture->source.set);
	assert_int_equal(identity_init(&fixture->identity, fixture->source.strings, session), 0);
	assert_int_equal(gather_init(&gather, &fixture->source.set, TABLE_DEFINITIONS, true), 0);
	while (gather_next(&gather, &record, &stream))
		assert_int_equal(identity_push(&fixture->identity,
		                               fixture->source.set.streams[stream], record,
		                               fixture->ledger),
		                 0);
	gather_release(&gather);
	assert_int_equal(identity_finish(&fixture->identity, &fixture->source.set, fixture->ledger),
	                 0);
	return fixture;
}

struct process *process_at(struct fixture *fixture, uint32_t stream, uint64_t clock_ns,
                           int32_t vpid)
{
	const struct record record = {.clock_ns = clock_ns, .vpid = vpid, .vtid = vpid};
	uint32_t process;

	assert_int_equal(identity_process(&fixture->identity, fixture->source.set.streams[stream],
	                                  &record, &process),
	                 0);
	return &fixture->identity.processes[process];
}

uint32_t counter_of(struct fixture *fixture, int32_t vpid, uint32_t device, uint32_t domain)
{
	uint32_t process =
		(uint32_t)(process_at(fixture, 0, 1000, vpid) - fixture->identity.processes);
	uint32_t counter;

	assert_int_equal(identity_device(&fixture->identity, process, device, &device), 0);
	assert_int_equal(identity_counter(&fixture->identity, device, domain, &counter), 0);
	return counter;
}
