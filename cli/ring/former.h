/* SPDX-License-Identifier: Apache-2.0 */
/*
 * former.h: what stood in a sub-buffer a round before: the packet that LTTng's consumer wrote into
 * the trace since.
 */
#ifndef FLEXTRACE_FORMER_H
#define FLEXTRACE_FORMER_H

#include <stdint.h>

/* The beginning of a packet of LTTng's; its bytes are in the order of this machine. */
struct packet_header {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t begin_ns, end_ns, content_bits, packet_bits, number, n_discarded;
	uint32_t cpu_id;
} __attribute__((packed));
#define CTF_MAGIC UINT32_C(0xC1FC1FC1)

/* Finds the packet of this number, of the same stream, in the files of this name below `dir`. NULL:
 * it is not there. Release with free(). */
unsigned char *former_read(const char *dir, const char *name, const struct packet_header *like,
                           uint64_t number, uint64_t *ret_n_bytes);

#endif
