/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of emulated devices, the stamps made from them, and the truth file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <flextrace/emulator.h>
#include <flextrace/flextrace.h>

#include "area_words.h"

#define N  24u
#define HZ UINT64_C(1000000000)

static uint64_t host_ns(void)
{
	return flextrace_now_ns();
}

static struct flextrace_emulator *create(const struct flextrace_emulator_config *config)
{
	struct flextrace_emulator *emulator = NULL;

	assert_int_equal(flextrace_emulator_create(config, &emulator), 0);
	assert_non_null(emulator);
	return emulator;
}

static void submit(struct flextrace_emulator *emulator, const struct flextrace_emulator_job *job,
                   uint64_t *ret_ticket)
{
	assert_int_equal(flextrace_emulator_submit(emulator, job, ret_ticket), 0);
}

static struct flextrace_emulator_completion finish(struct flextrace_emulator *emulator,
                                                   uint32_t core, uint64_t ticket)
{
	struct flextrace_emulator_completion completion = {.status = -1};

	assert_int_equal(flextrace_emulator_wait(emulator, core, ticket, &completion), 0);
	assert_int_equal(completion.status, 0);
	return completion;
}

/* -- the counter ------------------------------------------------------------------------------- */

static void test_counter__follows_its_rule(void **state)
{
	static const struct flextrace_emulator_step steps[] = {{UINT64_C(1000000000), -200000},
	                                                       {UINT64_C(3000000000), 1000000}};
	const struct flextrace_emulator_config config = {
		.n_cores = 1,
		.counter_hz = 800000000,
		.offset_ticks = 0xfffff000,
		.drift_ppb = 40000,
		.steps = steps,
		.n_steps = 2,
	};
	uint64_t before = host_ns();
	struct flextrace_emulator *emulator = create(&config);
	uint64_t created = before, after = host_ns(), read_before, ticks;

	(void)state;
	/* The creation is two ns before the counter shows more than its offset. */
	assert_true(flextrace_emulator_ticks_at(emulator, 0, after + 2) > 0xfffff000);
	while (created < after) {
		uint64_t middle = created + (after - created) / 2;

		if (flextrace_emulator_ticks_at(emulator, 0, middle + 2) == 0xfffff000)
			created = middle + 1;
		else
			after = middle;
	}
	assert_in_range(created, before, host_ns());
	/* 0.8 GHz + 40 ppm for 1 s, - 200 ppm for 2 s, + 1000 ppm for 1 s */
	ticks = flextrace_emulator_ticks_at(emulator, 0, created + UINT64_C(4000000000));
	assert_in_range(ticks - 0xfffff000, 800032000u + 2 * UINT64_C(799840000) + 800800000u - 3,
	                800032000u + 2 * UINT64_C(799840000) + 800800000u + 3);
	read_before = host_ns();
	ticks = flextrace_emulator_counter(emulator, 0);
	assert_true(ticks >= flextrace_emulator_ticks_at(emulator, 0, read_before));
	assert_true(ticks <= flextrace_emulator_ticks_at(emulator, 0, host_ns()));
	flextrace_emulator_destroy(emulator);
}

static void test_counter__never_runs_backwards_over_a_step(void **state)
{
	static const struct flextrace_emulator_step steps[] = {{1000, -999999999},
	                                                       {2000, 900000000}};
	const struct flextrace_emulator_config config = {
		.n_cores = 1, .counter_hz = UINT64_C(1) << 33, .steps = steps, .n_steps = 2};
	struct flextrace_emulator *emulator;
	uint64_t at = host_ns();
	uint64_t last = 0, i;

	(void)state;
	emulator = create(&config);
	for (i = 0; i < 3000000; i++) {
		uint64_t ticks = flextrace_emulator_ticks_at(emulator, 0, at + i);

		assert_true(ticks >= last);
		last = ticks;
	}
	flextrace_emulator_destroy(emulator);
}

static void check_area(const struct flextrace_emulator *emulator, uint32_t core, uint32_t domain)
{
	size_t bytes;
	const struct flextrace_wire_area *area = flextrace_emulator_area(
		(struct flextrace_emulator *)(uintptr_t)emulator, core, &bytes);

	assert_int_equal(GET(area->core), core);
	assert_int_equal(GET(area->domain), domain);
}

static void test_core_clocks__have_origins_drifts_and_steps_of_their_own(void **state)
{
	static const struct flextrace_emulator_step steps[] = {{UINT64_C(1000000000), 500000}};
	static const struct flextrace_emulator_clock clocks[] = {
		{.offset_ticks = UINT64_C(1) << 40},
		{.offset_ticks = 5, .drift_ppb = -20000},
		{.offset_ticks = 0, .steps = steps, .n_steps = 1},
	};
	/* What they gain on nominal in two seconds. */
	static const int64_t gains[] = {0, -40000, 500000};
	const struct flextrace_emulator_config config = {
		.n_cores = 3,
		.domain = 7,
		.counter_hz = HZ,
		.offset_ticks = 12345, /* says nothing */
		.drift_ppb = 900000,   /* likewise */
		.core_clocks = clocks,
	};
	struct flextrace_emulator *emulator = create(&config);
	uint64_t created = host_ns();
	uint32_t core;

	(void)state;
	/* Its nominal counter, 1 GHz, shows ns: the creation is read from core 0. */
	created -= flextrace_emulator_ticks_at(emulator, 0, created) - clocks[0].offset_ticks;
	for (core = 0; core < 3; core++) {
		uint64_t ticks = flextrace_emulator_ticks_at(emulator, core,
		                                             created + 2 * UINT64_C(1000000000));
		int64_t gain = (int64_t)(ticks - clocks[core].offset_ticks - 2 * HZ);

		assert_in_range(gain - gains[core] + 1, 0, 2);
		check_area(emulator, core, 7 + core);
	}
	flextrace_emulator_destroy(emulator);
}

static void test_core_clocks__are_absent_by_default(void **state)
{
	const struct flextrace_emulator_config config = {
		.n_cores = 2, .domain = 7, .counter_hz = HZ, .offset_ticks = 99};
	struct flextrace_emulator *emulator = create(&config);
	uint64_t at = host_ns() + 1000000;

	(void)state;
	assert_int_equal(flextrace_emulator_ticks_at(emulator, 0, at),
	                 flextrace_emulator_ticks_at(emulator, 1, at));
	check_area(emulator, 0, 7);
	check_area(emulator, 1, 7);
	flextrace_emulator_destroy(emulator);
}

/* -- stamps and their truth -------------------------------------------------------------------- */

struct job_record {
	uint64_t submit_ns, complete_ns;
	uint32_t ts[5];
	uint32_t n_checked;
};

#define N_JOBS 40u

/* Jobs overlap on the core: up to eight are in its mailbox. */
static void run_jobs(struct flextrace_emulator *emulator, struct job_record *jobs)
{
	static int32_t a[N * N], b[N * N], c[N * N];
	uint64_t tickets[N_JOBS];
	uint32_t submitted, done = 0;

	for (submitted = 0; done < N_JOBS;) {
		if (submitted < N_JOBS && submitted - done < 8) {
			const struct flextrace_emulator_job job = {
				.op = submitted % 2 ? FLEXTRACE_EMULATOR_MATMUL
			                            : FLEXTRACE_EMULATOR_COPY,
				.job = submitted,
				.queue = 6,
				.n = N,
				.a = a,
				.b = b,
				.c = c,
				.source = a,
				.target = b,
				.bytes = sizeof(a),
			};

			jobs[submitted].submit_ns = host_ns();
			submit(emulator, &job, &tickets[submitted]);
			submitted++;
		} else {
			struct flextrace_emulator_completion completion = finish(emulator, 0,
			                                                         tickets[done]);

			jobs[done].complete_ns = host_ns();
			memcpy(jobs[done].ts, completion.ts, sizeof(completion.ts));
			done++;
		}
	}
}

struct truth_line {
	uint32_t device, core, id, run, domain;
	uint64_t job, ticks, ns;
	char kind[16];
};

static int read_truth(FILE *file, struct truth_line *line)
{
	return fscanf(file,
	              "%" SCNu32 ",%" SCNu32 ",%15[^,],%" SCNu32 ",%" SCNu32 ",%" SCNu64 ",%" SCNu64
	              ",%" SCNu64 ",%" SCNu32 "\n",
	              &line->device, &line->core, line->kind, &line->id, &line->run, &line->job,
	              &line->ticks, &line->ns, &line->domain) == 9;
}

__extension__ typedef __int128 wide;

/* 1.35 GHz + 3 ppm; both ends are rounded down. */
static void check_rate(const struct truth_line *known, const struct truth_line *line)
{
	wide exact = (wide)1350004050 * (int64_t)(line->ns - known->ns);
	wide shown = (wide)(int64_t)(line->ticks - known->ticks) * 1000000000;

	assert_true(shown - exact < 1000000000 && exact - shown < 1000000000);
}

static void check_truth_line(struct job_record *jobs, const struct truth_line *line)
{
	struct job_record *job;

	assert_int_equal(line->device, 5);
	assert_int_equal(line->core, 0);
	assert_int_equal(line->domain, 3);
	if (line->run == 0) /* booting */
		return;
	assert_true(line->job < N_JOBS);
	assert_int_equal(line->run, line->job + 1);
	job = &jobs[line->job];
	assert_true(job->submit_ns <= line->ns && line->ns <= job->complete_ns);
	if (line->kind[0] == 't') {
		assert_int_equal((uint32_t)line->ticks, job->ts[line->kind[2] - '1']);
		job->n_checked++;
	}
}

static uint64_t check_truth(const char *path, struct job_record *jobs,
                            const struct truth_line *known)
{
	struct truth_line line, last = {0};
	FILE *file = fopen(path, "r");
	char header[80];
	uint64_t n = 0;

	assert_non_null(file);
	assert_non_null(fgets(header, sizeof(header), file));
	assert_string_equal(header, "device,core,kind,id,run,job,ticks,host_ns,domain\n");
	for (; read_truth(file, &line); n++) {
		check_rate(known, &line);
		check_truth_line(jobs, &line);
		assert_true(line.ns >= last.ns);
		last = line;
	}
	assert_true(feof(file));
	fclose(file);
	return n;
}

static void test_truth__is_what_the_stamps_say(void **state)
{
	char path[] = "/tmp/test_emulator.XXXXXX";
	int fd = mkstemp(path);
	const struct flextrace_emulator_config config = {
		.device = 5,
		.domain = 3,
		.n_cores = 1,
		.counter_hz = 1350000000,
		.offset_ticks = UINT64_C(0x300000000) - 1000000, /* wraps after 0.7 ms */
		.drift_ppb = 3000,
		.seed = 42,
		.truth_path = path,
	};
	struct flextrace_emulator *emulator = create(&config);
	struct job_record jobs[N_JOBS] = {0};
	struct truth_line known = {.ns = host_ns()}; /* a point of the counter's line */
	uint64_t n_rows;
	uint32_t i;

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	known.ticks = flextrace_emulator_ticks_at(emulator, 0, known.ns);
	run_jobs(emulator, jobs);
	assert_int_equal(flextrace_emulator_destroy(emulator), 0);
	n_rows = check_truth(path, jobs, &known);
	(void)unlink(path);
	for (i = 0; i < N_JOBS; i++)
		assert_int_equal(jobs[i].n_checked, 5);
	/* ready; each job: FW 2, TS 5, three zones, complete; half of them: kernel, two tiles */
	assert_int_equal(n_rows, 1 + N_JOBS * 14 + N_JOBS / 2 * (2 + 2 * 3));
}

/* Core 0 counts ns, core 1 is 90 ppm faster; `known` are points of their lines. */
static uint64_t check_core_truth(const char *path, const uint64_t known_ns,
                                 const uint64_t known_ticks[2])
{
	FILE *file = fopen(path, "r");
	struct truth_line line;
	char header[80];
	uint64_t n_stamps = 0;
	int64_t since_ns, ticks, gain;

	assert_non_null(file);
	assert_non_null(fgets(header, sizeof(header), file));
	while (read_truth(file, &line)) {
		assert_int_equal(line.domain, 3 + line.core);
		since_ns = (int64_t)(line.ns - known_ns);
		ticks = (int64_t)(line.ticks - known_ticks[line.core]);
		gain = line.core == 0 ? 0 : since_ns * 90 / 1000000;
		assert_in_range(ticks - since_ns - gain + 1, 0, 2);
		n_stamps += line.kind[0] == 't';
	}
	assert_true(feof(file));
	fclose(file);
	return n_stamps;
}

static void test_truth__names_the_domain_of_each_core(void **state)
{
	static const struct flextrace_emulator_clock clocks[] = {
		{.offset_ticks = 0x1ffff0000}, {.offset_ticks = 1000, .drift_ppb = 90000}};
	char path[] = "/tmp/test_emulator.XXXXXX";
	int fd = mkstemp(path);
	const struct flextrace_emulator_config config = {
		.domain = 3,
		.n_cores = 2,
		.counter_hz = HZ,
		.core_clocks = clocks,
		.truth_path = path,
	};
	struct flextrace_emulator *emulator = create(&config);
	uint64_t known_ns = host_ns();
	const uint64_t known_ticks[] = {flextrace_emulator_ticks_at(emulator, 0, known_ns),
	                                flextrace_emulator_ticks_at(emulator, 1, known_ns)};
	uint32_t i;

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	for (i = 0; i < 400; i++) { /* more rows than a core keeps */
		const struct flextrace_emulator_job job = {
			.core = i % 2, .op = FLEXTRACE_EMULATOR_FILL, .job = i};
		uint64_t ticket;

		submit(emulator, &job, &ticket);
		finish(emulator, job.core, ticket);
	}
	assert_int_equal(flextrace_emulator_destroy(emulator), 0);
	assert_int_equal(check_core_truth(path, known_ns, known_ticks), 400 * 5);
	(void)unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter__follows_its_rule),
		cmocka_unit_test(test_counter__never_runs_backwards_over_a_step),
		cmocka_unit_test(test_core_clocks__have_origins_drifts_and_steps_of_their_own),
		cmocka_unit_test(test_core_clocks__are_absent_by_default),
		cmocka_unit_test(test_truth__is_what_the_stamps_say),
		cmocka_unit_test(test_truth__names_the_domain_of_each_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
