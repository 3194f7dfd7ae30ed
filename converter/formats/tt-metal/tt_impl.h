/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tt_impl.h: what the files of the tt-metal importer share.
 *
 *   tt_csv.c    which files there are, the format
 *   tt_names.c  who and what: definitions
 *   tt_lines.c  a file's lines and their fields
 *   tt_rows.c   one line of a device log is one row
 *   tt_log.c    rows become items of their device, in order of its counter
 *   tt_runs.c   items in order become the words of marker areas
 *   tt_ties.c   collectives of a report tie its devices
 *   tt_report.c the lines of an ops report, see tt_report.h
 *   tt_calls.c  what they tell of host calls
 *
 * An area is one RISC of one core. A run begins with a FW start, or where a stamp comes that the
 * run has already. Several kernels may stand in one FW zone: those behind the first are runs of
 * their own, numbered behind it. Cycles are unwrapped only to be sorted: areas get them as they
 * stood in the file, and the unwrap stage finds their wraps.
 */
#ifndef FLEXTRACE_IMPORT_TT_IMPL_H
#define FLEXTRACE_IMPORT_TT_IMPL_H

#include "formats/kit/format.h"
#include "formats/kit/spool.h"
#include "formats/kit/text_window.h"
#include "base/text/json_text.h"
#include "base/map.h"

#define TT_MAX_FIELDS   128
#define TT_COUNTER_BITS 44 /* of today's counter; older logs have more */
#define TT_TICKS_LIMIT  (UINT64_C(1) << 60)
#define TT_ASSUMED_HZ   UINT64_C(1000000000)

/* -- lines ----------------------------------------------------------------------------------- */

struct tt_lines {
	struct trace_file *file; /* owned */
	struct text_window window;
	uint64_t offset_bytes; /* of the line last read */
	uint64_t number;       /* of it, from 1 */
	bool is_cut;           /* it had no end, or the file is damaged */
};

int tt_lines_open(struct tt_lines *lines, const char *path, struct flextrace_error *error);
void tt_lines_close(struct tt_lines *lines);

/* Stores the next line, weak: until the next call. 1: there is one, 0: the end, or negative. */
int tt_lines_next(struct tt_lines *lines, char **ret_line, struct flextrace_error *error);

/* Splits a line at its commas; fields lose the blanks around them. Returns how many there are, at
 * most TT_MAX_FIELDS: the last one is the rest. */
uint32_t tt_split(char *line, char **fields);

/* -- rows ------------------------------------------------------------------------------------ */

enum tt_column {
	TT_SLOT,
	TT_CORE_X,
	TT_CORE_Y,
	TT_RISC,
	TT_TIMER,
	TT_TIME,
	TT_DATA,
	TT_RUN_ID,
	TT_RUN_HOST_ID,
	TT_ZONE,
	TT_TYPE,
	TT_LINE,
	TT_FILE,
	TT_N_COLUMNS
};

struct tt_header {
	uint64_t hz; /* 0: it did not tell */
	char arch[32];
	uint32_t n_cores;            /* 0: it did not tell */
	int8_t column[TT_N_COLUMNS]; /* place of its field; -1: none */
	uint32_t n_fields;           /* that a row must have at least */
	bool has_columns;
};

/* What a row is: a stamp of a slot (enum flextrace_wire_stamp up to FW_END), or one of these. */
enum tt_kind { TT_MARK = FLEXTRACE_WIRE_TS1, TT_BEGIN, TT_END, TT_VALUE, TT_SUM };

struct tt_row { /* texts are weak, of the line */
	uint64_t ticks, timer, data, job;
	uint32_t slot, core;
	const char *risc, *zone, *file;
	uint32_t line;
	uint64_t number; /* of its line in the log */
	uint8_t kind;    /* enum tt_kind, or a stamp */
};

/* Takes a line about the chip or the columns; false: it is neither. */
bool tt_header_take(struct tt_header *header, char *line);

/* Takes the columns that a log has whose first row is `line`; false: no log has that many. */
bool tt_header_guess(struct tt_header *header, const char *line);

/* Reads a row. NULL, or what is wrong with it (static). */
const char *tt_row_read(const struct tt_header *header, char *line, struct tt_row *ret_row);

/* -- the reader ------------------------------------------------------------------------------ */

struct tt_item {            /* of a device's spool */
	uint64_t data, job; /* data: of a mark without a name its timer's id */
	uint32_t area;
	uint32_t marker, high_marker; /* wire ids; the high words of a value, 0: it has none */
	uint32_t kind;
	struct origin origin;
	bool is_named; /* else the marker has its timer's id for a name */
};

/* What was read last of a device's operations in a report. */
struct tt_told {
	int64_t least_ticks;    /* of all, relative to the first one's turn of the counter */
	uint64_t near_ticks;    /* of the line before */
	uint64_t call_ticks;    /* of the last line that told when its call was */
	uint64_t call_ns;       /* when that was; 0: none told */
	uint64_t kernel_end_ns; /* likewise; 0: it had none */
	double longest_fw_ns;
	bool has_near;
};

struct tt_next { /* item of a device */
	struct tt_item item;
	uint64_t ns, ticks;
	bool is_there, is_at_end;
};

struct tt_device {
	uint32_t slot, n_cores;
	uint64_t hz;
	char arch[32];
	struct spool *spool; /* owned */
	uint64_t last_key;   /* of the row before */
	uint64_t first_key;  /* the least */
	uint64_t below;      /* what makes the least one positive: wraps, or 0 */
	int64_t shift_ns;    /* from its own time to that of all */
	int64_t cause_ns;    /* the least that no operation of a report begins too early with */
	int64_t tie_ns;      /* from its own time to that of the device that others are tied to */
	uint32_t n_meetings; /* collectives */
	bool hz_is_told, has_cause, is_tied, has_items;
	bool is_wide; /* its counter has more than TT_COUNTER_BITS */
	bool is_read; /* it was told when a cycle was */
	struct tt_told told;
	struct tt_next next;
};

struct tt_kernel {            /* of a run that has one already */
	struct origin origin; /* of the first of the two */
	uint64_t stamps[2];   /* start, end */
	uint8_t has_stamp;    /* bits */
};

struct tt_held {             /* a mark without a name */
	struct tt_item item; /* `marker` 0: there is none */
	uint64_t ticks;
	uint32_t zone; /* that it begins; 0: none */
	bool ends;     /* it ends one */
};

struct tt_area {
	uint32_t device; /* index */
	uint32_t core, processor;
	uint64_t last_key; /* of the row before, as they stand in the file */
	/* the run that is open */
	uint64_t run, job, anchor, last_ticks;
	struct origin origin; /* of its first row, and of the first of its kernel */
	struct origin kernel_origin;
	uint64_t stamps[FLEXTRACE_WIRE_TS1];
	uint8_t has_stamp; /* bits */
	bool is_open, has_ring_run;
	struct tt_kernel *kernels; /* owned: behind the run's first one */
	uint32_t n_kernels;
	struct tt_held held;
	uint64_t *words;            /* owned: of the ring */
	struct origin words_origin; /* of the row of the first of them */
	uint32_t n_words, n_words_allocated;
	uint64_t next_index;
};

struct tt_marker { /* strings */
	uint32_t name, file, line;
};

struct tt_call {                  /* a host call of a report */
	uint32_t n_lines, n_seen; /* that tell of it */
	uint32_t name;            /* string */
	bool has_host;            /* one told when it was */
	bool will_tell;           /* one will, or has */
	struct origin origin;     /* that one */
	uint64_t begin_ns, end_ns;
	struct json_text cells; /* of the lines seen */
};

/* When a program began on a device: what ties the times of devices. */
struct tt_program {
	uint64_t id, first_key;
	uint32_t device;
};

struct tt {
	struct import import; /* first; its last file is read */
	struct map device_index, area_index, marker_index, program_index, processor_index;
	struct tt_device *devices; /* owned, all */
	uint32_t n_devices;
	struct tt_area *areas;
	uint32_t n_areas;
	struct tt_marker *markers;
	uint32_t n_markers;
	struct tt_program *programs;
	uint32_t n_programs;
	struct tt_meeting *meetings; /* see tt_ties.c */
	uint32_t n_meetings;
	bool has_columns;     /* a log told its columns, so it may have no row */
	uint32_t *processors; /* strings */
	uint32_t n_processors;
	char *processor_names; /* owned: all of them, apart by commas */
	uint64_t n_events;     /* of reports */
	struct map call_index;
	struct tt_call *calls; /* owned, and their cells: of reports */
	uint32_t n_calls;
	uint64_t last_ns; /* of the item that was taken last */
};

/* Takes a row of a file. Stores in `ret_fault` what is wrong with it (static), or NULL. */
int tt_push(struct tt *tt, const struct tt_header *header, const struct tt_row *row,
            const char **ret_fault);

/* Stores the number of a RISC; MAP_NONE: there are too many. */
int tt_find_processor(struct tt *tt, const char *name, uint32_t *ret_processor);

/* Stores the wire id of the zone from one marker to another one. */
int tt_find_pair(struct tt *tt, uint32_t from, uint32_t to, uint32_t *ret_id);

/* Numbers those that every chip has. */
int tt_know_processors(struct tt *tt);

/* Stores the index of a device, adding what is not there; MAP_NONE: there are too many. */
int tt_find_device(struct tt *tt, const struct tt_header *header, uint32_t slot,
                   uint32_t *ret_device);

/* Puts all devices on one time, behind the last row. */
int tt_settle(struct tt *tt);

/* Writes the definitions of all that is known by now. */
int tt_define(struct tt *tt);

/* Writes all items as batches. */
int tt_write_runs(struct tt *tt);

/* What stands at most half a turn of the counter from `near`, either way. */
static inline uint64_t tt_near(uint64_t near, uint64_t ticks)
{
	int64_t step = (int64_t)((ticks - near) << (64 - TT_COUNTER_BITS));

	return near + (uint64_t)(step / (INT64_C(1) << (64 - TT_COUNTER_BITS)));
}

/* Cycles of a key of a device's spool: above where its wraps are counted in, as in the file. */
uint64_t tt_ticks(const struct tt_device *device, uint64_t key);
uint64_t tt_raw(const struct tt_device *device, uint64_t ticks);

/* The time of cycles, by the nominal rate. */
uint64_t tt_ns(const struct tt_device *device, uint64_t ticks);

#endif
