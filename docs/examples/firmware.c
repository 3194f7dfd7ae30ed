/* SPDX-License-Identifier: Apache-2.0 */
/* firmware.c: what runs on the core: markers around the parts of a control block. */
#include <flextrace/marker.h>

#include "firmware.h"

static void boot(void)
{
	flextrace_posix_core.area = firmware_area; /* a thread plays the core; see porting.md */
	FLEXTRACE_FW_INIT(0, 0, 0, FIRMWARE_CAPACITY, FLEXTRACE_WIRE_STOP);
}

static void run(struct device_block *block)
{
	FLEXTRACE_FW_START(block->job, 0);
	block->ts[0] = FLEXTRACE_CLOCK_LO();
	FLEXTRACE_ZONE_BEGIN("load tile");
	device_spend(block->input_us);
	FLEXTRACE_ZONE_END("load tile");
	block->ts[1] = block->ts[2] = FLEXTRACE_CLOCK_LO();
	FLEXTRACE_KERNEL_START();
	FLEXTRACE_ZONE_BEGIN_ID(block->layer); /* only the host knows its name */
	device_spend(block->work_us);
	FLEXTRACE_ZONE_END_ID(block->layer);
	FLEXTRACE_KERNEL_END();
	block->ts[3] = block->ts[4] = FLEXTRACE_CLOCK_LO();
	FLEXTRACE_VALUE("tiles", block->work_us / 10);
	FLEXTRACE_FW_END();
}

const struct device_program firmware_program = {boot, run};
