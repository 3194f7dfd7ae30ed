/* SPDX-License-Identifier: Apache-2.0 */
/* asked.h: what --with asks for. */
#ifndef FLEXTRACE_TESTS_ASKED_H
#define FLEXTRACE_TESTS_ASKED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "derivations.h"

/* Of `names`, apart by commas. */
static inline struct derivations asked_for(char *names)
{
	struct conversion_options options = CONVERSION_OPTIONS_INIT;
	struct derivations derivations;

	options.with = (struct text_list){.texts = &names, .n = 1};
	assert_int_equal(derivations_read(&derivations, &options, NULL), 0);
	return derivations;
}

#endif
