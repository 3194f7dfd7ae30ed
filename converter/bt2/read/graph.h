/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h: one graph of `flextrace convert`: a CTF source whose chosen ports end in a draining
 * sink.
 *
 * No muxer: the records are put in order later. Ports that are not connected cost nothing. A graph,
 * its plug-ins and its feed belong to one thread.
 */
#ifndef FLEXTRACE_BT2_GRAPH_H
#define FLEXTRACE_BT2_GRAPH_H

#include <stdatomic.h>

#include "bt2/read/discover.h"
#include "bt2/read/intake.h"
#include "bt2/read/plugins.h"

/* What all graphs of a conversion share; counted in steps of whole batches. */
struct graph_shared {
	_Atomic uint64_t n_messages; /* for the progress line */
	atomic_bool stops;           /* set: drain no further */
};

struct graph {
	struct intake intake;                /* first; owned */
	bt_graph *bt;                        /* owned reference */
	const bt_component_source *source;   /* weak, of the graph */
	const bt_component_sink *sink;       /* weak, of the graph */
	bt_component_class_sink *sink_class; /* owned reference */
	struct graph_shared *shared;         /* weak */
};

/* Opens the directories of one trace, which parses its metadata and indexes its packets. `feed` may
 * be NULL to look at the ports only. FLEXTRACE_E_INPUT: babeltrace2 cannot open it. */
int graph_open(struct graph *graph, const struct plugins *plugins, const struct trace_group *group,
               struct feed *feed, struct graph_shared *shared, struct flextrace_error *error);
void graph_close(struct graph *graph);

uint64_t graph_port_count(const struct graph *graph);

/* "<uuid or path> | <stream class id> | <stream id or path>"; weak. */
const char *graph_port_name(const struct graph *graph, uint64_t port);

int graph_connect(struct graph *graph, uint64_t port, struct flextrace_error *error);

/* Drains the connected ports in their order. On failure, `ret_n_drained` of them are whole. */
int graph_run(struct graph *graph, uint64_t *ret_n_drained, struct flextrace_error *error);

#endif
