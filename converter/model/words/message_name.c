/* SPDX-License-Identifier: Apache-2.0 */
#include "message_name.h"

#include <ctype.h>
#include <string.h>

#define SYNC "[sync="

static enum message_role role_of(const char *name, const char *bracket, uint32_t *ret_n_head)
{
	static const struct {
		const char *head;
		enum message_role role;
	} heads[] = {{"SenRdmaSend", MESSAGE_SEND},       {"SenRdmaReceive", MESSAGE_RECEIVE},
	             {"SenRdmaRecv", MESSAGE_RECEIVE},    {"SenRDMASend", MESSAGE_SEND},
	             {"SenRDMAReceive", MESSAGE_RECEIVE}, {"SenRDMARecv", MESSAGE_RECEIVE}};
	const char *dash = strstr(name, " - ");

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		*ret_n_head = (uint32_t)strlen(heads[i].head);
		if (strncmp(name, heads[i].head, *ret_n_head) != 0)
			continue;
		if (heads[i].role == MESSAGE_SEND && dash && dash < bracket)
			return MESSAGE_PART;
		return heads[i].role;
	}
	return MESSAGE_NONE;
}

/* Steps back over the last "_TAG..." before `*end`; false: that is none. */
static bool cut_field(const char *sync, const char **end, const char *tag, const char **ret_value)
{
	const char *at = *end;

	while (at > sync && at[-1] != '_')
		at--;
	if (at == sync || strncmp(at, tag, strlen(tag)) != 0)
		return false;
	*ret_value = at + strlen(tag);
	*end = at - 1;
	return true;
}

/* Reads digits up to the next field. */
static uint32_t read_step(const char *digits)
{
	uint32_t step = 0;

	if (!isdigit((unsigned char)*digits))
		return MESSAGE_NO_STEP;
	for (; isdigit((unsigned char)*digits) && step < 100000000; digits++)
		step = 10 * step + (uint32_t)(*digits - '0');
	return *digits == '_' ? step : MESSAGE_NO_STEP;
}

static void read_sync(struct message_name *message)
{
	const char *end = message->sync + message->n_sync, *number, *to, *step;

	message->step = MESSAGE_NO_STEP;
	if (!cut_field(message->sync, &end, "", &number) ||
	    !cut_field(message->sync, &end, "r", &to))
		return;
	message->is_multicast = strncmp(to, "0x", 2) == 0;
	if (cut_field(message->sync, &end, "s", &step))
		message->step = read_step(step);
}

enum message_role message_name_read(const char *name, struct message_name *ret)
{
	const char *bracket = strstr(name, SYNC), *end = bracket ? strchr(bracket, ']') : NULL;
	struct message_name message = {.sync = NULL};

	if (!end)
		return MESSAGE_NONE;
	message.sync = bracket + strlen(SYNC);
	message.n_sync = (uint32_t)(end - message.sync);
	message.role = (uint8_t)role_of(name, bracket, &message.n_head);
	if (message.role == MESSAGE_NONE || message.n_sync == 0)
		return MESSAGE_NONE;
	message.n_sequence = message.n_head + (uint32_t)strcspn(name + message.n_head, " [");
	read_sync(&message);
	*ret = message;
	return (enum message_role)message.role;
}
