/* SPDX-License-Identifier: Apache-2.0 */
#include "reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "event_samples.h"

static void count_warning(void *context, const char *text)
{
	struct reading *reading = context;

	reading->n_warnings++;
	snprintf(reading->warning, sizeof(reading->warning), "%s", text);
}

int read_paths(struct reading *reading, const char *const *paths, uint32_t n_paths,
               uint32_t n_workers)
{
	struct reader_options options = {.traces = paths,
	                                 .n_traces = n_paths,
	                                 .n_workers = n_workers,
	                                 .views = &reading->views,
	                                 .warn = count_warning,
	                                 .context = reading};
	int code;

	memset(reading, 0, sizeof(*reading));
	reading->strings = string_pool_new();
	ledger_init(&reading->ledger);
	code = reader_run(&options, reading->strings, &reading->set, &reading->ledger,
	                  &reading->error);
	stream_set_sort(&reading->set);
	return code;
}

int read_path(struct reading *reading, const char *path, uint32_t n_workers)
{
	return read_paths(reading, &path, 1, n_workers);
}

void reading_release(struct reading *reading)
{
	ctf_views_remove(&reading->views);
	stream_set_release(&reading->set);
	ledger_release(&reading->ledger);
	string_pool_free(reading->strings);
}

uint64_t lost(const struct reading *reading, enum loss_cause cause)
{
	uint64_t n = ledger_total(&reading->ledger, cause);

	for (uint32_t i = 0; i < reading->set.n_streams; i++)
		n += losses_total(&reading->set.streams[i]->losses, cause);
	return n;
}

/* The n-th record of a stream's table, or NULL. */
const struct record *record_at(struct stream *stream, enum record_table table, int n)
{
	struct table_cursor cursor;
	const struct record *record;

	table_read(&cursor, &stream->tables[table], false);
	while ((record = table_peek(&cursor)) && n--)
		table_next(&cursor, record->size_bytes);
	return record;
}

uint64_t count_records(const struct stream *stream)
{
	return stream->tables[0].n_rows + stream->tables[1].n_rows + stream->tables[2].n_rows;
}

void assert_same_tables(struct stream *a, struct stream *b)
{
	for (int table = 0; table < RECORD_TABLE_COUNT; table++) {
		const struct record *x, *y;

		assert_int_equal(a->tables[table].n_rows, b->tables[table].n_rows);
		for (int i = 0; (x = record_at(a, table, i)); i++) {
			y = record_at(b, table, i);
			assert_int_equal(x->size_bytes, y->size_bytes);
			assert_memory_equal(x, y, x->size_bytes);
		}
	}
}

char *path_in(const char *dir, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
	return path;
}

struct ctf_writer *open_writer(const struct ctf_writer_options *options)
{
	struct ctf_writer *writer = ctf_writer_new(options);

	assert_non_null(writer);
	return writer;
}

/* Every class `n_rounds` times, with a gap of more than 32 bits of ns in the middle. */
void write_samples(struct ctf_stream *stream, uint32_t n_rounds)
{
	struct event event;
	uint64_t clock_ns = 1000;

	for (uint32_t i = 0; i < n_rounds; i++)
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
			clock_ns += class == 9 ? UINT64_C(10000000000) : 100;
			event_sample(class, i, clock_ns, &event);
			assert_int_equal(ctf_stream_event(stream, &event), 0);
		}
}

/* The same events straight into the decoder. */
void decode_samples(struct string_pool *strings, struct stream *stream, uint32_t n_rounds)
{
	struct decoder decoder;
	struct event event;
	uint64_t clock_ns = 1000;

	assert_int_equal(decoder_init(&decoder, strings), 0);
	for (uint32_t i = 0; i < n_rounds; i++)
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
			clock_ns += class == 9 ? UINT64_C(10000000000) : 100;
			event_sample(class, i, clock_ns, &event);
			assert_int_equal(decode_push(&decoder, stream, &event), 0);
		}
	decoder_release(&decoder);
}

void write_trace(const struct ctf_writer_options *options, uint32_t n_streams, uint32_t n_rounds)
{
	struct ctf_writer *writer = open_writer(options);

	for (uint32_t i = 0; i < n_streams; i++)
		write_samples(ctf_writer_stream(writer, 0, i), n_rounds);
	assert_int_equal(ctf_writer_close(writer), 0);
}
