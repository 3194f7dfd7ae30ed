/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.c: what docs/guides/instrumenting.md shows besides its three examples. */
#include <string.h>

#include <flextrace/flextrace.h>

#define N_CORES 2

static void name_clocks(void)
{
	uint32_t i;

	for (i = 0; i < N_CORES; i++) {
		struct flextrace_clock_domain counter = FLEXTRACE_CLOCK_DOMAIN_INIT;

		counter.domain = i;
		counter.counter_bits = 64;
		counter.nominal_hz = 1000000000;
		counter.rate_group = 0; /* one oscillator drives them all */
		flextrace_clock_domain(&counter);
	}
}

static uint64_t read_counter(uint32_t core)
{
	return flextrace_now_ns() + core * 1000000;
}

static void sync_clocks(void)
{
	uint32_t core;

	for (core = 0; core < N_CORES; core++) {
		const uint64_t before_ns = flextrace_now_ns();
		const uint64_t ticks = read_counter(core);

		FLEXTRACE_CLOCK_SYNC(0, core, before_ns, ticks, flextrace_now_ns());
	}
}

/* A device that says begin and end only, in 64 bits. */
static void run_wide(uint32_t core, uint64_t id)
{
	struct flextrace_device_op op = FLEXTRACE_DEVICE_OP_INIT;
	struct flextrace_args args = FLEXTRACE_ARGS_INIT;

	op.domain = core; /* all five stamps are of one counter */
	op.queue = core;
	op.job = id;
	op.correlation = id;
	op.kind = FLEXTRACE_DEVICE_KERNEL;
	op.name = "wide";
	op.submit_ns = flextrace_now_ns();
	op.ts64[0] = op.ts64[1] = op.ts64[2] = read_counter(core); /* begin */
	op.ts64[3] = op.ts64[4] = read_counter(core);              /* end */
	op.complete_ns = flextrace_now_ns();
	FLEXTRACE_ADD_ARG(&args, "tiles", 12);
	op.args = args.text;
	FLEXTRACE_DEVICE_OP(&op);
}

static void run_operation(void)
{
	uint64_t op = flextrace_next_correlation();
	FLEXTRACE_OP_SCOPE("aten::mm", "MatMul", "math_fidelity=HiFi4", 2, 0, op);
	FLEXTRACE_TENSOR(op, 0, "512x1024", "TILE", "BFLOAT16", "DEV_0_DRAM"); /* an input */
	FLEXTRACE_TENSOR(op, 1, "512x512", "TILE", "BFLOAT16", "DEV_0_L1");    /* an output */
	FLEXTRACE_OP_INFO(op, "model.layers.0", "dot", "jit(step)/mm", "model.py:81");
	run_wide(0, op);
}

static void time_host(uint64_t n)
{
	struct flextrace_open_scope request;
	uint64_t begin_ns;

	FLEXTRACE_FUNCTION(); /* a scope by the function's name */
	begin_ns = flextrace_now_ns();
	FLEXTRACE_SCOPE_AT(begin_ns, flextrace_now_ns(), "was timed already");
	request = FLEXTRACE_SCOPE_BEGIN("request");
	{
		FLEXTRACE_SCOPE_IF(n > 4096, "long copy");
		FLEXTRACE_CALL_WITH(COPY_IN, "weights", 0, FLEXTRACE_ARG("bytes", n),
		                    FLEXTRACE_ARG("category", "weights"));
	}
	FLEXTRACE_SCOPE_END_WITH(&request, FLEXTRACE_ARG("status", 0)); /* on any thread */
}

static void reduce(uint64_t number, uint64_t bytes)
{
	FLEXTRACE_COLLECTIVE_ENTER("world", number, "all_reduce", bytes, "");
	FLEXTRACE_COLLECTIVE_EXIT("world", number, "all_reduce", bytes, "");
}

int main(void)
{
	struct flextrace_device device = FLEXTRACE_DEVICE_INIT;
	uint32_t i;

	flextrace_process("pieces", "1.0");
	flextrace_set_dialect("cuda");
	device.uuid = "wide";
	device.n_cores = N_CORES;
	device.processors = "control,mover,math"; /* of each core, as markers number them */
	flextrace_device(&device);
	name_clocks();
	sync_clocks();
	for (i = 0; i < 20; i++) {
		FLEXTRACE_STEP(i);
		flextrace_window_begin("measured");
		run_operation();
		run_wide(1, flextrace_next_correlation());
		time_host(i * 1000);
		reduce(i, 4096);
		flextrace_window_end("measured");
	}
	sync_clocks();
	return 0;
}
