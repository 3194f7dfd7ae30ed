/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.txt: messages between devices in columns, for reading: all control blocks of a
 * device that serve one message (those that prepare a multicast, too) are one line, from the first
 * start to the last end. The n-th use of each name belongs to the n-th message.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../analysis_impl.h"
#include "base/blocks.h"
#include "base/text/writer.h"
#include "base/map.h"
#include "base/order.h"
#include "model/timeline/transfer_ends.h"
#include "model/alignment.h"

#define NAME_WIDTH 26

struct message_line {
	int64_t start_time_ns, end_time_ns;
	uint64_t bytes;
	uint32_t device, sequence, sync; /* the latter strings */
	uint32_t number;                 /* use of the message on its device */
	uint32_t n_parts;
	uint32_t first, last; /* ends: see `next` */
	bool is_receive;
};

struct messages {
	const struct timeline *timeline; /* weak, all */
	const struct transfers *transfers;
	const struct owners *owners;
	struct map uses;            /* (device; name) -> how often */
	struct map line_index;      /* (device, sequence; sync, number) -> line */
	struct message_line *lines; /* owned, all */
	uint32_t n_lines;
	uint32_t *next; /* of each end: the next of its line */
	int32_t *peers; /* of one line */
};

/* -- lines ------------------------------------------------------------------------------------- */

static int find_line(struct messages *messages, const struct transfer_end *end, uint32_t *ret_line)
{
	const struct tick_op *op = &messages->timeline->ops[end->source];
	uint32_t number = map_find(&messages->uses, op->device, op->name);
	uint64_t a = (uint64_t)op->device << 32 | end->sequence, b;
	int is_new;

	number = number == MAP_NONE ? 0 : number;
	FLEXTRACE_TRY(map_put(&messages->uses, op->device, op->name, number + 1));
	b = (uint64_t)end->sync << 32 | number;
	is_new = MAP_PLACE(&messages->line_index, a, b, messages->lines, messages->n_lines,
	                   ret_line);
	if (is_new <= 0)
		return is_new;
	messages->lines[*ret_line] = (struct message_line){
		.start_time_ns = end->start_time_ns,
		.end_time_ns = end->end_time_ns,
		.device = op->device,
		.sequence = end->sequence,
		.sync = end->sync,
		.number = number,
		.first = FLEXTRACE_NONE,
		.is_receive = end->role == MESSAGE_RECEIVE,
	};
	return FLEXTRACE_OK;
}

static int take_end(struct messages *messages, uint32_t index)
{
	const struct transfer_end *end = &messages->transfers->ends[index];
	const struct tick_op *op = &messages->timeline->ops[end->source];
	struct message_line *line;
	uint32_t place;

	FLEXTRACE_TRY(find_line(messages, end, &place));
	line = &messages->lines[place];
	if (end->end_time_ns > line->end_time_ns)
		line->end_time_ns = end->end_time_ns;
	line->bytes = op->bytes > line->bytes ? op->bytes : line->bytes;
	line->n_parts++;
	messages->next[index] = FLEXTRACE_NONE;
	if (line->first == FLEXTRACE_NONE)
		line->first = index;
	else
		messages->next[line->last] = index;
	line->last = index;
	return FLEXTRACE_OK;
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct messages *messages = context;
	const struct string_pool *strings = messages->timeline->strings;
	const struct device *devices = messages->timeline->identity->devices;
	const uint32_t *positions = messages->owners->positions;
	const struct message_line *a = left, *b = right;

	return ORDER(a->start_time_ns, b->start_time_ns) ?:
	       ORDER(positions[devices[a->device].process],
	             positions[devices[b->device].process]) ?:
	       ORDER(devices[a->device].device, devices[b->device].device) ?:
	       string_compare(strings, a->sequence, b->sequence) ?:
	       string_compare(strings, a->sync, b->sync) ?:
	       ORDER(a->number, b->number);
}

static int make_lines(struct messages *messages)
{
	uint32_t n = messages->transfers ? messages->transfers->n_ends : 0;

	FLEXTRACE_TRY(BLOCKS_NEW(messages->next, n));
	FLEXTRACE_TRY(BLOCKS_NEW(messages->peers, n));
	for (uint32_t i = 0; i < n; i++)
		FLEXTRACE_TRY(take_end(messages, i));
	if (messages->n_lines)
		qsort_r(messages->lines, messages->n_lines, sizeof(*messages->lines), compare_lines,
		        messages);
	return FLEXTRACE_OK;
}

/* -- text -------------------------------------------------------------------------------------- */

static int compare_peers(const void *left, const void *right)
{
	const int32_t *a = left, *b = right;

	return ORDER(*a, *b);
}

/* Writes who is on the other side: "0,1,2", or "-". */
static void write_peers(const struct messages *messages, const struct message_line *line,
                        struct writer *writer)
{
	int32_t *peers = messages->peers;
	uint32_t n = 0;

	for (uint32_t i = line->first; i != FLEXTRACE_NONE; i = messages->next[i]) {
		const struct transfer_end *end = &messages->transfers->ends[i];

		if (messages->timeline->ops[end->source].peer >= 0)
			peers[n++] = messages->timeline->ops[end->source].peer;
	}
	qsort(peers, n, sizeof(*peers), compare_peers);
	if (!n)
		writer_char(writer, '-');
	for (uint32_t i = 0; i < n; i++) {
		if (i && peers[i] == peers[i - 1])
			continue;
		if (i)
			writer_char(writer, ',');
		writer_i64(writer, peers[i]);
	}
}

static void write_name(struct writer *writer, const char *name, size_t width)
{
	analysis_write_shown(writer, name);
	for (size_t n = strlen(name); n < width; n++)
		writer_char(writer, ' ');
}

static void write_line(const struct messages *messages, const struct message_line *line,
                       struct writer *writer)
{
	const struct timeline *timeline = messages->timeline;
	const struct device *device = &timeline->identity->devices[line->device];
	int32_t rank = timeline->identity->processes[device->process].rank;
	uint64_t ns = interval_ns(line->start_time_ns, line->end_time_ns);

	writer_format(writer,
	              "%5" PRId32 " %6" PRIu32 " %20" PRId64 " %14.3f %12" PRIu64 " %5" PRIu32
	              " %-7s ",
	              rank, device->device,
	              line->start_time_ns + alignment_epoch_offset_ns(timeline->alignment),
	              (double)ns / 1e3, line->bytes, line->n_parts,
	              line->is_receive ? "receive" : "send");
	write_name(writer, string_get(timeline->strings, line->sequence), NAME_WIDTH);
	writer_char(writer, ' ');
	write_name(writer, string_get(timeline->strings, line->sync), 0);
	writer_raw(writer, line->is_receive ? " from " : " to ");
	write_peers(messages, line, writer);
	writer_char(writer, '\n');
}

static void write_lines(const struct messages *messages, struct writer *writer)
{
	writer_literal(writer, " rank device             start_ns         dur_us        bytes parts"
	                       " what    name                       message\n");
	for (uint32_t i = 0; i < messages->n_lines; i++)
		write_line(messages, &messages->lines[i], writer);
}

static int write(const struct findings *findings, struct text_sink *sink)
{
	struct messages messages = {.timeline = findings->timeline,
	                            .transfers = findings->transfers,
	                            .owners = findings->owners};
	int code = make_lines(&messages);

	if (code == FLEXTRACE_OK)
		write_lines(&messages, &sink->writer);
	sink->count->rows = messages.n_lines;
	map_release(&messages.uses);
	map_release(&messages.line_index);
	free(messages.lines);
	blocks_free(messages.next);
	blocks_free(messages.peers);
	return code;
}

const struct analysis analysis_messages = {
	.name = "messages", .file = ANALYSIS_TEXT("messages.txt", write), .is_on_demand = true};
