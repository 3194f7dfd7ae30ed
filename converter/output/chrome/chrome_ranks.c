// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_ranks.c: the file of a single rank, for TensorBoard's torch plug-in and Holistic Trace
 * Analysis. Their rules, as far as they are not Kineto's conventions anyway (docs/formats.md):
 *
 * - a kernel's pid is its args.device, below 64; nothing else has such a pid
 * - what has args.stream is a kernel, and what has args.correlation without it is a launch
 * - a copy is called "Memcpy HtoD (...)", a setting of memory "Memset (...)"
 * - a collective is an operation `gloo:<op>` with one of five names, an External id that no other
 *   row has (they are told apart by it), and its size as the dims of a tensor
 * - everything belongs to a ProfilerStep#N
 */
#include "chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/ascii.h"
#include "model/words/kinds.h"

#define MAX_DEVICES 64

/* 2^42 us, 50 days. From twice as much on a double does not hold every ns. */
#define MAX_LEAD_NS ((int64_t)1000 << 42)

/* External ids of collectives; those of rows are correlations, which count up from 1. */
#define COLLECTIVE_ID ((uint64_t)1 << 52)

/* -- numbers ----------------------------------------------------------------------------------- */

/* The real pid where it cannot be taken for a device. */
static uint32_t number_host(const struct process *process, uint32_t otherwise)
{
	int64_t pid = identity_pid(process);

	return pid >= MAX_DEVICES ? (uint32_t)pid : otherwise;
}

void chrome_number_process(struct chrome_ids *ids, const struct view *view, uint32_t process)
{
	const struct identity *identity = view->identity;
	bool is_taken[MAX_DEVICES] = {false};
	uint32_t next = 0;

	ids->process_pid[process] = number_host(&identity->processes[process],
	                                        ids->process_pid[process]);
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		const struct device *device = &identity->devices[i];

		if (device->process != process || device->device >= MAX_DEVICES)
			continue;
		ids->device_pid[i] = device->device;
		is_taken[device->device] = true;
	}
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		const struct device *device = &identity->devices[i];

		if (device->process != process || device->device < MAX_DEVICES)
			continue;
		while (next < MAX_DEVICES && is_taken[next])
			next++;
		if (next < MAX_DEVICES)
			ids->device_pid[i] = next++;
	}
}

/* -- times ------------------------------------------------------------------------------------- */

/* As a reader gets it from the decimal text. */
static double us_of(const struct chrome *chrome, int64_t time_ns)
{
	return (double)(time_ns - chrome->base_time_ns) / 1000.0;
}

int64_t chrome_rank_lead_ns(int64_t first_time_ns, int64_t last_time_ns)
{
	const uint64_t at_least_ns = (uint64_t)last_time_ns - (uint64_t)first_time_ns + 2000000000;
	int64_t lead_ns = 1000;

	while (lead_ns < MAX_LEAD_NS && (uint64_t)lead_ns < at_least_ns)
		lead_ns *= 2;
	return first_time_ns < INT64_MIN + lead_ns ? 0 : lead_ns;
}

void chrome_write_dur(struct chrome *chrome, int64_t start_time_ns, int64_t end_time_ns)
{
	writer_double(&chrome->writer, us_of(chrome, end_time_ns) - us_of(chrome, start_time_ns));
}

/* -- copies ------------------------------------------------------------------------------------ */

bool chrome_is_copy(const struct chrome *chrome, const struct device_row *row)
{
	return chrome->process != FLEXTRACE_NONE && row->kind >= ROW_MEMCPY_HTOD &&
	       row->kind <= ROW_MEMSET;
}

void chrome_write_copy_head(struct chrome *chrome, const struct device_row *row)
{
	const struct row_kind *kind = kind_of_device(row->kind);
	uint32_t id = chrome->view.timeline->ops[row->source].name;
	const char *name = string_get(chrome->view.strings, id);
	struct writer *writer = &chrome->writer;
	char *text = NULL;

	chrome_write_kind_head(writer, kind);
	if (strncmp(name, "Memcpy", 6) == 0 || strncmp(name, "Memset", 6) == 0)
		view_write_json(&chrome->view, writer, id);
	else if (!*name)
		writer_json(writer, kind->label, strlen(kind->label));
	else if (asprintf(&text, "%s (%s)", kind->label, name) >= 0)
		writer_json(writer, text, strlen(text));
	else {
		writer->failure = ENOMEM;
		text = NULL; /* what it is then nobody promises */
	}
	free(text);
}

void chrome_write_bandwidth(struct chrome *chrome, const struct device_row *row)
{
	uint64_t n_bytes = chrome->view.timeline->ops[row->source].bytes;
	uint64_t ns = (uint64_t)row->end_time_ns - (uint64_t)row->start_time_ns;

	if (!n_bytes || !ns)
		return;
	CHROME_ARG(&chrome->writer, "memory bandwidth (GB/s)");
	writer_double(&chrome->writer, (double)n_bytes / (double)ns);
}

/* -- rows -------------------------------------------------------------------------------------- */

/* Equal but for case and underscores: "AllReduce" is "all_reduce". */
static bool is_same_op(const char *name, const char *op)
{
	for (;; name++, op++) {
		while (*name == '_' || *name == '-')
			name++;
		while (*op == '_')
			op++;
		if (ascii_lower(*name) != *op)
			return false;
		if (!*op)
			return true;
	}
}

/* The operation that TensorBoard knows; NULL: it does not. */
static const char *known_op(const char *name)
{
	static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
	                                  "reduce"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (is_same_op(name, ops[i]))
			return ops[i];
	}
	return NULL;
}

/* Of the text that derive made of a collective: quotes in its strings have a backslash. */
static uint64_t bytes_of(const char *args)
{
	static const char key[] = ",\"bytes\":";
	const char *at = strstr(args, key);

	return at ? strtoull(at + sizeof(key) - 1, NULL, 10) : 0;
}

/* Opens the arguments. */
static void write_collective_args(struct chrome *chrome, uint64_t n_bytes)
{
	writer_format(&chrome->writer,
	              ",\"args\":{\"kind\":\"Collective\",\"External id\":%" PRIu64
	              ",\"Input Dims\":[[%" PRIu64
	              "]],\"Input type\":[\"unsigned char\"],\"bytes\":%" PRIu64,
	              COLLECTIVE_ID + chrome->n_collectives++, n_bytes, n_bytes);
}

void chrome_write_collective(struct chrome *chrome, const struct host_row *row)
{
	const struct string_pool *strings = chrome->view.strings;
	const char *op = known_op(string_get(strings, row->name));
	struct writer *writer = &chrome->writer;

	chrome_next(chrome);
	writer_literal(writer, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":");
	if (op)
		writer_format(writer, "\"gloo:%s\"", op);
	else
		view_write_json(&chrome->view, writer, row->name);
	fragments_write(&chrome->fragments.track_ids, row->track, writer);
	chrome_write_times(chrome, row->start_time_ns, row->end_time_ns);
	write_collective_args(chrome, bytes_of(string_get(strings, row->args)));
	writer_literal(writer, ",\"args\":");
	view_write_json(&chrome->view, writer, row->args);
	writer_literal(writer, "}}");
}

void chrome_write_rank_row(struct chrome *chrome, const struct rank_row *row)
{
	struct writer *writer = &chrome->writer;

	chrome_next(chrome);
	if (row->op)
		writer_format(writer, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"gloo:%s\"",
		              row->op);
	else
		writer_format(writer,
		              "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
		              "\"ProfilerStep#%u\"",
		              row->number);
	chrome_write_ids(writer, chrome->ids.process_pid[row->process], chrome_rank_tid(row));
	chrome_write_times(chrome, row->start_time_ns, row->end_time_ns);
	if (row->op)
		write_collective_args(chrome, row->bytes);
	else
		writer_literal(writer, ",\"args\":{\"kind\":\"Step\"");
	writer_format(writer, ",\"found\":\"%s\"}}",
	              row->op        ? "in the work of its devices"
	              : row->is_turn ? "turn of the loop in its kernels"
	                             : "all of the rank");
}
