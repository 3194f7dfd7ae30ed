/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/identity/identity.h"
#include "identity_fixture.h"
#include "model/identity/recording_id.h"

static void expect_text(const struct fixture *fixture, uint32_t id, const char *text)
{
	assert_string_equal(string_get(fixture->source.strings, id), text);
}

static void test_identity__gives_a_record_the_generation_of_its_time(void **state)
{
	struct fixture *fixture =
		identity_fixture_define(state, NULL,
	                                "500 7 7 process start_ns=300 rank=2 program=child\n"
	                                "600 7 7 process start_ns=100 rank=1 program=parent\n"
	                                "700 7 7 process start_ns=900 rank=3 program=late\n"
	                                "800 7 7 process start_ns=300 program=child\n");
	static const struct {
		uint64_t clock_ns;
		int32_t rank;
	} cases[] = {{0, 1}, {99, 1}, {100, 1}, {299, 1}, {300, 2}, {899, 2}, {900, 3}, {5000, 3}};

	assert_int_equal(fixture->identity.n_processes, 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct process *process = process_at(fixture, 0, cases[i].clock_ns, 7);

		assert_int_equal(process->rank, cases[i].rank);
		assert_int_equal(process->generation, cases[i].rank - 1);
		assert_true(process->is_defined);
	}
	assert_int_equal(ledger_check(fixture->ledger), 0);
	assert_int_equal(fixture->ledger->warnings[WARNING_DUPLICATE_RANK], 0);
}

static void test_identity__remembers_the_thread_of_a_stream(void **state)
{
	struct fixture *fixture = identity_fixture_define(state, NULL,
	                                                  "1 7 7 process start_ns=100\n"
	                                                  "1 7 7 process start_ns=900\n"
	                                                  "1 8 8 process start_ns=1\n");
	static const struct record records[] = {
		{.clock_ns = 200, .vpid = 7, .vtid = 7},
		{.clock_ns = 300, .vpid = 7, .vtid = 7},
		{.clock_ns = 950, .vpid = 7, .vtid = 7},
		{.clock_ns = 951, .vpid = 8, .vtid = 8},
		{.clock_ns = 952, .vpid = 8, .vtid = 8},
		{.clock_ns = 953, .vpid = 8, .vtid = 9},
		{.clock_ns = 954, .vpid = 9, .vtid = 9},
		{.clock_ns = 955, .vpid = -1, .vtid = -1},
		{.clock_ns = 956, .vpid = -1, .vtid = -1},
		{.clock_ns = 957, .vpid = 8, .vtid = 8},
	};
	const struct stream *stream = fixture->source.set.streams[0];
	struct identity_memo memo = {0};

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		uint32_t expected, thread;

		assert_int_equal(identity_thread_again(&fixture->identity, stream, &records[i],
		                                       &memo, &thread),
		                 0);
		assert_int_equal(
			identity_thread(&fixture->identity, stream, &records[i], &expected), 0);
		assert_int_equal(thread, expected);
	}
}

static void test_identity__takes_the_last_dialect_that_was_chosen(void **state)
{
	static const char text[] = "1 3 3 process start_ns=1 dialect=neutral\n"
				   "2 3 3 process start_ns=1 dialect=cuda\n3 8 8 instant name=x\n"
				   "stream uuid=2 class=1\n3 9 9 instant name=x\n";
	struct fixture *fixture = identity_fixture_define(state, NULL, text);

	for (int32_t pid = 3; pid <= 8; pid += 5)
		assert_int_equal(process_at(fixture, 0, 9, pid)->dialect, DIALECT_CUDA);
	assert_int_equal(process_at(fixture, 1, 9, 9)->dialect, DIALECT_AIU);
}

static void test_identity__never_forgets_what_it_knew_of_a_process(void **state)
{
	struct fixture *fixture = identity_fixture_define(
		state, NULL,
		"1 7 7 process start_ns=1 rank=-1 host=h program=p world_size=4\n"
		"2 7 7 process start_ns=1 rank=3 version=v\n"
		"3 7 7 process start_ns=1 rank=-1\n");
	const struct process *process = process_at(fixture, 0, 0, 7);

	assert_int_equal(fixture->identity.n_processes, 1);
	assert_int_equal(process->rank, 3);
	assert_int_equal(process->world_size, 4);
	expect_text(fixture, process->host, "h");
	expect_text(fixture, process->program, "p");
	expect_text(fixture, process->version, "v");
}

static void test_identity__gives_undefined_processes_their_pid_as_name(void **state)
{
	struct fixture *fixture =
		identity_fixture_define(state, NULL,
	                                "stream uuid=1 host=node1\n"
	                                "1 7 7 process start_ns=1 boot_id=b host=node1\n"
	                                "stream uuid=2 host=node2\nstream uuid=3\n");
	struct process *process = process_at(fixture, 0, 5, 8);

	assert_false(process->is_defined);
	assert_int_equal(process->rank, FLEXTRACE_RANK_UNKNOWN);
	expect_text(fixture, process->program, "pid 8");
	expect_text(fixture, process->host, "node1");
	assert_int_equal(process->host_clock, process_at(fixture, 0, 5, 7)->host_clock);
	assert_ptr_equal(process_at(fixture, 0, 5, 8), process_at(fixture, 0, 9, 8));

	/* Another trace, another host clock; the same number is another process. */
	process = process_at(fixture, 1, 5, 8);
	assert_int_not_equal(process->host_clock, process_at(fixture, 0, 5, 7)->host_clock);
	expect_text(fixture, fixture->identity.host_clocks[process->host_clock].host, "node2");
	process = process_at(fixture, 2, 5, -1);
	expect_text(fixture, process->program, "unknown");
	assert_int_equal(process->host_clock, 2);
	assert_int_equal(fixture->identity.n_processes, 4);

	identity_warn(&fixture->identity, fixture->ledger);
	assert_int_equal(fixture->ledger->warnings[WARNING_NO_DEFINITIONS], 2);
	assert_int_equal(fixture->ledger->warnings[WARNING_NO_CONTEXTS], 1);
}

/* Align wants to know of every process before the first of its host records is looked up. */
static void test_identity__knows_processes_that_only_have_records(void **state)
{
	struct fixture *fixture =
		identity_fixture_define(state, NULL,
	                                "stream uuid=2 host=node2\n"
	                                "1 9 9 step number=1\n2 8 8 step number=1\n"
	                                "3 9 9 step number=2\n"
	                                "stream uuid=1 host=node1\n"
	                                "1 7 7 process start_ns=1\n"
	                                "2 7 7 step number=1\n"
	                                "3 6 6 clock_sync device=0 host_before_ns=1 ticks=1 "
	                                "host_after_ns=2\n");
	static const int32_t vpids[] = {7, 6, 8, 9}; /* defined ones, then by trace and vpid */

	assert_int_equal(fixture->identity.n_processes, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(fixture->identity.processes[i].vpid, vpids[i]);
	assert_int_equal(fixture->identity.n_host_clocks, 2);
	assert_int_equal(fixture->identity.processes[3].host_clock, 1);
}

static void test_identity__tells_host_clocks_by_boot_id_and_time_namespace(void **state)
{
	struct fixture *fixture = identity_fixture_define(
		state, NULL,
		"stream offset=77\n"
		"1 1 1 process start_ns=1 rank=0 boot_id=a time_namespace=1 host=x\n"
		"1 2 2 process start_ns=1 rank=1 boot_id=a time_namespace=1 host=y\n"
		"1 3 3 process start_ns=1 rank=2 boot_id=a time_namespace=2 host=x\n"
		"1 4 4 process start_ns=1 rank=3 boot_id=b time_namespace=1 host=x\n"
		"1 5 5 process start_ns=1 rank=4\n");

	assert_int_equal(fixture->identity.n_host_clocks, 3);
	assert_int_equal(process_at(fixture, 0, 1, 2)->host_clock, 0);
	assert_int_equal(process_at(fixture, 0, 1, 3)->host_clock, 1);
	assert_int_equal(process_at(fixture, 0, 1, 4)->host_clock, 2);
	assert_int_equal(process_at(fixture, 0, 1, 5)->host_clock, 0);
	assert_int_equal(fixture->identity.host_clocks[0].epoch_offset_ns, 77);
	expect_text(fixture, fixture->identity.host_clocks[0].boot_id, "a");
}

/* A program in a time namespace that is 100,000 s ahead of the session daemon's. */
static void test_identity__believes_a_process_of_another_clock_its_own_offset(void **state)
{
	struct fixture *fixture = identity_fixture_define(
		state, NULL,
		"stream offset=1700000000000000000\n"
		"1 1 1 process start_ns=1 rank=0 boot_id=a time_namespace=1 "
		"time_ns=5000000000 real_ns=1700000005000000900\n"
		"1 2 2 process start_ns=1 rank=1 boot_id=a time_namespace=2 "
		"time_ns=100005000000000 real_ns=1700000005000001000\n"
		"1 3 3 process start_ns=1 rank=2 boot_id=b time_namespace=2\n");
	const struct host_clock *clocks = fixture->identity.host_clocks;

	assert_int_equal(fixture->identity.n_host_clocks, 3);
	assert_int_equal(clocks[0].epoch_offset_ns, INT64_C(1700000000000000000));
	assert_false(clocks[0].is_not_recorders);
	assert_int_equal(clocks[1].epoch_offset_ns, INT64_C(1699900000000001000));
	assert_true(clocks[1].is_not_recorders);
	assert_int_equal(clocks[2].epoch_offset_ns, INT64_C(1700000000000000000));
}

/* Namespaces may be less than a second apart. In the one that the system began with, and where
 * none is told, a difference like that is only how long the program waited between two reads. */
static void test_identity__knows_a_clock_that_is_little_off(void **state)
{
	struct fixture *fixture = identity_fixture_define(
		state, NULL,
		"stream offset=1700000000000000000\n"
		"1 1 1 process start_ns=1 rank=0 boot_id=a time_namespace=4026531834 "
		"time_ns=5000000000 real_ns=1700000005300000000\n"
		"1 2 2 process start_ns=1 rank=1 boot_id=a time_namespace=4026532183 "
		"time_ns=5300000000 real_ns=1700000005000000900\n"
		"1 3 3 process start_ns=1 rank=2 boot_id=a time_namespace=4026532184 "
		"time_ns=5000000000 real_ns=1700000005000900000\n"
		"1 4 4 process start_ns=1 rank=3 boot_id=b time_namespace=0 "
		"time_ns=5000000000 real_ns=1700000005300000000\n");
	const struct host_clock *clocks = fixture->identity.host_clocks;

	assert_int_equal(fixture->identity.n_host_clocks, 4);
	assert_int_equal(clocks[0].epoch_offset_ns, INT64_C(1700000000000000000));
	assert_false(clocks[0].is_not_recorders);
	assert_int_equal(clocks[1].epoch_offset_ns, INT64_C(1699999999700000900));
	assert_true(clocks[1].is_not_recorders);
	assert_int_equal(clocks[2].epoch_offset_ns, INT64_C(1700000000000000000));
	assert_false(clocks[2].is_not_recorders);
	assert_false(clocks[3].is_not_recorders);
}

static void test_identity__shares_a_counter_of_equal_uuids_on_one_host_clock(void **state)
{
	struct fixture *fixture = identity_fixture_define(
		state, NULL,
		"1 1 1 process start_ns=1 rank=0 boot_id=a\n"
		"1 2 2 process start_ns=1 rank=1 boot_id=a\n"
		"1 3 3 process start_ns=1 rank=2 boot_id=b\n"
		"1 1 1 clock_domain device=0 domain=0 counter_bits=48 nominal_hz=9000\n"
		"2 1 1 device device=0 uuid=U\n"
		"2 2 2 device device=5 uuid=U\n"
		"2 3 3 device device=0 uuid=U\n"
		"2 1 1 device device=1\n"
		"2 2 2 device device=1\n");
	uint32_t shared = counter_of(fixture, 1, 0, 0);

	assert_int_equal(counter_of(fixture, 2, 5, 0), shared);
	assert_int_not_equal(counter_of(fixture, 3, 0, 0), shared);
	assert_int_not_equal(counter_of(fixture, 1, 0, 1), shared);
	assert_int_equal(counter_of(fixture, 1, 0, 1), counter_of(fixture, 2, 5, 1));
	assert_int_not_equal(counter_of(fixture, 1, 1, 0), counter_of(fixture, 2, 1, 0));
	assert_int_equal(fixture->identity.counters[shared].counter_bits, 48);
	assert_int_equal(fixture->identity.counters[shared].nominal_hz, 9000);
	assert_int_equal(fixture->identity.counters[counter_of(fixture, 1, 1, 0)].counter_bits, 32);
	assert_true(fixture->identity.devices[0].is_defined);
	assert_int_equal(ledger_check(fixture->ledger), 0);
}

static void test_identity__shares_no_counter_between_hosts_of_a_file(void **state)
{
	struct fixture *fixture = identity_fixture_define(
		state, NULL,
		"1 1 1 process start_ns=1 rank=0 host=n1 boot_id=\"imported perfetto 1\"\n"
		"1 2 2 process start_ns=1 rank=1 host=n1 boot_id=\"imported perfetto 1\"\n"
		"1 3 3 process start_ns=1 rank=2 host=n2 boot_id=\"imported perfetto 1\"\n"
		"2 1 1 device device=0 uuid=U\n"
		"2 2 2 device device=0 uuid=U\n"
		"2 3 3 device device=0 uuid=U\n");
	uint32_t shared = counter_of(fixture, 1, 0, 0), other = counter_of(fixture, 3, 0, 0);
	struct rate_lists lists;

	assert_int_equal(counter_of(fixture, 2, 0, 0), shared);
	assert_int_not_equal(other, shared);
	assert_int_equal(identity_list_rates(&fixture->identity, &lists), 0);
	assert_int_equal(lists.first[other], other);
	rate_lists_release(&lists);
}

static void test_identity__lists_counters_of_one_rate(void **state)
{
	struct fixture *fixture = identity_fixture_define(
		state, NULL,
		"1 1 1 process start_ns=1 rank=0 boot_id=a\n"
		"1 2 2 process start_ns=1 rank=1 boot_id=a\n"
		"1 3 3 process start_ns=1 rank=2 boot_id=b\n"
		"2 1 1 device device=0 uuid=U\n"
		"2 2 2 device device=5 uuid=U\n"
		"2 3 3 device device=0 uuid=U\n"
		"2 1 1 device device=1\n"
		"3 1 1 clock_domain device=0 domain=0 counter_bits=32 nominal_hz=9 rate_group=7\n"
		"3 3 3 clock_domain device=0 domain=0 counter_bits=32 nominal_hz=9 rate_group=7\n"
		"3 1 1 clock_domain device=1 domain=0 counter_bits=32 nominal_hz=9 rate_group=7\n"
		"3 2 2 clock_domain device=5 domain=1 counter_bits=32 nominal_hz=9 rate_group=7\n"
		"3 1 1 clock_domain device=0 domain=2 counter_bits=32 nominal_hz=9 rate_group=8\n"
		"3 1 1 clock_domain device=1 domain=1 counter_bits=32 nominal_hz=9 rate_group=7\n");
	uint32_t a = counter_of(fixture, 1, 0, 0), b = counter_of(fixture, 2, 5, 1);
	uint32_t c = counter_of(fixture, 1, 1, 0), d = counter_of(fixture, 1, 1, 1);
	uint32_t alone[] = {counter_of(fixture, 3, 0, 0), counter_of(fixture, 1, 0, 2)};
	struct rate_lists lists;

	assert_int_equal(identity_list_rates(&fixture->identity, &lists), 0);
	assert_int_equal(lists.first[a], a < b ? a : b);
	assert_int_equal(lists.first[b], lists.first[a]);
	assert_int_equal(lists.next[a < b ? a : b], a < b ? b : a);
	assert_int_equal(lists.next[a < b ? b : a], FLEXTRACE_NONE);
	assert_int_equal(lists.first[c], lists.first[d]);
	assert_int_not_equal(lists.first[c], lists.first[a]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(lists.first[alone[i]], alone[i]);
		assert_int_equal(lists.next[alone[i]], FLEXTRACE_NONE);
	}
	rate_lists_release(&lists);
}

static void test_identity__keeps_devices_of_generations_apart(void **state)
{
	struct fixture *fixture = identity_fixture_define(state, NULL,
	                                                  "10 7 7 process start_ns=10\n"
	                                                  "11 7 7 device device=0 name=old\n"
	                                                  "20 7 7 process start_ns=20\n"
	                                                  "21 7 7 device device=0 name=new\n"
	                                                  "22 7 7 thread_name id=70 name=worker\n");

	assert_int_equal(fixture->identity.n_devices, 2);
	expect_text(fixture, fixture->identity.devices[0].name, "old");
	expect_text(fixture, fixture->identity.devices[1].name, "new");
	assert_int_equal(fixture->identity.devices[1].process, 1);
	assert_int_equal(fixture->identity.n_threads, 1);
	assert_int_equal(fixture->identity.threads[0].process, 1);
	assert_int_equal(fixture->identity.threads[0].vtid, 70);
}

static void test_identity__names_threads_queues_and_markers(void **state)
{
	struct fixture *fixture = identity_fixture_define(
		state, NULL,
		"1 7 7 process start_ns=1\n"
		"1 7 7 thread_name id=70 name=worker\n"
		"1 7 7 queue_name device=1 id=3 name=copy\n"
		"1 7 7 marker_name device=1 id=3 name=tile file=f.c line=9\n"
		"2 7 7 thread_name id=70 name=renamed\n");
	const struct record record = {.clock_ns = 5, .vpid = 7, .vtid = 70};
	uint32_t thread, device, other, name, file, line;

	assert_int_equal(identity_thread(&fixture->identity, fixture->source.set.streams[0],
	                                 &record, &thread),
	                 0);
	expect_text(fixture, fixture->identity.threads[thread].name, "renamed");
	assert_int_equal(identity_device(&fixture->identity, 0, 1, &device), 0);
	assert_int_equal(identity_device(&fixture->identity, 0, 2, &other), 0);
	expect_text(fixture, identity_queue_name(&fixture->identity, device, 3), "copy");
	assert_int_equal(identity_queue_name(&fixture->identity, device, 4), 0);
	assert_int_equal(identity_queue_name(&fixture->identity, other, 3), 0);

	/* The image's name is for those that have none. */
	assert_int_equal(identity_name_marker(&fixture->identity, 3, 0, 0, 77), 0);
	assert_true(identity_marker(&fixture->identity, device, 3, &name, &file, &line));
	expect_text(fixture, name, "tile");
	expect_text(fixture, file, "f.c");
	assert_int_equal(line, 9);
	assert_true(identity_marker(&fixture->identity, other, 3, &name, &file, &line));
	assert_int_equal(line, 77);
	assert_false(identity_marker(&fixture->identity, other, 4, &name, &file, &line));
}

static void test_identity__leaves_out_processes_of_another_recording(void **state)
{
	struct fixture *fixture =
		identity_fixture_define(state, "mine",
	                                "1 1 1 process start_ns=1 rank=0 session=mine\n"
	                                "1 2 2 process start_ns=1 rank=0 session=theirs\n"
	                                "1 3 3 process start_ns=1 rank=0\n"
	                                "1 1 1 device device=0\n"
	                                "1 2 2 device device=0\n"
	                                "1 4 4 device device=0\n");

	assert_false(process_at(fixture, 0, 1, 1)->is_excluded);
	assert_true(process_at(fixture, 0, 1, 2)->is_excluded);
	assert_true(process_at(fixture, 0, 1, 3)->is_excluded);
	assert_true(process_at(fixture, 0, 1, 4)->is_excluded);
	assert_int_equal(fixture->identity.n_devices, 1);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_FOREIGN_PROCESS), 4);
	assert_int_equal(fixture->ledger->evidence[RECORD_PROCESS], 1);
	assert_int_equal(ledger_check(fixture->ledger), 0);
	assert_int_equal(fixture->ledger->warnings[WARNING_DUPLICATE_RANK], 0);
}

static void test_identity__keeps_all_where_every_definition_was_lost(void **state)
{
	struct fixture *fixture = identity_fixture_define(state, "mine", "1 4 4 device device=0\n");

	assert_false(process_at(fixture, 0, 1, 4)->is_excluded);
	assert_false(process_at(fixture, 0, 1, 5)->is_excluded);
	assert_int_equal(fixture->identity.n_devices, 1);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_FOREIGN_PROCESS), 0);
	assert_int_equal(ledger_check(fixture->ledger), 0);
}

#define COMMAND "flextrace-app-20261122-221500-77"
#define OTHER   "flextrace-app-20261122-221501-78"
#define START   "flextrace-start-20261122-221500-79"
#define PROCESS "flextrace-process-20261122-221500-80"

/* A program of each recording, one of none, and one that does not tell: in a trace of each. */
static void test_identity__keeps_of_each_trace_the_processes_of_its_recording(void **state)
{
	static const char *const recordings[] = {COMMAND, START, PROCESS, "flextrace-mine", OTHER};
	static const char *const kept[] = {"1000", "0011", "1111", "1111", "0100"};
	struct fixture *fixture = *state;
	char text[4096];
	size_t n = 0;

	for (int i = 0; i < 5; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		                      "stream uuid=%d recording=%s\n"
		                      "1 1 1 process start_ns=1 session=" COMMAND "\n"
		                      "1 2 2 process start_ns=1 session=" OTHER "\n"
		                      "1 3 3 process start_ns=1\n",
		                      i + 1, recordings[i]);
	identity_fixture_define(state, NULL, text);
	for (uint32_t i = 0; i < 5; i++)
		for (int32_t vpid = 1; vpid <= 4; vpid++)
			assert_int_equal(process_at(fixture, i, 1, vpid)->is_excluded,
			                 kept[i][vpid - 1] == '0');
	assert_int_equal(fixture->identity.n_left_out, 6); /* that tell who they are */
}

static void test_identity__keeps_all_recordings_where_that_is_asked(void **state)
{
	struct fixture *fixture =
		identity_fixture_define(state, "all",
	                                "stream recording=" COMMAND "\n"
	                                "1 1 1 process start_ns=1 session=" COMMAND "\n"
	                                "1 2 2 process start_ns=1 session=" OTHER "\n"
	                                "1 3 3 process start_ns=1\n");

	for (int32_t vpid = 1; vpid <= 4; vpid++)
		assert_false(process_at(fixture, 0, 1, vpid)->is_excluded);
}

static void test_identity__keeps_all_of_a_trace_whose_definitions_were_lost(void **state)
{
	struct fixture *fixture =
		identity_fixture_define(state, NULL,
	                                "stream uuid=1 recording=" COMMAND "\n"
	                                "1 1 1 process start_ns=1 session=" COMMAND "\n"
	                                "stream uuid=2 recording=" OTHER "\n"
	                                "1 1 1 device device=0\n");

	assert_false(process_at(fixture, 0, 1, 1)->is_excluded);
	assert_true(process_at(fixture, 0, 1, 2)->is_excluded);
	assert_false(process_at(fixture, 1, 1, 1)->is_excluded);
}

static void test_identity__tells_ids_of_recordings_from_other_names(void **state)
{
	static const char *const ids[] = {COMMAND, "flextrace-a.b_c-20261122-221500-1",
	                                  "flextrace-start_-20261122-221500-1"};
	static const char *const others[] = {"",
	                                     "flextrace-",
	                                     "flextrace-app",
	                                     "flextrace--20261122-221500-1",
	                                     "flextrace-app-20261122-221500-",
	                                     "flextrace-app-2026112x-221500-1x"};

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		assert_int_equal(recording_scope_of(ids[i]), RECORDING_OF_COMMAND);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(recording_scope_of(others[i]), RECORDING_OF_OTHERS);
	assert_int_equal(recording_scope_of(START), RECORDING_OF_RUNNING);
}

static void test_identity__takes_a_process_of_several_traces_for_one(void **state)
{
	struct fixture *fixture =
		identity_fixture_define(state, NULL,
	                                "stream uuid=1\n"
	                                "9 7 7 process pid=7 start_ns=5 boot_id=b rank=1\n"
	                                "9 8 8 process pid=8 start_ns=5 boot_id=b\n"
	                                "stream uuid=2\n"
	                                "9 7 7 process pid=7 start_ns=5 boot_id=b\n"
	                                "9 8 8 process pid=8 start_ns=6 boot_id=b\n"
	                                "20 7 7 process pid=7 start_ns=15 boot_id=b\n"
	                                "stream uuid=3\n"
	                                "9 7 7 process pid=7 start_ns=5 boot_id=other\n"
	                                "9 8 8 process pid=8 start_ns=5\n");

	assert_ptr_equal(process_at(fixture, 0, 9, 7), process_at(fixture, 1, 9, 7));
	assert_true(process_at(fixture, 0, 9, 7)->is_shared);
	assert_int_equal(process_at(fixture, 1, 9, 7)->rank, 1);
	assert_int_equal(process_at(fixture, 1, 20, 7)->generation, 1);
	assert_ptr_not_equal(process_at(fixture, 0, 9, 8), process_at(fixture, 1, 9, 8));
	assert_ptr_not_equal(process_at(fixture, 0, 9, 7), process_at(fixture, 2, 9, 7));
	assert_ptr_not_equal(process_at(fixture, 0, 9, 8), process_at(fixture, 2, 9, 8));
	assert_int_equal(fixture->identity.n_shared, 1);
}

static void test_identity__warns_of_ranks_said_twice(void **state)
{
	struct fixture *fixture = identity_fixture_define(state, NULL,
	                                                  "1 1 1 process start_ns=1 rank=0\n"
	                                                  "1 1 1 process start_ns=9 rank=0\n"
	                                                  "1 2 2 process start_ns=1 rank=1\n"
	                                                  "1 3 3 process start_ns=1 rank=1\n"
	                                                  "1 4 4 process start_ns=1\n"
	                                                  "1 5 5 process start_ns=1\n");

	assert_int_equal(fixture->ledger->warnings[WARNING_DUPLICATE_RANK], 1);
}

/* Without contexts a definition still says its pid; the rows belong to nobody known. */
static void test_identity__defines_processes_of_traces_without_contexts(void **state)
{
	struct fixture *fixture = identity_fixture_define(state, NULL,
	                                                  "1 - - process start_ns=1 rank=4 pid=99\n"
	                                                  "2 - - device device=0 name=d\n");

	assert_int_equal(process_at(fixture, 0, 1, 99)->rank, 4);
	assert_false(process_at(fixture, 0, 1, -1)->is_defined);
	assert_int_equal(fixture->identity.n_processes, 2);
	assert_int_equal(ledger_check(fixture->ledger), 0);
}

/* Half a million definitions of generations, devices, counters, names: hash tables, not lists. */
static void test_identity__survives_hostile_definitions(void **state)
{
	struct fixture *fixture = *state;
	struct text_source *source = &fixture->source;
	struct event event = {.vpid = 1, .vtid = 1};
	const uint32_t n = 100000;

	source->stream = stream_set_add(&source->set);
	for (uint32_t i = 0; i < n; i++) {
		event.clock_ns = i;
		event.class = RECORD_PROCESS;
		event.payload.process = (struct flextrace_process){.rank = (int32_t)i,
		                                                   .start_ns = (uint64_t)(n - i)};
		assert_int_equal(decode_push(&source->decoder, source->stream, &event), 0);
		event.class = RECORD_DEVICE;
		event.payload.device = (struct flextrace_device){.device = UINT32_MAX - i};
		assert_int_equal(decode_push(&source->decoder, source->stream, &event), 0);
		event.class = RECORD_CLOCK_DOMAIN;
		event.payload.clock_domain = (struct flextrace_clock_domain){.device = i << 12,
		                                                             .domain = i << 16};
		assert_int_equal(decode_push(&source->decoder, source->stream, &event), 0);
		event.class = RECORD_MARKER_NAME;
		event.payload.name = (struct flextrace_name){.device = i << 12, .id = i};
		assert_int_equal(decode_push(&source->decoder, source->stream, &event), 0);
	}
	identity_fixture_define(state, NULL, "");
	assert_int_equal(fixture->identity.n_processes, n);
	assert_int_equal(process_at(fixture, 0, n / 2, 1)->start_ns, n / 2);
	assert_int_equal(ledger_check(fixture->ledger), 0);
}

static void test_identity__has_nothing_to_say_of_nothing(void **state)
{
	struct fixture *fixture = identity_fixture_define(state, NULL, "");

	assert_int_equal(fixture->identity.n_processes, 0);
	assert_int_equal(fixture->identity.n_host_clocks, 0);
	identity_warn(&fixture->identity, fixture->ledger);
	assert_int_equal(fixture->ledger->warnings[WARNING_NO_DEFINITIONS], 0);
}

#define TEST(name)                                                                     \
	cmocka_unit_test_setup_teardown(test_identity__##name, identity_fixture_start, \
	                                identity_fixture_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_a_record_the_generation_of_its_time),
		TEST(remembers_the_thread_of_a_stream),
		TEST(never_forgets_what_it_knew_of_a_process),
		TEST(takes_the_last_dialect_that_was_chosen),
		TEST(gives_undefined_processes_their_pid_as_name),
		TEST(knows_processes_that_only_have_records),
		TEST(tells_host_clocks_by_boot_id_and_time_namespace),
		TEST(believes_a_process_of_another_clock_its_own_offset),
		TEST(knows_a_clock_that_is_little_off),
		TEST(shares_a_counter_of_equal_uuids_on_one_host_clock),
		TEST(shares_no_counter_between_hosts_of_a_file),
		TEST(lists_counters_of_one_rate),
		TEST(keeps_devices_of_generations_apart),
		TEST(names_threads_queues_and_markers),
		TEST(leaves_out_processes_of_another_recording),
		TEST(keeps_of_each_trace_the_processes_of_its_recording),
		TEST(keeps_all_recordings_where_that_is_asked),
		TEST(keeps_all_of_a_trace_whose_definitions_were_lost),
		TEST(tells_ids_of_recordings_from_other_names),
		TEST(takes_a_process_of_several_traces_for_one),
		TEST(keeps_all_where_every_definition_was_lost),
		TEST(warns_of_ranks_said_twice),
		TEST(defines_processes_of_traces_without_contexts),
		TEST(survives_hostile_definitions),
		TEST(has_nothing_to_say_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
