/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.h: sizes in bytes as people type them: 65536, 64K, 512m, 2G. */
#ifndef FLEXTRACE_SIZES_H
#define FLEXTRACE_SIZES_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a whole number and, behind it, K, M, G or T of either case for powers of 1024. False, with
 * nothing stored: it is none, something follows it, or it is beyond INT64_MAX. */
bool size_parse(const char *text, uint64_t *ret_bytes);

#endif
