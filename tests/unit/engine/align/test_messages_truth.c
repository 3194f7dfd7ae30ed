/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks whose devices send each other messages, turn after turn, and whose truth is known: what is
 * certified must hold, whatever was lost, came late or was called the same. The same few seeds in
 * the suite, many under soak, where FLEXTRACE_TEST_SEED is set.
 *
 * A counter here shows the ns of its host's clock, which `clocks_place` gives with an error.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/align/align.h"
#include "engine/align/messages.h"
#include "fresh_seed.h"

#define N_RANKS      4u
#define N_SEEDS      2
#define N_SOAK_SEEDS 24
#define ERR_NS       2000 /* of a counter */
#define FLIGHT_NS    4000 /* of a message, at least */
#define FIRST_NS     INT64_C(5000000000)

struct plan {
	const char *name;
	uint32_t n_turns;
	double period_ns, jitter_ns; /* of a turn */
	bool is_regular;             /* all messages leave when a turn begins */
	bool has_own_names;          /* each turn */
	bool is_multicast;           /* from rank 0 to all, and messages back */
	uint32_t n_shifted;          /* turns that odd ranks record later than even ones */
	double lost_share;           /* of all ends */
	double late_share, late_ns;  /* of sends that are stamped late, by up to this */
	double drift_ppm;            /* of hosts, up to this */
	double leap_ns;              /* of the last rank's clock, at some time */
	double least_certified;      /* share */
};

struct clocks {
	uint32_t err_ns;
};

struct placed clocks_place(const struct clocks *of, uint32_t counter, uint16_t segment,
                           uint64_t ticks)
{
	(void)counter;
	(void)segment;
	return (struct placed){(int64_t)ticks, of->err_ns, TIME_CERTIFIED};
}

bool clocks_refuse(const struct clocks *of, uint64_t op)
{
	(void)of;
	(void)op;
	return false;
}

struct run {
	const struct plan *plan;
	uint64_t state;
	struct process processes[N_RANKS];
	struct host_clock host_clocks[N_RANKS];
	struct device devices[N_RANKS];
	struct identity identity;
	struct string_cache cache;
	struct table ops;
	double offset_ns[N_RANKS], drift[N_RANKS], leap_at_ns;
	double *turn_ns; /* owned: when each begins */
};

static double uniform(struct run *run)
{
	uint64_t z = run->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double exponential(struct run *run, double mean)
{
	return -log(1 - uniform(run)) * mean;
}

static int64_t clock_of(const struct run *run, uint32_t rank, double ns)
{
	double more = rank == N_RANKS - 1 && ns > run->leap_at_ns ? run->plan->leap_ns : 0;

	return (int64_t)floor(run->offset_ns[rank] + ns * (1 + run->drift[rank]) + more);
}

/* -- making ------------------------------------------------------------------------------------ */

static void make_clocks(struct run *run)
{
	const struct plan *plan = run->plan;
	double at_ns = (double)FIRST_NS;

	run->turn_ns = malloc(plan->n_turns * sizeof(*run->turn_ns));
	assert_non_null(run->turn_ns);
	for (uint32_t i = 0; i < plan->n_turns; i++) {
		run->turn_ns[i] = at_ns;
		at_ns += plan->period_ns + exponential(run, plan->jitter_ns);
	}
	run->leap_at_ns = (double)FIRST_NS + uniform(run) * (at_ns - (double)FIRST_NS);
	for (uint32_t rank = 0; rank < N_RANKS; rank++) {
		run->offset_ns[rank] = 1e9 + uniform(run) * 4e9;
		run->drift[rank] = (2 * uniform(run) - 1) * plan->drift_ppm * 1e-6;
		run->processes[rank] = (struct process){.rank = (int32_t)rank, .host_clock = rank};
		run->devices[rank].process = rank;
	}
	run->identity = (struct identity){
		.processes = run->processes,
		.n_processes = N_RANKS,
		.host_clocks = run->host_clocks,
		.n_host_clocks = N_RANKS,
		.devices = run->devices,
		.n_devices = N_RANKS,
	};
}

/* An end of a message, all stamps at a true time; unless it was not recorded. */
static void add_end(struct run *run, uint32_t turn, uint32_t rank, const char *name, int32_t peer,
                    double ns)
{
	const struct plan *plan = run->plan;
	uint32_t first = rank % 2 ? plan->n_shifted : 0;
	bool is_lost = uniform(run) < plan->lost_share;
	double off_ns = (2 * uniform(run) - 1) * ERR_NS;
	struct tick_op *op;

	if (is_lost || turn < first || turn + plan->n_shifted >= plan->n_turns + first)
		return;
	op = table_append(&run->ops, sizeof(*op));
	assert_non_null(op);
	*op = (struct tick_op){.device = rank,
	                       .peer = peer,
	                       .kind = FLEXTRACE_DEVICE_MEMCPY_PTOP,
	                       .status = TIME_CERTIFIED};
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op->ticks[i] = (uint64_t)(clock_of(run, rank, ns) + (int64_t)off_ns);
	assert_int_equal(string_intern(&run->cache, name, &op->name), 0);
}

static double flight_ns(struct run *run)
{
	double ns = FLIGHT_NS + exponential(run, 5e3);

	return uniform(run) < 0.02 ? ns + exponential(run, 3e5) : ns;
}

static void send(struct run *run, uint32_t turn, uint32_t from, uint32_t to)
{
	const struct plan *plan = run->plan;
	double ns = run->turn_ns[turn] + (plan->is_regular ? 0 : uniform(run) * 2e5), told_ns = ns;
	uint32_t number = plan->has_own_names ? turn : 0;
	char name[80];

	if (uniform(run) < plan->late_share)
		told_ns += uniform(run) * plan->late_ns;
	snprintf(name, sizeof(name), "SenRdmaSend_1 [sync=g%u_s0_r%u_%u]", number, to, from);
	add_end(run, turn, from, name, (int32_t)to, told_ns);
	snprintf(name, sizeof(name), "SenRdmaReceive_1 [sync=g%u_s0_r%u_%u]", number, to, from);
	add_end(run, turn, to, name, (int32_t)from, ns + flight_ns(run));
}

static void send_to_all(struct run *run, uint32_t turn)
{
	double ns = run->turn_ns[turn] + uniform(run) * 2e5;

	add_end(run, turn, 0, "SenRdmaSend_1 Data [sync=g_s1_r0xe_0]", -1, ns);
	for (uint32_t rank = 1; rank < N_RANKS; rank++)
		add_end(run, turn, rank, "SenRdmaReceive_1 [sync=g_s1_r0xe_0]", 0,
		        ns + flight_ns(run));
}

static void make_messages(struct run *run)
{
	for (uint32_t turn = 0; turn < run->plan->n_turns; turn++) {
		if (run->plan->is_multicast)
			send_to_all(run, turn);
		for (uint32_t rank = 0; rank < N_RANKS; rank++) {
			uint32_t next = (rank + 1) % N_RANKS;

			if (!run->plan->is_multicast) {
				send(run, turn, rank, next);
				send(run, turn, next, rank);
			} else if (rank > 0) {
				send(run, turn, rank, 0);
			}
		}
	}
}

/* -- judging ----------------------------------------------------------------------------------- */

struct verdict {
	uint32_t n, n_certified, n_outside;
	double worst_ns, width_ns;
};

static struct verdict judge(const struct run *run, const struct alignment *alignment)
{
	struct verdict verdict = {0};

	for (uint32_t i = 0; i < run->plan->n_turns * (N_RANKS - 1); i++) {
		uint32_t rank = 1 + i % (N_RANKS - 1);
		double ns = run->turn_ns[i / (N_RANKS - 1)] + 1e5;
		struct aligned aligned = alignment_place(alignment, rank, clock_of(run, rank, ns));
		double error = fabs((double)(aligned.time_ns - clock_of(run, 0, ns)));

		verdict.n++;
		if (aligned.status != TIME_CERTIFIED)
			continue;
		verdict.n_certified++;
		verdict.width_ns += aligned.err_ns;
		verdict.n_outside += error > aligned.err_ns;
		verdict.worst_ns = fmax(verdict.worst_ns, error - aligned.err_ns);
	}
	return verdict;
}

static struct verdict verdict_of(const struct plan *plan, uint64_t seed)
{
	struct run run = {.plan = plan, .state = seed};
	struct align_options options = ALIGN_OPTIONS_INIT;
	const struct clocks clocks = {ERR_NS};
	struct table points = TABLE_INIT;
	struct alignment *alignment = NULL;
	struct string_pool *strings = string_pool_new();
	struct flextrace_error error;
	struct verdict verdict;
	struct ledger ledger;

	ledger_init(&ledger);
	string_cache_init(&run.cache, strings);
	make_clocks(&run);
	run.identity.strings = strings;
	make_messages(&run);
	assert_int_equal(messages_find(&(struct messages_input){&run.identity, &clocks, &run.ops,
	                                                        &run.cache, true},
	                               &points),
	                 0);
	assert_int_equal(align_run(&options, &run.identity, &points, &ledger, &alignment, &error),
	                 0);
	verdict = judge(&run, alignment);
	print_message("%s, seed %" PRIu64 ": %u of %u certified, +- %.1f us, %u outside by up to "
	              "%.1f us\n",
	              plan->name, seed, verdict.n_certified, verdict.n,
	              verdict.width_ns / 1e3 / (verdict.n_certified + 1e-9), verdict.n_outside,
	              verdict.worst_ns / 1e3);
	alignment_free(alignment);
	ledger_release(&ledger);
	table_release(&points);
	table_release(&run.ops);
	string_cache_release(&run.cache);
	string_pool_free(strings);
	free(run.turn_ns);
	return verdict;
}

/* clang-format off */
#define LOOP .n_turns = 300, .period_ns = 20e6, .drift_ppm = 20
static const struct plan plans[] = {
	{"uneven_turns", LOOP, .jitter_ns = 2e6, .least_certified = 1},
	{"nearly_even_turns", LOOP, .jitter_ns = 2e5, .least_certified = 1},
	{"names_of_their_own", LOOP, .has_own_names = true, .least_certified = 1},
	{"names_of_their_own_and_losses", LOOP, .has_own_names = true, .lost_share = 0.1,
	 .least_certified = 1},
	{"odd_ranks_a_turn_later", LOOP, .jitter_ns = 2e6, .n_shifted = 1, .least_certified = 1},
	{"odd_ranks_seven_turns_later", LOOP, .jitter_ns = 2e6, .n_shifted = 7,
	 .least_certified = 1},
	{"even_turns_and_odd_ranks_later", LOOP, .n_shifted = 1},
	{"even_turns_and_odd_ranks_half_a_run_later", LOOP, .n_shifted = 150},
	{"lost_ends", LOOP, .jitter_ns = 2e6, .lost_share = 0.01, .least_certified = 0.6},
	{"many_lost_ends", LOOP, .jitter_ns = 2e6, .lost_share = 0.1},
	{"even_turns_and_lost_ends", LOOP, .lost_share = 0.01},
	{"few_turns", .n_turns = 3, .period_ns = 20e6, .jitter_ns = 2e6, .drift_ppm = 20},
	{"late_sends", LOOP, .jitter_ns = 2e6, .late_share = 0.01, .late_ns = 8e3},
	{"turns_all_alike", LOOP, .is_regular = true, .n_shifted = 1},
	{"few_turns_and_odd_ranks_later", .n_turns = 4, .period_ns = 20e6, .jitter_ns = 2e6,
	 .n_shifted = 1, .drift_ppm = 20},
	{"few_turns_and_losses", .n_turns = 6, .period_ns = 20e6, .jitter_ns = 2e6,
	 .lost_share = 0.1, .drift_ppm = 20},
	{"a_jump", LOOP, .jitter_ns = 2e6, .leap_ns = 3e6, .least_certified = 0.9},
	{"a_jump_by_half_a_turn", LOOP, .jitter_ns = 2e6, .leap_ns = -1e7, .least_certified = 0.9},
	{"a_jump_and_losses", LOOP, .jitter_ns = 2e6, .leap_ns = 3e6, .lost_share = 0.01},
	{"a_multicast", LOOP, .jitter_ns = 2e6, .is_multicast = true, .least_certified = 1},
	{"a_multicast_a_turn_later", LOOP, .jitter_ns = 2e6, .is_multicast = true, .n_shifted = 1},
	{"an_even_multicast_a_turn_later", LOOP, .is_multicast = true, .n_shifted = 1},
	{"a_multicast_and_losses", LOOP, .jitter_ns = 2e6, .is_multicast = true,
	 .lost_share = 0.01},
};
/* clang-format on */

static void test_holds(void **state)
{
	const struct plan *plan = *state;
	uint64_t first = 100, n = N_SEEDS;

	if (getenv("FLEXTRACE_TEST_SEED")) {
		first = fresh_seed();
		n = N_SOAK_SEEDS;
	}
	for (uint64_t seed = first; seed < first + n; seed++) {
		struct verdict verdict = verdict_of(plan, seed);

		if (plan->late_share > 0) /* false evidence */
			assert_true(verdict.worst_ns < 5e3);
		else
			assert_int_equal(verdict.n_outside, 0);
		assert_true(verdict.n_certified >= plan->least_certified * verdict.n);
	}
}

int main(void)
{
	enum { N = sizeof(plans) / sizeof(plans[0]) };
	struct CMUnitTest tests[N];

	for (int i = 0; i < N; i++)
		tests[i] = (struct CMUnitTest){
			.name = plans[i].name,
			.test_func = test_holds,
			.initial_state = (void *)(uintptr_t)&plans[i],
		};
	return cmocka_run_group_tests_name("messages_truth", tests, NULL, NULL);
}
