/* SPDX-License-Identifier: Apache-2.0 */
/* AIE traces as raw words: every command, damage, and two real traces with their golden values. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <cjson/cJSON.h>

#include "aie_fixture.h"
#include "formats/aie/aie_impl.h"
#include "imports.h"
#include "scratch.h"

#define HEADER       0x00220001u /* the core of tile 2,1 */
#define MAX_BYTES    512
#define PACKET_BYTES 28 /* of commands */

#define SLOTS                                                             \
	"{\"row\":2,\"column_in_trace\":1,\"units\":[{\"unit\":\"core\"," \
	"\"event_numbers_slot_0_to_7\":[33,34,37,75,79,44,45,26]}]}"

/* Bytes of commands as packets of words, owned: fillers up to the word's end, then zeroes. */
static char *words_of(const char *commands)
{
	uint8_t bytes[MAX_BYTES] = {0};
	unsigned int byte, n = 0;
	size_t n_bytes;
	char *text;
	FILE *file = open_memstream(&text, &n_bytes);
	int length;

	assert_non_null(file);
	for (; sscanf(commands, " %2x%n", &byte, &length) == 1; commands += length)
		bytes[n++] = (uint8_t)byte;
	while (n % 4)
		bytes[n++] = 0xfe;
	for (unsigned int at = 0; at < n; at += PACKET_BYTES) {
		fprintf(file, "%08x\n", HEADER);
		for (unsigned int i = at; i < at + PACKET_BYTES; i += 4)
			fprintf(file, "%02x%02x%02x%02x\n", bytes[i], bytes[i + 1], bytes[i + 2],
			        bytes[i + 3]);
	}
	assert_int_equal(fclose(file), 0);
	return text;
}

static struct flex_run *convert_text(void **state, const char *text, const char *slots)
{
	struct flex_run *run;

	flex_stop(state);
	assert_int_equal(flex_start(state), 0);
	run = *state;
	flex_add_file(run, "trace.txt", text);
	if (slots)
		flex_add_file(run, "event_slots.json", slots);
	flex_convert(run);
	return run;
}

static struct flex_run *convert(void **state, const char *commands)
{
	char *text = words_of(commands);
	struct flex_run *run = convert_text(state, text, SLOTS);

	free(text);
	return run;
}

static void check_rows(const struct flex_run *run, const char *device, const char *expected)
{
	char *rows = aie_rows(run, device);

	assert_string_equal(rows, expected);
	free(rows);
}

/* -- commands -------------------------------------------------------------------------------- */

#define START "f000000000001000 "

struct command_case {
	const char *commands, *rows;
};

/* `3f` raises slot 3 (PORT_RUNNING_0) 16 cycles later. */
static const struct command_case command_cases[] = {
	{START "25 3f", "INSTR_VECTOR 6-7; PORT_RUNNING_0 22-22 open; "},
	{START "8901 3f", "INSTR_VECTOR 258-259; PORT_RUNNING_0 274-274 open; "},
	{START "a90001 3f", "INSTR_VECTOR 65538-65539; PORT_RUNNING_0 65554-65554 open; "},
	{START "c845 3f", "INSTR_VECTOR 6-7; LOCK_STALL 6-7; PORT_RUNNING_0 22-22 open; "},
	{START "d21101 3f",
         "INSTR_VECTOR 258-259; LOCK_STALL 258-259; PORT_RUNNING_0 274-274 open; "},
	{START "d6110001 3f",
         "INSTR_VECTOR 65538-65539; LOCK_STALL 65538-65539; PORT_RUNNING_0 65554-65554 open; "},
	/* what comes every cycle is one state */
	{START "70 70 70 3f", "LOCK_STALL 1-4; PORT_RUNNING_0 19-19 open; "},
	{START "70 e5 3f", "LOCK_STALL 1-7; PORT_RUNNING_0 22-22 open; "},
	{START "70 d900 3f", "LOCK_STALL 1-258; PORT_RUNNING_0 273-273 open; "},
	{START "23 e2 3f", "INSTR_VECTOR 4-5; INSTR_VECTOR 8-9; INSTR_VECTOR 12-13; "
                           "PORT_RUNNING_0 28-28 open; "},
	/* one of two goes on */
	{START "c840 70 3f", "LOCK_STALL 1-3; INSTR_VECTOR 1-2; PORT_RUNNING_0 18-18 open; "},
	/* 2^18 cycles without an event */
	{START "70 ff 3f", "LOCK_STALL 1-2; PORT_RUNNING_0 262161-262161 open; "},
	{START "70 ff ff 3f", "LOCK_STALL 1-2; PORT_RUNNING_0 524305-524305 open; "},
	/* a later start tells how late it is; one that is not later tells nothing */
	{START "70 f0000000000013e8 3f", "LOCK_STALL 1-2; PORT_RUNNING_0 1016-1016 open; "},
	{START "70 f000000000000005 3f", "LOCK_STALL 1-2; PORT_RUNNING_0 17-17 open; "},
	/* fillers, commands of other modes, and a command across words */
	{START "fe fe 25 fe dc010203 3f", "INSTR_VECTOR 6-7; PORT_RUNNING_0 22-22 open; "},
	{START "fefefe 8901 3f", "INSTR_VECTOR 258-259; PORT_RUNNING_0 274-274 open; "},
	/* and one across packets: 8 + 19 bytes before it */
	{START "fefefefefefefefefefefefefefefefefefefe 8901 3f",
         "INSTR_VECTOR 258-259; PORT_RUNNING_0 274-274 open; "},
};

static void test_aie_words__decodes_every_command(void **state)
{
	for (size_t i = 0; i < sizeof(command_cases) / sizeof(*command_cases); i++) {
		struct flex_run *run = convert(state, command_cases[i].commands);

		check_rows(run, "0", command_cases[i].rows);
		assert_int_equal(aie_lost(run, LOSS_MALFORMED), 0);
		assert_int_equal(aie_lost(run, LOSS_UNMATCHED_END), 0);
	}
}

/* The timers of an array began together: 0x1000 cycles at 1.25 GHz are 3277 ns. */
static void test_aie_words__places_units_by_their_timers(void **state)
{
	struct flex_run *run = convert(state, START "25 3f");

	assert_in_range(flex_number(&run->events, 0, "start_ns"), 3281, 3282);
}

/* -- damage ---------------------------------------------------------------------------------- */

static char *spoil(const char *commands, const char *from, const char *to)
{
	char *text = words_of(commands), *at = strstr(text, from);

	assert_non_null(at);
	memcpy(at, to, strlen(to));
	return text;
}

static void test_aie_words__counts_bytes_that_are_no_command(void **state)
{
	struct flex_run *run = convert(state, START "25 f1 3f");

	check_rows(run, "0", "INSTR_VECTOR 6-7; PORT_RUNNING_0 22-22 open; ");
	assert_int_equal(aie_lost(run, LOSS_MALFORMED), 1);
	assert_non_null(strstr(run->warnings, "no command"));
}

/* 28 bytes fill a packet; the second one is spoilt. */
#define TWO_PACKETS START "25 fefefefefefefefefefefefefefefefefefefe 3f 3f"

static void test_aie_words__loses_no_more_than_the_bad_packet(void **state)
{
	static const struct {
		const char *from, *to, *warning;
	} cases[] = {
		{"3f3ffefe", "3f3fxxfe", "a word has not eight digits"},
		{"3f3ffefe", "3f3f fef", "a word has not eight digits"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = spoil(TWO_PACKETS, cases[i].from, cases[i].to);
		struct flex_run *run = convert_text(state, text, SLOTS);

		free(text);
		check_rows(run, "0", "INSTR_VECTOR 6-6 open; ");
		assert_in_range(aie_lost(run, LOSS_MALFORMED), 1, 2);
		assert_non_null(strstr(run->warnings, cases[i].warning));
	}
}

static int count_edge(void *context, uint32_t slot, bool is_rise, uint64_t cycle)
{
	uint64_t *n_edges = context;

	(void)slot;
	(void)is_rise;
	(void)cycle;
	++*n_edges;
	return 0;
}

/* Single 0 of slot 1 with 5 cycles in front, then 1023 repeats of it. */
static void test_aie_words__repeats_no_more_than_the_limit(void **state)
{
	static const uint64_t before[] = {0, AIE_MAX_REPEATED - 2046, AIE_MAX_REPEATED - 2045};
	uint64_t cycle = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		uint64_t n_edges = 0, n_repeated = before[i];
		const struct aie_sink sink = {count_edge, &n_edges, &n_repeated};
		struct aie_decoder decoder = {0};

		assert_int_equal(aie_decode_word(&decoder, 0x15dbfffe, &sink), 0);
		assert_int_equal(n_edges, i < 2 ? 1 + 2 * 1023 : 1);
		assert_int_equal(decoder.n_untold, i < 2 ? 0 : 1023);
		cycle = i ? cycle : decoder.cycle;
		assert_int_equal(decoder.cycle, cycle);
	}
}

static void test_aie_words__takes_no_more_units_than_the_limit(void **state)
{
	struct flex_run *run = *state;
	size_t n_bytes = (AIE_MAX_UNITS + 1) * 8 * 9 + 1;
	char *text = malloc(n_bytes), *at = text;

	assert_non_null(text);
	for (uint32_t i = 0; i <= AIE_MAX_UNITS; i++) {
		uint32_t header = i % 128 << 21 | i / 1024 % 2 << 20 | i / 128 % 8 << 16 |
		                  i / 2048 << 12;

		header |= __builtin_parity(header) ? 0 : 1; /* an odd number of bits */
		at += sprintf(at, "%08x\nf0000000\n00001000\n15fefefe\n", header);
		for (int word = 0; word < 4; word++)
			at += sprintf(at, "fefefefe\n");
	}
	flex_add_file(run, "trace.txt", text);
	free(text);
	flex_convert(run);
	assert_non_null(strstr(run->warnings, "there are more than 4096 trace units"));
	assert_int_equal(aie_lost(run, LOSS_MALFORMED), 1);
}

static void test_aie_words__refuses_a_packet_with_a_wrong_header(void **state)
{
	char *text = words_of(TWO_PACKETS), *second = text + 8 * 9;
	struct flex_run *run;

	second[7] = '0'; /* an even number of bits */
	run = convert_text(state, text, SLOTS);
	free(text);
	check_rows(run, "0", "INSTR_VECTOR 6-6 open; ");
	assert_int_equal(aie_lost(run, LOSS_MALFORMED), 1);
	assert_non_null(strstr(run->warnings, "a packet has no header"));
}

/* A packet that is full of commands: the last one raises LOCK_STALL. Room behind it reads as the
 * first slot's event in the next cycle, unless the unit has told that its trace ends. */
#define FULL_PACKET START "3f 3f 3f 3f 3f 3f 3f 3f 3f 3f 3f 3f 3f 3f 3f "
#define ROOM                                                                     \
	"00000000\n00000000\n00000000\n00000000\n00000000\n00000000\n00000000\n" \
	"00000000\n"

static char *last_rows(void **state, const char *commands)
{
	char *text = words_of(commands), *with_room, *rows;
	const char *last;

	assert_true(asprintf(&with_room, "%s" ROOM ROOM, text) > 0);
	rows = aie_rows(convert_text(state, with_room, SLOTS), "0");
	last = strstr(rows, "LOCK_STALL");
	assert_non_null(last);
	last = strdup(last);
	free(text);
	free(with_room);
	free(rows);
	return (char *)last;
}

static void test_aie_words__ends_what_the_last_command_of_a_cut_trace_raised(void **state)
{
	static const struct {
		const char *commands, *rows;
	} cases[] = {
		{FULL_PACKET "fe fe fe fe 75",
	         "LOCK_STALL 246-247; kernel 247-247 open; INSTR_EVENT_0 247-247 open; "},
		{FULL_PACKET "75 dc000000", "LOCK_STALL 246-246 open; "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *rows = last_rows(state, cases[i].commands);

		assert_string_equal(rows, cases[i].rows);
		free(rows);
	}
}

static void test_aie_words__tells_of_a_file_that_is_cut_and_of_a_buffer_that_is_full(void **state)
{
	char *text = words_of(TWO_PACKETS "fe fe fe fe fe fe fe fe fe fe fe fe fe fe fe fe fe fe "
	                                  "fe fe fe fe fe fe fe fe fe fe");
	struct flex_run *run = convert_text(state, text, SLOTS);

	assert_null(strstr(run->warnings, "is full"));
	memcpy(text + strlen(text) - 9, "fefefefe", 8);
	run = convert_text(state, text, SLOTS);
	assert_non_null(strstr(run->warnings, "is full"));
	assert_int_equal(aie_lost(run, LOSS_TRUNCATED_STREAM), 1);
	text[strlen(text) - 9] = '\0';
	run = convert_text(state, text, SLOTS);
	assert_int_equal(aie_lost(run, LOSS_TRUNCATED_STREAM), 1);
	assert_null(strstr(run->warnings, "is full"));
	free(text);
}

static void test_aie_words__reads_a_file_cut_anywhere(void **state)
{
	char *whole = words_of(START "25 3f 8901 c845 70 d900 23 e2 70 ff 3f 25 25 25 25 25 25");

	for (size_t n = 8 * 9; n < strlen(whole); n++) {
		char *cut = strndup(whole, n);
		struct flex_run *run = convert_text(state, cut, SLOTS);

		free(cut);
		assert_true(run->events.n_rows >= 5);
	}
	free(whole);
}

/* Without the tables, which take longer. */
static void read_only(struct flex_run *run)
{
	const char *path = run->in;
	const struct aie_options aie = {.clock_ghz = 1e-3, .duplicate_gap = 0.25};
	const struct import_options options = {
		.paths = &path, .n_paths = 1, .dialect = IMPORT_AIE, .aie = &aie};
	struct string_pool *strings = string_pool_new();
	struct stream_set set = {NULL, 0, 0};
	struct flextrace_error error = {0};

	if (import_run(&options, strings, &set, &run->ledger, &error) < 0)
		assert_int_equal(error.code, FLEXTRACE_E_INPUT);
	stream_set_release(&set);
	string_pool_free(strings);
}

static void test_aie_words__survives_whatever_stands_in_a_file(void **state)
{
	char *whole = words_of(START "25 3f 8901 c845 70 d901 23 e2 70 ff 3f 25 d6110001 dc010203");
	uint64_t seed = 1;

	for (int i = 0; i < 300; i++) {
		struct flex_run *run;
		char *text = strdup(whole);

		for (int j = 0; j < 1 + i % 4; j++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			text[(seed >> 33) % strlen(whole)] = "0123456789abcdef \nxf"[seed >> 60];
		}
		flex_stop(state);
		assert_int_equal(flex_start(state), 0);
		run = *state;
		flex_add_file(run, "trace.txt", text);
		flex_add_file(run, "event_slots.json", SLOTS);
		read_only(run);
		free(text);
	}
	free(whole);
}

/* -- names ----------------------------------------------------------------------------------- */

static void test_aie_words__numbers_slots_that_nobody_named(void **state)
{
	static const char *const slots[] = {
		NULL, "{}", "[]", "{\"row\":2,\"column_in_trace\":0,\"units\":[]}",
		"{\"units\":[{\"unit\":\"core\",\"event_numbers_slot_0_to_7\":[\"x\"]}]}"};
	char *text = words_of(START "25 3f");

	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		struct flex_run *run = convert_text(state, text, slots[i]);

		check_rows(run, "0", "SLOT_2 6-7; SLOT_3 22-22 open; ");
		assert_true(slots[i] || strstr(run->warnings, "no event_slots.json"));
	}
	free(text);
}

static void test_aie_words__takes_the_slots_of_the_tile_before_those_of_all(void **state)
{
	static const char slots[] =
		"[{\"units\":[{\"unit\":\"core\",\"event_numbers_slot_0_to_7\":[0,0,1,127]},"
		"{\"unit\":\"mem\",\"event_numbers_slot_0_to_7\":[0,0,21,999]}]}," SLOTS "]";
	char *text = words_of(START "25 3f");

	check_rows(convert_text(state, text, slots), "0",
	           "INSTR_VECTOR 6-7; PORT_RUNNING_0 22-22 open; ");
	memcpy(text, "00230000", 8); /* tile 3,1 */
	check_rows(convert_text(state, text, slots), "0", "TRUE 6-7; USER_EVENT_3 22-22 open; ");
	memcpy(text, "80221002", 8); /* the memory of tile 2,1 */
	check_rows(convert_text(state, text, slots), "0",
	           "DMA_MM2S_0_START_TASK 6-7; EVENT_999 22-22 open; ");
	free(text);
}

/* -- real traces ----------------------------------------------------------------------------- */

#define DATA FLEXTRACE_SHARED_DATA "/aie/"

struct found {
	uint64_t n_closed, sum, open_since;
};

static struct found find(const char *rows, const char *name)
{
	struct found found = {0, 0, 0};

	for (const char *at = rows, *end; (end = strstr(at, "; ")); at = end + 2) {
		uint64_t begin, last;
		size_t n = strlen(name);

		if (strncmp(at, name, n) != 0 || at[n] != ' ')
			continue;
		assert_int_equal(sscanf(at + n, " %" SCNu64 "-%" SCNu64, &begin, &last), 2);
		if (strncmp(end - 4, "open", 4) == 0) {
			found.open_since = begin;
			continue;
		}
		found.n_closed++;
		found.sum += last - begin;
	}
	return found;
}

static uint64_t number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(item) ? (uint64_t)item->valuedouble : 0;
}

static void check_unit(const struct flex_run *run, int unit, const cJSON *expected)
{
	char device[16], *rows;
	const cJSON *slot;

	snprintf(device, sizeof(device), "%d", unit);
	rows = aie_rows(run, device);
	cJSON_ArrayForEach(slot, expected)
	{
		struct found found = find(rows, slot->string);

		assert_int_equal(found.n_closed, number_of(slot, "closed"));
		assert_int_equal(found.sum, number_of(slot, "sum_cycles"));
		assert_int_equal(found.open_since, number_of(slot, "open_since"));
	}
	free(rows);
}

static void check_kernels(const struct flex_run *run, const char *kernels)
{
	char *rows = aie_rows(run, "0");

	for (const char *at = rows, *end; (end = strstr(at, "; ")); at = end + 2) {
		if (strncmp(at, "kernel ", 7) != 0)
			continue;
		assert_int_equal(strncmp(at, kernels, (size_t)(end + 2 - at)), 0);
		kernels += end + 2 - at;
	}
	assert_string_equal(kernels, "");
	free(rows);
}

static const struct {
	const char *dir, *words, *kernels;
	uint64_t n_open;
} real_traces[] = {
	{"test1", "trace_test1.txt",
         "kernel 2203-2276; kernel 2714-2787; kernel 5192-5265; kernel 5703-5776; ", 1},
	{"test2", "trace_test2.txt",
         "kernel 6247-6357; kernel 6760-6870; kernel 7273-7383; kernel 7786-7896; ", 2},
};

static void check_real(void **state, size_t which, const char *name)
{
	char path[1024];
	const char *paths[] = {path};
	struct flex_run *run;
	char *text;
	cJSON *expected, *unit;
	int i = 0;

	flex_stop(state);
	assert_int_equal(flex_start(state), 0);
	run = *state;
	snprintf(path, sizeof(path), DATA "%s", real_traces[which].dir);
	text = scratch_read(path, "expected.json", NULL);
	if (!text)
		skip();
	expected = cJSON_Parse(text);
	free(text);
	snprintf(path, sizeof(path), DATA "%s/%s", real_traces[which].dir, name);
	assert_true(import_is_foreign(path));
	flex_convert_files(run, paths, 1);
	cJSON_ArrayForEach(unit, cJSON_GetObjectItemCaseSensitive(expected, "units"))
		check_unit(run, i++, unit);
	cJSON_Delete(expected);
	check_kernels(run, real_traces[which].kernels);
	assert_int_equal(aie_lost(run, LOSS_UNMATCHED_BEGIN), real_traces[which].n_open);
	assert_int_equal(ledger_lost(&run->ledger), real_traces[which].n_open);
	assert_string_equal(run->warnings, "");
}

static void test_aie_words__has_the_golden_values_of_real_words(void **state)
{
	for (size_t i = 0; i < sizeof(real_traces) / sizeof(*real_traces); i++)
		check_real(state, i, real_traces[i].words);
}

static void test_aie_words__has_the_golden_values_of_real_json(void **state)
{
	for (size_t i = 0; i < sizeof(real_traces) / sizeof(*real_traces); i++)
		check_real(state, i, "golden_json.txt");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_aie_words__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(decodes_every_command),
		TEST(places_units_by_their_timers),
		TEST(counts_bytes_that_are_no_command),
		TEST(loses_no_more_than_the_bad_packet),
		TEST(repeats_no_more_than_the_limit),
		TEST(takes_no_more_units_than_the_limit),
		TEST(refuses_a_packet_with_a_wrong_header),
		TEST(ends_what_the_last_command_of_a_cut_trace_raised),
		TEST(tells_of_a_file_that_is_cut_and_of_a_buffer_that_is_full),
		TEST(reads_a_file_cut_anywhere),
		TEST(survives_whatever_stands_in_a_file),
		TEST(numbers_slots_that_nobody_named),
		TEST(takes_the_slots_of_the_tile_before_those_of_all),
		TEST(has_the_golden_values_of_real_words),
		TEST(has_the_golden_values_of_real_json),
	};

	return cmocka_run_group_tests_name("aie_words", tests, NULL, NULL);
}
