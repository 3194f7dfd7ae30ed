/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of the plug-in from the build directory: what they take, and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <babeltrace2/babeltrace.h>

#include "scratch.h"

static const struct {
	const char *name, *text, *source; /* NULL: for none */
} files[] = {
	{"flex.json",
         "[{\"name\":\"k DmaI\",\"ph\":\"X\",\"ts\":1,\"dur\":1,\"attr\":{\"TS1\":1}}]",
         "flex-json"},
	{"bare.json", "{\"traceEvents\":[{\"name\":\"a\",\"ph\":\"i\",\"ts\":1}]}", "flex-json"},
	{"torch.json",
         "{\"schemaVersion\":1,\"traceEvents\":[{\"name\":\"a\",\"ph\":\"X\",\"cat\":\"cpu_op\","
         "\"ts\":1,\"dur\":1,\"pid\":5,\"tid\":5}]}",
         "torch-json"},
	{"log.csv",
         "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n",
         "tt-csv"},
	{"report.csv", "OP CODE,GLOBAL CALL COUNT,DEVICE FW START CYCLE\n", "tt-csv"},
	{"report.sqlite", "SQLite format 3", "nsys-sqlite"},
	{"trace", "\x0a\x04\x40\x01\x50\x01", "perfetto"},
	{"a.pb", "\x0a\x11\x08\x01\x12\x0d/device:GPU:0", "xplane"},
	{"other.csv", "timer_id,b\n1,2\n", NULL},
	{"settings.json", "{\"a\":1}", NULL},
	{"list.json", "[1,2]", NULL},
	{"text.json", "hello", NULL},
	{"empty.json", "", NULL},
};

#define N_FILES (sizeof(files) / sizeof(*files))

static const char *const sources[] = {"flex-json",   "torch-json", "tt-csv",
                                      "nsys-sqlite", "xplane",     "perfetto"};

/* What counts its time from a point of its own is a component of its own. */
static const bool has_groups[] = {true, false, true, true, false, false};

#define N_SOURCES (sizeof(sources) / sizeof(*sources))

struct place {
	char *dir;
	const bt_plugin_set *plugins;
	const bt_component_class_source *classes[N_SOURCES];
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	place->dir = scratch_dir();
	assert_int_equal(bt_plugin_find_all_from_file(PLUGIN, BT_TRUE, &place->plugins), 0);
	for (size_t i = 0; i < N_SOURCES; i++) {
		place->classes[i] = bt_plugin_borrow_source_component_class_by_name_const(
			bt_plugin_set_borrow_plugin_by_index_const(place->plugins, 0), sources[i]);
		assert_non_null(place->classes[i]);
	}
	for (size_t i = 0; i < N_FILES; i++) {
		char path[512];
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", place->dir, files[i].name);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(files[i].text, file);
		assert_int_equal(fclose(file), 0);
	}
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	bt_plugin_set_put_ref(place->plugins);
	scratch_remove(place->dir);
	free(place);
	return 0;
}

/* -- queries --------------------------------------------------------------------------------- */

/* Returns the status; of a good one the weight. */
static int query(const bt_component_class_source *class, const char *object, const bt_value *params,
                 double *ret_weight, bool *ret_has_group)
{
	bt_query_executor *executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(class), object, params);
	const bt_value *result = NULL;
	int status = bt_query_executor_query(executor, &result);

	*ret_has_group = false;
	if (status == 0 && bt_value_is_map(result)) {
		*ret_weight =
			bt_value_real_get(bt_value_map_borrow_entry_value_const(result, "weight"));
		*ret_has_group = bt_value_map_has_entry(result, "group");
	} else if (status == 0) {
		*ret_weight = bt_value_real_get(result);
	}
	bt_value_put_ref(result);
	bt_query_executor_put_ref(executor);
	bt_current_thread_clear_error();
	return status;
}

static double weight_of(const struct place *place, int source, const char *name, const char *type)
{
	bt_value *params = bt_value_map_create();
	bool has_group;
	char path[512];
	double weight;

	snprintf(path, sizeof(path), "%s/%s", place->dir, name);
	bt_value_map_insert_string_entry(params, "input", path);
	bt_value_map_insert_string_entry(params, "type", type);
	assert_int_equal(query(place->classes[source], "babeltrace.support-info", params, &weight,
	                       &has_group),
	                 0);
	assert_int_equal(has_group, weight > 0 && has_groups[source]);
	bt_value_put_ref(params);
	return weight;
}

static void test_bt2_source__knows_its_files_by_their_content(void **state)
{
	for (size_t i = 0; i < N_FILES; i++) {
		for (int source = 0; source < (int)N_SOURCES; source++) {
			bool is_its = files[i].source && !strcmp(files[i].source, sources[source]);

			assert_int_equal(weight_of(*state, source, files[i].name, "file") > 0,
			                 is_its);
			assert_true(weight_of(*state, source, files[i].name, "string") == 0);
		}
	}
	assert_true(weight_of(*state, 0, "no such file", "file") == 0);
	assert_true(weight_of(*state, 0, ".", "directory") == 0);
}

static void test_bt2_source__knows_no_other_query(void **state)
{
	const struct place *place = *state;
	bt_value *params = bt_value_map_create(), *text = bt_value_string_create();
	bool has_group;
	double weight;

	assert_int_equal(query(place->classes[0], "other", params, &weight, &has_group),
	                 BT_QUERY_EXECUTOR_QUERY_STATUS_UNKNOWN_OBJECT);
	assert_int_equal(
		query(place->classes[1], "babeltrace.support-info", text, &weight, &has_group),
		BT_QUERY_EXECUTOR_QUERY_STATUS_ERROR);
	bt_value_put_ref(params);
	bt_value_put_ref(text);
}

/* -- graphs ------------------------------------------------------------------------------------ */

/* Counts messages by type. */
struct counts {
	uint64_t n[16];
	bt_message_iterator *iterator;
};

static bt_graph_simple_sink_component_initialize_func_status start(bt_message_iterator *iterator,
                                                                   void *data)
{
	((struct counts *)data)->iterator = iterator;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator,
                                                                  void *data)
{
	struct counts *counts = data;
	bt_message_array_const messages;
	uint64_t n;
	int status = bt_message_iterator_next(iterator, &messages, &n);

	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_graph_simple_sink_component_consume_func_status)status;
	for (uint64_t i = 0; i < n; i++) {
		unsigned int type = 0;

		while (!((unsigned int)bt_message_get_type(messages[i]) >> type & 1))
			type++;
		counts->n[type & 15]++;
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* Takes `params`. Returns whether all was read; else stores the first cause. */
static bool run(const bt_component_class_source *class, bt_value *params, struct counts *counts,
                char cause[512])
{
	bt_graph *graph = bt_graph_create(0);
	const bt_component_source *source;
	const bt_component_sink *sink;
	const bt_error *error;
	int status;

	memset(counts, 0, sizeof(*counts));
	status = bt_graph_add_source_component(graph, class, "source", params,
	                                       BT_LOGGING_LEVEL_NONE, &source);
	bt_value_put_ref(params);
	if (status == 0)
		status = bt_graph_add_simple_sink_component(graph, "sink", start, consume, NULL,
		                                            counts, &sink);
	if (status == 0)
		status = bt_graph_connect_ports(
			graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
	if (status == 0)
		status = bt_graph_run(graph);
	error = bt_current_thread_take_error();
	cause[0] = '\0';
	if (error) {
		snprintf(cause, 512, "%s",
		         bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
		bt_error_release(error);
	}
	bt_graph_put_ref(graph);
	return status == 0;
}

static bt_value *inputs_of(const struct place *place, const char *const *names, int n)
{
	bt_value *params = bt_value_map_create(), *inputs;

	bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
	for (int i = 0; i < n; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", place->dir, names[i]);
		bt_value_array_append_string_element(inputs, path);
	}
	return params;
}

#define COUNT(counts, type) ((counts)->n[__builtin_ctz(BT_MESSAGE_TYPE_##type)])

static void test_bt2_source__gives_streams_and_their_events(void **state)
{
	const char *const names[] = {"flex.json", "bare.json"};
	struct place *place = *state;
	struct counts counts;
	char cause[512];

	assert_true(run(place->classes[0], inputs_of(place, names, 2), &counts, cause));
	assert_int_equal(COUNT(&counts, STREAM_BEGINNING), 1);
	assert_int_equal(COUNT(&counts, STREAM_END), 1);
	/* process, device, clock domain; operation, estimate; instant */
	assert_int_equal(COUNT(&counts, EVENT), 6);
	assert_true(run(place->classes[1], inputs_of(place, &files[2].name, 1), &counts, cause));
	assert_int_equal(COUNT(&counts, STREAM_END), 1);
}

static void test_bt2_source__says_what_it_cannot_read(void **state)
{
	struct place *place = *state;
	struct counts counts;
	bt_value *params;
	char cause[512];

	for (size_t i = 3; i < N_FILES; i++) {
		assert_false(run(place->classes[i % 2], inputs_of(place, &files[i].name, 1),
		                 &counts, cause));
		assert_non_null(strstr(cause, files[i].name));
	}
	assert_false(run(place->classes[0], bt_value_map_create(), &counts, cause));
	assert_string_equal(cause, "Parameter `inputs` takes an array of paths");
	assert_false(run(place->classes[0], inputs_of(place, NULL, 0), &counts, cause));
	params = inputs_of(place, &files[0].name, 1);
	bt_value_map_insert_bool_entry(params, "more", BT_TRUE);
	assert_false(run(place->classes[0], params, &counts, cause));
	assert_string_equal(cause, "Unknown parameter `more`; known ones are inputs");
	params = bt_value_map_create();
	bt_value_map_insert_string_entry(params, "inputs", "flex.json");
	assert_false(run(place->classes[1], params, &counts, cause));
}

/* A graph that ends before its source does. */
static void test_bt2_source__may_be_left(void **state)
{
	struct place *place = *state;
	bt_graph *graph = bt_graph_create(0);
	const bt_component_source *source;
	bt_value *params = inputs_of(place, &files[0].name, 1);

	assert_int_equal(bt_graph_add_source_component(graph, place->classes[0], "source", params,
	                                               BT_LOGGING_LEVEL_NONE, &source),
	                 0);
	assert_int_equal(bt_component_source_get_output_port_count(source), 1);
	bt_value_put_ref(params);
	bt_graph_put_ref(graph);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_bt2_source__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(knows_its_files_by_their_content),
		TEST(knows_no_other_query),
		TEST(gives_streams_and_their_events),
		TEST(says_what_it_cannot_read),
		TEST(may_be_left),
	};

	return cmocka_run_group_tests_name("bt2_source", tests, NULL, NULL);
}
