/* SPDX-License-Identifier: Apache-2.0 */
/* From nothing to cores that wait for control blocks, and back. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "config.h"
#include "counter.h"
#include "image.h"
#include "programs.h"
#include "qemu_impl.h"

#define MAX_LOCAL_BYTES    ((size_t)32 << 20)
#define MIN_RAM_BYTES      ((size_t)16 << 20)
#define MAX_RAM_BYTES      ((size_t)1 << 30)
#define DEFAULT_TIMEOUT_MS 60000u
#define TIMER_PER_US       10u
#define MEASURE_NS         40000000u /* of the host's counter: some ppm */
#define PPB                INT64_C(1000000000)

/* -- the layout of the memory ------------------------------------------------------------------ */

static size_t whole_pages(size_t bytes)
{
	return (bytes + QEMU_PAGE_BYTES - 1) / QEMU_PAGE_BYTES * QEMU_PAGE_BYTES;
}

static int take_config(struct flextrace_qemu *qemu, const struct flextrace_emulator_config *config)
{
	struct flextrace_emulator_config *own = &qemu->config;

	*own = *config;
	if (config_fill(own, FLEXTRACE_QEMU_MAX_CORES) < 0 || own->n_steps)
		return -EINVAL;
	own->local_bytes = whole_pages(own->local_bytes);
	if (own->local_bytes > MAX_LOCAL_BYTES)
		return -EINVAL;
	qemu->area_bytes = FLEXTRACE_WIRE_AREA_BYTES((size_t)own->ring_capacity);
	return 0;
}

static struct layout lay_out(const struct flextrace_qemu *qemu)
{
	const struct flextrace_emulator_config *config = &qemu->config;
	size_t truth_bytes = config->truth_path ? QEMU_TRUTH_ROWS * sizeof(struct qemu_truth) : 0;
	struct layout layout;

	layout.truth = QEMU_AREA_OFFSET + whole_pages(qemu->area_bytes);
	layout.local = layout.truth + truth_bytes;
	layout.stage = layout.local + config->local_bytes;
	layout.window = layout.stage + QEMU_MAILBOX_DEPTH * config->local_bytes;
	layout.ram = QEMU_CORES_OFFSET + config->n_cores * layout.window;
	layout.ram = (layout.ram + (1u << 20) - 1) >> 20 << 20;
	if (layout.ram < MIN_RAM_BYTES)
		layout.ram = MIN_RAM_BYTES;
	return layout;
}

static void fill_boot(struct flextrace_qemu *qemu)
{
	const struct layout *layout = &qemu->layout;
	uint32_t i;

	qemu->boot = (void *)(qemu->machine.ram + QEMU_BOOT_OFFSET);
	*qemu->boot = (struct qemu_boot){
		.n_cores = qemu->config.n_cores,
		.window_bytes = (uint32_t)layout->window,
		.truth_offset = (uint32_t)layout->truth,
		.local_offset = (uint32_t)layout->local,
		.stage_offset = (uint32_t)layout->stage,
		.stage_bytes = (uint32_t)qemu->config.local_bytes,
		.ring_capacity = qemu->config.ring_capacity,
		.policy = qemu->config.policy,
		.idle_ticks = IDLE_US * TIMER_PER_US,
		.has_truth = qemu->config.truth_path != NULL,
	};
	for (i = 0; i < qemu->config.n_cores; i++) {
		struct core *core = &qemu->cores[i];

		core->index = i;
		core->window = qemu->machine.ram + QEMU_CORES_OFFSET + i * layout->window;
		core->mailbox = (void *)core->window;
		store(&core->mailbox->domain,
		      qemu->config.domain + (qemu->config.core_clocks ? i : 0));
	}
}

/* -- counters ---------------------------------------------------------------------------------- */

static uint64_t scale(uint64_t cycles, uint32_t ratio)
{
	return (cycles >> 32) * ratio + (((cycles & UINT32_MAX) * ratio) >> 32);
}

/* All counters show their offset now. */
static int start_counters(struct flextrace_qemu *qemu)
{
	const struct flextrace_emulator_config *config = &qemu->config;
	double host_hz = host_clock_hz(&qemu->clock);
	uint32_t i;

	qemu->start_cycles = host_cycles();
	for (i = 0; i < config->n_cores; i++) {
		const struct flextrace_emulator_clock clock = config_clock(config, i);
		struct qemu_mailbox *mailbox = qemu->cores[i].mailbox;
		double ratio = (double)config->counter_hz *
		               (1 + (double)clock.drift_ppb / (double)PPB) / host_hz * 4294967296.0;
		uint64_t offset;

		if (clock.n_steps || clock.drift_ppb <= -PPB || !(ratio >= 1) ||
		    ratio >= 4294967295.0)
			return -EINVAL;
		offset = clock.offset_ticks - scale(qemu->start_cycles, (uint32_t)ratio);
		store(&mailbox->ratio, (uint32_t)ratio);
		store(&mailbox->offset_lo, (uint32_t)offset);
		store(&mailbox->offset_hi, (uint32_t)(offset >> 32));
	}
	return 0;
}

/* Two readings tell how fast the host counts. */
static int measure_host(struct flextrace_qemu *qemu)
{
	uint64_t elapsed_ns = counter_host_ns() - qemu->clock.points[0].ns;
	const struct timespec pause = {.tv_nsec = (long)(MEASURE_NS - elapsed_ns)};

	if (elapsed_ns < MEASURE_NS)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	return host_clock_read(&qemu->clock);
}

/* Each core's mcycle lies between the host's readings before and after. */
static int check_counters(struct flextrace_qemu *qemu)
{
	struct flextrace_qemu_reading reading;
	uint64_t cycles;
	uint32_t i;

	for (i = 0; i < qemu->config.n_cores; i++) {
		uint64_t before = host_cycles();
		int ret = read_counter(qemu, i, 0, &reading, &cycles);

		if (ret < 0)
			return ret;
		if (cycles < before || cycles > host_cycles())
			return -EOPNOTSUPP;
	}
	return 0;
}

/* -- boot -------------------------------------------------------------------------------------- */

static int wait_until(struct flextrace_qemu *qemu, uint32_t state)
{
	uint64_t deadline_ns = deadline_of(qemu);
	int ret = 0;
	uint32_t i;

	for (i = 0; i < qemu->config.n_cores && ret == 0; i++)
		ret = machine_wait(&qemu->machine, &qemu->cores[i].mailbox->state, state,
		                   deadline_ns);
	return ret;
}

/* Counters start as late as can be: starting QEMU may take long. */
static int start_cores(struct flextrace_qemu *qemu)
{
	int ret = wait_until(qemu, QEMU_ALIVE);

	if (ret == 0)
		ret = measure_host(qemu);
	if (ret == 0)
		ret = start_counters(qemu);
	if (ret < 0)
		return ret;
	store(&qemu->boot->go, 1);
	ret = wait_until(qemu, QEMU_READY);
	return ret == 0 ? check_counters(qemu) : ret;
}

static int start_machine(struct flextrace_qemu *qemu, const struct flextrace_qemu_options *options)
{
	struct machine_setup setup;
	char program[4096];
	int ret = programs_find(options->isa, program, sizeof(program));

	if (ret < 0)
		return ret;
	setup = (struct machine_setup){
		.program = program,
		.cpu = programs_cpu(options->isa),
		.n_harts = qemu->config.n_cores,
	};
	qemu->machine.console = qemu->config.console;
	qemu->machine.console_context = qemu->config.console_context;
	return machine_start(&qemu->machine, &setup);
}

static int boot(struct flextrace_qemu *qemu, const struct flextrace_qemu_options *options)
{
	int ret;

	qemu->layout = lay_out(qemu);
	if (qemu->layout.ram > MAX_RAM_BYTES)
		return -EINVAL;
	ret = machine_init(&qemu->machine, qemu->layout.ram);
	if (ret == 0)
		ret = image_load(flextrace_qemu_elf(options), qemu->machine.ram, QEMU_BOOT_OFFSET,
		                 QEMU_RAM_ADDRESS);
	if (ret < 0)
		return ret;
	fill_boot(qemu);
	ret = stamps_open(qemu);
	if (ret == 0)
		ret = host_clock_read(&qemu->clock);
	if (ret == 0)
		ret = start_machine(qemu, options);
	return ret == 0 ? start_cores(qemu) : ret;
}

int flextrace_qemu_create(const struct flextrace_emulator_config *config,
                          const struct flextrace_qemu_options *options,
                          struct flextrace_qemu **ret_qemu)
{
	static const struct flextrace_qemu_options defaults;
	struct flextrace_qemu *qemu;
	uint32_t i;
	int ret = flextrace_qemu_check(options, NULL);

	if (ret < 0)
		return ret;
	options = options ? options : &defaults;
	qemu = calloc(1, sizeof(*qemu));
	if (!qemu)
		return -ENOMEM;
	qemu->machine.ram_fd = qemu->machine.uart_fd = -1;
	qemu->timeout_ns = (options->timeout_ms > DEFAULT_TIMEOUT_MS ? options->timeout_ms
	                                                             : DEFAULT_TIMEOUT_MS) *
	                   UINT64_C(1000000);
	(void)pthread_mutex_init(&qemu->truth_lock, NULL);
	for (i = 0; i < FLEXTRACE_QEMU_MAX_CORES; i++) {
		(void)pthread_mutex_init(&qemu->cores[i].lock, NULL);
		(void)pthread_mutex_init(&qemu->cores[i].probe_lock, NULL);
	}
	ret = take_config(qemu, config);
	if (ret == 0)
		ret = boot(qemu, options);
	if (ret < 0) {
		(void)flextrace_qemu_destroy(qemu);
		return ret;
	}
	if (options->timeout_ms)
		qemu->timeout_ns = options->timeout_ms * UINT64_C(1000000);
	*ret_qemu = qemu;
	return 0;
}

/* -- the end ----------------------------------------------------------------------------------- */

static void finish_core(struct flextrace_qemu *qemu, struct core *core)
{
	if (core->mailbox && !core->is_stuck && qemu->machine.pid > 0) {
		(void)machine_wait(&qemu->machine, &core->mailbox->done, (uint32_t)core->submitted,
		                   deadline_of(qemu));
		stamps_take(qemu, core);
	}
	(void)pthread_mutex_destroy(&core->lock);
	(void)pthread_mutex_destroy(&core->probe_lock);
}

int flextrace_qemu_destroy(struct flextrace_qemu *qemu)
{
	uint32_t i;
	int ret;

	if (!qemu)
		return 0;
	for (i = 0; i < FLEXTRACE_QEMU_MAX_CORES; i++)
		finish_core(qemu, &qemu->cores[i]);
	ret = stamps_close(qemu);
	machine_release(&qemu->machine);
	(void)pthread_mutex_destroy(&qemu->truth_lock);
	free(qemu);
	return ret;
}
