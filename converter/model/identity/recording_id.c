/* SPDX-License-Identifier: Apache-2.0 */
#include "recording_id.h"

#include <ctype.h>
#include <string.h>

#define PREFIX "flextrace-"
#define DIGITS "-00000000-000000-" /* date, time; then the pid */

/* Whether a text is of digits where the pattern has some. */
static bool matches(const char *text, const char *pattern)
{
	for (; *pattern; pattern++, text++)
		if (*pattern == '0' ? !isdigit((unsigned char)*text) : *text != *pattern)
			return false;
	return true;
}

enum recording_scope recording_scope_of(const char *id)
{
	static const struct {
		const char *label;
		enum recording_scope scope;
	} labels[] = {{RECORDING_LABEL_START, RECORDING_OF_RUNNING},
	              {RECORDING_LABEL_RUNNING, RECORDING_OF_RUNNING},
	              {RECORDING_LABEL_PROCESS, RECORDING_OF_PROCESS}};
	const char *label = id + sizeof(PREFIX) - 1, *pid;
	size_t n;

	if (strncmp(id, PREFIX, sizeof(PREFIX) - 1) != 0)
		return RECORDING_OF_OTHERS;
	n = strcspn(label, "-");
	if (!n || !matches(label + n, DIGITS))
		return RECORDING_OF_OTHERS;
	pid = label + n + sizeof(DIGITS) - 1;
	if (!*pid || pid[strspn(pid, "0123456789")])
		return RECORDING_OF_OTHERS;
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (n == strlen(labels[i].label) && strncmp(label, labels[i].label, n) == 0)
			return labels[i].scope;
	return RECORDING_OF_COMMAND;
}

bool recording_excludes(const char *id, const char *claimed)
{
	switch (recording_scope_of(id)) {
	case RECORDING_OF_COMMAND:
		return strcmp(id, claimed) != 0;
	case RECORDING_OF_RUNNING:
		return *claimed && strcmp(id, claimed) != 0;
	default:
		return false;
	}
}
