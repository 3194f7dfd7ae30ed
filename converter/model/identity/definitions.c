/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions are kept as they come and resolved in identity_finish(): processes first, because
 * which generation a device or a name belongs to is known only when all generations are.
 */
#include "identity_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* Offsets that differ by less are of one clock. One that was set: reads of two clocks one behind
 * the other are apart by as long as a program had to wait for a CPU. That of a time namespace: such
 * waits are rare, and its own read is as good as the recorder's. */
#define SET_CLOCK_NS           500000000
#define OTHER_CLOCK_NS         1000000
#define INITIAL_TIME_NAMESPACE 0xeffffffau /* its inode, fixed by Linux: no offset */
#define MAX_REAL_NS            UINT64_C(3000000000000000000) /* in 2065: later ones are garbage */
#define MIN_NOMINAL_HZ         1000 /* less is no rate of a counter, but a unit mistaken */

int identity_push(struct identity *identity, const struct stream *stream,
                  const struct record *record, struct ledger *ledger)
{
	size_t head_bytes = offsetof(struct definition, record);
	struct definition *definition;

	(void)ledger;
	definition = table_append(&identity->index->definitions, head_bytes + record->size_bytes);
	if (!definition)
		return FLEXTRACE_E_MEMORY;
	definition->trace = stream->trace;
	definition->host = stream->host;
	definition->recording = stream->recording;
	definition->epoch_offset_ns = stream->clock_offset_ns;
	definition->is_given = stream->is_given;
	definition->has_dialects = stream->has_dialects;
	memcpy(&definition->record, record, record->size_bytes);
	return FLEXTRACE_OK;
}

static struct definition *next_definition(struct table_cursor *cursor)
{
	const struct definition *next = table_peek(cursor);

	if (!next)
		return table_next(cursor, 0);
	return table_next(cursor, offsetof(struct definition, record) + next->record.size_bytes);
}

/* -- processes --------------------------------------------------------------------------------- */

static void replace_string(uint32_t *string, uint32_t by)
{
	if (by)
		*string = by;
}

/* Without contexts the record's own pid is the best name for its process. */
static int32_t vpid_of(const struct record_process *record)
{
	return record->head.vpid < 0 ? (int32_t)record->pid : record->head.vpid;
}

/* LTTng samples the offset of the clock that its session daemon has. A process in another time
 * namespace has another: then what it saw of both clocks itself holds. */
static void check_epoch(struct host_clock *clock, const struct record_process *record)
{
	bool has_offset = record->time_namespace &&
	                  record->time_namespace != INITIAL_TIME_NAMESPACE;
	int64_t own_ns, off_ns, limit_ns = has_offset ? OTHER_CLOCK_NS : SET_CLOCK_NS;

	if (!record->real_ns || record->real_ns > MAX_REAL_NS || !record->time_ns ||
	    record->time_ns > record->real_ns ||
	    __builtin_sub_overflow((int64_t)record->real_ns, (int64_t)record->time_ns, &own_ns) ||
	    __builtin_sub_overflow(own_ns, clock->epoch_offset_ns, &off_ns))
		return;
	if (off_ns > -limit_ns && off_ns < limit_ns)
		return;
	clock->epoch_offset_ns = own_ns;
	clock->is_not_recorders = true;
}

/* The process in another trace that this one is; MAP_NONE: none. */
static uint32_t find_same(const struct identity *identity, const struct definition *definition)
{
	const struct record_process *record = (const struct record_process *)&definition->record;
	uint32_t clock;

	if (!record->boot_id || !record->start_ns || !record->pid ||
	    index_excludes(identity, definition, record->session))
		return MAP_NONE;
	clock = map_find(&identity->index->host_clocks, map_pair(0, record->boot_id),
	                 record->time_namespace);
	return clock == MAP_NONE ? MAP_NONE
	                         : map_find(&identity->index->same, map_pair(clock, record->pid),
	                                    record->start_ns);
}

/* A process of this trace, new or one that another trace has, too. */
static int add_sighting(struct identity *identity, const struct definition *definition,
                        uint32_t *ret_process)
{
	const struct record_process *record = (const struct record_process *)&definition->record;
	struct identity_index *index = identity->index;
	struct process *process;

	*ret_process = find_same(identity, definition);
	if (*ret_process == MAP_NONE) {
		*ret_process = identity->n_processes;
		FLEXTRACE_TRY(index_add_process(identity, definition, vpid_of(record), &process));
		process->is_defined = true;
		process->start_ns = record->start_ns;
	} else {
		process = &identity->processes[*ret_process];
		identity->n_shared += !process->is_shared;
		process->is_shared = true;
	}
	FLEXTRACE_TRY(map_put(&index->generations,
	                      map_pair(definition->trace, (uint32_t)vpid_of(record)),
	                      record->start_ns, *ret_process));
	return ARRAY_PUSH(index->sightings, index->n_sightings,
	                  (struct sighting){definition->trace, vpid_of(record), *ret_process});
}

static enum dialect dialect_of(const struct identity *identity, const struct definition *definition)
{
	const struct record_process *record = (const struct record_process *)&definition->record;

	return dialect_find(string_get(identity->strings, record->dialect));
}

static int define_process(struct identity *identity, const struct definition *definition)
{
	const struct record_process *record = (const struct record_process *)&definition->record;
	struct map *generations = &identity->index->generations;
	uint64_t who = map_pair(definition->trace, (uint32_t)vpid_of(record));
	uint32_t found = map_find(generations, who, record->start_ns), n_clocks;
	struct process *process;

	if (found == MAP_NONE)
		FLEXTRACE_TRY(add_sighting(identity, definition, &found));
	process = &identity->processes[found];
	if (record->rank != FLEXTRACE_RANK_UNKNOWN)
		process->rank = record->rank;
	if (record->world_size)
		process->world_size = record->world_size;
	process->is_given |= definition->is_given;
	process->pid = record->pid;
	replace_string(&process->host, record->host ? record->host : definition->host);
	replace_string(&process->program, record->head.name);
	replace_string(&process->runtime, record->runtime);
	replace_string(&process->version, record->version);
	replace_string(&process->session, record->session);
	process->is_excluded = index_excludes(identity, definition, process->session);
	process->has_odd_dialect = dialect_of(identity, definition) == DIALECT_COUNT;
	process->dialect = index_dialect(identity, dialect_of(identity, definition));
	if (!record->boot_id)
		return FLEXTRACE_OK;
	n_clocks = identity->n_host_clocks;
	FLEXTRACE_TRY(index_host_clock(identity, definition, record->boot_id,
	                               record->time_namespace, &process->host_clock));
	if (identity->n_host_clocks > n_clocks)
		check_epoch(&identity->host_clocks[process->host_clock], record);
	if (!process->is_excluded)
		FLEXTRACE_TRY(map_put(&identity->index->same,
		                      map_pair(process->host_clock, record->pid), record->start_ns,
		                      found));
	if (!identity->host_clocks[process->host_clock].host)
		identity->host_clocks[process->host_clock].host = process->host;
	if (map_find(&identity->index->trace_clocks, definition->trace, 0) == MAP_NONE)
		return map_put(&identity->index->trace_clocks, definition->trace, 0,
		               process->host_clock);
	return FLEXTRACE_OK;
}

static int define_processes(struct identity *identity)
{
	struct table_cursor cursor;
	struct definition *definition;

	table_read(&cursor, &identity->index->definitions, false);
	while ((definition = next_definition(&cursor)))
		if (definition->record.class == RECORD_PROCESS) {
			FLEXTRACE_TRY(map_put(&identity->index->told_traces, definition->trace, 0,
			                      dialect_of(identity, definition)));
			FLEXTRACE_TRY(define_process(identity, definition));
		}

	/* Those that did not tell their boot id are on the clock of the others. */
	table_read(&cursor, &identity->index->definitions, false);
	while ((definition = next_definition(&cursor))) {
		const struct record_process *record = (struct record_process *)&definition->record;
		uint32_t found;

		if (record->head.class != RECORD_PROCESS || record->boot_id)
			continue;
		found = map_find(&identity->index->generations,
		                 map_pair(definition->trace, (uint32_t)vpid_of(record)),
		                 record->start_ns);
		if (identity->processes[found].host_clock == FLEXTRACE_NONE)
			FLEXTRACE_TRY(index_guess_host_clock(
				identity, definition, &identity->processes[found].host_clock));
	}
	return FLEXTRACE_OK;
}

static int compare_sightings(const void *left, const void *right, void *array)
{
	const struct process *processes = array;
	const struct sighting *a = left, *b = right;
	uint64_t start_a = processes[a->process].start_ns, start_b = processes[b->process].start_ns;

	return ORDER(a->trace, b->trace) ?: ORDER(a->vpid, b->vpid) ?: ORDER(start_a, start_b);
}

static bool is_same_vpid(const struct process *a, const struct process *b)
{
	return a->trace == b->trace && a->vpid == b->vpid;
}

/* Those of one (trace, vpid), from `first` on; returns the sighting behind them. */
static uint32_t number_generations(struct identity *identity, uint32_t first)
{
	struct identity_index *index = identity->index;
	const struct sighting *all = index->sightings;
	uint32_t next = first;

	for (; next < index->n_sightings && all[next].trace == all[first].trace &&
	       all[next].vpid == all[first].vpid;
	     next++) {
		struct process *process = &identity->processes[all[next].process];

		index->by_start[next] = all[next].process;
		if (process->trace == all[next].trace)
			process->generation = next - first;
	}
	return next;
}

static int sort_generations(struct identity *identity)
{
	struct identity_index *index = identity->index;
	struct sighting *all = index->sightings;
	uint32_t next;

	FLEXTRACE_TRY(ARRAY_NEW(index->by_start, index->n_sightings + 1ull));
	if (index->n_sightings)
		qsort_r(all, index->n_sightings, sizeof(*all), compare_sightings,
		        identity->processes);
	for (uint32_t first = 0; first < index->n_sightings; first = next) {
		next = number_generations(identity, first);
		FLEXTRACE_TRY(
			index_add_span(identity, all[first].trace, all[first].vpid,
		                       (struct span){next - first == 1 ? all[first].process : first,
		                                     next - first}));
	}
	return FLEXTRACE_OK;
}

/* -- definitions of all but processes ---------------------------------------------------------- */

static int define_device(struct identity *identity, uint32_t process, const struct record *head)
{
	const struct record_device *record = (const struct record_device *)head;
	struct device *device;
	uint32_t found;

	FLEXTRACE_TRY(identity_device(identity, process, record->device, &found));
	device = &identity->devices[found];
	device->is_defined = true;
	replace_string(&device->uuid, record->uuid);
	replace_string(&device->name, head->name);
	replace_string(&device->power_unit, record->power_unit);
	replace_string(&device->processors, record->processors);
	if (record->n_cores)
		device->n_cores = record->n_cores;
	if (record->core_hz)
		device->core_hz = record->core_hz;
	return FLEXTRACE_OK;
}

static int define_clock_domain(struct identity *identity, uint32_t process,
                               const struct record *head)
{
	const struct record_clock_domain *record = (const struct record_clock_domain *)head;
	struct counter *counter;
	uint32_t device, found;

	FLEXTRACE_TRY(identity_device(identity, process, record->device, &device));
	FLEXTRACE_TRY(identity_counter(identity, device, record->domain, &found));
	counter = &identity->counters[found];
	counter->counter_bits = record->counter_bits;
	counter->rate_group = record->rate_group;
	if (record->nominal_hz >= MIN_NOMINAL_HZ)
		counter->nominal_hz = record->nominal_hz;
	return FLEXTRACE_OK;
}

static int define_name(struct identity *identity, uint32_t process, const struct record *head)
{
	const struct record_name *record = (const struct record_name *)head;
	const struct name name = {head->name, record->file, record->line};
	uint32_t found;

	if (head->class == RECORD_THREAD_NAME) {
		FLEXTRACE_TRY(index_thread(identity, process, (int32_t)record->id, &found));
		replace_string(&identity->threads[found].name, head->name);
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(identity_device(identity, process, record->device, &found));
	return index_put_name(identity, head->class == RECORD_QUEUE_NAME ? NAME_QUEUE : NAME_MARKER,
	                      map_pair(found, record->id), &name);
}

/* Books a definition: true if it is of a process of this conversion. */
static int book(struct identity *identity, uint32_t process, const struct record *record,
                struct ledger *ledger)
{
	struct loss_place place = LOSS_NOWHERE;

	place.process = process;
	if (identity->processes[process].is_excluded) {
		FLEXTRACE_TRY(ledger_discard(ledger, LOSS_FOREIGN_PROCESS, &place, record));
		return 0;
	}
	ledger->evidence[record->class]++;
	return 1;
}

static int find_defining_process(struct identity *identity, const struct definition *definition,
                                 uint32_t *ret_process)
{
	const struct record_process *record = (const struct record_process *)&definition->record;

	if (record->head.class != RECORD_PROCESS)
		return index_process(identity, definition, ret_process);
	*ret_process = map_find(&identity->index->generations,
	                        map_pair(definition->trace, (uint32_t)vpid_of(record)),
	                        record->start_ns);
	return FLEXTRACE_OK;
}

/* One pass over all other definitions. Counters come in a pass of their own: a device's uuid, which
 * may stand behind its clock domains, says which counter is meant. */
static int define_others(struct identity *identity, bool counters, struct ledger *ledger)
{
	struct table_cursor cursor;
	struct definition *definition;

	table_read(&cursor, &identity->index->definitions, counters);
	while ((definition = next_definition(&cursor))) {
		const struct record *record = &definition->record;
		uint32_t process;
		int used;

		if ((record->class == RECORD_CLOCK_DOMAIN) != counters)
			continue;
		FLEXTRACE_TRY(find_defining_process(identity, definition, &process));
		used = book(identity, process, record, ledger);
		FLEXTRACE_TRY(used);
		if (!used || record->class == RECORD_PROCESS)
			continue;
		if (record->class == RECORD_DEVICE)
			FLEXTRACE_TRY(define_device(identity, process, record));
		else if (record->class == RECORD_CLOCK_DOMAIN)
			FLEXTRACE_TRY(define_clock_domain(identity, process, record));
		else
			FLEXTRACE_TRY(define_name(identity, process, record));
	}
	return FLEXTRACE_OK;
}

/* Generations of one process may well share a rank: they are not there at the same time. */
static int warn_of_duplicate_ranks(const struct identity *identity, struct ledger *ledger)
{
	struct map first_of = {0};
	int status = FLEXTRACE_OK;

	for (uint32_t i = 0; i < identity->n_processes && !status; i++) {
		const struct process *process = &identity->processes[i];
		uint32_t first;

		if (process->is_excluded || process->rank == FLEXTRACE_RANK_UNKNOWN)
			continue;
		first = map_find(&first_of, (uint32_t)process->rank, 0);
		if (first == MAP_NONE)
			status = map_put(&first_of, (uint32_t)process->rank, 0, i);
		else if (!is_same_vpid(process, &identity->processes[first]))
			ledger->warnings[WARNING_DUPLICATE_RANK]++;
	}
	map_release(&first_of);
	return status;
}

/* -- processes that have records but no definition --------------------------------------------- */

struct strangers {
	struct definition *list; /* owned: only what index_process() looks at */
	uint32_t n;
	struct map seen; /* (trace, vpid) */
};

static int meet(struct identity *identity, const struct stream *stream, int32_t vpid,
                struct strangers *strangers)
{
	uint64_t who = map_pair(stream->trace, (uint32_t)vpid);

	if (map_find(&identity->index->span_of, who, 0) != MAP_NONE ||
	    map_find(&strangers->seen, who, 0) != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_ROOM(strangers->list, strangers->n));
	FLEXTRACE_TRY(map_put(&strangers->seen, who, 0, strangers->n));
	strangers->list[strangers->n++] = (struct definition){
		.trace = stream->trace,
		.host = stream->host,
		.recording = stream->recording,
		.epoch_offset_ns = stream->clock_offset_ns,
		.has_dialects = stream->has_dialects,
		.record = {.vpid = vpid},
	};
	return FLEXTRACE_OK;
}

ORDER_BY(compare_strangers, struct definition, trace, record.vpid);

static int add_strangers(struct identity *identity, const struct stream_set *set,
                         struct strangers *strangers)
{
	uint32_t process;

	for (uint32_t i = 0; i < set->n_streams; i++) {
		const struct stream *stream = set->streams[i];

		for (uint32_t k = 0; k < stream->n_processes; k++)
			if (stream->processes[k].has_rows)
				FLEXTRACE_TRY(meet(identity, stream, stream->processes[k].vpid,
				                   strangers));
	}
	ORDER_ARRAY(strangers->list, strangers->n, compare_strangers);
	for (uint32_t i = 0; i < strangers->n; i++)
		FLEXTRACE_TRY(index_process(identity, &strangers->list[i], &process));
	return FLEXTRACE_OK;
}

static void warn_of_dialects(const struct identity *identity, struct ledger *ledger)
{
	for (uint32_t i = 0; i < identity->n_processes; i++)
		ledger->warnings[WARNING_UNKNOWN_DIALECT] +=
			identity->processes[i].has_odd_dialect &&
			!identity->processes[i].is_excluded;
}

/* Where nobody asked for that. */
static void count_left_out(struct identity *identity)
{
	for (uint32_t i = 0; i < identity->n_processes && !identity->session; i++)
		identity->n_left_out += identity->processes[i].is_excluded;
}

int identity_finish(struct identity *identity, const struct stream_set *set, struct ledger *ledger)
{
	struct strangers strangers = {0};
	int status;

	FLEXTRACE_TRY(define_processes(identity));
	/* All definitions are lost: nobody knows of which recording the records are. */
	if (identity->n_processes == 0)
		identity->session = 0;
	FLEXTRACE_TRY(sort_generations(identity));
	FLEXTRACE_TRY(define_others(identity, false, ledger));
	FLEXTRACE_TRY(define_others(identity, true, ledger));
	status = add_strangers(identity, set, &strangers);
	free(strangers.list);
	map_release(&strangers.seen);
	FLEXTRACE_TRY(status);
	count_left_out(identity);
	warn_of_dialects(identity, ledger);
	return warn_of_duplicate_ranks(identity, ledger);
}
