/* SPDX-License-Identifier: Apache-2.0 */
#include "salvage.h"

#include <string.h>

/* -- records ----------------------------------------------------------------------------------- */

/* A head as our sessions have them, down to who wrote it. */
struct short_head {
	uint16_t id;
	uint32_t time_ns; /* the lower half */
	int32_t pid, tid;
} __attribute__((packed));
struct long_head {
	uint16_t id; /* LONG_ID */
	uint32_t long_id;
	uint64_t time_ns;
	int32_t pid, tid;
} __attribute__((packed));
#define LONG_ID 65535
#define MAX_PID 4194304

struct record {
	uint64_t at, end;
	uint64_t time_ns;
	uint32_t id, n_head;
	int32_t pid, tid;
	uint32_t n_last; /* of layout_size */
	bool is_text;
};

/* Reads a head that may be behind `time_ns`. */
static bool read_head(const struct salvage *packet, uint64_t at, uint64_t time_ns,
                      struct record *ret_record)
{
	struct record record = {.at = at};
	struct short_head head;
	struct long_head longer;

	if (at + sizeof(head) > packet->n_bytes)
		return false;
	memcpy(&head, packet->memory + at, sizeof(head));
	if (head.id != LONG_ID) {
		record.id = head.id;
		record.n_head = sizeof(head);
		record.time_ns = time_ns + (uint32_t)(head.time_ns - (uint32_t)time_ns);
		record.pid = head.pid;
		record.tid = head.tid;
	} else if (at + sizeof(longer) <= packet->n_bytes) {
		memcpy(&longer, packet->memory + at, sizeof(longer));
		record.id = longer.long_id;
		record.n_head = sizeof(longer);
		record.time_ns = longer.time_ns;
		record.pid = longer.pid;
		record.tid = longer.tid;
	}
	*ret_record = record;
	return record.n_head && record.time_ns >= time_ns && record.time_ns <= packet->end_ns &&
	       record.pid > 0 && record.pid <= MAX_PID && record.tid > 0 && record.tid <= MAX_PID;
}

static bool read_record(const struct salvage *packet, uint64_t at, uint64_t time_ns,
                        struct record *ret_record)
{
	struct layout_size size;
	uint64_t payload;

	if (!read_head(packet, at, time_ns, ret_record))
		return false;
	payload = at + ret_record->n_head;
	if (!layout_measure(packet->layout, packet->stream_id, ret_record->id,
	                    packet->memory + payload, packet->n_bytes - payload, &size))
		return false;
	ret_record->end = payload + size.n;
	ret_record->n_last = size.n_last;
	ret_record->is_text = size.is_text;
	return true;
}

/* Whether another one follows, or none fits. */
static bool is_followed(const struct salvage *packet, const struct record *record)
{
	struct record next;

	return record->end == packet->n_bytes ||
	       read_record(packet, record->end, record->time_ns, &next);
}

/* All of it was written: its end is not what stood there before. A string that ends too early has
 * no record behind it. */
static bool is_written(const struct salvage *packet, const struct record *record)
{
	const unsigned char *end = packet->memory + record->end;

	for (uint32_t i = 1; packet->was_zero && i <= record->n_last; i++)
		if (end[-(int)i])
			return !record->is_text || is_followed(packet, record);
	return false;
}

/* -- the walk ---------------------------------------------------------------------------------- */

#define MAX_CUTS       64
#define MAX_THREADS    256
/* So many records a signal handler writes at most that interrupted one, and ends the program. */
#define MAX_LAST_WORDS 16
#define MAX_DOUBTS     (2 * MAX_THREADS + 1)

struct cut {
	uint64_t at, end;
};

/* The last record of a thread that is not sure to be whole, and the one behind the last of all. */
struct last {
	int32_t tid, pid;
	uint32_t n_behind; /* whole ones of this thread */
	struct cut cut, next;
};

struct walk {
	const struct salvage *packet;
	uint64_t at, time_ns, n_missing;
	struct cut cuts[MAX_CUTS + MAX_DOUBTS];
	struct last threads[MAX_THREADS];
	uint32_t n_cuts, n_threads;
	struct last *newest; /* who wrote the one in front of this */
	struct cut first;    /* the first record that is not sure to be whole */
};

static struct last *find_thread(struct walk *walk, int32_t tid)
{
	uint32_t i = 0;

	if (walk->newest && walk->newest->tid == tid)
		return walk->newest;
	while (i < walk->n_threads && walk->threads[i].tid != tid)
		i++;
	if (i == MAX_THREADS)
		return NULL;
	if (i == walk->n_threads)
		walk->threads[walk->n_threads++] = (struct last){.tid = tid};
	return &walk->threads[i];
}

static void keep(struct walk *walk, const struct record *record)
{
	struct cut cut = {record->at, record->end};
	struct last *thread = find_thread(walk, record->tid);

	walk->at = record->end;
	walk->time_ns = record->time_ns;
	if (!thread) { /* too many to say of each which is its last: nothing more is known */
		walk->cuts[walk->n_cuts++] = (struct cut){cut.at, walk->packet->n_bytes};
		walk->at = walk->packet->n_bytes;
		return;
	}
	if (walk->newest)
		walk->newest->next = cut;
	if (record->end > walk->packet->n_sure && !walk->n_cuts && !walk->first.end)
		walk->first = cut;
	if (!is_written(walk->packet, record))
		*thread = (struct last){.tid = record->tid, .cut = cut};
	else if (++thread->n_behind > MAX_LAST_WORDS)
		thread->cut = (struct cut){0, 0};
	thread->pid = record->pid;
	walk->newest = thread;
}

static bool is_known(const struct walk *walk, const struct record *record)
{
	for (uint32_t i = 0; i < walk->n_threads; i++)
		if (walk->threads[i].pid == record->pid)
			return true;
	return false;
}

/* Finds the next record behind a hole of at most so many bytes, or the end: one with another one
 * behind it, or written to its end by a program that we know. Where more time passed than the
 * short heads tell of, only a long one tells when it was. */
static uint64_t find_within(const struct walk *walk, uint64_t hole, uint64_t time_ns,
                            uint64_t n_most)
{
	const struct salvage *packet = walk->packet;
	struct record lost, record;
	bool is_told = packet->end_ns - time_ns <= UINT32_MAX;

	if (!is_told && read_head(packet, hole, time_ns, &lost)) {
		time_ns = lost.time_ns;
		is_told = true;
	}
	for (uint64_t at = hole + 1; at < packet->n_bytes && at - hole <= n_most; at++)
		if (read_record(packet, at, time_ns, &record) &&
		    (is_followed(packet, &record) ||
		     (is_written(packet, &record) && is_known(walk, &record))) &&
		    (is_told || record.n_head == sizeof(struct long_head)))
			return at;
	return packet->n_bytes;
}

static uint64_t find_next(const struct walk *walk, uint64_t hole, uint64_t time_ns)
{
	return find_within(walk, hole, time_ns, walk->n_missing);
}

/* Whether all that is missing is this hole. One up to the end may have been all of the rest. */
static bool is_all(const struct walk *walk, uint64_t hole, uint64_t next)
{
	return next - hole == walk->n_missing ||
	       (next == walk->packet->n_bytes && walk->packet->n_room - hole == walk->n_missing);
}

/* A hole that is longer than all that is missing has records in it that we do not know; then we do
 * not know either what else is missing. */
static void skip(struct walk *walk, uint64_t next)
{
	uint64_t n = next - walk->at;

	if (next == walk->packet->n_bytes && !is_all(walk, walk->at, next))
		n = (next = find_within(walk, walk->at, walk->time_ns, UINT64_MAX)) - walk->at;
	if (walk->n_cuts == MAX_CUTS - 1)
		next = walk->packet->n_bytes;
	if (is_all(walk, walk->at, next))
		walk->n_missing = 0;
	else if (n <= walk->n_missing)
		walk->n_missing -= n;
	walk->cuts[walk->n_cuts++] = (struct cut){walk->at, next};
	walk->at = next;
}

/* There is a hole here, or behind the record that is read here: it may be torn, too, but then it is
 * the last one of its thread, and doubt() comes back to it. Where it reaches over the next ones, or
 * more than is missing would be behind it, it is none. */
static void pass_hole(struct walk *walk, const struct record *record)
{
	uint64_t here = find_next(walk, walk->at, walk->time_ns), behind;

	if (record) {
		behind = find_next(walk, record->end, record->time_ns);
		if (is_all(walk, record->end, behind) ||
		    (here >= record->end && behind - record->end <= walk->n_missing)) {
			keep(walk, record);
			here = behind;
		}
	}
	skip(walk, here);
}

/* LTTng's sure part is not always: where three threads write into a buffer, a commit may end where
 * all that is committed would, had there not been a hole as long as a record behind it. */
static bool is_hole(const struct walk *walk)
{
	return walk->at >= walk->packet->n_sure ||
	       find_next(walk, walk->at, walk->time_ns) - walk->at <= walk->n_missing;
}

static void walk_all(struct walk *walk)
{
	const struct salvage *packet = walk->packet;
	struct record record;

	while (walk->at < packet->n_bytes) {
		bool is_record = read_record(packet, walk->at, walk->time_ns, &record);

		if (is_record && (record.end <= packet->n_sure || is_followed(packet, &record) ||
		                  is_written(packet, &record)))
			keep(walk, &record);
		else if (is_hole(walk))
			pass_hole(walk, is_record ? &record : NULL);
		else
			return; /* nothing that we know */
	}
}

/* -- what only looks like a record ------------------------------------------------------------- */

struct doubts {
	struct cut of[MAX_DOUBTS];
	uint32_t n;
	uint64_t n_shortest;
};

/* LTTng's sure part is one where no three threads write into a packet. */
static void add_doubt(const struct walk *walk, struct doubts *doubts, const struct cut *cut)
{
	uint64_t n = cut->end - cut->at;

	if (!n || (walk->n_threads <= 2 && cut->end <= walk->packet->n_sure))
		return;
	for (uint32_t i = 0; i < doubts->n; i++)
		if (doubts->of[i].at == cut->at)
			return;
	doubts->of[doubts->n++] = *cut;
	if (doubts->n == 1 || n < doubts->n_shortest)
		doubts->n_shortest = n;
}

/* A thread that died writes nothing behind what it left. It may not have come to write who it is:
 * then the name is of an earlier round, and it was the one who wrote in front of it, or it is the
 * first that is not sure. */
static void list_doubts(const struct walk *walk, struct doubts *doubts)
{
	for (uint32_t i = 0; i < walk->n_threads; i++) {
		add_doubt(walk, doubts, &walk->threads[i].cut);
		if (!walk->packet->was_zero)
			add_doubt(walk, doubts, &walk->threads[i].next);
	}
	if (!walk->packet->was_zero)
		add_doubt(walk, doubts, &walk->first);
}

/* Whether it can be so many bytes, or a part of them beside another one. */
static bool may_be(const struct doubts *doubts, const struct cut *cut, uint64_t n_missing,
                   uint64_t n_other)
{
	uint64_t n = cut->end - cut->at;

	if (n_missing < n_other)
		return false;
	n_missing -= n_other;
	return n == n_missing || n + doubts->n_shortest <= n_missing;
}

/* What else may not have been committed: the header, where nothing is sure, and what no record
 * fits in at the end. */
static void doubt(struct walk *walk)
{
	const struct salvage *packet = walk->packet;
	uint64_t n_missing = walk->n_missing, n_end = packet->n_room - packet->n_bytes;
	uint64_t n_header = packet->n_sure <= packet->first ? packet->first : 0;
	struct doubts doubts = {.n = 0};

	if (!n_missing)
		return;
	list_doubts(walk, &doubts);
	for (uint32_t i = 0; i < doubts.n; i++)
		if (may_be(&doubts, &doubts.of[i], n_missing, 0) ||
		    may_be(&doubts, &doubts.of[i], n_missing, n_header) ||
		    may_be(&doubts, &doubts.of[i], n_missing, n_end))
			walk->cuts[walk->n_cuts++] = doubts.of[i];
}

static void sort_cuts(struct walk *walk)
{
	for (uint32_t i = 1; i < walk->n_cuts; i++)
		for (uint32_t j = i; j && walk->cuts[j].at < walk->cuts[j - 1].at; j--) {
			struct cut cut = walk->cuts[j];

			walk->cuts[j] = walk->cuts[j - 1];
			walk->cuts[j - 1] = cut;
		}
}

static uint64_t take_out(const struct walk *walk)
{
	unsigned char *memory = walk->packet->memory;
	uint64_t to = walk->n_cuts ? walk->cuts[0].at : walk->packet->n_bytes;

	for (uint32_t i = 0; i < walk->n_cuts; i++) {
		uint64_t from = walk->cuts[i].end;
		uint64_t end = i + 1 < walk->n_cuts ? walk->cuts[i + 1].at : walk->packet->n_bytes;

		memmove(memory + to, memory + from, end - from);
		to += end - from;
	}
	return to;
}

uint64_t salvage_records(const struct salvage *packet)
{
	struct walk walk = {.packet = packet,
	                    .at = packet->first,
	                    .time_ns = packet->begin_ns,
	                    .n_missing = packet->n_missing};

	walk_all(&walk);
	if (walk.at < packet->n_bytes)
		return packet->n_sure;
	doubt(&walk);
	sort_cuts(&walk);
	return take_out(&walk);
}
