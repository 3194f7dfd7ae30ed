/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_repair.h: stream files of a CTF trace that end in the middle of a packet.
 *
 * A full disk or a killed consumer leaves such files, and babeltrace2 refuses the whole trace for
 * one of them. The scan walks the packets of each file by their sizes, as LTTng lays them out:
 *
 *	byte  0  u32 magic 0xC1FC1FC1        32  u64 timestamp_begin
 *	      4  u8  uuid[16]                40  u64 timestamp_end
 *	     20  u32 stream_id               48  u64 content_size, bits
 *	     24  u64 stream_instance_id      56  u64 packet_size, bits
 *
 * and, where a file does not look like that, by its index `index/<name>.idx`, as LTTng writes it. A
 * view is a private directory that looks like the trace but for the cut files, which are copied up
 * to their last whole packet. The trace itself is never touched.
 */
#ifndef FLEXTRACE_CTF_REPAIR_H
#define FLEXTRACE_CTF_REPAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/paths.h"

struct ctf_file {
	char *name;          /* owned, in its directory */
	uint64_t size_bytes; /* of the file */
	/* Up to the end of the last whole packet; = size_bytes where not cut, or not known. */
	uint64_t whole_bytes;
	uint64_t class_id, instance_id; /* of its stream, where `has_stream` */
	bool has_stream;
	uint32_t n_torn; /* packets that a program left unfinished: torn.h */
};

struct ctf_dir {
	char *path;             /* owned */
	struct ctf_file *files; /* owned, sorted by name; without metadata */
	uint32_t n_files;
	uint32_t n_cut;     /* files with whole_bytes < size_bytes */
	bool has_odd_index; /* one that is no file: only a view, which leaves it out, can be read */
};

/* The index of a stream file. */
struct path ctf_index_of(const char *dir, const char *name);

/* Numbers of a packet, in its byte order. */
static inline uint32_t ctf_load32(const void *from, bool swapped)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t ctf_load64(const void *from, bool swapped)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return swapped ? __builtin_bswap64(value) : value;
}

/* Scans one trace directory. FLEXTRACE_E_INPUT: it or a file of it cannot be read. */
int ctf_dir_scan(const char *path, struct ctf_dir *ret_dir, struct flextrace_error *error);
void ctf_dir_release(struct ctf_dir *dir);

/* All views of one conversion. Zero-initialise. */
struct ctf_views {
	char root[256]; /* private directory, "" = none yet */
	int lock;       /* of it, as long as `owner` uses it: without, it is stale */
	pid_t owner;
	uint32_t n;
	bool without_indexes; /* of whole files: readers make their own */
};

/* Makes a view of a directory and stores its path (owned by the caller).
 * Removes views that conversions left there which were killed. FLEXTRACE_E_SYSTEM: no space or no
 * right in $TMPDIR. */
int ctf_views_add(struct ctf_views *views, const struct ctf_dir *dir, char **ret_path,
                  struct flextrace_error *error);

/* Removes all views. May be called from another thread, when the program is about to end. */
void ctf_views_remove(struct ctf_views *views);

#endif
