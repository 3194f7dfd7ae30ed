/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_cell.h: column_read() where it is called, for who writes many rows.
 */
#ifndef FLEXTRACE_COLUMN_CELL_H
#define FLEXTRACE_COLUMN_CELL_H

#include <math.h>

#include "model/alignment.h"
#include "model/timeline/columns.h"
#include "model/timeline/timeline_read.h"

static inline struct cell cell_of(uint64_t number, bool is_none)
{
	return (struct cell){.kind = is_none ? CELL_EMPTY : CELL_NUMBER, .number = number};
}

static inline struct cell cell_of_signed(int64_t number, bool is_none)
{
	return (struct cell){.kind = is_none ? CELL_EMPTY : CELL_SIGNED, .signed_number = number};
}

/* One that is none is told in words only. */
static inline struct cell cell_of_real(double number, int8_t n_decimals)
{
	return (struct cell){
		.kind = n_decimals == COLUMN_WORDS || isfinite(number) ? CELL_REAL : CELL_EMPTY,
		.real = number,
	};
}

/* `index`: not FLEXTRACE_NONE. */
static inline struct cell cell_of_thing(enum column_type type, uint32_t index,
                                        const struct timeline *timeline)
{
	const struct identity *identity = timeline->identity;

	if (type >= COLUMN_TYPE_DEVICE_RANK && type < COLUMN_TYPE_DEVICE) {
		index = identity->devices[index].process;
		type -= COLUMN_TYPE_DEVICE_RANK - COLUMN_TYPE_RANK;
	}
	switch (type) {
	case COLUMN_TYPE_RANK:
		return cell_of_signed(identity->processes[index].rank,
		                      identity->processes[index].rank < 0);
	case COLUMN_TYPE_HOST:
		return cell_of_string(timeline->strings, identity->processes[index].host);
	case COLUMN_TYPE_PID:
		return cell_of_signed(identity_pid(&identity->processes[index]),
		                      identity_pid(&identity->processes[index]) < 0);
	case COLUMN_TYPE_TID:
		return cell_of_signed(identity->threads[index].vtid,
		                      identity->threads[index].vtid < 0);
	case COLUMN_TYPE_THREAD:
		return cell_of_string(timeline->strings, identity->threads[index].name);
	default:
		return cell_of(identity->devices[index].device,
		               identity->devices[index].device == FLEXTRACE_NONE);
	}
}

static inline __attribute__((always_inline)) struct cell
column_cell(const struct column *column, const void *row, const struct timeline *timeline)
{
	const void *at = (const char *)row + column->offset_bytes;
	bool may_lack = column->is_optional;

	switch ((enum column_type)column->type) {
	case COLUMN_TYPE_TEXT:
		return cell_of_text(*(const char *const *)at);
	case COLUMN_TYPE_WORD:
		return cell_of_word(*(const char *const *)at);
	case COLUMN_TYPE_BOOL:
		return cell_of(*(const bool *)at, false);
	case COLUMN_TYPE_U16:
		return cell_of(*(const uint16_t *)at, false);
	case COLUMN_TYPE_U32:
		return cell_of(*(const uint32_t *)at,
		               may_lack && *(const uint32_t *)at == COLUMN_NONE_U32);
	case COLUMN_TYPE_U64:
		return cell_of(*(const uint64_t *)at,
		               may_lack && *(const uint64_t *)at == COLUMN_NONE_U64);
	case COLUMN_TYPE_NONZERO:
		return cell_of(*(const uint64_t *)at, *(const uint64_t *)at == 0);
	case COLUMN_TYPE_I64:
		return cell_of_signed(*(const int64_t *)at,
		                      may_lack && *(const int64_t *)at == COLUMN_NONE_I64);
	case COLUMN_TYPE_TIME:
		return cell_of_signed(*(const int64_t *)at +
		                              alignment_epoch_offset_ns(timeline->alignment),
		                      false);
	case COLUMN_TYPE_LENGTH:
		return cell_of(interval_ns(*(const int64_t *)at, ((const int64_t *)at)[1]), false);
	case COLUMN_TYPE_REAL:
		return cell_of_real(*(const double *)at, column->n_decimals);
	case COLUMN_TYPE_NAMED:
		return cell_of_word(column->name_of(*(const uint8_t *)at));
	case COLUMN_TYPE_CALL:
		return column->read(at, timeline);
	case COLUMN_TYPE_STRING:
		return cell_of_string(timeline->strings, *(const uint32_t *)at);
	default:
		if (*(const uint32_t *)at == FLEXTRACE_NONE)
			return (struct cell){.kind = CELL_EMPTY};
		return cell_of_thing(column->type, *(const uint32_t *)at, timeline);
	}
}

#endif
