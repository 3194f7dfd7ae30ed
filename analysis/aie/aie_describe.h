/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aie_describe.h: cores and their run as JSON documents, owned by the caller. Where there is no
 * memory they are spoilt, see base/text/json_item.h, or NULL.
 */
#ifndef FLEXTRACE_ANALYSIS_AIE_DESCRIBE_H
#define FLEXTRACE_ANALYSIS_AIE_DESCRIBE_H

#include <cjson/cJSON.h>

#include "aie.h"

extern const char *const aie_phase_names[]; /* by enum aie_phase */

/* Of one core: its file. */
cJSON *aie_describe_core(const struct aie_run *run, const struct aie_core *core);

/* In what the core's iterations are not those that a user expects, as a sentence; false: in
 * nothing. */
#define AIE_NOTE_BYTES 160
bool aie_note(const struct aie_run *run, const struct aie_core *core, char note[AIE_NOTE_BYTES]);

/* Of all: aggregate_perf.json. */
cJSON *aie_describe_aggregate(const struct aie_run *run);

/* Iterations that count on all cores; none where `begin` is not before `end`. */
struct aie_common {
	uint32_t begin, end;
};

struct aie_common aie_common(const struct aie_run *run);

/* What an iteration multiplies and adds on one core; NAN: not known. */
double aie_macs_of_core(const struct aie_run *run);

/* Adds a number; what is not finite is null. */
void aie_add_number(cJSON *object, const char *key, double value);

/* Adds an option; `unsaid` is what it is where nobody said it: null. */
void aie_add_option(cJSON *object, const char *key, int64_t value, int64_t unsaid);

#endif
