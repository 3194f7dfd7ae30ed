/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables of a report are read, and how their columns become names and arguments. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nsys_impl.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* -- names and arguments --------------------------------------------------------------------- */

/* clang-format off */
#define CALL_NAME   "name_of(nameId)"
#define KERNEL_NAME "COALESCE(name_of(shortName), name_of(demangledName))"
#define GRAPH_NAME  "'Graph Exec ' || IFNULL(graphExecId, 0)" /* as nsys calls it */
#define SYNC_NAME \
	"CASE IFNULL(syncType, 0) WHEN 0 THEN 'Sync' WHEN 1 THEN 'Event Sync'" \
	" WHEN 2 THEN 'Stream Wait Event' WHEN 3 THEN 'Stream Sync' WHEN 4 THEN 'Context Sync'" \
	" ELSE 'Sync of type ' || syncType END"
#define MEMORY_NAME(kind) \
	"CASE " kind " WHEN 0 THEN 'Pageable' WHEN 1 THEN 'Pinned' WHEN 2 THEN 'Device'" \
	" WHEN 3 THEN 'Array' WHEN 4 THEN 'Managed' WHEN 5 THEN 'Device Static'" \
	" WHEN 6 THEN 'Managed Static' END"
#define COPY_NAME \
	"'Memcpy ' || CASE copyKind WHEN 1 THEN 'HtoD' WHEN 2 THEN 'DtoH' WHEN 3 THEN 'HtoA'" \
	" WHEN 4 THEN 'AtoH' WHEN 5 THEN 'AtoA' WHEN 6 THEN 'AtoD' WHEN 7 THEN 'DtoA'" \
	" WHEN 8 THEN 'DtoD' WHEN 9 THEN 'HtoH' WHEN 10 THEN 'PtoP' WHEN 11 THEN 'UVM HtoD'" \
	" WHEN 12 THEN 'UVM DtoH' WHEN 13 THEN 'UVM DtoD'" \
	" ELSE 'of kind ' || IFNULL(copyKind, 0) END || IFNULL(' (' || " \
	MEMORY_NAME("srcKind") " || ' -> ' || " MEMORY_NAME("dstKind") " || ')', '')"

/* With a backtrace a call is told twice. */
#define CUDA_CATEGORY \
	"CASE WHEN eventClass = 67 THEN 'cuda_backtrace' WHEN name_of(nameId) GLOB 'cuda*'" \
	" THEN 'cuda_runtime' ELSE 'cuda_driver' END"

#define CALL_ARGS "nullif(returnValue, 0) AS 'return value'"
#define MPI_ARGS \
	"size AS bytes, recvSize AS 'received bytes', remoteRank AS peer, tag AS tag," \
	" rootRank AS root, commHandle AS communicator"

/* Names of domains and categories are those that the process gave. Of the values of a payload one
 * is told at most. */
#define NVTX_NAME_OF(kind) \
	"(SELECT label FROM NVTX_NAMES WHERE process = IFNULL(globalTid, 0) >> 24" \
	" AND domain = IFNULL(domainId, 0) AND kind = " kind ")"
#define NVTX_ARGS \
	"COALESCE(" NVTX_NAME_OF("'domain'") ", nullif(domainId, 0)) AS domain," \
	" COALESCE(" NVTX_NAME_OF("category") ", category) AS category," \
	" COALESCE(jsonText, name_of(jsonTextId)," \
	" iif(uint64Value IS NULL, NULL, printf('%llu', uint64Value)), int64Value, uint32Value," \
	" int32Value, doubleValue, floatValue, payload(domainId, binaryData)) AS '=payload'"

/* What Kineto has a word for has that. */
#define WORK_ARGS \
	"nullif(name_of(demangledName), " KERNEL_NAME ") AS demangled," \
	" '[' || gridX || ',' || gridY || ',' || gridZ || ']' AS '=grid'," \
	" '[' || blockX || ',' || blockY || ',' || blockZ || ']' AS '=block'," \
	" contextId AS context, registersPerThread AS 'registers per thread'," \
	" staticSharedMemory AS 'static shared memory'," \
	" dynamicSharedMemory AS 'dynamic shared memory', graphId AS 'graph id'," \
	" graphExecId AS 'graph exec id', graphNodeId AS 'graph node id'," \
	" srcDeviceId AS 'src device', dstDeviceId AS 'dst device'," \
	" migrationCause AS 'migration cause', copyCount AS 'copy count', value AS value," \
	" memKind AS 'memory kind'"
/* clang-format on */

/* Without names of domains, categories, threads, devices, contexts and streams. */
#define NVTX_FROM                          \
	"(SELECT * FROM NVTX_EVENTS WHERE" \
	" IFNULL(eventType, 0) NOT IN (33, 39, 75, 76, 97, 98, 99))"

/* Of the kernel of a collective what the torch profiler says, so that it is taken for one. */
#define NCCL_ARGS    "label AS 'Collective name', n_ranks AS 'Group size', place AS Seq"
#define NCCL_MEETING "iif(is_nccl, printf('NCCL %llx', comm), NULL), NULL, NULL, n_bytes"

static const char nvtx_names[] =
	"CREATE TEMP TABLE NVTX_NAMES (process, domain, kind, label,"
	" PRIMARY KEY (process, domain, kind)) WITHOUT ROWID;"
	"INSERT OR REPLACE INTO NVTX_NAMES SELECT IFNULL(globalTid, 0) >> 24, IFNULL(domainId, 0),"
	" iif(eventType = 75, 'domain', category), " NSYS_TEXT " FROM NVTX_EVENTS"
	" WHERE eventType = 75 OR (eventType = 33 AND category IS NOT NULL)";

/* -- tables ---------------------------------------------------------------------------------- */

/* Those that tell whose rows are of whom stand before those that may not, what names collectives
 * before what they launch. */
/* clang-format off */
static const struct nsys_table tables[] = {
#define NO_MEETING "NULL, NULL, NULL, bytes"
#define MPI(part, meeting, from, is_in_any_order) \
	{"MPI_" part "_EVENTS", NULL, nsys_take_call, FLEXTRACE_RUNTIME_CALL, NSYS_TEXT, "'mpi'", \
	 MPI_ARGS, meeting, from, is_in_any_order, true}
#define CALLS(table, what, category) \
	{table, what, nsys_take_call, FLEXTRACE_RUNTIME_CALL, CALL_NAME, category, CALL_ARGS, \
	 NO_MEETING, NULL, false, false}
#define WORK(part, what, kind, name, category) \
	{"CUPTI_ACTIVITY_KIND_" part, what, nsys_take_work, FLEXTRACE_DEVICE_##kind, name, \
	 category, WORK_ARGS, NO_MEETING, NULL, false, false}
	{"NVTX_EVENTS", "NVTX ranges", nsys_take_nvtx, FLEXTRACE_RUNTIME_USER, NSYS_TEXT,
	 "'user_annotation'", NVTX_ARGS, NO_MEETING, NVTX_FROM, false, true},
	MPI("OTHER", NO_MEETING, NULL, false),
	MPI("START_WAIT", NO_MEETING, NULL, false),
	MPI("COLLECTIVES", "meeting, seq, peers, size", nsys_collectives, true),
	MPI("P2P", "meeting, seq, peers, size", nsys_messages, true),
	CALLS("CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA calls", CUDA_CATEGORY),
	CALLS("CUDNN_EVENTS", NULL, "'cudnn'"),
	CALLS("CUBLAS_EVENTS", NULL, "'cublas'"),
	CALLS("OSRT_API", "calls of the system", "'os_runtime'"),
	CALLS("PROFILER_OVERHEAD", NULL, "'overhead'"),
	{"CUPTI_ACTIVITY_KIND_KERNEL", "kernels", nsys_take_work, FLEXTRACE_DEVICE_KERNEL,
	 KERNEL_NAME, "'kernel'", WORK_ARGS ", " NCCL_ARGS, NCCL_MEETING, nsys_kernels, false,
	 false},
	WORK("MEMCPY", "copies", MEMCPY_DTOD, COPY_NAME, "'gpu_memcpy'"),
	WORK("MEMSET", NULL, MEMSET, "'Memset (Device)'", "'gpu_memset'"),
	WORK("GRAPH_TRACE", NULL, KERNEL, GRAPH_NAME, "'kernel'"),
	WORK("SYNCHRONIZATION", NULL, STATE, SYNC_NAME, "'cuda_sync'"),
	{"CUDA_GPU_MEMORY_USAGE_EVENTS", NULL, nsys_take_memory, 0, "NULL", "NULL", "NULL",
	 NO_MEETING, NULL, false, true},
};

/* Tables without events, which name, describe, or say how a report was made: those that are asked,
 * and parts of the names of others. */
static const char *const others[] = {
	"StringIds", "ThreadNames", "PROCESSES", "MPI_RANKS", "MPI_COMMUNICATORS",
	"TARGET_INFO_GPU", "TARGET_INFO_SESSION_START_TIME", "TARGET_INFO_SYSTEM_ENV",
	"META_DATA_EXPORT", "EXPORT_META_DATA", "META_DATA_CAPTURE", "DIAGNOSTIC_EVENT",
	"NVTX_PAYLOAD_SCHEMA_ENTRIES", "ENUM_", "TARGET_INFO_", "META_DATA", "ANALYSIS_",
	"PAYLOAD", "CALLCHAINS", "ProcessStreams", "UnwindMethodType", "NVTX_SCOPES"};
/* clang-format on */

int nsys_define_tables(struct nsys_db *db)
{
	for (size_t i = 0; i < COUNT(tables); i++)
		FLEXTRACE_TRY(nsys_db_define(db, tables[i].table));
	for (size_t i = 0; i < COUNT(others); i++)
		FLEXTRACE_TRY(nsys_db_define(db, others[i]));
	return FLEXTRACE_OK;
}

int nsys_read_tables(struct nsys *nsys)
{
	FLEXTRACE_TRY(nsys_run(nsys, "NVTX_EVENTS", nvtx_names));
	for (size_t i = 0; i < COUNT(tables); i++) {
		if (nsys_db_has(&nsys->db, tables[i].table))
			FLEXTRACE_TRY(nsys_read_table(nsys, &tables[i]));
	}
	return FLEXTRACE_OK;
}

/* -- what is not there, and what is not read ------------------------------------------------- */

static bool is_known(const char *name)
{
	for (size_t i = 0; i < COUNT(others); i++) {
		if (strstr(name, others[i]))
			return true;
	}
	for (size_t i = 0; i < COUNT(tables); i++) {
		if (strcmp(name, tables[i].table) == 0)
			return true;
	}
	return false;
}

static void add_word(char text[512], const char *word)
{
	size_t n = strlen(text);

	snprintf(text + n, 512 - n, "%s%s", n ? ", " : "", word);
}

/* Whether there is a row that one can read. */
static int has_rows(struct nsys_db *db, const char *table)
{
	struct nsys_rows rows;
	char sql[160];
	int code;

	snprintf(sql, sizeof(sql), "SELECT 1 FROM main.%s LIMIT 1", table);
	code = nsys_rows_begin(&rows, db, sql);
	if (code == 0)
		code = nsys_rows_next(&rows);
	nsys_rows_end(&rows);
	return code;
}

int nsys_tell_what_is_not_read(struct nsys *nsys)
{
	char lacking[512] = "", unread[512] = "";
	const struct text_list *names = &nsys->db.tables;

	for (size_t i = 0; i < COUNT(tables); i++) {
		if (tables[i].what && !nsys_db_has(&nsys->db, tables[i].table))
			add_word(lacking, tables[i].what);
	}
	for (uint32_t i = 0; i < names->n; i++) {
		int code = is_known(names->texts[i]) ? 0 : has_rows(&nsys->db, names->texts[i]);

		FLEXTRACE_TRY(code);
		if (code) {
			add_word(unread, names->texts[i]);
			nsys->import.ledger.warnings[WARNING_TABLES_NOT_READ]++;
		}
	}
	if (!nsys->session.epoch_ns)
		add_word(lacking, "the time when its session began");
	if (*lacking)
		import_warn(&nsys->import, "The report has none of these: file=%s, what=%s",
		            nsys->path, lacking);
	if (*unread)
		import_warn(&nsys->import, "Tables are not read: file=%s, tables=%s", nsys->path,
		            unread);
	if (nsys->db.n_unnamed)
		import_warn(&nsys->import, "Names are missing: file=%s, names=%" PRIu64, nsys->path,
		            nsys->db.n_unnamed);
	return FLEXTRACE_OK;
}
