/* SPDX-License-Identifier: Apache-2.0 */
/* What processes counted, against streams that somebody read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/emitted/emitted.h"

static char dir[] = "/tmp/flextrace-emitted-XXXXXX";

static void write_lines(const char *lines)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/" EMITTED_FILE, dir);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(lines, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#define HEADING                                                                                   \
	"when,pid,start_ns,own,here,program,wait_ms,threads,process,scope,late_scope,of_a_later_" \
	"version\n"
#define WHOLE(pid, n)                                                                  \
	"starting\nstarted\nstopping," #pid ",5,1,1,prog,0,0,1," #n ",0,9\nstopping\n" \
	"stopped," #pid ",5,1,1,prog,0,0,1," #n ",0,9\nstopped\n"

/* Books it; stores what was counted by cause, if anybody asks. Returns what is unaccounted. */
static uint64_t book(struct emitted *emitted, const struct stream_set *set,
                     uint64_t totals[LOSS_CAUSE_COUNT])
{
	struct ledger ledger;
	uint64_t n;

	if (!emitted->is_known)
		return 0;
	ledger_init(&ledger);
	for (uint32_t i = 0; i < set->n_streams; i++)
		assert_int_equal(losses_merge(&ledger.losses, &set->streams[i]->losses, i), 0);
	assert_int_equal(emitted_book(emitted, set, &ledger, 0), 0);
	for (int cause = 0; totals && cause < LOSS_CAUSE_COUNT; cause++)
		totals[cause] = ledger_total(&ledger, (enum loss_cause)cause);
	n = ledger_total(&ledger, LOSS_UNACCOUNTED);
	ledger_release(&ledger);
	return n;
}

/* Reads the scopes of each of two pids in a stream of its own. */
static uint64_t compare(const char *lines, uint64_t n_read_of_1, uint64_t n_read_of_2,
                        struct emitted *ret_emitted)
{
	struct stream_process first = {.vpid = 1}, second = {.vpid = 2};
	struct stream streams[2] = {{.processes = &first, .n_processes = n_read_of_1 != 0},
	                            {.processes = &second, .n_processes = n_read_of_2 != 0}};
	struct stream *both[] = {&streams[0], &streams[1]};
	struct stream_set set = {both, 2, 2};
	struct flextrace_error error = {0};

	first.n_read[RECORD_SCOPE] = n_read_of_1;
	second.n_read[RECORD_SCOPE] = n_read_of_2;
	write_lines(lines);
	*ret_emitted = (struct emitted){NULL};
	assert_int_equal(emitted_read(ret_emitted, dir, &error), 0);
	assert_int_equal(emitted_compare(ret_emitted, &set), 0);
	return book(ret_emitted, &set, NULL);
}

static void test_emitted__bounds_what_was_emitted(void **state)
{
	static const struct {
		const char *name, *lines;
		uint64_t n_read, least, most, unaccounted;
	} cases[] = {
		{"all in between", HEADING WHOLE(1, 70), 60, 70, 70, 9 + 2},
		{"more was read than is certain", HEADING WHOLE(1, 70), 80, 70, 70, 1},
		{"had run before",
	         HEADING
	         "starting,1,5,1,1,prog,0,0,1,100,0,0\nstarting\nstarted,1,5,1,1,prog,0,0,1,"
	         "110,0,0\nstarted\n"
	         "stopping,1,5,1,1,prog,0,0,1,150,0,0\nstopping\nstopped,1,5,1,1,prog,0,0,1,"
	         "157,0,0\nstopped\n",
	         40, 40, 57, 0},
		{"replaced by exec, both counts",
	         HEADING WHOLE(1, 70) "stopped,1,6,1,1,prog,0,0,1,5,0,0\nstopping,1,6,1,1,prog,0,0,"
	                              "1,5,0,0\n",
	         75, 75, 75, 2},
		{"the newest line counts",
	         HEADING WHOLE(1, 70) "stopping,1,5,1,1,prog,0,0,1,90,0,0\nstopped,1,5,1,1,prog,0,"
	                              "0,1,91,0,0\n",
	         90, 90, 91, 1},
		{"recorded by others, too",
	         HEADING "stopped,7,5,0,1,prog,0,0,1,1000,0,0\nstopped\n" WHOLE(1, 7), 7, 7, 7, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct emitted emitted;
		uint64_t unaccounted = compare(cases[i].lines, cases[i].n_read, 0, &emitted);

		print_message("%s\n", cases[i].name);
		assert_true(emitted.is_known);
		assert_int_equal(emitted.n, 1);
		assert_int_equal(emitted.processes[0].pid, 1);
		assert_int_equal(emitted.processes[0].least[RECORD_SCOPE], cases[i].least);
		assert_int_equal(emitted.processes[0].most[RECORD_SCOPE], cases[i].most);
		assert_int_equal(emitted.processes[0].read[RECORD_SCOPE], cases[i].n_read);
		/* The `process` record is read nowhere. */
		assert_int_equal(unaccounted, cases[i].unaccounted);
		emitted_release(&emitted);
	}
}

static void test_emitted__knows_processes_of_which_nothing_was_read(void **state)
{
	struct emitted emitted;

	(void)state;
	assert_int_equal(compare(HEADING WHOLE(1, 70), 0, 30, &emitted), 71);
	assert_int_equal(emitted.n, 1);
	assert_int_equal(emitted.n_uncounted, 1);
	emitted_release(&emitted);
}

#define UNRECORDED                                                                       \
	"when,pid,start_ns,own,here,program,wait_ms,threads,scope,unrecorded\n"          \
	"starting,1,5,1,1,ran,0,1,0,7\nstarting\nstarted,1,5,1,1,ran,0,1,0,8\nstarted\n" \
	"stopping,1,5,1,1,ran,0,1,3,20\nstopping,2,6,1,1,only,0,1,0,4\nstopping\n"       \
	"stopped,1,5,1,1,ran,0,1,3,28\nstopped,2,6,1,1,only,0,1,0,4\n"                   \
	"stopped,3,7,0,0,other,0,1,0,9\nstopped\n"

/* Of this recording, from its begin on, also of a program of which nothing else is known. */
static void test_emitted__tells_what_was_not_recorded(void **state)
{
	struct stream_process process = {.vpid = 1, .n_read = {[RECORD_SCOPE] = 3}};
	struct stream stream = {.processes = &process, .n_processes = 1}, *streams[] = {&stream};
	struct stream_set set = {streams, 1, 1};
	struct emitted emitted = {NULL};
	struct ledger ledger;

	(void)state;
	write_lines(UNRECORDED);
	assert_int_equal(emitted_read(&emitted, dir, NULL), 0);
	assert_int_equal(emitted_compare(&emitted, &set), 0);
	ledger_init(&ledger);
	assert_int_equal(emitted_book(&emitted, &set, &ledger, 0), 0);
	assert_int_equal(ledger.warnings[WARNING_UNRECORDED], 20 + 4);
	assert_int_equal(ledger_total(&ledger, LOSS_UNACCOUNTED), 0);
	assert_int_equal(emitted.n, 2);
	ledger_release(&ledger);
	emitted_release(&emitted);
}

#define LATE                                                                                      \
	"all\nstarting\nstarted\nstopping,1,5,0,1,prog,0,0,0,30,20,0\nstopping,3,5,0,1,late,0,0," \
	"0,0,"                                                                                    \
	"8,0\n"                                                                                   \
	"stopping,4,5,0,0,elsewhere,0,0,0,0,8,0\nstopping\nstopped,1,5,0,1,prog,0,0,0,30,20,0\n"  \
	"stopped,3,5,0,1,late,0,0,0,0,8,0\nstopped,4,5,0,0,elsewhere,0,0,0,0,8,0\nstopped\n"

static void test_emitted__tells_who_began_late(void **state)
{
	struct stream_process process = {.vpid = 1, .n_read = {[RECORD_SCOPE] = 29}};
	struct stream stream = {.processes = &process, .n_processes = 1}, *streams[] = {&stream};
	struct stream_set set = {streams, 1, 1};
	struct emitted emitted = {NULL};
	uint64_t totals[LOSS_CAUSE_COUNT];

	(void)state;
	write_lines(HEADING LATE);
	assert_int_equal(emitted_read(&emitted, dir, NULL), 0);
	assert_int_equal(emitted_compare(&emitted, &set), 0);
	assert_int_equal(book(&emitted, &set, totals), 1);
	assert_int_equal(totals[LOSS_BEGAN_LATE], 28);
	assert_int_equal(emitted.n, 2);
	assert_string_equal(emitted.processes[1].program, "late");
	assert_int_equal(emitted.processes[1].late[RECORD_SCOPE], 8);
	assert_int_equal(emitted.balances[EMITTED_EVENTS].missing, 29);
	assert_int_equal(emitted.balances[EMITTED_EVENTS].late, 28);
	emitted_release(&emitted);
}

/* Two processes, one of another recording, share buffers that were full. */
static void test_emitted__does_not_answer_for_other_recordings(void **state)
{
	static const struct {
		uint64_t n_read, n_read_of_other, discarded, unaccounted;
	} cases[] = {
		{70, 69, 0, 0},  /* the other one's is missing */
		{69, 70, 0, 1},  /* ours */
		{60, 50, 30, 0}, /* whose were discarded nobody knows */
		{60, 50, 25, 5}, {70, 50, 3, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream_process read[2] = {
			{.vpid = 1, .n_read = {[RECORD_SCOPE] = cases[i].n_read}},
			{.vpid = 2, .n_read = {[RECORD_SCOPE] = cases[i].n_read_of_other}},
		};
		struct stream stream = {.processes = read, .n_processes = 2},
			      *streams[] = {&stream};
		struct process processes[2] = {{.vpid = 1}, {.vpid = 2, .is_excluded = true}};
		struct identity identity = {.processes = processes, .n_processes = 2};
		const struct loss_span span = {INT64_MIN, INT64_MIN, cases[i].discarded};
		struct stream_set set = {streams, 1, 1};
		struct emitted emitted = {NULL};

		assert_int_equal(
			losses_add(&stream.losses, LOSS_DISCARDED_EVENTS, &LOSS_NOWHERE, &span), 0);
		write_lines(HEADING
		            "all\nstarting\nstarted\nstopping,1,5,1,1,a,0,0,0,70,0,0\n"
		            "stopping,2,5,0,0,b,0,0,0,70,0,0\nstopping\n"
		            "stopped,1,5,1,1,a,0,0,0,70,0,0\nstopped,2,5,0,0,b,0,0,0,70,0,0\n"
		            "stopped\n");
		assert_int_equal(emitted_read(&emitted, dir, NULL), 0);
		assert_int_equal(emitted_compare(&emitted, &set), 0);
		emitted_identify(&emitted, &identity);
		assert_int_equal(book(&emitted, &set, NULL), cases[i].unaccounted);
		emitted_release(&emitted);
		losses_release(&stream.losses);
	}
}

/* Each recording of a host notes the counters of all programs there. */
static void test_emitted__counts_a_program_of_one_recording_once_beside_others(void **state)
{
	static const char *const notes[] = {
		HEADING WHOLE(1, 70),
		HEADING "starting\nstarted\nstopping,1,5,0,1,a,0,0,1,70,0,8\n"
			"stopped,1,5,0,1,a,0,0,1,70,0,8\nstopped\n",
	};

	(void)state;
	for (int first = 0; first < 2; first++) {
		struct stream_process read = {.vpid = 1, .n_read = {[RECORD_SCOPE] = 70}};
		struct stream stream = {.processes = &read, .n_processes = 1},
			      *streams[] = {&stream};
		struct stream_set set = {streams, 1, 1};
		struct emitted emitted = {NULL};

		for (int i = 0; i < 2; i++) {
			write_lines(notes[first ^ i]);
			assert_int_equal(emitted_read(&emitted, dir, NULL), 0);
		}
		assert_int_equal(emitted_compare(&emitted, &set), 0);
		assert_int_equal(emitted.n, 1);
		assert_int_equal(emitted.processes[0].least[RECORD_SCOPE], 70);
		emitted_release(&emitted);
	}
}

/* LTTng counts what it discards behind the last packet, too; by packets 3 are known. */
static void test_emitted__believes_lttngs_total_as_far_as_records_are_missing(void **state)
{
	static const struct {
		const char *told;
		uint64_t discarded, unaccounted;
	} cases[] = {{"", 3, 17},           {"lttng,3\n", 3, 17},  {"lttng,0\n", 3, 17},
	             {"lttng,13\n", 13, 7}, {"lttng,20\n", 20, 0}, {"lttng,999\n", 20, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct loss_span span = {INT64_MIN, INT64_MIN, 3};
		struct stream_process process = {.vpid = 1, .n_read = {[RECORD_SCOPE] = 50}};
		struct stream stream = {.processes = &process, .n_processes = 1},
			      *streams[] = {&stream};
		struct stream_set set = {streams, 1, 1};
		struct emitted emitted = {NULL};
		uint64_t totals[LOSS_CAUSE_COUNT];
		char lines[1024];

		assert_int_equal(
			losses_add(&stream.losses, LOSS_DISCARDED_EVENTS, &LOSS_NOWHERE, &span), 0);
		snprintf(lines, sizeof(lines),
		         HEADING "starting\nstarted\nstopping,1,5,1,1,a,0,0,0,70,0,0\nstopping\n"
		                 "stopped,1,5,1,1,a,0,0,0,70,0,0\n%sstopped\n",
		         cases[i].told);
		write_lines(lines);
		assert_int_equal(emitted_read(&emitted, dir, NULL), 0);
		assert_int_equal(emitted_compare(&emitted, &set), 0);
		assert_int_equal(book(&emitted, &set, totals), cases[i].unaccounted);
		assert_int_equal(totals[LOSS_DISCARDED_EVENTS], cases[i].discarded);
		emitted_release(&emitted);
		losses_release(&stream.losses);
	}
}

static void test_emitted__knows_nothing_of_a_recording_without_an_end(void **state)
{
	static const char *const lines[] = {"", HEADING, HEADING "starting\nstarted\n",
	                                    HEADING
	                                    "starting,1,5,1,1,prog,0,0,1,9,0,0\nstarting\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct emitted emitted;

		assert_int_equal(compare(lines[i], 10, 0, &emitted), 0);
		assert_false(emitted.is_known);
		emitted_release(&emitted);
	}
}

static void test_emitted__refuses_damage_with_its_line(void **state)
{
	static const char *const lines[] = {HEADING "then,1,5,1,1,1,1\n", HEADING "stopped,1\n",
	                                    HEADING "stopped,1,5,1,\"\n", "when\nstopped\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct flextrace_error error = {0};
		struct emitted emitted = {NULL};

		write_lines(lines[i]);
		assert_int_equal(emitted_read(&emitted, dir, &error), FLEXTRACE_E_INPUT);
		assert_non_null(strstr(error.message, EMITTED_FILE));
		emitted_release(&emitted);
	}
}

static void test_emitted__counts_a_recording_that_is_named_twice_once(void **state)
{
	struct stream_process first = {.vpid = 1};
	struct stream stream = {.processes = &first, .n_processes = 1}, *streams[] = {&stream};
	struct stream_set set = {streams, 1, 1};
	struct flextrace_error error = {0};
	struct emitted emitted = {NULL};

	(void)state;
	first.n_read[RECORD_PROCESS] = 1;
	first.n_read[RECORD_SCOPE] = 10;
	write_lines(HEADING WHOLE(1, 10));
	for (int i = 0; i < 2; i++)
		assert_int_equal(emitted_read(&emitted, dir, &error), 0);
	assert_int_equal(emitted_compare(&emitted, &set), 0);
	assert_int_equal(book(&emitted, &set, NULL), 0);
	emitted_release(&emitted);
}

static void test_emitted__is_found_from_the_trace(void **state)
{
	struct emitted emitted = {NULL};
	char path[128];

	(void)state;
	write_lines(HEADING WHOLE(1, 1));
	snprintf(path, sizeof(path), "%s/trace", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(emitted_read(&emitted, path, NULL), 0);
	assert_true(emitted.is_known);
	rmdir(path);
	emitted_release(&emitted);
	snprintf(path, sizeof(path), "%s/elsewhere", dir);
	assert_int_equal(emitted_read(&emitted, path, NULL), 0);
	assert_false(emitted.is_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emitted__bounds_what_was_emitted),
		cmocka_unit_test(test_emitted__knows_processes_of_which_nothing_was_read),
		cmocka_unit_test(test_emitted__tells_what_was_not_recorded),
		cmocka_unit_test(test_emitted__tells_who_began_late),
		cmocka_unit_test(test_emitted__does_not_answer_for_other_recordings),
		cmocka_unit_test(
			test_emitted__counts_a_program_of_one_recording_once_beside_others),
		cmocka_unit_test(test_emitted__believes_lttngs_total_as_far_as_records_are_missing),
		cmocka_unit_test(test_emitted__knows_nothing_of_a_recording_without_an_end),
		cmocka_unit_test(test_emitted__refuses_damage_with_its_line),
		cmocka_unit_test(test_emitted__counts_a_recording_that_is_named_twice_once),
		cmocka_unit_test(test_emitted__is_found_from_the_trace),
	};
	char path[128];
	int code;

	if (!mkdtemp(dir))
		return 1;
	code = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(path, sizeof(path), "%s/" EMITTED_FILE, dir);
	unlink(path);
	rmdir(dir);
	return code;
}
