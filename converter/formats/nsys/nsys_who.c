/* SPDX-License-Identifier: Apache-2.0 */
/* Whose the rows of a report are: its session, the processes, their ranks and devices. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "nsys_impl.h"

/* -- who ------------------------------------------------------------------------------------- */

int nsys_find_process(struct nsys *nsys, int64_t global, uint32_t *ret_process)
{
	struct nsys_process *process;
	uint64_t key = (uint64_t)global >> 24;
	int code = MAP_PLACE(&nsys->process_index, key, 0, nsys->processes, nsys->n_processes,
	                     ret_process);

	FLEXTRACE_TRY(code);
	process = &nsys->processes[*ret_process];
	if (code)
		*process = (struct nsys_process){
			.global = key,
			.pid = (int32_t)(key & 0xffffff),
			.rank = FLEXTRACE_RANK_UNKNOWN,
		};
	return FLEXTRACE_OK;
}

/* Of the table of ranks, or of that of threads: wrappers of MPI call the thread of a rank so. */
static const char ranks[] =
	"CREATE TEMP TABLE RANKS (process INTEGER PRIMARY KEY, rank);"
	"INSERT OR REPLACE INTO RANKS SELECT globalTid >> 24, rank FROM"
	" (SELECT globalTid, CAST(substr(name, 10) AS INTEGER) AS rank FROM"
	" (SELECT globalTid, name_of(nameId) AS name FROM ThreadNames) WHERE name GLOB"
	" 'MPI Rank [0-9]*' AND name NOT GLOB 'MPI Rank *[^0-9]*'"
	" UNION ALL SELECT globalTid, rank FROM MPI_RANKS)"
	" WHERE typeof(globalTid) = 'integer' AND rank BETWEEN 0 AND 0x7fffffff";

static int visit_rank(struct nsys *nsys, const struct nsys_rows *rows)
{
	int64_t global = 0, rank = 0;
	uint32_t process;

	nsys_integer(rows, 0, &global);
	nsys_integer(rows, 1, &rank);
	FLEXTRACE_TRY(nsys_find_process(nsys, global, &process));
	nsys->processes[process].rank = (int32_t)rank;
	return FLEXTRACE_OK;
}

/* -- the session ----------------------------------------------------------------------------- */

#define PROPERTY(property) "(SELECT value FROM properties WHERE name = '" property "')"
/* The number of the first of some variables in the environment of the program. */
#define VARIABLE(names)                                                                    \
	"(SELECT CAST(substr(setting, length(column2) + 2) AS INTEGER) FROM settings JOIN" \
	" (VALUES " names ") ON setting GLOB column2 || '=[0-9]*' ORDER BY column1 LIMIT 1)"

/* When it began; whose it is; whether times count from the Unix epoch; what launchers tell. */
/* clang-format off */
static const char session_sql[] =
	"WITH properties AS (SELECT name, value FROM META_DATA_EXPORT"
	" UNION ALL SELECT name, value FROM EXPORT_META_DATA"
	" UNION ALL SELECT name, value FROM TARGET_INFO_SYSTEM_ENV"
	" UNION ALL SELECT name, value FROM META_DATA_CAPTURE),"
	" settings AS (SELECT replace(value, '=\"', '=') AS setting FROM properties"
	" WHERE name LIKE '%ENVIRONMENT_VARIABLE%')"
	" SELECT (SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME), "
	PROPERTY("EXPORT_PRODUCT_VERSION") ", " PROPERTY("Hostname") ", "
	PROPERTY("EXPORT_PARAM_TIME_NORMALIZE") " = 'true', "
	VARIABLE("(1, 'RANK'), (2, 'OMPI_COMM_WORLD_RANK'), (3, 'PMIX_RANK'), (4, 'PMI_RANK'),"
		 " (5, 'MV2_COMM_WORLD_RANK'), (6, 'SLURM_PROCID')") ", "
	VARIABLE("(1, 'WORLD_SIZE'), (2, 'OMPI_COMM_WORLD_SIZE'), (3, 'PMI_SIZE'),"
		 " (4, 'MV2_COMM_WORLD_SIZE'), (5, 'SLURM_NTASKS')");
/* clang-format on */

static int32_t small_number(const struct nsys_rows *rows, int cell, int32_t missing)
{
	int64_t number;

	return nsys_integer(rows, cell, &number) && number >= 0 && number <= INT32_MAX
	               ? (int32_t)number
	               : missing;
}

static int visit_session(struct nsys *nsys, const struct nsys_rows *rows)
{
	struct nsys_session *session = &nsys->session;
	const char *version = nsys_text(rows, 1), *host = nsys_text(rows, 2);
	int64_t epoch_ns, is_from_epoch = 0;

	if (nsys_integer(rows, 0, &epoch_ns) && epoch_ns > 0 && epoch_ns < INT64_MAX / 2)
		session->epoch_ns = epoch_ns;
	nsys_integer(rows, 3, &is_from_epoch);
	if (is_from_epoch)
		nsys->base_ns = session->epoch_ns - NSYS_DAY_NS;
	session->rank = small_number(rows, 4, FLEXTRACE_RANK_UNKNOWN);
	session->world_size = small_number(rows, 5, 0);
	if (version)
		FLEXTRACE_TRY(string_intern(&nsys->import.cache, version, &session->version));
	return host ? string_intern(&nsys->import.cache, host, &session->host) : FLEXTRACE_OK;
}

/* nsys tells in words that events are missing: then nothing that is counted is sure. */
static const char diagnostics_sql[] =
	"SELECT text FROM DIAGNOSTIC_EVENT WHERE text GLOB '* lost*' OR text GLOB '*Lost *'"
	" OR text GLOB '*[Dd]ropped*' OR text GLOB '*ot all *'";

static int visit_diagnostic(struct nsys *nsys, const struct nsys_rows *rows)
{
	const char *text = nsys_text(rows, 0);

	nsys->session.has_lost = true;
	import_warn(&nsys->import, "nsys says that events are missing: file=%s, says=%s",
	            nsys->path, text ? text : "");
	return import_lose(&nsys->import, LOSS_TRUNCATED_STREAM, 1);
}

/* What SQLite has not written into the file yet stands beside it: to read it is to write there. */
static int tell_journal(struct nsys *nsys, const char *end)
{
	char path[4096];
	FILE *file;
	int first; /* byte; 0: what stands there is in the file */

	snprintf(path, sizeof(path), "%s%s", nsys->path, end);
	file = fopen(path, "r");
	first = file ? fgetc(file) : 0;
	if (file)
		fclose(file);
	if (first <= 0)
		return FLEXTRACE_OK;
	import_warn(&nsys->import, "The file is not whole; its journal is not read: journal=%s",
	            path);
	nsys->session.has_lost = true;
	return import_lose(&nsys->import, LOSS_TRUNCATED_STREAM, 1);
}

int nsys_read_session(struct nsys *nsys)
{
	nsys->base_ns = -NSYS_DAY_NS;
	nsys->session = (struct nsys_session){.rank = FLEXTRACE_RANK_UNKNOWN};
	FLEXTRACE_TRY(tell_journal(nsys, "-wal"));
	FLEXTRACE_TRY(tell_journal(nsys, "-journal"));
	FLEXTRACE_TRY(nsys_each(nsys, "session", session_sql, visit_session));
	FLEXTRACE_TRY(nsys_each(nsys, "DIAGNOSTIC_EVENT", diagnostics_sql, visit_diagnostic));
	FLEXTRACE_TRY(nsys_run(nsys, "MPI_RANKS", ranks));
	return nsys_each(nsys, "", "SELECT process << 24, rank FROM RANKS", visit_rank);
}

/* -- definitions ----------------------------------------------------------------------------- */

/* Stores the process that the first cell names; false: none that has rows. */
static bool find_known(const struct nsys *nsys, const struct nsys_rows *rows, uint32_t *ret_process,
                       int64_t *ret_global)
{
	if (!nsys_integer(rows, 0, ret_global))
		return false;
	*ret_process = map_find(&nsys->process_index, (uint64_t)*ret_global >> 24, 0);
	return *ret_process != MAP_NONE;
}

static int visit_process(struct nsys *nsys, const struct nsys_rows *rows)
{
	const char *name = nsys_text(rows, 1);
	uint32_t process;
	int64_t global;

	if (!name || !find_known(nsys, rows, &process, &global))
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
		.dialect = "cuda",
	};

	/* Each session reads the clocks for itself: of two on one host nobody knows how well. */
	snprintf(boot_id, sizeof(boot_id), "imported nsys session %016" PRIx64, nsys->session.hash);
	return import_define(&nsys->import, nsys->stream, process->pid, RECORD_PROCESS, &defined);
}

static int visit_thread(struct nsys *nsys, const struct nsys_rows *rows)
{
	struct event event = {.class = RECORD_THREAD_NAME};
	uint32_t process;
	int64_t global;

	if (!find_known(nsys, rows, &process, &global))
		return FLEXTRACE_OK;
	event.vpid = nsys->processes[process].pid;
	event.vtid = (int32_t)(global & 0xffffff);
	event.payload.name.id = (uint32_t)event.vtid;
	event.payload.name.name = nsys_text(rows, 1);
	return import_write(&nsys->import, nsys->stream, &event);
}

/* A device that did nothing is not defined. */
static int visit_gpu(struct nsys *nsys, const struct nsys_rows *rows)
{
	struct flextrace_device device = {.name = nsys_text(rows, 1), .uuid = nsys_text(rows, 2)};
	int64_t hz = 0;

	nsys_integer(rows, 4, &hz);
	device.device = (uint32_t)small_number(rows, 0,
	                                       -1); /* a number that none has, if it has none */
	device.n_cores = (uint32_t)small_number(rows, 3, 0);
	device.core_hz = hz > 0 ? (uint64_t)hz : 0;
	for (uint32_t i = 0; i < nsys->n_processes; i++) {
		if (map_find(&nsys->devices, i, device.device) != MAP_NONE)
			FLEXTRACE_TRY(import_define(&nsys->import, nsys->stream,
			                            nsys->processes[i].pid, RECORD_DEVICE,
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

int nsys_define_all(struct nsys *nsys)
{
	settle_ranks(nsys);
	settle_stream(nsys);
	FLEXTRACE_TRY(nsys_each(nsys, "PROCESSES", "SELECT globalPid, name FROM PROCESSES",
	                        visit_process));
	for (uint32_t i = 0; i < nsys->n_processes; i++)
		FLEXTRACE_TRY(define_process(nsys, &nsys->processes[i]));
	FLEXTRACE_TRY(nsys_each(nsys, "ThreadNames",
	                        "SELECT globalTid, IFNULL(name_of(nameId), '') FROM ThreadNames",
	                        visit_thread));
	return nsys_each(nsys, "TARGET_INFO_GPU",
	                 "SELECT id, name, busLocation, smCount, clockRate FROM TARGET_INFO_GPU",
	                 visit_gpu);
}
