/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.csv: one line for each rank and collective, by start and rank.
 */
#include <stdlib.h>
#include <string.h>

#include "collectives.h"
#include "emit/kinds.h"

#define FILE_NAME "collectives.csv"

static const char *algorithm_name(uint8_t algorithm)
{
	static const char *const names[] = {"", "multicast", "chain", "tree"};

	return names[algorithm];
}

static void write_text(struct writer *writer, const char *text)
{
	writer_char(writer, ',');
	writer_csv(writer, text, strlen(text));
}

static void write_number(struct writer *writer, uint64_t value)
{
	writer_char(writer, ',');
	writer_u64(writer, value);
}

/* A time that the part waited for the last rank, once it was ready itself. */
static uint64_t wait_ns(const struct collective_part *part)
{
	int64_t until_ns = part->ready_time_ns < part->end_time_ns ? part->ready_time_ns
	                                                           : part->end_time_ns;

	return analysis_duration(part->start_time_ns, until_ns);
}

static void write_head(const struct collectives *collectives, const struct collective_part *part,
                       const char *op, struct writer *writer)
{
	const struct string_pool *strings = collectives->timeline->strings;
	bool is_device = part->device != FLEXTRACE_NONE;

	owners_write(&collectives->owners, part->process, writer);
	writer_char(writer, ',');
	if (is_device)
		writer_u64(writer, collectives->timeline->identity->devices[part->device].device);
	write_text(writer, string_get(strings, part->group));
	write_number(writer, part->number);
	write_text(writer, op);
	write_text(writer, algorithm_name(part->algorithm));
	write_number(writer, part->ranks);
	write_number(writer, part->bytes);
	writer_char(writer, ',');
	if (is_device && !part->told_op)
		writer_u64(writer, part->sent);
	writer_char(writer, ',');
	if (is_device && !part->told_op)
		writer_u64(writer, part->received);
}

static void write_times(const struct collectives *collectives, const struct collective_part *part,
                        struct writer *writer)
{
	int64_t epoch_offset_ns = alignment_epoch_offset_ns(collectives->timeline->alignment);

	writer_char(writer, ',');
	writer_i64(writer, part->start_time_ns + epoch_offset_ns);
	writer_char(writer, ',');
	writer_i64(writer, part->end_time_ns + epoch_offset_ns);
	write_number(writer, analysis_duration(part->start_time_ns, part->end_time_ns));
	writer_char(writer, ',');
	if (part->is_known)
		writer_u64(writer, wait_ns(part));
	writer_char(writer, ',');
	if (part->err_ns != UINT32_MAX)
		writer_u64(writer, part->err_ns);
	writer_char(writer, ',');
	writer_raw(writer, time_status_name(part->status));
}

static void write_rates(const struct collective_part *part, double size, double bus,
                        struct writer *writer)
{
	uint64_t ns = analysis_duration(part->start_time_ns, part->end_time_ns);
	double rate = (double)part->bytes * size / (double)ns; /* bytes per ns: GB/s */
	bool has_rate = ns && part->bytes;

	writer_char(writer, ',');
	if (has_rate)
		writer_fixed(writer, rate, 4);
	writer_char(writer, ',');
	if (has_rate && bus > 0)
		writer_fixed(writer, rate * bus, 4);
	writer_char(writer, '\n');
}

static void write_part(const struct collectives *collectives, const struct collective_part *part,
                       struct writer *writer)
{
	bool is_device = part->device != FLEXTRACE_NONE;
	const char *name = part->told_op ? part->told_op
	                                 : string_get(collectives->timeline->strings,
	                                              is_device ? part->group : part->op);
	double size, bus;
	const char *op = collective_op(name, part->ranks, &size, &bus);

	if (!op)
		op = is_device && !part->told_op ? "" : name;
	write_head(collectives, part, op, writer);
	write_times(collectives, part, writer);
	write_rates(part, size, bus, writer);
}

static void write_parts(void *context, struct writer *writer)
{
	const struct collectives *collectives = context;

	writer_literal(writer, "rank,host,pid,device,group,number,op,algorithm,ranks,bytes,sent,"
	                       "received,start_ns,end_ns,dur_ns,wait_ns,err_ns,status,alg_gbps,"
	                       "bus_gbps\n");
	for (uint32_t i = 0; i < collectives->n_parts; i++)
		write_part(collectives, &collectives->parts[i], writer);
}

static int write_collectives(const struct timeline *timeline, const char *output_dir,
                             uint64_t *ret_rows, struct flextrace_error *error)
{
	struct collectives collectives;
	int code;

	if (collectives_find(&collectives, timeline) < 0)
		code = analysis_no_memory(FILE_NAME, error);
	else
		code = analysis_save(output_dir, FILE_NAME, write_parts, &collectives, error);
	*ret_rows = collectives.n_parts;
	collectives_release(&collectives);
	return code;
}

const struct analysis analysis_collectives = {.name = "collectives", .write = write_collectives};
