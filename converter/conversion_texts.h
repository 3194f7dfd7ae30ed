/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion_texts.h: what run.json says of options and inputs, as texts: "freq=1000:560".
 *
 * Options that change nothing in the output, as a limit on memory, are not told. Zeros are an empty
 * list. All functions return FLEXTRACE_E_MEMORY or 0; release in any case.
 */
#ifndef FLEXTRACE_CONVERSION_TEXTS_H
#define FLEXTRACE_CONVERSION_TEXTS_H

#include "model/streams.h"
#include "options.h"
#include "base/text/text_list.h"

/* Options whose values are not their defaults, and a few in any case. */
int describe_options(const struct conversion_options *options, struct text_list *out);

/* As inputs.h numbers them. */
int describe_inputs(const struct stream_set *set, const struct string_pool *strings,
                    struct text_list *out);

#endif
