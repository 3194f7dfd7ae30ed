/* SPDX-License-Identifier: Apache-2.0 */
#include "conversion_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derivations.h"
#include "model/ledger/inputs.h"

/* What is off in the end, whoever said so. */
static int describe_derivations(const struct conversion_options *options, struct text_list *out)
{
	struct derivations derivations;
	struct text_list off = {0};
	const char *name;
	char *text;
	int code = FLEXTRACE_OK;

	if (derivations_read(&derivations, options, NULL) < 0)
		return FLEXTRACE_OK;
	for (uint32_t i = 0; (name = derivation_name(i)) && code >= 0; i++)
		if (derivations.states[i] == DERIVATION_OFF)
			code = text_list_add(&off, "%s", name);
	text = code < 0 || !off.n ? NULL : option_join(&off);
	if (off.n && code >= 0)
		code = text ? text_list_add(out, "without=%s", text) : FLEXTRACE_E_MEMORY;
	free(text);
	text_list_release(&off);
	return code;
}

static int describe(const struct option_spec *spec, const struct conversion_options *options,
                    struct text_list *out)
{
	const struct conversion_options defaults = CONVERSION_OPTIONS_INIT;
	char *text, *initial;
	int code;

	if (spec->is_untold)
		return FLEXTRACE_OK;
	text = option_text(spec, options);
	initial = option_text(spec, &defaults);
	code = text && initial ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	if (code == FLEXTRACE_OK && (spec->is_always_told || strcmp(text, initial) != 0))
		code = text_list_add(out, "%s=%s", spec->name, text);
	free(text);
	free(initial);
	return code;
}

int describe_options(const struct conversion_options *options, struct text_list *out)
{
	static const struct option_spec *const tables[] = {
		conversion_option_table, import_option_table, aie_import_option_table,
		aie_option_table};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct option_spec *spec = tables[i]; spec->name; spec++)
			FLEXTRACE_TRY(describe(spec, options, out));
	return describe_derivations(options, out);
}

int describe_inputs(const struct stream_set *set, const struct string_pool *strings,
                    struct text_list *out)
{
	struct inputs inputs;
	int code = inputs_init(&inputs, set, strings);

	for (uint32_t i = 0; i < inputs.n && code == 0; i++)
		code = text_list_add(out, "%s", inputs.texts[i]);
	inputs_release(&inputs);
	return code;
}
