/* SPDX-License-Identifier: Apache-2.0 */
/* The plug-in `flextrace`: registration only. */
#include <babeltrace2/babeltrace.h>

#include "bt2/read/intake.h"
#include "bt2/sink/sink.h"
#include "bt2/source/source.h"

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
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(timeline, intake_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(timeline, intake_configured);

#define SOURCE(id, name, description)                                                            \
	BT_PLUGIN_SOURCE_COMPONENT_CLASS_WITH_ID(auto, id, name, source_next);                   \
	BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION_WITH_ID(auto, id, description);             \
	BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP_WITH_ID(                                           \
		auto, id, "See the babeltrace2-source.flextrace." name "(7) manual page.");      \
	BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD_WITH_ID(auto, id, source_initialize); \
	BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD_WITH_ID(auto, id, source_finalize);     \
	BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD_WITH_ID(auto, id, source_query);           \
	BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_WITH_ID(       \
		auto, id, source_iterator_initialize);                                           \
	BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD_WITH_ID(         \
		auto, id, source_iterator_finalize)

SOURCE(flex_json, "flex-json", "Read the events that IBM Flex wrote as JSON");
SOURCE(aie_json, "aie-json", "Read traces of AMD's AI engines: JSON or raw words");
SOURCE(torch_json, "torch-json", "Read the events that the torch profiler wrote as JSON");
SOURCE(marker_area, "marker-area", "Read marker areas in copies of device memory");
SOURCE(nsys_sqlite, "nsys-sqlite", "Read reports of Nsight Systems, exported as SQLite");
SOURCE(tt_csv, "tt-csv", "Read the device logs of tt-metal's profiler");
SOURCE(perfetto, "perfetto", "Read traces of Perfetto");
SOURCE(xplane, "xplane", "Read profiles of JAX and XLA");
