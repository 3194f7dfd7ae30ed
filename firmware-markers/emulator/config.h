/* SPDX-License-Identifier: Apache-2.0 */
/* config.h: what emulated devices of either kind take: their configuration and control blocks. */
#ifndef EMULATOR_CONFIG_H
#define EMULATOR_CONFIG_H

#include <flextrace/emulator.h>

/* Fills in defaults; -EINVAL: no device has these sizes. */
int config_fill(struct flextrace_emulator_config *config, uint32_t max_cores);

int config_is_power_of_two(uint32_t value);

/* Of the counter of a core, or of all. */
struct flextrace_emulator_clock config_clock(const struct flextrace_emulator_config *config,
                                             uint32_t core);

/* Whether a job multiplies, adds or sums up. */
int job_has_operands(const struct flextrace_emulator_job *job);

/* -EINVAL: it lacks something, or does not fit into the local memory. */
int job_check(const struct flextrace_emulator_job *job,
              const struct flextrace_emulator_config *config);

#endif
