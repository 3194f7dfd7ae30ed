/* SPDX-License-Identifier: Apache-2.0 */
/* The plug-in from the build directory in real graphs: ports, parameters, ends and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <babeltrace2/babeltrace.h>

#include "ctf_writer.h"
#include "scratch.h"

#define N_STREAMS 3

/* -- a trace ----------------------------------------------------------------------------------- */

static char *path_in(const char *dir, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
	return path;
}

static void put_scope(struct ctf_stream *stream, uint64_t clock_ns)
{
	struct event event = {.class = RECORD_SCOPE,
	                      .clock_ns = clock_ns,
	                      .vpid = 7,
	                      .vtid = 8,
	                      .payload.scope = {.begin_ns = clock_ns - 50,
	                                        .name = "step",
	                                        .correlation = clock_ns}};

	assert_int_equal(ctf_stream_event(stream, &event), 0);
}

/* A process with scopes on `N_STREAMS` streams that interleave. `n_discarded` are lost between two
 * packets, and as many before the first one of another stream: of these babeltrace2 tells only that
 * there are some. */
static void write_trace(const char *dir, uint64_t n_discarded)
{
	struct ctf_writer_options options = {.dir = dir, .uuid = {1}, .hostname = "node"};
	struct ctf_writer *writer = ctf_writer_new(&options);
	struct ctf_stream *streams[N_STREAMS];
	struct event process = {.class = RECORD_PROCESS,
	                        .clock_ns = 1000,
	                        .vpid = 7,
	                        .vtid = 7,
	                        .payload.process = {.rank = 0,
	                                            .pid = 7,
	                                            .start_ns = 900,
	                                            .boot_id = "b",
	                                            .host = "node",
	                                            .program = "prog"}};

	assert_non_null(writer);
	for (uint32_t i = 0; i < N_STREAMS; i++)
		streams[i] = ctf_writer_stream(writer, 0, i);
	ctf_stream_discard_events(streams[2], n_discarded);
	assert_int_equal(ctf_stream_event(streams[0], &process), 0);
	for (uint64_t i = 0; i < 100; i++)
		put_scope(streams[i % N_STREAMS], 2000 + 100 * i);
	assert_int_equal(ctf_stream_flush(streams[1]), 0);
	ctf_stream_discard_events(streams[1], n_discarded);
	put_scope(streams[1], 1000000);
	assert_int_equal(ctf_writer_close(writer), 0);
}

/* -- a source that only says that nothing happens ---------------------------------------------- */

struct idle {
	const bt_clock_class *clock;
	bool is_done;
};

static bt_component_class_initialize_method_status
idle_initialize(bt_self_component_source *self, bt_self_component_source_configuration *config,
                const bt_value *params, void *data)
{
	(void)config;
	(void)params;
	(void)data;
	assert_int_equal(bt_self_component_source_add_output_port(self, "out", NULL, NULL), 0);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_message_iterator_class_initialize_method_status
idle_iterator_initialize(bt_self_message_iterator *self,
                         bt_self_message_iterator_configuration *config,
                         bt_self_component_port_output *port)
{
	struct idle *idle = calloc(1, sizeof(*idle));

	(void)config;
	(void)port;
	idle->clock = bt_clock_class_create(bt_self_message_iterator_borrow_component(self));
	bt_self_message_iterator_set_data(self, idle);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void idle_iterator_finalize(bt_self_message_iterator *self)
{
	struct idle *idle = bt_self_message_iterator_get_data(self);

	bt_clock_class_put_ref(idle->clock);
	free(idle);
}

static bt_message_iterator_class_next_method_status
idle_iterator_next(bt_self_message_iterator *self, bt_message_array_const messages,
                   uint64_t capacity, uint64_t *n)
{
	struct idle *idle = bt_self_message_iterator_get_data(self);

	(void)capacity;
	if (idle->is_done)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	idle->is_done = true;
	messages[0] = bt_message_message_iterator_inactivity_create(self, idle->clock, 5);
	*n = 1;
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

static bt_component_class_source *create_idle_class(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(idle_iterator_next);
	bt_component_class_source *class = bt_component_class_source_create("idle", iterator);

	bt_message_iterator_class_set_initialize_method(iterator, idle_iterator_initialize);
	bt_message_iterator_class_set_finalize_method(iterator, idle_iterator_finalize);
	bt_component_class_source_set_initialize_method(class, idle_initialize);
	bt_message_iterator_class_put_ref(iterator);
	return class;
}

/* -- graphs ------------------------------------------------------------------------------------ */

struct plugins {
	const bt_plugin_set *ours;
	const bt_plugin *ctf, *utils;
	const bt_component_class_sink *sink;
	const bt_component_class_source *fs;
	const bt_component_class_filter *muxer;
};

static struct plugins plugins;

static int load_plugins(void **state)
{
	(void)state;
	assert_int_equal(bt_plugin_find_all_from_file(PLUGIN, BT_TRUE, &plugins.ours), 0);
	assert_int_equal(
		bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, &plugins.ctf),
		0);
	assert_int_equal(bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE,
	                                &plugins.utils),
	                 0);
	plugins.sink = bt_plugin_borrow_sink_component_class_by_name_const(
		bt_plugin_set_borrow_plugin_by_index_const(plugins.ours, 0), "timeline");
	plugins.fs = bt_plugin_borrow_source_component_class_by_name_const(plugins.ctf, "fs");
	plugins.muxer = bt_plugin_borrow_filter_component_class_by_name_const(plugins.utils,
	                                                                      "muxer");
	assert_non_null(plugins.sink);
	return 0;
}

static int unload_plugins(void **state)
{
	(void)state;
	bt_plugin_put_ref(plugins.utils);
	bt_plugin_put_ref(plugins.ctf);
	bt_plugin_set_put_ref(plugins.ours);
	return 0;
}

struct graph {
	bt_graph *bt;
	const bt_component_sink *sink;
	char cause[512]; /* the first cause of the error that ended it, "" = none */
};

/* Keeps the deepest cause and clears the thread's error; a failure must have one. */
static void take_cause(struct graph *graph)
{
	const bt_error *error = bt_current_thread_take_error();

	assert_non_null(error);
	snprintf(graph->cause, sizeof(graph->cause), "%s",
	         bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
	bt_error_release(error);
}

/* Takes `params`. */
static int open_graph(struct graph *graph, bt_value *params)
{
	int status;

	*graph = (struct graph){.bt = bt_graph_create(0)};
	status = bt_graph_add_sink_component(graph->bt, plugins.sink, "sink", params,
	                                     BT_LOGGING_LEVEL_NONE, &graph->sink);
	bt_value_put_ref(params);
	if (status < 0)
		take_cause(graph);
	return status;
}

static void close_graph(struct graph *graph)
{
	bt_graph_put_ref(graph->bt);
	assert_null(bt_current_thread_take_error());
}

/* Parameters with an output directory. */
static bt_value *params_for(const char *output_dir)
{
	bt_value *params = bt_value_map_create();

	assert_int_equal(bt_value_map_insert_string_entry(params, "output-dir", output_dir), 0);
	return params;
}

static const bt_component_source *add_ctf(struct graph *graph, const char *trace)
{
	const bt_component_source *source;
	bt_value *params = bt_value_map_create(), *inputs;

	assert_int_equal(bt_value_map_insert_empty_array_entry(params, "inputs", &inputs), 0);
	assert_int_equal(bt_value_array_append_string_element(inputs, trace), 0);
	assert_int_equal(bt_graph_add_source_component(graph->bt, plugins.fs, "source", params,
	                                               BT_LOGGING_LEVEL_NONE, &source),
	                 0);
	bt_value_put_ref(params);
	return source;
}

static void connect(struct graph *graph, const bt_port_output *output)
{
	uint64_t n = bt_component_sink_get_input_port_count(graph->sink);

	assert_int_equal(bt_graph_connect_ports(graph->bt, output,
	                                        bt_component_sink_borrow_input_port_by_index_const(
							graph->sink, n - 1),
	                                        NULL),
	                 0);
}

/* Every stream of the trace on a port of its own. */
static void connect_all(struct graph *graph, const bt_component_source *source)
{
	for (uint64_t i = 0; i < bt_component_source_get_output_port_count(source); i++)
		connect(graph, bt_component_source_borrow_output_port_by_index_const(source, i));
}

static void connect_muxed(struct graph *graph, const bt_component_source *source)
{
	const bt_component_filter *muxer;

	assert_int_equal(bt_graph_add_filter_component(graph->bt, plugins.muxer, "muxer", NULL,
	                                               BT_LOGGING_LEVEL_NONE, &muxer),
	                 0);
	for (uint64_t i = 0; i < bt_component_source_get_output_port_count(source); i++)
		assert_int_equal(
			bt_graph_connect_ports(
				graph->bt,
				bt_component_source_borrow_output_port_by_index_const(source, i),
				bt_component_filter_borrow_input_port_by_index_const(muxer, i),
				NULL),
			0);
	connect(graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0));
}

static int run_graph(struct graph *graph)
{
	int status = bt_graph_run(graph->bt);

	if (status < 0)
		take_cause(graph);
	return status;
}

/* -- tests ------------------------------------------------------------------------------------- */

struct place {
	char *dir, *trace, *out;
};

static int setup(void **state)
{
	struct place *place = malloc(sizeof(*place));

	place->dir = scratch_dir();
	place->trace = path_in(place->dir, "trace");
	place->out = path_in(place->dir, "out");
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	scratch_remove(place->dir);
	free(place->trace);
	free(place->out);
	free(place);
	return 0;
}

static size_t count_lines(const char *dir, const char *name)
{
	char *text = scratch_read(dir, name, NULL);
	size_t n = 0;

	assert_non_null(text);
	for (const char *at = text; *at; at++)
		n += *at == '\n';
	free(text);
	return n;
}

static void test_bt2_sink__converts_with_a_port_for_each_stream(void **state)
{
	struct place *place = *state;
	struct graph graph;

	write_trace(place->trace, 0);
	assert_int_equal(open_graph(&graph, params_for(place->out)), 0);
	connect_all(&graph, add_ctf(&graph, place->trace));
	assert_int_equal(bt_component_sink_get_input_port_count(graph.sink), N_STREAMS + 1);
	assert_int_equal(run_graph(&graph), BT_GRAPH_RUN_STATUS_OK);
	close_graph(&graph);
	assert_int_equal(count_lines(place->out, "tables/host.csv"), 1 + 101);
	assert_true(scratch_has(place->out, "trace.json"));
	assert_true(scratch_has(place->out, "run.json"));
}

static void test_bt2_sink__writes_the_same_bytes_behind_a_muxer(void **state)
{
	static const char *const files[] = {"trace.json", "tables/host.csv", "run.json"};
	struct place *place = *state;
	char *muxed_out = path_in(place->dir, "muxed");
	struct graph graph;

	write_trace(place->trace, 17);
	assert_int_equal(open_graph(&graph, params_for(place->out)), 0);
	connect_all(&graph, add_ctf(&graph, place->trace));
	assert_int_equal(run_graph(&graph), BT_GRAPH_RUN_STATUS_OK);
	close_graph(&graph);
	assert_int_equal(open_graph(&graph, params_for(muxed_out)), 0);
	connect_muxed(&graph, add_ctf(&graph, place->trace));
	assert_int_equal(run_graph(&graph), BT_GRAPH_RUN_STATUS_OK);
	close_graph(&graph);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *direct = scratch_read(place->out, files[i], NULL);
		char *muxed = scratch_read(muxed_out, files[i], NULL);

		assert_non_null(direct);
		assert_string_equal(direct, muxed);
		free(direct);
		free(muxed);
	}
	free(muxed_out);
}

static void test_bt2_sink__takes_inactivity_for_what_it_is(void **state)
{
	struct place *place = *state;
	bt_component_class_source *idle_class = create_idle_class();
	const bt_component_source *idle;
	struct graph graph;

	write_trace(place->trace, 0);
	assert_int_equal(open_graph(&graph, params_for(place->out)), 0);
	assert_int_equal(bt_graph_add_source_component(graph.bt, idle_class, "idle", NULL,
	                                               BT_LOGGING_LEVEL_NONE, &idle),
	                 0);
	connect(&graph, bt_component_source_borrow_output_port_by_index_const(idle, 0));
	connect_all(&graph, add_ctf(&graph, place->trace));
	assert_int_equal(run_graph(&graph), BT_GRAPH_RUN_STATUS_OK);
	close_graph(&graph);
	bt_component_class_source_put_ref(idle_class);
	assert_int_equal(count_lines(place->out, "tables/host.csv"), 1 + 101);
}

static void test_bt2_sink__takes_every_parameter(void **state)
{
	struct place *place = *state;
	bt_value *params = params_for(place->out), *names;
	struct graph graph;
	char *run;

	write_trace(place->trace, 0);
	bt_value_map_insert_string_entry(params, "formats", "chrome,csv,text");
	bt_value_map_insert_bool_entry(params, "gzip", BT_TRUE);
	bt_value_map_insert_unsigned_integer_entry(params, "rho-ppm", 25);
	bt_value_map_insert_real_entry(params, "nominal-mhz", 1.5);
	bt_value_map_insert_signed_integer_entry(params, "fail-on-loss", 3);
	bt_value_map_insert_empty_array_entry(params, "names", &names);
	assert_int_equal(open_graph(&graph, params), 0);
	connect_all(&graph, add_ctf(&graph, place->trace));
	assert_int_equal(run_graph(&graph), BT_GRAPH_RUN_STATUS_OK);
	close_graph(&graph);
	assert_true(scratch_has(place->out, "trace.json.gz"));
	run = scratch_read(place->out, "run.json", NULL);
	assert_non_null(strstr(run, "\"25\""));
	assert_non_null(strstr(run, "\"1.5\""));
	free(run);
}

/* -- errors ------------------------------------------------------------------------------------ */

enum wrong { WRONG_NAME, WRONG_TEXT, WRONG_BOOL, WRONG_INTEGER, WRONG_MAP, WRONG_REAL, WRONG_HUGE };

static void insert_wrong(bt_value *params, const char *name, enum wrong wrong)
{
	switch (wrong) {
	case WRONG_NAME:
	case WRONG_TEXT:
		bt_value_map_insert_string_entry(params, name, "x");
		break;
	case WRONG_BOOL:
		bt_value_map_insert_bool_entry(params, name, BT_TRUE);
		break;
	case WRONG_INTEGER:
		bt_value_map_insert_signed_integer_entry(params, name, -1);
		break;
	case WRONG_MAP:
		bt_value_map_insert_empty_map_entry(params, name, NULL);
		break;
	case WRONG_REAL:
		bt_value_map_insert_real_entry(params, name, 1e300);
		break;
	case WRONG_HUGE:
		bt_value_map_insert_unsigned_integer_entry(params, name, UINT64_MAX);
		break;
	}
}

static void test_bt2_sink__refuses_wrong_parameters_by_name(void **state)
{
	static const struct {
		const char *name;
		enum wrong wrong;
		const char *cause;
	} cases[] = {
		{"output", WRONG_NAME, "Unknown parameter `output`; known ones are output-dir,"},
		{"output-dir", WRONG_INTEGER, "Option `output-dir` takes a text"},
		{"output-dir", WRONG_BOOL, "Option `output-dir` takes a text"},
		{"gzip", WRONG_TEXT, "Option `gzip` takes a switch"},
		{"gzip", WRONG_INTEGER, "Option `gzip` takes a switch"},
		{"rho-ppm", WRONG_TEXT, "Option `rho-ppm` takes a number"},
		{"rho-ppm", WRONG_REAL,
	         "Option `rho-ppm` is out of range: value=1e+300, min=1e-06, max=100000"},
		{"names", WRONG_MAP, "Option `names` takes a text or a list of texts"},
		{"session", WRONG_MAP, "Option `session` takes a text"},
		{"fail-on-loss", WRONG_INTEGER,
	         "Option `fail-on-loss` must not be negative: value=-1"},
		{"fail-on-loss", WRONG_HUGE, "Option `fail-on-loss` is out of range"},
		{"names", WRONG_TEXT, "Cannot read firmware image: path=x, reason=No such file"},
	};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bt_value *params = params_for(place->out);
		struct graph graph;

		insert_wrong(params, cases[i].name, cases[i].wrong);
		assert_true(open_graph(&graph, params) < 0);
		assert_memory_equal(graph.cause, cases[i].cause, strlen(cases[i].cause));
		assert_true(cases[i].wrong != WRONG_NAME || strstr(graph.cause, ", peak-macs, "));
		close_graph(&graph);
	}
	assert_false(scratch_has(place->dir, "out"));
}

static void test_bt2_sink__needs_a_directory_that_it_can_write(void **state)
{
	struct place *place = *state;
	struct graph graph;
	char *below;

	assert_true(open_graph(&graph, bt_value_map_create()) < 0);
	assert_string_equal(graph.cause, "Output directory is missing: give `output-dir`");
	close_graph(&graph);
	write_trace(place->trace, 0);
	below = path_in(place->trace, "metadata/out");
	assert_true(open_graph(&graph, params_for(below)) < 0);
	assert_non_null(strstr(graph.cause, "Cannot write into output directory"));
	close_graph(&graph);
	free(below);
}

static void test_bt2_sink__refuses_an_unknown_format_before_reading(void **state)
{
	struct place *place = *state;
	bt_value *params = params_for(place->out);
	struct graph graph;

	bt_value_map_insert_string_entry(params, "formats", "chrome,svg");
	assert_true(open_graph(&graph, params) < 0);
	assert_non_null(strstr(graph.cause, "svg"));
	close_graph(&graph);
}

static void test_bt2_sink__fails_on_loss_after_writing(void **state)
{
	struct place *place = *state;
	bt_value *params = params_for(place->out);
	struct graph graph;

	write_trace(place->trace, 17);
	bt_value_map_insert_signed_integer_entry(params, "fail-on-loss", 33);
	assert_int_equal(open_graph(&graph, params), 0);
	connect_all(&graph, add_ctf(&graph, place->trace));
	assert_true(run_graph(&graph) < 0);
	assert_string_equal(graph.cause,
	                    "Converted, but records were lost: lost=34, fail-on-loss=33");
	close_graph(&graph);
	assert_true(scratch_has(place->out, "run.json"));
}

static void test_bt2_sink__writes_nothing_when_interrupted(void **state)
{
	struct place *place = *state;
	struct graph graph;

	write_trace(place->trace, 0);
	assert_int_equal(open_graph(&graph, params_for(place->out)), 0);
	connect_all(&graph, add_ctf(&graph, place->trace));
	assert_int_equal(bt_graph_run_once(graph.bt), BT_GRAPH_RUN_ONCE_STATUS_OK);
	bt_interrupter_set(bt_graph_borrow_default_interrupter(graph.bt));
	assert_int_equal(run_graph(&graph), BT_GRAPH_RUN_STATUS_AGAIN);
	close_graph(&graph);
	assert_false(scratch_has(place->dir, "out"));
}

static void test_bt2_sink__writes_nothing_when_the_source_fails(void **state)
{
	struct place *place = *state;
	char *path = path_in(place->dir, "trace/channel0_1");
	uint16_t no_such_event = 60000;
	struct graph graph;
	FILE *file;

	write_trace(place->trace, 0);
	file = fopen(path, "r+e");
	assert_int_equal(fseek(file, 84, SEEK_SET), 0);
	assert_int_equal(fwrite(&no_such_event, sizeof(no_such_event), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(open_graph(&graph, params_for(place->out)), 0);
	connect_all(&graph, add_ctf(&graph, place->trace));
	assert_true(run_graph(&graph) < 0);
	assert_true(graph.cause[0]);
	close_graph(&graph);
	assert_false(scratch_has(place->dir, "out"));
	free(path);
}

static void test_bt2_sink__a_trace_without_our_events_is_refused(void **state)
{
	struct place *place = *state;
	struct ctf_writer_options options = {.dir = place->trace, .uuid = {1}};
	struct ctf_writer *writer = ctf_writer_new(&options);
	struct graph graph;

	assert_int_equal(ctf_stream_foreign(ctf_writer_stream(writer, 0, 0), 10), 0);
	assert_int_equal(ctf_writer_close(writer), 0);
	assert_int_equal(open_graph(&graph, params_for(place->out)), 0);
	connect_all(&graph, add_ctf(&graph, place->trace));
	assert_true(run_graph(&graph) < 0);
	assert_non_null(strstr(graph.cause, "no flextrace event"));
	close_graph(&graph);
	assert_false(scratch_has(place->dir, "out"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bt2_sink__converts_with_a_port_for_each_stream),
		TEST(test_bt2_sink__writes_the_same_bytes_behind_a_muxer),
		TEST(test_bt2_sink__takes_inactivity_for_what_it_is),
		TEST(test_bt2_sink__takes_every_parameter),
		TEST(test_bt2_sink__refuses_wrong_parameters_by_name),
		TEST(test_bt2_sink__needs_a_directory_that_it_can_write),
		TEST(test_bt2_sink__refuses_an_unknown_format_before_reading),
		TEST(test_bt2_sink__fails_on_loss_after_writing),
		TEST(test_bt2_sink__writes_nothing_when_interrupted),
		TEST(test_bt2_sink__writes_nothing_when_the_source_fails),
		TEST(test_bt2_sink__a_trace_without_our_events_is_refused),
	};

	return cmocka_run_group_tests(tests, load_plugins, unload_plugins);
}
