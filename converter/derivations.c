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

/* -- which are off, and which are asked for ------------------------------------------------- */

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

static int set_one(struct derivations *derivations, const char *text, enum derivation_state state,
                   struct flextrace_error *error)
{
	for (const char *at = text; at;) {
		size_t length = strcspn(at, ",");
		int i = find(at, length);

		if (i < 0)
			return refuse(at, length, error);
		derivations->states[i] = (uint8_t)state;
		at = at[length] ? at + length + 1 : NULL;
	}
	return FLEXTRACE_OK;
}

static int set_all(struct derivations *derivations, const struct text_list *names,
                   enum derivation_state state, struct flextrace_error *error)
{
	for (uint32_t i = 0; i < names->n; i++)
		FLEXTRACE_TRY(set_one(derivations, names->texts[i], state, error));
	return FLEXTRACE_OK;
}

int derivations_read(struct derivations *derivations, const struct conversion_options *options,
                     struct flextrace_error *error)
{
	*derivations = (struct derivations){.states = {DERIVATION_USUAL}};
	FLEXTRACE_TRY(set_all(derivations, &options->profile_off, DERIVATION_OFF, error));
	FLEXTRACE_TRY(set_all(derivations, &options->with, DERIVATION_ASKED, error));
	if (options->summarize_comm)
		FLEXTRACE_TRY(set_one(derivations, "messages", DERIVATION_ASKED, error));
	return set_all(derivations, &options->without, DERIVATION_OFF, error);
}

enum derivation_state derivation_state(const struct derivations *derivations, const char *name)
{
	int i = derivations ? find(name, strlen(name)) : -1;

	return i >= 0 ? (enum derivation_state)derivations->states[i] : DERIVATION_USUAL;
}
