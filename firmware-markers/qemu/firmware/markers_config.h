/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markers_config.h: how the firmware on QEMU sets its markers up (config.h). All cores run one
 * image, so each core's tp points to its marker area. The mailbox is the page before it.
 *
 * With QEMU_PLAIN_CLOCK the counter is the port's own, as on real hardware: nothing is scaled and
 * there is no ground truth.
 */
#ifndef QEMU_MARKERS_CONFIG_H
#define QEMU_MARKERS_CONFIG_H

#include <stdint.h>

#define FLEXTRACE_AREA()      ((struct flextrace_wire_area *)__builtin_thread_pointer())
#define FLEXTRACE_PORT_WAIT() core_idle()

void core_idle(void);
uint64_t core_clock(void); /* scaled, as the mailbox says */

#ifndef QEMU_PLAIN_CLOCK
#define FLEXTRACE_CLOCK_LO()          ((uint32_t)core_clock())
#define FLEXTRACE_CLOCK_HI()          ((uint32_t)(core_clock() >> 32))
#define FLEXTRACE_PORT_NOTE(kind, id) core_note(kind, id)

void core_note(uint32_t kind, uint32_t id);
#endif

#endif
