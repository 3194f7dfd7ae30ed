/* SPDX-License-Identifier: Apache-2.0 */
/* Who and what: the definitions of a device log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/identity/identity.h"
#include "tt_impl.h"

#define MAX_PROCESSORS 64u
#define PROGRAM        "tt-metal"

int tt_find_processor(struct tt *tt, const char *name, uint32_t *ret_processor)
{
	uint32_t string;

	FLEXTRACE_TRY(string_intern(&tt->import.cache, name, &string));
	*ret_processor = map_find(&tt->processor_index, string, 0);
	if (*ret_processor != MAP_NONE || tt->n_processors == MAX_PROCESSORS)
		return FLEXTRACE_OK;
	*ret_processor = tt->n_processors;
	FLEXTRACE_TRY(ARRAY_PUSH(tt->processors, tt->n_processors, string));
	return map_put(&tt->processor_index, string, 0, *ret_processor);
}

int tt_know_processors(struct tt *tt)
{
	static const char *const known[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
	uint32_t processor;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		FLEXTRACE_TRY(tt_find_processor(tt, known[i], &processor));
	return FLEXTRACE_OK;
}

static int join_processors(struct tt *tt)
{
	tt->processor_names = strdup("");
	for (uint32_t i = 0; i < tt->n_processors && tt->processor_names; i++) {
		char *before = tt->processor_names;

		if (asprintf(&tt->processor_names, "%s%s%s", before, i ? "," : "",
		             string_get(tt->import.strings, tt->processors[i])) < 0)
			tt->processor_names = NULL;
		free(before);
	}
	return tt->processor_names ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

static int define_process(struct tt *tt)
{
	const struct flextrace_process process = {
		.rank = FLEXTRACE_RANK_UNKNOWN,
		.boot_id = IDENTITY_TT_METAL_FILE,
		.host = IMPORT_HOST,
		.program = PROGRAM,
		.runtime = PROGRAM,
		.dialect = "tt-metal",
	};

	return import_define(&tt->import, 0, 0, RECORD_PROCESS, &process);
}

static int define_marker(struct tt *tt, const struct tt_device *device, uint32_t i)
{
	const struct tt_marker *marker = &tt->markers[i];
	const struct flextrace_name name = {
		.device = device->slot,
		.id = i + 1,
		.name = string_get(tt->import.strings, marker->name),
		.file = string_get(tt->import.strings, marker->file),
		.line = marker->line,
	};

	return import_define(&tt->import, 0, 0, RECORD_MARKER_NAME, &name);
}

/* With its clock and its markers. */
static int define_device(struct tt *tt, const struct tt_device *of)
{
	const struct flextrace_device device = {
		.device = of->slot,
		.n_cores = of->n_cores,
		.core_hz = of->hz,
		.name = of->arch,
		.processors = tt->processor_names,
	};
	const struct flextrace_clock_domain domain = {
		.device = of->slot,
		.counter_bits = of->is_wide ? 64 : TT_COUNTER_BITS,
		.nominal_hz = of->hz,
	};

	FLEXTRACE_TRY(import_define(&tt->import, 0, 0, RECORD_DEVICE, &device));
	FLEXTRACE_TRY(import_define(&tt->import, 0, 0, RECORD_CLOCK_DOMAIN, &domain));
	for (uint32_t i = 0; i < tt->n_markers; i++)
		FLEXTRACE_TRY(define_marker(tt, of, i));
	return FLEXTRACE_OK;
}

int tt_define(struct tt *tt)
{
	FLEXTRACE_TRY(join_processors(tt));
	FLEXTRACE_TRY(define_process(tt));
	for (uint32_t i = 0; i < tt->n_devices; i++)
		FLEXTRACE_TRY(define_device(tt, &tt->devices[i]));
	return FLEXTRACE_OK;
}
