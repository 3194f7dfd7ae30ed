/* SPDX-License-Identifier: Apache-2.0 */
/* area_words.h: the words of a marker area as numbers, whatever the order of bytes of the host. */
#ifndef AREA_WORDS_H
#define AREA_WORDS_H

#include <flextrace/port.h>

#define GET(word)        FLEXTRACE_PORT_LOAD(word)
#define SET(word, value) FLEXTRACE_PORT_STORE(word, value)

#endif
