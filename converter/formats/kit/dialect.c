/* SPDX-License-Identifier: Apache-2.0 */
#include "dialect.h"

#include <string.h>

#include "base/text/digits.h"

/* clang-format off */
static const struct {
	const char *name;
	enum import_dialect dialect;
} names[] = {
	{"flex", IMPORT_FLEX},
	{"torch", IMPORT_TORCH},
#define IMPORT_NAME(reader, dialect, text) {text, IMPORT_##dialect},
	IMPORT_FORMATS(IMPORT_NAME)
#undef IMPORT_NAME
};
/* clang-format on */

#define N_NAMES (sizeof(names) / sizeof(*names))

int dialect_of_name(const char *name, enum import_dialect *ret_dialect,
                    struct flextrace_error *error)
{
	char list[256] = "";

	*ret_dialect = IMPORT_BY_CONTENT;
	if (!name)
		return FLEXTRACE_OK;
	for (size_t i = 0; i < N_NAMES; i++) {
		if (strcmp(name, names[i].name) == 0) {
			*ret_dialect = names[i].dialect;
			return FLEXTRACE_OK;
		}
		strcat(strcat(list, i ? i + 1 < N_NAMES ? ", " : " or " : ""), names[i].name);
	}
	return error_set(error, FLEXTRACE_E_USAGE, "Option `as` takes %s: value=%s", list, name);
}

int dialect_check_ranks(const char *text, struct flextrace_error *error)
{
	const char *at = text, *end;
	uint64_t rank;

	while (at) {
		if (!digits_read(at, &end, &rank) || rank > INT32_MAX || (*end && *end != ','))
			return error_set(
				error, FLEXTRACE_E_USAGE,
				"Option `torch-ranks` takes ranks, apart by commas: value=%s",
				text);
		at = *end ? end + 1 : NULL;
	}
	return FLEXTRACE_OK;
}

int32_t dialect_next_rank(const char **text)
{
	const char *end;
	uint64_t rank;

	if (!*text || !digits_read(*text, &end, &rank))
		return -1;
	*text = *end ? end + 1 : NULL;
	return (int32_t)rank;
}
