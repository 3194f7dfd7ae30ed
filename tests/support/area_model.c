/* SPDX-License-Identifier: Apache-2.0 */
#include "area_model.h"

#include <string.h>

#define MAX_TOLD_APART 32u /* zones from the oldest dropped one on, it included */

/* One marker while it is worked out. */
struct work {
	struct area_model *model;
	const struct model_sight *sight;
	uint32_t block_ticks;
	uint32_t n_looks, n_waits;
	int has_waited_policy;
	uint32_t waited_policy;
};

static uint32_t policy_now(struct work *work)
{
	if (work->has_waited_policy)
		return work->sight->has_changed_again ? work->sight->policy[1]
		                                      : work->waited_policy;
	return work->sight->policy[work->n_looks++ >= work->sight->n_before_change];
}

static int32_t room(const struct area_model *model)
{
	return (int32_t)(model->known_limit - model->head - model->n_kept);
}

/* Until the host moves the limit or wants another policy; 0: it did neither in time. */
static int wait_for_host(struct work *work)
{
	struct area_model *model = work->model;

	if (model->is_alone && model->alone_limit == model->known_limit)
		return 0;
	while (work->n_waits < work->sight->n_waits) {
		uint32_t i = work->n_waits++;

		if (work->sight->wait_limit[i] == model->known_limit &&
		    work->sight->wait_policy[i] == MODEL_BLOCK)
			continue;
		model->is_alone = 0;
		model->known_limit = work->sight->wait_limit[i];
		work->has_waited_policy = 1;
		work->waited_policy = work->sight->wait_policy[i];
		return 1;
	}
	model->has_dropped_without_waiting = work->sight->waited_ticks < work->block_ticks;
	model->is_alone = 1;
	model->alone_limit = model->known_limit;
	return 0;
}

static int has_room(struct work *work, uint32_t n)
{
	struct area_model *model = work->model;

	if (model->n_kept + n > model->capacity)
		return 0;
	work->has_waited_policy &= !work->sight->has_changed_again;
	while (room(model) < (int32_t)n) {
		uint32_t policy = policy_now(work);

		if (policy == MODEL_OVERWRITE)
			model->known_limit = model->head + model->capacity;
		else if (policy != MODEL_BLOCK || !wait_for_host(work))
			return 0;
	}
	return 1;
}

static void put(struct area_model *model, enum model_op kind)
{
	model->kinds[model->n_records++] = (uint8_t)kind;
	model->head++;
}

static void put_run(struct work *work)
{
	work->model->has_run_to_write = !has_room(work, 1);
	if (!work->model->has_run_to_write)
		put(work->model, MODEL_RUN);
}

/* Open zones from the oldest dropped one on. */
static uint32_t n_told_apart(const struct area_model *model)
{
	const uint8_t *dropped = memchr(model->is_recorded, 0, model->n_zones);

	return dropped ? model->n_zones - (uint32_t)(dropped - model->is_recorded) : 0;
}

static void start_run(struct work *work)
{
	struct area_model *model = work->model;

	model->dropped += (uint32_t)model->has_run_to_write;
	model->run++;
	model->n_late += model->n_kept;
	model->n_kept = 0;
	model->n_zones = 0;
	put_run(work);
}

static void begin_zone(struct work *work)
{
	struct area_model *model = work->model;
	int is_recorded = n_told_apart(model) < MAX_TOLD_APART && has_room(work, 2);

	model->is_recorded[model->n_zones++] = (uint8_t)is_recorded;
	if (!is_recorded) {
		model->dropped++;
		return;
	}
	put(model, MODEL_BEGIN);
	model->n_kept++;
}

static void end_zone(struct work *work)
{
	struct area_model *model = work->model;
	int may_write = 0;

	if (model->n_zones) {
		may_write = model->is_recorded[--model->n_zones];
		model->n_kept -= (uint32_t)may_write;
	} else if (model->n_late) {
		model->n_late--;
		may_write = has_room(work, 1);
	}
	if (may_write)
		put(model, MODEL_END);
	else
		model->dropped++;
}

static void put_plain(struct work *work, enum model_op op)
{
	struct area_model *model = work->model;
	uint32_t n = op == MODEL_VALUE ? 2 : 1;

	if (!has_room(work, n)) {
		model->dropped += n;
		return;
	}
	put(model, op);
	if (op == MODEL_VALUE)
		put(model, MODEL_DATA);
}

/* Whether the host's words are not looked at. */
static int is_fast(const struct area_model *model, enum model_op op)
{
	if (model->has_run_to_write || n_told_apart(model) || op == MODEL_RUN)
		return 0;
	if (op == MODEL_END)
		return model->n_kept > 0;
	return room(model) >= (op == MODEL_MARK ? 1 : 2);
}

void area_model_boot(struct area_model *model, uint32_t capacity, uint32_t count)
{
	*model = (struct area_model){
		.capacity = capacity, .head = count, .known_limit = count + capacity};
}

void area_model_mark(struct area_model *model, enum model_op op, const struct model_sight *sight,
                     uint32_t block_ticks)
{
	struct work work = {.model = model, .sight = sight, .block_ticks = block_ticks};

	model->n_records = 0;
	model->n_waits = 0;
	model->has_dropped_without_waiting = 0;
	if (op == MODEL_STAMP || op == MODEL_FW_END)
		return;
	if (!is_fast(model, op))
		model->known_limit = sight->limit;
	if (op == MODEL_RUN) {
		start_run(&work);
	} else {
		if (model->has_run_to_write)
			put_run(&work);
		if (op == MODEL_BEGIN)
			begin_zone(&work);
		else if (op == MODEL_END)
			end_zone(&work);
		else
			put_plain(&work, op);
	}
	model->n_waits = work.n_waits;
	if (room(model) < 0) /* a host that takes room back takes none that is promised */
		model->known_limit = model->head + model->n_kept;
}
