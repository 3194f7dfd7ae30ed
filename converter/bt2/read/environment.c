/* SPDX-License-Identifier: Apache-2.0 */
#include "environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/digits.h"
#include "model/streams.h"

#define UUID_NAME   "flextrace_uuid"
#define UUID_DIGITS 32
#define LOST        "flextrace_lost_"
#define OF_DEVICE   "_of_device_"
#define INPUT       "flextrace_input_"
#define MAX_INPUTS  UINT32_C(1000000)

int environment_set_uuid(bt_trace *trace, const uint8_t uuid[16])
{
	char text[UUID_DIGITS + 1];

	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * (ptrdiff_t)i, 3, "%02x", uuid[i]);
	return bt_trace_set_environment_entry_string(trace, UUID_NAME, text) ? FLEXTRACE_E_MEMORY
	                                                                     : FLEXTRACE_OK;
}

int environment_set_losses(bt_trace *trace, const struct losses *losses)
{
	for (uint32_t i = 0; i < losses->n; i++) {
		const struct loss *loss = &losses->all[i];
		char name[96];
		int n = snprintf(name, sizeof(name), LOST "%s", ledger_cause_id(loss->cause));

		if (loss->place.device != FLEXTRACE_NONE)
			snprintf(name + n, sizeof(name) - (size_t)n, OF_DEVICE "%" PRIu32,
			         loss->place.device);
		if (bt_trace_set_environment_entry_integer(trace, name, (int64_t)loss->all.count))
			return FLEXTRACE_E_MEMORY;
	}
	return FLEXTRACE_OK;
}

static const bt_value *entry_of(const bt_trace *trace, const char *name)
{
	return bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
}

/* What two digits stand for; -1: they are none. */
static int byte_of(const char *digits)
{
	int high = hex_digit(digits[0]), low = high < 0 ? -1 : hex_digit(digits[1]);

	return low < 0 ? -1 : high << 4 | low;
}

static bool read_uuid(const char *text, uint8_t ret_uuid[16])
{
	if (strlen(text) != UUID_DIGITS)
		return false;
	for (int i = 0; i < 16; i++) {
		int byte = byte_of(text + 2 * (ptrdiff_t)i);

		if (byte < 0)
			return false;
		ret_uuid[i] = (uint8_t)byte;
	}
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

/* A cause, and perhaps a device. */
static bool read_name(const char *name, enum loss_cause *ret_cause, struct loss_place *ret_place)
{
	size_t n = sizeof(LOST) - 1, n_id;

	*ret_place = LOSS_NOWHERE;
	if (strncmp(name, LOST, n) != 0)
		return false;
	name += n;
	for (*ret_cause = 0; *ret_cause < LOSS_CAUSE_COUNT; ++*ret_cause) {
		n_id = strlen(ledger_cause_id(*ret_cause));
		if (strncmp(name, ledger_cause_id(*ret_cause), n_id) != 0)
			continue;
		if (!name[n_id])
			return true;
		if (sscanf(name + n_id, OF_DEVICE "%" SCNu32, &ret_place->device) == 1)
			return true;
	}
	return false;
}

int environment_get_losses(const bt_trace *trace, struct losses *losses)
{
	uint64_t n = bt_trace_get_environment_entry_count(trace);

	for (uint64_t i = 0; i < n; i++) {
		struct loss_span span = {INT64_MIN, INT64_MIN, 0};
		const bt_value *value;
		struct loss_place place;
		enum loss_cause cause;
		const char *name;

		bt_trace_borrow_environment_entry_by_index_const(trace, i, &name, &value);
		if (!read_name(name, &cause, &place) || !bt_value_is_signed_integer(value) ||
		    bt_value_integer_signed_get(value) <= 0)
			continue;
		span.count = (uint64_t)bt_value_integer_signed_get(value);
		FLEXTRACE_TRY(losses_add(losses, cause, &place, &span));
	}
	return FLEXTRACE_OK;
}

/* -- files ------------------------------------------------------------------------------------- */

static bool is_plain(unsigned char byte)
{
	return byte > 0x1f && byte < 0x7f && !strchr("\"\\%", byte);
}

/* Returns a text, owned; NULL: no memory. */
static char *escape(const char *text)
{
	char *escaped = malloc(3 * strlen(text) + 1), *at = escaped;

	for (; escaped && *text; text++)
		at += sprintf(at, is_plain((unsigned char)*text) ? "%c" : "%%%02x",
		              (unsigned char)*text);
	if (escaped)
		*at = '\0';
	return escaped;
}

static char *unescape(const char *text)
{
	char *plain = malloc(strlen(text) + 1), *at = plain;

	for (; plain && *text; at++) {
		int byte = *text == '%' ? byte_of(text + 1) : -1;

		*at = byte > 0 ? (char)byte : *text;
		text += byte > 0 ? 3 : 1;
	}
	if (plain)
		*at = '\0';
	return plain;
}

int environment_set_inputs(bt_trace *trace, const struct text_list *files)
{
	for (uint32_t i = 0; i < files->n; i++) {
		char *text = escape(files->texts[i]), name[64];
		int code = -1;

		snprintf(name, sizeof(name), INPUT "%" PRIu32, i);
		if (text)
			code = bt_trace_set_environment_entry_string(trace, name, text);
		free(text);
		if (code)
			return FLEXTRACE_E_MEMORY;
	}
	return FLEXTRACE_OK;
}

static int add_input(struct string_cache *strings, struct stream *stream, const char *escaped)
{
	char *text = unescape(escaped);
	int code = text ? stream_add_file(stream, strings, text) : FLEXTRACE_E_MEMORY;

	free(text);
	return code;
}

int environment_get_inputs(const bt_trace *trace, struct string_cache *strings,
                           struct stream *stream)
{
	for (uint32_t i = 0; i < MAX_INPUTS; i++) {
		const bt_value *value;
		char name[64];

		snprintf(name, sizeof(name), INPUT "%" PRIu32, i);
		value = entry_of(trace, name);
		if (!value || !bt_value_is_string(value))
			break;
		FLEXTRACE_TRY(add_input(strings, stream, bt_value_string_get(value)));
	}
	return FLEXTRACE_OK;
}
