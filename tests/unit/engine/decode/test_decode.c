/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/decode/decode.h"
#include "text_source.h"

static void read_text(struct text_source *source, const char *text)
{
	struct flextrace_error error = {0};
	int status = text_source_read(source, text, &error);

	if (status < 0)
		fail_msg("%s", error.message);
}

/* The only record of a table of the only stream. */
static const void *only_record(struct text_source *source, enum record_table table)
{
	struct table_cursor cursor;

	assert_int_equal(source->set.n_streams, 1);
	assert_int_equal(source->set.streams[0]->tables[table].n_rows, 1);
	table_read(&cursor, &source->set.streams[0]->tables[table], false);
	return table_peek(&cursor);
}

static int start(void **state)
{
	*state = malloc(sizeof(struct text_source));
	return text_source_init(*state);
}

static int stop(void **state)
{
	text_source_release(*state);
	free(*state);
	return 0;
}

static void expect_text(const struct text_source *source, uint32_t id, const char *text)
{
	assert_string_equal(string_get(source->strings, id), text);
}

static void test_decode__packs_a_scope(void **state)
{
	const struct record_scope *scope;

	read_text(*state, "900 -5 7 scope begin_ns=800 kind=33 name=\"compile a\" correlation=12 "
	                  "file=a.c line=3");
	scope = only_record(*state, TABLE_HOST);
	assert_int_equal(scope->head.clock_ns, 900);
	assert_int_equal(scope->head.size_bytes, sizeof(*scope));
	assert_int_equal(sizeof(*scope), 64);
	assert_int_equal(scope->head.vpid, -5);
	assert_int_equal(scope->head.vtid, 7);
	assert_int_equal(scope->head.class, RECORD_SCOPE);
	assert_int_equal(scope->head.kind, FLEXTRACE_RUNTIME_COMPILE_GRAPH);
	assert_int_equal(scope->begin_ns, 800);
	assert_int_equal(scope->correlation, 12);
	assert_int_equal(scope->line, 3);
	expect_text(*state, scope->head.name, "compile a");
	expect_text(*state, scope->file, "a.c");
}

static void test_decode__packs_a_device_op(void **state)
{
	static const uint32_t ts[] = {1, 2, 3, 4, 0xffffffff};
	const struct record_device_op *op;

	read_text(*state,
	          "900 1 2 device_op device=4000000000 domain=1 queue=2 job=3 correlation=4 "
	          "kind=1 name=k submit_ns=5 complete_ns=6 ts=1,2,3,4,0xffffffff power=7 "
	          "bytes=8 peer=-1 group=g type=t");
	op = only_record(*state, TABLE_EVIDENCE);
	assert_int_equal(op->device, 4000000000u);
	assert_int_equal(op->domain, 1);
	assert_int_equal(op->queue, 2);
	assert_int_equal(op->job, 3);
	assert_int_equal(op->correlation, 4);
	assert_int_equal(op->head.kind, FLEXTRACE_DEVICE_KERNEL);
	assert_int_equal(op->submit_ns, 5);
	assert_int_equal(op->complete_ns, 6);
	assert_memory_equal(op->ticks32, ts, sizeof(ts));
	assert_int_equal(op->power, 7);
	assert_int_equal(op->bytes, 8);
	assert_int_equal(op->peer, -1);
	expect_text(*state, op->head.name, "k");
	expect_text(*state, op->group, "g");
	expect_text(*state, op->type, "t");
}

static void test_decode__packs_definitions(void **state)
{
	const struct record_process *process;

	read_text(*state, "9 1 2 process start_ns=4 world_size=8 pid=5 time_ns=6 boot_id=b "
	                  "time_namespace=7 host=h program=p runtime=r version=v session=s");
	process = only_record(*state, TABLE_DEFINITIONS);
	assert_int_equal(process->rank, FLEXTRACE_RANK_UNKNOWN);
	assert_int_equal(process->world_size, 8);
	assert_int_equal(process->start_ns, 4);
	assert_int_equal(process->time_namespace, 7);
	expect_text(*state, process->head.name, "p");
	expect_text(*state, process->boot_id, "b");
	expect_text(*state, process->host, "h");
	expect_text(*state, process->runtime, "r");
	expect_text(*state, process->version, "v");
	expect_text(*state, process->session, "s");
}

static void test_decode__packs_marker_words(void **state)
{
	const struct record_marker_batch *batch;

	read_text(*state, "9 1 2 marker_batch device=1 core=2 processor=3 domain=4 first_index=5 "
	                  "dropped=6 words=mark:7:8,anchor_hi:0:0xffffffff");
	batch = only_record(*state, TABLE_EVIDENCE);
	assert_int_equal(batch->head.size_bytes, sizeof(*batch) + 16);
	assert_int_equal(batch->core, 2);
	assert_int_equal(batch->processor, 3);
	assert_int_equal(batch->domain, 4);
	assert_int_equal(batch->first_index, 5);
	assert_int_equal(batch->dropped, 6);
	assert_int_equal(batch->n_words, 2);
	assert_true(batch->words[0] == 0x1000000700000008u);
	assert_true(batch->words[1] == 0xb0000000ffffffffu);
}

static void test_decode__takes_a_batch_without_words(void **state)
{
	const struct record_marker_batch *batch;

	read_text(*state, "9 1 2 marker_batch device=1 first_index=5 dropped=6 words=");
	batch = only_record(*state, TABLE_EVIDENCE);
	assert_int_equal(batch->n_words, 0);
	assert_int_equal(batch->head.size_bytes, sizeof(*batch));
}

static void test_decode__keeps_all_bits_of_wide_stamps(void **state)
{
	const struct record_device_op *op;

	read_text(*state, "9 1 2 device_op device=1 kind=1 ts=1,2,3,4,5 "
	                  "ts64=0,0x100000000,3,4,0xffffffffffffffff");
	op = only_record(*state, TABLE_EVIDENCE);
	assert_int_equal(op->head.size_bytes, sizeof(*op) + 40);
	assert_int_equal(op->ticks64[0], 0);
	assert_true(op->ticks64[1] == UINT64_C(0x100000000));
	assert_true(op->ticks64[4] == UINT64_MAX);
}

static void test_decode__takes_no_room_for_stamps_that_are_not_wide(void **state)
{
	const struct record_device_op *op;

	read_text(*state, "9 1 2 device_op device=1 kind=1 ts=1,2,3,4,5 ts64=0,0,0,0,0");
	op = only_record(*state, TABLE_EVIDENCE);
	assert_int_equal(op->head.size_bytes, sizeof(*op));
	assert_int_equal(op->ticks32[4], 5);
}

/* One line for every class; each member at least once not its default. */
static const char every_class[] =
	"1 1 1 process rank=1 world_size=2 pid=3 start_ns=4 time_ns=5 boot_id=b time_namespace=6\n"
	"2 1 1 device device=1 uuid=u n_cores=2 core_hz=3 name=n power_unit=W\n"
	"3 1 1 clock_domain device=1 domain=2 counter_bits=24 nominal_hz=3 rate_group=4\n"
	"4 1 1 thread_name id=1 name=n\n"
	"5 1 1 queue_name device=1 id=1 name=n\n"
	"6 1 1 marker_name device=1 id=1 name=n file=f line=2\n"
	"7 1 1 scope begin_ns=6\n"
	"8 1 1 scope_args correlation=1 args={}\n"
	"9 1 1 begin kind=34 name=n correlation=1\n"
	"10 1 1 end kind=34 name=n correlation=1\n"
	"11 1 1 async_begin name=n correlation=1\n"
	"12 1 1 async_end name=n correlation=1\n"
	"13 1 1 instant name=n correlation=1\n"
	"14 1 1 counter name=n value=-1.5\n"
	"15 1 1 annotation key=k value=v\n"
	"16 1 1 step number=4\n"
	"17 1 1 window edge=1 name=n\n"
	"18 1 1 memory device=1 address=0x10 bytes=2 op=2\n"
	"19 1 1 op correlation=1 type=t attributes=a n_cores=2 depth=3\n"
	"20 1 1 tensor correlation=1 is_output=1 dims=2x3 layout=l dtype=d memory=m\n"
	"21 1 1 op_info correlation=1 module=m opcode=o op_name=n frames=f\n"
	"22 1 1 device_op device=1 kind=7\n"
	"23 1 1 submit device=1 queue=2 job=3 correlation=4 name=n host_ns=5\n"
	"24 1 1 complete device=1 queue=2 job=3 correlation=4 name=n host_ns=5\n"
	"25 1 1 host_estimate device=1 queue=2 job=3 kind=1 begin_ns=4 end_ns=5 source=s\n"
	"26 1 1 marker_batch device=1 first_index=1 words=mark:1:1\n"
	"27 1 1 clock_sync device=1 domain=2 host_before_ns=3 ticks=4 host_after_ns=5\n"
	"28 1 1 collective group=g seq=1 op=o bytes=2 peers=0,1 phase=1\n"
	"29 1 1 span begin_ns=6 end_ns=7 name=n\n"
	"30 1 1 async_span begin_ns=6 end_ns=7 name=n\n"
	"31 1 1 restored device=1 kind=2 is_part=1 op_kind=1 begin_ns=6 end_ns=7 name=n\n"
	"32 1 1 flow phase=1 id=5 name=n device=1 queue=2\n";

static void test_decode__books_every_class_as_read(void **state)
{
	struct text_source *source = *state;

	read_text(source, every_class);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		assert_int_equal(source->decoder.ledger.read[class], 1);
	assert_int_equal(source->set.streams[0]->losses.n, 0);
	assert_int_equal(source->set.streams[0]->n_events, RECORD_CLASS_COUNT);
	for (int table = 0; table < RECORD_TABLE_COUNT; table++) {
		struct table_cursor cursor;
		const struct record *record;

		table_read(&cursor, &source->set.streams[0]->tables[table], false);
		while ((record = table_peek(&cursor))) {
			assert_int_equal(record->index + 1, record->clock_ns);
			table_next(&cursor, record->size_bytes);
		}
	}
}

static void test_decode__takes_kinds_of_a_newer_version_where_there_is_a_row(void **state)
{
	static const struct {
		const char *line;
		uint32_t n_rows, n_warnings;
	} cases[] = {
		{"1 1 1 scope begin_ns=1 kind=49", 1, 0},
		{"1 1 1 scope begin_ns=1 kind=50", 1, 1},
		{"1 1 1 scope begin_ns=-1 kind=50", 0, 1},
		{"1 1 1 span begin_ns=1 end_ns=1 kind=127", 1, 1},
		{"1 1 1 span begin_ns=1 end_ns=1 kind=128", 0, 0},
		{"1 1 1 async_end kind=64 correlation=1", 1, 1},
		{"1 1 1 device_op device=1 kind=23", 1, 0},
		{"1 1 1 device_op device=1 kind=24", 1, 1},
		{"1 1 1 flow phase=5 id=1", 1, 1},
		{"1 1 1 window edge=2", 0, 1},
		{"1 1 1 restored device=1 kind=127 begin_ns=6 end_ns=7", 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text_source source;
		uint64_t n_rows = 0;

		assert_int_equal(text_source_init(&source), 0);
		read_text(&source, cases[i].line);
		for (int table = 0; table < RECORD_TABLE_COUNT; table++)
			n_rows += source.set.streams[0]->tables[table].n_rows;
		assert_int_equal(n_rows, cases[i].n_rows);
		assert_int_equal(source.decoder.ledger.warnings[WARNING_UNKNOWN_KIND],
		                 cases[i].n_warnings);
		text_source_release(&source);
	}
}

static void test_decode__counts_what_it_cannot_take(void **state)
{
	static const struct {
		const char *line;
		int class;
		enum loss_cause cause;
	} cases[] = {
		{"1 1 1 scope begin_ns=1 kind=128", RECORD_SCOPE, LOSS_MALFORMED},
		{"1 1 1 scope begin_ns=1 kind=132", RECORD_SCOPE, LOSS_MALFORMED}, /* HOST_FLOW */
		{"1 1 1 scope begin_ns=1 kind=256", RECORD_SCOPE, LOSS_MALFORMED},
		{"1 1 1 scope name=x", RECORD_SCOPE, LOSS_MALFORMED},
		{"0x4000000000000000 1 1 scope begin_ns=1", RECORD_SCOPE, LOSS_MALFORMED},
		{"1 1 1 scope begin_ns=-1", RECORD_SCOPE, LOSS_MALFORMED},
		{"1 1 1 device_op device=1 kind=1 submit_ns=-1", RECORD_DEVICE_OP, LOSS_MALFORMED},
		{"1 1 1 device_op device=1 kind=1 complete_ns=-1", RECORD_DEVICE_OP,
	         LOSS_MALFORMED},
		{"1 1 1 submit device=1 job=1 host_ns=-1", RECORD_SUBMIT, LOSS_MALFORMED},
		{"1 1 1 clock_sync device=1 ticks=1 host_before_ns=1 host_after_ns=-1",
	         RECORD_CLOCK_SYNC, LOSS_MALFORMED},
		{"1 1 1 host_estimate device=1 job=1 begin_ns=-1 end_ns=1", RECORD_HOST_ESTIMATE,
	         LOSS_MALFORMED},
		{"1 1 1 process start_ns=-1", RECORD_PROCESS, LOSS_MALFORMED},
		{"1 1 1 async_end kind=128 correlation=1", RECORD_ASYNC_END, LOSS_MALFORMED},
		{"1 1 1 window edge=2", RECORD_WINDOW, LOSS_MALFORMED},
		{"1 1 1 memory address=1 op=3", RECORD_MEMORY, LOSS_MALFORMED},
		{"1 1 1 device_op device=1 kind=128", RECORD_DEVICE_OP, LOSS_MALFORMED},
		{"1 1 1 collective group=g seq=1 phase=2", RECORD_COLLECTIVE, LOSS_MALFORMED},
		{"1 1 1 clock_domain device=1 domain=1 counter_bits=15", RECORD_CLOCK_DOMAIN,
	         LOSS_MALFORMED},
		{"1 1 1 clock_domain device=1 domain=1 counter_bits=65", RECORD_CLOCK_DOMAIN,
	         LOSS_MALFORMED},
		{"1 1 1 unknown", -1, LOSS_UNKNOWN_EVENT},
		{"1 1 1 foreign", -1, LOSS_FOREIGN_EVENT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text_source source;
		const struct ledger *ledger = &source.decoder.ledger;

		assert_int_equal(text_source_init(&source), 0);
		read_text(&source, cases[i].line);
		assert_int_equal(losses_total(&source.set.streams[0]->losses, cases[i].cause), 1);
		assert_int_equal(ledger_check(ledger), 0);
		if (cases[i].class >= 0)
			assert_int_equal(ledger->read[cases[i].class], 1);
		assert_int_equal(ledger->foreign_events, cases[i].cause == LOSS_FOREIGN_EVENT);
		assert_int_equal(source.set.streams[0]->n_events, 1);
		for (int table = 0; table < RECORD_TABLE_COUNT; table++)
			assert_int_equal(source.set.streams[0]->tables[table].n_rows, 0);
		text_source_release(&source);
	}
}

/* A batch larger than any table takes costs itself, not the run. */
static void test_decode__refuses_a_batch_of_a_billion_words(void **state)
{
	struct text_source *source = *state;
	struct stream *stream = stream_set_add(&source->set);
	const uint64_t word = 0;
	const struct event event = {
		.class = RECORD_MARKER_BATCH,
		.payload.marker_batch = {.n_words = 1000000000, .words = &word},
	};

	assert_int_equal(decode_push(&source->decoder, stream, &event), 0);
	assert_int_equal(losses_total(&source->set.streams[0]->losses, LOSS_MALFORMED), 1);
}

static void test_decode__does_not_compare_stamps_with_another_clock(void **state)
{
	struct text_source *source = *state;

	read_text(source, "stream hz=2000000000\n"
	                  "1 1 1 scope begin_ns=1\n"
	                  "2 1 1 clock_sync device=1 host_before_ns=1 ticks=1 host_after_ns=2\n"
	                  "3 1 1 instant name=i\n");
	assert_int_equal(source->decoder.ledger.warnings[WARNING_CLOCK_NOT_1GHZ], 2);
	assert_int_equal(losses_total(&source->set.streams[0]->losses, LOSS_MALFORMED), 2);
	assert_int_equal(((const struct record *)only_record(source, TABLE_HOST))->class,
	                 RECORD_INSTANT);
}

/* Pushes an instant with `n` origins: `file` and `record`, then their neighbours. */
static void push_origins(struct text_source *source, uint32_t n, uint32_t file, uint32_t record)
{
	struct event event = {.class = RECORD_INSTANT, .clock_ns = 1, .n_origins = n};

	event.payload.instant.name = "i";
	for (uint32_t i = 0; i < n; i++)
		event.origins[i] = (struct origin){file, record + i, false};
	assert_int_equal(decode_push(&source->decoder, source->set.streams[0], &event), 0);
}

/* What a copy of a trace may say, too: files that there are not, numbers of origins that nothing
 * has. Each record has a place, and what does not make sense is where the one before was. */
static void test_decode__keeps_origins_of_files(void **state)
{
	static const struct {
		uint32_t n, file, record;
		uint32_t place; /* of its record */
		struct origin expected[1 + ORIGIN_N_PARTS];
	} cases[] = {
		{0, 0, 0, 0, {{0, ORIGIN_NO_RECORD, false}}},
		{1, 1, 7, 1, {{1, 7, false}}},
		{0, 0, 0, 2, {{1, 7, false}}},
		{5,
	         0,
	         10,
	         3,
	         {{0, 10, true}, {0, 11, false}, {0, 12, false}, {0, 13, false}, {0, 14, false}}},
		{0, 0, 0, 8, {{0, 14, false}}},
		{3, 1, 20, 9, {{1, 20, false}}},
		{1, 2, 30, 10, {{1, 20, false}}},
		{5,
	         UINT32_MAX,
	         40,
	         11,
	         {{1, 20, true}, {1, 20, false}, {1, 20, false}, {1, 20, false}, {1, 20, false}}},
		{1, 0, ORIGIN_NO_RECORD, 16, {{0, ORIGIN_NO_RECORD, false}}},
	};
	struct text_source *source = *state;
	struct table_cursor cursor;
	struct stream *stream;

	read_text(source, "");
	stream = stream_set_add(&source->set);
	stream->clock_is_1ghz = true;
	stream->files = calloc(2, sizeof(*stream->files));
	stream->n_files = 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		push_origins(source, cases[i].n, cases[i].file, cases[i].record);
	assert_int_equal(stream->n_events, sizeof(cases) / sizeof(cases[0]));
	table_read(&cursor, &stream->tables[TABLE_HOST], false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct record *record = table_peek(&cursor);

		assert_int_equal(record->index, cases[i].place);
		for (uint32_t j = 0; j < (cases[i].n == 5 ? 5u : 1u); j++) {
			struct origin origin = origins_get(stream->origins, record->index + j);

			assert_int_equal(origin.file, cases[i].expected[j].file);
			assert_int_equal(origin.record, cases[i].expected[j].record);
			assert_int_equal(origin.has_parts, cases[i].expected[j].has_parts);
		}
		table_next(&cursor, record->size_bytes);
	}
}

static void test_decode__counts_indexes_over_all_events(void **state)
{
	const struct record *record;

	read_text(*state,
	          "1 1 1 foreign\n2 1 1 unknown\n3 1 1 scope name=x\n4 1 1 step number=1\n");
	record = only_record(*state, TABLE_HOST);
	assert_int_equal(record->index, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_decode__packs_a_scope, start, stop),
		cmocka_unit_test_setup_teardown(test_decode__packs_a_device_op, start, stop),
		cmocka_unit_test_setup_teardown(test_decode__packs_definitions, start, stop),
		cmocka_unit_test_setup_teardown(test_decode__packs_marker_words, start, stop),
		cmocka_unit_test_setup_teardown(test_decode__takes_a_batch_without_words, start,
	                                        stop),
		cmocka_unit_test_setup_teardown(test_decode__keeps_all_bits_of_wide_stamps, start,
	                                        stop),
		cmocka_unit_test_setup_teardown(
			test_decode__takes_no_room_for_stamps_that_are_not_wide, start, stop),
		cmocka_unit_test_setup_teardown(test_decode__books_every_class_as_read, start,
	                                        stop),
		cmocka_unit_test(test_decode__takes_kinds_of_a_newer_version_where_there_is_a_row),
		cmocka_unit_test(test_decode__counts_what_it_cannot_take),
		cmocka_unit_test_setup_teardown(test_decode__refuses_a_batch_of_a_billion_words,
	                                        start, stop),
		cmocka_unit_test_setup_teardown(
			test_decode__does_not_compare_stamps_with_another_clock, start, stop),
		cmocka_unit_test_setup_teardown(test_decode__keeps_origins_of_files, start, stop),
		cmocka_unit_test_setup_teardown(test_decode__counts_indexes_over_all_events, start,
	                                        stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
