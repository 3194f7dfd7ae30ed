/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLEX_CHECKS_H
#define FLEX_CHECKS_H

#include "flex_fixture.h"

/* Fails unless all that a conversion wrote is what its formats allow, as checkers see it that share
 * nothing with the writers. Returns trace.json; owned. */
char *flex_check_files(const struct flex_run *run);

#endif
