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

/* How it is told. */
struct told {
	const struct flex_op *op; /* NULL: a trip */
	const char *name, *suffix;
	uint64_t tid;
	int64_t begin_ns, end_ns;
	uint32_t rank;
	uint8_t fate;
};

static struct told tell(const struct flex_truth *truth, const struct event *event)
{
	const struct flex_trip *trip = &truth->trips[event->of];
	const struct flex_op *op = &truth->ops[event->of];
	struct flex_phase phases[2];
	const struct flex_phase *phase = &phases[event->phase];

	if (event->phase == 2)
		return (struct told){NULL,       "AIU Roundtrip",     "",
		                     TID_HOST,   trip->told_begin_ns, trip->told_end_ns,
		                     trip->rank, trip->fate};
	flex_phases(op, phases);
	return (struct told){op,
	                     op->name,
	                     phase->suffix,
	                     phase->tid,
	                     op->flex_ns[phase->from],
	                     op->flex_ns[phase->to],
	                     op->rank,
	                     op->fates[event->phase]};
}

static void write_us(FILE *file, int64_t ns)
{
	fprintf(file, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

static void write_attributes(FILE *file, const struct flex_op *op, const struct flex_form *form)
{
	static const char *const formats[] = {
		[FLEX_HEX] = (",\"TS%d\":\"0x%" PRIx32 "\""),
		[FLEX_DECIMAL] = (",\"TS%d\":\"%" PRIu32 "\""),
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
			fprintf(file, "%s%" PRIu32, i ? "," : ",\"cycles_ts\":[", op->words[i]);
		fputc(']', file);
	}
	for (int i = 0; i < FLEX_STAMPS && op && form->stamps != FLEX_LIST; i++)
		fprintf(file, formats[form->stamps], i + 1, op->words[i]);
	fprintf(file, "%s},", op ? op->attributes : "");
}

static void write_line(struct writer *writer, const struct told *told, const char *phase,
                       int64_t ns)
{
	fprintf(writer->file, "%s{", writer->has_one ? ",\n" : "\n");
	writer->has_one = true;
	write_attributes(writer->file, told->op, &writer->truth->scene.form);
	fprintf(writer->file, "\"name\":\"%s%s\",\"ph\":\"%s\",", told->name, told->suffix, phase);
	fprintf(writer->file, "\"pid\":%" PRIu32 ",\"tid\":%" PRIu64 ",\"ts\":", told->rank,
	        told->tid);
	write_us(writer->file, ns);
	if (*phase == 'X') {
		fputs(",\"dur\":", writer->file);
		write_us(writer->file, told->end_ns - told->begin_ns);
	}
	fputc('}', writer->file);
}

/* One side of an event, or all of it. */
enum side { BEGIN = 1, END = 2 };

static void write_side(struct writer *writer, const struct event *event, enum side side)
{
	struct told told = tell(writer->truth, event);

	if (side == BEGIN && !(told.fate & FLEX_NO_BEGIN))
		write_line(writer, &told, "B", told.begin_ns);
	if (side == END && !(told.fate & FLEX_NO_END))
		write_line(writer, &told, "E", told.end_ns);
}

static void write_event(struct writer *writer, const struct event *event)
{
	struct told told = tell(writer->truth, event);

	if (writer->truth->scene.form.is_complete) {
		write_line(writer, &told, "X", told.begin_ns);
		return;
	}
	write_side(writer, event, BEGIN);
	write_side(writer, event, END);
}

/* -- nested ---------------------------------------------------------------------------------- */

struct edge {
	int64_t ns;
	uint32_t event;
	enum side side;
};

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->ns != b->ns)
		return (a->ns > b->ns) - (a->ns < b->ns);
	return (a->event > b->event) - (a->event < b->event);
}

static bool write_nested(struct writer *writer, const struct event *events, uint32_t n)
{
	struct edge *edges = malloc((2ull * n + 1) * sizeof(*edges));

	if (!edges)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct told told = tell(writer->truth, &events[i]);

		edges[2 * i] = (struct edge){told.begin_ns, 2 * i, BEGIN};
		edges[2 * i + 1] = (struct edge){told.end_ns, 2 * i + 1, END};
	}
	qsort(edges, 2ull * n, sizeof(*edges), compare_edges);
	for (uint32_t i = 0; i < 2 * n; i++)
		write_side(writer, &events[edges[i].event / 2], edges[i].side);
	free(edges);
	return true;
}

/* -- files ----------------------------------------------------------------------------------- */

static void list_event(const struct flex_truth *truth, int32_t rank, struct event event,
                       struct event *events, uint32_t *n)
{
	struct told told = tell(truth, &event);

	if ((rank >= 0 && told.rank != (uint32_t)rank) || told.fate & FLEX_LOST)
		return;
	events[(*n)++] = event;
	if (told.fate & FLEX_TWICE)
		events[(*n)++] = event;
}

static uint32_t list_events(const struct flex_truth *truth, int32_t rank, struct event *events)
{
	struct flex_phase phases[2];
	uint32_t n = 0;

	for (uint32_t i = 0; i < truth->n_trips; i++)
		list_event(truth, rank, (struct event){i, 2}, events, &n);
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		uint32_t n_phases = flex_phases(&truth->ops[i], phases);

		for (uint32_t k = 0; k < n_phases; k++)
			list_event(truth, rank, (struct event){i, k}, events, &n);
	}
	return n;
}

static void write_empty_ranks(struct writer *writer, int32_t rank)
{
	const struct flex_scene *scene = &writer->truth->scene;

	for (uint32_t i = scene->n_ranks; i < scene->n_ranks + scene->n_empty_ranks; i++) {
		if (rank >= 0 && i != (uint32_t)rank)
			continue;
		fprintf(writer->file,
		        "%s\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32
		        ",\"args\":{\"name\":\"idle %" PRIu32 "\"}}",
		        writer->has_one ? "," : "", i, i);
		writer->has_one = true;
	}
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
	struct event *events =
		malloc((4ull * truth->n_ops + 2ull * truth->n_trips + 1) * sizeof(*events));
	bool is_good = true;
	uint32_t n;

	if (!events)
		return false;
	n = list_events(truth, rank, events);
	if (truth->scene.form.is_shuffled)
		shuffle(events, n, truth->scene.seed);
	fputs(truth->scene.form.is_object ? "{\"traceEvents\":[" : "[", file);
	write_empty_ranks(&writer, rank);
	if (truth->scene.form.is_nested && !truth->scene.form.is_complete)
		is_good = write_nested(&writer, events, n);
	for (uint32_t i = 0;
	     i < n && (!truth->scene.form.is_nested || truth->scene.form.is_complete); i++)
		write_event(&writer, &events[i]);
	fputs(truth->scene.form.is_object ? "\n],\"displayTimeUnit\":\"ns\"}\n" : "\n]\n", file);
	free(events);
	return is_good && !ferror(file);
}

bool flex_truth_write_truth(const struct flex_truth *truth, FILE *file)
{
	static const char *const kinds[] = {"kernel", "send", "receive", "protocol"};

	for (uint32_t i = 0; i < truth->scene.n_ranks; i++)
		fprintf(file, "rank\t%" PRIu32 "\t%" PRId64 "\t%.6f\t%.3f\n", i,
		        truth->ranks[i].origin_ns, truth->ranks[i].host_ppm, truth->ranks[i].hz);
	for (uint32_t i = 0; i < truth->n_trips; i++) {
		const struct flex_trip *trip = &truth->trips[i];

		fprintf(file, "trip\t%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%d\n",
		        trip->rank, trip->iteration, trip->begin_ns, trip->end_ns,
		        trip->told_begin_ns != trip->begin_ns);
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
		fprintf(file, "\t%d\t%d\t%d\t%" PRId64 "\n", op->fates[0], op->fates[1],
		        op->is_garbage, op->flex_ns[3] - op->host_ns[3]);
	}
	return !ferror(file);
}
