/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion_facts.h: what run.json says of options and inputs, as texts: "freq=1000:560".
 *
 * Options that change nothing in the output, as a limit on memory, are not told. Zeros are an empty
 * list. All functions return FLEXTRACE_E_MEMORY or 0; release in any case.
 */
#ifndef FLEXTRACE_CONVERSION_FACTS_H
#define FLEXTRACE_CONVERSION_FACTS_H

#include "model/streams.h"
#include "options.h"
#include "base/text/strings.h"

struct facts {
	char **texts; /* owned, each owned */
	uint32_t n, n_allocated;
};

/* Options that are set, those with a default always. */
int facts_of_options(const struct conversion_options *options, struct facts *facts);

/* As inputs.h numbers them. */
int facts_of_inputs(const struct stream_set *set, const struct string_pool *strings,
                    struct facts *facts);

void facts_release(struct facts *facts);

#endif
