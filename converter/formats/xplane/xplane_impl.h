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

/* A stat that we look at: where it stands in struct xplane_said. */
struct xplane_known {
	const char *name;
	enum { XPLANE_NUMBER, XPLANE_STRING, XPLANE_BYTES } kind;
	size_t offset;
	bool is_shown; /* as an argument, too */
};

struct xplane_stat_name {
	uint32_t name;                    /* string */
	const struct xplane_known *known; /* NULL: an argument, and nothing else */
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

#define XPLANE_PLANE_STATS 6 /* number of the field of a plane */

/* What the stats of an event, or of a plane, say. */
struct xplane_said {
	uint64_t correlation, program, start_ns, n_cores, clock_khz;
	uint32_t hlo_op, memcpy, memset, device_type, vendor; /* strings, 0 = none */
	struct protobuf hlo_proto;                            /* weak */
};

/* -- the file --------------------------------------------------------------------------------- */

/* An instruction of a compiled program. */
struct xplane_hlo {
	uint32_t opcode, op_name, source_file; /* strings */
	uint64_t source_line;
};

struct xplane_device {
	uint32_t number, name;
	struct xplane_said said;
};

struct xplane_row {      /* of a device a queue, of the host a thread */
	uint32_t device; /* FLEXTRACE_NONE: a thread */
	uint32_t id, name;
};

struct xplane {
	struct import import; /* first */
	uint32_t n_files;     /* that are to be read: more than one are ranks */
	/* The file that is read. */
	uint32_t stream;
	const uint8_t *bytes; /* weak */
	uint64_t hash;        /* of them: tells it from files that are read by others */
	uint64_t n_events;    /* in it so far */
	int64_t epoch_ns;     /* what all times of it count from; until it is known, the earliest */
	int64_t start_ns;     /* of the profile, since the Unix epoch; 0: not told */
	struct xplane_plane *planes; /* owned, like all of these */
	struct xplane_device *devices;
	struct xplane_row *rows;
	struct xplane_hlo *hlos;
	uint32_t n_planes, n_devices, n_rows, n_hlos, n_mapped;
	struct map device_index; /* by number */
	struct map row_index;    /* by the id of the line, and device */
	struct map hlo_index;    /* by program and name */
	struct json_text args;   /* members of an object: what is said of an event */
	struct json_text told;   /* the object */
	char *scratch;
	size_t n_scratch;
};

/* -- xplane_plane.c --------------------------------------------------------------------------- */

/* Reads the tables of a plane; what is damaged is counted. FLEXTRACE_E_MEMORY or 0, as below. */
int xplane_read_tables(struct xplane *xplane, struct xplane_plane *plane);
void xplane_release_tables(struct xplane_plane *plane);

/* Interns bytes of the file, up to their first NUL. */
int xplane_intern(struct xplane *xplane, const struct protobuf *bytes, uint32_t *ret_string);

/* Counts that what is left of a message cannot be read. */
int xplane_damaged(struct xplane *xplane, const struct protobuf *rest);

/* Whether a plane's name begins so. */
bool xplane_is(const struct xplane *xplane, const struct xplane_plane *plane, const char *start);

/* -- xplane_stat.c ---------------------------------------------------------------------------- */

/* NULL: none that we look at. */
const struct xplane_known *xplane_find_known(const char *name);

/* Reads the stats of a message, which have the number `field` in it: into `said`, and what is not
 * said elsewhere as members of `xplane->args`. */
int xplane_read_stats(struct xplane *xplane, const struct xplane_plane *plane,
                      struct protobuf message, uint32_t field, struct xplane_said *said);

/* -- xplane_hlo.c ----------------------------------------------------------------------------- */

/* Reads the compiled programs of a plane. */
int xplane_read_programs(struct xplane *xplane, const struct xplane_plane *plane);

/* Adds what is known of an instruction to `xplane->args`. */
void xplane_add_hlo(struct xplane *xplane, const struct xplane_said *said);

/* -- xplane_line.c ---------------------------------------------------------------------------- */

/* Reads all lines of a device or a host. */
int xplane_read_lines(struct xplane *xplane, const struct xplane_plane *plane);

/* The earliest begin of a line of a plane, if that is before `first_ns`. */
void xplane_find_first(const struct xplane_plane *plane, int64_t *first_ns);

/* -- xplane_define.c -------------------------------------------------------------------------- */

int xplane_find_device(struct xplane *xplane, const struct xplane_plane *plane,
                       uint32_t *ret_device);
int xplane_find_row(struct xplane *xplane, uint32_t device, uint64_t line, uint32_t name,
                    uint32_t *ret_id);

/* Defines the process, the devices and the rows of the file that was read. */
int xplane_define(struct xplane *xplane, const char *host);

#endif
