/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranges carry by the schemas of their domain, and what NCCL says there of its operations.
 *
 * A call of NCCL only queues its work, so it is no evidence of when ranks met: its kernel is. The
 * kernel is launched in the call's own range, or in that of the ncclGroupEnd behind it; of several
 * operations in one group nobody can tell whose kernel one is. The n-th operation of a communicator
 * is the same on all ranks, if the recording saw the communicator made, and lost nothing. Messages
 * are counted by nobody: who takes part in one differs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "nsys_impl.h"

#define HEAD_BYTES 32 /* domain, schema, bytes of the payload, bytes of all: 8 each */

/* -- payloads -------------------------------------------------------------------------------- */

static int visit_field(struct nsys *nsys, const struct nsys_rows *rows)
{
	const char *name = nsys_text(rows, 0);
	struct nsys_field field = {.offset = 0}; /* NULL: the first one's */

	if (!name || !nsys_integer(rows, 1, &field.domain) ||
	    !nsys_integer(rows, 2, &field.schema) || !nsys_integer(rows, 3, &field.type))
		return FLEXTRACE_OK;
	nsys_integer(rows, 4, &field.offset);
	FLEXTRACE_TRY(string_intern(&nsys->import.cache, name, &field.name));
	return ARRAY_PUSH(nsys->fields, nsys->n_fields, field);
}

static uint64_t little(const uint8_t *bytes, int n)
{
	uint64_t number = 0;

	while (n--)
		number = number << 8 | bytes[n];
	return number;
}

/* Bytes of a whole number by its type in NVTX, as 64-bit Linux has it; 0: it is none. */
static int width_of(int64_t type)
{
	static const uint8_t widths[] = {0, 0, 0, 2, 2, 4, 4, 8, 8, 8, 8, 1,
	                                 1, 2, 2, 4, 4, 8, 8, 0, 0, 0, 8, 8};

	return type >= 0 && type < (int64_t)sizeof(widths) ? widths[type] : 0;
}

static bool is_signed(int64_t type)
{
	return type % 2 && type < 19;
}

/* Stores the bits of the number that a payload has by a field; false: it is of another schema. */
static bool read_field(const struct nsys_field *field, sqlite3_value **payload, uint64_t *ret_bits)
{
	const uint8_t *bytes = sqlite3_value_blob(payload[1]);
	uint64_t n = (uint64_t)sqlite3_value_bytes(payload[1]), offset = (uint64_t)field->offset;
	int width = width_of(field->type);

	if (!width || n < HEAD_BYTES || field->domain != sqlite3_value_int64(payload[0]) ||
	    (uint64_t)field->schema != little(bytes + 8, 8) || offset > n - HEAD_BYTES ||
	    n - HEAD_BYTES - offset < (uint64_t)width)
		return false;
	*ret_bits = little(bytes + HEAD_BYTES + offset, width);
	if (is_signed(field->type))
		*ret_bits = (uint64_t)((int64_t)(*ret_bits << (64 - 8 * width)) >>
		                       (64 - 8 * width));
	return true;
}

/* SQL: payload(domain, bytes) is its numbers as a JSON object; NULL: it is none with a schema. */
static void tell_payload(sqlite3_context *context, int n, sqlite3_value **payload)
{
	struct nsys *nsys = sqlite3_user_data(context);
	struct json_text *args = &nsys->args; /* of no row meanwhile */
	const char *text;
	char number[32];
	uint64_t bits;
	size_t n_bytes;

	(void)n;
	if (sqlite3_value_bytes(payload[1]) < HEAD_BYTES)
		return;
	json_text_clear(args);
	json_text_open(args, '{');
	for (uint32_t i = 0; i < nsys->n_fields; i++) {
		const struct nsys_field *field = &nsys->fields[i];
		const char *name = string_get(nsys->import.strings, field->name);

		if (!read_field(field, payload, &bits))
			continue;
		snprintf(number, sizeof(number), is_signed(field->type) ? "%" PRId64 : "%" PRIu64,
		         bits);
		json_text_raw(args, name, number);
	}
	json_text_close(args, '}');
	if (json_text_get(args, &text, &n_bytes) < 0)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* SQL: payload_number(domain, bytes, name) is the bits of one of them; NULL: it has none such. */
static void tell_number(sqlite3_context *context, int n, sqlite3_value **payload)
{
	const struct nsys *nsys = sqlite3_user_data(context);
	const char *name = (const char *)sqlite3_value_text(payload[2]);
	uint64_t bits;

	(void)n;
	for (uint32_t i = 0; name && i < nsys->n_fields; i++) {
		const struct nsys_field *field = &nsys->fields[i];

		if (strcmp(string_get(nsys->import.strings, field->name), name) == 0 &&
		    read_field(field, payload, &bits))
			sqlite3_result_int64(context, (int64_t)bits);
	}
}

/* -- operations ------------------------------------------------------------------------------ */

/* Operations, the one of a `block`: what a thread does until it is in no group any more, which is
 * when it launches. A process that has several ranks of a communicator made it several times, and
 * counts for none of them. */
/* clang-format off */
static const char operations[] =
	"CREATE TEMP TABLE NCCL (id INTEGER PRIMARY KEY, thread, start, end, label, comm, n_bytes,"
	" n_ranks, step);"
	"CREATE TEMP TABLE NCCL_OPERATIONS (id INTEGER PRIMARY KEY, label, comm, n_bytes, n_ranks,"
	" place);"
	"CREATE TEMP TABLE NCCL_LAUNCHERS (thread, start, end, id, PRIMARY KEY (thread, start))"
	" WITHOUT ROWID;"
	"CREATE TEMP TABLE NCCL_KERNELS (process, correlation, id,"
	" PRIMARY KEY (process, correlation)) WITHOUT ROWID;"
	"INSERT INTO NCCL SELECT NULL, globalTid, start, end, label,"
	" payload_number(domainId, binaryData, 'NCCL communicator ID'),"
	" payload_number(domainId, binaryData, 'Message size [bytes]'),"
	" payload_number(domainId, binaryData, 'No. of ranks'),"
	" (label = 'ncclGroupStart') - (label = 'ncclGroupEnd') FROM"
	" (SELECT *, " NSYS_TEXT " AS label FROM NVTX_EVENTS WHERE eventType IN (35, 59, 70))"
	" WHERE label GLOB 'nccl*' AND globalTid IS NOT NULL;"
	"INSERT INTO NCCL_OPERATIONS SELECT id, label, comm, n_bytes, size, iif(size > 0,"
	" row_number() OVER (PARTITION BY thread >> 24, comm, size ORDER BY start, thread, id)"
	" - 1, NULL) FROM NCCL LEFT JOIN (SELECT thread >> 24 AS process, comm AS made,"
	" iif(count(*) = 1, max(n_ranks), NULL) AS size FROM NCCL WHERE n_ranks > 0 GROUP BY 1, 2)"
	" ON process = thread >> 24 AND made = comm AND label NOT IN ('ncclSend', 'ncclRecv')"
	" WHERE comm IS NOT NULL AND n_bytes IS NOT NULL;"
	"UPDATE NCCL_OPERATIONS SET place = NULL"
	" WHERE EXISTS (SELECT 1 FROM NCCL WHERE typeof(start) <> 'integer');"
	"INSERT OR REPLACE INTO NCCL_LAUNCHERS SELECT thread, max(start), max(end), max(operation)"
	" FROM (SELECT *, total(depth <= 0 AND (step < 0 OR operation IS NOT NULL)) OVER (PARTITION"
	" BY thread ORDER BY start, end DESC, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
	" AS block FROM (SELECT NCCL.*, o.id AS operation, total(step) OVER (PARTITION BY thread"
	" ORDER BY start, end DESC, NCCL.id) AS depth FROM NCCL LEFT JOIN NCCL_OPERATIONS AS o"
	" USING (id) WHERE typeof(start) = 'integer')) WHERE step < 0 OR operation IS NOT NULL"
	" GROUP BY thread, block HAVING count(operation) = 1;"
	"INSERT OR REPLACE INTO NCCL_KERNELS SELECT globalTid >> 24, correlationId, (SELECT"
	" iif(l.end >= r.end, id, NULL) FROM NCCL_LAUNCHERS AS l WHERE l.thread = globalTid"
	" AND l.start <= r.start ORDER BY l.start DESC LIMIT 1)"
	" FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r WHERE correlationId IS NOT NULL"
	" AND globalTid IS NOT NULL AND (SELECT count(*) FROM NCCL_LAUNCHERS) > 0;";

const char nsys_kernels[] =
	"(SELECT k.*, o.id IS NOT NULL AS is_nccl, label, comm, n_bytes, n_ranks, place"
	" FROM CUPTI_ACTIVITY_KIND_KERNEL AS k LEFT JOIN NCCL_KERNELS AS n ON name_of(shortName)"
	" GLOB 'nccl*' AND process = globalPid >> 24 AND correlation = correlationId"
	" LEFT JOIN NCCL_OPERATIONS AS o ON o.id = n.id)";
/* clang-format on */

int nsys_read_payloads(struct nsys *nsys)
{
	sqlite3_create_function(nsys->db.handle, "payload", 2, SQLITE_UTF8, nsys, tell_payload,
	                        NULL, NULL);
	sqlite3_create_function(nsys->db.handle, "payload_number", 3, SQLITE_UTF8, nsys,
	                        tell_number, NULL, NULL);
	FLEXTRACE_TRY(nsys_each(nsys, "NVTX_PAYLOAD_SCHEMA_ENTRIES",
	                        "SELECT name, domainId, schemaId, type, offset"
	                        " FROM NVTX_PAYLOAD_SCHEMA_ENTRIES",
	                        visit_field));
	FLEXTRACE_TRY(nsys_run(nsys, "NVTX_EVENTS", operations));
	return nsys->session.has_lost || nsys->db.n_unnamed
	               ? nsys_run(nsys, "", "UPDATE NCCL_OPERATIONS SET place = NULL")
	               : FLEXTRACE_OK;
}
