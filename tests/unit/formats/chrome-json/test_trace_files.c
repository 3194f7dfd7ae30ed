// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "scratch.h"
#include "trace_digest.h"

#define GOOD "{\"ph\":\"i\"}"
#define MIB  ((size_t)1 << 20)

/* -- limits --------------------------------------------------------------------------------- */

struct result {
	int code;
	size_t n_good, longest_name;
	struct trace_damage damage;
};

static struct result read_all(struct trace_events *events)
{
	struct trace_event event;
	struct result result = {0};

	assert_non_null(events);
	while ((result.code = trace_events_next(events, &event, NULL)) > 0) {
		result.n_good++;
		if (event.name.bytes && event.name.length > result.longest_name)
			result.longest_name = event.name.length;
	}
	result.damage = *trace_events_damage(events);
	trace_events_close(events);
	return result;
}

/* GOOD, one that is `head`, `n` times `middle`, `tail`, then GOOD. */
static struct result read_long(const char *head, const char *middle, size_t n, const char *tail)
{
	size_t n_middle = strlen(middle), n_text = 0;
	char *text = malloc(2 * sizeof(GOOD) + strlen(head) + strlen(tail) + n * n_middle + 8);
	struct text_bytes bytes = {.bytes = text};
	const struct trace_source source = text_bytes_source(&bytes);
	struct result result;

	assert_non_null(text);
	n_text += (size_t)sprintf(text, "[" GOOD ",%s", head);
	for (size_t i = 0; i < n; i++, n_text += n_middle)
		memcpy(text + n_text, middle, n_middle);
	n_text += (size_t)sprintf(text + n_text, "%s," GOOD "]", tail);
	bytes.n_bytes = n_text;
	result = read_all(trace_events_open_source(&source, "input", 0, NULL));
	free(text);
	return result;
}

static void expect_limit(const struct result *result, bool is_over, const char *cause)
{
	assert_int_equal(result->code, 0);
	assert_int_equal(result->n_good, is_over ? 2 : 3);
	assert_int_equal(result->damage.n_events, is_over);
	assert_int_equal(result->damage.n_over_limit, is_over);
	assert_false(result->damage.is_cut);
	if (is_over)
		assert_string_equal(result->damage.first_cause, cause);
}

static void test_trace_files__depth_has_a_limit(void **state)
{
	/* what is skipped holds texts with brackets and things like events */
	static const char head[] = "{\"ph\":\"X\",\"text\":\"\\\"}\","
				   "\"list\":[" GOOD "," GOOD "],\"args\":{\"a\":";
	static const size_t depths[] = {1, TRACE_DEPTH_LIMIT - 1, TRACE_DEPTH_LIMIT, 1000, 1000000};

	(void)state;
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		size_t depth = depths[i];
		char *closers = malloc(depth + 3);
		struct result result;

		memset(closers, ']', depth + 1);
		memcpy(closers + depth, "}}", 3);
		result = read_long(head, "[", depth, closers);
		expect_limit(&result, depth > TRACE_DEPTH_LIMIT, "nested too deep");
		free(closers);
	}
}

static void test_trace_files__endless_depth_costs_linear_time(void **state)
{
	static const char *const nests[] = {"[", "{\"a\":", "{\"a\":[", ",{\"a\":", "},{\"a\":"};

	(void)state;
	for (size_t i = 0; i < sizeof(nests) / sizeof(nests[0]); i++) {
		struct result result = read_long("{\"ph\":\"X\",\"args\":{\"a\":", nests[i], 200000,
		                                 "");

		assert_int_equal(result.code, 0);
		assert_in_range(result.n_good, 1, 2);
		assert_int_equal(result.damage.n_events, 1);
	}
}

static void test_trace_files__arguments_have_a_limit(void **state)
{
	struct result result;

	(void)state;
	result = read_long("{\"ph\":\"X\",\"args\":{", "\"a\":1,", TRACE_ARGS_LIMIT, "}}");
	expect_limit(&result, false, NULL);
	result = read_long("{\"ph\":\"X\",\"args\":{", "\"a\":1,", TRACE_ARGS_LIMIT + 1, "}}");
	expect_limit(&result, true, "too many arguments");
}

static void test_trace_files__names_of_a_megabyte_are_kept(void **state)
{
	struct result result = read_long("{\"ph\":\"X\",\"name\":\"", "<\\\">", MIB / 4, "\"}");

	(void)state;
	expect_limit(&result, false, NULL);
	assert_int_equal(result.longest_name, MIB / 4 * 3);
}

static void test_trace_files__events_have_a_longest_size(void **state)
{
	static const char head[] = "{\"ph\":\"X\",\"name\":\"", tail[] = "\"}";
	size_t n = TRACE_EVENT_LIMIT_BYTES - strlen(head) - strlen(tail);
	struct result result = read_long(head, "x", n, tail);

	(void)state;
	expect_limit(&result, false, NULL);
	assert_int_equal(result.longest_name, n);
	result = read_long(head, "x", n + 1, tail);
	expect_limit(&result, true, "longer than 16 MiB");
	result = read_long(head, "x", 2 * n, tail);
	expect_limit(&result, true, "longer than 16 MiB");
	result = read_long("{\"ph\":\"X\",\"args\":{\"a\":[0", ",{\"ph\":\"i\"}", n / 8, "]}}");
	expect_limit(&result, true, "longer than 16 MiB");
}

static void test_trace_files__top_level_members_have_a_longest_size(void **state)
{
	static const char head[] = "{\"a\":\"", tail[] = "\",\"traceEvents\":[" GOOD "],\"b\":1}";
	size_t n = TRACE_EVENT_LIMIT_BYTES, n_text = n + strlen(head) + strlen(tail);
	char *text = malloc(n_text + 1), *digest;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', n_text);
	memcpy(text, head, strlen(head));
	memcpy(text + strlen(head) + n, tail, strlen(tail));
	digest = digest_text(text, n_text, 0);
	assert_string_equal(digest, "i;#b=1;|0/1@1 longer than 16 MiB");
	free(digest);
	free(text);
}

/* Gives GOOD without end, and sees how much is asked for. */
struct endless {
	uint64_t n_events, n_left;
	size_t longest;
};

static int64_t read_endless(void *context, char *bytes, size_t n_bytes,
                            struct flextrace_error *error)
{
	struct endless *endless = context;
	size_t n = 0;

	(void)error;
	endless->longest = n_bytes > endless->longest ? n_bytes : endless->longest;
	while (endless->n_left && n_bytes - n >= sizeof(GOOD) + 1) {
		n += (size_t)sprintf(bytes + n, "%c" GOOD,
		                     endless->n_left == endless->n_events ? '[' : ',');
		endless->n_left--;
	}
	while (endless->n_left && n < n_bytes)
		bytes[n++] = ' ';
	return (int64_t)n;
}

static void test_trace_files__memory_does_not_grow_with_the_file(void **state)
{
	struct endless endless = {200000, 200000, 0};
	const struct trace_source source = {read_endless, &endless};
	struct result result = read_all(trace_events_open_source(&source, "input", 0, NULL));

	(void)state;
	assert_int_equal(result.n_good, endless.n_events);
	assert_int_equal(endless.longest, 256 << 10);
}

/* -- files ---------------------------------------------------------------------------------- */

/* Packs `text` as a gzip member at `to`, and returns its size. */
static size_t pack(const char *text, size_t n, char *to, size_t n_room)
{
	z_stream stream = {0};

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
	                 Z_OK);
	stream.next_in = (Bytef *)text;
	stream.avail_in = (uInt)n;
	stream.next_out = (Bytef *)to;
	stream.avail_out = (uInt)n_room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return n_room - stream.avail_out;
}

/* The digest of a file that holds `bytes`. */
static char *digest_file(const char *dir, const char *bytes, size_t n)
{
	struct trace_events *events;
	char path[500], *digest;
	FILE *file;

	snprintf(path, sizeof(path), "%s/file", dir);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
	events = trace_events_open(path, NULL);
	assert_non_null(events);
	digest = digest_events(events);
	remove(path);
	return digest;
}

static void expect_file(const char *dir, const char *bytes, size_t n, const char *expected)
{
	char *digest = digest_file(dir, bytes, n);

	assert_string_equal(digest, expected);
	free(digest);
}

static void test_trace_files__gzip_is_known_by_content(void **state)
{
	static const char first[] = "[" GOOD ",", second[] = GOOD "]";
	char packed[200];
	size_t n;

	(void)state;
	expect_file(*state, "[" GOOD "]", sizeof(GOOD) + 1, "i;");
	n = pack(first, sizeof(first) - 1, packed, sizeof(packed));
	expect_file(*state, packed, n, "i;");
	n += pack(second, sizeof(second) - 1, packed + n, sizeof(packed) - n);
	expect_file(*state, packed, n, "i;i;");
	memset(packed + n, 0, 20);
	expect_file(*state, packed, n + 20, "i;i;");
	packed[n] = 'x';
	expect_file(*state, packed, n + 20, "i;i;|cut");
}

/* Events that deflate cannot pack into a single block's last bytes. */
static size_t make_events(char *text, size_t n_events)
{
	size_t n = 0;

	for (size_t i = 0; i < n_events; i++)
		n += (size_t)sprintf(text + n, "%c{\"ph\":\"X\",\"ts\":%zu.%03zu}", i ? ',' : '[',
		                     i * i * 7919 % 10007, i * 31 % 1000);
	return n;
}

static size_t count_char(const char *text, char c)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

static void test_trace_files__damaged_gzip_gives_what_is_before_the_damage(void **state)
{
	char text[4000], packed[4000], *digest;
	size_t n = pack(text, make_events(text, 100), packed, sizeof(packed)), n_before = 0;

	for (size_t length = 20; length < n; length++) {
		size_t n_events;

		digest = digest_file(*state, packed, length);
		n_events = count_char(digest, ';');
		assert_true(strstr(digest, "|cut") || (!n_events && *digest == '!'));
		assert_true(n_events >= n_before);
		n_before = n_events;
		free(digest);
	}
	assert_int_equal(n_before, 100);
	packed[n - 5] ^= 1; /* of the checksum */
	digest = digest_file(*state, packed, n);
	assert_int_equal(count_char(digest, ';'), 100);
	assert_non_null(strstr(digest, "|cut"));
	free(digest);
}

static void test_trace_files__every_flip_in_gzip_is_told(void **state)
{
	char text[4000], packed[4000];
	size_t n_text = make_events(text, 20), n = pack(text, n_text, packed, sizeof(packed));
	char *right = digest_text(text, n_text, 0);

	for (size_t at = 2; at < n; at++) {
		char *digest;

		packed[at] ^= 0x55;
		digest = digest_file(*state, packed, n);
		/* those in the header may be harmless */
		assert_true(!strcmp(digest, right) || strstr(digest, "|cut") || *digest == '!');
		packed[at] ^= 0x55;
		free(digest);
	}
	free(right);
}

static void test_trace_files__what_cannot_be_read_is_told(void **state)
{
	struct flextrace_error error = {0};
	char *digest;

	assert_null(trace_events_open("/does/not/exist.json", &error));
	assert_int_equal(error.code, FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, "/does/not/exist.json"));
	assert_null(trace_events_open(*state, &error));
	assert_int_equal(error.code, FLEXTRACE_E_INPUT);
	digest = digest_file(*state, "\x1f\x8b", 2);
	assert_ptr_equal(strstr(digest, "!No trace, it is a damaged gzip file: file="), digest);
	free(digest);
}

static void test_trace_files__real_ones_are_read_whole(void **state)
{
	static const struct {
		const char *name;
		size_t n_events;
	} files[] = {
		{"flex-json/sample_flex_3062_job_4.json", 34},
		{"flex-json/allreduce_tp4.json", 56},
		{"flex-json/basic_event_test_cases.json", 45},
		{"flex-json/meta_events_only.json", 4},
		{"kineto/cuda_event_sync_multi_stream.json.gz", 149},
		{"kineto/mtia_inference_rank_0.json.gz", 16158},
		{"kineto/ns_resolution_rank-0.json.gz", 68692},
		{"kineto/resnet50_num_workers_4_worker0.pt.trace.json.gz", 71424},
		{"kineto/sampled_rank-0.json.gz", 4855},
		{"kineto/sampled_rank-1.json.gz", 4720},
	};

	(void)state;
	if (access(FLEXTRACE_SHARED_DATA "/flex-json", R_OK) != 0)
		skip();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct result result;
		char path[500];

		snprintf(path, sizeof(path), FLEXTRACE_SHARED_DATA "/%s", files[i].name);
		result = read_all(trace_events_open(path, NULL));
		assert_int_equal(result.code, 0);
		assert_int_equal(result.n_good, files[i].n_events);
		assert_null(result.damage.first_cause);
	}
}

static int make_dir(void **state)
{
	*state = scratch_dir();
	return *state ? 0 : -1;
}

static int remove_dir(void **state)
{
	scratch_remove(*state);
	return 0;
}

#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_files__depth_has_a_limit),
		cmocka_unit_test(test_trace_files__endless_depth_costs_linear_time),
		cmocka_unit_test(test_trace_files__arguments_have_a_limit),
		cmocka_unit_test(test_trace_files__names_of_a_megabyte_are_kept),
		cmocka_unit_test(test_trace_files__events_have_a_longest_size),
		cmocka_unit_test(test_trace_files__top_level_members_have_a_longest_size),
		cmocka_unit_test(test_trace_files__memory_does_not_grow_with_the_file),
		FILE_TEST(test_trace_files__gzip_is_known_by_content),
		FILE_TEST(test_trace_files__damaged_gzip_gives_what_is_before_the_damage),
		FILE_TEST(test_trace_files__every_flip_in_gzip_is_told),
		FILE_TEST(test_trace_files__what_cannot_be_read_is_told),
		cmocka_unit_test(test_trace_files__real_ones_are_read_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
