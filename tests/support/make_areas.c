/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_areas FILE: the memory of a device with two cores that ran firmware and stopped, the second
 * one inside its third run. The firmware is this program: its ELF file has the names.
 * make_areas FILE marks: the first core's, which only marked something and never ran.
 * make_areas FILE zones: the first core's, whose second run left zones without an end.
 */
#include <stdio.h>
#include <string.h>

#include <flextrace/marker.h>

#define CAPACITY 16u
#define STRIDE   0x1000u /* from area to area */

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[STRIDE];
} memory[2];

static uint64_t cycles = 0x7fffffff0;

static uint64_t fake_clock(void *context)
{
	(void)context;
	return cycles += 100;
}

static void run(uint32_t job, int is_whole)
{
	FLEXTRACE_FW_START(job, 3);
	FLEXTRACE_TS(1);
	FLEXTRACE_ZONE_BEGIN("load weights");
	FLEXTRACE_VALUE("rows", 64);
	FLEXTRACE_ZONE_BEGIN("first half");
	FLEXTRACE_ZONE_END("first half");
	FLEXTRACE_ZONE_END("load weights");
	FLEXTRACE_KERNEL_START();
	FLEXTRACE_MARK("half way");
	if (!is_whole)
		return;
	FLEXTRACE_KERNEL_END();
	FLEXTRACE_TS(5);
	FLEXTRACE_FW_END();
}

static void mark_twice(void)
{
	FLEXTRACE_MARK("before anything ran");
	FLEXTRACE_MARK("before anything ran");
}

static void leave_zones(void)
{
	FLEXTRACE_FW_START(1, 0);
	FLEXTRACE_ZONE_BEGIN("outer");
	FLEXTRACE_ZONE_BEGIN("left {early}");
	FLEXTRACE_ZONE_END("outer"); /* not the innermost */
	FLEXTRACE_FW_END();
	FLEXTRACE_FW_START(2, 0);
	FLEXTRACE_ZONE_BEGIN("never ended");
	FLEXTRACE_FW_END();
	FLEXTRACE_FW_START(3, 0);
	FLEXTRACE_ZONE_BEGIN("zone");
	FLEXTRACE_ZONE_END("zone");
	FLEXTRACE_FW_END();
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "wb") : NULL;
	uint32_t core, job;

	if (!file)
		return 1;
	for (core = 0; core < (argc > 2 ? 1u : 2u); core++) {
		flextrace_posix_core = (struct flextrace_posix_core){.area = &memory[core].wire,
		                                                     .clock = fake_clock};
		FLEXTRACE_FW_INIT(core, 0, core, CAPACITY,
		                  core ? FLEXTRACE_WIRE_OVERWRITE : FLEXTRACE_WIRE_STOP);
		if (argc > 2 && strcmp(argv[2], "zones") == 0)
			leave_zones();
		else if (argc > 2)
			mark_twice();
		for (job = 1; job <= 3 && argc == 2; job++)
			run(job, core == 0 || job < 3);
	}
	if (fwrite(memory, sizeof(memory), 1, file) != 1 || fclose(file) != 0)
		return 1;
	return 0;
}
