/* SPDX-License-Identifier: Apache-2.0 */
#include "costs_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "analysis_files.h"
#include "base/array.h"
#include "scratch.h"

int costs_start(void **state)
{
	struct costs_fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->strings = string_pool_new();
	assert_non_null(fixture->strings);
	fixture->findings.timeline = &fixture->timeline;
	string_cache_init(&fixture->cache, fixture->strings);
	ledger_init(&fixture->ledger);
	fixture->dir = scratch_dir();
	fixture->identity.processes = fixture->processes;
	fixture->identity.devices = fixture->devices;
	fixture->timeline.identity = &fixture->identity;
	fixture->timeline.tracks = fixture->tracks;
	fixture->timeline.strings = fixture->strings;
	*state = fixture;
	return 0;
}

int costs_stop(void **state)
{
	struct costs_fixture *fixture = *state;

	utilization_release(&fixture->costs);
	kernel_times_release(&fixture->times);
	compiler_info_release(&fixture->info);
	table_release(&fixture->timeline.device_rows);
	table_release(&fixture->timeline.counters);
	free(fixture->timeline.ops);
	ledger_release(&fixture->ledger);
	string_cache_release(&fixture->cache);
	string_pool_free(fixture->strings);
	scratch_remove(fixture->dir);
	free(fixture);
	return 0;
}

uint32_t costs_device(struct costs_fixture *fixture, int32_t rank)
{
	uint32_t i = fixture->identity.n_devices++;

	assert_true(i < COSTS_MAX_DEVICES);
	fixture->identity.n_processes++;
	fixture->timeline.n_tracks++;
	fixture->processes[i] = (struct process){.rank = rank};
	fixture->devices[i] = (struct device){.process = i};
	fixture->tracks[i] = (struct track){.kind = TRACK_QUEUE, .row_kind = ROW_EXEC, .owner = i};
	return i;
}

void costs_kernel(struct costs_fixture *fixture, uint32_t device, const char *name,
                  int64_t duration_ns, uint64_t cycles)
{
	struct timeline *timeline = &fixture->timeline;
	struct device_row *row = table_append(&timeline->device_rows, sizeof(*row));
	struct tick_op *op;

	assert_non_null(row);
	assert_int_equal(
		ARRAY_RESERVE(timeline->ops, fixture->n_ops_allocated, timeline->n_ops + 1), 0);
	op = &timeline->ops[timeline->n_ops];
	*op = (struct tick_op){.ticks = {1, 1, 1000, 1000 + cycles, 1000 + cycles},
	                       .device = device};
	assert_int_equal(string_intern(&fixture->cache, name, &op->name), 0);
	*row = (struct device_row){
		.start_time_ns = fixture->now_ns + 10,
		.end_time_ns = fixture->now_ns + 10 + duration_ns,
		.source = (uint32_t)timeline->n_ops++,
		.track = device,
		.kind = ROW_EXEC,
	};
	fixture->now_ns = row->end_time_ns;
}

void costs_kernels(struct costs_fixture *fixture, uint32_t device, const char *names)
{
	char *copy = strdup(names), *rest = copy;

	assert_non_null(copy);
	for (char *name; (name = strtok_r(rest, " ", &rest));)
		costs_kernel(fixture, device, name, 100, 50);
	free(copy);
}

/* As a log: a word a line, numbers behind their names. */
static void write_log(FILE *log, char *tables)
{
	for (char *table; (table = strtok_r(tables, ";", &tables));) {
		char *word = strtok_r(table, " ", &table);

		if (word && !strcmp(word, "AUTOPILOT")) {
			fputs("DSM-AutoPilot BEGIN\n", log);
			word = strtok_r(table, " ", &table);
		}
		if (word && (!strcmp(word, "PREFILL") || !strcmp(word, "DECODING"))) {
			fprintf(log, "%s\n", word);
			word = strtok_r(table, " ", &table);
		}
		fputs(" Ideal/Total Cycles ", log);
		for (bool is_name = true; word; word = strtok_r(table, " ", &table)) {
			fprintf(log, "%c%s", is_name ? '\n' : ' ', word);
			is_name = !is_name;
		}
		fputs("\n====== Perf Summary End ======\n", log);
	}
}

void costs_source(struct costs_fixture *fixture, const char *tables)
{
	char path[4096], *copy = strdup(tables);
	const char *text = path;
	FILE *log;

	assert_non_null(copy);
	snprintf(path, sizeof(path), "%s/log", fixture->dir);
	log = fopen(path, "we");
	assert_non_null(log);
	write_log(log, copy);
	assert_int_equal(fclose(log), 0);
	free(copy);
	assert_int_equal(compiler_info_read(&fixture->info, &text, 1, &fixture->cache, NULL), 0);
	assert_int_equal(fixture->info.n_bad_lines + fixture->info.n_bad_tables, 0);
}

void costs_times(struct costs_fixture *fixture, const char *lines)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tables", fixture->dir);
	mkdir(path, 0700);
	strcat(path, "/kernels.csv");
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "rank,kind,name,calls,total_ns\n%s", lines);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(kernel_times_read(&fixture->times, fixture->dir, &fixture->cache, NULL),
	                 0);
	fixture->has_times = true;
}

void costs_run(struct costs_fixture *fixture, double core_hz)
{
	const struct utilization_options options = {
		.core_hz = core_hz, .times = fixture->has_times ? &fixture->times : NULL};

	assert_int_equal(utilization_run(&fixture->costs, &fixture->info, &options,
	                                 &fixture->timeline, &fixture->cache, &fixture->ledger),
	                 0);
	fixture->findings.costs = &fixture->costs;
}

void costs_expect(const struct costs_fixture *fixture, const char *expected)
{
	char *text;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	for (uint64_t i = 0; i < fixture->timeline.n_ops; i++) {
		uint32_t place = fixture->costs.of_op[i];
		const struct kernel_cost *cost = &fixture->costs.costs[place];

		fputs(i ? " " : "", stream);
		if (place == FLEXTRACE_NONE) {
			fputc('?', stream);
			continue;
		}
		if (cost->category)
			fprintf(stream, "%s:%llu", string_get(fixture->strings, cost->category),
			        (unsigned long long)cost->ideal_cycles);
		else
			fputc('-', stream);
		if (cost->phase)
			fprintf(stream, "/%s", kernel_phase_name(cost->phase));
	}
	fclose(stream);
	assert_string_equal(text, expected);
	free(text);
}

void costs_expect_file(const struct costs_fixture *fixture, const char *file, const char *expected)
{
	uint64_t rows;
	char *text;

	assert_int_equal(analysis_files_save(&fixture->findings, file, fixture->dir, &rows, NULL),
	                 0);
	text = analysis_files_read(file, fixture->dir);
	assert_non_null(text);
	assert_string_equal(text, expected);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		rows--;
	assert_int_equal(rows, -1); /* the heading */
	free(text);
}
