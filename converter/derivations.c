/* SPDX-License-Identifier: Apache-2.0 */
#include "derivations.h"

#include <string.h>

#include "analysis/analysis.h"
#include "findings/counters/counters.h"

/* What is no table and no counter. */
static const char *const others[] = {"flows", "report"};
#define N_OTHERS (sizeof(others) / sizeof(others[0]))

const char *derivation_name(uint32_t i)
{
	uint32_t n = 0;

	for (const struct analysis *const *at = analysis_all; *at && (*at)->name; at++) {
		bool is_second = at != analysis_all && strcmp(at[-1]->name, at[0]->name) == 0;

		if (!is_second && n++ == i)
			return (*at)->name;
	}
	if (i - n < N_OTHERS)
		return others[i - n];
	i -= n + (uint32_t)N_OTHERS;
	return i < COMPUTED_COUNTER_COUNT ? computed_counter_name(i) : NULL;
}

bool derivation_is_on_demand(uint32_t i)
{
	const char *name = derivation_name(i);

	for (const struct analysis *const *at = analysis_all; *at && (*at)->name; at++) {
		if (strcmp((*at)->name, name) == 0)
			return (*at)->is_on_demand;
	}
	return false;
}

/* -- which are off -------------------------------------------------------------------------- */

static int find(const char *name, size_t length)
{
	const char *known;

	for (uint32_t i = 0; i < MAX_DERIVATIONS && (known = derivation_name(i)); i++) {
		if (strlen(known) == length && memcmp(known, name, length) == 0)
			return (int)i;
	}
	return -1;
}

static int refuse(const char *name, size_t length, struct flextrace_error *error)
{
	int code = error_set(error, FLEXTRACE_E_USAGE, "Unknown derivation: name=%.*s, known=",
	                     (int)(length < 64 ? length : 64), name);
	const char *known;

	for (uint32_t i = 0; (known = derivation_name(i)); i++)
		error_list(error, known);
	return code;
}

static int set_one(struct derivations *derivations, const char *text, bool is_off,
                   struct flextrace_error *error)
{
	for (const char *at = text; at;) {
		size_t length = strcspn(at, ",");
		int i = find(at, length);

		if (i < 0)
			return refuse(at, length, error);
		derivations->is_off[i] = is_off;
		at = at[length] ? at + length + 1 : NULL;
	}
	return FLEXTRACE_OK;
}

static int set_all(struct derivations *derivations, const struct text_list *names, bool is_off,
                   struct flextrace_error *error)
{
	for (uint32_t i = 0; i < names->n; i++)
		FLEXTRACE_TRY(set_one(derivations, names->texts[i], is_off, error));
	return FLEXTRACE_OK;
}

int derivations_read(struct derivations *derivations, const struct conversion_options *options,
                     struct flextrace_error *error)
{
	*derivations = (struct derivations){.is_off = {false}};
	for (uint32_t i = 0; derivation_name(i); i++)
		derivations->is_off[i] = derivation_is_on_demand(i);
	FLEXTRACE_TRY(set_all(derivations, &options->profile_off, true, error));
	FLEXTRACE_TRY(set_all(derivations, &options->with, false, error));
	if (options->summarize_comm)
		FLEXTRACE_TRY(set_one(derivations, "messages", false, error));
	return set_all(derivations, &options->without, true, error);
}

bool derivation_is_off(const struct derivations *derivations, const char *name)
{
	int i = find(name, strlen(name));

	return i >= 0 && derivations->is_off[i];
}
