/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/align/messages.h"
#include "engine/align/told_points.h"
#include "analysis/analysis.h"
#include "findings/all/find.h"
#include "base/blocks.h"
#include "engine/derive/derive.h"
#include "model/identity/identity.h"
#include "tracer/src/area/elf_names.h"
#include "engine/twins.h"
#include "engine/unwrap/unwrap.h"
#include "engine/gather.h"

#define MAX_ANALYSES 64

struct pipeline {
	struct stream_set *set; /* weak, all up to `options` */
	struct string_pool *strings;
	struct ledger *ledger;
	const struct pipeline_options *options;
	struct string_cache cache; /* owned, all from here; of `strings` */
	struct identity identity;
	struct unwrap_output unwrapped;
	struct clocks *clocks;
	struct alignment *alignment;
	struct timeline timeline;
	struct findings_owner found;
	struct selection selection; /* what is shown */
};

static uint64_t sum_read(const struct ledger *ledger, enum record_class first)
{
	uint64_t sum = 0;

	for (int class = (int)first; class < RECORD_CLASS_COUNT; class ++)
		sum += ledger->read[class];
	return sum;
}

static uint64_t count_rows(const struct stream_set *set)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < set->n_streams; i++)
		for (int table = 0; table < RECORD_TABLE_COUNT; table++)
			n += set->streams[i]->tables[table].n_rows;
	return n;
}

static int expect_records(const struct pipeline *pipeline, struct flextrace_error *error)
{
	struct ledger *ledger = pipeline->ledger;
	uint64_t n_read = sum_read(ledger, RECORD_PROCESS);

	if (n_read && !count_rows(pipeline->set))
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "No record can be used: read=%" PRIu64 ", malformed=%" PRIu64,
		                 n_read, ledger_total(ledger, LOSS_MALFORMED));
	if (!n_read)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "The trace has no flextrace event; enable them with "
		                 "`lttng enable-event -u 'flextrace:*'` before the program starts: "
		                 "streams=%" PRIu32 ", other_events=%" PRIu64,
		                 pipeline->set->n_streams, ledger->foreign_events);
	ledger->warnings[WARNING_NO_EVENTS] = !sum_read(ledger, RECORD_MARKER_NAME + 1);
	return FLEXTRACE_OK;
}

/* -- names from firmware images ---------------------------------------------------------------- */

struct naming {
	struct pipeline *pipeline;
	int status;
};

static void name_marker(void *context, const struct flextrace_elf_name *marker)
{
	struct naming *naming = context;
	uint32_t name, file;

	if (naming->status < 0)
		return;
	naming->status = string_intern(&naming->pipeline->cache, marker->name, &name);
	if (naming->status == FLEXTRACE_OK)
		naming->status = string_intern(&naming->pipeline->cache, marker->file, &file);
	if (naming->status == FLEXTRACE_OK)
		naming->status = identity_name_marker(&naming->pipeline->identity, marker->id, name,
		                                      file, marker->line);
}

static int name_markers(struct pipeline *pipeline, struct flextrace_error *error)
{
	struct naming naming = {.pipeline = pipeline};
	int status = FLEXTRACE_OK;

	for (uint32_t i = 0; i < pipeline->options->plain.names.n && !status; i++) {
		const char *path = pipeline->options->plain.names.texts[i];
		int n = flextrace_elf_names_read(path, name_marker, &naming);

		status = naming.status;
		if (n < 0)
			status = error_set(error, FLEXTRACE_E_INPUT,
			                   "Cannot read marker names: path=%s, reason=%s", path,
			                   strerror(-n));
	}
	return status;
}

/* -- the stages -------------------------------------------------------------------------------- */

static int identify(struct pipeline *pipeline, struct flextrace_error *error)
{
	struct gather gather;
	const struct record *record;
	uint32_t stream;
	int status = FLEXTRACE_OK;

	FLEXTRACE_TRY(identity_init(&pipeline->identity, pipeline->strings,
	                            pipeline->options->plain.session));
	if (pipeline->options->plain.dialect)
		pipeline->identity.dialect = dialect_find(pipeline->options->plain.dialect);
	FLEXTRACE_TRY(gather_init(&gather, pipeline->set, TABLE_DEFINITIONS, true));
	while (!status && gather_next(&gather, &record, &stream))
		status = identity_push(&pipeline->identity, pipeline->set->streams[stream], record,
		                       pipeline->ledger);
	gather_release(&gather);
	FLEXTRACE_TRY(status);
	FLEXTRACE_TRY(identity_finish(&pipeline->identity, pipeline->set, pipeline->ledger));
	return name_markers(pipeline, error);
}

typedef int push_record(void *stage, const struct stream *stream, uint32_t id,
                        const struct record *record);

static int push_evidence(void *stage, const struct stream *stream, uint32_t id,
                         const struct record *record)
{
	return unwrap_push(stage, stream, id, record);
}

static int push_host(void *stage, const struct stream *stream, uint32_t id,
                     const struct record *record)
{
	return derive_push(stage, stream, id, record);
}

/* Gives a stage the records of a table, in their order, each once whoever recorded it. */
static int push_records(struct pipeline *pipeline, enum record_table table, push_record *push,
                        void *stage)
{
	struct twins twins = {&pipeline->identity, pipeline->ledger, {0}, NULL, 0};
	struct gather gather;
	const struct record *record;
	uint32_t id;
	int status = FLEXTRACE_OK;

	FLEXTRACE_TRY(gather_init(&gather, pipeline->set, table, true));
	while (status >= 0 && gather_next(&gather, &record, &id)) {
		status = twins_leave_out(&twins, pipeline->set->streams[id], id, record);
		if (status == 0)
			status = push(stage, pipeline->set->streams[id], id, record);
	}
	twins_release(&twins);
	gather_release(&gather);
	return status < 0 ? status : FLEXTRACE_OK;
}

static int widen(struct pipeline *pipeline, struct flextrace_error *error)
{
	struct unwrap *unwrap = unwrap_new(&pipeline->identity, pipeline->ledger);
	int status;

	if (!unwrap)
		return FLEXTRACE_E_MEMORY;
	unwrap_set_options(unwrap, &pipeline->options->calibrate);
	status = push_records(pipeline, TABLE_EVIDENCE, push_evidence, unwrap);
	if (!status)
		status = unwrap_finish(unwrap, &pipeline->unwrapped, error);
	unwrap_free(unwrap);
	return status;
}

/* What devices sent each other counts beside what programs did together; by assumption, or as files
 * tell it, only where nothing else is known. */
static int collect_sync_points(struct pipeline *pipeline, struct table *points)
{
	const struct messages_input input = {
		.identity = &pipeline->identity,
		.clocks = pipeline->clocks,
		.ops = &pipeline->unwrapped.ops,
		.strings = &pipeline->cache,
		.with_assumed = pipeline->unwrapped.sync_points.n_rows == 0,
	};
	int status;

	status = messages_find(&input, points);
	if (status >= 0 && !points->n_rows)
		status = told_points_find(&input, points);
	FLEXTRACE_TRY(status);
	if (!points->n_rows)
		return FLEXTRACE_OK;
	TABLE_EACH(struct sync_point, point, &pipeline->unwrapped.sync_points)
		FLEXTRACE_TRY(table_put(points, point, sizeof(*point)));
	return FLEXTRACE_OK;
}

static int align_hosts(struct pipeline *pipeline, struct flextrace_error *error)
{
	struct table points = TABLE_INIT;
	int status = collect_sync_points(pipeline, &points);

	if (status == FLEXTRACE_OK)
		status = align_run(&pipeline->options->align, &pipeline->identity,
		                   points.n_rows ? &points : &pipeline->unwrapped.sync_points,
		                   pipeline->ledger, &pipeline->alignment, error);
	table_release(&points);
	return status;
}

static int fit_clocks(struct pipeline *pipeline, struct flextrace_error *error)
{
	struct unwrap_output *unwrapped = &pipeline->unwrapped;
	const struct calibrate_input input = {
		.options = &pipeline->options->calibrate,
		.identity = &pipeline->identity,
		.brackets = &unwrapped->brackets,
		.ops = &unwrapped->ops,
		.rates = &unwrapped->rates,
		.told = &unwrapped->told_clocks,
		.ledger = pipeline->ledger,
	};

	FLEXTRACE_TRY(calibrate_run(&input, &pipeline->clocks, error));
	FLEXTRACE_TRY(align_hosts(pipeline, error));
	return alignment_take_told(pipeline->alignment, &unwrapped->told_alignment);
}

static int make_timeline(struct pipeline *pipeline, struct flextrace_error *error)
{
	const struct derive_input input = {
		.identity = &pipeline->identity,
		.clocks = pipeline->clocks,
		.alignment = pipeline->alignment,
		.ledger = pipeline->ledger,
		.strings = pipeline->strings,
		.streams = pipeline->set,
	};
	struct derive *derive = derive_new(&input);
	int status;

	if (!derive)
		return FLEXTRACE_E_MEMORY;
	status = derive_device(derive, &pipeline->unwrapped);
	if (!status)
		status = push_records(pipeline, TABLE_HOST, push_host, derive);
	if (!status)
		status = derive_finish(derive, &pipeline->timeline, error);
	derive_free(derive);
	return status;
}

static bool is_off(const struct pipeline *pipeline, const char *name)
{
	return derivation_state(pipeline->options->derivations, name) == DERIVATION_OFF;
}

static int select_rows(struct pipeline *pipeline, struct flextrace_error *error)
{
	struct select_options options = pipeline->options->select;
	const struct select_input input = {
		.options = &options,
		.timeline = &pipeline->timeline,
		.counters = &pipeline->found.counters,
		.classes = pipeline->found.findings.classes,
		.costs = pipeline->found.findings.costs,
		.ledger = pipeline->ledger,
	};

	options.drop_flows = is_off(pipeline, "flows");
	return select_run(&input, &pipeline->selection, error);
}

/* What is found, and on the way what is shown. */
static int find(struct pipeline *pipeline, struct flextrace_error *error)
{
	struct emitted *emitted = pipeline->options->plain.emitted;
	struct findings_input input = {
		.timeline = &pipeline->timeline,
		.strings = &pipeline->cache,
		.ledger = pipeline->ledger,
		.options = &pipeline->options->findings,
		.emitted = emitted && emitted->is_known ? emitted : NULL,
		.core_hz = pipeline->options->core_hz,
		.draws_no_flows = is_off(pipeline, "flows"),
		.draws_paths = derivation_state(pipeline->options->derivations, "critical_path") ==
	                       DERIVATION_ASKED,
		.marks_no_iterations = is_off(pipeline, "iterations"),
	};

	for (int i = 0; i < COMPUTED_COUNTER_COUNT; i++)
		input.counter_is_off[i] = is_off(pipeline, computed_counter_name(i));
	FLEXTRACE_TRY(findings_place(&pipeline->found, &input));
	clocks_drop_maps(pipeline->clocks);
	FLEXTRACE_TRY(findings_find_rows(&pipeline->found, &input, error));
	FLEXTRACE_TRY(select_rows(pipeline, error));
	return findings_find(&pipeline->found, &input, &pipeline->selection.timeline);
}

/* -- the books --------------------------------------------------------------------------------- */

/* What is missing in streams, now that they have their places. */
static int book_streams(struct pipeline *pipeline)
{
	for (uint32_t i = 0; i < pipeline->set->n_streams; i++)
		FLEXTRACE_TRY(losses_merge(&pipeline->ledger->losses,
		                           &pipeline->set->streams[i]->losses, i));
	return FLEXTRACE_OK;
}

/* Warnings that only repeat in words what the losses say. */
static void warn_of_losses(struct ledger *ledger)
{
	ledger->warnings[WARNING_LOST_EVENTS] = ledger_total(ledger, LOSS_DISCARDED_EVENTS) +
	                                        ledger_total(ledger, LOSS_DISCARDED_PACKETS);
	ledger->warnings[WARNING_LOST_MARKERS] = ledger_total(ledger, LOSS_RING_DROPPED) +
	                                         ledger_total(ledger, LOSS_RUN_OVERWRITTEN);
	ledger->warnings[WARNING_OUTLIERS] = ledger_total(ledger, LOSS_OUTLIER);
}

static int book_emitted(struct pipeline *pipeline)
{
	struct emitted *emitted = pipeline->options->plain.emitted;
	uint64_t n_read = sum_read(pipeline->ledger, RECORD_PROCESS);

	if (!emitted || !emitted->is_known)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(emitted_compare(emitted, pipeline->set));
	emitted_identify(emitted, pipeline->selection.timeline.identity);
	return emitted_book(emitted, pipeline->set, pipeline->ledger,
	                    n_read - stream_set_count_read(pipeline->set));
}

static int close_books(struct pipeline *pipeline, struct flextrace_error *error)
{
	struct ledger *ledger = pipeline->ledger;
	int open_class;

	if (pipeline->options->emit.views.overlap == OVERLAP_WARN)
		ledger->warnings[WARNING_OVERLAPS] =
			emit_count_overlaps(&pipeline->selection.timeline);

	FLEXTRACE_TRY(book_streams(pipeline));
	FLEXTRACE_TRY(book_emitted(pipeline));
	warn_of_losses(ledger);
	identity_warn(&pipeline->identity, ledger);
	losses_sort(&ledger->losses);
	open_class = ledger_check(ledger);
	if (!open_class)
		return FLEXTRACE_OK;
	open_class--;
	return error_set(error, FLEXTRACE_E_SYSTEM,
	                 "Internal error: records are not accounted for: class=%s, read=%" PRIu64
	                 ", rows=%" PRIu64 ", evidence=%" PRIu64,
	                 record_class_name((enum record_class)open_class), ledger->read[open_class],
	                 ledger->rows[open_class], ledger->evidence[open_class]);
}

/* -- files ------------------------------------------------------------------------------------- */

struct chosen_files {
	const struct result_file *files[MAX_ANALYSES], *others[MAX_ANALYSES];
	bool is_asked[MAX_ANALYSES];
};

/* Which tables are written, and which are not. */
static void choose_files(const struct pipeline *pipeline, struct chosen_files *chosen,
                         struct emit_run *run)
{
	for (uint32_t i = 0; analysis_all[i] && analysis_all[i]->name; i++) {
		const struct analysis *analysis = analysis_all[i];
		enum derivation_state state = derivation_state(pipeline->options->derivations,
		                                               analysis->name);

		assert(i < MAX_ANALYSES);
		if (state == DERIVATION_ASKED ||
		    (state == DERIVATION_USUAL &&
		     analysis_is_usual(analysis, &pipeline->selection.timeline))) {
			chosen->is_asked[run->n_files] = state == DERIVATION_ASKED;
			chosen->files[run->n_files++] = &analysis->file;
		} else {
			chosen->others[run->n_others++] = &analysis->file;
		}
	}
	run->files = chosen->files;
	run->is_asked = chosen->is_asked;
	run->others = chosen->others;
}

static void warn_of_size(const struct pipeline *pipeline, enum warning warning, double bytes,
                         double limit_bytes)
{
	char text[400];

	if (!(bytes > limit_bytes))
		return;
	pipeline->ledger->warnings[warning] = (uint64_t)(bytes / 1e6);
	if (!pipeline->options->warn)
		return;
	snprintf(text, sizeof(text), "%s (%.0f): %s", ledger_warning_id(warning), bytes / 1e6,
	         ledger_warning_remedy(warning));
	pipeline->options->warn(NULL, text);
}

/* What nobody can open is told before the time that writing it takes. */
static int warn_of_sizes(const struct pipeline *pipeline, const struct emit_options *options)
{
	double json, pftrace;

	FLEXTRACE_TRY(emit_find_sizes(&pipeline->found.findings, options, &json, &pftrace));
	warn_of_size(pipeline, WARNING_LARGE_JSON, json, EMIT_BROWSER_JSON_BYTES);
	warn_of_size(pipeline, WARNING_LARGE_PFTRACE, pftrace, EMIT_BROWSER_PFTRACE_BYTES);
	return FLEXTRACE_OK;
}

static int write_files(const struct pipeline *pipeline, struct flextrace_error *error)
{
	struct emit_options options = pipeline->options->emit;
	struct emit_run run = options.run ? *options.run : (struct emit_run){0};
	struct chosen_files chosen;

	choose_files(pipeline, &chosen, &run);
	options.run = &run;
	if (is_off(pipeline, "report"))
		options.report_rows = 0;
	blocks_trim();
	FLEXTRACE_TRY(warn_of_sizes(pipeline, &options));
	return emit_run(&pipeline->found.findings, &options, error);
}

/* -- the sentence ------------------------------------------------------------------------------ */

static int run_stages(struct pipeline *pipeline, struct flextrace_error *error)
{
	FLEXTRACE_TRY(expect_records(pipeline, error));
	stream_set_sort(pipeline->set);                /* streams      -> one order        */
	FLEXTRACE_TRY(identify(pipeline, error));      /* definitions  -> who and what     */
	FLEXTRACE_TRY(widen(pipeline, error));         /* evidence     -> 64-bit cycles    */
	FLEXTRACE_TRY(fit_clocks(pipeline, error));    /* brackets     -> const clock maps */
	FLEXTRACE_TRY(make_timeline(pipeline, error)); /* host records -> rows, flows      */
	FLEXTRACE_TRY(find(pipeline, error));          /* rows         -> findings         */
	FLEXTRACE_TRY(close_books(pipeline, error));   /* read = used + discarded          */
	return write_files(pipeline, error);           /* timeline     -> files            */
}

static void release(struct pipeline *pipeline)
{
	string_cache_release(&pipeline->cache);
	selection_release(&pipeline->selection);
	findings_release(&pipeline->found);
	timeline_release(&pipeline->timeline);
	alignment_free(pipeline->alignment);
	clocks_free(pipeline->clocks);
	unwrap_output_release(&pipeline->unwrapped);
	identity_release(&pipeline->identity);
}

static void tell(const struct pipeline *pipeline, struct pipeline_result *result)
{
	const struct option_limit *limit = &pipeline->options->plain.fail_on_loss;

	result->records = sum_read(pipeline->ledger, RECORD_PROCESS);
	result->host_rows = pipeline->selection.timeline.host_rows.n_rows;
	result->device_rows = pipeline->selection.timeline.device_rows.n_rows;
	result->lost = ledger_lost(pipeline->ledger);
	result->n_without_clock = pipeline->ledger->warnings[WARNING_NO_DEVICE_CLOCK];
	result->is_lossy = limit->is_set &&
	                   (result->lost > limit->value || result->n_without_clock);
}

int pipeline_run(struct stream_set *set, struct string_pool *strings, struct ledger *ledger,
                 const struct pipeline_options *options, struct pipeline_result *ret_result,
                 struct flextrace_error *error)
{
	struct pipeline pipeline = {
		.set = set, .strings = strings, .ledger = ledger, .options = options};
	struct flextrace_error cause = {0};
	int status;

	string_cache_init(&pipeline.cache, strings);
	status = run_stages(&pipeline, &cause);
	tell(&pipeline, ret_result);
	release(&pipeline);
	if (status == FLEXTRACE_E_MEMORY && !cause.message[0])
		error_set(&cause, status, "Out of memory");
	if (status < 0 && error)
		*error = cause;
	return status;
}
