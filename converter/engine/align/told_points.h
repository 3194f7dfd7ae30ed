/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told_points.h: kernels that files call collectives -> evidence for the alignment of their hosts.
 */
#ifndef FLEXTRACE_ALIGN_TOLD_POINTS_H
#define FLEXTRACE_ALIGN_TOLD_POINTS_H

#include "messages.h"

/* Appends to `points` (struct sync_point) a part in a collective for each kernel whose file tells
 * its number in its group (`Seq`). The file places such kernels, by means that are its own: all
 * points are assumed. Nothing where there is one clock only. FLEXTRACE_E_MEMORY or 0. */
int told_points_find(const struct messages_input *input, struct table *points);

#endif
