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
	struct layout_size size;
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
	ret_record->size = size;
	return true;
}

/* Whether another one follows, or none fits. */
static bool is_followed(const struct salvage *packet, const struct record *record)
{
	struct record next;

	return record->end == packet->n_bytes ||
	       read_record(packet, record->end, record->time_ns, &next);
}

/* Whether one of these bytes is known not to be what stood there before. */
static bool is_new(const struct salvage *packet, uint64_t at, uint64_t n)
{
	for (uint64_t i = at; i < at + n; i++)
		if (packet->was_zero
		            ? packet->memory[i] != 0
		            : i < packet->n_before && packet->memory[i] != packet->before[i])
			return true;
	return false;
}

/* Its thread wrote when it was, and before that, what it is. */
static bool is_timed(const struct salvage *packet, const struct record *record)
{
	uint64_t n_who = sizeof(record->pid) + sizeof(record->tid);
	uint64_t n = record->n_head == sizeof(struct long_head) ? sizeof(uint64_t)
	                                                        : sizeof(uint32_t);

	return is_new(packet, record->at + record->n_head - n_who - n, n);
}

/* Its thread wrote who it is. */
static bool is_named(const struct salvage *packet, const struct record *record)
{
	return (packet->was_zero || is_timed(packet, record)) &&
	       is_new(packet, record->at + record->n_head - sizeof(record->tid),
	              sizeof(record->tid));
}

/* Whether its thread may have stopped where bytes say how long it is: then it ends elsewhere, in
 * bytes that all stood there before, and what stands at its end here is of other records. */
static bool may_end_elsewhere(const struct salvage *packet, const struct record *record)
{
	uint64_t least = record->at + record->n_head + 1 + record->size.n_tail;
	uint64_t told = record->at + record->n_head + record->size.n_told;
	uint64_t from = record->at + sizeof(uint16_t);

	if (packet->was_zero || !record->size.n_told)
		return false;
	for (uint64_t i = from; i < record->end && from < told; i++) {
		if (is_new(packet, i, 1))
			from = i + 1;
		else if (i + 1 >= least && i - from >= record->size.n_tail)
			return true;
	}
	return false;
}

/* All of it was written: its end is not what stood there before, nor is its time, which is written
 * behind what it is. Of a string the end is the zero, which is written last; where zeros were, one
 * that ends too early has no record behind it. */
static bool is_written(const struct salvage *packet, const struct record *record)
{
	bool is_text = record->size.is_text;
	uint64_t n = is_text && !packet->was_zero ? 1 : record->size.n_last;

	return is_new(packet, record->end - n, n) && is_timed(packet, record) &&
	       !may_end_elsewhere(packet, record) && (!is_text || is_followed(packet, record));
}

/* -- the walk ---------------------------------------------------------------------------------- */

/* Of a record: a hole as long as two may have one in it. */
#define MIN_BYTES      sizeof(struct short_head)
#define MAX_CUTS       64
#define MAX_THREADS    256
/* So many records a signal handler writes at most that interrupted one, and ends the program. */
#define MAX_LAST_WORDS 16
#define MAX_UNPROVEN   64

struct cut {
	uint64_t at, end;
};

/* The last record of a thread that is not sure to be whole. */
struct last {
	int32_t tid, pid;
	uint32_t n_behind; /* whole ones of this thread */
	struct cut cut;
};

struct walk {
	const struct salvage *packet;
	uint64_t at, time_ns, n_missing;
	struct cut cuts[MAX_CUTS + MAX_THREADS + MAX_UNPROVEN];
	struct cut unproven[MAX_UNPROVEN]; /* records of which all but the time may be old */
	struct last threads[MAX_THREADS];
	uint32_t n_cuts, n_unproven, n_threads;
	uint64_t n_shortest; /* of the unproven */
	uint64_t n_guessed;  /* counted as missing, but whole records may be among them */
	struct last *newest; /* who wrote the one in front of this */
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

/* Where there are too many runs, the last one takes in all that stands behind it. */
static void add_unproven(struct walk *walk, const struct cut *cut)
{
	struct cut *last = walk->n_unproven ? &walk->unproven[walk->n_unproven - 1] : NULL;
	uint64_t n = cut->end - cut->at;

	if (n > walk->packet->n_missing)
		return; /* too long to be what is missing */
	if (!walk->n_shortest || n < walk->n_shortest)
		walk->n_shortest = n;
	if (last && last->end == cut->at && last->end != walk->packet->n_sure)
		last->end = cut->end;
	else if (walk->n_unproven < MAX_UNPROVEN)
		walk->unproven[walk->n_unproven++] = *cut;
	else
		last->end = walk->packet->n_bytes;
}

/* What is found behind a hole may be bytes of several records. */
static bool is_behind_hole(const struct walk *walk, const struct record *record)
{
	return !walk->packet->was_zero && walk->n_cuts &&
	       walk->cuts[walk->n_cuts - 1].end == record->at;
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
	if (is_written(walk->packet, record)) {
		if (++thread->n_behind > MAX_LAST_WORDS)
			thread->cut = (struct cut){0, 0};
	} else if (is_named(walk->packet, record) && !is_behind_hole(walk, record)) {
		*thread = (struct last){.tid = record->tid, .cut = cut};
	} else {
		add_unproven(walk, &cut);
	}
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

/* Whether it is what stands behind a hole. */
static bool is_next(const struct walk *walk, const struct record *record)
{
	const struct salvage *packet = walk->packet;

	if (!packet->was_zero)
		return is_followed(packet, record) && (!packet->before || is_timed(packet, record));
	return is_followed(packet, record) ||
	       (is_written(packet, record) && is_known(walk, record));
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
		if (read_record(packet, at, time_ns, &record) && is_next(walk, &record) &&
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

/* Whether it is sure that a record begins here. */
static bool is_proven(const struct walk *walk, uint64_t at)
{
	struct record record;

	return walk->packet->was_zero || at == walk->packet->n_bytes ||
	       (read_record(walk->packet, at, walk->time_ns, &record) &&
	        is_written(walk->packet, &record));
}

/* A hole that is longer than all that is missing has records in it that we do not know; then we do
 * not know either what else is missing. */
static void skip(struct walk *walk, uint64_t next)
{
	uint64_t n = next - walk->at, n_before = walk->n_missing;

	if (next == walk->packet->n_bytes && !is_all(walk, walk->at, next))
		n = (next = find_within(walk, walk->at, walk->time_ns, UINT64_MAX)) - walk->at;
	if (walk->n_cuts == MAX_CUTS - 1)
		next = walk->packet->n_bytes;
	if (is_all(walk, walk->at, next))
		walk->n_missing = 0;
	else if (n <= walk->n_missing)
		walk->n_missing -= n;
	if (!is_proven(walk, next))
		walk->n_guessed += n_before - walk->n_missing;
	else if (n_before - walk->n_missing >= 2 * MIN_BYTES)
		walk->n_guessed += n_before - walk->n_missing - MIN_BYTES;
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
	struct cut of[MAX_THREADS];
	uint32_t n;
	uint64_t n_shortest;
};

/* LTTng's sure part is one where no three threads write into a packet. */
static bool is_sure(const struct walk *walk, const struct cut *cut)
{
	return walk->n_threads <= 2 && cut->end <= walk->packet->n_sure;
}

/* A thread that died writes nothing behind what it left. */
static void list_doubts(const struct walk *walk, struct doubts *doubts)
{
	for (uint32_t i = 0; i < walk->n_threads; i++) {
		const struct cut *cut = &walk->threads[i].cut;
		uint64_t n = cut->end - cut->at;

		if (!n || is_sure(walk, cut))
			continue;
		doubts->of[doubts->n++] = *cut;
		if (!doubts->n_shortest || n < doubts->n_shortest)
			doubts->n_shortest = n;
	}
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

static bool may_fit(const struct cut *cut, uint64_t n_missing)
{
	return cut->end - cut->at <= n_missing;
}

/* What else may not have been committed: the header, where nothing is sure, and what no record
 * fits in at the end. */
static void doubt(struct walk *walk)
{
	const struct salvage *packet = walk->packet;
	uint64_t n_missing = walk->n_missing + walk->n_guessed,
		 n_end = packet->n_room - packet->n_bytes;
	uint64_t n_header = packet->n_sure <= packet->first ? packet->first : 0;
	struct doubts doubts = {.n_shortest = walk->n_shortest};

	if (!n_missing)
		return;
	for (uint32_t i = 0; i < walk->n_unproven; i++)
		if (!is_sure(walk, &walk->unproven[i]))
			walk->cuts[walk->n_cuts++] = walk->unproven[i];
	list_doubts(walk, &doubts);
	for (uint32_t i = 0; i < doubts.n; i++)
		if ((walk->n_guessed && may_fit(&doubts.of[i], n_missing)) ||
		    may_be(&doubts, &doubts.of[i], n_missing, 0) ||
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

/* A cut may lie in the one in front of it: one that takes in all that stands behind it. */
static uint64_t take_out(const struct walk *walk)
{
	unsigned char *memory = walk->packet->memory;
	uint64_t to = walk->packet->first, from = to;

	for (uint32_t i = 0; i < walk->n_cuts; i++) {
		const struct cut *cut = &walk->cuts[i];

		if (cut->at > from) {
			memmove(memory + to, memory + from, cut->at - from);
			to += cut->at - from;
		}
		if (cut->end > from)
			from = cut->end;
	}
	memmove(memory + to, memory + from, walk->packet->n_bytes - from);
	return to + walk->packet->n_bytes - from;
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
