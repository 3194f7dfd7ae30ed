/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_samples.h: an event of any class with a different value in every field, in range where a
 * range exists.
 */
#ifndef FLEXTRACE_TESTS_EVENT_SAMPLES_H
#define FLEXTRACE_TESTS_EVENT_SAMPLES_H

#include "model/model.h"

/* Fills `ret_event`; `seed` varies the values. Strings are static, words valid until the next
 * call. */
void event_sample(enum record_class class, uint32_t seed, uint64_t clock_ns,
                  struct event *ret_event);

#endif
