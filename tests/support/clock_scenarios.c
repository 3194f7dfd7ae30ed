/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_scenarios.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock_plan.h"

#define PI        3.14159265358979323846
#define N_CELLS   4096
#define ORIGIN_NS INT64_C(5000000000)
#define MAX_LIVES 8
#define RAMP      200        /* steps */
#define STOPPED   -0.9999999 /* as a deviation of the rate */

#define GAPS .busy_s = 20, .gap_s = {8, 30}

/* clang-format off */
const struct clock_scenario clock_scenarios[] = {
	{.name = "S0 clean", .duration_s = 60},
	{.name = "S1 typical", .duration_s = 200, GAPS, .thermal_ppm = 1, .thermal_s = 300},
	{.name = "S2 heavy delays", .duration_s = 200, GAPS, .slow_share = 0.4, .tail_share = 0.05},
	{.name = "S3 drift", .duration_s = 300, GAPS, .thermal_ppm = 10, .thermal_s = 600},
	{.name = "S4 rate steps", .duration_s = 200, GAPS, .step_ppm = 300, .step_rest = 0.3},
	{.name = "S5 resets", .duration_s = 200, GAPS, .n_resets = 2},
	{.name = "S6 lies", .duration_s = 200, GAPS, .false_share = 0.01, .garbage_share = 0.005,
	 .shuffle = 100},
	{.name = "S7 long work", .duration_s = 200, .long_share = 0.003},
	{.name = "S7 long work, heartbeat", .duration_s = 200, .long_share = 0.003,
	 .heartbeat_s = 1},
	{.name = "S8 sparse", .duration_s = 1800, .ops_hz = 1},
	{.name = "S9 an hour", .duration_s = 3600, .ops_hz = 10, .thermal_ppm = 2,
	 .thermal_s = 1200},
	{.name = "S10 all", .duration_s = 400, GAPS, .slow_share = 0.4, .tail_share = 0.05,
	 .thermal_ppm = 10, .thermal_s = 600, .step_ppm = 300, .step_rest = 0.3, .n_resets = 2,
	 .false_share = 0.01, .garbage_share = 0.005, .shuffle = 100, .loss_share = 0.05},
	{.name = "S11 1100 MHz", .duration_s = 200, GAPS, .hz = 1100e6},
	{.name = "S12 unequal floors", .duration_s = 200, GAPS, .floors_us = {2, 50}},
	{.name = "burst loss", .duration_s = 200, .loss_share = 0.1, .burst_s = {20, 12}},
	{.name = "duplicates", .duration_s = 100, .duplicate_share = 0.1},
	{.name = "suspend", .duration_s = 200, .suspend_s = 61},
	{.name = "host slews", .duration_s = 200, .host_slew_ppm = 500},
	{.name = "host slews back", .duration_s = 200, .host_slew_ppm = -500},
	{.name = "host steps", .duration_s = 100, .host_step_s = 1.5},
	{.name = "host steps back", .duration_s = 100, .host_step_s = -1.5},
	{.name = "two hours", .duration_s = 7200, .ops_hz = 20, .busy_s = 5, .gap_s = {8, 400},
	 .thermal_ppm = 3, .thermal_s = 2400},
	{.name = "slips", .duration_s = 100, .wait_share = 0.05, .slip_share = 0.3,
	 .slip_ticks = 4},
	{.name = "long slips", .duration_s = 100, .wait_share = 0.05, .slip_share = 0.3,
	 .slip_ticks = 500},
	{.name = "long input", .duration_s = 200, .long_share = 0.003, .long_phase = 1},
	{.name = "long preparation", .duration_s = 200, .long_share = 0.003, .long_phase = 2},
	{.name = "long execution", .duration_s = 200, .long_share = 0.003, .long_phase = 3},
	{.name = "long output", .duration_s = 200, .long_share = 0.003, .long_phase = 4},
	{.name = "gaps of hours", .duration_s = 90000, .busy_s = 5, .gap_s = {1800, 10800}},
};
/* clang-format on */

const uint32_t n_clock_scenarios = sizeof(clock_scenarios) / sizeof(clock_scenarios[0]);

const struct clock_scenario *clock_scenario_find(const char *name)
{
	for (uint32_t i = 0; i < n_clock_scenarios; i++) {
		if (strcmp(clock_scenarios[i].name, name) == 0)
			return &clock_scenarios[i];
	}
	return NULL;
}

/* What a scenario does not say. */
static void fill_in(struct clock_scenario *scenario)
{
	static const struct clock_scenario typical = {
		.ops_hz = 100,
		.hz = 557.1e6,
		.floors_us = {2, 4},
		.slow_share = 0.15,
		.tail_share = 0.01,
		.walk_ppm = 0.01,
		.exec_us = 1000,
		.jitter_us = 5,
	};

	if (scenario->ops_hz == 0)
		scenario->ops_hz = typical.ops_hz;
	if (scenario->hz == 0)
		scenario->hz = typical.hz;
	if (scenario->floors_us[0] == 0)
		memcpy(scenario->floors_us, typical.floors_us, sizeof(typical.floors_us));
	if (scenario->slow_share == 0)
		scenario->slow_share = typical.slow_share;
	if (scenario->tail_share == 0)
		scenario->tail_share = typical.tail_share;
	if (scenario->jitter_us == 0)
		scenario->jitter_us = typical.jitter_us;
	if (scenario->exec_us == 0)
		scenario->exec_us = typical.exec_us;
	scenario->walk_ppm = typical.walk_ppm;
}

struct world {
	const struct clock_scenario *scenario; /* weak */
	struct clock_truth *truth;             /* weak */
	uint32_t n_allocated;                  /* of truth->ops */
	uint64_t state;
	double end_ns, cell_ns;
	double walk[N_CELLS + 2];            /* deviation of the rate where a cell begins */
	long double walk_phase[N_CELLS + 2]; /* its integral, ns */
	double step_ns[2], reset_ns[MAX_LIVES], host_ns; /* when it happens */
	struct clock_plan excursions, idles, bends;      /* owned; the last one: of the host */
	struct clock_plan jumps; /* owned; what the host's clock is off, as rates */
	uint32_t job;
	double job_ns; /* when it began */
};

/* -- chance ---------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double uniform(struct world *world)
{
	return (double)(next_random(&world->state) >> 11) * 0x1p-53;
}

static bool chance(struct world *world, double share)
{
	return share > 0 && uniform(world) < share;
}

static double between(struct world *world, double least, double greatest)
{
	return least + (greatest - least) * uniform(world);
}

static double exponential(struct world *world, double mean)
{
	return -mean * log(1 - uniform(world));
}

static double gaussian(struct world *world)
{
	double radius = sqrt(-2 * log(1 - uniform(world)));

	return radius * cos(2 * PI * uniform(world));
}

static double latency_ns(struct world *world, int side)
{
	const struct clock_scenario *scenario = world->scenario;
	double ns = scenario->floors_us[side] * 1e3 +
	            scenario->jitter_us * 1e3 * exp(0.8 * gaussian(world));

	if (chance(world, scenario->slow_share))
		ns += exponential(world, 50e3);
	if (chance(world, scenario->tail_share))
		ns += fmin(0.5e6 * pow(1 - uniform(world), -1 / 1.3), 30e6);
	return ns;
}

/* -- clocks ---------------------------------------------------------------------------------- */

static void walk_init(struct world *world)
{
	double rate = 0, deviation = world->scenario->walk_ppm * 1e-6 * sqrt(world->cell_ns * 1e-9);

	for (int i = 0; i <= N_CELLS; i++) {
		double next = rate + deviation * gaussian(world);

		world->walk[i] = rate;
		world->walk[i + 1] = next;
		world->walk_phase[i + 1] = world->walk_phase[i] +
		                           (long double)world->cell_ns * (rate + next) / 2;
		rate = next;
	}
}

static long double walk_at(const struct world *world, double ns)
{
	double place = fmin(ns / world->cell_ns, N_CELLS);
	int cell = (int)place;
	double along = ns - cell * world->cell_ns;
	double slope = (world->walk[cell + 1] - world->walk[cell]) / world->cell_ns;

	return world->walk_phase[cell] + along * (world->walk[cell] + slope * along / 2);
}

/* Ticks since the start at a true time, without resets. */
static long double phase_at(const struct world *world, double ns)
{
	const struct clock_scenario *scenario = world->scenario;
	long double phase = ns + walk_at(world, ns) + plan_at(&world->excursions, ns) +
	                    plan_at(&world->idles, ns);

	if (scenario->thermal_ppm != 0) {
		double radian_ns = scenario->thermal_s * 1e9 / (2 * PI);

		phase += scenario->thermal_ppm * 1e-6 * radian_ns * (1 - cos(ns / radian_ns));
	}
	if (scenario->step_ppm != 0)
		phase += scenario->step_ppm * 1e-6 *
		         (fmax(0, ns - world->step_ns[0]) - fmax(0, ns - world->step_ns[1]));
	return phase * ((long double)scenario->hz * 1e-9L);
}

static uint32_t life_at(const struct world *world, double ns)
{
	uint32_t life = 0;

	while (life < world->scenario->n_resets && ns >= world->reset_ns[life])
		life++;
	return life;
}

static uint64_t ticks_at(const struct world *world, double ns)
{
	uint32_t life = life_at(world, ns);
	long double phase = phase_at(world, ns);

	if (world->scenario->restarts)
		return 1000 + (uint64_t)(phase - phase_at(world, world->job_ns));
	if (life > 0)
		return 1000 + (uint64_t)(phase - phase_at(world, world->reset_ns[life - 1]));
	return UINT64_C(0x123456789) + (uint64_t)phase;
}

static double rate_of(const struct clock_plan *plan, double ns)
{
	double rate = 0;

	for (uint32_t i = 0; i < plan->n && plan->bends[i].ns <= ns; i++)
		rate = plan->bends[i].rate;
	return rate;
}

/* The host's clock, after ORIGIN_NS. */
static double host_at(const struct world *world, double ns)
{
	const struct clock_scenario *scenario = world->scenario;
	double since = fmax(0, ns - world->host_ns);
	double host = ns + (double)plan_at(&world->bends, ns) + rate_of(&world->jumps, ns);

	host -= fmin(since, scenario->suspend_s * 1e9);
	host += scenario->host_slew_ppm * 1e-6 * fmin(since, world->end_ns / 10);
	return since > 0 ? host + scenario->host_step_s * 1e9 : host;
}

/* A suspended host does nothing until it wakes. */
static double awake(const struct world *world, double ns)
{
	double wakes_ns = world->host_ns + world->scenario->suspend_s * 1e9;

	return ns > world->host_ns && ns < wakes_ns ? wakes_ns + 1000 : ns;
}

/* -- operations ------------------------------------------------------------------------------ */

static void tell_lies(struct world *world, struct truth_op *op)
{
	const struct clock_scenario *scenario = world->scenario;

	if (chance(world, scenario->false_share)) {
		int64_t shift = (int64_t)between(world, -3e6, 3e6);

		op->submit_ns += shift;
		op->complete_ns += shift;
		op->lie = TRUTH_FALSE_BRACKET;
	}
	if (chance(world, scenario->garbage_share)) {
		for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
			op->ticks32[i] = (uint32_t)next_random(&world->state) | 1;
		op->lie = TRUTH_GARBAGE;
	}
	if (chance(world, scenario->late_share)) {
		op->submit_ns += (int64_t)between(world, 2e3, 8e3);
		op->lie = TRUTH_FALSE_BRACKET;
	}
}

/* One stamp is a little before the one in front of it, and so are no others. */
static void slip(struct world *world, struct truth_op *op)
{
	const struct clock_scenario *scenario = world->scenario;
	uint32_t at;

	if (!chance(world, scenario->slip_share))
		return;
	at = 1 + (uint32_t)between(world, 0, FLEXTRACE_N_STAMPS - 1);
	op->ticks32[at] = op->ticks32[at - 1] - 1 -
	                  (uint32_t)between(world, 0, scenario->slip_ticks);
	op->slipped = (uint8_t)at;
}

static void keep(struct world *world, const struct truth_op *op, double done_ns)
{
	const struct clock_scenario *scenario = world->scenario;
	struct clock_truth *truth = world->truth;
	uint32_t n = 1 + chance(world, scenario->duplicate_share);

	if (chance(world, scenario->loss_share) ||
	    (scenario->burst_s[0] > 0 &&
	     fmod(done_ns * 1e-9, scenario->burst_s[0]) < scenario->burst_s[1]))
		return;
	if (truth->n_ops + n > world->n_allocated) {
		world->n_allocated = 2 * world->n_allocated + n;
		truth->ops = realloc(truth->ops, world->n_allocated * sizeof(*truth->ops));
	}
	while (n-- > 0)
		truth->ops[truth->n_ops++] = *op;
}

/* One operation from submit to completion; returns when the host saw it done. */
static double make_op(struct world *world, uint32_t queue, double submit_ns, double *free_ns)
{
	const struct clock_scenario *scenario = world->scenario;
	double wrap_ns = 0x1p32 / scenario->hz * 1e9;
	bool is_long = queue == 0 && chance(world, scenario->long_share);
	double phases_ns[FLEXTRACE_N_STAMPS] = {1000 + exponential(world, 1000), 500,
	                                        exponential(world, scenario->exec_us * 1e3),
	                                        1000 + exponential(world, 1000), 0};
	double ns = fmax(submit_ns + latency_ns(world, 0), *free_ns + 50), done_ns, length_ns = 0;
	struct truth_op op = {.queue = queue};

	if (scenario->is_even)
		phases_ns[2] = scenario->exec_us * 1e3 * between(world, 0.9, 1.1);
	if (is_long)
		phases_ns[scenario->long_phase ? scenario->long_phase - 1 : 2] =
			wrap_ns * between(world, 1.05, 3);
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		length_ns += phases_ns[i];
	op.life = scenario->restarts ? world->job : life_at(world, ns + length_ns);
	if (!scenario->restarts &&
	    op.life != life_at(world, ns)) /* work waits for the device to be up again */
		ns = world->reset_ns[op.life - 1] + 1e6;
	for (int i = 0; i < FLEXTRACE_N_STAMPS; ns += phases_ns[i++]) {
		op.ticks[i] = ticks_at(world, ns);
		op.ticks32[i] = (uint32_t)op.ticks[i] ? (uint32_t)op.ticks[i] : 1;
		op.time_ns[i] = host_at(world, ns);
	}
	*free_ns = ns;
	if (chance(world, scenario->wait_share))
		submit_ns = fmax(1000, submit_ns - wrap_ns * between(world, 1.05, 3));
	done_ns = awake(world, ns + latency_ns(world, 1));
	if (scenario->poll_s > 0)
		done_ns = ceil(done_ns / (scenario->poll_s * 1e9)) * scenario->poll_s * 1e9 +
		          exponential(world, 1000);
	op.submit_ns = ORIGIN_NS + (int64_t)floor(host_at(world, submit_ns));
	op.complete_ns = ORIGIN_NS + (int64_t)floor(host_at(world, done_ns));
	slip(world, &op);
	tell_lies(world, &op);
	keep(world, &op, done_ns);
	return done_ns;
}

/* The counter slows down once the last operation is over. */
static void idle(struct world *world, const double *done_ns, double to_ns)
{
	double from_ns = 0;

	for (uint32_t i = 0; i < SCENARIO_DEPTH; i++)
		from_ns = fmax(from_ns, done_ns[i]);
	if (world->scenario->idle_share == 0 || from_ns >= to_ns)
		return;
	plan_add(&world->idles, from_ns, world->scenario->idle_share - 1);
	plan_add(&world->idles, to_ns, 0);
}

static void make_jobs(struct world *world)
{
	const struct clock_scenario *scenario = world->scenario;
	double done_ns = 0;

	for (double begin_ns = 1000; begin_ns < world->end_ns; world->job++) {
		double ns = begin_ns, free_ns = begin_ns;

		world->job_ns = begin_ns;
		if (scenario->is_gated)
			plan_add(&world->idles, begin_ns, 0);
		for (uint32_t i = 0; i < scenario->job_ops; i++) {
			done_ns = make_op(world, 0, ns, &free_ns);
			ns = fmax(done_ns, ns + exponential(world, 1e9 / scenario->ops_hz));
		}
		if (scenario->is_gated)
			plan_add(&world->idles, done_ns, STOPPED);
		begin_ns = fmax(done_ns + 1e6, begin_ns + 1e9 * between(world, scenario->job_s[0],
		                                                        scenario->job_s[1]));
	}
	if (scenario->restarts)
		world->truth->n_lives = world->job;
}

static void make_work(struct world *world)
{
	const struct clock_scenario *scenario = world->scenario;
	double ns = 1000, free_ns = 0, done_ns[SCENARIO_DEPTH] = {0}, busy_until_ns = 0;

	busy_until_ns = exponential(world, scenario->busy_s * 1e9);
	for (uint64_t i = 0; ns < world->end_ns; i++) {
		double *slot_ns = &done_ns[i % SCENARIO_DEPTH];

		ns = awake(world, fmax(ns, *slot_ns));
		*slot_ns = make_op(world, 0, ns, &free_ns);
		ns += exponential(world, 1e9 / scenario->ops_hz);
		if (scenario->busy_s > 0 && ns > busy_until_ns) {
			ns += between(world, scenario->gap_s[0], scenario->gap_s[1]) * 1e9;
			idle(world, done_ns, ns);
			busy_until_ns = ns + exponential(world, scenario->busy_s * 1e9);
		}
	}
	if (scenario->heartbeat_s <= 0)
		return;
	free_ns = 0;
	for (ns = 5e5; ns < world->end_ns; ns += scenario->heartbeat_s * 1e9)
		make_op(world, 1, awake(world, ns), &free_ns);
}

static int by_completion(const void *left, const void *right)
{
	const struct truth_op *a = left, *b = right;

	if (a->complete_ns != b->complete_ns)
		return a->complete_ns < b->complete_ns ? -1 : 1;
	return (a->submit_ns > b->submit_ns) - (a->submit_ns < b->submit_ns);
}

static void shuffle(struct world *world)
{
	struct clock_truth *truth = world->truth;

	for (uint32_t i = 0; i + 1 < truth->n_ops && world->scenario->shuffle > 0; i++) {
		uint32_t left = truth->n_ops - i, n = world->scenario->shuffle;
		uint32_t other = i + (uint32_t)(next_random(&world->state) % (left < n ? left : n));
		struct truth_op swapped = truth->ops[i];

		truth->ops[i] = truth->ops[other];
		truth->ops[other] = swapped;
	}
}

static void take_bracket_of(struct truth_op *op, const struct truth_op *other)
{
	op->submit_ns = other->submit_ns;
	op->complete_ns = other->complete_ns;
	op->lie = TRUTH_FALSE_BRACKET;
}

/* Runs of records have the brackets of those beside them. */
static void shift_pairs(struct world *world)
{
	const struct clock_scenario *scenario = world->scenario;
	struct clock_truth *truth = world->truth;

	for (uint32_t k = 0; k < scenario->n_excursions && scenario->off_run[1] > 0; k++) {
		uint32_t part = truth->n_ops / scenario->n_excursions;
		uint32_t n = (uint32_t)between(world, scenario->off_run[0], scenario->off_run[1]);
		uint32_t at = k * part + (uint32_t)between(world, 0.1 * part, 0.6 * part);

		n = at + n < truth->n_ops ? n : truth->n_ops - 1 - at;
		for (uint32_t i = 0; i < n && !scenario->is_off_back; i++)
			take_bracket_of(&truth->ops[at + i], &truth->ops[at + i + 1]);
		for (uint32_t i = n; i > 0 && scenario->is_off_back; i--)
			take_bracket_of(&truth->ops[at + i], &truth->ops[at + i - 1]);
	}
}

/* Of the counter: a stop, the other rate, a stop. Returns when it is over. */
static double plan_excursion(struct world *world, double ns, double length_ns)
{
	const struct clock_scenario *scenario = world->scenario;
	struct clock_plan *plan = &world->excursions;
	double ppm = scenario->excursion_ppm * 1e-6, stop_ns = scenario->stop_us * 1e3;

	if (stop_ns > 0)
		plan_add(plan, ns, STOPPED);
	for (uint32_t i = 0; scenario->is_ramp && i <= 2 * RAMP; i++)
		plan_add(plan, ns + length_ns * i / RAMP,
		         ppm * (i < RAMP ? i : 2 * RAMP - i) / RAMP);
	if (scenario->is_ramp)
		return ns + 2 * length_ns;
	plan_add(plan, ns + stop_ns, ppm);
	ns += stop_ns + length_ns;
	if (stop_ns > 0)
		plan_add(plan, ns, STOPPED);
	plan_add(plan, ns + stop_ns, 0);
	return ns + stop_ns;
}

static void plan_excursions(struct world *world)
{
	const struct clock_scenario *scenario = world->scenario;
	double part_ns = world->end_ns / (scenario->n_excursions + 1e-9), end_ns = 0;

	for (uint32_t k = 0; k < scenario->n_excursions; k++) {
		double ns = fmax(end_ns, part_ns * (k + between(world, 0.1, 0.6)));
		double length_ns =
			between(world, scenario->excursion_s[0], scenario->excursion_s[1]) * 1e9;

		end_ns = plan_excursion(world, ns, length_ns);
		if (scenario->host_bend_ppm != 0) {
			plan_add(&world->bends, ns, scenario->host_bend_ppm * 1e-6);
			plan_add(&world->bends, ns + length_ns, 0);
		}
		if (scenario->host_jump_us != 0)
			plan_add(&world->jumps, ns, k % 2 ? 0 : scenario->host_jump_us * 1e3);
	}
}

static void world_init(struct world *world, uint64_t seed)
{
	const struct clock_scenario *scenario = world->scenario;

	world->state = seed * 0x2545f4914f6cdd1du;
	for (const char *c = scenario->name; *c; c++) /* no two see the same luck */
		world->state = (world->state ^ (uint8_t)*c) * 0x100000001b3u;
	world->end_ns = scenario->duration_s * 1e9;
	world->cell_ns = world->end_ns * 1.2 / N_CELLS; /* the last operation may end later */
	world->step_ns[0] = world->end_ns * between(world, 0.2, 0.5);
	world->step_ns[1] = world->step_ns[0] + world->end_ns * scenario->step_rest;
	world->host_ns = world->end_ns * between(world, 0.3, 0.6);
	for (uint32_t i = 0; i < scenario->n_resets; i++)
		world->reset_ns[i] = world->end_ns * (i + between(world, 0.7, 1.3)) /
		                     (scenario->n_resets + 1);
	walk_init(world);
	plan_excursions(world);
}

void clock_scenario_make(const struct clock_scenario *scenario, uint64_t seed,
                         struct clock_truth *truth)
{
	struct clock_scenario filled = *scenario;
	struct world *world = calloc(1, sizeof(*world));

	fill_in(&filled);
	*truth = (struct clock_truth){
		.scene = {.name = filled.name,
	                  .seed = seed,
	                  .hz = filled.hz,
	                  .origin_ns = ORIGIN_NS},
		.n_lives = filled.n_resets + 1,
	};
	*world = (struct world){.scenario = &filled, .truth = truth, .n_allocated = 1024};
	truth->ops = malloc(world->n_allocated * sizeof(*truth->ops));
	world_init(world, seed);
	if (filled.job_ops > 0)
		make_jobs(world);
	else
		make_work(world);
	qsort(truth->ops, truth->n_ops, sizeof(*truth->ops), by_completion);
	shift_pairs(world);
	shuffle(world);
	truth->scene.n_ops = truth->n_ops;
	plan_release(&world->excursions);
	plan_release(&world->idles);
	plan_release(&world->bends);
	plan_release(&world->jumps);
	free(world);
}
