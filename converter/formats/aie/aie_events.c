/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units, slots and spans -> events of the tracer. A span is a device_op with the low bits of its
 * cycles as stamps and, as nobody saw a host's clock, a host_estimate: its cycles at the rate that
 * the user says, from when the timer of the array was 0.
 */
#include <string.h>

#include "model/identity/identity.h"
#include "aie_impl.h"

#define NS_PER_S      1000000000u
#define VPID          1
#define OTHER_QUEUES  4096u /* of slots whose thread id another one has */
#define OTHER_DEVICES (1u << 20)

/* -- losses ---------------------------------------------------------------------------------- */

int aie_lose_of(struct aie *aie, uint32_t unit, enum loss_cause cause)
{
	struct loss_place place = LOSS_NOWHERE;

	place.device = aie->units[unit].device;
	return ledger_lose(&aie->import.ledger, cause, &place, 1, INT64_MIN);
}

/* -- units and slots ------------------------------------------------------------------------- */

/* Those of a number that another one has get the next of others. */
static int take_device(struct aie *aie, uint32_t device, uint32_t *ret_device)
{
	while (map_find(&aie->device_index, device, 0) != MAP_NONE)
		device = OTHER_DEVICES + aie->n_other_devices++;
	*ret_device = device;
	return map_put(&aie->device_index, device, 0, device);
}

int aie_find_unit(struct aie *aie, uint64_t id, uint32_t number, uint32_t *ret_unit)
{
	int code = MAP_PLACE(&aie->unit_index, id, aie->n_files, aie->units, aie->n_units,
	                     ret_unit);

	if (code <= 0)
		return code;
	return take_device(aie, number == FLEXTRACE_NONE ? *ret_unit : number,
	                   &aie->units[*ret_unit].device);
}

/* Today's name, and those that older parsers wrote. */
static const struct {
	const char *name;
	enum aie_role role;
} roles[] = {
	{"INSTR_EVENT_0", AIE_KERNEL_START}, {"Event0", AIE_KERNEL_START},
	{"Event 0", AIE_KERNEL_START},       {"KernelStarts", AIE_KERNEL_START},
	{"INSTR_EVENT_1", AIE_KERNEL_END},   {"Event1", AIE_KERNEL_END},
	{"Event 1", AIE_KERNEL_END},         {"KernelDone", AIE_KERNEL_END},
};

static enum aie_role role_of(const char *name)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		if (strcmp(name, roles[i].name) == 0)
			return roles[i].role;
	}
	return AIE_LEVEL;
}

/* The thread id, unless another slot of the unit has it. */
static int take_queue(struct aie *aie, uint32_t unit, uint32_t slot, uint32_t tid,
                      uint32_t *ret_queue)
{
	bool is_free = tid < OTHER_QUEUES && map_find(&aie->queue_index, unit, tid) == MAP_NONE;

	*ret_queue = is_free ? tid : OTHER_QUEUES + slot;
	return map_put(&aie->queue_index, unit, *ret_queue, tid);
}

int aie_find_slot(struct aie *aie, uint32_t unit, uint32_t tid, uint32_t name, uint32_t *ret_slot)
{
	struct aie_unit *of = &aie->units[unit];
	struct aie_slot *slot;
	int code = MAP_PLACE(&aie->slot_index, (uint64_t)unit << 32 | tid, name, of->slots,
	                     of->n_slots, ret_slot);

	if (code <= 0)
		return code;
	slot = &of->slots[*ret_slot];
	slot->name = name;
	slot->role = role_of(string_get(aie->import.strings, name));
	return take_queue(aie, unit, *ret_slot, tid, &slot->queue);
}

/* -- spans ----------------------------------------------------------------------------------- */

/* 0 would be a time that nobody knows. */
static uint64_t ns_of(const struct aie *aie, const struct aie_unit *unit, uint64_t cycle)
{
	unsigned __int128 cycles = (unsigned __int128)unit->origin + cycle;
	unsigned __int128 ns = (cycles * NS_PER_S + aie->clock_hz / 2) / aie->clock_hz;

	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns ? (uint64_t)ns : 1;
}

/* 0 would be a stamp that was not taken: cycle 0 becomes 1. */
static uint32_t stamp_of(uint64_t cycle)
{
	return (uint32_t)cycle ? (uint32_t)cycle : 1;
}

static void fill_op(const struct aie *aie, const struct aie_span *span, struct event *event)
{
	const struct aie_unit *unit = &aie->units[span->unit];
	bool is_kernel = span->kind == AIE_KERNEL;
	struct flextrace_device_op op = {
		.device = unit->device,
		.queue = span->queue,
		.job = unit->n_jobs,
		.kind = is_kernel ? FLEXTRACE_DEVICE_PARTS(FLEXTRACE_PART_EXEC)
	                          : FLEXTRACE_DEVICE_STATE,
		.name = string_get(aie->import.strings, span->name),
		.type = span->is_open ? "open" : "",
		.group = "",
		.peer = -1,
	};

	op.ts[is_kernel ? 2 : 0] = stamp_of(span->begin);
	op.ts[is_kernel ? 3 : 4] = stamp_of(span->end);
	event->payload.device_op = op;
}

int aie_write_span(struct aie *aie, const struct aie_span *span)
{
	struct aie_unit *unit = &aie->units[span->unit];
	struct event event = {
		.class = RECORD_DEVICE_OP,
		.clock_ns = ns_of(aie, unit, span->end),
		.vpid = VPID,
		.vtid = -1,
		.n_origins = 1,
		.origins[0] = span->origin,
	};
	const struct import_placed placed = {(int64_t)ns_of(aie, unit, span->begin),
	                                     (int64_t)event.clock_ns, FLEXTRACE_ESTIMATE_WHOLE,
	                                     "AIE cycles"};

	unit->n_jobs++;
	fill_op(aie, span, &event);
	return import_write_placed(&aie->import, 0, &event, &placed);
}

/* -- definitions ----------------------------------------------------------------------------- */

static int define(struct aie *aie, enum record_class class, const void *payload)
{
	return import_define(&aie->import, 0, VPID, class, payload);
}

static int define_process(struct aie *aie)
{
	const char *path = string_get(aie->import.strings, aie->path), *slash = strrchr(path, '/');
	const struct flextrace_process process = {
		.rank = FLEXTRACE_RANK_UNKNOWN,
		.pid = VPID,
		.boot_id = IDENTITY_AIE_FILE,
		.host = IMPORT_HOST,
		.program = slash ? slash + 1 : path,
		.runtime = "AIE",
		.dialect = "neutral",
		.session = path, /* as a run is told apart by where it lies */
	};

	return define(aie, RECORD_PROCESS, &process);
}

static int define_slots(struct aie *aie, const struct aie_unit *unit)
{
	for (uint32_t i = 0; i < unit->n_slots; i++) {
		const struct flextrace_name name = {
			.device = unit->device,
			.id = unit->slots[i].queue,
			.name = string_get(aie->import.strings, unit->slots[i].name),
		};

		FLEXTRACE_TRY(define(aie, RECORD_QUEUE_NAME, &name));
	}
	return FLEXTRACE_OK;
}

static int define_unit(struct aie *aie, const struct aie_unit *unit)
{
	const struct flextrace_device device = {
		.device = unit->device,
		.name = string_get(aie->import.strings, unit->name),
		.n_cores = 1,
		.core_hz = aie->clock_hz,
	};
	const struct flextrace_clock_domain domain = {
		.device = unit->device,
		.counter_bits = 32,
		.nominal_hz = aie->clock_hz,
	};

	FLEXTRACE_TRY(define(aie, RECORD_DEVICE, &device));
	FLEXTRACE_TRY(define(aie, RECORD_CLOCK_DOMAIN, &domain));
	return define_slots(aie, unit);
}

int aie_define(struct aie *aie)
{
	FLEXTRACE_TRY(define_process(aie));
	for (uint32_t i = 0; i < aie->n_units; i++)
		FLEXTRACE_TRY(define_unit(aie, &aie->units[i]));
	return FLEXTRACE_OK;
}
