/* SPDX-License-Identifier: Apache-2.0 */
/* How flex_truth.h is written: as the runtime does, and as it was. */
#include "flex_truth.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define TID_EXEC UINT64_C(2009867741857745393)
#define TID_PREP UINT64_C(15514734831341844875)
#define TID_IN   UINT64_C(14212308887215440790)
#define TID_OUT  UINT64_C(3789868786995959152)
#define TID_HOST UINT64_C(8317987319222330741)

uint32_t flex_phases(const struct flex_op *op, struct flex_phase phases[2])
{
	switch (op->kind) {
	case FLEX_KERNEL:
		phases[0] = (struct flex_phase){1, 2, " Cmpt Prep", TID_PREP};
		phases[1] = (struct flex_phase){2, 3, " Cmpt Exec", TID_EXEC};
		return 2;
	case FLEX_RECEIVE:
		phases[0] = (struct flex_phase){0, 1, " DmaI", TID_IN};
		return 1;
	default:
		phases[0] = (struct flex_phase){3, 4, " DmaO", TID_OUT};
		return 1;
	}
}

/* -- events ---------------------------------------------------------------------------------- */

struct writer {
	const struct flex_truth *truth;
	FILE *file;
	bool has_one;
};

struct event { /* indexes; a trip if `phase` is 2 */
	uint32_t of, phase;
};

/* What Flex believes of a host time. */
static int64_t estimate(const struct flex_truth *truth, uint32_t rank, int64_t host_ns)
{
	double since = (double)(host_ns - truth->ranks[rank].origin_ns);

	return host_ns + (int64_t)llround(truth->scene.estimate_ns +
	                                  since * truth->scene.estimate_ppm * 1e-6);
}

static void write_us(FILE *file, int64_t ns)
{
	fprintf(file, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

static void write_attributes(FILE *file, const struct flex_op *op, const struct flex_form *form)
{
	static const char *const formats[] = {
		[FLEX_HEX] = ",\"TS%d\":\"0x%" PRIx32 "\"",
		[FLEX_DECIMAL] = ",\"TS%d\":\"%" PRIu32 "\"",
		[FLEX_NUMBER] = ",\"TS%d\":%" PRIu32,
	};

	fprintf(file, "\"%s\":{", form->has_args ? "args" : "attr");
	if (op)
		fprintf(file,
		        form->stamps == FLEX_HEX ? "\"Power\":\"0x%" PRIx32 "\""
		                                 : "\"Power\":\"%" PRIu32 "\"",
		        op->power);
	if (op && form->stamps == FLEX_LIST) {
		for (int i = 0; i < FLEX_STAMPS; i++)
			fprintf(file, "%s%" PRIu32, i ? "," : ",\"cycles_ts\":[",
			        (uint32_t)op->ticks[i]);
		fputc(']', file);
	}
	for (int i = 0; i < FLEX_STAMPS && op && form->stamps != FLEX_LIST; i++)
		fprintf(file, formats[form->stamps], i + 1, (uint32_t)op->ticks[i]);
	fprintf(file, "%s},", op ? op->attributes : "");
}

static void write_line(struct writer *writer, const struct flex_op *op, const char *name,
                       const char *suffix, const char *phase)
{
	fprintf(writer->file, "%s{", writer->has_one ? ",\n" : "\n");
	writer->has_one = true;
	write_attributes(writer->file, op, &writer->truth->scene.form);
	fprintf(writer->file, "\"name\":\"%s%s\",\"ph\":\"%s\",", name, suffix, phase);
}

static void write_where(struct writer *writer, uint32_t rank, uint64_t tid, int64_t ns)
{
	fprintf(writer->file, "\"pid\":%" PRIu32 ",\"tid\":%" PRIu64 ",\"ts\":", rank, tid);
	write_us(writer->file, ns);
}

static void write_event(struct writer *writer, const struct event *event)
{
	const struct flex_truth *truth = writer->truth;
	const struct flex_trip *trip = &truth->trips[event->of];
	const struct flex_op *op = event->phase < 2 ? &truth->ops[event->of] : NULL;
	const char *name = op ? op->name : "AIU Roundtrip";
	uint32_t rank = op ? op->rank : trip->rank;
	struct flex_phase phases[2] = {{0, 0, "", TID_HOST}, {0, 0, "", TID_HOST}};
	const struct flex_phase *phase = &phases[op ? event->phase : 0];
	int64_t begin_ns, end_ns;

	if (op)
		flex_phases(op, phases);
	begin_ns = op ? estimate(truth, rank, op->host_ns[phase->from]) : trip->begin_ns;
	end_ns = op ? estimate(truth, rank, op->host_ns[phase->to]) : trip->end_ns;
	write_line(writer, op, name, phase->suffix, truth->scene.form.is_complete ? "X" : "B");
	write_where(writer, rank, phase->tid, begin_ns);
	if (truth->scene.form.is_complete) {
		fputs(",\"dur\":", writer->file);
		write_us(writer->file, end_ns - begin_ns);
	} else {
		fputc('}', writer->file);
		write_line(writer, op, name, phase->suffix, "E");
		write_where(writer, rank, phase->tid, end_ns);
	}
	fputc('}', writer->file);
}

/* -- files ----------------------------------------------------------------------------------- */

static uint32_t list_events(const struct flex_truth *truth, int32_t rank, struct event *events)
{
	struct flex_phase phases[2];
	uint32_t n = 0;

	for (uint32_t i = 0; i < truth->n_trips; i++) {
		if (rank < 0 || truth->trips[i].rank == (uint32_t)rank)
			events[n++] = (struct event){i, 2};
	}
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		uint32_t n_phases = flex_phases(&truth->ops[i], phases);

		for (uint32_t k = 0; k < n_phases; k++) {
			if (rank < 0 || truth->ops[i].rank == (uint32_t)rank)
				events[n++] = (struct event){i, k};
		}
	}
	return n;
}

static void shuffle(struct event *events, uint32_t n, uint64_t seed)
{
	uint64_t state = ~seed;

	for (uint32_t i = n; i > 1; i--) {
		uint32_t other = (uint32_t)(model_random(&state) % i);
		struct event event = events[i - 1];

		events[i - 1] = events[other];
		events[other] = event;
	}
}

bool flex_truth_write_json(const struct flex_truth *truth, int32_t rank, FILE *file)
{
	struct writer writer = {truth, file, false};
	struct event *events = malloc((2ull * truth->n_ops + truth->n_trips + 1) * sizeof(*events));
	uint32_t n;

	if (!events)
		return false;
	n = list_events(truth, rank, events);
	if (truth->scene.form.is_shuffled)
		shuffle(events, n, truth->scene.seed);
	fputs(truth->scene.form.is_object ? "{\"traceEvents\":[" : "[", file);
	for (uint32_t i = 0; i < n; i++)
		write_event(&writer, &events[i]);
	fputs(truth->scene.form.is_object ? "\n],\"displayTimeUnit\":\"ns\"}\n" : "\n]\n", file);
	free(events);
	return !ferror(file);
}

bool flex_truth_write_truth(const struct flex_truth *truth, FILE *file)
{
	static const char *const kinds[] = {"kernel", "send", "receive", "protocol"};

	for (uint32_t i = 0; i < truth->scene.n_ranks; i++)
		fprintf(file, "rank\t%" PRIu32 "\t%" PRId64 "\t%.6f\t%.3f\n", i,
		        truth->ranks[i].origin_ns, truth->ranks[i].host_ppm, truth->ranks[i].hz);
	for (uint32_t i = 0; i < truth->n_trips; i++) {
		const struct flex_trip *trip = &truth->trips[i];

		fprintf(file, "trip\t%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\n",
		        trip->rank, trip->iteration, trip->begin_ns, trip->end_ns);
	}
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct flex_op *op = &truth->ops[i];

		fprintf(file, "op\t%" PRIu32 "\t%" PRIu32 "\t%s\t%s", op->rank, op->iteration,
		        kinds[op->kind], op->name);
		for (int k = 0; k < FLEX_STAMPS; k++)
			fprintf(file, "\t%" PRIu64, op->ticks[k]);
		for (int k = 0; k < FLEX_STAMPS; k++)
			fprintf(file, "\t%" PRId64, op->host_ns[k]);
		fprintf(file, "\t%" PRId64 "\t%" PRId64, op->submit_ns, op->complete_ns);
		for (int k = 0; k < FLEX_STAMPS; k++)
			fprintf(file, "\t%" PRId64,
			        truth->ranks[0].origin_ns + (int64_t)floor(op->true_ns[k]));
		fputc('\n', file);
	}
	return !ferror(file);
}
