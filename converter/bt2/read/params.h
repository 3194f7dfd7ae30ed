/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.h: initialization parameters of a component -> values of option tables.
 *
 * Booleans set switches, integers of either sign (3, +3) and reals set numbers, strings set texts,
 * strings and arrays of strings set lists. Texts stay weak in `params`: keep a reference while the
 * values are used.
 */
#ifndef FLEXTRACE_BT2_PARAMS_H
#define FLEXTRACE_BT2_PARAMS_H

#include <babeltrace2/babeltrace.h>

#include "options.h"

/* What a component takes. */
struct params_known {
	const char *own;                         /* a parameter that it reads itself; NULL: none */
	const struct option_spec *const *tables; /* ended by NULL */
};

/* FLEXTRACE_E_USAGE: a parameter is unknown, or of a wrong type or range. */
int params_read(const bt_value *params, const struct params_known *known,
                struct conversion_options *options, struct flextrace_error *error);

#endif
