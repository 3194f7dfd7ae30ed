/* SPDX-License-Identifier: Apache-2.0 */
#include "align_truth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LATENCY_NS  5000  /* from the last enter, or the send, to the first exit */
#define EXIT_NS     15000 /* exits are spread over this */
#define TAIL_SHARE  0.02
#define TAIL_NS     1e6
#define TIGHT_SHARE 0.01
#define WANDER_NS   40e9 /* period of the sine */

/* -- chance ------------------------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
	return (double)(next_random(state) >> 11) * 0x1p-53;
}

static double either_way(uint64_t *state, double most)
{
	return (2 * uniform(state) - 1) * most;
}

/* -- clocks ------------------------------------------------------------------------------------ */

static uint32_t host_of(const struct align_scene *scene, uint32_t rank)
{
	return rank / (scene->ranks_per_host ? scene->ranks_per_host : 1);
}

static double upset_at(const struct upset *upset, double ns)
{
	double lasted_ns = fmax(0, fmin(ns, upset->to_ns) - upset->from_ns);

	return upset->rate * lasted_ns + (ns > upset->from_ns ? upset->leap_ns : 0);
}

int64_t align_truth_clock(const struct align_truth *truth, uint32_t host, double ns)
{
	const struct align_scene *scene = &truth->scene;
	const struct host *clock = &truth->hosts[host];
	double turn = 2 * acos(-1) / WANDER_NS, third = truth->end_ns / 3;
	double slewed = fmax(0, fmin(ns, 2 * third) - third);
	double more = ns * clock->drift + clock->slew * slewed;

	more += scene->wander_ppm * 1e-6 / turn *
	        (cos(clock->phase) - cos(clock->phase + ns * turn));
	if (ns > truth->end_ns / 2)
		more += clock->jump_ns;
	more += clock->ramp * ns * (ns / truth->end_ns - 1) / 2;
	for (uint32_t i = 0; host == host_of(scene, scene->odd_rank) && i < truth->n_upsets; i++)
		more += upset_at(&truth->upsets[i], ns);
	return clock->offset_ns + (int64_t)floor(ns + more);
}

/* With chance of their own, so that the rest of a trace stays as it is. */
static void make_upsets(struct align_truth *truth)
{
	const struct align_scene *scene = &truth->scene;
	uint64_t state = ~scene->seed;

	assert_true(scene->n_jumps + scene->n_slews <= TRUTH_MAX_UPSETS);
	for (uint32_t i = 0; i < scene->n_jumps; i++) {
		double leap_ns = scene->leap_ns * (0.5 + uniform(&state) / 2);

		if (next_random(&state) % 2 && scene->is_backwards)
			leap_ns = -leap_ns;
		truth->upsets[truth->n_upsets++] = (struct upset){
			.from_ns = uniform(&state) * truth->end_ns, .leap_ns = leap_ns};
	}
	for (uint32_t i = 0; i < scene->n_slews; i++) {
		double from_ns = uniform(&state) * truth->end_ns;
		double rate = scene->swift_ppm * 1e-6;

		truth->upsets[truth->n_upsets++] = (struct upset){
			.from_ns = from_ns,
			.to_ns = from_ns + scene->swift_ns,
			.rate = next_random(&state) % 2 ? rate : -rate,
		};
	}
	for (uint32_t i = 0; i < truth->n_hosts; i++)
		truth->hosts[i].ramp = either_way(&state, scene->ramp_ppm * 1e-6);
}

static void make_hosts(struct align_truth *truth, uint64_t *state)
{
	const struct align_scene *scene = &truth->scene;

	truth->n_hosts = host_of(scene, scene->n_ranks - 1) + 1 + scene->n_empty;
	truth->hosts = calloc(truth->n_hosts, sizeof(*truth->hosts));
	truth->clocks = calloc(truth->n_hosts, sizeof(*truth->clocks));
	for (uint32_t i = 0; i < truth->n_hosts; i++) {
		double off = either_way(state, scene->offset_ns);

		truth->hosts[i] = (struct host){
			.offset_ns = scene->origin_ns + (int64_t)off + scene->boot_ns * i,
			.drift = either_way(state, scene->drift_ppm * 1e-6),
			.phase = either_way(state, acos(-1)),
			.slew = i % 2 ? scene->slew_ppm * 1e-6 : 0,
			.jump_ns = i + 1 + scene->n_empty == truth->n_hosts ? scene->jump_ns : 0,
		};
		/* What NTP makes of it: right to a few ms. */
		truth->clocks[i].epoch_offset_ns = (int64_t)either_way(state, 5e6) -
		                                   truth->hosts[i].offset_ns;
	}
	make_upsets(truth);
}

static void make_processes(struct align_truth *truth)
{
	uint32_t n = truth->scene.n_ranks + truth->scene.n_empty;

	truth->processes = calloc(n, sizeof(*truth->processes));
	for (uint32_t i = 0; i < n; i++)
		truth->processes[i] = (struct process){
			.rank = (int32_t)i,
			.host_clock = i < truth->scene.n_ranks ? host_of(&truth->scene, i)
		                                               : truth->n_hosts - (n - i),
		};
	truth->identity = (struct identity){
		.processes = truth->processes,
		.n_processes = n,
		.host_clocks = truth->clocks,
		.n_host_clocks = truth->n_hosts,
		.strings = truth->strings,
	};
}

/* -- work -------------------------------------------------------------------------------------- */

struct maker {
	struct align_truth *truth;
	struct string_cache cache;
	uint64_t state;
	double *ready_ns; /* owned: of each rank */
	uint32_t n_allocated, n_rounds;
};

static uint32_t intern(struct maker *maker, const char *text)
{
	uint32_t id;

	assert_int_equal(string_intern(&maker->cache, text, &id), 0);
	return id;
}

static struct truth_point *add_point(struct maker *maker, uint32_t rank, double enter_ns,
                                     double exit_ns)
{
	struct align_truth *truth = maker->truth;
	struct truth_point *point;

	if (truth->n_points == maker->n_allocated) {
		maker->n_allocated = 2 * maker->n_allocated + 64;
		truth->points = realloc(truth->points, maker->n_allocated * sizeof(*truth->points));
		assert_non_null(truth->points);
	}
	point = &truth->points[truth->n_points++];
	*point = (struct truth_point){
		.point = {.process = rank, .seq = maker->n_rounds},
		.enter_ns = enter_ns,
		.exit_ns = exit_ns,
		.round = maker->n_rounds,
	};
	maker->ready_ns[rank] = exit_ns;
	return point;
}

/* One side is told late, three times of four the same. */
static double skew_of(struct maker *maker, bool is_first, bool is_usual)
{
	double ns = maker->truth->scene.skew_ns * (0.7 + 0.3 * uniform(&maker->state));

	return is_first == is_usual ? 0 : ns;
}

/* One in a hundred exits is tight. */
static double loose_exit_after(struct maker *maker, double release_ns)
{
	double loose_ns = maker->truth->scene.loose_ns;

	if (uniform(&maker->state) < TIGHT_SHARE)
		return release_ns - log(1 - uniform(&maker->state)) * loose_ns / 400;
	return release_ns + loose_ns * (1 + 7 * uniform(&maker->state)) / 8;
}

static double exit_after(struct maker *maker, double release_ns)
{
	double ns = release_ns + LATENCY_NS + uniform(&maker->state) * EXIT_NS;

	if (maker->truth->scene.loose_ns > 0)
		return loose_exit_after(maker, release_ns + LATENCY_NS);
	if (uniform(&maker->state) < TAIL_SHARE)
		ns -= log(1 - uniform(&maker->state)) * TAIL_NS;
	return ns;
}

/* All-reduces among ranks [from, to), each beginning where its members are ready. */
static void meet(struct maker *maker, uint32_t from, uint32_t to, double start_ns,
                 const char *group)
{
	const struct align_scene *scene = &maker->truth->scene;
	uint32_t late = from + (uint32_t)(next_random(&maker->state) % (to - from));
	double enter_ns[64], release_ns = 0;
	bool is_usual = true;
	char peers[16] = "";

	if (scene->is_fixed)
		late = to - 1;
	for (uint32_t rank = from; rank < to; rank++) {
		double ns = fmax(start_ns, maker->ready_ns[rank] + 20000);

		ns += -log(1 - uniform(&maker->state)) * 50000;
		if (rank == late)
			ns += scene->straggle_ns * (0.5 + uniform(&maker->state) / 2);
		enter_ns[rank - from] = ns;
		release_ns = fmax(release_ns, ns);
	}
	if (scene->skew_ns > 0)
		is_usual = uniform(&maker->state) < 0.75;
	for (uint32_t rank = from; rank < to; rank++) {
		double skew_ns = scene->skew_ns > 0 ? skew_of(maker, rank == from, is_usual) : 0;
		struct truth_point *point = add_point(maker, rank, enter_ns[rank - from],
		                                      exit_after(maker, release_ns) + skew_ns);

		if (scene->shape == TRUTH_PAIRS)
			snprintf(peers, sizeof(peers), "%u", rank == from ? from + 1 : from);
		point->point.op = intern(maker, rank % 2 ? "AllReduce" : "all_reduce");
		point->point.group = intern(maker, group);
		point->point.peers = intern(maker, peers);
	}
	maker->n_rounds++;
}

static void pass(struct maker *maker, uint32_t from, uint32_t to, double start_ns)
{
	double send_ns = fmax(start_ns, maker->ready_ns[from] + 20000);
	double receive_ns = fmax(start_ns, maker->ready_ns[to] + 20000), arrive_ns;
	struct truth_point *point;
	char peer[16];

	send_ns += -log(1 - uniform(&maker->state)) * 50000;
	arrive_ns = exit_after(maker, fmax(send_ns, receive_ns));
	point = add_point(maker, from, send_ns, send_ns + 4000);
	snprintf(peer, sizeof(peer), "%u", to);
	point->point.op = intern(maker, "send");
	point->point.peers = intern(maker, peer);
	point = add_point(maker, to, receive_ns, arrive_ns);
	snprintf(peer, sizeof(peer), "%u", from);
	point->point.op = intern(maker, "recv");
	point->point.peers = intern(maker, peer);
	maker->n_rounds++;
}

static void make_round(struct maker *maker, uint32_t round)
{
	const struct align_scene *scene = &maker->truth->scene;
	double start_ns = 1e6 + round * scene->period_ns;
	uint32_t n = scene->n_ranks;

	switch (scene->shape) {
	case TRUTH_ALL:
		meet(maker, 0, n, start_ns, "world");
		return;
	case TRUTH_PAIRS:
		for (uint32_t rank = round % 2; rank + 1 < n; rank += 2)
			meet(maker, rank, rank + 2, start_ns, "pair");
		return;
	case TRUTH_HALVES:
		meet(maker, 0, n / 2, start_ns, "low");
		meet(maker, n / 2, n, start_ns, "high");
		return;
	case TRUTH_PIPELINE:
	case TRUTH_DOWN:
		for (uint32_t rank = 0; rank + 1 < n; rank++)
			pass(maker, rank, rank + 1, start_ns);
		for (uint32_t rank = n - 1; rank > 0 && scene->shape == TRUTH_PIPELINE; rank--)
			pass(maker, rank, rank - 1, start_ns);
	}
}

/* -- what one rank does else ------------------------------------------------------------------- */

/* How much of what grows has grown. */
static double grown_at(const struct align_truth *truth, double ns)
{
	double warm_ns = truth->scene.warm_ns;

	return warm_ns > 0 ? 1 - exp(-ns / warm_ns) : ns / truth->end_ns;
}

/* Stamps of the odd rank that are true, but farther and farther from what the others do. */
static void shift_stamps(struct align_truth *truth, struct truth_point *point)
{
	if (point->point.process != truth->scene.odd_rank)
		return;
	point->enter_ns -= truth->scene.early_ns * grown_at(truth, point->enter_ns);
	point->exit_ns += truth->scene.late_ns * grown_at(truth, point->exit_ns);
}

/* -- records ----------------------------------------------------------------------------------- */

/* Stamps all points; some lie, some are lost. A jump of a clock changes what is stamped, not what
 * is true. */
static void record(struct maker *maker)
{
	struct align_truth *truth = maker->truth;
	const struct align_scene *scene = &truth->scene;
	uint32_t n = 0;

	for (uint32_t i = 0; i < truth->n_points; i++) {
		struct truth_point *point = &truth->points[i];
		uint32_t host = host_of(scene, point->point.process);

		if (uniform(&maker->state) < scene->drop_share)
			continue;
		shift_stamps(truth, point);
		point->is_lie = uniform(&maker->state) < scene->false_share;
		if (point->is_lie) {
			double off = 1e6 + uniform(&maker->state) * 19e6;

			off = next_random(&maker->state) % 2 ? off : -off;
			point->enter_ns += off;
			point->exit_ns += off;
		}
		point->point.enter_host_ns = align_truth_clock(truth, host, point->enter_ns);
		point->point.exit_host_ns = align_truth_clock(truth, host, point->exit_ns);
		truth->points[n++] = *point;
	}
	truth->n_points = n;
}

void align_truth_init(struct align_truth *truth, const struct align_scene *scene)
{
	struct maker maker = {.truth = truth, .state = scene->seed};

	*truth = (struct align_truth){.scene = *scene, .strings = string_pool_new()};
	assert_non_null(truth->strings);
	string_cache_init(&maker.cache, truth->strings);
	truth->end_ns = 2e6 + scene->n_rounds * scene->period_ns;
	make_hosts(truth, &maker.state);
	make_processes(truth);
	maker.ready_ns = calloc(scene->n_ranks, sizeof(*maker.ready_ns));
	for (uint32_t round = 0; round < scene->n_rounds; round++)
		make_round(&maker, round);
	record(&maker);
	free(maker.ready_ns);
	string_cache_release(&maker.cache);
}

void align_truth_release(struct align_truth *truth)
{
	string_pool_free(truth->strings);
	free(truth->points);
	free(truth->hosts);
	free(truth->processes);
	free(truth->clocks);
}

void align_truth_points(const struct align_truth *truth, struct table *points)
{
	for (uint32_t i = 0; i < truth->n_points; i++) {
		struct sync_point *point = table_append(points, sizeof(*point));

		assert_non_null(point);
		*point = truth->points[i].point;
	}
}

/* -- judging ----------------------------------------------------------------------------------- */

struct judge {
	const struct align_truth *truth;
	const struct alignment *alignment;
	struct align_verdict *verdict;
	double *errors; /* owned */
};

static void judge_moment(struct judge *judge, uint32_t rank, double ns)
{
	const struct align_truth *truth = judge->truth;
	int64_t host_ns = align_truth_clock(truth, host_of(&truth->scene, rank), ns);
	struct aligned aligned = alignment_place(judge->alignment, rank, host_ns);
	double error = fabs((double)(aligned.time_ns - align_truth_clock(truth, 0, ns)));

	judge->errors[judge->verdict->n++] = error;
	if (aligned.status != TIME_CERTIFIED)
		return;
	judge->verdict->n_certified++;
	judge->verdict->width_ns += aligned.err_ns;
	judge->verdict->worst_ns = fmax(judge->verdict->worst_ns, error - aligned.err_ns);
	judge->verdict->n_outside += error > aligned.err_ns ||
	                             error > alignment_bound(judge->alignment, rank,
	                                                     aligned.time_ns);
}

static void judge_order(struct judge *judge, uint32_t rank, double ns)
{
	uint32_t host = host_of(&judge->truth->scene, rank);
	int64_t host_ns = align_truth_clock(judge->truth, host, ns);
	int64_t time_ns = alignment_place(judge->alignment, rank, host_ns).time_ns;

	for (int64_t later = 1; later < 100000; later *= 10)
		judge->verdict->n_backwards +=
			alignment_place(judge->alignment, rank, host_ns + later).time_ns < time_ns;
}

static bool is_before(const struct truth_point *point, const struct align_truth *truth)
{
	return strcmp(string_get(truth->strings, point->point.op), "recv") != 0;
}

static bool is_after(const struct truth_point *point, const struct align_truth *truth)
{
	return strcmp(string_get(truth->strings, point->point.op), "send") != 0;
}

/* The last enter and the first exit of a round. */
struct edges {
	int64_t enter_ns, exit_ns;
};

static const struct edges no_edges = {INT64_MIN, INT64_MAX};

static void edges_add(struct edges *edges, const int64_t *enter_ns, const int64_t *exit_ns)
{
	if (enter_ns && *enter_ns > edges->enter_ns)
		edges->enter_ns = *enter_ns;
	if (exit_ns && *exit_ns < edges->exit_ns)
		edges->exit_ns = *exit_ns;
}

static void judge_rounds(struct judge *judge)
{
	const struct align_truth *truth = judge->truth;
	const struct truth_point *points = truth->points;
	struct edges all = no_edges, certain = no_edges;

	for (uint32_t i = 0; i < truth->n_points; i++) {
		const struct sync_point *point = &points[i].point;
		struct aligned enter = alignment_place(judge->alignment, point->process,
		                                       point->enter_host_ns);
		struct aligned exit = alignment_place(judge->alignment, point->process,
		                                      point->exit_host_ns);
		bool has_enter = !points[i].is_lie && is_before(&points[i], truth);
		bool has_exit = !points[i].is_lie && is_after(&points[i], truth);

		edges_add(&all, has_enter ? &enter.time_ns : NULL, has_exit ? &exit.time_ns : NULL);
		has_enter = has_enter && enter.status == TIME_CERTIFIED;
		has_exit = has_exit && exit.status == TIME_CERTIFIED;
		edges_add(&certain, has_enter ? &enter.time_ns : NULL,
		          has_exit ? &exit.time_ns : NULL);
		if (i + 1 == truth->n_points || points[i + 1].round != points[i].round) {
			judge->verdict->n_violations += all.enter_ns > all.exit_ns;
			judge->verdict->n_inversions += certain.enter_ns > certain.exit_ns;
			all = certain = no_edges;
		}
	}
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

void align_truth_judge(const struct align_truth *truth, const struct alignment *alignment,
                       struct align_verdict *ret_verdict)
{
	struct judge judge = {truth, alignment, ret_verdict, NULL};

	*ret_verdict = (struct align_verdict){.n = 0};
	judge.errors = malloc((3ull * truth->n_points + 1) * sizeof(*judge.errors));
	for (uint32_t i = 0; i < truth->n_points; i++) {
		const struct truth_point *point = &truth->points[i];
		uint32_t rank = point->point.process;

		if (host_of(&truth->scene, rank) == 0)
			continue;
		judge_moment(&judge, rank, point->enter_ns);
		judge_moment(&judge, rank, point->exit_ns);
		judge_moment(&judge, rank, point->exit_ns + truth->scene.period_ns / 3);
		judge_order(&judge, rank, point->exit_ns);
	}
	judge_rounds(&judge);
	qsort(judge.errors, ret_verdict->n, sizeof(*judge.errors), compare_doubles);
	if (ret_verdict->n_certified)
		ret_verdict->width_ns /= (double)ret_verdict->n_certified;
	if (ret_verdict->n) {
		ret_verdict->p50_ns = judge.errors[ret_verdict->n / 2];
		ret_verdict->p99_ns = judge.errors[ret_verdict->n * 99 / 100];
		ret_verdict->max_ns = judge.errors[ret_verdict->n - 1];
	}
	free(judge.errors);
}
