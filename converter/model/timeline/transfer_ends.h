/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_ends.h: which control blocks send and receive the same message, by their names
 * (message_name.h).
 *
 * Made by converter/findings/transfers.c, read by emit and analysis as const.
 */
#ifndef FLEXTRACE_TRANSFER_ENDS_H
#define FLEXTRACE_TRANSFER_ENDS_H

#include "model/words/message_name.h"
#include "model/model.h"

struct transfer_end { /* one control block's part */
	int64_t start_time_ns, end_time_ns;
	uint32_t source; /* index of struct tick_op */
	uint32_t track;
	uint32_t sync, sequence; /* strings: of the message; "SenRdmaSend_82233" */
	uint32_t send;           /* receives: place of the sending; FLEXTRACE_NONE = not found */
	uint32_t step;           /* MESSAGE_NO_STEP: not told */
	uint32_t err_ns;
	uint8_t role;   /* enum message_role, never MESSAGE_NONE */
	uint8_t status; /* enum time_status */
	bool is_multicast;
	uint8_t unused;
};

struct transfers {
	struct transfer_end *ends; /* owned, in output order */
	uint32_t n_ends;
};

#endif
