/* SPDX-License-Identifier: Apache-2.0 */
#include "identity_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording_id.h"

int identity_init(struct identity *identity, struct string_pool *strings, const char *session)
{
	*identity = (struct identity){.strings = strings, .dialect = DIALECT_COUNT};
	identity->index = calloc(1, sizeof(*identity->index));
	if (!identity->index)
		return FLEXTRACE_E_MEMORY;
	string_cache_init(&identity->index->cache, strings);
	identity->has_all = session && strcmp(session, RECORDING_ALL) == 0;
	if (identity->has_all)
		return FLEXTRACE_OK;
	return string_intern(&identity->index->cache, session, &identity->session);
}

void identity_release(struct identity *identity)
{
	struct identity_index *index = identity->index;

	if (index) {
		string_cache_release(&index->cache);
		table_release(&index->definitions);
		map_release(&index->generations);
		map_release(&index->span_of);
		map_release(&index->threads);
		map_release(&index->devices);
		map_release(&index->counters);
		map_release(&index->shared_counters);
		map_release(&index->host_clocks);
		map_release(&index->trace_clocks);
		map_release(&index->told_traces);
		map_release(&index->same);
		free(index->sightings);
		map_release(&index->names);
		free(index->spans);
		free(index->by_start);
		free(index->name_list);
		free(index);
	}
	free(identity->processes);
	free(identity->threads);
	free(identity->devices);
	free(identity->counters);
	free(identity->host_clocks);
	*identity = (struct identity){0};
}

/* -- host clocks ------------------------------------------------------------------------------- */

/* Key: boot id and time namespace; without a boot id the host's name, without that the trace. */
int index_host_clock(struct identity *identity, const struct definition *from, uint32_t boot_id,
                     uint64_t time_namespace, uint32_t *ret_clock)
{
	uint64_t a = boot_id ? map_pair(0, boot_id) : map_pair(1, from->host);
	uint64_t b = boot_id ? time_namespace : from->host ? 0 : (uint64_t)from->trace + 1;
	int is_new = MAP_PLACE(&identity->index->host_clocks, a, b, identity->host_clocks,
	                       identity->n_host_clocks, ret_clock);

	FLEXTRACE_TRY(is_new);
	if (is_new)
		identity->host_clocks[*ret_clock] = (struct host_clock){
			.boot_id = boot_id,
			.time_namespace = time_namespace,
			.host = from->host,
			.epoch_offset_ns = from->epoch_offset_ns,
		};
	return FLEXTRACE_OK;
}

int index_guess_host_clock(struct identity *identity, const struct definition *from,
                           uint32_t *ret_clock)
{
	*ret_clock = map_find(&identity->index->trace_clocks, from->trace, 0);
	if (*ret_clock != MAP_NONE)
		return FLEXTRACE_OK;
	return index_host_clock(identity, from, 0, 0, ret_clock);
}

/* -- processes --------------------------------------------------------------------------------- */

bool index_excludes(const struct identity *identity, const struct definition *from,
                    uint32_t claimed)
{
	if (identity->has_all)
		return false;
	if (identity->session)
		return claimed != identity->session;
	return from->recording &&
	       map_find(&identity->index->told_traces, from->trace, 0) != MAP_NONE &&
	       recording_excludes(string_get(identity->strings, from->recording),
	                          string_get(identity->strings, claimed));
}

uint8_t index_dialect(const struct identity *identity, uint32_t told)
{
	if (identity->dialect != DIALECT_COUNT)
		return identity->dialect;
	return told == DIALECT_COUNT ? DIALECT_NEUTRAL : (uint8_t)told;
}

int index_add_process(struct identity *identity, const struct definition *from, int32_t vpid,
                      struct process **ret_process)
{
	uint32_t told = map_find(&identity->index->told_traces, from->trace, 0);

	if (told == MAP_NONE)
		told = from->has_dialects ? DIALECT_NEUTRAL : DIALECT_AIU;
	if (identity->n_processes >> FLEXTRACE_OWNER_BITS)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(ARRAY_ROOM(identity->processes, identity->n_processes));
	*ret_process = &identity->processes[identity->n_processes++];
	**ret_process = (struct process){
		.trace = from->trace,
		.vpid = vpid,
		.rank = FLEXTRACE_RANK_UNKNOWN,
		.pid = vpid < 0 ? 0 : (uint32_t)vpid,
		.host_clock = FLEXTRACE_NONE,
		.is_excluded = index_excludes(identity, from, 0),
		.dialect = index_dialect(identity, told),
	};
	return FLEXTRACE_OK;
}

int index_add_span(struct identity *identity, uint32_t trace, int32_t vpid, struct span span)
{
	struct identity_index *index = identity->index;

	FLEXTRACE_TRY(ARRAY_ROOM(index->spans, index->n_spans));
	FLEXTRACE_TRY(map_put(&index->span_of, map_pair(trace, (uint32_t)vpid), 0, index->n_spans));
	index->spans[index->n_spans++] = span;
	index->last_plus_1 = 0;
	return FLEXTRACE_OK;
}

static int add_undefined_process(struct identity *identity, const struct definition *from)
{
	struct process *process;
	uint32_t host_clock;
	char text[32];

	FLEXTRACE_TRY(index_guess_host_clock(identity, from, &host_clock));
	FLEXTRACE_TRY(index_add_process(identity, from, from->record.vpid, &process));
	process->host_clock = host_clock;
	process->host = from->host ? from->host : identity->host_clocks[host_clock].host;
	if (process->vpid < 0)
		snprintf(text, sizeof(text), "unknown");
	else
		snprintf(text, sizeof(text), "pid %" PRId32, process->vpid);
	FLEXTRACE_TRY(string_intern(&identity->index->cache, text, &process->program));
	return index_add_span(identity, from->trace, from->record.vpid,
	                      (struct span){identity->n_processes - 1, 1});
}

/* The process of the newest generation that began at a time or before, else of the first. */
static uint32_t generation_at(const struct identity *identity, struct span span, uint64_t clock_ns)
{
	const uint32_t *by_start = identity->index->by_start + span.first;
	uint32_t low = 0,
		 high = span.n; /* of low: began before (or is the first); of high: did not */

	if (span.n == 1)
		return span.first;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (identity->processes[by_start[middle]].start_ns <= clock_ns)
			low = middle;
		else
			high = middle;
	}
	return by_start[low];
}

int index_process(struct identity *identity, const struct definition *from, uint32_t *ret_process)
{
	const struct map *map = &identity->index->span_of;
	uint64_t who = map_pair(from->trace, (uint32_t)from->record.vpid);
	uint32_t span = map_find(map, who, 0);

	if (span == MAP_NONE) {
		FLEXTRACE_TRY(add_undefined_process(identity, from));
		span = map_find(map, who, 0);
	}
	*ret_process = generation_at(identity, identity->index->spans[span], from->record.clock_ns);
	return FLEXTRACE_OK;
}

int identity_process(struct identity *identity, const struct stream *stream,
                     const struct record *record, uint32_t *ret_process)
{
	struct identity_index *index = identity->index;
	uint64_t who = map_pair(stream->trace, (uint32_t)record->vpid);
	uint32_t span;

	if (index->last_plus_1 && index->last_who == who) {
		*ret_process = index->last_plus_1 - 1;
		return FLEXTRACE_OK;
	}
	span = map_find(&index->span_of, who, 0);
	if (span == MAP_NONE) {
		const struct definition from = {
			.trace = stream->trace,
			.host = stream->host,
			.recording = stream->recording,
			.epoch_offset_ns = stream->clock_offset_ns,
			.has_dialects = stream->has_dialects,
			.record = {.clock_ns = record->clock_ns, .vpid = record->vpid},
		};

		return index_process(identity, &from, ret_process);
	}
	*ret_process = generation_at(identity, index->spans[span], record->clock_ns);
	if (index->spans[span].n == 1) {
		index->last_who = who;
		index->last_plus_1 = *ret_process + 1;
	}
	return FLEXTRACE_OK;
}

/* -- threads, devices, counters ---------------------------------------------------------------- */

int index_thread(struct identity *identity, uint32_t process, int32_t vtid, uint32_t *ret_thread)
{
	int is_new = MAP_PLACE(&identity->index->threads, map_pair(process, (uint32_t)vtid), 0,
	                       identity->threads, identity->n_threads, ret_thread);

	FLEXTRACE_TRY(is_new);
	if (is_new)
		identity->threads[*ret_thread] = (struct thread){process, vtid, 0};
	return FLEXTRACE_OK;
}

int identity_thread(struct identity *identity, const struct stream *stream,
                    const struct record *record, uint32_t *ret_thread)
{
	uint32_t process;

	FLEXTRACE_TRY(identity_process(identity, stream, record, &process));
	return index_thread(identity, process, record->vtid, ret_thread);
}

int identity_thread_again(struct identity *identity, const struct stream *stream,
                          const struct record *record, struct identity_memo *memo,
                          uint32_t *ret_thread)
{
	const struct identity_index *index = identity->index;
	uint32_t span;

	if (memo->thread_plus_1 && memo->vpid == record->vpid && memo->vtid == record->vtid) {
		*ret_thread = memo->thread_plus_1 - 1;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(identity_thread(identity, stream, record, ret_thread));
	span = map_find(&index->span_of, map_pair(stream->trace, (uint32_t)record->vpid), 0);
	*memo = (struct identity_memo){record->vpid, record->vtid, *ret_thread + 1};
	if (index->spans[span].n > 1)
		memo->thread_plus_1 = 0; /* the next record may be of another generation */
	return FLEXTRACE_OK;
}

int identity_device(struct identity *identity, uint32_t process, uint32_t device,
                    uint32_t *ret_device)
{
	int is_new = MAP_PLACE(&identity->index->devices, map_pair(process, device), 0,
	                       identity->devices, identity->n_devices, ret_device);

	FLEXTRACE_TRY(is_new);
	if (is_new)
		identity->devices[*ret_device] = (struct device){.process = process,
		                                                 .device = device};
	return *ret_device >> FLEXTRACE_OWNER_BITS ? FLEXTRACE_E_MEMORY : FLEXTRACE_OK;
}

static int add_counter(struct identity *identity, uint32_t device, uint32_t domain,
                       uint32_t *ret_counter)
{
	*ret_counter = identity->n_counters;
	FLEXTRACE_TRY(ARRAY_ROOM(identity->counters, *ret_counter));
	identity->counters[identity->n_counters++] = (struct counter){
		.device = device,
		.domain = domain,
		.counter_bits = 32,
		.rate_group = FLEXTRACE_NONE - domain, /* of nobody else, unless it is defined */
	};
	return FLEXTRACE_OK;
}

/* The clock of a file is that of all hosts that the file is about: which of them a device is on. */
static uint32_t host_in_file(const struct identity *identity, const struct device *device)
{
	return identity_is_file_of(identity, identity->strings, device->process, IDENTITY_FILE)
	               ? identity->processes[device->process].host
	               : 0;
}

int identity_counter(struct identity *identity, uint32_t device, uint32_t domain,
                     uint32_t *ret_counter)
{
	struct identity_index *index = identity->index;
	const struct device *of = &identity->devices[device];
	uint64_t clock_and_uuid, host_and_domain;

	*ret_counter = map_find(&index->counters, map_pair(device, domain), 0);
	if (*ret_counter != MAP_NONE)
		return FLEXTRACE_OK;
	if (!of->uuid) {
		FLEXTRACE_TRY(add_counter(identity, device, domain, ret_counter));
		return map_put(&index->counters, map_pair(device, domain), 0, *ret_counter);
	}
	clock_and_uuid = map_pair(identity->processes[of->process].host_clock, of->uuid);
	host_and_domain = map_pair(host_in_file(identity, of), domain);
	*ret_counter = map_find(&index->shared_counters, clock_and_uuid, host_and_domain);
	if (*ret_counter == MAP_NONE) {
		FLEXTRACE_TRY(add_counter(identity, device, domain, ret_counter));
		FLEXTRACE_TRY(map_put(&index->shared_counters, clock_and_uuid, host_and_domain,
		                      *ret_counter));
	}
	return map_put(&index->counters, map_pair(device, domain), 0, *ret_counter);
}

/* Appends a counter to the list of its rate. `ends`: the last of each list so far. */
static int list_rate(const struct identity *identity, uint32_t counter, struct map *ends,
                     struct rate_lists *lists)
{
	const struct counter *of = &identity->counters[counter];
	const struct device *device = &identity->devices[of->device];
	uint64_t whose = of->device, group = of->rate_group;
	uint32_t last;

	if (device->uuid) {
		whose = map_pair(identity->processes[device->process].host_clock, device->uuid);
		group = map_pair(host_in_file(identity, device) + 1, of->rate_group);
	}
	last = map_find(ends, whose, group);
	lists->first[counter] = last == MAP_NONE ? counter : lists->first[last];
	lists->next[counter] = FLEXTRACE_NONE;
	if (last != MAP_NONE)
		lists->next[last] = counter;
	return map_put(ends, whose, group, counter);
}

int identity_list_rates(const struct identity *identity, struct rate_lists *ret_lists)
{
	struct map ends = {0};
	int code = FLEXTRACE_OK;

	*ret_lists = (struct rate_lists){calloc(identity->n_counters + 1ull, sizeof(uint32_t)),
	                                 calloc(identity->n_counters + 1ull, sizeof(uint32_t))};
	if (!ret_lists->first || !ret_lists->next)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < identity->n_counters && code >= 0; i++)
		code = list_rate(identity, i, &ends, ret_lists);
	map_release(&ends);
	return code;
}

void rate_lists_release(struct rate_lists *lists)
{
	free(lists->first);
	free(lists->next);
	*lists = (struct rate_lists){NULL, NULL};
}

/* -- names ------------------------------------------------------------------------------------- */

int index_put_name(struct identity *identity, enum name_kind kind, uint64_t what,
                   const struct name *name)
{
	struct identity_index *index = identity->index;
	uint32_t found;

	FLEXTRACE_TRY(
		MAP_PLACE(&index->names, what, kind, index->name_list, index->n_names, &found));
	index->name_list[found] = *name;
	return FLEXTRACE_OK;
}

int identity_name_marker(struct identity *identity, uint32_t id, uint32_t name, uint32_t file,
                         uint32_t line)
{
	return index_put_name(identity, NAME_IMAGE_MARKER, map_pair(0, id),
	                      &(struct name){name, file, line});
}

uint32_t identity_queue_name(const struct identity *identity, uint32_t device, uint32_t queue)
{
	uint32_t found = map_find(&identity->index->names, map_pair(device, queue), NAME_QUEUE);

	return found == MAP_NONE ? 0 : identity->index->name_list[found].name;
}

bool identity_processor(const struct identity *identity, const struct string_pool *strings,
                        const struct track *track, struct string_text *ret_name)
{
	const char *names = string_get(strings, identity->devices[track->owner].processors);
	const char *comma;

	for (uint32_t i = 0; i < track->processor && names; i++) {
		comma = strchr(names, ',');
		names = comma ? comma + 1 : NULL;
	}
	if (!names || !*names || *names == ',')
		return false;
	*ret_name = (struct string_text){.bytes = names, .length = strcspn(names, ",")};
	return true;
}

bool identity_marker(const struct identity *identity, uint32_t device, uint32_t id,
                     uint32_t *ret_name, uint32_t *ret_file, uint32_t *ret_line)
{
	const struct map *names = &identity->index->names;
	uint32_t found = map_find(names, map_pair(device, id), NAME_MARKER);
	const struct name *name;

	if (found == MAP_NONE)
		found = map_find(names, map_pair(0, id), NAME_IMAGE_MARKER);
	if (found == MAP_NONE)
		return false;
	name = &identity->index->name_list[found];
	*ret_name = name->name;
	*ret_file = name->file;
	*ret_line = name->line;
	return true;
}

void identity_warn(const struct identity *identity, struct ledger *ledger)
{
	ledger->warnings[WARNING_SAME_PROCESS] += identity->n_shared;
	ledger->warnings[WARNING_OTHER_RECORDING] += identity->n_left_out;
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		if (identity->processes[i].vpid < 0)
			ledger->warnings[WARNING_NO_CONTEXTS]++;
		else if (!identity->processes[i].is_defined)
			ledger->warnings[WARNING_NO_DEFINITIONS]++;
	}
	for (uint32_t i = 0; i < identity->n_host_clocks; i++)
		ledger->warnings[WARNING_OTHER_CLOCK] += identity->host_clocks[i].is_not_recorders;
}
