/* SPDX-License-Identifier: Apache-2.0 */
/* A firmware that uses every macro, one function per macro so that their sizes can be read. */
#include <flextrace/marker.h>

volatile uint32_t sink;

void site_ts(void)
{
	FLEXTRACE_TS(3);
}

void site_kernel(void)
{
	FLEXTRACE_KERNEL_START();
	FLEXTRACE_KERNEL_END();
}

void site_fw_end(void)
{
	FLEXTRACE_FW_END();
}

void site_mark(void)
{
	FLEXTRACE_MARK("a mark");
}

void site_zone_begin(void)
{
	FLEXTRACE_ZONE_BEGIN("a zone");
}

void site_zone_end(void)
{
	FLEXTRACE_ZONE_END("a zone");
}

void site_value(uint32_t value)
{
	FLEXTRACE_VALUE("a value", value);
}

void _start(void)
{
	uint32_t run;

	FLEXTRACE_FW_INIT(0, 0, 0, 1024, FLEXTRACE_WIRE_STOP);
	for (run = 0; run < 10; run++) {
		FLEXTRACE_FW_START(run, 0);
		FLEXTRACE_TS(1);
		FLEXTRACE_TS(2);
		site_ts();
		site_kernel();
		site_mark();
		site_zone_begin();
		site_value(run);
		site_zone_end();
		FLEXTRACE_TS(4);
		FLEXTRACE_TS(5);
		site_fw_end();
		sink = run;
	}
	for (;;)
		;
}
