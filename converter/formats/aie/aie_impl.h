/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aie_impl.h: what the parts of the reader of AIE traces share.
 *
 *   a file -> edges: a slot's level rises or falls at a cycle      aie_json.c; aie_words.c
 *   edges  -> states of slots, kernels, and what was lost          aie_pair.c
 *   these  -> events of the tracer, in a spool                     aie_events.c
 *
 * A unit is the trace unit of a module of a tile ("core_trace for tile2,1"), has a counter of its
 * own and is a device. A slot is one of its (eight) event lines and is a queue of the device; a
 * queue more has the kernels, from a rise of INSTR_EVENT_0 to the next fall of INSTR_EVENT_1.
 *
 * Memory: 48 bytes per kernel of a file, else nothing that grows with it.
 */
#ifndef FLEXTRACE_IMPORT_AIE_IMPL_H
#define FLEXTRACE_IMPORT_AIE_IMPL_H

#include "formats/kit/faults.h"
#include "formats/kit/format.h"
#include "base/map.h"
#include "model/model.h"
#include "base/text/strings.h"

#define AIE_N_SLOTS 8 /* of a trace unit; files may tell of more */

enum aie_role { AIE_LEVEL, AIE_KERNEL_START, AIE_KERNEL_END };

struct aie_slot {
	uint32_t name; /* string */
	uint32_t queue;
	uint64_t begin;       /* cycle, if it is_open */
	struct origin origin; /* of the rise then */
	bool is_open;
	enum aie_role role;
};

struct aie_time {
	uint64_t cycle;
	struct origin origin;
};

struct aie_times {
	struct aie_time *times; /* owned */
	uint32_t n;
};

struct aie_unit {
	uint32_t name;   /* string: "core_trace for tile2,1" */
	uint32_t device; /* the number of it */
	uint64_t origin; /* what the array's timer showed at the unit's cycle 0; 0 = not known */
	uint64_t last;   /* cycle of the last that is known of it in this file */
	uint64_t n_jobs;
	struct aie_slot *slots; /* owned */
	uint32_t n_slots;
	struct aie_times starts, ends; /* of kernels, in order of time; of one file */
};

struct aie {
	struct import import; /* first; its last file is read */
	uint64_t clock_hz;
	double duplicate_gap;
	struct aie_unit *units;       /* owned */
	uint32_t n_units, first_unit; /* the first of this file */
	struct map unit_index;        /* (file, id in it) -> unit */
	struct map slot_index;        /* (unit and thread id, name) -> slot */
	struct map queue_index;       /* (unit, queue) that are taken */
	struct map device_index;      /* numbers of devices that are taken */
	uint32_t n_other_devices;
	uint32_t path;       /* string: of the first file */
	uint64_t n_repeated; /* edges that repeats made */
	uint32_t n_files;
};

/* -- files (each returns an enum flextrace_status) --------------------------------------------- */

/* 1, 0, FLEXTRACE_E_MEMORY. */
int aie_is_json(const struct probe *probe);

/* Whether a file is one of events, whosever: 1, 0, FLEXTRACE_E_MEMORY. */
int aie_has_events(const char *path);
int aie_read_json(struct aie *aie, const char *path, struct flextrace_error *error);

bool aie_is_words(const struct probe *probe);
int aie_read_words(struct aie *aie, const char *path, struct flextrace_error *error);

/* -- units and slots --------------------------------------------------------------------------- */

/* Finds the unit of an id in this file, or adds it; `number` is what its device is called if that
 * is free. */
int aie_find_unit(struct aie *aie, uint64_t id, uint32_t number, uint32_t *ret_unit);

/* Finds the slot of a thread id and name, or adds it. */
int aie_find_slot(struct aie *aie, uint32_t unit, uint32_t tid, uint32_t name, uint32_t *ret_slot);

/* -- edges ------------------------------------------------------------------------------------- */

struct aie_edge {
	uint32_t unit, slot;
	bool is_rise;
	struct origin origin;
};

/* Takes an edge; those of a unit come in order of time. */
int aie_take_edge(struct aie *aie, const struct aie_edge *edge, uint64_t cycle);

/* Ends a file: pairs kernels, and leaves open what has no end. */
int aie_end_file(struct aie *aie);

/* -- out --------------------------------------------------------------------------------------- */

enum aie_span_kind { AIE_STATE, AIE_KERNEL };

struct aie_span {
	uint32_t unit, queue, name;
	enum aie_span_kind kind;
	uint64_t begin, end;  /* cycles */
	struct origin origin; /* of its begin */
	bool is_open;         /* it had no end: `end` is the last that is known of its unit */
};

int aie_write_span(struct aie *aie, const struct aie_span *span);

/* Adds the definitions, behind the last file. */
int aie_define(struct aie *aie);

/* -- losses ------------------------------------------------------------------------------------ */

/* Counts one of a unit, which is a device. */
int aie_lose_of(struct aie *aie, uint32_t unit, enum loss_cause cause);

/* -- words ------------------------------------------------------------------------------------- */

/* Whose words a packet has: bits of its header. */
struct aie_place {
	uint32_t row, column, type;
};

#define AIE_N_TYPES 4 /* of units: core, mem, shim, memtile */

extern const char *const aie_type_names[AIE_N_TYPES];

struct cJSON;

/* Reads event_slots.json beside `path`, which events the slots of units have: owned,
 * cJSON_Delete(). NULL, and no error: there is none. */
int aie_slots_open(const char *path, struct cJSON **ret_slots, struct flextrace_error *error);

/* The number of the event that a slot has; -1: nobody told, as where there are no `slots`. */
int aie_slots_event(const struct cJSON *slots, const struct aie_place *place, uint32_t slot);

/* Writes the name of an event. */
void aie_name_event(uint32_t type, uint32_t number, char *text, size_t n_bytes);

/* -- commands: the bytes of one unit ----------------------------------------------------------- */

struct aie_decoder {
	uint8_t bytes[8]; /* of a command that is not whole yet */
	uint32_t n;
	uint64_t cycle;
	uint8_t levels;    /* bit by slot: is high */
	uint8_t events;    /* of the last command */
	uint32_t delta;    /* of the last command */
	uint64_t timer;    /* of the first start */
	uint64_t n_bad;    /* bytes that are no command */
	uint64_t n_untold; /* repeats beyond the limit */
	bool has_timer;
	bool is_ended; /* it told that its trace ends here */
};

/* Takes edges as they are decoded. FLEXTRACE_E_MEMORY, FLEXTRACE_E_OUTPUT or 0. */
struct aie_sink {
	int (*take)(void *context, uint32_t slot, bool is_rise, uint64_t cycle);
	void *context;        /* weak */
	uint64_t *n_repeated; /* weak: edges of repeats, of all files, AIE_MAX_REPEATED at most */
};

/* Two bytes repeat eight events 1023 times, and files may be packed: what they may make of
 * themselves is bounded. */
#define AIE_MAX_REPEATED (UINT64_C(1) << 22)
#define AIE_MAX_UNITS    4096u

int aie_decode_word(struct aie_decoder *decoder, uint32_t word, const struct aie_sink *sink);

#endif
