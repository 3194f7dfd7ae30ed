/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

#define FREE_SLOT UINT32_MAX

void ledger_init(struct ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
}

void ledger_release(struct ledger *ledger)
{
	free(ledger->losses);
	free(ledger->slots);
	ledger_init(ledger);
}

/* -- losses ------------------------------------------------------------------------------------ */

/* Found through a hash table: a hostile trace may have as many places as records. */

static uint64_t hash_loss(enum loss_cause cause, const struct loss_place *place)
{
	uint64_t hash = (uint64_t)cause << 32 | place->process;

	hash = (hash ^ (hash >> 29)) * 0xff51afd7ed558ccdu;
	hash = (hash ^ (hash >> 32) ^ ((uint64_t)place->device << 32 | place->core)) *
	       0xc4ceb9fe1a85ec53u;
	hash = (hash ^ (hash >> 32) ^ place->stream) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 32);
}

static bool is_same_place(const struct loss_place *a, const struct loss_place *b)
{
	return a->process == b->process && a->device == b->device && a->core == b->core &&
	       a->stream == b->stream;
}

static uint32_t *find_slot(const struct ledger *ledger, enum loss_cause cause,
                           const struct loss_place *place)
{
	uint32_t mask = ledger->n_slots - 1;
	uint32_t i = (uint32_t)hash_loss(cause, place) & mask;

	for (;; i = (i + 1) & mask) {
		const struct loss *loss;

		if (ledger->slots[i] == FREE_SLOT)
			return &ledger->slots[i];
		loss = &ledger->losses[ledger->slots[i]];
		if (loss->cause == cause && is_same_place(&loss->place, place))
			return &ledger->slots[i];
	}
}

static void fill_slots(struct ledger *ledger)
{
	for (uint32_t i = 0; i < ledger->n_slots; i++)
		ledger->slots[i] = FREE_SLOT;
	for (uint32_t i = 0; i < ledger->n_losses; i++)
		*find_slot(ledger, ledger->losses[i].cause, &ledger->losses[i].place) = i;
}

static int grow(struct ledger *ledger)
{
	uint32_t n = ledger->n_allocated ? 2 * ledger->n_allocated : 16;
	struct loss *losses;
	uint32_t *slots;

	if (ledger->n_allocated > UINT32_MAX / 8)
		return FLEXTRACE_E_MEMORY;
	losses = realloc(ledger->losses, n * sizeof(*losses));
	if (!losses)
		return FLEXTRACE_E_MEMORY;
	ledger->losses = losses;
	slots = realloc(ledger->slots, 2 * (size_t)n * sizeof(*slots));
	if (!slots)
		return FLEXTRACE_E_MEMORY;
	ledger->slots = slots;
	ledger->n_slots = 2 * n;
	ledger->n_allocated = n;
	fill_slots(ledger);
	return FLEXTRACE_OK;
}

static int add_loss(struct ledger *ledger, const struct loss *added)
{
	struct loss *loss;
	uint32_t *slot;

	if (ledger->n_losses == ledger->n_allocated)
		FLEXTRACE_TRY(grow(ledger));
	slot = find_slot(ledger, added->cause, &added->place);
	if (*slot == FREE_SLOT) {
		*slot = ledger->n_losses++;
		ledger->losses[*slot] = *added;
		return FLEXTRACE_OK;
	}
	loss = &ledger->losses[*slot];
	loss->count += added->count;
	if (added->first_host_ns == INT64_MIN)
		return FLEXTRACE_OK;
	if (loss->first_host_ns == INT64_MIN || added->first_host_ns < loss->first_host_ns)
		loss->first_host_ns = added->first_host_ns;
	if (added->last_host_ns > loss->last_host_ns)
		loss->last_host_ns = added->last_host_ns;
	return FLEXTRACE_OK;
}

int ledger_lose(struct ledger *ledger, enum loss_cause cause, const struct loss_place *place,
                uint64_t count, int64_t host_ns)
{
	const struct loss loss = {cause, *place, count, host_ns, host_ns};

	return count ? add_loss(ledger, &loss) : FLEXTRACE_OK;
}

int ledger_discard(struct ledger *ledger, enum loss_cause cause, const struct loss_place *place,
                   const struct record *record)
{
	ledger->discarded[record->class][cause]++;
	return ledger_lose(ledger, cause, place, 1, (int64_t)record->clock_ns);
}

static int compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_losses(const void *left, const void *right)
{
	const struct loss *a = left, *b = right;
	int order = (int)a->cause - (int)b->cause;

	if (!order)
		order = compare_u32(a->place.process, b->place.process);
	if (!order)
		order = compare_u32(a->place.device, b->place.device);
	if (!order)
		order = compare_u32(a->place.core, b->place.core);
	if (!order)
		order = compare_u32(a->place.stream, b->place.stream);
	return order;
}

void ledger_sort(struct ledger *ledger)
{
	if (!ledger->n_losses)
		return;
	qsort(ledger->losses, ledger->n_losses, sizeof(*ledger->losses), compare_losses);
	fill_slots(ledger);
}

/* -- the books --------------------------------------------------------------------------------- */

int ledger_add(struct ledger *to, const struct ledger *from)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		to->read[class] += from->read[class];
		to->rows[class] += from->rows[class];
		to->evidence[class] += from->evidence[class];
		for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
			to->discarded[class][cause] += from->discarded[class][cause];
	}
	to->foreign_events += from->foreign_events;
	for (int warning = 0; warning < WARNING_COUNT; warning++)
		to->warnings[warning] += from->warnings[warning];
	for (uint32_t i = 0; i < from->n_losses; i++)
		FLEXTRACE_TRY(add_loss(to, &from->losses[i]));
	return FLEXTRACE_OK;
}

int ledger_check(const struct ledger *ledger)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		uint64_t booked = ledger->rows[class] + ledger->evidence[class];

		for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
			booked += ledger->discarded[class][cause];
		if (booked != ledger->read[class])
			return class + 1;
	}
	return 0;
}

uint64_t ledger_total(const struct ledger *ledger, enum loss_cause cause)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < ledger->n_losses; i++)
		if (ledger->losses[i].cause == cause)
			total += ledger->losses[i].count;
	return total;
}

bool ledger_is_loss(enum loss_cause cause)
{
	return cause != LOSS_FOREIGN_EVENT && cause != LOSS_FOREIGN_PROCESS &&
	       cause != LOSS_FILTERED && cause != LOSS_DUPLICATE && cause != LOSS_UNUSED;
}

uint64_t ledger_lost(const struct ledger *ledger)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < ledger->n_losses; i++)
		if (ledger_is_loss(ledger->losses[i].cause))
			lost += ledger->losses[i].count;
	return lost;
}

/* -- names: a column of a list each, in the order of its enumerators --------------------------- */

#define CAUSE_ID(id, name)               name,
#define WARNING_ID(id, name, remedy)     name,
#define WARNING_REMEDY(id, name, remedy) remedy,
#define CLASS_NAME(id, event, ...)       #event,

static const char *const cause_ids[] = {FLEXTRACE_CAUSES(CAUSE_ID)};
static const char *const warning_ids[] = {FLEXTRACE_WARNINGS(WARNING_ID)};
static const char *const warning_remedies[] = {FLEXTRACE_WARNINGS(WARNING_REMEDY)};
static const char *const class_names[] = {FLEXTRACE_RECORD_CLASSES(CLASS_NAME)};

const char *ledger_cause_id(enum loss_cause cause)
{
	return cause_ids[cause];
}

const char *ledger_warning_id(enum warning warning)
{
	return warning_ids[warning];
}

const char *ledger_warning_remedy(enum warning warning)
{
	return warning_remedies[warning];
}

const char *record_class_name(enum record_class class)
{
	return class_names[class];
}
