/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include <string.h>

void ledger_init(struct ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
}

void ledger_release(struct ledger *ledger)
{
	losses_release(&ledger->losses);
	ledger_init(ledger);
}

int ledger_lose(struct ledger *ledger, enum loss_cause cause, const struct loss_place *place,
                uint64_t count, int64_t host_ns)
{
	const struct loss_span span = {host_ns, host_ns, count};

	return losses_add(&ledger->losses, cause, place, &span);
}

int ledger_discard(struct ledger *ledger, enum loss_cause cause, const struct loss_place *place,
                   const struct record *record)
{
	ledger->discarded[record->class][cause]++;
	return ledger_lose(ledger, cause, place, 1, (int64_t)record->clock_ns);
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
	return losses_merge(&to->losses, &from->losses, FLEXTRACE_NONE);
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
	return losses_total(&ledger->losses, cause);
}

uint64_t ledger_lost(const struct ledger *ledger)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < ledger->losses.n; i++)
		if (ledger_is_loss(ledger->losses.all[i].cause) &&
		    __builtin_add_overflow(lost, ledger->losses.all[i].all.count, &lost))
			return UINT64_MAX; /* as a trace may say that means harm */
	return lost;
}

/* -- the lists: a column each, in the order of its enumerators --------------------------------- */

#define LOST                             true
#define LEFT_OUT                         false
#define CAUSE_KIND(id, kind, name)       kind,
#define CAUSE_ID(id, kind, name)         name,
#define WARNING_ID(id, name, remedy)     name,
#define WARNING_REMEDY(id, name, remedy) remedy,
#define CLASS_NAME(id, event, ...)       #event,

static const bool cause_kinds[] = {FLEXTRACE_CAUSES(CAUSE_KIND)};
static const char *const cause_ids[] = {FLEXTRACE_CAUSES(CAUSE_ID)};
static const char *const warning_ids[] = {FLEXTRACE_WARNINGS(WARNING_ID)};
static const char *const warning_remedies[] = {FLEXTRACE_WARNINGS(WARNING_REMEDY)};
static const char *const class_names[] = {FLEXTRACE_RECORD_CLASSES(CLASS_NAME)};

bool ledger_is_loss(enum loss_cause cause)
{
	return cause_kinds[cause];
}

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
