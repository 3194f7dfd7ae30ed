/* SPDX-License-Identifier: Apache-2.0 */
#include "conversion_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derivations.h"
#include "model/ledger/inputs.h"

/* One text for all texts of a list, because run.json has one value per option. */
static int describe_list(const char *option, const struct option_list *list, struct text_list *out)
{
	char *text = NULL;
	size_t size;
	FILE *stream;
	int code;

	if (!list->n)
		return 0;
	stream = open_memstream(&text, &size);
	if (!stream)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < list->n; i++)
		fprintf(stream, "%s%s", i ? "," : "", list->texts[i]);
	code = fclose(stream) == 0 ? text_list_add(out, "%s=%s", option, text) : FLEXTRACE_E_MEMORY;
	free(text);
	return code;
}

/* What is off in the end, whoever said so. */
static int describe_derivations(const struct conversion_options *options, struct text_list *out)
{
	struct derivations derivations;
	const char *off[MAX_DERIVATIONS];
	struct option_list list = {off, 0};
	const char *name;

	if (derivations_read(&derivations, options, NULL) < 0)
		return FLEXTRACE_OK;
	for (uint32_t i = 0; (name = derivation_name(i)); i++) {
		if (derivations.is_off[i] && !derivation_is_on_demand(i))
			off[list.n++] = name;
	}
	return describe_list("without", &list, out);
}

/* Options that change nothing in the files, and what is told otherwise. */
static bool is_told(const struct option_spec *spec)
{
	static const char *const others[] = {"output-dir", "profile", "with", "without"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (strcmp(spec->name, others[i]) == 0)
			return false;
	}
	return true;
}

/* Of an option that has its default only what `is_always` says. */
static int describe_option(const struct option_spec *spec, const void *values, const void *defaults,
                           bool is_always, struct text_list *out)
{
	const void *value = (const char *)values + spec->offset;
	const void *unsaid = (const char *)defaults + spec->offset;
	const char *text;
	double real;
	int64_t number;

	switch (spec->type) {
	case OPTION_FLAG:
		if (!*(const bool *)value && !is_always)
			return FLEXTRACE_OK;
		return text_list_add(out, "%s=%s", spec->name, *(const bool *)value ? "yes" : "no");
	case OPTION_TEXT:
		text = *(const char *const *)value;
		return text ? text_list_add(out, "%s=%s", spec->name, text) : FLEXTRACE_OK;
	case OPTION_LIST:
		return describe_list(spec->name, value, out);
	case OPTION_NUMBER:
		number = *(const int64_t *)value;
		if (number == *(const int64_t *)unsaid)
			return FLEXTRACE_OK;
		return text_list_add(out, "%s=%" PRId64, spec->name, number);
	case OPTION_REAL:
		real = *(const double *)value;
		if (real == *(const double *)unsaid && !is_always)
			return FLEXTRACE_OK;
		return text_list_add(out, "%s=%g", spec->name, real);
	default: /* of how it runs */
		return FLEXTRACE_OK;
	}
}

static int describe_table(const struct option_spec *table, const void *values, const void *defaults,
                          struct text_list *out)
{
	for (; table->name; table++) {
		bool is_always = strcmp(table->name, "gzip") == 0 ||
		                 strcmp(table->name, "rho-ppm") == 0;

		if (is_told(table))
			FLEXTRACE_TRY(describe_option(table, values, defaults, is_always, out));
	}
	return FLEXTRACE_OK;
}

int describe_options(const struct conversion_options *options, struct text_list *out)
{
	static const struct conversion_options unsaid = CONVERSION_OPTIONS_INIT;

	FLEXTRACE_TRY(describe_table(conversion_option_table, options, &unsaid, out));
	FLEXTRACE_TRY(describe_derivations(options, out));
	FLEXTRACE_TRY(describe_table(import_option_table, options, &unsaid, out));
	return describe_table(aie_option_table, &options->plain.aie, &unsaid.plain.aie, out);
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
