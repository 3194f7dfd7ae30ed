/* SPDX-License-Identifier: Apache-2.0 */
/*
 * versions.c: records one of what programs of another version may fill differently. Compiled by
 * versions.sh against this version's headers, and against those of a later one (FUTURE).
 */
#include <flextrace/flextrace.h>

#ifndef FUTURE
#define FUTURE(payload) /* this version has no such member */
#endif

int main(void)
{
	struct flextrace_device device = FLEXTRACE_DEVICE_INIT;
	struct flextrace_device_op op = FLEXTRACE_DEVICE_OP_INIT;

	device.device = 1;
	device.uuid = "serial 1";
	FUTURE(device);
	flextrace_device(&device);
	{
		FLEXTRACE_SCOPE("a scope");
	}
	FLEXTRACE_COUNTER("depth", 2.5);
	op.device = 1;
	op.job = 7;
	op.kind = FLEXTRACE_DEVICE_KERNEL;
	op.name = "matmul";
	op.ts[4] = 5;
	FUTURE(op);
	FLEXTRACE_DEVICE_OP(&op);
	op.size = 0; /* as a program that zeroes the struct by hand has it */
	op.job = 8;
	FLEXTRACE_DEVICE_OP(&op);
	return 0;
}
