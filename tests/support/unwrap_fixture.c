/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unwrap_fixture.h"

static const char definitions[] =
	"10 1 1 process rank=0 world_size=1 pid=1 start_ns=5 time_ns=10 boot_id=b host=h program=p "
	"runtime=r version=1 session=mine\n"
	"11 2 2 process rank=1 world_size=1 pid=2 start_ns=5 time_ns=10 boot_id=b host=h program=p "
	"runtime=r version=1 session=theirs\n"
	"12 1 1 clock_domain device=0 domain=0 counter_bits=32 nominal_hz=0 rate_group=0\n"
	"12 1 1 clock_domain device=0 domain=7 counter_bits=64 nominal_hz=0 rate_group=0\n";

int fixture_start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	fixture->ledger = &fixture->source.decoder.ledger;
	return text_source_init(&fixture->source);
}

int fixture_stop(void **state)
{
	struct fixture *fixture = *state;

	unwrap_output_release(&fixture->out);
	identity_release(&fixture->identity);
	text_source_release(&fixture->source);
	free(fixture);
	return 0;
}

static void read_all(struct fixture *fixture, enum record_table table, struct unwrap *unwrap)
{
	struct gather gather;
	const struct record *record;
	uint32_t stream;

	assert_int_equal(gather_init(&gather, &fixture->source.set, table, true), 0);
	while (gather_next(&gather, &record, &stream)) {
		const struct stream *of = fixture->source.set.streams[stream];

		if (table == TABLE_DEFINITIONS)
			assert_int_equal(
				identity_push(&fixture->identity, of, record, fixture->ledger), 0);
		else
			assert_int_equal(unwrap_push(unwrap, of, stream, record), 0);
	}
	gather_release(&gather);
}

struct fixture *unwrap_text(void **state, const char *text)
{
	struct fixture *fixture = *state;
	struct flextrace_error error = {0};
	struct unwrap *unwrap;

	if (text_source_read(&fixture->source, definitions, &error) < 0 ||
	    text_source_read(&fixture->source, text, &error) < 0)
		fail_msg("%s", error.message);
	stream_set_sort(&fixture->source.set);
	assert_int_equal(identity_init(&fixture->identity, fixture->source.strings, "mine"), 0);
	read_all(fixture, TABLE_DEFINITIONS, NULL);
	assert_int_equal(identity_finish(&fixture->identity, &fixture->source.set, fixture->ledger),
	                 0);
	unwrap = unwrap_new(&fixture->identity, fixture->ledger);
	assert_non_null(unwrap);
	read_all(fixture, TABLE_EVIDENCE, unwrap);
	assert_int_equal(unwrap_finish(unwrap, &fixture->out, &error), 0);
	unwrap_free(unwrap);
	return fixture;
}

const struct tick_op *op_at(struct fixture *fixture, uint32_t at)
{
	struct table_cursor cursor;

	table_read(&cursor, &fixture->out.ops, false);
	for (uint32_t i = 0; i < at; i++)
		assert_non_null(table_next(&cursor, sizeof(struct tick_op)));
	assert_non_null(table_peek(&cursor));
	return table_next(&cursor, sizeof(struct tick_op));
}

const struct tick_mark *mark_at(struct fixture *fixture, uint32_t at)
{
	struct table_cursor cursor;

	table_read(&cursor, &fixture->out.marks, false);
	for (uint32_t i = 0; i < at; i++)
		assert_non_null(table_next(&cursor, sizeof(struct tick_mark)));
	assert_non_null(table_peek(&cursor));
	return table_next(&cursor, sizeof(struct tick_mark));
}

const struct mark_run *run_of_mark_at(struct fixture *fixture, uint32_t at)
{
	struct table_cursor cursor;
	const struct mark_run *run;

	table_read(&cursor, &fixture->out.mark_runs, false);
	do {
		run = table_next(&cursor, sizeof(*run));
		assert_non_null(run);
		assert_int_not_equal(run->n_marks, 0);
	} while (at >= run->n_marks && (at -= run->n_marks, true));
	return run;
}

const struct bracket *bracket_at(struct fixture *fixture, uint32_t at)
{
	struct table_cursor cursor;

	table_read(&cursor, &fixture->out.brackets, false);
	for (uint32_t i = 0; i < at; i++)
		assert_non_null(table_next(&cursor, sizeof(struct bracket)));
	assert_non_null(table_peek(&cursor));
	return table_next(&cursor, sizeof(struct bracket));
}

const struct sync_point *point_at(struct fixture *fixture, uint32_t at)
{
	struct table_cursor cursor;

	table_read(&cursor, &fixture->out.sync_points, false);
	for (uint32_t i = 0; i < at; i++)
		assert_non_null(table_next(&cursor, sizeof(struct sync_point)));
	assert_non_null(table_peek(&cursor));
	return table_next(&cursor, sizeof(struct sync_point));
}

void add_op(char *text, size_t bytes, uint64_t host_ns, uint64_t ticks, uint32_t job)
{
	size_t used = strlen(text);

	snprintf(text + used, bytes - used,
	         "%llu 1 1 device_op device=0 domain=0 queue=0 job=%u correlation=0 kind=1 name=k "
	         "submit_ns=%llu complete_ns=%llu ts=%u,%u,%u,%u,%u\n",
	         (unsigned long long)host_ns + 10000, job, (unsigned long long)host_ns,
	         (unsigned long long)host_ns + 9000, (uint32_t)(ticks + 3000),
	         (uint32_t)(ticks + 4000), (uint32_t)(ticks + 5000), (uint32_t)(ticks + 6000),
	         (uint32_t)(ticks + 7000));
}
