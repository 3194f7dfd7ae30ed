/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex.h: the events of Flex's JSON -> records, by the one reader of events.
 *
 * - A pid that is a small number is a rank, whatever file it stands in, and has one stream: one
 *   file of all ranks and a file of each give the same events. Of other pids only the text is
 *   known.
 * - "AIU Roundtrip" bounds the times of control blocks, see round_trips.c.
 */
#ifndef FLEXTRACE_IMPORT_FLEX_H
#define FLEXTRACE_IMPORT_FLEX_H

#include "formats/chrome-json/event_reader.h"

extern const struct event_reader flex_events;

#endif
