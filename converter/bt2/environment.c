/* SPDX-License-Identifier: Apache-2.0 */
#include "bt2/environment.h"

#include <stdio.h>
#include <string.h>

#define UUID_NAME   "flextrace_uuid"
#define UUID_DIGITS 32

static void name_of(enum loss_cause cause, char *name, size_t n_bytes)
{
	snprintf(name, n_bytes, "flextrace_lost_%s", ledger_cause_id(cause));
}

int environment_set_uuid(bt_trace *trace, const uint8_t uuid[16])
{
	char text[UUID_DIGITS + 1];

	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * (ptrdiff_t)i, 3, "%02x", uuid[i]);
	return bt_trace_set_environment_entry_string(trace, UUID_NAME, text) ? FLEXTRACE_E_MEMORY
	                                                                     : FLEXTRACE_OK;
}

int environment_set_losses(bt_trace *trace, const struct ledger *ledger)
{
	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		uint64_t n = ledger_total(ledger, (enum loss_cause)cause);
		char name[64];

		name_of((enum loss_cause)cause, name, sizeof(name));
		if (n && bt_trace_set_environment_entry_integer(trace, name, (int64_t)n))
			return FLEXTRACE_E_MEMORY;
	}
	return FLEXTRACE_OK;
}

static const bt_value *entry_of(const bt_trace *trace, const char *name)
{
	return bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
}

static bool read_uuid(const char *text, uint8_t ret_uuid[16])
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(text) != UUID_DIGITS || strspn(text, digits) != UUID_DIGITS)
		return false;
	for (int i = 0; i < 16; i++)
		ret_uuid[i] = (uint8_t)((strchr(digits, text[2 * i]) - digits) << 4 |
		                        (strchr(digits, text[2 * i + 1]) - digits));
	return true;
}

void environment_get_uuid(const bt_trace *trace, uint8_t ret_uuid[16])
{
	const bt_value *own = entry_of(trace, UUID_NAME);
	bt_uuid uuid = bt_trace_get_uuid(trace);

	if (own && bt_value_is_string(own) && read_uuid(bt_value_string_get(own), ret_uuid))
		return;
	memset(ret_uuid, 0, 16);
	if (uuid)
		memcpy(ret_uuid, uuid, 16);
}

void environment_get_losses(const bt_trace *trace, uint64_t ret_lost[LOSS_CAUSE_COUNT])
{
	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		const bt_value *value;
		char name[64];

		name_of((enum loss_cause)cause, name, sizeof(name));
		value = entry_of(trace, name);
		ret_lost[cause] = 0;
		if (value && bt_value_is_signed_integer(value) &&
		    bt_value_integer_signed_get(value) > 0)
			ret_lost[cause] = (uint64_t)bt_value_integer_signed_get(value);
	}
}
