/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs are numbered in the order of their items, so that of equal keys the lower run goes first. 64
 * runs of one level become one of the next, so that there are never many to merge at once.
 */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spool_impl.h"
#include "base/paths.h"

/* -- the file -------------------------------------------------------------------------------- */

static int open_file(struct spool *spool)
{
	if (spool->fd < 0)
		spool->fd = temporary_file_open();
	return spool->fd < 0 ? FLEXTRACE_E_OUTPUT : FLEXTRACE_OK;
}

static int write_bytes(struct spool *spool, const char *bytes, size_t n_bytes)
{
	FLEXTRACE_TRY(open_file(spool));
	while (n_bytes) {
		ssize_t n = pwrite(spool->fd, bytes, n_bytes, (off_t)spool->n_file_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return FLEXTRACE_E_OUTPUT;
		spool->n_file_bytes += (uint64_t)n;
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return FLEXTRACE_OK;
}

int spool_put_bytes(struct spool *spool, const void *bytes, size_t n_bytes, uint64_t *ret_place)
{
	*ret_place = spool->n_file_bytes;
	return write_bytes(spool, bytes, n_bytes);
}

int spool_get_bytes(struct spool *spool, uint64_t place, void *bytes, size_t n_bytes)
{
	char *to = bytes;

	while (n_bytes) {
		ssize_t n = pread(spool->fd, to, n_bytes, (off_t)place);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return FLEXTRACE_E_OUTPUT;
		place += (uint64_t)n;
		to += n;
		n_bytes -= (size_t)n;
	}
	return FLEXTRACE_OK;
}

/* -- a sorted run in memory ------------------------------------------------------------------ */

static void sort_entries(struct spool *spool)
{
	struct keyed_place *sorted = spool->entries;

	if (!spool->is_sorted)
		sorted = radix_sort(spool->entries, spool->spare, spool->n_entries);
	if (sorted == spool->entries)
		return;
	spool->spare = spool->entries;
	spool->entries = sorted;
}

static int add_run(struct spool *spool, uint64_t place, uint32_t level)
{
	if (spool->n_runs == SPOOL_MAX_RUNS)
		return FLEXTRACE_E_OUTPUT; /* some 16 TiB */
	spool->runs[spool->n_runs++] = (struct spool_run){place, spool->n_file_bytes - place,
	                                                  level};
	return FLEXTRACE_OK;
}

/* -- writing runs ---------------------------------------------------------------------------- */

static int flush(struct spool *spool)
{
	size_t n_bytes = spool->n_out_bytes;

	spool->n_out_bytes = 0;
	return write_bytes(spool, spool->out, n_bytes);
}

static int put_item(struct spool *spool, const struct spool_head *head)
{
	size_t n_bytes = spool_stride(head);

	if (spool->n_out_bytes + n_bytes > SPOOL_OUT_BYTES)
		FLEXTRACE_TRY(flush(spool));
	memcpy(spool->out + spool->n_out_bytes, head, n_bytes);
	spool->n_out_bytes += n_bytes;
	return FLEXTRACE_OK;
}

static int write_entries(struct spool *spool)
{
	if (spool->is_sorted)
		return write_bytes(spool, spool->buffer, spool->n_bytes);
	sort_entries(spool);
	for (uint32_t i = 0; i < spool->n_entries; i++)
		FLEXTRACE_TRY(put_item(spool, spool_entry_head(spool, i)));
	return flush(spool);
}

/* Makes one run of those from `first` on. */
static int merge_runs(struct spool *spool, uint32_t first)
{
	uint64_t place = spool->n_file_bytes;
	uint32_t level = spool->runs[first].level + 1;
	const struct spool_head *head;
	int code;

	FLEXTRACE_TRY(spool_merge_start(spool, first));
	while ((code = spool_merge_next(spool, &head)) > 0)
		FLEXTRACE_TRY(put_item(spool, head));
	spool_merge_end(spool);
	FLEXTRACE_TRY(code);
	FLEXTRACE_TRY(flush(spool));
	for (uint32_t i = first; i < spool->n_runs; i++) /* a wish */
		fallocate(spool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		          (off_t)spool->runs[i].place, (off_t)spool->runs[i].n_bytes);
	spool->n_runs = first;
	return add_run(spool, place, level);
}

static int write_run(struct spool *spool)
{
	uint64_t place = spool->n_file_bytes;
	uint32_t n = 0;

	FLEXTRACE_TRY(write_entries(spool));
	FLEXTRACE_TRY(add_run(spool, place, 0));
	spool->n_bytes = 0;
	spool->n_entries = 0;
	spool->is_sorted = true;
	do {
		uint32_t level = spool->runs[spool->n_runs - 1].level;

		for (n = 0; n < spool->n_runs && spool->runs[spool->n_runs - 1 - n].level == level;)
			n++;
		if (n >= SPOOL_FAN)
			FLEXTRACE_TRY(merge_runs(spool, spool->n_runs - n));
	} while (n >= SPOOL_FAN);
	return FLEXTRACE_OK;
}

/* -- in -------------------------------------------------------------------------------------- */

struct spool *spool_new(size_t buffer_bytes)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	if (!spool)
		return NULL;
	spool->fd = -1;
	spool->is_sorted = true;
	spool->buffer_bytes = buffer_bytes;
	spool->max_entries = (uint32_t)(buffer_bytes / SPOOL_ENTRY_SHARE);
	/* What is not used is not touched. */
	spool->buffer = malloc(buffer_bytes);
	spool->out = malloc(SPOOL_OUT_BYTES);
	spool->entries = malloc(spool->max_entries * sizeof(*spool->entries));
	spool->spare = malloc(spool->max_entries * sizeof(*spool->spare));
	if (spool->buffer && spool->out && spool->entries && spool->spare)
		return spool;
	spool_free(spool);
	return NULL;
}

void spool_free(struct spool *spool)
{
	if (!spool)
		return;
	spool_merge_end(spool);
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->buffer);
	free(spool->out);
	free(spool->entries);
	free(spool->spare);
	free(spool);
}

int spool_add(struct spool *spool, uint64_t key, size_t n_bytes, void **ret_item)
{
	struct spool_head *head;
	uint32_t n = spool->n_entries;

	if (spool->n_bytes + sizeof(*head) + n_bytes + 8 > spool->buffer_bytes ||
	    n == spool->max_entries) {
		FLEXTRACE_TRY(write_run(spool));
		n = 0;
	}
	head = (struct spool_head *)(spool->buffer + spool->n_bytes);
	*head = (struct spool_head){key, n_bytes};
	spool->is_sorted &= n == 0 || spool->entries[n - 1].key <= key;
	spool->entries[n] = (struct keyed_place){key, (uint32_t)(spool->n_bytes / SPOOL_ALIGN)};
	spool->n_entries = n + 1;
	spool->n_bytes += spool_stride(head);
	*ret_item = head + 1;
	return FLEXTRACE_OK;
}

/* -- out ------------------------------------------------------------------------------------- */

static int next_in_memory(struct spool *spool, const struct spool_head **ret_head)
{
	if (spool->n_read == spool->n_entries)
		return 0;
	*ret_head = spool_entry_head(spool, spool->n_read++);
	return 1;
}

/* The last run stays where it is. */
static int start(struct spool *spool)
{
	spool->is_reading = true;
	sort_entries(spool);
	free(spool->spare);
	spool->spare = NULL;
	return spool->n_runs ? spool_merge_start(spool, 0) : FLEXTRACE_OK;
}

int spool_next(struct spool *spool, struct spool_item *ret_item)
{
	const struct spool_head *head;
	int code = spool->is_reading ? FLEXTRACE_OK : start(spool);

	if (code >= 0)
		code = spool->n_runs ? spool_merge_next(spool, &head)
		                     : next_in_memory(spool, &head);
	if (code > 0)
		*ret_item = (struct spool_item){head->key, head + 1, head->n_bytes};
	return code;
}
