/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area_model.h: what a marker does to its area, as docs/formats-marker-area.md tells it, in the
 * simplest words: it calls nothing of the code that it judges.
 */
#ifndef FLEXTRACE_TESTS_AREA_MODEL_H
#define FLEXTRACE_TESTS_AREA_MODEL_H

#include <stdint.h>

enum model_op { /* the first six are kinds of records, too */
	        MODEL_MARK = 1,
	        MODEL_BEGIN = 2,
	        MODEL_END = 3,
	        MODEL_VALUE = 4,
	        MODEL_DATA = 5,
	        MODEL_RUN = 6,
	        MODEL_STAMP = 7,
	        MODEL_FW_END = 8
};

enum model_policy { MODEL_STOP = 0, MODEL_OVERWRITE = 1, MODEL_BLOCK = 2 };

#define MODEL_MAX_ZONES 256
#define MODEL_MAX_WAITS 256

/* What the writer can have seen of the host's words during one marker. */
struct model_sight {
	uint32_t limit;           /* when it began */
	uint32_t policy[2];       /* when it began; when it ended */
	uint32_t n_before_change; /* times that it looked at the first one */
	int has_changed_again;    /* the policy, behind a wait */
	uint32_t n_waits;         /* of a blocked marker, and the words behind each */
	uint32_t wait_limit[MODEL_MAX_WAITS], wait_policy[MODEL_MAX_WAITS];
	uint64_t waited_ticks;
};

struct area_model {
	uint32_t capacity;
	uint32_t head, dropped, run; /* as in the header */
	int has_run_to_write;        /* the newest run's record waits for room */
	uint32_t known_limit;        /* as last looked at */
	uint32_t n_kept;             /* records kept for ends */
	uint32_t n_late;             /* ends that FW starts gave up */
	uint32_t n_zones;            /* open ones, and which of them were recorded */
	uint8_t is_recorded[MODEL_MAX_ZONES];
	int is_alone; /* block: the host let it wait in vain at this limit */
	uint32_t alone_limit;

	/* of the last marker */
	uint32_t n_records;
	uint8_t kinds[4];
	uint32_t n_waits;
	int has_dropped_without_waiting;
};

/* An area that was just set up; `count`: records of before, to try wraps. */
void area_model_boot(struct area_model *model, uint32_t capacity, uint32_t count);

/* One marker; `block_ticks` as configured. */
void area_model_mark(struct area_model *model, enum model_op op, const struct model_sight *sight,
                     uint32_t block_ticks);

#endif
