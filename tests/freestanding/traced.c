/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include <flextrace/marker.h>

uint32_t work(uint32_t job);

uint32_t work(uint32_t job)
{
	uint32_t sum = 0;
	uint32_t i;

	FLEXTRACE_FW_INIT(0, 0, 0, 16, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_START(job, 1);
	FLEXTRACE_TS(1);
	FLEXTRACE_KERNEL_START();
	for (i = 0; i < job; i++) {
		FLEXTRACE_ZONE_BEGIN("step");
		sum += i * i;
		FLEXTRACE_VALUE("sum", sum);
		FLEXTRACE_ZONE_END("step");
		FLEXTRACE_ZONE_BEGIN_ID(i);
		FLEXTRACE_VALUE_ID(i, sum);
		FLEXTRACE_ZONE_END_ID(i);
	}
	FLEXTRACE_KERNEL_END();
	FLEXTRACE_MARK("done");
	FLEXTRACE_MARK_ID(sum);
	FLEXTRACE_FW_END();
	return sum;
}
