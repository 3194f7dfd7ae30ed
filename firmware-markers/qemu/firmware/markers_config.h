/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markers_config.h: how the firmware on QEMU sets its markers up (config.h). All cores run one
 * image, so each core's tp points to its marker area. The mailbox is the page before it. The
 * counter is scaled, as the mailbox says, and each stamp that is taken leaves its truth.
 */
#ifndef QEMU_MARKERS_CONFIG_H
#define QEMU_MARKERS_CONFIG_H

#include <stdint.h>

#define FLEXTRACE_AREA()              ((struct flextrace_wire_area *)__builtin_thread_pointer())
#define FLEXTRACE_CLOCK_LO()          ((uint32_t)core_clock())
#define FLEXTRACE_CLOCK_HI()          ((uint32_t)(core_clock() >> 32))
#define FLEXTRACE_PORT_WAIT()         core_idle()
#define FLEXTRACE_PORT_NOTE(kind, id) core_note(kind, id)

uint64_t core_clock(void);
void core_idle(void);
void core_note(uint32_t kind, uint32_t id);

#endif
