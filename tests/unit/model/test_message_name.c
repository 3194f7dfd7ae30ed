/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/words/message_name.h"

struct expected {
	const char *name, *sync, *sequence;
	uint32_t step;
	enum message_role role;
	bool is_multicast;
};

static void test_message_name__tells_what_a_control_block_does(void **state)
{
	static const struct expected cases[] = {
		{"SenRdmaSend_82227 [sync=AllReduce_all_reduce_4_s0_r1_0]",
	         "AllReduce_all_reduce_4_s0_r1_0", "SenRdmaSend_82227", 0, MESSAGE_SEND, false},
		{"SenRdmaReceive_82229 [524288B] [sync=AllReduce_all_reduce_4_s3_r0x7_6]",
	         "AllReduce_all_reduce_4_s3_r0x7_6", "SenRdmaReceive_82229", 3, MESSAGE_RECEIVE,
	         true},
		{"SenRdmaSend_8 - Set BcList [sync=g_s3_r0x7_6]", "g_s3_r0x7_6", "SenRdmaSend_8", 3,
	         MESSAGE_PART, true},
		{"SenRdmaSend_8 - Xseg to rank 0 [sync=g_s3_r0x7_6]", "g_s3_r0x7_6",
	         "SenRdmaSend_8", 3, MESSAGE_PART, true},
		{"SenRdmaSend_8 Data [sync=g_s3_r0x7_6]", "g_s3_r0x7_6", "SenRdmaSend_8", 3,
	         MESSAGE_SEND, true},
		{"SenRDMARecv_1 [sync=g_s12_r10_0]", "g_s12_r10_0", "SenRDMARecv_1", 12,
	         MESSAGE_RECEIVE, false},
		{"SenRdmaSend[sync=a - b]", "a - b", "SenRdmaSend", MESSAGE_NO_STEP, MESSAGE_SEND,
	         false},
		{"SenRdmaSend_1 [sync=_s1_r1_0]", "_s1_r1_0", "SenRdmaSend_1", 1, MESSAGE_SEND,
	         false},
		{"SenRdmaSend_1 [sync=g_sx_r1_0]", "g_sx_r1_0", "SenRdmaSend_1", MESSAGE_NO_STEP,
	         MESSAGE_SEND, false},
		{"SenRdmaSend_1 [sync=g_s99999999999_r1_0]", "g_s99999999999_r1_0", "SenRdmaSend_1",
	         MESSAGE_NO_STEP, MESSAGE_SEND, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct expected *expected = &cases[i];
		struct message_name message;

		assert_int_equal(message_name_read(expected->name, &message), expected->role);
		assert_int_equal(message.role, expected->role);
		assert_int_equal(message.n_sync, strlen(expected->sync));
		assert_memory_equal(message.sync, expected->sync, message.n_sync);
		assert_int_equal(message.n_sequence, strlen(expected->sequence));
		assert_memory_equal(expected->name, expected->sequence, message.n_sequence);
		assert_int_equal(message.step, expected->step);
		assert_int_equal(message.is_multicast, expected->is_multicast);
	}
}

static void test_message_name__leaves_other_names_alone(void **state)
{
	static const char *const names[] = {"",
	                                    "add_11",
	                                    "SenRdmaSend_1",
	                                    "SenRdmaSend_1 [sync=",
	                                    "SenRdmaSend_1 [sync=]",
	                                    "SenRdmaSend_1 [sync=g_s0_r1_0",
	                                    "[sync=g_s0_r1_0]",
	                                    "Barrier [sync=g_s0_r1_0]",
	                                    "xSenRdmaSend_1 [sync=g_s0_r1_0]"};
	struct message_name message = {.n_sync = 77};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(message_name_read(names[i], &message), MESSAGE_NONE);
	assert_int_equal(message.n_sync, 77);
}

/* Every beginning of a name, in memory of its own, so that a read behind its end is seen. */
static void test_message_name__survives_any_cut(void **state)
{
	static const char name[] = "SenRdmaSend_8 - Set BcList [sync=g_s3_r0x7_6] rest";

	(void)state;
	for (size_t n = 0; n < sizeof(name); n++) {
		char *cut = strndup(name, n);
		struct message_name message;

		assert_non_null(cut);
		assert_int_equal(message_name_read(cut, &message),
		                 strchr(cut, ']') ? MESSAGE_PART : MESSAGE_NONE);
		free(cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message_name__tells_what_a_control_block_does),
		cmocka_unit_test(test_message_name__leaves_other_names_alone),
		cmocka_unit_test(test_message_name__survives_any_cut),
	};

	return cmocka_run_group_tests_name("message_name", tests, NULL, NULL);
}
