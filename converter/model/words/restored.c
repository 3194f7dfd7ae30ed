/* SPDX-License-Identifier: Apache-2.0 */
#include "restored.h"

#include <string.h>

#include "base/text/digits.h"

#define MARK        "\x01restored"
#define STATUS_MARK "\x01status "

/* All of it is 64-bit numbers, which stand in the text one after the other. */
enum { N_NUMBERS = sizeof(struct restored) / sizeof(uint64_t) };

void restored_write(const struct restored *restored, struct writer *text)
{
	uint64_t numbers[N_NUMBERS];

	memcpy(numbers, restored, sizeof(numbers));
	writer_raw(text, MARK);
	for (int i = 0; i < N_NUMBERS; i++) {
		writer_char(text, ' ');
		writer_u64(text, numbers[i]);
	}
	writer_char(text, ';');
}

bool restored_read(const char *text, struct restored *ret_restored, const char **ret_type)
{
	uint64_t numbers[N_NUMBERS];

	if (strncmp(text, MARK, strlen(MARK)) != 0)
		return false;
	text += strlen(MARK);
	for (int i = 0; i < N_NUMBERS; i++) {
		if (*text++ != ' ' || !digits_take(&text, UINT64_MAX, &numbers[i]))
			return false;
	}
	memcpy(ret_restored, numbers, sizeof(numbers));
	*ret_type = text + 1;
	return *text == ';' && ret_restored->n_rows <= MAX_RESTORED_ROWS;
}

void restored_write_status(uint64_t status, struct writer *text)
{
	writer_raw(text, STATUS_MARK);
	writer_u64(text, status);
	writer_char(text, ';');
}

bool restored_read_status(const char *text, uint64_t *ret_status, const char **ret_rest)
{
	if (strncmp(text, STATUS_MARK, strlen(STATUS_MARK)) != 0)
		return false;
	text += strlen(STATUS_MARK);
	if (!digits_take(&text, UINT64_MAX, ret_status))
		return false;
	*ret_rest = text + 1;
	return *text == ';';
}
