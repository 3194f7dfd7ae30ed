/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "nsys_impl.h"

#define MAGIC   "SQLite format 3"
#define LAST_NS (INT64_MAX / 2)

/* Those that tell whose rows are of whom stand before those that may not, what names collectives
 * before what they launch. */
/* clang-format off */
static const struct nsys_table tables[] = {
	{"NVTX_EVENTS", "NVTX ranges", nsys_take_nvtx, "user_annotation", 0, 1},
	{"MPI_OTHER_EVENTS", NULL, nsys_take_mpi, "mpi", 0, 1},
	{"MPI_START_WAIT_EVENTS", NULL, nsys_take_mpi, "mpi", 0, 1},
	{"MPI_COLLECTIVES_EVENTS", NULL, nsys_take_collective, "mpi", 1, 1},
	{"MPI_P2P_EVENTS", NULL, nsys_take_message, "mpi", 1, 1},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA calls", nsys_take_call, NULL, 0, 0},
	{"CUDNN_EVENTS", NULL, nsys_take_call, "cudnn", 0, 0},
	{"CUBLAS_EVENTS", NULL, nsys_take_call, "cublas", 0, 0},
	{"OSRT_API", "calls of the system", nsys_take_call, "os_runtime", 0, 0},
	{"PROFILER_OVERHEAD", NULL, nsys_take_call, "overhead", 0, 0},
	{"CUPTI_ACTIVITY_KIND_KERNEL", "kernels", nsys_take_kernel, "kernel", 0, 0},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", "copies", nsys_take_copy, "gpu_memcpy", 0, 0},
	{"CUPTI_ACTIVITY_KIND_MEMSET", NULL, nsys_take_set, "gpu_memset", 0, 0},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", NULL, nsys_take_graph, "kernel", 0, 0},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", NULL, nsys_take_sync, "cuda_sync", 0, 0},
	{"CUDA_GPU_MEMORY_USAGE_EVENTS", NULL, nsys_take_memory, NULL, 0, 1},
};
/* clang-format on */

#define N_TABLES (sizeof(tables) / sizeof(*tables))

/* -- a row ----------------------------------------------------------------------------------- */

int nsys_reject(struct nsys *nsys, const struct nsys_rows *rows, enum loss_cause cause,
                const char *fault)
{
	return import_reject(&nsys->import, cause, fault,
	                     rows->number < 0 ? 0 : (uint64_t)rows->number);
}

struct event nsys_event(const struct nsys *nsys, const struct nsys_rows *rows,
                        const struct nsys_span *span, enum record_class class)
{
	uint64_t number = rows->number < 0 ? 0 : (uint64_t)rows->number;
	struct event event = {.class = class, .clock_ns = span->end_ns, .n_origins = 1};

	event.vpid = nsys->processes[span->process].pid;
	event.vtid = span->tid;
	event.origins[0] = origin_make(nsys->import.streams[nsys->stream].files.n - 1, number);
	return event;
}

int nsys_write(struct nsys *nsys, const struct event *event)
{
	nsys->n_rows++;
	return import_write(&nsys->import, nsys->stream, event);
}

int nsys_name(struct nsys *nsys, const struct nsys_rows *rows, enum nsys_column column,
              const char **ret_text)
{
	const char *text;
	char missing[32];
	int64_t id;
	uint32_t string;
	int code;

	*ret_text = "";
	if (!nsys_integer(rows, column, &id))
		return FLEXTRACE_OK;
	string = map_find(&nsys->strings, (uint64_t)id, 0);
	if (string == MAP_NONE) {
		code = nsys_string(nsys->db, id, &text);
		if (code == 0) {
			snprintf(missing, sizeof(missing), "string %" PRId64, id);
			text = missing;
			nsys->n_unnamed++;
		}
		FLEXTRACE_TRY(code);
		FLEXTRACE_TRY(string_intern(&nsys->import.cache, text, &string));
		FLEXTRACE_TRY(map_put(&nsys->strings, (uint64_t)id, 0, string));
	}
	*ret_text = string_get(nsys->import.strings, string);
	return FLEXTRACE_OK;
}

/* -- arguments ------------------------------------------------------------------------------- */

void nsys_args_begin(struct nsys *nsys, const char *category)
{
	json_text_clear(&nsys->args);
	json_text_open(&nsys->args, '{');
	json_text_string(&nsys->args, "cat", category);
}

void nsys_args_number(struct nsys *nsys, const char *key, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, value);
	json_text_raw(&nsys->args, key, text);
}

void nsys_args_columns(struct nsys *nsys, const struct nsys_rows *rows,
                       const struct nsys_member *members, size_t n)
{
	int64_t value;

	for (size_t i = 0; i < n; i++) {
		if (nsys_integer(rows, members[i].column, &value))
			nsys_args_number(nsys, members[i].key, value);
	}
}

int nsys_args_end(struct nsys *nsys, const char **ret_args)
{
	size_t n_bytes;

	json_text_close(&nsys->args, '}');
	return json_text_get(&nsys->args, ret_args, &n_bytes);
}

int nsys_write_scope(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                     struct flextrace_scope *scope)
{
	struct event event = nsys_event(nsys, rows, span, RECORD_BEGIN);

	if (!span->has_end) {
		event.payload.edge = (struct flextrace_span_edge){.kind = scope->kind,
		                                                  .name = scope->name};
		return nsys_write(nsys, &event);
	}
	event.class = RECORD_SCOPE_ARGS;
	event.payload.scope_args.correlation = scope->correlation;
	FLEXTRACE_TRY(nsys_args_end(nsys, &event.payload.scope_args.args));
	FLEXTRACE_TRY(import_write(&nsys->import, nsys->stream, &event));
	event.class = RECORD_SCOPE;
	scope->begin_ns = span->begin_ns;
	event.payload.scope = *scope;
	return nsys_write(nsys, &event);
}

/* -- tables ---------------------------------------------------------------------------------- */

/* Moves a time to the clock of the stream. */
static bool move_time(const struct nsys *nsys, int64_t ns, uint64_t *ret_ns)
{
	int64_t moved;

	if (__builtin_sub_overflow(ns, nsys->base_ns, &moved) || moved <= 0 || moved > LAST_NS)
		return false;
	*ret_ns = (uint64_t)moved;
	return true;
}

/* Returns what is wrong with the times of a row; NULL: nothing is. */
static const char *read_times(const struct nsys *nsys, const struct nsys_rows *rows,
                              struct nsys_span *span)
{
	int64_t begin_ns, end_ns;

	if (!nsys_integer(rows, NSYS_START, &begin_ns))
		return "its start is no number";
	span->has_end = nsys_integer(rows, NSYS_END, &end_ns);
	if (!span->has_end)
		end_ns = begin_ns;
	if (!move_time(nsys, begin_ns, &span->begin_ns) || !move_time(nsys, end_ns, &span->end_ns))
		return "its time is out of range";
	return NULL;
}

/* What tells no process is of the only one, or of one without a number. */
static int read_owner(struct nsys *nsys, const struct nsys_rows *rows, struct nsys_span *span)
{
	int64_t global;

	span->tid = -1;
	span->process = 0;
	if (nsys_integer(rows, NSYS_GLOBAL_TID, &global))
		span->tid = (int32_t)(global & 0xffffff);
	else if (!nsys_integer(rows, NSYS_GLOBAL_PID, &global)) {
		if (nsys->n_processes == 1)
			return FLEXTRACE_OK;
		global = 0;
	}
	return nsys_find_process(nsys, (uint64_t)global, &span->process);
}

static int take_row(struct nsys *nsys, const struct nsys_rows *rows)
{
	struct nsys_span span;
	const char *fault = read_times(nsys, rows, &span);

	if (!fault && !span.has_end && !nsys->table->may_be_open)
		fault = "its end is no number";
	if (fault)
		return nsys_reject(nsys, rows, LOSS_MALFORMED, fault);
	if (span.end_ns < span.begin_ns)
		return nsys_reject(nsys, rows, LOSS_BACKWARDS, "its end is before its start");
	FLEXTRACE_TRY(read_owner(nsys, rows, &span));
	return nsys->table->take(nsys, rows, &span);
}

int nsys_end_table(struct nsys *nsys, const struct nsys_rows *rows, const char *table)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s:%s", nsys->path, table);
	import_warn_of_faults(&nsys->import, path, "Rows", "row");
	if (!rows->is_damaged)
		return FLEXTRACE_OK;
	import_warn(&nsys->import,
	            "The table is damaged, and not read to its end: file=%s, cause=%s", path,
	            nsys_db_cause(nsys->db));
	return import_lose(&nsys->import, LOSS_TRUNCATED_STREAM, 1);
}

/* A table is an input of its own: rows are numbered in it. */
static int read_table(struct nsys *nsys, const struct nsys_table *table)
{
	struct nsys_rows rows;
	char path[4096];
	int code = nsys_rows_begin(&rows, nsys->db, table->name, table->is_by_time);

	nsys->table = table;
	snprintf(path, sizeof(path), "%s:%s", nsys->path, table->name);
	if (code >= 0 && rows.statement)
		code = import_add_file(&nsys->import, nsys->stream, "nsys", path);
	while (code == 0 && (code = nsys_rows_next(&rows)) > 0)
		code = take_row(nsys, &rows);
	if (code == 0)
		code = nsys_end_table(nsys, &rows, table->name);
	nsys_rows_end(&rows);
	return code;
}

/* -- what is not there, and what is not read ------------------------------------------------- */

/* Whether a table is read, or has no events: it names, describes, or says how a report was made. */
static bool is_known(const char *name)
{
	static const char *const parts[] = {
		"StringIds",      "ThreadNames",       "PROCESSES",
		"MPI_RANKS",      "MPI_COMMUNICATORS", "ENUM_",
		"TARGET_INFO_",   "META_DATA",         "ANALYSIS_",
		"PAYLOAD",        "sqlite_",           "CALLCHAINS",
		"ProcessStreams", "DIAGNOSTIC_EVENT",  "UnwindMethodType",
		"NVTX_SCOPES"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (strstr(name, parts[i]))
			return true;
	}
	for (size_t i = 0; i < N_TABLES; i++) {
		if (strcmp(name, tables[i].name) == 0)
			return true;
	}
	return false;
}

static void add_word(char text[512], const char *word)
{
	size_t n = strlen(text);

	snprintf(text + n, 512 - n, "%s%s", n ? ", " : "", word);
}

static int tell_what_is_not_read(struct nsys *nsys)
{
	char lacking[512] = "", unread[512] = "";
	const struct text_list *names = nsys_db_tables(nsys->db);
	struct nsys_rows rows;

	for (size_t i = 0; i < N_TABLES; i++) {
		if (tables[i].what && !nsys_db_has(nsys->db, tables[i].name))
			add_word(lacking, tables[i].what);
	}
	for (uint32_t i = 0; i < names->n; i++) {
		if (is_known(names->texts[i]))
			continue;
		FLEXTRACE_TRY(nsys_rows_begin(&rows, nsys->db, names->texts[i], false));
		if (nsys_rows_next(&rows) > 0) {
			add_word(unread, names->texts[i]);
			nsys->import.ledger.warnings[WARNING_TABLES_NOT_READ]++;
		}
		nsys_rows_end(&rows);
	}
	if (*lacking)
		import_warn(&nsys->import, "The report has none of these: file=%s, what=%s",
		            nsys->path, lacking);
	if (*unread)
		import_warn(&nsys->import, "Tables are not read: file=%s, tables=%s", nsys->path,
		            unread);
	if (nsys->n_unnamed)
		import_warn(&nsys->import, "Names are missing: file=%s, names=%" PRIu64, nsys->path,
		            nsys->n_unnamed);
	return FLEXTRACE_OK;
}

/* -- a file ---------------------------------------------------------------------------------- */

static void end_file(struct nsys *nsys)
{
	nsys_db_close(nsys->db);
	nsys->db = NULL;
	nsys->n_rows = nsys->n_unnamed = 0;
	nsys->n_processes = nsys->n_devices = nsys->mpi.n_comms = nsys->mpi.n_lanes = 0;
	nsys->nccl.n_fields = nsys->nccl.n_ranges = 0;
	map_release(&nsys->process_index);
	map_release(&nsys->device_index);
	map_release(&nsys->strings);
	map_release(&nsys->nvtx_names);
	map_release(&nsys->nccl.launches);
	map_release(&nsys->mpi.comm_index);
	map_release(&nsys->mpi.lane_index);
}

static int read_tables(struct nsys *nsys)
{
	const struct import_stream stream = {.instance = nsys->stream};

	FLEXTRACE_TRY(import_add_stream(&nsys->import, &stream));
	FLEXTRACE_TRY(nsys_read_session(nsys));
	FLEXTRACE_TRY(nsys_read_schemas(nsys));
	FLEXTRACE_TRY(nsys_read_nvtx_names(nsys));
	FLEXTRACE_TRY(nsys_read_communicators(nsys));
	for (size_t i = 0; i < N_TABLES; i++) {
		FLEXTRACE_TRY(read_table(nsys, &tables[i]));
		if (tables[i].take == nsys_take_nvtx)
			FLEXTRACE_TRY(nsys_nccl_settle(nsys));
	}
	FLEXTRACE_TRY(tell_what_is_not_read(nsys));
	return nsys_define(nsys);
}

/* A report as nsys keeps it, which only nsys can read. */
static bool is_unexported(const char *path)
{
	return path_ends_with(path, ".nsys-rep") || path_ends_with(path, ".qdrep");
}

static int read_file(struct nsys *nsys, const char *path, struct flextrace_error *error)
{
	int code;

	if (is_unexported(path))
		return error_set(
			error, FLEXTRACE_E_INPUT,
			"Only nsys can read its reports; run `nsys export --type sqlite` on "
			"it first, and give what that writes: file=%s",
			path);
	nsys->path = path;
	nsys->stream = nsys->import.n_streams;
	FLEXTRACE_TRY(nsys_db_open(path, &nsys->db, error));
	code = read_tables(nsys);
	if (code >= 0 && !nsys->n_rows)
		code = error_set(error, FLEXTRACE_E_INPUT,
		                 "There is no row of a report of nsys: file=%s", path);
	end_file(nsys);
	return code;
}

/* -- the format ------------------------------------------------------------------------------ */

static int probe_report(const struct probe *probe)
{
	return memcmp(probe->bytes, MAGIC, sizeof(MAGIC)) == 0 || is_unexported(probe->path);
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	struct nsys *nsys = (struct nsys *)import;
	int code = FLEXTRACE_OK;

	nsys->args = (struct json_text)JSON_TEXT_INIT;
	nsys->ranks = import->options->torch_ranks;
	for (uint32_t i = 0; i < import->options->n_paths && code >= 0; i++)
		code = read_file(nsys, import->options->paths[i], error);
	json_text_release(&nsys->args);
	return code;
}

static void release(struct import *import)
{
	struct nsys *nsys = (struct nsys *)import;

	end_file(nsys);
	free(nsys->processes);
	free(nsys->devices);
	free(nsys->nccl.fields);
	free(nsys->nccl.ranges);
	free(nsys->mpi.comms);
	free(nsys->mpi.lanes);
}

const struct import_format import_nsys = {
	.dialect = IMPORT_NSYS,
	.probe = probe_report,
	.n_bytes = sizeof(struct nsys),
	.read = read_all,
	.release = release,
};
