/* SPDX-License-Identifier: Apache-2.0 */
/* What macros.c measures of C++. */
#ifndef BENCH_MACROS_HPP_H
#define BENCH_MACROS_HPP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void hpp_turns(uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
