/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of ranks whose clocks are known: whatever their offsets, rates and delays are, each time
 * that is shown lies within its bound.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fresh_seed.h"
#include "nsys_fixture.h"

#define MAX_RANKS     4
#define N_COLLECTIVES 120
#define BEGIN_NS      INT64_C(5000000000)
#define LATEST_NS     30000000 /* that a part is; what is usual is some us */

enum { MPI_INIT = 1, BARRIER, ALLREDUCE, BCAST, N_NAMES };

struct rank {
	int64_t start_ns, epoch_ns; /* of its session: in true time, and what it says of that */
	double rate;
	int64_t late_ns, slow_ns; /* that it enters and leaves later than others, always */
	int64_t enter_ns[N_COLLECTIVES], exit_ns[N_COLLECTIVES]; /* true times */
};

struct world {
	uint64_t random;
	int n_ranks;
	struct rank ranks[MAX_RANKS];
	int ops[N_COLLECTIVES], roots[N_COLLECTIVES];
};

/* -- what is true ---------------------------------------------------------------------------- */

static int64_t below(struct world *world, int64_t n)
{
	world->random = world->random * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((world->random >> 33) % (uint64_t)n);
}

/* With Pareto's tail: one in a hundred is some fifty times what is usual. */
static int64_t draw_delay(struct world *world, int64_t usual_ns)
{
	double share = (double)(below(world, 1 << 30) + 1) / (1 << 30);
	double ns = (double)usual_ns * (pow(share, -1 / 1.2) - 1);

	return ns < LATEST_NS ? (int64_t)ns : LATEST_NS;
}

static void draw_rank(struct world *world, struct rank *rank)
{
	static const int64_t delays_ns[] = {0, 0, 5000, 50000};

	rank->start_ns = 1000000000 + below(world, 2000000000);
	rank->epoch_ns = NSYS_EPOCH_NS + rank->start_ns + below(world, 10000000) - 5000000;
	rank->rate = 1 + (double)(below(world, 160001) - 80000) * 1e-9;
	rank->late_ns = delays_ns[below(world, 4)];
	rank->slow_ns = delays_ns[below(world, 3)];
}

/* Nobody leaves before all have entered; of a broadcast, before the root has. */
static int64_t draw_collective(struct world *world, int i, int64_t at_ns, int64_t usual_ns)
{
	int64_t all_ns = 0, last_ns = 0;

	world->ops[i] = BARRIER + (int)below(world, N_NAMES - BARRIER);
	world->roots[i] = (int)below(world, world->n_ranks);
	for (int k = 0; k < world->n_ranks; k++) {
		struct rank *rank = &world->ranks[k];

		rank->enter_ns[i] = at_ns + rank->late_ns + draw_delay(world, 10 * usual_ns);
		all_ns = rank->enter_ns[i] > all_ns ? rank->enter_ns[i] : all_ns;
	}
	for (int k = 0; k < world->n_ranks; k++) {
		struct rank *rank = &world->ranks[k];
		int64_t root_ns = world->ranks[world->roots[i]].enter_ns[i];
		int64_t free_ns = world->ops[i] == BCAST ? root_ns : all_ns;

		free_ns = rank->enter_ns[i] > free_ns ? rank->enter_ns[i] : free_ns;
		rank->exit_ns[i] = free_ns + 300 + rank->slow_ns + draw_delay(world, usual_ns);
		last_ns = rank->exit_ns[i] > last_ns ? rank->exit_ns[i] : last_ns;
	}
	return last_ns;
}

static void draw_world(struct world *world, int n_ranks, uint64_t seed)
{
	static const int64_t usual_ns[] = {200, 2000, 20000}, gaps_ns[] = {1000000, 20000000};
	int64_t usual, gap, at_ns = BEGIN_NS;

	*world = (struct world){.random = seed, .n_ranks = n_ranks};
	usual = usual_ns[below(world, 3)];
	gap = gaps_ns[below(world, 2)];
	for (int k = 0; k < n_ranks; k++)
		draw_rank(world, &world->ranks[k]);
	for (int i = 0; i < N_COLLECTIVES; i++)
		at_ns = draw_collective(world, i, at_ns + 1000 + below(world, gap), usual);
}

/* What the clock of a session shows. */
static int64_t session_ns(const struct rank *rank, int64_t true_ns)
{
	int64_t passed_ns = true_ns - rank->start_ns;

	return passed_ns + (int64_t)floor((double)passed_ns * (rank->rate - 1));
}

/* -- its reports ----------------------------------------------------------------------------- */

static void write_collectives(FILE *sql, const struct world *world, int k)
{
	const struct rank *rank = &world->ranks[k];

	for (int i = 0; i < N_COLLECTIVES; i++) {
		bool has_root = world->ops[i] == BCAST;

		fprintf(sql,
		        "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (%" PRId64 ", %" PRId64
		        ", TID(70, 70), %d, %d, nullif(%d, -1), 8, 8, NULL);",
		        session_ns(rank, rank->enter_ns[i]), session_ns(rank, rank->exit_ns[i]),
		        world->ops[i], 7000 + k, has_root ? world->roots[i] : -1);
	}
}

static char *make_report(const struct flex_run *run, const struct world *world, int k)
{
	char name[32], *text, *path;
	size_t n_bytes;
	FILE *sql = open_memstream(&text, &n_bytes);

	assert_non_null(sql);
	fprintf(sql,
	        "%sBEGIN; UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = %" PRId64 ";"
	        "INSERT INTO StringIds VALUES (1, 'MPI_Init'), (2, 'MPI_Barrier'),"
	        " (3, 'MPI_Allreduce'), (4, 'MPI_Bcast');"
	        "INSERT INTO MPI_RANKS VALUES (TID(70, 70), %d);"
	        "INSERT INTO MPI_OTHER_EVENTS VALUES (%" PRId64 ", %" PRId64 ", TID(70, 70), 1);"
	        "INSERT INTO MPI_COMMUNICATORS VALUES (%d, 0, %d, NULL, %d, %d, 0, 4096, '');",
	        nsys_schema_2024, world->ranks[k].epoch_ns, k,
	        session_ns(&world->ranks[k], BEGIN_NS - 100),
	        session_ns(&world->ranks[k], BEGIN_NS), k, 7000 + k, k, world->n_ranks);
	write_collectives(sql, world, k);
	fprintf(sql, "COMMIT;");
	fclose(sql);
	snprintf(name, sizeof(name), "rank%d.sqlite", k);
	path = nsys_make(run, name, text);
	free(text);
	return path;
}

/* -- what is shown --------------------------------------------------------------------------- */

/* The rank whose clock all times are on. */
static const struct rank *find_reference(const struct flex_run *run, const struct world *world)
{
	struct csv_table alignment = flex_read_table(run, "tables/alignment.csv");
	uint64_t row = flex_row(&alignment, "half_width_ns_max", "0.000", "offset_ns", "0.000");
	int64_t rank = flex_number(&alignment, row, "rank");

	csv_table_release(&alignment);
	assert_in_range(rank, 0, world->n_ranks - 1);
	return &world->ranks[rank];
}

static void expect_time(const struct flex_run *run, uint64_t row, const char *column,
                        int64_t true_ns)
{
	int64_t off_ns = llabs(flex_number(&run->host, row, column) - true_ns);
	int64_t err_ns = flex_number(&run->host, row, "err_ns");

	if (off_ns > err_ns + 1) /* the clocks of the world tick in ns */
		fail_msg("row %" PRIu64 ": %s is off by %" PRId64 " ns, and may be by %" PRId64,
		         row, column, off_ns, err_ns);
}

static void expect_bounds(const struct flex_run *run, const struct world *world)
{
	const struct rank *reference = find_reference(run, world);
	uint64_t n = 0;

	for (uint64_t i = 0; i < run->host.n_rows; i++) {
		const struct rank *rank = &world->ranks[flex_number(&run->host, i, "rank")];
		const char *seq = strstr(flex_cell(&run->host, i, "args"), "\"seq\":");
		long place = seq ? strtol(seq + 6, NULL, 10) : -1;

		if (place < 0)
			continue;
		assert_string_equal(flex_cell(&run->host, i, "status"), "certified");
		expect_time(run, i, "start_ns",
		            reference->epoch_ns + session_ns(reference, rank->enter_ns[place]));
		expect_time(run, i, "end_ns",
		            reference->epoch_ns + session_ns(reference, rank->exit_ns[place]));
		n++;
	}
	assert_int_equal(n, world->n_ranks * N_COLLECTIVES);
}

static void test_nsys_worlds__times_of_ranks_hold_their_bounds(void **state)
{
	static const int n_ranks[] = {2, 4, 4, 4, 4};
	uint64_t seed = fresh_seed();

	for (size_t i = 0; i < sizeof(n_ranks) / sizeof(*n_ranks); i++) {
		struct flex_run *run = *state;
		struct world world;
		char *paths[MAX_RANKS];

		draw_world(&world, n_ranks[i], seed + i);
		for (int k = 0; k < world.n_ranks; k++)
			paths[k] = make_report(run, &world, k);
		flex_convert_files(run, (const char *const *)paths, (uint32_t)world.n_ranks);
		for (int k = 0; k < world.n_ranks; k++)
			free(paths[k]);
		expect_bounds(run, &world);
		flex_stop(state);
		flex_start(state);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nsys_worlds__times_of_ranks_hold_their_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
