/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h: the methods of sink.flextrace.timeline.
 *
 * Life: initialize (parameters, first port) -> port connected (next port) -> graph is configured
 * (iterators) -> consume, which runs the pipeline when all ports are at their end -> finalize. An
 * interrupted graph is finalized without an end, and then nothing is written.
 */
#ifndef FLEXTRACE_BT2_SINK_H
#define FLEXTRACE_BT2_SINK_H

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status
sink_initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
                const bt_value *params, void *data);
void sink_finalize(bt_self_component_sink *self);
bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self);

#endif
