/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis_fixture.h"
#include "model/timeline/event_class.h"

struct class_case {
	const char *name, *group, *class;
	uint64_t bytes;
	uint8_t kind;
};

/* Rows at 1000 of a device whose kernels start at 0 and at 2000. */
static const struct class_case cases[] = {
	{"k", "", "COMPUTE_PREP", 0, ROW_PREP},
	{"k", "", "COMPUTE_EXEC", 0, ROW_EXEC},
	{"k", "", "DATA_IN", 0, ROW_DMA_IN},
	{"k", "", "DATA_OUT", 128, ROW_DMA_OUT},
	{"k", "", "OTHER", 0, ROW_MEMSET},
	{"c", "", "MAIU_PROTOCOL_RECV_DATA", 4096, ROW_MEMCPY_HTOD},
	{"c", "", "MAIU_PROTOCOL_SEND_DATA", 4096, ROW_MEMCPY_DTOH},
	{"c", "", "MAIU_PROTOCOL_SIGNAL_ACK", 128, ROW_MEMCPY_HTOD},
	{"c", "", "MAIU_PROTOCOL_SIGNAL_DATA", 128, ROW_MEMCPY_DTOH},
	{"Cleanup Host DMA Wait for ACK", "", "MAIU_HDMA_PROTOCOL_WAIT_ACK", 0, ROW_MEMCPY_HTOD},
	{"AllReduce_4_Add_1", "g", "COMPUTE_EXEC", 0, ROW_EXEC},
	{"SenRdmaSend_1 [sync=a]", "g", "MAIU_P2PRDMA_PROTOCOL_SEND_DATA", 9, ROW_MEMCPY_DTOH},
	{"SenRdmaReceive_1 [sync=a]", "g", "MAIU_P2PRDMA_PROTOCOL_RECV_DATA", 9, ROW_MEMCPY_HTOD},
	{"SenRdmaSend_1 - Set BcList [sync=a]", "g", "MAIU_PROTOCOL_SERIAL", 0, ROW_MEMCPY_DTOH},
	{"SenRdmaSend_1 - Xseg to rank 0", "g", "MAIU_PROTOCOL_SERIAL", 0, ROW_MEMCPY_DTOH},
	{"DLM Wait", "g", "MAIU_HDMA_PROTOCOL_WAIT_DATA", 0, ROW_MEMCPY_PTOP},
	{"Host DMA x", "g", "MAIU_HDMA_PROTOCOL_RECV_DATA", 0, ROW_MEMCPY_HTOD},
	{"Host DMA x", "g", "MAIU_HDMA_PROTOCOL_SEND_DATA", 0, ROW_MEMCPY_DTOH},
	{"Host DMA Wdone", "g", "MAIU_HDMA_PROTOCOL_WAIT_DATA", 0, ROW_MEMCPY_HTOD},
	{"Host DMA Wait for Notice (gather notifications)", "g", "MAIU_HDMA_PROTOCOL_WAIT_DATA", 0,
         ROW_MEMCPY_PTOP},
	{"Host DMA Wait for Notice", "g", "MAIU_HDMA_PROTOCOL_MONITOR_NOTICE", 0, ROW_MEMCPY_PTOP},
	{"HCOLL Signal", "g", "MAIU_HDMA_PROTOCOL_SIGNAL_DATA", 0, ROW_MEMCPY_PTOP},
	{"HCOLL R5 Send ACK", "g", "MAIU_HDMA_PROTOCOL_SIGNAL_ACK", 0, ROW_MEMCPY_PTOP},
	{"HCOLL R5 Wait ACK", "g", "MAIU_HDMA_PROTOCOL_WAIT_ACK", 0, ROW_MEMCPY_PTOP},
	{"HCOLL R5 Wait DATA", "g", "MAIU_HDMA_PROTOCOL_WAIT_DATA", 0, ROW_MEMCPY_PTOP},
	{"HCOLL what else", "g", "OTHER", 0, ROW_MEMCPY_PTOP},
};

static struct analysis_test test;
static struct event_classes classes;

static void begin(uint32_t n_ranks)
{
	uint32_t device;

	analysis_test_init(&test);
	for (uint32_t i = 0; i < n_ranks; i++) {
		device = fixture_device(&test.fixture,
		                        fixture_process(&test.fixture, (int32_t)i, i, "p"), 0, "");
		fixture_track(&test.fixture, (struct track){.kind = TRACK_QUEUE, .owner = device});
	}
	analysis_test_row(&test, 0, ROW_EXEC, "first", 0, 10);
	analysis_test_row(&test, 0, ROW_EXEC, "last", 2000, 2010);
	assert_int_equal(event_classes_init(&classes, &test.fixture.timeline), 0);
}

static void end(void)
{
	event_classes_release(&classes);
	analysis_test_release(&test);
}

static const char *class_at(const struct class_case *of, int64_t start_ns)
{
	struct tick_op *op = analysis_test_row(&test, 0, of->kind, of->name, start_ns, start_ns);
	const struct device_row row = {
		.start_time_ns = start_ns, .source = test.n_ops - 1, .kind = of->kind};

	op->group = fixture_string(&test.fixture, of->group);
	op->bytes = of->bytes;
	return event_class_name((uint8_t)event_class_of(&classes, &row));
}

static void test_event_class__is_that_of_the_analyzer(void **state)
{
	(void)state;
	begin(2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(class_at(&cases[i], 1000), cases[i].class);
	end();
}

/* Outside of the kernels, and where there is one rank only, a copy is no message. */
static void test_event_class__of_copies_depends_on_kernels_and_ranks(void **state)
{
	static const struct class_case in = {"c", "", "", 1, ROW_MEMCPY_HTOD};
	static const struct class_case out = {"c", "", "", 128, ROW_MEMCPY_DTOH};

	(void)state;
	begin(2);
	assert_string_equal(class_at(&in, 0), "DATA_IN");
	assert_string_equal(class_at(&out, 2000), "DATA_OUT");
	assert_string_equal(class_at(&out, 1999), "MAIU_PROTOCOL_SIGNAL_DATA");
	end();
	begin(1);
	assert_string_equal(class_at(&in, 1000), "DATA_IN");
	assert_string_equal(class_at(&out, 1000), "DATA_OUT");
	end();
}

static void test_event_class__has_a_name(void **state)
{
	(void)state;
	for (uint8_t i = 0; i < EVENT_CLASS_COUNT; i++)
		assert_non_null(event_class_name(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_class__is_that_of_the_analyzer),
		cmocka_unit_test(test_event_class__of_copies_depends_on_kernels_and_ranks),
		cmocka_unit_test(test_event_class__has_a_name),
	};

	return cmocka_run_group_tests_name("event_class", tests, NULL, NULL);
}
