/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/schema.h"
#include "failing_malloc.h"
#include "pipeline.h"
#include "scratch.h"
#include "text_source.h"
#include "texts.h"

struct run {
	struct text_source source;
	struct pipeline_options options;
	struct pipeline_result result;
	struct flextrace_error error;
	char *dir; /* owned */
};

static int start(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	*state = run;
	run->dir = scratch_dir();
	run->options = (struct pipeline_options){
		.emit = {.output_dir = run->dir, .formats = "text", .n_threads = 1},
		.calibrate = CALIBRATE_OPTIONS_INIT,
		.align = ALIGN_OPTIONS_INIT,
	};
	return text_source_init(&run->source);
}

static int stop(void **state)
{
	struct run *run = *state;

	text_source_release(&run->source);
	scratch_remove(run->dir);
	free(run);
	return 0;
}

static int convert(struct run *run)
{
	return pipeline_run(&run->source.set, run->source.strings, &run->source.decoder.ledger,
	                    &run->options, &run->result, &run->error);
}

static void read_text(struct run *run, const char *text)
{
	if (text_source_read(&run->source, text, &run->error) < 0)
		fail_msg("%s", run->error.message);
}

static void test_pipeline__says_how_to_enable_events_when_there_are_none(void **state)
{
	static const char *const inputs[] = {"", "stream class=1\n", "1 1 1 foreign\n"};

	for (size_t i = 0; i < 3; i++) {
		struct run *run = *state;

		read_text(run, inputs[i]);
		assert_int_equal(convert(run), FLEXTRACE_E_INPUT);
		assert_int_equal(run->error.code, FLEXTRACE_E_INPUT);
		assert_non_null(strstr(run->error.message, "lttng enable-event"));
		assert_false(scratch_has(run->dir, "run.json"));
		assert_false(scratch_has(run->dir, "timeline.txt"));
	}
}

static void test_pipeline__tells_what_it_did(void **state)
{
	struct run *run = *state;

	read_text(run, "stream\nlost lttng_discarded_events 3\nlost lttng_discarded_packets 2\n"
	               "5 1 1 process start_ns=1 rank=0\n"
	               "9 1 1 scope begin_ns=7 name=a\n"
	               "9 1 1 scope begin_ns=11 name=backwards\n"
	               "9 1 1 foreign\n");
	run->options.plain.fail_on_loss.is_set = true;
	run->options.plain.fail_on_loss.value = 6;
	assert_int_equal(convert(run), 0);
	assert_int_equal(run->result.records, 3);
	assert_int_equal(run->result.host_rows, 1);
	assert_int_equal(run->result.device_rows, 0);
	assert_int_equal(run->result.lost, 6);
	assert_false(run->result.is_lossy);
	assert_int_equal(run->source.decoder.ledger.warnings[WARNING_LOST_EVENTS], 5);
	assert_true(scratch_has(run->dir, "timeline.txt"));
	assert_true(scratch_has(run->dir, "run.json"));
}

static void test_pipeline__calls_a_run_lossy_beyond_its_limit(void **state)
{
	struct run *run = *state;

	read_text(run, "stream\nlost lttng_discarded_events 7\n9 1 1 scope begin_ns=7 name=a\n");
	run->options.plain.fail_on_loss.is_set = true;
	run->options.plain.fail_on_loss.value = 6;
	assert_int_equal(convert(run), 0);
	assert_true(run->result.is_lossy);
}

/* Of two processes one has a clock, the other none: what it lost is said first. */
static void test_pipeline__is_lossy_where_no_clock_places_the_work_of_a_process(void **state)
{
	static const char first[] = "\"warnings\":[{\"id\":\"no_device_clock\",\"count\":2,";
	struct run *run = *state;
	char *text, *to;

	read_text(
		run,
		"stream\n"
		"5 1 1 process start_ns=1 rank=0\n5 2 2 process start_ns=1 rank=1\n"
		"20 1 1 device_op device=0 kind=1 name=k ts=1,2,3,4,5\n"
		"30 1 1 device_op device=0 kind=1 name=k ts=11,12,13,14,15\n"
		"40 2 2 device_op device=1 kind=1 name=k ts=1,2,3,4,5 submit_ns=30 complete_ns=40\n"
		"50 2 2 device_op device=1 kind=1 name=k ts=11,12,13,14,15\n");
	run->options.plain.fail_on_loss.is_set = true;
	run->options.plain.fail_on_loss.value = 1000;
	assert_int_equal(convert(run), 0);
	assert_int_equal(run->result.n_without_clock, 2);
	assert_true(run->result.is_lossy);
	text = scratch_read(run->dir, "run.json", NULL);
	assert_non_null(text);
	to = text;
	for (const char *from = text; *from; from++) {
		*to = *from;
		to += *from != ' ' && *from != '\n' && *from != '\t';
	}
	*to = '\0';
	assert_non_null(strstr(text, first));
	free(text);
}

/* LTTng sometimes counts beyond 2^63: the sum of a stream is what it is modulo 2^64. */
static void test_pipeline__books_huge_losses_as_they_are(void **state)
{
	struct run *run = *state;
	const struct ledger *ledger = &run->source.decoder.ledger;

	read_text(
		run,
		"stream\nlost lttng_discarded_events 0x8000000000000001\n9 1 1 scope begin_ns=7\n");
	assert_int_equal(convert(run), 0);
	assert_true(ledger_total(ledger, LOSS_DISCARDED_EVENTS) == 0x8000000000000001u);
	assert_int_equal(ledger->losses.all[0].all.first_ns, INT64_MIN);
}

static void test_pipeline__refuses_names_that_are_no_firmware(void **state)
{
	struct run *run = *state;
	const char *names[] = {"/nonexistent/fw.elf"};

	read_text(run, "9 1 1 scope begin_ns=7\n");
	run->options.plain.names = TEXTS(names, 1);
	assert_int_equal(convert(run), FLEXTRACE_E_INPUT);
	assert_non_null(strstr(run->error.message, names[0]));
	assert_false(scratch_has(run->dir, "timeline.txt"));
}

static void test_pipeline__refuses_an_unknown_format(void **state)
{
	struct run *run = *state;

	read_text(run, "9 1 1 scope begin_ns=7\n");
	run->options.emit.formats = "text,papyrus";
	assert_int_equal(convert(run), FLEXTRACE_E_USAGE);
	assert_false(scratch_has(run->dir, "timeline.txt"));
	assert_false(scratch_has(run->dir, "tables/kernels.csv"));
}

static void test_pipeline__warns_when_only_definitions_were_read(void **state)
{
	struct run *run = *state;

	read_text(run, "9 1 1 process start_ns=7 rank=0\n");
	assert_int_equal(convert(run), 0);
	assert_int_equal(run->source.decoder.ledger.warnings[WARNING_NO_EVENTS], 1);
}

/* -- hostile events ---------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 20;
}

/* Mostly small numbers, so that things meet; now and then any number at all. */
static uint64_t random_value(uint64_t *seed)
{
	static const uint64_t odd[] = {0,          1,          UINT32_MAX, INT64_MAX,
	                               UINT64_MAX, 1ull << 63, 1ull << 32, 0x80000000u};
	uint64_t choice = next_random(seed) % 10;

	if (choice == 0)
		return odd[next_random(seed) % 8];
	if (choice == 1)
		return next_random(seed) << (next_random(seed) % 40);
	if (choice < 4)
		return 1000000 + next_random(seed) % 100000;
	return next_random(seed) % 5;
}

static void random_payload(struct event *event, uint64_t *seed, uint64_t *words)
{
	static const char *const texts[] = {"",  "a",        "b",          "0,1",
	                                    "{", "\xff\xfe", "\"quoted\"", "{\"k\": [1"};
	const struct schema_class *schema = schema_of(event->class);

	for (uint32_t i = 0; i < schema->n_fields; i++) {
		void *at = (char *)&event->payload + schema->fields[i].offset;
		uint64_t value = random_value(seed);

		switch (schema->fields[i].type) {
		case SCHEMA_STRING:
			*(const char **)at = texts[value % 8];
			break;
		case SCHEMA_U64:
			*(uint64_t *)at = value;
			break;
		case SCHEMA_DOUBLE:
			memcpy(at, &value, sizeof(value));
			break;
		case SCHEMA_TS:
			for (int k = 0; k < FLEXTRACE_N_STAMPS; k++)
				((uint32_t *)at)[k] = (uint32_t)random_value(seed);
			break;
		case SCHEMA_TS64:
			for (int k = 0; k < FLEXTRACE_N_STAMPS; k++)
				((uint64_t *)at)[k] = random_value(seed);
			break;
		case SCHEMA_WORDS:
			event->payload.marker_batch.words = words;
			event->payload.marker_batch.n_words = (uint32_t)next_random(seed) % 16;
			for (int k = 0; k < 16; k++)
				words[k] = random_value(seed) << 60 | random_value(seed) << 32 |
				           (uint32_t)random_value(seed);
			break;
		default:
			*(uint32_t *)at = (uint32_t)value;
		}
	}
}

static void read_random_events(struct text_source *source, uint64_t seed, int n)
{
	struct event event;
	uint64_t words[16];

	for (int i = 0; i < n; i++) {
		memset(&event, 0, sizeof(event));
		event.class = (enum record_class)(next_random(&seed) % RECORD_CLASS_COUNT);
		event.clock_ns = 1000000 + (uint64_t)i * 50;
		if (next_random(&seed) % 50 == 0)
			event.clock_ns = random_value(&seed);
		event.vpid = (int32_t)(next_random(&seed) % 4) - 1;
		event.vtid = (int32_t)(next_random(&seed) % 4) - 1;
		random_payload(&event, &seed, words);
		source->stream = source->set.streams[next_random(&seed) % source->set.n_streams];
		assert_int_equal(decode_push(&source->decoder, source->stream, &event), 0);
	}
}

/* Each of these records that is said to be a row is one host row. */
static uint64_t booked_host_rows(const struct ledger *ledger)
{
	return ledger->rows[RECORD_SCOPE] + ledger->rows[RECORD_SPAN] +
	       ledger->rows[RECORD_ASYNC_SPAN] + ledger->rows[RECORD_BEGIN] +
	       ledger->rows[RECORD_ASYNC_BEGIN] + ledger->rows[RECORD_STEP] +
	       ledger->rows[RECORD_WINDOW] + ledger->rows[RECORD_FLOW] +
	       ledger->rows[RECORD_COLLECTIVE];
}

static void test_pipeline__accounts_for_every_hostile_event(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		void *inner;
		struct run *run;

		start(&inner);
		run = inner;
		run->options.emit.formats = "text,chrome,csv";
		run->options.plain.session = seed % 10 == 0 ? "a" : NULL;
		read_text(run, "stream uuid=1\nstream uuid=1 instance=1\nstream uuid=2\n");
		read_random_events(&run->source, seed, seed % 2 ? 3000 : 40);
		if (convert(run) < 0)
			fail_msg("seed %d: %s", (int)seed, run->error.message);
		assert_int_equal(run->result.host_rows,
		                 booked_host_rows(&run->source.decoder.ledger));
		stop(&inner);
	}
}

/* -- no memory --------------------------------------------------------------------------------- */

static const char sample[] =
	"stream uuid=1\n"
	"1 1 1 process start_ns=1 rank=0 boot_id=b host=h program=p\n"
	"2 1 1 device device=0 uuid=u name=d\n"
	"3 1 1 clock_domain device=0 domain=0 nominal_hz=1000000000\n"
	"4 1 1 marker_name device=0 id=1 name=m\n"
	"5 1 1 thread_name id=1 name=t\n"
	"1000 1 1 scope begin_ns=900 name=launch correlation=5\n"
	"1010 1 1 scope_args correlation=6 args=\"{}\"\n"
	"1020 1 1 scope begin_ns=950 name=crosses correlation=6\n"
	"1030 1 1 begin name=b\n"
	"1040 1 1 end name=b\n"
	"1050 1 1 async_begin name=a correlation=1\n"
	"1060 1 1 async_end name=a correlation=1\n"
	"1070 1 1 counter name=c value=1\n"
	"1080 1 1 memory device=0 address=1 bytes=5 op=0\n"
	"1090 1 1 collective group=g seq=1 phase=0\n"
	"1100 1 1 collective group=g seq=1 phase=1\n"
	"3000 1 1 submit device=0 job=1 host_ns=1000\n"
	"3100 1 1 device_op device=0 job=1 correlation=5 kind=1 name=k submit_ns=1000 "
	"complete_ns=2000 "
	"ts=1100,1200,1300,1700,1800 peer=-1\n"
	"3200 1 1 marker_batch device=0 first_index=0 words=run:1:1100,begin:1:1300,mark:1:1400,"
	"end:1:1500\n";

static void test_pipeline__survives_every_failing_allocation(void **state)
{
	uint64_t n = 1;
	bool failed = true;

	(void)state;
	for (; failed; n++) {
		void *inner;
		struct run *run;
		int status;

		start(&inner);
		run = inner;
		run->options.emit.formats = "text,chrome,csv";
		read_text(run, sample);
		failing_malloc_set(n);
		status = convert(run);
		failed = failing_malloc_has_failed();
		failing_malloc_set(0);
		if (failed && status == 0)
			fail_msg("Allocation %d failed and nobody noticed", (int)n);
		if (!failed && status < 0)
			fail_msg("%s", run->error.message);
		if (status < 0) {
			assert_true(run->error.message[0]);
			assert_false(scratch_has(run->dir, "run.json"));
		}
		stop(&inner);
	}
	assert_true(n > 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_pipeline__##name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(says_how_to_enable_events_when_there_are_none),
		TEST(tells_what_it_did),
		TEST(calls_a_run_lossy_beyond_its_limit),
		TEST(is_lossy_where_no_clock_places_the_work_of_a_process),
		TEST(books_huge_losses_as_they_are),
		TEST(refuses_names_that_are_no_firmware),
		TEST(refuses_an_unknown_format),
		TEST(warns_when_only_definitions_were_read),
		cmocka_unit_test(test_pipeline__accounts_for_every_hostile_event),
		cmocka_unit_test(test_pipeline__survives_every_failing_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
