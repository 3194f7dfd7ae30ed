/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xplane_impl.h: profiles of JAX and XLA, messages of type XSpace ("*.xplane.pb").
 *
 * A space has planes (a device, the threads of a host, the compiled programs), a plane has lines
 * (a stream, a thread), a line has events; names stand in a table behind the lines of their plane.
 * Source of the numbers of fields: tsl/profiler/protobuf/xplane.proto, xla/service/hlo.proto and
 * xla/xla_data.proto of OpenXLA.
 */
#ifndef FLEXTRACE_IMPORT_XPLANE_IMPL_H
#define FLEXTRACE_IMPORT_XPLANE_IMPL_H

#include "base/map.h"
#include "base/protobuf/protobuf_reader.h"
#include "base/text/json_text.h"
#include "formats/kit/faults.h"
#include "formats/kit/format.h"

#define XPLANE_VPID 1

/* -- tables of a plane ------------------------------------------------------------------------ */

/* Stats that we look at. */
enum xplane_said {
	SAID_CORRELATION,
	SAID_PROGRAM,
	SAID_START,
	SAID_CORES,
	SAID_CLOCK,
	SAID_HLO_OP,
	SAID_MEMCPY,
	SAID_MEMSET,
	SAID_DEVICE,
	SAID_VENDOR,
	SAID_HLO_PROTO,
	SAID_COUNT,
	SAID_OTHER = SAID_COUNT /* an argument, and nothing else */
};

struct xplane_value { /* of a stat */
	uint64_t number;
	uint32_t text; /* string; 0 = none */
	struct protobuf bytes;
};

struct xplane_stat_name {
	uint32_t name; /* string */
	enum xplane_said said;
};

struct xplane_event_name {
	uint64_t id;
	uint32_t name;           /* string: what the profiler shows */
	struct protobuf message; /* weak: the entry, for its stats */
};

struct xplane_plane {
	struct protobuf message;          /* weak, as a whole */
	uint32_t name;                    /* string */
	struct xplane_stat_name *stats;   /* owned */
	struct xplane_event_name *events; /* owned */
	uint32_t n_stats, n_events;
	struct map stat_index, event_index; /* owned: by the ids of the file */
};

enum xplane_plane_field {
	PLANE_NAME = 2,
	PLANE_LINE = 3,
	PLANE_EVENT_NAMES = 4,
	PLANE_STAT_NAMES = 5,
	PLANE_STAT = 6
};
enum xplane_name_field { NAME_ID = 1, NAME_NAME = 2, NAME_DISPLAY_NAME = 4, NAME_STAT = 5 };
enum xplane_line_field {
	LINE_ID = 1,
	LINE_NAME = 2,
	LINE_START_NS = 3,
	LINE_EVENT = 4,
	LINE_DISPLAY_NAME = 11,
	LINE_FIELD_COUNT
};

/* -- the file --------------------------------------------------------------------------------- */

/* An instruction of a compiled program. */
struct xplane_hlo {
	uint32_t opcode, op_name, source_file; /* strings */
	uint32_t fused;  /* string: a JSON array of the names of what a fusion was made of */
	uint32_t before; /* place: of the one before it in its computation; FLEXTRACE_NONE */
	uint64_t source_line;
	int64_t called; /* the first computation that it calls; -1: none */
};

struct xplane_file {
	uint8_t *bytes;        /* owned */
	struct protobuf space; /* weak: all of them */
	bool is_cut;           /* it stops in the middle of a message */
	uint32_t stream;
	uint32_t host;     /* string */
	uint64_t hash;     /* of the bytes: tells it from files that are read by others */
	uint64_t n_events; /* so far */
	int64_t epoch_ns;  /* what all times count from; until it is known, the earliest */
	int64_t start_ns;  /* of the profile, since the Unix epoch; 0: not told */
	uint32_t n_mapped; /* lines whose id is too large for a row's */
	struct xplane_plane *planes; /* owned, as all below */
	struct xplane_hlo *hlos;
	uint32_t n_planes, n_hlos;
	struct map device_index; /* by number */
	struct map row_index;    /* ids of queues and threads, by the id of the line, and device */
	struct map hlo_index;    /* by program and name */
};

struct xplane {
	struct import import;    /* first */
	struct xplane_file file; /* that is read */
	struct json_text args;   /* members of an object: what is said of an event */
	struct json_text told;   /* the object */
	char *scratch;           /* owned */
	size_t n_scratch;
};

/* -- xplane_plane.c --------------------------------------------------------------------------- */

/* Reads the tables of a plane, and when the first of its lines begins, if that is before the one
 * that is known. What is damaged is counted. FLEXTRACE_E_MEMORY or 0, as below. */
int xplane_read_tables(struct xplane *xplane, struct xplane_plane *plane);
void xplane_release_tables(struct xplane_plane *plane);

/* Interns bytes of the file, up to their first NUL. */
int xplane_intern(struct xplane *xplane, const struct protobuf *bytes, uint32_t *ret_string);

/* protobuf_read(); what is damaged is counted. */
int xplane_read(struct xplane *xplane, struct protobuf message, struct protobuf_field *ret_fields,
                uint32_t n);

/* The name that is shown goes before the other one. */
static inline const struct protobuf *xplane_name(const struct protobuf_field *fields,
                                                 uint32_t shown, uint32_t other)
{
	return &fields[protobuf_length(&fields[shown].bytes) ? shown : other].bytes;
}

/* Takes off the next field, with bytes, of a number. False: there is none; a reader of the other
 * fields counts what is damaged. */
bool xplane_next(struct protobuf *message, uint32_t number, struct protobuf *ret_bytes);

/* Whether a plane's name begins so. */
bool xplane_is(const struct xplane *xplane, const struct xplane_plane *plane, const char *start);

/* -- xplane_stat.c ---------------------------------------------------------------------------- */

enum xplane_said xplane_find_said(const char *name);

/* Reads the stats of a message, which have the number `field` in it: into `said`, which has
 * SAID_COUNT, and what is not said elsewhere as members of `xplane->args`. */
int xplane_read_stats(struct xplane *xplane, const struct xplane_plane *plane,
                      struct protobuf message, uint32_t field, struct xplane_value *said);

/* -- xplane_hlo.c ----------------------------------------------------------------------------- */

/* Reads the compiled programs of a plane. */
int xplane_read_programs(struct xplane *xplane, const struct xplane_plane *plane);

/* Adds what is known of an instruction to `xplane->args`. */
void xplane_add_hlo(struct xplane *xplane, const struct xplane_value *said);

/* -- xplane_line.c ---------------------------------------------------------------------------- */

/* Reads all lines of a device or a host. */
int xplane_read_lines(struct xplane *xplane, const struct xplane_plane *plane);

/* -- xplane_define.c -------------------------------------------------------------------------- */

int xplane_define_process(struct xplane *xplane);
int xplane_define_device(struct xplane *xplane, const struct xplane_plane *plane,
                         uint32_t *ret_device);

/* A queue of a device, or a thread (FLEXTRACE_NONE): defines it, if it is new. */
int xplane_define_row(struct xplane *xplane, uint32_t device, uint64_t line, uint32_t name,
                      uint32_t *ret_id);

#endif
