/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h: a list of texts that someone else has. */
#ifndef FLEXTRACE_TEST_TEXTS_H
#define FLEXTRACE_TEST_TEXTS_H

#include <stdint.h>

#include "base/text/text_list.h"

#define TEXTS(array, n_texts) ((struct text_list){(char **)(uintptr_t)(array), (n_texts), 0})

#endif
