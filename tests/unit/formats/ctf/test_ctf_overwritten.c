/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ctf/ctf_overwritten.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "scratch.h"

#define TEXT \
	"/* CTF 1.8 */ env { tracer_name = \"lttng-ust\"; }; stream { uint64_t packet_seq_num; };"

struct stream {
	const char *name;
	uint64_t instance_id, sequence;
	bool is_swapped, is_indexed;
};

static void write_file(const char *dir, const char *name, const void *bytes, size_t n)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void write_stream(const char *dir, const struct stream *stream, struct ctf_file *file)
{
	unsigned char head[96] = {0};
	uint32_t magic = 0xC1FC1FC1;
	uint64_t sequence = stream->sequence;
	char index[64];

	if (stream->is_swapped) {
		magic = __builtin_bswap32(magic);
		sequence = __builtin_bswap64(sequence);
	}
	memcpy(head, &magic, sizeof(magic));
	memcpy(head + 64, &sequence, sizeof(sequence));
	write_file(dir, stream->name, head, sizeof(head));
	snprintf(index, sizeof(index), "index/%s.idx", stream->name);
	if (stream->is_indexed)
		write_file(dir, index, "", 1);
	*file = (struct ctf_file){.name = (char *)stream->name,
	                          .instance_id = stream->instance_id,
	                          .has_stream = true};
}

static char *make_dir(const char *metadata, size_t n_metadata)
{
	char *dir = scratch_dir(), path[512];

	snprintf(path, sizeof(path), "%s/index", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	write_file(dir, "metadata", metadata, n_metadata);
	return dir;
}

/* Counts in one directory with `n` streams. */
static struct ctf_fronts fronts_in(const char *metadata, size_t n_metadata,
                                   const struct stream *streams, uint32_t n)
{
	struct ctf_file files[8];
	struct ctf_dir dir = {.path = make_dir(metadata, n_metadata), .files = files, .n_files = n};
	struct ctf_fronts fronts = {0};

	for (uint32_t i = 0; i < n; i++)
		write_stream(dir.path, &streams[i], &files[i]);
	ctf_count_fronts(&dir, 1, &fronts);
	scratch_remove(dir.path);
	return fronts;
}

static uint64_t count_in(const char *metadata, size_t n_metadata, const struct stream *streams,
                         uint32_t n)
{
	return fronts_in(metadata, n_metadata, streams, n).overwritten;
}

static void test_ctf_overwritten__counts_what_precedes_the_first_packets(void **state)
{
	static const struct {
		struct stream streams[3];
		uint32_t n;
		struct {
			uint64_t overwritten, elsewhere;
		} wanted;
	} cases[] = {
		{.n = 0},
		{{{"a", 0, 0, false, false}}, 1, {0, 0}},
		{{{"a", 0, 7, false, false}}, 1, {7, 0}},
		{{{"a", 0, 7, true, false}}, 1, {7, 0}},
		{{{"a", 0, 0, false, true}}, 1, {0, 0}}, /* written as it came */
		{{{"a", 0, 7, false, true}}, 1, {0, 7}},
		{{{"a", 0, 7, true, true}, {"b", 1, 5, false, false}}, 2, {5, 7}},
		{{{"a", 0, 7, false, true}, {"a_1", 0, 3, false, true}}, 2, {0, 3}},
		{{{"a", 0, 7, false, false}, {"b", 1, 5, false, false}}, 2, {12, 0}},
		/* two files */
		{{{"a", 0, 7, false, false}, {"a_1", 0, 9, false, false}}, 2, {7, 0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ctf_fronts fronts = fronts_in(TEXT, sizeof(TEXT) - 1, cases[i].streams,
		                                     cases[i].n);

		assert_int_equal(fronts.overwritten, cases[i].wanted.overwritten);
		assert_int_equal(fronts.elsewhere, cases[i].wanted.elsewhere);
	}
}

/* LTTng numbers the packets of all chunks on. */
static void test_ctf_overwritten__expects_others_before_a_chunk(void **state)
{
	static const struct stream stream = {"a", 0, 7, false, true};
	char *dir = scratch_dir(), *chunk = make_dir(TEXT, sizeof(TEXT) - 1), path[512];
	struct ctf_fronts fronts = {0};
	struct ctf_file file;
	struct ctf_dir in = {.path = path, .files = &file, .n_files = 1};

	(void)state;
	write_stream(chunk, &stream, &file);
	snprintf(path, sizeof(path), "%s/archives", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/archives/chunk", dir);
	assert_int_equal(rename(chunk, path), 0);
	ctf_count_fronts(&in, 1, &fronts);
	assert_int_equal(fronts.overwritten + fronts.elsewhere, 0);
	scratch_remove(dir);
	free(chunk);
}

/* `TEXT` as LTTng writes it, cut into packets of `n_content` bytes each. */
static size_t pack(char *to, size_t n_content, bool is_swapped)
{
	size_t n = 0;

	for (size_t at = 0; at < sizeof(TEXT) - 1; at += n_content) {
		size_t n_now = sizeof(TEXT) - 1 - at < n_content ? sizeof(TEXT) - 1 - at
		                                                 : n_content;
		uint32_t head[3] = {0x75D11D57, (uint32_t)(37 + n_now) * 8,
		                    (uint32_t)(40 + n_now) * 8};

		for (int i = 0; i < 3 && is_swapped; i++)
			head[i] = __builtin_bswap32(head[i]);
		memset(to + n, 0, 40 + n_now);
		memcpy(to + n, &head[0], 4);
		memcpy(to + n + 24, &head[1], 8);
		memcpy(to + n + 37, &TEXT[at], n_now);
		n += 40 + n_now;
	}
	return n;
}

static void test_ctf_overwritten__reads_metadata_in_packets(void **state)
{
	static const struct stream stream = {"a", 0, 3, false, false};
	char packed[8192];

	(void)state;
	for (size_t n_content = 1; n_content < sizeof(TEXT); n_content += 7)
		for (int is_swapped = 0; is_swapped < 2; is_swapped++) {
			size_t n = pack(packed, n_content, is_swapped);

			assert_int_equal(count_in(packed, n, &stream, 1), 3);
		}
}

static void test_ctf_overwritten__believes_no_other_tracer(void **state)
{
	static const struct stream stream = {"a", 0, 3, false, false};
	static const char *const texts[] = {
		"", "/* CTF 1.8 */ env { tracer_name = \"barectf\"; }; uint64_t packet_seq_num;",
		"/* CTF 1.8 */ env { tracer_name = \"lttng-ust\"; };"};
	char packed[8192];
	size_t n = pack(packed, 16, false);

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(count_in(texts[i], strlen(texts[i]), &stream, 1), 0);
	/* Metadata cut anywhere: counted or not, but never read beyond its end. */
	for (size_t i = 0; i < n; i++)
		count_in(packed, i, &stream, 1);
}

static void test_ctf_overwritten__takes_several_snapshots_as_one_trace(void **state)
{
	static const struct stream older = {"a", 0, 4, false, false};
	static const struct stream newer[] = {{"a", 0, 9, false, false}, {"b", 1, 2, false, false}};
	struct ctf_fronts fronts = {0};
	struct ctf_file files[3];
	struct ctf_dir dirs[2];

	(void)state;
	dirs[0] = (struct ctf_dir){make_dir(TEXT, sizeof(TEXT) - 1), files, 1, 0, false};
	dirs[1] = (struct ctf_dir){make_dir(TEXT, sizeof(TEXT) - 1), files + 1, 2, 0, false};
	write_stream(dirs[0].path, &older, &files[0]);
	write_stream(dirs[1].path, &newer[0], &files[1]);
	write_stream(dirs[1].path, &newer[1], &files[2]);
	ctf_count_fronts(dirs, 2, &fronts);
	assert_int_equal(fronts.overwritten, 4 + 2);
	scratch_remove(dirs[0].path);
	scratch_remove(dirs[1].path);
}

/* Programs of 32 bits have a counter of 4 bytes, behind which the number of the CPU stands. */
static void test_ctf_overwritten__reads_counts_of_both_widths(void **state)
{
	static const struct {
		const char *width;
		bool is_swapped;
		uint64_t sequence, wanted;
	} cases[] = {{"64", false, 0, 20}, {"64", true, 0, 20}, {"32", false, 0, 20},
	             {"32", true, 0, 20},  {"64", false, 1, 0}, {"32", true, 1, 0}};
	static const uint8_t uuid[16], other[16] = {1};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_wide = cases[i].width[0] == '6', is_swapped = cases[i].is_swapped;
		struct stream stream = {"a", 0, cases[i].sequence, is_swapped, true};
		uint32_t words[2] = {20, 3}; /* the count, the CPU */
		uint64_t word = is_swapped ? __builtin_bswap64(20) : 20;
		char metadata[256], path[512], *dir;
		struct ctf_fronts fronts = {0};
		struct ctf_file file;
		struct ctf_dir in = {.files = &file, .n_files = 1};
		FILE *to;

		snprintf(metadata, sizeof(metadata), TEXT " env { architecture_bit_width = %s; };",
		         cases[i].width);
		dir = make_dir(metadata, strlen(metadata));
		in.path = dir;
		write_stream(dir, &stream, &file);
		for (int k = 0; k < 2 && is_swapped; k++)
			words[k] = __builtin_bswap32(words[k]);
		snprintf(path, sizeof(path), "%s/a", dir);
		to = fopen(path, "r+");
		assert_non_null(to);
		assert_int_equal(fseek(to, 72, SEEK_SET), 0);
		assert_int_equal(fwrite(is_wide ? (void *)&word : words, 8, 1, to), 1);
		assert_int_equal(fclose(to), 0);
		assert_int_equal(ctf_count_fronts(&in, 1, &fronts), 0);
		assert_int_equal(ctf_first_discarded(&fronts, uuid, 0, 0), cases[i].wanted);
		assert_int_equal(ctf_discarded_in_front(path, uuid), cases[i].wanted);
		assert_int_equal(ctf_discarded_in_front(path, other), 0);
		assert_int_equal(ctf_discarded_in_front(dir, uuid), 0);
		free(fronts.firsts);
		scratch_remove(dir);
	}
	assert_int_equal(ctf_discarded_in_front("stream 0", uuid), 0);
	assert_int_equal(ctf_discarded_in_front(NULL, uuid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ctf_overwritten__counts_what_precedes_the_first_packets),
		cmocka_unit_test(test_ctf_overwritten__expects_others_before_a_chunk),
		cmocka_unit_test(test_ctf_overwritten__reads_metadata_in_packets),
		cmocka_unit_test(test_ctf_overwritten__believes_no_other_tracer),
		cmocka_unit_test(test_ctf_overwritten__reads_counts_of_both_widths),
		cmocka_unit_test(test_ctf_overwritten__takes_several_snapshots_as_one_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
