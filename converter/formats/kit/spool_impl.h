/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_impl.h: what the files of the spool share: spool.c makes runs, spool_merge.c merges them.
 */
#ifndef FLEXTRACE_IMPORT_SPOOL_IMPL_H
#define FLEXTRACE_IMPORT_SPOOL_IMPL_H

#include <stdbool.h>

#include "base/radix_sort.h"
#include "spool.h"

#define SPOOL_ALIGN       8u
#define SPOOL_OUT_BYTES   ((size_t)256 << 10)
#define SPOOL_READ_BYTES  ((size_t)64 << 10) /* of each run; an item fits */
#define SPOOL_ENTRY_SHARE 64 /* bytes of the buffer for each item that may be in it */
#define SPOOL_FAN         64u
#define SPOOL_MAX_RUNS    (4 * SPOOL_FAN)

/* Before each item, in memory and in the file. */
struct spool_head {
	uint64_t key;
	uint64_t n_bytes;
};

struct spool_run { /* in the file */
	uint64_t place, n_bytes;
	uint32_t level;
};

struct spool_reader {
	char *bytes;             /* owned, SPOOL_READ_BYTES; NULL: of the entries in memory */
	size_t at, end;          /* within `bytes` */
	uint64_t place, n_bytes; /* what is left in the file */
};

struct spool_turn { /* of a reader that has an item */
	uint64_t key;
	uint32_t reader;
};

struct spool {
	char *buffer; /* owned */
	size_t n_bytes, buffer_bytes;
	uint32_t max_entries;
	struct keyed_place *entries,
		*spare; /* owned; places in `buffer`, in steps of SPOOL_ALIGN */
	uint32_t n_entries, n_read;
	bool is_sorted; /* the entries */
	bool is_reading;
	int fd; /* owned; -1: none yet */
	uint64_t n_file_bytes;
	char *out; /* owned */
	size_t n_out_bytes;
	struct spool_run runs[SPOOL_MAX_RUNS];
	uint32_t n_runs;
	struct spool_reader *readers; /* owned: of the runs that are merged, in their order */
	struct spool_turn *heap;      /* owned: the next one first */
	uint32_t n_readers, n_heap;
	bool is_given; /* the first one's item */
};

static inline size_t spool_stride(const struct spool_head *head)
{
	return sizeof(*head) + ((head->n_bytes + SPOOL_ALIGN - 1) & ~(size_t)(SPOOL_ALIGN - 1));
}

static inline const struct spool_head *spool_entry_head(const struct spool *spool, uint32_t i)
{
	return (const struct spool_head *)(spool->buffer +
	                                   (size_t)spool->entries[i].place * SPOOL_ALIGN);
}

/* Merges the runs from `first` on, and what is in memory; the item is weak until the next call. */
int spool_merge_start(struct spool *spool, uint32_t first);
int spool_merge_next(struct spool *spool, const struct spool_head **ret_head);
void spool_merge_end(struct spool *spool);

#endif
