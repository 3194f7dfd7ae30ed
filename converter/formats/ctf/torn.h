/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torn.h: the mark in a packet that a program tore: it died while it wrote a record. `flextrace
 * record` takes that out of the packet, and what stands behind it where that cannot be read, and
 * puts this right behind the content, in the byte order of the packet.
 */
#ifndef FLEXTRACE_TORN_H
#define FLEXTRACE_TORN_H

#include <stdint.h>

#define TORN_MAGIC UINT32_C(0x4E524F54)

struct torn_mark {
	uint32_t magic;
	uint64_t n_bytes; /* that were taken out */
} __attribute__((packed));

#endif
