/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_truth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "clock_model.h"

#define MAX_QUEUES 16

/* -- the counter ----------------------------------------------------------------------------- */

/* Ticks since the counter's start at a host time since its start, without resets. */
static long double phase_at(const struct clock_scene *scene, double middle_ns, double ns)
{
	const struct counter_model model = {
		.hz = scene->hz,
		.drift_ppm = scene->drift_ppm,
		.drift_period_ns = scene->drift_period_ns,
		.step_ppm = scene->step_ppm,
		.step_at_ns = middle_ns,
	};

	return model_phase(&model, ns);
}

struct maker {
	struct clock_truth *truth;
	uint64_t state;
	double middle_ns, end_ns; /* about */
};

static uint64_t ticks_at(const struct maker *maker, double ns, uint32_t life)
{
	const struct clock_scene *scene = &maker->truth->scene;
	long double phase = phase_at(scene, maker->middle_ns, ns);

	/* A reset starts the counter near zero again. */
	if (life > 0) {
		double reset_ns = maker->end_ns * life / (scene->n_resets + 1);

		phase -= phase_at(scene, maker->middle_ns, reset_ns);
		return 1000 + (uint64_t)floorl(phase < 0 ? 0 : phase);
	}
	return scene->origin_ticks + (uint64_t)floorl(phase);
}

static uint32_t life_at(const struct maker *maker, double ns)
{
	const struct clock_scene *scene = &maker->truth->scene;

	if (scene->n_resets == 0)
		return 0;
	return (uint32_t)fmin(floor(ns / (maker->end_ns / (scene->n_resets + 1))), scene->n_resets);
}

static void stamp(const struct maker *maker, struct truth_op *op, double start_ns,
                  const double *phases_ns)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		op->time_ns[i] = start_ns;
		start_ns += i + 1 < FLEXTRACE_N_STAMPS ? phases_ns[i] : 0;
	}
	op->life = life_at(maker, op->time_ns[0]);
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		op->ticks[i] = ticks_at(maker, op->time_ns[i], op->life);
		op->ticks32[i] = (uint32_t)op->ticks[i];
		if (op->ticks32[i] == 0)
			op->ticks32[i] = 1; /* 0 = not taken */
	}
}

static void lie(struct maker *maker, struct truth_op *op)
{
	const struct clock_scene *scene = &maker->truth->scene;

	if (model_uniform(&maker->state) < scene->false_share) {
		int64_t shift = (int64_t)((model_uniform(&maker->state) - 0.5) * 6e6);

		op->submit_ns += shift;
		op->complete_ns += shift;
		op->lie = TRUTH_FALSE_BRACKET;
	}
	if (model_uniform(&maker->state) < scene->garbage_share) {
		for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
			op->ticks32[i] = (uint32_t)model_random(&maker->state) | 1;
		op->lie = TRUTH_GARBAGE;
	}
}

static double make_op(struct maker *maker, struct truth_op *op, double submit_ns, double free_ns,
                      bool is_long)
{
	const struct clock_scene *scene = &maker->truth->scene;
	double start_ns = submit_ns +
	                  model_latency(&maker->state, scene->floor_submit_ns, scene->jitter_ns);
	double phases_ns[] = {
		1000 + model_exponential(&maker->state, 1000),
		500,
		is_long ? scene->long_ns : model_exponential(&maker->state, scene->exec_ns),
		1000 + model_exponential(&maker->state, 1000),
	};

	if (start_ns < free_ns)
		start_ns = free_ns + 50;
	stamp(maker, op, start_ns, phases_ns);
	op->submit_ns = scene->origin_ns + (int64_t)floor(submit_ns);
	op->complete_ns = scene->origin_ns +
	                  (int64_t)floor(op->time_ns[4] + model_latency(&maker->state,
	                                                                scene->floor_complete_ns,
	                                                                scene->jitter_ns));
	return op->time_ns[4];
}

static void make_sync(struct maker *maker, double ns, uint32_t after_op)
{
	struct clock_truth *truth = maker->truth;
	double read_ns = ns + 300 + model_exponential(&maker->state, 500);

	truth->syncs[truth->n_syncs++] = (struct truth_sync){
		.before_ns = truth->scene.origin_ns + (int64_t)floor(ns),
		.after_ns = truth->scene.origin_ns +
	                    (int64_t)floor(read_ns + 300 + model_exponential(&maker->state, 500)),
		.ticks = ticks_at(maker, read_ns, life_at(maker, read_ns)),
		.after_op = after_op,
	};
}

static int by_completion(const void *left, const void *right)
{
	const struct truth_op *a = left, *b = right;

	return (a->complete_ns > b->complete_ns) - (a->complete_ns < b->complete_ns);
}

static void make_ops(struct maker *maker)
{
	struct clock_truth *truth = maker->truth;
	const struct clock_scene *scene = &truth->scene;
	double free_ns[MAX_QUEUES] = {0}, ns = 1000;
	uint32_t n_queues = scene->n_queues ? scene->n_queues : 1;

	for (uint32_t i = 0; i < scene->n_ops; i++) {
		struct truth_op *op = &truth->ops[i];
		bool is_long = scene->long_every && i % scene->long_every == scene->long_every - 1;
		uint32_t life = life_at(maker, ns);

		op->queue = (uint32_t)(model_random(&maker->state) % n_queues);
		free_ns[op->queue] = make_op(maker, op, ns, free_ns[op->queue], is_long);
		if (life_at(maker, op->time_ns[4]) != life)
			op->life = life; /* a reset waits for work to end */
		for (int k = 0; k < FLEXTRACE_N_STAMPS; k++)
			op->ticks[k] = ticks_at(maker, op->time_ns[k], op->life);
		for (int k = 0; k < FLEXTRACE_N_STAMPS; k++)
			op->ticks32[k] = (uint32_t)op->ticks[k] ? (uint32_t)op->ticks[k] : 1;
		lie(maker, op);
		if (scene->sync_every && i % scene->sync_every == 0)
			make_sync(maker, ns + 100, i);
		ns += model_exponential(&maker->state, scene->mean_period_ns);
		if (scene->gap_every && i % scene->gap_every == scene->gap_every - 1)
			ns += scene->gap_ns * (0.5 + model_uniform(&maker->state));
	}
	qsort(truth->ops, truth->n_ops, sizeof(*truth->ops), by_completion);
}

void clock_truth_init(struct clock_truth *truth, const struct clock_scene *scene)
{
	struct maker maker = {.truth = truth, .state = scene->seed};

	*truth = (struct clock_truth){.scene = *scene, .n_ops = scene->n_ops};
	truth->ops = calloc(scene->n_ops + 1ull, sizeof(*truth->ops));
	truth->syncs = calloc(scene->n_ops + 1ull, sizeof(*truth->syncs));
	assert_non_null(truth->ops);
	assert_non_null(truth->syncs);
	truth->n_lives = scene->n_resets + 1;
	maker.end_ns = scene->n_ops * scene->mean_period_ns;
	if (scene->gap_every)
		maker.end_ns += (double)scene->n_ops / scene->gap_every * scene->gap_ns;
	maker.middle_ns = maker.end_ns / 2;
	make_ops(&maker);
}

void clock_truth_release(struct clock_truth *truth)
{
	free(truth->ops);
	free(truth->syncs);
	memset(truth, 0, sizeof(*truth));
}

/* -- a conversion ---------------------------------------------------------------------------- */

void clock_run_init(struct clock_run *run)
{
	*run = (struct clock_run){.strings = string_pool_new()};
	assert_non_null(run->strings);
	run->stream.clock_is_1ghz = true;
	assert_int_equal(identity_init(&run->identity, run->strings, NULL), 0);
	ledger_init(&run->ledger);
	run->unwrap = unwrap_new(&run->identity, &run->ledger);
	assert_non_null(run->unwrap);
}

void clock_run_release(struct clock_run *run)
{
	clocks_free(run->clocks);
	unwrap_free(run->unwrap);
	unwrap_output_release(&run->out);
	identity_release(&run->identity);
	ledger_release(&run->ledger);
	table_release(&run->stream.tables[TABLE_EVIDENCE]);
	string_pool_free(run->strings);
}

static uint32_t counter_index(struct clock_run *run)
{
	const struct record record = {.vpid = 1, .vtid = 1};
	uint32_t process, device, counter;

	assert_int_equal(identity_process(&run->identity, &run->stream, &record, &process), 0);
	assert_int_equal(identity_device(&run->identity, process, 0, &device), 0);
	assert_int_equal(identity_counter(&run->identity, device, run->domain, &counter), 0);
	return counter;
}

struct counter *clock_run_counter(struct clock_run *run)
{
	uint32_t counter = counter_index(run);

	return &run->identity.counters[counter];
}

static void append(struct clock_run *run, const struct record *record)
{
	void *row = table_append(&run->stream.tables[TABLE_EVIDENCE], record->size_bytes);

	assert_non_null(row);
	memcpy(row, record, record->size_bytes);
}

void clock_run_push(struct clock_run *run, struct record *record, enum record_class class,
                    uint64_t clock_ns, uint32_t size_bytes)
{
	record->clock_ns = clock_ns;
	record->index = run->n_records++;
	record->size_bytes = size_bytes;
	record->vpid = 1;
	record->vtid = 1;
	record->class = (uint8_t) class;
	run->ledger.read[class]++;
	if (run->is_recording)
		append(run, record);
	else
		assert_int_equal(unwrap_push(run->unwrap, &run->stream, 0, record), 0);
}

void clock_run_gather(struct clock_run *run)
{
	struct stream *stream = &run->stream;
	struct stream_set set = {&stream, 1, 1};
	const struct record *record;
	struct gather gather;
	uint32_t id;

	assert_int_equal(gather_init(&gather, &set, TABLE_EVIDENCE, true), 0);
	while (gather_next(&gather, &record, &id)) {
		if (unwrap_push(run->unwrap, stream, id, record) < 0)
			fail_msg("No memory");
	}
	gather_release(&gather);
}

/* Each domain has queues of its own. */
static uint32_t queue_of(const struct clock_run *run, const struct truth_op *op)
{
	return run->domain * MAX_QUEUES + op->queue;
}

static void push_edge(struct clock_run *run, const struct truth_op *op, uint64_t job,
                      bool is_submit)
{
	struct record_bracket edge = {
		.job = job,
		.host_ns = (uint64_t)(is_submit ? op->submit_ns : op->complete_ns),
		.queue = queue_of(run, op),
	};

	clock_run_push(run, &edge.head, is_submit ? RECORD_SUBMIT : RECORD_COMPLETE,
	               (uint64_t)op->complete_ns, sizeof(edge));
}

/* A false stamp of 32 bits is as false with 64. */
static uint64_t wide_stamp(const struct truth_op *op, int stamp)
{
	int32_t off = (int32_t)(op->ticks32[stamp] - (uint32_t)op->ticks[stamp]);

	return op->ticks32[stamp] ? op->ticks[stamp] + (uint64_t)(int64_t)off : 0;
}

void clock_run_push_truth(struct clock_run *run, const struct clock_truth *truth, bool split)
{
	uint32_t bits = truth->scene.counter_bits, sync = 0;

	if (bits)
		clock_run_counter(run)->counter_bits = bits;
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[i];
		union {
			struct record_device_op record;
			uint64_t words[sizeof(struct record_device_op) / 8 + FLEXTRACE_N_STAMPS];
		} whole = {{
			.head.kind = FLEXTRACE_DEVICE_KERNEL,
			.job = i,
			.domain = run->domain,
			.queue = queue_of(run, op),
			.peer = -1,
		}};
		struct record_device_op *record = &whole.record;

		for (; sync < truth->n_syncs && truth->syncs[sync].after_op <= i; sync++) {
			struct record_clock_sync clock_sync = {
				.host_before_ns = (uint64_t)truth->syncs[sync].before_ns,
				.ticks = truth->syncs[sync].ticks,
				.host_after_ns = (uint64_t)truth->syncs[sync].after_ns,
				.domain = run->domain,
			};

			if (bits && bits < 64)
				clock_sync.ticks &= (UINT64_C(1) << bits) - 1;

			clock_run_push(run, &clock_sync.head, RECORD_CLOCK_SYNC,
			               clock_sync.host_after_ns, sizeof(clock_sync));
		}
		memcpy(record->ticks32, op->ticks32, sizeof(record->ticks32));
		for (int k = 0; k < FLEXTRACE_N_STAMPS && run->is_wide; k++)
			record->ticks64[k] = wide_stamp(op, k);
		if (split) {
			push_edge(run, op, i, true);
			push_edge(run, op, i, false);
		} else {
			record->submit_ns = (uint64_t)op->submit_ns;
			record->complete_ns = (uint64_t)op->complete_ns;
		}
		clock_run_push(run, &record->head, RECORD_DEVICE_OP, (uint64_t)op->complete_ns,
		               run->is_wide ? sizeof(whole) : sizeof(*record));
	}
}

static const struct calibrate_options defaults = CALIBRATE_OPTIONS_INIT;

void clock_run_unwrap(struct clock_run *run, const struct calibrate_options *options)
{
	struct flextrace_error error = {0};

	unwrap_set_options(run->unwrap, options ? options : &defaults);
	if (unwrap_finish(run->unwrap, &run->out, &error) < 0)
		fail_msg("%s", error.message);
}

/* As derive does. */
static void note_refused(struct clock_run *run)
{
	struct table_cursor cursor;
	struct tick_op *op;

	table_read(&cursor, &run->out.ops, false);
	for (uint64_t i = 0; (op = table_next(&cursor, sizeof(*op))); i++) {
		if (clocks_refuse(run->clocks, i))
			op->status = TIME_OUTLIER;
	}
}

void clock_run_calibrate(struct clock_run *run, const struct calibrate_options *options)
{
	const struct calibrate_input input = {options ? options : &defaults,
	                                      &run->identity,
	                                      &run->out.brackets,
	                                      &run->out.ops,
	                                      &run->out.rates,
	                                      &run->ledger,
	                                      &run->out.told_clocks};
	struct flextrace_error error = {0};

	if (calibrate_run(&input, &run->clocks, &error) < 0)
		fail_msg("%s", error.message);
	note_refused(run);
}

void clock_run_finish(struct clock_run *run, const struct calibrate_options *options)
{
	clock_run_unwrap(run, options);
	clock_run_calibrate(run, options);
}

/* -- judging --------------------------------------------------------------------------------- */

struct placed_stamp {
	uint64_t ticks;
	int64_t host_ns;
	uint16_t segment;
};

struct errors {
	double *values; /* owned */
	uint32_t n;
	struct placed_stamp *stamps; /* owned, like values */
};

/* Where a life's ticks stand on the axis of a segment: by most certified operations of the two. */
static uint64_t base_of(struct clock_run *run, const struct clock_truth *truth, uint16_t segment,
                        uint32_t life, bool *ret_found)
{
	uint32_t counter = counter_index(run);
	struct table_cursor cursor;
	const struct tick_op *op;
	uint64_t candidate = 0;
	int64_t votes = 0;
	uint32_t i = 0;

	table_read(&cursor, &run->out.ops, false);
	while ((op = table_next(&cursor, sizeof(*op)))) {
		const struct truth_op *real = &truth->ops[i];
		uint64_t base = op->ticks[0] - real->ticks[0];

		if (op->counter != counter || op->class != RECORD_DEVICE_OP)
			continue;
		i++;
		if (op->segment != segment || real->life != life || op->status != TIME_CERTIFIED ||
		    real->lie == TRUTH_GARBAGE)
			continue;
		if (votes == 0)
			candidate = base;
		votes += base == candidate ? 1 : -1;
		*ret_found = true;
	}
	return candidate;
}

static void judge_stamps(struct clock_run *run, const struct clock_truth *truth,
                         const struct tick_op *op, const struct truth_op *real,
                         struct errors *errors, struct clock_verdict *verdict)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		struct placed placed = clocks_place(run->clocks, op->counter, op->segment,
		                                    op->ticks[i]);
		double off = (double)(placed.host_ns - truth->scene.origin_ns) - real->time_ns[i];
		double error = fabs(off);

		if (placed.status != TIME_CERTIFIED || real->lie == TRUTH_GARBAGE || !op->ticks[i])
			continue;
		if (op->has_open_middle && i > 0 && i + 1 < FLEXTRACE_N_STAMPS)
			continue;
		errors->stamps[errors->n] = (struct placed_stamp){op->ticks[i], placed.host_ns,
		                                                  op->segment};
		errors->values[errors->n++] = error;
		verdict->worst_error_ns = fmax(verdict->worst_error_ns, error);
		verdict->mean_error_ns += error;
		verdict->bias_ns += off;
		if (error > placed.err_ns) {
			verdict->outside_to = (uint32_t)(real - truth->ops);
			if (verdict->outside++ == 0)
				verdict->outside_from = verdict->outside_to;
			verdict->worst_excess_ns = fmax(verdict->worst_excess_ns,
			                                error - placed.err_ns);
		}
	}
}

static void judge_op(struct clock_run *run, const struct clock_truth *truth,
                     const struct tick_op *op, const struct truth_op *real, struct errors *errors,
                     struct clock_verdict *verdict)
{
	struct placed first = clocks_place(run->clocks, op->counter, op->segment, op->ticks[0]);
	struct placed last = clocks_place(run->clocks, op->counter, op->segment,
	                                  op->ticks[op->ticks[4] ? 4 : 3]);

	verdict->believed_garbage += real->lie == TRUTH_GARBAGE;
	if (first.status == TIME_CERTIFIED && last.status == TIME_CERTIFIED) {
		verdict->sure++;
		/* What a stamp marks comes up to a tick behind it. */
		verdict->violations += (double)first.host_ns + 1e9 / truth->scene.hz <
		                               (double)real->submit_ns ||
		                       last.host_ns > real->complete_ns;
	}
	judge_stamps(run, truth, op, real, errors, verdict);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static int compare_stamps(const void *left, const void *right)
{
	const struct placed_stamp *a = left, *b = right;

	if (a->segment != b->segment)
		return a->segment < b->segment ? -1 : 1;
	return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

static void judge_order(struct errors *errors, struct clock_verdict *verdict)
{
	qsort(errors->stamps, errors->n, sizeof(*errors->stamps), compare_stamps);
	for (uint32_t i = 1; i < errors->n; i++)
		verdict->inversions += errors->stamps[i].segment == errors->stamps[i - 1].segment &&
		                       errors->stamps[i].host_ns < errors->stamps[i - 1].host_ns;
	if (errors->n == 0)
		return;
	qsort(errors->values, errors->n, sizeof(*errors->values), compare_doubles);
	verdict->mean_error_ns /= errors->n;
	verdict->bias_ns /= errors->n;
	verdict->p50_error_ns = errors->values[(errors->n - 1) / 2];
	verdict->p99_error_ns = errors->values[(uint32_t)((errors->n - 1) * 0.99)];
}

static bool is_right(const struct tick_op *op, const struct truth_op *real, uint64_t base)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		bool is_open = op->has_open_middle && i > 0 && i + 1 < FLEXTRACE_N_STAMPS;

		if (!op->ticks[i] || i == real->slipped ||
		    (is_open && op->status == TIME_CERTIFIED))
			continue;
		if (op->ticks[i] - real->ticks[i] != base && real->ticks32[i] != 1)
			return false;
	}
	return true;
}

void clock_run_judge(struct clock_run *run, const struct clock_truth *truth,
                     struct clock_verdict *ret_verdict)
{
	struct clock_verdict verdict = {0};
	struct errors errors = {0};
	uint64_t bases[64] = {0};
	bool known[64] = {false};
	uint32_t i = 0, counter = counter_index(run);
	struct table_cursor cursor;
	const struct tick_op *op;

	errors.values = calloc(5ull * truth->n_ops + 1, sizeof(*errors.values));
	errors.stamps = calloc(5ull * truth->n_ops + 1, sizeof(*errors.stamps));
	table_read(&cursor, &run->out.ops, false);
	while ((op = table_next(&cursor, sizeof(*op)))) {
		if (op->counter == counter && op->segment >= verdict.segments)
			verdict.segments = op->segment + 1u;
	}
	table_read(&cursor, &run->out.ops, false);
	while ((op = table_next(&cursor, sizeof(*op)))) {
		const struct truth_op *real = &truth->ops[i];
		uint32_t of = op->segment % 64;

		if (op->counter != counter || op->class != RECORD_DEVICE_OP)
			continue;
		i++;
		verdict.certified += op->status == TIME_CERTIFIED;
		verdict.assumed += op->status == TIME_ASSUMED;
		verdict.outliers += op->status == TIME_OUTLIER;
		verdict.honest_outliers += op->status == TIME_OUTLIER && real->lie == TRUTH_HONEST;
		if (real->lie != TRUTH_GARBAGE && op->status <= TIME_ASSUMED) {
			if (!known[of])
				bases[of] = base_of(run, truth, op->segment, real->life,
				                    &known[of]);
			if (op->status == TIME_CERTIFIED)
				verdict.wrong_epochs += !is_right(op, real, bases[of]);
			else
				verdict.wrong_assumed += !is_right(op, real, bases[of]);
		}
		if (op->status == TIME_CERTIFIED)
			judge_op(run, truth, op, real, &errors, &verdict);
	}
	assert_int_equal(i, truth->n_ops);
	judge_order(&errors, &verdict);
	free(errors.values);
	free(errors.stamps);
	*ret_verdict = verdict;
}
