/* SPDX-License-Identifier: Apache-2.0 */
/* my_markers.h */
#define FLEXTRACE_AREA()       ((struct flextrace_wire_area *)0x00100000) /* of the calling core */
#define FLEXTRACE_CLOCK_LO()   (*(volatile uint32_t *)0xffb121f0)
#define FLEXTRACE_CLOCK_HI()   (*(volatile uint32_t *)0xffb121f8)
#define FLEXTRACE_COUNTER_BITS 64
