/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_macro.h: a host that types everything flextrace.h offers, in the common subset of C99 and
 * C++11. Compiled by compile_matrix.sh; run by provider.sh, where each event must arrive.
 */
#ifndef EVERY_MACRO_H
#define EVERY_MACRO_H

#include <flextrace/flextrace.h>

static inline void define_all(void)
{
	struct flextrace_device device = FLEXTRACE_DEVICE_INIT;
	struct flextrace_clock_domain domain = FLEXTRACE_CLOCK_DOMAIN_INIT;
	struct flextrace_name marker = FLEXTRACE_NAME_INIT;

	device.device = 3;
	device.uuid = "0000:01:00.0";
	device.n_cores = 4;
	device.core_hz = 560000000;
	device.name = "emulated";
	device.power_unit = "mJ";
	device.processors = "control,mover";
	domain.device = 3;
	domain.domain = 1;
	domain.counter_bits = 32;
	domain.nominal_hz = 560000000;
	domain.rate_group = 7;
	marker.device = 3;
	marker.id = 16;
	marker.name = "matmul tile";
	marker.file = "firmware.c";
	marker.line = 99;
	flextrace_process("every_macro", "1.2.3");
	flextrace_set_dialect("cuda");
	flextrace_device(&device);
	flextrace_clock_domain(&domain);
	flextrace_marker_name(&marker);
	FLEXTRACE_THREAD_NAME("the only thread");
	FLEXTRACE_QUEUE_NAME(3, 2, "dma queue");
}

static inline void record_device_work(int job)
{
	struct flextrace_device_op op = FLEXTRACE_DEVICE_OP_INIT;
	struct flextrace_host_estimate estimate = FLEXTRACE_HOST_ESTIMATE_INIT;
	struct flextrace_marker_batch batch = FLEXTRACE_MARKER_BATCH_INIT;
	struct flextrace_args args = FLEXTRACE_ARGS_INIT;
	uint64_t words[2];
	int i;

	op.device = 3;
	op.domain = 1;
	op.queue = 2;
	op.job = 41;
	op.correlation = 77;
	op.kind = FLEXTRACE_DEVICE_KERNEL;
	op.name = "matmul";
	op.submit_ns = 1000;
	op.complete_ns = 2000;
	for (i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op.ts[i] = FLEXTRACE_I_U32(100 + i);
	op.power = 12;
	op.bytes = 4096;
	op.group = "tp";
	op.type = "SingleCast";
	estimate.device = 3;
	estimate.queue = 2;
	estimate.job = 41;
	estimate.kind = FLEXTRACE_DEVICE_MEMSET;
	estimate.begin_ns = 1100;
	estimate.end_ns = 1900;
	estimate.source = "other tool";
	words[0] = 0x1000000200000003u;
	words[1] = 0x2000000400000005u;
	batch.device = 3;
	batch.core = 1;
	batch.processor = 0;
	batch.domain = 1;
	batch.first_index = 640;
	batch.dropped = 5;
	batch.n_words = 2;
	batch.words = words;

	FLEXTRACE_ADD_ARG(&args, "tile", job);
	op.args = args.text;
	op.ts64[0] = 0x100000064u;

	FLEXTRACE_SUBMIT(3, 2, job, 77, "matmul");
	FLEXTRACE_COMPLETE_AT(3, 2, job, 77, "matmul", 2000);
	FLEXTRACE_DEVICE_OP(&op);
	FLEXTRACE_HOST_ESTIMATE(&estimate);
	FLEXTRACE_CLOCK_SYNC(3, 1, 500, 600, 700);
	FLEXTRACE_QUEUE_RECORD(3, 2, 6);
	FLEXTRACE_QUEUE_WAIT(3, 4, 6);
	flextrace_emit_marker_batch(&batch);
}

static inline void end_scope(struct flextrace_open_scope *handle, int result)
{
	FLEXTRACE_SCOPE_END_WITH(handle++, FLEXTRACE_ARG("result", result));
	FLEXTRACE_SCOPE_END(handle - 1);
}

static inline int record_host_work(int step)
{
	struct flextrace_open_scope handle;
	const char *text = "a,b";
	int n = 0;

	FLEXTRACE_STEP(step);
	{
		FLEXTRACE_SCOPE("user scope");
		FLEXTRACE_SCOPE_ARGS("scope with args", "text=%s n=%d", text, step);
		FLEXTRACE_SCOPE_ARGS("scope with plain args", "plain");
		FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_INIT_GRAPH, "init graph");
		FLEXTRACE_RUNTIME_SCOPE_ID(FLEXTRACE_RUNTIME_LAUNCH_CONTROL_BLOCKS, "launch", 77);
		FLEXTRACE_CALL(WAIT, "fence");
		FLEXTRACE_CALL_ID(COPY_IN, "weights", 84);
		FLEXTRACE_CALL(MALLOC, "one of the AIU");
		FLEXTRACE_OP_SCOPE("aten::mm", "mm", "alpha=1", 4, 2, 78);
		FLEXTRACE_FUNCTION();
		FLEXTRACE_SCOPE_IF(step == 1, "a step of 1");
		FLEXTRACE_SCOPE_IF(step == 2, "a step of 2");
		FLEXTRACE_SCOPE_WITH("typed", FLEXTRACE_ARG("category", "io"),
		                     FLEXTRACE_ARG("bytes", sizeof(handle)),
		                     FLEXTRACE_ARG("n", n - 1), FLEXTRACE_ARG("ratio", 0.5),
		                     FLEXTRACE_ARG("text", text), FLEXTRACE_ARG("is on", n == 0),
		                     FLEXTRACE_ARG("at", &handle),
		                     FLEXTRACE_ARG_BYTES("raw", text, 3));
		FLEXTRACE_CALL_WITH(ALLOC, "malloc", 84, FLEXTRACE_ARG("bytes", 64u));
		n++;
	}
	FLEXTRACE_SCOPE_AT_WITH(1002, 2002, "timed", FLEXTRACE_ARG("n", 1l));
	FLEXTRACE_RUNTIME_SCOPE_AT_WITH(FLEXTRACE_RUNTIME_MALLOC, 1003, 2003, "timed", 85,
	                                FLEXTRACE_ARG("n", 2ull));
	handle = FLEXTRACE_SCOPE_BEGIN("with a result");
	end_scope(&handle, n);
	FLEXTRACE_SCOPE_AT(1000, 2000, "timed before");
	FLEXTRACE_RUNTIME_SCOPE_AT(FLEXTRACE_RUNTIME_MALLOC, 1001, 2001, "timed", 82);
	handle = FLEXTRACE_SCOPE_BEGIN("by a handle");
	FLEXTRACE_SCOPE_END(&handle);
	FLEXTRACE_SCOPE_END(&handle);
	handle = FLEXTRACE_RUNTIME_SCOPE_BEGIN(FLEXTRACE_RUNTIME_MALLOC, "a call by a handle", 83);
	FLEXTRACE_SCOPE_END(&handle);
	FLEXTRACE_BEGIN(FLEXTRACE_RUNTIME_COMPILE_GRAPH, "compile", 79);
	FLEXTRACE_END(FLEXTRACE_RUNTIME_COMPILE_GRAPH, "compile", 79);
	FLEXTRACE_ASYNC_BEGIN("request", step);
	FLEXTRACE_ASYNC_END("request", step);
	FLEXTRACE_INSTANT("an instant");
	FLEXTRACE_INSTANT_ID("another", 80);
	FLEXTRACE_COUNTER("bytes in flight", n);
	FLEXTRACE_COUNTER_IN("in flight", "bytes", n);
	FLEXTRACE_DEVICE_COUNTER(3, "power", "W", 74.5);
	FLEXTRACE_FLOW_BEGIN("request", 5);
	FLEXTRACE_FLOW_STEP("request", 5);
	FLEXTRACE_FLOW_END("request", 5);
	FLEXTRACE_ANNOTATE("model", "granite");
	FLEXTRACE_COLLECTIVE_ENTER("tp", 6, "all_reduce", 2048, "0,1");
	FLEXTRACE_COLLECTIVE_EXIT("tp", 6, "all_reduce", 2048, "0,1");
	FLEXTRACE_MEMORY_ALLOC(3, 0x1000, 256);
	FLEXTRACE_MEMORY_RESIZE(3, 0x1000, 512);
	FLEXTRACE_MEMORY_FREE(3, 0x1000, 512);
	FLEXTRACE_TENSOR(78, 1, "2x3", "row", "fp16", "HBM");
	FLEXTRACE_OP_INFO(78, "decoder", "dot", "dot.1", "model.py:1");
	if (FLEXTRACE_ENABLED(scope))
		n++;
	return n;
}

/* What a signal handler may type; here in a thread that is ready. */
static inline void record_in_handler(void)
{
	struct flextrace_device_op op = FLEXTRACE_DEVICE_OP_INIT;

	op.name = "seen in a handler";
	FLEXTRACE_HANDLER_SCOPE("in a handler");
	FLEXTRACE_HANDLER_INSTANT("in a handler");
	FLEXTRACE_HANDLER_INSTANT_ID("in a handler", 81);
	FLEXTRACE_HANDLER_COUNTER("in a handler", 1);
	FLEXTRACE_HANDLER_BEGIN(FLEXTRACE_RUNTIME_USER, "in a handler", 81);
	FLEXTRACE_HANDLER_END(FLEXTRACE_RUNTIME_USER, "in a handler", 81);
	FLEXTRACE_HANDLER_ASYNC_BEGIN("in a handler", 81);
	FLEXTRACE_HANDLER_ASYNC_END("in a handler", 81);
	FLEXTRACE_HANDLER_COMPLETE(3, 2, 42, 81, "in a handler");
	FLEXTRACE_HANDLER_DEVICE_OP(&op);
}

static inline int record_all(void)
{
	int n;

	define_all();
	flextrace_set_rank(1, 2);
	flextrace_thread_init();
	record_in_handler();
	flextrace_window_begin("measured");
	n = record_host_work(1);
	record_device_work(41);
	flextrace_window_end("measured");
	if (flextrace_device_mode() == FLEXTRACE_DEVICE_MODE_OFF || flextrace_now_ns() == 0)
		n++;
	return n + (flextrace_next_correlation() != 0) + (flextrace_next_correlations(8) != 0);
}

#endif
