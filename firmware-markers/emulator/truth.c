/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <flextrace/wire.h>

#include "truth.h"

int truth_open(struct truth_file *file, const char *path, uint32_t device)
{
	*file = (struct truth_file){.device = device};
	if (!path)
		return 0;
	file->stream = fopen(path, "we");
	if (!file->stream)
		return -errno;
	(void)pthread_mutex_init(&file->lock, NULL);
	if (fputs("device,core,kind,id,run,job,ticks,host_ns,domain\n", file->stream) == EOF)
		file->failed = 1;
	return 0;
}

int truth_close(struct truth_file *file)
{
	if (!file->stream)
		return 0;
	if (fclose(file->stream) != 0)
		file->failed = 1;
	file->stream = NULL;
	(void)pthread_mutex_destroy(&file->lock);
	return file->failed ? -EIO : 0;
}

static const char *kind_name(const struct truth_row *row)
{
	static const char *const stamps[FLEXTRACE_WIRE_N_STAMPS] = {
		[FLEXTRACE_WIRE_FW_START] = "fw_start",
		[FLEXTRACE_WIRE_KERNEL_START] = "kernel_start",
		[FLEXTRACE_WIRE_KERNEL_END] = "kernel_end",
		[FLEXTRACE_WIRE_FW_END] = "fw_end",
		[FLEXTRACE_WIRE_TS1] = "ts1",
		[FLEXTRACE_WIRE_TS2] = "ts2",
		[FLEXTRACE_WIRE_TS3] = "ts3",
		[FLEXTRACE_WIRE_TS4] = "ts4",
		[FLEXTRACE_WIRE_TS5] = "ts5",
	};

	switch (row->kind) {
	case FLEXTRACE_WIRE_MARK:
		return "mark";
	case FLEXTRACE_WIRE_ZONE_BEGIN:
		return "zone_begin";
	case FLEXTRACE_WIRE_ZONE_END:
		return "zone_end";
	case FLEXTRACE_WIRE_VALUE:
		return "value";
	default:
		return stamps[row->id];
	}
}

void truth_flush(struct truth_file *file, struct truth_buffer *buffer)
{
	uint32_t i;

	if (!file->stream || buffer->n_rows == 0)
		return;
	(void)pthread_mutex_lock(&file->lock);
	for (i = 0; i < buffer->n_rows; i++) {
		const struct truth_row *row = &buffer->rows[i];
		uint32_t id = row->kind == FLEXTRACE_WIRE_SLOT_STAMP ? 0 : row->id;

		if (fprintf(file->stream,
		            "%" PRIu32 ",%" PRIu32 ",%s,%" PRIu32 ",%" PRIu32 ",%" PRIu64
		            ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 "\n",
		            file->device, buffer->core, kind_name(row), id, row->run, row->job,
		            row->ticks, row->host_ns, buffer->domain) < 0)
			file->failed = 1;
	}
	(void)pthread_mutex_unlock(&file->lock);
	buffer->n_rows = 0;
}

static int is_fw_start(const struct truth_row *row)
{
	return row->kind == FLEXTRACE_WIRE_SLOT_STAMP && row->id == FLEXTRACE_WIRE_FW_START;
}

void truth_add(struct truth_file *file, struct truth_buffer *buffer, const struct truth_row *row)
{
	const struct truth_row *last = buffer->rows + buffer->n_rows;

	if (!file->stream)
		return;
	if (buffer->n_rows > 0 && is_fw_start(row) && is_fw_start(last - 1) &&
	    last[-1].run == row->run)
		buffer->n_rows--;
	if (buffer->n_rows == TRUTH_ROWS)
		truth_flush(file, buffer); /* the new row stays, so a repeated fw_start finds it */
	buffer->rows[buffer->n_rows++] = *row;
}

struct truth_buffer *truth_buffer_new(uint32_t core, uint32_t domain)
{
	struct truth_buffer *buffer = calloc(1, sizeof(*buffer));

	if (buffer) {
		buffer->core = core;
		buffer->domain = domain;
	}
	return buffer;
}
