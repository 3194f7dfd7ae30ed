/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_fixture.h: a timeline from literals, for the tests of emitters and analyses.
 *
 * Stands in for identity's names, calibrate's and align's reports, so that a test links none of
 * these stages: alignment is the identity map plus an epoch offset. timeline_fixture_sample() is
 * one small timeline with everything in it.
 */
#ifndef FLEXTRACE_TESTS_TIMELINE_FIXTURE_H
#define FLEXTRACE_TESTS_TIMELINE_FIXTURE_H

#include "engine/derive/derive.h"
#include "model/timeline/event_class.h"
#include "model/timeline/findings.h"

#define FIXTURE_MAX 8

struct clocks {
	struct clock_report reports[FIXTURE_MAX];
	uint32_t n;
};

struct alignment {
	struct alignment_report reports[FIXTURE_MAX];
	uint32_t n;
	int64_t epoch_offset_ns;
};

struct identity_index { /* queue names */
	uint32_t device[FIXTURE_MAX], queue[FIXTURE_MAX], name[FIXTURE_MAX];
	uint32_t n;
};

struct timeline_fixture {
	struct timeline timeline;
	struct findings findings; /* of it */
	struct clock_count clock_counts[FIXTURE_MAX];
	struct identity identity;
	struct identity_index queue_names;
	struct process processes[FIXTURE_MAX];
	struct thread threads[FIXTURE_MAX];
	struct device devices[FIXTURE_MAX];
	struct counter counters[FIXTURE_MAX];
	struct track tracks[4 * FIXTURE_MAX];
	struct tick_op ops[4 * FIXTURE_MAX];
	struct zone zones[4 * FIXTURE_MAX];
	struct mark_run runs[4 * FIXTURE_MAX];
	struct marker markers[4 * FIXTURE_MAX];
	struct stream streams[FIXTURE_MAX];
	struct stream *stream_list[FIXTURE_MAX];
	struct stream_set stream_set;
	struct clocks clocks;
	struct alignment alignment;
	struct ledger ledger;
	struct event_classes classes; /* of a timeline of one rank */
	struct string_pool *strings;  /* owned */
	struct string_cache cache;
};

/* An empty timeline with one stream, 0/1.0. */
void timeline_fixture_init(struct timeline_fixture *fixture);
void timeline_fixture_release(struct timeline_fixture *fixture);

/* Each returns the index of what it adds. */
uint32_t fixture_string(struct timeline_fixture *fixture, const char *text);
uint32_t fixture_process(struct timeline_fixture *fixture, int32_t rank, uint32_t pid,
                         const char *program);
uint32_t fixture_thread(struct timeline_fixture *fixture, uint32_t process, int32_t vtid,
                        const char *name);
uint32_t fixture_device(struct timeline_fixture *fixture, uint32_t process, uint32_t device,
                        const char *name);
uint32_t fixture_track(struct timeline_fixture *fixture, struct track track);
uint32_t fixture_op(struct timeline_fixture *fixture, struct tick_op op);
uint32_t fixture_zone(struct timeline_fixture *fixture, struct zone zone, struct mark_run run,
                      struct marker marker);

/* Append a row, book its record as read and used, and cover its time. */
void fixture_host(struct timeline_fixture *fixture, struct host_row row);
void fixture_device_row(struct timeline_fixture *fixture, struct device_row row);
void fixture_instant(struct timeline_fixture *fixture, struct instant_row row);
void fixture_counter(struct timeline_fixture *fixture, struct counter_row row);
void fixture_memory(struct timeline_fixture *fixture, struct memory_row row);
void fixture_flow(struct timeline_fixture *fixture, struct flow flow);

/* A plain host interval of one name. */
struct host_row fixture_scope(struct timeline_fixture *fixture, uint32_t track, const char *name,
                              int64_t start_time_ns, int64_t end_time_ns);

/* Two ranks and a process of unknown rank; threads, lanes, queues, cores; every kind of row;
 * flows that cross in time; losses with and without times; a clock and an alignment report. */
void timeline_fixture_sample(struct timeline_fixture *fixture);

#endif
