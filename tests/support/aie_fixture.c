/* SPDX-License-Identifier: Apache-2.0 */
#include "aie_fixture.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "scratch.h"

static const char *const slot_names[] = {
	"INSTR_EVENT_0",  "INSTR_EVENT_1",          "INSTR_VECTOR",           "PORT_RUNNING_0",
	"PORT_RUNNING_1", "INSTR_LOCK_ACQUIRE_REQ", "INSTR_LOCK_RELEASE_REQ", "LOCK_STALL",
};

static void write_unit(FILE *file, int pid, const char *edges)
{
	unsigned int slot;
	uint64_t cycle;
	char phase;
	int n;

	fprintf(file,
	        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":"
	        "\"core_trace for tile%d,1\"}}",
	        pid, 2 + pid);
	for (; sscanf(edges, " %1u%c%" SCNu64 "%n", &slot, &phase, &cycle, &n) == 3; edges += n)
		fprintf(file,
		        ",\n{\"name\":\"%s\",\"ts\":%" PRIu64
		        ",\"ph\":\"%c\",\"pid\":%d,\"tid\":%u,\"args\":{}}",
		        slot_names[slot % 8], cycle, phase, pid, slot);
}

char *aie_json_of_two(const char *edges, const char *others)
{
	size_t n_bytes;
	char *text;
	FILE *file = open_memstream(&text, &n_bytes);

	assert_non_null(file);
	fputc('[', file);
	write_unit(file, 0, edges);
	if (others) {
		fputs(",\n", file);
		write_unit(file, 1, others);
	}
	fputs("]\n", file);
	assert_int_equal(fclose(file), 0);
	return text;
}

char *aie_json(const char *edges)
{
	return aie_json_of_two(edges, NULL);
}

/* Which rows are of intervals without an end stands in trace.json only. */
static bool is_open(const struct flex_run *run, const char *name, const char *cycles)
{
	char *trace = scratch_read(run->out, "trace.json", NULL), text[256];
	const char *at = trace;
	bool is_found = false;

	assert_non_null(trace);
	snprintf(text, sizeof(text), "\"name\":\"%s\"", name);
	while (!is_found && (at = strstr(at, text))) {
		const char *end = strchr(at, '\n');
		const char *mark = strstr(at, "\"type\":\"open\"");
		const char *begin = strstr(at, cycles);

		is_found = mark && mark < end && begin && begin < end;
		at = end;
	}
	free(trace);
	return is_found;
}

char *aie_rows(const struct flex_run *run, const char *device)
{
	const struct csv_table *events = &run->events;
	size_t n_bytes;
	char *text;
	FILE *file = open_memstream(&text, &n_bytes);

	assert_non_null(file);
	for (uint64_t i = 0; i < events->n_rows; i++) {
		bool is_kernel = strcmp(flex_cell(events, i, "kind"), "compute") == 0;
		const char *name = flex_cell(events, i, "name"), *begin, *end;
		char cycles[64];

		if (strcmp(flex_cell(events, i, "device"), device) != 0)
			continue;
		assert_string_equal(flex_cell(events, i, "status"), "assumed");
		begin = flex_cell(events, i, is_kernel ? "ts3" : "ts1");
		end = flex_cell(events, i, is_kernel ? "ts4" : "ts5");
		snprintf(cycles, sizeof(cycles), is_kernel ? "{\"TS3\":%s," : "{\"TS1\":%s,",
		         begin);
		fprintf(file, "%s %s-%s%s; ", name, begin, end,
		        is_open(run, name, cycles) ? " open" : "");
	}
	assert_int_equal(fclose(file), 0);
	return text;
}

uint64_t aie_lost(const struct flex_run *run, enum loss_cause cause)
{
	return ledger_total(&run->ledger, cause);
}
