/* SPDX-License-Identifier: Apache-2.0 */
#include "derive_fixture.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct fake_clocks fake_clocks;

bool clocks_refuse(const struct clocks *clocks, uint64_t op)
{
	(void)clocks;
	return op + 1 == fake_clocks.refused;
}

struct placed clocks_place(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                           uint64_t ticks)
{
	struct clock_near near = {0};

	return clocks_place_near(clocks, counter, segment, ticks, &near);
}

struct placed clocks_place_far(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                               uint64_t ticks, struct clock_near *near)
{
	struct placed placed = {(int64_t)(ticks >> fake_clocks.shift) + fake_clocks.offset_ns,
	                        fake_clocks.err_ns, fake_clocks.status};

	(void)clocks;
	(void)counter;
	(void)segment;
	(void)near;
	if (!ticks)
		placed.status = TIME_UNMATCHED;
	return placed;
}

struct aligned alignment_place(const struct alignment *alignment, uint32_t process, int64_t host_ns)
{
	(void)alignment;
	return (struct aligned){host_ns + fake_clocks.process_ns[process % 8],
	                        fake_clocks.process_err_ns, fake_clocks.process_status};
}

bool alignment_is_reference(const struct alignment *alignment, uint32_t process)
{
	(void)alignment;
	(void)process;
	return false;
}

int64_t alignment_epoch_offset_ns(const struct alignment *alignment)
{
	(void)alignment;
	return 0;
}

const struct clock_report *clocks_report(const struct clocks *clocks, uint32_t *ret_n)
{
	(void)clocks;
	*ret_n = 8;
	return NULL;
}

bool clocks_find_report(const struct clocks *clocks, uint32_t counter, uint16_t segment,
                        uint32_t *ret_index)
{
	(void)clocks;
	*ret_index = counter;
	return counter < 8 && segment == 0;
}

/* -- building ------------------------------------------------------------------------------- */

static void define(struct derive_fixture *fixture)
{
	struct gather gather;
	const struct record *record;
	uint32_t stream;

	assert_int_equal(gather_init(&gather, &fixture->source.set, TABLE_DEFINITIONS, true), 0);
	while (gather_next(&gather, &record, &stream))
		assert_int_equal(identity_push(&fixture->identity,
		                               fixture->source.set.streams[stream], record,
		                               &fixture->ledger),
		                 0);
	gather_release(&gather);
	assert_int_equal(
		identity_finish(&fixture->identity, &fixture->source.set, &fixture->ledger), 0);
}

void fixture_open(struct derive_fixture *fixture, const char *text)
{
	struct flextrace_error error = {0};

	fake_clocks = (struct fake_clocks){0};
	*fixture = (struct derive_fixture){0};
	ledger_init(&fixture->ledger);
	assert_int_equal(text_source_init(&fixture->source), 0);
	if (text_source_read(&fixture->source, text, &error) < 0)
		fail_msg("%s", error.message);
	stream_set_sort(&fixture->source.set);
	string_cache_init(&fixture->strings, fixture->source.strings);
	assert_int_equal(identity_init(&fixture->identity, fixture->source.strings, NULL), 0);
	define(fixture);
}

uint32_t fixture_string(struct derive_fixture *fixture, const char *text)
{
	uint32_t id;

	assert_int_equal(string_intern(&fixture->strings, text, &id), 0);
	return id;
}

static uint32_t device_of(struct derive_fixture *fixture)
{
	uint32_t device;

	assert_true(fixture->identity.n_processes > 0);
	assert_int_equal(identity_device(&fixture->identity, 0, 0, &device), 0);
	return device;
}

struct tick_op *fixture_op(struct derive_fixture *fixture, const char *name, uint8_t kind,
                           const uint64_t ticks[FLEXTRACE_N_STAMPS])
{
	uint32_t device = device_of(fixture);
	struct tick_op *op = table_append(&fixture->unwrapped.ops, sizeof(*op));

	assert_non_null(op);
	*op = (struct tick_op){
		.device = device,
		.name = fixture_string(fixture, name),
		.kind = kind,
		.class = RECORD_DEVICE_OP,
		.peer = -1,
		.index = (uint32_t)fixture->unwrapped.ops.n_rows,
	};
	memcpy(op->ticks, ticks, sizeof(op->ticks));
	fixture->ledger.read[RECORD_DEVICE_OP]++;
	return op;
}

struct mark_run *fixture_new_marks(struct derive_fixture *fixture, uint32_t index)
{
	uint32_t device = device_of(fixture);

	fixture->marks = table_append(&fixture->unwrapped.mark_runs, sizeof(*fixture->marks));
	assert_non_null(fixture->marks);
	*fixture->marks =
		(struct mark_run){.drained_ns = INT64_MAX, .device = device, .index = index};
	return fixture->marks;
}

struct mark_run *fixture_marks(struct derive_fixture *fixture, uint32_t index)
{
	if (fixture->marks && fixture->marks->index == index)
		return fixture->marks;
	return fixture_new_marks(fixture, index);
}

struct tick_mark *fixture_mark(struct derive_fixture *fixture, uint32_t batch, uint8_t kind,
                               uint32_t id, uint64_t ticks)
{
	struct mark_run *marks = fixture_marks(fixture, batch);
	struct tick_mark *mark = table_append(&fixture->unwrapped.marks, sizeof(*mark));

	assert_non_null(mark);
	*mark = (struct tick_mark){.ticks = ticks, .id = id, .kind = kind};
	marks->n_marks++;
	marks->n_ends += kind == FLEXTRACE_WIRE_ZONE_END || kind == FLEXTRACE_WIRE_SLOT_STAMP;
	return mark;
}

void fixture_run(struct derive_fixture *fixture)
{
	struct derive_input input = {.identity = &fixture->identity,
	                             .ledger = &fixture->ledger,
	                             .strings = fixture->source.strings};
	struct gather gather;
	const struct record *record;
	uint32_t stream;

	fixture->derive = derive_new(&input);
	assert_non_null(fixture->derive);
	assert_int_equal(derive_device(fixture->derive, &fixture->unwrapped), 0);
	assert_int_equal(gather_init(&gather, &fixture->source.set, TABLE_HOST, true), 0);
	while (gather_next(&gather, &record, &stream))
		assert_int_equal(derive_push(fixture->derive, fixture->source.set.streams[stream],
		                             stream, record),
		                 0);
	gather_release(&gather);
	assert_int_equal(derive_finish(fixture->derive, &fixture->timeline, NULL), 0);
	derive_free(fixture->derive);
	assert_int_equal(ledger_add(&fixture->ledger, &fixture->source.decoder.ledger), 0);
}

/* -- checking ------------------------------------------------------------------------------- */

struct interval {
	int64_t start, end;
	uint32_t track;
};

/* By pairs, so that it shares no idea with the code it checks. */
static void check_nesting(const struct interval *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_true(rows[i].start <= rows[i].end);
		if (i > 0)
			assert_true(rows[i - 1].start < rows[i].start ||
			            (rows[i - 1].start == rows[i].start &&
			             rows[i - 1].end >= rows[i].end));
		for (size_t k = i + 1; k < n; k++) {
			bool is_apart = rows[k].start >= rows[i].end;
			bool is_inside = rows[k].end <= rows[i].end;

			if (rows[i].track == rows[k].track && !is_apart && !is_inside)
				fail_msg("Rows cross: %lld-%lld, %lld-%lld",
				         (long long)rows[i].start, (long long)rows[i].end,
				         (long long)rows[k].start, (long long)rows[k].end);
		}
	}
}

static void check_rows(const struct derive_fixture *fixture)
{
	struct table host = fixture->timeline.host_rows, device = fixture->timeline.device_rows;
	struct interval *rows = calloc(host.n_rows + device.n_rows + 1, sizeof(*rows));
	const struct host_row *host_row;
	const struct device_row *device_row;
	struct table_cursor cursor;
	size_t n = 0;

	assert_non_null(rows);
	table_read(&cursor, &host, false);
	while ((host_row = table_next(&cursor, sizeof(*host_row))))
		rows[n++] = (struct interval){host_row->start_time_ns, host_row->end_time_ns,
		                              host_row->track};
	check_nesting(rows, n);
	n = 0;
	table_read(&cursor, &device, false);
	while ((device_row = table_next(&cursor, sizeof(*device_row))))
		rows[n++] = (struct interval){device_row->start_time_ns, device_row->end_time_ns,
		                              device_row->track};
	check_nesting(rows, n);
	free(rows);
}

void fixture_close(struct derive_fixture *fixture)
{
	check_rows(fixture);
	assert_int_equal(ledger_check(&fixture->ledger), 0);
	timeline_release(&fixture->timeline);
	unwrap_output_release(&fixture->unwrapped);
	ledger_release(&fixture->ledger);
	identity_release(&fixture->identity);
	string_cache_release(&fixture->strings);
	text_source_release(&fixture->source);
}

void expect_lost(const struct derive_fixture *fixture, enum loss_cause cause, uint64_t count)
{
	uint64_t n = ledger_total(&fixture->ledger, cause);

	for (uint32_t i = 0; i < fixture->source.set.n_streams; i++)
		n += losses_total(&fixture->source.set.streams[i]->losses, cause);
	assert_int_equal(n, count);
}

/* -- telling -------------------------------------------------------------------------------- */

static const char *const status_names[] = {"certified", "assumed", "outlier", "unmatched", "given"};
static const char *const kind_names[] = {"dma_in", "prep",    "exec", "dma_out", "htod",
                                         "dtoh",   "dtod",    "ptop", "memset",  "release",
                                         "state",  "unknown", "fw",   "kernel",  "zone"};

static const char *text_of(const struct derive_fixture *fixture, uint32_t string)
{
	return string_get(fixture->source.strings, string);
}

static void tell_track(const struct derive_fixture *fixture, FILE *out, uint32_t id)
{
	const struct track *track = &fixture->timeline.tracks[id];

	switch (track->kind) {
	case TRACK_QUEUE:
		fprintf(out, "q%u/%s", track->id, kind_names[track->row_kind]);
		break;
	case TRACK_CORE:
		fprintf(out, "c%u/%u", track->id, track->processor);
		break;
	default:
		fprintf(out, "%c%d", track->kind == TRACK_ASYNC ? 'a' : 't',
		        fixture->identity.threads[track->owner].vtid);
	}
	if (track->lane)
		fprintf(out, ".%u", track->lane);
}

char *fixture_host_text(const struct derive_fixture *fixture)
{
	struct table rows = fixture->timeline.host_rows;
	const struct host_row *row;
	struct table_cursor cursor;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	table_read(&cursor, &rows, false);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		fprintf(out, "%lld-%lld %s ", (long long)row->start_time_ns,
		        (long long)row->end_time_ns, text_of(fixture, row->name));
		tell_track(fixture, out, row->track);
		fprintf(out, " d%u %s", row->depth, status_names[row->status]);
		fprintf(out, row->args ? " %s\n" : "%s\n", text_of(fixture, row->args));
	}
	fclose(out);
	return text;
}

static uint32_t device_name(const struct derive_fixture *fixture, const struct device_row *row)
{
	if (row->kind >= ROW_FIRMWARE)
		return fixture->timeline.markers[fixture->timeline.marks.zones[row->source].marker]
		        .name;
	return fixture->timeline.ops[row->source].name;
}

char *fixture_device_text(const struct derive_fixture *fixture)
{
	struct table rows = fixture->timeline.device_rows;
	const struct device_row *row;
	struct table_cursor cursor;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	table_read(&cursor, &rows, false);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		fprintf(out, "%lld-%lld %s %s ", (long long)row->start_time_ns,
		        (long long)row->end_time_ns, kind_names[row->kind],
		        text_of(fixture, device_name(fixture, row)));
		tell_track(fixture, out, row->track);
		fprintf(out, " %s", status_names[row->status]);
		if (row->err_ns == UINT32_MAX)
			fprintf(out, "\n");
		else
			fprintf(out, " +-%u\n", row->err_ns);
	}
	fclose(out);
	return text;
}

char *fixture_flow_text(const struct derive_fixture *fixture)
{
	struct table rows = fixture->timeline.flows_from;
	const struct flow *flow;
	struct table_cursor cursor;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	table_read(&cursor, &rows, false);
	while ((flow = table_next(&cursor, sizeof(*flow)))) {
		fprintf(out, "%lld@", (long long)flow->from_time_ns);
		tell_track(fixture, out, flow->from_track);
		fprintf(out, ">%lld@", (long long)flow->to_time_ns);
		tell_track(fixture, out, flow->to_track);
		if (flow->is_told)
			fprintf(out, " %s\n", text_of(fixture, flow->message.sync));
		else
			fprintf(out, " %llu\n", (unsigned long long)flow->correlation);
	}
	fclose(out);
	return text;
}

static void expect_text(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

void expect_host(const struct derive_fixture *fixture, const char *expected)
{
	expect_text(fixture_host_text(fixture), expected);
}

void expect_device(const struct derive_fixture *fixture, const char *expected)
{
	expect_text(fixture_device_text(fixture), expected);
}

void expect_flows(const struct derive_fixture *fixture, const char *expected)
{
	expect_text(fixture_flow_text(fixture), expected);
}
