/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- the draining sink ------------------------------------------------------------------------- */

static struct graph *graph_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

/* `data` is the graph, whose intake has its feed set. */
static bt_component_class_initialize_method_status
drain_initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
                 const bt_value *params, void *data)
{
	struct graph *graph = data;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), graph);
	return intake_init(&graph->intake, self, graph->intake.feed);
}

static bt_component_class_sink_consume_method_status drain_consume(bt_self_component_sink *self)
{
	struct graph *graph = graph_of(self);
	struct graph_shared *shared = graph->shared;
	uint64_t n_before = graph->intake.feed->n_messages;
	bt_component_class_sink_consume_method_status status = intake_consume(&graph->intake);

	atomic_fetch_add_explicit(&shared->n_messages, graph->intake.feed->n_messages - n_before,
	                          memory_order_relaxed);
	if (atomic_load_explicit(&shared->stops, memory_order_relaxed) &&
	    status == BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	return status;
}

static void drain_finalize(bt_self_component_sink *self)
{
	intake_release(&graph_of(self)->intake);
}

static bt_component_class_sink *create_sink_class(void)
{
	bt_component_class_sink *class = bt_component_class_sink_create("drain", drain_consume);

	if (!class)
		return NULL;
	if (bt_component_class_sink_set_initialize_method(class, drain_initialize) < 0 ||
	    bt_component_class_sink_set_finalize_method(class, drain_finalize) < 0 ||
	    bt_component_class_sink_set_input_port_connected_method(class, intake_connected) < 0 ||
	    bt_component_class_sink_set_graph_is_configured_method(class, intake_configured) < 0)
		BT_COMPONENT_CLASS_SINK_PUT_REF_AND_RESET(class);
	return class;
}

/* -- the graph --------------------------------------------------------------------------------- */

static bt_value *source_params(const struct trace_group *group)
{
	bt_value *params = bt_value_map_create();
	bt_value *inputs = NULL;

	if (!params || bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) < 0)
		goto fail;
	for (uint32_t i = 0; i < group->paths.n; i++)
		if (bt_value_array_append_string_element(inputs, group->paths.texts[i]) < 0)
			goto fail;
	return params;
fail:
	bt_value_put_ref(params);
	return NULL;
}

static int add_source(struct graph *graph, const struct plugins *plugins,
                      const struct trace_group *group)
{
	bt_value *params = source_params(group);
	int status = -1;

	if (params)
		status = bt_graph_add_source_component(graph->bt, plugins->fs, "source", params,
		                                       BT_LOGGING_LEVEL_NONE, &graph->source);
	bt_value_put_ref(params);
	return status;
}

static int add_sink(struct graph *graph)
{
	graph->sink_class = create_sink_class();
	if (!graph->sink_class)
		return -1;
	return bt_graph_add_sink_component_with_initialize_method_data(
		graph->bt, graph->sink_class, "drain", NULL, graph, BT_LOGGING_LEVEL_NONE,
		&graph->sink);
}

/* False: programs ended before LTTng had asked them for the events of its channels. */
static bool declares_streams(const char *trace_path)
{
	char *metadata = ctf_metadata_read(trace_path);
	bool declares = !metadata || strstr(metadata, "stream {");

	free(metadata);
	return declares;
}

int graph_open(struct graph *graph, const struct plugins *plugins, const struct trace_group *group,
               struct feed *feed, struct graph_shared *shared, struct flextrace_error *error)
{
	char what[512];

	*graph = (struct graph){.shared = shared};
	graph->intake.feed = feed;
	graph->bt = bt_graph_create(0);
	if (graph->bt && add_source(graph, plugins, group) == 0 && (!feed || add_sink(graph) == 0))
		return 0;
	graph_close(graph);
	if (declares_streams(group->paths.texts[0]))
		snprintf(what, sizeof(what), "Cannot open trace: path=%s", trace_group_path(group));
	else
		snprintf(what, sizeof(what),
		         "No data: the programs ended before LTTng knew their events; let them "
		         "wait longer for it (LTTNG_UST_REGISTER_TIMEOUT=3000): path=%s",
		         trace_group_path(group));
	return plugins_take_error(error, FLEXTRACE_E_INPUT, what);
}

void graph_close(struct graph *graph)
{
	plugins_put_graph(graph->bt);
	BT_COMPONENT_CLASS_SINK_PUT_REF_AND_RESET(graph->sink_class);
	graph->bt = NULL;
}

uint64_t graph_port_count(const struct graph *graph)
{
	return bt_component_source_get_output_port_count(graph->source);
}

static const bt_port_output *port_at(const struct graph *graph, uint64_t port)
{
	return bt_component_source_borrow_output_port_by_index_const(graph->source, port);
}

const char *graph_port_name(const struct graph *graph, uint64_t port)
{
	return bt_port_get_name(bt_port_output_as_port_const(port_at(graph, port)));
}

int graph_connect(struct graph *graph, uint64_t port, struct flextrace_error *error)
{
	uint64_t n = bt_component_sink_get_input_port_count(graph->sink);
	const bt_port_input *input = bt_component_sink_borrow_input_port_by_index_const(graph->sink,
	                                                                                n - 1);

	if (bt_graph_connect_ports(graph->bt, port_at(graph, port), input, NULL) == 0)
		return 0;
	return plugins_take_error(error, FLEXTRACE_E_INPUT, "Cannot connect a stream");
}

int graph_run(struct graph *graph, uint64_t *ret_n_drained, struct flextrace_error *error)
{
	bt_graph_run_status status;

	do
		status = bt_graph_run(graph->bt);
	while (status == BT_GRAPH_RUN_STATUS_AGAIN);
	*ret_n_drained = graph->intake.current;
	if (status == BT_GRAPH_RUN_STATUS_OK)
		return 0;
	return plugins_take_error(error,
	                          status == BT_GRAPH_RUN_STATUS_MEMORY_ERROR ? FLEXTRACE_E_MEMORY
	                                                                     : FLEXTRACE_E_INPUT,
	                          "Cannot read a stream to its end");
}
