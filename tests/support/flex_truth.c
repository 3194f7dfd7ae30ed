/* SPDX-License-Identifier: Apache-2.0 */
#include "flex_truth.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BYTES     524288
#define N_NAMES   8
#define LAUNCH_NS 20000 /* from submission to submission */
#define RDMA_NS   40000

static const char *const kernel_names[N_NAMES] = {
	"convolution",
	"add",
	"addmm_MatMul",
	"layer_norm",
	"softmax",
	"max_pool2d_with_indices",
	"view-VirtualReshape-Output-LxRelayout",
	"bmm-LxPreload",
};

struct flex_scene flex_scene_of(uint64_t seed)
{
	uint64_t state = seed, form = model_random(&state);
	struct flex_scene scene = {
		.seed = seed,
		.n_ranks = 1 + (uint32_t)(model_random(&state) % 4),
		.n_iterations = 30,
		.n_kernels = 6 + (uint32_t)(model_random(&state) % 10),
		.counter = {.hz = 557.1e6, .drift_ppm = 3, .drift_period_ns = 120e9},
		.rank_ppm = 250,
		.host_ppm = 20,
		.start_ns = INT64_C(2097962447000000),
		.boot_ns = INT64_C(1234567890123),
		.period_ns = 400e6,
		.gap_every = 10,
		.gap_ns = 25e9,
		.exec_ns = 250e3,
		.floor_submit_ns = 2000,
		.floor_complete_ns = 4000,
		.jitter_ns = 20000,
		.estimate_ppm = 5,
		.estimate_ns = 700,
		.form = {.is_object = form & 1,
	                 .is_complete = form & 2,
	                 .has_args = form & 4,
	                 .is_shuffled = form & 8,
	                 .stamps = (enum flex_stamps)(form >> 4 & 3)},
	};

	return scene;
}

/* -- clocks ---------------------------------------------------------------------------------- */

struct maker {
	struct flex_truth *truth;
	uint64_t state;
	double engine_ns[FLEX_MAX_RANKS]; /* when a rank's compute engine is free */
	uint32_t power[FLEX_MAX_RANKS];
	uint32_t n_allocated;
	uint32_t iteration, n_syncs, n_resets;
	bool has_failed;
};

static int64_t host_at(const struct flex_truth *truth, uint32_t rank, double true_ns)
{
	return truth->ranks[rank].origin_ns +
	       (int64_t)floor(true_ns * (1 + truth->ranks[rank].host_ppm * 1e-6));
}

/* The counter follows the true time, which only the first host's clock shows. */
static uint64_t ticks_at(const struct flex_truth *truth, uint32_t rank, double true_ns)
{
	struct counter_model model = truth->scene.counter;

	model.hz = truth->ranks[rank].hz;
	return truth->ranks[rank].origin_ticks + (uint64_t)floorl(model_phase(&model, true_ns));
}

static double either_way(uint64_t *state, double most)
{
	return (2 * model_uniform(state) - 1) * most;
}

static void make_ranks(struct maker *maker)
{
	struct flex_truth *truth = maker->truth;
	const struct flex_scene *scene = &truth->scene;

	for (uint32_t i = 0; i < scene->n_ranks; i++) {
		truth->ranks[i].origin_ticks = (UINT64_C(1) << 40) +
		                               model_random(&maker->state) % (UINT64_C(1) << 40);
		truth->ranks[i].origin_ns = scene->start_ns - (int64_t)i * scene->boot_ns;
		truth->ranks[i].hz = scene->counter.hz *
		                     (1 + either_way(&maker->state, scene->rank_ppm) * 1e-6);
		truth->ranks[i].host_ppm = i ? either_way(&maker->state, scene->host_ppm) : 0;
	}
}

/* -- work ------------------------------------------------------------------------------------ */

/* Adds an operation with these stamps (true time); NULL: no memory. */
static struct flex_op *add_op(struct maker *maker, uint32_t rank, enum flex_kind kind,
                              const double *true_ns)
{
	struct flex_truth *truth = maker->truth;
	struct flex_op *op;

	if (truth->n_ops == maker->n_allocated) {
		uint32_t n = 2 * maker->n_allocated + 64;
		struct flex_op *more = realloc(truth->ops, n * sizeof(*more));

		if (!more) {
			maker->has_failed = true;
			return NULL;
		}
		truth->ops = more;
		maker->n_allocated = n;
	}
	op = &truth->ops[truth->n_ops++];
	*op = (struct flex_op){.rank = rank,
	                       .iteration = maker->iteration,
	                       .n_resets = maker->n_resets,
	                       .kind = kind};
	for (int i = 0; i < FLEX_STAMPS; i++) {
		op->true_ns[i] = true_ns[i];
		op->ticks[i] = ticks_at(truth, rank, true_ns[i]);
		op->host_ns[i] = host_at(truth, rank, true_ns[i]);
		if ((uint32_t)op->ticks[i] == 0)
			op->ticks[i]++; /* 0 = not taken */
	}
	maker->power[rank] += (uint32_t)(model_random(&maker->state) % 100000000);
	op->power = maker->power[rank];
	return op;
}

static void bracket(struct maker *maker, struct flex_op *op, double submit_ns)
{
	const struct flex_scene *scene = &maker->truth->scene;

	op->submit_ns = host_at(maker->truth, op->rank, submit_ns);
	op->complete_ns = host_at(maker->truth, op->rank,
	                          op->true_ns[4] + model_latency(&maker->state,
	                                                         scene->floor_complete_ns,
	                                                         scene->jitter_ns));
}

static double draw_exec(struct maker *maker)
{
	const struct flex_scene *scene = &maker->truth->scene;

	if (scene->longs > 0 && model_uniform(&maker->state) < scene->longs)
		return scene->long_ns * (1 + 0.4 * model_uniform(&maker->state));
	return 500 + model_exponential(&maker->state, scene->exec_ns);
}

/* Kernels: TS1 = TS2, then they wait for the engine and are prepared, then computed. */
static double make_kernel(struct maker *maker, uint32_t rank, const char *name, double submit_ns)
{
	const struct flex_scene *scene = &maker->truth->scene;
	double ns[FLEX_STAMPS];
	struct flex_op *op;

	ns[0] = ns[1] = submit_ns +
	                model_latency(&maker->state, scene->floor_submit_ns, scene->jitter_ns);
	ns[2] = fmax(ns[1] + 2000, maker->engine_ns[rank]) + 500;
	ns[3] = ns[2] + draw_exec(maker);
	ns[4] = ns[3] + 11;
	maker->engine_ns[rank] = ns[4];
	op = add_op(maker, rank, FLEX_KERNEL, ns);
	if (!op)
		return submit_ns;
	snprintf(op->name, sizeof(op->name), "%s", name);
	bracket(maker, op, submit_ns);
	return submit_ns + LAUNCH_NS;
}

static double make_kernels(struct maker *maker, uint32_t rank, double start_ns)
{
	for (uint32_t i = 0; i < maker->truth->scene.n_kernels; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s_%u", kernel_names[i % N_NAMES], i + 1);
		start_ns = make_kernel(maker, rank, name, start_ns);
	}
	return start_ns;
}

/* -- the ring -------------------------------------------------------------------------------- */

static double make_send(struct maker *maker, uint32_t rank, double start_ns, const char *text,
                        const char *attributes)
{
	double ns[FLEX_STAMPS] = {start_ns, start_ns, start_ns + 900, start_ns + 900, 0};
	struct flex_op *op;

	ns[4] = ns[3] + RDMA_NS + model_exponential(&maker->state, 2000);
	op = add_op(maker, rank, strstr(text, "Set Bc") ? FLEX_PROTOCOL : FLEX_SEND, ns);
	if (op) {
		snprintf(op->name, sizeof(op->name), "%s", text);
		snprintf(op->attributes, sizeof(op->attributes), "%s", attributes);
		bracket(maker, op, start_ns - 3000);
	}
	return ns[4];
}

/* Ready to receive at `ready_ns`; the data is there at `arrive_ns`. */
static double make_receive(struct maker *maker, uint32_t rank, double ready_ns, double arrive_ns,
                           uint32_t from, const char *sync)
{
	double done_ns = fmax(ready_ns, arrive_ns) + 800 + model_exponential(&maker->state, 500);
	double ns[FLEX_STAMPS] = {ready_ns, done_ns, done_ns + 11, done_ns + 11, done_ns + 17};
	struct flex_op *op = add_op(maker, rank, FLEX_RECEIVE, ns);

	if (op) {
		snprintf(op->name, sizeof(op->name), "SenRdmaReceive_%u [%dB] [sync=%s]",
		         82200 + rank, BYTES, sync);
		snprintf(
			op->attributes, sizeof(op->attributes),
			",\"Bytes\":\"%d\",\"CollGroup\":\"AllReduce_all_reduce_4\",\"Peer\":\"%u\""
			",\"Type\":\"WDone Barrier\"",
			BYTES, from);
		bracket(maker, op, ready_ns - 3000);
	}
	return done_ns + 17;
}

static double pass_on(struct maker *maker, uint32_t rank, double start_ns, double ready_ns)
{
	char sync[64], name[128], attributes[128];
	double ns;

	snprintf(sync, sizeof(sync), "AllReduce_all_reduce_4_s%u_r%u_%u", rank, rank + 1,
	         2 * maker->n_syncs++);
	snprintf(name, sizeof(name), "SenRdmaSend_%u [sync=%s]", 82300 + rank, sync);
	snprintf(attributes, sizeof(attributes),
	         ",\"Bytes\":\"%d\",\"CollGroup\":\"AllReduce_all_reduce_4\",\"Peer\":\"%u\""
	         ",\"Type\":\"SingleCast\"",
	         BYTES, rank + 1);
	ns = make_send(maker, rank, start_ns, name, attributes);
	ns = make_receive(maker, rank + 1, ready_ns, ns, rank, sync);
	maker->engine_ns[rank + 1] = fmax(maker->engine_ns[rank + 1], ns);
	snprintf(name, sizeof(name), "AllReduce_all_reduce_4_Add_%u", 2 * rank + 1);
	make_kernel(maker, rank + 1, name, ns + 1000);
	return maker->engine_ns[rank + 1];
}

static void send_to_all(struct maker *maker, uint32_t rank, double start_ns, const double *ready_ns)
{
	static const char group[] = ",\"CollGroup\":\"AllReduce_all_reduce_4\"";
	char sync[64], name[128], attributes[128];
	double ns;

	snprintf(sync, sizeof(sync), "AllReduce_all_reduce_4_s%u_r0x%x_%u", rank, (1u << rank) - 1,
	         2 * maker->n_syncs++);
	snprintf(name, sizeof(name), "SenRdmaSend_%u - Set BcList [sync=%s]", 82400 + rank, sync);
	snprintf(attributes, sizeof(attributes), "%s,\"Type\":\"Set BCList\"", group);
	ns = make_send(maker, rank, start_ns, name, attributes);
	snprintf(name, sizeof(name), "SenRdmaSend_%u Data [sync=%s]", 82400 + rank, sync);
	snprintf(attributes, sizeof(attributes), "%s,\"Bytes\":\"%d\",\"Type\":\"MultiCast\"",
	         group, BYTES);
	ns = make_send(maker, rank, ns + 1000, name, attributes);
	for (uint32_t to = 0; to < rank; to++)
		make_receive(maker, to, ready_ns[to], ns, rank, sync);
}

static void reduce_all(struct maker *maker, const double *launched_ns)
{
	uint32_t last = maker->truth->scene.n_ranks - 1;
	double ready_ns[FLEX_MAX_RANKS], ns;

	for (uint32_t rank = 0; rank <= last; rank++)
		ready_ns[rank] = fmax(launched_ns[rank], maker->engine_ns[rank]) + 5000;
	ns = ready_ns[0];
	for (uint32_t rank = 0; rank < last; rank++)
		ns = pass_on(maker, rank, ns + 2000, ready_ns[rank + 1]);
	if (last > 0)
		send_to_all(maker, last, ns + 2000, ready_ns);
}

/* -- iterations ------------------------------------------------------------------------------ */

/* From the first submission of an iteration to its last completion. */
static void add_trips(struct maker *maker, uint32_t from_op)
{
	struct flex_truth *truth = maker->truth;

	for (uint32_t rank = 0; rank < truth->scene.n_ranks; rank++) {
		struct flex_trip *trip = &truth->trips[truth->n_trips++];

		*trip = (struct flex_trip){.begin_ns = INT64_MAX,
		                           .end_ns = INT64_MIN,
		                           .rank = rank,
		                           .iteration = maker->iteration};
		for (uint32_t i = from_op; i < truth->n_ops; i++) {
			const struct flex_op *op = &truth->ops[i];

			if (op->rank != rank)
				continue;
			trip->begin_ns = op->submit_ns < trip->begin_ns ? op->submit_ns
			                                                : trip->begin_ns;
			trip->end_ns = op->complete_ns > trip->end_ns ? op->complete_ns
			                                              : trip->end_ns;
		}
	}
}

/* Counters begin anew, at a place of chance. */
static void reset(struct maker *maker, double true_ns)
{
	struct flex_truth *truth = maker->truth;

	for (uint32_t i = 0; i < truth->scene.n_ranks; i++)
		truth->ranks[i].origin_ticks += (uint32_t)model_random(&maker->state) + 1 -
		                                ticks_at(truth, i, true_ns);
	maker->n_resets++;
}

static void make_iterations(struct maker *maker)
{
	const struct flex_scene *scene = &maker->truth->scene;
	double start_ns = 1e6;

	for (; maker->iteration < scene->n_iterations && !maker->has_failed; maker->iteration++) {
		double launched_ns[FLEX_MAX_RANKS], busy_ns = 0;
		uint32_t from_op = maker->truth->n_ops;

		if (scene->reset_every && maker->iteration % scene->reset_every == 0 &&
		    maker->iteration > 0)
			reset(maker, start_ns);
		for (uint32_t rank = 0; rank < scene->n_ranks; rank++)
			launched_ns[rank] = make_kernels(
				maker, rank, start_ns + model_exponential(&maker->state, 200e3));
		reduce_all(maker, launched_ns);
		add_trips(maker, from_op);
		for (uint32_t rank = 0; rank < scene->n_ranks; rank++)
			busy_ns = fmax(busy_ns, maker->engine_ns[rank]);
		start_ns = fmax(start_ns + scene->period_ns, busy_ns + 100e3);
		if (scene->gap_every && maker->iteration % scene->gap_every == scene->gap_every - 1)
			start_ns += scene->gap_ns * (0.5 + model_uniform(&maker->state));
	}
}

bool flex_truth_init(struct flex_truth *truth, const struct flex_scene *scene)
{
	struct maker maker = {.truth = truth, .state = scene->seed};

	*truth = (struct flex_truth){.scene = *scene};
	truth->trips = calloc((size_t)scene->n_iterations * scene->n_ranks + 1,
	                      sizeof(*truth->trips));
	if (!truth->trips)
		return false;
	make_ranks(&maker);
	make_iterations(&maker);
	flex_truth_tell(truth);
	return !maker.has_failed;
}

void flex_truth_release(struct flex_truth *truth)
{
	free(truth->ops);
	free(truth->trips);
	*truth = (struct flex_truth){.n_ops = 0};
}
