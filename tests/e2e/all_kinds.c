/* SPDX-License-Identifier: Apache-2.0 */
/* all_kinds [neutral]: every runtime kind and every device kind once, each by its own name in the
 * dialect of the AIU; or in none, and none has that name. */
#include <string.h>

#include <flextrace/flextrace.h>

static const char *const runtime_names[] = {"a scope of the user",
#define NAME(id, value, guide, flex, means) guide,
                                            FLEXTRACE_RUNTIME_KINDS(NAME)
#undef NAME
};

static const char *const device_names[] = {"unused",
#define NAME(id, value, guide) guide,
                                           FLEXTRACE_DEVICE_KINDS(NAME)
#undef NAME
};

static int are_named = 1;

/* A counter of 1 GHz whose low 32 bits are about to wrap when it is first read. */
static uint32_t read_ticks32(void)
{
	static uint64_t offset;
	const uint64_t host_ns = flextrace_now_ns();
	if (!offset)
		offset = UINT32_MAX - 50000 - host_ns;
	while (flextrace_now_ns() < host_ns + 2000)
		;
	return (uint32_t)(flextrace_now_ns() + offset);
}

static void record_device_kind(uint32_t kind)
{
	const uint64_t correlation = 100 + kind;
	FLEXTRACE_RUNTIME_SCOPE_ID(FLEXTRACE_RUNTIME_LAUNCH_CONTROL_BLOCKS, "launch", correlation);
	struct flextrace_device_op op;
	memset(&op, 0, sizeof(op));
	op.kind = kind;
	op.job = kind;
	op.name = are_named ? device_names[kind] : "mine";
	op.correlation = correlation;
	op.peer = -1;
	op.submit_ns = flextrace_now_ns();
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op.ts[i] = read_ticks32();
	op.complete_ns = flextrace_now_ns();
	FLEXTRACE_DEVICE_OP(&op);
}

/* The kernel, as the work of an operation of a framework. */
static void record_operation(void)
{
	FLEXTRACE_OP_SCOPE("mm, quoted", "MatMul", "math_fidelity=HiFi4", 2, 1, 50);
	FLEXTRACE_TENSOR(50, 0, "2x3", "TILE", "BFLOAT16", "DEV_0_DRAM");
	FLEXTRACE_TENSOR(50, 1, "2x4", "TILE", "BFLOAT16", "DEV_0_DRAM");
	FLEXTRACE_OP_INFO(50, "model", "dot", "jit/mm", "a.py:1");
	record_device_kind(FLEXTRACE_DEVICE_KERNEL);
}

int main(int n_args, char **args)
{
	(void)args;
	flextrace_process("all_kinds", "1");
	if (n_args == 1)
		flextrace_set_dialect("aiu");
	else
		are_named = 0;
	flextrace_set_rank(0, 1);
	struct flextrace_device device;
	memset(&device, 0, sizeof(device));
	device.uuid = "0000:01:00.0";
	device.name = "made up";
	device.n_cores = 1;
	flextrace_device(&device);
	struct flextrace_clock_domain domain;
	memset(&domain, 0, sizeof(domain));
	domain.counter_bits = 32;
	domain.nominal_hz = 1000000000;
	flextrace_clock_domain(&domain);
	for (uint32_t kind = 0; kind < FLEXTRACE_RUNTIME_OP; kind++) {
		FLEXTRACE_RUNTIME_SCOPE(kind, are_named ? runtime_names[kind] : "mine");
	}
	record_operation();
	for (uint32_t kind = FLEXTRACE_DEVICE_KERNEL + 1; kind < FLEXTRACE_DEVICE_KIND_COUNT;
	     kind++)
		record_device_kind(kind);
	return 0;
}
