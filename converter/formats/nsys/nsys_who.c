/* SPDX-License-Identifier: Apache-2.0 */
/* Whose the rows of a report are: its session, the processes, their ranks and devices. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/text/digits.h"
#include "nsys_impl.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

int nsys_each(struct nsys *nsys, const char *table,
              int (*visit)(struct nsys *nsys, const struct nsys_rows *rows))
{
	struct nsys_rows rows;
	int code = nsys_rows_begin(&rows, nsys->db, table, false);

	while (code == 0 && (code = nsys_rows_next(&rows)) > 0)
		code = visit(nsys, &rows);
	if (code == 0)
		code = nsys_end_table(nsys, &rows, table);
	nsys_rows_end(&rows);
	return code;
}

/* -- who ------------------------------------------------------------------------------------- */

int nsys_find_process(struct nsys *nsys, uint64_t global, uint32_t *ret_process)
{
	struct nsys_process *process;
	int code = MAP_PLACE(&nsys->process_index, global >> 24, 0, nsys->processes,
	                     nsys->n_processes, ret_process);

	FLEXTRACE_TRY(code);
	process = &nsys->processes[*ret_process];
	if (code)
		*process = (struct nsys_process){
			.global = global >> 24,
			.pid = (int32_t)(global >> 24 & 0xffffff),
			.rank = FLEXTRACE_RANK_UNKNOWN,
		};
	return FLEXTRACE_OK;
}

int nsys_find_device(struct nsys *nsys, uint32_t process, uint32_t number)
{
	uint32_t place;
	int code = MAP_PLACE(&nsys->device_index, process, number, nsys->devices, nsys->n_devices,
	                     &place);

	if (code > 0)
		nsys->devices[place] = (struct nsys_device){process, number};
	return code < 0 ? code : FLEXTRACE_OK;
}

/* Of the table of ranks, or of one of threads: wrappers of MPI call the thread of a rank so. */
static int visit_rank(struct nsys *nsys, const struct nsys_rows *rows)
{
	int64_t global, rank = -1;
	const char *name;
	uint64_t number;
	uint32_t process;

	FLEXTRACE_TRY(nsys_name(nsys, rows, NSYS_NAME_ID, &name));
	if (strncmp(name, "MPI Rank ", 9) == 0 && digits_read_all(name + 9, INT32_MAX, &number))
		rank = (int64_t)number;
	nsys_integer(rows, NSYS_RANK, &rank);
	if (rank < 0 || rank > INT32_MAX || !nsys_integer(rows, NSYS_GLOBAL_TID, &global))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(nsys_find_process(nsys, (uint64_t)global, &process));
	nsys->processes[process].rank = (int32_t)rank;
	return FLEXTRACE_OK;
}

/* -- the session ----------------------------------------------------------------------------- */

/* What launchers tell programs. */
static const char *const rank_names[] = {"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                         "PMI_RANK", "MV2_COMM_WORLD_RANK",  "SLURM_PROCID"};
static const char *const size_names[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                         "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"};

static int visit_start(struct nsys *nsys, const struct nsys_rows *rows)
{
	int64_t epoch_ns;

	if (nsys_integer(rows, NSYS_EPOCH, &epoch_ns) && epoch_ns > 0 && epoch_ns < INT64_MAX / 2)
		nsys->session.epoch_ns = epoch_ns;
	return FLEXTRACE_OK;
}

/* The number of `NAME="number"` if that is one of `n` names, of which the first ones hold. */
static void read_variable(const char *text, const char *const *names, size_t *n, int32_t *ret)
{
	for (size_t i = 0; i < *n; i++) {
		size_t length = strlen(names[i]);
		const char *at = text;
		uint64_t number;

		if (strncmp(text, names[i], length) != 0 || text[length] != '=')
			continue;
		at += length + 1;
		at += *at == '"';
		if (!digits_take(&at, INT32_MAX, &number))
			return;
		*ret = (int32_t)number;
		*n = i;
	}
}

/* Properties of the export, of the machine, and the environment of the program. */
static int visit_property(struct nsys *nsys, const struct nsys_rows *rows)
{
	const char *name = nsys_text(rows, NSYS_NAME), *value = nsys_text(rows, NSYS_VALUE);

	if (!name || !value)
		return FLEXTRACE_OK;
	if (strcmp(name, "EXPORT_PRODUCT_VERSION") == 0)
		return string_intern(&nsys->import.cache, value, &nsys->session.version);
	if (strcmp(name, "Hostname") == 0)
		return string_intern(&nsys->import.cache, value, &nsys->session.host);
	if (strcmp(name, "EXPORT_PARAM_TIME_NORMALIZE") == 0 && strcmp(value, "true") == 0)
		nsys->base_ns = nsys->session.epoch_ns - NSYS_DAY_NS; /* from the Unix epoch */
	if (strstr(name, "ENVIRONMENT_VARIABLE")) {
		read_variable(value, rank_names, &nsys->session.n_ranks, &nsys->session.rank);
		read_variable(value, size_names, &nsys->session.n_sizes, &nsys->session.world_size);
	}
	return FLEXTRACE_OK;
}

/* nsys tells in words that events are missing: then nothing that is counted is sure. */
static int visit_diagnostic(struct nsys *nsys, const struct nsys_rows *rows)
{
	static const char *const words[] = {" lost", "Lost ", "dropped", "Dropped", "ot all "};
	const char *text = nsys_text(rows, NSYS_TEXT);

	for (size_t i = 0; text && i < COUNT(words); i++) {
		if (!strstr(text, words[i]))
			continue;
		nsys->session.has_lost = true;
		import_warn(&nsys->import, "nsys says that events are missing: file=%s, says=%s",
		            nsys->path, text);
		return import_lose(&nsys->import, LOSS_TRUNCATED_STREAM, 1);
	}
	return FLEXTRACE_OK;
}

int nsys_read_session(struct nsys *nsys)
{
	static const char *const properties[] = {"META_DATA_EXPORT", "EXPORT_META_DATA",
	                                         "TARGET_INFO_SYSTEM_ENV", "META_DATA_CAPTURE"};

	nsys->session.epoch_ns = 0;
	nsys->base_ns = -NSYS_DAY_NS;
	nsys->session.version = nsys->session.host = 0;
	nsys->session.rank = FLEXTRACE_RANK_UNKNOWN;
	nsys->session.world_size = 0;
	nsys->session.has_lost = false;
	nsys->session.n_ranks = COUNT(rank_names);
	nsys->session.n_sizes = COUNT(size_names);
	FLEXTRACE_TRY(nsys_each(nsys, "TARGET_INFO_SESSION_START_TIME", visit_start));
	for (size_t i = 0; i < COUNT(properties); i++)
		FLEXTRACE_TRY(nsys_each(nsys, properties[i], visit_property));
	FLEXTRACE_TRY(nsys_each(nsys, "DIAGNOSTIC_EVENT", visit_diagnostic));
	FLEXTRACE_TRY(nsys_each(nsys, "ThreadNames", visit_rank));
	return nsys_each(nsys, "MPI_RANKS", visit_rank);
}

/* -- definitions ----------------------------------------------------------------------------- */

/* Stores the process that a cell names; false: none that has rows. */
static bool find_known(const struct nsys *nsys, const struct nsys_rows *rows,
                       enum nsys_column column, uint32_t *ret_process)
{
	int64_t global;

	if (!nsys_integer(rows, column, &global))
		return false;
	*ret_process = map_find(&nsys->process_index, (uint64_t)global >> 24, 0);
	return *ret_process != MAP_NONE;
}

static int visit_process(struct nsys *nsys, const struct nsys_rows *rows)
{
	const char *name = nsys_text(rows, NSYS_NAME);
	uint32_t process;

	if (!name || !find_known(nsys, rows, NSYS_GLOBAL_PID, &process))
		return FLEXTRACE_OK;
	return string_intern(&nsys->import.cache, name, &nsys->processes[process].program);
}

static int define_process(struct nsys *nsys, const struct nsys_process *process)
{
	const char *host = string_get(nsys->import.strings, nsys->session.host);
	char boot_id[48];
	const struct flextrace_process defined = {
		.rank = process->rank,
		.world_size = nsys->n_processes == 1 ? nsys->session.world_size : 0,
		.pid = (uint32_t)process->pid,
		.boot_id = boot_id,
		.host = *host ? host : IMPORT_HOST,
		.program = string_get(nsys->import.strings, process->program),
		.runtime = "nsys",
		.version = string_get(nsys->import.strings, nsys->session.version),
	};

	/* Each session reads the clocks for itself: of two on one host nobody knows how well. */
	snprintf(boot_id, sizeof(boot_id), "imported nsys session %016" PRIx64, nsys->session.hash);
	return import_define(&nsys->import, nsys->stream, process->pid, RECORD_PROCESS, &defined);
}

static int visit_thread(struct nsys *nsys, const struct nsys_rows *rows)
{
	struct event event = {.class = RECORD_THREAD_NAME};
	int64_t global;
	uint32_t process;

	if (!find_known(nsys, rows, NSYS_GLOBAL_TID, &process))
		return FLEXTRACE_OK;
	nsys_integer(rows, NSYS_GLOBAL_TID, &global);
	event.vpid = nsys->processes[process].pid;
	event.vtid = (int32_t)(global & 0xffffff);
	event.payload.name.id = (uint32_t)event.vtid;
	FLEXTRACE_TRY(nsys_name(nsys, rows, NSYS_NAME_ID, &event.payload.name.name));
	return import_write(&nsys->import, nsys->stream, &event);
}

/* A device that did nothing is not defined. */
static int visit_gpu(struct nsys *nsys, const struct nsys_rows *rows)
{
	struct flextrace_device device = {.name = nsys_text(rows, NSYS_NAME),
	                                  .uuid = nsys_text(rows, NSYS_BUS)};
	int64_t id, n_cores = 0, hz = 0;

	if (!nsys_integer(rows, NSYS_ID, &id) || id < 0 || id > INT32_MAX)
		return FLEXTRACE_OK;
	nsys_integer(rows, NSYS_N_SM, &n_cores);
	nsys_integer(rows, NSYS_CLOCK_RATE, &hz);
	device.device = (uint32_t)id;
	device.n_cores = n_cores > 0 && n_cores <= INT32_MAX ? (uint32_t)n_cores : 0;
	device.core_hz = hz > 0 ? (uint64_t)hz : 0;
	for (uint32_t i = 0; i < nsys->n_devices; i++) {
		const struct nsys_device *of = &nsys->devices[i];

		if (of->number == device.device)
			FLEXTRACE_TRY(import_define(&nsys->import, nsys->stream,
			                            nsys->processes[of->process].pid, RECORD_DEVICE,
			                            &device));
	}
	return FLEXTRACE_OK;
}

/* Whose file it is tells its trace apart: ranks are in order. */
static void settle_stream(struct nsys *nsys)
{
	struct import_stream *stream = &nsys->import.streams[nsys->stream];
	uint32_t least = UINT32_MAX;
	const char *host = string_get(nsys->import.strings, nsys->session.host);
	char text[80];

	nsys->session.hash = hash_bytes(HASH_NO_BYTES, host, strlen(host));
	for (uint32_t i = 0; i < nsys->n_processes; i++) {
		const struct nsys_process *process = &nsys->processes[i];

		snprintf(text, sizeof(text), "%" PRId64 " %" PRIu64 " %" PRId32,
		         nsys->session.epoch_ns, process->global, process->rank);
		nsys->session.hash = hash_bytes(nsys->session.hash, text, strlen(text));
		if (process->rank >= 0 && (uint32_t)process->rank < least)
			least = (uint32_t)process->rank;
	}
	memcpy(stream->uuid, "nsys", 4);
	for (int i = 0; i < 4; i++)
		stream->uuid[4 + i] = (uint8_t)(least >> (24 - 8 * i));
	for (int i = 0; i < 8; i++)
		stream->uuid[8 + i] = (uint8_t)(nsys->session.hash >> (56 - 8 * i));
	stream->clock_offset_ns = nsys->base_ns;
	if (nsys->base_ns < 0)
		stream->clock_offset_ns += nsys->session.epoch_ns;
}

/* Where there are more processes than one, the environment is that of who launched them. */
static void settle_ranks(struct nsys *nsys)
{
	for (uint32_t i = 0; i < nsys->n_processes; i++) {
		struct nsys_process *process = &nsys->processes[i];

		if (process->rank < 0 && nsys->n_processes == 1)
			process->rank = nsys->session.rank;
		if (process->rank < 0)
			process->rank = dialect_next_rank(&nsys->ranks);
	}
}

int nsys_define(struct nsys *nsys)
{
	settle_ranks(nsys);
	settle_stream(nsys);
	FLEXTRACE_TRY(nsys_each(nsys, "PROCESSES", visit_process));
	for (uint32_t i = 0; i < nsys->n_processes; i++)
		FLEXTRACE_TRY(define_process(nsys, &nsys->processes[i]));
	FLEXTRACE_TRY(nsys_each(nsys, "ThreadNames", visit_thread));
	return nsys_each(nsys, "TARGET_INFO_GPU", visit_gpu);
}
