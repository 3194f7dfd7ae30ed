/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h: a JSON file with options of a conversion, for those who give the same ones each time.
 *
 *	{"rho-ppm": 2, "drop": ["kind:^Prep$"], "gzip": true,
 *	 "derivations": {"loops": false, "flows": false}}
 *
 * - Members are options by their names, as the sink's parameters, those of AIE, too: numbers,
 *   texts, true and false, lists of texts. `derivations` switches what is derived off (and on, as
 *   is the default).
 * - It says only what differs from the defaults. What the caller gave goes before it.
 */
#ifndef FLEXTRACE_PROFILE_H
#define FLEXTRACE_PROFILE_H

#include "options.h"

/* Notes that the caller gave an option of conversion_option_table or aie_option_table, `options`
 * being its values; nothing for options of other tables. */
void profile_note_given(const struct option_spec *spec, void *options);

/* Sets what the profile says (options->profile; NULL = none) and the caller did not give. The texts
 * live in options->profile_document. FLEXTRACE_E_USAGE: it cannot be read, or has an option that
 * there is not or whose value is wrong. */
int profile_read(struct conversion_options *options, struct flextrace_error *error);

/* Frees lists and profile. */
void conversion_options_release(struct conversion_options *options);

#endif
