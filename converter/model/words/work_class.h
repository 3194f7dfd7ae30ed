/* SPDX-License-Identifier: Apache-2.0 */
/* work_class.h: what the kind and the name of device work, or of a host call, say it is for. */
#ifndef FLEXTRACE_WORK_CLASS_H
#define FLEXTRACE_WORK_CLASS_H

#include <stdbool.h>
#include <stdint.h>

enum work_class { WORK_COMPUTE, WORK_COMMUNICATION, WORK_MEMORY, WORK_PREPARE, WORK_CLASS_COUNT };

/* "compute", "communication", "memory", "prepare". */
const char *work_class_name(uint8_t class);

/* Of a kind below ROW_STATE, whatever its name. */
enum work_class work_class_of_kind(uint8_t row_kind);

/* Whether a kernel's name is a collective's. */
bool work_names_collective(const char *name);

/* Whether a call waits for devices, as its kind or its name says. */
bool call_waits(uint8_t kind, const char *name);

#endif
