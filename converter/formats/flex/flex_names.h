/* SPDX-License-Identifier: Apache-2.0 */
/* flex_names.h: what Flex calls its work on the host. */
#ifndef FLEXTRACE_IMPORT_FLEX_NAMES_H
#define FLEXTRACE_IMPORT_FLEX_NAMES_H

#include <stdint.h>

/* enum flextrace_runtime_kind */
uint8_t flex_runtime_kind(const char *name);

#endif
