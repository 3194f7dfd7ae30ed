/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever judges an importer must be right: what the generator of Flex traces promises. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <cjson/cJSON.h>

#include "flex_truth.h"

struct text {
	char *bytes; /* owned */
	size_t n;
};

static struct text text_of(const struct flex_truth *truth, int32_t rank, bool is_truth)
{
	struct text text;
	FILE *file = open_memstream(&text.bytes, &text.n);

	assert_non_null(file);
	assert_true(is_truth ? flex_truth_write_truth(truth, file)
	                     : flex_truth_write_json(truth, rank, file));
	assert_int_equal(fclose(file), 0);
	return text;
}

static void make(struct flex_truth *truth, uint64_t seed, const struct flex_form *form)
{
	struct flex_scene scene = flex_scene_of(seed);

	if (form)
		scene.form = *form;
	scene.n_ranks = 3;
	assert_true(flex_truth_init(truth, &scene));
}

/* -- the file -------------------------------------------------------------------------------- */

static uint32_t number_of(const cJSON *item)
{
	assert_non_null(item);
	return cJSON_IsString(item) ? (uint32_t)strtoull(item->valuestring, NULL, 0)
	                            : (uint32_t)item->valuedouble;
}

static void read_stamps(const cJSON *event, const struct flex_form *form, uint32_t *stamps)
{
	const cJSON *all = cJSON_GetObjectItem(event, form->has_args ? "args" : "attr");

	assert_non_null(all);
	for (int i = 0; i < FLEX_STAMPS; i++) {
		char name[8];
		const cJSON *item;

		snprintf(name, sizeof(name), "TS%d", i + 1);
		item = form->stamps == FLEX_LIST
		               ? cJSON_GetArrayItem(cJSON_GetObjectItem(all, "cycles_ts"), i)
		               : cJSON_GetObjectItem(all, name);
		stamps[i] = number_of(item);
		if (form->stamps == FLEX_HEX)
			assert_memory_equal(item->valuestring, "0x", 2);
		assert_int_equal(cJSON_IsNumber(item), form->stamps >= FLEX_NUMBER);
	}
}

static bool is_of(const cJSON *event, const uint32_t *stamps, const struct flex_op *op,
                  const struct flex_phase *phase)
{
	const char *name = cJSON_GetObjectItem(event, "name")->valuestring;
	size_t n = strlen(op->name);

	for (int i = 0; i < FLEX_STAMPS; i++) {
		if (stamps[i] != (uint32_t)op->ticks[i])
			return false;
	}
	return strncmp(name, op->name, n) == 0 && strcmp(name + n, phase->suffix) == 0 &&
	       cJSON_GetObjectItem(event, "pid")->valueint == (int)op->rank;
}

/* Marks the operation that an event is a phase of. */
static void find_op(const struct flex_truth *truth, const cJSON *event, uint8_t *seen)
{
	uint32_t stamps[FLEX_STAMPS];

	read_stamps(event, &truth->scene.form, stamps);
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct flex_phase phases[2];
		uint32_t n = flex_phases(&truth->ops[i], phases);

		for (uint32_t k = 0; k < n; k++) {
			if (is_of(event, stamps, &truth->ops[i], &phases[k])) {
				assert_int_equal(seen[i] >> k & 1, 0);
				seen[i] |= (uint8_t)(1 << k);
				return;
			}
		}
	}
	fail_msg("No operation has the stamps of an event");
}

static void check_end(const cJSON *begin, const cJSON *end)
{
	assert_non_null(end);
	assert_string_equal(cJSON_GetObjectItem(end, "ph")->valuestring, "E");
	assert_string_equal(cJSON_GetObjectItem(end, "name")->valuestring,
	                    cJSON_GetObjectItem(begin, "name")->valuestring);
	assert_true(cJSON_GetObjectItem(end, "ts")->valuedouble >=
	            cJSON_GetObjectItem(begin, "ts")->valuedouble);
}

static void check_file(const struct flex_truth *truth)
{
	const struct flex_form *form = &truth->scene.form;
	struct text text = text_of(truth, -1, false);
	cJSON *root = cJSON_ParseWithLength(text.bytes, text.n), *event;
	uint8_t *seen = calloc(truth->n_ops, 1);
	uint32_t n_trips = 0;

	assert_non_null(root);
	assert_non_null(seen);
	assert_int_equal(cJSON_IsObject(root), form->is_object);
	event = form->is_object ? cJSON_GetObjectItem(root, "traceEvents")->child : root->child;
	for (; event; event = event->next) {
		assert_string_equal(cJSON_GetObjectItem(event, "ph")->valuestring,
		                    form->is_complete ? "X" : "B");
		if (strcmp(cJSON_GetObjectItem(event, "name")->valuestring, "AIU Roundtrip") == 0)
			n_trips++;
		else
			find_op(truth, event, seen);
		if (form->is_complete)
			assert_true(cJSON_GetObjectItem(event, "dur")->valuedouble >= 0);
		else
			check_end(event, event->next);
		event = form->is_complete ? event : event->next;
	}
	for (uint32_t i = 0; i < truth->n_ops; i++)
		assert_int_equal(seen[i], truth->ops[i].kind == FLEX_KERNEL ? 3 : 1);
	assert_int_equal(n_trips, truth->n_trips);
	cJSON_Delete(root);
	free(seen);
	free(text.bytes);
}

static void test_flex_truth__writes_each_form(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8 * FLEX_N_STAMP_FORMS; i++) {
		const struct flex_form form = {
			.is_object = i & 1,
			.is_complete = i & 2,
			.has_args = i & 4,
			.is_shuffled = i & 1,
			.stamps = (enum flex_stamps)(i >> 3),
		};
		struct flex_scene scene = flex_scene_of(i + 1);
		struct flex_truth truth;

		scene.form = form;
		scene.n_ranks = i % 4 + 1;
		scene.n_iterations = 4;
		assert_true(flex_truth_init(&truth, &scene));
		check_file(&truth);
		flex_truth_release(&truth);
	}
}

static void test_flex_truth__is_the_same_for_one_seed(void **state)
{
	(void)state;
	for (int is_truth = 0; is_truth < 2; is_truth++) {
		struct text texts[3];

		for (int i = 0; i < 3; i++) {
			struct flex_truth truth;

			make(&truth, i < 2 ? 7 : 8, NULL);
			texts[i] = text_of(&truth, -1, is_truth);
			flex_truth_release(&truth);
		}
		assert_int_equal(texts[0].n, texts[1].n);
		assert_memory_equal(texts[0].bytes, texts[1].bytes, texts[0].n);
		assert_true(texts[0].n != texts[2].n ||
		            memcmp(texts[0].bytes, texts[2].bytes, texts[0].n) != 0);
		for (int i = 0; i < 3; i++)
			free(texts[i].bytes);
	}
}

static uint32_t count_lines(const struct text *text)
{
	uint32_t n = 0;

	for (size_t i = 0; i < text->n; i++)
		n += text->bytes[i] == '\n';
	return n;
}

static void test_flex_truth__writes_a_file_of_each_rank(void **state)
{
	const struct flex_form form = {.is_complete = true};
	struct flex_truth truth;
	struct text all, one;
	uint32_t n = 0;

	(void)state;
	make(&truth, 3, &form);
	all = text_of(&truth, -1, false);
	for (int32_t rank = 0; rank < 3; rank++) {
		one = text_of(&truth, rank, false);
		n += count_lines(&one) - 2; /* of the brackets */
		free(one.bytes);
	}
	assert_int_equal(n, count_lines(&all) - 2);
	free(all.bytes);
	all = text_of(&truth, -1, true);
	assert_int_equal(count_lines(&all), 3 + truth.n_trips + truth.n_ops);
	free(all.bytes);
	flex_truth_release(&truth);
}

/* -- the truth ------------------------------------------------------------------------------- */

static void check_op(const struct flex_truth *truth, const struct flex_op *op)
{
	const struct flex_trip *trip =
		&truth->trips[op->iteration * truth->scene.n_ranks + op->rank];

	for (int i = 1; i < FLEX_STAMPS; i++) {
		assert_true(op->ticks[i] >= op->ticks[i - 1]);
		assert_true(op->host_ns[i] >= op->host_ns[i - 1]);
	}
	assert_true(op->submit_ns <= op->host_ns[0] && op->host_ns[4] <= op->complete_ns);
	assert_int_equal(trip->rank, op->rank);
	assert_int_equal(trip->iteration, op->iteration);
	assert_true(trip->begin_ns <= op->submit_ns && op->complete_ns <= trip->end_ns);
}

/* The cycles between two operations of a rank tell the same time as the host, to 300 ppm. */
static void check_rate(const struct flex_truth *truth, const struct flex_op *a,
                       const struct flex_op *b)
{
	double cycles = (double)(b->ticks[0] - a->ticks[0]) / truth->ranks[a->rank].hz * 1e9;
	double ns = (double)(b->host_ns[0] - a->host_ns[0]);

	assert_true(fabs(cycles - ns) <= 300e-6 * ns + 100);
}

static void test_flex_truth__is_possible(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		const struct flex_op *first[FLEX_MAX_RANKS] = {NULL}, *last[FLEX_MAX_RANKS];
		struct flex_truth truth;

		make(&truth, seed, NULL);
		for (uint32_t i = 0; i < truth.n_ops; i++) {
			const struct flex_op *op = &truth.ops[i];

			check_op(&truth, op);
			first[op->rank] = first[op->rank] ? first[op->rank] : op;
			last[op->rank] = op;
		}
		for (uint32_t rank = 0; rank < 3; rank++) {
			assert_non_null(first[rank]);
			check_rate(&truth, first[rank], last[rank]);
			/* wraps, and a gap longer than one */
			assert_true(last[rank]->ticks[0] - first[rank]->ticks[0] > UINT64_C(5)
			                                                                   << 32);
		}
		flex_truth_release(&truth);
	}
}

static const char *sync_of(const struct flex_op *op)
{
	return strstr(op->name, "[sync=");
}

/* What is received was sent, in the one true time. */
static void test_flex_truth__receives_what_was_sent(void **state)
{
	struct flex_truth truth;
	uint32_t n = 0;

	(void)state;
	make(&truth, 4, NULL);
	for (uint32_t i = 0; i < truth.n_ops; i++) {
		const struct flex_op *send = &truth.ops[i];

		for (uint32_t k = 0; k < truth.n_ops && send->kind == FLEX_SEND; k++) {
			const struct flex_op *receive = &truth.ops[k];

			if (receive->kind != FLEX_RECEIVE ||
			    strcmp(sync_of(send), sync_of(receive)) != 0)
				continue;
			assert_true(receive->true_ns[1] > send->true_ns[4]);
			assert_true(receive->rank != send->rank);
			n++;
		}
	}
	/* Down the ring, and from the last to all others. */
	assert_int_equal(n, truth.scene.n_iterations * 4);
	flex_truth_release(&truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flex_truth__writes_each_form),
		cmocka_unit_test(test_flex_truth__is_the_same_for_one_seed),
		cmocka_unit_test(test_flex_truth__writes_a_file_of_each_rank),
		cmocka_unit_test(test_flex_truth__is_possible),
		cmocka_unit_test(test_flex_truth__receives_what_was_sent),
	};

	return cmocka_run_group_tests_name("flex_truth", tests, NULL, NULL);
}
