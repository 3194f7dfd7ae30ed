/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of a run, one function each, each a scope of the kind a real runtime has for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "miniflex.h"

/* Device addresses are made up, but distinct. */
#define WEIGHTS_ADDRESS UINT64_C(0x100000000)

struct graph {
	const struct options *options; /* weak */
	struct collective *collective; /* weak */
	struct device *device;         /* owned */
	uint32_t rank;
	size_t matrix_bytes;
	int8_t *input;     /* what the user feeds, narrow */
	int32_t *a, *b;    /* operands, converted */
	int32_t *expected; /* a * b, computed by the host */
	int32_t *results;  /* one matrix per kernel of an iteration */
	void *staging;     /* what is copied to and from the device */
};

static const char *const kernel_names[] = {"convolution_1", "addmm_MatMul", "max_pool2d",
                                           "add_3",         "softmax_2",    "layer_norm"};
#define N_KERNEL_NAMES (sizeof(kernel_names) / sizeof(kernel_names[0]))

/* xorshift64*: the data need not be good, only the same for the same seed. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static void multiply(const int32_t *a, const int32_t *b, int32_t *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			uint32_t sum = 0;
			for (uint32_t k = 0; k < n; k++)
				sum += (uint32_t)a[i * n + k] * (uint32_t)b[k * n + j];
			c[i * n + j] = (int32_t)sum;
		}
	}
}

static int allocate(struct graph *graph)
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_MALLOC, "allocate weights and results");
	const uint32_t n = graph->options->size;
	graph->matrix_bytes = (size_t)n * n * sizeof(int32_t);
	graph->input = malloc((size_t)n * n);
	graph->a = calloc(1, graph->matrix_bytes);
	graph->b = calloc(1, graph->matrix_bytes);
	graph->expected = malloc(graph->matrix_bytes);
	graph->results = calloc(graph->options->n_kernels, graph->matrix_bytes);
	graph->staging = malloc(graph->matrix_bytes);
	if (!graph->input || !graph->a || !graph->b || !graph->expected || !graph->results ||
	    !graph->staging)
		return -1;
	FLEXTRACE_MEMORY_ALLOC(0, WEIGHTS_ADDRESS, 3 * graph->matrix_bytes);
	return 0;
}

static void compile_graph(struct graph *graph)
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_COMPILE_GRAPH, "compile graph");
	const uint32_t n = graph->options->size;
	uint64_t random = graph->options->seed * 2654435761u + graph->rank + 1;
	for (uint32_t i = 0; i < n * n; i++) {
		graph->input[i] = (int8_t)next_random(&random);
		graph->a[i] = graph->input[i];
		graph->b[i] = (int32_t)(next_random(&random) >> 40);
	}
	FLEXTRACE_SCOPE("reference result");
	multiply(graph->a, graph->b, graph->expected, n);
}

static int open_device(struct graph *graph)
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_INIT_SCHEDULER, "init scheduler");
	graph->device = device_open(graph->options, graph->rank);
	return graph->device ? 0 : -1;
}

static void calibrate(struct graph *graph)
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_CLOCK_CALIBRATION, "clock calibration");
	device_calibrate(graph->device);
}

static int prepare(struct graph *graph)
{
	if (allocate(graph))
		return -1;
	compile_graph(graph);
	if (open_device(graph))
		return -1;
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_INIT_GRAPH, "init graph");
	{
		FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_CREATE_VIRTUAL_ADDRESSES, "map buffers");
		memcpy(graph->staging, graph->b, graph->matrix_bytes);
	}
	calibrate(graph);
	return 0;
}

static void convert_data(struct graph *graph)
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_DATA_CONVERT, "int8 to int32");
	const uint32_t n = graph->options->size;
	for (uint32_t i = 0; i < n * n; i++)
		graph->a[i] = graph->input[i];
}

static int copy(struct graph *graph, enum flextrace_runtime_kind call,
                enum flextrace_device_kind kind, const char *name)
{
	const uint64_t correlation = flextrace_next_correlation();
	FLEXTRACE_RUNTIME_SCOPE_ID(call, name, correlation);
	struct launch launch = {
		.job = {.op = FLEXTRACE_EMULATOR_COPY,
	                .source = graph->a,
	                .target = graph->staging,
	                .bytes = graph->matrix_bytes},
		.kind = kind,
		.name = name,
		.correlation = correlation,
		.bytes = graph->matrix_bytes,
	};
	return device_launch(graph->device, &launch);
}

static void prepare_dmas(struct graph *graph)
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_PREPARE_DMAS, "prepare DMAs");
	memset(graph->results, 0, graph->options->n_kernels * graph->matrix_bytes);
}

static int launch_kernel(struct graph *graph, uint32_t kernel)
{
	const char *name = kernel_names[kernel % N_KERNEL_NAMES];
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_NODE_COMPUTE, name);
	const uint64_t correlation = flextrace_next_correlation();
	FLEXTRACE_RUNTIME_SCOPE_ID(FLEXTRACE_RUNTIME_LAUNCH_CONTROL_BLOCKS, "launch control blocks",
	                           correlation);
	struct launch launch = {
		.job = {.core = kernel % graph->options->n_cores,
	                .op = FLEXTRACE_EMULATOR_MATMUL,
	                .n = graph->options->size,
	                .repeat = 1 + kernel % 3,
	                .a = graph->a,
	                .b = graph->b,
	                .c = graph->results + kernel * (graph->matrix_bytes / sizeof(int32_t))},
		.kind = FLEXTRACE_DEVICE_KERNEL,
		.name = name,
		.correlation = correlation,
	};
	return device_launch(graph->device, &launch);
}

static int launch_all(struct graph *graph)
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_LAUNCH_COMPUTE_STREAM, "launch compute stream");
	for (uint32_t kernel = 0; kernel < graph->options->n_kernels; kernel++) {
		int status = launch_kernel(graph, kernel);
		if (status)
			return status;
		FLEXTRACE_COUNTER("kernels launched", kernel + 1);
	}
	return 0;
}

static int wait_for_device(struct graph *graph)
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_SCHEDULE_WAIT, "wait");
	return device_synchronize(graph->device);
}

static int check_results(const struct graph *graph)
{
	FLEXTRACE_SCOPE_ARGS("check results", "kernels=%u", graph->options->n_kernels);
	const size_t words = graph->matrix_bytes / sizeof(int32_t);
	for (uint32_t kernel = 0; kernel < graph->options->n_kernels; kernel++) {
		if (memcmp(graph->results + kernel * words, graph->expected, graph->matrix_bytes)) {
			fprintf(stderr, "miniflex: rank %u: kernel %u computed a wrong result\n",
			        graph->rank, kernel);
			return -1;
		}
	}
	return 0;
}

/* Every rank knows what each rank contributes, so the sum can be checked. */
static int reduce(struct graph *graph, uint32_t iteration)
{
	const uint32_t n_ranks = graph->options->n_ranks;
	if (!graph->collective)
		return 0;
	int64_t values[COLLECTIVE_WORDS];
	for (uint32_t i = 0; i < COLLECTIVE_WORDS; i++)
		values[i] = (int64_t)(graph->rank + 1) * (iteration + i);
	collective_all_reduce(graph->collective, values);
	for (uint32_t i = 0; i < COLLECTIVE_WORDS; i++) {
		int64_t expected = (int64_t)n_ranks * (n_ranks + 1) / 2 * (iteration + i);
		if (values[i] != expected) {
			fprintf(stderr, "miniflex: rank %u: the all-reduce is wrong\n",
			        graph->rank);
			return -1;
		}
	}
	return 0;
}

static int execute_graph(struct graph *graph)
{
	FLEXTRACE_RUNTIME_SCOPE(FLEXTRACE_RUNTIME_GRAPH_EXECUTION, "execute graph");
	convert_data(graph);
	prepare_dmas(graph);
	if (copy(graph, FLEXTRACE_RUNTIME_DATA_TRANSFER_HTOD, FLEXTRACE_DEVICE_MEMCPY_HTOD,
	         "input") ||
	    launch_all(graph) ||
	    copy(graph, FLEXTRACE_RUNTIME_DATA_TRANSFER_DTOH, FLEXTRACE_DEVICE_MEMCPY_DTOH,
	         "output"))
		return -1;
	return wait_for_device(graph);
}

static void idle(uint32_t ms)
{
	const struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000000};
	if (ms)
		nanosleep(&pause, NULL);
}

static int iterate(struct graph *graph, uint32_t iteration)
{
	FLEXTRACE_STEP(iteration);
	if (execute_graph(graph) || check_results(graph) || reduce(graph, iteration))
		return -1;
	if (iteration % 16 == 15)
		calibrate(graph);
	idle(graph->options->idle_ms);
	return 0;
}

static void release(struct graph *graph)
{
	device_close(graph->device);
	if (graph->staging)
		FLEXTRACE_MEMORY_FREE(0, WEIGHTS_ADDRESS, 3 * graph->matrix_bytes);
	free(graph->input);
	free(graph->a);
	free(graph->b);
	free(graph->expected);
	free(graph->results);
	free(graph->staging);
}

int runtime_run(const struct options *options, struct collective *collective, uint32_t rank)
{
	struct graph graph = {.options = options, .collective = collective, .rank = rank};
	FLEXTRACE_THREAD_NAME("main");
	FLEXTRACE_ANNOTATE("model", "miniflex demo graph");
	int status = prepare(&graph);
	if (status)
		fprintf(stderr, "miniflex: rank %u: cannot prepare the graph\n", rank);
	for (uint32_t i = 0; !status && i < options->n_iterations; i++)
		status = iterate(&graph, i);
	if (!status)
		calibrate(&graph);
	release(&graph);
	return status ? 1 : 0;
}
