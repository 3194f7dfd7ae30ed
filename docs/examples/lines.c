/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c: what stands as an example in the comments of flextrace.h and args.h. */
#include <stddef.h>

#include <flextrace/flextrace.h>

struct graph {
	const char *name;
	uint32_t n_pending;
};

struct tensor {
	const char *name;
};

struct request {
	uint64_t id;
};

static void launch(struct graph *graph)
{
	FLEXTRACE_CALL(LAUNCH, graph->name);
	graph->n_pending++;
	FLEXTRACE_COUNTER("queue depth", graph->n_pending);
}

static void load(const char *path, size_t n, const struct tensor *t)
{
	FLEXTRACE_FUNCTION();
	FLEXTRACE_SCOPE("load weights");
	FLEXTRACE_SCOPE_ARGS("read", "%s bytes=%zu", path, n);
	FLEXTRACE_SCOPE_WITH("copy", FLEXTRACE_ARG("bytes", n), FLEXTRACE_ARG("tensor", t->name));
	FLEXTRACE_SCOPE_WITH("copy", FLEXTRACE_ARG("bytes", n), FLEXTRACE_ARG("of", t->name));
	FLEXTRACE_COUNTER_IN("in flight", "bytes", n);
	FLEXTRACE_CALL(WAIT, "fence");
}

static void serve(const struct request *r, uint32_t n)
{
	FLEXTRACE_FLOW_BEGIN("request", r->id);
	FLEXTRACE_COUNTER("queue depth", n);
	FLEXTRACE_DEVICE_COUNTER(0, "power", "W", 74.5);
	FLEXTRACE_FLOW_END("request", r->id);
}

static void fill(struct flextrace_device_op *op)
{
	op->name = "filled";
	FLEXTRACE_DEVICE_OP(op);
}

static void compute(uint64_t id)
{
	struct flextrace_device_op op = FLEXTRACE_DEVICE_OP_INIT;

	FLEXTRACE_OP_SCOPE("aten::mm", "MatMul", "", 1, 0, id);
	FLEXTRACE_TENSOR(id, 0, "2x3", "tiled", "fp16", "HBM");
	if (FLEXTRACE_ENABLED(device_op))
		fill(&op);
}

int main(void)
{
	struct graph graph = {.name = "graph"};
	const struct tensor weights = {.name = "weights"};
	const struct request request = {.id = 7};

	FLEXTRACE_THREAD_NAME("scheduler");
	FLEXTRACE_ANNOTATE("model", "granite-3b");
	launch(&graph);
	load("weights.bin", 4096, &weights);
	serve(&request, graph.n_pending);
	compute(flextrace_next_correlation());
	return 0;
}
