/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware on RISC-V cores under QEMU. Exits with 77, and says why, where that cannot be had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <flextrace/flextrace.h>
#include <flextrace/qemu.h>

#include "mailbox.h"

#define N_CORES 4u
#define N       16u
#define WORDS   (N * N)

static const struct flextrace_emulator_config usual = {
	.n_cores = N_CORES,
	.counter_hz = UINT64_C(560000000),
	.ring_capacity = 1024,
	.local_bytes = 65536,
};

/* -- the tracer, as far as drain.c needs it: it counts ----------------------------------------- */

static int is_on = 1;
const int *flextrace_i_state[flextrace_i_n_events] = {
	[flextrace_i_event_marker_batch] = &is_on,
};

static struct {
	uint64_t stamps, open_slots, runs;
	uint64_t kinds[8]; /* ring records by kind */
	int has_tile;
} got;

enum flextrace_device_mode flextrace_device_mode(void)
{
	return FLEXTRACE_DEVICE_MODE_DRAIN;
}

void flextrace_marker_name(const struct flextrace_name *marker)
{
	got.has_tile |= !strcmp(marker->name, "tile") &&
	                !strcmp(marker->file, "firmware-markers/firmware/firmware.c");
}

void flextrace_emit_marker_batch(const struct flextrace_marker_batch *batch)
{
	uint32_t i;

	for (i = 0; i < batch->n_words; i++) {
		uint32_t kind = (uint32_t)(batch->words[i] >> 60);

		if (kind < FLEXTRACE_WIRE_SLOT_RUN)
			got.kinds[kind]++;
		got.runs += kind == FLEXTRACE_WIRE_SLOT_RUN;
		got.stamps += kind == FLEXTRACE_WIRE_SLOT_STAMP;
		got.open_slots += kind == FLEXTRACE_WIRE_SLOT_QUEUE &&
		                  (batch->words[i] >> 32 & FLEXTRACE_WIRE_ID_MASK) == 0;
	}
}

/* -- helpers ----------------------------------------------------------------------------------- */

static struct flextrace_qemu *create(const struct flextrace_emulator_config *config,
                                     const struct flextrace_qemu_options *options)
{
	struct flextrace_qemu_options patient = {.timeout_ms = 0};
	struct flextrace_qemu *qemu = NULL;

	if (options)
		patient = *options;
	if (!patient.timeout_ms)
		patient.timeout_ms = 600000;
	assert_int_equal(flextrace_qemu_create(config, &patient, &qemu), 0);
	assert_non_null(qemu);
	return qemu;
}

static struct qemu_mailbox *mailbox_of(struct flextrace_qemu *qemu, uint32_t core)
{
	size_t bytes;

	return (void *)((uint8_t *)flextrace_qemu_area(qemu, core, &bytes) - QEMU_AREA_OFFSET);
}

static void run(struct flextrace_qemu *qemu, const struct flextrace_emulator_job *job)
{
	struct flextrace_emulator_completion completion;
	uint64_t ticket;

	assert_int_equal(flextrace_qemu_submit(qemu, job, &ticket), 0);
	assert_int_equal(flextrace_qemu_wait(qemu, job->core, ticket, &completion), 0);
	assert_int_equal(completion.status, 0);
}

struct operands {
	int32_t a[WORDS], b[WORDS], c[N_CORES][WORDS];
};

static void fill(struct operands *operands, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < WORDS; i++) {
		operands->a[i] = (int32_t)(seed = seed * 1664525u + 1013904223u);
		operands->b[i] = (int32_t)(seed = seed * 1664525u + 1013904223u);
	}
}

static uint32_t expected(const struct operands *operands, uint32_t op, uint32_t word)
{
	const uint32_t *a = (const uint32_t *)operands->a;
	const uint32_t *b = (const uint32_t *)operands->b;
	uint32_t sum = 0;
	uint32_t i;

	switch (op) {
	case FLEXTRACE_EMULATOR_ADD:
		return a[word] + b[word];
	case FLEXTRACE_EMULATOR_REDUCE:
		for (i = 0; i < WORDS; i++)
			sum += a[i];
		return sum;
	default:
		for (i = 0; i < N; i++)
			sum += a[word / N * N + i] * b[i * N + word % N];
		return sum;
	}
}

/* All cores at once. */
static void check_op(struct flextrace_qemu *qemu, uint32_t op)
{
	struct flextrace_emulator_completion completion;
	struct operands operands = {0};
	uint64_t tickets[N_CORES];
	uint32_t n_words = op == FLEXTRACE_EMULATOR_REDUCE ? 1 : WORDS;
	uint32_t core, i;

	fill(&operands, op + 1);
	for (core = 0; core < N_CORES; core++) {
		const struct flextrace_emulator_job job = {
			.core = core,
			.op = op,
			.n = N,
			.repeat = core,
			.a = operands.a,
			.b = operands.b,
			.c = operands.c[core],
		};

		assert_int_equal(flextrace_qemu_submit(qemu, &job, &tickets[core]), 0);
	}
	for (core = 0; core < N_CORES; core++) {
		assert_int_equal(flextrace_qemu_wait(qemu, core, tickets[core], &completion), 0);
		for (i = 0; i < n_words; i++)
			assert_int_equal((uint32_t)operands.c[core][i], expected(&operands, op, i));
		for (i = 1; i < FLEXTRACE_EMULATOR_N_STAMPS; i++)
			assert_true((int32_t)(completion.ts[i] - completion.ts[i - 1]) > 0);
	}
}

static void check_copies(struct flextrace_qemu *qemu)
{
	uint8_t source[1001], target[1001];
	struct flextrace_emulator_job job = {
		.op = FLEXTRACE_EMULATOR_COPY,
		.core = 1,
		.source = source,
		.target = target,
		.bytes = sizeof(source),
		.fill = 0xa5,
	};
	size_t i;

	for (i = 0; i < sizeof(source); i++)
		source[i] = (uint8_t)(i * 7);
	run(qemu, &job);
	assert_memory_equal(source, target, sizeof(source));
	job.op = FLEXTRACE_EMULATOR_FILL;
	memset(source, 0xa5, sizeof(source));
	run(qemu, &job);
	assert_memory_equal(source, target, sizeof(source));
}

static void compute_on(uint32_t isa)
{
	const struct flextrace_qemu_options options = {.isa = isa};
	struct flextrace_qemu *qemu;

	if (flextrace_qemu_check(&options, NULL) < 0)
		skip();
	qemu = create(&usual, &options);
	check_op(qemu, FLEXTRACE_EMULATOR_MATMUL);
	check_op(qemu, FLEXTRACE_EMULATOR_ADD);
	check_op(qemu, FLEXTRACE_EMULATOR_REDUCE);
	check_copies(qemu);
	assert_int_equal(flextrace_qemu_destroy(qemu), 0);
}

static void test_qemu__computes_what_the_host_does_on_rv32imac(void **state)
{
	(void)state;
	compute_on(FLEXTRACE_QEMU_RV32IMAC);
}

static void test_qemu__computes_what_the_host_does_without_atomics(void **state)
{
	(void)state;
	compute_on(FLEXTRACE_QEMU_RV32IM);
}

static void test_qemu__computes_what_the_host_does_on_rv64imac(void **state)
{
	(void)state;
	compute_on(FLEXTRACE_QEMU_RV64IMAC);
}

static void test_qemu__refuses_what_cannot_run(void **state)
{
	static const struct flextrace_emulator_step step = {.at_ns = 1};
	struct flextrace_emulator_config configs[] = {usual, usual, usual, usual, usual, usual};
	const struct flextrace_qemu_options odd = {.isa = 99};
	const struct flextrace_emulator_job jobs[] = {
		{.core = N_CORES},
		{.op = 99},
		{.op = FLEXTRACE_EMULATOR_MATMUL, .n = 0},
		{.op = FLEXTRACE_EMULATOR_COPY, .bytes = 1},
		{.op = FLEXTRACE_EMULATOR_FILL, .bytes = usual.local_bytes + 1},
	};
	struct flextrace_qemu *qemu = NULL;
	uint64_t ticket;
	size_t i;

	(void)state;
	configs[0].n_cores = 0;
	configs[1].n_cores = FLEXTRACE_QEMU_MAX_CORES + 1;
	configs[2].ring_capacity = 1000;
	configs[3].steps = &step;
	configs[3].n_steps = 1;
	configs[4].counter_hz = 0;
	configs[5].counter_hz = UINT64_C(1) << 33; /* faster than any host counts */
	for (i = 0; i < sizeof(configs) / sizeof(configs[0]); i++)
		assert_int_equal(flextrace_qemu_create(&configs[i], NULL, &qemu), -EINVAL);
	assert_int_equal(flextrace_qemu_create(&usual, &odd, &qemu), -EINVAL);
	assert_null(qemu);
	qemu = create(&usual, NULL);
	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		assert_int_equal(flextrace_qemu_submit(qemu, &jobs[i], &ticket), -EINVAL);
	assert_int_equal(flextrace_qemu_wait(qemu, 0, 0, NULL), -EINVAL);
	assert_int_equal(flextrace_qemu_destroy(qemu), 0);
}

#define MAX_WIDTH_NS 100000 /* a core sleeps as long */

/* The host that asks and the core that answers. */
static bool has_processor_for_each(void)
{
	cpu_set_t allowed;

	return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

/* One that is close, by a question that the core answered while it was awake. Others may have the
 * processors, and then it takes some readings; on a single processor none is close. */
static struct flextrace_qemu_reading read_closely(struct flextrace_qemu *qemu, uint32_t core)
{
	const struct qemu_mailbox *mailbox = mailbox_of(qemu, core);
	struct flextrace_qemu_reading reading;
	uint64_t last = 0;
	bool is_close;

	do {
		uint32_t answered = __atomic_load_n(&mailbox->probed, __ATOMIC_ACQUIRE);

		assert_int_equal(flextrace_qemu_read(qemu, core, &reading), 0);
		assert_true(reading.before_ns < reading.after_ns);
		assert_true(reading.ticks > last);
		last = reading.ticks;
		is_close = __atomic_load_n(&mailbox->probed, __ATOMIC_ACQUIRE) != answered &&
		           (reading.after_ns - reading.before_ns < MAX_WIDTH_NS ||
		            !has_processor_for_each());
	} while (!is_close);
	return reading;
}

static void test_counter__is_read_more_closely_than_a_core_sleeps(void **state)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	struct flextrace_qemu_reading from, to;
	struct flextrace_qemu *qemu = create(&usual, NULL);
	double least_ns, most_ns, ticks;

	(void)state;
	from = read_closely(qemu, 1);
	check_op(qemu, FLEXTRACE_EMULATOR_ADD); /* control blocks in between */
	(void)nanosleep(&pause, NULL);
	to = read_closely(qemu, 1);
	least_ns = (double)(to.before_ns - from.after_ns);
	most_ns = (double)(to.after_ns - from.before_ns);
	ticks = (double)(to.ticks - from.ticks);
	assert_true(ticks >= least_ns * 0.56 * (1 - 1e-3));
	assert_true(ticks <= most_ns * 0.56 * (1 + 1e-3));
	assert_int_equal(flextrace_qemu_read(qemu, N_CORES, &to), -EINVAL);
	assert_int_equal(flextrace_qemu_destroy(qemu), 0);
}

static void test_qemu__says_what_is_missing(void **state)
{
	const struct flextrace_qemu_options no_image = {.elf_path = "/nonexistent"};
	char *path = strdup(getenv("PATH"));
	const char *why = NULL;

	(void)state;
	assert_int_equal(flextrace_qemu_check(&no_image, &why), -ENOENT);
	assert_non_null(strstr(why, "firmware image"));
	assert_int_equal(setenv("PATH", "/nonexistent", 1), 0);
	assert_int_equal(flextrace_qemu_check(NULL, &why), -ENOENT);
	assert_non_null(strstr(why, "not installed"));
	assert_int_equal(setenv("PATH", path, 1), 0);
	free(path);
}

/* -- markers ----------------------------------------------------------------------------------- */

static void attach(struct flextrace_qemu *qemu, struct flextrace_drain_area *areas)
{
	uint32_t core;

	memset(&got, 0, sizeof(got));
	for (core = 0; core < N_CORES; core++) {
		size_t bytes;
		void *memory = flextrace_qemu_area(qemu, core, &bytes);

		flextrace_drain_area_init(&areas[core], 0, memory, bytes);
	}
}

static void test_markers__of_all_kinds_come_through_the_drain(void **state)
{
	const struct flextrace_emulator_job job = {
		.core = 2,
		.op = FLEXTRACE_EMULATOR_EMIT,
		.n = 100,
		.kinds = 1u << FLEXTRACE_WIRE_MARK | 1u << FLEXTRACE_WIRE_ZONE_BEGIN |
	                 1u << FLEXTRACE_WIRE_VALUE,
	};
	struct flextrace_drain_area areas[N_CORES];
	struct flextrace_qemu *qemu = create(&usual, NULL);

	(void)state;
	attach(qemu, areas);
	assert_true(flextrace_device_names(0, flextrace_qemu_elf(NULL)) > 10);
	assert_true(got.has_tile);
	run(qemu, &job);
	flextrace_drain(areas, N_CORES, FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_MARK], N_CORES + 100 + 1); /* ready, complete */
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_ZONE_BEGIN], 100 + 3);
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_ZONE_END], 100 + 3);
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_VALUE], 100);
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_VALUE_DATA], 100);
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_RUN], 1);
	assert_int_equal(got.runs, 1);
	assert_int_equal(got.stamps, 7); /* FW and TS */
	assert_int_equal(got.open_slots, 0);
	assert_int_equal(flextrace_qemu_destroy(qemu), 0);
}

struct console {
	char text[32768];
	size_t bytes;
};

static void take_text(void *context, const char *text, size_t bytes)
{
	struct console *console = context;

	if (bytes > sizeof(console->text) - 1 - console->bytes)
		bytes = sizeof(console->text) - 1 - console->bytes;
	memcpy(console->text + console->bytes, text, bytes);
	console->bytes += bytes;
}

/* All cores print lines between their markers. */
static void test_print__of_the_firmware_works_beside_markers(void **state)
{
	struct flextrace_emulator_config config = usual;
	struct flextrace_emulator_completion completion;
	struct flextrace_drain_area areas[N_CORES];
	struct console console = {.bytes = 0};
	uint32_t n_lines[200] = {0};
	uint64_t tickets[N_CORES];
	struct flextrace_qemu *qemu;
	unsigned int number;
	const char *line;
	uint32_t i;

	(void)state;
	config.console = take_text;
	config.console_context = &console;
	qemu = create(&config, NULL);
	attach(qemu, areas);
	for (i = 0; i < N_CORES; i++) {
		const struct flextrace_emulator_job job = {
			.core = i,
			.op = FLEXTRACE_EMULATOR_EMIT,
			.n = 200,
			.kinds = 1u << FLEXTRACE_WIRE_MARK | 1u << FLEXTRACE_WIRE_ZONE_BEGIN |
		                 FLEXTRACE_EMULATOR_PRINT,
		};

		assert_int_equal(flextrace_qemu_submit(qemu, &job, &tickets[i]), 0);
	}
	for (i = 0; i < N_CORES; i++)
		assert_int_equal(flextrace_qemu_wait(qemu, i, tickets[i], &completion), 0);
	flextrace_drain(areas, N_CORES, FLEXTRACE_DRAIN_LAST);
	assert_int_equal(flextrace_qemu_destroy(qemu), 0);
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_MARK], N_CORES * (1 + 200 + 1));
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_ZONE_END], N_CORES * (200 + 3));
	console.text[console.bytes] = '\0';
	assert_string_equal(strtok(console.text, "\n"), "flextrace: ready");
	while ((line = strtok(NULL, "\n"))) {
		assert_int_equal(sscanf(line, "round %u", &number), 1);
		assert_int_equal(strlen(line), strlen("round 0123456789"));
		assert_in_range(number, 0, 199);
		n_lines[number]++;
	}
	for (i = 0; i < 200; i++)
		assert_int_equal(n_lines[i], N_CORES);
}

static void test_markers__of_a_run_that_never_ends_are_read(void **state)
{
	const struct flextrace_qemu_options hasty = {.timeout_ms = 1};
	const struct flextrace_emulator_job job = {.core = 3, .op = FLEXTRACE_EMULATOR_HANG};
	struct flextrace_emulator_completion completion;
	struct flextrace_drain_area areas[N_CORES];
	struct flextrace_qemu *qemu = create(&usual, &hasty);
	uint64_t ticket;

	(void)state;
	attach(qemu, areas);
	assert_int_equal(flextrace_qemu_submit(qemu, &job, &ticket), 0);
	while (got.kinds[FLEXTRACE_WIRE_ZONE_BEGIN] < 3) /* dma in, prep, stuck */
		flextrace_drain(areas, N_CORES, 0);
	assert_int_equal(flextrace_qemu_wait(qemu, 3, ticket, &completion), -ETIMEDOUT);
	flextrace_drain(areas, N_CORES, FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.open_slots, 1);
	assert_int_equal(got.stamps, 5); /* FW start, kernel start, TS1..TS3 */
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_ZONE_BEGIN], 3);
	assert_int_equal(got.kinds[FLEXTRACE_WIRE_ZONE_END], 2);
	assert_int_equal(flextrace_qemu_destroy(qemu), 0);
}

/* The host believes no number that stands in the device's memory. */
static void test_truth__that_a_firmware_spoils_is_told(void **state)
{
	const struct flextrace_emulator_job job = {.op = FLEXTRACE_EMULATOR_EMIT, .n = 1};
	struct flextrace_emulator_config config = usual;
	struct flextrace_qemu *qemu;
	struct qemu_mailbox *mailbox;

	(void)state;
	config.truth_path = "/dev/null";
	qemu = create(&config, NULL);
	run(qemu, &job);
	assert_int_equal(flextrace_qemu_destroy(qemu), 0);

	qemu = create(&config, NULL);
	mailbox = mailbox_of(qemu, 0);
	__atomic_store_n(&mailbox->truth_written, UINT32_C(0x80000000), __ATOMIC_RELEASE);
	run(qemu, &job);
	run(qemu, &job);
	assert_int_equal(flextrace_qemu_destroy(qemu), -EIO);
}

/* -- nothing stays behind ---------------------------------------------------------------------- */

static void test_qemu__that_dies_ends_the_wait(void **state)
{
	const struct flextrace_emulator_job job = {.op = FLEXTRACE_EMULATOR_HANG};
	struct flextrace_emulator_completion completion;
	struct flextrace_qemu *qemu = create(&usual, NULL);
	uint64_t ticket;

	(void)state;
	assert_int_equal(flextrace_qemu_submit(qemu, &job, &ticket), 0);
	assert_int_equal(kill(flextrace_qemu_pid(qemu), SIGKILL), 0);
	assert_int_equal(flextrace_qemu_wait(qemu, 0, ticket, &completion), -EIO);
	assert_int_equal(flextrace_qemu_destroy(qemu), 0);
}

/* What a program does that is killed: it tells QEMU's pid and waits for its end. */
static void be_killed(int tell)
{
	struct flextrace_qemu *qemu = NULL;
	int pid = 0;

	if (flextrace_qemu_create(&usual, NULL, &qemu) == 0)
		pid = flextrace_qemu_pid(qemu);
	if (write(tell, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	for (;;)
		(void)pause();
}

static void test_qemu__ends_with_a_program_that_is_killed(void **state)
{
	int ends[2], qemu_pid = 0, status;
	pid_t program;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* orphans become ours */
	assert_int_equal(pipe(ends), 0);
	program = fork();
	if (program == 0)
		be_killed(ends[1]);
	assert_true(program > 0);
	assert_int_equal(read(ends[0], &qemu_pid, sizeof(qemu_pid)), sizeof(qemu_pid));
	assert_true(qemu_pid > 0);
	assert_int_equal(kill(program, SIGKILL), 0);
	assert_int_equal(waitpid(program, &status, 0), program);
	assert_int_equal(waitpid(qemu_pid, &status, 0), qemu_pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void test_qemu__leaves_no_process_and_no_descriptor(void **state)
{
	struct flextrace_qemu *qemu;
	int before = dup(0), after, pid;

	(void)state;
	(void)close(before);
	qemu = create(&usual, NULL);
	pid = flextrace_qemu_pid(qemu);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	assert_int_equal(flextrace_qemu_destroy(qemu), 0);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1); /* ended, and no longer a child */
	after = dup(0);
	(void)close(after);
	assert_int_equal(after, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_qemu__computes_what_the_host_does_on_rv32imac),
		cmocka_unit_test(test_qemu__computes_what_the_host_does_without_atomics),
		cmocka_unit_test(test_qemu__computes_what_the_host_does_on_rv64imac),
		cmocka_unit_test(test_qemu__refuses_what_cannot_run),
		cmocka_unit_test(test_counter__is_read_more_closely_than_a_core_sleeps),
		cmocka_unit_test(test_qemu__says_what_is_missing),
		cmocka_unit_test(test_markers__of_all_kinds_come_through_the_drain),
		cmocka_unit_test(test_print__of_the_firmware_works_beside_markers),
		cmocka_unit_test(test_markers__of_a_run_that_never_ends_are_read),
		cmocka_unit_test(test_truth__that_a_firmware_spoils_is_told),
		cmocka_unit_test(test_qemu__that_dies_ends_the_wait),
		cmocka_unit_test(test_qemu__ends_with_a_program_that_is_killed),
		cmocka_unit_test(test_qemu__leaves_no_process_and_no_descriptor),
	};
	const char *why;

	if (flextrace_qemu_check(NULL, &why) < 0) {
		printf("skipped: %s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
