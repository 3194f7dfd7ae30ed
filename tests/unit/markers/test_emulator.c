/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <flextrace/emulator.h>
#include <flextrace/flextrace.h>

#include "area_words.h"

#define N_CORES 4u
#define N       24u
#define HZ      UINT64_C(1000000000)

/* -- the tracer, as far as drain.c needs it: it counts ----------------------------------------- */

static int is_on = 1;
const int *flextrace_i_state[flextrace_i_n_events] = {
	[flextrace_i_event_marker_batch] = &is_on,
};
static uint64_t n_slots, n_ring_words;
static uint64_t values_seen; /* sum of VALUE_DATA */

enum flextrace_device_mode flextrace_device_mode(void)
{
	return FLEXTRACE_DEVICE_MODE_DRAIN;
}

void flextrace_marker_name(const struct flextrace_name *marker)
{
	(void)marker;
}

void flextrace_emit_marker_batch(const struct flextrace_marker_batch *batch)
{
	uint32_t i;

	for (i = 0; i < batch->n_words; i++) {
		uint32_t kind = (uint32_t)(batch->words[i] >> 60);

		n_slots += kind == FLEXTRACE_WIRE_SLOT_RUN;
		n_ring_words += kind < FLEXTRACE_WIRE_SLOT_RUN;
		if (kind == FLEXTRACE_WIRE_VALUE_DATA)
			values_seen += (uint32_t)batch->words[i];
	}
}

/* -- helpers ----------------------------------------------------------------------------------- */

static struct flextrace_emulator *create(const struct flextrace_emulator_config *config)
{
	struct flextrace_emulator *emulator = NULL;

	assert_int_equal(flextrace_emulator_create(config, &emulator), 0);
	assert_non_null(emulator);
	return emulator;
}

static void fill(int32_t *matrix, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < N * N; i++)
		matrix[i] = (int32_t)(seed = seed * 1664525u + 1013904223u);
}

static void check_product(const int32_t *a, const int32_t *b, const int32_t *c)
{
	uint32_t row, column, i;

	for (row = 0; row < N; row++) {
		for (column = 0; column < N; column++) {
			uint32_t sum = 0;

			for (i = 0; i < N; i++)
				sum += (uint32_t)a[row * N + i] * (uint32_t)b[i * N + column];
			assert_int_equal(sum, (uint32_t)c[row * N + column]);
		}
	}
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

/* -- work -------------------------------------------------------------------------------------- */

static void test_matmul__is_right_on_every_core(void **state)
{
	const struct flextrace_emulator_config config = {.n_cores = N_CORES, .counter_hz = HZ};
	struct flextrace_emulator *emulator = create(&config);
	static int32_t a[N_CORES][N * N], b[N_CORES][N * N], c[N_CORES][N * N];
	uint64_t tickets[N_CORES];
	uint32_t core;

	(void)state;
	for (core = 0; core < N_CORES; core++) {
		const struct flextrace_emulator_job job = {
			.core = core,
			.op = FLEXTRACE_EMULATOR_MATMUL,
			.n = N,
			.repeat = core,
			.a = a[core],
			.b = b[core],
			.c = c[core],
		};

		fill(a[core], core + 1);
		fill(b[core], core + 100);
		submit(emulator, &job, &tickets[core]);
	}
	for (core = 0; core < N_CORES; core++) {
		finish(emulator, core, tickets[core]);
		check_product(a[core], b[core], c[core]);
	}
	assert_int_equal(flextrace_emulator_destroy(emulator), 0);
}

static void test_add_and_reduce__are_right(void **state)
{
	const struct flextrace_emulator_config config = {.n_cores = 1, .counter_hz = HZ};
	struct flextrace_emulator *emulator = create(&config);
	int32_t a[N * N], b[N * N], c[N * N];
	struct flextrace_emulator_job job = {
		.op = FLEXTRACE_EMULATOR_ADD,
		.n = N,
		.repeat = 2,
		.a = a,
		.b = b,
		.c = c,
	};
	uint32_t sum = 0;
	uint64_t ticket;
	uint32_t i;

	(void)state;
	fill(a, 1);
	fill(b, 2);
	submit(emulator, &job, &ticket);
	finish(emulator, 0, ticket);
	for (i = 0; i < N * N; i++) {
		assert_int_equal((uint32_t)c[i], (uint32_t)a[i] + (uint32_t)b[i]);
		sum += (uint32_t)a[i];
	}
	job.op = FLEXTRACE_EMULATOR_REDUCE;
	job.b = NULL;
	submit(emulator, &job, &ticket);
	finish(emulator, 0, ticket);
	assert_int_equal((uint32_t)c[0], sum);
	flextrace_emulator_destroy(emulator);
}

static void test_copy_and_fill__move_bytes(void **state)
{
	const struct flextrace_emulator_config config = {.n_cores = 1, .counter_hz = HZ};
	struct flextrace_emulator *emulator = create(&config);
	char from[100] = "what the host has", to[100] = "";
	struct flextrace_emulator_job job = {
		.op = FLEXTRACE_EMULATOR_COPY,
		.source = from,
		.target = to,
		.bytes = sizeof(from),
	};
	uint64_t ticket;
	size_t i;

	(void)state;
	submit(emulator, &job, &ticket);
	finish(emulator, 0, ticket);
	assert_memory_equal(from, to, sizeof(from));
	job.op = FLEXTRACE_EMULATOR_FILL;
	job.fill = 0x5a;
	submit(emulator, &job, &ticket);
	finish(emulator, 0, ticket);
	for (i = 0; i < sizeof(to); i++)
		assert_int_equal(to[i], 0x5a);
	flextrace_emulator_destroy(emulator);
}

static void test_mailbox__holds_its_depth_and_serves_in_order(void **state)
{
	const struct flextrace_emulator_config config = {
		.n_cores = 1, .counter_hz = HZ, .mailbox_depth = 4};
	struct flextrace_emulator *emulator = create(&config);
	struct flextrace_emulator_completion completion;
	struct flextrace_emulator_job job = {.op = FLEXTRACE_EMULATOR_FILL};
	uint64_t tickets[4], more;
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		submit(emulator, &job, &tickets[i]);
	assert_int_equal(flextrace_emulator_submit(emulator, &job, &more), -EAGAIN);
	for (i = 4; i-- > 0;) { /* in any order */
		completion = finish(emulator, 0, tickets[i]);
		assert_int_equal(completion.run, i + 1);
		assert_int_equal(completion.power, i + 1);
	}
	assert_int_equal(flextrace_emulator_wait(emulator, 0, tickets[0], &completion), -EINVAL);
	assert_int_equal(flextrace_emulator_wait(emulator, 0, 99, &completion), -EINVAL);
	assert_int_equal(flextrace_emulator_wait(emulator, 1, 0, &completion), -EINVAL);
	submit(emulator, &job, &more);
	flextrace_emulator_destroy(emulator); /* finishes what was submitted */
}

static void test_submit__refuses_jobs_that_cannot_run(void **state)
{
	const struct flextrace_emulator_config config = {
		.n_cores = 2, .counter_hz = HZ, .local_bytes = 1200};
	int32_t m[100] = {0};
	const struct flextrace_emulator_job cases[] = {
		{.core = 2, .op = FLEXTRACE_EMULATOR_FILL},
		{.op = FLEXTRACE_EMULATOR_HANG},
		{.op = FLEXTRACE_EMULATOR_MATMUL, .n = 0, .a = m, .b = m, .c = m},
		{.op = FLEXTRACE_EMULATOR_MATMUL, .n = 11, .a = m, .b = m, .c = m},
		{.op = FLEXTRACE_EMULATOR_MATMUL, .n = 0x80000001u, .a = m, .b = m, .c = m},
		{.op = FLEXTRACE_EMULATOR_MATMUL, .n = 2, .a = m, .b = NULL, .c = m},
		{.op = FLEXTRACE_EMULATOR_COPY, .source = m, .target = NULL, .bytes = 1},
		{.op = FLEXTRACE_EMULATOR_COPY, .source = NULL, .target = m, .bytes = 1},
		{.op = FLEXTRACE_EMULATOR_COPY, .source = m, .target = m, .bytes = 1201},
	};
	struct flextrace_emulator *emulator = create(&config);
	uint64_t ticket;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(flextrace_emulator_submit(emulator, &cases[i], &ticket), -EINVAL);
	flextrace_emulator_destroy(emulator);
	assert_int_equal(flextrace_emulator_destroy(NULL), 0);
}

static void test_create__refuses_bad_configurations(void **state)
{
	static const struct flextrace_emulator_step backwards[] = {{5, 0}, {5, 1}};
	static const struct flextrace_emulator_clock bad_second[] = {
		{0}, {.drift_ppb = -1000000000}, {0}};
	static const struct flextrace_emulator_clock bad_steps[] = {
		{.steps = backwards, .n_steps = 2}};
	const struct flextrace_emulator_config cases[] = {
		{.n_cores = 0, .counter_hz = HZ},
		{.n_cores = 65, .counter_hz = HZ},
		{.n_cores = 1, .counter_hz = 0},
		{.n_cores = 1, .counter_hz = HZ, .ring_capacity = 12},
		{.n_cores = 1, .counter_hz = HZ, .ring_capacity = 2},
		{.n_cores = 1, .counter_hz = HZ, .mailbox_depth = 3},
		{.n_cores = 1, .counter_hz = HZ, .policy = 3},
		{.n_cores = 1, .counter_hz = HZ, .drift_ppb = -1000000000},
		{.n_cores = 1, .counter_hz = HZ, .steps = backwards, .n_steps = 2},
		{.n_cores = 3, .counter_hz = HZ, .core_clocks = bad_second},
		{.n_cores = 1, .counter_hz = HZ, .core_clocks = bad_steps},
		{.n_cores = 1, .counter_hz = HZ, .truth_path = "/nowhere/at/all"},
	};
	struct flextrace_emulator *emulator;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(flextrace_emulator_create(&cases[i], &emulator) < 0);
}

/* -- the drain against a device that works ----------------------------------------------------- */

#define PRINT_ROUNDS 300u

#define SOAK_JOBS   30u
#define SOAK_REPEAT 1000u

static int32_t soak_matrix[N_CORES][4 * 4];

static void soak_submit(struct flextrace_emulator *emulator, uint32_t core, uint64_t job_number)
{
	const struct flextrace_emulator_job job = {
		.core = core,
		.op = FLEXTRACE_EMULATOR_MATMUL,
		.job = job_number,
		.n = 4,
		.repeat = SOAK_REPEAT,
		.a = soak_matrix[core],
		.b = soak_matrix[core],
		.c = soak_matrix[core],
	};
	uint64_t ticket;

	submit(emulator, &job, &ticket);
	assert_int_equal(ticket, job_number);
}

struct finisher {
	struct flextrace_emulator *emulator;
	int done;
};

/* The runtime's thread: waits for all jobs while the test's thread drains. */
static void *finish_all(void *context)
{
	struct finisher *finisher = context;
	struct flextrace_emulator_completion completion;
	uint32_t core, i;

	for (core = 0; core < N_CORES; core++) {
		for (i = 0; i < SOAK_JOBS; i++)
			(void)flextrace_emulator_wait(finisher->emulator, core, i, &completion);
	}
	__atomic_store_n(&finisher->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void soak(uint32_t policy, struct flextrace_drain_area *areas, uint64_t *ret_sent)
{
	const struct flextrace_emulator_config config = {
		.n_cores = N_CORES,
		.counter_hz = 1000000, /* a blocked core waits longer than tests may take */
		.ring_capacity = 256,
		.policy = policy,
		.mailbox_depth = 32,
	};
	struct finisher finisher = {.emulator = create(&config)};
	pthread_t thread;
	uint32_t core, i;

	n_slots = n_ring_words = values_seen = 0;
	for (core = 0; core < N_CORES; core++) {
		size_t bytes;
		void *memory = flextrace_emulator_area(finisher.emulator, core, &bytes);

		flextrace_drain_area_init(&areas[core], 0, memory, bytes);
	}
	for (i = 0; i < SOAK_JOBS; i++) {
		for (core = 0; core < N_CORES; core++)
			soak_submit(finisher.emulator, core, i);
	}
	assert_int_equal(pthread_create(&thread, NULL, finish_all, &finisher), 0);
	while (!__atomic_load_n(&finisher.done, __ATOMIC_ACQUIRE))
		flextrace_drain(areas, N_CORES, 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	flextrace_drain(areas, N_CORES, FLEXTRACE_DRAIN_LAST);
	for (core = 0; core < N_CORES; core++) {
		const struct flextrace_wire_area *wire = areas[core].memory;

		/* ready; a job: RUN, three zones, complete, tiles of begin, value and end */
		ret_sent[core] = 1 + SOAK_JOBS * (1 + 6 + 1 + SOAK_REPEAT * 4);
		ret_sent[core] -= GET(wire->own.ring_run) != GET(wire->run); /* never found room */
	}
	flextrace_emulator_destroy(finisher.emulator);
}

static void test_soak__accounts_for_every_marker(void **state)
{
	static const uint32_t policies[] = {FLEXTRACE_WIRE_STOP, FLEXTRACE_WIRE_OVERWRITE,
	                                    FLEXTRACE_WIRE_BLOCK};
	struct flextrace_drain_area areas[N_CORES];
	uint64_t sent[N_CORES];
	size_t i, core;

	(void)state;
	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		uint64_t recorded = 0, recorded_runs = 0;

		soak(policies[i], areas, sent);
		for (core = 0; core < N_CORES; core++) {
			const struct flextrace_drain_stats *stats = &areas[core].stats;

			assert_int_equal(sent[core],
			                 stats->recorded + stats->dropped + stats->overwritten);
			assert_int_equal(SOAK_JOBS, stats->recorded_runs + stats->overwritten_runs);
			assert_int_equal(stats->refused + stats->resets + stats->unrecorded, 0);
			if (policies[i] != FLEXTRACE_WIRE_OVERWRITE)
				assert_int_equal(stats->overwritten, 0);
			if (policies[i] != FLEXTRACE_WIRE_STOP)
				assert_int_equal(stats->dropped, 0);
			recorded += stats->recorded;
			recorded_runs += stats->recorded_runs;
		}
		assert_int_equal(n_ring_words, recorded);
		assert_int_equal(n_slots, recorded_runs);
		assert_true(recorded > 0);
		if (policies[i] == FLEXTRACE_WIRE_BLOCK)
			assert_int_equal(values_seen, N_CORES * SOAK_JOBS * SOAK_REPEAT * 4);
	}
}

/* Lines by their number; a call brings a whole line. */
static void count_line(void *context, const char *text, size_t bytes)
{
	uint32_t *n_lines = context;
	unsigned int round;

	if (text[bytes - 1] == '\n' && sscanf(text, "round %u", &round) == 1 &&
	    round < PRINT_ROUNDS)
		n_lines[round]++;
}

static void test_print__of_the_firmware_works_beside_markers(void **state)
{
	uint32_t n_lines[PRINT_ROUNDS] = {0};
	const struct flextrace_emulator_config config = {
		.n_cores = N_CORES,
		.counter_hz = HZ,
		.console = count_line,
		.console_context = n_lines,
	};
	struct flextrace_emulator *emulator = create(&config);
	struct flextrace_drain_area areas[N_CORES];
	uint64_t tickets[N_CORES];
	uint32_t i;

	(void)state;
	n_ring_words = 0;
	for (i = 0; i < N_CORES; i++) {
		const struct flextrace_emulator_job job = {
			.core = i,
			.op = FLEXTRACE_EMULATOR_EMIT,
			.n = PRINT_ROUNDS,
			.kinds = 1u << FLEXTRACE_WIRE_MARK | FLEXTRACE_EMULATOR_PRINT,
		};
		size_t bytes;
		void *memory = flextrace_emulator_area(emulator, i, &bytes);

		flextrace_drain_area_init(&areas[i], 0, memory, bytes);
		submit(emulator, &job, &tickets[i]);
	}
	for (i = 0; i < N_CORES; i++)
		finish(emulator, i, tickets[i]);
	flextrace_drain(areas, N_CORES, FLEXTRACE_DRAIN_LAST);
	/* ready, RUN, three zones, the marks, complete */
	assert_int_equal(n_ring_words, N_CORES * (1 + 1 + 6 + PRINT_ROUNDS + 1));
	assert_int_equal(flextrace_emulator_destroy(emulator), 0);
	for (i = 0; i < PRINT_ROUNDS; i++)
		assert_int_equal(n_lines[i], N_CORES);
}

static void test_elf__holds_the_names_of_the_firmware(void **state)
{
	(void)state;
	assert_in_range(flextrace_device_names(0, flextrace_emulator_elf()), 11, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matmul__is_right_on_every_core),
		cmocka_unit_test(test_add_and_reduce__are_right),
		cmocka_unit_test(test_copy_and_fill__move_bytes),
		cmocka_unit_test(test_mailbox__holds_its_depth_and_serves_in_order),
		cmocka_unit_test(test_submit__refuses_jobs_that_cannot_run),
		cmocka_unit_test(test_create__refuses_bad_configurations),
		cmocka_unit_test(test_soak__accounts_for_every_marker),
		cmocka_unit_test(test_print__of_the_firmware_works_beside_markers),
		cmocka_unit_test(test_elf__holds_the_names_of_the_firmware),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
