// SPDX-License-Identifier: Apache-2.0
#include "run_json.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/place.h"
#include "model/timeline/clock_columns.h"
#include "output/column_text.h"
#include "base/text/json_item.h"
#include "output/report/page.h"
#include "output/view.h"
#include "model/emitted/emitted.h"
#include "flextrace/wire.h"
#include "model/streams.h"
#include "model/alignment.h"
#include "model/clocks.h"

/* -- parts ------------------------------------------------------------------------------------- */

static void add_nonzero(cJSON *item, const char *key, uint64_t value)
{
	if (value)
		json_item_add_u64(item, key, value);
}

static void add_versions(cJSON *root)
{
	cJSON *versions = json_item_add_object(root, "versions");

	json_item_add(versions, "flextrace", cJSON_CreateString(FLEXTRACE_VERSION));
	json_item_add_u64(versions, "run_json", RUN_JSON_FORMAT);
	json_item_add_u64(versions, "marker_area", FLEXTRACE_WIRE_VERSION);
	if (report_page_charts)
		json_item_add(versions, "charts", cJSON_CreateString(report_page_charts));
}

static void add_inputs(cJSON *root, const struct emit_run *run)
{
	cJSON *inputs = json_item_add_list(root, "inputs");
	cJSON *options = json_item_add_object(root, "options");

	for (uint32_t i = 0; run && i < run->n_inputs; i++)
		json_item_append(inputs, json_item_of_text(run->inputs[i]));
	for (uint32_t i = 0; run && i < run->n_options; i++) {
		const char *equals = strchr(run->options[i], '=');
		char *name = equals ? strndup(run->options[i], (size_t)(equals - run->options[i]))
		                    : strdup(run->options[i]);

		json_item_add(options, name, json_item_of_text(equals ? equals + 1 : ""));
		free(name);
	}
}

/* Only what holds where there are pairs. */
static void add_fit(cJSON *item, const struct pair_report *pair)
{
	char drift[32];

	snprintf(drift, sizeof(drift), "%.3f", pair->drift_ppm);
	json_item_add_time(item, "offset_ns", pair->offset_ns);
	json_item_add(item, "drift_ppm", cJSON_CreateRaw(drift));
	json_item_add_i64(item, "residual_ns_p50", pair->residual_ns_p50);
	json_item_add_i64(item, "residual_ns_p99", pair->residual_ns_p99);
	json_item_add_i64(item, "residual_ns_max", pair->residual_ns_max);
	json_item_add(item, "uncertain", cJSON_CreateBool(pair->is_uncertain));
}

static void add_pairs(cJSON *root, const struct emit_run *run)
{
	cJSON *pairs;

	if (!run || !run->n_pairs)
		return;
	pairs = json_item_add_list(root, "pairings");
	for (uint32_t i = 0; i < run->n_pairs; i++) {
		const struct pair_report *pair = &run->pairs[i];
		cJSON *item = cJSON_CreateObject();

		json_item_add_i64(item, "rank", pair->rank);
		json_item_add_u64(item, "torch_files", pair->n_torch_files);
		json_item_add_u64(item, "flex_events", pair->n_flex);
		json_item_add_u64(item, "torch_events", pair->n_torch);
		json_item_add_u64(item, "pairs", pair->n_pairs);
		if (pair->n_pairs)
			add_fit(item, pair);
		json_item_append(pairs, item);
	}
}

static void add_traces(cJSON *root, const struct timeline *timeline)
{
	const struct stream_set *set = timeline->streams;
	cJSON *traces = json_item_add_list(root, "traces");
	uint32_t i = 0;

	while (i < set->n_streams) { /* streams stand in order of their trace */
		const struct stream *first = set->streams[i];
		cJSON *trace = cJSON_CreateObject();
		uint64_t n_events = 0, n_streams = 0;
		char uuid[STREAM_UUID_SIZE];

		for (; i < set->n_streams && set->streams[i]->trace == first->trace; i++) {
			n_events += set->streams[i]->n_events;
			n_streams++;
		}
		stream_uuid_text(first, uuid);
		json_item_add_u64(trace, "trace", first->trace);
		json_item_add(trace, "uuid", cJSON_CreateString(uuid));
		json_item_add_text(trace, "host", string_get(timeline->strings, first->host));
		json_item_add_u64(trace, "streams", n_streams);
		json_item_add_u64(trace, "events", n_events);
		json_item_append(traces, trace);
	}
}

static cJSON *new_process(const struct timeline *timeline, uint32_t index)
{
	const struct process *process = &timeline->identity->processes[index];
	const struct string_pool *strings = timeline->strings;
	cJSON *item = cJSON_CreateObject();

	json_item_add_i64(item, "rank", process->rank);
	json_item_add_i64(item, "world_size", process->world_size);
	json_item_add_text(item, "host", string_get(strings, process->host));
	json_item_add_i64(item, "pid", identity_pid(process));
	json_item_add_u64(item, "trace", process->trace);
	json_item_add_text(item, "program", string_get(strings, process->program));
	json_item_add_text(item, "runtime", string_get(strings, process->runtime));
	json_item_add_text(item, "version", string_get(strings, process->version));
	return item;
}

static void add_processes(cJSON *root, const struct timeline *timeline)
{
	cJSON *processes = json_item_add_list(root, "processes");

	for (uint32_t i = 0; i < timeline->identity->n_processes; i++) {
		if (!timeline->identity->processes[i].is_excluded)
			json_item_append(processes, new_process(timeline, i));
	}
}

/* -- clocks ------------------------------------------------------------------------------------ */

/* An object of `item`'s fields and the row's. */
static void add_line(cJSON *list, cJSON *item, const struct column *columns, uint32_t n,
                     const void *row)
{
	char *head = cJSON_PrintUnformatted(item);
	struct writer writer;

	writer_open_memory(&writer);
	if (head && head[0]) {
		head[strlen(head) - 1] = '\0';
		writer_raw(&writer, head);
	}
	column_write_json(columns, n, row, &writer);
	writer_char(&writer, '}');
	writer_char(&writer, '\0');
	json_item_append(list,
	                 head && !writer_failed(&writer) ? cJSON_CreateRaw(writer.buffer) : NULL);
	writer_abandon(&writer);
	cJSON_free(head);
	cJSON_Delete(item);
}

static cJSON *new_owner(const struct timeline *timeline, uint32_t index)
{
	const struct process *process = &timeline->identity->processes[index];
	cJSON *item = cJSON_CreateObject();

	json_item_add_i64(item, "rank", process->rank);
	json_item_add_text(item, "host", string_get(timeline->strings, process->host));
	json_item_add_i64(item, "pid", identity_pid(process));
	return item;
}

static void add_clocks(cJSON *root, const struct timeline *timeline)
{
	const struct identity *identity = timeline->identity;
	uint32_t n;
	const struct clock_report **clocks = clock_columns_sort(timeline->clocks, identity, &n);
	cJSON *list = json_item_add_list(root, "clocks");

	if (!clocks)
		json_item_append(list, NULL); /* no memory: spoils it */
	for (uint32_t i = 0; clocks && i < n; i++) {
		const struct clock_row row = clock_columns_row(timeline, clocks[i]);
		uint32_t device = identity->counters[clocks[i]->counter].device;

		add_line(list, new_owner(timeline, identity->devices[device].process),
		         clock_columns + OWNER_COLUMNS, CLOCK_COLUMNS - OWNER_COLUMNS, &row);
	}
	free(clocks);
}

static void add_alignment(cJSON *root, const struct timeline *timeline)
{
	uint32_t n;
	const struct alignment_report *lines = alignment_report(timeline->alignment, &n);
	cJSON *list = json_item_add_list(root, "alignment");

	for (uint32_t i = 0; i < n; i++) {
		const struct alignment_row row = {.of = lines[i]};

		add_line(list, new_owner(timeline, lines[i].process),
		         alignment_columns + OWNER_COLUMNS, ALIGNMENT_COLUMNS - OWNER_COLUMNS,
		         &row);
	}
}

/* -- books ------------------------------------------------------------------------------------- */

static void add_totals(cJSON *root, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;
	cJSON *totals = json_item_add_object(root, "totals");
	int64_t epoch_offset_ns = alignment_epoch_offset_ns(timeline->alignment);
	uint64_t n_read = 0;

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		n_read += timeline->ledger->read[class];
	json_item_add_u64(totals, "records", n_read);
	json_item_add_u64(totals, "foreign_events", timeline->ledger->foreign_events);
	json_item_add_u64(totals, "lost", ledger_lost(timeline->ledger));
	json_item_add_u64(totals, "host_rows", timeline->host_rows.n_rows);
	json_item_add_u64(totals, "device_rows", timeline->device_rows.n_rows);
	json_item_add_u64(totals, "instants", timeline->instants.n_rows);
	json_item_add_u64(totals, "counters", timeline->counters.n_rows);
	json_item_add_u64(totals, "memory", timeline->memory.n_rows);
	json_item_add_u64(totals, "flows", findings->flows->n_rows);
	json_item_add_u64(totals, "crossing", timeline->counts.n_crossing);
	if (timeline->counts.n_overlaps) {
		json_item_add_u64(totals, "overlapping_kernels", timeline->counts.n_overlaps);
		json_item_add_u64(totals, "overlap_ns", timeline->counts.overlap_ns);
		json_item_add_u64(totals, "largest_overlap_ns",
		                  timeline->counts.largest_overlap_ns);
	}
	add_nonzero(totals, "filtered_rows", timeline->counts.n_filtered);
	json_item_add_time(totals, "first_ns", timeline->first_time_ns + epoch_offset_ns);
	json_item_add_time(totals, "last_ns", timeline->last_time_ns + epoch_offset_ns);
	json_item_add_i64(totals, "length_ns", timeline->last_time_ns - timeline->first_time_ns);
}

static void add_warnings(cJSON *root, const struct ledger *ledger)
{
	cJSON *warnings = json_item_add_list(root, "warnings");

	for (int i = 0; i < WARNING_COUNT; i++) {
		cJSON *warning;

		if (ledger->warnings[i] == 0)
			continue;
		warning = cJSON_CreateObject();
		json_item_add(warning, "id", cJSON_CreateString(ledger_warning_id(i)));
		json_item_add_u64(warning, "count", ledger->warnings[i]);
		json_item_add(warning, "remedy", cJSON_CreateString(ledger_warning_remedy(i)));
		json_item_append(warnings, warning);
	}
}

static void add_losses(cJSON *root, const struct ledger *ledger)
{
	cJSON *losses = json_item_add_object(root, "losses");

	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		uint64_t total = ledger_total(ledger, cause);

		if (total > 0)
			json_item_add_u64(losses, ledger_cause_id(cause), total);
	}
}

static void add_balance(cJSON *root, const struct ledger *ledger)
{
	cJSON *balance = json_item_add_object(root, "balance");

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		cJSON *line, *discarded;

		if (ledger->read[class] == 0)
			continue;
		line = json_item_add_object(balance, record_class_name(class));
		json_item_add_u64(line, "read", ledger->read[class]);
		json_item_add_u64(line, "rows", ledger->rows[class]);
		json_item_add_u64(line, "evidence", ledger->evidence[class]);
		discarded = json_item_add_object(line, "discarded");
		for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
			if (ledger->discarded[class][cause])
				json_item_add_u64(discarded, ledger_cause_id(cause),
				                  ledger->discarded[class][cause]);
		}
	}
}

static void add_counts(cJSON *item, const struct emitted_process *process, int class)
{
	cJSON *line;

	if (!emitted_has(process, class))
		return;
	line = json_item_add_object(item, record_class_name(class));
	json_item_add_u64(line, "emitted", process->least[class]);
	if (process->most[class] != process->least[class])
		json_item_add_u64(line, "emitted_at_most", process->most[class]);
	json_item_add_u64(line, "read", process->read[class]);
	add_nonzero(line, "late", process->late[class]);
}

static void add_channels(cJSON *object, const struct emitted *emitted)
{
	cJSON *channels = json_item_add_object(object, "channels");

	for (int channel = 0; channel < EMITTED_CHANNEL_COUNT; channel++) {
		const struct emitted_balance *balance = &emitted->balances[channel];
		cJSON *item = json_item_add_object(
			channels, emitted_channel_name((enum emitted_channel)channel));

		json_item_add_u64(item, "missing", balance->missing);
		json_item_add_u64(item, "discarded", balance->discarded);
		json_item_add_u64(item, "late", balance->late);
		add_nonzero(item, "under_way", balance->under_way);
		json_item_add_u64(item, "unaccounted", balance->unaccounted);
	}
}

/* Zones of firmware that never ended, by where they begin; nothing where all did. */
static void add_endless(cJSON *root, const struct timeline *timeline)
{
	cJSON *list = NULL;

	for (uint32_t i = 0; i < timeline->n_markers; i++) {
		const struct marker *marker = &timeline->markers[i];
		cJSON *item;

		if (!marker->n_endless)
			continue;
		if (!list)
			list = json_item_add_list(root, "zones_without_end");
		item = cJSON_CreateObject();
		json_item_add_text(item, "name", string_get(timeline->strings, marker->name));
		json_item_add_text(item, "file", string_get(timeline->strings, marker->file));
		json_item_add_u64(item, "line", marker->line);
		json_item_add_u64(item, "count", marker->n_endless);
		json_item_append(list, item);
	}
}

/* What processes counted, against what was read of them; null: nobody noted their counts. */
static void add_emitted(cJSON *root, const struct emitted *emitted)
{
	cJSON *object, *processes;

	if (!emitted) {
		json_item_add(root, "emitted", cJSON_CreateNull());
		return;
	}
	object = json_item_add_object(root, "emitted");
	json_item_add_u64(object, "processes_without_counts", emitted->n_uncounted);
	json_item_add_u64(object, "lttng_discarded_events", emitted->n_discarded);
	add_channels(object, emitted);
	processes = json_item_add_list(object, "processes");
	for (uint32_t i = 0; i < emitted->n; i++) {
		const struct emitted_process *process = &emitted->processes[i];
		cJSON *item;

		if (process->is_excluded)
			continue;
		item = cJSON_CreateObject();
		json_item_add_i64(item, "pid", process->pid);
		json_item_add_text(item, "program", process->program);
		add_nonzero(item, "wait_ms", process->wait_ms);
		add_nonzero(item, "unrecorded", process->n_unrecorded);
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
			add_counts(item, &emitted->processes[i], class);
		json_item_append(processes, item);
	}
}

static void add_arrows(cJSON *file, const struct file_count *count)
{
	static const char *const causes[N_ARROW_CAUSES] = {
		[ARROW_BACK_IN_TIME] = "back_in_time",
		[ARROW_END_NOT_SHOWN] = "end_not_shown",
		[ARROW_OTHER_RANK] = "other_rank",
		[ARROW_NOT_IN_TYPES] = "not_in_types",
	};
	cJSON *left_out = NULL;

	add_nonzero(file, "arrows", count->arrows);
	for (int cause = 0; cause < N_ARROW_CAUSES; cause++) {
		if (!count->arrows_left_out[cause])
			continue;
		if (!left_out)
			left_out = json_item_add_object(file, "arrows_left_out");
		json_item_add_u64(left_out, causes[cause], count->arrows_left_out[cause]);
	}
}

static cJSON *new_file(const struct file_count *count, const char *name)
{
	cJSON *file = cJSON_CreateObject(), *by_class;

	json_item_add(file, "file", cJSON_CreateString(name));
	json_item_add_u64(file, "rows", count->rows);
	add_nonzero(file, "left_out", count->left_out);
	add_arrows(file, count);
	add_nonzero(file, "replaced_bytes", count->replaced_bytes);
	if (count->columns)
		json_item_add(file, "columns", cJSON_CreateRaw(count->columns));
	if (!count->has_classes)
		return file;
	by_class = json_item_add_object(file, "by_class");
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		if (count->by_class[class])
			json_item_add_u64(by_class, record_class_name(class),
			                  count->by_class[class]);
	}
	return file;
}

static void add_files(cJSON *root, const struct file_count *counts, uint32_t n_counts)
{
	cJSON *files = json_item_add_list(root, "files");

	for (uint32_t i = 0; i < n_counts; i++) {
		if (counts[i].is_absent)
			continue;
		json_item_append(files, new_file(&counts[i], counts[i].file));
		if (counts[i].other)
			json_item_append(files, new_file(&counts[i], counts[i].other));
	}
}

/* -- the books --------------------------------------------------------------------------------- */

static int check_file(const struct file_count *count, struct flextrace_error *error)
{
	uint64_t sum = 0, n_arrows = count->arrows;

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		sum += count->by_class[class];
	for (int cause = 0; cause < N_ARROW_CAUSES; cause++)
		n_arrows += count->arrows_left_out[cause];
	if (count->arrows_expected && n_arrows != count->arrows_expected)
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "The books of %s do not close: arrows=%" PRIu64
		                 ", expected=%" PRIu64,
		                 count->file, n_arrows, count->arrows_expected);
	if (count->rows + count->left_out != count->expected)
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "The books of %s do not close: rows=%" PRIu64 ", left_out=%" PRIu64
		                 ", expected=%" PRIu64,
		                 count->file, count->rows, count->left_out, count->expected);
	if (count->has_classes && sum != count->rows)
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "The books of %s do not close: rows=%" PRIu64
		                 ", rows_by_class=%" PRIu64,
		                 count->file, count->rows, sum);
	return 0;
}

/* A record of TABLE_HOST is one row, in every file that holds its class. */
static int check_classes(const struct ledger *ledger, const struct file_count *count,
                         struct flextrace_error *error)
{
	static const enum record_table tables[] = {
#define TABLE(id, event, payload, member, table) TABLE_##table,
		FLEXTRACE_RECORD_CLASSES(TABLE)
#undef TABLE
	};

	for (int class = 0; class < RECORD_CLASS_COUNT && count->has_classes; class ++) {
		uint64_t rows = count->by_class[class];

		rows += count->left_out_by_class[class];
		if (tables[class] != TABLE_HOST || rows == 0 || rows == ledger->rows[class])
			continue;
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "The books of %s do not close: class=%s, rows=%" PRIu64
		                 ", records=%" PRIu64,
		                 count->file, record_class_name(class), rows, ledger->rows[class]);
	}
	return 0;
}

int run_json_check(const struct timeline *timeline, const struct file_count *counts,
                   uint32_t n_counts, struct flextrace_error *error)
{
	int class = ledger_check(timeline->ledger);

	if (class > 0)
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "The balance of records does not close: class=%s",
		                 record_class_name(class - 1));
	for (uint32_t i = 0; i < n_counts; i++) {
		FLEXTRACE_TRY(check_file(&counts[i], error));
		FLEXTRACE_TRY(check_classes(timeline->ledger, &counts[i], error));
	}
	return 0;
}

/* -- the file ---------------------------------------------------------------------------------- */

/* `counts` NULL: without the files. Owned. */
static cJSON *make_document(const struct findings *findings, const struct emit_options *options,
                            const struct file_count *counts, uint32_t n_counts, bool closes)
{
	const struct timeline *timeline = findings->timeline;
	cJSON *root = cJSON_CreateObject();

	add_versions(root);
	add_inputs(root, options->run);
	add_pairs(root, options->run);
	add_traces(root, timeline);
	add_processes(root, timeline);
	add_totals(root, findings);
	add_clocks(root, timeline);
	add_alignment(root, timeline);
	add_warnings(root, timeline->ledger);
	add_losses(root, timeline->ledger);
	add_balance(root, timeline->ledger);
	add_emitted(root, findings->emitted);
	add_endless(root, timeline);
	if (counts)
		add_files(root, counts, n_counts);
	json_item_add(
		root, "closes",
		cJSON_CreateBool(closes && !ledger_total(timeline->ledger, LOSS_UNACCOUNTED)));
	return root;
}

char *run_json_print(const struct findings *findings, const struct emit_options *options,
                     const struct file_count *counts, uint32_t n_counts)
{
	bool closes = run_json_check(findings->timeline, counts, n_counts, NULL) == 0;
	cJSON *root = make_document(findings, options, NULL, 0, closes);
	char *document = cJSON_PrintUnformatted(root);

	cJSON_Delete(root);
	return document;
}

int run_json_write(const struct findings *findings, const struct emit_options *options,
                   const struct file_count *counts, uint32_t n_counts,
                   struct flextrace_error *error)
{
	struct flextrace_error imbalance = {0};
	bool closes = run_json_check(findings->timeline, counts, n_counts, &imbalance) == 0;
	cJSON *root = make_document(findings, options, counts, n_counts, closes);
	char *document = cJSON_Print(root);
	struct writer writer;
	int code;

	cJSON_Delete(root);
	if (!document)
		return error_set(error, FLEXTRACE_E_MEMORY,
		                 "Cannot write run.json: cause=no memory");
	code = place_open(&writer, options, RUN_JSON_FILE, error);
	if (code < 0) {
		free(document);
		return code;
	}
	writer_raw(&writer, document);
	writer_char(&writer, '\n');
	free(document);
	FLEXTRACE_TRY(writer_close(&writer, error));
	if (!closes)
		return error_set(error, imbalance.code, "%s", imbalance.message);
	return 0;
}
