/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pftrace.h: the parts of the Perfetto emitter: events -> trace.pftrace, packets of Perfetto's
 * protobuf format.
 *
 *   pftrace.c          the emitter: packets in order of time
 *   pftrace_kept.c     what happens at one time, and arrows
 *   pftrace_event.c    one event each
 *   pftrace_interned.c texts that stand in the file once
 *   pftrace_machines.c which packets are of which host
 *   pftrace_tracks.c   processes, threads, queues, cores and counters, and their order
 *   pftrace_things.c   what tracks stand for, so that the file can be read back
 *
 * - All packets of a machine are one sequence. Each has its time as the difference to the one
 *   before, on a clock of its own (64) that a snapshot ties to REALTIME.
 * - An interval is a begin and an end. What happens at one time is kept until the time is over,
 *   because an arrow is a field of the begin that it leaves from or arrives at. An arrow from or to
 *   the middle of an interval is a field of an instant.
 * - Field numbers: perfetto_fields.h.
 *
 * Source of the format: protos/perfetto/trace in Perfetto's repository, and "Synthetic Track Event"
 * in its documentation.
 */
#ifndef FLEXTRACE_PFTRACE_H
#define FLEXTRACE_PFTRACE_H

#include "base/protobuf/protobuf_writer.h"
#include "output/events/line_ids.h"
#include "base/protobuf/perfetto_fields.h"

/* What texts of one kind are called by: their iid, 1 + place. */
struct pftrace_texts {
	struct map by_hash;
	struct pftrace_text {
		size_t start; /* in `bytes` */
		size_t n;
	} * texts; /* owned */
	struct writer bytes;
	uint32_t n;
};

#define PFTRACE_CACHED     64
#define PFTRACE_HEADS      256
#define PFTRACE_HEAD_BYTES 24
#define PFTRACE_TOLD       1024

/* The fields that TrackEvents of one name have in common, as they were written last. */
struct pftrace_head {
	uint64_t text, part; /* string or text of ours */
	const char *category;
	uint32_t file, line;
	uint8_t type, n; /* 0: nothing */
	char bytes[PFTRACE_HEAD_BYTES];
};

struct pftrace_interned {
	struct writer fresh;  /* memory: fields of InternedData that no packet has yet */
	struct map names;     /* (string or text of ours, part) -> iid - 1 */
	struct map strings;   /* string -> iid - 1, of those that repeat */
	struct map locations; /* (file, line) -> iid - 1 */
	uint32_t n_names, n_strings, n_locations;
	struct pftrace_texts categories, keys, words;
	uint32_t key_iids[N_EVENT_KEYS], stamp_iids[N_EVENT_STAMPS]; /* 0: not yet */
	struct pftrace_cached { /* words that were asked for last */
		const char *text;
		uint64_t iid; /* 0: nothing */
	} cached[PFTRACE_CACHED];
	struct pftrace_head heads[PFTRACE_HEADS];
	uint64_t told[PFTRACE_TOLD]; /* hashes of texts of other tools: the last of each place */
};

#define PFTRACE_SEQUENCE_BYTES 16

/* What readers know of packets of one machine, and only of these. */
struct pftrace_sequence {
	struct pftrace_interned interned;
	int64_t last_time_ns; /* of its last packet */
	bool has_begun;       /* a packet was written */
	uint8_t n_same;       /* bytes that stand in all packets */
	char same[PFTRACE_SEQUENCE_BYTES];
	uint32_t host; /* string; 0: not known, or all hosts */
};

/* A begin, an end or a point at the time of what is kept. */
struct pftrace_kept {
	size_t start, end; /* in `kept_bytes`: fields of a TrackEvent but for arrows */
	uint32_t track;    /* of a begin that arrows may look for; FLEXTRACE_NONE */
	uint32_t arrows_out, arrows_in;
	uint32_t machine;
};

struct pftrace_arrow {
	uint64_t id;
	uint32_t next; /* of the same event; FLEXTRACE_NONE */
};

/* Where uuids of each kind begin. */
struct pftrace_uuids {
	uint64_t tracks, processes, devices, clocks, losses, found, counters, arrows;
};

/* The end of an interval that is open. */
struct pftrace_end {
	int64_t time_ns;
	uint64_t uuid;
	uint32_t machine;
	uint32_t track; /* FLEXTRACE_NONE */
};

struct pftrace {
	struct events events;
	struct line_ids ids;
	struct pftrace_sequence *sequences; /* owned: of the trace itself, then of each machine */
	struct pftrace_sequence *sequence;  /* weak: that packets are of, for now */
	uint32_t n_sequences;
	uint32_t *machine_of; /* owned: by process, its sequence; NULL: all are of the first one */
	struct writer file;   /* of compressed packets */
	struct writer writer; /* the file, or packets to compress */
	struct writer packet; /* memory, all three */
	struct writer kept_bytes, plain; /* the last: a text without its escapes */
	struct pftrace_kept *kept;       /* owned, all */
	struct pftrace_arrow *arrows;
	uint32_t *last_kept; /* by track: the last begin, in `kept` or before */
	uint32_t *n_open;    /* by track: intervals within each other that no end was written of */
	uint32_t n_kept, n_kept_allocated, n_arrows, n_arrows_allocated;
	uint32_t n_departed;      /* arrows left from no place of `kept` from here on */
	struct pftrace_end *ends; /* a heap: the earliest on top */
	uint64_t n_ends;
	uint32_t n_ends_allocated;
	struct map counters; /* (name and core, owner) -> place among them */
	uint32_t n_counters;
	int64_t time_ns; /* of what is kept */
	struct pftrace_uuids uuids;
	bool packs; /* packets are compressed */
};

/* -- packets ----------------------------------------------------------------------------------- */

/* Opens one in `packet`; closes and writes it. */
void pftrace_open_packet(struct pftrace *trace);
void pftrace_close_packet(struct pftrace *trace);

/* The same, of no sequence, for the descriptor of a thread. Perfetto's trace processor takes the
 * last thread that a sequence describes for the one that wrote what the sequence has of its process
 * and of no process, and shows it in their arguments. */
void pftrace_close_apart(struct pftrace *trace);

/* Puts what all packets but the first have, up to 15 bytes. */
static inline char *pftrace_put_sequence(const struct pftrace *trace, char *at)
{
	memcpy(at, trace->sequence->same, PFTRACE_SEQUENCE_BYTES);
	return at + trace->sequence->n_same;
}

/* Begins one in the file, of `n` bytes besides those that all have; what is fresh of interned data
 * comes with it. */
void pftrace_begin_packet(struct pftrace *trace, size_t n);

/* -- machines ---------------------------------------------------------------------------------- */

/* Makes the sequences. FLEXTRACE_E_MEMORY or 0. */
int pftrace_machines_init(struct pftrace *trace);
void pftrace_machines_release(struct pftrace *trace);

/* Of which sequence packets are from now on. */
static inline void pftrace_turn_to(struct pftrace *trace, uint32_t machine)
{
	trace->sequence = &trace->sequences[machine];
}
static inline uint32_t pftrace_machine(const struct pftrace *trace)
{
	return (uint32_t)(trace->sequence - trace->sequences);
}
static inline void pftrace_turn_to_process(struct pftrace *trace, uint32_t process)
{
	pftrace_turn_to(trace, trace->machine_of ? trace->machine_of[process] : 0);
}
void pftrace_turn_to_event(struct pftrace *trace, const struct file_event *event);

/* -- what happens at one time ------------------------------------------------------------------ */

/* FLEXTRACE_E_MEMORY or 0, all. */
int pftrace_kept_init(struct pftrace *trace);
int pftrace_keep(struct pftrace *trace, uint32_t track, const struct file_event *event,
                 uint64_t uuid, uint64_t type);
int pftrace_keep_end(struct pftrace *trace, uint64_t uuid);
int pftrace_keep_arrow(struct pftrace *trace, const struct file_event *event);

void pftrace_write_kept(struct pftrace *trace);

/* What is kept is written if its time is over. */
static inline void pftrace_move_to(struct pftrace *trace, int64_t time_ns)
{
	if (time_ns != trace->time_ns && trace->n_kept)
		pftrace_write_kept(trace);
	trace->time_ns = time_ns;
}

/* -- tracks ------------------------------------------------------------------------------------ */

/* Describes everything that does not depend on events, and gives it uuids: small ones, as they
 * stand in each event. Those of the files of several ranks differ. */
void pftrace_describe(struct pftrace *trace);

/* Of what an event but a counter is on. */
uint64_t pftrace_uuid(const struct pftrace *trace, const struct file_event *event);

/* Of what lies in `n_open` intervals of a track: another track where it is too deep for Perfetto;
 * 0: no memory. */
uint64_t pftrace_deep_uuid(struct pftrace *trace, uint32_t track, uint32_t n_open);

/* Of a line of losses. */
uint64_t pftrace_loss_uuid(const struct pftrace *trace, uint32_t line);

/* Writes what has an uuid down as what it is. */
void pftrace_describe_things(struct pftrace *trace);

/* The track of a counter, which is described when it is first asked for; 0: no memory. */
uint64_t pftrace_counter_uuid(struct pftrace *trace, const struct file_event *event);

/* -- texts that stand once --------------------------------------------------------------------- */

void pftrace_interned_init(struct pftrace_interned *interned);
void pftrace_interned_release(struct pftrace_interned *interned);

/* Each returns an iid; 0: no memory, as the writer's failure says. */
uint64_t pftrace_name(struct pftrace *trace, const struct file_event *event);
uint64_t pftrace_category(struct pftrace *trace, struct trace_text category);
uint64_t pftrace_key(struct pftrace *trace, const char *key, size_t n);
uint64_t pftrace_word(struct pftrace *trace, const char *word, size_t n);

/* Whether a text that a file of another tool told was told lately: it is worth an iid. */
bool pftrace_is_again(struct pftrace *trace, struct trace_text text);

uint64_t pftrace_string(struct pftrace *trace, uint32_t string);
uint64_t pftrace_location(struct pftrace *trace, uint32_t file, uint32_t line);

/* Of a word of ours that stays where it is. */
uint64_t pftrace_our_word(struct pftrace *trace, const char *word, size_t n);

static inline uint64_t pftrace_known_key(struct pftrace *trace, uint32_t *iid, const char *key)
{
	if (!*iid)
		*iid = (uint32_t)pftrace_key(trace, key, strlen(key));
	return *iid;
}

static inline uint64_t pftrace_event_key(struct pftrace *trace, enum event_key key)
{
	return pftrace_known_key(trace, &trace->sequence->interned.key_iids[key],
	                         event_key_names[key]);
}

/* Appends a text as UTF-8, with U+FFFD for bytes that are none. */
void pftrace_write_text(struct pftrace *trace, struct writer *writer, uint32_t field,
                        const char *text, size_t n);

/* -- events ------------------------------------------------------------------------------------ */

/* Appends the fields of a TrackEvent but for arrows. */
void pftrace_write_event(struct pftrace *trace, struct writer *writer,
                         const struct file_event *event, uint64_t uuid, uint64_t type);

#endif
