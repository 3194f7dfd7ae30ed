/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks. A snapshot says what several clocks were at one time. Those from 64 to 127 are each of a
 * sequence and are known from its newest snapshot on, all others are of the trace. One of a
 * sequence may tell times as differences to the one before.
 */
#include "base/array.h"
#include "base/order.h"
#include "perfetto_impl.h"

#define END_NS     (INT64_C(1) << 62)
#define MAX_CLOCKS 32   /* of a snapshot */
#define MAX_PAIRS  1024 /* of clocks, one to another */

enum { FIRST_OF_SEQUENCE = 64, BEHIND_SEQUENCE = 128 };

static bool is_of_sequence(uint64_t clock)
{
	return clock >= FIRST_OF_SEQUENCE && clock < BEHIND_SEQUENCE;
}

/* -- snapshots -------------------------------------------------------------------------------- */

struct snapshot_clock {
	uint64_t id, time, unit_ns;
	bool is_incremental;
};

static uint32_t read_snapshot(struct protobuf message, struct snapshot_clock *clocks,
                              uint64_t *ret_primary)
{
	struct protobuf_field field, of[CLOCK_FIELD_COUNT];
	uint32_t n = 0;

	while (protobuf_next(&message, &field) > 0) {
		if (field.number == SNAPSHOT_PRIMARY)
			*ret_primary = field.value;
		if (field.number != SNAPSHOT_CLOCKS || n == MAX_CLOCKS ||
		    protobuf_read(&field.bytes, of, CLOCK_FIELD_COUNT) < 0)
			continue;
		clocks[n++] = (struct snapshot_clock){
			.id = of[CLOCK_ID].value,
			.time = of[CLOCK_TIMESTAMP].value,
			.unit_ns = of[CLOCK_UNIT_NS].value ? of[CLOCK_UNIT_NS].value : 1,
			.is_incremental = of[CLOCK_IS_INCREMENTAL].value,
		};
	}
	return n;
}

static int64_t ns_of(const struct snapshot_clock *clock)
{
	return (int64_t)(clock->time * clock->unit_ns);
}

static struct sequence_clock *find_clock(const struct perfetto_sequence *sequence, uint64_t id)
{
	for (uint32_t i = 0; i < sequence->n_clocks; i++) {
		if (sequence->clocks[i].id == id)
			return &sequence->clocks[i];
	}
	return NULL;
}

static int set_clock(struct perfetto_sequence *sequence, const struct snapshot_clock *of,
                     const struct clock_point *to)
{
	struct sequence_clock *clock = find_clock(sequence, of->id);

	if (!clock) {
		FLEXTRACE_TRY(ARRAY_PUSH(sequence->clocks, sequence->n_clocks,
		                         (struct sequence_clock){.id = of->id}));
		clock = &sequence->clocks[sequence->n_clocks - 1];
	}
	clock->unit_ns = of->unit_ns;
	clock->is_incremental = of->is_incremental;
	clock->last_ns = ns_of(of);
	clock->from.time_ns = clock->last_ns;
	clock->to = *to;
	return FLEXTRACE_OK;
}

/* Of the trace: all of them, in the first pass; of a sequence, in the second. */
int perfetto_take_snapshot(struct perfetto *perfetto, struct protobuf message,
                           struct perfetto_sequence *sequence)
{
	struct perfetto_clocks *clocks = &perfetto->file.clocks;
	struct snapshot_clock of[MAX_CLOCKS];
	uint32_t n = read_snapshot(message, of, &clocks->trace_clock);
	struct clock_point best = {0, 0, clocks->n_snapshots};

	for (uint32_t i = 0; i < n; i++) {
		struct clock_point point = {of[i].id, ns_of(&of[i]), clocks->n_snapshots};

		if (is_of_sequence(of[i].id))
			continue;
		if (!best.clock || of[i].id == clocks->target)
			best = point;
		if (!sequence)
			FLEXTRACE_TRY(ARRAY_PUSH(clocks->points, clocks->n_points, point));
	}
	clocks->n_snapshots += !sequence;
	if (!sequence || !best.clock)
		return FLEXTRACE_OK;
	for (uint32_t i = 0; i < n; i++) {
		if (is_of_sequence(of[i].id))
			FLEXTRACE_TRY(set_clock(sequence, &of[i], &best));
	}
	return FLEXTRACE_OK;
}

void perfetto_release_clocks(struct perfetto_clocks *clocks)
{
	for (uint32_t i = 0; i < clocks->n_pairs; i++)
		free(clocks->pairs[i].steps);
	free(clocks->pairs);
	free(clocks->points);
}

void perfetto_choose_clock(struct perfetto_file *file)
{
	struct perfetto_clocks *clocks = &file->clocks;

	if (!clocks->trace_clock)
		clocks->trace_clock = CLOCK_BOOTTIME_ID;
	clocks->target = clocks->trace_clock;
	for (uint32_t i = 0; i < clocks->n_points; i++) {
		if (clocks->points[i].clock == CLOCK_REALTIME_ID)
			clocks->target = CLOCK_REALTIME_ID;
	}
	file->is_realtime = clocks->target == CLOCK_REALTIME_ID;
}

/* -- times ------------------------------------------------------------------------------------ */

/* The point of a clock in the snapshot of another one; NULL: it is not there. */
static const struct clock_point *in_snapshot(const struct perfetto_clocks *clocks, uint32_t place,
                                             uint64_t clock)
{
	const struct clock_point *points = clocks->points;
	uint32_t i = place;

	while (i > 0 && points[i - 1].snapshot == points[place].snapshot)
		i--;
	for (; i < clocks->n_points && points[i].snapshot == points[place].snapshot; i++) {
		if (points[i].clock == clock)
			return &points[i];
	}
	return NULL;
}

ORDER_BY(compare_steps, struct clock_step, time_ns, place);

/* All snapshots that have both clocks, in order of time. */
static int fill_pair(const struct perfetto_clocks *clocks, struct clock_pair *pair)
{
	for (uint32_t i = 0; i < clocks->n_points; i++) {
		const struct clock_point *from = &clocks->points[i], *to;
		struct clock_step step = {from->time_ns, 0, i};

		to = from->clock == pair->from ? in_snapshot(clocks, i, pair->to) : NULL;
		if (!to || __builtin_sub_overflow(to->time_ns, from->time_ns, &step.offset_ns))
			continue;
		FLEXTRACE_TRY(ARRAY_PUSH(pair->steps, pair->n_steps, step));
	}
	ORDER_ARRAY(pair->steps, pair->n_steps, compare_steps);
	return FLEXTRACE_OK;
}

/* NULL: no memory, or there are too many. */
static const struct clock_pair *find_pair(struct perfetto_clocks *clocks, uint64_t from,
                                          uint64_t to)
{
	struct clock_pair pair = {from, to, NULL, 0};

	for (uint32_t i = 0; i < clocks->n_pairs; i++) {
		if (clocks->pairs[i].from == from && clocks->pairs[i].to == to)
			return &clocks->pairs[i];
	}
	if (clocks->n_pairs == MAX_PAIRS || fill_pair(clocks, &pair) < 0 ||
	    ARRAY_PUSH(clocks->pairs, clocks->n_pairs, pair) < 0) {
		free(pair.steps);
		return NULL;
	}
	return &clocks->pairs[clocks->n_pairs - 1];
}

static bool is_no_later(const void *step, const void *time_ns)
{
	return ((const struct clock_step *)step)->time_ns <= *(const int64_t *)time_ns;
}

/* By the newest snapshot of both that is no later than the time, else by their first. */
static bool convert_directly(struct perfetto_clocks *clocks, uint64_t from, uint64_t to,
                             int64_t time_ns, int64_t *ret_ns)
{
	const struct clock_pair *pair = find_pair(clocks, from, to);
	uint32_t n;

	if (!pair || !pair->n_steps)
		return false;
	n = array_count_before(pair->steps, pair->n_steps, sizeof(*pair->steps), is_no_later,
	                       &time_ns);
	return !__builtin_add_overflow(time_ns, pair->steps[n ? n - 1 : 0].offset_ns, ret_ns);
}

/* A time of a clock of the trace on another one, directly or by a clock between them; false: no
 * snapshot leads there. */
static bool convert(struct perfetto_clocks *clocks, uint64_t from, uint64_t to, int64_t time_ns,
                    int64_t *ret_ns)
{
	int64_t between_ns;

	*ret_ns = time_ns;
	if (from == to || convert_directly(clocks, from, to, time_ns, ret_ns))
		return true;
	for (uint64_t between = 1; between < FIRST_OF_SEQUENCE; between++) {
		if (convert_directly(clocks, between, to, 0, ret_ns) &&
		    convert_directly(clocks, from, between, time_ns, &between_ns) &&
		    convert_directly(clocks, between, to, between_ns, ret_ns))
			return true;
	}
	return false;
}

static const char *place_on(struct perfetto_file *file, uint64_t clock, int64_t time_ns,
                            int64_t *ret_ns)
{
	if (!convert(&file->clocks, clock, file->clocks.target, time_ns, ret_ns))
		return "no snapshot says what its clock is";
	if (__builtin_sub_overflow(*ret_ns, file->epoch_ns, ret_ns) || *ret_ns < 0 ||
	    *ret_ns >= END_NS)
		return "its time is out of range";
	*ret_ns += !*ret_ns; /* 0 would be a time that nobody knows */
	return NULL;
}

const char *perfetto_place(struct perfetto_file *file, struct perfetto_sequence *sequence,
                           const struct trace_packet *packet, int64_t *ret_ns)
{
	uint64_t id = packet->clock_id ? packet->clock_id : sequence->clock_id;
	struct sequence_clock *clock;
	int64_t time_ns = (int64_t)packet->time;

	if (!is_of_sequence(id))
		return place_on(file, id ? id : file->clocks.trace_clock, time_ns, ret_ns);
	clock = find_clock(sequence, id);
	if (!clock)
		return "no snapshot says what its clock is";
	time_ns = (int64_t)(packet->time * clock->unit_ns);
	if (clock->is_incremental)
		time_ns = clock->last_ns = (int64_t)((uint64_t)clock->last_ns + (uint64_t)time_ns);
	if (__builtin_sub_overflow(time_ns, clock->from.time_ns, &time_ns) ||
	    __builtin_add_overflow(time_ns, clock->to.time_ns, &time_ns))
		return "its time is out of range";
	return place_on(file, clock->to.clock, time_ns, ret_ns);
}
