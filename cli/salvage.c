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
	uint64_t n, payload;

	if (!read_head(packet, at, time_ns, ret_record))
		return false;
	payload = at + ret_record->n_head;
	if (!layout_measure(packet->layout, packet->stream_id, ret_record->id,
	                    packet->memory + payload, packet->n_bytes - payload, &n))
		return false;
	ret_record->end = payload + n;
	return true;
}

/* Whether another one follows, or none fits. */
static bool is_followed(const struct salvage *packet, const struct record *record)
{
	struct record next;

	return record->end == packet->n_bytes ||
	       read_record(packet, record->end, record->time_ns, &next);
}

/* -- the walk ---------------------------------------------------------------------------------- */

#define MAX_CUTS    64
#define MAX_THREADS 256

struct cut {
	uint64_t at, end;
};

/* The last record of a thread that is not sure to be whole. */
struct last {
	int32_t tid;
	bool is_torn; /* its hole is known */
	struct cut cut;
};

struct walk {
	const struct salvage *packet;
	uint64_t at, time_ns, n_missing;
	struct cut cuts[MAX_CUTS];
	struct last threads[MAX_THREADS];
	uint32_t n_cuts, n_threads;
	struct cut first; /* the first record that is not sure to be whole */
};

static struct last *find_thread(struct walk *walk, int32_t tid)
{
	uint32_t i = 0;

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
	struct last *thread;

	walk->at = record->end;
	walk->time_ns = record->time_ns;
	if (record->end <= walk->packet->n_sure)
		return;
	if (!walk->n_cuts && !walk->first.end)
		walk->first = (struct cut){record->at, record->end};
	thread = find_thread(walk, record->tid);
	if (thread)
		*thread = (struct last){record->tid, false, {record->at, record->end}};
}

/* Finds the next record behind a hole of at most so many bytes, or the end. Where more time passed
 * than the short heads tell of, only a long one tells when it was. */
static uint64_t find_next(const struct walk *walk, uint64_t hole, uint64_t time_ns)
{
	const struct salvage *packet = walk->packet;
	struct record lost, record;
	bool is_told = packet->end_ns - time_ns <= UINT32_MAX;

	if (read_head(packet, hole, time_ns, &lost)) {
		time_ns = lost.time_ns;
		is_told = true;
	}
	for (uint64_t at = hole + 1; at < packet->n_bytes && at - hole <= walk->n_missing; at++)
		if (read_record(packet, at, time_ns, &record) && is_followed(packet, &record) &&
		    (is_told || record.n_head == sizeof(struct long_head)))
			return at;
	return packet->n_bytes;
}

/* Whether all that is missing is this hole. One up to the end may have been all of the rest. */
static bool is_all(const struct walk *walk, uint64_t hole, uint64_t next)
{
	return next - hole == walk->n_missing ||
	       (next == walk->packet->n_bytes && walk->packet->n_room - hole == walk->n_missing);
}

static void skip(struct walk *walk, uint64_t next)
{
	struct record lost;
	struct last *thread = NULL;

	if (walk->n_cuts == MAX_CUTS - 1)
		next = walk->packet->n_bytes;
	if (read_head(walk->packet, walk->at, walk->time_ns, &lost))
		thread = find_thread(walk, lost.tid);
	if (thread)
		thread->is_torn = true;
	if (is_all(walk, walk->at, next) || next - walk->at > walk->n_missing)
		walk->n_missing = 0;
	else
		walk->n_missing -= next - walk->at;
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

		if (is_record && (record.end <= packet->n_sure || is_followed(packet, &record)))
			keep(walk, &record);
		else if (is_hole(walk))
			pass_hole(walk, is_record ? &record : NULL);
		else
			return; /* nothing that we know */
	}
}

/* -- what only looks like a record ------------------------------------------------------------- */

static bool drop(struct walk *walk, const struct cut *cut, uint64_t n_missing, bool is_exact)
{
	uint64_t n = cut->end - cut->at;

	if (!n || walk->n_cuts == MAX_CUTS || (is_exact ? n != n_missing : n > n_missing))
		return false;
	for (uint32_t i = 0; i < walk->n_cuts; i++)
		if (walk->cuts[i].at == cut->at)
			return true;
	walk->cuts[walk->n_cuts++] = *cut;
	return true;
}

/* A thread that died writes nothing behind what it left: the last record of each may be what is
 * missing, if it is as long. So may be the first that is not sure, whoever it says wrote it: one
 * who died before that word was there leaves the name of an earlier round. */
static bool drop_last(struct walk *walk, uint64_t n_missing, bool is_exact)
{
	bool has_any = drop(walk, &walk->first, n_missing, is_exact);

	for (uint32_t i = 0; i < walk->n_threads; i++)
		if (!walk->threads[i].is_torn)
			has_any |= drop(walk, &walk->threads[i].cut, n_missing, is_exact);
	return has_any;
}

/* Where nothing is sure, the header may not have been committed either: then its bytes are missing,
 * too. */
static void doubt(struct walk *walk)
{
	uint64_t n_header = walk->packet->n_sure <= walk->packet->first ? walk->packet->first : 0;

	if (!walk->n_missing || drop_last(walk, walk->n_missing, true))
		return;
	if (walk->n_missing >= n_header && drop_last(walk, walk->n_missing - n_header, true))
		return;
	drop_last(walk, walk->n_missing, false);
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
