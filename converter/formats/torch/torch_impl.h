/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_impl.h: what the files of the torch dialect share.
 *
 *   torch.c        events
 *   torch_file.c   what belongs to a whole file: members, names, who it is
 *   torch_names.c  categories and names
 */
#ifndef FLEXTRACE_IMPORT_TORCH_IMPL_H
#define FLEXTRACE_IMPORT_TORCH_IMPL_H

#include "torch.h"

struct torch_device {
	uint32_t rank, device;
	uint32_t name; /* string */
	uint32_t n_cores;
	uint64_t core_hz;
	bool has_stamps;
};

struct torch_name { /* of a process (tid 0) or row of the file, as texts (strings) */
	uint32_t pid, tid, name;
	bool is_process;
};

struct torch_queue { /* found by pid and tid (strings), and rank */
	uint32_t device, queue;
};

struct torch_note {          /* a top-level member */
	uint32_t key, value; /* strings */
};

struct torch {
	/* ns since the Unix epoch of what all torch files count from, so that doubles hold their
	 * times */
	int64_t epoch_ns;
	bool has_epoch;
	struct torch_device *devices; /* owned */
	uint32_t n_devices;
	struct map device_index, queue_index;

	const char *ranks; /* weak: those of the options, less what is used */

	/* of the file that is read */
	uint32_t rank; /* index; FLEXTRACE_NONE: it had no event yet */
	uint32_t n_files;
	uint32_t host_pid; /* string; 0: not known yet */
	uint64_t host_pid_number;
	int64_t base_ns;      /* baseTimeNanoseconds */
	int64_t late_base_ns; /* the same, told behind the events */
	int64_t first_ns;     /* of its first event, where it has a time */
	bool has_time;
	int32_t told_rank, world_size;
	struct torch_name *names; /* owned, all */
	uint32_t n_names;
	struct torch_queue *queues;
	uint32_t n_queues;
	struct torch_note *notes;
	uint32_t n_notes;
	char *properties; /* owned: deviceProperties as JSON */
	uint32_t n_unread_members;
};

/* -- torch_file.c */

bool torch_knows_member(const struct trace_text *key);
int torch_begin_file(struct event_import *events);
int torch_take_member(struct event_import *events, const struct trace_text *key,
                      const struct trace_value *value);
int torch_end_file(struct event_import *events);
int torch_define(struct event_import *events, uint32_t rank);

/* The device of a rank, adding it where needed. */
int torch_find_device(struct torch *torch, uint32_t rank, uint32_t device,
                      struct torch_device **ret_device);

/* -- torch_names.c: what the torch profiler's categories and names mean */

/* Where an event of a category belongs. */
enum torch_side {
	TORCH_UNKNOWN, /* a category that is not known, or none */
	TORCH_HOST,    /* a thread of the process */
	TORCH_DEVICE,  /* of a row of a device: a control block, or what is told about such */
	TORCH_NOTE,    /* about another row than the process': an interval, but no work */
	TORCH_WINDOW   /* what the profiler recorded */
};

struct torch_class {
	enum torch_side side;
	/* enum flextrace_device_kind of a device's, else enum flextrace_runtime_kind */
	uint8_t kind;
};

struct torch_class torch_class_of(const char *category, const char *name);

/* Whether a category is one of the profiler's, of today or of older versions. */
bool torch_knows_category(const char *category);

#endif
