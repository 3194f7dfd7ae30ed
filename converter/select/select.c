/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the five tables of rows, in order of time, into five new ones. Tracks without a row
 * are not shown, nor arrows without both of their ends.
 */
#include "select_impl.h"
#include "base/blocks.h"
#include "model/alignment.h"

struct pass {
	struct criteria criteria;        /* owned */
	const struct timeline *timeline; /* weak, all five */
	const struct select_input *input;
	struct ledger *ledger;
	struct timeline *out;
	struct process *processes;
	struct select_books books; /* owned, all from here */
	struct inputs inputs;
	struct map launches;  /* (correlation, process) of jobs that are asked for */
	struct map ends;      /* (time, old track and correlation) where arrows may end */
	uint32_t *new_tracks; /* index + 1, per old track; 0 = no row yet */
	uint32_t *new_rows;   /* place of each old host row; FLEXTRACE_NONE: it is not shown */
	uint32_t n_seen;      /* host rows so far */
	uint64_t n_passed;    /* rows that meet all criteria but the limits */
	int64_t from_time_ns, to_time_ns;
	bool drops_flows;
};

static struct table *table_of(struct timeline *timeline, enum row_table table)
{
	return (struct table *)(uintptr_t)timeline_table(timeline, table);
}

/* -- which are asked for -------------------------------------------------------------------- */

static bool is_in_time(const struct pass *pass, const struct any_row *row)
{
	bool is_point = row->start_time_ns == row->end_time_ns;

	return row->start_time_ns < pass->to_time_ns &&
	       (is_point ? row->end_time_ns >= pass->from_time_ns
	                 : row->end_time_ns > pass->from_time_ns);
}

/* Work of a job, and what launched it. */
static bool is_of_job(const struct pass *pass, const struct any_row *row)
{
	const struct number_list *jobs = &pass->criteria.jobs;

	if (!jobs->n)
		return true;
	if (row->op)
		return number_list_has(jobs, row->op->job);
	if (row->run)
		return row->run->job && number_list_has(jobs, row->run->job);
	return row->correlation &&
	       map_find(&pass->launches, row->correlation, row->process) != MAP_NONE;
}

static int meets_conditions(struct pass *pass, const struct asked_row *row, bool of_process)
{
	struct criteria *criteria = &pass->criteria;

	for (uint32_t i = 0; i < criteria->n_conditions; i++) {
		struct condition *condition = &criteria->conditions[i];
		int holds;

		if (attribute_is_of_process(condition->attribute) != of_process)
			continue;
		holds = condition_holds(condition, pass->timeline, row);
		if (holds <= 0)
			return holds;
	}
	return 1;
}

/* 1: the row is asked for. Limits count the rows that meet everything else. */
static int is_asked_for(struct pass *pass, const struct asked_row *row)
{
	const struct criteria *criteria = &pass->criteria;
	uint64_t place;
	int meets;

	if (pass->processes[row->of.process].is_excluded || !is_in_time(pass, &row->of) ||
	    !is_of_job(pass, &row->of))
		return 0;
	meets = meets_conditions(pass, row, false);
	if (meets <= 0)
		return meets;
	place = pass->n_passed++;
	return place >= criteria->skip && place - criteria->skip < criteria->count;
}

/* -- what stays ----------------------------------------------------------------------------- */

static uint32_t new_track(struct pass *pass, uint32_t track)
{
	if (!pass->new_tracks[track]) {
		pass->out->tracks[pass->out->n_tracks] = pass->timeline->tracks[track];
		pass->new_tracks[track] = ++pass->out->n_tracks;
	}
	return pass->new_tracks[track] - 1;
}

static int64_t end_key(uint32_t track, uint64_t correlation)
{
	return (int64_t)((uint64_t)track << 32 ^ correlation * 0x9e3779b97f4a7c15u);
}

/* Launches are joined by their correlation, arrows that a program or a file draws by the time. */
static int keep_ends(struct pass *pass, const struct any_row *row)
{
	uint64_t time_ns = (uint64_t)row->start_time_ns;

	if (row->correlation)
		FLEXTRACE_TRY(map_put(&pass->ends, time_ns,
		                      (uint64_t)end_key(row->track, row->correlation), 0));
	if (pass->timeline->has.arrows)
		FLEXTRACE_TRY(map_put(&pass->ends, time_ns, (uint64_t)end_key(row->track, 0), 0));
	return FLEXTRACE_OK;
}

static int keep(struct pass *pass, const struct any_row *row)
{
	enum row_table table = row->table;
	void *copy = table_append(table_of(pass->out, table), any_row_bytes[table]);

	if (!copy)
		return FLEXTRACE_E_MEMORY;
	memcpy(copy, row->row, any_row_bytes[table]);
	if (table == OF_HOST)
		((struct host_row *)copy)->track = new_track(pass, row->track);
	else if (table == OF_DEVICE)
		((struct device_row *)copy)->track = new_track(pass, row->track);
	else if (table == OF_INSTANTS)
		((struct instant_row *)copy)->track = new_track(pass, row->track);
	if (row->start_time_ns < pass->out->first_time_ns)
		pass->out->first_time_ns = row->start_time_ns;
	if (row->end_time_ns > pass->out->last_time_ns)
		pass->out->last_time_ns = row->end_time_ns;
	if (table > OF_DEVICE)
		return FLEXTRACE_OK;
	pass->out->counts.n_crossing += table == OF_HOST &&
	                                pass->timeline->tracks[row->track].kind == TRACK_THREAD &&
	                                pass->timeline->tracks[row->track].lane > 0;
	return keep_ends(pass, row);
}

static int take_row(struct pass *pass, enum row_table table, const void *any)
{
	char room[SOURCE_BYTES];
	struct asked_row row = {
		.classes = pass->input->classes,
		.costs = pass->input->costs,
		.inputs = &pass->inputs,
		.room = room,
	};
	int is_kept;

	any_row_read(pass->timeline, table, any, &row.of);
	is_kept = is_asked_for(pass, &row);
	FLEXTRACE_TRY(is_kept);
	if (table == OF_HOST)
		pass->new_rows[pass->n_seen++] = is_kept ? (uint32_t)pass->out->host_rows.n_rows
		                                         : FLEXTRACE_NONE;
	if (is_kept)
		FLEXTRACE_TRY(keep(pass, &row.of));
	else
		pass->out->counts.n_filtered++;
	return select_books_note(&pass->books, pass->ledger, &row.of, pass->timeline, is_kept);
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

static int take_rows(struct pass *pass, const struct table *counters)
{
	struct table_cursor cursors[N_ROW_TABLES];
	enum row_table table;

	for (int i = 0; i < N_ROW_TABLES; i++)
		cursors[i] = table_begin(timeline_table(pass->timeline, i));
	cursors[OF_COUNTERS] = table_begin(counters);
	while ((table = earliest(cursors)) != N_ROW_TABLES)
		FLEXTRACE_TRY(
			take_row(pass, table, table_next(&cursors[table], any_row_bytes[table])));
	return FLEXTRACE_OK;
}

/* -- arrows --------------------------------------------------------------------------------- */

static bool has_end(const struct pass *pass, int64_t time_ns, uint32_t track, uint64_t correlation)
{
	return map_find(&pass->ends, (uint64_t)time_ns, (uint64_t)end_key(track, correlation)) !=
	       MAP_NONE;
}

static int take_flows(struct pass *pass)
{
	TABLE_EACH(struct flow, flow, &pass->timeline->flows_from) {
		uint64_t correlation = flow->is_told ? 0 : flow->correlation;
		struct flow copy = *flow;

		if (!has_end(pass, flow->from_time_ns, flow->from_track, correlation) ||
		    !has_end(pass, flow->to_time_ns, flow->to_track, correlation))
			continue;
		copy.from_track = new_track(pass, flow->from_track) & INT32_MAX;
		copy.to_track = new_track(pass, flow->to_track);
		FLEXTRACE_TRY(table_put(&pass->out->flows_from, &copy, sizeof(copy)));
	}
	return FLEXTRACE_OK;
}

/* What launched a control block, where that is shown. */
static int take_launches(struct pass *pass)
{
	const uint32_t *old = pass->timeline->launch_of_op;
	uint64_t n = pass->timeline->n_ops;

	if (!old)
		return FLEXTRACE_OK;
	pass->out->launch_of_op = blocks_allocate(n, sizeof(*old));
	if (!pass->out->launch_of_op)
		return FLEXTRACE_E_MEMORY;
	for (uint64_t i = 0; i < n; i++)
		pass->out->launch_of_op[i] = old[i] == FLEXTRACE_NONE ? old[i]
		                                                      : pass->new_rows[old[i]];
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
static int hide_processes(struct pass *pass)
{
	const struct number_list *ranks = &pass->criteria.ranks;

	for (uint32_t i = 0; i < pass->timeline->identity->n_processes; i++) {
		struct process *process = &pass->processes[i];
		const struct asked_row row = {.of = {.table = OF_HOST, .process = i}};
		int meets = meets_conditions(pass, &row, true);

		FLEXTRACE_TRY(meets);
		if (ranks->n &&
		    (process->rank < 0 || !number_list_has(ranks, (uint64_t)process->rank)))
			meets = 0;
		process->is_excluded |= !meets;
	}
	return FLEXTRACE_OK;
}

static int find_launches(struct pass *pass)
{
	const struct timeline *timeline = pass->timeline;

	for (uint64_t i = 0; i < timeline->n_ops && pass->criteria.jobs.n; i++) {
		const struct tick_op *op = &timeline->ops[i];

		if (op->correlation && number_list_has(&pass->criteria.jobs, op->job))
			FLEXTRACE_TRY(map_put(&pass->launches, op->correlation,
			                      timeline->identity->devices[op->device].process, 0));
	}
	return FLEXTRACE_OK;
}

static int prepare(struct pass *pass)
{
	const struct timeline *timeline = pass->timeline;

	FLEXTRACE_TRY(ARRAY_NEW(pass->new_tracks, timeline->n_tracks + 1ull));
	FLEXTRACE_TRY(BLOCKS_NEW(pass->new_rows, timeline->host_rows.n_rows + 1));
	pass->from_time_ns = place_moment(timeline, &pass->criteria.from, INT64_MIN);
	pass->to_time_ns = place_moment(timeline, &pass->criteria.to, INT64_MAX);
	FLEXTRACE_TRY(select_books_init(&pass->books, timeline));
	FLEXTRACE_TRY(inputs_init(&pass->inputs, timeline->streams, timeline->strings));
	FLEXTRACE_TRY(hide_processes(pass));
	return find_launches(pass);
}

/* A file that was mistyped would leave nothing, or everything. */
static void warn_of_sources(struct pass *pass)
{
	const struct criteria *criteria = &pass->criteria;

	for (uint32_t i = 0; i < criteria->n_conditions; i++)
		pass->ledger->warnings[WARNING_NO_SUCH_SOURCE] +=
			attribute_is_source(criteria->conditions[i].attribute) &&
			!criteria->conditions[i].has_matched;
}

static void finish(struct pass *pass)
{
	struct timeline *out = pass->out;

	pass->ledger->warnings[WARNING_CROSSING] -= pass->timeline->counts.n_crossing -
	                                            out->counts.n_crossing;
	if (out->first_time_ns > out->last_time_ns)
		out->first_time_ns = out->last_time_ns = 0;
	warn_of_sources(pass);
}

static int run(struct pass *pass, const struct table *counters)
{
	FLEXTRACE_TRY(prepare(pass));
	FLEXTRACE_TRY(take_rows(pass, counters));
	FLEXTRACE_TRY(take_launches(pass));
	if (!pass->drops_flows)
		FLEXTRACE_TRY(take_flows(pass));
	FLEXTRACE_TRY(select_books_close(&pass->books, pass->ledger, pass->timeline));
	finish(pass);
	return FLEXTRACE_OK;
}

static void release(struct pass *pass)
{
	criteria_release(&pass->criteria);
	select_books_release(&pass->books);
	inputs_release(&pass->inputs);
	map_release(&pass->launches);
	map_release(&pass->ends);
	free(pass->new_tracks);
	blocks_free(pass->new_rows);
}

/* -- what is shown -------------------------------------------------------------------------- */

/* Whether there is any criterion. */
static bool is_asked(const struct select_options *options)
{
	return options->ranks || options->jobs || options->time_range || options->keep.n ||
	       options->drop.n || options->skip || options->count || options->drop_globals;
}

static void show_all(const struct select_input *input, struct selection *selection)
{
	selection->timeline = *input->timeline;
	selection->timeline.counters = *input->counters;
	if (input->options->drop_flows)
		selection->timeline.flows_from = (struct table)TABLE_INIT;
}

/* Room for what is asked for; no row yet. */
static int show_none(const struct timeline *from, struct selection *selection)
{
	struct timeline *out = &selection->timeline;
	struct identity *identity = &selection->identity;

	*out = *from;
	for (int i = 0; i < N_ROW_TABLES; i++)
		*table_of(out, (enum row_table)i) = (struct table)TABLE_INIT;
	out->flows_from = (struct table)TABLE_INIT;
	out->launch_of_op = NULL;
	out->first_time_ns = INT64_MAX;
	out->last_time_ns = INT64_MIN;
	out->counts.n_crossing = 0;
	out->n_tracks = 0;
	out->tracks = calloc(from->n_tracks + 1ull, sizeof(*out->tracks));
	out->identity = identity;
	*identity = *from->identity;
	identity->processes = calloc(identity->n_processes + 1ull, sizeof(*identity->processes));
	if (!out->tracks || !identity->processes)
		return FLEXTRACE_E_MEMORY;
	memcpy(identity->processes, from->identity->processes,
	       identity->n_processes * sizeof(*identity->processes));
	return FLEXTRACE_OK;
}

static int show_asked(const struct select_input *input, struct selection *selection,
                      struct pass *pass, struct flextrace_error *error)
{
	int code = criteria_read(&pass->criteria, input->options, error);

	FLEXTRACE_TRY(code);
	code = show_none(pass->timeline, selection);
	pass->processes = selection->identity.processes;
	if (code >= 0)
		code = run(pass, input->counters);
	return code < 0 ? error_memory(error) : code;
}

int select_run(const struct select_input *input, struct selection *ret,
               struct flextrace_error *error)
{
	struct pass pass = {
		.timeline = input->timeline,
		.input = input,
		.ledger = input->ledger,
		.out = &ret->timeline,
		.drops_flows = input->options->drop_flows,
	};
	int code;

	*ret = (struct selection){.is_all = !is_asked(input->options)};
	if (ret->is_all) {
		show_all(input, ret);
		return FLEXTRACE_OK;
	}
	code = show_asked(input, ret, &pass, error);
	release(&pass);
	return code;
}

void selection_release(struct selection *selection)
{
	for (int i = 0; !selection->is_all && i < N_ROW_TABLES; i++)
		table_release(table_of(&selection->timeline, (enum row_table)i));
	if (!selection->is_all) {
		table_release(&selection->timeline.flows_from);
		blocks_free(selection->timeline.launch_of_op);
		free(selection->timeline.tracks);
		free(selection->identity.processes);
	}
	*selection = (struct selection){.is_all = true};
}
