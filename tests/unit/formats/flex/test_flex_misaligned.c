/* SPDX-License-Identifier: Apache-2.0 */
/* Made Flex traces whose times of device work are wrong: repaired where "AIU Roundtrip" tells how,
 * counted where it only tells that. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "flex_judge.h"
#include "flex_truth.h"
#include "fresh_seed.h"

#define N_SEEDS 3u
#define NEAR_NS 10000000 /* how far from its round trip work may seem to be */
#define MOST_NS 20000    /* that work may be off where the round trips place it */

static uint64_t last_seed; /* no fixed one */

static uint64_t seed_of(unsigned i)
{
	return i < N_SEEDS ? i + 1 : last_seed;
}

/* Flex's times are true but for what is done to them. */
static struct flex_scene scene_of(uint64_t seed)
{
	struct flex_scene scene = flex_scene_of(seed);

	scene.n_ranks = 1 + (uint32_t)(seed % 3);
	scene.n_kernels = 6;
	scene.estimate_ns = 0;
	scene.estimate_ppm = 0;
	return scene;
}

static struct flex_run *convert(void **state, const struct flex_scene *scene,
                                const struct flex_damage *damage, bool aligns,
                                struct flex_truth *truth)
{
	struct flex_run *run;

	flex_stop(state);
	flex_start(state);
	run = *state;
	run->options.align.is_off = !aligns;
	assert_true(flex_truth_init(truth, scene));
	flex_damage(truth, damage);
	flex_add_truth(run, truth);
	flex_convert(run);
	assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], truth->n_ops);
	assert_int_equal(ledger_lost(&run->ledger), ledger_total(&run->ledger, LOSS_OUTLIER));
	return run;
}

/* Where a stamp was, on its own host's clock or the first one's. */
static int64_t true_ns(const struct flex_truth *truth, const struct flex_op *op, int stamp,
                       bool is_aligned)
{
	return is_aligned ? truth->ranks[0].origin_ns + (int64_t)floor(op->true_ns[stamp])
	                  : op->host_ns[stamp];
}

/* The row of the part that a control block is told by says how far it was moved, no other does. */
static void check_moved(const struct csv_table *events, uint64_t row, const struct flex_op *op,
                        int stamp)
{
	struct flex_phase phases[2];
	int told = phases[flex_phases(op, phases) - 1].from;

	if (stamp != told)
		assert_string_equal(flex_cell(events, row, "moved_ns"), "");
	else
		assert_int_equal(flex_number(events, row, "moved_ns"),
		                 flex_number(events, row, "start_ns") - op->flex_ns[told]);
}

/* Nothing is farther off than it says, nor takes longer on its own host's clock than it did.
 * Returns the most that a row is off. */
static double check_rows(const struct flex_run *run, const struct flex_truth *truth,
                         bool is_aligned)
{
	const struct csv_table *events = &run->events;
	double most_ns = 0;

	for (uint64_t row = 0; row < events->n_rows; row++) {
		const struct flex_op *op = flex_find_op(truth, events, row);
		int stamp = flex_first_stamp(flex_cell(events, row, "kind"));
		int64_t begin_ns = true_ns(truth, op, stamp, is_aligned);
		int64_t end_ns = true_ns(truth, op, stamp + 1, is_aligned);
		double off_ns = fabs((double)(flex_number(events, row, "start_ns") - begin_ns));
		double longer_ns =
			fabs((double)(flex_number(events, row, "dur_ns") - (end_ns - begin_ns)));

		assert_string_equal(flex_cell(events, row, "status"), "assumed");
		check_moved(events, row, op, stamp);
		if (is_aligned || *flex_cell(events, row, "err_ns"))
			assert_true(off_ns <= (double)flex_number(events, row, "err_ns"));
		assert_true(is_aligned || longer_ns <= 100 + 100e-6 * (double)(end_ns - begin_ns));
		most_ns = fmax(most_ns, off_ns);
	}
	return most_ns;
}

static void check_repair(void **state, const struct flex_damage *damage, double exec_ns)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		struct flex_scene scene = scene_of(seed_of(i));
		struct flex_damage of_seed = *damage;
		struct flex_truth truth;
		struct flex_run *run;
		double most_ns;

		of_seed.seed = seed_of(i);
		scene.exec_ns = exec_ns;
		run = convert(state, &scene, &of_seed, false, &truth);
		most_ns = check_rows(run, &truth, false);
		assert_int_equal(run->ledger.warnings[WARNING_OUTSIDE_TRIP], 0);
		if (i < N_SEEDS) {
			assert_true(most_ns <= MOST_NS);
			assert_true(run->ledger.warnings[WARNING_ESTIMATES_OFF] >= truth.n_ops / 2);
		}
		flex_truth_release(&truth);
	}
}

static void test_flex_misaligned__puts_shifted_work_into_its_round_trips(void **state)
{
	static const int64_t shifts_ns[] = {-3000000, -150000, 150000, 3000000};

	for (size_t i = 0; i < 4; i++) {
		const struct flex_damage damage = {.shift_ns = shifts_ns[i]};

		check_repair(state, &damage, 250e3);
	}
}

static void test_flex_misaligned__unstretches_work(void **state)
{
	static const double stretches_ppm[] = {-8000, 5300};

	for (size_t i = 0; i < 2; i++) {
		const struct flex_damage damage = {.stretch_ppm = stretches_ppm[i]};

		check_repair(state, &damage, 5e6);
	}
}

/* Of two times of a control block Flex's begin and the stamps are right. */
static void test_flex_misaligned__undoes_false_overlaps(void **state)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		const struct flex_damage damage = {
			.seed = seed_of(i), .overlaps = 0.2, .overlap_ns = 400000};
		struct flex_scene scene = scene_of(seed_of(i));
		struct flex_truth truth;
		struct flex_run *run = convert(state, &scene, &damage, false, &truth);
		double most_ns = check_rows(run, &truth, false);

		if (i < N_SEEDS)
			assert_true(most_ns <= MOST_NS);
		flex_truth_release(&truth);
	}
}

/* -- what can only be counted ---------------------------------------------------------------- */

/* Whether Flex's time of a control block is near no round trip of its rank. */
static bool is_outside(const struct flex_truth *truth, const struct flex_op *op)
{
	struct flex_phase phases[2];
	const struct flex_phase *phase = &phases[flex_phases(op, phases) - 1];

	for (uint32_t i = 0; i < truth->n_trips; i++) {
		const struct flex_trip *trip = &truth->trips[i];

		if (trip->rank == op->rank &&
		    trip->told_begin_ns - op->flex_ns[phase->from] <= NEAR_NS &&
		    op->flex_ns[phase->to] - trip->told_end_ns <= NEAR_NS)
			return false;
	}
	return true;
}

static uint64_t count_outside(const struct flex_truth *truth)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < truth->n_ops; k++)
		n += is_outside(truth, &truth->ops[k]);
	return n;
}

/* Whether a wrong epoch put work near another round trip, by chance: then nothing tells. */
static bool is_hidden(const struct flex_truth *truth, const struct flex_op *op, int stamp)
{
	return llabs(op->flex_ns[stamp] - op->host_ns[stamp]) > NEAR_NS && !is_outside(truth, op);
}

/* Work that stays doubted is marked; all other stands where it was, of fixed seeds. Of 8 in 600
 * others it stands elsewhere, some of it whole wraps away: as assumed, never as certified. */
static void check_marks(const struct flex_run *run, const struct flex_truth *truth, int64_t most_ns,
                        bool is_fixed)
{
	const struct csv_table *events = &run->events;
	const uint64_t *warnings = run->ledger.warnings;
	uint64_t n_doubted = count_outside(truth), n_marked = 0;

	for (uint64_t row = 0; row < events->n_rows; row++) {
		const struct flex_op *op = flex_find_op(truth, events, row);
		int stamp = flex_first_stamp(flex_cell(events, row, "kind"));
		int64_t off_ns = flex_number(events, row, "start_ns") - op->host_ns[stamp];
		const char *status = flex_cell(events, row, "status");
		bool may_be_off = !is_fixed && strcmp(status, "assumed") == 0;

		check_moved(events, row, op, stamp);
		if (strcmp(status, "outlier") != 0)
			assert_true(llabs(off_ns) <= most_ns || is_hidden(truth, op, stamp) ||
			            may_be_off);
		else if (*flex_cell(events, row, "moved_ns"))
			n_marked++;
	}
	assert_true(n_doubted > 0 || !is_fixed);
	assert_int_equal(n_marked, warnings[WARNING_OUTSIDE_TRIP]);
	assert_int_equal(n_marked, ledger_total(&run->ledger, LOSS_OUTLIER));
	/* Of others, work that a wrong epoch put into other round trips is found as well. */
	assert_true(n_marked + warnings[WARNING_WRONG_EPOCHS] >= n_doubted);
	if (is_fixed)
		assert_int_equal(n_marked + warnings[WARNING_WRONG_EPOCHS], n_doubted);
}

/* All work that is not marked stands where it was. */
static void check_placed(const struct flex_run *run, const struct flex_truth *truth,
                         int64_t most_ns)
{
	for (uint64_t row = 0; row < run->events.n_rows; row++) {
		const struct flex_op *op = flex_find_op(truth, &run->events, row);
		int stamp = flex_first_stamp(flex_cell(&run->events, row, "kind"));
		int64_t off_ns = flex_number(&run->events, row, "start_ns") - op->host_ns[stamp];

		if (strcmp(flex_cell(&run->events, row, "status"), "outlier") != 0)
			assert_true(llabs(off_ns) <= most_ns || is_hidden(truth, op, stamp));
	}
}

/* Work of a wrong epoch goes to the round trip that has none, whole wraps away. */
static void test_flex_misaligned__mends_work_of_wrong_epochs(void **state)
{
	static const int32_t wraps[] = {-2, 1, 3};

	for (unsigned i = 0; i < 3 * (N_SEEDS + 1); i++) {
		const struct flex_damage damage = {
			.seed = seed_of(i / 3), .gaps = 0.15, .gap_wraps = wraps[i % 3]};
		struct flex_scene scene = scene_of(damage.seed);
		struct flex_truth truth;
		struct flex_run *run = convert(state, &scene, &damage, false, &truth);

		check_marks(run, &truth, i / 3 < N_SEEDS ? MOST_NS : 10 * MOST_NS, i / 3 < N_SEEDS);
		if (i / 3 < N_SEEDS)
			assert_int_equal(run->ledger.warnings[WARNING_OUTSIDE_TRIP], 0);
		flex_truth_release(&truth);
	}
}

/* Only the second half of what was launched together is off: its round trip has room for it. */
static void test_flex_misaligned__mends_half_the_work_of_a_round_trip(void **state)
{
	static const int32_t wraps[] = {-1, 1, 2};

	for (unsigned i = 0; i < 3 * N_SEEDS; i++) {
		const struct flex_damage damage = {
			.seed = seed_of(i / 3), .half_gaps = 0.25, .gap_wraps = wraps[i % 3]};
		struct flex_scene scene = scene_of(damage.seed);
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = 1;
		scene.n_kernels = 30;
		run = convert(state, &scene, &damage, false, &truth);
		check_marks(run, &truth, MOST_NS, true);
		assert_int_equal(run->ledger.warnings[WARNING_OUTSIDE_TRIP], 0);
		flex_truth_release(&truth);
	}
}

/* Kernels that are much shorter than the others stand alone between those that are right. */
static void test_flex_misaligned__mends_every_other_work(void **state)
{
	for (unsigned i = 0; i < 3 * N_SEEDS; i++) {
		const struct flex_damage damage = {
			.seed = i + 1, .odd_gaps = 0.25, .gap_wraps = i % 2 ? -1 : 1};
		struct flex_scene scene = scene_of(damage.seed);
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = 1;
		scene.n_kernels = 40;
		scene.exec_ns = 30e3;
		run = convert(state, &scene, &damage, false, &truth);
		check_marks(run, &truth, MOST_NS, true);
		assert_true(run->ledger.warnings[WARNING_OUTSIDE_TRIP] <= 2);
		flex_truth_release(&truth);
	}
}

/* Half the work of a round trip that the file lacks is whole wraps off: only the order on the
 * device tells, and not which half it is. */
static void test_flex_misaligned__marks_work_that_the_order_denies(void **state)
{
	for (unsigned i = 0; i < N_SEEDS + 2; i++) {
		const struct flex_damage damage = {
			.seed = i + 1, .half_gaps = 0.25, .lost_trips = 0.25, .gap_wraps = 1};
		struct flex_scene scene = scene_of(damage.seed);
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = 1;
		scene.n_kernels = 30;
		run = convert(state, &scene, &damage, false, &truth);
		check_placed(run, &truth, MOST_NS);
		assert_true(ledger_total(&run->ledger, LOSS_OUTLIER) < truth.n_ops / 4);
		flex_truth_release(&truth);
	}
}

/* Work that is whole wraps off is mended or marked where the trace is too short for its pairs to
 * tell the rate, and where other times are off by ms as well. */
static void test_flex_misaligned__leaves_no_wrong_epoch_without_a_mark(void **state)
{
	static const struct {
		double period_ns, exec_ns;
		struct flex_damage damage;
	} cases[] = {
		{5e6, 30e3, {.half_gaps = 0.1, .gap_wraps = 1}},
		{5e6, 30e3, {.half_gaps = 0.1, .gap_wraps = -1, .lost_trips = 0.1}},
		{60e6, 1e6, {.half_gaps = 0.5, .gap_wraps = -1, .scatter_ns = 3e6}},
		{60e6, 1e6, {.odd_gaps = 0.5, .gap_wraps = 1, .scatter_ns = 3e6}},
		/* The queue gets longer and longer: round trips are over each other. */
		{20e6, 1e6, {.scatter_ns = 3e6}},
		{35e6, 1e6, {.scatter_ns = 3e6}},
		{20e6, 1e6, {.half_gaps = 0.5, .gap_wraps = -1, .scatter_ns = 3e6}},
	};
	const unsigned n = sizeof(cases) / sizeof(cases[0]);

	for (unsigned i = 0; i < n * (N_SEEDS + 1); i++) {
		struct flex_damage damage = cases[i % n].damage;
		struct flex_scene scene = scene_of(seed_of(i / n));
		struct flex_truth truth;
		struct flex_run *run;

		damage.seed = scene.seed;
		scene.n_ranks = 1;
		scene.n_kernels = 40;
		scene.period_ns = cases[i % n].period_ns;
		scene.exec_ns = cases[i % n].exec_ns;
		scene.gap_every = 0;
		run = convert(state, &scene, &damage, false, &truth);
		check_placed(run, &truth, NEAR_NS);
		assert_true(ledger_total(&run->ledger, LOSS_OUTLIER) < truth.n_ops / 2);
		flex_truth_release(&truth);
	}
}

static uint64_t count_unmarked(const struct flex_run *run, const struct flex_truth *truth)
{
	uint64_t n = 0;

	for (uint64_t row = 0; row < run->events.n_rows; row++) {
		const struct flex_op *op = flex_find_op(truth, &run->events, row);
		int stamp = flex_first_stamp(flex_cell(&run->events, row, "kind"));
		int64_t begin_ns = flex_number(&run->events, row, "start_ns");
		int64_t end_ns = flex_number(&run->events, row, "end_ns");

		n += strcmp(flex_cell(&run->events, row, "status"), "outlier") != 0 &&
		     (llabs(begin_ns - op->host_ns[stamp]) > NEAR_NS ||
		      llabs(end_ns - op->host_ns[stamp + 1]) > NEAR_NS);
	}
	return n;
}

/* The host times lack wraps of work that lasts longer than one: its round trip says so. */
static void test_flex_misaligned__marks_round_trips_that_lack_wraps(void **state)
{
	const struct flex_damage damage = {.loses_wraps = true};

	for (uint64_t seed = 2; seed <= 3; seed++) {
		struct flex_scene scene = scene_of(seed);
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = 1;
		scene.n_iterations = 12;
		scene.longs = 0.05;
		scene.period_ns = 60e9;
		scene.long_ns = 8e9;
		run = convert(state, &scene, &damage, false, &truth);
		assert_int_equal(count_unmarked(run, &truth), 0);
		assert_true(ledger_total(&run->ledger, LOSS_OUTLIER) < truth.n_ops * 9 / 10);
		flex_truth_release(&truth);
	}
}

/* -- copies beside kernels -------------------------------------------------------------------- */

#define N_JOBS     40u
#define N_PAIRS    20u /* of a kernel and a copy beside it, of a job */
#define COUNTER_HZ 557.1e6
#define FIRST_NS   INT64_C(1000000000000000)

struct busy {
	FILE *file;
	uint64_t state;                       /* of chance */
	int64_t true_ns[N_JOBS][N_PAIRS * 2]; /* when work began: kernels, behind them copies */
	int64_t now_ns;
};

static void put_part(struct busy *busy, const char *text, int64_t begin_ns, int64_t ns, bool is_off)
{
	int64_t told_ns = begin_ns + (is_off ? (int64_t)(0x1p32 / COUNTER_HZ * 1e9) : 0);
	uint32_t ticks[2];
	bool is_copy = strstr(text, "DmaI");

	for (int i = 0; i < 2; i++)
		ticks[i] = (uint32_t)(uint64_t)((double)(begin_ns - FIRST_NS + i * ns) *
		                                (COUNTER_HZ / 1e9));
	fprintf(busy->file,
	        ",{\"name\":\"%s\",\"ph\":\"X\",\"pid\":0,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
	        "\"attr\":"
	        "{\"TS1\":\"%u\",\"TS2\":\"%u\",\"TS3\":\"%u\",\"TS4\":\"%u\",\"TS5\":\"%u\"}}",
	        text, is_copy, (double)told_ns / 1e3, (double)ns / 1e3, ticks[0], ticks[is_copy],
	        ticks[is_copy], ticks[1], ticks[1]);
}

static void put_job(struct busy *busy, uint32_t job, bool is_off)
{
	int64_t begin_ns = busy->now_ns;
	char name[64];

	busy->now_ns += 20000;
	for (uint32_t i = 0; i < N_PAIRS; i++) {
		int64_t ns = 20000 + (int64_t)(model_uniform(&busy->state) * 180000);
		bool is_late = is_off && i >= N_PAIRS / 2;

		snprintf(name, sizeof(name), "k_%u_%u Cmpt Exec", job, i);
		put_part(busy, name, busy->now_ns, ns, is_late);
		busy->true_ns[job][i] = busy->now_ns;
		snprintf(name, sizeof(name), "k_%u_%u DmaI", job, N_PAIRS + i);
		put_part(busy, name, busy->now_ns + ns / 5, ns / 2, is_late);
		busy->true_ns[job][N_PAIRS + i] = busy->now_ns + ns / 5;
		busy->now_ns += ns + 2000 + (int64_t)(model_uniform(&busy->state) * 400000);
	}
	fprintf(busy->file,
	        ",{\"name\":\"AIU "
	        "Roundtrip\",\"ph\":\"X\",\"pid\":0,\"tid\":9,\"ts\":%.3f,\"dur\":%.3f}",
	        (double)begin_ns / 1e3, (double)(busy->now_ns + 20000 - begin_ns) / 1e3);
	busy->now_ns += 20000 + (int64_t)(model_uniform(&busy->state) * 1e9);
}

/* Copies that run beside kernels are where they should be, though other work was there. */
static void test_flex_misaligned__leaves_copies_beside_kernels(void **state)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		struct busy busy = {.state = seed, .now_ns = FIRST_NS};
		char *text = NULL;
		size_t n_bytes;
		struct flex_run *run;

		flex_stop(state);
		flex_start(state);
		run = *state;
		busy.file = open_memstream(&text, &n_bytes);
		assert_non_null(busy.file);
		fputs("[{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{}}", busy.file);
		for (uint32_t job = 0; job < N_JOBS; job++)
			put_job(&busy, job, job == 7 || job == 23);
		fputs("]", busy.file);
		assert_int_equal(fclose(busy.file), 0);
		flex_add_file(run, "a.json", text);
		free(text);
		flex_convert(run);
		assert_int_equal(run->events.n_rows, N_JOBS * N_PAIRS * 2);
		for (uint64_t row = 0; row < run->events.n_rows; row++) {
			unsigned job, i;

			assert_int_equal(
				sscanf(flex_cell(&run->events, row, "name"), "k_%u_%u", &job, &i),
				2);
			assert_true(llabs(flex_number(&run->events, row, "start_ns") -
			                  busy.true_ns[job][i]) <= MOST_NS);
		}
	}
}

/* Where all times are late, too, the round trips that hold work are those that it is a little
 * beside. */
static void test_flex_misaligned__mends_work_of_wrong_epochs_that_is_late(void **state)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		const struct flex_damage damage = {
			.seed = seed_of(i), .gaps = 0.15, .gap_wraps = 1, .shift_ns = 3000000};
		struct flex_scene scene = scene_of(damage.seed);
		struct flex_truth truth;
		struct flex_run *run = convert(state, &scene, &damage, false, &truth);

		check_marks(run, &truth, NEAR_NS, i < N_SEEDS);
		if (i < N_SEEDS)
			assert_int_equal(run->ledger.warnings[WARNING_OUTSIDE_TRIP], 0);
		flex_truth_release(&truth);
	}
}

static void test_flex_misaligned__counts_work_of_wrong_round_trips(void **state)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		const struct flex_damage damage = {.seed = seed_of(i), .wrong_trips = 0.1};
		struct flex_scene scene = scene_of(seed_of(i));
		struct flex_truth truth;
		struct flex_run *run = convert(state, &scene, &damage, false, &truth);
		uint64_t n = count_outside(&truth);

		assert_true(n > 0 || i == N_SEEDS);
		assert_int_equal(run->ledger.warnings[WARNING_OUTSIDE_TRIP], n);
		assert_int_equal(run->ledger.warnings[WARNING_WRONG_EPOCHS], 0);
		assert_true(check_rows(run, &truth, false) <= MOST_NS || i == N_SEEDS);
		flex_truth_release(&truth);
	}
}

/* Work whose round trip is missing seems to be of the next one, beside which it lies: what round
 * trips say contradicts itself then, and Flex's times hold. */
static void test_flex_misaligned__believes_no_round_trips_that_contradict(void **state)
{
	/* Of the later ones round trips leave the rate open, which estimates tell. No fresh seed:
	 * now and then work beside a round trip of other work is called an outlier. */
	static const uint64_t seeds[] = {1, 2, 3, 1795308105, 1795308143, 777004, 777041};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		const struct flex_damage damage = {.seed = seeds[i], .lost_trips = 0.5};
		struct flex_scene scene = scene_of(seeds[i]);
		struct flex_truth truth;
		struct flex_run *run;

		scene.period_ns = 0;
		scene.gap_every = 0;
		run = convert(state, &scene, &damage, false, &truth);
		assert_true(check_rows(run, &truth, false) <= MOST_NS);
		assert_int_equal(run->ledger.warnings[WARNING_INFEASIBLE], 0);
		flex_truth_release(&truth);
	}
}

/* -- ranks ----------------------------------------------------------------------------------- */

/* Their hosts' clocks are 20 minutes apart, and Flex is late on all. */
static void test_flex_misaligned__puts_ranks_on_one_clock(void **state)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		const struct flex_damage damage = {.seed = seed_of(i), .shift_ns = 100000};
		struct flex_scene scene = scene_of(seed_of(i));
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = 2 + i % 3;
		run = convert(state, &scene, &damage, true, &truth);
		assert_int_equal(run->ledger.warnings[WARNING_UNALIGNED], 0);
		check_rows(run, &truth, true);
		flex_truth_release(&truth);
	}
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_flex_misaligned__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(puts_shifted_work_into_its_round_trips),
		TEST(unstretches_work),
		TEST(undoes_false_overlaps),
		TEST(mends_work_of_wrong_epochs),
		TEST(mends_half_the_work_of_a_round_trip),
		TEST(mends_every_other_work),
		TEST(marks_round_trips_that_lack_wraps),
		TEST(leaves_copies_beside_kernels),
		TEST(marks_work_that_the_order_denies),
		TEST(leaves_no_wrong_epoch_without_a_mark),
		TEST(mends_work_of_wrong_epochs_that_is_late),
		TEST(counts_work_of_wrong_round_trips),
		TEST(believes_no_round_trips_that_contradict),
		TEST(puts_ranks_on_one_clock),
	};

	last_seed = fresh_seed();
	return cmocka_run_group_tests_name("flex_misaligned", tests, NULL, NULL);
}
