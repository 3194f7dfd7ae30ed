// SPDX-License-Identifier: Apache-2.0
/*
 * pftrace_machines.c: which packets are of which machine. Each host is one where there are several,
 * with a sequence of its own: readers keep apart what packets of different machines say.
 *
 * They draw no arrow from one machine to another (the FlowTracker of Perfetto's trace processor is
 * of one machine). Where an arrow leads from host to host, all packets are of the trace itself.
 */
#include "pftrace.h"

#include <stdlib.h>

#include "output/events/event_shown.h"

/* Adds the sequence of the trace itself, then one for each host, by the order of processes. */
static int number_hosts(struct pftrace *trace)
{
	const struct identity *identity = trace->events.view.identity;
	const uint32_t *order = trace->events.lines.process_order;
	bool is_of_rank = events_are_of_rank(&trace->events);
	struct map hosts = {.n_slots = 0};
	uint32_t first;
	int code = MAP_PLACE(&hosts, 0, 1, trace->sequences, trace->n_sequences, &first);

	for (uint32_t i = 0; i < identity->n_processes && code >= 0 && !is_of_rank; i++) {
		const struct process *process = &identity->processes[order[i]];
		uint32_t *machine = &trace->machine_of[order[i]];

		*machine = 0;
		if (process->is_excluded)
			continue;
		code = MAP_PLACE(&hosts, process->host, 0, trace->sequences, trace->n_sequences,
		                 machine);
		if (code >= 0)
			trace->sequences[*machine].host = process->host;
	}
	map_release(&hosts);
	return code < 0 ? code : FLEXTRACE_OK;
}

static bool is_between_machines(const struct pftrace *trace, const struct flow *flow)
{
	const struct view *view = &trace->events.view;

	return flow->to_time_ns >= flow->from_time_ns &&
	       trace->machine_of[view_track_process(view, flow->from_track)] !=
	               trace->machine_of[view_track_process(view, flow->to_track)];
}

/* Whether an arrow that is drawn would be lost. */
static bool parts_arrows(const struct pftrace *trace)
{
	if (!event_is_shown(&trace->events, FROM_FLOWS))
		return false;
	TABLE_EACH(struct flow, flow, trace->events.view.findings->flows) {
		if (is_between_machines(trace, flow))
			return true;
	}
	return false;
}

static void begin_sequence(struct pftrace *trace, uint32_t i)
{
	struct pftrace_sequence *sequence = &trace->sequences[i];
	char *at = sequence->same;

	at = put_tagged(at, PACKET_SEQUENCE_ID, PROTOBUF_VARINT, 1 + i);
	at = put_tagged(at, PACKET_SEQUENCE_FLAGS, PROTOBUF_VARINT, SEQUENCE_NEEDS_STATE);
	if (i)
		at = put_tagged(at, PACKET_MACHINE_ID, PROTOBUF_VARINT, i);
	sequence->n_same = (uint8_t)(at - sequence->same);
	pftrace_interned_init(&sequence->interned);
}

int pftrace_machines_init(struct pftrace *trace)
{
	trace->machine_of =
		malloc((trace->events.view.identity->n_processes + 1ull) * sizeof(uint32_t));
	if (!trace->machine_of)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(number_hosts(trace));
	if (trace->n_sequences <= 2 || parts_arrows(trace)) {
		trace->n_sequences = 1;
		free(trace->machine_of);
		trace->machine_of = NULL;
	}
	for (uint32_t i = 0; i < trace->n_sequences; i++)
		begin_sequence(trace, i);
	pftrace_turn_to(trace, 0);
	return FLEXTRACE_OK;
}

void pftrace_machines_release(struct pftrace *trace)
{
	for (uint32_t i = 0; i < trace->n_sequences; i++)
		pftrace_interned_release(&trace->sequences[i].interned);
	free(trace->sequences);
	free(trace->machine_of);
}

void pftrace_turn_to_event(struct pftrace *trace, const struct file_event *event)
{
	const struct view *view = &trace->events.view;

	if (!trace->machine_of || event->on == ON_LOSSES)
		pftrace_turn_to(trace, 0);
	else if (event->on == ON_PROCESS)
		pftrace_turn_to_process(trace, event->place);
	else if (event->on == ON_FOUND_WORK)
		pftrace_turn_to_process(trace, trace->events.found.lines[event->place].process);
	else if (event->on == ON_DEVICE)
		pftrace_turn_to_process(trace, view->identity->devices[event->place].process);
	else
		pftrace_turn_to_process(trace, view_track_process(view, event->place));
}
