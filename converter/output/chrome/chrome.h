/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome.h: the parts of the Chrome emitter: events -> trace.json, a JSON object of the Trace Event
 * format.
 *
 *   chrome.c       the emitter
 *   chrome_event.c one event each
 *   chrome_sites.c where in the source code events of a name come from, once for all of them
 *   chrome_ranks.c what the file of a single rank has in its own way
 *   chrome_meta.c  everything around the events: keys of the object, names of processes and threads
 *
 * Rules that viewers hold us to: sorted by ts, names before use, rows that nest, flows in pairs, no
 * tid 0, every event with args. tests/support/check_trace.c checks them independently.
 */
#ifndef FLEXTRACE_CHROME_H
#define FLEXTRACE_CHROME_H

#include "output/events/line_ids.h"
#include "output/fragments.h"

/* pids of the processes that show what was lost and what was left out; tids are lines + 1. */
#define CHROME_LOSSES_PID   1
#define CHROME_LEFT_OUT_PID 2

/* Lines of a process: of steps that were found, in the file of a single rank, and of collectives,
 * one for each lane. */
#define CHROME_STEPS_TID       10000000u
#define CHROME_FOUND_TID(lane) (CHROME_STEPS_TID - 1 - (lane))

/* Lines of waits for devices, which stand by the tracks of threads behind it. */
#define CHROME_WAITS_TID 9000000u

/* chrome_sites.c: where events of a name come from, as far as that is one place. */
struct chrome_sites {
	struct map names;    /* (name, category) -> index */
	struct chrome_site { /* owned, in the order of their events */
		uint32_t name, file, line;
		struct trace_text category; /* weak */
	} * sites;
	uint32_t n;
};

/* Whether an event is from where others of its name are. 1, 0 or FLEXTRACE_E_MEMORY. */
int chrome_sites_have(struct chrome_sites *sites, const struct file_event *event);
void chrome_sites_release(struct chrome_sites *sites);

/* Numbers written before, which those that follow are near. */
struct chrome_digits {
	struct writer_high_digits times, cycles;
	struct writer_digits err, job;
};

struct chrome {
	struct events events;
	struct line_ids ids;
	struct chrome_sites sites;
	struct writer writer;
	struct fragments track_ids; /* per track: ,"pid":1000,"tid":12,"ts": */
	struct chrome_digits digits;
	uint64_t n_events;
	bool has_args;        /* of the event, written */
	int64_t base_time_ns; /* ts 0 */
	const char *file;     /* weak: its name */
};

/* Everything before the first event, up to the opened array of events; the names in it. */
void chrome_write_head(struct chrome *chrome);
void chrome_write_names(struct chrome *chrome);
void chrome_write_tail(struct chrome *chrome);

int chrome_track_ids_init(struct chrome *chrome);

/* FLEXTRACE_E_MEMORY or 0. */
int chrome_write_event(struct chrome *chrome, const struct file_event *event);

uint32_t chrome_loss_pid(enum loss_cause cause);

/* How long before the first row, at least, ts 0 of the files of single ranks stands: 2^k us, more
 * than what there is with 2 s, so that all ts have one exponent and the difference of any two is a
 * double. */
int64_t chrome_rank_lead_ns(int64_t first_time_ns, int64_t last_time_ns);

/* A duration in us that, added to the start as doubles are, gives the end to the last bit: so do
 * their readers find out what lies in what. */
void chrome_write_dur(struct chrome *chrome, int64_t start_time_ns, int64_t end_time_ns);

/* Writes a top-level member, a list or one that has a rank, as the file of a rank had it; false: it
 * had none. */
bool chrome_write_told_member(struct chrome *chrome, const char *name);

/* The key of an argument that is not the first one. */
#define CHROME_ARG(writer, key) writer_literal(writer, ",\"" key "\":")

/* Separates events. */
static inline void chrome_next(struct chrome *chrome)
{
	if (chrome->n_events++)
		writer_literal(&chrome->writer, ",\n");
	else
		writer_literal(&chrome->writer, "\n");
}

#endif
