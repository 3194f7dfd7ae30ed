/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text_file.h"

#define MAX_EXACT 9007199254740992.0 /* 2^53 */

static int refuse(const char *path, const char *reason, const char *what,
                  struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_USAGE, "Cannot use the profile: path=%s, reason=%s%s%s",
	                 path, reason, what ? ": " : "", what ? what : "");
}

/* -- which options the caller gave ---------------------------------------------------------- */

/* What a profile may say. Files are read by other options before one is looked at. */
static const struct option_spec *const tables[] = {conversion_option_table, aie_option_table, NULL};

/* Its bit; 0: an option of another table. */
static uint64_t bit_of(const struct option_spec *spec)
{
	uint64_t bit = 1;

	for (const struct option_spec *const *table = tables; *table; table++)
		for (const struct option_spec *at = *table; at->name; at++, bit <<= 1)
			if (at == spec)
				return bit;
	return 0;
}

void profile_note_given(const struct option_spec *spec, void *options)
{
	uint64_t bit = bit_of(spec);

	if (bit)
		((struct conversion_options *)options)->given |= bit;
}

/* -- values --------------------------------------------------------------------------------- */

static struct option_value value_of(const cJSON *item)
{
	double number = item->valuedouble;

	if (cJSON_IsBool(item))
		return OPTION_FLAG_VALUE(cJSON_IsTrue(item));
	if (cJSON_IsString(item))
		return OPTION_TEXT_VALUE(item->valuestring);
	if (!cJSON_IsNumber(item))
		return (struct option_value){GIVEN_OTHER, .flag = false};
	if (number == floor(number) && fabs(number) <= MAX_EXACT)
		return OPTION_NUMBER_VALUE((int64_t)number);
	return OPTION_REAL_VALUE(number);
}

static int set_value(const struct option_spec *spec, const cJSON *value,
                     struct conversion_options *options, struct flextrace_error *error)
{
	const cJSON *item;

	if (!cJSON_IsArray(value) || spec->type != OPTION_LIST)
		return option_set(spec, value_of(value), options, error);
	cJSON_ArrayForEach(item, value)
		FLEXTRACE_TRY(option_set(spec, value_of(item), options, error));
	return FLEXTRACE_OK;
}

/* Options that make no sense in there. */
static bool is_about_profiles(const struct option_spec *spec)
{
	return strcmp(spec->name, "profile") == 0 || strcmp(spec->name, "with") == 0 ||
	       strcmp(spec->name, "without") == 0;
}

static int take_derivations(const cJSON *derivations, struct conversion_options *options,
                            struct flextrace_error *error)
{
	static const struct option_spec spec = {
		.name = "derivations",
		.type = OPTION_LIST,
		.offset = offsetof(struct conversion_options, profile_off)};
	const cJSON *item;

	if (!cJSON_IsObject(derivations))
		return refuse(options->profile, "derivations is no object", NULL, error);
	cJSON_ArrayForEach(item, derivations)
	{
		if (!cJSON_IsBool(item))
			return refuse(options->profile, "a derivation is neither true nor false",
			              item->string, error);
		if (cJSON_IsFalse(item))
			FLEXTRACE_TRY(
				option_set(&spec, OPTION_TEXT_VALUE(item->string), options, error));
	}
	return FLEXTRACE_OK;
}

static int take_member(const cJSON *item, struct conversion_options *options,
                       struct flextrace_error *error)
{
	const struct option_spec *spec = option_find_any(tables, item->string);

	if (strcmp(item->string, "derivations") == 0)
		return take_derivations(item, options, error);
	if (!spec || is_about_profiles(spec))
		return refuse(options->profile, "there is no such option", item->string, error);
	return options->given & bit_of(spec) ? FLEXTRACE_OK : set_value(spec, item, options, error);
}

/* -- the file ------------------------------------------------------------------------------- */

int profile_read(struct conversion_options *options, struct flextrace_error *error)
{
	const cJSON *item;
	cJSON *root;
	char *text;

	if (!options->profile || options->profile_document)
		return FLEXTRACE_OK;
	text = text_file_read(options->profile);
	if (!text)
		return refuse(options->profile, strerror(errno), NULL, error);
	root = cJSON_ParseWithOpts(text, NULL, true);
	free(text);
	options->profile_document = root;
	if (!cJSON_IsObject(root))
		return refuse(options->profile, "it is no JSON object", NULL, error);
	cJSON_ArrayForEach(item, root) FLEXTRACE_TRY(take_member(item, options, error));
	return FLEXTRACE_OK;
}

void conversion_options_release(struct conversion_options *options)
{
	options_release(conversion_option_table, options);
	text_list_release(&options->profile_off);
	cJSON_Delete(options->profile_document);
	options->profile_document = NULL;
}
