/* SPDX-License-Identifier: Apache-2.0 */
/* area_text.h: a dumped marker area as text for reading. */
#ifndef FLEXTRACE_AREA_TEXT_H
#define FLEXTRACE_AREA_TEXT_H

#include <stdio.h>

#include "formats/marker-area/area_file.h"
#include "report/marker_names.h"

/* Prints header, runs and ring records. FLEXTRACE_E_INPUT: its file cannot be read any more. */
int area_text_print(const struct dumped_area *area, const struct marker_names *names, FILE *to,
                    struct flextrace_error *error);

#endif
