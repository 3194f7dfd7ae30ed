/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h: critical paths: the chain of host calls and device work that a step had to wait for.
 *
 * A path is walked backwards, from what ended the step to its start, each time to what it was that
 * the next piece had to wait for. So its pieces follow each other without a hole: they add up to
 * the time of the step exactly. What bounds what:
 *
 *   a host call     what its thread did before it. A call that waits for devices (its name says
 *                   so, as "cudaDeviceSynchronize", or its kind), or for work that it launched
 *                   itself: the last work, launched before the wait, that ended before it
 *                   returned, if that was at work when the wait began.
 *   device work     what was before it in its queue, if that ended after the launch had been made
 *                   (after its call began, if that returned only after the work began); else the
 *                   launch. Where the host has called a wait between queues
 *                   ("...StreamWaitEvent", "...waitOnEvent") since the launch before it in its
 *                   queue: work of another queue that ended later than both.
 *   a collective    the last rank to arrive, where all wait for all.
 *   a thread        that did nothing: the thread of the step.
 *
 * A step is what its program recorded as one, else a window, else the whole run of a process; with
 * the device work that was launched in it, which may end later than the host. Times are taken as
 * they are: work that seems to begin before its launch is bound by the moment when it began.
 *
 * Memory: 52 bytes and 16 more for a while for each piece of device work, 5 for each host row, and
 * 32 for each piece that is told at once. Slack takes 16 bytes more for each piece of device work,
 * and 16 for each launch, wait and end in the longest step.
 */
#ifndef FLEXTRACE_PATH_H
#define FLEXTRACE_PATH_H

#include "model/timeline/findings.h"
#include "model/timeline/timeline_read.h"

enum path_kind {
	PATH_COMPUTE, /* as enum work_class, up to here */
	PATH_COMMUNICATION,
	PATH_MEMORY,
	PATH_PREPARE,
	PATH_HOST,         /* a call, or between calls: then it has no name */
	PATH_LAUNCH_DELAY, /* from the launch to the start, where the queue was empty */
	PATH_QUEUE_DELAY,  /* from the end of other device work to the start */
	PATH_WAIT,         /* from the end of device work to that of the call which waited for it; a
	                    * collective before the last rank came; and what nobody knows */
	PATH_KIND_COUNT,
	/* Of PATH_HOST: outside of operations and of calls of a runtime, be it in an annotation; or
	 * in a call that waits for devices when all their work has ended. */
	PATH_OUTSIDE = PATH_KIND_COUNT,
	PATH_RETURN, /* of PATH_WAIT: a call that waits for devices returns: the work has ended */
	PATH_PART_COUNT
};

struct path_piece {
	int64_t start_time_ns, end_time_ns;
	uint32_t process; /* index: of whom */
	uint32_t name;    /* string; 0: none. Of a delay: what was delayed */
	uint32_t track;   /* of the row that it is in; FLEXTRACE_NONE: it is in none */
	uint8_t kind;     /* enum path_kind, of the parts too */
};

struct path {
	int64_t start_time_ns, end_time_ns;
	uint32_t process;                /* index; FLEXTRACE_NONE: over all ranks */
	uint32_t name;                   /* string: of the step; 0: a whole run */
	const struct path_piece *pieces; /* weak: in order of time, without a hole */
	uint32_t n_pieces;
	bool goes_on; /* what was before these pieces is told next */
};

/* The kind that a part of one belongs to; else the kind itself. */
static inline uint8_t path_whole_kind(uint8_t kind)
{
	return kind == PATH_OUTSIDE ? PATH_HOST : kind == PATH_RETURN ? PATH_WAIT : kind;
}

/* "compute", ..., "host", "launch_delay", "queue_delay", "wait". */
const char *path_kind_name(uint8_t kind);

typedef void path_taker(void *context, const struct path *path);

/* Tells the paths of all steps, rank by rank in order of time, then those over all ranks, where
 * there are several: of steps of one name. A path of more than `most` pieces is told in parts, the
 * last one first. FLEXTRACE_E_MEMORY or 0. */
int paths_find(const struct findings *findings, uint32_t most, path_taker *take, void *context);

struct path_slack { /* of a piece of device work, in the step that it was launched in */
	int64_t start_time_ns, end_time_ns;
	uint64_t slack_ns;
	uint32_t device, name; /* index; string */
	uint8_t kind;          /* enum path_kind */
};

typedef void path_slack_taker(void *context, const struct path_slack *slack);

/* Tells how much longer each piece of device work could have taken without its step taking longer.
 * FLEXTRACE_E_MEMORY or 0. */
int path_slacks_find(const struct findings *findings, path_slack_taker *take, void *context);

/* Stores the arrows of `findings` and those from each piece to the next one on another track, in
 * order: of the paths over all ranks where there are such, else of each rank. FLEXTRACE_E_MEMORY or
 * 0. */
int paths_draw(const struct findings *findings, struct table *ret_flows);

#endif
