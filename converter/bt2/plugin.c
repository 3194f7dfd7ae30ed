/* SPDX-License-Identifier: Apache-2.0 */
/* The plug-in `flextrace`: registration only. */
#include <babeltrace2/babeltrace.h>

#include "bt2/sink.h"

#define DESCRIPTION "Convert flextrace recordings into one host and device timeline"

BT_PLUGIN_MODULE();
BT_PLUGIN(flextrace);
BT_PLUGIN_DESCRIPTION("Host and device tracing for AI accelerators");
BT_PLUGIN_LICENSE("Apache-2.0");

BT_PLUGIN_SINK_COMPONENT_CLASS(timeline, sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(timeline, DESCRIPTION);
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(timeline,
                                    "See the babeltrace2-sink.flextrace.timeline(7) manual page.");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(timeline, sink_initialize);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(timeline, sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(timeline, sink_input_port_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(timeline, sink_graph_is_configured);
