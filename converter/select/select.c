/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the five tables of rows, in order of time, into five new ones; the old ones are
 * freed behind it. Tracks without a row go, and arrows without both of their ends.
 */
#include "select_impl.h"
#include "model/alignment.h"

struct selection {
	struct criteria criteria;  /* owned */
	struct timeline *timeline; /* weak, all four */
	const struct findings *findings;
	struct identity *identity;
	struct ledger *ledger;
	struct select_books books; /* owned, all from here */
	struct inputs inputs;
	bool *is_hidden;     /* per process */
	struct map launches; /* (correlation, process) of jobs that are asked for */
	struct map ends;     /* (time, old track and correlation) where arrows may end */
	struct table kept[N_ROW_TABLES];
	uint32_t *new_tracks; /* index + 1, per old track; 0 = no row yet */
	struct track *tracks;
	uint32_t n_tracks;
	uint64_t n_passed; /* rows that meet all criteria but the limits */
	int64_t from_time_ns, to_time_ns;
	int64_t first_time_ns, last_time_ns;
	uint64_t n_crossing;
};

static const size_t row_bytes[N_ROW_TABLES] = {
	sizeof(struct host_row),    sizeof(struct device_row), sizeof(struct instant_row),
	sizeof(struct counter_row), sizeof(struct memory_row),
};

static struct table *table_of(struct timeline *timeline, enum row_table table)
{
	struct table *const tables[N_ROW_TABLES] = {
		&timeline->host_rows, &timeline->device_rows, &timeline->instants,
		&timeline->counters,  &timeline->memory,
	};

	return tables[table];
}

/* -- rows ----------------------------------------------------------------------------------- */

static void describe_track(const struct timeline *timeline, uint32_t track, struct any_row *out)
{
	const struct track *of = &timeline->tracks[track];

	out->track = track;
	if (of->kind == TRACK_THREAD || of->kind == TRACK_ASYNC) {
		out->thread = of->owner;
		out->process = timeline->identity->threads[of->owner].process;
		return;
	}
	out->device = of->owner;
	out->process = timeline->identity->devices[of->owner].process;
	if (of->kind == TRACK_CORE)
		out->core = of->id;
}

static void describe_host(const struct timeline *timeline, const struct host_row *row,
                          struct any_row *out)
{
	out->end_time_ns = row->end_time_ns;
	out->stream = row->stream;
	out->index = row->index;
	out->name = row->name;
	out->correlation = row->correlation;
	out->kind = row->kind;
	out->class = row->class;
	out->status = row->status;
	describe_track(timeline, row->track, out);
}

static void describe_device(const struct timeline *timeline, const struct device_row *row,
                            struct any_row *out)
{
	out->end_time_ns = row->end_time_ns;
	out->kind = row->kind;
	out->status = row->status;
	describe_track(timeline, row->track, out);
	if (row->kind >= ROW_FIRMWARE) {
		const struct zone *zone = &timeline->zones[row->source];

		out->run = &timeline->runs[zone->run];
		out->stream = out->run->stream;
		out->index = out->run->index;
		out->name = timeline->markers[zone->marker].name;
		out->class = RECORD_MARKER_BATCH;
		return;
	}
	out->op = &timeline->ops[row->source];
	out->stream = out->op->stream;
	out->index = out->op->index;
	out->name = out->op->name;
	out->correlation = out->op->correlation;
	out->class = out->op->class;
}

static void describe_instant(const struct timeline *timeline, const struct instant_row *row,
                             struct any_row *out)
{
	out->stream = row->stream;
	out->index = row->index;
	out->name = row->name;
	out->correlation = instant_correlation(row);
	out->class = row->class;
	out->status = row->status;
	describe_track(timeline, row->track, out);
}

static void describe_counter(const struct timeline *timeline, const struct counter_row *row,
                             struct any_row *out)
{
	out->stream = row->stream;
	out->index = row->index;
	out->name = row->name;
	out->core = row->core;
	out->class = row->class;
	out->status = row->status;
	out->process = row->owner;
	if (!row->is_device)
		return;
	out->device = row->owner;
	out->process = timeline->identity->devices[row->owner].process;
}

static void describe_memory(const struct timeline *timeline, const struct memory_row *row,
                            struct any_row *out)
{
	out->stream = row->stream;
	out->index = row->index;
	out->class = RECORD_MEMORY;
	out->thread = row->thread;
	out->device = row->device;
	out->process = timeline->identity->devices[row->device].process;
}

static struct any_row describe(const struct timeline *timeline, enum row_table table,
                               const void *row)
{
	struct any_row out = {
		.table = table,
		.row = row,
		.start_time_ns = *(const int64_t *)row, /* every row starts with it */
		.end_time_ns = *(const int64_t *)row,
		.thread = FLEXTRACE_NONE,
		.device = FLEXTRACE_NONE,
		.track = FLEXTRACE_NONE,
		.core = FLEXTRACE_NONE,
	};

	if (table == OF_HOST)
		describe_host(timeline, row, &out);
	else if (table == OF_DEVICE)
		describe_device(timeline, row, &out);
	else if (table == OF_INSTANTS)
		describe_instant(timeline, row, &out);
	else if (table == OF_COUNTERS)
		describe_counter(timeline, row, &out);
	else
		describe_memory(timeline, row, &out);
	out.source = out.index;
	if (out.op || out.run)
		out.source = inputs_part(timeline->streams->streams[out.stream], out.index,
		                         out.kind);
	return out;
}

/* -- which are asked for -------------------------------------------------------------------- */

static bool is_in_time(const struct selection *selection, const struct any_row *row)
{
	bool is_point = row->start_time_ns == row->end_time_ns;

	return row->start_time_ns < selection->to_time_ns &&
	       (is_point ? row->end_time_ns >= selection->from_time_ns
	                 : row->end_time_ns > selection->from_time_ns);
}

/* Work of a job, and what launched it. */
static bool is_of_job(const struct selection *selection, const struct any_row *row)
{
	const struct number_list *jobs = &selection->criteria.jobs;

	if (!jobs->n)
		return true;
	if (row->op)
		return number_list_has(jobs, row->op->job);
	if (row->run)
		return row->run->job && number_list_has(jobs, row->run->job);
	return row->correlation &&
	       map_find(&selection->launches, row->correlation, row->process) != MAP_NONE;
}

static int meets_conditions(struct selection *selection, const struct any_row *row, bool of_process)
{
	struct criteria *criteria = &selection->criteria;

	for (uint32_t i = 0; i < criteria->n_conditions; i++) {
		struct condition *condition = &criteria->conditions[i];
		int holds;

		if (attribute_is_of_process(condition->attribute) != of_process)
			continue;
		holds = condition_holds(condition, selection->timeline, row);
		if (holds <= 0)
			return holds;
	}
	return 1;
}

/* 1: the row is asked for. Limits count the rows that meet everything else. */
static int is_asked_for(struct selection *selection, const struct any_row *row)
{
	const struct criteria *criteria = &selection->criteria;
	uint64_t place;
	int meets;

	if (selection->is_hidden[row->process] || !is_in_time(selection, row) ||
	    !is_of_job(selection, row))
		return 0;
	meets = meets_conditions(selection, row, false);
	if (meets <= 0)
		return meets;
	place = selection->n_passed++;
	return place >= criteria->skip && place - criteria->skip < criteria->count;
}

/* -- what stays ----------------------------------------------------------------------------- */

static uint32_t new_track(struct selection *selection, uint32_t track)
{
	if (!selection->new_tracks[track]) {
		selection->tracks[selection->n_tracks] = selection->timeline->tracks[track];
		selection->new_tracks[track] = ++selection->n_tracks;
	}
	return selection->new_tracks[track] - 1;
}

static int64_t end_key(uint32_t track, uint64_t correlation)
{
	return (int64_t)((uint64_t)track << 32 ^ correlation * 0x9e3779b97f4a7c15u);
}

static int keep(struct selection *selection, const struct any_row *row)
{
	enum row_table table = row->table;
	void *copy = table_append(&selection->kept[table], row_bytes[table]);

	if (!copy)
		return FLEXTRACE_E_MEMORY;
	memcpy(copy, row->row, row_bytes[table]);
	if (table == OF_HOST)
		((struct host_row *)copy)->track = new_track(selection, row->track);
	else if (table == OF_DEVICE)
		((struct device_row *)copy)->track = new_track(selection, row->track);
	else if (table == OF_INSTANTS)
		((struct instant_row *)copy)->track = new_track(selection, row->track);
	if (row->start_time_ns < selection->first_time_ns)
		selection->first_time_ns = row->start_time_ns;
	if (row->end_time_ns > selection->last_time_ns)
		selection->last_time_ns = row->end_time_ns;
	if (table > OF_DEVICE)
		return FLEXTRACE_OK;
	selection->n_crossing += table == OF_HOST &&
	                         selection->timeline->tracks[row->track].kind == TRACK_THREAD &&
	                         selection->timeline->tracks[row->track].lane > 0;
	if (!row->correlation && !selection->timeline->has_arrows)
		return FLEXTRACE_OK;
	return map_put(&selection->ends, (uint64_t)row->start_time_ns,
	               (uint64_t)end_key(row->track, row->correlation), 0);
}

static int take_row(struct selection *selection, enum row_table table, const void *any)
{
	struct any_row row = describe(selection->timeline, table, any);
	int is_kept;

	row.inputs = &selection->inputs;
	row.findings = selection->findings;
	is_kept = is_asked_for(selection, &row);
	FLEXTRACE_TRY(is_kept);
	if (is_kept)
		FLEXTRACE_TRY(keep(selection, &row));
	else
		selection->timeline->n_filtered++;
	return select_books_note(&selection->books, selection->ledger, &row, selection->timeline,
	                         is_kept);
}

static enum row_table earliest(struct table_cursor *cursors)
{
	enum row_table best = N_ROW_TABLES;
	int64_t best_time_ns = 0;

	for (int table = 0; table < N_ROW_TABLES; table++) {
		const int64_t *time_ns = table_peek(&cursors[table]);

		if (time_ns && (best == N_ROW_TABLES || *time_ns < best_time_ns)) {
			best = (enum row_table)table;
			best_time_ns = *time_ns;
		}
	}
	return best;
}

static int take_rows(struct selection *selection)
{
	struct table_cursor cursors[N_ROW_TABLES];
	enum row_table table;

	for (int i = 0; i < N_ROW_TABLES; i++)
		table_read(&cursors[i], table_of(selection->timeline, (enum row_table)i), true);
	while ((table = earliest(cursors)) != N_ROW_TABLES)
		FLEXTRACE_TRY(
			take_row(selection, table, table_next(&cursors[table], row_bytes[table])));
	for (int i = 0; i < N_ROW_TABLES; i++) {
		struct table *rows = table_of(selection->timeline, (enum row_table)i);

		table_release(rows);
		table_take(rows, &selection->kept[i]);
	}
	return FLEXTRACE_OK;
}

/* -- arrows --------------------------------------------------------------------------------- */

static bool has_end(const struct selection *selection, int64_t time_ns, uint32_t track,
                    uint64_t correlation)
{
	return map_find(&selection->ends, (uint64_t)time_ns,
	                (uint64_t)end_key(track, correlation)) != MAP_NONE;
}

static int take_flows(struct selection *selection)
{
	struct table *flows = &selection->timeline->flows_from, kept = TABLE_INIT;
	struct table_cursor cursor;
	const struct flow *flow;

	table_read(&cursor, flows, true);
	while ((flow = table_next(&cursor, sizeof(*flow)))) {
		struct flow *copy;

		if (!has_end(selection, flow->from_time_ns, flow->from_track, flow->correlation) ||
		    !has_end(selection, flow->to_time_ns, flow->to_track, flow->correlation))
			continue;
		copy = table_append(&kept, sizeof(*copy));
		if (!copy) {
			table_release(&kept);
			return FLEXTRACE_E_MEMORY;
		}
		*copy = *flow;
		copy->from_track = new_track(selection, flow->from_track);
		copy->to_track = new_track(selection, flow->to_track);
	}
	table_take(flows, &kept);
	return FLEXTRACE_OK;
}

/* -- before and behind the pass ------------------------------------------------------------- */

static int64_t place_moment(const struct timeline *timeline, const struct moment *moment,
                            int64_t otherwise)
{
	if (!moment->is_set)
		return otherwise;
	if (moment->is_relative)
		return timeline->first_time_ns + moment->ns;
	return moment->ns - alignment_epoch_offset_ns(timeline->alignment);
}

/* What a process says of itself is asked once. */
static int hide_processes(struct selection *selection)
{
	const struct number_list *ranks = &selection->criteria.ranks;

	for (uint32_t i = 0; i < selection->identity->n_processes; i++) {
		struct process *process = &selection->identity->processes[i];
		const struct any_row row = {.table = OF_HOST, .process = i};
		int meets = meets_conditions(selection, &row, true);

		FLEXTRACE_TRY(meets);
		if (ranks->n &&
		    (process->rank < 0 || !number_list_has(ranks, (uint64_t)process->rank)))
			meets = 0;
		selection->is_hidden[i] = !meets;
		if (!meets)
			process->is_excluded = true;
	}
	return FLEXTRACE_OK;
}

static int find_launches(struct selection *selection)
{
	const struct timeline *timeline = selection->timeline;

	for (uint64_t i = 0; i < timeline->n_ops && selection->criteria.jobs.n; i++) {
		const struct tick_op *op = &timeline->ops[i];

		if (op->correlation && number_list_has(&selection->criteria.jobs, op->job))
			FLEXTRACE_TRY(map_put(&selection->launches, op->correlation,
			                      timeline->identity->devices[op->device].process, 0));
	}
	return FLEXTRACE_OK;
}

static int prepare(struct selection *selection)
{
	const struct timeline *timeline = selection->timeline;

	selection->is_hidden = calloc(selection->identity->n_processes + 1ull, sizeof(bool));
	selection->new_tracks = calloc(timeline->n_tracks + 1ull, sizeof(uint32_t));
	selection->tracks = calloc(timeline->n_tracks + 1ull, sizeof(struct track));
	if (!selection->is_hidden || !selection->new_tracks || !selection->tracks)
		return FLEXTRACE_E_MEMORY;
	selection->from_time_ns = place_moment(timeline, &selection->criteria.from, INT64_MIN);
	selection->to_time_ns = place_moment(timeline, &selection->criteria.to, INT64_MAX);
	selection->first_time_ns = INT64_MAX;
	selection->last_time_ns = INT64_MIN;
	FLEXTRACE_TRY(select_books_init(&selection->books, timeline));
	FLEXTRACE_TRY(inputs_init(&selection->inputs, timeline->streams, timeline->strings));
	FLEXTRACE_TRY(hide_processes(selection));
	return find_launches(selection);
}

/* A file that was mistyped would leave nothing, or everything. */
static void warn_of_sources(struct selection *selection)
{
	const struct criteria *criteria = &selection->criteria;

	for (uint32_t i = 0; i < criteria->n_conditions; i++)
		selection->ledger->warnings[WARNING_NO_SUCH_SOURCE] +=
			attribute_is_source(criteria->conditions[i].attribute) &&
			!criteria->conditions[i].has_matched;
}

static void finish(struct selection *selection)
{
	struct timeline *timeline = selection->timeline;
	bool has_rows = selection->first_time_ns <= selection->last_time_ns;

	free(timeline->tracks);
	timeline->tracks = selection->tracks;
	timeline->n_tracks = selection->n_tracks;
	selection->tracks = NULL;
	selection->ledger->warnings[WARNING_CROSSING] -= timeline->n_crossing -
	                                                 selection->n_crossing;
	timeline->n_crossing = selection->n_crossing;
	timeline->first_time_ns = has_rows ? selection->first_time_ns : 0;
	timeline->last_time_ns = has_rows ? selection->last_time_ns : 0;
	warn_of_sources(selection);
}

static int run(struct selection *selection)
{
	FLEXTRACE_TRY(prepare(selection));
	FLEXTRACE_TRY(take_rows(selection));
	FLEXTRACE_TRY(take_flows(selection));
	FLEXTRACE_TRY(
		select_books_close(&selection->books, selection->ledger, selection->timeline));
	finish(selection);
	return FLEXTRACE_OK;
}

static void release(struct selection *selection)
{
	criteria_release(&selection->criteria);
	select_books_release(&selection->books);
	inputs_release(&selection->inputs);
	for (int i = 0; i < N_ROW_TABLES; i++)
		table_release(&selection->kept[i]);
	map_release(&selection->launches);
	map_release(&selection->ends);
	free(selection->is_hidden);
	free(selection->new_tracks);
	free(selection->tracks);
}

/* Whether there is any criterion. */
static bool is_asked(const struct select_options *options)
{
	return options->ranks || options->jobs || options->time_range || options->n_keep ||
	       options->n_drop || options->skip || options->count || options->drop_globals;
}

int select_run(const struct select_options *options, const struct findings *findings,
               struct timeline *timeline, struct identity *identity, struct ledger *ledger,
               struct flextrace_error *error)
{
	struct selection selection = {
		.timeline = timeline, .findings = findings, .identity = identity, .ledger = ledger};
	int code;

	if (!is_asked(options))
		return FLEXTRACE_OK;
	code = criteria_read(&selection.criteria, options, error);
	if (code >= 0) {
		code = run(&selection);
		if (code < 0)
			error_set(error, code, "Out of memory");
	}
	release(&selection);
	return code;
}
