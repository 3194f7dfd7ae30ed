/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_wander.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock_model.h"

#define PI          3.14159265358979323846
#define HZ          557.1e6
#define ORIGIN_NS   INT64_C(7000000000)
#define MAX_CORNERS 8192u
#define MAX_DEPTH   64u

/* The rate is a straight line from corner to corner. */
struct corner {
	double ns;        /* true time, which is the host's */
	double rate;      /* deviation, relative */
	long double gain; /* its integral up to here, ns */
};

struct world {
	const struct wander_scene *scene;
	struct clock_truth *truth;
	uint64_t state;
	struct corner corners[2 * MAX_CORNERS + 2];
	uint32_t n_corners, at;
	double end_ns, still_ns[2];
};

/* -- the rate -------------------------------------------------------------------------------- */

static void add_corner(struct world *world, double ns, double rate)
{
	struct corner *corner = &world->corners[world->n_corners];

	*corner = (struct corner){ns, rate, 0};
	if (world->n_corners > 0)
		corner->gain = corner[-1].gain +
		               (long double)(ns - corner[-1].ns) * (corner[-1].rate + rate) / 2;
	world->n_corners++;
}

static double gaussian(struct world *world)
{
	double radius = sqrt(-2 * log(1 - model_uniform(&world->state)));

	return radius * cos(2 * PI * model_uniform(&world->state));
}

/* The next corner of a rate that jumps or bends. */
static double next_ns(struct world *world, double ns, double end_ns)
{
	const struct wander_scene *scene = world->scene;
	double half_ns = scene->period_s * 0.5e9, least_ns = end_ns / (MAX_CORNERS - 2);

	if (scene->shape == WANDER_CHANCE)
		half_ns = model_exponential(&world->state, half_ns);
	else if (scene->shape == WANDER_SINE)
		half_ns /= 32;
	else if (scene->shape == WANDER_PULSE)
		half_ns *= world->n_corners / 2 % 2 ? 0.2 : 1.8;
	else if (scene->shape != WANDER_SQUARE && scene->shape != WANDER_SAW)
		half_ns = least_ns;
	return ns + fmax(half_ns, least_ns);
}

static void make_rate(struct world *world, double end_ns)
{
	const struct wander_scene *scene = world->scene;
	double most = scene->ppm * 1e-6, rate = -most, ns = 0, to_ns;
	double start = 2 * PI * model_uniform(&world->state);

	for (; ns < end_ns; ns = to_ns) {
		to_ns = next_ns(world, ns, end_ns);
		switch (scene->shape) {
		case WANDER_WALK:
			rate = world->n_corners ? world->corners[world->n_corners - 1].rate : 0;
			add_corner(world, ns,
			           rate + most * gaussian(world) * sqrt((to_ns - ns) * 1e-9));
			break;
		case WANDER_SINE:
			add_corner(world, ns, most * sin(start + ns * 2e-9 * PI / scene->period_s));
			break;
		case WANDER_RAMP:
			add_corner(world, ns, most * (2 * ns / end_ns - 1));
			break;
		case WANDER_SAW:
			add_corner(world, ns, -most);
			add_corner(world, to_ns, most);
			break;
		case WANDER_SQUARE:
		case WANDER_CHANCE:
		case WANDER_PULSE:
			rate = -rate;
			add_corner(world, ns, rate);
			add_corner(world, to_ns, rate);
			break;
		}
	}
	add_corner(world, ns, world->corners[world->n_corners - 1].rate);
}

static uint64_t ticks_at(struct world *world, double ns)
{
	const struct corner *corner;
	double along, over, still_ns;
	long double phase;

	while (world->at + 2 < world->n_corners && world->corners[world->at + 1].ns <= ns)
		world->at++;
	while (world->at > 0 && world->corners[world->at].ns > ns)
		world->at--;
	corner = &world->corners[world->at];
	along = ns - corner->ns;
	over = corner[1].ns > corner->ns
	               ? (corner[1].rate - corner->rate) / (corner[1].ns - corner->ns)
	               : 0;
	phase = ns + corner->gain + along * (corner->rate + over * along / 2);
	still_ns = fmin(fmax(ns - world->still_ns[0], 0), world->still_ns[1] - world->still_ns[0]);
	phase += still_ns * world->scene->still_ppm * 1e-6L;
	return UINT64_C(0x2345678) + (uint64_t)(phase * (long double)(HZ * 1e-9));
}

/* -- operations ------------------------------------------------------------------------------ */

static double latency_ns(struct world *world, int side, bool is_loose)
{
	const struct wander_scene *scene = world->scene;
	double ns = scene->floors_us[side] * 1e3 +
	            model_exponential(&world->state, scene->tight_us * 1e3);

	if (model_uniform(&world->state) < scene->loose_share[side] || is_loose)
		ns += scene->loose_floor_us * 1e3 +
		      model_exponential(&world->state, scene->loose_us[side] * 1e3);
	return ns;
}

static double make_op(struct world *world, struct truth_op *op, double submit_ns, double *free_ns)
{
	double work_us = world->scene->work_us > 0 ? world->scene->work_us : 1000;
	double phases_ns[FLEXTRACE_N_STAMPS] = {
		1000, 500, model_exponential(&world->state, work_us * 1e3), 1000, 0};
	bool is_loose = world->scene->both_share > 0 &&
	                model_uniform(&world->state) < world->scene->both_share;
	double ns = fmax(submit_ns + latency_ns(world, 0, is_loose), *free_ns + 50), done_ns;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; ns += phases_ns[i++]) {
		op->time_ns[i] = ns;
		op->ticks[i] = ticks_at(world, ns);
		op->ticks32[i] = (uint32_t)op->ticks[i] ? (uint32_t)op->ticks[i] : 1;
	}
	*free_ns = ns;
	done_ns = ns + latency_ns(world, 1, is_loose);
	op->submit_ns = ORIGIN_NS + (int64_t)floor(submit_ns);
	op->complete_ns = ORIGIN_NS + (int64_t)floor(done_ns);
	return done_ns;
}

static double next_submit_ns(struct world *world)
{
	const struct wander_scene *scene = world->scene;

	if (scene->depth > 0)
		return 100;
	return scene->is_regular ? 1e9 / scene->ops_hz
	                         : model_exponential(&world->state, 1e9 / scene->ops_hz);
}

static int by_completion(const void *left, const void *right)
{
	const struct truth_op *a = left, *b = right;

	return (a->complete_ns > b->complete_ns) - (a->complete_ns < b->complete_ns);
}

static void make_ops(struct world *world, uint32_t n_most)
{
	const struct wander_scene *scene = world->scene;
	struct clock_truth *truth = world->truth;
	double ns = 1000, free_ns = 0, done_ns[MAX_DEPTH] = {0};

	for (uint32_t i = 0; i < n_most && ns < world->end_ns; i++) {
		if (scene->depth > 0)
			ns = fmax(ns, done_ns[i % scene->depth] + 1000);
		done_ns[scene->depth > 0 ? i % scene->depth : 0] =
			make_op(world, &truth->ops[truth->n_ops++], ns, &free_ns);
		ns += next_submit_ns(world);
		if (ns > world->still_ns[0] && ns < world->still_ns[1])
			ns = world->still_ns[1];
	}
	qsort(truth->ops, truth->n_ops, sizeof(*truth->ops), by_completion);
}

static void make_syncs(struct world *world)
{
	struct clock_truth *truth = world->truth;
	double period_ns = world->scene->sync_s * 1e9, ns = period_ns / 2;
	uint32_t after_op = 0;

	truth->syncs = calloc((size_t)(world->end_ns / period_ns) + 1, sizeof(*truth->syncs));
	for (; ns < world->end_ns; ns += period_ns) {
		double read_ns = ns + 300 + model_exponential(&world->state, 500);
		double after_ns = read_ns + 300 + model_exponential(&world->state, 500);

		while (after_op < truth->n_ops &&
		       truth->ops[after_op].complete_ns < ORIGIN_NS + (int64_t)after_ns)
			after_op++;
		truth->syncs[truth->n_syncs++] = (struct truth_sync){
			.before_ns = ORIGIN_NS + (int64_t)ns,
			.ticks = ticks_at(world, read_ns),
			.after_ns = ORIGIN_NS + (int64_t)after_ns,
			.after_op = after_op,
		};
	}
}

void wander_make(const struct wander_scene *scene, uint64_t seed, struct clock_truth *truth)
{
	struct world *world = calloc(1, sizeof(*world));
	uint32_t n_most = (uint32_t)(scene->duration_s * scene->ops_hz * 1.5) + 16;

	*truth = (struct clock_truth){
		.scene = {.name = scene->name, .seed = seed, .hz = HZ, .origin_ns = ORIGIN_NS},
		.ops = calloc(n_most, sizeof(*truth->ops)),
		.n_lives = 1,
	};
	world->scene = scene;
	world->truth = truth;
	world->state = seed;
	for (const char *c = scene->name; *c; c++) /* no two see the same luck */
		world->state = (world->state ^ (uint8_t)*c) * 0x2545f4914f6cdd1du;
	world->end_ns = scene->duration_s * 1e9;
	world->still_ns[0] = world->end_ns * 0.5;
	world->still_ns[1] = world->still_ns[0] + scene->still_s * 1e9;
	make_rate(world, world->end_ns + scene->still_s * 1e9 + 20e9);
	make_ops(world, n_most);
	if (scene->sync_s > 0)
		make_syncs(world);
	truth->scene.n_ops = truth->n_ops;
	free(world);
}
