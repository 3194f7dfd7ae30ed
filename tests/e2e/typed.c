/* SPDX-License-Identifier: Apache-2.0 */
/* typed: arguments of each type, counters with units, and a device with a counter of 64 bits. */
#include <flextrace/flextrace.h>

#define N_OPS  200
#define ORIGIN (UINT64_C(5) << 40) /* of the device's counter, which counts ns */

static uint64_t device_now(void)
{
	const uint64_t begin_ns = flextrace_now_ns();

	while (flextrace_now_ns() < begin_ns + 2000)
		;
	return flextrace_now_ns() + ORIGIN;
}

static void run_op(uint32_t job)
{
	struct flextrace_device_op op = FLEXTRACE_DEVICE_OP_INIT;
	struct flextrace_args args = FLEXTRACE_ARGS_INIT;

	FLEXTRACE_ADD_ARG(&args, "category", "tile work");
	FLEXTRACE_ADD_ARG(&args, "tiles", job);
	op.job = job;
	op.kind = FLEXTRACE_DEVICE_KERNEL;
	op.name = "matmul";
	op.args = args.text;
	op.submit_ns = flextrace_now_ns();
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op.ts64[i] = device_now();
	op.complete_ns = flextrace_now_ns();
	FLEXTRACE_DEVICE_OP(&op);
}

int main(void)
{
	struct flextrace_device device = FLEXTRACE_DEVICE_INIT;
	struct flextrace_clock_domain domain = FLEXTRACE_CLOCK_DOMAIN_INIT;
	struct flextrace_open_scope handle;

	device.uuid = "wide";
	flextrace_device(&device);
	domain.counter_bits = 64;
	flextrace_clock_domain(&domain);
	{
		FLEXTRACE_SCOPE_WITH("copy", FLEXTRACE_ARG("category", "io"),
		                     FLEXTRACE_ARG("bytes", 4096), FLEXTRACE_ARG("tensor", "w\"1"),
		                     FLEXTRACE_ARG("big", UINT64_MAX),
		                     FLEXTRACE_ARG("ratio", 0.25));
		FLEXTRACE_RUNTIME_SCOPE_WITH(FLEXTRACE_RUNTIME_CALL, "call", 7,
		                             FLEXTRACE_ARG("flags", 3u));
	}
	handle = FLEXTRACE_SCOPE_BEGIN("wait");
	FLEXTRACE_SCOPE_END_WITH(&handle, FLEXTRACE_ARG("result", -1));
	FLEXTRACE_COUNTER_IN("in flight", "bytes", 512);
	FLEXTRACE_DEVICE_COUNTER(0, "board power", "W", 74.5);
	FLEXTRACE_FLOW_BEGIN("request", 77);
	for (uint32_t job = 1; job <= N_OPS; job++)
		run_op(job);
	FLEXTRACE_QUEUE_RECORD(0, 0, 8);
	FLEXTRACE_QUEUE_WAIT(0, 0, 8);
	run_op(N_OPS + 1);
	FLEXTRACE_FLOW_END("request", 77);
	return 0;
}
