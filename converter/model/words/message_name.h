/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_name.h: what the name of a control block says of a message between the devices of ranks:
 *
 *   SenRdmaSend_82227 [sync=AllReduce_all_reduce_4_s0_r1_0]               sends to one rank
 *   SenRdmaSend_82233 - Xseg to rank 0 [sync=AllReduce_all_reduce_4_s3_r0x7_6]    prepares that
 *   SenRdmaSend_82233 Data [sync=AllReduce_all_reduce_4_s3_r0x7_6]        sends to ranks 0, 1, 2
 *   SenRdmaReceive_82229 [524288B] [sync=AllReduce_all_reduce_4_s3_r0x7_6]        receives
 *
 * The text behind "sync=" is `GROUP_sSTEP_rTO_NUMBER`, TO a rank or, with "0x", a mask of ranks. It
 * is the same for all parts of a message. Where it has another form it still pairs them.
 */
#ifndef FLEXTRACE_MESSAGE_NAME_H
#define FLEXTRACE_MESSAGE_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* Ordered by what they say of a message: a part of sending is less than the sending itself. */
enum message_role { MESSAGE_NONE, MESSAGE_PART, MESSAGE_SEND, MESSAGE_RECEIVE };

#define MESSAGE_NO_STEP UINT32_MAX

struct message_name {
	const char *sync;    /* weak: in the name, not ended */
	uint32_t n_sync;     /* bytes */
	uint32_t n_head;     /* bytes of the name before the number of the message: "SenRdmaSend" */
	uint32_t n_sequence; /* bytes up to what follows that number: "SenRdmaSend_82233" */
	uint32_t step;       /* MESSAGE_NO_STEP: not told */
	bool is_multicast;
	uint8_t role; /* enum message_role */
};

/* Returns the role: MESSAGE_NONE leaves `ret` alone. */
enum message_role message_name_read(const char *name, struct message_name *ret);

#endif
