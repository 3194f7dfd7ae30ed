/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area_writer.h: the markers of a core that stops behind each of its stores and goes on when told,
 * or starts anew with its memory kept, cleared or garbled. It notes what it did, and holds each
 * marker against the model.
 */
#ifndef FLEXTRACE_TESTS_AREA_WRITER_H
#define FLEXTRACE_TESTS_AREA_WRITER_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "firmware-markers/marker.c"

#include "area_model.h"
#include "area_words.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)0)
#endif

#define MAX_CAPACITY 32u
#define MAX_BOOTS    32u
#define MAX_RECORDS  4096u
#define MAX_RUNS     1024u

/* -- what the writer did: the truth ------------------------------------------------------------ */

struct run_truth {
	uint32_t job, queue;
	uint32_t ticks[FLEXTRACE_WIRE_N_STAMPS];
	int is_closed;
};

struct boot_truth {
	uint32_t first, n; /* index of the first record; records published */
	int is_mixed;      /* its configurations differ */
	uint64_t words[MAX_RECORDS];
	struct run_truth runs[MAX_RUNS];
};

static struct boot_truth boots[MAX_BOOTS];
static uint32_t n_boots;
static struct boot_truth *truth; /* of the newest boot */
static struct area_model model;

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(MAX_CAPACITY)];
} memory;
static struct flextrace_wire_area *const wire = &memory.wire;

static uint64_t schedule, n_mismatches, now, dice_state;
static uint32_t capacity, n_words_read, n_resets_done;

#define MISMATCH(...)                                               \
	do {                                                        \
		if (n_mismatches++ < 20) {                          \
			printf("schedule %" PRIu64 ": ", schedule); \
			printf(__VA_ARGS__);                        \
			printf("\n");                               \
		}                                                   \
	} while (0)

static uint32_t dice(uint32_t n)
{
	dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(dice_state >> 33) % n;
}

static uint64_t read_counter(void *context)
{
	(void)context;
	return now += 16;
}

/* -- the writer, which stops behind each store ------------------------------------------------- */

static ucontext_t main_context, writer_context;
static uint8_t writer_stack[1 << 16];
static int is_at_border, is_booting;
static int was_overwrite;  /* the newest boot, at any time */
static uint32_t published; /* `head` as last stored */
static struct model_sight sight;
static uint8_t op_kinds[8];
static uint32_t n_op_records, first_count;
static uint32_t n_stamps; /* of this run; a run has each once, and none behind its end */
#define N_STAMPS_LEFT 5u

static uint32_t policies_seen; /* by the marker: a set */

static void yield_to_main(void)
{
	(void)swapcontext(&writer_context, &main_context);
	policies_seen |= 1u << GET(wire->policy) % 32;
}

static void resume_writer(void)
{
	is_at_border = 0;
	(void)swapcontext(&main_context, &writer_context);
}

static void see_records(void)
{
	uint32_t head = GET(wire->head);

	for (; !is_booting && published != head; published++) {
		const struct flextrace_wire_record *record = &wire->ring[published % capacity];
		uint64_t word = (uint64_t)GET(record->kind_id) << 32 | GET(record->ticks);

		if (truth->n < MAX_RECORDS)
			truth->words[truth->n++] = word;
		if (n_op_records < sizeof(op_kinds))
			op_kinds[n_op_records++] = (uint8_t)(word >> 60);
	}
}

static void see_stamp(const void *word)
{
	uint32_t run = GET(wire->run) % MAX_RUNS, i, k;

	for (i = 0; i < 2; i++) {
		if (word == &wire->slot[i].done && GET(wire->slot[i].done) == GET(wire->run))
			truth->runs[run].is_closed = 1;
		for (k = 0; k < FLEXTRACE_WIRE_N_STAMPS; k++)
			if (word == &wire->slot[i].ticks[k])
				truth->runs[run].ticks[k] = GET(wire->slot[i].ticks[k]);
	}
}

/* As if many records had come and gone before. */
static void start_at(uint32_t count)
{
	published = count;
	__atomic_store_n(&wire->own.seen, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++) {
		uint32_t *words[] = {&wire->head, &wire->limit, &wire->own.seen, &wire->own.stop};
		uint32_t value = count + (i ? capacity : 0);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		value = __builtin_bswap32(value);
#endif
		__atomic_store_n(words[i], value, __ATOMIC_RELAXED);
	}
}

void writer_stored(void *word)
{
	if (word == &wire->head)
		see_records();
	else if (!is_booting && (char *)word >= (char *)wire->slot &&
	         (char *)word < (char *)wire->ring)
		see_stamp(word);
	if (is_booting && word == &wire->magic && GET(wire->magic)) {
		start_at(first_count);
		is_booting = 0;
	}
	was_overwrite |= !is_booting && GET(wire->policy) == FLEXTRACE_WIRE_OVERWRITE;
	yield_to_main();
}

/* What cannot be told apart yet: the models that did the same so far. */
#define MAX_MODELS 32u
static struct area_model models[MAX_MODELS], alike[MAX_MODELS];
static uint32_t n_models;

static void boot_writer(void)
{
	uint32_t policy = dice(3);

	is_booting = 1;
	flextrace_fw_set_up(1, 2, 3, capacity, policy,
	                    truth->is_mixed ? ~FLEXTRACE_I_CONFIG : FLEXTRACE_I_CONFIG);
	n_stamps = N_STAMPS_LEFT;
	memset(&model, 0, sizeof(model));
	area_model_boot(&model, capacity, first_count);
	memcpy(&models[0], &model, sizeof(model));
	n_models = 1;
}

static void perform(enum model_op op)
{
	uint32_t run = GET(wire->run) + 1;

	switch (op) {
	case MODEL_MARK:
		FLEXTRACE_MARK("mark");
		break;
	case MODEL_BEGIN:
		FLEXTRACE_ZONE_BEGIN("zone");
		break;
	case MODEL_END:
		FLEXTRACE_ZONE_END("zone");
		break;
	case MODEL_VALUE:
		FLEXTRACE_VALUE("value", (uint32_t)now ^ 0x5a5a5a5au);
		break;
	case MODEL_RUN:
		truth->runs[run % MAX_RUNS] = (struct run_truth){run * 7, ~run, {0}, 0};
		n_stamps = 0;
		FLEXTRACE_FW_START(run * 7, ~run);
		break;
	case MODEL_STAMP:
		flextrace_i_stamp(wire, FLEXTRACE_WIRE_TS1 + n_stamps++);
		break;
	default:
		n_stamps = N_STAMPS_LEFT;
		FLEXTRACE_FW_END();
		break;
	}
}

static int equals(const struct area_model *other)
{
	return n_op_records == other->n_records &&
	       memcmp(op_kinds, other->kinds, n_op_records) == 0 &&
	       GET(wire->head) == other->head && GET(wire->dropped) == other->dropped &&
	       GET(wire->run) == other->run && other->n_waits == sight.n_waits &&
	       !other->has_dropped_without_waiting;
}

static void keep_fitting(uint32_t *n)
{
	uint32_t i;

	for (i = 0; i < *n && memcmp(&alike[i], &model, sizeof(model)) != 0; i++)
		;
	if (i == *n && i < MAX_MODELS)
		alike[(*n)++] = model;
}

/* Tries a model where the writer looked at policies `first` and then `second`. */
static void try(enum model_op op, const struct area_model *before, uint32_t first, uint32_t second,
                uint32_t *n)
{
	sight.policy[0] = first;
	sight.policy[1] = second;
	for (uint32_t i = 0; i < 8; i++) {
		sight.n_before_change = i / 2;
		sight.has_changed_again = i % 2;
		memcpy(&model, before, sizeof(model));
		area_model_mark(&model, op, &sight, FLEXTRACE_BLOCK_TICKS);
		if (equals(&model))
			keep_fitting(n);
	}
}

/* The host may have changed the policy at any moment of a marker. */
static void judge(enum model_op op)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < 9 * n_models; i++) {
		uint32_t first = i % 3, second = i / 3 % 3;

		if ((policies_seen >> first & 1) && (policies_seen >> second & 1))
			try(op, &models[i / 9], first, second, &n);
	}
	if (n == 0)
		MISMATCH("marker %d: head %u, dropped %u, run %u; the model has %u, %u, %u", op,
		         GET(wire->head), GET(wire->dropped), GET(wire->run), model.head,
		         model.dropped, model.run);
	else
		memcpy(models, alike, n * sizeof(*models));
	n_models = n ? n : n_models;
	memcpy(&model, &models[0], sizeof(model));
}

static enum model_op choose(void)
{
	static const uint8_t ops[] = {MODEL_MARK,  MODEL_MARK,  MODEL_MARK,  MODEL_VALUE,
	                              MODEL_BEGIN, MODEL_END,   MODEL_BEGIN, MODEL_END,
	                              MODEL_RUN,   MODEL_STAMP, MODEL_FW_END};
	enum model_op op = (enum model_op)ops[dice(sizeof(ops))];

	if (op == MODEL_BEGIN && model.n_zones + 1 >= MODEL_MAX_ZONES)
		op = MODEL_END;
	if ((op == MODEL_STAMP && n_stamps == N_STAMPS_LEFT) ||
	    (op == MODEL_FW_END && (n_stamps == N_STAMPS_LEFT || GET(wire->run) == 0)))
		op = MODEL_MARK;
	return op;
}

static void writer_main(void)
{
	boot_writer();
	for (;;) {
		enum model_op op;

		is_at_border = 1;
		yield_to_main();
		op = choose();
		n_op_records = 0;
		sight.limit = GET(wire->limit);
		policies_seen = 1u << GET(wire->policy) % 32;
		sight.n_waits = 0;
		sight.waited_ticks = 0;
		perform(op);
		judge(op);
	}
}

/* A blocked marker: time goes by, the host may come. */
static void wait_hook(void *context)
{
	uint64_t before = now;

	(void)context;
	now += dice(4) ? 64 : FLEXTRACE_BLOCK_TICKS / 2;
	yield_to_main();
	sight.waited_ticks += now - before + 32;
	if (sight.n_waits < MODEL_MAX_WAITS) {
		sight.wait_limit[sight.n_waits] = GET(wire->limit);
		sight.wait_policy[sight.n_waits++] = GET(wire->policy);
	}
}

static void reset_writer(void)
{
	uint32_t i, how = dice(4);

	if (n_boots == MAX_BOOTS)
		return;
	n_resets_done++;
	truth = &boots[n_boots++];
	memset(truth, 0, sizeof(*truth));
	truth->is_mixed = dice(16) == 0;
	truth->first = first_count = n_boots > 1 ? 0 : dice(4) ? 0 : 0u - dice(64);
	if (how == 1 || n_boots == 1)
		memset(&memory, 0, sizeof(memory));
	for (i = 0; how == 2 && i < sizeof(memory) / 4; i++)
		((uint32_t *)(void *)&memory)[i] = dice(0x7fffffff) | 0x80000000u;
	if (dice(4) == 0)
		now = dice(1000);
	published = first_count;
	ASAN_UNPOISON_MEMORY_REGION(writer_stack, sizeof(writer_stack));
	(void)getcontext(&writer_context);
	writer_context.uc_stack.ss_sp = writer_stack;
	writer_context.uc_stack.ss_size = sizeof(writer_stack);
	writer_context.uc_link = NULL;
	makecontext(&writer_context, writer_main, 0);
	is_booting = 1;
	is_at_border = 0;
}

#endif
