/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of trace.pftrace depends on the process, the clock and the losses of a timeline; that it has
 * what trace.json has is the matter of tests/perfetto/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/protobuf/perfetto_fields.h"
#include "base/protobuf/protobuf_reader.h"
#include "emit_fixture.h"
#include "scratch.h"

#define FILE_NAME "t.pftrace"

/* Writes and reads it. Owned. */
static char *emit(struct emit_test *test, uint32_t process, struct protobuf *ret_trace)
{
	struct emit_options options = {.output_dir = test->dir, .views = test->views};
	struct flextrace_error error = {0};
	size_t n;
	char *bytes;

	assert_int_equal(emit_pftrace(&test->fixture.findings, &options, process, FILE_NAME,
	                              &test->counts[0], &error),
	                 0);
	bytes = scratch_read(test->dir, FILE_NAME, &n);
	assert_non_null(bytes);
	*ret_trace = (struct protobuf){(uint8_t *)bytes, (uint8_t *)bytes + n};
	return bytes;
}

/* Calls `take` with each value of a path of numbers, which ends with 0, wherever it stands. */
static void each(struct protobuf message, const uint32_t *path,
                 void (*take)(void *context, const struct protobuf_field *field), void *context)
{
	struct protobuf_field field;
	int code;

	while ((code = protobuf_next(&message, &field)) > 0) {
		if (field.number != path[0])
			continue;
		if (path[1])
			each(field.bytes, path + 1, take, context);
		else
			take(context, &field);
	}
	assert_int_equal(code, 0);
}

struct values {
	uint64_t all[4096];
	uint32_t n;
};

static void add_value(void *context, const struct protobuf_field *field)
{
	struct values *values = context;

	assert_true(values->n < 4096);
	values->all[values->n++] = field->value;
}

static void add_hash(void *context, const struct protobuf_field *field)
{
	struct protobuf_field as_number = *field;

	as_number.value = 14695981039346656037u;
	for (const uint8_t *at = field->bytes.at; at < field->bytes.end; at++)
		as_number.value = (as_number.value ^ *at) * 1099511628211u;
	add_value(context, &as_number);
}

#define VALUES(trace, values, ...) \
	each((trace), (const uint32_t[]){TRACE_PACKET, __VA_ARGS__, 0}, add_value, (values))

static void test_pftrace__is_on_the_clock_since_the_epoch(void **state)
{
	static const struct {
		int64_t first_ns, epoch_offset_ns;
		uint64_t real_ns, monotonic_ns;
	} cases[] = {
		{5000, 1787000000000000123, 1787000000000005123, 5000},
		{5000, -4000, 1000, 5000},
		{5000, -6000, 0, 5000}, /* no clock was before it */
		{-7000, 10000, 3000, 3000},
		{-7000, 0, 0, 0},
	};
	struct emit_test *test = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct timeline_fixture *f = &test->fixture;
		struct values ids = {.n = 0}, times = {.n = 0}, since = {.n = 0};
		struct protobuf trace;
		uint32_t track;
		char *bytes;

		timeline_fixture_release(f);
		timeline_fixture_init(f);
		track = fixture_track(
			f, (struct track){.kind = TRACK_THREAD,
		                          .owner = fixture_thread(f, fixture_process(f, 0, 7, "p"),
		                                                  8, "t")});
		fixture_host(
			f, fixture_scope(f, track, "a", cases[i].first_ns, cases[i].first_ns + 10));
		fixture_host(f, fixture_scope(f, track, "b", cases[i].first_ns + 300,
		                              cases[i].first_ns + 300));
		f->alignment.epoch_offset_ns = cases[i].epoch_offset_ns;
		bytes = emit(test, FLEXTRACE_NONE, &trace);
		VALUES(trace, &ids, PACKET_CLOCK_SNAPSHOT, SNAPSHOT_CLOCKS, CLOCK_ID);
		VALUES(trace, &times, PACKET_CLOCK_SNAPSHOT, SNAPSHOT_CLOCKS, CLOCK_TIMESTAMP);
		assert_int_equal(ids.n, 4);
		assert_int_equal(ids.all[0], CLOCK_REALTIME_ID);
		assert_true(times.all[0] == cases[i].real_ns);
		assert_int_equal(ids.all[1], CLOCK_MONOTONIC_ID);
		assert_true(times.all[1] == cases[i].monotonic_ns);
		VALUES(trace, &since, PACKET_TIMESTAMP);
		assert_int_equal(since.n, 4);
		assert_int_equal(since.all[0], 0);
		assert_int_equal(since.all[1], 10);
		assert_int_equal(since.all[2], 290);
		assert_int_equal(since.all[3], 0);
		free(bytes);
	}
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void test_pftrace__tells_files_of_ranks_apart(void **state)
{
	struct emit_test *test = *state;
	struct values uuids = {.n = 0}, flows = {.n = 0};

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t process = i < 2 ? i : FLEXTRACE_NONE, n = uuids.n;
		struct protobuf trace;
		char *bytes = emit(test, process, &trace);

		VALUES(trace, &uuids, PACKET_TRACK_DESCRIPTOR, DESCRIPTOR_UUID);
		VALUES(trace, &flows, PACKET_TRACK_EVENT, TRACK_EVENT_FLOW_IDS);
		assert_int_equal(uuids.all[n], 0); /* the root, which all have */
		uuids.all[n] = uuids.all[--uuids.n];
		free(bytes);
	}
	assert_true(flows.n > 2);
	qsort(uuids.all, uuids.n, sizeof(uuids.all[0]), compare);
	for (uint32_t i = 1; i < uuids.n; i++)
		assert_true(uuids.all[i] != uuids.all[i - 1]);
	qsort(flows.all, flows.n, sizeof(flows.all[0]), compare);
	for (uint32_t i = 1; i < flows.n; i++)
		assert_true(flows.all[i] != flows.all[i - 1]);
}

static void test_pftrace__says_each_text_once(void **state)
{
	static const uint32_t kinds[] = {INTERNED_CATEGORIES, INTERNED_NAMES, INTERNED_KEYS,
	                                 INTERNED_STRINGS};
	struct emit_test *test = *state;
	struct protobuf trace;
	char *bytes = emit(test, FLEXTRACE_NONE, &trace);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const uint32_t path[] = {TRACE_PACKET, PACKET_INTERNED_DATA, kinds[i], TEXT_TEXT,
		                         0};
		struct values hashes = {.n = 0}, iids = {.n = 0};

		each(trace, path, add_hash, &hashes);
		VALUES(trace, &iids, PACKET_INTERNED_DATA, kinds[i], TEXT_IID);
		assert_true(iids.n > 0);
		assert_int_equal(iids.n, hashes.n);
		qsort(hashes.all, hashes.n, sizeof(hashes.all[0]), compare);
		qsort(iids.all, iids.n, sizeof(iids.all[0]), compare);
		assert_true(iids.all[0] > 0);
		for (uint32_t k = 1; k < iids.n; k++) {
			/* a text of ours may be a name of a row, too */
			assert_true(kinds[i] == INTERNED_STRINGS || kinds[i] == INTERNED_NAMES ||
			            hashes.all[k] != hashes.all[k - 1]);
			assert_true(iids.all[k] != iids.all[k - 1]);
		}
	}
	free(bytes);
}

static void test_pftrace__says_that_data_was_lost(void **state)
{
	const struct loss_place place = {0, FLEXTRACE_NONE, FLEXTRACE_NONE, FLEXTRACE_NONE};
	struct emit_test *test = *state;
	struct ledger *ledger = &test->fixture.ledger;

	for (uint32_t i = 0; i < 3; i++) {
		struct values lost = {.n = 0};
		struct protobuf trace;
		char *bytes;

		if (i == 1)
			ledger_lose(ledger, LOSS_UNUSED, &place, 5, 100); /* no loss */
		if (i == 2)
			ledger_lose(ledger, LOSS_DISCARDED_EVENTS, &place, 300, 100);
		bytes = emit(test, FLEXTRACE_NONE, &trace);
		VALUES(trace, &lost, PACKET_TRACE_STATS, STATS_BUFFERS, BUFFER_PACKET_LOSS);
		assert_int_equal(lost.n, i == 2);
		assert_int_equal(lost.all[0], i == 2 ? 300 : 0);
		free(bytes);
	}
}

/* Of what no record tells the rank of, each rank may have lost it whose trace it was. */
static void test_pftrace__of_a_rank_says_what_may_be_lost_of_it(void **state)
{
	const struct loss_place places[] = {
		{0, FLEXTRACE_NONE, FLEXTRACE_NONE, FLEXTRACE_NONE},
		{1, 0, FLEXTRACE_NONE, FLEXTRACE_NONE},
		{FLEXTRACE_NONE, FLEXTRACE_NONE, FLEXTRACE_NONE, 0},
		LOSS_NOWHERE,
	};
	static const struct {
		uint32_t process;
		uint64_t n_lost, n_lines;
	} cases[] = {{FLEXTRACE_NONE, 1111, 4}, {0, 1101, 3}, {1, 1110, 3}, {2, 1000, 1}};
	struct emit_test *test = *state;
	struct timeline_fixture *f = &test->fixture;

	for (int32_t rank = 0; rank < 3; rank++)
		fixture_process(f, rank, 7, "p");
	f->identity.processes[2].trace = 1; /* of another one than stream 0 */
	for (uint64_t i = 0, n = 1; i < 4; i++, n *= 10)
		ledger_lose(&f->ledger, LOSS_DISCARDED_EVENTS, &places[i], n, 100);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct values lost = {.n = 0}, types = {.n = 0};
		struct protobuf trace;
		char *bytes = emit(test, cases[i].process, &trace);

		VALUES(trace, &lost, PACKET_TRACE_STATS, STATS_BUFFERS, BUFFER_PACKET_LOSS);
		assert_int_equal(lost.n, 1);
		assert_int_equal(lost.all[0], cases[i].n_lost);
		VALUES(trace, &types, PACKET_TRACK_EVENT, TRACK_EVENT_TYPE);
		assert_int_equal(types.n, 2 * cases[i].n_lines); /* an interval on each */
		free(bytes);
	}
}

static uint32_t add_row(struct timeline_fixture *f, int32_t rank, const char *host)
{
	uint32_t process = fixture_process(f, rank, 7, "p"), track;

	f->identity.processes[process].host = fixture_string(f, host);
	track = fixture_track(f, (struct track){.kind = TRACK_THREAD,
	                                        .owner = fixture_thread(f, process, 8, "t")});
	fixture_host(f, fixture_scope(f, track, "a", 5000 + rank, 5100));
	return track;
}

/* Viewers draw no arrow from machine to machine. */
static void test_pftrace__hosts_are_machines_unless_an_arrow_leads_from_one_to_another(void **state)
{
	static const struct {
		const char *hosts[3];
		uint32_t from, to; /* of an arrow, if they differ */
		int64_t arrives_ns;
		const char *types;
		uint64_t n_machines;
	} cases[] = {
		{{"one", "one", "one"}, 0, 1, 5050, NULL, 0},
		{{"one", "two", "one"}, 0, 0, 0, NULL, 2},
		{{"one", "two", "one"}, 0, 2, 5050, NULL, 2},
		{{"one", "two", "one"}, 0, 1, 5050, NULL, 0},
		{{"one", "two", "one"}, 0, 1, 5050, "XC", 2}, /* it is not drawn */
		{{"one", "two", "one"}, 0, 1, 4000, NULL, 2}, /* nor is this */
		{{"one", "two", ""}, 0, 0, 0, NULL, 3},
	};
	struct emit_test *test = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct values machines = {.n = 0}, flows = {.n = 0}, names = {.n = 0};
		struct timeline_fixture *f = &test->fixture;
		uint32_t tracks[3], n_distinct = 0;
		struct protobuf trace;
		char *bytes;

		timeline_fixture_release(f);
		timeline_fixture_init(f);
		for (uint32_t rank = 0; rank < 3; rank++)
			tracks[rank] = add_row(f, (int32_t)rank, cases[i].hosts[rank]);
		if (cases[i].from != cases[i].to)
			fixture_flow(f, (struct flow){.from_time_ns = 5010,
			                              .to_time_ns = cases[i].arrives_ns,
			                              .from_track = tracks[cases[i].from],
			                              .to_track = tracks[cases[i].to] & 127});
		test->views.types = cases[i].types;
		bytes = emit(test, FLEXTRACE_NONE, &trace);
		VALUES(trace, &machines, PACKET_MACHINE_ID);
		VALUES(trace, &names, PACKET_SYSTEM_INFO, SYSTEM_INFO_MACHINE_NAME);
		VALUES(trace, &flows, PACKET_TRACK_EVENT, TRACK_EVENT_TERMINATING_FLOW_IDS);
		qsort(machines.all, machines.n, sizeof(machines.all[0]), compare);
		for (uint32_t k = 0; k < machines.n; k++)
			n_distinct += !k || machines.all[k] != machines.all[k - 1];
		assert_int_equal(n_distinct, cases[i].n_machines);
		assert_int_equal(names.n, n_distinct < 3 ? n_distinct : 2); /* "" is no name */
		assert_int_equal(flows.n, test->counts[0].arrows);
		free(bytes);
		/* a rank is of one host, as the manifest of an archive says */
		bytes = emit(test, 1, &trace);
		machines.n = 0;
		VALUES(trace, &machines, PACKET_MACHINE_ID);
		assert_int_equal(machines.n, 0);
		free(bytes);
	}
	test->views.types = NULL;
}

static void count_thread(void *context, const struct protobuf_field *packet)
{
	static const uint32_t threads[] = {PACKET_TRACK_DESCRIPTOR, DESCRIPTOR_THREAD, THREAD_TID,
	                                   0};
	static const uint32_t sequences[] = {PACKET_SEQUENCE_ID, 0};
	struct values tids = {.n = 0}, ids = {.n = 0};
	uint32_t *n = context;

	each(packet->bytes, threads, add_value, &tids);
	each(packet->bytes, sequences, add_value, &ids);
	*n += tids.n;
	assert_int_equal(tids.n + ids.n, 1);
}

/* Viewers would take the last thread of a sequence for that of what is on no thread. */
static void test_pftrace__threads_are_of_no_sequence(void **state)
{
	struct emit_test *test = *state;
	struct protobuf trace;
	uint32_t n = 0;
	char *bytes;

	add_row(&test->fixture, 0, "a");
	add_row(&test->fixture, 1, "b"); /* of another machine */
	bytes = emit(test, FLEXTRACE_NONE, &trace);
	each(trace, (const uint32_t[]){TRACE_PACKET, 0}, count_thread, &n);
	assert_int_equal(n, 2);
	free(bytes);
}

static void test_pftrace__empty_lists_keep_their_places(void **state)
{
	struct emit_test *test = *state;
	struct timeline_fixture *f = &test->fixture;
	uint32_t track = add_row(f, 0, "a");
	struct values nothing = {.n = 0}, elements = {.n = 0};
	struct host_row scope = fixture_scope(f, track, "b", 6000, 6100);
	struct protobuf trace;
	char *bytes;

	scope.args = fixture_string(f, "{\"sizes\":[[1],[],{ },[2]],\"none\":[ ]}");
	fixture_host(f, scope);
	bytes = emit(test, FLEXTRACE_NONE, &trace);
	VALUES(trace, &elements, PACKET_TRACK_EVENT, TRACK_EVENT_ANNOTATIONS, ANNOTATION_DICT,
	       ANNOTATION_ARRAY);
	each(trace,
	     (const uint32_t[]){TRACE_PACKET, PACKET_TRACK_EVENT, TRACK_EVENT_ANNOTATIONS,
	                        ANNOTATION_DICT, ANNOTATION_ARRAY, ANNOTATION_LEGACY_JSON, 0},
	     add_hash, &nothing);
	assert_int_equal(elements.n, 4);
	assert_int_equal(nothing.n, 2);
	assert_true(nothing.all[0] != nothing.all[1]); /* [] is no {} */
	free(bytes);
}

/* Perfetto drops begins of what is deeper, and no ends: what is around it would end early. */
static void test_pftrace__what_is_too_deep_is_on_another_track(void **state)
{
	struct emit_test *test = *state;
	struct timeline_fixture *f = &test->fixture;
	struct values on = {.n = 0};
	struct protobuf trace;
	uint32_t track = add_row(f, 0, "a"), n_deep = 0;
	char *bytes;

	for (int i = 0; i < 515; i++)
		fixture_host(f, fixture_scope(f, track, "b", 6000 + i, 9000 - i));
	fixture_host(f, fixture_scope(f, track, "c", 9500, 9600));
	bytes = emit(test, FLEXTRACE_NONE, &trace);
	VALUES(trace, &on, PACKET_TRACK_EVENT, TRACK_EVENT_TRACK_UUID);
	assert_int_equal(on.n, 2 * (1 + 515 + 1));
	for (uint32_t i = 0; i < on.n; i++) {
		bool is_deep = on.all[i] != on.all[0];

		n_deep += is_deep;
		/* begins of the three innermost ones, then their ends */
		assert_int_equal(is_deep, i >= 2 + 512 && i < 2 + 512 + 6);
	}
	assert_int_equal(n_deep, 6);
	free(bytes);
}

static void test_pftrace__ranks_of_tracks_are_no_negative_numbers(void **state)
{
	struct emit_test *test = *state;

	for (uint32_t i = 0; i < 2; i++) {
		struct values ranks = {.n = 0};
		struct protobuf trace;
		char *bytes = emit(test, i ? FLEXTRACE_NONE : 0, &trace);

		VALUES(trace, &ranks, PACKET_TRACK_DESCRIPTOR, DESCRIPTOR_SIBLING_ORDER_RANK);
		assert_true(ranks.n > 3);
		for (uint32_t k = 0; k < ranks.n; k++)
			assert_true(ranks.all[k] <= INT32_MAX);
		free(bytes);
	}
}

static void test_pftrace__of_nothing_is_a_file(void **state)
{
	struct emit_test *test = *state;
	struct values events = {.n = 0}, clocks = {.n = 0};
	struct protobuf trace;
	char *bytes = emit(test, FLEXTRACE_NONE, &trace);

	VALUES(trace, &events, PACKET_TRACK_EVENT);
	VALUES(trace, &clocks, PACKET_CLOCK_SNAPSHOT);
	assert_int_equal(events.n, 0);
	assert_int_equal(clocks.n, 1);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EMPTY(test_pftrace__is_on_the_clock_since_the_epoch),
		SAMPLE(test_pftrace__tells_files_of_ranks_apart),
		SAMPLE(test_pftrace__says_each_text_once),
		EMPTY(test_pftrace__says_that_data_was_lost),
		EMPTY(test_pftrace__of_a_rank_says_what_may_be_lost_of_it),
		EMPTY(test_pftrace__hosts_are_machines_unless_an_arrow_leads_from_one_to_another),
		SAMPLE(test_pftrace__ranks_of_tracks_are_no_negative_numbers),
		EMPTY(test_pftrace__what_is_too_deep_is_on_another_track),
		EMPTY(test_pftrace__threads_are_of_no_sequence),
		EMPTY(test_pftrace__empty_lists_keep_their_places),
		EMPTY(test_pftrace__of_nothing_is_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
